//! The tool Bash: one command line.

use super::{
    Footprint, Outcome, Permit, Progress, ReadOnly, Refusal, RuleSubject, Tool, ToolCx, fields,
};
use crate::shell::{Command, Ran, ShellMemory};
use crate::shell_syntax::{CommandLine, Part, analyze, is_read_only};
use crate::sim::{OpKind, Resource};
use crate::words::Class;
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::LazyLock;

/// How long a command may run if it does not say (`semantics.md §3.5`).
const TIMEOUT_DEFAULT_MS: u64 = 120_000;
/// A longer time-out is cut to this.
const TIMEOUT_MAX_MS: u64 = 600_000;

/// Commands whose exit code 1 says "no" and not "it failed" (`semantics.md §3.5`).
const ONE_IS_NO: [&str; 8] = ["grep", "rg", "egrep", "fgrep", "find", "diff", "test", "["];
/// Commands of `git` of which the same holds.
const ONE_IS_NO_OF_GIT: [&str; 2] = ["diff", "grep"];

/// Commands that take things away for good.
const DESTRUCTIVE: [&str; 8] = [
    "rm", "rmdir", "shred", "dd", "mkfs", "truncate", "kill", "mv",
];

/// Runs a command line in the shell.
pub struct Bash;

#[derive(Deserialize)]
struct Input {
    command: String,
    #[serde(default, deserialize_with = "fields::whole")]
    timeout: Option<i64>,
    #[serde(default)]
    run_in_background: Option<bool>,
}

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": "The command line, for bash."},
            "timeout": {"type": "integer", "description": "Milliseconds after which it is stopped: 120000 if left out, 600000 at most."},
            "description": {"type": "string", "description": "What it does, in a few words, for the person who is asked."},
            "run_in_background": {"type": "boolean", "description": "Not supported yet: leave it out."}
        },
        "required": ["command"],
        "additionalProperties": false
    })
});

#[async_trait]
impl Tool for Bash {
    fn name(&self) -> &str {
        "Bash"
    }

    fn search_hint(&self) -> &str {
        "run shell command terminal execute program build test git"
    }

    fn description(&self) -> &str {
        "Runs a command line in bash and shows its output, stdout and stderr together. The working \
         folder stays for the next command as long as it is inside the project; variables do not. \
         Use it to run programs: builds, tests, git. Use Read, Grep, Glob, Edit and Write for files: \
         they say more and keep track of what you have seen."
    }

    fn input_schema(&self) -> &Value {
        &SCHEMA
    }

    fn read_only(&self) -> ReadOnly {
        ReadOnly::PerInput
    }

    fn is_read_only(&self, input: &Value) -> bool {
        fields::read::<Input>(input).is_ok_and(|input| line_is_read_only(&input.command))
    }

    fn is_destructive(&self, input: &Value) -> bool {
        let Ok(input) = fields::read::<Input>(input) else {
            return false;
        };
        line_destroys(&input.command)
    }

    /// A line that only reads may read anything and leaves the shell as it was; any other is alone.
    fn footprint(&self, _cx: &ToolCx, input: &Value) -> Footprint {
        let Ok(input) = fields::read::<Input>(input) else {
            return Footprint::exclusive();
        };
        let line = analyze(&input.command);
        if !is_read_only(&line) || moves(&line) {
            return Footprint::exclusive();
        }
        Footprint::reads([Resource::Subtree("/".into()), Resource::ShellSession])
    }

    fn rule_subject(&self, _cx: &ToolCx, input: &Value) -> RuleSubject {
        fields::read::<Input>(input).map_or(RuleSubject::None, |input| {
            RuleSubject::Command(input.command)
        })
    }

    fn summary(&self, input: &Value) -> String {
        let command = input["command"].as_str().unwrap_or_default();
        super::units::one_line(command, super::SUMMARY_UNITS)
    }

    async fn validate_input(&self, input: &Value, _cx: &ToolCx) -> Result<(), Refusal> {
        let input: Input = fields::read(input)?;
        if input.run_in_background == Some(true) {
            return Err(Refusal::new(
                Class::InvalidInput,
                "commands in the background are not there yet. Call again without run_in_background.",
            ));
        }
        check_line(&input.command)
    }

    async fn call(
        &self,
        input: &Value,
        cx: &ToolCx,
        _permit: &dyn Permit,
        _progress: &dyn Progress,
    ) -> Outcome {
        match fields::read::<Input>(input) {
            Ok(input) => run(cx, &input).await,
            Err(refusal) => refusal.into(),
        }
    }
}

/// Whether a line only reads.
pub(super) fn line_is_read_only(line: &str) -> bool {
    is_read_only(&analyze(line))
}

/// Whether a line takes something away for good.
pub(super) fn line_destroys(line: &str) -> bool {
    let destroys = |part: &Part| {
        let name = part.words.first().map(|word| word.text.as_str());
        name.is_some_and(|name| DESTRUCTIVE.contains(&name))
    };
    analyze(line).parts.iter().any(destroys)
}

/// Refuses what is no command line.
pub(super) fn check_line(line: &str) -> Result<(), Refusal> {
    let refused = |text: &str| Err(Refusal::new(Class::InvalidInput, text));
    if line.trim().is_empty() {
        return refused("the command is empty. Say what to run.");
    }
    if line.contains('\0') {
        return refused("the command holds a NUL character. Leave it out.");
    }
    Ok(())
}

/// Whether a line can change the shell's working folder.
fn moves(line: &CommandLine) -> bool {
    line.parts.iter().any(|part| {
        let name = part.words.first().map(|word| word.text.as_str());
        matches!(name, Some("cd" | "pushd" | "popd"))
    })
}

/// The time-out that a call gets: the default for none or less than 1, at most the ceiling.
fn timeout_ms(asked: Option<i64>) -> u64 {
    asked
        .and_then(|ms| u64::try_from(ms).ok())
        .filter(|ms| *ms > 0)
        .unwrap_or(TIMEOUT_DEFAULT_MS)
        .min(TIMEOUT_MAX_MS)
}

async fn run(cx: &ToolCx, input: &Input) -> Outcome {
    let session_cwd = cx.env.session.shell_cwd(&cx.world).await;
    let cwd = session_cwd.unwrap_or_else(|| cx.env.cwd.clone());
    let command = Command {
        timeout_ms: timeout_ms(input.timeout),
        ..command(cx, &input.command, cwd.clone())
    };
    match cx.env.shell.run(&command, &cx.world).await {
        Ran::Exited {
            code,
            stdout,
            stderr,
            merged,
            cwd: ended_in,
        } => {
            let moved = moved(cx, &cwd, ended_in).await;
            let outcome = exited(&input.command, code, &stdout, &stderr, &merged);
            match moved {
                Some(note) => outcome.with_note(&note),
                None => outcome,
            }
        }
        Ran::TimedOut { after_ms, merged } => timed_out(after_ms, &merged),
        Ran::Lacks { what, hint } => Outcome::complaint(format!("{what}. {hint}")),
    }
}

/// Runs a line in a shell that remembers what earlier lines left behind.
pub(super) async fn run_remembering(cx: &ToolCx, line: &str, memory: &ShellMemory) -> Outcome {
    cx.world.op(Resource::ShellSession, OpKind::Write).await;
    let command = Command {
        memory: Some(memory.clone()),
        ..command(cx, line, cx.env.cwd.clone())
    };
    match cx.env.shell.run(&command, &cx.world).await {
        Ran::Exited {
            code,
            stdout,
            stderr,
            merged,
            cwd: _,
        } => exited(line, code, &stdout, &stderr, &merged),
        Ran::TimedOut { after_ms, merged } => {
            memory.stick();
            timed_out(after_ms, &merged)
        }
        Ran::Lacks { what, hint } => Outcome::complaint(format!("{what}. {hint}")),
    }
}

/// The command of a line with the environment of the run and the usual time-out.
fn command(cx: &ToolCx, line: &str, cwd: String) -> Command {
    let env = &cx.env;
    let mut variables = env.shell_env.clone();
    for (name, value) in [("HOME", &env.home), ("PWD", &cwd)] {
        variables.retain(|(known, _)| known != name);
        variables.push((name.to_owned(), value.clone()));
    }
    variables.sort();
    Command {
        line: line.to_owned(),
        cwd,
        env: variables,
        stdin: Vec::new(),
        timeout_ms: TIMEOUT_DEFAULT_MS,
        memory: None,
    }
}

/// Keeps the folder that a command ended in, if it is inside; else says that it was reset.
async fn moved(cx: &ToolCx, from: &str, to: String) -> Option<String> {
    if to == from {
        return None;
    }
    let env = &cx.env;
    let inside = std::iter::once(&env.cwd)
        .chain(&env.additional_dirs)
        .any(|dir| dir == "/" || to == *dir || to.starts_with(&format!("{dir}/")));
    if inside {
        env.session.set_shell_cwd(&cx.world, to).await;
        return None;
    }
    if from != env.cwd {
        env.session.set_shell_cwd(&cx.world, env.cwd.clone()).await;
    }
    Some(format!(
        "[The shell's working folder was reset to {}: {to} is outside the project.]",
        env.cwd
    ))
}

/// Output as text: what is not UTF-8 becomes U+FFFD, line ends at the end are left out.
fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.trim_end_matches(['\n', '\r']).to_owned()
}

fn exited(line: &str, code: i32, stdout: &[u8], stderr: &[u8], merged: &[u8]) -> Outcome {
    let output = text(merged);
    let mut data = json!({
        "stdout": text(stdout),
        "stderr": text(stderr),
        "interrupted": false,
        "exitCode": code,
    });
    if code == 0 || (code == 1 && one_is_no(line)) {
        if code == 1 {
            data["returnCodeInterpretation"] = json!("no match or a difference, not a failure");
        }
        let output = match (output.is_empty(), code) {
            (false, _) => output,
            (true, 0) => "[The command ended without output.]".to_owned(),
            (true, _) => {
                "[The command ended with exit code 1, which is its \"no\", without output.]"
                    .to_owned()
            }
        };
        return Outcome::ok(output).with_data(data);
    }
    let what = if output.is_empty() {
        format!(
            "the command ended with exit code {code} and without output. Find out why before you go on."
        )
    } else {
        format!("the command ended with exit code {code}. Its output tells why:\n{output}")
    };
    Outcome::error(Class::ExitNonzero, what).with_data(data)
}

fn timed_out(after_ms: u64, merged: &[u8]) -> Outcome {
    let output = text(merged);
    let so_far = if output.is_empty() {
        "It had given no output.".to_owned()
    } else {
        format!("Its output until then:\n{output}")
    };
    let what = format!(
        "the command was stopped after {after_ms} ms. Give it a longer timeout (at most {TIMEOUT_MAX_MS}) or less to do. {so_far}"
    );
    Outcome::error(Class::Timeout, what).with_data(json!({
        "stdout": output,
        "stderr": "",
        "interrupted": true,
        "timedOutAfterMs": after_ms,
    }))
}

/// Whether exit code 1 of a line is an answer: that of the command it ends with.
fn one_is_no(line: &str) -> bool {
    let line = analyze(line);
    let Some(words) = line.parts.last().map(|part| &part.words) else {
        return false;
    };
    let word = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    let name = word(0).rsplit('/').next().unwrap_or_default();
    !line.nested
        && (ONE_IS_NO.contains(&name) || (name == "git" && ONE_IS_NO_OF_GIT.contains(&word(1))))
}
