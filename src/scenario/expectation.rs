//! What must come of a scenario: `expect`.

use super::answers::read_pattern;
use super::complaint::{Complaint, Place};
use super::fields::{MAX_INT, Placed, Reader};
use super::file_spec::{Content, read_base64, read_mode};
use super::keys_expect as keys;
use super::node::{Data, Entry, Node};
use super::script::{read_call_key, read_class, read_step};
use crate::words::{Behavior, Class, Flag, Layer, Step};
use crate::world::Pattern;

/// All expectations of a scenario.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expect {
    pub calls: Vec<ExpectedCall>,
    pub files: Vec<ExpectedFile>,
    /// Each a chain of calls that complete one after another.
    pub order: Vec<Vec<Placed<String>>>,
    pub stop: Option<Placed<String>>,
    pub turns: Option<Placed<u64>>,
    pub prompts: Option<Placed<u64>>,
    /// Over what is wrong with settings files.
    pub broken_settings: Vec<Placed<Pattern>>,
    pub never: Vec<ExpectedEvent>,
    pub events: Vec<ExpectedEvent>,
}

/// How a call ends. What is `None` is not looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedCall {
    /// The call's id or number.
    pub key: Placed<String>,
    pub tool: Option<Placed<String>>,
    pub step: Option<Placed<Step>>,
    pub class: Option<Placed<Class>>,
    pub is_error: Option<Placed<bool>>,
    /// Sorted.
    pub flags: Option<Placed<Vec<Flag>>>,
    pub decision: Option<ExpectedDecision>,
    pub contains: Vec<Placed<String>>,
    pub lacks: Vec<Placed<String>>,
}

/// Who decided about a call, and how. What is `None` is not looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedDecision {
    pub at: Place,
    pub behavior: Option<Placed<Behavior>>,
    pub layer: Option<Placed<Layer>>,
    pub reason: Option<Placed<Pattern>>,
    pub rule: Option<Placed<String>>,
    pub source: Option<Placed<String>>,
    pub index: Option<Placed<u64>>,
}

/// What is at a path in the end.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedFile {
    /// Absolute and normal.
    pub path: String,
    pub at: Place,
    pub is: FileIs,
}

/// How a path must be.
#[derive(Debug, Clone, PartialEq)]
pub enum FileIs {
    /// Nothing may be there.
    Absent,
    /// All of these.
    There(Vec<Placed<FileFact>>),
}

/// One thing that must be so of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum FileFact {
    Content(Content),
    Unchanged,
    Contains(String),
    Lacks(String),
    /// In bytes.
    Size(u64),
    /// The target as written in the link.
    Symlink(String),
    Dir,
    Mode(u32),
}

/// An event of the trace that must, or must not, occur.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedEvent {
    pub at: Place,
    pub event: String,
    pub call: Option<Placed<String>>,
    /// Patterns over single fields; `None` for a field that is absent or null.
    pub with: Vec<(String, Option<Pattern>)>,
    /// How often exactly.
    pub times: Option<u64>,
}

pub(super) fn read_expect(r: &mut Reader, node: &Node, cwd: &str) -> Option<Expect> {
    let mut f = r.fields(node, &keys::EXPECT)?;
    let calls = f
        .get("calls")
        .and_then(|n| r.map(n, "calls and how they end"))
        .unwrap_or_default()
        .iter()
        .filter_map(|e| {
            r.calls.push(Placed {
                value: e.key.clone(),
                at: e.key_at.clone(),
            });
            read_call(r, e)
        })
        .collect();
    let files = f
        .get("files")
        .and_then(|n| r.map(n, "paths and contents"))
        .unwrap_or_default()
        .iter()
        .filter_map(|e| read_file(r, e, cwd))
        .collect();
    let order = f
        .get("order")
        .and_then(|n| r.list(n, "lists of calls"))
        .unwrap_or_default()
        .iter()
        .map(|n| {
            let chain = r.list(n, "calls").unwrap_or_default();
            chain.iter().filter_map(|n| read_call_key(r, n)).collect()
        })
        .collect();
    let stop = f.get("stop").and_then(|n| {
        let stops = keys::run_stops();
        let word = r.word(n, &stops, |word| {
            stops.contains(&word).then(|| word.to_owned())
        })?;
        Some(Placed {
            value: word,
            at: n.at.clone(),
        })
    });
    let mut count = |r: &mut Reader, name| {
        f.get(name).and_then(|n| {
            Some(Placed {
                value: r.int(n, 0, MAX_INT)?,
                at: n.at.clone(),
            })
        })
    };
    let turns = count(r, "turns");
    let prompts = count(r, "prompts");
    let mut broken_settings = Vec::new();
    for node in f
        .get("broken_settings")
        .map_or(&[][..], |n| r.one_or_many(n))
    {
        broken_settings.extend(read_pattern(r, node).map(|value| Placed {
            value,
            at: node.at.clone(),
        }));
    }
    let never = read_events(r, f.get("never"));
    for event in never.iter().filter(|event| event.times.is_some()) {
        r.complain(Complaint::error(
            &event.at,
            "`times` of an event that must not occur",
            "`times` only below `events`",
        ));
    }
    let events = read_events(r, f.get("events"));
    f.done();
    Some(Expect {
        calls,
        files,
        order,
        stop,
        turns,
        prompts,
        broken_settings,
        never,
        events,
    })
}

/// A value of a key with the place of the value.
fn at<T>(node: Option<&Node>, read: impl FnOnce(&Node) -> Option<T>) -> Option<Placed<T>> {
    let node = node?;
    Some(Placed {
        value: read(node)?,
        at: node.at.clone(),
    })
}

fn read_placed_texts(r: &mut Reader, node: Option<&Node>) -> Vec<Placed<String>> {
    let Some(node) = node else {
        return Vec::new();
    };
    r.one_or_many(node)
        .iter()
        .filter_map(|n| at(Some(n), |n| r.text(n)))
        .collect()
}

fn read_call(r: &mut Reader, entry: &Entry) -> Option<ExpectedCall> {
    let mut f = r.fields(&entry.value, &keys::CALL)?;
    let flags = at(f.get("flags"), |n| {
        let mut flags: Vec<Flag> = r
            .list(n, "flags")?
            .iter()
            .filter_map(|n| r.word(n, &keys::flags(), Flag::from_word))
            .collect();
        flags.sort();
        flags.dedup();
        Some(flags)
    });
    let call = ExpectedCall {
        key: Placed {
            value: entry.key.clone(),
            at: entry.key_at.clone(),
        },
        tool: at(f.get("tool"), |n| r.text(n)),
        step: at(f.get("step"), |n| read_step(r, n)),
        class: at(f.get("class"), |n| read_class(r, n)),
        is_error: at(f.get("is_error"), |n| r.bool(n)),
        flags,
        decision: f.get("decision").and_then(|n| read_decision(r, n)),
        contains: read_placed_texts(r, f.get("contains")),
        lacks: read_placed_texts(r, f.get("lacks")),
    };
    f.done();
    if let (Some(class), Some(is_error)) = (&call.class, &call.is_error)
        && class.value.is_error() != is_error.value
    {
        r.complain(Complaint::error(
            &is_error.at,
            format!("is_error: {} beside class: {}", is_error.value, class.value),
            format!("is_error: {}", class.value.is_error()),
        ));
    }
    Some(call)
}

fn read_decision(r: &mut Reader, node: &Node) -> Option<ExpectedDecision> {
    let mut f = r.fields(node, &keys::DECISION)?;
    let decision = ExpectedDecision {
        at: node.at.clone(),
        behavior: at(f.get("behavior"), |n| {
            r.word(n, &super::keys::behaviors(), Behavior::from_word)
        }),
        layer: at(f.get("layer"), |n| {
            r.word(n, &keys::layers(), Layer::from_word)
        }),
        reason: at(f.get("reason"), |n| read_pattern(r, n)),
        rule: at(f.get("rule"), |n| r.text(n)),
        source: at(f.get("source"), |n| r.text(n)),
        index: at(f.get("index"), |n| r.int(n, 0, MAX_INT)),
    };
    f.done();
    Some(decision)
}

fn read_file(r: &mut Reader, entry: &Entry, cwd: &str) -> Option<ExpectedFile> {
    let expected = |is| {
        Some(ExpectedFile {
            path: crate::world::normalize(cwd, &entry.key),
            at: entry.key_at.clone(),
            is,
        })
    };
    let node = &entry.value;
    let fact = |n: &Node, fact| Placed {
        value: fact,
        at: n.at.clone(),
    };
    match &node.data {
        Data::Null => return expected(FileIs::Absent),
        Data::Map(_) => {}
        _ => {
            let text = r.text_as(node, "a text, the whole content; null; or a map")?;
            let content = FileFact::Content(Content::text(&text));
            return expected(FileIs::There(vec![fact(node, content)]));
        }
    }
    let mut f = r.fields(node, &keys::FILE)?;
    let mut facts = Vec::new();
    f.only_one(
        r,
        &["content", "repeat", "base64", "unchanged", "symlink", "dir"],
        false,
    );
    if let Some(n) = f.get("content")
        && let Some(text) = r.text(n)
    {
        facts.push(fact(n, FileFact::Content(Content::text(&text))));
    }
    let times_at = f.get("times");
    let times = times_at.and_then(|n| r.int(n, 0, MAX_INT));
    if let Some(n) = f.get("repeat")
        && let Some(text) = r.text(n)
    {
        match times {
            Some(times)
                if (text.len() as u64).saturating_mul(times)
                    <= super::file_spec::MAX_REPEATED_BYTES =>
            {
                facts.push(fact(n, FileFact::Content(Content::Repeat { text, times })));
            }
            _ => r.complain(Complaint::error(
                &n.at,
                "`repeat` without `times`, or with too many",
                "how many times",
            )),
        }
    } else if let Some(n) = times_at {
        r.complain(Complaint::error(
            &n.at,
            "`times` without `repeat`",
            "a text to repeat",
        ));
    }
    if let Some(n) = f.get("base64")
        && let Some(bytes) = read_base64(r, n)
    {
        facts.push(fact(n, FileFact::Content(Content::Bytes(bytes))));
    }
    for (name, yes) in [("unchanged", FileFact::Unchanged), ("dir", FileFact::Dir)] {
        if let Some(n) = f.get(name) {
            match r.bool(n) {
                Some(true) => facts.push(fact(n, yes)),
                Some(false) => r.complain(Complaint::error(
                    &n.at,
                    format!("{name}: false"),
                    format!("{name}: true, or what it must be"),
                )),
                None => {}
            }
        }
    }
    for text in read_placed_texts(r, f.get("contains")) {
        facts.push(Placed {
            value: FileFact::Contains(text.value),
            at: text.at,
        });
    }
    for text in read_placed_texts(r, f.get("lacks")) {
        facts.push(Placed {
            value: FileFact::Lacks(text.value),
            at: text.at,
        });
    }
    if let Some(n) = f.get("size")
        && let Some(size) = r.int(n, 0, MAX_INT)
    {
        facts.push(fact(n, FileFact::Size(size)));
    }
    if let Some(n) = f.get("symlink")
        && let Some(target) = r.text(n)
    {
        facts.push(fact(n, FileFact::Symlink(target)));
    }
    if let Some(n) = f.get("mode")
        && let Some(mode) = read_mode(r, n)
    {
        facts.push(fact(n, FileFact::Mode(mode)));
    }
    f.done();
    expected(FileIs::There(facts))
}

fn read_events(r: &mut Reader, node: Option<&Node>) -> Vec<ExpectedEvent> {
    let Some(node) = node else {
        return Vec::new();
    };
    let items = r.list(node, "events").unwrap_or_default();
    items.iter().filter_map(|n| read_event(r, n)).collect()
}

fn read_event(r: &mut Reader, node: &Node) -> Option<ExpectedEvent> {
    let names = keys::events();
    let name = |r: &mut Reader, n: &Node| {
        r.word(n, &names, |word| {
            names.contains(&word).then(|| word.to_owned())
        })
    };
    if !matches!(node.data, Data::Map(_)) {
        return Some(ExpectedEvent {
            at: node.at.clone(),
            event: name(r, node)?,
            call: None,
            with: Vec::new(),
            times: None,
        });
    }
    let mut f = r.fields(node, &keys::EVENT)?;
    let event = f.get("event").and_then(|n| name(r, n));
    let call = f.get("call").and_then(|n| read_call_key(r, n));
    let mut with = Vec::new();
    if let Some(n) = f.get("with") {
        for entry in r.map(n, "fields and globs").unwrap_or_default() {
            if entry.value.is_null() {
                with.push((entry.key.clone(), None));
            } else if let Some(glob) = read_pattern(r, &entry.value) {
                with.push((entry.key.clone(), Some(glob)));
            }
        }
    }
    let times = f.get("times").and_then(|n| r.int(n, 1, MAX_INT));
    f.done();
    Some(ExpectedEvent {
        at: node.at.clone(),
        event: event?,
        call,
        with,
        times,
    })
}
