//! The two hashes of a trace.

use super::line::write_line;
use super::{Decision, Event, Line, RunStarted};
use crate::words::{Class, Flag};
use serde::Serialize;
use serde_json::value::RawValue;
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
            event: Event::RunStarted(RunStarted {
                rehearsal: String::new(),
                seed: 0,
                schedule: None,
                ..started.clone()
            }),
        }),
        _ => Cow::Borrowed(line),
    }
}

pub(super) fn trace_hash(lines: &[Line]) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut text = Vec::new();
    for line in lines {
        text.clear();
        write_line(&counted(line), &mut text);
        text.push(b'\n');
        hasher.update(&text);
    }
    digits(&hasher)
}

/// What counts of a result.
#[derive(Serialize)]
struct Outcome<'a> {
    call: &'a str,
    class: Class,
    flags: &'a [Flag],
    content: &'a RawValue,
}

pub(super) fn outcome_hash(lines: &[Line], world_hash: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut text = Vec::new();
    for line in lines {
        match &line.event {
            Event::Result(result) => add(
                &mut hasher,
                &mut text,
                "result",
                &Outcome {
                    call: &result.call,
                    class: result.class,
                    flags: &result.flags,
                    content: &result.content,
                },
            ),
            Event::Decision(decision) => {
                add::<Decision>(&mut hasher, &mut text, "decision", decision);
            }
            _ => {}
        }
    }
    add(&mut hasher, &mut text, "world", world_hash);
    digits(&hasher)
}

/// Hashes one thing with its kind; its length keeps it apart from what follows.
fn add<T: Serialize + ?Sized>(
    hasher: &mut blake3::Hasher,
    text: &mut Vec<u8>,
    kind: &str,
    value: &T,
) {
    text.clear();
    if let Err(error) = serde_json::to_writer(&mut *text, value) {
        // As in `write_line`: not known to happen, and not silent if it does.
        text.extend_from_slice(error.to_string().as_bytes());
    }
    hasher.update(kind.as_bytes());
    hasher.update(&(text.len() as u64).to_le_bytes());
    hasher.update(text);
}

fn digits(hasher: &blake3::Hasher) -> String {
    let mut hex = hasher.finalize().to_hex().to_string();
    hex.truncate(HASH_DIGITS);
    hex
}
