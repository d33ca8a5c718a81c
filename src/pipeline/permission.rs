//! Step 5: may it run.

use super::{Carried, Desk, Finished, Hooked, Stopped};
use crate::permission::Judged;
use crate::tools::{Entry, Outcome};
use crate::trace::Event;
use crate::words::{Behavior, Class, Flag, Step};
use serde_json::Value;
use std::sync::Arc;

/// A call that may run, with the input that was judged.
pub struct Permitted {
    pub(super) carried: Box<Carried>,
    pub(super) entry: Arc<Entry>,
    pub(super) input: Value,
    pub(super) flags: Vec<Flag>,
    _made_here: (),
}

/// Lets the five layers decide, calls of a batch in their order. An input that the
/// prompt rewrote is checked and judged again: what runs is what was judged.
pub async fn step(hooked: Hooked, desk: &Desk) -> Result<Permitted, Stopped> {
    let mut hooked = hooked;
    hooked.carried.reach(Step::Permission).await;
    let began = hooked.carried.now_ms();
    hooked.carried.turnstile.wait(hooked.carried.place).await;
    let queued = hooked.carried.now_ms() - began;
    let mut rewritten_by_user = false;
    loop {
        let judged = Judged {
            cx: &hooked.carried.cx,
            tool: hooked.entry.tool(),
            input: &hooked.input,
            hook: hooked.verdict.clone(),
            deputy: None,
            granted_by_user: rewritten_by_user,
        };
        let decided = desk.permissions.decide(&judged).await;
        let now = hooked.carried.now_ms();
        for prompt in decided.prompts {
            hooked.carried.log.push(now, Event::Prompt(prompt));
        }
        let behavior = decided.decision.behavior;
        hooked
            .carried
            .log
            .push(now, Event::Decision(decided.decision));
        hooked.carried.times.permission_ms = now - began;
        if behavior != Behavior::Allow {
            hooked.carried.turnstile.pass(hooked.carried.place);
            let outcome = Outcome::error(decided.class, decided.text);
            let mut stopped = Finished::stop(hooked.carried, Step::Permission, outcome, began);
            stopped.stop_agent =
                (decided.class == Class::Deferred).then(|| "tool_deferred".to_owned());
            return Err(stopped);
        }
        match decided.updated_input {
            Some(input) if !rewritten_by_user => {
                rewritten_by_user = true;
                // In a box, like all that hardly any call goes through: otherwise the
                // future of every call has room for it.
                hooked = Box::pin(hooked.rewritten(&input, desk)).await?;
            }
            _ => break,
        }
    }
    hooked.carried.turnstile.pass(hooked.carried.place);
    hooked.carried.passed(Step::Permission, began, queued);
    hooked.carried.leave(Step::Permission, desk).await;
    let Hooked {
        carried,
        entry,
        input,
        flags,
        ..
    } = hooked;
    Ok(Permitted {
        carried,
        entry,
        input,
        flags,
        _made_here: (),
    })
}
