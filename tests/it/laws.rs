//! The invariants of ARCHITECTURE.md over random sessions.

use crate::generated::{FILES, With, marker, session};
use proptest::prelude::*;
use rehearsal::run::{Order, RunReport, Setup, run};
use rehearsal::trace::{Event, Trace, Verdict};
use rehearsal::wire::{Block, Role};
use rehearsal::words::{Behavior, Class, Policy, Step};
use rehearsal::world::{Fs, Trigger};
use std::collections::{BTreeMap, BTreeSet};

const ALL: With = With {
    outside: true,
    interrupt: true,
    hooks: true,
};
const ALONE: With = With {
    outside: false,
    interrupt: false,
    hooks: true,
};

fn ran(setup: Setup) -> RunReport {
    let report = run(setup).expect("a generated session runs");
    assert!(report.complaints.is_empty(), "{:?}", report.complaints);
    report
}

fn events(trace: &Trace) -> impl Iterator<Item = &Event> {
    trace.lines.iter().map(|line| &line.event)
}

/// The class of a call's result and the steps it went through.
type Gone = (Option<Class>, Vec<(Step, Verdict)>);

/// What became of each call, by its id.
fn calls(trace: &Trace) -> BTreeMap<String, Gone> {
    let mut calls: BTreeMap<String, Gone> = BTreeMap::new();
    for event in events(trace) {
        match event {
            Event::Step(step) => calls
                .entry(step.call.to_string())
                .or_default()
                .1
                .push((step.step, step.verdict)),
            Event::Result(result) => {
                let call = calls.entry(result.call.to_string()).or_default();
                assert!(call.0.is_none(), "{} has two results", result.call);
                call.0 = Some(result.class);
            }
            _ => {}
        }
    }
    calls
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_call_has_one_result(setup in session(ALL)) {
        let report = ran(setup);
        let messages = &report.messages;
        for (at, message) in messages.iter().enumerate() {
            let asked: Vec<_> = message.tool_uses().map(|call| call.id.clone()).collect();
            if message.role != Role::Assistant || asked.is_empty() {
                continue;
            }
            let next = messages.get(at + 1).expect("a message of results follows");
            prop_assert_eq!(next.role, Role::User);
            let answered: Vec<_> =
                next.content.iter().map_while(Block::as_tool_result).map(|r| r.tool_use_id.clone()).collect();
            prop_assert_eq!(&answered, &asked, "results first, in call order, one each");
            let late = next.content.iter().skip(answered.len()).filter(|b| b.as_tool_result().is_some()).count();
            prop_assert_eq!(late, 0, "a result after something else");
        }
        let traced = calls(&report.trace);
        let asked: usize = messages.iter().map(|message| message.tool_uses().count()).sum();
        prop_assert_eq!(traced.len(), asked);
        prop_assert!(traced.values().all(|(class, _)| class.is_some()));
        let broken: Vec<_> = events(&report.trace).filter(|e| matches!(e, Event::Invariant(_))).collect();
        prop_assert!(broken.is_empty(), "{broken:?}");
    }

    #[test]
    fn nothing_happens_before_input_is_valid(setup in session(ALL)) {
        let report = ran(setup);
        let mut valid = BTreeSet::new();
        for event in events(&report.trace) {
            match event {
                Event::Step(step) if step.step == Step::Validate && step.verdict == Verdict::Pass => {
                    valid.insert(step.call.clone());
                }
                Event::Hook(hook) => prop_assert!(hook.call.as_ref().is_none_or(|call| valid.contains(call))),
                Event::Decision(decision) => prop_assert!(valid.contains(&decision.call)),
                Event::Prompt(prompt) => prop_assert!(valid.contains(&prompt.call)),
                _ => {}
            }
        }
    }

    #[test]
    fn steps_come_in_their_order(setup in session(ALL)) {
        for (call, (_, steps)) in calls(&ran(setup).trace) {
            let mut last = None;
            let (mut hook_rewrote, mut parses) = (false, 0);
            for (at, (step, verdict)) in steps.iter().enumerate() {
                // A rewrite sends the call back to parse from where it was rewritten: a
                // hook's, and after it the user's, whose step ends only when that is done.
                parses += u32::from(*step == Step::Parse);
                let by_user = hook_rewrote && parses == 3 && last == Some(Step::Validate);
                let back = *step == Step::Parse && (last >= Some(Step::PreHook) || by_user);
                hook_rewrote |= (*step, *verdict) == (Step::PreHook, Verdict::Rewrite);
                prop_assert!(back || Some(*step) > last || last.is_none(), "{call}: {steps:?}");
                if *verdict == Verdict::Stop {
                    let rest: Vec<_> = steps[at + 1..].iter().map(|(step, _)| *step).collect();
                    let after_execute = *step == Step::Execute && rest == [Step::PostHook];
                    prop_assert!(rest.is_empty() || after_execute, "{call} goes on after its stop: {steps:?}");
                }
                last = Some(*step);
            }
        }
    }

    #[test]
    fn deny_wins(setup in session(ALL)) {
        let denied: BTreeSet<String> = setup
            .settings
            .deny
            .iter()
            .map(|rule| rule.text.clone())
            .filter(|text| !text.contains('('))
            .collect();
        let report = ran(setup);
        let mut tool_of = BTreeMap::new();
        for event in events(&report.trace) {
            match event {
                Event::Call(call) => drop(tool_of.insert(call.call.clone(), call.tool.to_string())),
                Event::Step(step) if step.step == Step::Execute => {
                    let tool = &tool_of[&step.call];
                    prop_assert!(!denied.contains(tool), "{tool} ran in spite of its deny");
                }
                Event::Decision(decision) => {
                    prop_assert!(!decision.reason.is_empty());
                    prop_assert_eq!(decision.layers.len(), 5);
                    let rule_denies = decision.layers.iter().any(|l| {
                        l.layer == rehearsal::words::Layer::Rule && l.verdict == "deny"
                    });
                    prop_assert!(!rule_denies || decision.behavior == Behavior::Deny);
                }
                _ => {}
            }
        }
    }

    /// A call that was refused, by whomever, has changed nothing: no file of the world has
    /// an operation of its that writes. Only a grant may be kept.
    #[test]
    fn a_refused_call_writes_nothing(setup in session(ALL)) {
        let report = ran(setup);
        let refused = |class: Option<Class>| matches!(
            class,
            Some(
                Class::DeniedRule | Class::DeniedMode | Class::DeniedHook | Class::DeniedClassifier
                    | Class::DeniedUser | Class::Deferred
            )
        );
        let gone = calls(&report.trace);
        for event in events(&report.trace) {
            if let Event::Op(op) = event
                && let Some((class, steps)) = gone.get(&*op.by)
                && refused(*class)
            {
                let reads = ["read", "list", "stat", "ask", "start"].contains(&&*op.kind);
                prop_assert!(reads || op.resource == "grants", "{}: {op:?} {steps:?}", op.by);
            }
        }
        for (call, (class, steps)) in &gone {
            let ran = steps.iter().any(|(step, _)| *step == Step::Execute);
            prop_assert!(!ran || !refused(*class), "{call} ran and was refused: {steps:?}");
        }
    }

    #[test]
    fn no_update_is_lost(setup in session(With { outside: true, interrupt: true, hooks: false })) {
        let report = ran(setup);
        let mut shown = String::new();
        for event in events(&report.trace) {
            if let Event::Result(result) = event {
                shown.push_str(result.content.get());
            }
        }
        for index in 0..2 {
            let happened = events(&report.trace).any(|event| {
                matches!(event, Event::Outside(o) if o.actor == format!("o{index}") && !o.change.contains("failed"))
            });
            let there = FILES.iter().any(|path| {
                report.fs.read(path).is_ok_and(|b| String::from_utf8_lossy(&b).contains(&marker(index)))
            });
            prop_assert!(
                !happened || there || shown.contains(&marker(index)),
                "{} was overwritten by somebody who never saw it", marker(index)
            );
        }
    }

    #[test]
    fn no_outside_change_is_lost(setup in session(With { outside: true, interrupt: false, hooks: true })) {
        let outside = setup.outside.clone();
        let report = ran(setup);
        let numbered: Vec<_> = events(&report.trace)
            .filter_map(|event| match event {
                Event::Call(call) => Some(call.call.to_string()),
                _ => None,
            })
            .collect();
        let traced = calls(&report.trace);
        for (index, change) in outside.iter().enumerate() {
            let name = format!("o{index}");
            let made = events(&report.trace)
                .filter(|event| matches!(event, Event::Outside(o) if o.actor == name))
                .count();
            let left = report.leftover.iter().filter(|left| left.starts_with(&format!("{name}: "))).count();
            prop_assert_eq!(made + left, 1, "{} was made {} times, and is left over {}", name, made, left);
            // Whether its moment came: a call that went into a step, or out of it.
            let came = |call: &str, wanted: Step, left: bool| {
                let number: usize = call.parse().expect("generated calls are named by number");
                let steps = numbered.get(number - 1).and_then(|id| traced.get(id));
                steps.is_some_and(|(_, steps)| {
                    // A step that sent the input back is left when that has come through again.
                    let through = |verdict: Verdict| match verdict {
                        Verdict::Pass => true,
                        Verdict::Rewrite => steps.iter().any(|(step, _)| *step > wanted),
                        Verdict::Stop => false,
                    };
                    steps.iter().any(|(step, verdict)| *step == wanted && (!left || through(*verdict)))
                })
            };
            let due = match &change.trigger {
                Trigger::Before { call, step } => came(call, *step, false),
                Trigger::After { call, step } => came(call, *step, true),
                Trigger::AtMs(at) => *at < report.makespan_ms,
                Trigger::Anywhere => true,
            };
            prop_assert!(made == 1 || !due, "{} never happened: {}", name, change.trigger);
        }
    }

    #[test]
    fn a_denied_or_invalid_batch_changes_nothing(setup in session(ALONE)) {
        // The folders that every machine has are there after a session that does nothing.
        let idle = setup.turns.last().cloned();
        let before = ran(Setup { turns: idle.into_iter().collect(), ..setup.clone() }).fs.world_hash();
        let report = ran(setup);
        let wrote = calls(&report.trace).values().any(|(_, steps)| steps.iter().any(|(s, _)| *s == Step::Execute));
        if !wrote {
            prop_assert_eq!(report.fs.world_hash(), before);
        }
    }

    #[test]
    fn every_policy_ends_as_serial_does(
        setup in session(ALONE),
        policy in prop::sample::select(&[Policy::Waves, Policy::Rwlock, Policy::Footprint][..]),
        cap in prop::option::of(1..4u64),
    ) {
        let serial = ran(Setup { policy: Some(Policy::Serial), order: Order::InOrder, ..setup.clone() });
        let other = ran(Setup { policy: Some(policy), max_concurrency: cap, ..setup });
        let outcome = |report: &RunReport| -> Vec<(String, Class, String)> {
            events(&report.trace)
                .filter_map(|event| match event {
                    Event::Result(r) => Some((r.call.to_string(), r.class, r.content.get().to_owned())),
                    _ => None,
                })
                .collect()
        };
        prop_assert_eq!(outcome(&serial), outcome(&other));
        prop_assert_eq!(serial.fs.world_hash(), other.fs.world_hash());
    }

    #[test]
    fn one_input_has_one_trace(setup in session(ALL)) {
        let first = ran(setup.clone());
        let second = ran(setup.clone());
        prop_assert_eq!(first.trace.trace_hash(), second.trace.trace_hash());
        let again = ran(Setup { order: Order::Given(first.schedule.clone()), ..setup });
        prop_assert_eq!(first.trace.trace_hash(), again.trace.trace_hash(), "the schedule replays");
    }

    #[test]
    fn the_tools_block_never_changes(setup in session(ALL)) {
        let report = ran(setup);
        let hashes: BTreeSet<_> = events(&report.trace)
            .filter_map(|event| match event {
                Event::Request(request) => Some((request.tools_hash.clone(), request.prefix_stable)),
                _ => None,
            })
            .collect();
        prop_assert!(hashes.len() <= 1, "{hashes:?}");
    }
}
