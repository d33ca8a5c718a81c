//! The lines of a trace are written by hand for speed; what serde writes is what they
//! are held against.

use crate::trace_events::trace;
use proptest::prelude::*;
use rehearsal::trace::{Event, Level, Line, Trace, write_trace};

fn json<T: serde::Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("JSON")
}

/// The lines, each by way of serde alone.
fn by_serde(trace: &Trace) -> String {
    let line = |Line { seq, at, event }: &Line| {
        let line = format!("{{\"seq\":{seq},\"at\":{at},{}", &json(event)[1..]);
        format!("{}\n", line.replace(['\n', '\r'], " "))
    };
    trace.lines.iter().map(line).collect()
}

/// What counts of an outcome, each part by way of serde.
fn outcome_by_serde(trace: &Trace) -> Vec<u8> {
    let mut all = Vec::new();
    let mut add = |kind: &str, json: &str| {
        all.extend_from_slice(kind.as_bytes());
        all.extend_from_slice(&(json.len() as u64).to_le_bytes());
        all.extend_from_slice(json.as_bytes());
    };
    for event in trace.events() {
        match event {
            Event::Result(e) => {
                let (call, class) = (json(&e.call), json(&e.class));
                let (flags, content) = (json(&e.flags), json(&e.content));
                add(
                    "result",
                    &format!(
                        r#"{{"call":{call},"class":{class},"flags":{flags},"content":{content}}}"#
                    ),
                );
            }
            Event::Decision(decision) => add("decision", &json(decision)),
            _ => {}
        }
    }
    let world_hash = trace.finished().map_or("", |finished| &finished.world_hash);
    add("world", &json(world_hash));
    all
}

fn digits(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..16].to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn lines_are_those_of_serde(trace in trace()) {
        let written = write_trace(&trace, Level::Ops);
        let by_serde = by_serde(&trace);
        for (ours, theirs) in written.text.lines().zip(by_serde.lines()) {
            // A line some of which lies beside the trace is compared by its hash below.
            if !ours.contains("\"blob:") {
                prop_assert_eq!(ours, theirs);
            }
        }
        let mut trace = trace;
        if let Some(Event::RunStarted(started)) = trace.lines.first_mut().map(|line| &mut line.event) {
            // The hash leaves these out.
            (started.seed, started.schedule) = (0, None);
            started.rehearsal.clear();
        }
        prop_assert_eq!(trace.trace_hash(), digits(self::by_serde(&trace).as_bytes()));
        prop_assert_eq!(trace.outcome_hash(), digits(&outcome_by_serde(&trace)));
    }
}
