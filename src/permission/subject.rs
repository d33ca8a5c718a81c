//! What a call is about, as rules and modes see it.

use super::critical::{critical, is_removal};
use super::mode::Place;
use super::protected::is_protected;
use super::{Judged, Working};
use crate::rule::{Paths, Query, RuleSet, Subject};
use crate::shell_syntax::{self, CommandLine, Part, Shape, Stage, Word, stages};
use crate::tools::{RuleSubject, ToolCx};
use crate::world::{FsErrorKind, normalize, split};
use std::sync::Arc;

/// What a call is about; a path with where it leads.
pub(super) enum About {
    None,
    Read(Paths),
    Edit(Paths),
    Command {
        line: Arc<CommandLine>,
        reads: Vec<Paths>,
        writes: Vec<Paths>,
        /// Whether it does nothing but change the files in `writes`.
        only_files: bool,
        /// What it would remove and nothing but the user allows, in words.
        critical: Option<String>,
        /// Whether it shows files of which only the shell knows the names, where rules
        /// keep some from being read.
        unsure: bool,
    },
    Url(String),
    Agent(String),
    /// A skill, and after a space what it is given.
    Skill(String),
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

/// Folders that one line is followed into.
const MAX_FOLDERS: usize = 4;

impl About {
    /// Asks the tool, and looks up where its path leads: one operation a path. Paths of a
    /// command are only looked up where something depends on them.
    pub async fn of(judged: &Judged<'_>, rules: &RuleSet, edits_matter: bool) -> About {
        match judged.tool.rule_subject(judged.cx, judged.input) {
            RuleSubject::None if judged.tool.name() == "Skill" => skill(judged.input),
            RuleSubject::None => match judged.input.get("subagent_type") {
                Some(serde_json::Value::String(kind)) if is_agent(judged) => {
                    About::Agent(kind.clone())
                }
                _ => About::None,
            },
            RuleSubject::Url(url) => About::Url(url),
            // In a box: otherwise the future of every call has room for it.
            files => Box::pin(About::files(files, judged.cx, rules, edits_matter)).await,
        }
    }

    async fn files(
        subject: RuleSubject,
        cx: &ToolCx,
        rules: &RuleSet,
        edits_matter: bool,
    ) -> About {
        match subject {
            RuleSubject::ReadPath(path) => About::Read(resolve(cx, path).await),
            RuleSubject::EditPath(path) => About::Edit(resolve(cx, path).await),
            RuleSubject::Command(line) => {
                let line = shell_syntax::analyze(&line);
                let removes = is_removal(&line);
                let writes = rules.permits_edits() && redirects(&line);
                let matter = edits_matter || removes || writes || rules.restrict_paths();
                let mut operands = match matter {
                    true => Operands::of(&line, cx, shell_folder(cx).await),
                    false => Operands::default(),
                };
                operands.unsure |= operands.searches && rules.hides_any();
                for word in std::mem::take(&mut operands.shown) {
                    match expanded(cx, &word).await {
                        Some(paths) => operands.reads.extend(paths),
                        None => operands.unsure = true,
                    }
                }
                About::Command {
                    unsure: operands.unsure,
                    critical: match removes {
                        true => critical(&line, &operands.folders, cx),
                        false => None,
                    },
                    reads: resolve_all(cx, operands.reads).await,
                    writes: resolve_all(cx, operands.writes).await,
                    only_files: operands.only_files,
                    line,
                }
            }
            RuleSubject::None | RuleSubject::Url(_) => About::None,
        }
    }

    /// What the rules are asked about the call.
    pub fn query<'a>(&'a self, judged: &'a Judged<'_>, aliases: &'a [&'a str]) -> Query<'a> {
        Query {
            tool: judged.tool.name(),
            aliases,
            subject: self.subject(),
            input: Some(judged.input),
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
            About::Skill(call) => Subject::Skill(call),
        }
    }

    /// What a person would call it.
    pub fn shown(&self) -> &str {
        match self {
            About::None => "",
            About::Read(paths) | About::Edit(paths) => &paths.spelled,
            About::Command { line, .. } => &line.text,
            About::Url(url) => url,
            About::Agent(call) | About::Skill(call) => call,
        }
    }

    /// What it would remove and nothing but the user allows, in words.
    pub fn critical(&self) -> Option<&str> {
        match self {
            About::Command { critical, .. } => critical.as_deref(),
            _ => None,
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
            About::Command {
                unsure: true,
                writes,
                ..
            } if writes.is_empty() => Place::ReadsUnsure,
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

/// Whether a line writes files by redirection.
fn redirects(line: &CommandLine) -> bool {
    let mut redirections = line.parts.iter().flat_map(|part| &part.redirections);
    redirections.any(|to| to.writes)
}

fn is_agent(judged: &Judged<'_>) -> bool {
    let tool = judged.tool;
    let agent = |name: &str| matches!(name, "Agent" | "Task");
    agent(tool.name()) || tool.aliases().iter().any(|name| agent(name))
}

fn skill(input: &serde_json::Value) -> About {
    let text = |key: &str| input.get(key).and_then(serde_json::Value::as_str);
    match (text("skill"), text("args")) {
        (None, _) => About::None,
        (Some(name), None | Some("")) => About::Skill(name.to_owned()),
        (Some(name), Some(args)) => About::Skill(format!("{name} {args}")),
    }
}

/// Where a command starts.
async fn shell_folder(cx: &ToolCx) -> String {
    let changed = cx.env.session.shell_cwd(&cx.world).await;
    changed.unwrap_or_else(|| cx.env.cwd.clone())
}

/// Files in the words of a command line, absolute and normal.
#[derive(Default)]
struct Operands {
    reads: Vec<String>,
    writes: Vec<String>,
    only_files: bool,
    /// Paths that the shell puts others in the place of, of commands that show files.
    shown: Vec<String>,
    /// Whether there are such paths that nobody here can follow.
    unsure: bool,
    /// Whether a command looks through whole folders.
    searches: bool,
    /// Where the line may be when a command of it runs: where it starts, and wherever it
    /// is certain to change to.
    folders: Vec<String>,
}

impl Operands {
    fn of(line: &CommandLine, cx: &ToolCx, folder: String) -> Operands {
        let mut operands = Operands {
            folders: vec![folder],
            ..Operands::default()
        };
        let mut accepted = line.shape == Shape::Simple;
        for part in &line.parts {
            accepted &= operands.add(part, cx);
        }
        let mut words = line.parts.iter().flat_map(|part| &part.words);
        operands.only_files = accepted && words.all(|word| !word.dynamic);
        operands
    }

    /// Adds the files of one command; whether the command is one that mode `acceptEdits`
    /// covers.
    fn add(&mut self, part: &Part, cx: &ToolCx) -> bool {
        for redirection in &part.redirections {
            let paths = self.absolute(cx, &redirection.target.text);
            match redirection.writes {
                true => self.writes.extend(paths),
                false => self.reads.extend(paths),
            }
        }
        let stages = stages(&part.assignments, &part.words);
        for (_, words) in &stages {
            let Some((first, rest)) = words.split_first() else {
                continue;
            };
            let name = first.text.rsplit('/').next().unwrap_or_default();
            let option = |w: &Word| w.text.starts_with("-i") || w.text.starts_with("--in-place");
            let in_place = rest.iter().any(option);
            self.searches |= searches(name, rest);
            for (operand, dynamic) in certain_or_not(rest) {
                if SHOWING.contains(&name) {
                    let paths = self.absolute(cx, operand);
                    match dynamic {
                        true => self.shown.extend(paths),
                        false => self.reads.extend(paths),
                    }
                }
                if CHANGING.contains(&name) && (name != "sed" || in_place) {
                    self.writes.extend(self.absolute(cx, operand));
                }
            }
            if let ("cd" | "pushd", Some(to)) = (name, operands(rest).next()) {
                let folders = self.absolute(cx, to);
                self.folders.extend(folders);
                self.folders.sort();
                self.folders.dedup();
                self.folders.truncate(MAX_FOLDERS);
            }
        }
        match stages.last() {
            Some((Stage::Whole | Stage::Stripped, [first, ..])) => {
                ACCEPTED.contains(&first.text.as_str())
            }
            _ => false,
        }
    }

    /// All that a path in the line may mean.
    fn absolute(&self, cx: &ToolCx, path: &str) -> Vec<String> {
        if path.starts_with(['/', '~']) {
            return vec![cx.absolute(path)];
        }
        let folders = self.folders.iter();
        folders.map(|folder| normalize(folder, path)).collect()
    }
}

/// Whether a command shows files of all folders below one.
fn searches(name: &str, words: &[Word]) -> bool {
    let recursive = |word: &Word| {
        let text = word.text.as_str();
        let short = text.starts_with('-') && !text.starts_with("--") && text.contains(['r', 'R']);
        short || matches!(text, "--recursive" | "--dereference-recursive")
    };
    match name {
        "rg" => true,
        "grep" | "egrep" | "fgrep" | "diff" => words.iter().any(recursive),
        _ => false,
    }
}

/// The words that may be paths: all but options, and the values of `--option=value`.
pub(super) fn operands(words: &[Word]) -> impl Iterator<Item = &str> {
    certain_or_not(words).map(|(text, _)| text)
}

/// The same, each with whether the shell puts something else in its place.
fn certain_or_not(words: &[Word]) -> impl Iterator<Item = (&str, bool)> {
    words.iter().filter_map(|word| {
        let text = word.text.strip_prefix("of=").unwrap_or(&word.text);
        let text = match text.strip_prefix("--") {
            Some(option) => option.split_once('=')?.1,
            None => text,
        };
        (!text.starts_with('-')).then_some((text, word.dynamic))
    })
}

/// The files that a path with a glob in its last name stands for; `None` if only the shell
/// knows. Without a match the shell leaves it as it is.
async fn expanded(cx: &ToolCx, path: &str) -> Option<Vec<String>> {
    let (folder, pattern) = split(path)?;
    let only_the_shell = |text: &str| text.contains(['$', '`', '{', '\\', '(', '!', '^']);
    if only_the_shell(path) || folder.contains(['*', '?', '[']) || folder.contains('~') {
        return None;
    }
    let glob = globset::GlobBuilder::new(pattern)
        .literal_separator(true)
        .case_insensitive(!cx.world.world().fs().case_sensitive())
        .build()
        .ok()?
        .compile_matcher();
    let entries = cx.world.list(folder).await.unwrap_or_default();
    // A dot at the beginning is matched by a dot alone.
    let shows =
        |name: &str| glob.is_match(name) && (pattern.starts_with('.') || !name.starts_with('.'));
    let names = entries.iter().map(|entry| &*entry.name);
    let found: Vec<String> = names
        .filter(|name| shows(name))
        .map(|name| normalize(folder, name))
        .collect();
    Some(match found.is_empty() {
        true => vec![path.to_owned()],
        false => found,
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
