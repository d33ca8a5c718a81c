//! What is wrong with settings, said so that it can be mended.

use super::Source;
use std::fmt;
use std::sync::Arc;

/// Whether a complaint stops a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Going on could mean fewer denials than were written, or other settings.
    Error,
    /// Something has no effect, or another than may be thought.
    Warning,
}

impl Severity {
    pub const fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// One complaint about settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    pub severity: Severity,
    /// The file, or the word of a source that is no file.
    pub file: Arc<str>,
    /// Line and column, from 1, columns in characters; if it is a file.
    pub place: Option<(u32, u32)>,
    /// The key path, as in `permissions.deny[2]`; empty at the top.
    pub path: String,
    /// What stands there, in words that fit after "found".
    pub found: String,
    /// What should, in words that fit after "expected".
    pub expected: String,
    pub hint: Option<String>,
}

/// An error in a settings file that did not keep the rest of it from being used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    pub source: Source,
    pub complaint: Complaint,
}

impl fmt::Display for Broken {
    /// The source and the name of the file, but not where it lies: the same on every machine.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = &self.complaint.file;
        let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let mut complaint = self.complaint.clone();
        complaint.file = name.into();
        complaint.hint = None;
        write!(f, "{} settings: {complaint}", self.source)
    }
}

impl Complaint {
    pub fn hint(mut self, hint: impl Into<String>) -> Complaint {
        self.hint = Some(hint.into());
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Complaint {
    /// Place, severity, key path, found and expected; the hint on a line of its own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}: ", self.severity.as_str())?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "found {}, expected {}", self.found, self.expected)?;
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}
