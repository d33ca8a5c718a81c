//! Skeleton of the schedule string.
use super::ActorId;

/// Which actors were granted at points with a choice.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Schedule {
    pub scenario_hash: String,
    pub choices: Vec<ActorId>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    #[error("not a schedule: {0}")]
    Malformed(String),
}
