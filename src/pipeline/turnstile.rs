//! Decisions of a batch are taken in call order, whatever the schedule: a grant that
//! one call brings about must not depend on which call was faster.

use std::future::poll_fn;
use std::sync::Mutex;
use std::task::{Poll, Waker};

/// Lets the calls of a batch through one by one, in their order.
#[derive(Debug)]
pub struct Turnstile {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// By place in the batch: whether the call has been through, or never will come.
    through: Vec<bool>,
    /// The first place that is not through yet.
    next: usize,
    waiting: Vec<Option<Waker>>,
}

impl Turnstile {
    /// A turnstile for a batch of `calls` calls.
    pub fn new(calls: usize) -> Turnstile {
        Turnstile {
            inner: Mutex::new(Inner {
                through: vec![false; calls],
                next: 0,
                waiting: vec![None; calls],
            }),
        }
    }

    /// How many calls the batch has.
    pub fn calls(&self) -> usize {
        self.lock().through.len()
    }

    /// Waits until every earlier call is through.
    pub async fn wait(&self, place: usize) {
        poll_fn(|cx| {
            let mut inner = self.lock();
            if inner.next >= place {
                return Poll::Ready(());
            }
            inner.waiting[place] = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Says that the call at `place` is through. More than once is harmless.
    pub fn pass(&self, place: usize) {
        let mut inner = self.lock();
        inner.through[place] = true;
        while inner.through.get(inner.next).copied().unwrap_or(false) {
            inner.next += 1;
        }
        let next = inner.next;
        if let Some(waker) = inner.waiting.get_mut(next).and_then(Option::take) {
            drop(inner);
            waker.wake();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::task::Context;

    #[test]
    fn later_calls_wait_for_earlier_ones() {
        let turnstile = Turnstile::new(3);
        let mut cx = Context::from_waker(Waker::noop());
        let mut second = Box::pin(turnstile.wait(1));
        assert!(second.as_mut().poll(&mut cx).is_pending());
        turnstile.pass(2);
        assert!(second.as_mut().poll(&mut cx).is_pending());
        turnstile.pass(0);
        assert!(second.as_mut().poll(&mut cx).is_ready());
        let mut third = Box::pin(turnstile.wait(2));
        assert!(third.as_mut().poll(&mut cx).is_pending());
        turnstile.pass(1);
        assert!(third.as_mut().poll(&mut cx).is_ready());
    }
}
