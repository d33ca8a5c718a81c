//! Recordings through the runtime: what is same is same because it was looked at.

use rehearsal::recording::{Source, read};
use rehearsal::replay::{
    RecordingReport, ReplayOptions, Summary, recording_files, replay, replay_file,
};
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The replay of the small recording, its text changed by `tamper`.
fn greeting(tamper: impl Fn(String) -> String) -> RecordingReport {
    let text =
        std::fs::read_to_string(root().join("fixtures/recordings/greeting.jsonl")).expect("reads");
    let source = Source::new(tamper(text).into_bytes()).expect("a known format");
    let recording = read(&source);
    let replayed = replay(&recording, &ReplayOptions::default()).expect("replays");
    RecordingReport::new("greeting".to_owned(), &recording, replayed)
}

fn counts(report: &RecordingReport) -> [u32; 5] {
    [
        report.predicted,
        report.seeded,
        report.recorded,
        report.diverged,
        report.not_comparable,
    ]
}

#[test]
fn each_call_of_a_small_recording_is_counted_once() {
    let report = greeting(|text| text);
    assert_eq!(counts(&report), [2, 1, 1, 0, 0]);
    assert!(report.line_complaints.is_empty() && report.repairs.is_empty());
}

/// A recording that says something else than what must have happened diverges, at that call.
#[test]
fn a_tampered_recording_diverges() {
    let tampered = [
        // What the edited file is said to have held.
        (
            r#""originalFile": "def greet():\n    return \"hello\"\n""#,
            r#""originalFile": "def great():\n    return \"hello\"\n""#,
        ),
        // What the edit is said to have made.
        (
            r#""+    return \"good day\"""#,
            r#""+    return \"good dry\"""#,
        ),
        // An edit that cannot have failed is said to have.
        (
            r#""old_string": "\"hello\"", "new_string": "\"hi\"""#,
            r#""old_string": "\"good day\"", "new_string": "\"hi\"""#,
        ),
        // What the first edit replaced.
        (
            r#""old_string": "\"hello\"", "new_string": "\"good day\"""#,
            r#""old_string": "\"hallo\"", "new_string": "\"good day\"""#,
        ),
    ];
    for (was, is) in tampered {
        let report = greeting(|text| {
            assert!(text.contains(was), "{was} is not in the recording");
            text.replacen(was, is, 1)
        });
        assert!(report.diverged >= 1, "{was} → {is}: {:?}", counts(&report));
        assert!(report.predicted < 2, "{was} → {is}: {:?}", counts(&report));
    }
}

#[test]
fn a_torn_recording_loses_only_its_last_line() {
    let whole = greeting(|text| text);
    let torn = greeting(|text| text[..text.len() - 40].to_owned());
    assert_eq!(counts(&torn), counts(&whole));
    assert_eq!(torn.line_complaints.len(), 1);
}

#[test]
fn every_shared_recording_is_read_and_diverges_only_where_it_is_known_to() {
    let folder: PathBuf = root().join("../shared/data/claude-code");
    if !folder.is_dir() {
        eprintln!("skipped: the recordings are not beside this checkout");
        return;
    }
    let mut summary = Summary::default();
    let mut diverged = Vec::new();
    for file in recording_files(&[folder]).expect("lists") {
        let report = replay_file(&file, &ReplayOptions::default()).expect("every file is read");
        assert_eq!(
            counts(&report).iter().sum::<u32>(),
            report.calls,
            "{}",
            file.display()
        );
        let name = file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        diverged.extend(
            report
                .divergences
                .iter()
                .map(|d| (name.clone(), d.call.clone())),
        );
        summary.add(&report);
    }
    assert_eq!((summary.recordings, summary.unreadable), (112, 0));
    assert_eq!(
        summary.tally.causes.get("semantics"),
        None,
        "ours and theirs disagree on the same world"
    );
    let baseline =
        std::fs::read_to_string(root().join("fixtures/replay-baseline.jsonl")).expect("a baseline");
    let mut known: Vec<(String, String)> = baseline
        .lines()
        .map(|line| {
            let known: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let text = |key: &str| known[key].as_str().unwrap_or_default().to_owned();
            (text("recording"), text("call"))
        })
        .collect();
    known.sort();
    diverged.sort();
    assert_eq!(diverged, known);
}
