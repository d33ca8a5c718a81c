//! The executor of a simulated run: actors announce operations, a strategy
//! grants them one at a time, and virtual time moves when nothing else can.
//!
//! The loop *settles* (polls the ready actors in the order of their ids until each
//! has announced an operation, is blocked or is done), then grants one announced
//! operation, then settles again. Nothing that an actor does between two grants can
//! be seen by another one but through what it woke, so the order of grants is the
//! whole schedule of a run, and a [`Schedule`] string replays it.
//!
//! What actors must not do: spawn on tokio (an error), block a thread, do real I/O,
//! or choose at random by anything but a [`Stream`].

mod clock;
mod driver;
mod executor;
mod group;
mod joined;
mod op;
mod pending;
mod random;
mod ready;
mod schedule;
mod state;
mod strategy;

pub use executor::{Sim, SimConfig, SimError};
pub use group::Group;
pub use joined::{Died, Joined};
pub use op::{ActorId, ActorKind, Op, OpKind, Resource};
pub use pending::{Granting, Sleeping};
pub use random::{Key, Stream};
pub use schedule::{Schedule, ScheduleError};
pub use strategy::{InOrder, Random, Replay, Strategy};
