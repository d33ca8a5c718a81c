//! What hooks of the session say: when it starts, before a prompt, after a batch, and
//! when the agent would stop.

use super::turn::Stop;
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
pub(super) async fn start(desk: &Desk, resumed: bool) -> Said {
    let source = if resumed { "resume" } else { "startup" };
    let facts = vec![("source", source.into())];
    run(desk, HookEvent::SessionStart, source, facts).await
}

/// The user has typed `prompt`.
pub(super) async fn prompt(desk: &Desk, prompt: &str) -> Said {
    let facts = vec![("prompt", prompt.into())];
    run(desk, HookEvent::UserPromptSubmit, "", facts).await
}

/// Every call of a batch has its result.
pub(super) async fn batch(desk: &Desk, calls: Vec<Value>) -> Said {
    let facts = vec![("tool_calls", calls.into())];
    run(desk, HookEvent::PostToolBatch, "", facts).await
}

/// The agent would stop; `active` if hooks kept it from that before.
pub(super) async fn stop(desk: &Desk, active: bool, last: Option<&Arc<Message>>) -> Said {
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
pub(super) fn feedback(outcome: &SessionOutcome) -> Option<String> {
    let mut texts: Vec<&str> = outcome.block.iter().map(String::as_str).collect();
    texts.extend(outcome.contexts.iter().map(String::as_str));
    let blocks = outcome.block.is_some() || !texts.is_empty();
    blocks.then(|| format!("A Stop hook says:\n{}", texts.join("\n")))
}
