//! A recording as data: its calls with their results, and what else it tells.

use super::format::Format;
use super::note::{LineComplaint, Repair};
use super::raw::Raw;
use super::text::find;
use std::borrow::Cow;

/// What a real runtime or client did, in one model for all formats. Borrows from its
/// [`super::Source`].
#[derive(Debug, Clone)]
pub struct Recording<'a> {
    pub format: Format,
    /// The runtime's versions, each with the line from which on it holds.
    pub versions: Vec<VersionFrom<'a>>,
    /// The working folder it began in, as recorded.
    pub cwd: Option<Cow<'a, str>>,
    /// All entries in file order, those of unknown kinds too: they are links of the chain.
    pub entries: Vec<Entry<'a>>,
    /// In the order in which the file has them, numbered from 1.
    pub calls: Vec<RecordedCall<'a>>,
    /// Calls of nested agents that the file only tells of while its own call runs.
    pub nested: Vec<RecordedCall<'a>>,
    /// Texts that came in as the user's: prompts, notices, summaries.
    pub said: Vec<UserText<'a>>,
    pub compactions: Vec<Compaction<'a>>,
    /// Lines on which the runtime began anew with the same conversation, or without one.
    pub restarts: Vec<u32>,
    pub interrupts: Vec<Interrupt>,
    /// What the file tells of files besides the results of calls.
    pub hints: Vec<Hint<'a>>,
    pub complaints: Vec<LineComplaint>,
    pub repairs: Vec<Repair>,
    pub counts: Counts,
}

/// A version of the recorded runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionFrom<'a> {
    pub line: u32,
    pub version: Cow<'a, str>,
}

/// How much of what was read. `calls` are blocks as they stand in the file, repeated ones counted again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lines with something on them.
    pub lines: u32,
    pub blank_lines: u32,
    pub calls: u32,
    pub results: u32,
}

/// One entry of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Of the file, from 1.
    pub line: u32,
    /// `user`, `assistant`, `progress`, …; empty if the entry has none.
    pub kind: Cow<'a, str>,
    pub subtype: Option<Cow<'a, str>>,
    pub uuid: Option<Cow<'a, str>>,
    pub parent: Option<Cow<'a, str>>,
    pub message_id: Option<Cow<'a, str>>,
    pub sidechain: bool,
    /// Written by the runtime in place of a response that failed.
    pub synthetic: bool,
}

/// One `tool_use` block of the recording.
#[derive(Debug, Clone)]
pub struct RecordedCall<'a> {
    /// From 1 over the file.
    pub number: u32,
    /// The block's id; for a block without one, `line:number`.
    pub id: Cow<'a, str>,
    pub tool: Cow<'a, str>,
    /// What the model emitted, as recorded.
    pub input: Raw<'a>,
    pub line: u32,
    /// The number of its message among those with calls, from 1: calls of one message are one batch.
    pub batch: u32,
    pub message_id: Option<Cow<'a, str>>,
    /// Its place within the message's calls, from 0.
    pub order: u32,
    /// The nested agent that made it: an agent's id, or the id of the call that started it.
    pub agent: Option<Cow<'a, str>>,
    pub version: Option<Cow<'a, str>>,
    /// The working folder when it was made, as recorded.
    pub cwd: Option<Cow<'a, str>>,
    /// The permission mode when it was made, as recorded.
    pub mode: Option<Cow<'a, str>>,
    pub result: Option<RecordedResult<'a>>,
}

/// The `tool_result` that answered a call.
#[derive(Debug, Clone)]
pub struct RecordedResult<'a> {
    pub is_error: Option<bool>,
    /// A string or an array of blocks, as the model got it.
    pub content: Option<Raw<'a>>,
    /// What the runtime kept for itself (`toolUseResult`).
    pub structured: Option<Raw<'a>>,
    /// The runtime's own word for a denial (`toolDenialKind`).
    pub denial: Option<Cow<'a, str>>,
    pub line: u32,
    /// The rank of this result among the file's, from 1: results stand in order of completion.
    pub completed: u32,
}

impl RecordedResult<'_> {
    /// The text of the content, blocks that are not text left out; joined by line feeds.
    pub fn text(&self) -> Cow<'_, str> {
        let Some(content) = self.content else {
            return Cow::Borrowed("");
        };
        if let Some(text) = content.as_text() {
            return text;
        }
        Cow::Owned(super::raw::block_texts(content).join("\n"))
    }

    /// The beginning of the text, long enough for whatever runtimes begin a result with.
    pub fn beginning(&self) -> Cow<'_, str> {
        const LEN_MAX: usize = 256;
        let content = self.content.map_or("", Raw::get);
        super::text::beginning(content, LEN_MAX).unwrap_or_else(|| self.text())
    }

    /// Whether the text may hold `part`, which is ASCII without quotes and backslashes;
    /// if not, it certainly does not.
    pub fn may_hold(&self, part: &str) -> bool {
        let content = self.content.map_or("", Raw::get);
        // Written as it is, unless a writer escapes what needs no escape.
        find(content, part).is_some() || find(content, "\\u00").is_some()
    }
}

/// Who a text came from that the model got as the user's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The person, or the program that drives the session.
    Person,
    /// The runtime: notices, bodies of skills, feedback of hooks.
    Runtime,
    /// The summary that a compaction left.
    Summary,
}

/// A text that the model got as the user's.
#[derive(Debug, Clone)]
pub struct UserText<'a> {
    pub line: u32,
    pub speaker: Speaker,
    pub text: Cow<'a, str>,
    /// The nested agent that got it, as in [`RecordedCall::agent`].
    pub agent: Option<Cow<'a, str>>,
    /// The call that it belongs to (the body of a skill).
    pub source_call: Option<Cow<'a, str>>,
}

/// A place where the conversation was cut down to a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compaction<'a> {
    pub line: u32,
    /// `compact_boundary`, `microcompact_boundary`, or `summary` for the text that is left.
    pub kind: Cow<'a, str>,
}

/// A place where the user interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupt {
    pub line: u32,
    /// While calls were waiting or running.
    pub in_calls: bool,
}

/// Something that the recording tells of a file besides the results of calls.
#[derive(Debug, Clone)]
pub struct Hint<'a> {
    pub line: u32,
    pub told: Told<'a>,
}

/// What a hint tells.
#[derive(Debug, Clone)]
pub enum Told<'a> {
    /// Someone else changed the file; `snippet` shows part of it with line numbers.
    Edited {
        path: Cow<'a, str>,
        snippet: Cow<'a, str>,
    },
    /// Lines of the file as they were, from `first_line` (1 is the first) of `total_lines`.
    Shown {
        path: Cow<'a, str>,
        content: Cow<'a, str>,
        first_line: u32,
        lines: u32,
        total_lines: u32,
    },
    /// The file is among those that the agent has seen; nothing of it is shown.
    Mentioned { path: Cow<'a, str> },
    /// The whole file as it was.
    Whole {
        path: Cow<'a, str>,
        content: Cow<'a, str>,
    },
}

impl<'a> Recording<'a> {
    /// The version that wrote `line`, if the file says one.
    pub fn version_at(&self, line: u32) -> Option<&str> {
        let after = self.versions.partition_point(|from| from.line <= line);
        self.versions
            .get(after.saturating_sub(1))
            .map(|from| &*from.version)
    }

    /// The calls in the order in which their results stand; those without a result are left out.
    pub fn by_completion(&self) -> Vec<&RecordedCall<'a>> {
        let mut calls: Vec<_> = self.calls.iter().filter(|c| c.result.is_some()).collect();
        calls.sort_by_key(|call| call.result.as_ref().map(|result| result.completed));
        calls
    }
}
