//! What the end of a handler means (`semantics.md §2.4`).

use super::event::OnExit2;
use super::{Handler, HookEvent, Output};
use crate::profile::{HookDecisions, HookExit2, HookFailed, HookOtherExit, Profile};
use crate::sim::ActorId;
use crate::trace;
use crate::words::Behavior;
use std::sync::Arc;

/// A notice quotes at most so many characters of what a hook printed.
const QUOTED_CHARS: usize = 200;

/// How a handler came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It has no say.
    None,
    Said(Behavior),
    /// Exit 2.
    Block,
    Timeout,
    CannotStart,
    /// It printed what no hook may say.
    Garbage,
    /// An exit code other than 0 and 2, or a status of HTTP other than 2xx.
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

    /// Without what it permits: an allow, a rewrite, changes of the settings.
    pub(super) fn without_permits(mut self) -> HookRun {
        let output = &mut self.output;
        let permitted = output.behavior == Some(Behavior::Allow)
            || output.updated_input.is_some()
            || !output.updates.is_empty();
        if !permitted {
            return self;
        }
        output.updated_input = None;
        output.updates = Vec::new();
        if output.behavior == Some(Behavior::Allow) {
            output.behavior = None;
            output.reason = None;
        }
        if self.verdict == Verdict::Said(Behavior::Allow) {
            self.verdict = Verdict::None;
        }
        let why = "its settings file could not be read whole, so nothing that it allows counts";
        self.notice = Some(match self.notice.take() {
            Some(notice) => format!("{notice}; {why}"),
            None => why.to_owned(),
        });
        self
    }

    /// Whether it refuses what it was asked about.
    pub(super) fn refuses(&self) -> bool {
        self.verdict == Verdict::Block || self.output.behavior == Some(Behavior::Deny)
    }
}

/// How a handler ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    Exited {
        code: i32,
        stdout: Vec<u8>,
        stderr: Vec<u8>,
    },
    /// A response of HTTP.
    Answered {
        status: u16,
        body: Vec<u8>,
    },
    /// It never ran; why.
    NotStarted(String),
    TimedOut {
        after_ms: u64,
    },
    /// It printed more than that, and what it printed is not looked at.
    TooMuch {
        code: i32,
        max_bytes: usize,
    },
}

/// Says what ends of one handler mean.
pub(super) struct Judge<'a> {
    pub handler: &'a Handler,
    pub id: ActorId,
    pub place: u32,
    pub profile: &'a Profile,
}

/// What was printed, read: see [`Output::read`].
type Read = Result<Option<Output>, String>;

impl Judge<'_> {
    pub fn of(&self, end: End) -> HookRun {
        match end {
            End::Exited {
                code,
                stdout,
                stderr,
            } => {
                let stderr = String::from_utf8_lossy(&stderr);
                let mut run = self.exited(code, self.read(&stdout), &stderr);
                if code == 0 && run.verdict == Verdict::None {
                    let text = self.plain_context(&stdout);
                    let context = run.output.additional_context.take();
                    run.output.additional_context = context.or(text);
                }
                run
            }
            End::Answered { status, body } => self.answered(status, &body),
            End::NotStarted(why) => {
                let how = self.profile.hook_cannot_start;
                self.went_wrong(None, Verdict::CannotStart, how, &why)
            }
            End::TimedOut { after_ms } => {
                let what = format!("did not end within {after_ms} ms");
                self.went_wrong(None, Verdict::Timeout, self.profile.hook_timeout, &what)
            }
            End::TooMuch { code, max_bytes } => {
                let wrong = format!("printed more than {max_bytes} bytes");
                self.exited(code, Err(wrong), "")
            }
        }
    }

    /// Plain text that succeeded, for an event where that is context.
    fn plain_context(&self, stdout: &[u8]) -> Option<String> {
        let text = String::from_utf8_lossy(stdout);
        let text = text.trim();
        let is_context = self.handler.event.plain_text_is_context()
            && !text.is_empty()
            && !text.starts_with('{');
        is_context.then(|| text.to_owned())
    }

    fn read(&self, stdout: &[u8]) -> Read {
        let output = Output::read(self.handler.event, &String::from_utf8_lossy(stdout))?;
        let behavior = output.as_ref().and_then(|output| output.behavior);
        match behavior {
            Some(said)
                if self.profile.hook_decisions == HookDecisions::DenyOnly
                    && self.handler.event == HookEvent::PreToolUse
                    && said != Behavior::Deny =>
            {
                Err(format!(
                    "permissionDecision: this runtime knows only deny, found {said}"
                ))
            }
            _ => Ok(output),
        }
    }

    fn exited(&self, code: i32, output: Read, stderr: &str) -> HookRun {
        if code == 2 {
            match self.handler.event.on_exit_2() {
                OnExit2::Blocks => return self.exited_2(output, stderr),
                OnExit2::TellsUser => {
                    let mut run = self.plain(Some(2), Verdict::None, Output::default());
                    run.notice = Some(format!("hook {}: {}", run.label, quoted(stderr)));
                    return run;
                }
                OnExit2::AsAnyCode => {}
            }
        }
        let json_decides = code == 0 || self.profile.hook_other_exit == HookOtherExit::JsonDecides;
        match (code, output) {
            (_, Ok(Some(output))) if json_decides => self.said(Some(code), output),
            (_, Err(wrong)) if json_decides => {
                self.went_wrong(Some(code), Verdict::Garbage, HookFailed::Notice, &wrong)
            }
            (0, _) => self.plain(Some(0), Verdict::None, Output::default()),
            (126 | 127, _) => {
                let how = self.profile.hook_cannot_start;
                self.went_wrong(Some(code), Verdict::CannotStart, how, &quoted(stderr))
            }
            (code, _) => self.failed(Some(code), &format!("exit {code}: {}", quoted(stderr))),
        }
    }

    fn exited_2(&self, output: Read, stderr: &str) -> HookRun {
        match (self.profile.hook_exit_2, output) {
            (HookExit2::UnlessJson, Ok(Some(output))) => self.said(Some(2), output),
            (HookExit2::UnlessJson | HookExit2::UnlessInvalidJson, Err(wrong)) => {
                self.went_wrong(Some(2), Verdict::Garbage, HookFailed::Notice, &wrong)
            }
            (_, output) => self.blocked(output.ok().flatten().unwrap_or_default(), stderr),
        }
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
        let mut run = self.plain(Some(2), Verdict::Block, output);
        run.notice = run.output.system_message.clone();
        run
    }

    /// A response of HTTP: it cannot block by its status.
    fn answered(&self, status: u16, body: &[u8]) -> HookRun {
        if !(200..300).contains(&status) {
            return self.failed(None, &format!("the status is {status}"));
        }
        match self.read(body) {
            Ok(Some(output)) => self.said(None, output),
            Ok(None) if body.iter().all(u8::is_ascii_whitespace) => {
                self.plain(None, Verdict::None, Output::default())
            }
            Ok(None) => self.failed(None, "the body is no JSON object"),
            Err(wrong) => self.went_wrong(None, Verdict::Garbage, HookFailed::Notice, &wrong),
        }
    }

    fn said(&self, exit: Option<i32>, output: Output) -> HookRun {
        let verdict = output.behavior.map_or(Verdict::None, Verdict::Said);
        let mut run = self.plain(exit, verdict, output);
        run.notice = run.output.system_message.clone();
        run
    }

    fn failed(&self, exit: Option<i32>, what: &str) -> HookRun {
        let how = match self.profile.hook_other_exit {
            HookOtherExit::GoOn => HookFailed::GoOn,
            HookOtherExit::Notice | HookOtherExit::JsonDecides => HookFailed::Notice,
        };
        self.went_wrong(exit, Verdict::Failed, how, what)
    }

    fn plain(&self, exit: Option<i32>, verdict: Verdict, output: Output) -> HookRun {
        HookRun {
            actor: self.id,
            event: self.handler.event,
            label: self.handler.label(),
            exit,
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
        let mut run = self.plain(exit, verdict, Output::default());
        let said = format!("hook {}: {what}", run.label);
        let decides = self.handler.event == HookEvent::PreToolUse;
        let behavior = match how {
            HookFailed::Ask if decides => Some(Behavior::Ask),
            HookFailed::Deny if decides => Some(Behavior::Deny),
            _ => None,
        };
        run.output.behavior = behavior;
        run.output.reason = behavior.map(|_| said.clone());
        run.notice = (how != HookFailed::GoOn).then_some(said);
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
