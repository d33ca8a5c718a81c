//! The rules that a message breaks or keeps all by itself.

use super::{Findings, Rule, is_plain};
use crate::wire::block::Block;
use crate::wire::kind::{BlockKind, ToolResult, ToolUse, Ttl};
use crate::wire::message::{Message, Role};
use crate::wire::raw;

/// Gives the path of what is checked.
type Path<'a> = &'a dyn Fn() -> String;

/// Checks message `n` by itself.
pub(super) fn check(n: usize, message: &Message, out: &mut Findings) {
    // That is a complaint of its own.
    if is_empty(message) {
        return;
    }
    // An answer may hold a blank text beside other blocks: web search writes them
    // between citations, and the API takes them back.
    let is_blank = |block: &Block| block.as_text().is_some_and(|text| text.trim().is_empty());
    let blank_may = message.role == Role::Assistant && !message.content.iter().all(is_blank);
    for (m, block) in message.content.iter().enumerate() {
        // Worked out only for a complaint, and there is hardly ever one.
        let path: Path<'_> = &|| format!("messages.{n}.content.{m}");
        check_role(message.role, block, path, out);
        if let Some(text) = block.as_text() {
            check_text(text, blank_may, path, out);
        }
        check_block(block, path, out);
    }
}

/// Whether the message has nothing in it: no block, or the empty string.
pub(super) fn is_empty(message: &Message) -> bool {
    match &*message.content {
        [] => true,
        [block] => message.content.is_string() && block.as_text() == Some(""),
        _ => false,
    }
}

/// Whether the last block is a text that ends with a space.
pub(super) fn ends_with_space(message: &Message) -> bool {
    message
        .content
        .last()
        .and_then(Block::as_text)
        .is_some_and(|text| text.ends_with(char::is_whitespace))
}

/// Calls `look` with each block and each block within a result, with its path.
pub(super) fn each_block<'a>(
    n: usize,
    message: &'a Message,
    look: &mut dyn FnMut(&'a Block, &dyn Fn() -> String),
) {
    for (m, block) in message.content.iter().enumerate() {
        look(block, &|| format!("messages.{n}.content.{m}"));
        if let Some(result) = block.as_tool_result() {
            for (k, inner) in result.content.iter().enumerate() {
                look(inner, &|| {
                    format!("messages.{n}.content.{m}.tool_result.content.{k}")
                });
            }
        }
    }
}

fn check_role(role: Role, block: &Block, path: Path<'_>, out: &mut Findings) {
    let may = match block.kind() {
        BlockKind::Thinking { .. }
        | BlockKind::RedactedThinking
        | BlockKind::ToolUse(_)
        | BlockKind::ServerToolUse(_)
        | BlockKind::ServerToolResult(_)
        | BlockKind::McpToolUse(_)
        | BlockKind::McpToolResult { .. }
        | BlockKind::McpToolListing
        | BlockKind::Fallback => role == Role::Assistant,
        BlockKind::ToolResult(_) => role == Role::User,
        BlockKind::ToolAddition | BlockKind::ToolRemoval => role == Role::System,
        BlockKind::ToolReference { .. } | BlockKind::BrowserState => false,
        BlockKind::Text(_) | BlockKind::Unknown(_) | BlockKind::Malformed { .. } => true,
        BlockKind::Image
        | BlockKind::Document
        | BlockKind::SearchResult
        | BlockKind::ContainerUpload { .. }
        | BlockKind::Compaction => role != Role::System,
    };
    if !may {
        out.add(
            Rule::WrongRole,
            path(),
            format!(
                "a message of role `{}` may not hold a block of type `{}`",
                role.as_str(),
                block.type_name()
            ),
        );
    }
}

fn check_block(block: &Block, path: Path<'_>, out: &mut Findings) {
    match block.kind() {
        BlockKind::Malformed { kind, field } => {
            let at = if kind.is_empty() {
                format!("{}.{field}", path())
            } else {
                format!("{}.{kind}.{field}", path())
            };
            out.add(Rule::MissingField, at, "missing, or of the wrong type");
        }
        BlockKind::ToolUse(call) | BlockKind::ServerToolUse(call) | BlockKind::McpToolUse(call) => {
            check_call(block, call, path, out);
        }
        BlockKind::ToolResult(result) => check_result(result, path, out),
        _ => {}
    }
    check_cache(block, path, out);
}

fn check_text(text: &str, blank_may: bool, path: Path<'_>, out: &mut Findings) {
    if text.is_empty() {
        out.add(Rule::EmptyText, path(), "the text is empty");
    } else if text.trim().is_empty() && !blank_may {
        out.add(Rule::BlankText, path(), "the text is only whitespace");
    }
}

fn check_call(block: &Block, call: &ToolUse, path: Path<'_>, out: &mut Findings) {
    if !is_plain(&call.id) {
        out.add(
            Rule::CallIdCharacters,
            format!("{}.{}.id", path(), block.type_name()),
            "an id is made of letters, digits, `_` and `-`",
        );
    }
    // Of an input that did not parse, the block holds an object that records it.
    let is_object = || {
        raw::Fields::of(block.raw())
            .and_then(|fields| fields.get("input").map(|input| raw::is_object(input)))
            .unwrap_or(false)
    };
    if !call.parses && !is_object() {
        out.add(
            Rule::CallInput,
            format!("{}.{}.input", path(), block.type_name()),
            "the input is not an object",
        );
    }
}

fn check_result(result: &ToolResult, path: Path<'_>, out: &mut Findings) {
    let path = || format!("{}.tool_result", path());
    let blocks = &*result.content;
    let is_empty = blocks.iter().all(|block| block.as_text() == Some(""));
    if result.is_error && is_empty {
        out.add(
            Rule::EmptyError,
            path(),
            "a result that is an error needs content",
        );
    }
    if result.is_error && blocks.iter().any(|block| block.as_text().is_none()) {
        out.add(
            Rule::ErrorTextOnly,
            path(),
            "a result that is an error may hold only blocks of type `text`",
        );
    }
    for (k, block) in blocks.iter().enumerate() {
        let path = || format!("{}.content.{k}", path());
        match block.kind() {
            BlockKind::Text(text) => {
                if text.is_empty() && !result.content.is_string() && !result.is_error {
                    out.add(Rule::EmptyText, path(), "the text is empty");
                }
            }
            BlockKind::Image
            | BlockKind::SearchResult
            | BlockKind::Document
            | BlockKind::ToolReference { .. }
            | BlockKind::BrowserState
            | BlockKind::Unknown(_) => {}
            BlockKind::Malformed { kind, field } => {
                out.add(
                    Rule::MissingField,
                    format!("{}.{kind}.{field}", path()),
                    "missing, or of the wrong type",
                );
            }
            _ => out.add(
                Rule::ResultContent,
                path(),
                format!(
                    "a result may not hold a block of type `{}`",
                    block.type_name()
                ),
            ),
        }
        check_cache(block, &path, out);
    }
}

fn check_cache(block: &Block, path: Path<'_>, out: &mut Findings) {
    if block.cache_control().is_none() {
        return;
    }
    let why = match block.kind() {
        BlockKind::Text(text) if text.is_empty() => "an empty text cannot be cached",
        BlockKind::Thinking { .. } | BlockKind::RedactedThinking => {
            "thinking cannot be cached by itself"
        }
        _ => return,
    };
    out.add(Rule::CachePlace, format!("{}.cache_control", path()), why);
}

/// What of a request asks for a cache, counted in the order in which it is sent.
#[derive(Debug, Clone, Default)]
pub(super) struct Caches {
    pub count: usize,
    pub five_minutes: bool,
    pub first_hour: Option<String>,
    /// The first that is cached for an hour after one for minutes.
    pub misplaced: Option<String>,
}

impl Caches {
    pub fn add(&mut self, ttl: Ttl, path: &dyn Fn() -> String) {
        self.count += 1;
        match ttl {
            Ttl::FiveMinutes => self.five_minutes = true,
            Ttl::OneHour => {
                if self.five_minutes && self.misplaced.is_none() {
                    self.misplaced = Some(path());
                }
                if self.first_hour.is_none() {
                    self.first_hour = Some(path());
                }
            }
            Ttl::Other => {}
        }
    }
}
