//! The importers against real recordings, and against what crashes and concurrent
//! writers do to them.

use proptest::prelude::*;
use rehearsal::recording::{Format, LoadError, RecordedCall, Recording, RepairKind, Source, read};
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
    pub fn source(&self) -> Source {
        Source::new(self.bytes.clone()).unwrap_or_else(|error| panic!("{}: {error}", self.name))
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
