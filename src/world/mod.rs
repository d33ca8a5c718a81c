//! Everything the agent could touch, and the only way to touch it.
//!
//! One [`World`] owns all state; an [`Actor`] is somebody's hands on it. Each
//! method of an actor announces one operation, waits until it is granted, and
//! does it in one step.

mod actor;
mod answers;
mod disk;
mod fs;
mod memory;
mod outside;
mod pattern;
mod user;

pub use actor::{Access, Actor};
pub use answers::{Answers, AnswersLeft};
pub use disk::DiskFs;
pub use fs::{
    Bytes, ContentHash, Entry, FileKind, Found, Fs, FsError, FsErrorKind, LINKS_MAX, Meta,
    NAME_BYTES_MAX, PATH_BYTES_MAX, READ_LIMIT_BYTES, ReplaceError, normalize, split,
};
pub use memory::{Difference, Differs, Held, Kept, MemoryFs, MemoryOptions, diff};
pub use outside::{Change, OutsideChange, Trigger};
pub use pattern::Pattern;
pub use user::{UserAnswer, UserReply};

use crate::sim::{ActorId, Sim};
use std::sync::Arc;

/// The world of one run. Cloning it gives another handle on the same world.
#[derive(Clone)]
pub struct World {
    pub(crate) inner: Arc<WorldInner>,
}

pub(crate) struct WorldInner {
    pub sim: Sim,
    pub fs: Arc<dyn Fs>,
    /// Milliseconds since 1970 at virtual time 0.
    pub start_unix_ms: i64,
    pub seed: u64,
    pub outside: outside::Board,
    pub accesses: std::sync::Mutex<Vec<Access>>,
}

impl World {
    /// A world on `fs` whose clock reads `start_unix_ms` at virtual time 0.
    pub fn new(
        sim: Sim,
        fs: Arc<dyn Fs>,
        start_unix_ms: i64,
        seed: u64,
        outside: Vec<OutsideChange>,
    ) -> World {
        World {
            inner: Arc::new(WorldInner {
                sim,
                fs,
                start_unix_ms,
                seed,
                outside: outside::Board::new(outside),
                accesses: Default::default(),
            }),
        }
    }

    /// The hands of `id` on this world.
    pub fn actor(&self, id: ActorId) -> Actor {
        Actor::new(self.clone(), id)
    }

    /// The executor that everything in this world runs on.
    pub fn sim(&self) -> &Sim {
        &self.inner.sim
    }

    /// The file system itself, for preparing a world and for looking at it after
    /// a run: what goes through here is nobody's operation.
    pub fn fs(&self) -> &Arc<dyn Fs> {
        &self.inner.fs
    }

    /// Every access since the last call of this, in the order granted.
    pub fn take_accesses(&self) -> Vec<Access> {
        std::mem::take(
            &mut *self
                .inner
                .accesses
                .lock()
                .unwrap_or_else(|e| e.into_inner()),
        )
    }
}
