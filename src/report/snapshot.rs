//! A trace as the text of a snapshot: one line an event, aligned, so that a person
//! reads what changed in a line diff.

use super::describe;
use crate::scenario::SnapshotLevel;
use crate::trace::{Event, Level, StepEvent, Trace, Verdict};
use std::fmt::Write;

/// The text of `trace` at `level`; empty for [`SnapshotLevel::None`].
///
/// Steps that pass without a remark and follow one another are one line.
pub fn text(trace: &Trace, level: SnapshotLevel) -> String {
    let level = match level {
        SnapshotLevel::None => return String::new(),
        SnapshotLevel::Calls => Level::Calls,
        SnapshotLevel::Steps => Level::Steps,
        SnapshotLevel::Ops => Level::Ops,
    };
    let mut rows: Vec<Row> = Vec::new();
    for line in trace.at_level(level) {
        // A stage of the pool that took nothing out has nothing to tell.
        if matches!(&line.event, Event::Pool(pool) if pool.removed.is_empty() && pool.renamed.is_empty())
        {
            continue;
        }
        if let Event::Step(step) = &line.event
            && is_plain(step)
            && let Some(Row {
                at,
                name: "step",
                text,
                plain: Some(call),
            }) = rows.last_mut()
            && (*at, &**call) == (line.at, &*step.call)
        {
            let _ = write!(text, " {}", step.step);
            continue;
        }
        rows.push(Row {
            at: line.at,
            name: line.event.name(),
            text: describe::event(&line.event),
            plain: match &line.event {
                Event::Step(step) if is_plain(step) => Some(step.call.to_string()),
                _ => None,
            },
        });
    }
    let width = |of: fn(&Row) -> usize| rows.iter().map(of).max().unwrap_or(0);
    let times = width(|row| row.at.to_string().len());
    let names = width(|row| row.name.len());
    let mut all = String::new();
    for Row { at, name, text, .. } in &rows {
        let _ = writeln!(all, "{at:>times$} {name:names$} {text}");
    }
    all
}

/// One line of the snapshot.
struct Row {
    at: u64,
    name: &'static str,
    text: String,
    /// The call of a step that passed without a remark.
    plain: Option<String>,
}

/// Whether a step has nothing to tell but that it passed.
fn is_plain(step: &StepEvent) -> bool {
    step.verdict == Verdict::Pass
        && step.class.is_none()
        && step.detail.is_none()
        && step.queued_ms == 0
        && step.took_ms == 0
}
