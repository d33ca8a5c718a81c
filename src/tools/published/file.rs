//! What the published tools do to one file: look, make, replace a text, put in lines.

use super::shown;
use crate::sim::Resource;
use crate::tools::target::Foreseen;
use crate::tools::target::{Loaded, Target, load, not_loaded, refused, resolve};
use crate::tools::{Footprint, Outcome, Refusal, ToolCx, guard};
use crate::words::Class;
use crate::world::{ContentHash, FileKind, FsErrorKind};
use serde::Deserialize;
use serde_json::Value;

/// The input of either tool; which fields a command needs is for [`Input::check`].
#[derive(Deserialize)]
pub(super) struct Input {
    pub command: String,
    pub path: Option<String>,
    pub view_range: Option<Vec<i64>>,
    pub file_text: Option<String>,
    pub old_str: Option<String>,
    /// Also what older versions call the text of an insertion.
    pub new_str: Option<String>,
    #[serde(default, deserialize_with = "crate::tools::fields::whole")]
    pub insert_line: Option<i64>,
    pub insert_text: Option<String>,
    pub old_path: Option<String>,
    pub new_path: Option<String>,
}

impl Input {
    /// Says which fields the command needs and has not.
    pub fn check(&self) -> Result<(), Refusal> {
        let needs: &[(&str, bool)] = match self.command.as_str() {
            "create" => &[("file_text", self.file_text.is_some())],
            "str_replace" => &[("old_str", self.old_str.is_some())],
            "insert" => &[
                ("insert_line", self.insert_line.is_some()),
                ("insert_text", self.inserted().is_some()),
            ],
            "rename" => &[
                ("old_path", self.old_path.is_some()),
                ("new_path", self.new_path.is_some()),
            ],
            _ => &[],
        };
        let path = [("path", self.path.is_some() || self.command == "rename")];
        let missing: Vec<&str> = path
            .iter()
            .chain(needs)
            .filter(|(_, there)| !there)
            .map(|(name, _)| *name)
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        Err(Refusal::new(
            Class::InvalidInput,
            format!(
                "the command {} needs {}, which is not given. Call again with it.",
                self.command,
                missing.join(" and ")
            ),
        ))
    }

    pub fn inserted(&self) -> Option<&str> {
        self.insert_text.as_deref().or(self.new_str.as_deref())
    }

    pub fn path(&self) -> &str {
        self.path.as_deref().unwrap_or_default()
    }

    pub fn reads_only(&self) -> bool {
        self.command == "view"
    }
}

/// A file that is to be changed, as it is now.
pub(super) struct Opened {
    pub target: Target,
    pub loaded: Loaded,
    pub text: String,
}

/// What is at a path.
pub(super) async fn kind(cx: &ToolCx, raw: &str) -> Result<(Target, Option<FileKind>), Refusal> {
    let target = resolve(cx, raw).await?;
    match cx.world.stat(&target.canonical).await {
        Ok(meta) => Ok((target, Some(meta.kind))),
        Err(e) if e.kind == FsErrorKind::NotFound => Ok((target, None)),
        Err(e) => Err(refused(&target.path, &e)),
    }
}

/// Loads a text file whole.
pub(super) async fn open(cx: &ToolCx, raw: &str) -> Result<Opened, Refusal> {
    let target = resolve(cx, raw).await?;
    let loaded = match load(cx, &target).await {
        Ok(loaded) => loaded,
        Err(e) => return Err(not_loaded(cx, &target, &e).await),
    };
    match String::from_utf8(loaded.content.to_vec()) {
        Ok(text) if !loaded.is_cut => Ok(Opened {
            text,
            target,
            loaded,
        }),
        _ => Err(Refusal::new(
            Class::Binary,
            format!(
                "{} is not text. It cannot be shown or edited here.",
                target.path
            ),
        )),
    }
}

/// The one place where `old` stands, as a byte offset.
pub(super) fn only_place(opened: &Opened, old: &str) -> Result<usize, Refusal> {
    let path = &opened.target.path;
    if old.is_empty() {
        return Err(Refusal::new(
            Class::InvalidInput,
            "old_str is empty. Give the text that is to be replaced.",
        ));
    }
    let places: Vec<usize> = opened.text.match_indices(old).map(|(at, _)| at).collect();
    match places[..] {
        [only] => Ok(only),
        [] => Err(Refusal::new(
            Class::NoMatch,
            format!(
                "old_str is nowhere in {path}, so nothing was replaced. View the file and copy the text exactly."
            ),
        )),
        _ => {
            let line =
                |at: &usize| 1 + memchr::memchr_iter(b'\n', &opened.text.as_bytes()[..*at]).count();
            let lines: Vec<String> = places.iter().map(|at| line(at).to_string()).collect();
            Err(Refusal::new(
                Class::Ambiguous,
                format!(
                    "old_str is in {path} {} times, in the lines {}; nothing was replaced. Give more of the text around the one place.",
                    places.len(),
                    lines.join(", ")
                ),
            ))
        }
    }
}

/// The byte offset behind line `line`; 0 is the top.
pub(super) fn behind_line(opened: &Opened, line: i64) -> Result<usize, Refusal> {
    let lines = shown::lines(&opened.text).len();
    let Some(line) = usize::try_from(line).ok().filter(|line| *line <= lines) else {
        return Err(Refusal::new(
            Class::InvalidInput,
            format!(
                "insert_line is {line}, and {} has {lines} lines: give one of 0 (the top) to {lines}.",
                opened.target.path
            ),
        ));
    };
    if line == 0 {
        return Ok(0);
    }
    let end = memchr::memchr_iter(b'\n', opened.text.as_bytes()).nth(line - 1);
    Ok(end.map_or(opened.text.len(), |end| end + 1))
}

/// Replaces what stands from `at` on, `len` bytes of it, by `new`: the file must still be
/// as it was loaded. Gives the text as it is now.
pub(super) async fn splice(
    cx: &ToolCx,
    opened: Opened,
    at: usize,
    len: usize,
    new: &str,
) -> Result<(Target, String), Refusal> {
    let Opened {
        target,
        loaded,
        mut text,
    } = opened;
    text.replace_range(at..at + len, new);
    let hash = ContentHash::of(&loaded.content);
    guard::replace(cx, &target, &loaded, hash, text.as_bytes()).await?;
    Ok((target, text))
}

/// Puts whole lines behind a line: with a line end between them and their neighbours.
pub(super) async fn insert(
    cx: &ToolCx,
    opened: Opened,
    line: i64,
    text: &str,
) -> Result<(Target, String, usize), Refusal> {
    let at = behind_line(&opened, line)?;
    let mut new = String::with_capacity(text.len() + 2);
    if at > 0 && !opened.text[..at].ends_with('\n') {
        new.push('\n');
    }
    new.push_str(text);
    if at < opened.text.len() && !new.ends_with('\n') {
        new.push('\n');
    }
    let (target, text) = splice(cx, opened, at, 0, &new).await?;
    Ok((target, text, at))
}

/// What a call on one path touches.
pub(super) fn footprint(cx: &ToolCx, raw: &str, reads_only: bool) -> Footprint {
    let file = Foreseen::of(cx, raw);
    let mut reads = file.reads();
    if !file.is_file {
        reads.push(Resource::Subtree(file.canonical.as_str().into()));
    }
    Footprint {
        reads,
        writes: match reads_only {
            true => Vec::new(),
            false => file.writes(cx),
        },
        exclusive: false,
    }
}

/// The outcome of a body that may be refused.
pub(super) fn outcome(result: Result<Outcome, Refusal>) -> Outcome {
    result.unwrap_or_else(Outcome::from)
}

/// The input as it was checked; what is no input was refused before.
pub(super) fn input(input: &Value) -> Result<Input, Refusal> {
    let input: Input = crate::tools::fields::read(input)?;
    input.check()?;
    Ok(input)
}
