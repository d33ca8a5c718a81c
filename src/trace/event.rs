//! The events of a run, field by field in the order in which they are written.

use crate::words::{Behavior, Class, Flag, Lane, Layer, Step};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How fine a trace is: each level holds those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Calls,
    Steps,
    Ops,
}

/// One event with its place and its virtual time.
#[derive(Debug, Clone)]
pub struct Line {
    /// From 0, without gaps.
    pub seq: u64,
    /// Virtual milliseconds.
    pub at: u64,
    pub event: Event,
}

/// What happened.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// In a box, as hooks are: otherwise every event has room for it.
    RunStarted(Box<RunStarted>),
    Pool(Pool),
    Request(Request),
    Response(Response),
    Call(Call),
    Step(StepEvent),
    Hook(Box<Hook>),
    Decision(Decision),
    Prompt(Prompt),
    Progress(Progress),
    Op(OpEvent),
    Outside(Outside),
    Result(CallResult),
    Stop(Stop),
    Invariant(Invariant),
    RunFinished(RunFinished),
}

impl Event {
    /// The level at which the event appears.
    pub fn level(&self) -> Level {
        match self {
            Event::Op(_) => Level::Ops,
            Event::Pool(_)
            | Event::Step(_)
            | Event::Hook(_)
            | Event::Decision(_)
            | Event::Prompt(_)
            | Event::Progress(_) => Level::Steps,
            _ => Level::Calls,
        }
    }

    /// The event's name as it is written.
    pub fn name(&self) -> &'static str {
        match self {
            Event::RunStarted(_) => "run_started",
            Event::Pool(_) => "pool",
            Event::Request(_) => "request",
            Event::Response(_) => "response",
            Event::Call(_) => "call",
            Event::Step(_) => "step",
            Event::Hook(_) => "hook",
            Event::Decision(_) => "decision",
            Event::Prompt(_) => "prompt",
            Event::Progress(_) => "progress",
            Event::Op(_) => "op",
            Event::Outside(_) => "outside",
            Event::Result(_) => "result",
            Event::Stop(_) => "stop",
            Event::Invariant(_) => "invariant",
            Event::RunFinished(_) => "run_finished",
        }
    }

    /// The id of the call that the event belongs to. Of an operation it is the
    /// actor's id if the actor is no call.
    pub fn call(&self) -> Option<&str> {
        match self {
            Event::Call(e) => Some(&e.call),
            Event::Step(e) => Some(&e.call),
            Event::Hook(e) => e.call.as_deref(),
            Event::Decision(e) => Some(&e.call),
            Event::Prompt(e) => Some(&e.call),
            Event::Progress(e) => Some(&e.call),
            Event::Op(e) => Some(&e.by),
            Event::Result(e) => Some(&e.call),
            Event::Invariant(e) => e.call.as_deref(),
            Event::RunStarted(_)
            | Event::Pool(_)
            | Event::Request(_)
            | Event::Response(_)
            | Event::Outside(_)
            | Event::Stop(_)
            | Event::RunFinished(_) => None,
        }
    }

    /// The step that the event belongs to, if it can only belong to one.
    pub fn step(&self) -> Option<Step> {
        match self {
            Event::Step(e) => Some(e.step),
            Event::Decision(_) | Event::Prompt(_) => Some(Step::Permission),
            Event::Hook(e) if e.call.is_some() => match &*e.hook_event {
                "PreToolUse" => Some(Step::PreHook),
                "PermissionRequest" | "PermissionDenied" => Some(Step::Permission),
                "PostToolUse" | "PostToolUseFailure" => Some(Step::PostHook),
                _ => None,
            },
            Event::Progress(_) => Some(Step::Execute),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStarted {
    /// The trace format, 1.
    pub format: u32,
    pub rehearsal: String,
    pub profile: String,
    /// The overridden parameters, as `name=value`, sorted.
    pub semantics: Vec<String>,
    pub seed: u64,
    /// The schedule that was given, if one was.
    pub schedule: Option<String>,
    pub scenario: String,
    pub scenario_hash: String,
    /// What is wrong with settings files of which for that reason only what restricts is
    /// in force.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken_settings: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pool {
    /// `collect`, `filter` or `merge`.
    pub stage: String,
    #[serde(rename = "in")]
    pub before: u32,
    #[serde(rename = "out")]
    pub after: u32,
    pub removed: Vec<Removed>,
    /// The tools that are not offered by the name that they go by elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renamed: Vec<Renamed>,
    /// What the definitions of the tools cost, once all of them are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<PoolTokens>,
}

/// Estimated tokens of the definitions of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolTokens {
    /// Of those that every request holds.
    pub always: u64,
    /// Of those that requests would hold too if nothing were deferred.
    pub deferred: u64,
    /// Of what requests say of those in their place.
    pub listing: u64,
}

/// A tool of an MCP server whose name could not stay as it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Renamed {
    /// The name it is offered by.
    pub name: String,
    /// `mcp__{server}__{tool}`, as the server has them.
    pub from: String,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removed {
    pub name: String,
    pub why: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Request {
    pub turn: u32,
    /// The messages since the last request, as sent.
    pub appended: Vec<Arc<crate::wire::Message>>,
    pub tools_hash: String,
    pub prefix_stable: bool,
    pub tokens_estimate: u64,
    /// Of it, what the definitions of loaded tools cost where they stand in the tools block.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub loaded_tokens: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Response {
    pub turn: u32,
    pub content: Vec<crate::wire::Block>,
    pub stop_reason: String,
    pub usage: crate::wire::Usage,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Call {
    pub call: Arc<str>,
    pub turn: u32,
    pub tool: Arc<str>,
    pub lane: Lane,
    /// What the model emitted: JSON as it is, or a string if it does not parse.
    pub input: Arc<RawValue>,
}

/// How a step went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Pass,
    Stop,
    Rewrite,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepEvent {
    pub call: Arc<str>,
    pub step: Step,
    pub verdict: Verdict,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    pub queued_ms: u64,
    pub took_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hook {
    /// The call it ran for; absent for a hook of the session.
    pub call: Option<Arc<str>>,
    /// `PreToolUse`, `PostToolUse`, …
    #[serde(rename = "on")]
    pub hook_event: String,
    /// Source and index in the settings, and what it runs.
    pub handler: String,
    pub exit: Option<i32>,
    /// `none`, `allow`, `ask`, `deny`, `defer`, `block`, `timeout`, `cannot_start`, `garbage`, `failed`.
    pub verdict: String,
    /// Shown to the user, not to the model.
    pub notice: Option<String>,
    pub rewrite: bool,
    pub took_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub call: Arc<str>,
    pub behavior: Behavior,
    pub layer: Layer,
    pub reason: Cow<'static, str>,
    pub rule: Option<String>,
    pub source: Option<String>,
    pub index: Option<u32>,
    pub layers: Vec<LayerVerdict>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerVerdict {
    pub layer: Layer,
    /// `allow`, `ask`, `deny`, `none` or `not_reached`.
    pub verdict: Cow<'static, str>,
    pub why: Cow<'static, str>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    pub call: Arc<str>,
    pub question: String,
    pub answer: String,
    pub waited_ms: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Progress {
    pub call: Arc<str>,
    pub data: serde_json::Value,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpEvent {
    /// The call's id, or the actor's id if it is no call's.
    pub by: Arc<str>,
    /// From 0 within the actor.
    pub n: u32,
    pub resource: String,
    pub kind: Cow<'static, str>,
    pub result: Cow<'static, str>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outside {
    pub actor: String,
    pub change: String,
    /// The call and the step before which it happened, if that was its trigger.
    pub before: Option<(Arc<str>, Step)>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CallResult {
    pub call: Arc<str>,
    pub class: Class,
    pub flags: Vec<Flag>,
    pub is_error: bool,
    /// As it goes to the model: a string or an array of blocks.
    pub content: Arc<RawValue>,
    /// Of the full content, in the profile's unit.
    pub full_chars: u64,
    pub saved_to: Option<String>,
    /// The rank of this call among the run's completions, from 1.
    pub completed: u32,
    pub run_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    pub turn: u32,
    /// A stop reason of the API, or `max_turns`, `interrupted`, `hook_stopped`, `prompt_blocked`, `model_error`,
    /// `tool_deferred`.
    pub reason: String,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invariant {
    pub name: String,
    pub call: Option<Arc<str>>,
    pub what: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFinished {
    pub stop: String,
    pub turns: u32,
    pub calls: u32,
    pub makespan_ms: u64,
    pub world_hash: String,
    pub outcome_hash: String,
    pub stats: BTreeMap<String, ToolStats>,
}

/// How often a tool was called, how it failed, how long it ran (waiting not counted).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolStats {
    pub calls: u32,
    pub errors: BTreeMap<Class, u32>,
    pub run_ms: RunMs,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunMs {
    pub total: u64,
    pub p50: u64,
    pub p95: u64,
    pub max: u64,
}
