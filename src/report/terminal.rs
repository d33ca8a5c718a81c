//! A trace as a page that a person reads: turn by turn, each call with its steps and
//! times, and the calls against time.

use super::describe;
use crate::trace::{Event, Level, Line, Trace};
use std::fmt::Write;

/// Columns of the bars of the timeline.
const BAR_COLUMNS: u64 = 40;
/// The most calls that a timeline shows.
const TIMELINE_CALLS: usize = 60;

/// What is shown of a trace.
#[derive(Debug, Clone)]
pub struct View<'a> {
    /// Events above this level are left out.
    pub level: Level,
    /// Only what belongs to the call of this id.
    pub call: Option<&'a str>,
}

/// The page.
pub fn page(trace: &Trace, view: &View<'_>) -> String {
    let mut page = String::new();
    for line in trace.at_level(view.level) {
        if view.call.is_none_or(|call| line.event.call() == Some(call)) {
            show(&mut page, line);
        }
    }
    if view.call.is_none() {
        timeline(&mut page, trace);
    }
    page
}

/// One event: turns and calls begin a paragraph, what belongs to a call is set in.
fn show(page: &mut String, Line { at, event, .. }: &Line) {
    let text = describe::event(event);
    let _ = match event {
        Event::RunStarted(_) => writeln!(page, "{text}"),
        Event::Request(e) => {
            let text = text
                .strip_prefix(&format!("turn {}", e.turn))
                .unwrap_or(&text);
            let text = text.trim_start_matches("; ");
            writeln!(page, "\nTurn {} at {at} ms\n  {text}", e.turn)
        }
        Event::Response(e) => {
            let said: Vec<String> = e.content.iter().map(describe::block).collect();
            let said = said.join("\n            ");
            writeln!(
                page,
                "  model     {said}\n            {} at {at} ms",
                e.stop_reason
            )
        }
        Event::Call(e) => {
            let input = describe::json(&e.input, describe::SHOWN_CHARS);
            writeln!(page, "\n  {} {input}  ({})", e.tool, e.call)
        }
        Event::Step(e) => writeln!(page, "    {at:>6} ms  {}", describe::step(e)),
        Event::Decision(e) => writeln!(page, "               {}", describe::decision(e)),
        Event::Result(e) => writeln!(page, "    {at:>6} ms  = {}", describe::result(e)),
        Event::Hook(_) | Event::Prompt(_) | Event::Progress(_) | Event::Op(_) => {
            // The line stands below its call already.
            let text = match event.call() {
                Some(call) => text.strip_prefix(call).unwrap_or(&text).trim_start(),
                None => &text,
            };
            writeln!(page, "               {} {text}", event.name())
        }
        Event::Stop(_) | Event::RunFinished(_) => writeln!(page, "\n{} {text}", event.name()),
        // A stage that took nothing out has nothing to tell.
        Event::Pool(e) if e.removed.is_empty() && e.renamed.is_empty() => Ok(()),
        Event::Pool(_) => writeln!(page, "  pool {text}"),
        Event::Outside(_) | Event::Invariant(_) => {
            writeln!(page, "               {} {text}", event.name())
        }
    };
}

/// When each call ran, as bars over the whole of the run.
fn timeline(page: &mut String, trace: &Trace) {
    let Some(makespan) = trace.finished().map(|f| f.makespan_ms).filter(|ms| *ms > 0) else {
        return;
    };
    let mut calls: Vec<Bar> = Vec::new();
    for line in &trace.lines {
        match &line.event {
            Event::Call(call) => calls.push(Bar {
                id: call.call.to_string(),
                tool: call.tool.to_string(),
                from: line.at,
                to: None,
            }),
            Event::Result(result) => {
                let open = calls
                    .iter_mut()
                    .find(|call| call.to.is_none() && *call.id == *result.call);
                if let Some(call) = open {
                    call.to = Some(line.at);
                }
            }
            _ => {}
        }
    }
    if calls.is_empty() {
        return;
    }
    let shown = calls.len().min(TIMELINE_CALLS);
    let width = calls[..shown]
        .iter()
        .map(|call| call.tool.chars().count())
        .max()
        .unwrap_or(0);
    let _ = writeln!(page, "\nTime of {makespan} ms");
    for call in &calls[..shown] {
        let column = |at: u64| (at.min(makespan) * BAR_COLUMNS / makespan) as usize;
        let from = column(call.from);
        let to = column(call.to.unwrap_or(makespan)).max(from);
        let bar = match to - from {
            0 => "|".to_owned(),
            length => "#".repeat(length),
        };
        let _ = writeln!(
            page,
            "  {:width$} {}{bar:<rest$} {} to {} ms",
            call.tool,
            " ".repeat(from),
            call.from,
            call.to.map_or("…".to_owned(), |to| to.to_string()),
            rest = BAR_COLUMNS as usize + 1 - from,
        );
    }
    if shown < calls.len() {
        let _ = writeln!(page, "  and {} calls more", calls.len() - shown);
    }
}

struct Bar {
    id: String,
    tool: String,
    from: u64,
    to: Option<u64>,
}
