//! `jq` where its program asks for the time.

use super::super::dispatch::{pass, stop};
use super::super::state::Running;
use async_trait::async_trait;
use bashkit::{Builtin, BuiltinContext, ExecResult, ExecutionPlan, Result};
use std::sync::Arc;

/// The names in a `jq` program that would read the real clock or the machine's time zone.
const CLOCK_NAMES: &[&str] = &["now", "localtime", "strflocaltime"];

/// Whether the arguments of `jq` may make it read the clock.
pub(super) fn reads_clock(args: &[String]) -> bool {
    let from_file = |arg: &String| {
        arg == "--from-file"
            || (arg.starts_with('-') && !arg.starts_with("--") && arg.contains('f'))
    };
    args.iter().any(|arg| names_clock(arg) || from_file(arg))
}

fn names_clock(program: &str) -> bool {
    program
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .any(|word| CLOCK_NAMES.contains(&word))
}

/// Runs the shell's own `jq` with those names defined by the world's clock.
pub(super) struct Jq(pub Arc<Running>);

#[async_trait]
impl Builtin for Jq {
    async fn execution_plan(&self, ctx: &BuiltinContext<'_>) -> Result<Option<ExecutionPlan>> {
        let mut args = ctx.args.to_vec();
        match program_at(&args) {
            Program::Argument(at) => {
                if names_clock(&args[at]) {
                    args[at] = format!("{} {}", self.definitions(), args[at]);
                }
            }
            Program::File(at) => {
                let path = args.get(at).map(|path| super::absolute(ctx, path));
                let program = match path {
                    Some(path) => ctx.fs.read_file(&path).await.unwrap_or_default(),
                    None => Vec::new(),
                };
                if names_clock(&String::from_utf8_lossy(&program)) {
                    self.0.lacks(
                        "jq with a program file that asks for the time",
                        "give the program as an argument, or say under `commands:` what it prints",
                    );
                    return Err(stop());
                }
            }
            Program::None => {}
        }
        Ok(Some(pass(&self.0, "jq", args, ctx)))
    }

    async fn execute(&self, _ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        Err(stop())
    }
}

impl Jq {
    fn definitions(&self) -> String {
        let now_ms = self.0.actor.now_unix_ms();
        let (sign, ms) = (if now_ms < 0 { "-" } else { "" }, now_ms.unsigned_abs());
        format!(
            "def now: {sign}{}.{:03}; def localtime: gmtime; def strflocaltime(f): strftime(f);",
            ms / 1_000,
            ms % 1_000
        )
    }
}

/// Where the program of a `jq` is.
#[derive(Debug, PartialEq, Eq)]
enum Program {
    Argument(usize),
    /// In the file that this argument names.
    File(usize),
    None,
}

fn program_at(args: &[String]) -> Program {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        at += match arg.as_str() {
            "--arg" | "--argjson" | "--slurpfile" | "--rawfile" => 3,
            "--indent" | "-L" => 2,
            "--from-file" => return Program::File(at + 1),
            "--" => 1,
            long if long.starts_with("--") => 1,
            short if short.len() > 1 && short.starts_with('-') => {
                if short.contains('f') {
                    return Program::File(at + 1);
                }
                1
            }
            _ => return Program::Argument(at),
        };
    }
    Program::None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_program_is_found_behind_the_options() {
        assert_eq!(
            program_at(&args("-r --arg a b .x file")),
            Program::Argument(4)
        );
        assert_eq!(program_at(&args("-nr now")), Program::Argument(1));
        assert_eq!(program_at(&args("-rf prog.jq in.json")), Program::File(1));
        assert_eq!(program_at(&args("--version")), Program::None);
    }

    #[test]
    fn only_whole_names_ask_for_the_clock() {
        assert!(names_clock("{t:(now|floor)}"));
        assert!(names_clock("now|strflocaltime(\"%F\")"));
        assert!(!names_clock(".known | snow"));
        assert!(reads_clock(&args("-f p.jq")));
        assert!(!reads_clock(&args("-r .name")));
    }
}
