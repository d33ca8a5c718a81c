//! Traces: written, read back, cut, compared and hashed.

use crate::trace_events::{decision, result, trace};
use proptest::prelude::*;
use rehearsal::trace::*;
use rehearsal::words::{Behavior, Class, Flag, Layer, Step};
use serde_json::value::RawValue;

fn read(bytes: &[u8], blobs: &Blobs) -> Result<ReadTrace, TraceFileError> {
    read_trace(bytes, |hash| blobs.get(hash).cloned())
}

/// A small trace of one denied call.
fn small() -> Trace {
    let mut builder = TraceBuilder::new();
    builder.push(
        0,
        Event::RunStarted(Box::new(RunStarted {
            format: FORMAT,
            rehearsal: "0.1.0".into(),
            profile: "seed".into(),
            semantics: vec!["recheck_before_write=true".into()],
            seed: 7,
            schedule: None,
            scenario: "scenarios/edits/é.yaml".into(),
            scenario_hash: "ab12cd34".into(),
            broken_settings: Vec::new(),
        })),
    );
    let mut call = Buffer::new();
    call.push(
        2,
        Event::Decision(Decision {
            call: "toolu_1".into(),
            behavior: Behavior::Deny,
            layer: Layer::Rule,
            reason: "a rule denies it".into(),
            rule: Some("Edit(notes.txt)".into()),
            source: Some("project".into()),
            index: Some(0),
            layers: vec![LayerVerdict {
                layer: Layer::Rule,
                verdict: "deny".into(),
                why: "it matches".into(),
            }],
        }),
    );
    call.push(
        3,
        Event::Op(OpEvent {
            by: "toolu_1".into(),
            n: 0,
            resource: "file:/work/notes.txt".into(),
            kind: "read".into(),
            result: "ok".into(),
        }),
    );
    call.push(
        5,
        Event::Result(CallResult {
            call: "toolu_1".into(),
            class: Class::DeniedRule,
            flags: vec![Flag::Coerced],
            is_error: true,
            content: raw(r#"[{"type":"text","text":"no 🦀"}]"#),
            full_chars: 2,
            saved_to: None,
            completed: 1,
            run_ms: 0,
        }),
    );
    builder.append(call);
    builder.push(
        5,
        Event::RunFinished(RunFinished {
            stop: "end_turn".into(),
            turns: 1,
            calls: 1,
            makespan_ms: 5,
            world_hash: "w".into(),
            outcome_hash: builder.outcome_hash("w"),
            stats: [("Edit".to_owned(), ToolStats::default())].into(),
        }),
    );
    builder.finish()
}

fn raw(json: &str) -> std::sync::Arc<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap().into()
}

/// The small trace with one event changed.
fn changed(index: usize, change: impl FnOnce(&mut Event)) -> Trace {
    let mut trace = small();
    change(&mut trace.lines[index].event);
    trace
}

macro_rules! change {
    ($index:literal, $event:ident, |$e:ident| $change:expr) => {
        changed($index, |event| match event {
            Event::$event($e) => $change,
            _ => panic!("line {} is {}", $index, event.name()),
        })
    };
}

#[test]
fn a_trace_reads_as_its_lines() {
    let written = write_trace(&small(), Level::Ops);
    insta::assert_snapshot!(written.text, @r#"
    {"seq":0,"at":0,"event":"run_started","format":1,"rehearsal":"0.1.0","profile":"seed","semantics":["recheck_before_write=true"],"seed":7,"schedule":null,"scenario":"scenarios/edits/é.yaml","scenario_hash":"ab12cd34"}
    {"seq":1,"at":2,"event":"decision","call":"toolu_1","behavior":"deny","layer":"rule","reason":"a rule denies it","rule":"Edit(notes.txt)","source":"project","index":0,"layers":[{"layer":"rule","verdict":"deny","why":"it matches"}]}
    {"seq":2,"at":3,"event":"op","by":"toolu_1","n":0,"resource":"file:/work/notes.txt","kind":"read","result":"ok"}
    {"seq":3,"at":5,"event":"result","call":"toolu_1","class":"denied_rule","flags":["coerced"],"is_error":true,"content":[{"type":"text","text":"no 🦀"}],"full_chars":2,"saved_to":null,"completed":1,"run_ms":0}
    {"seq":4,"at":5,"event":"run_finished","stop":"end_turn","turns":1,"calls":1,"makespan_ms":5,"world_hash":"w","outcome_hash":"73cfc36831c24292","stats":{"Edit":{"calls":0,"errors":{},"run_ms":{"total":0,"p50":0,"p95":0,"max":0}}}}
    "#);
    assert!(written.blobs.is_empty());
    let calls = write_trace(&small(), Level::Calls).text;
    let names: Vec<_> = calls.lines().map(|line| line.split('"').nth(7)).collect();
    assert_eq!(names, ["run_started", "result", "run_finished"].map(Some));
}

#[test]
fn a_cut_anywhere_keeps_exactly_the_whole_lines() {
    let trace = small();
    let text = write_trace(&trace, Level::Ops).text;
    let ends: Vec<usize> = text.match_indices('\n').map(|(end, _)| end).collect();
    for cut in 0..=text.len() {
        let read = read(&text.as_bytes()[..cut], &Blobs::new()).unwrap();
        let whole = ends.iter().filter(|end| **end <= cut).count();
        assert_eq!(read.trace.lines.len(), whole, "cut at {cut}");
        assert_eq!(read.complete, whole == ends.len(), "cut at {cut}");
        let kept = write_trace(&read.trace, Level::Ops).text;
        assert!(text.starts_with(&kept));
        let kept_bytes = kept.len() as u64 + read.torn_bytes;
        // A line that lacks nothing but its end is whole, and is written with it.
        assert!(
            kept_bytes == cut as u64 || kept_bytes == cut as u64 + 1,
            "cut at {cut}"
        );
        assert_eq!(read.complaints().len(), usize::from(!read.complete));
    }
    let read = read(&text.as_bytes()[..text.len() - 3], &Blobs::new()).unwrap();
    insta::assert_snapshot!(read.complaints().join("\n"), @r#"the trace was cut: it ends without run_finished after 4 events; 228 bytes of a torn line are left out"#);
}

#[test]
fn what_is_no_trace_is_refused_in_words() {
    let text = write_trace(&small(), Level::Ops).text;
    let complaint = |text: &str| {
        read(text.as_bytes(), &Blobs::new())
            .unwrap_err()
            .to_string()
    };
    let without = |n: usize| -> String {
        let lines = text.lines().enumerate().filter(|(i, _)| *i != n);
        lines.map(|(_, line)| format!("{line}\n")).collect()
    };
    let complaints = [
        complaint("hello"),
        complaint("{\"seq\":0}\n"),
        complaint(&without(0)),
        complaint(&text.replace("\"format\":1", "\"format\":2")),
        complaint(&text.replace("\"format\":1,", "")),
        complaint(&text.replace("\"seq\":2", "\"seq\":1")),
        complaint(&text.replace("\"completed\":1", "\"completed\":-1")),
        complaint(&text.replace("denied_rule", "denied_weather")),
        complaint(text.replace("\"turns\":1", "\"turns\":-1").trim_end()),
        complaint(&text.replace("\n{\"seq\":2", "\n\n{\"seq\":2")),
        complaint(&format!(
            "{text}{}",
            without(0).replace("\"seq\":", "\"seq\":1")
        )),
    ];
    insta::assert_snapshot!(complaints.join("\n"), @r#"
    not a trace: line 1: no run_started
    not a trace: line 1: no run_started: missing field `event` at line 1 column 9
    not a trace: line 1: the first event is not run_started
    the trace has format 2, but this version of rehearsal reads up to format 1; read it with a newer version
    not a trace: line 1: run_started has no format
    not a trace: line 3: seq 1 is out of order
    not a trace: line 4: invalid value: integer `-1`, expected u32 at column 198
    not a trace: line 4: unknown variant `denied_weather`, expected one of `ok`, `unknown_tool`, `unparsable_input`, `invalid_input`, `not_found`, `exists`, `not_read`, `stale`, `no_match`, `ambiguous`, `no_change`, `too_large`, `is_directory`, `not_directory`, `binary`, `loop`, `no_space`, `permission_os`, `denied_rule`, `denied_mode`, `denied_hook`, `denied_classifier`, `denied_user`, `deferred`, `hook_stopped`, `exit_nonzero`, `timeout`, `network`, `cancelled_sibling`, `interrupted`, `cut_call`, `tool_error`, `internal` at column 74
    not a trace: line 5: invalid value: integer `-1`, expected u32 at column 67
    not a trace: line 3: EOF while parsing a value at column 0
    not a trace: line 6: there is more after run_finished
    "#);
    let mut bytes = text.clone().into_bytes();
    bytes[60] = 0xff;
    assert!(matches!(
        read(&bytes, &Blobs::new()),
        Err(TraceFileError::Malformed { line: 1, .. })
    ));
}

#[test]
fn unknown_events_and_fields_are_passed_over() {
    let text = write_trace(&small(), Level::Ops).text;
    let newer = text
        .replace("\"event\":\"op\",", "\"event\":\"weather\",\"rain\":true,")
        .replace(
            "\"event\":\"result\",",
            "\"event\":\"result\",\"mood\":{\"a\":[1]},",
        );
    let read = read(newer.as_bytes(), &Blobs::new()).unwrap();
    assert!(read.complete);
    assert_eq!(read.unknown_events, [("weather".to_owned(), 1)].into());
    let kept = write_trace(&read.trace, Level::Ops).text;
    let want: String = text
        .split_inclusive('\n')
        .filter(|line| !line.contains("\"event\":\"op\""))
        .collect();
    assert_eq!(kept, want);
    assert_eq!(
        read.complaints(),
        ["the event weather is not known to this version; left out 1 times"]
    );
}

#[test]
fn a_file_keeps_long_strings_once_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let long = "é and\n".repeat(2_000);
    let content = serde_json::to_string(&long).unwrap();
    let trace = change!(3, Result, |e| e.content = raw(&content));
    let (a, b) = (folder.path().join("a.jsonl"), folder.path().join("b.jsonl"));
    save_trace(&trace, Level::Ops, &a).unwrap();
    save_trace(&trace, Level::Calls, &b).unwrap();
    let kept: Vec<_> = std::fs::read_dir(folder.path().join(BLOB_FOLDER))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(kept.len(), 1);
    assert_eq!(std::fs::read_to_string(&kept[0]).unwrap(), long);
    assert!(std::fs::metadata(&a).unwrap().len() < 2_000);
    let read = load_trace(&a).unwrap();
    assert!(read.complete && read.complaints().is_empty());
    assert_eq!(first_divergence(&read.trace, &trace), None);

    std::fs::write(&kept[0], "spoilt").unwrap();
    let read = load_trace(&a).unwrap();
    assert_eq!(read.missing_blobs.len(), 1);
    assert_eq!(read.complaints().len(), 1);
    // Saved again, it is whole again.
    save_trace(&trace, Level::Ops, &a).unwrap();
    assert!(load_trace(&a).unwrap().missing_blobs.is_empty());
    let gone = load_trace(&folder.path().join("c.jsonl")).unwrap_err();
    assert!(gone.to_string().starts_with("failed to access "), "{gone}");
}

#[test]
fn the_first_difference_is_named() {
    let lines = [
        change!(3, Result, |e| e.content =
            raw(r#"[{"type":"text","text":"yes"}]"#)),
        change!(3, Result, |e| e.content =
            raw(r#"[ {"type":"text","text":"no 🦀"}]"#)),
        change!(3, Result, |e| e.content = raw("[]")),
        change!(1, Decision, |e| e.layers[0].verdict = "ask".into()),
        change!(1, Decision, |e| e.rule = None),
        change!(4, RunFinished, |e| {
            e.stats.insert("odd tool".into(), ToolStats::default());
        }),
        changed(2, |e| *e = small().lines[3].event.clone()),
        {
            let mut trace = small();
            trace.lines[2].at += 1;
            trace
        },
        {
            let mut trace = small();
            trace.lines.pop();
            trace
        },
    ]
    .map(|other| first_divergence(&small(), &other).unwrap().to_string());
    insta::assert_snapshot!(lines.join("\n"), @r#"
    event 3 (result of toolu_1) at content[0].text: "no 🦀" against "yes"
    event 3 (result of toolu_1) at content: [{"type":"text","text":"no 🦀"}] against [ {"type":"text","text":"no 🦀"}]
    event 3 (result of toolu_1) at content[0]: {"text":"no 🦀","type":"text"} against nothing
    event 1 (decision of toolu_1 in permission) at layers[0].verdict: "deny" against "ask"
    event 1 (decision of toolu_1 in permission) at rule: "Edit(notes.txt)" against null
    event 4 (run_finished) at stats["odd tool"]: nothing against {"calls":0,"errors":{},"run_ms":{"max":0,"p50":0,"p95":0,"total":0}}
    event 2 (op of toolu_1): "op" against "result"
    event 2 (op of toolu_1) at at: 3 against 4
    event 4 (run_finished): "run_finished" against nothing
    "#);
    let other = change!(1, Decision, |e| e.reason = "x".into());
    let found = first_divergence(&small(), &other).unwrap();
    assert_eq!((found.index, found.step), (1, Some(Step::Permission)));
    assert_eq!(found.path, "reason");
}

/// Which hashes a change moves: of the trace, of the outcome.
fn moved(other: &Trace) -> (bool, bool) {
    let trace = small();
    let moved = (
        other.trace_hash() != trace.trace_hash(),
        other.outcome_hash() != trace.outcome_hash(),
    );
    assert_eq!(moved.0, first_divergence(&trace, other).is_some());
    moved
}

#[test]
fn hashes_leave_out_what_they_should_and_nothing_else() {
    let none = [
        change!(0, RunStarted, |e| e.rehearsal = "9".into()),
        change!(0, RunStarted, |e| e.seed = 8),
        change!(0, RunStarted, |e| e.schedule = Some("1::c1".into())),
    ];
    for other in none {
        assert_eq!(moved(&other), (false, false));
    }
    let trace_only = [
        change!(0, RunStarted, |e| e.format = 0),
        change!(0, RunStarted, |e| e.profile = "x".into()),
        change!(0, RunStarted, |e| e.semantics.clear()),
        change!(0, RunStarted, |e| e.scenario = "x".into()),
        change!(0, RunStarted, |e| e.scenario_hash = "x".into()),
        change!(2, Op, |e| e.result = "not_found".into()),
        change!(3, Result, |e| e.is_error = false),
        change!(3, Result, |e| e.full_chars = 9),
        change!(3, Result, |e| e.saved_to = Some("x".into())),
        change!(3, Result, |e| e.completed = 9),
        change!(3, Result, |e| e.run_ms = 9),
        change!(4, RunFinished, |e| e.stop = "x".into()),
        change!(4, RunFinished, |e| e.makespan_ms = 9),
        change!(4, RunFinished, |e| e.outcome_hash = "x".into()),
        {
            let mut trace = small();
            trace.lines[3].at = 9;
            trace
        },
        {
            let mut trace = small();
            trace.lines.remove(2);
            trace
        },
    ];
    for (i, other) in trace_only.iter().enumerate() {
        assert_eq!(moved(other), (true, false), "change {i}");
    }
    let both = [
        change!(1, Decision, |e| e.call = "x".into()),
        change!(1, Decision, |e| e.behavior = Behavior::Ask),
        change!(1, Decision, |e| e.layer = Layer::Mode),
        change!(1, Decision, |e| e.reason = "x".into()),
        change!(1, Decision, |e| e.rule = None),
        change!(1, Decision, |e| e.source = None),
        change!(1, Decision, |e| e.index = Some(1)),
        change!(1, Decision, |e| e.layers[0].why = "x".into()),
        change!(3, Result, |e| e.call = "x".into()),
        change!(3, Result, |e| e.class = Class::DeniedMode),
        change!(3, Result, |e| e.flags.clear()),
        change!(3, Result, |e| e.content = raw("\"yes\"")),
        change!(4, RunFinished, |e| e.world_hash = "x".into()),
        {
            let mut trace = small();
            trace.lines.remove(3);
            trace
        },
    ];
    for (i, other) in both.iter().enumerate() {
        assert_eq!(moved(other), (true, true), "change {i}");
    }
}

#[test]
fn the_hashes_of_a_trace_stay() {
    // These go into records that others keep: they change with the format only.
    let trace = small();
    let recorded = trace.finished().map(|end| end.outcome_hash.clone());
    assert_eq!(recorded, Some(trace.outcome_hash()));
    insta::assert_snapshot!(
        format!("{} {}", trace.trace_hash(), trace.outcome_hash()),
        @r#"dccfebd7989f7bbe 73cfc36831c24292"#
    );
}

#[test]
fn a_call_has_its_events() {
    let trace = small();
    let names: Vec<_> = trace.of_call("toolu_1").map(Event::name).collect();
    assert_eq!(names, ["decision", "op", "result"]);
    assert_eq!(trace.started().map(|e| e.seed), Some(7));
    assert_eq!(trace.of_call("toolu_2").count(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn what_is_written_reads_back(trace in trace()) {
        let written = write_trace(&trace, Level::Ops);
        prop_assert_eq!(written.text.lines().count(), trace.lines.len());
        prop_assert!(written.text.lines().all(|line| !line.contains('\r')));
        let back = read(written.text.as_bytes(), &written.blobs).unwrap();
        prop_assert!(back.complete);
        prop_assert_eq!(back.complaints(), Vec::<String>::new());
        prop_assert_eq!(&write_trace(&back.trace, Level::Ops), &written);
        prop_assert_eq!(back.trace.trace_hash(), trace.trace_hash());
        prop_assert_eq!(first_divergence(&back.trace, &trace), None);
        for level in [Level::Calls, Level::Steps] {
            let text = write_trace(&trace, level).text;
            let back = read(text.as_bytes(), &written.blobs).unwrap();
            prop_assert!(back.trace.events().all(|event| event.level() <= level));
            prop_assert_eq!(write_trace(&back.trace, level).text, text);
        }
    }

    #[test]
    fn a_cut_generated_trace_keeps_its_whole_lines(trace in trace(), at in any::<prop::sample::Index>()) {
        let written = write_trace(&trace, Level::Ops);
        let cut = at.index(written.text.len() + 1);
        let back = read(&written.text.as_bytes()[..cut], &written.blobs).unwrap();
        let ends = written.text.match_indices('\n').filter(|(end, _)| *end <= cut).count();
        prop_assert_eq!(back.trace.lines.len(), ends);
        prop_assert_eq!(back.complete, ends == trace.lines.len());
    }

    #[test]
    fn a_planted_difference_is_found_where_it_was_planted(
        trace in trace(),
        at in any::<prop::sample::Index>(),
        result in result(),
        decision in decision(),
        of_result in any::<bool>(),
    ) {
        let mut other = trace.clone();
        let index = at.index(trace.lines.len());
        other.lines[index].event = if of_result {
            Event::Result(result)
        } else {
            Event::Decision(decision)
        };
        let (a, b) = (
            write_trace(&Trace { lines: vec![trace.lines[index].clone()] }, Level::Ops),
            write_trace(&Trace { lines: vec![other.lines[index].clone()] }, Level::Ops),
        );
        let found = first_divergence(&trace, &other);
        prop_assert_eq!(found.is_some(), a != b);
        prop_assert_eq!(found.is_some(), trace.trace_hash() != other.trace_hash());
        if let Some(found) = found {
            prop_assert_eq!(found.index, index as u64);
            prop_assert_ne!(found.left, found.right);
        }
    }
}
