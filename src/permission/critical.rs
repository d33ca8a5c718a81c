//! Removals that nothing allows but the user (`semantics.md §1.7`): of the root, the home,
//! the working folder and what is above it.

use super::subject::operands;
use crate::shell_syntax::{CommandLine, Word, stages};
use crate::tools::ToolCx;
use crate::world::{normalize, split};

/// Commands that remove.
const REMOVING: &[&str] = &["rm", "rmdir"];

/// The words that a command of the line removes, as far as its text tells.
fn removed(line: &CommandLine) -> impl Iterator<Item = &str> {
    line.parts.iter().flat_map(|part| {
        let stages = stages(&part.assignments, &part.words).into_iter();
        stages.flat_map(|(_, words)| match words.split_first() {
            Some((first, rest)) if removes(first) => operands(rest).collect::<Vec<_>>(),
            _ => Vec::new(),
        })
    })
}

fn removes(word: &Word) -> bool {
    let name = word.text.rsplit('/').next().unwrap_or_default();
    REMOVING.contains(&name)
}

/// Whether any command of the line removes something.
pub(super) fn is_removal(line: &CommandLine) -> bool {
    removed(line).next().is_some()
}

/// What the line would remove and must not without the user, in words; `folders` are
/// those that it may stand in.
pub(super) fn critical(line: &CommandLine, folders: &[String], cx: &ToolCx) -> Option<String> {
    removed(line).find_map(|word| {
        let what = of_variable(word).or_else(|| of_path(word, folders, cx))?;
        Some(format!("it would remove `{word}`: {what}"))
    })
}

/// `$x/` and `$x/*` are the root where the variable is empty.
fn of_variable(word: &str) -> Option<&'static str> {
    let below = word.strip_suffix("/*").or_else(|| word.strip_suffix('/'))?;
    let name = below.strip_prefix('$')?;
    let name = name
        .strip_prefix('{')
        .and_then(|name| name.strip_suffix('}'))
        .unwrap_or(name);
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!name.is_empty() && name.chars().all(plain)).then_some("the root, if the variable is empty")
}

fn of_path(word: &str, folders: &[String], cx: &ToolCx) -> Option<&'static str> {
    let (below, is_glob) = match word.strip_suffix("/*") {
        Some("") => ("/", true),
        Some(below) => (below, true),
        None if word == "*" => (".", true),
        None => (word, false),
    };
    let env = &cx.env;
    let is_above = |path: &str| {
        let below = env.cwd.strip_prefix(path);
        below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || path == "/")
    };
    let of = |path: String| {
        let is_child_of_root = split(&path).is_some_and(|(above, _)| above == "/");
        if path == "/" {
            Some("the root")
        } else if is_child_of_root {
            Some("a folder of the root")
        } else if path == env.home {
            Some("the home folder")
        } else if is_above(&path) {
            Some("the working folder")
        } else if is_glob && env.additional_dirs.contains(&path) {
            Some("a whole working folder")
        } else {
            None
        }
    };
    match below.starts_with(['/', '~']) {
        true => of(cx.absolute(below)),
        false => folders
            .iter()
            .find_map(|folder| of(normalize(folder, below))),
    }
}
