//! `memory_20250818`: a folder of notes that stays from session to session, and nothing
//! else (`protocol.md §7`).

use super::file::{self, Input, input, outcome};
use super::shown;
use crate::rule::{Paths, Query, Subject};
use crate::sim::Resource;
use crate::tools::target::{Target, refused, resolve};
use crate::tools::{
    Footprint, Outcome, OwnVerdict, Permit, Progress, ReadOnly, Refusal, RuleSubject, Tool, ToolCx,
    guard,
};
use crate::wire::ToolDef;
use crate::words::Class;
use crate::world::{FileKind, FsErrorKind, normalize};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::LazyLock;

pub(super) const TYPE: &str = "memory_20250818";

/// The folder that is the memory.
const ROOT: &str = "/memories";
/// Files with more lines are not shown.
const MAX_LINES: usize = 999_999;
/// How often a path may be percent-encoded before it is refused for that alone.
const MAX_DECODINGS: usize = 4;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": {
            "command": {"type": "string", "enum": ["view", "create", "str_replace", "insert", "delete", "rename"]},
            "path": {"type": "string", "description": "The file or folder, below /memories."},
            "view_range": {"type": "array", "items": {"type": "integer"}, "description": "First and last line to view, from 1; -1 is the end."},
            "file_text": {"type": "string", "description": "What a created file holds."},
            "old_str": {"type": "string", "description": "The text to replace, exact and unique."},
            "new_str": {"type": "string", "description": "What stands in its place; nothing if left out."},
            "insert_line": {"type": "integer", "description": "The line behind which to insert; 0 is the top."},
            "insert_text": {"type": "string", "description": "What to insert."},
            "old_path": {"type": "string", "description": "What to rename."},
            "new_path": {"type": "string", "description": "Its new name."},
        },
        "required": ["command"],
        "additionalProperties": false,
    })
});

pub(super) struct Memory;

#[async_trait]
impl Tool for Memory {
    fn name(&self) -> &str {
        "memory"
    }

    fn description(&self) -> &str {
        "Keeps notes in /memories from one conversation to the next. Use it to look up and to note \
         what will be needed later; not for files of the project."
    }

    fn input_schema(&self) -> &Value {
        &SCHEMA
    }

    fn published(&self) -> Option<ToolDef> {
        Some(ToolDef::vendor(TYPE, "memory"))
    }

    fn strict(&self) -> bool {
        false
    }

    fn read_only(&self) -> ReadOnly {
        ReadOnly::PerInput
    }

    fn is_read_only(&self, raw: &Value) -> bool {
        input(raw).is_ok_and(|input| input.reads_only())
    }

    fn is_destructive(&self, raw: &Value) -> bool {
        input(raw).is_ok_and(|input| input.command == "delete")
    }

    fn footprint(&self, cx: &ToolCx, raw: &Value) -> Footprint {
        let root = Resource::Subtree(ROOT.into());
        match input(raw) {
            Ok(input) if input.reads_only() => {
                let mut footprint = file::footprint(cx, input.path(), true);
                footprint.reads.push(root);
                footprint
            }
            Ok(_) => Footprint {
                reads: vec![Resource::File("/".into())],
                writes: vec![root, Resource::Entry("/".into(), "memories".into())],
                exclusive: false,
            },
            Err(_) => Footprint::exclusive(),
        }
    }

    fn rule_subject(&self, _cx: &ToolCx, raw: &Value) -> RuleSubject {
        match input(raw) {
            Ok(input) if input.reads_only() => RuleSubject::ReadPath(normalize("/", input.path())),
            Ok(input) => {
                let path = input.path.as_deref().or(input.old_path.as_deref());
                RuleSubject::EditPath(normalize("/", path.unwrap_or(ROOT)))
            }
            Err(_) => RuleSubject::None,
        }
    }

    fn summary(&self, input: &Value) -> String {
        let text = |key: &str| input[key].as_str().unwrap_or_default();
        format!("{} {}{}", text("command"), text("path"), text("old_path"))
    }

    async fn validate_input(&self, raw: &Value, cx: &ToolCx) -> Result<(), Refusal> {
        let input = input(raw)?;
        for path in [&input.path, &input.old_path, &input.new_path]
            .into_iter()
            .flatten()
        {
            confined(cx, path).await?;
        }
        let root = input.path.as_deref().or(input.old_path.as_deref());
        let is_root = root.is_some_and(|path| normalize("/", path) == ROOT);
        if is_root && matches!(input.command.as_str(), "delete" | "rename") {
            return Err(Refusal::new(
                Class::InvalidInput,
                format!("{ROOT} itself stays where it is. Name a file or folder in it."),
            ));
        }
        Ok(())
    }

    /// A rule is asked about one path; a deletion touches all below its own, and a rename
    /// what is below both of its.
    async fn check_permissions(&self, raw: &Value, cx: &ToolCx) -> OwnVerdict {
        let Ok(input) = input(raw) else {
            return OwnVerdict::None;
        };
        let (from, to) = match input.command.as_str() {
            "delete" => (input.path.as_deref(), None),
            "rename" => (input.old_path.as_deref(), input.new_path.as_deref()),
            _ => return OwnVerdict::None,
        };
        let mut strictest = OwnVerdict::None;
        for path in touched(cx, from.unwrap_or_default(), to).await {
            match restricting(cx, &path).await {
                OwnVerdict::None | OwnVerdict::Allow { .. } => {}
                denied @ OwnVerdict::Deny { .. } => return denied,
                asks @ OwnVerdict::Ask { .. } => strictest = asks,
            }
        }
        strictest
    }

    async fn call(
        &self,
        raw: &Value,
        cx: &ToolCx,
        _permit: &dyn Permit,
        _progress: &dyn Progress,
    ) -> Outcome {
        let done = async {
            let input = input(raw)?;
            match input.command.as_str() {
                "view" => view(cx, &input).await,
                "create" => create(cx, &input).await,
                "str_replace" => replace(cx, &input).await,
                "insert" => insert(cx, &input).await,
                "delete" => delete(cx, &input).await,
                _ => rename(cx, &input).await,
            }
        };
        outcome(done.await)
    }
}

/// Finds a path of the memory, or refuses one that leads out of it in whatever spelling:
/// by `..`, percent-encoded, with backslashes, from elsewhere, or through a symlink.
async fn confined(cx: &ToolCx, raw: &str) -> Result<Target, Refusal> {
    let outside = || {
        Refusal::new(
            Class::InvalidInput,
            format!(
                "{raw} does not lie in {ROOT}, and the memory is nowhere else. Give a path that begins with {ROOT}/ and goes down from there."
            ),
        )
    };
    if !stays_inside(raw) {
        return Err(outside());
    }
    let target = resolve(cx, raw).await?;
    let root = resolve(cx, ROOT).await?.canonical;
    match below(&target.canonical, &root) {
        true => Ok(target),
        false => Err(outside()),
    }
}

/// Whether a path, however often it is decoded, goes from the memory's folder down.
fn stays_inside(raw: &str) -> bool {
    let mut path = raw.to_owned();
    for _ in 0..MAX_DECODINGS {
        let plain = !path.contains(['\\', '\0']) && !path.split('/').any(|part| part == "..");
        if !plain || !below(&path, ROOT) {
            return false;
        }
        match decoded(&path) {
            Some(next) => path = next,
            None => return true,
        }
    }
    false
}

fn below(path: &str, root: &str) -> bool {
    path.strip_prefix(root)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The path with each `%xx` as the byte it stands for; `None` if it has none.
fn decoded(path: &str) -> Option<String> {
    let bytes = path.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%')
            .then(|| path.get(at + 1..at + 3))
            .flatten()
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match code {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    (out != bytes).then(|| String::from_utf8_lossy(&out).into_owned())
}

/// Everything at and below `from`, and where it would be below `to`; absolute and normal.
async fn touched(cx: &ToolCx, from: &str, to: Option<&str>) -> Vec<String> {
    let from = normalize("/", from);
    let mut paths = vec![from.clone()];
    if let Ok(below) = cx.world.walk(&from).await {
        paths.extend(below.into_iter().map(|found| found.path.to_string()));
    }
    let moved = |path: &String| {
        let rest = path.strip_prefix(&from)?;
        Some(format!("{}{rest}", normalize("/", to?)))
    };
    let moved: Vec<String> = paths.iter().filter_map(moved).collect();
    paths.extend(moved);
    paths
}

/// What deny and ask rules about editing say of a path.
async fn restricting(cx: &ToolCx, path: &str) -> OwnVerdict {
    let resolved = resolve(cx, path).await.ok();
    let paths = Paths {
        spelled: path.to_owned(),
        resolved: resolved.map(|target| target.canonical.to_string()),
    };
    let matches = cx.env.rules.matches(&Query {
        tool: "memory",
        aliases: &[],
        subject: Subject::Edit(&paths),
        input: None,
    });
    match (matches.deny, matches.ask) {
        (Some(hit), _) => OwnVerdict::Deny {
            why: format!("the rule {} denies {path} to be changed", hit.rule.text),
        },
        (None, Some(hit)) => OwnVerdict::Ask {
            why: format!("the rule {} asks before {path} is changed", hit.rule.text),
        },
        (None, None) => OwnVerdict::None,
    }
}

async fn view(cx: &ToolCx, input: &Input) -> Result<Outcome, Refusal> {
    let target = confined(cx, input.path()).await?;
    let (_, kind) = file::kind(cx, input.path()).await?;
    // A memory that nothing was kept in is empty, and not missing.
    if kind.is_none() && &*target.canonical == ROOT {
        return Ok(Outcome::ok(format!(
            "What {ROOT} holds, two levels deep:\n4.0K\t{ROOT}"
        )));
    }
    if kind == Some(FileKind::Dir) {
        let rows =
            shown::folder(cx, &target.path, &target.canonical, &["node_modules"], true).await?;
        return Ok(Outcome::ok(format!(
            "What {} holds, two levels deep:\n{rows}",
            target.path
        )));
    }
    let opened = file::open(cx, input.path()).await?;
    let lines = shown::lines(&opened.text);
    if lines.len() > MAX_LINES {
        return Err(Refusal::new(
            Class::TooLarge,
            format!(
                "{} has more than {MAX_LINES} lines and is not shown.",
                target.path
            ),
        ));
    }
    let range = match &input.view_range {
        Some(asked) => shown::range(asked, lines.len())?,
        None => 0..lines.len(),
    };
    let numbered = shown::numbered(range.start + 1, lines[range].iter().copied());
    Ok(Outcome::ok(format!(
        "{} with line numbers:\n{numbered}",
        target.path
    )))
}

async fn create(cx: &ToolCx, input: &Input) -> Result<Outcome, Refusal> {
    let target = confined(cx, input.path()).await?;
    if file::kind(cx, input.path()).await?.1.is_some() {
        return Err(Refusal::new(
            Class::Exists,
            format!(
                "{} exists already. Change it with str_replace, or choose another name.",
                target.path
            ),
        ));
    }
    let text = input.file_text.as_deref().unwrap_or_default();
    guard::create(cx, &target, text.as_bytes()).await?;
    Ok(Outcome::ok(format!("Created {}.", target.path)))
}

async fn replace(cx: &ToolCx, input: &Input) -> Result<Outcome, Refusal> {
    confined(cx, input.path()).await?;
    let old = input.old_str.as_deref().unwrap_or_default();
    let new = input.new_str.as_deref().unwrap_or_default();
    let opened = open(cx, input.path()).await?;
    let at = file::only_place(&opened, old)?;
    let (target, text) = file::splice(cx, opened, at, old.len(), new).await?;
    let snippet = shown::around(&text, at, new.len());
    Ok(Outcome::ok(format!(
        "Edited {}. It reads there now:\n{snippet}",
        target.path
    )))
}

async fn insert(cx: &ToolCx, input: &Input) -> Result<Outcome, Refusal> {
    confined(cx, input.path()).await?;
    let new = input.inserted().unwrap_or_default();
    let opened = open(cx, input.path()).await?;
    let line = input.insert_line.unwrap_or(0);
    let (target, _, _) = file::insert(cx, opened, line, new).await?;
    Ok(Outcome::ok(format!("Edited {}.", target.path)))
}

/// A folder counts as a file that is not there (`protocol.md §7`).
async fn open(cx: &ToolCx, raw: &str) -> Result<file::Opened, Refusal> {
    file::open(cx, raw)
        .await
        .map_err(|refusal| match refusal.class {
            Class::IsDirectory => Refusal::new(
                Class::NotFound,
                format!(
                    "{raw} is a folder, and there is no file of that name. Give the path of a file."
                ),
            ),
            _ => refusal,
        })
}

async fn delete(cx: &ToolCx, input: &Input) -> Result<Outcome, Refusal> {
    confined(cx, input.path()).await?;
    // The name itself goes: a link is not followed.
    let path = normalize("/", input.path());
    cx.world
        .remove(&path, true)
        .await
        .map_err(|e| refused(&path, &e))?;
    Ok(Outcome::ok(format!("Deleted {path}.")))
}

async fn rename(cx: &ToolCx, input: &Input) -> Result<Outcome, Refusal> {
    let side = |path: &Option<String>| path.clone().unwrap_or_default();
    let (old, new) = (side(&input.old_path), side(&input.new_path));
    confined(cx, &old).await?;
    let target = confined(cx, &new).await?;
    if file::kind(cx, &new).await?.1.is_some() {
        return Err(Refusal::new(
            Class::Exists,
            format!("{new} exists already, so {old} keeps its name. Choose another."),
        ));
    }
    let (old, new) = (normalize("/", &old), normalize("/", &new));
    if let Some((folder, _)) = crate::world::split(&target.canonical) {
        match cx.world.mkdir(folder, true).await {
            Err(e) if e.kind != FsErrorKind::Exists => return Err(refused(folder, &e)),
            _ => {}
        }
    }
    cx.world
        .rename(&old, &new)
        .await
        .map_err(|e| refused(&old, &e))?;
    Ok(Outcome::ok(format!("Renamed {old} to {new}.")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn no_spelling_leads_out() {
        for inside in [
            "/memories",
            "/memories/",
            "/memories/a/b.md",
            "/memories/100%.md",
            "/memories/a%20b",
        ] {
            assert!(stays_inside(inside), "{inside}");
        }
        for outside in [
            "/memories/../etc/passwd",
            "/memories/a/../../etc",
            "/memories/%2e%2e/etc",
            "/memories/%2e%2e%2fetc",
            "/memories/..%2fetc",
            "/memories/%252e%252e%252fetc",
            "/memories/%2525252e%2525252e/x",
            "/memories/..\\etc",
            "/memories/%5c..%5cetc",
            "/memoriesother/a",
            "/etc/passwd",
            "memories/a",
            "~/memories/a",
            "",
            "/memories/a%00b",
        ] {
            assert!(!stays_inside(outside), "{outside}");
        }
    }

    proptest! {
        /// Whoever decodes a path that is let in, once or more often, and then resolves it,
        /// is still inside.
        #[test]
        fn what_is_let_in_stays_in(parts in prop::collection::vec(
            prop::sample::select(vec!["..", ".", "a", "%2e", "%2e%2e", "%252e", "%2f", "/", "\\", "%5c", "%", "memories"]), 0..8)
        ) {
            let raw = format!("/memories/{}", parts.concat());
            if stays_inside(&raw) {
                let mut path = raw.clone();
                loop {
                    prop_assert!(below(&normalize("/", &path), ROOT), "{raw} is {path}");
                    match decoded(&path) {
                        Some(next) => path = next,
                        None => break,
                    }
                }
            }
        }
    }
}
