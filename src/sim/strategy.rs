//! Skeleton of the strategies.
use super::{ActorId, Op, Schedule};

/// Chooses which announced operation is granted next.
pub trait Strategy: Send {
    /// The index of the one to grant; `enabled` has two or more, sorted by actor.
    fn choose(&mut self, enabled: &[(ActorId, &Op)]) -> Result<usize, String>;
}

pub struct InOrder;
impl Strategy for InOrder {
    fn choose(&mut self, _enabled: &[(ActorId, &Op)]) -> Result<usize, String> {
        Ok(0)
    }
}

pub struct Random(pub super::Stream);
impl Strategy for Random {
    fn choose(&mut self, enabled: &[(ActorId, &Op)]) -> Result<usize, String> {
        Ok(self.0.below(enabled.len() as u64) as usize)
    }
}

pub struct Replay(pub Schedule, pub usize);
impl Strategy for Replay {
    fn choose(&mut self, _enabled: &[(ActorId, &Op)]) -> Result<usize, String> {
        Ok(0)
    }
}
