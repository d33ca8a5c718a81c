//! Step 5: may it run.

use super::hook_desk::Seen;
use super::{Carried, Desk, Finished, Hooked, Stopped};
use crate::permission::{Decided, Deputy, DeputyAnswer, HookVerdict, Judged, Request};
use crate::profile::HookRewriteChecked;
use crate::tools::{Entry, Outcome};
use crate::trace::Event;
use crate::words::{Behavior, Class, Flag, Layer, Mode, Step};
use async_trait::async_trait;
use serde_json::Value;
use std::sync::{Arc, Mutex};

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
    let mut before = hooked.before.take();
    if desk.env.profile.hook_rewrite_checked == HookRewriteChecked::ParseValidateRulesBoth
        && let Some(input) = before.take()
    {
        let judged = judged(&hooked, &input, None, false);
        if let Some(denied) = desk.permissions.denied(&judged).await {
            let heard = Heard::default();
            return Err(Box::pin(refused(hooked, denied, heard, began, desk)).await);
        }
    }
    if desk.env.profile.hook_rewrite_checked != HookRewriteChecked::Nothing {
        before = None;
    }
    let (mut rewritten_by_user, mut answered_by_hook) = (false, false);
    loop {
        let heard = Mutex::default();
        let deputy = HookDeputy {
            seen: Seen {
                carried: &hooked.carried,
                tool: hooked.entry.tool(),
                input: &hooked.input,
                desk,
            },
            heard: &heard,
        };
        let deputy = (!answered_by_hook).then_some(&deputy as &dyn Deputy);
        let input = before.as_ref().unwrap_or(&hooked.input);
        let judged = judged(&hooked, input, deputy, rewritten_by_user);
        let mut decided = desk.permissions.decide(&judged).await;
        before = None;
        let heard = heard
            .into_inner()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        if decided.class != Class::Ok || heard.complaint.is_some() {
            return Err(Box::pin(refused(hooked, decided, heard, began, desk)).await);
        }
        let by_hook = decided.decision.layer == Layer::Hook;
        let updated = decided.updated_input.take();
        note(&hooked.carried, decided);
        hooked.carried.times.permission_ms = hooked.carried.now_ms() - began;
        match updated {
            // What a hook wrote is judged by the rules; what the user wrote only by those
            // that deny. In a box, like all that hardly any call goes through: otherwise
            // the future of every call has room for it.
            Some(input) if by_hook && !answered_by_hook => {
                answered_by_hook = true;
                hooked = Box::pin(hooked.rewritten(&input, desk)).await?;
                hooked.verdict = Some(HookVerdict {
                    behavior: Behavior::Allow,
                    reason: "a hook rewrote the input and allowed it".to_owned(),
                });
            }
            Some(input) if !by_hook && !rewritten_by_user => {
                rewritten_by_user = true;
                hooked = Box::pin(hooked.rewritten(&input, desk)).await?;
            }
            _ => break,
        }
    }
    hooked
        .carried
        .turnstile
        .permitted(hooked.carried.place, || hooked.known());
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

fn judged<'a>(
    hooked: &'a Hooked,
    input: &'a Value,
    deputy: Option<&'a dyn Deputy>,
    granted_by_user: bool,
) -> Judged<'a> {
    Judged {
        cx: &hooked.carried.cx,
        tool: hooked.entry.tool(),
        input,
        hook: hooked.verdict.clone(),
        deputy,
        granted_by_user,
    }
}

/// Notes a decision and the prompts on the way to it.
fn note(carried: &Carried, decided: Decided) {
    let now = carried.now_ms();
    for prompt in decided.prompts {
        carried.log.push(now, Event::Prompt(prompt));
    }
    carried.log.push(now, Event::Decision(decided.decision));
}

/// The end of a call that may not run.
async fn refused(
    hooked: Hooked,
    mut decided: Decided,
    heard: Heard,
    began: u64,
    desk: &Desk,
) -> Stopped {
    let Hooked {
        mut carried,
        entry,
        input,
        ..
    } = hooked;
    let text = std::mem::take(&mut decided.text);
    let (class, layer) = (decided.class, decided.decision.layer);
    note(&carried, decided);
    carried.times.permission_ms = carried.now_ms() - began;
    let mut complaint = heard.complaint;
    if layer == Layer::Classifier && desk.permissions.mode() == Mode::Auto && complaint.is_none() {
        let seen = Seen {
            carried: &carried,
            tool: entry.tool(),
            input: &input,
            desk,
        };
        match desk.hooks.permission_denied(seen, &text).await {
            Ok(true) => carried.contexts.push(RETRY.to_owned()),
            Ok(false) => {}
            Err(what) => complaint = Some(what),
        }
    }
    carried.turnstile.pass(carried.place);
    let outcome = match complaint {
        Some(complaint) => Outcome::complaint(complaint),
        None => Outcome::error(class, text),
    };
    let mut stopped = Finished::stop(carried, Step::Permission, outcome, began);
    let deferred = (class == Class::Deferred).then(|| "tool_deferred".to_owned());
    stopped.stop_agent = deferred.or(heard.stop).or(stopped.stop_agent);
    stopped
}

const RETRY: &str = "A PermissionDenied hook says that the refused call may be tried again.";

/// What the hooks that answered in the user's place said beside their answer.
#[derive(Default)]
struct Heard {
    /// What the scenario lacks.
    complaint: Option<String>,
    /// The agent must stop, and why.
    stop: Option<String>,
}

/// The PermissionRequest hooks, in the user's place.
struct HookDeputy<'a> {
    seen: Seen<'a>,
    heard: &'a Mutex<Heard>,
}

impl HookDeputy<'_> {
    fn hear(&self, change: impl FnOnce(&mut Heard)) {
        change(
            &mut self
                .heard
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner()),
        );
    }
}

#[async_trait]
impl Deputy for HookDeputy<'_> {
    async fn answer(&self, request: &Request<'_>) -> Option<DeputyAnswer> {
        let hooks = &self.seen.desk.hooks;
        let said = match hooks
            .permission_request(self.seen, || request.suggestions())
            .await
        {
            Ok(said) => said,
            Err(complaint) => {
                let message = complaint.clone();
                self.hear(|heard| heard.complaint = Some(complaint));
                return Some(DeputyAnswer::Deny { message });
            }
        };
        let message = said.message.unwrap_or_default();
        let interrupt = said.interrupt.then(|| message.clone());
        if let Some(why) = said.stop.or(interrupt) {
            self.hear(|heard| heard.stop = Some(why));
            return Some(DeputyAnswer::Deny { message });
        }
        match said.behavior? {
            Behavior::Allow => Some(DeputyAnswer::Allow {
                updated_input: said.updated_input,
                updates: said.updates,
            }),
            _ => Some(DeputyAnswer::Deny { message }),
        }
    }
}
