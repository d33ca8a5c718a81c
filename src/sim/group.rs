//! Waiting for the first of several actors to end.

use super::joined::{Died, End, Take};
use super::{ActorId, Sim};
use std::collections::{BTreeMap, BTreeSet};
use std::future::{Future, poll_fn};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, Waker};

/// Actors that somebody waits for together, each under a number of its own. However
/// many they are, waiting looks only at those that have ended.
#[must_use = "the actors run without being waited for, but a panic then ends the run"]
pub struct Group<T> {
    live: BTreeSet<usize>,
    ended: Arc<Ended<T>>,
}

struct Ended<T> {
    inner: Mutex<Inner<T>>,
}

struct Inner<T> {
    values: BTreeMap<usize, Result<T, Died>>,
    waiting: Option<Waker>,
    /// Whether the group is still there.
    open: bool,
}

/// The place of one actor's value.
struct Member<T> {
    number: usize,
    filled: AtomicBool,
    ended: Arc<Ended<T>>,
}

impl<T> Ended<T> {
    fn lock(&self) -> MutexGuard<'_, Inner<T>> {
        self.inner.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl<T: Send + 'static> Group<T> {
    pub fn new() -> Group<T> {
        Group {
            live: BTreeSet::new(),
            ended: Arc::new(Ended {
                inner: Mutex::new(Inner {
                    values: BTreeMap::new(),
                    waiting: None,
                    open: true,
                }),
            }),
        }
    }

    /// Starts an actor as [`Sim::spawn`] does. `number` must not be that of another
    /// live one of the group.
    pub fn spawn(
        &mut self,
        sim: &Sim,
        id: ActorId,
        number: usize,
        future: impl Future<Output = T> + Send + 'static,
    ) {
        self.live.insert(number);
        let member = Member {
            number,
            filled: AtomicBool::new(false),
            ended: self.ended.clone(),
        };
        sim.spawn_for(id, future, Arc::new(member));
    }

    /// The numbers of those that have not been given by [`next`](Group::next).
    pub fn live(&self) -> impl ExactSizeIterator<Item = usize> {
        self.live.iter().copied()
    }

    /// The first actor to end, with its value; the least number if several have ended.
    /// Pending for ever if none is live.
    pub async fn next(&mut self) -> (usize, Result<T, Died>) {
        let (number, value) = poll_fn(|cx| {
            let mut inner = self.ended.lock();
            if let Some(first) = inner.values.pop_first() {
                return Poll::Ready(first);
            }
            match &inner.waiting {
                Some(old) if old.will_wake(cx.waker()) => {}
                _ => inner.waiting = Some(cx.waker().clone()),
            }
            Poll::Pending
        })
        .await;
        self.live.remove(&number);
        (number, value)
    }
}

impl<T: Send + 'static> Default for Group<T> {
    fn default() -> Group<T> {
        Group::new()
    }
}

impl<T> Drop for Group<T> {
    fn drop(&mut self) {
        let values = {
            let mut inner = self.ended.lock();
            inner.open = false;
            inner.waiting = None;
            std::mem::take(&mut inner.values)
        };
        // After the lock: a destructor may be anybody's.
        drop(values);
    }
}

impl<T: Send> Take<T> for Member<T> {
    fn fill(&self, value: Result<T, Died>) {
        if self.filled.swap(true, Ordering::Relaxed) {
            return;
        }
        let waiting = {
            let mut inner = self.ended.lock();
            if !inner.open {
                return;
            }
            inner.values.insert(self.number, value);
            inner.waiting.take()
        };
        if let Some(waker) = waiting {
            waker.wake();
        }
    }
}

impl<T: Send> End for Member<T> {
    fn died(self: Arc<Self>, why: Died) -> bool {
        self.fill(Err(why));
        self.ended.lock().open
    }
}

#[cfg(test)]
mod tests {
    use super::super::{InOrder, SimConfig};
    use super::*;

    fn in_order() -> Sim {
        Sim::new(SimConfig::new(InOrder))
    }

    #[test]
    fn the_first_to_end_comes_first_and_of_several_the_least_number() {
        let sim = in_order();
        let given = sim.run(async {
            let mut group = Group::new();
            for (number, ms) in [(0, 9), (1, 5), (2, 5), (3, 1)] {
                let (sim, id) = (sim.clone(), ActorId::call(number));
                group.spawn(&sim.clone(), id, number as usize, async move {
                    sim.sleep_ms(id, ms).await;
                    ms
                });
            }
            // While it sleeps, three of them end.
            sim.sleep_ms(ActorId::AGENT, 6).await;
            assert_eq!(group.live().len(), 4);
            let mut given = Vec::new();
            while group.live().len() > 0 {
                let (number, value) = group.next().await;
                given.push((number, value.unwrap()));
            }
            given
        });
        assert_eq!(given, Ok(vec![(1, 5), (2, 5), (3, 1), (0, 9)]));
    }

    #[test]
    fn deaths_are_heard_while_the_group_is_there() {
        let sim = in_order();
        let given = sim.run(async {
            let mut group: Group<()> = Group::new();
            group.spawn(&sim, ActorId::call(1), 1, async { panic!("no") });
            group.spawn(&sim, ActorId::call(2), 2, std::future::pending());
            let first = group.next().await;
            sim.cancel(ActorId::call(2));
            (first, group.next().await)
        });
        let panicked = Err(Died::Panicked("no".to_owned()));
        assert_eq!(given, Ok(((1, panicked), (2, Err(Died::Cancelled)))));

        let sim = in_order();
        let unheard = sim.run(async {
            let mut group: Group<()> = Group::new();
            group.spawn(&sim, ActorId::call(1), 1, async { panic!("no") });
            drop(group);
            sim.sleep_ms(ActorId::AGENT, 1).await;
        });
        assert!(unheard.is_err(), "{unheard:?}");
    }
}
