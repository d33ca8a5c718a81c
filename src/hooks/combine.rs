//! One outcome of what several hooks said (`semantics.md §2.6`).

use super::{HookRun, Verdict};
use crate::profile::HookRewriteWinner;
use crate::settings::PermissionUpdate;
use crate::words::Behavior;
use serde_json::Value;

/// What the hooks before a call say of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PreOutcome {
    /// The strongest: deny, then defer, then ask, then allow.
    pub verdict: Option<Behavior>,
    /// Of the first hook with that verdict that gives one.
    pub reason: Option<String>,
    pub updated_input: Option<Value>,
    pub contexts: Vec<String>,
    /// `continue: false`: why the agent must stop.
    pub stop: Option<String>,
}

/// What the hooks after a call add.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PostOutcome {
    /// For the model: blocking reasons and contexts, in the order of registration.
    pub contexts: Vec<String>,
    pub updated_output: Option<Value>,
    pub stop: Option<String>,
}

/// What the hooks that may answer in the user's place say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PermissionRequestOutcome {
    /// Deny, or else allow; none leaves it to the user.
    pub behavior: Option<Behavior>,
    pub updated_input: Option<Value>,
    pub updates: Vec<PermissionUpdate>,
    /// With a denial, for the model.
    pub message: Option<String>,
    /// The agent is to stop.
    pub interrupt: bool,
    pub stop: Option<String>,
}

/// What the hooks of the session say at one point of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionOutcome {
    /// What is about to happen must not, and why.
    pub block: Option<String>,
    pub contexts: Vec<String>,
    pub stop: Option<String>,
}

/// How strong a verdict is.
fn strength(behavior: Behavior) -> u8 {
    match behavior {
        Behavior::Allow => 1,
        Behavior::Ask => 2,
        Behavior::Defer => 3,
        Behavior::Deny => 4,
    }
}

/// Combines pre-hooks, given in the order of registration. Only the winner of several
/// rewrites may hang on which ended last, and only where the profile says so.
pub fn combine_pre(runs: &[HookRun], winner: HookRewriteWinner) -> PreOutcome {
    let said = runs.iter().filter_map(|run| run.output.behavior);
    let verdict = said.max_by_key(|behavior| strength(*behavior));
    let mut outcome = PreOutcome {
        verdict,
        reason: runs
            .iter()
            .filter(|run| verdict.is_some() && run.output.behavior == verdict)
            .find_map(|run| {
                run.output
                    .reason
                    .clone()
                    .filter(|why| !why.trim().is_empty())
            }),
        ..PreOutcome::default()
    };
    outcome.updated_input = rewrite(runs, winner, |run| run.output.updated_input.as_ref());
    outcome.contexts = runs
        .iter()
        .filter_map(|run| run.output.additional_context.clone())
        .collect();
    outcome.stop = runs.iter().find_map(|run| run.output.stop.clone());
    outcome
}

/// Combines post-hooks, given in the order of registration.
pub fn combine_post(runs: &[HookRun], winner: HookRewriteWinner) -> PostOutcome {
    let mut contexts = Vec::new();
    for run in runs {
        if blocks(run) {
            contexts.extend(
                run.output
                    .reason
                    .clone()
                    .filter(|reason| !reason.trim().is_empty()),
            );
        }
        contexts.extend(run.output.additional_context.clone());
    }
    PostOutcome {
        contexts,
        updated_output: rewrite(runs, winner, |run| run.output.updated_output.as_ref()),
        stop: runs.iter().find_map(|run| run.output.stop.clone()),
    }
}

/// Whether a hook blocks, by its exit code or in words.
fn blocks(run: &HookRun) -> bool {
    run.verdict == Verdict::Block || run.output.behavior == Some(Behavior::Deny)
}

/// Combines hooks of a permission request: any denial is one; of an allow, the first
/// that allows says what changes.
pub fn combine_request(runs: &[HookRun], winner: HookRewriteWinner) -> PermissionRequestOutcome {
    let that = |behavior: Behavior| {
        runs.iter()
            .filter(move |run| run.output.behavior == Some(behavior))
    };
    let stop = runs.iter().find_map(|run| run.output.stop.clone());
    if that(Behavior::Deny).next().is_some() {
        return PermissionRequestOutcome {
            behavior: Some(Behavior::Deny),
            message: that(Behavior::Deny).find_map(|run| run.output.reason.clone()),
            interrupt: that(Behavior::Deny).any(|run| run.output.interrupt),
            stop,
            ..PermissionRequestOutcome::default()
        };
    }
    if that(Behavior::Allow).next().is_none() {
        return PermissionRequestOutcome {
            stop,
            ..PermissionRequestOutcome::default()
        };
    }
    let allowing: Vec<HookRun> = that(Behavior::Allow).cloned().collect();
    PermissionRequestOutcome {
        behavior: Some(Behavior::Allow),
        updated_input: rewrite(&allowing, winner, |run| run.output.updated_input.as_ref()),
        updates: allowing
            .iter()
            .flat_map(|run| run.output.updates.iter().cloned())
            .collect(),
        stop,
        ..PermissionRequestOutcome::default()
    }
}

/// Combines hooks of an event of the session.
pub fn combine_session(runs: &[HookRun]) -> SessionOutcome {
    let blocking: Vec<&HookRun> = runs.iter().filter(|run| blocks(run)).collect();
    let reasons: Vec<&str> = blocking
        .iter()
        .filter_map(|run| run.output.reason.as_deref())
        .filter(|reason| !reason.trim().is_empty())
        .collect();
    SessionOutcome {
        block: (!blocking.is_empty()).then(|| reasons.join("\n")),
        contexts: runs
            .iter()
            .filter_map(|run| run.output.additional_context.clone())
            .collect(),
        stop: runs.iter().find_map(|run| run.output.stop.clone()),
    }
}

/// The rewrite that holds.
fn rewrite<'a>(
    runs: &'a [HookRun],
    winner: HookRewriteWinner,
    of: impl Fn(&'a HookRun) -> Option<&'a Value>,
) -> Option<Value> {
    let mut with = runs.iter().filter(|run| of(run).is_some());
    let run = match winner {
        HookRewriteWinner::FirstRegistered => with.next(),
        HookRewriteWinner::LastFinished => with.max_by_key(|run| run.ended),
        HookRewriteWinner::LastFinishedEvenWithout => runs.iter().max_by_key(|run| run.ended),
    };
    run.and_then(of).cloned()
}

#[cfg(test)]
mod tests {
    use super::super::{HookEvent, Output};
    use super::*;
    use serde_json::json;

    fn run(behavior: Option<Behavior>, rewrite: Option<Value>, ended: (u64, u32)) -> HookRun {
        HookRun {
            actor: crate::sim::ActorId::hook(1, ended.1),
            event: HookEvent::PreToolUse,
            label: String::new(),
            exit: Some(0),
            verdict: behavior.map_or(Verdict::None, Verdict::Said),
            output: Output {
                behavior,
                updated_input: rewrite,
                ..Output::default()
            },
            notice: None,
            took_ms: 0,
            ended,
        }
    }

    #[test]
    fn the_strongest_verdict_holds_whatever_the_order() {
        let all = [
            Behavior::Allow,
            Behavior::Ask,
            Behavior::Defer,
            Behavior::Deny,
        ];
        for a in all {
            for b in all {
                let there = combine_pre(
                    &[run(Some(a), None, (0, 0)), run(Some(b), None, (0, 1))],
                    HookRewriteWinner::FirstRegistered,
                );
                let back = combine_pre(
                    &[run(Some(b), None, (9, 0)), run(Some(a), None, (0, 1))],
                    HookRewriteWinner::FirstRegistered,
                );
                assert_eq!(there.verdict, back.verdict);
                let strongest = if strength(a) > strength(b) { a } else { b };
                assert_eq!(there.verdict, Some(strongest));
            }
        }
    }

    #[test]
    fn the_profile_says_whose_rewrite_holds() {
        let runs = [
            run(None, Some(json!(1)), (5, 0)),
            run(None, None, (9, 1)),
            run(None, Some(json!(2)), (7, 2)),
        ];
        assert_eq!(
            combine_pre(&runs, HookRewriteWinner::FirstRegistered).updated_input,
            Some(json!(1))
        );
        assert_eq!(
            combine_pre(&runs, HookRewriteWinner::LastFinished).updated_input,
            Some(json!(2))
        );
        let wiped = HookRewriteWinner::LastFinishedEvenWithout;
        assert_eq!(combine_pre(&runs, wiped).updated_input, None);
    }

    #[test]
    fn any_denial_of_a_request_is_one() {
        let allow = run(Some(Behavior::Allow), Some(json!(1)), (0, 0));
        let deny = run(Some(Behavior::Deny), None, (0, 1));
        let first = HookRewriteWinner::FirstRegistered;
        let both = combine_request(&[allow.clone(), deny], first);
        assert_eq!(
            (both.behavior, both.updated_input),
            (Some(Behavior::Deny), None)
        );
        let one = combine_request(&[run(None, None, (0, 0)), allow], first);
        assert_eq!(
            (one.behavior, one.updated_input),
            (Some(Behavior::Allow), Some(json!(1)))
        );
        assert_eq!(combine_request(&[], first).behavior, None);
    }
}
