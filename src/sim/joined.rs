//! Waiting for what an actor gives.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

/// Why an actor gave no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Died {
    /// It panicked, with this message.
    Panicked(String),
    /// It was cancelled, or the run ended before it did.
    Cancelled,
}

impl std::fmt::Display for Died {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Died::Panicked(message) => write!(f, "panicked: {message}"),
            Died::Cancelled => f.write_str("cancelled"),
        }
    }
}

/// Where an actor leaves its value for the one who waits.
pub(super) struct Slot<T> {
    inner: Mutex<Inner<T>>,
}

struct Inner<T> {
    value: Option<Result<T, Died>>,
    waiting: Option<Waker>,
    taken: bool,
}

impl<T> Slot<T> {
    pub fn new() -> Arc<Slot<T>> {
        Arc::new(Slot {
            inner: Mutex::new(Inner {
                value: None,
                waiting: None,
                taken: false,
            }),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Inner<T>> {
        self.inner.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl<T: Send> Take<T> for Slot<T> {
    fn fill(&self, value: Result<T, Died>) {
        let waiting = {
            let mut inner = self.lock();
            if inner.value.is_some() || inner.taken {
                return;
            }
            inner.value = Some(value);
            inner.waiting.take()
        };
        if let Some(waker) = waiting {
            waker.wake();
        }
    }
}

/// A place for a value whose type does not matter.
pub(super) trait End: Send + Sync {
    /// Says that there will be no value; `false` if nobody can hear it.
    fn died(self: Arc<Self>, why: Died) -> bool;
}

/// Where an actor leaves its value.
pub(super) trait Take<T>: End {
    /// Leaves the value and wakes the one who waits. A value is left once: a later
    /// one is dropped.
    fn fill(&self, value: Result<T, Died>);
}

impl<T: Send> End for Slot<T> {
    fn died(self: Arc<Self>, why: Died) -> bool {
        self.fill(Err(why));
        // One handle is the caller's; any other is a `Joined`.
        Arc::strong_count(&self) > 1
    }
}

/// Waits for a spawned actor's value. Dropping it lets the actor go on; see
/// [`Sim::cancel`](super::Sim::cancel) for stopping one.
///
/// Polled again after it gave the value, it says [`Died::Cancelled`].
#[must_use = "an actor runs without being waited for, but its panic then ends the run"]
pub struct Joined<T>(Arc<Slot<T>>);

impl<T> Joined<T> {
    pub(super) fn new(slot: Arc<Slot<T>>) -> Joined<T> {
        Joined(slot)
    }

    /// Whether the value is there, so that the next poll gives it.
    pub fn is_finished(&self) -> bool {
        let inner = self.0.lock();
        inner.value.is_some() || inner.taken
    }
}

impl<T> Future for Joined<T> {
    type Output = Result<T, Died>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut inner = self.0.lock();
        if let Some(value) = inner.value.take() {
            inner.taken = true;
            return Poll::Ready(value);
        }
        if inner.taken {
            return Poll::Ready(Err(Died::Cancelled));
        }
        match &inner.waiting {
            Some(old) if old.will_wake(cx.waker()) => {}
            _ => inner.waiting = Some(cx.waker().clone()),
        }
        Poll::Pending
    }
}

/// The words of a panic.
pub(super) fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "a panic without words".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_left_once_and_taken_once() {
        let slot = Slot::new();
        let mut joined = Joined::new(slot.clone());
        let mut cx = Context::from_waker(Waker::noop());
        assert!(Pin::new(&mut joined).poll(&mut cx).is_pending());
        assert!(!joined.is_finished());
        slot.fill(Ok(1));
        slot.fill(Ok(2));
        assert!(joined.is_finished());
        assert_eq!(Pin::new(&mut joined).poll(&mut cx), Poll::Ready(Ok(1)));
        assert_eq!(
            Pin::new(&mut joined).poll(&mut cx),
            Poll::Ready(Err(Died::Cancelled))
        );
    }

    #[test]
    fn a_death_says_whether_anybody_hears_it() {
        let slot: Arc<Slot<()>> = Slot::new();
        let joined = Joined::new(slot.clone());
        assert!(slot.clone().died(Died::Cancelled));
        drop((slot, joined));
        let alone: Arc<Slot<()>> = Slot::new();
        assert!(!alone.died(Died::Cancelled));
    }
}
