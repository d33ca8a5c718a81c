//! The two hashes of a trace.

use super::line::write_line;
use super::pen::{Pen, write_decision, write_outcome};
use super::{Event, Line, RunStarted};
use std::borrow::Cow;

/// Hexadecimal digits of a hash: enough that two of a million traces do not meet by
/// chance, and short enough to be read.
const HASH_DIGITS: usize = 16;

/// The line as it counts: what says how the run was made to go, and by which version,
/// is blank, so that what remains is what happened.
pub(super) fn counted(line: &Line) -> Cow<'_, Line> {
    match &line.event {
        Event::RunStarted(started) => Cow::Owned(Line {
            seq: line.seq,
            at: line.at,
            event: Event::RunStarted(Box::new(RunStarted {
                rehearsal: String::new(),
                seed: 0,
                schedule: None,
                ..(**started).clone()
            })),
        }),
        _ => Cow::Borrowed(line),
    }
}

/// Bytes that are hashed at once: from a few KiB on, the hash works on several pieces
/// side by side.
const HASHED_AT_ONCE_BYTES: usize = 64 * 1024;

pub(super) fn trace_hash(lines: &[Line]) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut text = Vec::new();
    for line in lines {
        write_line(&counted(line), &mut text);
        text.push(b'\n');
        hash_when_full(&mut hasher, &mut text);
    }
    hasher.update(&text);
    digits(&hasher)
}

fn hash_when_full(hasher: &mut blake3::Hasher, text: &mut Vec<u8>) {
    if text.len() >= HASHED_AT_ONCE_BYTES {
        hasher.update(text);
        text.clear();
    }
}

/// What counts of a result is its call, class, flags and content.
pub(super) fn outcome_hash(lines: &[Line], world_hash: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut text = Vec::new();
    for line in lines {
        match &line.event {
            Event::Result(result) => {
                add(&mut text, "result", |text| write_outcome(result, text));
            }
            Event::Decision(decision) => {
                add(&mut text, "decision", |text| write_decision(decision, text));
            }
            _ => continue,
        }
        hash_when_full(&mut hasher, &mut text);
    }
    add(&mut text, "world", |text| Pen::new(text).text(world_hash));
    hasher.update(&text);
    digits(&hasher)
}

/// Adds one thing with its kind; its length keeps it apart from what follows.
fn add(text: &mut Vec<u8>, kind: &str, write: impl FnOnce(&mut Vec<u8>)) {
    text.extend_from_slice(kind.as_bytes());
    let length_at = text.len();
    text.extend_from_slice(&[0; size_of::<u64>()]);
    let from = text.len();
    write(text);
    let length = (text.len() - from) as u64;
    text[length_at..from].copy_from_slice(&length.to_le_bytes());
}

fn digits(hasher: &blake3::Hasher) -> String {
    let mut hex = hasher.finalize().to_hex().to_string();
    hex.truncate(HASH_DIGITS);
    hex
}
