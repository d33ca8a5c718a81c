//! The fake model: it says what the script says, and sees what a model sees.

use super::hosted::Hosted;
use super::{
    ExpectRequest, ExpectResult, Fault, Model, ModelError, Request, Turn, When, class_of_result,
};
use crate::wire::{
    self, ApiError, Block, ErrorKind, Event, Response, Role, StopReason, ToolResult, Usage, stream,
};
use crate::words::Class;
use async_trait::async_trait;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The name the fake model gives for itself.
pub const SCRIPTED_MODEL: &str = "scripted";
/// Characters of a text or an input in one event of its stream.
const PIECE_CHARS: usize = 40;
/// Events that one long text or input makes, about; its pieces are longer then.
const PIECES_MAX: usize = 64;
/// What the error says if the script does not.
const SCRIPTED_ERROR: &str = "the script says so";

/// A model that follows a script.
///
/// Its work in a turn does not grow with the conversation: it looks at the messages
/// after its last answer. Only before its first answer does it look at all of them,
/// so that a session that is taken up again gets ids that are not in it yet.
pub struct Scripted {
    turns: VecDeque<Turn>,
    /// The turn that failed and is to be given now.
    again: Option<Turn>,
    /// The calls it made, by id.
    calls: BTreeMap<Arc<str>, Made>,
    /// How many calls it made since it began.
    numbered: u32,
    /// How many answers the conversation has; `None` before the first.
    responses: Option<u32>,
    /// The turns it passed over for the current request, and why.
    passed: Vec<String>,
    /// What runs the hosted tools, on this side of the request.
    hosted: Option<Hosted>,
}

/// A call that was made.
struct Made {
    /// From 1; `None` if it was made before the session was taken up.
    number: Option<u32>,
    tool: Arc<str>,
}

impl Scripted {
    pub fn new(turns: Vec<Turn>) -> Scripted {
        Scripted {
            turns: turns.into(),
            again: None,
            calls: BTreeMap::new(),
            numbered: 0,
            responses: None,
            passed: Vec::new(),
            hosted: None,
        }
    }

    /// The same model with tools that it uses by itself.
    pub fn with_hosted(self, hosted: Hosted) -> Scripted {
        Scripted {
            hosted: Some(hosted),
            ..self
        }
    }

    /// Puts what hosted tools did in the place of their uses, once: the turn may be given
    /// again. Results that the last response left open come before everything else.
    fn use_hosted(
        &mut self,
        turn: &mut Turn,
        number: u32,
        request: &Request<'_>,
    ) -> Result<(), ModelError> {
        let calls = std::mem::take(&mut turn.hosted);
        let Some(hosted) = &mut self.hosted else {
            return match calls.first() {
                None => Ok(()),
                Some(call) => Err(ModelError::Script(format!(
                    "{} uses {}, and this run has no hosted tools: list it under `hosted:`",
                    turn.label, call.tool
                ))),
            };
        };
        let late = hosted.late(request).map_err(ModelError::Script)?;
        turn.late
            .extend(late.iter().map(|block| block.raw().clone()));
        let uses = hosted
            .uses(&calls, number, request)
            .map_err(ModelError::Script)?;
        turn.blocks
            .extend(uses.iter().map(|block| block.raw().clone()));
        Ok(())
    }

    /// The turns that were never taken and hang on nothing.
    pub fn leftover(&self) -> Vec<String> {
        let waiting = self.turns.iter().filter(|turn| turn.when.is_none());
        let mut left: Vec<String> = waiting.map(|turn| turn.label.clone()).collect();
        left.extend(self.hosted.iter().flat_map(Hosted::left));
        left
    }

    /// Looks at what was said before the script began.
    fn begin(&mut self, request: &Request<'_>) -> u32 {
        if let Some(responses) = self.responses {
            return responses;
        }
        let mut responses = 0;
        for message in request.messages {
            responses += u32::from(message.role == Role::Assistant);
            for call in message.tool_uses() {
                let made = Made {
                    number: None,
                    tool: call.name.clone(),
                };
                self.calls.insert(call.id.clone(), made);
            }
        }
        self.responses = Some(responses);
        responses
    }

    /// The turn that this request gets: the next one whose condition holds.
    fn take(&mut self, request: &Request<'_>) -> Result<Turn, ModelError> {
        if let Some(turn) = self.again.take() {
            return Ok(turn);
        }
        let results = last_results(request);
        self.passed.clear();
        while let Some(mut turn) = self.turns.pop_front() {
            loop {
                match &turn.when {
                    Some(when) if !self.holds(when, &results) => {
                        let otherwise = turn.otherwise.take();
                        match otherwise {
                            Some(otherwise) => turn = *otherwise,
                            None => break,
                        }
                    }
                    _ => return Ok(turn),
                }
            }
            self.passed.push(turn.label);
        }
        Err(ModelError::Script(self.end_of_script(request, &results)))
    }

    fn end_of_script(&self, request: &Request<'_>, results: &[&ToolResult]) -> String {
        let mut what = format!(
            "the script has no turn left for request {}: end it with a turn that makes no calls",
            request.turn
        );
        if !self.passed.is_empty() {
            let results: Vec<String> = results
                .iter()
                .map(|result| {
                    let class = class_of_result(result).map_or("no class", Class::as_str);
                    format!("{} {class}", result.tool_use_id)
                })
                .collect();
            what.push_str(&format!(
                ". Passed over, because `when` did not hold: {}; the results were: {}",
                self.passed.join(", "),
                if results.is_empty() {
                    "none".to_owned()
                } else {
                    results.join(", ")
                }
            ));
        }
        what
    }

    fn holds(&self, when: &When, results: &[&ToolResult]) -> bool {
        results.iter().any(|result| {
            let call = self.calls.get(&result.tool_use_id);
            let named = |name: &String| {
                **name == *result.tool_use_id
                    || call
                        .and_then(|made| made.number)
                        .is_some_and(|number| name.parse() == Ok(number))
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
                    .is_none_or(|tool| call.is_some_and(|made| tool.matches(&made.tool)))
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
            match results.iter().find(|result| self.holds(&one, &[result])) {
                Some(result) => demand_of_result(call, expected, result, &mut wrong),
                None => wrong.push(format!(
                    "expected a result of {call} in the last message, found none"
                )),
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

    /// Remembers what was said, now that it was heard.
    fn remember(&mut self, response: &Response) {
        self.responses = self.responses.map(|responses| responses + 1);
        for call in response.tool_uses() {
            self.numbered += 1;
            let made = Made {
                number: Some(self.numbered),
                tool: call.name.clone(),
            };
            self.calls.entry(call.id.clone()).or_insert(made);
        }
    }
}

/// The response that a turn is; `number` counts the answers of a conversation from 1.
fn response(turn: &Turn, number: u32, request: &Request<'_>) -> Response {
    let mut content: Vec<Block> = turn
        .late
        .iter()
        .map(|raw| Block::from_raw(raw.clone()))
        .collect();
    content.extend(
        turn.thinking
            .as_deref()
            .map(|thinking| Block::thinking(thinking, "scripted")),
    );
    content.extend(turn.say.iter().map(|text| Block::text(text.as_str())));
    content.extend(turn.blocks.iter().map(|raw| Block::from_raw(raw.clone())));
    for (place, call) in turn.calls.iter().enumerate() {
        let id = call
            .id
            .clone()
            .unwrap_or_else(|| format!("toolu_{number:04}_{}", place + 1));
        content.push(Block::tool_use(id, call.tool.as_str(), &call.input));
    }
    let default = if content.iter().any(|block| block.as_tool_use().is_some()) {
        StopReason::ToolUse
    } else {
        StopReason::EndTurn
    };
    let output = content
        .iter()
        .map(|block| wire::estimate_tokens(block.raw().get()))
        .sum();
    Response {
        id: format!("msg_{number:04}"),
        model: SCRIPTED_MODEL.to_owned(),
        content,
        stop_reason: turn.stop.clone().unwrap_or(default),
        usage: turn
            .usage
            .clone()
            .unwrap_or_else(|| Usage::new(request.tokens_estimate, output)),
        ..Response::default()
    }
}

/// The events of a response, in pieces that stay few.
fn events(response: &Response) -> Vec<Event> {
    let longest = response.content.iter().map(|block| block.raw().get().len());
    let longest = longest.max().unwrap_or(0);
    wire::unfold(response, PIECE_CHARS.max(longest / PIECES_MAX))
}

fn demand_of_result(
    call: &str,
    expected: &ExpectResult,
    result: &ToolResult,
    wrong: &mut Vec<String>,
) {
    let is_error = result.is_error;
    if expected.is_error.is_some_and(|wanted| wanted != is_error) {
        wrong.push(format!(
            "{call}: expected is_error {}, found {is_error}",
            !is_error
        ));
    }
    let class = class_of_result(result);
    if expected.class.is_some() && expected.class != class {
        let found = class.map_or("none", Class::as_str);
        let wanted = expected.class.map_or("none", Class::as_str);
        wrong.push(format!("{call}: expected class {wanted}, found {found}"));
    }
    let text = result.content.text();
    for part in &expected.contains {
        if !text.contains(part.as_str()) {
            wrong.push(format!(
                "{call}: expected {part:?} in the result, found {text:?}"
            ));
        }
    }
}

#[async_trait]
impl Model for Scripted {
    /// Answers as the API does, as a stream of events, and puts it together again.
    async fn respond(&mut self, request: &Request<'_>) -> Result<Response, ModelError> {
        let number = self.begin(request) + 1;
        let mut turn = self.take(request)?;
        self.use_hosted(&mut turn, number, request)?;
        if let Some(expect) = turn.expect_request.take() {
            self.demand(&turn.label, &expect, request)?;
        }
        let fault = turn.fault.take();
        let mut events = events(&response(&turn, number, request));
        match fault {
            None => {}
            Some(Fault::Api {
                status,
                kind,
                message,
                retry_after_s,
            }) => {
                self.again = Some(turn);
                let kind = kind.unwrap_or_else(|| ErrorKind::of_status(status).as_str().to_owned());
                return Err(ModelError::Api {
                    status,
                    kind,
                    message: message.unwrap_or_else(|| SCRIPTED_ERROR.to_owned()),
                    retry_after_s,
                });
            }
            Some(Fault::Cut { after_events }) => events.truncate(after_events),
            Some(Fault::ErrorEvent { after_events, kind }) => {
                events.truncate(after_events);
                events.push(Event::error(&ApiError::new(kind, SCRIPTED_ERROR)));
            }
            Some(Fault::Garbage { text }) => {
                self.again = Some(turn);
                let events = stream::decode(text.as_bytes());
                if events.is_empty() {
                    return Err(ModelError::Garbage(text));
                }
                return hear(&events);
            }
        }
        let heard = hear(&events);
        match &heard {
            Ok(response) => self.remember(response),
            Err(_) => self.again = Some(turn),
        }
        heard
    }
}

/// Puts together what a client hears of the events.
fn hear(events: &[Event]) -> Result<Response, ModelError> {
    let folded = wire::fold(events.iter().cloned());
    if !folded.begun && folded.leftover.len() == folded.events && folded.events > 0 {
        let first = folded.leftover.first().map(|event| event.data.to_string());
        return Err(ModelError::Garbage(first.unwrap_or_default()));
    }
    let error = match folded.end {
        wire::fold::End::Complete => return Ok(folded.response),
        wire::fold::End::Cut => None,
        wire::fold::End::Error(error) => Some(error.kind.as_str().to_owned()),
    };
    Err(ModelError::Cut {
        events: folded.events,
        partial: Box::new(folded.response),
        error,
    })
}

/// The results that came since the last answer.
fn last_results<'a>(request: &Request<'a>) -> Vec<&'a ToolResult> {
    let since = request
        .messages
        .iter()
        .rposition(|message| message.role == Role::Assistant)
        .map_or(0, |at| at + 1);
    let messages = request.messages.get(since..).unwrap_or_default();
    messages
        .iter()
        .filter(|message| message.role == Role::User)
        .flat_map(|message| message.content.iter())
        .filter_map(Block::as_tool_result)
        .collect()
}
