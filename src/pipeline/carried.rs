//! What a call carries from step to step.

use super::desk::outside_event;
use super::{Desk, Turnstile, touch};
use crate::tools::{Footprint, ToolCx};
use crate::trace::{Event, StepEvent, Verdict};
use crate::words::{CallId, Class, Step};
use std::sync::{Arc, Mutex};

/// The events of one call, in the order in which they happened to it. Shared with the
/// driver, so that a call which is cut off loses none.
#[derive(Debug, Clone)]
pub struct CallLog(Arc<Mutex<Vec<(u64, Event)>>>);

/// Room for the events of a call that touches little, so that its log never grows.
const EVENTS_OF_A_CALL: usize = 12;

impl Default for CallLog {
    fn default() -> CallLog {
        CallLog(Arc::new(Mutex::new(Vec::with_capacity(EVENTS_OF_A_CALL))))
    }
}

impl CallLog {
    /// Adds `event` at virtual time `at_ms`.
    pub fn push(&self, at_ms: u64, event: Event) {
        self.0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .push((at_ms, event));
    }

    /// Adds `events` in their order.
    pub fn extend(&self, events: Vec<(u64, Event)>) {
        self.0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .extend(events);
    }

    /// The step that a call was in when it was cut off: the one after the last it passed.
    pub fn cut_in(&self) -> Step {
        let log = self
            .0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        let passed = log.iter().rev().find_map(|(_, event)| match event {
            Event::Step(step) if step.verdict != Verdict::Stop => Some(step.step),
            _ => None,
        });
        let next = passed.map_or(0, |step| step as usize + 1);
        Step::ALL.get(next).copied().unwrap_or(Step::PostHook)
    }

    /// Takes every event so far.
    pub fn take(&self) -> Vec<(u64, Event)> {
        std::mem::take(
            &mut *self
                .0
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner()),
        )
    }
}

/// Where a call's time went, in virtual milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times {
    /// From the response to the slot.
    pub queued_ms: u64,
    /// In line for, and waiting on, a decision.
    pub permission_ms: u64,
    pub running_ms: u64,
}

/// The call itself and its surroundings, whichever step it is in.
#[derive(Clone)]
pub struct Carried {
    pub id: CallId,
    /// Its place in the batch, from 0.
    pub place: usize,
    pub turnstile: Arc<Turnstile>,
    pub tool_name: Arc<str>,
    /// The input's JSON as the model wrote it; it may not parse.
    pub raw_input: Arc<str>,
    pub cx: ToolCx,
    pub log: CallLog,
    pub times: Times,
    /// When the batch began.
    pub asked_ms: u64,
    /// What the call declared that it touches, once its input is known.
    pub footprint: Option<Footprint>,
    /// What hooks add for the model, each a text of its own.
    pub contexts: Vec<String>,
    /// A hook said that the agent must stop after this call, and why.
    pub stop_agent: Option<String>,
}

impl Carried {
    /// Virtual time now.
    pub fn now_ms(&self) -> u64 {
        self.cx.world.now_ms()
    }

    /// Logs that `step`, begun at `began_ms`, let the call pass.
    pub fn passed(&self, step: Step, began_ms: u64, queued_ms: u64) {
        self.step(step, Verdict::Pass, None, None, began_ms, queued_ms);
    }

    /// Logs how `step` went.
    pub fn step(
        &self,
        step: Step,
        verdict: Verdict,
        class: Option<Class>,
        detail: Option<String>,
        began_ms: u64,
        queued_ms: u64,
    ) {
        self.operations();
        let now = self.now_ms();
        let event = StepEvent {
            call: self.id.id.clone(),
            step,
            verdict,
            class,
            detail,
            queued_ms,
            took_ms: now - began_ms,
        };
        self.log.push(now, Event::Step(event));
    }

    /// Notes what the call did since the last step, and whether it had declared it.
    pub fn operations(&self) {
        let by = &self.id.id;
        let (accesses, events) = touch::operations(self.cx.world.world(), self.cx.world.id(), by);
        if accesses.is_empty() {
            return;
        }
        self.log.extend(events);
        let real = |path: &str| self.cx.world.world().fs().canonical(path).ok();
        let breach = self.footprint.as_ref().and_then(|footprint| {
            touch::undeclared(footprint, &accesses, &self.cx.env.results_dir, &real, by)
        });
        if let Some(breach) = breach {
            self.log.push(self.now_ms(), breach);
        }
    }

    /// Lets every outside change happen that waits for this call to reach `step`.
    pub async fn reach(&self, step: Step) {
        self.outside(step, true).await;
    }

    /// Lets happen what waits for this call to leave `step`: outside changes, and the
    /// interrupt, from which there is no return.
    pub async fn leave(&self, step: Step, desk: &Desk) {
        self.outside(step, false).await;
        desk.interrupt.after(&self.id, step).await;
    }

    async fn outside(&self, step: Step, before: bool) {
        let world = &self.cx.world;
        // Looked at first: in most runs there is nothing to wait for, at any step.
        if !world.world().outside_waits_for_calls() {
            return;
        }
        let (id, number) = (&self.id.id, self.id.number);
        for applied in world.reach(id, number, step, before).await {
            self.log.push(
                applied.at_ms,
                outside_event(applied, Some((&self.id, step))),
            );
        }
    }
}
