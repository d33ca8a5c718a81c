//! Recorded edits, made again: they have the effect that they had.

use super::{Bench, START_MS};
use rehearsal::profile::Profile;
use rehearsal::tools::{Edit, Read};
use rehearsal::words::Class;
use rehearsal::world::{MemoryFs, MemoryOptions};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// The results of recorded edits: each line's `toolUseResult` that holds a whole file,
/// an old and a new string, and a patch.
fn recorded() -> Vec<(String, Value)> {
    let folder = PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../shared/data/claude-code"
    ));
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("skipped: the recordings are not beside the project");
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut edits = Vec::new();
    for path in paths {
        let bytes = std::fs::read(&path).unwrap();
        for (index, line) in String::from_utf8_lossy(&bytes).lines().enumerate() {
            let Ok(line) = serde_json::from_str::<Value>(line) else {
                continue;
            };
            let result = &line["toolUseResult"];
            let is_edit = result["originalFile"].is_string()
                && result["oldString"]
                    .as_str()
                    .is_some_and(|old| !old.is_empty())
                && result["newString"].is_string()
                && result["structuredPatch"].is_array();
            if is_edit {
                let name = path.file_name().unwrap().to_string_lossy();
                edits.push((format!("{name}:{}", index + 1), result.clone()));
            }
        }
    }
    edits
}

/// As old recordings show text in patches: a tab as two spaces.
fn plain(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\t', "  ")
}

/// What a recorded patch makes of a file; `None` if the patch was damaged when its
/// secrets were taken out.
fn patched(file: &str, patch: &Value) -> Option<String> {
    let file: Vec<String> = plain(file).split('\n').map(str::to_owned).collect();
    let (mut out, mut at) = (Vec::new(), 0);
    for hunk in patch.as_array()? {
        let start = (hunk["oldStart"].as_u64()? as usize).saturating_sub(1);
        out.extend_from_slice(file.get(at..start)?);
        at = start;
        for line in hunk["lines"].as_array()? {
            let line = plain(line.as_str()?);
            if line.starts_with('\\') {
                // "No newline at end of file".
                continue;
            }
            let text = line.get(1..).map(str::to_owned);
            match line.get(..1)? {
                "+" => out.push(text?),
                " " => {
                    out.push(text?);
                    at += 1;
                }
                "-" => at += 1,
                _ => return None,
            }
        }
    }
    out.extend_from_slice(file.get(at..)?);
    Some(out.join("\n"))
}

#[test]
fn recorded_edits_have_the_recorded_effect() {
    let edits = recorded();
    let (mut same, mut damaged, mut wrong) = (0, Vec::new(), Vec::new());
    for (place, result) in &edits {
        let file = result["originalFile"].as_str().unwrap();
        let Some(expected) = patched(file, &result["structuredPatch"]) else {
            damaged.push(place);
            continue;
        };
        let fs = MemoryFs::new(MemoryOptions::default());
        fs.put_file("/p/f", file.as_bytes(), 0o644, START_MS)
            .unwrap();
        let profile = Profile::by_name("claude-code-2.1.2").unwrap();
        let bench = Bench::on(Arc::new(fs), "/p", profile);
        bench.call(Read, json!({"file_path": "f", "limit": 1}));
        let input = json!({
            "file_path": "f",
            "old_string": result["oldString"],
            "new_string": result["newString"],
            "replace_all": result["replaceAll"].as_bool().unwrap_or(false),
        });
        let outcome = bench.call(Edit, input);
        let now = String::from_utf8(bench.bytes("/p/f")).unwrap();
        if outcome.class != Class::Ok {
            wrong.push(format!("{place}: {}", outcome.text()));
        } else if plain(&now) != expected {
            let patch = &outcome.data.as_ref().unwrap()["structuredPatch"];
            wrong.push(format!(
                "{place}: {patch}\nrecorded {}",
                result["structuredPatch"]
            ));
        } else {
            same += 1;
        }
    }
    println!(
        "{} recorded edits: {same} the same, {} damaged",
        edits.len(),
        damaged.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(damaged.len() * 20 <= edits.len(), "damaged: {damaged:?}");
}
