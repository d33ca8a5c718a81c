//! One agent, turn by turn.

use super::hosted;
use super::prefix::Prefix;
use super::{Conversation, retry, session};
use crate::hooks::HookEvent;
use crate::model::{Model, ModelError, Request};
use crate::pipeline::{Finished, batch_fact, outside_event};
use crate::profile::{CutCall, LoadedSchema, LoadedToolsLast, PauseTurn, ResultOrder};
use crate::schedule::{Asked, Batch, Done, DoneCall, Paid, result_event};
use crate::sim::ActorId;
use crate::trace::{self, Event, TraceBuilder};
use crate::wire::{self, Block, Message, Response, StopReason, ToolDef};
use crate::words::CallId;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What an agent is given besides its model and its tools.
#[derive(Debug, Clone)]
pub struct AgentOptions {
    pub system: String,
    /// What the user says; each but the first when the agent has stopped.
    pub prompts: Vec<String>,
    pub max_turns: u32,
    /// Virtual milliseconds that the model takes for a response.
    pub model_latency_ms: u64,
    /// The messages of the session so far, if one is taken up again.
    pub history: Vec<Arc<Message>>,
}

/// How a session ended.
#[derive(Debug)]
pub struct Ended {
    /// A stop reason of the API, or `max_turns`, `interrupted`, `hook_stopped`,
    /// `prompt_blocked`, `tool_deferred`, `model_error`.
    pub stop: String,
    pub why: String,
    pub turns: u32,
    pub calls: u32,
    pub messages: Vec<Arc<Message>>,
    /// What the scenario lacks, and what the script complained about.
    pub complaints: Vec<String>,
}

/// An agent at work: it owns the conversation and the trace.
pub struct Agent<'a> {
    options: AgentOptions,
    model: &'a mut dyn Model,
    pub(super) batch: Batch,
    /// How requests begin: the tools, and what is known of those that were sent.
    prefix: Prefix,
    /// How many tools were loaded when the tools block was last made.
    loaded: usize,
    pub(super) conversation: Conversation,
    pub(super) trace: &'a mut TraceBuilder,
    turns: u32,
    calls: u32,
    /// Every `tool_use` id of the session.
    ids: BTreeSet<Arc<str>>,
    pub(super) complaints: Vec<String>,
}

/// Why the loop does not go on.
pub(super) struct Stop {
    pub(super) reason: String,
    why: String,
}

impl Stop {
    pub(super) fn new(reason: &str, why: impl Into<String>) -> Stop {
        Stop {
            reason: reason.to_owned(),
            why: why.into(),
        }
    }
}

impl<'a> Agent<'a> {
    pub fn new(
        options: AgentOptions,
        model: &'a mut dyn Model,
        batch: Batch,
        tools: Arc<[ToolDef]>,
        trace: &'a mut TraceBuilder,
    ) -> Agent<'a> {
        let prefix = Prefix::new(tools, &options.system);
        let (conversation, violations) = Conversation::resume(options.history.clone());
        let ids = conversation
            .messages()
            .iter()
            .flat_map(|message| message.tool_uses())
            .map(|call| call.id.clone())
            .collect();
        let mut agent = Agent {
            options,
            model,
            batch,
            prefix,
            loaded: 0,
            conversation,
            trace,
            turns: 0,
            calls: 0,
            ids,
            complaints: Vec::new(),
        };
        agent.report(violations);
        agent
    }

    /// Runs the session to its end.
    pub async fn run(mut self) -> Ended {
        let mut stop = Stop::new("end_turn", "there was nothing to do");
        let mut prompts: Vec<Option<String>> = self.options.prompts.drain(..).map(Some).collect();
        if prompts.is_empty() && !self.conversation.messages().is_empty() {
            // A session that is taken up goes on where it was.
            prompts.push(None);
        }
        let mut begun = match self.start().await {
            Ok(contexts) => contexts,
            Err(at_once) => {
                prompts.clear();
                self.note_stop(&at_once);
                stop = at_once;
                Vec::new()
            }
        };
        for prompt in prompts {
            stop = match self.take(prompt, &mut begun).await {
                None => {
                    let stop = self.until_stop().await;
                    self.forget_loaded();
                    stop
                }
                Some(refused) => refused,
            };
            // What others did while the last response was on its way.
            self.trace_outside();
            self.note_stop(&stop);
            if !matches!(
                stop.reason.as_str(),
                "end_turn" | "stop_sequence" | "refusal" | "prompt_blocked"
            ) {
                break;
            }
        }
        self.check_all();
        Ended {
            stop: stop.reason,
            why: stop.why,
            turns: self.turns,
            calls: self.calls,
            messages: self.conversation.messages().to_vec(),
            complaints: self.complaints,
        }
    }

    fn note_stop(&mut self, stop: &Stop) {
        self.push(Event::Stop(trace::Stop {
            turn: self.turns,
            reason: stop.reason.clone(),
            why: stop.why.clone(),
        }));
    }

    async fn until_stop(&mut self) -> Stop {
        let mut pauses = 0;
        let mut kept = 0;
        loop {
            if self.turns >= self.options.max_turns {
                return Stop::new(
                    "max_turns",
                    format!("the limit of {} turns is reached", self.options.max_turns),
                );
            }
            self.turns += 1;
            let response = match self.ask().await {
                Ok(response) => response,
                Err(stop) => return stop,
            };
            if let Some(stop) = self.act(response, &mut pauses).await
                && let Some(stop) = self.kept_from(stop, &mut kept).await
            {
                return stop;
            }
        }
    }

    /// Sends the request, again where that is of use, and gives the whole response.
    async fn ask(&mut self) -> Result<Response, Stop> {
        self.trace_request();
        let clock = self.batch.world.actor(ActorId::AGENT);
        let mut attempt = 1;
        loop {
            clock.sleep_ms(self.options.model_latency_ms).await;
            let request = Request {
                turn: self.turns,
                tools: self.prefix.tools(),
                system: &self.options.system,
                messages: self.conversation.messages(),
                seen: self.conversation.sent(),
                tokens_estimate: self.conversation.tokens_estimate() + self.prefix.tokens(),
            };
            let error = match self.model.respond(&request).await {
                Ok(response) => {
                    self.conversation.mark_sent();
                    self.trace_response(&response);
                    self.notice_hosted(&response).await;
                    return Ok(response);
                }
                Err(error) => error,
            };
            if let ModelError::Script(what) = &error {
                self.complaints.push(what.clone());
            }
            match retry::delay_ms(&error, attempt) {
                Some(delay_ms) => clock.sleep_ms(delay_ms).await,
                None => return Err(Stop::new("model_error", error.to_string())),
            }
            attempt += 1;
        }
    }

    /// Acts on a response; `None` if the loop goes on.
    async fn act(&mut self, response: Response, pauses: &mut u64) -> Option<Stop> {
        let reason = response.stop_reason.clone();
        let words = reason.as_str().to_owned();
        if reason == StopReason::Refusal {
            self.discard(&response);
            return Some(Stop::new(
                &words,
                "the model refused; the refused message is not kept",
            ));
        }
        let (content, mut asked) = self.take_calls(&response);
        let empty = content.is_empty();
        if !empty {
            self.say(Message::assistant(content));
        }
        let message = self.conversation.messages().last().cloned();
        for call in &mut asked {
            call.asked_in = message.clone();
        }
        if !asked.is_empty() {
            *pauses = 0;
            return self.answer(asked, &reason).await;
        }
        match reason {
            StopReason::PauseTurn => self.pause(pauses, empty).await,
            StopReason::ToolUse => Some(Stop::new(
                &words,
                "the response asks for tools and holds no call",
            )),
            StopReason::MaxTokens => {
                Some(Stop::new(&words, "the response was cut at its token limit"))
            }
            _ => Some(Stop::new(&words, "the model is done")),
        }
    }

    /// Holds a paused turn open: what the model sent goes back as it is.
    async fn pause(&mut self, pauses: &mut u64, empty: bool) -> Option<Stop> {
        let profile = self.batch.desk.env.profile.clone();
        *pauses += 1;
        if profile.pause_turn == PauseTurn::End {
            return Some(Stop::new(
                "pause_turn",
                "this runtime does not resume a paused turn",
            ));
        }
        if *pauses > profile.pause_turn_max || empty {
            return Some(Stop::new(
                "pause_turn",
                format!(
                    "the turn paused {pauses} times; {} are sent back",
                    profile.pause_turn_max
                ),
            ));
        }
        self.batch
            .world
            .actor(ActorId::AGENT)
            .sleep_ms(profile.pause_poll_ms)
            .await;
        // A pause is not a turn of the agent's.
        self.turns -= 1;
        None
    }

    /// The content that stays and the calls to run: of two calls with one id only the
    /// first exists, and the last call of a cut response never runs.
    fn take_calls(&mut self, response: &Response) -> (Vec<Block>, Vec<Asked>) {
        let cut = matches!(
            response.stop_reason,
            StopReason::MaxTokens | StopReason::ModelContextWindowExceeded
        );
        let last = response.content.len().saturating_sub(1);
        let mut content = Vec::with_capacity(response.content.len());
        let mut asked = Vec::new();
        for (at, block) in response.content.iter().enumerate() {
            if let Some(tool_use) = block.as_tool_use() {
                if !self.ids.insert(tool_use.id.clone()) {
                    self.push(Event::Invariant(trace::Invariant {
                        name: "one_result_per_call".to_owned(),
                        call: Some(tool_use.id.clone()),
                        what: "the model used one id for two calls; the second is dropped"
                            .to_owned(),
                    }));
                    continue;
                }
                self.calls += 1;
                let id = CallId {
                    number: self.calls,
                    turn: self.turns,
                    id: tool_use.id.clone(),
                };
                let cut = (cut && at == last).then(|| CUT.to_owned());
                asked.push(Asked {
                    id,
                    tool_use: tool_use.clone(),
                    asked_in: None,
                    cut,
                });
            } else if block.as_text().is_some_and(|text| text.trim().is_empty()) {
                // The API gives such blocks and does not take them back.
                continue;
            }
            content.push(block.clone());
        }
        (content, asked)
    }

    /// Runs the calls and sends their results back.
    async fn answer(&mut self, asked: Vec<Asked>, reason: &StopReason) -> Option<Stop> {
        let cut = asked.iter().any(|call| call.cut.is_some());
        let done = self.batch.run(asked).await;
        let (mut blocks, mut stop_agent, facts) = self.results(done.interrupted, done);
        if let Some(facts) = facts.filter(|_| stop_agent.is_none()) {
            let said = session::batch(&self.batch.desk, facts).await;
            match self.heard(said) {
                Ok(outcome) => {
                    let refused = "a PostToolBatch hook stopped the agent";
                    stop_agent = session::stop_of(&outcome, refused);
                    blocks.extend(outcome.contexts.into_iter().map(Block::text));
                }
                Err(stop) => stop_agent = Some(stop),
            }
        }
        self.say(Message::user(blocks));
        if let Some(stop) = stop_agent {
            return Some(stop);
        }
        if cut && self.batch.desk.env.profile.cut_call == CutCall::ErrorResultEnd {
            return Some(Stop::new(
                reason.as_str(),
                "the response was cut at its token limit",
            ));
        }
        None
    }

    /// Traces what became of a batch, and makes the blocks of the one user message of its
    /// results; with what PostToolBatch hooks are told, if there are any.
    fn results(
        &mut self,
        interrupted: bool,
        done: Done,
    ) -> (Vec<Block>, Option<Stop>, Option<Vec<Value>>) {
        let mut facts = self
            .has_hooks(HookEvent::PostToolBatch)
            .then(Vec::<Value>::new);
        let mut stop = interrupted.then(|| Stop::new("interrupted", "the user interrupted"));
        let mut answers = Vec::with_capacity(done.calls.len());
        let mut contexts = Vec::new();
        for call in done.calls {
            let DoneCall {
                paid,
                tool,
                completed,
                events,
            } = call;
            let input = facts.is_some().then(|| input_of(&events)).flatten();
            for (at_ms, event) in events {
                self.trace.push(at_ms, event);
            }
            let Paid { call, mut finished } = paid;
            let content = finished.take_content();
            let result = result_event(&call, &finished, &content, completed);
            if let Some(facts) = &mut facts {
                let content = serde_json::from_str(result.content.get()).unwrap_or_default();
                facts.push(batch_fact(
                    &tool,
                    input.unwrap_or_default(),
                    &call.id,
                    content,
                ));
            }
            let block = Block::tool_result(call.id, content, result.is_error);
            self.push(Event::Result(result));
            let Finished {
                contexts: added,
                stop_agent,
                complaint,
                ..
            } = finished;
            contexts.extend(added);
            self.complaints.extend(complaint);
            if let (None, Some(why)) = (&stop, stop_agent) {
                let reason = if why == "tool_deferred" {
                    "tool_deferred"
                } else {
                    "hook_stopped"
                };
                stop = Some(Stop::new(reason, why));
            }
            answers.push((completed, block));
        }
        self.trace_outside();
        if self.batch.desk.env.profile.result_order == ResultOrder::Completion {
            answers.sort_by_key(|(completed, _)| *completed);
        }
        if !self.complaints.is_empty() && stop.is_none() {
            stop = Some(Stop::new("scenario_lacks", self.complaints.join("; ")));
        }
        let blocks = answers.into_iter().map(|(_, block)| block);
        let contexts = contexts.into_iter().map(Block::text);
        (blocks.chain(contexts).collect(), stop, facts)
    }

    /// Accounts for the calls of a response that is not kept: none of them runs.
    fn discard(&mut self, response: &Response) {
        let now = self.batch.world.sim().now_ms();
        for tool_use in response.content.iter().filter_map(Block::as_tool_use) {
            self.calls += 1;
            let id = CallId {
                number: self.calls,
                turn: self.turns,
                id: tool_use.id.clone(),
            };
            for event in self.batch.discarded(&id, tool_use, DISCARDED) {
                self.trace.push(now, event);
            }
        }
    }

    pub(super) fn say(&mut self, message: Message) {
        let violations = self.conversation.push(Arc::new(message));
        self.report(violations);
    }

    /// A message that the API would refuse is a fault of this runtime.
    fn report(&mut self, violations: Vec<wire::rules::Violation>) {
        for violation in violations {
            self.push(Event::Invariant(trace::Invariant {
                name: "one_result_per_call".to_owned(),
                call: None,
                what: violation.to_string(),
            }));
        }
    }

    fn push(&mut self, event: Event) {
        self.trace.push(self.batch.world.sim().now_ms(), event);
    }

    /// Traces what others did of their own accord since this was last called.
    fn trace_outside(&mut self) {
        for applied in self.batch.world.take_outside_records() {
            self.trace.push(applied.at_ms, outside_event(applied, None));
        }
    }

    fn trace_request(&mut self) {
        let appended = self.conversation.messages()[self.conversation.sent()..].to_vec();
        let tools = self.loaded_block();
        let system = &self.options.system;
        let compared = self.prefix.next(tools, system, &self.conversation);
        self.unstable(compared.broken);
        self.push(Event::Request(trace::Request {
            turn: self.turns,
            appended,
            tools_hash: self.prefix.tools_hash.clone(),
            prefix_stable: compared.is_stable,
            tokens_estimate: self.conversation.tokens_estimate() + self.prefix.tokens(),
            loaded_tokens: self.prefix.loaded_tokens,
        }));
    }

    /// Reports what a prompt cache could not keep although it must.
    fn unstable(&mut self, broken: Vec<String>) {
        for what in broken {
            self.push(Event::Invariant(trace::Invariant {
                name: "stable_tools".to_owned(),
                call: None,
                what,
            }));
        }
    }

    /// The tools block, if tools were loaded since it was last made and stand in it.
    fn loaded_block(&mut self) -> Option<Arc<[ToolDef]>> {
        let desk = &self.batch.desk;
        if desk.env.profile.loaded_schema == LoadedSchema::Result {
            return None;
        }
        let loaded = desk.env.session.loaded_tools();
        if loaded.len() == self.loaded {
            return None;
        }
        self.loaded = loaded.len();
        Some(desk.pool.tool_defs(&loaded).into())
    }

    /// At a stop of the agent, where loaded tools last only so long.
    fn forget_loaded(&self) {
        let env = &self.batch.desk.env;
        if env.profile.loaded_tools_last == LoadedToolsLast::Turn {
            env.session.unload_tools();
        }
    }

    /// Checks the whole conversation once more, in full, as a last request would hold it.
    fn check_all(&mut self) {
        let body = wire::RequestBody {
            tools: self.prefix.tools().to_vec(),
            system: self.options.system.as_str().into(),
            messages: self.conversation.messages().to_vec(),
            ..wire::RequestBody::default()
        };
        let violations = wire::rules::check_all(&body);
        self.report(violations);
        if !self.conversation.is_as_it_was() {
            self.unstable(vec!["a message changed after it was sent".to_owned()]);
        }
    }

    /// Notes what the vendor's side ran, and loads the tools that it found.
    async fn notice_hosted(&mut self, response: &Response) {
        let hosted::Seen {
            calls,
            results,
            found,
        } = hosted::seen(response, self.turns);
        calls
            .into_iter()
            .for_each(|call| self.push(Event::Call(call)));
        for result in results {
            self.push(Event::Result(result));
        }
        if !found.is_empty() {
            let by = CallId {
                number: self.calls,
                turn: self.turns,
                id: "".into(),
            };
            let actor = self.batch.world.actor(ActorId::AGENT);
            let session = self.batch.desk.env.session.clone();
            session.load_tools(&actor, &by, &found).await;
        }
    }

    fn trace_response(&mut self, response: &Response) {
        self.push(Event::Response(trace::Response {
            turn: self.turns,
            content: response.content.clone(),
            stop_reason: response.stop_reason.as_str().to_owned(),
            usage: response.usage.clone(),
        }));
    }
}

const CUT: &str = "the response reached its token limit inside this call, so its input may be incomplete \
    and it did not run. Send it again, with less in it or in smaller parts";
const DISCARDED: &str = "the response ended in a refusal, so this call did not run";

/// The input of a call as its first event has it.
fn input_of(events: &[(u64, Event)]) -> Option<Value> {
    events.iter().find_map(|(_, event)| match event {
        Event::Call(call) => serde_json::from_str(call.input.get()).ok(),
        _ => None,
    })
}
