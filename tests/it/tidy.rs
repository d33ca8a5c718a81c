//! The house rules that no compiler checks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms from the ground up, as in ARCHITECTURE.md.
const FLOORS: &[(u8, &[&str])] = &[
    (1, &["words", "wire", "sim"]),
    (
        2,
        &["profile", "world", "trace", "settings", "shell_syntax"],
    ),
    (3, &["rule", "shell", "model", "mcp"]),
    (4, &["tools", "hooks", "recording"]),
    (5, &["scenario", "permission"]),
    (6, &["pipeline"]),
    (7, &["schedule"]),
    (8, &["agent"]),
    (9, &["run"]),
    (10, &["replay"]),
    (11, &["report", "explain"]),
    (12, &["cli", "library", "main"]),
];

/// The longest a source file may be, in lines; who needs more says why here.
const LINES_MAX: usize = 600;
const LONGER: &[(&str, &str)] = &[];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn files(below: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(below) else {
        return found;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn relative(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap_or(path)
        .to_string_lossy()
        .into_owned()
}

/// The code of a file: no comments, no unit tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    let upto = text.find("#[cfg(test)]\nmod ").unwrap_or(text.len());
    text[..upto]
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Every room that `code` names after `crate::`, also inside `use crate::{…}`.
fn imported(code: &str) -> BTreeSet<String> {
    let mut rooms = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let names: Vec<&str> = match rest.strip_prefix('{') {
            Some(group) => {
                let end = group.find("};").unwrap_or(group.len());
                let mut depth = 0;
                group[..end]
                    .split(|c: char| match c {
                        '{' => {
                            depth += 1;
                            false
                        }
                        '}' => {
                            depth -= 1;
                            false
                        }
                        ',' => depth == 0,
                        _ => false,
                    })
                    .collect()
            }
            None => vec![rest],
        };
        for name in names {
            let word = name
                .trim_start()
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .next();
            rooms.extend(word.map(str::to_owned));
        }
    }
    rooms
}

#[test]
fn a_room_imports_only_rooms_on_lower_floors() {
    let floor: BTreeMap<&str, u8> = FLOORS
        .iter()
        .flat_map(|(floor, rooms)| rooms.iter().map(|room| (*room, *floor)))
        .collect();
    let mut wrong = Vec::new();
    for path in files(&root().join("src"), ".rs") {
        let inside = path
            .strip_prefix(root().join("src"))
            .unwrap_or(&path)
            .to_owned();
        let first = inside
            .components()
            .next()
            .map(|c| c.as_os_str().to_string_lossy().into_owned());
        let room = first.unwrap_or_default().trim_end_matches(".rs").to_owned();
        if room == "lib" {
            continue;
        }
        let Some(own) = floor.get(room.as_str()) else {
            wrong.push(format!("src/{room} stands on no floor"));
            continue;
        };
        for other in imported(&code(&path)) {
            match floor.get(other.as_str()) {
                Some(_) if other == room => {}
                Some(theirs) if theirs < own => {}
                Some(theirs) => wrong.push(format!(
                    "{} (floor {own}) imports {other} (floor {theirs})",
                    relative(&path)
                )),
                None => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_import_check_sees_groups_and_paths() {
    let rooms = imported(
        "use crate::{world::{Actor, Fs}, trace, tools::Tool};\nlet x = crate::wire::Block;",
    );
    let wanted = ["tools", "trace", "wire", "world"].map(str::to_owned);
    assert_eq!(rooms.into_iter().collect::<Vec<_>>(), wanted);
}

#[test]
fn no_file_is_longer_than_a_noun() {
    let long: Vec<String> = files(&root().join("src"), ".rs")
        .into_iter()
        .filter_map(|path| {
            let lines = fs::read_to_string(&path)
                .unwrap_or_default()
                .lines()
                .count();
            let name = relative(&path);
            let excused = LONGER
                .iter()
                .any(|(file, why)| *file == name && !why.is_empty());
            (lines > LINES_MAX && !excused).then(|| format!("{name}: {lines} lines"))
        })
        .collect();
    assert!(
        long.is_empty(),
        "over {LINES_MAX} lines:\n{}",
        long.join("\n")
    );
}

#[test]
fn no_room_is_a_drawer() {
    for path in files(&root().join("src"), ".rs") {
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let drawer =
            ["utils", "util", "common", "helpers", "types", "misc"].contains(&name.as_str());
        assert!(!drawer, "{} is a drawer, not a noun", relative(&path));
    }
}

#[test]
fn no_test_is_forgotten() {
    let main = fs::read_to_string(root().join("tests/it/main.rs")).unwrap_or_default();
    for path in files(&root().join("tests/it"), ".rs") {
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name != "main" && path.parent() == Some(root().join("tests/it").as_path()) {
            assert!(
                main.contains(&format!("mod {name};")),
                "tests/it/{name}.rs is in no binary"
            );
        }
    }
    let others: Vec<String> = files(&root().join("tests"), ".rs")
        .iter()
        .map(|path| relative(path))
        .filter(|path| !path.starts_with("tests/it/"))
        .collect();
    assert!(
        others.is_empty(),
        "test files outside the one binary: {others:?}"
    );
}

#[test]
fn no_test_is_skipped_or_sleeps() {
    for path in files(&root().join("tests"), ".rs")
        .iter()
        .chain(&files(&root().join("src"), ".rs"))
    {
        if path.ends_with("tidy.rs") {
            continue;
        }
        let text = fs::read_to_string(path).unwrap_or_default();
        assert!(
            !text.contains("#[ignore"),
            "{} ignores a test",
            relative(path)
        );
        assert!(!text.contains("thread::sleep"), "{} sleeps", relative(path));
    }
}

/// The first cells of a table's rows, comments and the heading left out.
fn table(path: &str) -> BTreeMap<String, String> {
    let text = fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    text.lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
        .map(|line| {
            let (id, rest) = line
                .split_once('\t')
                .unwrap_or_else(|| panic!("{path}: no tab in {line:?}"));
            (id.to_owned(), rest.to_owned())
        })
        .collect()
}

/// A proof that names a file, or a test as `tests/it/x.rs::name`, names one that is there.
fn assert_proof_exists(id: &str, proof: &str) {
    for one in proof.split(", ") {
        let (file, test) = one
            .split_once("::")
            .map_or((one, None), |(file, test)| (file, Some(test)));
        let path = root().join(file);
        assert!(path.exists(), "{id}: {file} is not there");
        if let Some(test) = test {
            let text = fs::read_to_string(&path).unwrap_or_default();
            assert!(
                text.contains(&format!("fn {test}(")),
                "{id}: {file} has no test {test}"
            );
        }
    }
}

#[test]
fn every_report_has_its_scenario_or_its_reason() {
    let rows = table("scenarios/reports.tsv");
    for (id, rest) in &rows {
        if let Some(reason) = rest.strip_prefix("not yet: ") {
            assert!(
                reason.len() > 15,
                "{id}: the reason {reason:?} says nothing"
            );
        } else {
            assert_proof_exists(id, rest);
        }
    }
    let reports = root().join("../shared/cases/reports.jsonl");
    let Ok(text) = fs::read_to_string(&reports) else {
        eprintln!(
            "skipped the comparison with the reports themselves: they are not beside this checkout"
        );
        return;
    };
    let ids: BTreeSet<String> = text
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter_map(|report| report["id"].as_str().map(str::to_owned))
        .collect();
    assert!(ids.len() > 100, "only {} reports were read", ids.len());
    let rows: BTreeSet<String> = rows.into_keys().collect();
    assert_eq!(
        ids.difference(&rows).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "missing"
    );
    assert_eq!(
        rows.difference(&ids).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "unknown"
    );
}

#[test]
fn every_requirement_has_its_proof_or_is_open() {
    let rows = table("fixtures/requirements.tsv");
    for number in 1..=37 {
        let id = format!("R{number}");
        let rest = rows.get(&id).unwrap_or_else(|| panic!("{id} is missing"));
        for part in rest.split('\t') {
            match part.strip_prefix("open: ") {
                Some(what) => assert!(what.len() > 15, "{id}: what is open? {what:?}"),
                None => assert_proof_exists(&id, part),
            }
        }
    }
    assert_eq!(rows.len(), 37);
}

/// The runs of lines that a patch wants to find in its file, one a hunk.
fn wanted_lines(patch: &str) -> Vec<String> {
    let mut hunks: Vec<String> = Vec::new();
    for line in patch.lines() {
        if line.starts_with("@@") {
            hunks.push(String::new());
        } else if let (Some(hunk), Some(kept)) = (
            hunks.last_mut(),
            line.strip_prefix(' ').or_else(|| line.strip_prefix('-')),
        ) {
            hunk.push_str(kept);
            hunk.push('\n');
        }
    }
    hunks
}

#[test]
fn every_fault_still_fits_and_names_a_test() {
    let tests: String = files(&root().join("tests/it"), ".rs")
        .iter()
        .map(|path| fs::read_to_string(path).unwrap_or_default())
        .collect();
    let patches = files(&root().join("fixtures/mutants"), ".patch");
    assert!(patches.len() >= 40, "only {} faults", patches.len());
    let mut wrong = Vec::new();
    for path in patches {
        let patch = fs::read_to_string(&path).unwrap_or_default();
        let of = |start: &str| patch.lines().find_map(|line| line.strip_prefix(start));
        let file = of("+++ b/").unwrap_or_default();
        let text = fs::read_to_string(root().join(file)).unwrap_or_default();
        if wanted_lines(&patch).iter().any(|hunk| !text.contains(hunk)) {
            wrong.push(format!("{}: {file} has changed", relative(&path)));
        }
        let test = of("# test: ").and_then(|test| test.rsplit("::").next());
        let is_there = |test: &str| test == "scenarios" || tests.contains(&format!("fn {test}("));
        if !test.is_some_and(is_there) {
            wrong.push(format!("{}: there is no such test", relative(&path)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_snapshot_belongs_to_a_scenario() {
    let names: BTreeSet<String> = files(&root().join("scenarios"), ".yaml")
        .iter()
        .filter_map(|path| path.strip_prefix(root()).ok())
        .map(|path| {
            path.to_string_lossy()
                .trim_end_matches(".yaml")
                .replace('/', "__")
        })
        .collect();
    assert!(names.len() >= 40, "only {} scenarios", names.len());
    let mut with_snapshot = BTreeSet::new();
    for path in files(&root().join("snapshots"), ".snap") {
        let stem = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let scenario = stem.split('@').next().unwrap_or_default().to_owned();
        assert!(
            names.contains(&scenario),
            "{} belongs to no scenario",
            relative(&path)
        );
        with_snapshot.insert(scenario);
    }
    for path in files(&root().join("scenarios"), ".yaml") {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let name = relative(&path).trim_end_matches(".yaml").replace('/', "__");
        let none = text.lines().any(|line| line.starts_with("snapshot: none"));
        assert!(
            none || with_snapshot.contains(&name),
            "{} has no snapshot",
            relative(&path)
        );
    }
    assert!(
        files(&root().join("snapshots"), ".snap.new").is_empty(),
        "a snapshot waits for `accept`"
    );
}
