//! What the calls of a run share while they pass through the steps.

use super::HookDesk;
use crate::permission::Permissions;
use crate::tools::{Pool, Tool, ToolEnv};
use crate::trace::{self, Event};
use crate::words::{CallId, Step};
use crate::world::Applied;
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
