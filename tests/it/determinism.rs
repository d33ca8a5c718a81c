//! The same seed gives the same trace: again, and in another process. Other seeds
//! give other traces.

use crate::pipeline::{say, turn};
use rehearsal::hooks::ScriptedHook;
use rehearsal::run::{Order, RunReport, Setup, run};
use rehearsal::settings::{Layer, Source, merge};
use rehearsal::trace::Event;
use rehearsal::words::{Class, Step};
use rehearsal::world::{
    Answer, Change, MemoryFs, MemoryOptions, OutsideChange, Trigger, UserAnswer, UserReply,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::Command;

const SEEDS: u64 = 1_000;
/// The variable by which this test, run again as a child, learns where to write.
const TELL_IN: &str = "REHEARSAL_TEST_HASHES_IN";

/// A folder of eight files, `1` to `8`.
fn eight_files() -> MemoryFs {
    let fs = MemoryFs::new(MemoryOptions::default());
    for n in 1..=8 {
        fs.put_file(
            &format!("/work/{n}"),
            format!("{n}\n").into_bytes(),
            0o644,
            0,
        )
        .expect("a fresh world takes files");
    }
    fs
}

fn eight_reads() -> Vec<(&'static str, Value)> {
    (1..=8)
        .map(|n| ("Read", json!({"file_path": n.to_string()})))
        .collect()
}

/// The scenario `parallel/eight_reads_at_once`: eight calls of equal latency.
fn eight_reads_at_once(seed: u64) -> Setup {
    Setup {
        seed,
        order: Order::Random,
        fs: eight_files(),
        // Making a run ready goes over every tool: a third of the time of this test.
        only: Some(
            ["Edit", "Glob", "Grep", "Read", "Write"]
                .map(str::to_owned)
                .into(),
        ),
        latency_ms: [("Read".to_owned(), 10)].into(),
        turns: vec![turn(&eight_reads()), say("Done.")],
        ..Setup::default()
    }
}

fn many_times<T>(value: T, label: &str) -> Answer<T> {
    Answer {
        value,
        has_matcher: true,
        times: None,
        optional: false,
        label: label.to_owned(),
    }
}

/// A session with something of everything: calls of equal latency side by side, a search,
/// an edit, hooks before and after, a user who is asked, changes by others at a time and
/// before a step.
fn rich(seed: u64) -> Setup {
    // No hook sees the reads: a call that one may rewrite runs alone.
    let hook = |event: &str| json!([{"matcher": "Edit|Write", "hooks": [{"type": "command", "command": event}]}]);
    let settings = json!({
        "permissions": {"allow": ["Edit(1)"], "ask": ["Write"], "defaultMode": "default"},
        "hooks": {"PreToolUse": hook("before"), "PostToolUse": hook("after")},
    });
    let (settings, complaints) = merge(vec![Layer::from_value(Source::Project, &settings)]);
    assert!(complaints.is_empty(), "{complaints:?}");
    let hook = ScriptedHook {
        event: None,
        tool: None,
        command: None,
        exit: 0,
        status: None,
        stdout: String::new(),
        stderr: "noted".to_owned(),
        delay_ms: 10,
    };
    let user = UserAnswer {
        tool: None,
        call: None,
        input: None,
        reply: UserReply::Allow {
            always: true,
            updated_input: None,
            updated_permissions: Vec::new(),
        },
        think_ms: 7,
    };
    let outside = |trigger, path: &str| OutsideChange {
        trigger,
        changes: vec![Change::Append {
            path: path.to_owned(),
            bytes: (*b"by somebody else\n").into(),
        }],
        keep_mtime: false,
    };
    let edit = json!({"file_path": "1", "old_string": "1", "new_string": "one"});
    Setup {
        settings,
        scripted_hooks: vec![many_times(hook, "hook")],
        user: vec![many_times(user, "user")],
        outside: vec![
            outside(Trigger::AtMs(10), "/work/1"),
            outside(
                Trigger::Before {
                    call: "10".to_owned(),
                    step: Step::Execute,
                },
                "/work/2",
            ),
        ],
        latency_ms: [("Read", 10), ("Edit", 5), ("Grep", 5), ("model", 3)]
            .map(|(name, ms)| (name.to_owned(), ms))
            .into(),
        turns: vec![
            turn(&eight_reads()),
            turn(&[
                ("Grep", json!({"pattern": "somebody"})),
                ("Edit", edit),
                ("Write", json!({"file_path": "9", "content": "new\n"})),
            ]),
            say("Done."),
        ],
        ..eight_reads_at_once(seed)
    }
}

fn ran(setup: Setup) -> RunReport {
    let report = run(setup).expect("runs");
    assert!(report.complaints.is_empty(), "{:?}", report.complaints);
    assert!(report.leftover.is_empty(), "{:?}", report.leftover);
    report
}

/// The hash of the trace of each seed.
fn hashes(session: impl Fn(u64) -> Setup) -> Vec<String> {
    (0..SEEDS)
        .map(|seed| ran(session(seed)).trace.trace_hash())
        .collect()
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "how the child learns that it is one"
)]
fn a_thousand_seeds_twice_and_in_a_child() {
    if let Ok(path) = std::env::var(TELL_IN) {
        std::fs::write(path, hashes(rich).join("\n")).expect("the file the parent reads");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let told = folder.path().join("told");
    let test = "determinism::a_thousand_seeds_twice_and_in_a_child";
    // It works while the parent does.
    let child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", test, "--test-threads=1", "--nocapture"])
        .env(TELL_IN, &told)
        .env("TZ", "Asia/Tokyo")
        .env("HOME", "/elsewhere")
        .env("LC_ALL", "C")
        .current_dir(folder.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("a child");
    let (first, second) = (hashes(rich), hashes(rich));
    let child = child.wait_with_output().expect("a child");
    assert!(child.status.success(), "{child:?}");
    let told = std::fs::read_to_string(told).expect("what the child told");
    let told: Vec<&str> = told.lines().collect();
    assert_eq!(told.len(), first.len());
    for (seed, hash) in first.iter().enumerate() {
        assert_eq!(hash, &second[seed], "seed {seed} again");
        assert_eq!(hash, told[seed], "seed {seed} in another process");
    }
    // Equal hashes of runs that never differ would prove little.
    assert!(different(&first) >= 100, "{}", different(&first));
}

#[test]
fn the_rich_session_holds_what_it_says() {
    let report = ran(rich(7));
    let mut classes = Vec::new();
    let mut events = BTreeSet::new();
    for event in report.trace.events() {
        events.insert(event.name());
        if let Event::Result(result) = event {
            classes.push(result.class);
        }
    }
    for name in ["hook", "prompt", "outside", "decision", "op"] {
        assert!(events.contains(name), "no {name} among {events:?}");
    }
    assert_eq!(classes.len(), 11);
    assert!(classes.contains(&Class::Ok));
}

fn different(hashes: &[String]) -> usize {
    hashes.iter().collect::<BTreeSet<_>>().len()
}

#[test]
fn a_thousand_seeds_of_eight_equal_calls_differ() {
    let hashes = hashes(eight_reads_at_once);
    let different = different(&hashes);
    assert!(different >= 100, "only {different} traces of {SEEDS} seeds");
}
