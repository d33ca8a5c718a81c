//! What a call is about, as rules and modes see it.

use super::mode::Place;
use super::protected::is_protected;
use super::{Judged, Working};
use crate::rule::{Paths, RuleSet, Subject};
use crate::shell_syntax::{self, CommandLine, Part, Shape, Word, stages};
use crate::tools::{RuleSubject, ToolCx};
use crate::world::{FsErrorKind, split};

/// What a call is about; a path with where it leads.
pub(super) enum About {
    None,
    Read(Paths),
    Edit(Paths),
    Command {
        line: CommandLine,
        reads: Vec<Paths>,
        writes: Vec<Paths>,
        /// Whether it does nothing but change the files in `writes`.
        only_files: bool,
    },
    Url(String),
    Agent(String),
}

/// Commands that show files: rules about reading reach their operands.
const SHOWING: &[&str] = &[
    "cat", "head", "tail", "sed", "grep", "egrep", "fgrep", "rg", "nl", "less", "more", "bat",
    "wc", "diff", "cmp", "cut", "sort", "uniq", "tac", "strings", "xxd", "od", "base64", "awk",
];

/// Commands that change files: rules about editing reach their operands.
const CHANGING: &[&str] = &[
    "touch", "rm", "rmdir", "mv", "cp", "mkdir", "tee", "truncate", "ln", "chmod", "sed", "dd",
];

/// Of those, the ones that mode `acceptEdits` covers (`semantics.md §1.8`).
const ACCEPTED: &[&str] = &["mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed"];

/// Operands of one line of which paths are looked up; the others are compared as spelled.
const MAX_RESOLVED: usize = 32;

impl About {
    /// Asks the tool, and looks up where its path leads: one operation a path. Paths of a
    /// command are only looked up where something depends on them.
    pub async fn of(judged: &Judged<'_>, rules: &RuleSet, edits_matter: bool) -> About {
        let (cx, tool) = (judged.cx, judged.tool);
        match tool.rule_subject(cx, judged.input) {
            RuleSubject::None => match judged.input.get("subagent_type") {
                Some(serde_json::Value::String(kind)) if is_agent(judged) => {
                    About::Agent(kind.clone())
                }
                _ => About::None,
            },
            RuleSubject::ReadPath(path) => About::Read(resolve(cx, path).await),
            RuleSubject::EditPath(path) => About::Edit(resolve(cx, path).await),
            RuleSubject::Url(url) => About::Url(url),
            RuleSubject::Command(line) => {
                let line = shell_syntax::analyze(&line);
                let operands = match edits_matter || rules.restrict_paths() {
                    true => Operands::of(&line, cx),
                    false => Operands::default(),
                };
                About::Command {
                    reads: resolve_all(cx, operands.reads).await,
                    writes: resolve_all(cx, operands.writes).await,
                    only_files: operands.only_files,
                    line,
                }
            }
        }
    }

    pub fn subject(&self) -> Subject<'_> {
        match self {
            About::None => Subject::None,
            About::Read(paths) => Subject::Read(paths),
            About::Edit(paths) => Subject::Edit(paths),
            About::Command {
                line,
                reads,
                writes,
                ..
            } => Subject::Command {
                line,
                reads,
                writes,
            },
            About::Url(url) => Subject::Url(url),
            About::Agent(kind) => Subject::Agent(kind),
        }
    }

    /// What a person would call it.
    pub fn shown(&self) -> &str {
        match self {
            About::None => "",
            About::Read(paths) | About::Edit(paths) => &paths.spelled,
            About::Command { line, .. } => &line.text,
            About::Url(url) => url,
            About::Agent(kind) => kind,
        }
    }

    /// Where the files lie that it is about.
    pub fn place(&self, working: &Working) -> Place {
        let protected = |paths: &Paths| {
            is_protected(&paths.spelled) || paths.resolved.as_deref().is_some_and(is_protected)
        };
        match self {
            About::Read(paths) if working.shows(paths) => Place::ReadsInside,
            About::Read(_) => Place::ReadsOutside,
            About::Edit(paths) if protected(paths) => Place::EditsProtected,
            About::Edit(paths) if working.holds(paths) => Place::EditsInside,
            About::Edit(_) => Place::EditsOutside,
            About::Command { writes, .. } if writes.iter().any(protected) => Place::EditsProtected,
            About::Command {
                writes, only_files, ..
            } if !writes.is_empty() => {
                // A working folder itself is not among the files below it.
                let inside = |paths: &Paths| working.holds(paths) && !working.is_one(paths);
                match *only_files {
                    true if writes.iter().all(inside) => Place::EditsInside,
                    true => Place::EditsOutside,
                    false => Place::EditsAmongOthers,
                }
            }
            _ => Place::None,
        }
    }
}

fn is_agent(judged: &Judged<'_>) -> bool {
    let tool = judged.tool;
    let agent = |name: &str| matches!(name, "Agent" | "Task");
    agent(tool.name()) || tool.aliases().iter().any(|name| agent(name))
}

/// Files in the words of a command line, absolute and normal.
#[derive(Default)]
struct Operands {
    reads: Vec<String>,
    writes: Vec<String>,
    only_files: bool,
}

impl Operands {
    fn of(line: &CommandLine, cx: &ToolCx) -> Operands {
        let mut operands = Operands::default();
        let mut names = Vec::new();
        for part in &line.parts {
            operands.add(part, cx, &mut names);
        }
        operands.only_files = line.shape == Shape::Simple
            && !names.is_empty()
            && names.iter().all(|name| ACCEPTED.contains(&name.as_str()))
            && line.parts.iter().flat_map(|p| &p.words).all(|w| !w.dynamic);
        operands
    }

    fn add(&mut self, part: &Part, cx: &ToolCx, names: &mut Vec<String>) {
        for redirection in &part.redirections {
            let path = cx.absolute(&redirection.target.text);
            match redirection.writes {
                true => self.writes.push(path),
                false => self.reads.push(path),
            }
        }
        for (_, words) in stages(&part.assignments, &part.words) {
            let Some((first, rest)) = words.split_first() else {
                continue;
            };
            let name = first.text.rsplit('/').next().unwrap_or_default();
            let in_place = || {
                rest.iter()
                    .any(|w| w.text.starts_with("-i") || w.text.starts_with("--in-place"))
            };
            if SHOWING.contains(&name) {
                self.reads.extend(paths(rest, cx));
            }
            if CHANGING.contains(&name) && (name != "sed" || in_place()) {
                self.writes.extend(paths(rest, cx));
            }
        }
        if let Some((_, [first, ..])) = stages(&part.assignments, &part.words).last() {
            names.push(first.text.clone());
        }
    }
}

/// The words that may be paths: all but options, and the values in `--option=value`.
fn paths<'a>(words: &'a [Word], cx: &'a ToolCx) -> impl Iterator<Item = String> + 'a {
    words.iter().filter_map(|word| {
        let text = match word.text.strip_prefix("of=") {
            Some(path) => path,
            None => word.text.as_str(),
        };
        let text = match text.strip_prefix("--") {
            Some(option) => option.split_once('=')?.1,
            None => text,
        };
        (!text.starts_with('-')).then(|| cx.absolute(text))
    })
}

async fn resolve_all(cx: &ToolCx, paths: Vec<String>) -> Vec<Paths> {
    let mut all = Vec::with_capacity(paths.len());
    for (i, path) in paths.into_iter().enumerate() {
        all.push(match i < MAX_RESOLVED {
            true => resolve(cx, path).await,
            false => Paths {
                spelled: path,
                resolved: None,
            },
        });
    }
    all
}

/// Where a path leads: itself, or past every symlink on the way. Of a path that does not
/// exist yet, the part that does is looked up.
async fn resolve(cx: &ToolCx, spelled: String) -> Paths {
    let mut missing: Vec<&str> = Vec::new();
    let mut at = spelled.as_str();
    let resolved = loop {
        match cx.world.canonical(at).await {
            Ok(real) => {
                let mut real = real;
                for name in missing.iter().rev() {
                    if !real.ends_with('/') {
                        real.push('/');
                    }
                    real.push_str(name);
                }
                break Some(real);
            }
            Err(e) if matches!(e.kind, FsErrorKind::NotFound | FsErrorKind::NotDirectory) => {
                let Some((above, name)) = split(at) else {
                    break None;
                };
                missing.push(name);
                at = above;
            }
            Err(_) => break None,
        }
    };
    Paths { spelled, resolved }
}
