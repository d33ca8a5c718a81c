//! What `run --json` prints: one line a scenario, then the summary.

use crate::scenario::{Complaint, Failure, Place, Severity};
use crate::settings;
use crate::tools::lint::Lint;
use crate::trace::ToolStats;
use serde::Serialize;
use std::collections::BTreeMap;

/// How a scenario came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// As expected.
    Same,
    /// As expected, and its snapshot was never accepted.
    New,
    Differs,
    /// The file is no scenario, or lacks something that its run needs.
    Invalid,
    /// The run could not be finished.
    Error,
}

impl Status {
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Same => "same",
            Status::New => "new",
            Status::Differs => "differs",
            Status::Invalid => "invalid",
            Status::Error => "error",
        }
    }
}

/// One scenario, or one case of it.
#[derive(Debug, Clone, Serialize)]
pub struct RunLine {
    /// The file, and the case after an `@`.
    pub scenario: String,
    pub name: String,
    pub status: Status,
    pub seed: u64,
    /// The grants of the run, if it ran.
    pub schedule: Option<String>,
    pub trace_hash: Option<String>,
    pub outcome_hash: Option<String>,
    pub makespan_ms: u64,
    pub turns: u32,
    pub calls: u32,
    pub stats: BTreeMap<String, ToolStats>,
    pub complaints: Vec<Said>,
    /// Where the snapshot differs first.
    pub divergence: Option<SnapshotDivergence>,
    /// The command that shows it again.
    pub reproduce: String,
}

/// Something that is wrong, or worth a remark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Said {
    /// About the scenario file.
    File {
        severity: &'static str,
        file: String,
        line: u32,
        column: u32,
        path: String,
        found: String,
        expected: String,
        hint: Option<String>,
    },
    /// An expectation that was not met.
    Failure {
        what: String,
        expected: String,
        found: String,
        file: Option<String>,
        line: Option<u32>,
        column: Option<u32>,
    },
    /// About the run as a whole.
    Run { text: String },
    /// About a tool as a model reads it.
    Tool { tool: String, text: String },
}

/// The first line in which a snapshot differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SnapshotDivergence {
    pub snapshot: String,
    /// From 1, below the header.
    pub line: usize,
    pub expected: Option<String>,
    pub found: Option<String>,
}

/// How many scenarios came out how.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub scenarios: u32,
    pub same: u32,
    pub new: u32,
    pub differs: u32,
    pub invalid: u32,
    pub error: u32,
}

impl Summary {
    pub fn count(&mut self, status: Status) {
        self.scenarios += 1;
        let counter = match status {
            Status::Same => &mut self.same,
            Status::New => &mut self.new,
            Status::Differs => &mut self.differs,
            Status::Invalid => &mut self.invalid,
            Status::Error => &mut self.error,
        };
        *counter += 1;
    }

    /// The counts that are not 0, in words.
    pub fn in_words(&self) -> String {
        let counts = [
            (self.same, "same"),
            (self.new, "new"),
            (self.differs, "other than expected"),
            (self.invalid, "invalid"),
            (self.error, "not run to the end"),
        ];
        let counts: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        let s = if self.scenarios == 1 { "" } else { "s" };
        format!("{} scenario{s}: {}", self.scenarios, counts.join(", "))
    }
}

impl From<&Complaint> for Said {
    fn from(complaint: &Complaint) -> Said {
        let Place {
            file, line, column, ..
        } = &complaint.place;
        Said::File {
            severity: match complaint.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            file: file.to_string(),
            line: *line,
            column: *column,
            path: complaint.path.clone(),
            found: complaint.found.clone(),
            expected: complaint.expected.clone(),
            hint: complaint.hint.clone(),
        }
    }
}

impl From<&Lint> for Said {
    fn from(lint: &Lint) -> Said {
        Said::Tool {
            tool: lint.tool.clone(),
            text: lint.to_string(),
        }
    }
}

impl From<&settings::Complaint> for Said {
    fn from(complaint: &settings::Complaint) -> Said {
        let (line, column) = complaint.place.unwrap_or((1, 1));
        Said::File {
            severity: complaint.severity.as_str(),
            file: complaint.file.to_string(),
            line,
            column,
            path: complaint.path.clone(),
            found: complaint.found.clone(),
            expected: complaint.expected.clone(),
            hint: complaint.hint.clone(),
        }
    }
}

impl From<&Failure> for Said {
    fn from(failure: &Failure) -> Said {
        let at = failure.at.as_ref();
        Said::Failure {
            what: failure.what.clone(),
            expected: failure.expected.clone(),
            found: failure.found.clone(),
            file: at.map(|at| at.file.to_string()),
            line: at.map(|at| at.line),
            column: at.map(|at| at.column),
        }
    }
}

impl SnapshotDivergence {
    /// The first line in which two snapshots differ.
    pub fn between(snapshot: String, expected: &str, found: &str) -> SnapshotDivergence {
        let (mut a, mut b) = (expected.lines(), found.lines());
        let mut line = 1;
        loop {
            match (a.next(), b.next()) {
                (Some(a), Some(b)) if a == b => line += 1,
                (a, b) => {
                    return SnapshotDivergence {
                        snapshot,
                        line,
                        expected: a.map(str::to_owned),
                        found: b.map(str::to_owned),
                    };
                }
            }
        }
    }
}
