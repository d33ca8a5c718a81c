//! Running a command line: on the world with the virtual shell, or for real.

mod answer;
#[cfg(feature = "bash")]
mod bash;
mod fixture;
mod memory;
mod output;
mod real;

#[cfg(feature = "bash")]
pub use bash::VirtualShell;
pub use fixture::{Fixture, Fixtures};
pub use memory::ShellMemory;
pub use real::RealShell;

use crate::world::Actor;
use async_trait::async_trait;
use std::sync::Arc;

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
    /// What earlier commands of the same shell left behind, and this one will; a command
    /// without it has a shell of its own.
    pub memory: Option<ShellMemory>,
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
        /// What it had printed until then.
        merged: Vec<u8>,
    },
    /// The shell cannot run this: a program that it lacks, or something it does not
    /// do. A complaint about the scenario, never an outcome.
    Lacks { what: String, hint: String },
}

/// A shell. `actor` is whose operations the command's touches of the world are.
#[async_trait]
pub trait Shell: Send + Sync {
    async fn run(&self, command: &Command, actor: &Actor) -> Ran;
}

/// The shell of a simulated run: the scenario's answers, and bash where it is built in.
pub fn simulated(fixtures: Arc<Fixtures>) -> Arc<dyn Shell> {
    #[cfg(feature = "bash")]
    return Arc::new(VirtualShell::new(fixtures));
    #[cfg(not(feature = "bash"))]
    Arc::new(AnswersOnly(fixtures))
}

/// A shell that has nothing but the scenario's answers to whole command lines.
#[cfg(not(feature = "bash"))]
struct AnswersOnly(Arc<Fixtures>);

#[cfg(not(feature = "bash"))]
#[async_trait]
impl Shell for AnswersOnly {
    async fn run(&self, command: &Command, actor: &Actor) -> Ran {
        match answer::answer(&self.0, command, actor).await {
            Some(ran) => ran,
            None => Ran::Lacks {
                what: "the feature `bash`, which this build leaves out".to_owned(),
                hint: "say under `commands:` what this command does".to_owned(),
            },
        }
    }
}
