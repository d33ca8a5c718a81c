//! Which actors are to be polled.

use super::ActorId;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Wake, Waker};

/// The set of actors that were woken, which gives them out in the order of their
/// ids: the order in which they were woken leaves no mark.
#[derive(Default)]
pub(super) struct Ready {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// From the greatest id to the least, so that the least is popped from the end.
    ids: Vec<ActorId>,
    /// Wakes the scheduler.
    root: Option<Waker>,
    /// The scheduler is at work and looks at `ids` itself before it rests.
    at_work: bool,
}

impl Ready {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Marks `id` as to be polled, and wakes the scheduler if it rests.
    pub fn insert(&self, id: ActorId) {
        let mut inner = self.lock();
        let place = inner.ids.partition_point(|other| *other > id);
        if inner.ids.get(place) == Some(&id) {
            return;
        }
        inner.ids.insert(place, id);
        if !inner.at_work {
            // The waker is tokio's own and takes no lock of ours.
            if let Some(root) = &inner.root {
                root.wake_by_ref();
            }
        }
    }

    /// The least id that is to be polled.
    pub fn pop(&self) -> Option<ActorId> {
        self.lock().ids.pop()
    }

    /// The scheduler begins to work; `root` is what wakes it when it rests.
    pub fn begin_work(&self, root: &Waker) {
        let mut inner = self.lock();
        inner.at_work = true;
        match &inner.root {
            Some(old) if old.will_wake(root) => {}
            _ => inner.root = Some(root.clone()),
        }
    }

    /// The scheduler wants to rest; `false` if somebody was woken in the meantime.
    pub fn rest(&self) -> bool {
        let mut inner = self.lock();
        if !inner.ids.is_empty() {
            return false;
        }
        inner.at_work = false;
        true
    }

    /// Forgets everybody, at the end of a run.
    pub fn clear(&self) {
        let mut inner = self.lock();
        inner.ids.clear();
        inner.root = None;
        inner.at_work = false;
    }
}

/// The waker of one actor.
struct ActorWaker {
    id: ActorId,
    ready: Arc<Ready>,
}

impl Wake for ActorWaker {
    fn wake(self: Arc<Self>) {
        self.ready.insert(self.id);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ready.insert(self.id);
    }
}

/// A waker that marks `id` as to be polled.
pub(super) fn waker_of(id: ActorId, ready: &Arc<Ready>) -> Waker {
    Waker::from(Arc::new(ActorWaker {
        id,
        ready: ready.clone(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_wakes_leaves_no_mark() {
        let ready = Arc::new(Ready::default());
        for id in [3, 1, 2, 1, 3] {
            waker_of(ActorId::call(id), &ready).wake();
        }
        waker_of(ActorId::AGENT, &ready).wake_by_ref();
        let order: Vec<_> = std::iter::from_fn(|| ready.pop()).collect();
        let want = [
            ActorId::AGENT,
            ActorId::call(1),
            ActorId::call(2),
            ActorId::call(3),
        ];
        assert_eq!(order, want);
    }

    #[test]
    fn rest_is_refused_while_somebody_is_ready() {
        let ready = Ready::default();
        ready.begin_work(Waker::noop());
        ready.insert(ActorId::AGENT);
        assert!(!ready.rest());
        ready.pop();
        assert!(ready.rest());
    }
}
