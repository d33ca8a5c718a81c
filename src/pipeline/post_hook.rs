//! Step 7: hooks that see what became of a call.

use super::hook_desk::Seen;
use super::{Desk, Executed, Finished, Kept, finished::first_line, keep};
use crate::tools::{Outcome, ResultContent, RuleSubject};
use crate::trace::Verdict;
use crate::words::Step;
use serde_json::Value;

/// Runs the matching hooks with name, input and result, error or not, then brings the
/// result to its final size.
pub async fn step(executed: Executed, desk: &Desk) -> Finished {
    let Executed {
        mut carried,
        entry,
        input,
        mut outcome,
        ..
    } = executed;
    carried.reach(Step::PostHook).await;
    let began = carried.now_ms();
    let edited = match entry.tool().rule_subject(&carried.cx, &input) {
        RuleSubject::EditPath(path) => Some(path),
        _ => None,
    };
    let failed_in_execute = outcome.is_error();
    let mut stop_agent = carried.stop_agent.take();
    let mut complaint = outcome.complaint.clone();
    let seen = Seen {
        carried: &carried,
        tool: entry.tool(),
        input: &input,
        desk,
    };
    match desk.hooks.run_post(seen, &outcome, edited.as_deref()).await {
        Ok(ran) => {
            carried.contexts.extend(ran.contexts);
            stop_agent = ran.stop.or(stop_agent);
            if let Some(output) = ran.updated_output {
                outcome.content = content_of(output);
            }
        }
        Err(what) => {
            outcome = Outcome::complaint(what.clone());
            complaint = Some(what);
        }
    }
    outcome.content = entry.tool().to_result_block(&outcome);
    let Kept {
        outcome,
        full_chars,
        saved_to,
    } = keep(outcome, entry.tool(), &carried.cx).await;
    if complaint.is_some() && !failed_in_execute {
        let detail = Some(first_line(&outcome.text()));
        carried.step(
            Step::PostHook,
            Verdict::Stop,
            Some(outcome.class),
            detail,
            began,
            0,
        );
    } else {
        carried.passed(Step::PostHook, began, 0);
    }
    carried.leave(Step::PostHook, desk).await;
    Finished {
        step: if failed_in_execute {
            Step::Execute
        } else {
            Step::PostHook
        },
        outcome,
        full_chars,
        saved_to,
        times: carried.times,
        contexts: carried.contexts,
        stop_agent,
        complaint,
    }
}

/// What a hook puts in place of a result: text as it is, anything else as its JSON.
fn content_of(output: Value) -> ResultContent {
    ResultContent::Text(match output {
        Value::String(text) => text,
        other => other.to_string(),
    })
}
