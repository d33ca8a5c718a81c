//! The importers against real recordings, and against what crashes and concurrent
//! writers do to them.

use proptest::prelude::*;
use rehearsal::recording::{
    Folders, Format, Happening, Knowledge, Known, LoadError, Recording, Source, classify, file_of,
    happenings, read, tool_name,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The folder of shared recordings, or `None` with the reason said.
pub fn corpus() -> Option<PathBuf> {
    // Beside the repository; one level further up for a second work tree of it.
    let places = ["/../shared/data", "/../../shared/data"];
    let places = places.map(|place| format!("{}{place}", env!("CARGO_MANIFEST_DIR")));
    let found = places.iter().map(Path::new).find(|folder| folder.is_dir());
    if found.is_none() {
        println!("skipped: the shared recordings are not at {}", places[0]);
    }
    found.map(Path::to_owned)
}

/// The recordings of the corpus with their rows of the manifest, by file name.
pub fn sessions() -> Option<Vec<Session>> {
    let folder = corpus()?;
    let manifest = std::fs::read_to_string(folder.join("manifest.tsv")).unwrap();
    let mut rows = manifest.lines();
    let header: Vec<&str> = rows.next().unwrap().split('\t').collect();
    let column = |name: &str| header.iter().position(|title| *title == name).unwrap();
    let (file, calls, results) = (column("file"), column("tool_use"), column("tool_result"));
    let mut sessions: Vec<Session> = rows
        .map(|row| row.split('\t').collect::<Vec<_>>())
        .filter(|row| row[file].starts_with("claude-code/"))
        .map(|row| Session {
            name: row[file].trim_start_matches("claude-code/").to_owned(),
            bytes: std::fs::read(folder.join(row[file])).unwrap(),
            calls: row[calls].parse().unwrap(),
            results: row[results].parse().unwrap(),
        })
        .collect();
    sessions.sort_by(|a, b| a.name.cmp(&b.name));
    Some(sessions)
}

/// One file of the corpus.
pub struct Session {
    pub name: String,
    pub bytes: Vec<u8>,
    pub calls: u32,
    pub results: u32,
}

impl Session {
    pub fn source(&self) -> Source<'_> {
        Source::new(&self.bytes[..]).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

#[test]
fn every_shared_recording_loads_with_the_counts_of_the_manifest() {
    let Some(sessions) = sessions() else { return };
    assert_eq!(sessions.len(), 112);
    for session in &sessions {
        let source = session.source();
        let recording = read(&source);
        let counts = recording.counts;
        // The manifest counts blocks of its own kinds only: a turn list has its calls
        // under another key, eleven of them, each with its result inside.
        let (calls, results) = match recording.format {
            Format::TurnList => (counts.calls - 11, counts.results - 11),
            _ => (counts.calls, counts.results),
        };
        assert_eq!(
            (calls, results),
            (session.calls, session.results),
            "{}",
            session.name
        );
    }
}

#[test]
fn what_the_shared_recordings_lose_is_known() {
    let Some(sessions) = sessions() else { return };
    let mut said = String::new();
    for session in &sessions {
        let source = session.source();
        let recording = read(&source);
        let mut kinds: BTreeMap<&str, u32> = BTreeMap::new();
        for repair in &recording.repairs {
            *kinds.entry(repair.kind.as_str()).or_default() += 1;
        }
        let unanswered = recording
            .calls
            .iter()
            .filter(|c| c.result.is_none())
            .count();
        if kinds.is_empty() && recording.complaints.is_empty() && unanswered == 0 {
            continue;
        }
        said += &format!("{} ({})\n", session.name, recording.format.as_str());
        for complaint in &recording.complaints {
            said += &format!(
                "  {}:{} {}\n",
                complaint.line, complaint.column, complaint.found
            );
        }
        for (kind, count) in kinds {
            said += &format!("  {kind}: {count}\n");
        }
        if unanswered > 0 {
            said += &format!("  calls without a result: {unanswered}\n");
        }
    }
    insta::assert_snapshot!("what_is_lost", said);
}

/// A transcript made by a test: batches of calls, each call with its result.
#[derive(Debug, Clone)]
struct Made {
    /// Lines in the order in which a runtime would write them.
    lines: Vec<String>,
    /// The index of each line that answers a call, by batch.
    answers: Vec<Vec<usize>>,
}

/// Transcripts of up to four messages of up to five calls.
fn made() -> impl Strategy<Value = Made> {
    let text = "[a-z\\n\"é😀\u{2028}]{0,12}";
    proptest::collection::vec(proptest::collection::vec(text, 1..=5), 1..=4).prop_map(|batches| {
        let mut made = Made {
            lines: vec![entry("user", "u", "", r#""hello""#)],
            answers: Vec::new(),
        };
        for (batch, texts) in batches.iter().enumerate() {
            for (call, text) in texts.iter().enumerate() {
                let input = serde_json::json!({"file_path": text});
                made.lines.push(entry(
                    "assistant",
                    &format!("a{batch}-{call}"),
                    &format!("msg{batch}"),
                    &format!(
                        r#"[{{"type":"tool_use","id":"t{batch}-{call}","name":"Read","input":{input}}}]"#
                    ),
                ));
            }
            let mut answers = Vec::new();
            for (call, text) in texts.iter().enumerate() {
                answers.push(made.lines.len());
                let content = serde_json::json!(text);
                made.lines.push(entry(
                    "user",
                    &format!("r{batch}-{call}"),
                    "",
                    &format!(
                        r#"[{{"type":"tool_result","tool_use_id":"t{batch}-{call}","content":{content}}}]"#
                    ),
                ));
            }
            made.answers.push(answers);
        }
        made
    })
}

fn entry(kind: &str, uuid: &str, message: &str, content: &str) -> String {
    let id = match message {
        "" => String::new(),
        id => format!(r#""id":"{id}","#),
    };
    format!(
        r#"{{"type":"{kind}","sessionId":"s","uuid":"{uuid}","version":"2.1.42","cwd":"/w","message":{{{id}"content":{content}}}}}"#
    )
}

/// The calls with their results, without where in the file they stand.
fn calls(recording: &Recording<'_>) -> Vec<String> {
    let calls = recording.calls.iter().map(|call| {
        let result = call
            .result
            .as_ref()
            .map(|result| result.text().into_owned());
        format!(
            "{} {} {} batch {} order {} {:?}",
            call.number,
            call.id,
            call.input.get(),
            call.batch,
            call.order,
            result
        )
    });
    calls.collect()
}

fn with<T>(text: &str, look: impl FnOnce(&Recording<'_>) -> T) -> T {
    let source = Source::new(text.as_bytes()).unwrap();
    look(&read(&source))
}

/// What broken files are made of.
const PIECES: &[&[u8]] = &[
    b"{\"type\":\"user\",\"sessionId\":\"s\"}",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b",",
    b":1",
    b"\\u",
    b"\\ud83d",
    b"\n",
    b"\0",
    b"\xff",
    "é".as_bytes(),
    b"messages:\n- type: user\n",
    b"\"loglines\":[",
];

proptest! {
    #[test]
    fn the_order_of_sibling_results_changes_no_call(
        (made, seed) in (made(), any::<u64>()),
    ) {
        let plain = with(&made.lines.join("\n"), calls);
        let mut lines = made.lines.clone();
        for answers in &made.answers {
            let first = answers[0];
            lines[first..first + answers.len()].rotate_left(seed as usize % answers.len());
            if seed % 3 == 0 {
                lines[first..first + answers.len()].reverse();
            }
        }
        // A result may stand before the last call of its message, too.
        if seed % 2 == 0 && made.answers[0].len() > 1 {
            lines.swap(made.answers[0][0] - 1, made.answers[0][0]);
        }
        prop_assert_eq!(with(&lines.join("\n"), calls), plain);
    }

    #[test]
    fn glued_lines_lose_nothing(made in made(), glue in proptest::collection::vec(any::<bool>(), 40)) {
        let plain = with(&made.lines.join("\n"), calls);
        let mut text = String::new();
        for (line, glued) in made.lines.iter().zip(glue.iter().cycle()) {
            text.push_str(line);
            text.push_str(if *glued { "" } else { "\n" });
        }
        let (glued, complaints) = with(&text, |r| (calls(r), r.complaints.len()));
        prop_assert_eq!(glued, plain);
        prop_assert_eq!(complaints, 0);
    }

    #[test]
    fn a_cut_costs_the_cut_line_only(made in made(), at in any::<prop::sample::Index>()) {
        let text = made.lines.join("\n").into_bytes();
        let at = at.index(text.len());
        let whole = made.lines.iter().scan(0, |end, line| {
            *end += line.len() + 1;
            Some(*end - 1)
        }).filter(|end| *end <= at).count();
        match Source::new(&text[..at]) {
            Ok(source) => {
                let recording = read(&source);
                prop_assert_eq!(recording.entries.len(), whole);
                prop_assert!(recording.complaints.len() <= 1);
            }
            Err(_) => prop_assert_eq!(whole, 0),
        }
    }

    #[test]
    fn a_cut_line_before_whole_ones_costs_itself_only(
        made in made(), line in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), newline: bool,
    ) {
        let line = line.index(made.lines.len() - 1);
        let mut text = Vec::new();
        for (number, whole) in made.lines.iter().enumerate() {
            if number == line {
                text.extend(&whole.as_bytes()[..1 + at.index(whole.len() - 1)]);
                text.extend(newline.then_some(b'\n'));
            } else {
                text.extend(whole.as_bytes());
                text.push(b'\n');
            }
        }
        let source = Source::new(&text[..]).unwrap();
        let recording = read(&source);
        prop_assert_eq!(recording.entries.len(), made.lines.len() - 1);
        prop_assert_eq!(recording.complaints.len(), 1);
        prop_assert_eq!(recording.complaints[0].line, line as u32 + 1);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(
        bytes in proptest::collection::vec(
            prop::sample::select(PIECES.to_vec()),
            0..40,
        ),
    ) {
        if let Ok(source) = Source::new(bytes.concat()) {
            let _ = read(&source);
        }
    }
}

#[test]
fn shared_recordings_cut_anywhere_lose_the_cut_line_only() {
    let Some(sessions) = sessions() else { return };
    // A few places in each file; which ones does not matter, that they are the same
    // in every run does.
    for (salt, session) in sessions.iter().enumerate() {
        let whole_source = session.source();
        let whole = read(&whole_source);
        for cut in 1..6 {
            let at = session.bytes.len() * (cut * 2 + salt % 2) / 13;
            let Ok(source) = Source::new(&session.bytes[..at]) else {
                continue;
            };
            let part = read(&source);
            let line = 1 + session.bytes[..at].iter().filter(|b| **b == b'\n').count() as u32;
            // Elements of lists go over several lines: the one with the cut in it began earlier.
            let lines_only = !matches!(
                part.format,
                Format::SdkCapture | Format::SessionFile | Format::ChunkList
            );
            let expected = whole
                .entries
                .iter()
                .filter(|entry| entry.line < line)
                .count();
            let got = part.entries.len();
            if lines_only {
                assert!(
                    got == expected || got == expected + 1,
                    "{} at {at}",
                    session.name
                );
            } else {
                assert!(got <= expected + 1, "{} at {at}", session.name);
            }
            assert!(
                part.complaints.len() <= whole.complaints.len() + 1,
                "{} at {at}",
                session.name
            );
        }
    }
}

#[test]
fn b197_all_results_of_parallel_calls_are_there() {
    let call = |n: u32, parent: &str| {
        format!(
            r#"{{"type":"assistant","sessionId":"s","uuid":"a{n}","parentUuid":{parent},"message":{{"id":"m","content":[{{"type":"tool_use","id":"t{n}","name":"Read","input":{{}}}}]}}}}"#
        )
    };
    let result = |n: u32| {
        format!(
            r#"{{"type":"user","sessionId":"s","uuid":"r{n}","parentUuid":"a{n}","message":{{"content":[{{"type":"tool_result","tool_use_id":"t{n}","content":"r{n}"}}]}}}}"#
        )
    };
    let lines = [
        call(1, "null"),
        call(2, "\"a1\""),
        call(3, "\"a2\""),
        result(1),
        result(2),
        result(3),
        r#"{"type":"user","sessionId":"s","uuid":"u","parentUuid":"r3","message":{"content":"on"}}"#.to_owned(),
    ];
    with(&lines.join("\n"), |recording| {
        let batches: Vec<u32> = recording.calls.iter().map(|call| call.batch).collect();
        assert_eq!(batches, [1, 1, 1]);
        assert!(recording.calls.iter().all(|call| call.result.is_some()));
    });
}

#[test]
fn b198_a_text_that_goes_with_a_call_is_kept() {
    let line = r#"{"type":"user","sessionId":"s","uuid":"x","parentUuid":"r1","isMeta":true,"sourceToolUseID":"t1","message":{"content":[{"type":"text","text":"the skill's body"}]}}"#;
    with(line, |recording| {
        assert_eq!(recording.said.len(), 1);
        assert_eq!(recording.said[0].source_call.as_deref(), Some("t1"));
    });
}

#[test]
fn b199_results_of_every_shape_load() {
    let shapes = [
        r#","content":"s""#,
        r#","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#,
        r#","content":[{"type":"image","source":{}}]"#,
        r#","content":[{"type":"tool_reference","tool_name":"W"}]"#,
        "",
    ];
    let mut lines = Vec::new();
    for (n, shape) in shapes.iter().enumerate() {
        lines.push(entry(
            "assistant",
            &format!("a{n}"),
            &format!("m{n}"),
            &format!(r#"[{{"type":"tool_use","id":"t{n}","name":"Read","input":{{}}}}]"#),
        ));
        lines.push(entry(
            "user",
            &format!("r{n}"),
            "",
            &format!(r#"[{{"type":"tool_result","tool_use_id":"t{n}"{shape}}}]"#),
        ));
    }
    with(&lines.join("\n"), |recording| {
        let texts = recording.calls.iter().map(|call| {
            let result = call.result.as_ref().unwrap();
            result.text().into_owned()
        });
        assert_eq!(texts.collect::<Vec<_>>(), ["s", "a\nb", "", "", ""]);
    });
}

#[test]
fn b202_an_import_of_nothing_is_an_error() {
    assert_eq!(Source::new(&b" \n"[..]).unwrap_err(), LoadError::Empty);
    assert!(matches!(
        Source::new(&b"{\"event\":1}\n"[..]),
        Err(LoadError::Unknown { .. })
    ));
}

#[test]
fn the_classes_of_the_shared_recordings() {
    let Some(sessions) = sessions() else { return };
    let mut counts: BTreeMap<String, BTreeMap<String, u32>> = BTreeMap::new();
    for session in &sessions {
        let source = session.source();
        for call in &read(&source).calls {
            let tool = tool_name::canonical(&call.tool);
            let tool = if tool_name::is_mcp(tool) { "mcp" } else { tool };
            let mut words = vec!["no result"];
            if let Some(ending) = classify(call) {
                words = vec![ending.class.as_str()];
                words.extend(ending.flags.iter().map(|flag| flag.as_str()));
            }
            *counts
                .entry(tool.to_owned())
                .or_default()
                .entry(words.join("+"))
                .or_default() += 1;
        }
    }
    let mut table = String::new();
    for (tool, classes) in counts {
        table += &format!("{tool}\n");
        for (class, count) in classes {
            table += &format!("  {class}: {count}\n");
        }
    }
    insta::assert_snapshot!("classes", table);
}

#[test]
fn how_far_earlier_lines_tell_what_calls_met() {
    let Some(sessions) = sessions() else { return };
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let mut changes = String::new();
    for session in &sessions {
        let source = session.source();
        let recording = read(&source);
        let folders = Folders::of(recording.cwd.as_deref());
        let mut knowledge = Knowledge::default();
        for happening in happenings(&recording) {
            let before = match happening {
                Happening::Ended(call) => file_of(call, &folders).map(|path| {
                    let tool = tool_name::canonical(&call.tool);
                    let class = classify(call).unwrap().class;
                    let known = match knowledge.of(&path).map(|file| &file.known) {
                        None => "unknown",
                        Some(Known::Absent) => "known to be absent",
                        Some(Known::Whole(_)) => "known",
                        Some(Known::Part(_)) => "known in part",
                    };
                    format!("{tool} {class}, {known}")
                }),
                _ => None,
            };
            let change = knowledge.after(happening, &folders);
            if let Some(change) = &change {
                changes += &format!(
                    "{} {}: known since {}, {}{}\n",
                    session.name,
                    change.line,
                    change.known_since,
                    change.what,
                    if change.opaque_between {
                        " (opaque call between)"
                    } else {
                        ""
                    },
                );
            }
            if let Some(before) = before {
                let after = if change.is_some() {
                    ", not as known"
                } else {
                    ""
                };
                *counts.entry(before + after).or_default() += 1;
            }
        }
    }
    let counts: String = counts
        .iter()
        .map(|(what, n)| format!("{what}: {n}\n"))
        .collect();
    insta::assert_snapshot!("known_before_calls", format!("{counts}\n{changes}"));
}
