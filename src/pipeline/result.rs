//! Brings a result to the size that the conversation can bear: what is over its limit
//! is saved whole, and the conversation keeps its beginning and the way to the rest.

use crate::profile::{FailedShellOutput, OverLimit, PreviewCut, Profile};
use crate::tools::{Outcome, ResultContent, Tool, ToolCx, units};
use crate::wire::Block;
use crate::words::{Class, Flag};

/// An outcome at its final size.
#[derive(Debug)]
pub struct Kept {
    pub outcome: Outcome,
    /// Of the full content's text, in the profile's unit.
    pub full_chars: u64,
    pub saved_to: Option<String>,
}

/// The limit of one result and what becomes of it above.
#[derive(Debug, Clone, Copy)]
struct Limit {
    /// In the profile's character unit.
    chars: u64,
    action: OverLimit,
}

/// Brings the text of an outcome under its tool's limit; class and `is_error` stay, and
/// blocks that are not text are never touched (`semantics.md §4`).
pub async fn keep(outcome: Outcome, tool: &dyn Tool, cx: &ToolCx) -> Kept {
    let profile = &cx.env.profile;
    let unit = profile.char_unit;
    let full_chars = match &outcome.content {
        ResultContent::Text(text) => units::count(unit, text),
        ResultContent::Blocks(_) => units::count(unit, &outcome.text()),
    };
    if let Some(cut) = failed_shell(&outcome, tool, profile, full_chars) {
        return Kept {
            outcome: cut,
            full_chars,
            saved_to: None,
        };
    }
    let limit = match limit_of(tool, profile) {
        Some(limit) if full_chars > limit.chars => limit,
        _ => {
            return Kept {
                outcome,
                full_chars,
                saved_to: None,
            };
        }
    };
    let text = outcome.text();
    match limit.action {
        OverLimit::Save => Box::pin(save(outcome, text, full_chars, limit.chars, cx)).await,
        OverLimit::Cut => {
            let half = limit.chars / 2;
            let cut = ends(profile, &text, full_chars, half, limit.chars - half);
            Kept {
                outcome: with_text(outcome, cut).with_flag(Flag::Truncated),
                full_chars,
                saved_to: None,
            }
        }
        OverLimit::Error => {
            let what = format!(
                "the result is {full_chars} characters long, over the limit of {}. Ask for less: \
                 a page, a filter or a narrower query.",
                limit.chars
            );
            Kept {
                outcome: Outcome::error(Class::TooLarge, what),
                full_chars,
                saved_to: None,
            }
        }
    }
}

/// The limit for results of `tool`; none for those that keep their own measure.
fn limit_of(tool: &dyn Tool, profile: &Profile) -> Option<Limit> {
    /// Characters that one estimated token stands for.
    const CHARS_A_TOKEN: u64 = 4;
    if let Some(chars) = tool.max_result_chars() {
        return Some(Limit {
            chars,
            action: profile.result_action,
        });
    }
    let (chars, action) = match tool.name() {
        // A page of Read is made to fit by Read itself.
        "Read" => (None, OverLimit::Save),
        "Bash" => (profile.shell_result_limit, profile.shell_result_action),
        "Grep" => (profile.grep_result_limit, profile.grep_result_action),
        name if name.starts_with("mcp__") && profile.mcp_max_tokens.is_some() => (
            profile
                .mcp_max_tokens
                .map(|tokens| tokens.saturating_mul(CHARS_A_TOKEN)),
            profile.mcp_max_tokens_action,
        ),
        _ => (profile.result_limit, profile.result_action),
    };
    chars.map(|chars| Limit { chars, action })
}

/// The output of a failed command where the profile keeps only its two ends.
fn failed_shell(
    outcome: &Outcome,
    tool: &dyn Tool,
    profile: &Profile,
    full_chars: u64,
) -> Option<Outcome> {
    let (head, tail) = (FailedShellOutput::HEAD_CHARS, FailedShellOutput::TAIL_CHARS);
    let applies = profile.failed_shell_output == FailedShellOutput::HeadTail
        && tool.name() == "Bash"
        && outcome.is_error()
        && full_chars > head + tail;
    applies.then(|| {
        let cut = ends(profile, &outcome.text(), full_chars, head, tail);
        with_text(outcome.clone(), cut).with_flag(Flag::Truncated)
    })
}

/// The two ends of a text and how much is missing between them.
fn ends(profile: &Profile, text: &str, full_chars: u64, head: u64, tail: u64) -> String {
    let head = units::head(profile.char_unit, text, head);
    let tail = units::tail(profile.char_unit, text, tail);
    let kept = units::count(profile.char_unit, head) + units::count(profile.char_unit, tail);
    format!(
        "{head}\n[{} characters left out here]\n{tail}",
        full_chars - kept
    )
}

/// Saves the whole text and leaves a preview with the way to the rest.
async fn save(outcome: Outcome, text: String, full_chars: u64, limit: u64, cx: &ToolCx) -> Kept {
    let profile = &cx.env.profile;
    let path = format!("{}/{}.txt", cx.env.results_dir, file_name(&cx.call.id));
    if let Err(error) = cx.world.write_with_parents(&path, text.as_bytes()).await {
        let half = limit / 2;
        let cut = ends(profile, &text, full_chars, half, limit - half);
        let said = format!("The full result could not be saved ({error}).\n{cut}");
        return Kept {
            outcome: with_text(outcome, said).with_flag(Flag::Truncated),
            full_chars,
            saved_to: None,
        };
    }
    let mut preview = units::head(profile.char_unit, &text, profile.preview_chars);
    if profile.preview_cut == PreviewCut::Newline
        && let Some(end) = preview.rfind('\n')
    {
        preview = &preview[..end];
    }
    let shown = units::count(profile.char_unit, preview);
    let notice = format!(
        "[The result has {full_chars} characters, over the limit of {limit}. The whole of it is in \
         {path}: Read that file for the rest. Its first {shown} characters:]\n{preview}"
    );
    let outcome = with_text(outcome, notice).with_flag(Flag::Persisted);
    Kept {
        outcome,
        full_chars,
        saved_to: Some(path),
    }
}

/// The outcome with `text` in place of all its text; other blocks follow it.
fn with_text(mut outcome: Outcome, text: String) -> Outcome {
    outcome.content = match outcome.content {
        ResultContent::Text(_) => ResultContent::Text(text),
        ResultContent::Blocks(blocks) => {
            let others = blocks.into_iter().filter(|block| block.as_text().is_none());
            ResultContent::Blocks(std::iter::once(Block::text(text)).chain(others).collect())
        }
    };
    outcome
}

/// An id as a file name: every other character than letters, digits, `_`, `-` becomes `_`.
fn file_name(id: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '_' || c == '-' {
            c
        } else {
            '_'
        }
    };
    id.chars().map(plain).collect()
}
