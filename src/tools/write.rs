//! The tool Write: a whole file at once.

use super::file_state::Origin;
use super::form::{BOM, LineEnds, bom_len, to_crlf, to_lf};
use super::guard::{self, Purpose, Stage};
use super::ranges::Ranges;
use super::target::{Foreseen, Loaded, Target, load_hashed, not_loaded, resolve};
use super::{
    Data, Footprint, Outcome, Permit, Progress, Refusal, RuleSubject, Tool, ToolCx, fields, patch,
};
use crate::profile::Unmet;
use crate::words::Class;
use crate::world::{Bytes, ContentHash, FileKind, FsErrorKind};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::LazyLock;

/// A file of at least this many bytes that keeps less than a quarter of them is remarked on.
const SHRINK_BYTES_MIN: usize = 1_000;

/// Writes a file.
pub struct Write;

#[derive(Deserialize)]
struct Input {
    file_path: String,
    content: String,
}

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": {
            "file_path": {"type": "string", "description": "The file, as an absolute path or one relative to the working folder."},
            "content": {"type": "string", "description": "Everything the file is to hold."}
        },
        "required": ["file_path", "content"],
        "additionalProperties": false
    })
});

#[async_trait]
impl Tool for Write {
    fn name(&self) -> &str {
        "Write"
    }

    fn search_hint(&self) -> &str {
        "create new file overwrite save"
    }

    fn description(&self) -> &str {
        "Writes a whole file: makes a new one, with the folders above it, or replaces all of an \
         existing one, which you must have read completely and which must be unchanged since. \
         The kind of line ends and a byte order mark of an existing file are kept. \
         Use Edit to change a part of a file: content left out here is gone."
    }

    fn input_schema(&self) -> &Value {
        &SCHEMA
    }

    fn footprint(&self, cx: &ToolCx, input: &Value) -> Footprint {
        let Ok(input) = fields::read::<Input>(input) else {
            return Footprint::exclusive();
        };
        let file = Foreseen::of(cx, &input.file_path);
        let mut writes = file.writes(cx);
        writes.push(file.state());
        Footprint {
            reads: file.finding(),
            writes,
            exclusive: false,
        }
    }

    fn rule_subject(&self, cx: &ToolCx, input: &Value) -> RuleSubject {
        fields::read::<Input>(input).map_or(RuleSubject::None, |input| {
            RuleSubject::EditPath(cx.absolute(&input.file_path))
        })
    }

    fn summary(&self, input: &Value) -> String {
        let path = input["file_path"].as_str().unwrap_or_default();
        let bytes = input["content"].as_str().map_or(0, str::len);
        format!("{path}, {bytes} bytes")
    }

    async fn validate_input(&self, input: &Value, cx: &ToolCx) -> Result<(), Refusal> {
        plan(cx, fields::read(input)?, Stage::Validate)
            .await
            .map(drop)
    }

    async fn call(
        &self,
        input: &Value,
        cx: &ToolCx,
        _permit: &dyn Permit,
        _progress: &dyn Progress,
    ) -> Outcome {
        let run = async { run(cx, fields::read(input)?).await };
        run.await.unwrap_or_else(Outcome::from)
    }
}

/// What is to be done, everything having been checked.
struct Plan {
    target: Target,
    content: Vec<u8>,
    /// What it replaces, if there is a file.
    replaces: Option<(Loaded, ContentHash)>,
    /// How the content differs from what was asked for.
    remarks: Vec<String>,
}

async fn plan(cx: &ToolCx, input: Input, stage: Stage) -> Result<Plan, Refusal> {
    let profile = &cx.env.profile;
    let target = resolve(cx, &input.file_path).await?;
    match cx.world.stat(&target.canonical).await {
        Ok(meta) if meta.kind == FileKind::Dir => {
            return Err(Refusal::new(
                Class::IsDirectory,
                format!(
                    "{} is a folder. Give the path of the file to write.",
                    target.path
                ),
            ));
        }
        Ok(_) => {}
        Err(e) if e.kind == FsErrorKind::NotFound => {
            return Ok(Plan {
                target,
                content: input.content.into_bytes(),
                replaces: None,
                remarks: Vec::new(),
            });
        }
        Err(e) => return Err(not_loaded(cx, &target, &e).await),
    }
    let state = guard::known(cx, &target, Purpose::Write, stage).await?;
    let (loaded, hash) = match load_hashed(cx, &target).await {
        Ok(loaded) => loaded,
        Err(e) => return Err(not_loaded(cx, &target, &e).await),
    };
    let checks = profile.stale_write == Unmet::Refuse
        && (stage == Stage::Validate || profile.recheck_before_write);
    if checks
        && let Some(state) = &state
        && let Some(how) = guard::changed_since(profile, state, &loaded, hash)
    {
        return Err(guard::stale(&target.path, &how));
    }
    let (content, remarks) = in_form(&loaded.content, input.content.into_bytes());
    Ok(Plan {
        target,
        content,
        replaces: Some((loaded, hash)),
        remarks,
    })
}

/// `new` with the line ends and the byte order mark of `old`, and what that changed.
fn in_form(old: &[u8], new: Vec<u8>) -> (Vec<u8>, Vec<String>) {
    let mut remarks = Vec::new();
    let mut new = new;
    match LineEnds::of(old).mostly_crlf() {
        Some(true) if LineEnds::of(&new).mostly_crlf().is_some() => {
            let converted = to_crlf(&new);
            if converted != new {
                remarks.push("Its line ends stay CRLF: yours were converted.".to_owned());
                new = converted;
            }
        }
        Some(false) => {
            let converted = to_lf(&new);
            if converted != new {
                remarks.push("Its line ends stay LF: yours were converted.".to_owned());
                new = converted;
            }
        }
        Some(true) | None => {}
    }
    match (bom_len(old) > 0, bom_len(&new) > 0) {
        (true, false) => {
            new.splice(0..0, BOM.iter().copied());
            remarks.push("Its byte order mark was kept.".to_owned());
        }
        (false, true) if !old.is_empty() => {
            new.drain(..BOM.len());
            remarks.push("It had no byte order mark, so the one you gave was left out.".to_owned());
        }
        _ => {}
    }
    (new, remarks)
}

async fn run(cx: &ToolCx, input: Input) -> Result<Outcome, Refusal> {
    let plan = plan(cx, input, Stage::Execute).await?;
    let Plan {
        target,
        content,
        replaces,
        mut remarks,
    } = plan;
    let lines = count_lines(&content);
    let (meta, text) = match &replaces {
        None => {
            let meta = guard::create(cx, &target, &content).await?;
            let text = format!(
                "Created {} ({lines} lines, {} bytes).",
                target.path,
                content.len()
            );
            (meta, text)
        }
        Some((loaded, hash)) => {
            let meta = guard::replace(cx, &target, loaded, *hash, &content).await?;
            let old = &loaded.content;
            if old.len() >= SHRINK_BYTES_MIN && content.len() < old.len() / 4 {
                remarks.push(format!(
                    "It is much smaller than before ({} → {} bytes): check that nothing is missing.",
                    old.len(),
                    content.len()
                ));
            }
            let text = format!(
                "Wrote {} ({lines} lines, {} bytes; it had {} lines).",
                target.path,
                content.len(),
                count_lines(old)
            );
            (meta, text)
        }
    };
    let text = std::iter::once(text)
        .chain(remarks)
        .collect::<Vec<_>>()
        .join(" ");
    let shown = Ranges::whole(content.len());
    let content = Bytes::from(content);
    guard::remember(cx, &target, content.clone(), &meta, shown, Origin::Write).await;
    let data = Data::later(move || match &replaces {
        None => data("create", &target, &[], &content),
        Some((old, _)) => data("update", &target, &old.content, &content),
    });
    Ok(Outcome::ok(text).with_data(data))
}

/// Lines as people count them: a line end at the end begins no new one.
fn count_lines(content: &[u8]) -> usize {
    let ends = memchr::memchr_iter(b'\n', content).count();
    ends + usize::from(!content.is_empty() && !content.ends_with(b"\n"))
}

fn data(kind: &str, target: &Target, old: &[u8], new: &[u8]) -> Value {
    json!({
        "type": kind,
        "filePath": target.path,
        "bytes": new.len(),
        "structuredPatch": if kind == "create" { json!([]) } else { patch::structured(old, new) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(old: &str, new: &str) -> (String, usize) {
        let (bytes, remarks) = in_form(old.as_bytes(), new.as_bytes().to_vec());
        (String::from_utf8(bytes).expect("UTF-8"), remarks.len())
    }

    #[test]
    fn the_form_of_the_old_file_is_kept_and_said() {
        assert_eq!(form("a\r\nb\r\n", "a\nc\n"), ("a\r\nc\r\n".to_owned(), 1));
        assert_eq!(form("a\nb\n", "a\r\nc\r\n"), ("a\nc\n".to_owned(), 1));
        assert_eq!(form("a\nb\n", "a\nc\n"), ("a\nc\n".to_owned(), 0));
        assert_eq!(form("one line", "a\r\nb\n"), ("a\r\nb\n".to_owned(), 0));
        assert_eq!(form("a\r\nb\nc\r\n", "x\ny"), ("x\r\ny".to_owned(), 1));
        assert_eq!(form("\u{feff}é", "éà"), ("\u{feff}éà".to_owned(), 1));
        assert_eq!(form("é", "\u{feff}à"), ("à".to_owned(), 1));
        assert_eq!(form("", "\u{feff}à"), ("\u{feff}à".to_owned(), 0));
    }

    #[test]
    fn lines_are_counted_as_people_do() {
        assert_eq!(count_lines(b""), 0);
        assert_eq!(count_lines(b"a"), 1);
        assert_eq!(count_lines(b"a\n"), 1);
        assert_eq!(count_lines(b"a\nb"), 2);
    }
}
