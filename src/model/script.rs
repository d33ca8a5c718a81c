//! What a scripted model will say.

use super::hosted::HostedCall;
use crate::wire::{ErrorKind, StopReason, Usage};
use crate::words::Class;
use crate::world::Pattern;
use serde_json::value::RawValue;
use std::sync::Arc;

/// One response, and when it is given.
///
/// A turn whose `when` does not hold gives way to `otherwise`, which may have a `when`
/// of its own, and so on; where none is left, the script goes on to its next turn
/// within the same request. A turn that was passed over does not come back, and is
/// not missed at the end.
#[derive(Debug, Clone, Default)]
pub struct Turn {
    /// What complaints call it, such as its line in the scenario.
    pub label: String,
    /// Without it, the turn is taken in its place; with it, only if it holds.
    pub when: Option<When>,
    /// Taken in place of this turn if `when` does not hold; else the turn is passed over.
    pub otherwise: Option<Box<Turn>>,
    pub thinking: Option<String>,
    pub say: Vec<String>,
    /// Content blocks as they are, after what is said.
    pub blocks: Vec<Arc<RawValue>>,
    /// Results that the last response left open: before everything else.
    pub late: Vec<Arc<RawValue>>,
    /// Uses of tools that the vendor hosts, after those blocks.
    pub hosted: Vec<HostedCall>,
    pub calls: Vec<ScriptedCall>,
    /// By default `tool_use` if there are calls, else `end_turn`.
    pub stop: Option<StopReason>,
    /// By default an estimate of the request and of the response.
    pub usage: Option<Usage>,
    pub expect_request: Option<ExpectRequest>,
    /// How the API fails once before it gives the turn to the request that comes again.
    pub fault: Option<Fault>,
}

/// One `tool_use` of a turn.
#[derive(Debug, Clone)]
pub struct ScriptedCall {
    pub tool: String,
    /// By default made of the turn and the place.
    pub id: Option<String>,
    /// The text of the input; it may be no JSON.
    pub input: String,
}

/// What a turn hangs on: the outcome of an earlier call, never its text.
#[derive(Debug, Clone, Default)]
pub struct When {
    /// A call's id, or its number as text; without, any result of the last message.
    pub result: Option<String>,
    pub class: Option<Class>,
    /// Over the name of the tool.
    pub tool: Option<Pattern>,
    pub is_error: Option<bool>,
}

/// What a turn demands of the request that it answers.
#[derive(Debug, Clone, Default)]
pub struct ExpectRequest {
    /// Tools that must be in the tools block.
    pub tools: Vec<String>,
    /// Tools that must not.
    pub without_tools: Vec<String>,
    pub messages: Option<u64>,
    /// By call id or number.
    pub results: Vec<(String, ExpectResult)>,
}

/// What a result in the last message must be.
#[derive(Debug, Clone, Default)]
pub struct ExpectResult {
    pub is_error: Option<bool>,
    pub class: Option<Class>,
    pub contains: Vec<String>,
}

/// How the API fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    Api {
        status: u16,
        /// By default the one that belongs to the status.
        kind: Option<String>,
        message: Option<String>,
        retry_after_s: Option<u64>,
    },
    /// The stream breaks off after so many events. No fault if it has no more.
    Cut { after_events: usize },
    /// An error event ends the stream after so many events.
    ErrorEvent {
        after_events: usize,
        kind: ErrorKind,
    },
    /// The answer is this text, which is no stream of a message.
    Garbage { text: String },
}
