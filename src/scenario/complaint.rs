//! What is wrong with a scenario file, said so that it can be mended: where,
//! what was found, what was expected, and a hint.

use std::fmt;
use std::sync::Arc;

/// A stretch of a file. Lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file as it was named when it was opened.
    pub file: Arc<str>,
    pub line: u32,
    pub column: u32,
    /// The stretch's bytes in the file: from, up to.
    pub bytes: (u32, u32),
}

impl Place {
    /// The beginning of `file`.
    pub fn top_of(file: Arc<str>) -> Place {
        Place {
            file,
            line: 1,
            column: 1,
            bytes: (0, 0),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Whether a complaint stops the scenario from being run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Error,
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        })
    }
}

/// One complaint about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    pub severity: Severity,
    pub place: Place,
    /// The key path to the place, as in `model[0].calls[1].id`; empty at the top.
    pub path: String,
    /// What stands there, in words that fit after "found".
    pub found: String,
    /// What should, in words that fit after "expected".
    pub expected: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Complaint {
    /// An error that stops the scenario.
    pub fn error(place: &Place, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Complaint {
            severity: Severity::Error,
            place: place.clone(),
            path: String::new(),
            found: found.into(),
            expected: expected.into(),
            hint: None,
        }
    }

    /// A remark that does not stop the scenario.
    pub fn warning(place: &Place, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Complaint {
            severity: Severity::Warning,
            ..Complaint::error(place, found, expected)
        }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The complaint without its place: one line.
    pub fn title(&self) -> String {
        format!("found {}, expected {}", self.found, self.expected)
    }
}

impl fmt::Display for Complaint {
    /// The same on every terminal: place, severity, key path, found and expected,
    /// then the hint on a line of its own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: ", self.place, self.severity)?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.title())?;
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

/// A file that was opened, kept for the snippets of its complaints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    pub file: Arc<str>,
    pub text: Arc<str>,
}

/// A scenario that cannot be run: every complaint about it, in order of place,
/// and the files they are about.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .complaints.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct Rejected {
    pub complaints: Vec<Complaint>,
    pub sources: Vec<SourceText>,
}
