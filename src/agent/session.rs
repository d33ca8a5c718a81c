//! What hooks of the session say: when it starts, before a prompt, after a batch, and
//! when the agent would stop.

use super::turn::{Agent, Stop};
use crate::hooks::{HookEvent, SessionOutcome};
use crate::pipeline::{Desk, HookEvents};
use crate::wire::{Block, Message};
use serde_json::{Value, json};
use std::sync::Arc;

/// What hooks said at one point of the session.
#[derive(Default)]
pub(super) struct Said {
    pub outcome: SessionOutcome,
    pub events: HookEvents,
    /// What the scenario lacks.
    pub complaint: Option<String>,
}

/// Runs the hooks for `event`.
async fn run(
    desk: &Desk,
    event: HookEvent,
    subject: &str,
    facts: Vec<(&'static str, Value)>,
) -> Said {
    let mode = desk.permissions.mode();
    match Box::pin(desk.hooks.session(event, subject, mode, facts)).await {
        Ok((outcome, events)) => Said {
            outcome,
            events,
            complaint: None,
        },
        Err(complaint) => Said {
            complaint: Some(complaint),
            ..Said::default()
        },
    }
}

/// The session begins, or goes on where it was.
async fn start(desk: &Desk, resumed: bool) -> Said {
    let source = if resumed { "resume" } else { "startup" };
    let facts = vec![("source", source.into())];
    run(desk, HookEvent::SessionStart, source, facts).await
}

/// The user has typed `prompt`.
async fn prompt_said(desk: &Desk, prompt: &str) -> Said {
    let facts = vec![("prompt", prompt.into())];
    run(desk, HookEvent::UserPromptSubmit, "", facts).await
}

/// Every call of a batch has its result.
pub(super) async fn batch(desk: &Desk, calls: Vec<Value>) -> Said {
    let facts = vec![("tool_calls", calls.into())];
    run(desk, HookEvent::PostToolBatch, "", facts).await
}

/// The agent would stop; `active` if hooks kept it from that before.
async fn stopping(desk: &Desk, active: bool, last: Option<&Arc<Message>>) -> Said {
    let facts = vec![
        ("stop_hook_active", active.into()),
        (
            "last_assistant_message",
            last.map_or_else(String::new, text_of).into(),
        ),
        ("background_tasks", json!([])),
        ("session_crons", json!([])),
    ];
    run(desk, HookEvent::Stop, "", facts).await
}

impl Agent<'_> {
    /// Notes what hooks of the session did; an error is the end of it.
    pub(super) fn heard(&mut self, said: Said) -> Result<SessionOutcome, Stop> {
        for (at_ms, event) in said.events {
            self.trace.push(at_ms, event);
        }
        match said.complaint {
            None => Ok(said.outcome),
            Some(complaint) => {
                self.complaints.push(complaint.clone());
                Err(Stop::new("scenario_lacks", complaint))
            }
        }
    }

    /// Lets the hooks know that the session begins: what they add to the first prompt.
    pub(super) async fn start(&mut self) -> Result<Vec<String>, Stop> {
        if !self.has_hooks(HookEvent::SessionStart) {
            return Ok(Vec::new());
        }
        let resumed = !self.conversation.messages().is_empty();
        let said = start(&self.batch.desk, resumed).await;
        let outcome = self.heard(said)?;
        match outcome.stop {
            Some(why) => Err(Stop::new("hook_stopped", why)),
            None => Ok(outcome.contexts),
        }
    }

    pub(super) fn has_hooks(&self, event: HookEvent) -> bool {
        self.batch.desk.hooks.is_for_session(event)
    }

    /// Says what the user typed, with what hooks add; the end if hooks refuse it.
    pub(super) async fn take(
        &mut self,
        prompt: Option<String>,
        begun: &mut Vec<String>,
    ) -> Option<Stop> {
        let prompt = prompt?;
        let mut contexts = std::mem::take(begun);
        if self.has_hooks(HookEvent::UserPromptSubmit) {
            let said = prompt_said(&self.batch.desk, &prompt).await;
            let outcome = match self.heard(said) {
                Ok(outcome) => outcome,
                Err(stop) => return Some(stop),
            };
            if let Some(why) = outcome.stop {
                return Some(Stop::new("hook_stopped", why));
            }
            if let Some(why) = outcome.block {
                return Some(Stop::new("prompt_blocked", why));
            }
            contexts.extend(outcome.contexts);
        }
        let texts = std::iter::once(prompt).chain(contexts);
        self.say(Message::user(texts.map(Block::text).collect()));
        None
    }

    /// Whether hooks keep the agent from stopping for the `times`-th time in a row: what
    /// the end is if not.
    pub(super) async fn kept_from(&mut self, stop: Stop, times: &mut u64) -> Option<Stop> {
        let natural = matches!(stop.reason.as_str(), "end_turn" | "stop_sequence");
        if !natural || !self.has_hooks(HookEvent::Stop) {
            return Some(stop);
        }
        let last = self.conversation.messages().last();
        let said = stopping(&self.batch.desk, *times > 0, last).await;
        let outcome = match self.heard(said) {
            Ok(outcome) => outcome,
            Err(stop) => return Some(stop),
        };
        if let Some(why) = outcome.stop {
            return Some(Stop::new("hook_stopped", why));
        }
        let Some(feedback) = feedback(&outcome) else {
            return Some(stop);
        };
        let cap = self.batch.desk.env.profile.stop_hook_cap;
        if cap.is_some_and(|cap| *times >= cap) {
            let why = format!("Stop hooks kept the agent {times} times in a row: no more");
            return Some(Stop::new(&stop.reason, why));
        }
        *times += 1;
        self.say(Message::user_text(feedback));
        None
    }
}

fn text_of(message: &Arc<Message>) -> String {
    let texts: Vec<&str> = message.content.iter().filter_map(Block::as_text).collect();
    texts.join("\n")
}

/// The end that hooks bring about, if they do: `refused` says what of.
pub(super) fn stop_of(outcome: &SessionOutcome, refused: &str) -> Option<Stop> {
    let why = outcome.stop.clone().or_else(|| {
        let block = outcome.block.as_ref()?;
        Some(format!("{refused}: {block}"))
    });
    why.map(|why| Stop::new("hook_stopped", why))
}

/// What a Stop hook wants the agent to do before it stops, if anything.
fn feedback(outcome: &SessionOutcome) -> Option<String> {
    let mut texts: Vec<&str> = outcome.block.iter().map(String::as_str).collect();
    texts.extend(outcome.contexts.iter().map(String::as_str));
    let blocks = outcome.block.is_some() || !texts.is_empty();
    blocks.then(|| format!("A Stop hook says:\n{}", texts.join("\n")))
}
