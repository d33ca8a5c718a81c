//! The tool Read.

use super::file_state::Seen;
use super::page::{Layout, Next, Page, Paged, Start, page};
use super::ranges::Ranges;
use super::target::{Foreseen, Loaded, Target, load_hashed, missing, not_loaded, resolve};
use super::{
    Footprint, Outcome, Permit, Progress, ReadOnly, Refusal, RuleSubject, Tool, ToolCx, fields,
    form,
};
use crate::profile::{MissingFileReadStep, Profile, ReadResult, RereadUnchanged};
use crate::wire::{Block, estimate_tokens, raw};
use crate::words::{Class, Flag};
use crate::world::{ContentHash, FsErrorKind};
use async_trait::async_trait;
use base64::Engine;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::LazyLock;

/// What the notices below a page may take of the result limit, in characters.
const NOTICE_CHARS: u64 = 500;
/// The largest image that can be shown, in bytes; in base64 it is just under the API's 5 MB.
const IMAGE_MAX_BYTES: u64 = 3_750_000;

/// Shows a file's lines with their numbers, or an image.
pub struct Read;

#[derive(Deserialize)]
struct Input {
    file_path: String,
    #[serde(default, deserialize_with = "fields::whole")]
    offset: Option<i64>,
    #[serde(default, deserialize_with = "fields::whole")]
    limit: Option<i64>,
    #[serde(default, deserialize_with = "fields::whole")]
    char_offset: Option<i64>,
}

impl Input {
    /// Numbers below 1 count as absent (`observed.md §4.2`).
    fn start(&self) -> Start {
        let positive = |n: Option<i64>| n.and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0);
        Start {
            line: positive(self.offset).unwrap_or(1),
            unit: positive(self.char_offset).unwrap_or(0),
            max_lines: positive(self.limit),
        }
    }
}

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": {
            "file_path": {"type": "string", "description": "The file, as an absolute path or one relative to the working folder."},
            "offset": {"type": "integer", "description": "The number of the first line to show, counted from 1. Leave it out to begin at the top."},
            "limit": {"type": "integer", "description": "How many lines to show at most. Leave it out to go on to the end."},
            "char_offset": {"type": "integer", "description": "How many characters of the first line to leave out. Only for lines that are longer than a page: the notice below a page says when to use it."}
        },
        "required": ["file_path"],
        "additionalProperties": false
    })
});

#[async_trait]
impl Tool for Read {
    fn name(&self) -> &str {
        "Read"
    }

    fn aliases(&self) -> Vec<&str> {
        vec!["View"]
    }

    fn search_hint(&self) -> &str {
        "open show cat view file contents lines image"
    }

    fn description(&self) -> &str {
        "Shows a text file with line numbers (number, tab, line), or an image (PNG, JPEG, GIF, WebP). \
         Use it before you change a file: Edit and Write refuse files you have not read. A file too \
         large for one result comes in pages; the notice at the end names the call for the next page. \
         A line end at the end of the file shows as one more, empty line. \
         Not for folders (use Glob) and not to find text in many files (use Grep)."
    }

    fn input_schema(&self) -> &Value {
        &SCHEMA
    }

    fn read_only(&self) -> ReadOnly {
        ReadOnly::Always
    }

    fn footprint(&self, cx: &ToolCx, input: &Value) -> Footprint {
        let Ok(input) = fields::read::<Input>(input) else {
            return Footprint::exclusive();
        };
        let file = Foreseen::of(cx, &input.file_path);
        Footprint::reads(file.reads().into_iter().chain([file.state()]))
    }

    fn rule_subject(&self, cx: &ToolCx, input: &Value) -> RuleSubject {
        fields::read::<Input>(input).map_or(RuleSubject::None, |input| {
            RuleSubject::ReadPath(cx.absolute(&input.file_path))
        })
    }

    fn summary(&self, input: &Value) -> String {
        input["file_path"].as_str().unwrap_or_default().to_owned()
    }

    async fn validate_input(&self, input: &Value, cx: &ToolCx) -> Result<(), Refusal> {
        let input: Input = fields::read(input)?;
        if cx.env.profile.missing_file_read_step == MissingFileReadStep::Validate {
            let target = resolve(cx, &input.file_path).await?;
            if let Err(e) = cx.world.stat(&target.canonical).await
                && e.kind == FsErrorKind::NotFound
            {
                return Err(missing(cx, &target).await);
            }
        }
        Ok(())
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

async fn run(input: &Value, cx: &ToolCx) -> Result<Outcome, Refusal> {
    let input: Input = fields::read(input)?;
    let start = input.start();
    let target = resolve(cx, &input.file_path).await?;
    let (loaded, hash) = match load_hashed(cx, &target).await {
        Ok(loaded) => loaded,
        Err(e) => return Err(not_loaded(cx, &target, &e).await),
    };
    // What was saved here is the text of a result, whatever it begins with or holds.
    let is_result = target.path.starts_with(&format!("{}/", cx.env.results_dir));
    if !is_result && let Some(media_type) = form::image_type(&loaded.content) {
        return image(&target, &loaded, media_type);
    }
    if loaded.is_cut || (!is_result && form::looks_binary(&loaded.content)) {
        return Err(binary(&target, &loaded));
    }
    let profile = &cx.env.profile;
    let has_range = start.line > 1 || start.unit > 0 || start.max_lines.is_some();
    if let Some(max) = profile.read_max_bytes
        && !has_range
        && loaded.meta.size > max
    {
        return Err(Refusal::new(
            Class::TooLarge,
            format!(
                "{} has {} bytes, over the {max} that are shown at once. Give offset and limit, or look for what you need with Grep.",
                target.path, loaded.meta.size
            ),
        ));
    }
    text(cx, &target, &loaded, hash, start, has_range).await
}

/// The outcome for a text file.
async fn text(
    cx: &ToolCx,
    target: &Target,
    loaded: &Loaded,
    hash: ContentHash,
    start: Start,
    has_range: bool,
) -> Result<Outcome, Refusal> {
    let profile = &cx.env.profile;
    let view = (start.line, start.max_lines.unwrap_or(0), start.unit);
    if profile.reread_unchanged == RereadUnchanged::Stub {
        let known = cx.env.files.get(&cx.world, &target.canonical).await;
        if known.is_some_and(|known| known.hash == hash && known.views.contains(&view)) {
            return Ok(unchanged(target));
        }
    }
    let bom = form::bom_len(&loaded.content);
    let ends = form::LineEnds::of(&loaded.content);
    let layout = Layout {
        format: profile.read_line_format,
        // In a file of one kind of line ends nothing is lost by hiding them; in a mixed
        // one they are shown as they are, but not where the recorded runtime hid them.
        hide_cr: ends == form::LineEnds::Crlf || profile.version.is_some(),
        unit: profile.char_unit,
        budget: budget(profile, has_range),
    };
    let paged = page(&loaded.content[bom..], bom, start, layout);
    let mut shown = Ranges::default();
    if let Paged::Page(page) = &paged {
        within_token_cap(profile, target, page)?;
        shown.add(page.shown.clone());
    }
    let seen = Seen {
        call: cx.call.number,
        meta_mtime_ms: loaded.meta.mtime_ms,
        content: loaded.content.clone(),
        hash,
        shown,
        view: Some(view),
    };
    cx.env
        .files
        .record_read(&cx.world, &target.canonical, seen)
        .await;
    Ok(match paged {
        Paged::Empty => {
            let text = format!("[{} exists and is empty.]", target.path);
            Outcome::ok(text).with_data(data(target, "", 0, 1, 0))
        }
        Paged::PastEnd { total_lines } => {
            let text = format!(
                "[Nothing to show: {} ends with line {total_lines}, before offset {}{}.]",
                target.path,
                start.line,
                match start.unit {
                    0 => String::new(),
                    unit => format!(" and char_offset {unit}"),
                }
            );
            Outcome::ok(text).with_data(data(target, "", 0, start.line, total_lines))
        }
        Paged::Page(page) => {
            let notices = notices(profile, &page, ends, bom > 0);
            let mut text = page.text;
            if !notices.is_empty() {
                text.push_str("\n\n");
                text.push_str(&notices.join("\n"));
            }
            let outcome = Outcome::ok(text).with_data(data(
                target,
                &page.content,
                page.lines,
                page.first_line,
                page.total_lines,
            ));
            match page.next {
                Some(_) => outcome.with_flag(Flag::Truncated),
                None => outcome,
            }
        }
    })
}

/// How many characters a page may take, the notices left out.
fn budget(profile: &Profile, has_range: bool) -> Option<u64> {
    /// Characters that a token stands for in the estimate.
    const CHARS_A_TOKEN: u64 = 4;
    let all = match profile.read_result {
        ReadResult::PageOverLimit => profile.result_limit?,
        ReadResult::PageOverTokenCap if !has_range => {
            profile.read_max_tokens?.saturating_mul(CHARS_A_TOKEN)
        }
        ReadResult::PageOverTokenCap | ReadResult::TokenCapError => return None,
    };
    // A limit so small that notices would fill it still leaves half for text.
    Some(all.saturating_sub(NOTICE_CHARS).max(all / 2).max(1))
}

/// Refuses what is over the token cap, where that is no page.
fn within_token_cap(profile: &Profile, target: &Target, page: &Page) -> Result<(), Refusal> {
    let Some(max) = profile.read_max_tokens else {
        return Ok(());
    };
    if page.next.is_some() {
        return Ok(());
    }
    let tokens = estimate_tokens(&page.text);
    if tokens <= max {
        return Ok(());
    }
    Err(Refusal::new(
        Class::TooLarge,
        format!(
            "what was asked of {} is about {tokens} tokens, over the {max} of one result. Ask for fewer lines with offset and limit, or look for what you need with Grep.",
            target.path
        ),
    ))
}

fn notices(profile: &Profile, page: &Page, ends: form::LineEnds, has_bom: bool) -> Vec<String> {
    let mut notices = Vec::new();
    if let Some(next) = page.next {
        notices.push(next_notice(page, next));
    }
    // The rest are ours: the recorded runtime says nothing of the kind.
    if profile.version.is_some() {
        return notices;
    }
    match ends {
        form::LineEnds::Crlf => {
            notices.push("[Its lines end in CRLF; the CR is not shown.]".into())
        }
        form::LineEnds::Mixed { crlf, lf } => notices.push(format!(
            "[{crlf} of its lines end in CRLF, the CR shown, and {lf} in LF.]"
        )),
        form::LineEnds::None | form::LineEnds::Lf => {}
    }
    if has_bom {
        notices.push("[It begins with a byte order mark, which is not shown.]".into());
    }
    if page.has_invalid_utf8 {
        notices.push("[Bytes that are not UTF-8 are shown as U+FFFD.]".into());
    }
    notices
}

/// What is shown, and the call that shows the next page.
fn next_notice(page: &Page, next: Next) -> String {
    let last = page.first_line + page.lines - 1;
    let total = page.total_lines;
    let what = match page.piece_of_units {
        Some(units) if next.line == last => {
            format!(
                "Line {last} of {total} has {units} characters, shown up to {}",
                next.unit
            )
        }
        _ if page.first_line == last => format!("Line {last} of {total} is shown"),
        _ => format!("Lines {}–{last} of {total} are shown", page.first_line),
    };
    let mut call = format!("offset {}", next.line);
    if next.unit > 0 {
        call.push_str(&format!(", char_offset {}", next.unit));
    }
    if let Some(limit) = next.max_lines {
        call.push_str(&format!(", limit {limit}"));
    }
    format!("[{what}. The next page: Read this file again with {call}.]")
}

fn data(target: &Target, content: &str, lines: u64, first: u64, total: u64) -> Value {
    json!({
        "type": "text",
        "file": {
            "filePath": target.path,
            "content": content,
            "numLines": lines,
            "startLine": first,
            "totalLines": total,
        }
    })
}

fn unchanged(target: &Target) -> Outcome {
    let text = format!(
        "[{} has not changed since you last read this part of it. See that result.]",
        target.path
    );
    Outcome::ok(text)
        .with_flag(Flag::Unchanged)
        .with_data(json!({"type": "file_unchanged", "file": {"filePath": target.path}}))
}

fn image(target: &Target, loaded: &Loaded, media_type: &str) -> Result<Outcome, Refusal> {
    let bytes = loaded.meta.size;
    if bytes > IMAGE_MAX_BYTES {
        return Err(Refusal::new(
            Class::TooLarge,
            format!(
                "{} is an image of {bytes} bytes, and at most {IMAGE_MAX_BYTES} can be shown. Make a smaller copy of it first.",
                target.path
            ),
        ));
    }
    let block = Block::from_raw(raw::of(&json!({
        "type": "image",
        "source": {
            "type": "base64",
            "media_type": media_type,
            "data": base64::engine::general_purpose::STANDARD.encode(&loaded.content),
        }
    })));
    let data = json!({
        "type": "image",
        "file": {"filePath": target.path, "type": media_type, "originalSize": bytes}
    });
    Ok(Outcome::blocks(vec![block]).with_data(data))
}

fn binary(target: &Target, loaded: &Loaded) -> Refusal {
    let what = if loaded.content.starts_with(b"%PDF") {
        "a PDF"
    } else if loaded.content.starts_with(b"\xFF\xFE") || loaded.content.starts_with(b"\xFE\xFF") {
        "text in UTF-16, which is not shown"
    } else {
        "a binary file"
    };
    Refusal::new(
        Class::Binary,
        format!(
            "{} is {what} ({} bytes). Look at it with a program made for it, in Bash.",
            target.path, loaded.meta.size
        ),
    )
}
