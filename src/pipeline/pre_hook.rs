//! Step 4: hooks that see a call before permission judges it.

use super::{Carried, Desk, Finished, Stopped, Valid, validate};
use crate::permission::HookVerdict;
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
    _made_here: (),
}

/// Runs the matching hooks. A denial ends the call; a rewritten input is checked again
/// as if the model had sent it, but no hook sees it a second time.
pub async fn step(valid: Valid, desk: &Desk) -> Result<Hooked, Stopped> {
    valid.carried.reach(Step::PreHook).await;
    let began = valid.carried.now_ms();
    let ran = match desk.hooks.run_pre(&valid.carried, &valid.input, desk).await {
        Ok(ran) => ran,
        Err(complaint) => {
            let outcome = Outcome::complaint(complaint);
            return Err(Finished::stop(valid.carried, Step::PreHook, outcome, began));
        }
    };
    let mut valid = valid;
    valid.carried.contexts.extend(ran.contexts);
    let reason = ran.reason.unwrap_or_default();
    if let Some(why) = ran.stop {
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
    let rewritten = ran.updated_input.is_some();
    if let Some(input) = ran.updated_input {
        let detail = Some("a hook rewrote the input".to_owned());
        valid
            .carried
            .step(Step::PreHook, Verdict::Rewrite, None, detail, began, 0);
        valid = Box::pin(validate::again(valid, &input, desk)).await?;
    }
    if !rewritten {
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
        _made_here: (),
    })
}

impl Hooked {
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
            _made_here: (),
        })
    }
}
