//! Runs every handler that matches, side by side, to its end.

use super::{Handler, HookEvent, Hooks, Output};
use crate::profile::{HookFailed, HookOtherExit, Profile};
use crate::shell::{Command, Ran, Shell};
use crate::sim::{ActorId, Died};
use crate::trace;
use crate::words::Behavior;
use crate::world::{Answers, Pattern, World};
use serde_json::Value;
use std::sync::Arc;

/// Hooks that run after a call have numbers from here, those before it from 0.
pub const POST_SUB: u32 = 1_000;
/// A notice quotes at most so many characters of what a hook printed.
const QUOTED_CHARS: usize = 200;

/// What a scenario says that a hook does, in place of running it.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptedHook {
    pub event: Option<HookEvent>,
    /// Over the tool's name.
    pub tool: Option<Pattern>,
    /// Over the handler's command.
    pub command: Option<Pattern>,
    pub exit: i32,
    pub stdout: String,
    pub stderr: String,
    pub delay_ms: u64,
}

/// Where hooks run.
#[derive(Clone)]
pub struct HookCx {
    pub world: World,
    pub shell: Arc<dyn Shell>,
    pub profile: Arc<Profile>,
    pub cwd: String,
    /// Sorted by name.
    pub env: Vec<(String, String)>,
    pub scripted: Arc<Answers<ScriptedHook>>,
}

/// How a handler came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It has no say.
    None,
    Said(Behavior),
    /// Exit 2, or `decision: block`.
    Block,
    Timeout,
    CannotStart,
    /// It printed what no hook may say.
    Garbage,
    /// An exit code other than 0 and 2.
    Failed,
}

impl Verdict {
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::None => "none",
            Verdict::Said(behavior) => behavior.as_str(),
            Verdict::Block => "block",
            Verdict::Timeout => "timeout",
            Verdict::CannotStart => "cannot_start",
            Verdict::Garbage => "garbage",
            Verdict::Failed => "failed",
        }
    }
}

/// One handler that has run.
#[derive(Debug, Clone, PartialEq)]
pub struct HookRun {
    /// Whose operations what it did are.
    pub actor: ActorId,
    pub event: HookEvent,
    pub label: String,
    pub exit: Option<i32>,
    pub verdict: Verdict,
    pub output: Output,
    /// For the user.
    pub notice: Option<String>,
    pub took_ms: u64,
    /// When it ended, and its place in the order of registration.
    pub ended: (u64, u32),
}

impl HookRun {
    /// The event of the trace, for the call `call`.
    pub fn event(&self, call: Option<Arc<str>>) -> trace::Hook {
        trace::Hook {
            call,
            hook_event: self.event.as_str().to_owned(),
            handler: self.label.clone(),
            exit: self.exit,
            verdict: self.verdict.as_str().to_owned(),
            notice: self.notice.clone(),
            rewrite: self.output.updated_input.is_some(),
            took_ms: self.took_ms,
        }
    }
}

/// The shell lacks a program that a hook runs: nothing can be said about the hook.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the hook {hook} needs {what}; hint: {hint}")]
pub struct LacksProgram {
    pub hook: String,
    pub what: String,
    pub hint: String,
}

/// Runs the handlers of `event` for `tool`, call `number`, each with `stdin`; gives
/// them in the order of registration.
pub async fn run(
    hooks: &Hooks,
    event: HookEvent,
    tool: &str,
    number: u32,
    stdin: &Value,
    cx: &HookCx,
) -> Result<Vec<HookRun>, LacksProgram> {
    let first = if event == HookEvent::PreToolUse {
        0
    } else {
        POST_SUB
    };
    let mut started = Vec::new();
    for (place, handler) in (0..).zip(hooks.matching(event, tool)) {
        let id = ActorId::hook(number, first + place);
        let one = One {
            handler: handler.clone(),
            id,
            place,
            tool: tool.to_owned(),
            cx: cx.clone(),
        };
        let stdin = stdin.to_string().into_bytes();
        started.push((handler, cx.world.sim().spawn(id, one.run(stdin))));
    }
    let mut runs = Vec::with_capacity(started.len());
    let mut lacks = None;
    for (handler, joined) in started {
        match joined.await {
            Ok(Ok(run)) => runs.push(run),
            Ok(Err(lack)) => lacks = lacks.or(Some(lack)),
            Err(died) => lacks = lacks.or(Some(died_of(handler, died))),
        }
    }
    lacks.map_or(Ok(runs), Err)
}

fn died_of(handler: &Handler, died: Died) -> LacksProgram {
    LacksProgram {
        hook: handler.label(),
        what: format!("a shell that does not break ({died:?})"),
        hint: "script its outcome under `answers`".to_owned(),
    }
}

/// One handler on its way.
struct One {
    handler: Handler,
    id: ActorId,
    place: u32,
    tool: String,
    cx: HookCx,
}

impl One {
    async fn run(self, stdin: Vec<u8>) -> Result<HookRun, LacksProgram> {
        let actor = self.cx.world.actor(self.id);
        let began = actor.now_ms();
        let handler = &self.handler;
        let scripted = self.cx.scripted.take(|answer| {
            answer.event.is_none_or(|event| event == handler.event)
                && answer
                    .tool
                    .as_ref()
                    .is_none_or(|tool| tool.matches(&self.tool))
                && answer
                    .command
                    .as_ref()
                    .is_none_or(|command| command.matches(&handler.command))
        });
        let ran = match scripted {
            Some(answer) if answer.delay_ms >= handler.timeout_ms => {
                actor.sleep_ms(handler.timeout_ms).await;
                Ran::TimedOut {
                    after_ms: handler.timeout_ms,
                    merged: Vec::new(),
                }
            }
            Some(answer) => {
                actor.sleep_ms(answer.delay_ms).await;
                Ran::Exited {
                    code: answer.exit,
                    merged: Vec::new(),
                    stdout: answer.stdout.clone().into_bytes(),
                    stderr: answer.stderr.clone().into_bytes(),
                    cwd: self.cx.cwd.clone(),
                }
            }
            None => {
                let command = Command {
                    line: handler.command.clone(),
                    cwd: self.cx.cwd.clone(),
                    env: self.cx.env.clone(),
                    stdin,
                    timeout_ms: handler.timeout_ms,
                };
                self.cx.shell.run(&command, &actor).await
            }
        };
        let ended = (actor.now_ms(), self.place);
        let mut run = self.judge(ran)?;
        run.took_ms = actor.now_ms() - began;
        run.ended = ended;
        Ok(run)
    }

    /// What an end means (`semantics.md §2.4`).
    fn judge(&self, ran: Ran) -> Result<HookRun, LacksProgram> {
        let (code, stdout, stderr) = match ran {
            Ran::Exited {
                code,
                stdout,
                stderr,
                ..
            } => (code, stdout, stderr),
            Ran::TimedOut { after_ms, .. } => {
                let what = format!("did not end within {after_ms} ms");
                return Ok(self.went_wrong(
                    None,
                    Verdict::Timeout,
                    self.cx.profile.hook_timeout,
                    &what,
                ));
            }
            Ran::Lacks { what, hint } => {
                return Err(LacksProgram {
                    hook: self.handler.label(),
                    what,
                    hint,
                });
            }
        };
        let stdout = String::from_utf8_lossy(&stdout);
        let stderr = String::from_utf8_lossy(&stderr);
        let output = Output::read(&stdout);
        let json_decides =
            code == 0 || self.cx.profile.hook_other_exit == HookOtherExit::JsonDecides;
        Ok(match (code, output) {
            (2, output) => self.blocked(output.ok().flatten().unwrap_or_default(), &stderr),
            (_, Ok(Some(output))) if json_decides => self.said(code, output),
            (0, Ok(_)) => self.plain(code, Verdict::None, Output::default()),
            (_, Err(wrong)) if json_decides => {
                self.went_wrong(Some(code), Verdict::Garbage, HookFailed::Notice, &wrong)
            }
            (126 | 127, _) => {
                let how = self.cx.profile.hook_cannot_start;
                self.went_wrong(Some(code), Verdict::CannotStart, how, &quoted(&stderr))
            }
            (code, _) => {
                let how = match self.cx.profile.hook_other_exit {
                    HookOtherExit::GoOn => HookFailed::GoOn,
                    HookOtherExit::Notice | HookOtherExit::JsonDecides => HookFailed::Notice,
                };
                let what = format!("exit {code}: {}", quoted(&stderr));
                self.went_wrong(Some(code), Verdict::Failed, how, &what)
            }
        })
    }

    /// Exit 2 blocks, whatever the JSON says; its reason is better than stderr.
    fn blocked(&self, output: Output, stderr: &str) -> HookRun {
        let own = output
            .reason
            .clone()
            .filter(|_| output.behavior == Some(Behavior::Deny));
        let reason = own.unwrap_or_else(|| stderr.trim_end().to_owned());
        let output = Output {
            behavior: Some(Behavior::Deny),
            reason: Some(reason),
            updated_input: None,
            ..output
        };
        let mut run = self.plain(2, Verdict::Block, output);
        run.notice = run.output.system_message.clone();
        run
    }

    fn said(&self, code: i32, output: Output) -> HookRun {
        let verdict = output.behavior.map_or(Verdict::None, Verdict::Said);
        let mut run = self.plain(code, verdict, output);
        run.notice = run.output.system_message.clone();
        run
    }

    fn plain(&self, code: i32, verdict: Verdict, output: Output) -> HookRun {
        HookRun {
            actor: self.id,
            event: self.handler.event,
            label: self.handler.label(),
            exit: Some(code),
            verdict,
            output,
            notice: None,
            took_ms: 0,
            ended: (0, self.place),
        }
    }

    fn went_wrong(
        &self,
        exit: Option<i32>,
        verdict: Verdict,
        how: HookFailed,
        what: &str,
    ) -> HookRun {
        let mut run = self.plain(0, verdict, Output::default());
        run.exit = exit;
        run.notice = (how == HookFailed::Notice).then(|| format!("hook {}: {what}", run.label));
        run
    }
}

/// The first line of what a hook printed, shortened.
fn quoted(text: &str) -> String {
    text.lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(QUOTED_CHARS)
        .collect()
}
