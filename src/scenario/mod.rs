//! The scenario format: what the world holds, what the model will say, who else
//! acts, and what must come of it.
//!
//! A file is read into a tree in which everything knows its place ([`yaml`]), the
//! tree into types with every complaint collected ([`load`]), and the types are
//! checked against one another ([`lint`]). One table of keys ([`keys`]) makes the
//! complaints about unknown keys and the JSON Schema.

mod answers;
mod beside;
mod complaint;
mod definition;
mod expectation;
mod fields;
mod file_spec;
mod hosted_spec;
mod judge;
mod judge_file;
mod keys;
mod keys_expect;
mod keys_hosted;
mod keys_script;
mod lint;
mod load;
mod node;
mod outside;
mod schema;
mod script;
mod settings_spec;
mod shape;
mod starter;
mod tool_spec;
mod yaml;

pub use answers::{ClassifierAnswer, CommandAnswer, ToolAnswer};
pub use complaint::{Complaint, Place, Rejected, Severity, SourceText};
pub use definition::{Scenario, SnapshotLevel};
pub use expectation::{
    Expect, ExpectedCall, ExpectedDecision, ExpectedEvent, ExpectedFile, FileFact, FileIs,
};
pub use fields::Placed;
pub use file_spec::{Content, FileContent, FileSpec};
pub use judge::{Failure, Outcome, judge, unexpected_breaks};
pub use load::{Loaded, load, parse};
pub use outside::{InterruptSpec, OutsideSpec};
pub use schema::schema;
pub use script::{ExpectRequest, RequestResult, ScriptedCall, Turn, When};
pub use starter::STARTER;
pub use tool_spec::{PublishedSpec, ToolSpecs};
