//! `Read(…)` and `Edit(…)`: paths in the syntax of gitignore, with four anchors
//! (`semantics.md §1.3`).

use super::{Problem, Side};
use crate::world::{normalize, split};

/// The folders that the anchors stand for. Absolute and normal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders<'a> {
    /// `p` and `./p`.
    pub cwd: &'a str,
    /// `~/p`.
    pub home: &'a str,
    /// `/p`.
    pub source: &'a str,
}

/// What a path rule stands for: globs below a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathPattern {
    /// Absolute and normal.
    pub root: String,
    /// In globset's syntax, each for a path relative to `root`.
    pub globs: Vec<String>,
    pub remark: Option<Problem>,
}

/// First components of absolute paths on most systems.
const ROOT_FOLDERS: &[&str] = &[
    "bin", "boot", "dev", "etc", "home", "lib", "mnt", "opt", "private", "proc", "root", "sbin",
    "sys", "tmp", "Users", "usr", "var",
];

impl PathPattern {
    /// Reads a specifier.
    pub fn new(specifier: &str, side: Side, folders: &Folders<'_>) -> Result<PathPattern, Problem> {
        let text = specifier.trim();
        check(text)?;
        if text == "*" {
            // As everywhere, the same as no specifier: any path at all.
            return Ok(PathPattern {
                root: "/".to_owned(),
                globs: vec!["**".to_owned(), String::new()],
                remark: None,
            });
        }
        let (root, rest, anchored) = anchor(text, folders);
        let only_folders = rest.ends_with('/');
        let (root, segments) = climb(root, rest)?;
        let remark = looks_absolute(text, &segments, folders.source);
        let single = !anchored && segments.len() == 2 && segments[1] == "**";
        let bare = !anchored && segments.len() == 1;
        let anywhere = bare || single && side == Side::Restricts;
        let pattern = match segments.is_empty() {
            true => "**".to_owned(),
            false => segments
                .iter()
                .map(|s| segment(s))
                .collect::<Vec<_>>()
                .join("/"),
        };
        let pattern = match anywhere && segments[0] != "**" {
            true => format!("**/{pattern}"),
            false => pattern,
        };
        let mut globs = Vec::new();
        let inside = pattern.strip_suffix("/**").map(str::to_owned);
        // A file may be meant by `dir/` and by the `dir` of `dir/**`: a deny takes both.
        if side == Side::Restricts || !only_folders {
            globs.push(pattern.clone());
        }
        match inside {
            Some(folder) if side == Side::Restricts => globs.push(folder),
            Some(_) => {}
            None => globs.push(format!("{pattern}/**")),
        }
        if pattern == "**" {
            globs.push(String::new());
        }
        for glob in &globs {
            compile(glob, true)?;
        }
        Ok(PathPattern {
            root,
            globs,
            remark,
        })
    }
}

/// Compiles one glob. Case is folded where the file system folds it.
pub(super) fn compile(glob: &str, case_sensitive: bool) -> Result<globset::Glob, Problem> {
    globset::GlobBuilder::new(glob)
        .literal_separator(true)
        .backslash_escape(true)
        .case_insensitive(!case_sensitive)
        .build()
        .map_err(|e| Problem::unusable(format!("a path in the syntax of gitignore: {}", e.kind())))
}

/// Refuses what is not known here.
fn check(text: &str) -> Result<(), Problem> {
    let bytes = text.as_bytes();
    let drive = bytes.len() > 2
        && bytes[0].is_ascii_alphabetic()
        && bytes[1] == b':'
        && matches!(bytes[2], b'\\' | b'/');
    if drive || text.starts_with("\\\\") {
        return Err(Problem::unusable("a path with `/` between its parts")
            .hint("Windows paths are not known here: write `//c/Users/…`"));
    }
    if text.starts_with('!') {
        return Err(Problem::unusable("a path; a rule cannot be negated")
            .hint("for a file whose name begins with `!` write `\\!`"));
    }
    if text.starts_with('~') && text != "~" && !text.starts_with("~/") {
        return Err(Problem::unusable("`~/` and a path below it")
            .hint("other users' home folders are not known here"));
    }
    Ok(())
}

/// The folder that a path is anchored at, what is left of it, and whether that is
/// meant from that folder on and not at any depth.
fn anchor<'t>(text: &'t str, folders: &Folders<'_>) -> (String, &'t str, bool) {
    if let Some(rest) = text.strip_prefix("//") {
        ("/".to_owned(), rest, true)
    } else if let Some(rest) = text.strip_prefix('/') {
        (folders.source.to_owned(), rest, true)
    } else if let Some(rest) = text.strip_prefix('~') {
        (folders.home.to_owned(), rest, true)
    } else if let Some(rest) = text.strip_prefix("./") {
        (folders.cwd.to_owned(), rest, true)
    } else {
        let up = text == ".." || text.starts_with("../") || text == ".";
        (folders.cwd.to_owned(), text, up)
    }
}

/// Resolves `.` and `..`; the latter may climb above the anchor.
fn climb(mut root: String, rest: &str) -> Result<(String, Vec<&str>), Problem> {
    let mut segments: Vec<&str> = Vec::new();
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => match segments.pop() {
                None => root = split(&root).map_or("/", |(above, _)| above).to_owned(),
                Some(last) if last.contains(['*', '?', '[']) => {
                    return Err(Problem::unusable("a path without `..` after a wildcard"));
                }
                Some(_) => {}
            },
            part => segments.push(part),
        }
    }
    Ok((normalize("/", &root), segments))
}

/// One segment of gitignore's syntax in globset's: `**` within a segment is `*`, and
/// braces are braces.
fn segment(text: &str) -> String {
    if text == "**" {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut class = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                out.push(c);
                out.extend(chars.next());
            }
            '[' if !class => {
                class = true;
                out.push(c);
            }
            ']' if class => {
                class = false;
                out.push(c);
            }
            '*' if !class => {
                while chars.next_if_eq(&'*').is_some() {}
                out.push(c);
            }
            '{' | '}' | ',' if !class => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// A remark on a rule with one leading slash that looks like an absolute path.
fn looks_absolute(text: &str, segments: &[&str], source: &str) -> Option<Problem> {
    let relative = text.starts_with('/') && !text.starts_with("//");
    let first = segments.first()?;
    if !relative || !ROOT_FOLDERS.contains(first) || source == "/" {
        return None;
    }
    Some(
        Problem::remark(format!(
            "a path below {source}: one leading slash is anchored there"
        ))
        .hint(format!("for the absolute path write `/{text}`")),
    )
}
