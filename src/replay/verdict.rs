//! What a replay says of each call: one of five counts, and of a divergence where,
//! how and why.

use crate::words::{Class, Step};
use serde::Serialize;
use std::collections::BTreeMap;

/// The five counts; every call is in exactly one (`interface.md`, replay).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Count {
    /// Every step was ours, the same came of it, and the world it met was known from
    /// earlier lines.
    Predicted,
    /// Executed with the same outcome, but its own result supplied what it met.
    Seeded,
    /// Step 6, or a denial by somebody outside, was served from the recording.
    Recorded,
    /// Something else came of it.
    Diverged,
    /// Nothing could be compared.
    NotComparable,
}

/// Calls by count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub calls: u32,
    pub predicted: u32,
    pub seeded: u32,
    pub recorded: u32,
    pub diverged: u32,
    pub not_comparable: u32,
}

impl Counts {
    /// Counts one call.
    pub fn add(&mut self, count: Count) {
        self.calls += 1;
        match count {
            Count::Predicted => self.predicted += 1,
            Count::Seeded => self.seeded += 1,
            Count::Recorded => self.recorded += 1,
            Count::Diverged => self.diverged += 1,
            Count::NotComparable => self.not_comparable += 1,
        }
    }

    /// Adds the counts of another recording.
    pub fn add_all(&mut self, other: &Counts) {
        self.calls += other.calls;
        self.predicted += other.predicted;
        self.seeded += other.seeded;
        self.recorded += other.recorded;
        self.diverged += other.diverged;
        self.not_comparable += other.not_comparable;
    }
}

/// Why a replay went another way: one closed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// A call that may change anything ended since the file was last known.
    OpaqueBetween,
    /// The file was another than earlier lines tell, and no call explains it.
    UnseenChange,
    /// Ours and the recorded runtime disagree on whether the agent had read the file.
    ReadState,
    /// The tools of the session were others then: the recording does not say when they changed.
    ToolsChanged,
    /// The rules, hooks or classifier of the session, which the recording does not hold.
    UnknownSettings,
    /// The tool's schema was another then.
    Schema,
    /// Ours does not do this yet, and says so.
    Unsupported,
    /// A redacted string stands where the input or the file had another.
    Redacted,
    /// The same world, the same input, another outcome.
    Semantics,
}

impl Cause {
    /// The word that reports use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Cause::OpaqueBetween => "opaque_between",
            Cause::UnseenChange => "unseen_change",
            Cause::ReadState => "read_state",
            Cause::ToolsChanged => "tools_changed",
            Cause::UnknownSettings => "unknown_settings",
            Cause::Schema => "schema",
            Cause::Unsupported => "unsupported",
            Cause::Redacted => "redacted",
            Cause::Semantics => "semantics",
        }
    }
}

/// The first place where a call went another way than its recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Divergence {
    /// The call's id.
    pub call: String,
    /// Its number in the recording, from 1, and the line of its result.
    pub number: u32,
    pub line: u32,
    pub tool: String,
    /// The step in which ours ended.
    #[serde(serialize_with = "word")]
    pub step: Step,
    pub class_recorded: Class,
    pub class_replayed: Class,
    /// What differs: `class`, or a path into the structured result.
    pub path: String,
    /// Both values there, shortened.
    pub recorded: String,
    pub replayed: String,
    #[serde(serialize_with = "cause_word")]
    pub cause: Cause,
}

fn word<S: serde::Serializer>(step: &Step, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(step.as_str())
}

fn cause_word<S: serde::Serializer>(cause: &Cause, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(cause.as_str())
}

/// What became of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Predicted,
    Seeded,
    Recorded,
    Diverged(Box<Divergence>),
    NotComparable(&'static str),
}

impl Verdict {
    /// The count it falls into.
    pub fn count(&self) -> Count {
        match self {
            Verdict::Predicted => Count::Predicted,
            Verdict::Seeded => Count::Seeded,
            Verdict::Recorded => Count::Recorded,
            Verdict::Diverged(_) => Count::Diverged,
            Verdict::NotComparable(_) => Count::NotComparable,
        }
    }
}

/// Counts by tool, and why calls could not be compared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    #[serde(flatten)]
    pub all: Counts,
    pub by_tool: BTreeMap<String, Counts>,
    /// Of the predicted, those with a call in between that may have changed the file.
    pub predicted_over_opaque: u32,
    /// Of all, those that ours would have asked the user about; they were allowed, as the
    /// recorded session's settings, which are not known, must have allowed them.
    pub asked: u32,
    pub not_comparable_why: BTreeMap<&'static str, u32>,
    pub causes: BTreeMap<&'static str, u32>,
}

impl Tally {
    /// Counts one call of `tool`.
    pub fn add(&mut self, tool: &str, verdict: &Verdict) {
        let count = verdict.count();
        self.all.add(count);
        match self.by_tool.get_mut(tool) {
            Some(counts) => counts.add(count),
            None => self.by_tool.entry(tool.to_owned()).or_default().add(count),
        }
        match verdict {
            Verdict::NotComparable(why) => {
                *self.not_comparable_why.entry(why).or_default() += 1;
            }
            Verdict::Diverged(divergence) => {
                *self.causes.entry(divergence.cause.as_str()).or_default() += 1;
            }
            _ => {}
        }
    }

    /// Adds the tally of another recording.
    pub fn add_all(&mut self, other: &Tally) {
        self.all.add_all(&other.all);
        for (tool, counts) in &other.by_tool {
            self.by_tool
                .entry(tool.clone())
                .or_default()
                .add_all(counts);
        }
        self.predicted_over_opaque += other.predicted_over_opaque;
        self.asked += other.asked;
        for (why, count) in &other.not_comparable_why {
            *self.not_comparable_why.entry(why).or_default() += count;
        }
        for (cause, count) in &other.causes {
            *self.causes.entry(cause).or_default() += count;
        }
    }
}
