//! `rehearsal show`.

use super::console::Console;
use super::exit::Exit;
use crate::report::terminal::{View, page};
use crate::report::tokens::{table, tokens};
use crate::trace::{Level, ReadTrace, Trace, load_trace, write_trace};
use clap::ValueEnum;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Args {
    /// A trace, as `run --out` writes it
    trace: PathBuf,
    /// How much of it is shown
    #[arg(long, value_enum, default_value_t = ShownLevel::Steps)]
    level: ShownLevel,
    /// Show only the call of this id
    #[arg(long, value_name = "ID")]
    call: Option<String>,
    /// Show what each request cost in tokens, and what it would have cost had every tool
    /// been sent in full (an estimate)
    #[arg(long, conflicts_with = "call")]
    tokens: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum ShownLevel {
    /// Requests, responses, calls and results
    Calls,
    /// The steps, hooks, decisions and prompts too
    Steps,
    /// Every touch of the world too
    Ops,
}

/// Shows a trace.
pub fn show(args: &Args, console: &mut Console) -> Exit {
    let Some(read) = read(&args.trace, console) else {
        return Exit::BadInput;
    };
    if args.tokens {
        return show_tokens(&read.trace, args, console);
    }
    let level = match args.level {
        ShownLevel::Calls => Level::Calls,
        ShownLevel::Steps => Level::Steps,
        ShownLevel::Ops => Level::Ops,
    };
    let known = |id: &str| read.trace.events().any(|event| event.call() == Some(id));
    if let Some(id) = args.call.as_deref().filter(|id| !known(id)) {
        console.complain(&format!("error: the trace has no call {id}"));
        return Exit::BadInput;
    }
    let call = args.call.as_deref();
    if console.json {
        let mut trace = read.trace;
        trace
            .lines
            .retain(|line| call.is_none() || line.event.call() == call);
        console.data(&write_trace(&trace, level).text);
    } else {
        console.data(&page(&read.trace, &View { level, call }));
    }
    Exit::Same
}

fn show_tokens(trace: &Trace, args: &Args, console: &mut Console) -> Exit {
    let Some(tokens) = tokens(trace) else {
        let path = args.trace.display();
        console.complain(&format!(
            "error: {path}: the trace does not tell what its tools cost"
        ));
        console.complain("hint: write it anew with `rehearsal run --out DIR`");
        return Exit::BadInput;
    };
    match console.json {
        true => console.json_line(&tokens),
        false => console.data(&table(&tokens)),
    }
    Exit::Same
}

/// Reads a trace; says why if it cannot be read, and what of it could not.
pub fn read(path: &Path, console: &mut Console) -> Option<ReadTrace> {
    match load_trace(path) {
        Ok(read) => {
            for complaint in read.complaints() {
                console.complain(&format!("warning: {}: {complaint}", path.display()));
            }
            Some(read)
        }
        Err(error) => {
            console.complain(&format!("error: {}: {error}", path.display()));
            None
        }
    }
}
