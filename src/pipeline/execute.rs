//! Step 6: it runs.

use super::{Carried, Desk, Permitted, Stopped};
use crate::tools::{Entry, Outcome, Permit, Progress};
use crate::trace::{self, Event, Verdict};
use crate::words::Step;
use async_trait::async_trait;
use serde_json::Value;
use std::sync::Arc;

/// A call that has run, well or not.
pub struct Executed {
    pub(super) carried: Box<Carried>,
    pub(super) entry: Arc<Entry>,
    pub(super) input: Value,
    pub(super) outcome: Outcome,
    _made_here: (),
}

/// Runs the tool. A failure of the tool is an outcome and goes on to step 7.
pub async fn step(permitted: Permitted, desk: &Desk) -> Result<Executed, Stopped> {
    let Permitted {
        mut carried,
        entry,
        input,
        flags,
        ..
    } = permitted;
    carried.reach(Step::Execute).await;
    let began = carried.now_ms();
    carried
        .cx
        .world
        .sleep_ms(desk.latency_ms(entry.tool()))
        .await;
    let reports = Reports { carried: &carried };
    let mut outcome = entry
        .tool()
        .call(&input, &carried.cx, &reports, &reports)
        .await;
    for flag in flags {
        outcome = outcome.with_flag(flag);
    }
    carried.times.running_ms = carried.now_ms() - began;
    let (verdict, class) = match outcome.is_error() {
        true => (Verdict::Stop, Some(outcome.class)),
        false => (Verdict::Pass, None),
    };
    let detail = outcome
        .is_error()
        .then(|| super::finished::first_line(&outcome.text()));
    carried.step(Step::Execute, verdict, class, detail, began, 0);
    carried.leave(Step::Execute, desk).await;
    Ok(Executed {
        carried,
        entry,
        input,
        outcome,
        _made_here: (),
    })
}

/// What a running tool may tell and ask.
struct Reports<'a> {
    carried: &'a Carried,
}

impl Progress for Reports<'_> {
    fn report(&self, data: Value) {
        let event = trace::Progress {
            call: self.carried.id.id.clone(),
            data,
        };
        self.carried
            .log
            .push(self.carried.now_ms(), Event::Progress(event));
    }
}

#[async_trait]
impl Permit for Reports<'_> {
    /// No tool that is here asks in the middle of its work; who does is refused, as
    /// where nobody can be asked.
    async fn ask(&self, question: &str) -> bool {
        let event = trace::Prompt {
            call: self.carried.id.id.clone(),
            question: question.to_owned(),
            answer: "none".to_owned(),
            waited_ms: 0,
        };
        self.carried
            .log
            .push(self.carried.now_ms(), Event::Prompt(event));
        false
    }
}
