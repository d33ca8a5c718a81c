//! What a reader has to say about a recording: what it could not read, and what it
//! mended to read it.

use std::fmt;

/// A part of a recording that could not be read; it cost nothing but itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineComplaint {
    /// From 1.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
    pub found: String,
    pub expected: String,
    pub hint: String,
}

impl fmt::Display for LineComplaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}: found {}, expected {}\nhint: {}",
            self.line, self.column, self.found, self.expected, self.hint
        )
    }
}

/// What was mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RepairKind {
    /// A run of NUL bytes was skipped.
    NulBytes,
    /// Bytes that are no UTF-8 became U+FFFD.
    InvalidUtf8,
    /// A half of a surrogate pair, escaped, became U+FFFD.
    LoneSurrogate,
    /// Several objects on one line were taken apart.
    Glued,
    /// A whole object behind the stub of another was taken out.
    Spliced,
    /// One object over several lines was put together.
    Joined,
    /// A result without an id was given to the call that its place points to.
    PairedByPlace,
    /// A second result for a call was left aside.
    SecondResult,
    /// A call that the file repeats was taken once.
    RepeatedCall,
    /// A result stood before its call.
    ResultFirst,
    /// A result whose call is not in the file was left aside.
    ResultWithoutCall,
}

impl RepairKind {
    /// The kind as it is written in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            RepairKind::NulBytes => "nul_bytes",
            RepairKind::InvalidUtf8 => "invalid_utf8",
            RepairKind::LoneSurrogate => "lone_surrogate",
            RepairKind::Glued => "glued",
            RepairKind::Spliced => "spliced",
            RepairKind::Joined => "joined",
            RepairKind::PairedByPlace => "paired_by_place",
            RepairKind::SecondResult => "second_result",
            RepairKind::RepeatedCall => "repeated_call",
            RepairKind::ResultFirst => "result_first",
            RepairKind::ResultWithoutCall => "result_without_call",
        }
    }
}

/// Something mended, where, and what it rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// From 1.
    pub line: u32,
    pub kind: RepairKind,
    pub detail: String,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.line, self.kind.as_str(), self.detail)
    }
}

/// The complaints and repairs of one reading, and how many lines it saw.
#[derive(Debug, Clone, Default)]
pub(super) struct Notes {
    pub complaints: Vec<LineComplaint>,
    pub repairs: Vec<Repair>,
    /// Lines with something on them.
    pub lines: u32,
    pub blank_lines: u32,
}

impl Notes {
    pub fn repair(&mut self, line: u32, kind: RepairKind, detail: impl Into<String>) {
        self.repairs.push(Repair {
            line,
            kind,
            detail: detail.into(),
        });
    }
}
