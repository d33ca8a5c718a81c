//! `rehearsal diff`.

use super::console::Console;
use super::exit::Exit;
use crate::trace::{Divergence, Event, Line, Trace, first_divergence};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Args {
    /// A trace
    a: PathBuf,
    /// The trace to compare it with
    b: PathBuf,
}

/// Compares two traces.
pub fn diff(args: &Args, console: &mut Console) -> Exit {
    let (a, b) = (
        super::show::read(&args.a, console),
        super::show::read(&args.b, console),
    );
    let (Some(a), Some(b)) = (a, b) else {
        return Exit::BadInput;
    };
    if a.trace.lines.is_empty() && b.trace.lines.is_empty() {
        console.complain("error: both traces are empty");
        return Exit::Nothing;
    }
    let divergence = first_divergence(&a.trace, &b.trace);
    // Runs of two scenarios differ in their first line; whether they differ in what
    // happened is another question.
    let began_alike = divergence.as_ref().is_none_or(|d| d.event != "run_started");
    let inside = match began_alike {
        true => None,
        false => first_divergence(&without_beginning(a.trace), &without_beginning(b.trace)),
    };
    if console.json {
        console.json_line(&serde_json::json!({
            "same": divergence.is_none(),
            "divergence": divergence.as_ref().map(as_json),
            "divergence_after_run_started": inside.as_ref().map(as_json),
        }));
    } else if let Some(divergence) = &divergence {
        console.data(&in_words("first divergence", divergence));
        match &inside {
            Some(inside) => console.data(&in_words("and after it", inside)),
            None if !began_alike => console.line("and after it: same"),
            None => {}
        }
    } else if !console.quiet {
        console.line("same");
    }
    match divergence {
        None => Exit::Same,
        Some(_) => Exit::Differs,
    }
}

/// A trace without the line that says what was run.
fn without_beginning(mut trace: Trace) -> Trace {
    let is_beginning = |line: &Line| matches!(line.event, Event::RunStarted(_));
    trace.lines.retain(|line| !is_beginning(line));
    trace
}

/// The divergence as the fields that every report of one has.
pub fn as_json(divergence: &Divergence) -> serde_json::Value {
    serde_json::json!({
        "event": divergence.event,
        "index": divergence.index,
        "call": divergence.call,
        "step": divergence.step,
        "path": divergence.path,
        "a": divergence.left,
        "b": divergence.right,
    })
}

/// The divergence on a few lines.
pub fn in_words(what: &str, divergence: &Divergence) -> String {
    let mut text = format!("{what}: event {} ({})", divergence.index, divergence.event);
    if let Some(call) = &divergence.call {
        text.push_str(&format!(", call {call}"));
    }
    if let Some(step) = divergence.step {
        text.push_str(&format!(", step {step}"));
    }
    if !divergence.path.is_empty() {
        text.push_str(&format!(", at {}", divergence.path));
    }
    let side = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
    format!(
        "{text}\n  a: {}\n  b: {}\n",
        side(&divergence.left),
        side(&divergence.right)
    )
}
