//! The lists of answers of a scenario: commands, user, classifier, hooks, tools.

use super::complaint::{Complaint, Place};
use super::fields::{Fields, Placed, Reader};
use super::file_spec::{Content, read_content, read_paths, read_written};
use super::keys;
use super::matcher::Glob;
use super::node::{Data, Node};
use super::script::{read_call_key, read_class};
use crate::words::{Behavior, Class};
use serde_json::Value;
use std::collections::BTreeMap;

/// One entry of a list of answers. Lists are searched from the top; an entry with
/// a matcher may match many times, one without is used once, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer<T> {
    pub what: T,
    /// The key path of the entry, as in `user[0]`.
    pub label: String,
    /// Whether the entry says what it answers; one that does not is used once.
    pub has_matcher: bool,
    /// How often at most; without it, an entry with a matcher has no limit.
    pub times: Option<u32>,
    /// Whether it is no failure that the entry is never used.
    pub optional: bool,
    pub at: Place,
}

/// Which calls an answer is for. What is `None` is not looked at.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallMatcher {
    pub tool: Option<Glob>,
    /// The call's id, or its number as text.
    pub call: Option<Placed<String>>,
    /// Over what the call is about: a path, a command, a URL, else its input as JSON.
    pub input: Option<Glob>,
}

impl CallMatcher {
    fn is_empty(&self) -> bool {
        self.tool.is_none() && self.call.is_none() && self.input.is_none()
    }
}

/// What a command does that the virtual shell does not have.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandAnswer {
    pub command: Option<Glob>,
    pub stdout: Option<Content>,
    pub stderr: Option<Content>,
    pub exit: i32,
    pub latency_ms: u64,
    /// By absolute path.
    pub writes: BTreeMap<String, Content>,
    /// Absolute paths.
    pub removes: Vec<String>,
}

/// What the user says to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct UserAnswerSpec {
    pub matcher: CallMatcher,
    pub reply: UserSays,
    /// Virtual milliseconds from the question to the reply.
    pub think_ms: u64,
}

/// A reply of the user.
#[derive(Debug, Clone, PartialEq)]
pub enum UserSays {
    /// Yes, perhaps to another input than the one asked for.
    Allow {
        updated_input: Option<Value>,
    },
    /// Yes, also to what is alike until the session ends.
    Always,
    Deny {
        comment: Option<String>,
    },
}

/// What the permission classifier says.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassifierAnswer {
    pub matcher: CallMatcher,
    pub verdict: Behavior,
    pub reason: Option<String>,
    pub latency_ms: u64,
}

/// How a hook ends, instead of running its command.
#[derive(Debug, Clone, PartialEq)]
pub struct HookAnswer {
    pub event: Option<Glob>,
    pub command: Option<Glob>,
    pub tool: Option<Glob>,
    pub ends: HookEnds,
    pub writes: BTreeMap<String, Content>,
    pub latency_ms: u64,
}

/// The end of a hook's command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookEnds {
    Exit {
        code: i32,
        stdout: String,
        stderr: String,
    },
    CannotStart,
}

/// What a tool returns without being run.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolAnswer {
    pub tool: Option<Glob>,
    /// Globs over single values of the input, by key; a value that is no string is
    /// compared as its JSON.
    pub input: BTreeMap<String, Glob>,
    pub gives: Gives,
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

/// What a scripted tool gives.
#[derive(Debug, Clone, PartialEq)]
pub enum Gives {
    Text(String),
    /// Content blocks as the API takes them.
    Blocks(Vec<Value>),
    Fails {
        class: Class,
        text: String,
    },
    /// The message of a panic.
    Panics(String),
}

/// Reads one list of answers; `list` is its key path.
pub(super) fn read_list<T>(
    r: &mut Reader,
    node: Option<&Node>,
    list: &str,
    read: impl Fn(&mut Reader, &Node) -> Option<Answer<T>>,
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
        if let Some(mut answer) = read(r, item) {
            answer.label = format!("{list}[{i}]");
            answers.push(answer);
        }
    }
    answers
}

/// `times` and `optional`, and the rest of an answer.
fn answer<T>(
    r: &mut Reader,
    mut f: Fields<'_>,
    has_matcher: bool,
    what: Option<T>,
) -> Option<Answer<T>> {
    let times = f.get("times").and_then(|n| r.int(n, 1, keys::MAX_TIMES));
    let optional = f.bool(r, "optional").unwrap_or(false);
    let at = f.at.clone();
    f.done();
    Some(Answer {
        what: what?,
        label: String::new(),
        has_matcher,
        times: times.and_then(|times| u32::try_from(times).ok()),
        optional,
        at,
    })
}

fn read_matcher(r: &mut Reader, f: &mut Fields<'_>) -> CallMatcher {
    CallMatcher {
        tool: f.get("tool").and_then(|n| Glob::read(r, n)),
        call: f.get("call").and_then(|n| read_call_key(r, n)),
        input: f.get("input").and_then(|n| Glob::read(r, n)),
    }
}

pub(super) fn read_command(
    r: &mut Reader,
    node: &Node,
    cwd: &str,
) -> Option<Answer<CommandAnswer>> {
    let mut f = r.fields(node, &keys::COMMAND)?;
    let what = CommandAnswer {
        command: f.get("command").and_then(|n| Glob::read(r, n)),
        stdout: f.get("stdout").and_then(|n| read_content(r, n)),
        stderr: f.get("stderr").and_then(|n| read_content(r, n)),
        exit: read_exit(r, &mut f),
        latency_ms: f.ms(r, "latency_ms").unwrap_or(0),
        writes: read_written(r, f.get("writes"), cwd),
        removes: read_paths(r, f.get("removes"), cwd),
    };
    let matches = what.command.is_some();
    answer(r, f, matches, Some(what))
}

fn read_exit(r: &mut Reader, f: &mut Fields<'_>) -> i32 {
    f.get("exit")
        .and_then(|n| r.int(n, 0, 255))
        .and_then(|code| i32::try_from(code).ok())
        .unwrap_or(0)
}

pub(super) fn read_user(r: &mut Reader, node: &Node) -> Option<Answer<UserAnswerSpec>> {
    let mut f = r.fields(node, &keys::USER)?;
    let matcher = read_matcher(r, &mut f);
    let says = f.get("answer").and_then(|n| {
        r.word(n, &keys::user_replies(), |word| match word {
            "allow" => Some(UserSays::Allow {
                updated_input: None,
            }),
            "always" => Some(UserSays::Always),
            "deny" => Some(UserSays::Deny { comment: None }),
            _ => None,
        })
    });
    let comment_at = f.get("comment");
    let comment = comment_at.and_then(|n| r.text(n));
    let input_at = f.get("updated_input");
    let updated_input = input_at.and_then(|n| r.object(n));
    if let (Some(node), false) = (
        comment_at,
        matches!(says, None | Some(UserSays::Deny { .. })),
    ) {
        r.complain(Complaint::error(
            &node.at,
            "a comment on what is allowed",
            "a comment only beside `answer: deny`",
        ));
    }
    if let (Some(node), false) = (
        input_at,
        matches!(says, None | Some(UserSays::Allow { .. })),
    ) {
        r.complain(Complaint::error(
            &node.at,
            "another input for what is not allowed this once",
            "`updated_input` only beside `answer: allow`",
        ));
    }
    let think_ms = f.ms(r, "think_ms").unwrap_or(0);
    let matches = !matcher.is_empty();
    let what = says.map(|reply| UserAnswerSpec {
        matcher,
        reply: match reply {
            UserSays::Allow { .. } => UserSays::Allow { updated_input },
            UserSays::Deny { .. } => UserSays::Deny { comment },
            UserSays::Always => UserSays::Always,
        },
        think_ms,
    });
    answer(r, f, matches, what)
}

pub(super) fn read_classifier(r: &mut Reader, node: &Node) -> Option<Answer<ClassifierAnswer>> {
    let mut f = r.fields(node, &keys::CLASSIFIER)?;
    let matcher = read_matcher(r, &mut f);
    let words = keys::verdicts();
    let said = f.get("verdict").and_then(|n| {
        r.word(n, &words, |word| {
            words
                .contains(&word)
                .then(|| Behavior::from_word(word))
                .flatten()
        })
    });
    let reason = f.text(r, "reason");
    let latency_ms = f.ms(r, "latency_ms").unwrap_or(0);
    let matches = !matcher.is_empty();
    let what = said.map(|verdict| ClassifierAnswer {
        matcher,
        verdict,
        reason,
        latency_ms,
    });
    answer(r, f, matches, what)
}

pub(super) fn read_hook(r: &mut Reader, node: &Node, cwd: &str) -> Option<Answer<HookAnswer>> {
    let mut f = r.fields(node, &keys::HOOK_ANSWER)?;
    let event = f.get("event").and_then(|n| Glob::read(r, n));
    let command = f.get("command").and_then(|n| Glob::read(r, n));
    let tool = f.get("tool").and_then(|n| Glob::read(r, n));
    f.only_one(r, &["cannot_start", "exit"], false);
    let cannot_start = f.bool(r, "cannot_start").unwrap_or(false);
    let code = read_exit(r, &mut f);
    let stdout = f.get("stdout").and_then(|n| match &n.data {
        Data::Map(_) => Some(n.to_json().to_string()),
        _ => r.text_as(n, "a text or an object"),
    });
    let stderr = f.text(r, "stderr");
    let what = HookAnswer {
        ends: if cannot_start {
            HookEnds::CannotStart
        } else {
            HookEnds::Exit {
                code,
                stdout: stdout.unwrap_or_default(),
                stderr: stderr.unwrap_or_default(),
            }
        },
        writes: read_written(r, f.get("writes"), cwd),
        latency_ms: f.ms(r, "latency_ms").unwrap_or(0),
        event,
        command,
        tool,
    };
    let matches = what.event.is_some() || what.command.is_some() || what.tool.is_some();
    answer(r, f, matches, Some(what))
}

pub(super) fn read_tool_answer(r: &mut Reader, node: &Node) -> Option<Answer<ToolAnswer>> {
    let mut f = r.fields(node, &keys::TOOL_ANSWER)?;
    let tool = f.get("tool").and_then(|n| Glob::read(r, n));
    let input = Glob::read_map(r, f.get("input"));
    f.only_one(r, &["returns", "fails"], true);
    let gives = read_gives(r, f.get("returns"), f.get("fails"));
    let latency_ms = f.ms(r, "latency_ms").unwrap_or(0);
    let matches = tool.is_some() || !input.is_empty();
    let what = gives.map(|gives| ToolAnswer {
        tool,
        input,
        gives,
        latency_ms,
    });
    answer(r, f, matches, what)
}

/// What a tool returns or how it fails; `None` if neither is told.
pub(super) fn read_gives(
    r: &mut Reader,
    returns: Option<&Node>,
    fails: Option<&Node>,
) -> Option<Gives> {
    if let Some(node) = fails {
        let mut f = r.fields(node, &keys::FAILS)?;
        let class = f.get("class").and_then(|n| read_failure_class(r, n));
        let text = f.text(r, "text").unwrap_or_default();
        f.done();
        return class.map(|class| Gives::Fails { class, text });
    }
    let node = returns?;
    match &node.data {
        Data::List(items) => Some(Gives::Blocks(
            items.iter().filter_map(|n| r.object(n)).collect(),
        )),
        _ => {
            let content = read_content(r, node)?;
            match String::from_utf8(content.bytes().to_vec()) {
                Ok(text) => Some(Gives::Text(text)),
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

/// Words that must be among a closed list of names, placed.
pub(super) fn placed(node: &Node, value: String) -> Placed<String> {
    Placed {
        value,
        at: node.at.clone(),
    }
}
