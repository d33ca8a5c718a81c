//! Step 4: hooks that see a call before permission judges it.

use super::hook_desk::Seen;
use super::{Carried, Desk, Finished, Known, Stopped, Valid, validate};
use crate::permission::HookVerdict;
use crate::profile::{HookContinueFalse, HookRewriteChecked};
use crate::tools::{Entry, Outcome};
use crate::trace::Verdict;
use crate::words::{Behavior, Class, Flag, Step};
use serde_json::Value;
use std::sync::Arc;

/// A call that every pre-hook has seen.
pub struct Hooked {
    pub(super) carried: Box<Carried>,
    pub(super) entry: Arc<Entry>,
    pub(super) input: Value,
    pub(super) flags: Vec<Flag>,
    /// What the hooks say about permission.
    pub(super) verdict: Option<HookVerdict>,
    /// The input as it was, if a hook rewrote it.
    pub(super) before: Option<Value>,
    _made_here: (),
}

/// Runs the matching hooks. A denial ends the call; a rewritten input is checked again
/// as if the model had sent it, but no hook sees it a second time.
pub async fn step(valid: Valid, desk: &Desk) -> Result<Hooked, Stopped> {
    valid.carried.reach(Step::PreHook).await;
    let began = valid.carried.now_ms();
    let seen = Seen {
        carried: &valid.carried,
        tool: valid.entry.tool(),
        input: &valid.input,
        desk,
    };
    let calls = valid.carried.turnstile.calls();
    let ran = match desk.hooks.run_pre(seen, calls).await {
        Ok(ran) => ran,
        Err(complaint) => {
            let outcome = Outcome::complaint(complaint);
            return Err(Finished::stop(valid.carried, Step::PreHook, outcome, began));
        }
    };
    let mut valid = valid;
    valid.carried.contexts.extend(ran.contexts);
    let reason = ran.reason.unwrap_or_default();
    let profile = &desk.env.profile;
    let stops_now = profile.hook_continue_false == HookContinueFalse::BeforeCall;
    if !stops_now {
        valid.carried.stop_agent.clone_from(&ran.stop);
    }
    if let Some(why) = ran.stop.filter(|_| stops_now) {
        let outcome = Outcome::error(
            Class::HookStopped,
            format!("a PreToolUse hook stopped the agent before this call ran: {why}"),
        );
        let mut stopped = Finished::stop(valid.carried, Step::PreHook, outcome, began);
        stopped.stop_agent = Some(why);
        return Err(stopped);
    }
    match ran.verdict {
        Some(Behavior::Deny) => {
            let outcome = Outcome::error(
                Class::DeniedHook,
                format!("a PreToolUse hook refused this call: {reason}"),
            );
            return Err(Finished::stop(valid.carried, Step::PreHook, outcome, began));
        }
        Some(Behavior::Defer) => {
            let outcome = Outcome::error(
                Class::Deferred,
                format!("a PreToolUse hook put this call off; it has not run: {reason}"),
            );
            let mut stopped = Finished::stop(valid.carried, Step::PreHook, outcome, began);
            stopped.stop_agent = Some("tool_deferred".to_owned());
            return Err(stopped);
        }
        _ => {}
    }
    let mut before = None;
    if let Some(input) = ran.updated_input {
        let detail = Some("a hook rewrote the input".to_owned());
        valid
            .carried
            .step(Step::PreHook, Verdict::Rewrite, None, detail, began, 0);
        before = Some(valid.input.clone());
        valid = match profile.hook_rewrite_checked {
            HookRewriteChecked::Nothing => validate::unchecked(valid, input).await,
            _ => Box::pin(validate::again(valid, &input, desk)).await?,
        };
    }
    if before.is_none() {
        valid.carried.passed(Step::PreHook, began, 0);
    }
    valid.carried.leave(Step::PreHook, desk).await;
    let verdict = ran.verdict.map(|behavior| HookVerdict { behavior, reason });
    let Valid {
        carried,
        entry,
        input,
        flags,
        ..
    } = valid;
    Ok(Hooked {
        carried,
        entry,
        input,
        flags,
        verdict,
        before,
        _made_here: (),
    })
}

impl Hooked {
    /// What the call touches with the input it has now.
    pub(super) fn known(&self) -> Known {
        validate::known(&self.carried, &self.entry, &self.input)
    }

    /// The call again as step 3 leaves it, for an input that a prompt rewrote.
    pub(super) async fn rewritten(self, input: &Value, desk: &Desk) -> Result<Hooked, Stopped> {
        let Hooked {
            carried,
            entry,
            input: old,
            flags,
            verdict,
            ..
        } = self;
        let valid = Valid::back(carried, entry, old, flags);
        let Valid {
            carried,
            entry,
            input,
            flags,
            ..
        } = validate::again(valid, input, desk).await?;
        Ok(Hooked {
            carried,
            entry,
            input,
            flags,
            verdict,
            before: None,
            _made_here: (),
        })
    }
}
