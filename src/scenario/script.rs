//! What the model will say: the turns of a scenario.

use super::answers::read_pattern;
use super::complaint::{Complaint, Place};
use super::fields::{MAX_INT, Placed, Reader, bad_form};
use super::hosted_spec::read_uses;
use super::keys_script as keys;
use super::node::{Data, Node, ticked};
use crate::model;
use crate::model::hosted::HostedCall;
use crate::wire::{StopReason, raw};
use crate::words::{Class, Step};
use crate::world::Pattern;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// One response of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    pub at: Place,
    /// Taken if so; otherwise `otherwise` is, or the turn is passed over.
    pub when: Option<When>,
    /// Comes before everything else.
    pub thinking: Option<String>,
    /// Texts, each a block of its own.
    pub say: Vec<String>,
    /// Content blocks as the API gives them, between the texts and the calls.
    pub blocks: Vec<Value>,
    /// Uses of hosted tools, before the calls.
    pub hosted: Vec<HostedCall>,
    pub calls: Vec<ScriptedCall>,
    /// `tool_use` if there are calls, else `end_turn`.
    pub stop: Option<StopReason>,
    pub otherwise: Option<Box<Turn>>,
    pub expect_request: Option<ExpectRequest>,
    pub fault: Option<model::Fault>,
}

/// One `tool_use` of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptedCall {
    pub at: Place,
    pub tool: String,
    pub id: Option<String>,
    pub input: Value,
    /// What the model emitted in place of `input`'s JSON.
    pub raw_input: Option<String>,
}

/// A condition on a result of the request. What is `None` is not looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct When {
    /// A call's id or number; any result of the last message if not given.
    pub result: Option<Placed<String>>,
    pub class: Option<Class>,
    pub tool: Option<Pattern>,
    pub is_error: Option<bool>,
}

/// What a turn demands of the request that it answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExpectRequest {
    pub tools: Vec<String>,
    pub without_tools: Vec<String>,
    pub messages: Option<u64>,
    /// By a call's id or number.
    pub results: BTreeMap<String, RequestResult>,
}

/// What a result in a request must be.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestResult {
    pub is_error: Option<bool>,
    pub class: Option<Class>,
    pub contains: Vec<String>,
}

impl Turn {
    /// The turn as the scripted model takes it; `label` is what complaints call it.
    pub fn to_model(&self, label: &str) -> model::Turn {
        model::Turn {
            label: label.to_owned(),
            when: self.when.as_ref().map(|when| model::When {
                result: when.result.as_ref().map(|key| key.value.clone()),
                class: when.class,
                tool: when.tool.clone(),
                is_error: when.is_error,
            }),
            otherwise: self
                .otherwise
                .as_ref()
                .map(|turn| Box::new(turn.to_model(label))),
            thinking: self.thinking.clone(),
            say: self.say.clone(),
            blocks: self.blocks.iter().map(raw::of).collect(),
            late: Vec::new(),
            hosted: self.hosted.clone(),
            calls: self.calls.iter().map(ScriptedCall::to_model).collect(),
            stop: self.stop.clone(),
            expect_request: self.expect_request.as_ref().map(ExpectRequest::to_model),
            fault: self.fault.clone(),
            usage: None,
        }
    }
}

impl ScriptedCall {
    fn to_model(&self) -> model::ScriptedCall {
        model::ScriptedCall {
            tool: self.tool.clone(),
            id: self.id.clone(),
            input: match &self.raw_input {
                Some(text) => text.clone(),
                None => self.input.to_string(),
            },
        }
    }
}

impl ExpectRequest {
    fn to_model(&self) -> model::ExpectRequest {
        let result = |(key, result): (&String, &RequestResult)| {
            let result = model::ExpectResult {
                is_error: result.is_error,
                class: result.class,
                contains: result.contains.clone(),
            };
            (key.clone(), result)
        };
        model::ExpectRequest {
            tools: self.tools.clone(),
            without_tools: self.without_tools.clone(),
            messages: self.messages,
            results: self.results.iter().map(result).collect(),
        }
    }
}

/// A step of a call's life: `(call, step)`, the call by id or number.
pub(super) fn read_moment(r: &mut Reader, node: &Node) -> Option<(Placed<String>, Step)> {
    let mut f = r.fields(node, &keys::MOMENT)?;
    let call = f.get("call").and_then(|n| read_call_key(r, n));
    let step = f.get("step").and_then(|n| read_step(r, n));
    f.done();
    Some((call?, step?))
}

/// The id or number of a call that the script must make.
pub(super) fn read_call_key(r: &mut Reader, node: &Node) -> Option<Placed<String>> {
    let key = Placed {
        value: r.scalar(node)?,
        at: node.at.clone(),
    };
    r.calls.push(key.clone());
    Some(key)
}

pub(super) fn read_step(r: &mut Reader, node: &Node) -> Option<Step> {
    r.word(node, &super::keys::steps(), Step::from_word)
}

pub(super) fn read_class(r: &mut Reader, node: &Node) -> Option<Class> {
    r.word(node, &super::keys::classes(), Class::from_word)
}

pub(super) fn read_texts(r: &mut Reader, node: Option<&Node>) -> Vec<String> {
    node.map(|n| r.one_or_many(n).iter().filter_map(|n| r.text(n)).collect())
        .unwrap_or_default()
}

pub(super) fn read_turn(r: &mut Reader, node: &Node) -> Option<Turn> {
    let mut f = r.fields(node, &keys::TURN)?;
    let when_at = f.get("when");
    let when = when_at.and_then(|n| read_when(r, n));
    let thinking = f.text(r, "thinking");
    let say = read_texts(r, f.get("say"));
    let blocks = f
        .get("blocks")
        .and_then(|n| r.list(n, "content blocks"))
        .unwrap_or_default()
        .iter()
        .filter_map(|n| r.object(n))
        .collect();
    let hosted = read_uses(r, f.get("hosted"));
    let calls = f
        .get("calls")
        .and_then(|n| r.list(n, "calls"))
        .unwrap_or_default()
        .iter()
        .filter_map(|n| read_call(r, n))
        .collect();
    let stop = f.get("stop").and_then(|n| {
        r.word(n, &keys::stop_reasons(), |word| {
            keys::stop_reasons()
                .contains(&word)
                .then(|| StopReason::from_word(word))
        })
    });
    let otherwise = f.entry("else").and_then(|entry| {
        if when_at.is_none() {
            r.complain(Complaint::error(
                &entry.key_at,
                "`else` without `when`",
                "a condition that may not be so",
            ));
        }
        read_turn(r, &entry.value)
    });
    let expect_request = f
        .get("expect_request")
        .and_then(|n| read_expect_request(r, n));
    let fault = f.get("fault").and_then(|n| read_fault(r, n));
    f.done();
    Some(Turn {
        at: node.at.clone(),
        when,
        thinking,
        say,
        blocks,
        hosted,
        calls,
        stop,
        otherwise: otherwise.map(Box::new),
        expect_request,
        fault,
    })
}

/// `{tool, id, input, raw_input}`, or the short form `{Tool: {input}}`.
fn read_call(r: &mut Reader, node: &Node) -> Option<ScriptedCall> {
    if let Data::Map(entries) = &node.data
        && let [entry] = entries.as_slice()
        && keys::CALL.key(&entry.key).is_none()
    {
        return Some(ScriptedCall {
            at: entry.key_at.clone(),
            tool: entry.key.clone(),
            id: None,
            input: if entry.value.is_null() {
                Value::Object(Map::new())
            } else {
                entry.value.to_json()
            },
            raw_input: None,
        });
    }
    if let Data::Map(entries) = &node.data
        && node.get("tool").is_none()
        && let Some(tool) = entries.iter().find(|e| keys::CALL.key(&e.key).is_none())
    {
        r.complain(
            Complaint::error(
                &tool.key_at,
                format!("{} among other keys", ticked(&tool.key)),
                "one key, the tool, or `tool` with `id`, `input`, `raw_input`",
            )
            .hint(format!("write {{tool: {}, id: …, input: {{…}}}}", tool.key)),
        );
        return None;
    }
    let mut f = r.fields(node, &keys::CALL)?;
    let tool = f.text(r, "tool");
    let id = f.get("id").and_then(|n| read_id(r, n));
    let input = f.get("input").map(Node::to_json);
    let raw_input = f.text(r, "raw_input");
    f.only_one(r, &["input", "raw_input"], false);
    f.done();
    Some(ScriptedCall {
        at: node.at.clone(),
        tool: tool?,
        id,
        input: input.unwrap_or_else(|| Value::Object(Map::new())),
        raw_input,
    })
}

fn read_id(r: &mut Reader, node: &Node) -> Option<String> {
    let id = r.text_as(node, "an id as a text")?;
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if id.is_empty() || !id.chars().all(allowed) {
        bad_form(r, node, &id, "letters, digits, `_` and `-`", "");
        return None;
    }
    if id.bytes().all(|b| b.is_ascii_digit()) {
        bad_form(
            r,
            node,
            &id,
            "an id that is no number",
            "numbers name calls by their order",
        );
        return None;
    }
    Some(id)
}

fn read_when(r: &mut Reader, node: &Node) -> Option<When> {
    let mut f = r.fields(node, &keys::WHEN)?;
    let result = f.get("result").and_then(|n| read_call_key(r, n));
    let class = f.get("class").and_then(|n| read_class(r, n));
    let tool = f.get("tool").and_then(|n| read_pattern(r, n));
    let is_error = f.bool(r, "is_error");
    if class.is_none() && tool.is_none() && is_error.is_none() && f.get("class").is_none() {
        r.complain(
            Complaint::error(
                &f.at,
                "a condition that says nothing of the result",
                "`class`, `tool` or `is_error`",
            )
            .hint("the script chooses by class or tool, never by text"),
        );
    }
    f.done();
    Some(When {
        result,
        class,
        tool,
        is_error,
    })
}

fn read_expect_request(r: &mut Reader, node: &Node) -> Option<ExpectRequest> {
    let mut f = r.fields(node, &keys::EXPECT_REQUEST)?;
    let mut names = |r: &mut Reader, name| -> Vec<String> {
        f.get(name)
            .and_then(|n| r.list(n, "tool names"))
            .unwrap_or_default()
            .iter()
            .filter_map(|n| r.text(n))
            .collect()
    };
    let tools = names(r, "tools");
    let without_tools = names(r, "without_tools");
    let messages = f.get("messages").and_then(|n| r.int(n, 1, MAX_INT));
    let mut results = BTreeMap::new();
    if let Some(node) = f.get("results") {
        for entry in r.map(node, "calls and their results").unwrap_or_default() {
            let Some(mut f) = r.fields(&entry.value, &keys::REQUEST_RESULT) else {
                continue;
            };
            r.calls.push(Placed {
                value: entry.key.clone(),
                at: entry.key_at.clone(),
            });
            let result = RequestResult {
                is_error: f.bool(r, "is_error"),
                class: f.get("class").and_then(|n| read_class(r, n)),
                contains: read_texts(r, f.get("contains")),
            };
            f.done();
            results.insert(entry.key.clone(), result);
        }
    }
    f.done();
    Some(ExpectRequest {
        tools,
        without_tools,
        messages,
        results,
    })
}

fn read_fault(r: &mut Reader, node: &Node) -> Option<model::Fault> {
    if !matches!(node.data, Data::Map(_)) {
        let status = r.word(node, &keys::fault_names(), |word| {
            keys::NAMED_FAULTS
                .iter()
                .find(|(name, _)| *name == word)
                .map(|(_, status)| *status)
        })?;
        return Some(model::Fault::Api {
            status,
            kind: None,
            message: None,
            retry_after_s: None,
        });
    }
    let mut f = r.fields(node, &keys::FAULT)?;
    f.only_one(r, &["status", "cut_after_events"], true);
    let status = f.get("status").and_then(|n| r.int(n, 400, 599));
    let kind = f.text(r, "kind");
    let message = f.text(r, "message");
    let retry_after_s = f.get("retry_after_s").and_then(|n| r.int(n, 0, 86_400));
    let cut = f.get("cut_after_events").and_then(|n| r.int(n, 0, MAX_INT));
    f.done();
    match (status.and_then(|s| u16::try_from(s).ok()), cut) {
        (Some(status), _) => Some(model::Fault::Api {
            status,
            kind,
            message,
            retry_after_s,
        }),
        (None, Some(after_events)) => Some(model::Fault::Cut {
            after_events: usize::try_from(after_events).unwrap_or(usize::MAX),
        }),
        (None, None) => None,
    }
}
