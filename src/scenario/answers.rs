//! The lists of answers of a scenario: commands, user, classifier, hooks, tools.

use super::complaint::Complaint;
use super::fields::{Fields, Reader};
use super::file_spec::{Content, read_content, read_written};
use super::keys;
use super::node::{Data, Node};
use super::script::{read_call_key, read_class};
use crate::hooks::{HookEvent, ScriptedHook};
use crate::settings::PermissionUpdate;
use crate::tools::{Returns, Scripted};
use crate::words::{Behavior, Class};
use crate::world::{Answer, Pattern, UserAnswer, UserReply};
use serde_json::Value;
use std::collections::BTreeMap;

/// What a command does that the virtual shell does not have.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandAnswer {
    /// Over the whole command line, or one command of a longer one.
    pub command: Option<Pattern>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub exit: i32,
    pub latency_ms: u64,
    /// By path from the command's folder.
    pub writes: BTreeMap<String, Vec<u8>>,
}

/// What the permission classifier says. What is `None` or empty is not looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassifierAnswer {
    /// Over the tool's name.
    pub tool: Option<Pattern>,
    /// The call's id, or its number as text.
    pub call: Option<String>,
    /// Over what the call is about: a path, a command, a URL, else its input as JSON.
    pub about: Option<Pattern>,
    /// Over single values of the input, by key.
    pub input: BTreeMap<String, Pattern>,
    pub verdict: Behavior,
    pub reason: Option<String>,
    pub latency_ms: u64,
}

/// What a tool returns without being run. What is `None` or empty is not looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolAnswer {
    /// Over the tool's name.
    pub tool: Option<Pattern>,
    /// Over single values of the input, by key; a value that is no string is compared
    /// as its JSON.
    pub input: BTreeMap<String, Pattern>,
    pub gives: Scripted,
    pub latency_ms: u64,
}

impl ToolAnswer {
    /// Whether the answer is for a call of `tool` with `input`.
    pub fn matches(&self, tool: &str, input: &Value) -> bool {
        self.tool.as_ref().is_none_or(|glob| glob.matches(tool))
            && self.input.iter().all(|(key, glob)| match input.get(key) {
                Some(Value::String(text)) => glob.matches(text),
                Some(other) => glob.matches(&other.to_string()),
                None => false,
            })
    }
}

/// What an answer says, and whether it says what it answers.
pub(super) struct Read<T> {
    pub value: T,
    pub has_matcher: bool,
}

/// Reads one list of answers; `list` is its key path, of which the labels are made.
pub(super) fn read_list<T>(
    r: &mut Reader,
    node: Option<&Node>,
    list: &str,
    read: impl Fn(&mut Reader, &mut Fields<'_>) -> Option<Read<T>>,
    shape: &'static super::shape::Shape,
) -> Vec<Answer<T>> {
    let Some(node) = node else {
        return Vec::new();
    };
    let mut answers = Vec::new();
    for (i, item) in r
        .list(node, "answers")
        .unwrap_or_default()
        .iter()
        .enumerate()
    {
        let Some(mut f) = r.fields(item, shape) else {
            continue;
        };
        let what = read(r, &mut f);
        let times = f.get("times").and_then(|n| r.int(n, 1, keys::MAX_TIMES));
        let optional = f.bool(r, "optional").unwrap_or(false);
        f.done();
        let Some(Read { value, has_matcher }) = what else {
            continue;
        };
        let label = format!("{list}[{i}]");
        r.labels.insert(label.clone(), item.at.clone());
        answers.push(Answer {
            value,
            has_matcher,
            times: times.and_then(|times| u32::try_from(times).ok()),
            optional,
            label,
        });
    }
    answers
}

/// A glob.
pub(super) fn read_pattern(r: &mut Reader, node: &Node) -> Option<Pattern> {
    r.scalar(node).map(|text| Pattern::new(&text))
}

/// Keys and globs.
pub(super) fn read_patterns(r: &mut Reader, node: &Node) -> BTreeMap<String, Pattern> {
    let entries = r.map(node, "keys and globs").unwrap_or_default();
    entries
        .iter()
        .filter_map(|e| Some((e.key.clone(), read_pattern(r, &e.value)?)))
        .collect()
}

pub(super) fn read_command(r: &mut Reader, f: &mut Fields<'_>) -> Option<Read<CommandAnswer>> {
    let bytes = |r: &mut Reader, n| read_content(r, n).map(|c| c.bytes().to_vec());
    let command = f.get("command").and_then(|n| read_pattern(r, n));
    let value = CommandAnswer {
        stdout: f
            .get("stdout")
            .and_then(|n| bytes(r, n))
            .unwrap_or_default(),
        stderr: f
            .get("stderr")
            .and_then(|n| bytes(r, n))
            .unwrap_or_default(),
        exit: read_exit(r, f),
        latency_ms: f.ms(r, "latency_ms").unwrap_or(0),
        writes: read_written(r, f.get("writes"), None)
            .into_iter()
            .map(|(path, content)| (path, content.bytes().to_vec()))
            .collect(),
        command,
    };
    let has_matcher = value.command.is_some();
    Some(Read { value, has_matcher })
}

fn read_exit(r: &mut Reader, f: &mut Fields<'_>) -> i32 {
    f.get("exit")
        .and_then(|n| r.int(n, 0, 255))
        .and_then(|code| i32::try_from(code).ok())
        .unwrap_or(0)
}

pub(super) fn read_user(r: &mut Reader, f: &mut Fields<'_>) -> Option<Read<UserAnswer>> {
    let tool = f.get("tool").and_then(|n| read_pattern(r, n));
    let call = f.get("call").and_then(|n| read_call_key(r, n));
    let call = call.map(|key| key.value);
    let input = f.get("input").and_then(|n| read_pattern(r, n));
    let words = keys::user_replies();
    let says = f.get("answer").and_then(|n| {
        r.word(n, &words, |word| {
            words.contains(&word).then(|| word.to_owned())
        })
    });
    let comment_at = f.get("comment");
    let comment = comment_at.and_then(|n| r.text(n));
    let input_at = f.get("updated_input");
    let updated_input = input_at.and_then(|n| r.object(n));
    let updated_permissions = read_updates(r, f);
    let think_ms = f.ms(r, "think_ms").unwrap_or(0);
    let denies = says.as_deref() == Some("deny");
    match (says.is_some(), denies, comment_at, input_at) {
        (true, false, Some(node), _) => r.complain(Complaint::error(
            &node.at,
            "a comment on what is allowed",
            "a comment only beside `answer: deny`",
        )),
        (true, true, _, Some(node)) => r.complain(Complaint::error(
            &node.at,
            "another input for what is refused",
            "`updated_input` only beside `allow` or `always`",
        )),
        _ => {}
    }
    let value = UserAnswer {
        tool,
        call,
        input,
        reply: match says?.as_str() {
            "deny" => UserReply::Deny { comment },
            word => UserReply::Allow {
                always: word == "always",
                updated_input,
                updated_permissions,
            },
        },
        think_ms,
    };
    let has_matcher = value.has_matcher();
    Some(Read { value, has_matcher })
}

/// Updates of permission settings, as they are written; one that cannot be read is a
/// complaint.
fn read_updates(r: &mut Reader, f: &mut Fields<'_>) -> Vec<Value> {
    let Some(node) = f.get("updated_permissions") else {
        return Vec::new();
    };
    let items = r.list(node, "updates").unwrap_or_default();
    let mut updates = Vec::new();
    for item in items {
        let Some(update) = r.object(item) else {
            continue;
        };
        match PermissionUpdate::read(&update) {
            Ok(_) => updates.push(update),
            Err(why) => r.complain(Complaint::error(
                &item.at,
                format!("an update that cannot be read ({why})"),
                "an update of permissions, as in `{type: setMode, mode: plan, destination: session}`",
            )),
        }
    }
    updates
}

pub(super) fn read_classifier(
    r: &mut Reader,
    f: &mut Fields<'_>,
) -> Option<Read<ClassifierAnswer>> {
    let tool = f.get("tool").and_then(|n| read_pattern(r, n));
    let call = f.get("call").and_then(|n| read_call_key(r, n));
    let call = call.map(|key| key.value);
    let (mut about, mut input) = (None, BTreeMap::new());
    if let Some(node) = f.get("input") {
        match &node.data {
            Data::Map(_) => input = read_patterns(r, node),
            _ => about = read_pattern(r, node),
        }
    }
    let words = keys::verdicts();
    let verdict = f.get("verdict").and_then(|n| {
        r.word(n, &words, |word| {
            Behavior::from_word(word).filter(|_| words.contains(&word))
        })
    });
    let reason = f.text(r, "reason");
    let latency_ms = f.ms(r, "latency_ms").unwrap_or(0);
    let has_matcher = tool.is_some() || call.is_some() || about.is_some() || !input.is_empty();
    let value = ClassifierAnswer {
        tool,
        call,
        about,
        input,
        verdict: verdict?,
        reason,
        latency_ms,
    };
    Some(Read { value, has_matcher })
}

pub(super) fn read_hook(r: &mut Reader, f: &mut Fields<'_>) -> Option<Read<ScriptedHook>> {
    let event = f
        .get("event")
        .and_then(|n| r.word(n, &keys::hook_events(), HookEvent::from_word));
    let tool = f.get("tool").and_then(|n| read_pattern(r, n));
    let command = f.get("command").and_then(|n| read_pattern(r, n));
    let exit = read_exit(r, f);
    let stdout = f.get("stdout").and_then(|n| match &n.data {
        Data::Map(_) => Some(n.to_json().to_string()),
        _ => r.text_as(n, "a text or an object"),
    });
    let stderr = f.text(r, "stderr");
    let status = f.get("status").and_then(|n| r.int(n, 0, 599));
    let value = ScriptedHook {
        event,
        tool,
        command,
        exit,
        status: status.and_then(|status| u16::try_from(status).ok()),
        stdout: stdout.unwrap_or_default(),
        stderr: stderr.unwrap_or_default(),
        delay_ms: f.ms(r, "latency_ms").unwrap_or(0),
    };
    let has_matcher = value.event.is_some() || value.tool.is_some() || value.command.is_some();
    Some(Read { value, has_matcher })
}

pub(super) fn read_tool_answer(r: &mut Reader, f: &mut Fields<'_>) -> Option<Read<ToolAnswer>> {
    let tool = f.get("tool").and_then(|n| read_pattern(r, n));
    let input = f.get("input").map(|n| read_patterns(r, n));
    let input = input.unwrap_or_default();
    f.only_one(r, &["returns", "fails"], true);
    let gives = read_gives(r, f);
    let latency_ms = f.ms(r, "latency_ms").unwrap_or(0);
    let has_matcher = tool.is_some() || !input.is_empty();
    let value = ToolAnswer {
        tool,
        input,
        gives: gives?,
        latency_ms,
    };
    Some(Read { value, has_matcher })
}

/// What a tool returns or how it fails: `returns` and `fails`. `None` if neither is
/// told or what is told cannot be read.
pub(super) fn read_gives(r: &mut Reader, f: &mut Fields<'_>) -> Option<Scripted> {
    let (returns, fails) = (f.get("returns"), f.get("fails"));
    if let Some(node) = fails {
        let mut f = r.fields(node, &keys::FAILS)?;
        let class = f.get("class").and_then(|n| read_failure_class(r, n));
        let text = f.text(r, "text").unwrap_or_default();
        f.done();
        return Some(Scripted {
            returns: Returns::default(),
            fails: Some((class?, text)),
        });
    }
    let node = returns?;
    if let Data::List(items) = &node.data {
        let blocks = items.iter().filter_map(|n| r.object(n)).collect();
        return Some(Scripted {
            returns: Returns::Blocks(blocks),
            fails: None,
        });
    }
    let content: Content = read_content(r, node)?;
    match String::from_utf8(content.bytes().to_vec()) {
        Ok(text) => Some(Scripted::text(text)),
        Err(_) => {
            r.complain(Complaint::error(
                &node.at,
                "bytes that are not UTF-8",
                "a text or content blocks",
            ));
            None
        }
    }
}

fn read_failure_class(r: &mut Reader, node: &Node) -> Option<Class> {
    let class = read_class(r, node)?;
    if class.is_error() {
        return Some(class);
    }
    r.complain(Complaint::error(
        &node.at,
        "`ok`, which is no failure",
        "the class of a failure",
    ));
    None
}
