//! Snapshots on disk: where a scenario's is, what was expected, what is pending.
//!
//! The files have insta's header, so that its tools open them.

use crate::scenario::Scenario;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The folder of snapshots, beside the folder of scenarios.
pub const FOLDER: &str = "snapshots";
/// What the name of an accepted snapshot ends in.
const ACCEPTED: &str = ".snap";
/// What the name of a pending one ends in.
const PENDING: &str = ".snap.new";

/// How a text compares with the accepted snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Compared {
    Same,
    /// There is no accepted snapshot.
    New,
    /// What was accepted.
    Differs {
        expected: String,
    },
}

/// The folder from which a scenario's path is named: the nearest one above it that
/// has snapshots or a repository, else `current`, if it is above it, else its own.
/// Both paths must be absolute.
pub fn root_of(scenario: &Path, current: &Path) -> PathBuf {
    let above = || scenario.ancestors().skip(1);
    let marked = |folder: &&Path| folder.join(FOLDER).exists() || folder.join(".git").exists();
    above()
        .find(marked)
        .or_else(|| above().find(|folder| *folder == current))
        .or_else(|| scenario.parent())
        .unwrap_or(current)
        .to_owned()
}

/// The name of a scenario's snapshot without its ending: that of its file, and its
/// case after an `@`.
pub fn name_of(root: &Path, file: &Path, scenario: &Scenario) -> String {
    let mut name = stem_of(root, file);
    if let Some(case) = scenario.case_slug() {
        name.push('@');
        name.push_str(&case);
    }
    name
}

/// What the names of all snapshots of a file begin with: its path from `root`, with
/// `__` for `/`.
pub fn stem_of(root: &Path, file: &Path) -> String {
    let inside = file.strip_prefix(root).unwrap_or(file).with_extension("");
    let parts: Vec<String> = inside
        .components()
        .filter_map(|part| match part {
            Component::Normal(part) => Some(part.to_string_lossy().into_owned()),
            _ => None,
        })
        .collect();
    parts.join("__")
}

/// The accepted snapshot of a name.
pub fn accepted(root: &Path, name: &str) -> PathBuf {
    root.join(FOLDER).join(format!("{name}{ACCEPTED}"))
}

/// The pending snapshot of a name.
pub fn pending(root: &Path, name: &str) -> PathBuf {
    root.join(FOLDER).join(format!("{name}{PENDING}"))
}

/// Compares `text` with the accepted snapshot and writes it as pending if it is
/// another; removes a pending one that is out of date.
///
/// # Errors
/// If a file cannot be read or written.
pub fn compare(
    root: &Path,
    name: &str,
    source: &str,
    title: &str,
    text: &str,
) -> io::Result<Compared> {
    let (accepted, pending) = (accepted(root, name), pending(root, name));
    let compared = match std::fs::read_to_string(&accepted) {
        Ok(file) => match body(&file) {
            expected if expected == text => Compared::Same,
            expected => Compared::Differs {
                expected: expected.to_owned(),
            },
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Compared::New,
        Err(error) => return Err(error),
    };
    if compared == Compared::Same {
        match std::fs::remove_file(&pending) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    } else {
        std::fs::create_dir_all(root.join(FOLDER))?;
        std::fs::write(&pending, with_header(source, title, text))?;
    }
    Ok(compared)
}

/// A snapshot with insta's header.
fn with_header(source: &str, title: &str, text: &str) -> String {
    let quoted = |text: &str| serde_json::Value::String(text.to_owned()).to_string();
    format!(
        "---\nsource: {}\nexpression: {}\n---\n{text}",
        quoted(source),
        quoted(title)
    )
}

/// A snapshot without its header.
fn body(file: &str) -> &str {
    let Some(rest) = file.strip_prefix("---\n") else {
        return file;
    };
    match rest.split_once("\n---\n") {
        Some((_, body)) => body,
        None => file,
    }
}

/// Every pending snapshot below a root, sorted by name.
///
/// # Errors
/// If the folder cannot be listed; a folder that is not there holds none.
pub fn all_pending(root: &Path) -> io::Result<Vec<PathBuf>> {
    let listing = match std::fs::read_dir(root.join(FOLDER)) {
        Ok(listing) => listing,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in listing {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(PENDING) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Makes a pending snapshot the accepted one; gives its path.
///
/// # Errors
/// If the file cannot be moved.
pub fn accept(pending: &Path) -> io::Result<PathBuf> {
    let name = pending.to_string_lossy();
    let accepted = PathBuf::from(name.strip_suffix(".new").unwrap_or(&name));
    std::fs::rename(pending, &accepted)?;
    Ok(accepted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_is_new_then_pending_then_accepted() -> io::Result<()> {
        let root = tempfile::tempdir()?;
        let root = root.path();
        let compare = |text: &str| compare(root, "s__a@x", "s/a.yaml", "a: \"b\"", text);
        assert_eq!(compare("one\n")?, Compared::New);
        assert_eq!(all_pending(root)?, [pending(root, "s__a@x")]);
        assert_eq!(accept(&pending(root, "s__a@x"))?, accepted(root, "s__a@x"));
        assert_eq!(compare("one\n")?, Compared::Same);
        assert_eq!(
            compare("two\n")?,
            Compared::Differs {
                expected: "one\n".to_owned()
            }
        );
        assert_eq!(all_pending(root)?.len(), 1);
        assert_eq!(compare("one\n")?, Compared::Same);
        assert_eq!(all_pending(root)?, [] as [PathBuf; 0]);
        Ok(())
    }

    #[test]
    fn a_body_may_hold_what_a_header_ends_in() {
        let text = "a\n---\nb\n";
        assert_eq!(body(&with_header("s", "t", text)), text);
        assert_eq!(body("no header"), "no header");
    }

    #[test]
    fn the_root_is_where_snapshots_are() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let top = folder.path();
        let scenario = top.join("a/scenarios/b/s.yaml");
        assert_eq!(root_of(&scenario, &top.join("a")), top.join("a"));
        assert_eq!(
            root_of(&scenario, &top.join("z")),
            top.join("a/scenarios/b")
        );
        std::fs::create_dir_all(top.join(FOLDER))?;
        assert_eq!(root_of(&scenario, top), top);
        std::fs::create_dir_all(top.join("a/.git"))?;
        assert_eq!(root_of(&scenario, top), top.join("a"));
        Ok(())
    }
}
