//! One event of a trace as one line of text, without its time.
//!
//! What changes whenever a description of a tool is reworded (token estimates, the
//! hash of the tools) or says nothing to a reader (hashes of worlds) is left out.

use crate::trace::{self, Event, Verdict};
use crate::wire::{Block, BlockKind, Message, Role};
use serde_json::value::RawValue;
use std::fmt::Write;

/// Characters of a text of the model or of a result that are shown.
pub(super) const SHOWN_CHARS: usize = 400;

/// A text in quotes on one line, its middle left out if it is long.
pub(super) fn quoted(text: &str, chars: usize) -> String {
    let count = text.chars().count();
    if count <= chars {
        return format!("{text:?}");
    }
    // Both ends say more than a long beginning: results end in their notices.
    let tail = chars / 4;
    let head: String = text.chars().take(chars - tail).collect();
    let end: String = text.chars().skip(count - tail).collect();
    format!("{head:?} … {end:?} ({count} characters)")
}

/// JSON on one line, its end left out if it is long.
pub(super) fn json(raw: &RawValue, chars: usize) -> String {
    let text = raw.get();
    // JSON that a person wrote over several lines is put on one.
    let text = match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value) if text.contains('\n') => value.to_string(),
        _ => text.to_owned(),
    };
    let count = text.chars().count();
    if count <= chars {
        return text;
    }
    let head: String = text.chars().take(chars).collect();
    format!("{head}… ({count} characters)")
}

/// The event in words; what it is called is not part of it.
pub(super) fn event(event: &Event) -> String {
    match event {
        Event::RunStarted(e) => started(e),
        Event::Pool(e) => pool(e),
        Event::Request(e) => request(e),
        Event::Response(e) => response(e),
        Event::Call(e) => format!("{} {} {}", e.call, e.tool, json(&e.input, SHOWN_CHARS)),
        Event::Step(e) => format!("{} {}", e.call, step(e)),
        Event::Hook(e) => hook(e),
        Event::Decision(e) => format!("{} {}", e.call, decision(e)),
        Event::Prompt(e) => {
            let question = quoted(&e.question, SHOWN_CHARS);
            let waited = ms(e.waited_ms, "waited");
            format!("{} {question}: {}{waited}", e.call, e.answer)
        }
        Event::Progress(e) => format!("{} {}", e.call, e.data),
        Event::Op(e) => format!("{} {} {} {}: {}", e.by, e.n, e.kind, e.resource, e.result),
        Event::Outside(e) => match &e.before {
            Some((call, step)) => format!("{} {} before {step} of {call}", e.actor, e.change),
            None => format!("{} {}", e.actor, e.change),
        },
        Event::Result(e) => format!("{} {}", e.call, result(e)),
        Event::Stop(e) if e.why.is_empty() => format!("turn {}: {}", e.turn, e.reason),
        Event::Stop(e) => format!("turn {}: {} ({})", e.turn, e.reason, e.why),
        Event::Invariant(e) => match &e.call {
            Some(call) => format!("{} broken by {call}: {}", e.name, e.what),
            None => format!("{} broken: {}", e.name, e.what),
        },
        Event::RunFinished(e) => format!(
            "{} after {} ms; turns {}, calls {}",
            e.stop, e.makespan_ms, e.turns, e.calls
        ),
    }
}

fn started(e: &trace::RunStarted) -> String {
    let mut text = format!("{}; profile {}, seed {}", e.scenario, e.profile, e.seed);
    for set in &e.semantics {
        let _ = write!(text, ", {set}");
    }
    if let Some(schedule) = &e.schedule {
        let _ = write!(text, ", schedule {schedule}");
    }
    for broken in &e.broken_settings {
        let _ = write!(text, "; {broken}");
    }
    text
}

/// What a stage took out of the pool, by reason; how many tools there were is left
/// out, since every tool that is ever added would change it.
fn pool(e: &trace::Pool) -> String {
    let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for removed in &e.removed {
        match by_reason.iter_mut().find(|(why, _)| *why == removed.why) {
            Some((_, names)) => names.push(&removed.name),
            None => by_reason.push((&removed.why, vec![&removed.name])),
        }
    }
    let mut text = e.stage.clone();
    for (why, names) in by_reason {
        let _ = write!(text, "; {why}: {}", names.join(", "));
    }
    for renamed in &e.renamed {
        let (name, from, why) = (&renamed.name, &renamed.from, &renamed.why);
        let _ = write!(text, "; {from} is {name}: {why}");
    }
    text
}

fn request(e: &trace::Request) -> String {
    let mut text = format!("turn {}", e.turn);
    if !e.prefix_stable {
        text.push_str(", prefix changed");
    }
    for message in &e.appended {
        let _ = write!(text, "; {}", self::message(message));
    }
    text
}

fn message(message: &Message) -> String {
    let role = message.role.as_str();
    // What the model said is told by its response.
    if message.role == Role::Assistant {
        let blocks = message.content.len();
        let s = if blocks == 1 { "" } else { "s" };
        return format!("{role} ({blocks} block{s})");
    }
    let blocks: Vec<String> = message.content.iter().map(brief_block).collect();
    format!("{role} {}", blocks.join(", "))
}

/// A block where its content is told by another line.
fn brief_block(block: &Block) -> String {
    match block.kind() {
        BlockKind::ToolResult(result) => format!("tool_result {}", result.tool_use_id),
        _ => self::block(block),
    }
}

pub(super) fn block(block: &Block) -> String {
    match block.kind() {
        BlockKind::Text(text) => quoted(text, SHOWN_CHARS),
        BlockKind::Thinking { thinking, .. } => {
            format!("thinking {}", quoted(thinking, SHOWN_CHARS))
        }
        BlockKind::ToolUse(call) => format!("tool_use {} {}", call.id, call.name),
        BlockKind::ToolReference { tool_name } => format!("tool_reference {tool_name}"),
        _ => json(block.raw(), SHOWN_CHARS),
    }
}

fn response(e: &trace::Response) -> String {
    let mut text = format!("turn {}, {}", e.turn, e.stop_reason);
    for block in &e.content {
        let _ = write!(text, "; {}", self::block(block));
    }
    text
}

pub(super) fn step(e: &trace::StepEvent) -> String {
    let mut text = e.step.to_string();
    match (e.verdict, e.class) {
        (Verdict::Pass, None) => {}
        (Verdict::Pass, Some(class)) => {
            let _ = write!(text, " passed, {class}");
        }
        (Verdict::Stop, class) => {
            let class = class.map_or("without a class", |class| class.as_str());
            let _ = write!(text, " stopped, {class}");
        }
        (Verdict::Rewrite, _) => text.push_str(" rewrote the input"),
    }
    // Of a step that stopped the call, the result tells more.
    if let (Some(detail), false) = (&e.detail, e.verdict == Verdict::Stop) {
        let _ = write!(text, ": {}", quoted(detail, SHOWN_CHARS));
    }
    text.push_str(&ms(e.queued_ms, "queued"));
    text.push_str(&ms(e.took_ms, "took"));
    text
}

fn hook(e: &trace::Hook) -> String {
    let mut text = String::new();
    if let Some(call) = &e.call {
        let _ = write!(text, "{call} ");
    }
    let _ = write!(text, "{} {}: {}", e.hook_event, e.handler, e.verdict);
    match e.exit {
        Some(0) | None => {}
        Some(code) => {
            let _ = write!(text, ", exit {code}");
        }
    }
    if e.rewrite {
        text.push_str(", rewrote the input");
    }
    if let Some(notice) = &e.notice {
        let _ = write!(text, ", tells the user {}", quoted(notice, SHOWN_CHARS));
    }
    text.push_str(&ms(e.took_ms, "took"));
    text
}

pub(super) fn decision(e: &trace::Decision) -> String {
    let mut text = format!("{} by {}", e.behavior, e.layer);
    if let Some(rule) = &e.rule {
        let _ = write!(text, " {rule}");
    }
    match (&e.source, e.index) {
        (Some(source), Some(index)) => {
            let _ = write!(text, " ({source} {index})");
        }
        (Some(source), None) => {
            let _ = write!(text, " ({source})");
        }
        _ => {}
    }
    let _ = write!(text, ": {}", e.reason);
    let others: Vec<String> = e
        .layers
        .iter()
        .filter(|layer| !matches!(&*layer.verdict, "none" | "not_reached"))
        .map(|layer| format!("{} {}", layer.layer, layer.verdict))
        .collect();
    if others.len() > 1 {
        let _ = write!(text, " [{}]", others.join(", "));
    }
    text
}

pub(super) fn result(e: &trace::CallResult) -> String {
    let mut text = e.class.to_string();
    for flag in &e.flags {
        let _ = write!(text, " +{flag}");
    }
    let content = match crate::wire::raw::string(&e.content) {
        Some(content) => quoted(&content, SHOWN_CHARS),
        None => json(&e.content, SHOWN_CHARS),
    };
    let _ = write!(text, ", completed {}: {content}", e.completed);
    if let Some(path) = &e.saved_to {
        let _ = write!(text, ", {} characters saved to {path}", e.full_chars);
    }
    text.push_str(&ms(e.run_ms, "ran"));
    text
}

/// A duration that is told only if it is one.
fn ms(ms: u64, what: &str) -> String {
    match ms {
        0 => String::new(),
        ms => format!(", {what} {ms} ms"),
    }
}
