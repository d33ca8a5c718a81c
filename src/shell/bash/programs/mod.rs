//! The programs that read the clock or draw at random, on the world's clock and
//! with its randomness.

mod chance;
mod clock;
mod query;
mod shuffle;
mod temporary;

use super::state::Running;
use bashkit::{Builtin, ExecResult, Result};
use std::sync::Arc;

/// What runs instead of the shell's own `name` with these arguments, if anything does.
pub(super) fn instead(
    running: &Arc<Running>,
    name: &str,
    args: &[String],
) -> Option<Arc<dyn Builtin>> {
    let running = running.clone();
    let has = |sought: &str| args.iter().any(|arg| arg.contains(sought));
    match name {
        "sleep" => Some(Arc::new(clock::Sleep(running))),
        "date" => Some(Arc::new(clock::Date(running))),
        "touch" => Some(Arc::new(clock::Touch(running))),
        "mktemp" => Some(Arc::new(temporary::Mktemp(running))),
        "uuidgen" => Some(Arc::new(chance::Uuidgen(running))),
        "openssl" => Some(Arc::new(chance::Openssl(running))),
        "dd" if has("random") => Some(Arc::new(chance::Dd(running))),
        "shuf" => Some(Arc::new(shuffle::Shuf(running))),
        "sort" if shuffle::is_random_sort(args) => Some(Arc::new(shuffle::RandomSort(running))),
        "jq" if query::reads_clock(args) => Some(Arc::new(query::Jq(running))),
        _ => None,
    }
}

/// A failure in the words of the program.
fn fails(program: &str, why: &str, code: i32) -> Result<ExecResult> {
    Ok(ExecResult::err(format!("{program}: {why}\n"), code))
}

/// A complaint about what a program is asked for, which ends the script.
fn lacks(running: &Running, what: &str) -> Result<ExecResult> {
    running.lacks(what, "say under `commands:` what this command does");
    Err(super::dispatch::stop())
}

/// The absolute form of a path that a program was given.
fn absolute(ctx: &bashkit::BuiltinContext<'_>, path: &str) -> std::path::PathBuf {
    crate::world::normalize(&ctx.cwd.to_string_lossy(), path).into()
}

/// An argument as one word of shell text.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
