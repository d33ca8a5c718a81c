//! The fake model: it says what the script says, and sees what a model sees.

use super::{
    ExpectRequest, Fault, Model, ModelError, Request, ScriptedCall, Turn, When, class_of_result,
};
use crate::wire::{self, ApiError, Block, ErrorKind, Response, StopReason, ToolResult, Usage};
use crate::words::Class;
use async_trait::async_trait;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The name the fake model gives for itself.
pub const SCRIPTED_MODEL: &str = "scripted";
/// Characters of a text or an input in one event of its stream.
const PIECE_CHARS: usize = 40;

/// A model that follows a script. Its work in a turn does not grow with the conversation.
pub struct Scripted {
    turns: VecDeque<Turn>,
    /// The turn that failed and is to be given now.
    again: Option<Turn>,
    /// The calls it made, by id: number and tool.
    calls: BTreeMap<Arc<str>, (u32, String)>,
    responses: u32,
}

impl Scripted {
    pub fn new(turns: Vec<Turn>) -> Scripted {
        Scripted {
            turns: turns.into(),
            again: None,
            calls: BTreeMap::new(),
            responses: 0,
        }
    }

    /// The turns that were never taken and hang on nothing.
    pub fn leftover(&self) -> Vec<String> {
        let waiting = self.turns.iter().filter(|turn| turn.when.is_none());
        waiting.map(|turn| turn.label.clone()).collect()
    }

    /// The turn that this request gets: the next one whose condition holds.
    fn take(&mut self, request: &Request<'_>) -> Result<Turn, ModelError> {
        if let Some(turn) = self.again.take() {
            return Ok(turn);
        }
        let results = last_results(request);
        while let Some(mut turn) = self.turns.pop_front() {
            loop {
                match &turn.when {
                    Some(when) if !self.holds(when, &results) => match turn.otherwise.take() {
                        Some(otherwise) => turn = *otherwise,
                        None => break,
                    },
                    _ => return Ok(turn),
                }
            }
        }
        Err(ModelError::Script(format!(
            "the script has no turn left for request {}: end it with a turn that makes no calls",
            request.turn
        )))
    }

    fn holds(&self, when: &When, results: &[&ToolResult]) -> bool {
        results.iter().any(|result| {
            let call = self.calls.get(&result.tool_use_id);
            let named = |name: &String| {
                **name == *result.tool_use_id
                    || call.is_some_and(|(number, _)| name.parse() == Ok(*number))
            };
            when.result.as_ref().is_none_or(named)
                && when
                    .class
                    .is_none_or(|class| class_of_result(result) == Some(class))
                && when
                    .is_error
                    .is_none_or(|is_error| is_error == result.is_error)
                && when
                    .tool
                    .as_ref()
                    .is_none_or(|tool| call.is_some_and(|(_, name)| tool.matches(name)))
        })
    }

    /// Fails the run if the request is not what the turn demands.
    fn demand(
        &self,
        label: &str,
        expect: &ExpectRequest,
        request: &Request<'_>,
    ) -> Result<(), ModelError> {
        let mut wrong = Vec::new();
        let has = |name: &String| request.tools.iter().any(|tool| tool.name == *name);
        for name in expect.tools.iter().filter(|name| !has(name)) {
            wrong.push(format!(
                "expected the tool {name}, found it nowhere in the tools block"
            ));
        }
        for name in expect.without_tools.iter().filter(|name| has(name)) {
            wrong.push(format!(
                "expected no tool {name}, found it in the tools block"
            ));
        }
        let found = request.messages.len() as u64;
        if let Some(messages) = expect.messages.filter(|messages| *messages != found) {
            wrong.push(format!("expected {messages} messages, found {found}"));
        }
        let results = last_results(request);
        for (call, expected) in &expect.results {
            let one = When {
                result: Some(call.clone()),
                ..When::default()
            };
            let Some(result) = results.iter().find(|result| self.holds(&one, &[result])) else {
                wrong.push(format!(
                    "expected a result of {call} in the last message, found none"
                ));
                continue;
            };
            if expected
                .is_error
                .is_some_and(|is_error| is_error != result.is_error)
            {
                wrong.push(format!(
                    "{call}: expected is_error {}, found {}",
                    !result.is_error, result.is_error
                ));
            }
            let class = class_of_result(result);
            if expected.class.is_some() && expected.class != class {
                let found = class.map_or("none", Class::as_str);
                let expected = expected.class.map_or("none", Class::as_str);
                wrong.push(format!("{call}: expected class {expected}, found {found}"));
            }
            let text = result.content.text();
            for part in expected
                .contains
                .iter()
                .filter(|part| !text.contains(part.as_str()))
            {
                wrong.push(format!(
                    "{call}: expected {part:?} in the result, found {text:?}"
                ));
            }
        }
        if wrong.is_empty() {
            return Ok(());
        }
        let turn = request.turn;
        Err(ModelError::Script(format!(
            "request {turn} is not what {label} demands: {}",
            wrong.join("; ")
        )))
    }

    /// The response that a turn is.
    fn response(&mut self, turn: &Turn, request: &Request<'_>) -> Response {
        self.responses += 1;
        let mut content = Vec::new();
        content.extend(
            turn.thinking
                .as_deref()
                .map(|thinking| Block::thinking(thinking, "scripted")),
        );
        content.extend(turn.say.iter().map(|text| Block::text(text.as_str())));
        content.extend(turn.blocks.iter().map(|raw| Block::from_raw(raw.clone())));
        for (place, call) in turn.calls.iter().enumerate() {
            content.push(self.call(call, place));
        }
        let default = if turn.calls.is_empty() {
            StopReason::EndTurn
        } else {
            StopReason::ToolUse
        };
        let output = content
            .iter()
            .map(|block| wire::estimate_tokens(block.raw().get()))
            .sum();
        Response {
            id: format!("msg_{:04}", self.responses),
            model: SCRIPTED_MODEL.to_owned(),
            content,
            stop_reason: turn.stop.clone().unwrap_or(default),
            usage: Usage::new(request.tokens_estimate, output),
            ..Response::default()
        }
    }

    fn call(&mut self, call: &ScriptedCall, place: usize) -> Block {
        let id: Arc<str> = match &call.id {
            Some(id) => id.as_str().into(),
            None => format!("toolu_{:04}_{}", self.responses, place + 1).into(),
        };
        let number = self.calls.len() as u32 + 1;
        self.calls
            .entry(id.clone())
            .or_insert((number, call.tool.clone()));
        Block::tool_use(id, call.tool.as_str(), &call.input)
    }
}

#[async_trait]
impl Model for Scripted {
    /// Answers as the API does, as a stream of events, and puts it together again.
    async fn respond(&mut self, request: &Request<'_>) -> Result<Response, ModelError> {
        let mut turn = self.take(request)?;
        if let Some(expect) = turn.expect_request.take() {
            self.demand(&turn.label, &expect, request)?;
        }
        let fault = turn.fault.take();
        match fault {
            Some(Fault::Api {
                status,
                kind,
                message,
                retry_after_s,
            }) => {
                self.again = Some(turn);
                let kind = kind.unwrap_or_else(|| ErrorKind::of_status(status).as_str().to_owned());
                let message =
                    message.unwrap_or_else(|| ApiError::of_status(status, "scripted").message);
                Err(ModelError::Api {
                    status,
                    kind,
                    message,
                    retry_after_s,
                })
            }
            Some(Fault::Cut { after_events }) => {
                let (responses, calls) = (self.responses, self.calls.clone());
                let events = wire::unfold(&self.response(&turn, request), PIECE_CHARS);
                // What was cut was never said: the next attempt begins anew.
                (self.responses, self.calls) = (responses, calls);
                self.again = Some(turn);
                let kept: Vec<_> = events.into_iter().take(after_events).collect();
                let events = kept.len();
                let partial = Box::new(
                    wire::fold(wire::stream::decode(&wire::stream::encode(&kept))).response,
                );
                Err(ModelError::Cut {
                    events,
                    partial,
                    error: None,
                })
            }
            None => {
                let response = self.response(&turn, request);
                let events = wire::unfold(&response, PIECE_CHARS);
                Ok(wire::fold(events).response)
            }
        }
    }
}

/// The results of the last message, if it has any.
fn last_results<'a>(request: &Request<'a>) -> Vec<&'a ToolResult> {
    let last = request
        .messages
        .last()
        .map(|message| message.content.iter());
    last.into_iter()
        .flatten()
        .filter_map(Block::as_tool_result)
        .collect()
}
