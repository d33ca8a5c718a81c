//! Running a command line: on the world with the virtual shell, or for real.

use crate::world::Actor;
use async_trait::async_trait;

/// One command line to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    pub line: String,
    /// Absolute and normal.
    pub cwd: String,
    /// Sorted by name.
    pub env: Vec<(String, String)>,
    pub stdin: Vec<u8>,
    /// Virtual milliseconds after which it is stopped.
    pub timeout_ms: u64,
}

/// What became of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ran {
    Exited {
        code: i32,
        stdout: Vec<u8>,
        stderr: Vec<u8>,
        /// stdout and stderr as one stream, in the order written where the shell knows it.
        merged: Vec<u8>,
        /// The working folder at the end; absolute and normal.
        cwd: String,
    },
    TimedOut {
        after_ms: u64,
        merged: Vec<u8>,
    },
    /// The shell cannot run this: a program that it lacks, or something it does not
    /// do. A complaint about the scenario, never an outcome.
    Lacks {
        what: String,
        hint: String,
    },
}

/// A shell. `actor` is whose operations the command's touches of the world are.
#[async_trait]
pub trait Shell: Send + Sync {
    async fn run(&self, command: &Command, actor: &Actor) -> Ran;
}
