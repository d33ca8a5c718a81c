//! The first place where two traces differ.

use super::hash::counted;
use super::line::write_line;
use super::{Line, Trace};
use crate::wire::Fields;
use crate::words::Step;
use serde_json::Value;
use std::fmt;

/// The first place where two traces differ. Values are JSON text; a side without a
/// value has none there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divergence {
    /// The number of the event within the traces, from 0.
    pub index: u64,
    /// The event's name on the left, or on the right if the left has ended.
    pub event: &'static str,
    /// The call it belongs to, by id.
    pub call: Option<String>,
    pub step: Option<Step>,
    /// Where in the event, as `content[0].text`; empty for the event as a whole, of
    /// which the names are the values.
    pub path: String,
    pub left: Option<String>,
    pub right: Option<String>,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {} ({}", self.index, self.event)?;
        if let Some(call) = &self.call {
            write!(f, " of {call}")?;
        }
        if let Some(step) = self.step {
            write!(f, " in {step}")?;
        }
        f.write_str(")")?;
        if !self.path.is_empty() {
            write!(f, " at {}", self.path)?;
        }
        let side = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
        write!(f, ": {} against {}", side(&self.left), side(&self.right))
    }
}

/// Finds where two traces differ first.
///
/// `None` exactly if their trace hashes are equal: what the hash leaves out of
/// `run_started` does not count here either.
pub fn first_divergence(left: &Trace, right: &Trace) -> Option<Divergence> {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    let longer = left.lines.len().max(right.lines.len());
    for index in 0..longer {
        let (left, right) = (left.lines.get(index), right.lines.get(index));
        match (left, right) {
            (Some(left), Some(right)) => {
                a.clear();
                b.clear();
                write_line(&counted(left), &mut a);
                write_line(&counted(right), &mut b);
                if a != b {
                    return Some(within(index, left, right, &a, &b));
                }
            }
            (Some(line), None) | (None, Some(line)) => {
                let name = |line: &Line| quoted(line.event.name());
                return Some(Divergence {
                    left: left.map(name),
                    right: right.map(name),
                    ..place(index, line)
                });
            }
            (None, None) => {}
        }
    }
    None
}

fn place(index: usize, line: &Line) -> Divergence {
    Divergence {
        index: index as u64,
        event: line.event.name(),
        call: line.event.call().map(str::to_owned),
        step: line.event.step(),
        path: String::new(),
        left: None,
        right: None,
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Finds the difference between two lines that are not the same bytes.
fn within(index: usize, left: &Line, right: &Line, a: &[u8], b: &[u8]) -> Divergence {
    let place = place(index, left);
    if left.event.name() != right.event.name() {
        return Divergence {
            left: Some(quoted(left.event.name())),
            right: Some(quoted(right.event.name())),
            ..place
        };
    }
    let (Some(a), Some(b)) = (fields(a), fields(b)) else {
        // Not known to happen: we wrote both lines.
        return place;
    };
    for name in order(&a, &b) {
        let (left, right) = (a.get(name), b.get(name));
        let (left, right) = (left.map(|raw| raw.get()), right.map(|raw| raw.get()));
        if left == right {
            continue;
        }
        let mut path = name.to_owned();
        let (left, right) = narrow(&mut path, left, right);
        return Divergence {
            path,
            left,
            right,
            ..place
        };
    }
    place
}

/// The fields of a line, still unread.
fn fields(line: &[u8]) -> Option<Fields> {
    Fields::of(serde_json::from_slice(line).ok()?)
}

/// The names of the fields of both sides once each, as they are written, but `seq` and
/// `at` last: what happened is told before when it happened.
fn order<'a>(a: &'a Fields, b: &'a Fields) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in a.iter().chain(b.iter()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.sort_by_key(|name| matches!(*name, "seq" | "at"));
    names
}

/// Goes down into two different JSON texts to the first place where they differ.
fn narrow(
    path: &mut String,
    left: Option<&str>,
    right: Option<&str>,
) -> (Option<String>, Option<String>) {
    let value = |text: Option<&str>| text.and_then(|t| serde_json::from_str::<Value>(t).ok());
    let found = match (value(left), value(right)) {
        (Some(left), Some(right)) => walk(path, &left, &right),
        _ => None,
    };
    // The same value in other bytes (spaces, order of keys, escapes): all of it is shown.
    found.unwrap_or_else(|| (left.map(str::to_owned), right.map(str::to_owned)))
}

type Sides = (Option<String>, Option<String>);

/// Finds the first difference of two values, and adds its place to `path`.
fn walk(path: &mut String, left: &Value, right: &Value) -> Option<Sides> {
    let length = path.len();
    match (left, right) {
        (Value::Object(a), Value::Object(b)) => {
            let mut names: Vec<&String> = a.keys().chain(b.keys()).collect();
            names.sort_unstable();
            names.dedup();
            for name in names {
                push_name(path, name);
                if let Some(sides) = walk_sides(path, a.get(name), b.get(name)) {
                    return Some(sides);
                }
                path.truncate(length);
            }
            None
        }
        (Value::Array(a), Value::Array(b)) => {
            for index in 0..a.len().max(b.len()) {
                path.push_str(&format!("[{index}]"));
                if let Some(sides) = walk_sides(path, a.get(index), b.get(index)) {
                    return Some(sides);
                }
                path.truncate(length);
            }
            None
        }
        _ if left == right => None,
        _ => Some((Some(left.to_string()), Some(right.to_string()))),
    }
}

fn walk_sides(path: &mut String, left: Option<&Value>, right: Option<&Value>) -> Option<Sides> {
    match (left, right) {
        (Some(left), Some(right)) => walk(path, left, right),
        _ => Some((left.map(Value::to_string), right.map(Value::to_string))),
    }
}

/// Adds `.name`, or `["name"]` if the name is no plain word.
fn push_name(path: &mut String, name: &str) {
    let word = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if word {
        path.push('.');
        path.push_str(name);
    } else {
        path.push_str(&format!("[{}]", quoted(name)));
    }
}
