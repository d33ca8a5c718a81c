//! The tool Glob: files by name.

use super::below::{self, Base, Below};
use super::{
    Footprint, Outcome, Permit, Progress, ReadOnly, Refusal, RuleSubject, Tool, ToolCx, fields,
};
use crate::words::{Class, Flag};
use async_trait::async_trait;
use globset::GlobBuilder;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::LazyLock;

/// How many files one call lists (`semantics.md §3.6`).
const FILES_MAX: usize = 100;

/// Lists the files whose path matches a pattern.
pub struct Glob;

#[derive(Deserialize)]
struct Input {
    pattern: String,
    #[serde(default)]
    path: Option<String>,
}

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "description": "What the path below the folder must match: * within a name, ** over folders, ?, [ab], {ts,tsx}. Without a / it is matched with the file's name, at any depth."},
            "path": {"type": "string", "description": "The folder to look in. Leave it out for the working folder."}
        },
        "required": ["pattern"],
        "additionalProperties": false
    })
});

#[async_trait]
impl Tool for Glob {
    fn name(&self) -> &str {
        "Glob"
    }

    fn search_hint(&self) -> &str {
        "find files by name pattern list folder"
    }

    fn description(&self) -> &str {
        "Lists the files whose path matches a pattern such as src/**/*.rs, the last changed first, at \
         most 100. Dotfiles and what .gitignore names are among them. \
         Use it to find files by name or to see what a folder holds (pattern **/*); use Grep to find \
         them by what is in them."
    }

    fn input_schema(&self) -> &Value {
        &SCHEMA
    }

    fn read_only(&self) -> ReadOnly {
        ReadOnly::Always
    }

    fn footprint(&self, cx: &ToolCx, input: &Value) -> Footprint {
        asked(cx, input).map_or_else(
            |_| Footprint::exclusive(),
            |asked| below::footprint(cx, &asked.folder),
        )
    }

    fn rule_subject(&self, cx: &ToolCx, input: &Value) -> RuleSubject {
        asked(cx, input).map_or(RuleSubject::None, |asked| {
            RuleSubject::ReadPath(asked.folder)
        })
    }

    fn summary(&self, input: &Value) -> String {
        let pattern = input["pattern"].as_str().unwrap_or_default();
        match input["path"].as_str() {
            Some(path) => format!("{pattern} in {path}"),
            None => pattern.to_owned(),
        }
    }

    async fn validate_input(&self, input: &Value, cx: &ToolCx) -> Result<(), Refusal> {
        asked(cx, input).map(drop)
    }

    async fn call(
        &self,
        input: &Value,
        cx: &ToolCx,
        _permit: &dyn Permit,
        _progress: &dyn Progress,
    ) -> Outcome {
        run(input, cx).await.unwrap_or_else(Outcome::from)
    }
}

/// Where to look, and for what. What only needs to know where does not compile it.
struct Asked {
    /// Absolute and normal.
    folder: String,
    glob: globset::Glob,
}

fn asked(cx: &ToolCx, input: &Value) -> Result<Asked, Refusal> {
    let input: Input = fields::read(input)?;
    let (folder, pattern) = place(cx, input.path.as_deref(), &input.pattern);
    let glob = GlobBuilder::new(&pattern)
        .literal_separator(true)
        .backslash_escape(true)
        .case_insensitive(!cx.world.world().fs().case_sensitive())
        .build()
        .map_err(|e| {
            Refusal::new(
                Class::InvalidInput,
                format!(
                    "the pattern {} cannot be read: {}. Correct it.",
                    input.pattern,
                    e.kind()
                ),
            )
        })?;
    Ok(Asked { folder, glob })
}

/// The folder to look in and the pattern below it: a pattern may itself begin with a
/// path, `~`, `./` or `../`.
fn place(cx: &ToolCx, path: Option<&str>, pattern: &str) -> (String, String) {
    let mut folder = cx.absolute(path.unwrap_or("."));
    let mut rest = pattern;
    if pattern.starts_with('/') || pattern.starts_with("~/") {
        // The folders before the first wildcard.
        let literal = pattern
            .find(['*', '?', '[', '{', '\\'])
            .unwrap_or(pattern.len());
        let end = pattern[..literal].rfind('/').unwrap_or(0);
        folder = cx.absolute(if end == 0 { "/" } else { &pattern[..end] });
        return (folder, pattern[end..].trim_start_matches('/').to_owned());
    }
    loop {
        if let Some(after) = rest.strip_prefix("./") {
            rest = after;
        } else if let Some(after) = rest.strip_prefix("../") {
            folder = crate::world::normalize(&folder, "..");
            rest = after;
        } else {
            break;
        }
    }
    if rest.contains('/') || rest.len() < pattern.len() {
        (folder, rest.to_owned())
    } else {
        (folder, format!("**/{rest}"))
    }
}

async fn run(input: &Value, cx: &ToolCx) -> Result<Outcome, Refusal> {
    let asked = asked(cx, input)?;
    let (target, files) = match below::find(cx, &asked.folder).await? {
        Base::Folder { target, files } => (target, files),
        Base::File { target } => return Err(below::not_a_folder(&target)),
    };
    let matcher = asked.glob.compile_matcher();
    let mut found: Vec<Below> = files
        .into_iter()
        .filter(|file| matcher.is_match(&file.relative))
        .collect();
    found.sort_by(|a, b| {
        let newest_first = b.meta.mtime_ms.cmp(&a.meta.mtime_ms);
        newest_first.then_with(|| a.path.cmp(&b.path))
    });
    let total = found.len();
    found.truncate(FILES_MAX);
    let names: Vec<&str> = found.iter().map(|file| file.path.as_str()).collect();
    let is_cut = total > names.len();
    let text = match (total, is_cut) {
        (0, _) => format!("[No file below {} matches.]", target.path),
        (_, false) => names.join("\n"),
        (_, true) => format!(
            "{}\n\n[{FILES_MAX} of {total} files are listed. Narrow the pattern or the path for the others.]",
            names.join("\n")
        ),
    };
    let outcome = Outcome::ok(text).with_data(json!({
        "numFiles": names.len(),
        "filenames": names,
        "truncated": is_cut,
        "totalMatches": total,
    }));
    Ok(if is_cut {
        outcome.with_flag(Flag::Truncated)
    } else {
        outcome
    })
}
