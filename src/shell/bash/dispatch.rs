//! Decides for every command of a script, just before the shell would run it,
//! whether the shell's own is right: an answer of the scenario, a program by its
//! path, and what would read the real clock or real entropy are taken over here,
//! and a program that nobody provides is a complaint.
//!
//! The shell tells of each command by a trace event and then looks for it first
//! among the functions of the script, then in the registry given here. So an
//! entry put into the registry during the event serves that one command.

use super::programs;
use super::state::Running;
use super::system;
use crate::world::normalize;
use async_trait::async_trait;
use bashkit::{
    Builtin, BuiltinContext, BuiltinRegistry, CommandResolver, Error, ExecResult, ExecutionPlan,
    Result, SubCommand, TraceEvent, TraceEventDetails,
};
use std::path::Path;
use std::sync::Arc;

/// What follows the shell's commands.
#[derive(Clone)]
pub(super) struct Dispatch {
    running: Arc<Running>,
    registry: BuiltinRegistry,
}

impl Dispatch {
    pub fn new(running: Arc<Running>, registry: BuiltinRegistry) -> Dispatch {
        Dispatch { running, registry }
    }

    /// Takes the shell's word that a command begins or has ended.
    pub fn heard(&self, event: &TraceEvent) {
        self.running.gets_on();
        match &event.details {
            TraceEventDetails::CommandStart { command, argv, cwd } => {
                self.begins(command, argv, cwd);
            }
            TraceEventDetails::CommandExit {
                command, exit_code, ..
            } => {
                self.registry.remove(command);
                if is_shell(command) {
                    self.running.shell_ends(*exit_code);
                }
            }
            _ => {}
        }
    }

    fn begins(&self, name: &str, args: &[String], cwd: &str) {
        if is_shell(name) {
            let file = script_operand(args).map(|file| normalize(cwd, file));
            if let Some(file) = &file {
                self.running.runs_file(file.clone());
            }
            self.running.shell_begins(file);
        }
        if is_shell(name) || name == "eval" {
            args.iter().for_each(|arg| self.running.reads_script(arg));
        }
        if matches!(name, "source" | ".")
            && let Some(file) = args.first()
        {
            self.running.runs_file(normalize(cwd, file));
        }
        // `command NAME` runs the program without telling of it again.
        if name == "command"
            && let Some(at) = command_operand(args)
        {
            self.place(&args[at], &args[at + 1..]);
        }
        self.place(name, args);
    }

    /// Puts into the registry what shall run as `name`, or takes it out.
    fn place(&self, name: &str, args: &[String]) {
        match self.instead(name, args) {
            Some(builtin) => self.registry.insert(name, builtin),
            None => {
                self.registry.remove(name);
            }
        }
    }

    fn instead(&self, name: &str, args: &[String]) -> Option<Arc<dyn Builtin>> {
        let running = &self.running;
        if running.passes(name) {
            return None;
        }
        if let Some(answer) = answered(running, name, args) {
            return Some(answer);
        }
        if name.contains('/') {
            return Some(Arc::new(ByPath {
                running: running.clone(),
                path: name.to_owned(),
            }));
        }
        if running.provides(name) {
            return programs::instead(running, name, args);
        }
        Some(Arc::new(ByName {
            running: running.clone(),
            name: name.to_owned(),
        }))
    }
}

/// The last resort for names that no event told of.
impl CommandResolver for Dispatch {
    fn resolve(&self, name: &str) -> Option<Arc<dyn Builtin>> {
        Some(Arc::new(ByName {
            running: self.running.clone(),
            name: name.to_owned(),
        }))
    }
}

/// The scenario's answer to a program with its arguments, if it has one.
fn answered(running: &Arc<Running>, name: &str, args: &[String]) -> Option<Arc<dyn Builtin>> {
    let name = system::program_at(name).unwrap_or(name);
    let argv = joined(name, args);
    let fits = running
        .fixtures
        .has(|fixture| fixture.answers_program(&argv));
    fits.then(|| {
        Arc::new(Answered {
            running: running.clone(),
            argv,
        }) as Arc<dyn Builtin>
    })
}

fn joined(name: &str, args: &[String]) -> String {
    let words = std::iter::once(name).chain(args.iter().map(String::as_str));
    words.collect::<Vec<_>>().join(" ")
}

fn is_shell(name: &str) -> bool {
    matches!(name, "bash" | "sh")
}

/// Where in the arguments of `command` the program is that it runs, if it runs one.
fn command_operand(args: &[String]) -> Option<usize> {
    for (at, arg) in args.iter().enumerate() {
        match arg.as_str() {
            "-p" => {}
            "--" => return (at + 1 < args.len()).then_some(at + 1),
            flag if flag.starts_with('-') && flag.len() > 1 => return None,
            _ => return Some(at),
        }
    }
    None
}

/// The script file among the arguments of `bash`, if it runs one.
fn script_operand(args: &[String]) -> Option<&str> {
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        match arg {
            "-c" | "-s" => return None,
            "--" => return args.next(),
            "-o" | "+o" | "-O" | "+O" | "--rcfile" | "--init-file" => {
                args.next();
            }
            flags if flags.starts_with('-') && !flags.starts_with("--") => {
                if flags.contains('c') || flags.contains('s') {
                    return None;
                }
                if flags.ends_with('o') {
                    args.next();
                }
            }
            flag if flag.starts_with('-') || flag.starts_with('+') => {}
            script => return Some(script),
        }
    }
    None
}

/// The error that ends a script after a complaint was noted.
pub(super) fn stop() -> Error {
    Error::Cancelled
}

/// A program with the arguments and the input of the command that stands for it.
fn run(name: &str, args: Vec<String>, ctx: &BuiltinContext<'_>) -> ExecutionPlan {
    ExecutionPlan::Batch {
        commands: vec![SubCommand {
            name: name.to_owned(),
            args,
            stdin: ctx.stdin.cloned(),
            assignments: Vec::new(),
        }],
    }
}

/// Lets a command through to the shell's own, with other arguments.
pub(super) fn pass(
    running: &Running,
    name: &str,
    args: Vec<String>,
    ctx: &BuiltinContext<'_>,
) -> ExecutionPlan {
    running.pass(name);
    run(name, args, ctx)
}

/// What the scenario says that a program does.
struct Answered {
    running: Arc<Running>,
    argv: String,
}

#[async_trait]
impl Builtin for Answered {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let running = &self.running;
        let taken = running
            .fixtures
            .take(|fixture| fixture.answers_program(&self.argv));
        let Some(fixture) = taken else {
            // Its last use went to another command meanwhile.
            running.lacks_program(&self.argv, &self.argv);
            return Err(stop());
        };
        let cwd = ctx.cwd.to_string_lossy().into_owned();
        let acted = match running.touching() {
            Some(touching) => fixture.act(touching.actor, &cwd).await,
            None => Err("it ran on another thread".to_owned()),
        };
        if let Err(why) = acted {
            running.lacks(
                &format!("the files that an answer under `commands:` writes: {why}"),
                "correct its `writes`",
            );
            return Err(stop());
        }
        Ok(ExecResult {
            stdout: fixture.stdout.into(),
            stderr: fixture.stderr.into(),
            exit_code: fixture.exit,
            ..ExecResult::default()
        })
    }
}

/// A program that the shell does not have: a script in the search path, or a complaint.
struct ByName {
    running: Arc<Running>,
    name: String,
}

#[async_trait]
impl Builtin for ByName {
    async fn execution_plan(&self, ctx: &BuiltinContext<'_>) -> Result<Option<ExecutionPlan>> {
        let path = ctx.variables.get("PATH").or_else(|| ctx.env.get("PATH"));
        for dir in path.map(String::as_str).unwrap_or_default().split(':') {
            let dir = if dir.is_empty() { "." } else { dir };
            let file = format!("{}/{}", dir.trim_end_matches('/'), self.name);
            let path = absolute(ctx, &file);
            if self.running.stub(&path).is_some() {
                // Only answers know this program, and none of them fits.
                continue;
            }
            let found = ctx.fs.stat(Path::new(&path)).await;
            if found.is_ok_and(|meta| meta.file_type.is_file() && meta.mode & 0o111 != 0) {
                return Ok(Some(run(&file, ctx.args.to_vec(), ctx)));
            }
        }
        self.running
            .lacks_program(&self.name, &joined(&self.name, ctx.args));
        Err(stop())
    }

    async fn execute(&self, _ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        Err(stop())
    }
}

/// A program that is run by its path.
struct ByPath {
    running: Arc<Running>,
    path: String,
}

#[async_trait]
impl Builtin for ByPath {
    async fn execution_plan(&self, ctx: &BuiltinContext<'_>) -> Result<Option<ExecutionPlan>> {
        let running = &self.running;
        let argv = joined(&self.path, ctx.args);
        let file = absolute(ctx, &self.path);
        let meta = match ctx.fs.stat(Path::new(&file)).await {
            Ok(meta) => meta,
            Err(_) => {
                running.lacks_program(&self.path, &argv);
                return Err(stop());
            }
        };
        if !meta.file_type.is_file() || meta.mode & 0o111 == 0 {
            return Ok(Some(pass(running, &self.path, ctx.args.to_vec(), ctx)));
        }
        let content = ctx.fs.read_file(Path::new(&file)).await?;
        if let Some(name) = system::program_at(&file)
            && running
                .stub(&file)
                .is_some_and(|stub| stub.as_bytes() == content)
        {
            if !running.provides(name) {
                running.lacks_program(&self.path, &argv);
                return Err(stop());
            }
            return Ok(Some(run(name, ctx.args.to_vec(), ctx)));
        }
        match Interpreter::of(&content) {
            Interpreter::ThisShell(flags) if flags.is_empty() => {
                running.reads_script(&String::from_utf8_lossy(&content));
                Ok(Some(pass(running, &self.path, ctx.args.to_vec(), ctx)))
            }
            Interpreter::ThisShell(mut args) => {
                args.push(self.path.clone());
                args.extend(ctx.args.iter().cloned());
                Ok(Some(run("bash", args, ctx)))
            }
            Interpreter::Other(program, mut args) => {
                args.push(self.path.clone());
                args.extend(ctx.args.iter().cloned());
                Ok(Some(run(&program, args, ctx)))
            }
            Interpreter::Machine => {
                running.lacks_program(&self.path, &argv);
                Err(stop())
            }
        }
    }

    async fn execute(&self, _ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        Err(stop())
    }
}

fn absolute(ctx: &BuiltinContext<'_>, path: &str) -> String {
    normalize(&ctx.cwd.to_string_lossy(), path)
}

/// Who runs an executable file.
#[derive(Debug, PartialEq, Eq)]
enum Interpreter {
    /// This shell, with the flags of the file's first line.
    ThisShell(Vec<String>),
    /// Another program, with its arguments before the file.
    Other(String, Vec<String>),
    /// No interpreter: it is machine code.
    Machine,
}

/// How much of a file tells whether it is text, as a shell looks at it.
const TEXT_PROBE_BYTES: usize = 256;

impl Interpreter {
    fn of(content: &[u8]) -> Interpreter {
        let Some(rest) = content.strip_prefix(b"#!") else {
            let probe = &content[..content.len().min(TEXT_PROBE_BYTES)];
            return if probe.contains(&0) {
                Interpreter::Machine
            } else {
                Interpreter::ThisShell(Vec::new())
            };
        };
        let line = rest.split(|&b| b == b'\n').next().unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        let mut words = line.split_whitespace().map(str::to_owned);
        let Some(mut program) = words.next() else {
            return Interpreter::ThisShell(Vec::new());
        };
        if program.rsplit('/').next() == Some("env") {
            match words
                .by_ref()
                .find(|w| !w.starts_with('-') && !w.contains('='))
            {
                Some(named) => program = named,
                None => return Interpreter::Machine,
            }
        }
        let args = words.collect();
        let name = system::program_at(&program).unwrap_or(&program);
        match name {
            "bash" | "sh" | "dash" => Interpreter::ThisShell(args),
            name => Interpreter::Other(name.to_owned(), args),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|&w| w.to_owned()).collect()
    }

    #[test]
    fn the_first_line_of_a_file_names_its_interpreter() {
        let of = |text: &str| Interpreter::of(text.as_bytes());
        let shell = |flags: &[&str]| Interpreter::ThisShell(words(flags));
        assert_eq!(of("echo hi\n"), shell(&[]));
        assert_eq!(of("#!/bin/sh\necho"), shell(&[]));
        assert_eq!(of("#!/usr/bin/env bash\n"), shell(&[]));
        assert_eq!(of("#! /bin/bash -eu\n"), shell(&["-eu"]));
        assert_eq!(of("#!/usr/bin/env -S X=1 sh -e\n"), shell(&["-e"]));
        assert_eq!(
            of("#!/usr/bin/env python3\nprint()"),
            Interpreter::Other("python3".into(), vec![])
        );
        assert_eq!(
            of("#!/usr/bin/awk -f\n"),
            Interpreter::Other("awk".into(), words(&["-f"]))
        );
        assert_eq!(of("\x7fELF\0\0"), Interpreter::Machine);
    }

    #[test]
    fn a_query_of_command_runs_nothing() {
        assert_eq!(command_operand(&words(&["-v", "git"])), None);
        assert_eq!(command_operand(&words(&["-V", "git"])), None);
        assert_eq!(command_operand(&words(&["git", "-v"])), Some(0));
        assert_eq!(command_operand(&words(&["-p", "--", "git"])), Some(2));
        assert_eq!(command_operand(&[]), None);
    }

    #[test]
    fn the_script_of_a_nested_shell_is_found_among_its_arguments() {
        assert_eq!(script_operand(&words(&["-eu", "x.sh", "-c"])), Some("x.sh"));
        assert_eq!(
            script_operand(&words(&["-euo", "pipefail", "x.sh"])),
            Some("x.sh")
        );
        assert_eq!(script_operand(&words(&["-ec", "exit 127"])), None);
        assert_eq!(script_operand(&words(&["--norc", "--", "-x"])), Some("-x"));
    }
}
