//! The timers of a run, in whole milliseconds of virtual time.

use super::ActorId;
use std::collections::BTreeMap;
use std::task::Waker;

/// A time that never comes, in milliseconds: twenty years. A timer at or after it
/// does not keep a run alive, and a guest's timer after it counts as none.
pub(super) const NEVER_MS: u64 = 20 * 365 * 24 * 60 * 60 * 1000;

/// The place of a timer: when it fires, then the order in which it was set.
pub(super) type TimerKey = (u64, u64);

/// The timers that have not fired yet.
#[derive(Default)]
pub(super) struct Timers {
    waiting: BTreeMap<TimerKey, (ActorId, Waker)>,
    next_sequence: u64,
}

impl Timers {
    /// Sets a timer for `at_ms`.
    pub fn set(&mut self, at_ms: u64, actor: ActorId, waker: &Waker) -> TimerKey {
        let key = (at_ms, self.next_sequence);
        self.next_sequence += 1;
        self.waiting.insert(key, (actor, waker.clone()));
        key
    }

    /// Wakes `waker` instead, when the timer fires; `false` if it has fired.
    pub fn renew(&mut self, key: TimerKey, waker: &Waker) -> bool {
        match self.waiting.get_mut(&key) {
            Some((_, old)) => {
                if !old.will_wake(waker) {
                    *old = waker.clone();
                }
                true
            }
            None => false,
        }
    }

    /// Takes a timer back.
    pub fn remove(&mut self, key: TimerKey) -> Option<Waker> {
        self.waiting.remove(&key).map(|(_, waker)| waker)
    }

    /// When the next timer fires, if it ever does.
    pub fn next_ms(&self) -> Option<u64> {
        let (&(at_ms, _), _) = self.waiting.first_key_value()?;
        (at_ms < NEVER_MS).then_some(at_ms)
    }

    /// The next of the timers that are due at `now_ms`, in the order of time, then of setting.
    pub fn pop_due(&mut self, now_ms: u64) -> Option<Waker> {
        let entry = self.waiting.first_entry()?;
        (entry.key().0 <= now_ms).then(|| entry.remove().1)
    }

    /// Until when `actor` sleeps, by its earliest timer.
    pub fn sleeps_until_ms(&self, actor: ActorId) -> Option<u64> {
        self.waiting
            .iter()
            .find(|(_, (by, _))| *by == actor)
            .map(|(&(at_ms, _), _)| at_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::super::ready::{Ready, waker_of};
    use super::*;
    use std::sync::Arc;

    #[test]
    fn timers_fire_by_time_then_by_setting() {
        let ready = Arc::new(Ready::default());
        let mut timers = Timers::default();
        for (at_ms, call) in [(5, 1), (3, 9), (3, 2), (7, 4)] {
            let id = ActorId::call(call);
            timers.set(at_ms, id, &waker_of(id, &ready));
        }
        assert_eq!(timers.next_ms(), Some(3));
        assert!(timers.pop_due(2).is_none());
        let mut fired = Vec::new();
        while let Some(waker) = timers.pop_due(5) {
            waker.wake();
            fired.extend(ready.pop());
        }
        assert_eq!(fired, [9, 2, 1].map(ActorId::call));
        assert_eq!(timers.sleeps_until_ms(ActorId::call(4)), Some(7));
        assert_eq!(timers.sleeps_until_ms(ActorId::call(1)), None);
    }

    #[test]
    fn a_timer_that_never_fires_is_no_deadline() {
        let mut timers = Timers::default();
        let key = timers.set(u64::MAX, ActorId::AGENT, Waker::noop());
        assert_eq!(timers.next_ms(), None);
        assert!(timers.renew(key, Waker::noop()));
        assert!(timers.remove(key).is_some());
        assert!(!timers.renew(key, Waker::noop()));
    }
}
