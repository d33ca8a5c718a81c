//! Puts the entries of a recording together into one model.

use super::calls::{CallTable, Place};
use super::format::Format;
use super::hints;
use super::line::{Block, Content, Line};
use super::note::Notes;
use super::raw::{Object, Raw, Str, lenient_object};
use super::recorded::{
    Compaction, Counts, Entry, Hint, Interrupt, Recording, Speaker, UserText, VersionFrom,
};
use super::source::Source;
use std::borrow::Cow;

/// How the runtime begins the text that stands for an interrupt (`semantics.md §3.8`).
const INTERRUPT: &str = "[Request interrupted by user";
/// How it goes on where calls were waiting or running.
const INTERRUPT_IN_CALLS: &str = "[Request interrupted by user for tool use]";
/// How the texts begin that stand for the commands by which a session ends.
const EXIT_COMMAND: &str = "<command-name>/exit</command-name>";
const CLEAR_COMMAND: &str = "<command-name>/clear</command-name>";
/// The agent of a sidechain that has no name.
const NAMELESS_AGENT: &str = "sidechain";
/// The model of entries that the runtime wrote itself.
const SYNTHETIC_MODEL: &str = "<synthetic>";

lenient_object! {
    /// An item of a run's closing list of denied calls.
    DeniedCall {
        id: Str<'a> = "tool_use_id",
    }
}

/// A recording under construction.
pub(super) struct Builder<'a> {
    format: Format,
    cwd: Option<Cow<'a, str>>,
    version: Option<Cow<'a, str>>,
    first_cwd: Option<Cow<'a, str>>,
    mode: Option<Cow<'a, str>>,
    versions: Vec<VersionFrom<'a>>,
    entries: Vec<Entry<'a>>,
    calls: CallTable<'a>,
    nested: CallTable<'a>,
    said: Vec<UserText<'a>>,
    compactions: Vec<Compaction<'a>>,
    restarts: Vec<u32>,
    interrupts: Vec<Interrupt>,
    hints: Vec<Hint<'a>>,
    denied: Vec<String>,
}

impl<'a> Builder<'a> {
    pub fn new(format: Format) -> Builder<'a> {
        Builder {
            format,
            cwd: None,
            version: None,
            first_cwd: None,
            mode: None,
            versions: Vec::new(),
            entries: Vec::new(),
            calls: CallTable::default(),
            nested: CallTable::default(),
            said: Vec::new(),
            compactions: Vec::new(),
            restarts: Vec::new(),
            interrupts: Vec::new(),
            hints: Vec::new(),
            denied: Vec::new(),
        }
    }

    /// Takes one entry, of whatever kind.
    pub fn entry(&mut self, number: u32, mut line: Line<'a>, notes: &mut Notes) {
        self.circumstances(number, &mut line);
        self.entries.push(Entry {
            line: number,
            kind: line.kind.0.clone().unwrap_or_default(),
            subtype: line.subtype.0.clone(),
            uuid: line.uuid.0.clone(),
            parent: line.parent_uuid.0.clone(),
            message_id: line.message.0.as_ref().and_then(|m| m.id.0.clone()),
            sidechain: line.is_sidechain.0 == Some(true),
            synthetic: line.is_api_error.0 == Some(true)
                || line.message.0.as_ref().and_then(|m| m.model.0.as_deref())
                    == Some(SYNTHETIC_MODEL),
        });
        match line.kind.0.as_deref().unwrap_or("") {
            "assistant" | "user" => self.message(number, line, notes),
            "attachment" => {
                if line.attachment.is_some_and(hints::is_session_start) {
                    self.restarts.push(number);
                } else if let Some(told) = line.attachment.and_then(hints::of_attachment) {
                    self.hints.push(Hint { line: number, told });
                }
            }
            "progress" => self.progress(number, line, notes),
            "system" => {
                let kind = line.subtype.0.unwrap_or_default();
                if matches!(&*kind, "compact_boundary" | "microcompact_boundary") {
                    self.compactions.push(Compaction { line: number, kind });
                }
            }
            "result" => self.denials(&line),
            "tool_use" | "tool_result" => self.call_line(number, line, notes),
            _ => {}
        }
    }

    /// Keeps what an entry says of version, folder and mode for those after it.
    fn circumstances(&mut self, number: u32, line: &mut Line<'a>) {
        if let Some(version) = line.version.0.take().or_else(|| line.init_version.0.take())
            && self.version.as_ref() != Some(&version)
        {
            self.version_from(number, version);
        }
        if let Some(cwd) = line.cwd.0.take() {
            if self.first_cwd.is_none() {
                self.first_cwd = Some(cwd.clone());
            }
            self.cwd = Some(cwd);
        }
        if let Some(mode) = line.permission_mode.0.take() {
            self.mode = Some(mode);
        }
    }

    /// Says that from `line` on the runtime has this version.
    pub fn version_from(&mut self, line: u32, version: Cow<'a, str>) {
        self.versions.push(VersionFrom {
            line,
            version: version.clone(),
        });
        self.version = Some(version);
    }

    fn place(&self, number: u32, line: &Line<'a>) -> Place<'a> {
        Place {
            line: number,
            uuid: line.uuid.0.clone(),
            message_id: line.message.0.as_ref().and_then(|m| m.id.0.clone()),
            agent: agent_of(line),
            version: self.version.clone(),
            cwd: self.cwd.clone(),
            mode: self.mode.clone(),
            answers: line
                .source_assistant
                .0
                .clone()
                .or_else(|| line.parent_uuid.0.clone()),
            structured: line.structured(),
            denial: line.denial.0.clone(),
        }
    }

    fn message(&mut self, number: u32, mut line: Line<'a>, notes: &mut Notes) {
        let place = self.place(number, &line);
        let content = line
            .message
            .0
            .as_mut()
            .map(|m| std::mem::take(&mut m.content));
        let from_user = line.kind.0.as_deref() == Some("user");
        match content.unwrap_or_default() {
            Content::Absent => {}
            Content::Text(text) if from_user => self.text(number, &line, text),
            Content::Text(_) => {}
            Content::Blocks(blocks) => {
                for block in blocks {
                    match block.kind.0.as_deref().unwrap_or("") {
                        "tool_use" => self.calls.call(block, &place, notes),
                        "tool_result" => self.calls.result(block, &place, notes),
                        "text" if from_user => {
                            if let Some(text) = block.text.and_then(Raw::as_text) {
                                self.text(number, &line, text);
                            }
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    fn text(&mut self, number: u32, line: &Line<'a>, text: Cow<'a, str>) {
        if text.starts_with(INTERRUPT) {
            self.interrupts.push(Interrupt {
                line: number,
                in_calls: text.starts_with(INTERRUPT_IN_CALLS),
            });
            return;
        }
        if text.starts_with(EXIT_COMMAND) || text.starts_with(CLEAR_COMMAND) {
            self.restarts.push(number);
        }
        if line.is_compact_summary.0 == Some(true) {
            self.compactions.push(Compaction {
                line: number,
                kind: Cow::Borrowed("summary"),
            });
        }
        let speaker = if line.is_compact_summary.0 == Some(true) {
            Speaker::Summary
        } else if line.is_meta.0 == Some(true) {
            Speaker::Runtime
        } else {
            Speaker::Person
        };
        self.said.push(UserText {
            line: number,
            speaker,
            text,
            agent: agent_of(line),
            source_call: line.source_tool_use.0.clone(),
        });
    }

    /// Takes the calls and results that progress lines show of a nested agent.
    fn progress(&mut self, number: u32, line: Line<'a>, notes: &mut Notes) {
        if line.data.is_some_and(hints::is_session_start) {
            self.restarts.push(number);
            return;
        }
        let Some((entry, agent)) = line.data.and_then(hints::of_progress) else {
            return;
        };
        let mut place = self.place(number, &entry);
        place.agent = agent.or(place.agent);
        let Some(Content::Blocks(blocks)) = entry.message.0.map(|m| m.content) else {
            return;
        };
        for block in blocks {
            match block.kind.0.as_deref().unwrap_or("") {
                "tool_use" => self.nested.call(block, &place, notes),
                "tool_result" => self.nested.result(block, &place, notes),
                _ => {}
            }
        }
    }

    /// A call or a result as a line of its own: named, without an id, answered by the
    /// next result.
    fn call_line(&mut self, number: u32, line: Line<'a>, notes: &mut Notes) {
        let mut place = self.place(number, &line);
        place.answers = None;
        let mut block = Block {
            name: line.name,
            input: line.input,
            is_error: line.is_error,
            content: line.output,
            ..Block::default()
        };
        if line.kind.0.as_deref() == Some("tool_use") {
            block.content = None;
            self.calls.call(block, &place, notes);
        } else {
            self.calls.result(block, &place, notes);
        }
    }

    fn denials(&mut self, line: &Line<'a>) {
        let denied = line
            .permission_denials
            .and_then(|list| list.read::<Vec<Object<DeniedCall>>>());
        for call in denied.unwrap_or_default() {
            self.denied
                .extend(call.0.and_then(|call| call.id.0).map(Cow::into_owned));
        }
    }

    /// Takes a call with its result beside it, both without an id.
    pub fn call_with_result(
        &mut self,
        place: &Place<'a>,
        call: Block<'a>,
        result: Option<Block<'a>>,
        notes: &mut Notes,
    ) {
        self.calls.call(call, place, notes);
        if let Some(result) = result {
            let mut quiet = Notes::default();
            let mut place = place.clone();
            place.answers = place.uuid.clone();
            self.calls.result(result, &place, &mut quiet);
        }
    }

    /// Takes what a person said, outside of any entry.
    pub fn prompt(&mut self, line: u32, text: Cow<'a, str>) {
        self.said.push(UserText {
            line,
            speaker: Speaker::Person,
            text,
            agent: None,
            source_call: None,
        });
    }

    /// The recording, when everything was taken.
    pub fn finish(mut self, source: &Source<'_>, mut notes: Notes) -> Recording<'a> {
        for id in &self.denied {
            self.calls.denied(id, "permission-denied");
        }
        let counts = Counts {
            lines: notes.lines,
            blank_lines: notes.blank_lines,
            calls: self.calls.seen_calls,
            results: self.calls.seen_results,
        };
        let calls = self.calls.finish(&mut notes);
        // What progress lines do not show to the end is no fault of the file.
        let nested = self.nested.finish(&mut Notes::default());
        let mut complaints = source.notes.complaints.clone();
        complaints.append(&mut notes.complaints);
        complaints.sort_by_key(|complaint| (complaint.line, complaint.column));
        let mut repairs = source.notes.repairs.clone();
        repairs.append(&mut notes.repairs);
        repairs.sort_by_key(|repair| repair.line);
        Recording {
            format: self.format,
            versions: self.versions,
            cwd: self.first_cwd,
            entries: self.entries,
            calls,
            nested,
            said: self.said,
            compactions: self.compactions,
            restarts: self.restarts,
            interrupts: self.interrupts,
            hints: self.hints,
            complaints,
            repairs,
            counts,
        }
    }
}

/// The nested agent that an entry belongs to.
fn agent_of<'a>(line: &Line<'a>) -> Option<Cow<'a, str>> {
    let sidechain = line.is_sidechain.0 == Some(true);
    line.parent_tool_use.0.clone().or_else(|| {
        sidechain.then(|| {
            line.agent
                .0
                .clone()
                .unwrap_or(Cow::Borrowed(NAMELESS_AGENT))
        })
    })
}
