//! Runs a complete tool-using agent runtime against a scripted model in a
//! simulated world, and gives back the same trace every time.
#![forbid(unsafe_code)]

pub mod words;

pub mod sim;
pub mod wire;

pub mod profile;
pub mod settings;
pub mod shell_syntax;
pub mod trace;
pub mod world;

pub mod mcp;
pub mod model;
pub mod rule;
pub mod shell;

pub mod hooks;
pub mod recording;
pub mod tools;

pub mod permission;
pub mod scenario;

pub mod pipeline;

pub mod schedule;

pub mod agent;

pub mod run;

pub mod replay;

pub mod explain;
pub mod report;

mod library;

pub use library::{Rehearsal, Rehearsed, ScenarioCheck, check_folder, scenario};

#[cfg(feature = "cli")]
pub mod cli;
