//! The tools Edit and MultiEdit: exact replacements in one file, all or none.

use super::apply::{Applied, Edit as Replacement, Given, apply, knowledge};
use super::file_state::{FileState, Origin};
use super::guard::{self, Purpose, Stage};
use super::matching::{Reading, find};
use super::ranges::Ranges;
use super::target::{Foreseen, Loaded, Target, load_hashed, missing, not_loaded, resolve};
use super::{
    Data, Footprint, Outcome, Permit, Progress, Refusal, RuleSubject, Tool, ToolCx, fields, patch,
};
use crate::profile::{PartialReadCounts, StaleEdit};
use crate::words::{Class, Flag};
use crate::world::{Bytes, ContentHash, FileKind, FsErrorKind};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::LazyLock;

/// Replaces one text in a file by another.
pub struct Edit;

/// Makes several replacements in one file at once.
pub struct MultiEdit;

#[derive(Deserialize)]
struct One {
    file_path: String,
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

#[derive(Deserialize)]
struct Many {
    file_path: String,
    edits: Vec<Replacement>,
}

/// The edits that an input asks for.
struct Asked {
    path: String,
    edits: Vec<Replacement>,
}

const OLD: &str = "The text to replace, exactly as it stands in the file, without line numbers, \
                   and with enough around it to stand there once. Empty to make a new file.";

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": {
            "file_path": {"type": "string", "description": "The file, as an absolute path or one relative to the working folder."},
            "old_string": {"type": "string", "description": OLD},
            "new_string": {"type": "string", "description": "The text to put in its place."},
            "replace_all": {"type": "boolean", "description": "Replace every occurrence. By default old_string must occur once."}
        },
        "required": ["file_path", "old_string", "new_string"],
        "additionalProperties": false
    })
});

static MANY_SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": {
            "file_path": {"type": "string", "description": "The file, as an absolute path or one relative to the working folder."},
            "edits": {
                "type": "array",
                "description": "The replacements, in order: each sees what those before it left.",
                "items": {
                    "type": "object",
                    "properties": {
                        "old_string": {"type": "string", "description": OLD},
                        "new_string": {"type": "string", "description": "The text to put in its place."},
                        "replace_all": {"type": "boolean", "description": "Replace every occurrence. By default old_string must occur once."}
                    },
                    "required": ["old_string", "new_string"],
                    "additionalProperties": false
                },
                "minItems": 1
            }
        },
        "required": ["file_path", "edits"],
        "additionalProperties": false
    })
});

#[async_trait]
impl Tool for Edit {
    fn name(&self) -> &str {
        "Edit"
    }

    fn search_hint(&self) -> &str {
        "change replace modify text in a file"
    }

    fn description(&self) -> &str {
        "Replaces one exact text in a file by another. The file must have been read, the part you \
         change among what you saw, and be unchanged since. old_string must occur once unless \
         replace_all is set. Line ends and a byte order mark stay as they are in the file. \
         Use it for small changes; use MultiEdit for several in one file, Write to replace a whole file."
    }

    fn input_schema(&self) -> &Value {
        &SCHEMA
    }

    fn footprint(&self, cx: &ToolCx, input: &Value) -> Footprint {
        one(input).map_or_else(|_| Footprint::exclusive(), |asked| footprint(cx, &asked))
    }

    fn rule_subject(&self, cx: &ToolCx, input: &Value) -> RuleSubject {
        one(input).map_or(RuleSubject::None, |asked| subject(cx, &asked))
    }

    fn summary(&self, input: &Value) -> String {
        input["file_path"].as_str().unwrap_or_default().to_owned()
    }

    async fn validate_input(&self, input: &Value, cx: &ToolCx) -> Result<(), Refusal> {
        plan(cx, &one(input)?, Stage::Validate).await.map(drop)
    }

    async fn call(
        &self,
        input: &Value,
        cx: &ToolCx,
        _permit: &dyn Permit,
        _progress: &dyn Progress,
    ) -> Outcome {
        let run = async { run(cx, one(input)?).await };
        run.await.unwrap_or_else(Outcome::from)
    }
}

#[async_trait]
impl Tool for MultiEdit {
    fn name(&self) -> &str {
        "MultiEdit"
    }

    fn search_hint(&self) -> &str {
        "several changes replacements in one file at once"
    }

    fn description(&self) -> &str {
        "Makes several exact replacements in one file, in order, all of them or, if one fails, none. \
         The same demands as Edit hold for each. Use it for two or more changes in one file; for \
         changes in several files use one call each."
    }

    fn input_schema(&self) -> &Value {
        &MANY_SCHEMA
    }

    fn footprint(&self, cx: &ToolCx, input: &Value) -> Footprint {
        many(input).map_or_else(|_| Footprint::exclusive(), |asked| footprint(cx, &asked))
    }

    fn rule_subject(&self, cx: &ToolCx, input: &Value) -> RuleSubject {
        many(input).map_or(RuleSubject::None, |asked| subject(cx, &asked))
    }

    fn summary(&self, input: &Value) -> String {
        let edits = input["edits"].as_array().map_or(0, Vec::len);
        let path = input["file_path"].as_str().unwrap_or_default();
        format!("{path}, {edits} edit{}", if edits == 1 { "" } else { "s" })
    }

    async fn validate_input(&self, input: &Value, cx: &ToolCx) -> Result<(), Refusal> {
        plan(cx, &many(input)?, Stage::Validate).await.map(drop)
    }

    async fn call(
        &self,
        input: &Value,
        cx: &ToolCx,
        _permit: &dyn Permit,
        _progress: &dyn Progress,
    ) -> Outcome {
        let run = async { run(cx, many(input)?).await };
        run.await.unwrap_or_else(Outcome::from)
    }
}

fn one(input: &Value) -> Result<Asked, Refusal> {
    let one: One = fields::read(input)?;
    Ok(Asked {
        path: one.file_path,
        edits: vec![Replacement {
            old_string: one.old_string,
            new_string: one.new_string,
            replace_all: one.replace_all,
        }],
    })
}

fn many(input: &Value) -> Result<Asked, Refusal> {
    let Many { file_path, edits } = fields::read(input)?;
    Ok(Asked {
        path: file_path,
        edits,
    })
}

fn footprint(cx: &ToolCx, asked: &Asked) -> Footprint {
    let file = Foreseen::of(cx, &asked.path);
    let mut writes = file.writes(cx);
    writes.push(file.state());
    Footprint {
        reads: file.reads(),
        writes,
        exclusive: false,
    }
}

fn subject(cx: &ToolCx, asked: &Asked) -> RuleSubject {
    RuleSubject::EditPath(cx.absolute(&asked.path))
}

/// What is to be done, everything having been checked.
enum Plan {
    Create {
        target: Target,
        applied: Applied,
    },
    Replace {
        target: Target,
        loaded: Loaded,
        hash: ContentHash,
        applied: Applied,
        /// How the file had changed since it was seen, if the edit goes on all the same.
        recovered: Option<String>,
    },
}

/// Checks what an edit demands (`semantics.md §3.3`): that it changes something, that
/// the file exists, is not too large, was read, has not changed since, and that each
/// text stands in it once.
async fn plan(cx: &ToolCx, asked: &Asked, stage: Stage) -> Result<Plan, Refusal> {
    let profile = &cx.env.profile;
    demands_something(asked)?;
    let target = resolve(cx, &asked.path).await?;
    let creates = asked.edits[0].old_string.is_empty();
    let meta = match cx.world.stat(&target.canonical).await {
        Ok(meta) => meta,
        Err(e) if e.kind == FsErrorKind::NotFound && creates => return new_file(target, asked),
        Err(e) => return Err(not_loaded(cx, &target, &e).await),
    };
    let path = &target.path;
    if meta.kind == FileKind::Dir {
        return Err(Refusal::new(
            Class::IsDirectory,
            format!("{path} is a folder. Give the path of the file to edit."),
        ));
    }
    if meta.size > profile.edit_max_bytes {
        return Err(Refusal::new(
            Class::TooLarge,
            format!(
                "{path} has {} bytes, and files over {} are not edited. Change it with a program in Bash.",
                meta.size, profile.edit_max_bytes
            ),
        ));
    }
    if creates {
        return Err(Refusal::new(
            Class::Exists,
            format!(
                "{path} exists already, and an empty old_string only makes new files. Name the text to replace, or use Write."
            ),
        ));
    }
    let state = guard::known(cx, &target, Purpose::Edit, stage).await?;
    let (loaded, hash) = match load_hashed(cx, &target).await {
        Ok(loaded) => loaded,
        Err(e) if e.kind == FsErrorKind::NotFound => return Err(missing(cx, &target).await),
        Err(e) => return Err(not_loaded(cx, &target, &e).await),
    };
    if loaded.is_cut {
        return Err(Refusal::new(
            Class::Binary,
            format!("{path} is a binary file. Change it with a program made for it, in Bash."),
        ));
    }
    let checks = stage == Stage::Validate || profile.recheck_before_write;
    let changed = state
        .as_ref()
        .filter(|_| checks)
        .and_then(|state| guard::changed_since(profile, state, &loaded, hash));
    let recovered = match changed {
        None => None,
        Some(how) if profile.stale_edit == StaleEdit::Refuse => {
            return Err(guard::stale(path, &how));
        }
        Some(how) if still_unique(&loaded, asked) => Some(how),
        Some(how) => return Err(guard::stale(path, &how)),
    };
    let applied = applied(cx, &target, &loaded, hash, state.as_deref(), asked)?;
    Ok(Plan::Replace {
        target,
        loaded,
        hash,
        applied,
        recovered,
    })
}

/// Refuses edits that say nothing, before the world is looked at.
fn demands_something(asked: &Asked) -> Result<(), Refusal> {
    if asked.edits.is_empty() {
        return Err(Refusal::new(
            Class::InvalidInput,
            "there are no edits. Give at least one.",
        ));
    }
    for (index, edit) in asked.edits.iter().enumerate() {
        if edit.old_string == edit.new_string {
            return Err(Refusal::new(
                Class::NoChange,
                "old_string and new_string are the same. Say what is to be different.",
            ));
        }
        if index > 0 && edit.old_string.is_empty() {
            return Err(Refusal::new(
                Class::InvalidInput,
                format!(
                    "the old_string of edit {} is empty, which only the first may be. Name the text to replace.",
                    index + 1
                ),
            ));
        }
    }
    Ok(())
}

fn new_file(target: Target, asked: &Asked) -> Result<Plan, Refusal> {
    let content = asked.edits[0].new_string.as_bytes();
    let rest = &asked.edits[1..];
    let given = Given {
        path: &target.path,
        content,
        empties_lines: false,
        shown: None,
    };
    let applied = if rest.is_empty() {
        Applied {
            content: content.to_vec(),
            shown: Ranges::whole(content.len()),
            places: Vec::new(),
            reading: Reading::Exact,
        }
    } else {
        apply(given, Ranges::whole(content.len()), rest)?
    };
    Ok(Plan::Create { target, applied })
}

/// Whether each edit still has its one place (or its several, all to be replaced).
fn still_unique(loaded: &Loaded, asked: &Asked) -> bool {
    asked.edits.iter().all(|edit| {
        find(&loaded.content, &edit.old_string)
            .is_some_and(|found| edit.replace_all || found.starts.len() == 1)
    })
}

fn applied(
    cx: &ToolCx,
    target: &Target,
    loaded: &Loaded,
    hash: ContentHash,
    state: Option<&FileState>,
    asked: &Asked,
) -> Result<Applied, Refusal> {
    // What was shown of another content says nothing about this one.
    let state = state.filter(|state| state.hash == hash);
    let known = knowledge(state, loaded.content.len());
    let in_range = cx.env.profile.partial_read_counts == PartialReadCounts::EditsInRange;
    let shown = state.filter(|_| in_range).map(|state| &state.shown);
    let given = Given {
        path: &target.path,
        content: &loaded.content,
        empties_lines: cx.env.profile.version.is_some(),
        shown,
    };
    apply(given, known, &asked.edits)
}

async fn run(cx: &ToolCx, asked: Asked) -> Result<Outcome, Refusal> {
    match plan(cx, &asked, Stage::Execute).await? {
        Plan::Create { target, applied } => {
            let meta = guard::create(cx, &target, &applied.content).await?;
            let text = format!("Created {} ({} bytes).", target.path, meta.size);
            let (content, shown) = (Bytes::from(applied.content), applied.shown);
            guard::remember(cx, &target, content.clone(), &meta, shown, Origin::Write).await;
            let data = Data::later(move || data(&target, &asked, &[], &content));
            Ok(Outcome::ok(text).with_data(data))
        }
        Plan::Replace {
            target,
            loaded,
            hash,
            applied,
            recovered,
        } => {
            let meta = guard::replace(cx, &target, &loaded, hash, &applied.content).await?;
            let mut text = said(&target, &applied);
            if let Some(how) = &recovered {
                text.push_str(&format!(
                    " It had changed since you last saw it ({how}); the edit was made in what it holds now, which you have not seen whole."
                ));
            }
            let (content, shown) = (Bytes::from(applied.content), applied.shown);
            guard::remember(cx, &target, content.clone(), &meta, shown, Origin::Edit).await;
            let is_recovered = recovered.is_some();
            let data = Data::later(move || {
                let mut data = data(&target, &asked, &loaded.content, &content);
                if is_recovered {
                    data["staleRecovered"] = json!(true);
                }
                data
            });
            let outcome = Outcome::ok(text).with_data(data);
            Ok(match is_recovered {
                true => outcome.with_flag(Flag::StaleRecovered),
                false => outcome,
            })
        }
    }
}

/// The result's text: how many places, and where.
fn said(target: &Target, applied: &Applied) -> String {
    let places: Vec<String> = applied
        .places
        .iter()
        .map(|(count, line)| match count {
            1 => format!("line {line}"),
            count => format!("{count} places from line {line} on"),
        })
        .collect();
    let mut text = format!("Edited {} at {}.", target.path, places.join(", "));
    match applied.reading {
        Reading::Exact => {}
        Reading::LineEnds => text.push_str(" The line ends of the file were kept."),
        Reading::LineEndsAndQuotes => {
            text.push_str(" Quotes in the file are curly; those in unchanged text were kept.");
        }
    }
    text
}

fn data(target: &Target, asked: &Asked, old: &[u8], new: &[u8]) -> Value {
    let mut data = json!({
        "filePath": target.path,
        "userModified": false,
        "structuredPatch": patch::structured(old, new),
    });
    match &asked.edits[..] {
        [edit] => {
            data["oldString"] = json!(edit.old_string);
            data["newString"] = json!(edit.new_string);
            data["replaceAll"] = json!(edit.replace_all);
        }
        edits => {
            data["edits"] = edits
                .iter()
                .map(|edit| {
                    json!({
                        "old_string": edit.old_string,
                        "new_string": edit.new_string,
                        "replace_all": edit.replace_all,
                    })
                })
                .collect();
        }
    }
    data
}
