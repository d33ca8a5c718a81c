//! `text_editor_20250728` and the version before it: look at files and change them by
//! exact text (`protocol.md §7`).

use super::file::{self, Input, footprint, input, outcome};
use super::shown;
use crate::tools::{
    Footprint, Outcome, Permit, Progress, ReadOnly, Refusal, RuleSubject, Tool, ToolCx, guard,
};
use crate::wire::{ToolDef, raw};
use crate::words::{Class, Flag};
use crate::world::FileKind;
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::LazyLock;

pub(super) const TYPE_LATEST: &str = "text_editor_20250728";
pub(super) const TYPE_BEFORE: &str = "text_editor_20250429";

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": {
            "command": {"type": "string", "enum": ["view", "create", "str_replace", "insert"]},
            "path": {"type": "string", "description": "The file or folder."},
            "view_range": {"type": "array", "items": {"type": "integer"}, "description": "First and last line to view, from 1; -1 is the end."},
            "file_text": {"type": "string", "description": "What a created file holds."},
            "old_str": {"type": "string", "description": "The text to replace, exact and unique."},
            "new_str": {"type": "string", "description": "What stands in its place; nothing if left out."},
            "insert_line": {"type": "integer", "description": "The line behind which to insert; 0 is the top."},
            "insert_text": {"type": "string", "description": "What to insert."},
        },
        "required": ["command", "path"],
        "additionalProperties": false,
    })
});

/// The editor of one version.
pub(super) struct TextEditor {
    kind: &'static str,
    /// How much of a file one view shows, in characters.
    max_characters: Option<u64>,
}

impl TextEditor {
    /// `None` for a type that is no text editor's.
    pub fn new(kind: &str, max_characters: Option<u64>) -> Option<TextEditor> {
        let kind = [TYPE_LATEST, TYPE_BEFORE]
            .into_iter()
            .find(|known| *known == kind)?;
        Some(TextEditor {
            kind,
            max_characters,
        })
    }
}

#[async_trait]
impl Tool for TextEditor {
    fn name(&self) -> &str {
        "str_replace_based_edit_tool"
    }

    fn description(&self) -> &str {
        "Views files and folders, creates files, and changes them by exact text or by line. Use it to \
         work on text files; not for files that are not text."
    }

    fn input_schema(&self) -> &Value {
        &SCHEMA
    }

    fn published(&self) -> Option<ToolDef> {
        let mut def = ToolDef::vendor(self.kind, self.name());
        if let Some(max) = self.max_characters {
            def.extra.set("max_characters", raw::of(&max));
        }
        Some(def)
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

    fn footprint(&self, cx: &ToolCx, raw: &Value) -> Footprint {
        match input(raw) {
            Ok(input) => footprint(cx, input.path(), input.reads_only()),
            Err(_) => Footprint::exclusive(),
        }
    }

    fn rule_subject(&self, cx: &ToolCx, raw: &Value) -> RuleSubject {
        match input(raw) {
            Ok(input) if input.reads_only() => RuleSubject::ReadPath(cx.absolute(input.path())),
            Ok(input) => RuleSubject::EditPath(cx.absolute(input.path())),
            Err(_) => RuleSubject::None,
        }
    }

    fn summary(&self, input: &Value) -> String {
        let text = |key: &str| input[key].as_str().unwrap_or_default();
        format!("{} {}", text("command"), text("path"))
    }

    async fn validate_input(&self, raw: &Value, _cx: &ToolCx) -> Result<(), Refusal> {
        input(raw).map(drop)
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
                "view" => self.view(cx, &input).await,
                "create" => create(cx, &input).await,
                "str_replace" => replace(cx, &input).await,
                _ => insert(cx, &input).await,
            }
        };
        outcome(done.await)
    }
}

impl TextEditor {
    async fn view(&self, cx: &ToolCx, input: &Input) -> Result<Outcome, Refusal> {
        let (target, kind) = file::kind(cx, input.path()).await?;
        if kind == Some(FileKind::Dir) {
            if input.view_range.is_some() {
                return Err(Refusal::new(
                    Class::InvalidInput,
                    format!(
                        "{} is a folder, which has no lines: leave view_range out.",
                        target.path
                    ),
                ));
            }
            let rows = shown::folder(cx, &target.path, &target.canonical, &[], false).await?;
            return Ok(Outcome::ok(format!(
                "The folder, two levels deep, without hidden files:\n{rows}"
            )));
        }
        let opened = file::open(cx, input.path()).await?;
        let lines = shown::lines(&opened.text);
        if lines.is_empty() {
            return Ok(Outcome::ok(format!("{} is empty.", opened.target.path)));
        }
        let range = match &input.view_range {
            Some(asked) => shown::range(asked, lines.len())?,
            None => 0..lines.len(),
        };
        let text = shown::numbered(range.start + 1, lines[range].iter().copied());
        Ok(
            match self
                .max_characters
                .and_then(|max| usize::try_from(max).ok())
            {
                Some(max) if text.chars().count() > max => {
                    let all = text.chars().count();
                    let head: String = text.chars().take(max).collect();
                    Outcome::ok(format!("{head}\n[Cut after {max} of {all} characters: view the rest with view_range.]"))
                    .with_flag(Flag::Truncated)
                }
                _ => Outcome::ok(text),
            },
        )
    }
}

async fn create(cx: &ToolCx, input: &Input) -> Result<Outcome, Refusal> {
    let (target, kind) = file::kind(cx, input.path()).await?;
    match kind {
        Some(FileKind::Dir) => Err(Refusal::new(
            Class::IsDirectory,
            format!("{} is a folder. Give the path of a file.", target.path),
        )),
        Some(_) => Err(Refusal::new(
            Class::Exists,
            format!(
                "{} exists already, and create replaces nothing. Change it with str_replace or insert.",
                target.path
            ),
        )),
        None => {
            let text = input.file_text.as_deref().unwrap_or_default();
            guard::create(cx, &target, text.as_bytes()).await?;
            Ok(Outcome::ok(format!("Created {}.", target.path)))
        }
    }
}

async fn replace(cx: &ToolCx, input: &Input) -> Result<Outcome, Refusal> {
    let old = input.old_str.as_deref().unwrap_or_default();
    let new = input.new_str.as_deref().unwrap_or_default();
    let opened = file::open(cx, input.path()).await?;
    let at = file::only_place(&opened, old)?;
    let (target, text) = file::splice(cx, opened, at, old.len(), new).await?;
    let snippet = shown::around(&text, at, new.len());
    Ok(Outcome::ok(format!(
        "Edited {}. It reads there now:\n{snippet}",
        target.path
    )))
}

async fn insert(cx: &ToolCx, input: &Input) -> Result<Outcome, Refusal> {
    let new = input.inserted().unwrap_or_default();
    let opened = file::open(cx, input.path()).await?;
    let line = input.insert_line.unwrap_or(0);
    let (target, text, at) = file::insert(cx, opened, line, new).await?;
    let snippet = shown::around(&text, at, new.len());
    Ok(Outcome::ok(format!(
        "Edited {}. It reads there now:\n{snippet}",
        target.path
    )))
}
