//! The events of every call as JSON, written by hand.
//!
//! A call has a dozen events, and nearly all of each is the same every time. Written
//! field by field through serde they take more time than all the rest of a call; here
//! most of it is copied. The bytes are those of `Serialize`, and a property test holds
//! the two against each other. Events that are rare are left to serde.

use super::blob::{INLINE_MAX_BYTES, may_hold};
use super::{Call, CallResult, Decision, Event, OpEvent, Request, Response, StepEvent, Verdict};
use crate::wire::{Block, Message};
use crate::words::Flag;
use serde::Serialize;
use serde_json::value::RawValue;

/// Writes JSON at the end of `out`.
pub(super) struct Pen<'a> {
    out: &'a mut Vec<u8>,
    /// Whether anything was written that could belong beside the trace.
    long: bool,
}

impl<'a> Pen<'a> {
    pub fn new(out: &'a mut Vec<u8>) -> Pen<'a> {
        Pen { out, long: false }
    }

    /// Whether anything was written that could belong beside the trace.
    pub fn wrote_long(&self) -> bool {
        self.long
    }

    /// JSON as it is.
    pub fn put(&mut self, json: &str) {
        self.out.extend_from_slice(json.as_bytes());
    }

    /// A text that holds nothing that JSON escapes, in quotes.
    fn word(&mut self, word: &str) {
        self.out.push(b'"');
        self.put(word);
        self.out.push(b'"');
    }

    /// A text in quotes.
    pub fn text(&mut self, text: &str) {
        if !is_plain(text.as_bytes()) {
            return self.serde(text);
        }
        self.long |= text.len() > INLINE_MAX_BYTES || text.starts_with("blob:");
        self.word(text);
    }

    pub fn number(&mut self, number: u64) {
        // Nearly every number of a trace is a small one.
        if number < 10 {
            return self.out.push(b'0' + number as u8);
        }
        let mut digits = [0; 20];
        let mut at = digits.len();
        let mut left = number;
        loop {
            at -= 1;
            digits[at] = b'0' + (left % 10) as u8;
            left /= 10;
            if left == 0 {
                break;
            }
        }
        self.out.extend_from_slice(&digits[at..]);
    }

    fn boolean(&mut self, value: bool) {
        self.put(if value { "true" } else { "false" });
    }

    /// JSON that passes through keeps its bytes, but for line ends between its tokens:
    /// those become spaces.
    fn raw(&mut self, raw: &RawValue) {
        let from = self.out.len();
        self.put(raw.get());
        self.passed_through(from);
    }

    /// Anything else, by way of serde.
    pub fn serde<T: Serialize + ?Sized>(&mut self, value: &T) {
        let from = self.out.len();
        if let Err(error) = serde_json::to_writer(&mut *self.out, value) {
            // Not known to happen: every key of every event is a string. If it does, the
            // line says so rather than being left out.
            self.out.truncate(from);
            let why = serde_json::Value::from(error.to_string());
            self.put(&format!(r#"{{"unwritable":{why}}}"#));
        }
        self.passed_through(from);
    }

    fn passed_through(&mut self, from: usize) {
        let written = self.out.get_mut(from..).unwrap_or_default();
        self.long |= may_hold(written);
        let mut rest = written;
        while let Some(found) = memchr::memchr2(b'\n', b'\r', rest) {
            // Within JSON a bare line end can only stand between tokens.
            rest[found] = b' ';
            rest = &mut rest[found + 1..];
        }
    }

    /// `"name":` and, if there is one, the text; else `null`.
    fn optional(&mut self, name: &str, text: Option<&str>) {
        self.put(name);
        match text {
            Some(text) => self.text(text),
            None => self.put("null"),
        }
    }

    /// The values with commas between them, in brackets.
    fn list<T>(
        &mut self,
        values: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Pen<'_>, T),
    ) {
        self.out.push(b'[');
        for (at, value) in values.into_iter().enumerate() {
            if at > 0 {
                self.out.push(b',');
            }
            write(self, value);
        }
        self.out.push(b']');
    }

    /// The event's name and its fields, without the brace before them.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Step(step) => self.step(step),
            Event::Op(op) => self.op(op),
            Event::Call(call) => self.call(call),
            Event::Result(result) => self.result(result),
            Event::Decision(decision) => {
                self.put(r#""event":"decision","#);
                self.decision(decision);
            }
            Event::Request(request) => self.request(request),
            Event::Response(response) => self.response(response),
            rare => {
                let from = self.out.len();
                self.serde(rare);
                // Its opening brace is where the fields were to begin.
                if self.out.get(from) == Some(&b'{') {
                    self.out.remove(from);
                }
            }
        }
    }

    fn step(&mut self, step: &StepEvent) {
        self.put(r#""event":"step","call":"#);
        self.text(&step.call);
        self.put(r#","step":"#);
        self.word(step.step.as_str());
        self.put(match step.verdict {
            Verdict::Pass => r#","verdict":"pass""#,
            Verdict::Stop => r#","verdict":"stop""#,
            Verdict::Rewrite => r#","verdict":"rewrite""#,
        });
        if let Some(class) = step.class {
            self.put(r#","class":"#);
            self.word(class.as_str());
        }
        if let Some(detail) = &step.detail {
            self.put(r#","detail":"#);
            self.text(detail);
        }
        self.put(r#","queued_ms":"#);
        self.number(step.queued_ms);
        self.put(r#","took_ms":"#);
        self.number(step.took_ms);
        self.put("}");
    }

    fn op(&mut self, op: &OpEvent) {
        self.put(r#""event":"op","by":"#);
        self.text(&op.by);
        self.put(r#","n":"#);
        self.number(op.n.into());
        self.put(r#","resource":"#);
        self.text(&op.resource);
        self.put(r#","kind":"#);
        self.text(&op.kind);
        self.put(r#","result":"#);
        self.text(&op.result);
        self.put("}");
    }

    fn call(&mut self, call: &Call) {
        self.put(r#""event":"call","call":"#);
        self.text(&call.call);
        self.put(r#","turn":"#);
        self.number(call.turn.into());
        self.put(r#","tool":"#);
        self.text(&call.tool);
        self.put(r#","lane":"#);
        self.word(call.lane.as_str());
        self.put(r#","input":"#);
        self.raw(&call.input);
        self.put("}");
    }

    fn result(&mut self, result: &CallResult) {
        self.put(r#""event":"result","call":"#);
        self.text(&result.call);
        self.put(r#","class":"#);
        self.word(result.class.as_str());
        self.put(r#","flags":"#);
        self.flags(&result.flags);
        self.put(r#","is_error":"#);
        self.boolean(result.is_error);
        self.put(r#","content":"#);
        self.raw(&result.content);
        self.put(r#","full_chars":"#);
        self.number(result.full_chars);
        self.optional(r#","saved_to":"#, result.saved_to.as_deref());
        self.put(r#","completed":"#);
        self.number(result.completed.into());
        self.put(r#","run_ms":"#);
        self.number(result.run_ms);
        self.put("}");
    }

    fn flags(&mut self, flags: &[Flag]) {
        self.list(flags, |pen, flag| pen.word(flag.as_str()));
    }

    /// The fields of a decision, without the brace before them.
    fn decision(&mut self, decision: &Decision) {
        self.put(r#""call":"#);
        self.text(&decision.call);
        self.put(r#","behavior":"#);
        self.word(decision.behavior.as_str());
        self.put(r#","layer":"#);
        self.word(decision.layer.as_str());
        self.put(r#","reason":"#);
        self.text(&decision.reason);
        self.optional(r#","rule":"#, decision.rule.as_deref());
        self.optional(r#","source":"#, decision.source.as_deref());
        self.put(r#","index":"#);
        match decision.index {
            Some(index) => self.number(index.into()),
            None => self.put("null"),
        }
        self.put(r#","layers":"#);
        self.list(&decision.layers, |pen, of| {
            pen.put(r#"{"layer":"#);
            pen.word(of.layer.as_str());
            pen.put(r#","verdict":"#);
            pen.text(&of.verdict);
            pen.put(r#","why":"#);
            pen.text(&of.why);
            pen.put("}");
        });
        self.put("}");
    }

    fn request(&mut self, request: &Request) {
        self.put(r#""event":"request","turn":"#);
        self.number(request.turn.into());
        self.put(r#","appended":"#);
        self.list(&request.appended, |pen, message| pen.message(message));
        self.put(r#","tools_hash":"#);
        self.text(&request.tools_hash);
        self.put(r#","prefix_stable":"#);
        self.boolean(request.prefix_stable);
        self.put(r#","tokens_estimate":"#);
        self.number(request.tokens_estimate);
        if request.loaded_tokens != 0 {
            self.put(r#","loaded_tokens":"#);
            self.number(request.loaded_tokens);
        }
        self.put("}");
    }

    fn message(&mut self, message: &Message) {
        if !message.extra.is_empty() || message.content.is_string() {
            return self.serde(message);
        }
        self.put(r#"{"role":"#);
        self.word(message.role.as_str());
        self.put(r#","content":"#);
        self.blocks(&message.content);
        self.put("}");
    }

    fn blocks(&mut self, blocks: &[Block]) {
        self.list(blocks, |pen, block| pen.raw(block.raw()));
    }

    fn response(&mut self, response: &Response) {
        self.put(r#""event":"response","turn":"#);
        self.number(response.turn.into());
        self.put(r#","content":"#);
        self.blocks(&response.content);
        self.put(r#","stop_reason":"#);
        self.text(&response.stop_reason);
        self.put(r#","usage":"#);
        self.serde(&response.usage);
        self.put("}");
    }
}

const SPACES: u64 = u64::from_le_bytes([b' '; 8]);

/// Whether a text needs no escapes in JSON.
fn is_plain(text: &[u8]) -> bool {
    let odd = |word: &[u8; 8]| odd_bytes(u64::from_le_bytes(*word));
    let (words, rest) = text.as_chunks::<8>();
    // The last eight bytes, some of them seen twice, or the few that there are.
    let last = match text.last_chunk::<8>() {
        Some(last) => odd(last),
        None => odd_bytes(
            rest.iter()
                .fold(SPACES, |word, b| (word << 8) | u64::from(*b)),
        ),
    };
    words.iter().fold(last, |all, word| all | odd(word)) == 0
}

/// Not 0 if any of eight bytes is below a space, a quote or a backslash. It looks at all
/// of them at once: texts are short, and a loop over their bytes took as long as all
/// else that writing does.
fn odd_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    // The high bit of a byte becomes set where `word` has a byte below `least` (at most
    // 0x80), and perhaps in bytes after such a one.
    let below = |word: u64, least: u8| word.wrapping_sub(ONES * u64::from(least)) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, b' ') | is(b'"') | is(b'\\')) & HIGH
}

/// A decision as an object of its own.
pub(super) fn write_decision(decision: &Decision, out: &mut Vec<u8>) {
    let mut pen = Pen::new(out);
    pen.put("{");
    pen.decision(decision);
}

/// What counts of a result, as an object: call, class, flags, content.
pub(super) fn write_outcome(result: &CallResult, out: &mut Vec<u8>) {
    let mut pen = Pen::new(out);
    pen.put(r#"{"call":"#);
    pen.text(&result.call);
    pen.put(r#","class":"#);
    pen.word(result.class.as_str());
    pen.put(r#","flags":"#);
    pen.flags(&result.flags);
    pen.put(r#","content":"#);
    // Here even its line ends count.
    pen.put(result.content.get());
    pen.put("}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_that_json_escapes_is_seen_wherever_it_stands() {
        for length in 0..20 {
            for at in 0..length {
                for byte in 0..=u8::MAX {
                    let mut text = vec![b'a'; length];
                    text[at] = byte;
                    let escaped = byte < b' ' || byte == b'"' || byte == b'\\';
                    assert_eq!(is_plain(&text), !escaped, "{byte} at {at} of {length}");
                }
            }
        }
    }
}
