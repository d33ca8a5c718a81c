//! What the calls of a run share while they pass through the steps.

use super::{Carried, touch};
use crate::hooks::{
    self, HookCx, HookEvent, HookInput, HookRun, Hooks, PostOutcome, PreOutcome, combine_post,
    combine_pre,
};
use crate::permission::Permissions;
use crate::profile::PostHookOnError;
use crate::sim::{ActorId, Resource};
use crate::tools::{Outcome, Pool, Tool, ToolEnv};
use crate::trace::{self, Event};
use crate::words::{CallId, Step};
use crate::world::{Applied, World};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

/// Everything a step needs that is not the call's own.
pub struct Desk {
    pub env: Arc<ToolEnv>,
    pub pool: Arc<Pool>,
    pub hooks: HookDesk,
    pub permissions: Arc<Permissions>,
    pub interrupt: Arc<Interrupt>,
}

impl Desk {
    /// Virtual milliseconds that a call of `tool` takes: as the tool itself says, else as
    /// the run's settings do.
    pub fn latency_ms(&self, tool: &dyn Tool) -> u64 {
        let set = || self.env.latency_ms.get(tool.name()).copied();
        tool.latency_ms().or_else(set).unwrap_or(0)
    }
}

/// The hooks of a run and where they run.
pub struct HookDesk {
    pub hooks: Hooks,
    pub cx: HookCx,
    pub session_id: String,
}

impl HookDesk {
    /// Whether a hook may rewrite a call of `tool` before it runs.
    pub fn may_rewrite(&self, tool: &str) -> bool {
        self.hooks
            .matching(HookEvent::PreToolUse, tool)
            .next()
            .is_some()
    }

    /// Runs the hooks before a call. An error is what the scenario lacks.
    pub(super) async fn run_pre(
        &self,
        carried: &Carried,
        input: &Value,
        desk: &Desk,
    ) -> Result<PreOutcome, String> {
        if !self.may_rewrite(&carried.tool_name) {
            return Ok(PreOutcome::default());
        }
        let facts = self.facts(HookEvent::PreToolUse, carried, input, desk);
        let (runs, _) = Box::pin(self.run(carried, facts)).await?;
        Ok(combine_pre(&runs, self.cx.profile.hook_rewrite_winner))
    }

    /// Runs the hooks after a call, with what became of it.
    pub(super) async fn run_post(
        &self,
        carried: &Carried,
        input: &Value,
        outcome: &Outcome,
        edited: Option<&str>,
        desk: &Desk,
    ) -> Result<PostOutcome, String> {
        let failure = self.cx.profile.post_hook_on_error == PostHookOnError::PostToolUseFailure;
        let event = match outcome.is_error() && failure {
            true => HookEvent::PostToolUseFailure,
            false => HookEvent::PostToolUse,
        };
        if self
            .hooks
            .matching(event, &carried.tool_name)
            .next()
            .is_none()
        {
            return Ok(PostOutcome::default());
        }
        let response = outcome
            .data
            .clone()
            .unwrap_or_else(|| Value::String(outcome.text()));
        let facts = HookInput {
            tool_response: Some(response),
            is_error: Some(outcome.is_error()),
            duration_ms: Some(carried.times.running_ms),
            ..self.facts(event, carried, input, desk)
        };
        let (runs, written) = Box::pin(self.run(carried, facts)).await?;
        if self.cx.profile.formatter_hook_refreshes_state {
            Box::pin(self.refresh(carried, edited, &written)).await;
        }
        Ok(combine_post(&runs, self.cx.profile.hook_rewrite_winner))
    }

    fn facts<'a>(
        &'a self,
        event: HookEvent,
        carried: &'a Carried,
        input: &'a Value,
        desk: &Desk,
    ) -> HookInput<'a> {
        HookInput {
            event,
            session_id: &self.session_id,
            cwd: &self.cx.cwd,
            mode: desk.permissions.mode(),
            tool_name: &carried.tool_name,
            tool_input: input,
            tool_use_id: &carried.id.id,
            tool_response: None,
            is_error: None,
            duration_ms: None,
        }
    }

    async fn run(
        &self,
        carried: &Carried,
        facts: HookInput<'_>,
    ) -> Result<(Vec<HookRun>, Vec<Resource>), String> {
        let stdin = hooks::stdin(&facts);
        let number = carried.id.number;
        let ran = hooks::run(
            &self.hooks,
            facts.event,
            &carried.tool_name,
            number,
            &stdin,
            &self.cx,
        )
        .await;
        let runs = ran.map_err(|lacks| lacks.to_string())?;
        let mut written = Vec::new();
        for run in &runs {
            let by = run.actor.to_string().into();
            let (accesses, events) = touch::operations(&self.cx.world, run.actor, &by);
            carried.log.extend(events);
            carried.log.push(
                carried.now_ms(),
                Event::Hook(run.event(Some(carried.id.id.clone()))),
            );
            let writes = accesses
                .into_iter()
                .filter(|access| access.op.kind.writes());
            written.extend(writes.map(|access| access.op.resource));
        }
        Ok((runs, written))
    }

    /// What a post-hook made of the file that the call had just edited (a formatter does
    /// so) is known to the agent, not a change that it has not seen.
    async fn refresh(&self, carried: &Carried, edited: Option<&str>, written: &[Resource]) {
        let Some(path) = edited else { return };
        let hit = |resource: &Resource| matches!(resource, Resource::File(file) if **file == *path);
        if written.iter().any(hit) {
            // A file that is gone meanwhile has no state to refresh.
            let _ = carried
                .cx
                .env
                .files
                .refresh(&carried.cx.world, path, carried.id.number)
                .await;
        }
    }

    /// Stops the hooks of a call that is cut off.
    pub fn cancel(&self, world: &World, number: u32) {
        let count = self.hooks.handlers.len() as u32;
        for sub in (0..count).chain((0..count).map(|sub| hooks::POST_SUB + sub)) {
            world.sim().cancel(ActorId::hook(number, sub));
        }
    }
}

/// The moment at which the user interrupts, and whether it has come.
#[derive(Debug, Default)]
pub struct Interrupt {
    /// A call, by id or by its number as text, and the step after which it comes.
    after: Option<(String, Step)>,
    raised: AtomicBool,
    notify: Notify,
}

impl Interrupt {
    /// An interrupt right after a call has left a step.
    pub fn after_step(call: String, step: Step) -> Interrupt {
        Interrupt {
            after: Some((call, step)),
            ..Interrupt::default()
        }
    }

    /// If this is the moment, interrupts; the call that brought it about goes no further,
    /// unless it has been through everything.
    pub(super) async fn after(&self, id: &CallId, step: Step) {
        let is_it = self.after.as_ref().is_some_and(|(call, after)| {
            *after == step && (**call == *id.id || call.parse() == Ok(id.number))
        });
        if is_it && !self.raised.swap(true, Ordering::Relaxed) {
            self.notify.notify_waiters();
            if step != Step::PostHook {
                std::future::pending::<()>().await;
            }
        }
    }

    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::Relaxed)
    }

    /// Waits until the user interrupts.
    pub async fn raised(&self) {
        let waiting = self.notify.notified();
        if !self.is_raised() {
            waiting.await;
        }
    }
}

/// The event of an outside change; `before` names the call and the step it waited for.
pub fn outside_event(applied: Applied, before: Option<(&CallId, Step)>) -> Event {
    let failed = applied.failed.map(|error| format!(" (failed: {error})"));
    Event::Outside(trace::Outside {
        actor: applied.actor.to_string(),
        change: format!("{}{}", applied.change, failed.unwrap_or_default()),
        before: before.map(|(id, step)| (id.id.clone(), step)),
    })
}
