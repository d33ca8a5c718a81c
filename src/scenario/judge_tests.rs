use super::*;
use crate::scenario::parse;
use crate::trace::{CallResult, RunFinished, StepEvent, TraceBuilder};
use crate::wire::raw;
use crate::words::{Behavior, Class, Flag, Lane, Layer};
use crate::world::MemoryFs;

fn scenario(expect: &str) -> Scenario {
    let text = format!(
        "rehearsal: 1\nname: n\nfiles: {{a.txt: \"one\\n\", l: {{symlink: a.txt}}, s.bin: {{size: 9}}}}\n\
         user: [{{tool: Edit, answer: allow}}]\n\
         model: [{{calls: [{{tool: Read, id: read, input: {{}}}}, {{tool: Edit, id: edit, input: {{}}}}]}}, {{say: Done.}}]\n\
         expect: {expect}\n"
    );
    let loaded = parse("s.yaml", &text).unwrap_or_else(|e| panic!("{text}\n{e}"));
    loaded.scenarios[0].clone()
}

fn call(trace: &mut TraceBuilder, id: &str, tool: &str, class: Class, completed: u32, text: &str) {
    trace.push(
        1,
        Event::Call(trace::Call {
            call: id.into(),
            turn: 1,
            tool: tool.into(),
            lane: Lane::Own,
            input: raw::of(&serde_json::json!({})),
        }),
    );
    let last = if class.is_error() { 3 } else { 7 };
    for step in Step::ALL.iter().take(last) {
        let stops = class.is_error() && *step == Step::Validate;
        trace.push(
            1,
            Event::Step(StepEvent {
                call: id.into(),
                step: *step,
                verdict: if stops { Verdict::Stop } else { Verdict::Pass },
                class: stops.then_some(class),
                detail: None,
                queued_ms: 0,
                took_ms: 0,
            }),
        );
        if *step == Step::Permission {
            trace.push(
                1,
                Event::Decision(trace::Decision {
                    call: id.into(),
                    behavior: Behavior::Allow,
                    layer: Layer::Rule,
                    reason: "the rule Read says so".into(),
                    rule: Some("Read".into()),
                    source: Some("project".into()),
                    index: Some(0),
                    layers: vec![],
                }),
            );
        }
    }
    trace.push(
        2,
        Event::Result(CallResult {
            call: id.into(),
            class,
            flags: vec![Flag::Persisted],
            is_error: class.is_error(),
            content: raw::of(&serde_json::json!([{"type": "text", "text": text}])),
            full_chars: 3,
            saved_to: None,
            completed,
            run_ms: 1,
        }),
    );
}

/// A run in which `read` succeeded second and `edit` was stale first.
fn trace() -> Trace {
    let mut trace = TraceBuilder::new();
    call(&mut trace, "read", "Read", Class::Ok, 2, "one");
    call(&mut trace, "edit", "Edit", Class::Stale, 1, "it changed");
    trace.push(
        3,
        Event::RunFinished(RunFinished {
            stop: "end_turn".into(),
            turns: 2,
            calls: 2,
            makespan_ms: 3,
            world_hash: String::new(),
            outcome_hash: String::new(),
            stats: BTreeMap::new(),
        }),
    );
    trace.finish()
}

fn judged(scenario: &Scenario, trace: &Trace, fs: &MemoryFs, unused: &[String]) -> Vec<String> {
    let outcome = Outcome {
        trace,
        profile: &scenario.profile,
        fs,
        unused,
    };
    let failures = judge(scenario, &outcome);
    failures.iter().map(ToString::to_string).collect()
}

fn failures(expect: &str) -> Vec<String> {
    let scenario = scenario(expect);
    judged(&scenario, &trace(), &scenario.fs, &[])
}

#[test]
fn what_is_as_expected_is_no_failure() {
    let expect = r#"{calls: {read: {tool: Read, step: post_hook, class: ok, is_error: false, flags: [persisted],
            decision: {behavior: allow, layer: rule, reason: "*rule*", rule: Read, source: project, index: 0},
            contains: one, lacks: two}, "2": {step: validate, class: stale}},
        files: {a.txt: "one\n", b.txt: null, l: {symlink: a.txt}, s.bin: {size: 9, unchanged: true},
            ./a.txt: {unchanged: true, contains: on, lacks: two, mode: "644", size: 4}, /work: {dir: true}},
        order: [[edit, read]], stop: end_turn, turns: 2, prompts: 0, never: [prompt, {event: decision, call: edit}],
        events: [result, {event: result, call: edit, with: {class: stale, completed: 1, saved_to: null}, times: 1}]}"#;
    assert_eq!(failures(expect), Vec::<String>::new());
}

#[test]
fn every_expectation_that_is_not_met_is_a_failure_of_its_own() {
    let expect = r#"{calls: {read: {tool: Edit, step: validate, class: stale, flags: [],
            decision: {behavior: deny, layer: mode, reason: "mode*", rule: Edit, source: user, index: 1},
            contains: three, lacks: one}, edit: {decision: {layer: rule}}},
        files: {a.txt: "two\n", l: null, none.txt: x, s.bin: {size: 8, dir: true, mode: "755"},
            ./a.txt: {contains: two, lacks: one, symlink: x}, /work: {unchanged: true}},
        order: [[read, edit]], stop: refusal, turns: 1, prompts: 1, never: [decision],
        events: [prompt, {event: result, with: {class: stale}, times: 2}]}"#;
    insta::assert_snapshot!(failures(expect).join("\n"));
}

#[test]
fn a_call_that_was_never_made_is_a_failure() {
    let scenario = scenario("{calls: {read: {step: post_hook, class: ok}}}");
    let empty = TraceBuilder::new().finish();
    let failures = judged(&scenario, &empty, &scenario.fs, &[]);
    insta::assert_snapshot!(failures.join("\n"), @"s.yaml:6:18: call read: expected a call, found none; the run made 0");
}

#[test]
fn broken_invariants_and_unused_answers_are_failures_unless_excepted() {
    let mut scenario = scenario("{calls: {read: {step: post_hook, class: ok}}}");
    let mut trace = trace();
    trace.lines.push(trace::Line {
        seq: 99,
        at: 3,
        event: Event::Invariant(trace::Invariant {
            name: "no_lost_update".into(),
            call: Some("edit".into()),
            what: "a.txt was overwritten".into(),
        }),
    });
    let unused = ["user[0]".to_owned()];
    let found = judged(&scenario, &trace, &scenario.fs, &unused);
    insta::assert_snapshot!(found.join("\n"), @r"
    invariant no_lost_update (call edit): expected it to hold, found a.txt was overwritten
    s.yaml:4:8: user[0]: expected to be used, or `optional: true`, found never used
    ");
    scenario
        .invariants_off
        .insert(crate::profile::Invariant::NoLostUpdate);
    assert_eq!(
        judged(&scenario, &trace, &scenario.fs, &[]),
        Vec::<String>::new()
    );
}
