//! The command line: one file a verb, and only the public API.

mod accept;
mod complaints;
mod console;
mod determinism;
mod diff;
mod exit;
mod explain;
mod flags;
mod new;
mod replay;
mod run;
mod schema;
mod show;
mod walk;

use clap::{Parser, Subcommand};
use console::Console;
use exit::Exit;
use std::process::ExitCode;

/// Runs a tool-using agent against a scripted model in a simulated world
///
/// Data goes to stdout, everything else to stderr. Exit codes: 0 as expected,
/// 1 something differs, 2 bad input or usage, 3 internal fault, 4 nothing was compared.
#[derive(Parser)]
#[command(name = "rehearsal", version, term_width = 100, verbatim_doc_comment)]
struct Cli {
    /// Print JSON, one value a line
    #[arg(long, global = true)]
    json: bool,
    /// Print only what is not as expected
    #[arg(long, short, global = true)]
    quiet: bool,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Run scenarios; compare with their expectations and snapshots
    Run(run::Args),
    /// Replay recordings through the runtime; report where they diverge
    Replay(replay::Args),
    /// Say what the five layers would decide for a call, or for every call of a recording, and why
    Explain(Box<explain::Args>),
    /// Read a trace
    Show(show::Args),
    /// Find the first divergence of two traces
    Diff(diff::Args),
    /// Take the pending snapshots
    Accept(accept::Args),
    /// Write a commented starter scenario
    New(new::Args),
    /// Print the JSON Schema of the scenario file
    Schema,
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    // Usage errors and --help end here, with the codes 2 and 0.
    let cli = Cli::parse();
    let verb = move || {
        let mut console = Console::new(cli.json, cli.quiet);
        let exit = match cli.verb {
            Verb::Run(args) => run::run(&args, &mut console),
            Verb::Replay(args) => replay::replay(&args, &mut console),
            Verb::Explain(args) => explain::explain(&args, &mut console),
            Verb::Show(args) => show::show(&args, &mut console),
            Verb::Diff(args) => diff::diff(&args, &mut console),
            Verb::Accept(args) => accept::accept(&args, &mut console),
            Verb::New(args) => new::new(&args, &mut console),
            Verb::Schema => schema::schema(&mut console),
        };
        match console.failure() {
            Some(error) => {
                eprintln!("error: failed to write the output: {error}");
                Exit::Fault
            }
            None => exit,
        }
    };
    // A panic is this program's fault, and has a code of its own.
    std::panic::catch_unwind(verb).unwrap_or(Exit::Fault).into()
}
