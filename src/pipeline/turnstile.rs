//! Decisions of a batch are taken in call order, whatever the schedule: a grant that
//! one call brings about must not depend on which call was faster. And the driver hears
//! here what a call turned out to be, where that decides who may run beside it.

use crate::tools::Footprint;
use std::future::poll_fn;
use std::sync::Mutex;
use std::task::{Poll, Waker};

/// Lets the calls of a batch through one by one, in their order.
#[derive(Debug)]
pub struct Turnstile {
    inner: Mutex<Inner>,
}

/// What a call touches, by the input that it has now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    pub safe: bool,
    pub footprint: Footprint,
}

/// What a call that others wait for says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// Its input was rewritten; it waits until the driver lets it go on.
    Rewritten(Known),
    /// It is permitted, and what it touches will not change.
    Permitted(Known),
}

#[derive(Debug)]
struct Inner {
    /// By place in the batch: whether the call has been through, or never will come.
    through: Vec<bool>,
    /// The first place that is not through yet.
    next: usize,
    waiting: Vec<Option<Waker>>,
    watch: Watch,
}

/// What passes between the driver and the one call whose word it waits for.
#[derive(Debug, Default)]
struct Watch {
    /// The place of that call.
    on: Option<usize>,
    /// What was said, and by the call at which place: one that has ended meanwhile may
    /// have said it.
    words: Vec<(usize, Word)>,
    /// The driver, while it waits.
    driver: Option<Waker>,
    /// The call, while it waits for the driver; taken when it may go on.
    call: Option<Waker>,
    stopped: bool,
}

impl Turnstile {
    /// A turnstile for a batch of `calls` calls.
    pub fn new(calls: usize) -> Turnstile {
        Turnstile {
            inner: Mutex::new(Inner {
                through: vec![false; calls],
                next: 0,
                waiting: vec![None; calls],
                watch: Watch::default(),
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

    /// Says that the driver wants to hear from the call at `place`.
    pub fn watch(&self, place: usize) {
        self.lock().watch.on = Some(place);
    }

    /// Whether the driver wants to hear from the call at `place`.
    pub fn is_watched(&self, place: usize) -> bool {
        self.lock().watch.on == Some(place)
    }

    /// Tells the driver of a rewritten input, and waits until nothing is in its way.
    pub async fn rewritten(&self, place: usize, known: Known) {
        if !self.is_watched(place) {
            return;
        }
        self.lock().watch.stopped = true;
        self.say(place, Word::Rewritten(known));
        poll_fn(|cx| {
            let watch = &mut self.lock().watch;
            if !watch.stopped {
                return Poll::Ready(());
            }
            watch.call = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Tells the driver that a call that it waits for is permitted.
    pub fn permitted(&self, place: usize, known: impl FnOnce() -> Known) {
        if self.is_watched(place) {
            self.say(place, Word::Permitted(known()));
            self.lock().watch.on = None;
        }
    }

    /// Lets the call that had its input rewritten go on.
    pub fn go_on(&self) {
        let waker = {
            let watch = &mut self.lock().watch;
            watch.stopped = false;
            watch.call.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// What watched calls said since this was last asked, each with its place. Waits until
    /// one says something.
    pub async fn words(&self) -> Vec<(usize, Word)> {
        poll_fn(|cx| {
            let watch = &mut self.lock().watch;
            if watch.words.is_empty() {
                watch.driver = Some(cx.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(std::mem::take(&mut watch.words))
        })
        .await
    }

    fn say(&self, place: usize, word: Word) {
        let waker = {
            let watch = &mut self.lock().watch;
            watch.words.push((place, word));
            watch.driver.take()
        };
        if let Some(waker) = waker {
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
