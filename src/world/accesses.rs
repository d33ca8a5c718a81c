//! The log of what was touched.

use crate::sim::{ActorId, Op};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

/// The most accesses that wait to be taken. Whoever logs takes them call by call; a
/// run in which nobody does must not grow without bound.
const WAITING_MAX: usize = 1 << 20;

/// One granted operation, as the world logs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    pub at_ms: u64,
    pub actor: ActorId,
    /// Which operation of its actor, from 0, over the whole run.
    pub n: u32,
    pub op: Op,
    /// `ok` or the words of the refusal.
    pub result: &'static str,
}

/// The accesses that were not taken yet.
#[derive(Default)]
pub(super) struct AccessLog {
    on: bool,
    state: Mutex<Log>,
}

#[derive(Default)]
struct Log {
    by_actor: BTreeMap<ActorId, OfActor>,
    /// How many operations were logged so far.
    seen: u64,
    waiting: usize,
    lost: u64,
}

#[derive(Default)]
struct OfActor {
    /// How many operations the actor did so far.
    count: u32,
    /// With the place in the order of grants.
    waiting: Vec<(u64, Access)>,
}

impl AccessLog {
    pub fn new(on: bool) -> AccessLog {
        AccessLog {
            on,
            state: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Notes an operation, or only counts it as lost if too many wait.
    pub fn note(&self, at_ms: u64, actor: ActorId, op: Op, result: &'static str) {
        if !self.on {
            return;
        }
        let mut log = self.lock();
        let log = &mut *log;
        let place = log.seen;
        log.seen += 1;
        let of_actor = log.by_actor.entry(actor).or_default();
        let n = of_actor.count;
        of_actor.count += 1;
        if log.waiting >= WAITING_MAX {
            log.lost += 1;
            return;
        }
        log.waiting += 1;
        let access = Access {
            at_ms,
            actor,
            n,
            op,
            result,
        };
        of_actor.waiting.push((place, access));
    }

    /// Takes what waits of all actors, in the order granted.
    pub fn take(&self) -> Vec<Access> {
        let mut log = self.lock();
        let waiting = log.by_actor.values_mut().map(|of| &mut of.waiting);
        let mut all: Vec<(u64, Access)> = waiting.flat_map(std::mem::take).collect();
        log.waiting = 0;
        all.sort_by_key(|(place, _)| *place);
        all.into_iter().map(|(_, access)| access).collect()
    }

    /// Takes what waits of one actor, in its order.
    pub fn take_of(&self, actor: ActorId) -> Vec<Access> {
        let mut log = self.lock();
        let Some(of_actor) = log.by_actor.get_mut(&actor) else {
            return Vec::new();
        };
        let taken = std::mem::take(&mut of_actor.waiting);
        log.waiting -= taken.len();
        taken.into_iter().map(|(_, access)| access).collect()
    }

    /// How many accesses were not kept because nobody took those before them.
    pub fn lost(&self) -> u64 {
        self.lock().lost
    }
}
