//! The executor of a simulated run: actors announce operations, a strategy
//! grants them one at a time, and virtual time moves when nothing else can.

mod executor;
mod op;
mod random;
mod schedule;
mod strategy;

pub use executor::{Died, Joined, Sim, SimConfig, SimError};
pub use op::{ActorId, ActorKind, Op, OpKind, Resource};
pub use random::{Key, Stream};
pub use schedule::{Schedule, ScheduleError};
pub use strategy::{InOrder, Random, Replay, Strategy};
