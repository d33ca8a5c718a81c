//! The tools: the trait that describes one, the pool that a run offers, and one
//! file for each family of those that are built in.

mod cx;
mod outcome;
mod tool;

pub use cx::{ToolCx, ToolEnv};
pub use outcome::{Outcome, ResultContent};
pub use tool::{Footprint, OwnVerdict, Permit, Progress, ReadOnly, Refusal, RuleSubject, Tool};

/// Skeleton: what the agent knows of files.
#[derive(Clone, Default)]
pub struct FileStates;
/// Skeleton: todos, loaded tools.
#[derive(Clone, Default)]
pub struct Session;
/// Skeleton: the tools of a run.
pub struct Pool;

/// An input in one short line.
pub fn short_json(input: &serde_json::Value) -> String {
    input.to_string()
}
