//! The tools: the trait that describes one, the pool that a run offers, and one
//! file for each family of those that are built in.

mod answers;
mod apply;
mod bash;
mod below;
mod changes;
mod coerce;
mod compiled;
mod custom;
mod cx;
mod data;
mod edit;
mod fields;
mod file_state;
mod form;
mod glob;
mod grep;
mod grep_lines;
mod guard;
mod hosted_search;
mod ignored;
pub mod lint;
mod lookup;
mod matching;
mod mcp;
mod nearest;
mod no_match;
mod outcome;
mod page;
mod patch;
mod pool;
pub mod published;
mod ranges;
mod rank;
mod read;
mod schema;
mod session;
mod stages;
mod strict;
mod target;
mod todo;
mod tool;
mod tool_search;
pub mod units;
mod words;
mod write;

pub use answers::{Answered, ToolAnswer, stand_in};
pub use bash::Bash;
pub use custom::{Annotations, CustomTool, McpOrigin, Returns, Scripted};
pub use cx::{ToolCx, ToolEnv};
pub use data::Data;
pub use edit::{Edit, MultiEdit};
pub use file_state::{FileState, FileStates, Origin, View};
pub use glob::Glob;
pub use grep::Grep;
pub use hosted_search::search_definitions;
pub use lookup::{Unknown, normalized};
pub use mcp::mcp_names;
pub use outcome::{Outcome, ResultContent, error_text, stated_class};
pub use pool::{Checked, Entry, Pool};
pub use ranges::Ranges;
pub use read::Read;
pub use schema::{Complaint, Complaints, Group};
pub use session::{Session, Todo, TodoStatus};
pub use stages::{PoolOptions, Staged, collect, filter, merge};
pub use todo::TodoWrite;
pub use tool::{Footprint, OwnVerdict, Permit, Progress, ReadOnly, Refusal, RuleSubject, Tool};
pub use tool_search::ToolSearch;
pub use write::Write;

/// Every built-in tool, by name.
pub fn builtin() -> Vec<std::sync::Arc<dyn Tool>> {
    use std::sync::Arc;
    vec![
        Arc::new(Bash),
        Arc::new(Edit),
        Arc::new(Glob),
        Arc::new(Grep),
        Arc::new(MultiEdit),
        Arc::new(Read),
        Arc::new(TodoWrite),
        Arc::new(ToolSearch),
        Arc::new(Write),
    ]
}

/// An input in one short line.
pub fn short_json(input: &serde_json::Value) -> String {
    units::one_line(&input.to_string(), SUMMARY_UNITS)
}

/// How much of an input a summary shows.
const SUMMARY_UNITS: u64 = 120;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests_files;
#[cfg(test)]
mod tests_other;
#[cfg(test)]
mod tests_pool;
#[cfg(test)]
mod tests_read;
#[cfg(test)]
mod tests_search;
