//! Everything the agent could touch, and the only way to touch it.
//!
//! One [`World`] owns all state; an [`Actor`] is somebody's hands on it. Each
//! method of an actor announces one operation, waits until it is granted, and
//! does it in one step.

mod accesses;
mod actor;
mod answers;
mod disk;
mod fs;
mod memory;
mod needle;
mod outside;
mod pattern;
mod user;

pub use accesses::Access;
pub use actor::Actor;
pub use answers::{Answer, Answers};
pub use disk::DiskFs;
pub use fs::{
    Bytes, ContentHash, Entry, FileKind, Found, Fs, FsError, FsErrorKind, LINKS_MAX, Meta,
    NAME_BYTES_MAX, PATH_BYTES_MAX, READ_LIMIT_BYTES, ReplaceError, normalize, split,
};
pub use memory::{Difference, Differs, Held, Kept, MemoryFs, MemoryOptions, diff};
pub use needle::Needle;
pub use outside::{Applied, Change, OutsideChange, Trigger};
pub use pattern::Pattern;
pub use user::{Question, User, UserAnswer, UserReply};

use crate::sim::{ActorId, Sim};
use std::sync::Arc;

/// The world of one run. Cloning it gives another handle on the same world.
#[derive(Clone)]
pub struct World {
    inner: Arc<WorldInner>,
}

struct WorldInner {
    sim: Sim,
    fs: Arc<dyn Fs>,
    start_unix_ms: i64,
    seed: u64,
    outside: outside::Board,
    user: User,
    accesses: accesses::AccessLog,
}

/// What a world is besides its file system and its executor.
#[derive(Debug, Default)]
pub struct WorldOptions {
    /// Milliseconds since 1970 at virtual time 0.
    pub start_unix_ms: i64,
    /// The seed of everything random in it.
    pub seed: u64,
    pub outside: Vec<OutsideChange>,
    pub user: User,
    /// Whether every granted operation is kept until [`World::take_accesses`] or
    /// [`World::take_accesses_of`].
    pub log_accesses: bool,
}

impl World {
    /// A world on `fs` whose clock reads `start_unix_ms` at virtual time 0, without
    /// a user and with a log of accesses.
    pub fn new(
        sim: Sim,
        fs: Arc<dyn Fs>,
        start_unix_ms: i64,
        seed: u64,
        outside: Vec<OutsideChange>,
    ) -> World {
        let options = WorldOptions {
            start_unix_ms,
            seed,
            outside,
            user: User::default(),
            log_accesses: true,
        };
        World::with(sim, fs, options)
    }

    /// A world on `fs`.
    pub fn with(sim: Sim, fs: Arc<dyn Fs>, options: WorldOptions) -> World {
        World {
            inner: Arc::new(WorldInner {
                sim,
                fs,
                start_unix_ms: options.start_unix_ms,
                seed: options.seed,
                outside: outside::Board::new(options.outside),
                user: options.user,
                accesses: accesses::AccessLog::new(options.log_accesses),
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

    /// The person at the keyboard.
    pub fn user(&self) -> &User {
        &self.inner.user
    }

    /// The file system itself, for preparing a world and for looking at it after
    /// a run: what goes through here is nobody's operation.
    pub fn fs(&self) -> &Arc<dyn Fs> {
        &self.inner.fs
    }

    /// Every access since it was last taken, in the order granted.
    pub fn take_accesses(&self) -> Vec<Access> {
        self.inner.accesses.take()
    }

    /// Every access of one actor since it was last taken, in its order.
    pub fn take_accesses_of(&self, actor: ActorId) -> Vec<Access> {
        self.inner.accesses.take_of(actor)
    }

    /// How many accesses were not kept because nobody took those before them.
    pub fn lost_accesses(&self) -> u64 {
        self.inner.accesses.lost()
    }
}

#[cfg(test)]
mod tests;
