//! Runs handlers, side by side, each to its end.

use super::handler::quoted_line;
use super::judge::{End, Judge};
use super::{Handler, HookEvent, HookRun, What};
use crate::profile::{HooksTogether, Profile};
use crate::shell::{Command, Ran, Shell};
use crate::sim::{ActorId, Died, Joined};
use crate::world::{Actor, Answers, Pattern, World};
use serde_json::Value;
use std::sync::Arc;

/// What a hook may print to either stream; more is not looked at.
const OUTPUT_MAX_BYTES: usize = 32 * 1024 * 1024;
/// The status of a scripted response of HTTP, if none is told.
const STATUS_OK: u16 = 200;

/// What a scenario says that a hook does, in place of running it.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptedHook {
    pub event: Option<HookEvent>,
    /// Over the tool's name.
    pub tool: Option<Pattern>,
    /// Over the handler's command, URL or prompt.
    pub command: Option<Pattern>,
    pub exit: i32,
    /// Of HTTP, whose body is `stdout`; 0 is a connection that fails.
    pub status: Option<u16>,
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
    /// Where texts over their limit are saved.
    pub results_dir: String,
    /// Sorted by name.
    pub env: Vec<(String, String)>,
    pub scripted: Arc<Answers<ScriptedHook>>,
}

impl HookCx {
    /// The environment of a command: that of the run, and where the project is.
    fn env(&self) -> Vec<(String, String)> {
        const PROJECT: &str = "CLAUDE_PROJECT_DIR";
        let mut env = self.env.clone();
        if let Err(at) = env.binary_search_by(|(name, _)| name.as_str().cmp(PROJECT)) {
            env.insert(at, (PROJECT.to_owned(), self.cwd.clone()));
        }
        env
    }
}

/// What handlers run for.
#[derive(Debug, Clone, Copy)]
pub struct Occasion<'a> {
    pub event: HookEvent,
    /// The tool of the call; empty for an event of the session.
    pub tool: &'a str,
    /// The call's number; 0 for an event of the session.
    pub number: u32,
    /// The number of the first handler's actor; see [`HookEvent::first_sub`].
    pub first_sub: u32,
}

/// The scenario does not say what a hook does, and nothing here can run it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the hook {hook} needs {what}; hint: {hint}")]
pub struct LacksProgram {
    pub hook: String,
    pub what: String,
    pub hint: String,
}

/// Runs `handlers`, each with `stdin`; gives them in their order.
pub async fn run(
    handlers: &[&Handler],
    occasion: &Occasion<'_>,
    stdin: &Value,
    cx: &HookCx,
) -> Result<Vec<HookRun>, LacksProgram> {
    let stdin: Arc<[u8]> = stdin.to_string().into_bytes().into();
    let starts = (0..).zip(handlers).map(|(place, handler)| {
        let id = ActorId::hook(occasion.number, occasion.first_sub + place);
        let one = One {
            handler: (*handler).clone(),
            id,
            place,
            tool: occasion.tool.to_owned(),
            cx: cx.clone(),
        };
        let stdin = stdin.clone();
        move || cx.world.sim().spawn(id, one.run(stdin))
    });
    let mut runs = Vec::with_capacity(handlers.len());
    if cx.profile.hooks_together == HooksTogether::UntilDeny {
        for (handler, start) in handlers.iter().zip(starts) {
            let run = ended(handler, start()).await?;
            let refuses = run.refuses();
            runs.push(run);
            if refuses {
                break;
            }
        }
        return Ok(runs);
    }
    let started: Vec<_> = starts.map(|start| start()).collect();
    let mut lacks = None;
    for (handler, joined) in handlers.iter().zip(started) {
        match ended(handler, joined).await {
            Ok(run) => runs.push(run),
            Err(lack) => lacks = lacks.or(Some(lack)),
        }
    }
    lacks.map_or(Ok(runs), Err)
}

/// Waits for a handler that was started.
async fn ended(
    handler: &Handler,
    joined: Joined<Result<HookRun, LacksProgram>>,
) -> Result<HookRun, LacksProgram> {
    joined
        .await
        .unwrap_or_else(|died| Err(died_of(handler, died)))
}

fn died_of(handler: &Handler, died: Died) -> LacksProgram {
    LacksProgram {
        hook: handler.label(),
        what: format!("a shell that does not break ({died:?})"),
        hint: SCRIPT_IT.to_owned(),
    }
}

const SCRIPT_IT: &str = "script its outcome under `hooks: {answers: […]}`";

/// One handler on its way.
struct One {
    handler: Handler,
    id: ActorId,
    place: u32,
    tool: String,
    cx: HookCx,
}

impl One {
    async fn run(self, stdin: Arc<[u8]>) -> Result<HookRun, LacksProgram> {
        let actor = self.cx.world.actor(self.id);
        let began = actor.now_ms();
        let end = match self.scripted() {
            Some(answer) => self.as_scripted(answer, &actor).await,
            None => self.in_shell(&stdin, &actor).await?,
        };
        let ended = (actor.now_ms(), self.place);
        let mut run = self.judge(end);
        run.took_ms = actor.now_ms() - began;
        run.ended = ended;
        Ok(run)
    }

    fn judge(&self, end: End) -> HookRun {
        let judge = Judge {
            handler: &self.handler,
            id: self.id,
            place: self.place,
            profile: &self.cx.profile,
        };
        let end = match end {
            End::Exited {
                code,
                stdout,
                stderr,
            } if stdout.len().max(stderr.len()) > OUTPUT_MAX_BYTES => End::TooMuch {
                code,
                max_bytes: OUTPUT_MAX_BYTES,
            },
            other => other,
        };
        let run = judge.of(end);
        match self.handler.only_restricts {
            true => run.without_permits(),
            false => run,
        }
    }

    fn timeout_ms(&self) -> u64 {
        self.handler.timeout_ms(&self.cx.profile)
    }

    /// What the scenario says that it does.
    fn scripted(&self) -> Option<ScriptedHook> {
        let handler = &self.handler;
        self.cx.scripted.take(|answer| {
            answer.event.is_none_or(|event| event == handler.event)
                && answer
                    .tool
                    .as_ref()
                    .is_none_or(|tool| tool.matches(&self.tool))
                && answer
                    .command
                    .as_ref()
                    .is_none_or(|command| command.matches(handler.what.text()))
        })
    }

    async fn as_scripted(&self, answer: ScriptedHook, actor: &Actor) -> End {
        let after_ms = self.timeout_ms();
        if answer.delay_ms >= after_ms {
            actor.sleep_ms(after_ms).await;
            return End::TimedOut { after_ms };
        }
        actor.sleep_ms(answer.delay_ms).await;
        let stdout = answer.stdout.into_bytes();
        match (&self.handler.what, answer.status.unwrap_or(STATUS_OK)) {
            (What::Http { .. }, 0) => End::NotStarted("the connection failed".to_owned()),
            (What::Http { .. }, status) => End::Answered {
                status,
                body: stdout,
            },
            _ => End::Exited {
                code: answer.exit,
                stdout,
                stderr: answer.stderr.into_bytes(),
            },
        }
    }

    async fn in_shell(&self, stdin: &[u8], actor: &Actor) -> Result<End, LacksProgram> {
        let line = match &self.handler.what {
            What::Command { line, args: None } => line.clone(),
            What::Command {
                line,
                args: Some(args),
            } => quoted_line(line, args),
            What::Http { .. } => return Err(self.lacks("a server", SCRIPT_IT)),
            What::Scripted { kind, .. } => {
                return Err(self.lacks(
                    &format!("an answer, as a handler of type {kind}"),
                    SCRIPT_IT,
                ));
            }
        };
        let command = Command {
            line,
            cwd: self.cx.cwd.clone(),
            env: self.cx.env(),
            stdin: stdin.to_vec(),
            timeout_ms: self.timeout_ms(),
            memory: None,
        };
        match self.cx.shell.run(&command, actor).await {
            Ran::Exited {
                code,
                stdout,
                stderr,
                ..
            } => Ok(End::Exited {
                code,
                stdout,
                stderr,
            }),
            Ran::TimedOut { after_ms, .. } => Ok(End::TimedOut { after_ms }),
            Ran::Lacks { what, hint } => Err(self.lacks(&what, &hint)),
        }
    }

    fn lacks(&self, what: &str, hint: &str) -> LacksProgram {
        LacksProgram {
            hook: self.handler.label(),
            what: what.to_owned(),
            hint: hint.to_owned(),
        }
    }
}
