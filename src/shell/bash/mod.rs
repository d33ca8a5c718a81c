//! The virtual shell: bash as bashkit has it, on the world's files, on its clock,
//! with its randomness, and on one thread.
//!
//! A shell is built for each command and forgotten after it; what a command leaves
//! behind is what it wrote into the world and the folder it ended in.

mod deep;
mod dispatch;
mod files;
mod on_the_spot;
mod programs;
mod settings;
mod state;
mod system;

use super::answer;
use super::fixture::Fixtures;
use super::output::Printed;
use super::{Command, Ran, Shell};
use crate::world::{Actor, normalize};
use async_trait::async_trait;
use bashkit::parser::Parser;
use bashkit::{
    Bash, BuiltinRegistry, Error, ExecOptions, ExecResult, LimitExceeded, ShellState, TraceMode,
};
use dispatch::Dispatch;
use files::WorldFiles;
use state::Running;
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

/// Bash on the world, with the scenario's answers to what it does not have.
pub struct VirtualShell {
    fixtures: Arc<Fixtures>,
}

/// The commands that every shell has itself.
static PROVIDED: LazyLock<Arc<BTreeSet<String>>> = LazyLock::new(|| {
    let bare = Bash::builder()
        .rootfs(false)
        .builtin_filter(is_offered)
        .build();
    Arc::new(bare.builtin_names().into_iter().collect())
});

impl VirtualShell {
    pub fn new(fixtures: Arc<Fixtures>) -> VirtualShell {
        VirtualShell { fixtures }
    }

    /// The names of the commands that the shell has itself, sorted.
    pub fn provided(&self) -> impl Iterator<Item = &str> {
        PROVIDED.iter().map(String::as_str)
    }

    async fn run_script(&self, command: &Command, running: &Arc<Running>, out: &Printed) -> Ran {
        let script = script(command.clone(), running.clone(), out.clone());
        let ran = match deep::deep(on_the_spot::on_the_spot(script, running.clone())) {
            Ok(script) => script.await,
            Err(error) => {
                running.lacks(
                    &format!("a thread for this command: {error}"),
                    "run fewer scenarios at once",
                );
                None
            }
        };
        match ran {
            Some(Ok((result, cwd))) => exited(result, &cwd, out),
            Some(Err(error)) => self.failed(error, command, running, out).await,
            None => lacking(running),
        }
    }

    /// What a script comes to that the shell itself ended.
    async fn failed(
        &self,
        error: Error,
        command: &Command,
        running: &Arc<Running>,
        out: &Printed,
    ) -> Ran {
        match error {
            Error::Parse { message, .. } if limited(&message).is_some() => {
                limited(&message).unwrap_or_else(|| lacking(running))
            }
            Error::Parse { message, line, .. } => {
                let line = line.max(1);
                let message = format!("bash: -c: line {line}: {message}\n");
                out.print(b"", message.as_bytes());
                out.exited(2, command.cwd.clone())
            }
            Error::ResourceLimit(
                LimitExceeded::MaxCommands(_)
                | LimitExceeded::MaxLoopIterations(_)
                | LimitExceeded::MaxTotalLoopIterations(_),
            ) => {
                // It would have gone on: the timeout in `run` ends it.
                std::future::pending().await
            }
            other => {
                running.lacks(
                    &format!("a script that the virtual shell gave up on: {other}"),
                    "say under `commands:` what it does",
                );
                lacking(running)
            }
        }
    }
}

/// Builds the shell for one command.
fn build(command: &Command, running: &Arc<Running>) -> Bash {
    let registry = BuiltinRegistry::new();
    let dispatch = Dispatch::new(running.clone(), registry.clone());
    let heard = dispatch.clone();
    let mut shell = Bash::builder()
        .fs(Arc::new(WorldFiles::new(running.clone())))
        .rootfs(false)
        .cwd(&command.cwd)
        .username(settings::USERNAME)
        .hostname(settings::HOSTNAME)
        .fixed_epoch(running.began_unix_ms.div_euclid(1_000))
        .concurrent_jobs(false)
        .limits(settings::limits())
        .session_limits(settings::session_limits())
        .memory_limits(settings::memory_limits())
        .builtin_filter(is_offered)
        .builtin_registry(registry)
        .command_resolver(Arc::new(dispatch))
        .trace_mode(TraceMode::Full)
        .on_trace_event(Box::new(move |event| heard.heard(event)));
    for (name, value) in &command.env {
        shell = shell.env(name, value);
    }
    shell.build()
}

/// What the shell runs before the command: variables that would read the clock or
/// entropy, and that it lets be set.
fn preamble(running: &Running) -> String {
    let seed = running.random("shell.RANDOM") >> 32;
    let (seconds, ms) = (
        running.began_unix_ms.div_euclid(1_000),
        running.began_unix_ms.rem_euclid(1_000),
    );
    format!("RANDOM={seed}; EPOCHSECONDS={seconds}; EPOCHREALTIME={seconds}.{ms:03}000")
}

/// bashkit's way of telling a refusal by the file system, which no real program has.
const IO_PREFIX: &[u8] = b": io error: ";

/// What was printed to stderr, as a real program words it.
fn in_posix_words(stderr: &[u8]) -> Vec<u8> {
    let mut words = Vec::with_capacity(stderr.len());
    let mut rest = stderr;
    while let Some(at) = memchr::memmem::find(rest, IO_PREFIX) {
        words.extend_from_slice(&rest[..at]);
        words.extend_from_slice(b": ");
        rest = &rest[at + IO_PREFIX.len()..];
    }
    words.extend_from_slice(rest);
    words
}

/// Runs one command from the beginning to its end: its result and the folder it ends in.
async fn script(
    command: Command,
    running: Arc<Running>,
    out: Printed,
) -> bashkit::Result<(ExecResult, String)> {
    let mut shell = build(&command, &running);
    let memory = command.memory.as_ref();
    if let Some(state) = memory.and_then(|memory| memory.kept::<ShellState>()) {
        shell.restore_shell_state(&state);
    }
    shell.exec(&preamble(&running)).await?;
    let options =
        ExecOptions::new()
            .stdin(command.stdin)
            .streaming(Box::new(move |stdout, stderr| {
                out.print(stdout.as_bytes(), &in_posix_words(stderr.as_bytes()));
            }));
    let result = shell.exec_with_options(&command.line, options).await?;
    let cwd = shell.shell_state_view().cwd;
    if let Some(memory) = memory {
        memory.keep(shell.shell_state());
    }
    Ok((result, cwd.to_string_lossy().into_owned()))
}

fn is_offered(name: &str) -> bool {
    !system::NOT_OFFERED.contains(&name)
}

/// What a script must not use, and how the complaint names it: it can neither be
/// seeded nor be taken over.
fn refused(script: &str) -> Option<&'static str> {
    if reads_entropy(script) {
        return Some("$SRANDOM, which is real entropy");
    }
    // A coprocess runs beside the script and unseen by the dispatch.
    let parsed = script
        .contains("coproc")
        .then(|| Parser::new(script).parse());
    parsed
        .and_then(Result::ok)
        .is_some_and(|tree| format!("{tree:?}").contains("CoprocCommand"))
        .then_some("coprocesses")
}

/// Whether a script expands `SRANDOM`: as a parameter, or by its name in arithmetic.
fn reads_entropy(script: &str) -> bool {
    let arithmetic = script.contains("((") || script.contains("let ");
    script
        .match_indices("SRANDOM")
        .any(|(at, _)| arithmetic || script[..at].ends_with(['$', '{', '#', '!']))
}

/// What the shell prints where a limit of its own ends a command and the script goes
/// on: nothing that any real shell would say, so it must not pass for an outcome.
const LIMIT_WORDS: &[&str] = &["maximum nesting depth exceeded", "AST nesting"];

fn limited(text: &str) -> Option<Ran> {
    let word = LIMIT_WORDS.iter().find(|words| text.contains(**words))?;
    Some(Ran::Lacks {
        what: format!("a script as deep as this: {word}"),
        hint: "say under `commands:` what it does".to_owned(),
    })
}

fn exited(result: ExecResult, cwd: &str, out: &Printed) -> Ran {
    if result.stdout_truncated || result.stderr_truncated {
        return Ran::Lacks {
            what: format!("output of more than {} bytes", settings::OUTPUT_MAX_BYTES),
            hint: "let the command print less".to_owned(),
        };
    }
    if let Some(lacks) = limited(&result.stderr.text_lossy()) {
        return lacks;
    }
    let stderr = in_posix_words(result.stderr.as_bytes());
    out.complete(result.stdout.into_bytes(), stderr);
    out.exited(result.exit_code, normalize("/", cwd))
}

fn lacking(running: &Running) -> Ran {
    let lack = running.lack().unwrap_or_else(|| state::Lack {
        what: "an end of this command".to_owned(),
        hint: "say under `commands:` what it does".to_owned(),
    });
    Ran::Lacks {
        what: lack.what,
        hint: lack.hint,
    }
}

#[async_trait]
impl Shell for VirtualShell {
    async fn run(&self, command: &Command, actor: &Actor) -> Ran {
        if let Some(ran) = answer::answer(&self.fixtures, command, actor).await {
            return ran;
        }
        if command.line.len() > settings::LINE_MAX_BYTES {
            return Ran::Lacks {
                what: format!("command lines over {} bytes", settings::LINE_MAX_BYTES),
                hint: "put the script into a file of the world".to_owned(),
            };
        }
        if let Some(what) = refused(&command.line) {
            return Ran::Lacks {
                what: what.to_owned(),
                hint: "say under `commands:` what this command does".to_owned(),
            };
        }
        let running = Arc::new(Running::new(
            actor.clone(),
            self.fixtures.clone(),
            PROVIDED.clone(),
        ));
        let out = Printed::default();
        let script = self.run_script(command, &running, &out);
        let sim = actor.world().sim();
        sim.timeout(actor.id(), command.timeout_ms, script)
            .await
            .unwrap_or_else(|| Ran::TimedOut {
                after_ms: command.timeout_ms,
                merged: out.so_far(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_expansion_of_srandom_reads_entropy() {
        for script in [
            "echo $SRANDOM",
            "${SRANDOM}",
            "echo $((SRANDOM % 6))",
            "let x=SRANDOM",
        ] {
            assert!(reads_entropy(script), "{script}");
        }
        for script in ["grep SRANDOM a.txt", "echo SRANDOM", "$RANDOM"] {
            assert!(!reads_entropy(script), "{script}");
        }
    }

    #[test]
    fn the_prefix_of_refusals_goes_and_all_else_stays() {
        let words =
            |text: &str| String::from_utf8_lossy(&in_posix_words(text.as_bytes())).into_owned();
        assert_eq!(
            words("mv: x: io error: No\ny: io error: z"),
            "mv: x: No\ny: z"
        );
        assert_eq!(words("io error: x"), "io error: x");
        assert_eq!(words(""), "");
    }
}
