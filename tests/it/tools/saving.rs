//! What deferral saves, by the estimate that `show --tokens` prints: much of a short
//! request, less and less of a long conversation.

use super::ten_thousand;
use rehearsal::model::{ScriptedCall, Turn};
use rehearsal::profile::{Deferred, Profile};
use rehearsal::report::tokens::{Tokens, tokens};
use rehearsal::run::{Setup, run};
use serde_json::json;

/// So many tools of servers stand beside those that are built in.
const TOOLS: usize = 100;

fn turn(calls: Vec<(&str, serde_json::Value)>) -> Turn {
    let call = |(tool, input): (&str, serde_json::Value)| ScriptedCall {
        tool: tool.to_owned(),
        id: None,
        input: input.to_string(),
    };
    Turn {
        calls: calls.into_iter().map(call).collect(),
        ..Turn::default()
    }
}

/// A session of so many turns, of which each reads a file of 4,000 bytes.
fn session(reads: usize, searches: bool, deferred: Deferred) -> Tokens {
    let mut profile = Profile::seed();
    profile.deferred = deferred;
    let setup = Setup {
        profile,
        mcp: ten_thousand::sample(TOOLS, None),
        ..Setup::default()
    };
    setup
        .fs
        .put_file("/work/notes.txt", vec![b'x'; 4_000], 0o644, 0)
        .expect("a file");
    let mut turns = Vec::new();
    if searches {
        turns.push(turn(vec![(
            "ToolSearch",
            json!({"query": "select:mcp__files__read_file"}),
        )]));
    }
    turns.extend((0..reads).map(|_| turn(vec![("Read", json!({"file_path": "notes.txt"}))])));
    turns.push(Turn {
        say: vec!["Done.".to_owned()],
        ..Turn::default()
    });
    let report = run(Setup {
        turns,
        max_turns: 1_000,
        ..setup
    })
    .expect("it runs");
    assert!(report.complaints.is_empty(), "{:?}", report.complaints);
    tokens(&report.trace).expect("the trace tells")
}

#[test]
fn much_of_a_short_request_and_less_of_a_long_conversation() {
    let saved: Vec<i64> = [0, 4, 40, 200]
        .into_iter()
        .map(|reads| session(reads, false, Deferred::Mcp).saved_percent)
        .collect();
    println!("saved in percent, by 0, 4, 40 and 200 Reads: {saved:?}");
    assert!(saved[0] >= 60, "{saved:?}");
    assert!(saved.is_sorted_by(|a, b| a > b), "{saved:?}");
    assert!(saved[3] < 10, "{saved:?}");
}

#[test]
fn a_search_costs_a_turn_and_still_saves() {
    let (with, without) = (
        session(2, true, Deferred::Mcp),
        session(2, false, Deferred::Mcp),
    );
    assert_eq!(with.turns[0].without, None);
    assert_eq!(without.turns.len() + 1, with.turns.len());
    // What it would have cost without deferral does not hang on whether there was a search.
    assert_eq!(with.without, without.without);
    assert!(with.saved_percent > 0 && with.saved_percent < without.saved_percent);
}

/// The estimate of what would have been, held against what is where nothing is deferred.
#[test]
fn the_other_half_is_what_a_run_without_deferral_says() {
    let deferred = session(3, true, Deferred::Mcp);
    let plain = session(3, false, Deferred::Nothing);
    assert_eq!(plain.saved_percent, 0);
    let costs: Vec<u64> = plain.turns.iter().map(|turn| turn.with).collect();
    let would: Vec<u64> = deferred
        .turns
        .iter()
        .filter_map(|turn| turn.without)
        .collect();
    // What is estimated in parts may round up more often.
    const ROUNDING: u64 = 2;
    assert_eq!(costs.len(), would.len());
    for (cost, would) in costs.iter().zip(&would) {
        assert!(cost.abs_diff(*would) <= ROUNDING, "{costs:?} {would:?}");
    }
}
