//! Goes through a recording in the order in which things happened, so that before
//! each call only earlier lines have spoken.

use super::evidence::{Evidence, conclude};
use super::knowledge::{InferredChange, Knowledge};
use super::recorded::{Compaction, Hint, RecordedCall, Recording};
use super::tool_name;
use super::world_path::Folders;

/// Something that happened.
#[derive(Debug, Clone, Copy)]
pub enum Happening<'r, 'a> {
    /// A call ended: its result stands here.
    Ended(&'r RecordedCall<'a>),
    /// A call that has no result: it stands where it was made.
    Unanswered(&'r RecordedCall<'a>),
    /// A call of a nested agent ended, of which only this file's progress lines tell.
    NestedEnded(&'r RecordedCall<'a>),
    /// The runtime told something of a file.
    Told(&'r Hint<'a>),
    /// The conversation was cut down: what the agent had read no longer counts.
    Compacted(&'r Compaction<'a>),
    /// The runtime began anew: what the agent had read no longer counts.
    Restarted,
}

/// Everything that happened, in order: results as they stand in the file.
pub fn happenings<'r, 'a>(recording: &'r Recording<'a>) -> Vec<Happening<'r, 'a>> {
    let calls = recording.calls.iter().map(|call| match &call.result {
        // A result before its call still ends it, not before it was made.
        Some(result) => (
            (result.line.max(call.line), result.completed),
            Happening::Ended(call),
        ),
        None => ((call.line, 0), Happening::Unanswered(call)),
    });
    let nested = recording.nested.iter().filter_map(|call| {
        let result = call.result.as_ref()?;
        Some(((result.line, 0), Happening::NestedEnded(call)))
    });
    let hints = recording
        .hints
        .iter()
        .map(|hint| ((hint.line, 0), Happening::Told(hint)));
    let compactions = recording
        .compactions
        .iter()
        .map(|compaction| ((compaction.line, 0), Happening::Compacted(compaction)));
    let restarts = recording
        .restarts
        .iter()
        .map(|line| ((*line, 0), Happening::Restarted));
    let mut all: Vec<_> = calls
        .chain(restarts)
        .chain(nested)
        .chain(hints)
        .chain(compactions)
        .collect();
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, happening)| happening).collect()
}

impl Knowledge {
    /// Lets a call have its recorded effect: `evidence` is what its result proves.
    pub fn after_call(
        &mut self,
        call: &RecordedCall<'_>,
        evidence: &Evidence<'_>,
    ) -> Option<InferredChange> {
        let line = call.result.as_ref()?.line;
        let change = self.learn(evidence, line);
        if tool_name::is_opaque(&call.tool) {
            self.opaque_call();
        }
        change
    }

    /// Lets a happening have its recorded effect. Whoever judges a call does so before.
    pub fn after(
        &mut self,
        happening: Happening<'_, '_>,
        folders: &Folders,
    ) -> Option<InferredChange> {
        match happening {
            Happening::Ended(call) | Happening::NestedEnded(call) => {
                let (_, evidence) = conclude(call, folders)?;
                self.after_call(call, &evidence)
            }
            Happening::Unanswered(call) => {
                // It may have run all the same.
                if tool_name::is_opaque(&call.tool)
                    || super::evidence::file_of(call, folders).is_some()
                {
                    self.opaque_call();
                }
                None
            }
            Happening::Told(hint) => self.hear(&hint.told, hint.line, folders),
            Happening::Compacted(_) | Happening::Restarted => None,
        }
    }
}
