//! What a replay says, as data: one report a recording, and a summary of all.

use super::session::{ReplayOptions, Replayed, replay};
use super::verdict::{Counts, Divergence, Tally};
use crate::recording::{LoadError, Recording, Source, read};
use crate::sim::SimError;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Why a recording was not replayed.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    #[error("failed to read: {0}")]
    File(#[from] std::io::Error),
    #[error("{0}")]
    Format(#[from] LoadError),
    /// A fault of this program.
    #[error("the runtime failed: {0}")]
    Fault(#[from] SimError),
}

/// The replay of one recording (`interface.md`, `replay --json`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordingReport {
    pub recording: String,
    pub format: &'static str,
    /// The profiles used, in their order, joined by commas.
    pub profile: String,
    pub calls: u32,
    pub predicted: u32,
    pub seeded: u32,
    pub recorded: u32,
    pub diverged: u32,
    pub not_comparable: u32,
    pub by_tool: BTreeMap<String, Counts>,
    pub divergences: Vec<Divergence>,
    pub repairs: Vec<RepairLine>,
    pub outside_changes: Vec<OutsideLine>,
    pub line_complaints: Vec<ComplaintLine>,
    /// Why each profile was picked.
    pub profile_why: Vec<String>,
    pub predicted_over_opaque: u32,
    pub asked: u32,
    pub not_comparable_why: BTreeMap<&'static str, u32>,
    pub causes: BTreeMap<&'static str, u32>,
}

/// Something that was mended or assumed, and what it rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RepairLine {
    pub line: u32,
    pub kind: &'static str,
    pub detail: String,
}

/// A change by someone else, by the line that gives it away. It counts for later calls only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutsideLine {
    pub line: u32,
    pub path: String,
    pub known_since: u32,
    pub opaque_between: bool,
    pub what: String,
}

/// A part of the file that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComplaintLine {
    pub line: u32,
    pub column: u32,
    pub found: String,
    pub expected: String,
    pub hint: String,
}

/// The kind of repair that [`super::Assumed`] is.
const ASSUMED_READ: &str = "assumed_read";

impl RecordingReport {
    /// The report on the recording called `name`.
    pub fn new(name: String, recording: &Recording<'_>, replayed: Replayed) -> RecordingReport {
        let mut repairs: Vec<RepairLine> = recording
            .repairs
            .iter()
            .map(|repair| RepairLine {
                line: repair.line,
                kind: repair.kind.as_str(),
                detail: repair.detail.clone(),
            })
            .collect();
        repairs.extend(replayed.assumed.into_iter().map(|assumed| RepairLine {
            line: assumed.line,
            kind: ASSUMED_READ,
            detail: assumed.what,
        }));
        repairs.sort_by_key(|repair| repair.line);
        let outside_changes = replayed
            .outside_changes
            .into_iter()
            .map(|change| OutsideLine {
                line: change.line,
                path: change.path,
                known_since: change.known_since,
                opaque_between: change.opaque_between,
                what: change.what,
            });
        let line_complaints = recording.complaints.iter().map(|complaint| ComplaintLine {
            line: complaint.line,
            column: complaint.column,
            found: complaint.found.clone(),
            expected: complaint.expected.clone(),
            hint: complaint.hint.clone(),
        });
        let names: Vec<&str> = replayed
            .profiles
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        let Tally {
            all,
            by_tool,
            predicted_over_opaque,
            asked,
            not_comparable_why,
            causes,
        } = replayed.tally;
        RecordingReport {
            recording: name,
            format: recording.format.as_str(),
            profile: names.join(", "),
            calls: all.calls,
            predicted: all.predicted,
            seeded: all.seeded,
            recorded: all.recorded,
            diverged: all.diverged,
            not_comparable: all.not_comparable,
            by_tool,
            divergences: replayed.divergences,
            repairs,
            outside_changes: outside_changes.collect(),
            line_complaints: line_complaints.collect(),
            profile_why: replayed.profiles.into_iter().map(|(_, why)| why).collect(),
            predicted_over_opaque,
            asked,
            not_comparable_why,
            causes,
        }
    }
}

/// The sum of several reports.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub recordings: u32,
    pub unreadable: u32,
    #[serde(flatten)]
    pub tally: Tally,
    pub repairs: u32,
    /// For each thousand calls, rounded down.
    pub repairs_per_1000_calls: u32,
    pub outside_changes: u32,
    pub line_complaints: u32,
}

impl Summary {
    /// Adds one report.
    pub fn add(&mut self, report: &RecordingReport) {
        self.recordings += 1;
        self.tally.add_all(&Tally {
            all: Counts {
                calls: report.calls,
                predicted: report.predicted,
                seeded: report.seeded,
                recorded: report.recorded,
                diverged: report.diverged,
                not_comparable: report.not_comparable,
            },
            by_tool: report.by_tool.clone(),
            predicted_over_opaque: report.predicted_over_opaque,
            asked: report.asked,
            not_comparable_why: report.not_comparable_why.clone(),
            causes: report.causes.clone(),
        });
        self.repairs += report.repairs.len() as u32;
        self.outside_changes += report.outside_changes.len() as u32;
        self.line_complaints += report.line_complaints.len() as u32;
        let per_1000 = u64::from(self.repairs) * 1_000 / u64::from(self.tally.all.calls.max(1));
        self.repairs_per_1000_calls = per_1000 as u32;
    }

    /// Whether anything was compared at all.
    pub fn has_compared(&self) -> bool {
        let all = self.tally.all;
        all.predicted + all.seeded + all.recorded + all.diverged > 0
    }
}

/// Replays the recording in a file.
///
/// # Errors
///
/// [`Unreadable`] if the file cannot be read, is of no known format, or the runtime
/// itself fails. Lines that cannot be read are no error: they are in the report.
pub fn replay_file(path: &Path, options: &ReplayOptions) -> Result<RecordingReport, Unreadable> {
    let source = Source::new(std::fs::read(path)?)?;
    let recording = read(&source);
    let replayed = replay(&recording, options)?;
    let name = path.display().to_string();
    Ok(RecordingReport::new(name, &recording, replayed))
}

/// The files at `paths`: files as they are, and below folders every file whose name does
/// not begin with a dot, sorted.
///
/// # Errors
///
/// The path that is neither file nor folder, or the folder that cannot be listed.
pub fn recording_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            below(path, &mut files)?;
        } else if path.is_file() {
            files.push(path.clone());
        } else {
            return Err(format!("no such file or folder: {}", path.display()));
        }
    }
    Ok(files)
}

fn below(folder: &Path, into: &mut Vec<PathBuf>) -> Result<(), String> {
    let failed = |error| format!("failed to list {}: {error}", folder.display());
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        entries.push(entry.map_err(failed)?.path());
    }
    entries.sort();
    for path in entries {
        let hidden = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if hidden {
            continue;
        }
        if path.is_dir() {
            below(&path, into)?;
        } else {
            into.push(path);
        }
    }
    Ok(())
}
