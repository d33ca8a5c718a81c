//! From a response to its events and back.

use super::block::Block;
use super::error::ApiError;
use super::kind::{BlockKind, input_object};
use super::raw::{self, Fields};
use super::response::{Response, StopReason};
use super::stream::{Delta, Event, EventKind};
use super::usage::Usage;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How a stream ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// With `message_stop`.
    Complete,
    /// Without it.
    Cut,
    /// With an error event.
    Error(ApiError),
}

/// What a stream makes up.
#[derive(Debug, Clone)]
pub struct Folded {
    /// What had arrived; without id and content if no message had begun.
    pub response: Response,
    /// Whether a message had begun.
    pub begun: bool,
    pub end: End,
    /// How many events came.
    pub events: usize,
    /// Places in `response.content` of blocks that were cut.
    pub open: Vec<usize>,
    /// Events that are not in `response`: of unknown or malformed kind, with unknown
    /// deltas, or out of place.
    pub leftover: Vec<Event>,
    /// Messages that were given up because another one began in the same stream.
    pub abandoned: Vec<Response>,
}

/// Puts the events of a stream together (`protocol.md §4`).
///
/// A second `message_start` with the same id is passed over; one with another id
/// begins anew and what had arrived is [`Folded::abandoned`]. Nothing after an error
/// event or `message_stop` counts.
#[derive(Debug, Clone, Default)]
pub struct Fold {
    message: Option<Fields>,
    usage: Usage,
    blocks: BTreeMap<u64, Open>,
    end: Option<End>,
    events: usize,
    leftover: Vec<Event>,
    abandoned: Vec<Response>,
}

/// A block that is being put together: its start, and the bodies of its strings.
#[derive(Debug, Clone)]
struct Open {
    start: Arc<RawValue>,
    text: String,
    thinking: String,
    signature: String,
    input: String,
    citations: Vec<Arc<RawValue>>,
    set: Fields,
    stopped: bool,
}

impl Fold {
    pub fn new() -> Fold {
        Fold::default()
    }

    /// Takes the next event.
    pub fn push(&mut self, event: Event) {
        self.events += 1;
        if self.end.is_some() {
            if !matches!(event.kind, EventKind::Ping) {
                self.leftover.push(event);
            }
            return;
        }
        if !self.take(&event.kind) {
            self.leftover.push(event);
        }
    }

    /// Takes what an event says; false if it has no place.
    fn take(&mut self, kind: &EventKind) -> bool {
        match kind {
            EventKind::Ping => true,
            EventKind::Error(error) => {
                self.end = Some(End::Error(error.clone()));
                true
            }
            EventKind::MessageStart { message } => self.start(message),
            _ if self.message.is_none() => false,
            EventKind::BlockStart { index, block } => self.open(*index, block),
            EventKind::BlockDelta { index, delta } => match self.blocks.get_mut(index) {
                Some(open) if !open.stopped => open.take(delta),
                _ => false,
            },
            EventKind::BlockStop { index } => match self.blocks.get_mut(index) {
                Some(open) if !open.stopped => {
                    open.stopped = true;
                    true
                }
                _ => false,
            },
            EventKind::MessageDelta {
                delta,
                usage,
                extra,
            } => {
                if let Some(message) = &mut self.message {
                    for (key, value) in delta.iter().chain(extra.iter()) {
                        message.set(key, value.clone());
                    }
                }
                if let Some(usage) = usage {
                    self.usage.overlay(usage.clone());
                }
                true
            }
            EventKind::MessageStop => {
                self.end = Some(End::Complete);
                true
            }
            EventKind::Unknown(_) | EventKind::Malformed => false,
        }
    }

    fn start(&mut self, message: &Fields) -> bool {
        if let Some(current) = &self.message {
            if current.text("id") == message.text("id") {
                return false;
            }
            let (given_up, _) = self.response();
            self.abandoned.push(given_up);
        }
        let mut message = message.clone();
        self.usage = Usage::default();
        if let Some(usage) = message.take("usage").and_then(|usage| Fields::of(&usage)) {
            self.usage.overlay(usage);
        }
        self.blocks.clear();
        // A whole message may come in its start: calls made by code do.
        let content = message.take("content");
        let content =
            content.and_then(|raw| serde_json::from_str::<Vec<Arc<RawValue>>>(raw.get()).ok());
        for (index, block) in (0..).zip(content.unwrap_or_default()) {
            let mut open = Open::new(block);
            open.stopped = true;
            self.blocks.insert(index, open);
        }
        self.message = Some(message);
        true
    }

    fn open(&mut self, index: u64, block: &Arc<RawValue>) -> bool {
        if self.blocks.contains_key(&index) {
            return false;
        }
        self.blocks.insert(index, Open::new(block.clone()));
        true
    }

    /// What has arrived so far, and the places of blocks that are not complete.
    fn response(&self) -> (Response, Vec<usize>) {
        let mut response = read_leniently(self.message.clone().unwrap_or_default());
        response.usage = self.usage.clone();
        let mut open_places = Vec::new();
        for (place, open) in self.blocks.values().enumerate() {
            response.content.push(open.block());
            if !open.stopped {
                open_places.push(place);
            }
        }
        (response, open_places)
    }

    /// Ends the stream.
    pub fn finish(self) -> Folded {
        let (response, open) = self.response();
        Folded {
            response,
            begun: self.message.is_some(),
            end: self.end.unwrap_or(End::Cut),
            events: self.events,
            open,
            leftover: self.leftover,
            abandoned: self.abandoned,
        }
    }
}

/// Reads the fields of a message; one of the wrong shape stays among the others.
fn read_leniently(mut fields: Fields) -> Response {
    let mut odd = Vec::new();
    for key in ["id", "model", "stop_reason", "stop_sequence"] {
        let fits = |value: &Arc<RawValue>| raw::is_null(value) || raw::string(value).is_some();
        if fields.get(key).is_some_and(|value| !fits(value)) {
            odd.extend(fields.take(key).map(|value| (key, value)));
        }
    }
    let text = |fields: &mut Fields, key: &str| {
        let value = fields.take(key);
        value.and_then(|value| raw::string(&value))
    };
    fields.take("type");
    fields.take("role");
    let mut response = Response {
        id: text(&mut fields, "id").unwrap_or_default(),
        model: text(&mut fields, "model").unwrap_or_default(),
        content: Vec::new(),
        stop_reason: text(&mut fields, "stop_reason")
            .map_or(StopReason::Absent, |word| StopReason::from_word(&word)),
        stop_sequence: text(&mut fields, "stop_sequence"),
        usage: Usage::default(),
        extra: fields,
    };
    for (key, value) in odd {
        response.extra.set(key, value);
    }
    response
}

impl Open {
    fn new(start: Arc<RawValue>) -> Open {
        Open {
            start,
            text: String::new(),
            thinking: String::new(),
            signature: String::new(),
            input: String::new(),
            citations: Vec::new(),
            set: Fields::new(),
            stopped: false,
        }
    }

    fn take(&mut self, delta: &Delta) -> bool {
        let (body, piece) = match delta {
            Delta::Text(piece) => (&mut self.text, piece),
            Delta::Thinking(piece) => (&mut self.thinking, piece),
            Delta::Signature(piece) => (&mut self.signature, piece),
            Delta::InputJson(piece) => (&mut self.input, piece),
            Delta::Citation(citation) => {
                self.citations.push(citation.clone());
                return true;
            }
            Delta::Compaction(fields) => {
                self.set = fields.clone();
                return true;
            }
            Delta::Unknown(_) => return false,
        };
        body.push_str(raw::string_body(piece).unwrap_or_default());
        true
    }

    /// The block as far as it has come. Without deltas it is the start, byte for byte.
    fn block(&self) -> Block {
        let Some(mut fields) = Fields::of(&self.start) else {
            return Block::from_raw(self.start.clone());
        };
        let mut changed = false;
        for (key, body) in [
            ("text", &self.text),
            ("thinking", &self.thinking),
            ("signature", &self.signature),
        ] {
            if body.is_empty() {
                continue;
            }
            let before = fields.get(key).and_then(|raw| raw::string_body(raw));
            let whole = format!("{}{body}", before.unwrap_or_default());
            if let Some(value) = raw::string_of_body(&whole) {
                fields.set(key, value);
                changed = true;
            }
        }
        if !self.citations.is_empty() {
            fields.set("citations", raw::of(&self.citations));
            changed = true;
        }
        for (key, value) in self.set.iter() {
            fields.set(key, value.clone());
            changed = true;
        }
        if !self.input.is_empty()
            && let Some(text) = raw::string_of_body(&self.input).and_then(|raw| raw::string(&raw))
        {
            fields.set("input", input_object(&text));
            changed = true;
        }
        if changed {
            Block::from_raw(fields.to_raw())
        } else {
            Block::from_raw(self.start.clone())
        }
    }
}

/// Puts whole events together.
pub fn fold(events: impl IntoIterator<Item = Event>) -> Folded {
    let mut fold = Fold::new();
    for event in events {
        fold.push(event);
    }
    fold.finish()
}

/// Puts together the events of several streams, one after the other: a message that
/// starts after the end of another is a stream of its own.
pub fn fold_all(events: impl IntoIterator<Item = Event>) -> Vec<Folded> {
    let mut done = Vec::new();
    let mut fold = Fold::new();
    for event in events {
        if fold.end.is_some() && matches!(event.kind, EventKind::MessageStart { .. }) {
            done.push(std::mem::take(&mut fold).finish());
        }
        fold.push(event);
    }
    if fold.events > 0 {
        done.push(fold.finish());
    }
    done
}

/// Writes a response as the events of a stream; strings come in pieces of at most
/// `piece_chars` characters (at least one), inputs after an empty first piece.
pub fn unfold(response: &Response, piece_chars: usize) -> Vec<Event> {
    let mut events = vec![message_start(response)];
    for (index, block) in response.content.iter().enumerate() {
        let index = raw::of(&index);
        let (start, deltas) = pieces(block, piece_chars.max(1));
        events.push(Event::made(
            "content_block_start",
            &[("index", index.clone()), ("content_block", start)],
        ));
        for delta in deltas {
            events.push(Event::made(
                "content_block_delta",
                &[("index", index.clone()), ("delta", delta)],
            ));
        }
        events.push(Event::made("content_block_stop", &[("index", index)]));
    }
    events.push(message_delta(response));
    events.push(Event::made("message_stop", &[]));
    events
}

/// What the start of a message says of the output it will cost.
const OUTPUT_TOKENS_AT_START: u64 = 1;
/// The fields of a message that its end brings.
const FIELDS_AT_END: [&str; 3] = ["stop_details", "container", "context_management"];

fn message_start(response: &Response) -> Event {
    let mut start = response.clone();
    start.content.clear();
    start.stop_reason = StopReason::Absent;
    start.stop_sequence = None;
    start.usage.output_tokens = OUTPUT_TOKENS_AT_START.min(response.usage.output_tokens);
    for key in FIELDS_AT_END {
        if start.extra.get(key).is_some() {
            start.extra.set(key, raw::null());
        }
    }
    Event::made("message_start", &[("message", raw::of(&start))])
}

fn message_delta(response: &Response) -> Event {
    let mut delta = Fields::new();
    delta.set("stop_reason", raw::of(&response.stop_reason));
    delta.set("stop_sequence", raw::of(&response.stop_sequence));
    let mut usage = Fields::new();
    usage.set("output_tokens", raw::of(&response.usage.output_tokens));
    let mut fields = Vec::new();
    for key in FIELDS_AT_END {
        match response.extra.get(key) {
            Some(value) if key == "context_management" => fields.push((key, value.clone())),
            Some(value) => delta.set(key, value.clone()),
            None => {}
        }
    }
    let mut data = vec![("delta", delta.to_raw()), ("usage", usage.to_raw())];
    data.append(&mut fields);
    Event::made("message_delta", &data)
}

/// The start of a block and its deltas.
fn pieces(block: &Block, piece_chars: usize) -> (Arc<RawValue>, Vec<Arc<RawValue>>) {
    let whole = || (block.raw().clone(), Vec::new());
    let Some(mut start) = Fields::of(block.raw()) else {
        return whole();
    };
    let mut deltas = Vec::new();
    match block.kind() {
        BlockKind::Text(_) => {
            let citations = start
                .get("citations")
                .and_then(|raw| serde_json::from_str::<Vec<Arc<RawValue>>>(raw.get()).ok());
            if let Some(citations) = citations.filter(|list| !list.is_empty()) {
                start.set("citations", raw::of::<[u8]>(&[]));
                deltas.extend(
                    citations
                        .into_iter()
                        .map(|citation| delta("citations_delta", "citation", citation)),
                );
            }
            split(&mut start, "text", "text_delta", piece_chars, &mut deltas);
        }
        BlockKind::Thinking { .. } => {
            split(
                &mut start,
                "thinking",
                "thinking_delta",
                piece_chars,
                &mut deltas,
            );
            // A signature comes whole, right before the end.
            split(
                &mut start,
                "signature",
                "signature_delta",
                usize::MAX,
                &mut deltas,
            );
        }
        BlockKind::ToolUse(call) | BlockKind::ServerToolUse(call) | BlockKind::McpToolUse(call) => {
            start.set("input", raw::of(&Fields::new()));
            let empty = raw::of("");
            deltas.push(delta("input_json_delta", "partial_json", empty));
            let mut rest: &str = &call.input;
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(end_of_piece(rest, piece_chars));
                deltas.push(delta("input_json_delta", "partial_json", raw::of(piece)));
                rest = after;
            }
        }
        // Everything else comes whole.
        _ => return whole(),
    }
    (start.to_raw(), deltas)
}

/// The byte at which the first `chars` characters of `text` end.
fn end_of_piece(text: &str, chars: usize) -> usize {
    text.char_indices()
        .nth(chars)
        .map_or(text.len(), |(at, _)| at)
}

fn delta(kind: &str, key: &str, value: Arc<RawValue>) -> Arc<RawValue> {
    let mut fields = Fields::new();
    fields.set("type", raw::of(kind));
    fields.set(key, value);
    fields.to_raw()
}

/// Moves the string `key` out of a block's start into deltas, by pieces of its
/// escaped text, so that its bytes survive.
fn split(
    start: &mut Fields,
    key: &str,
    kind: &str,
    piece_chars: usize,
    deltas: &mut Vec<Arc<RawValue>>,
) {
    let Some(string) = start.get(key).cloned() else {
        return;
    };
    let mut rest = raw::string_body(&string).unwrap_or_default();
    start.set(key, raw::of(""));
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(end_of_escaped_piece(rest, piece_chars));
        if let Some(piece) = raw::string_of_body(piece) {
            deltas.push(delta(kind, key, piece));
        }
        rest = after;
    }
}

/// The byte at which the first `chars` characters of an escaped text end; an escape
/// is one character.
fn end_of_escaped_piece(body: &str, chars: usize) -> usize {
    let mut at = 0;
    for _ in 0..chars {
        let rest = body.get(at..).unwrap_or_default();
        let Some(first) = rest.chars().next() else {
            break;
        };
        at += match (first, rest.as_bytes().get(1)) {
            ('\\', Some(b'u')) => 6,
            ('\\', _) => 2,
            _ => first.len_utf8(),
        };
    }
    at.min(body.len())
}
