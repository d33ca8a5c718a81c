//! What a content block is.

use super::message::Content;
use super::raw;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::sync::Arc;

/// The field under which history keeps an input that is not a JSON object
/// (`protocol.md §4.1`).
pub const UNPARSED_INPUT: &str = "__unparsedToolInput";

/// What a block is, as far as the runtime cares; the rest is in [`Block::raw`].
#[derive(Debug, Clone, PartialEq)]
pub enum BlockKind {
    Text(Arc<str>),
    Image,
    Document,
    SearchResult,
    Thinking {
        thinking: Arc<str>,
        signature: Arc<str>,
    },
    RedactedThinking,
    /// A call that the client executes.
    ToolUse(ToolUse),
    ToolResult(ToolResult),
    /// A call that the vendor executes.
    ServerToolUse(ToolUse),
    /// The result of a call that the vendor executed.
    ServerToolResult(ServerToolResult),
    /// A call that the vendor sends to an MCP server.
    McpToolUse(ToolUse),
    McpToolResult {
        tool_use_id: Arc<str>,
        is_error: bool,
    },
    McpToolListing,
    ContainerUpload {
        file_id: Arc<str>,
    },
    Compaction,
    Fallback,
    /// Names a deferred tool whose schema is to be loaded.
    ToolReference {
        tool_name: Arc<str>,
    },
    BrowserState,
    ToolAddition,
    ToolRemoval,
    /// A type that is not in the list above.
    Unknown(Arc<str>),
    /// No object, no type, or a field missing that its type demands.
    Malformed {
        /// The type, empty if there is none.
        kind: Arc<str>,
        /// The field that is missing or of the wrong shape.
        field: &'static str,
    },
}

/// A call as the model asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUse {
    pub id: Arc<str>,
    pub name: Arc<str>,
    /// The text of the input as the model emitted it; it may be no JSON at all.
    pub input: Arc<str>,
    /// Whether `input` is a JSON object.
    pub parses: bool,
    /// The toolset the name is a member of, if it is of one.
    pub toolset_name: Option<Arc<str>>,
    /// The MCP server, of an `mcp_tool_use`.
    pub server_name: Option<Arc<str>>,
    /// Whether code that the vendor executes made the call, not the model itself.
    pub called_by_code: bool,
}

/// What goes back to the model for a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    pub tool_use_id: Arc<str>,
    /// Empty if there is none.
    pub content: Content,
    pub is_error: bool,
}

/// The result of a call that the vendor executed, paired by id and not by place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerToolResult {
    pub tool_use_id: Arc<str>,
    /// The block's type, such as `web_search_tool_result`.
    pub kind: &'static str,
    /// The error code, if it failed.
    pub error_code: Option<Arc<str>>,
}

/// How long a cache entry lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ttl {
    FiveMinutes,
    OneHour,
    /// None that is known.
    Other,
}

impl Ttl {
    /// Reads a `cache_control` object; `None` if it is `null`.
    pub fn of(cache_control: &RawValue) -> Option<Ttl> {
        if raw::is_null(cache_control) {
            return None;
        }
        let fields = raw::Fields::of(cache_control).unwrap_or_default();
        Some(match fields.text("ttl").as_deref() {
            Some("1h") => Ttl::OneHour,
            Some("5m") => Ttl::FiveMinutes,
            Some(_) => Ttl::Other,
            None => Ttl::FiveMinutes,
        })
    }
}

/// The types of results of vendor-executed calls.
const SERVER_RESULTS: [&str; 7] = [
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "advisor_tool_result",
];

impl BlockKind {
    /// The type as it is written; empty if there is none.
    pub fn type_name(&self) -> &str {
        match self {
            BlockKind::Text(_) => "text",
            BlockKind::Image => "image",
            BlockKind::Document => "document",
            BlockKind::SearchResult => "search_result",
            BlockKind::Thinking { .. } => "thinking",
            BlockKind::RedactedThinking => "redacted_thinking",
            BlockKind::ToolUse(_) => "tool_use",
            BlockKind::ToolResult(_) => "tool_result",
            BlockKind::ServerToolUse(_) => "server_tool_use",
            BlockKind::ServerToolResult(result) => result.kind,
            BlockKind::McpToolUse(_) => "mcp_tool_use",
            BlockKind::McpToolResult { .. } => "mcp_tool_result",
            BlockKind::McpToolListing => "mcp_tool_listing",
            BlockKind::ContainerUpload { .. } => "container_upload",
            BlockKind::Compaction => "compaction",
            BlockKind::Fallback => "fallback",
            BlockKind::ToolReference { .. } => "tool_reference",
            BlockKind::BrowserState => "browser_state",
            BlockKind::ToolAddition => "tool_addition",
            BlockKind::ToolRemoval => "tool_removal",
            BlockKind::Unknown(kind) | BlockKind::Malformed { kind, .. } => kind,
        }
    }
}

/// What a block says.
pub(crate) struct Reading {
    pub kind: BlockKind,
    /// What its `cache_control` asks for.
    pub cache: Option<Ttl>,
}

/// The object that stands for an input that is no JSON object: its text and the
/// text's length in UTF-16 units.
pub fn unparsed_input(text: &str) -> Arc<RawValue> {
    #[derive(Serialize)]
    struct Kept<'a> {
        raw: &'a str,
        len: usize,
    }
    let kept = Kept {
        raw: text,
        len: text.encode_utf16().count(),
    };
    let mut fields = raw::Fields::new();
    fields.set(UNPARSED_INPUT, raw::of(&kept));
    fields.to_raw()
}

/// The input as a JSON object, by its own bytes if it is one.
pub(crate) fn input_object(text: &str) -> Arc<RawValue> {
    let text = text.trim_matches([' ', '\t', '\n', '\r']);
    if text.is_empty() {
        return raw::from_text("{}").unwrap_or_else(raw::null);
    }
    raw::from_text(text)
        .filter(|raw| raw::is_object(raw))
        .unwrap_or_else(|| unparsed_input(text))
}

/// The fields that decide what a block is, still unread.
#[derive(Default, Deserialize)]
struct Known<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    thinking: Option<&'a RawValue>,
    #[serde(borrow, default)]
    signature: Option<&'a RawValue>,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    caller: Option<&'a RawValue>,
    #[serde(borrow, default)]
    toolset_name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    server_name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_use_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    is_error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    file_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    cache_control: Option<&'a RawValue>,
}

impl ToolUse {
    /// The call of a block that has these fields and no others; `None` if the input is
    /// one that stands for another.
    pub(super) fn of_object(id: Arc<str>, name: Arc<str>, input: &RawValue) -> Option<ToolUse> {
        kept_input(input).is_none().then(|| ToolUse {
            id,
            name,
            input: Arc::from(input.get()),
            parses: true,
            toolset_name: None,
            server_name: None,
            called_by_code: false,
        })
    }
}

impl Reading {
    /// Reads a block; it need not make sense.
    pub fn of(raw: &RawValue) -> Reading {
        let Ok(known) = serde_json::from_str::<Known<'_>>(raw.get()) else {
            return Reading {
                kind: BlockKind::Malformed {
                    kind: Arc::from(""),
                    field: "type",
                },
                cache: None,
            };
        };
        let type_name = known.kind.and_then(raw::text).unwrap_or_default();
        let kind = known
            .read(&type_name)
            .unwrap_or_else(|field| BlockKind::Malformed {
                kind: Arc::from(type_name),
                field,
            });
        Reading {
            kind,
            cache: known.cache_control.and_then(Ttl::of),
        }
    }
}

fn optional(raw: Option<&RawValue>) -> Option<Arc<str>> {
    raw.and_then(raw::text).map(Arc::from)
}

fn required(raw: Option<&RawValue>, field: &'static str) -> Result<Arc<str>, &'static str> {
    optional(raw).ok_or(field)
}

impl Known<'_> {
    fn read(&self, type_name: &str) -> Result<BlockKind, &'static str> {
        Ok(match type_name {
            "" => return Err("type"),
            "text" => BlockKind::Text(required(self.text, "text")?),
            "image" => BlockKind::Image,
            "document" => BlockKind::Document,
            "search_result" => BlockKind::SearchResult,
            "thinking" => BlockKind::Thinking {
                thinking: required(self.thinking, "thinking")?,
                signature: required(self.signature, "signature")?,
            },
            "redacted_thinking" => BlockKind::RedactedThinking,
            "tool_use" => BlockKind::ToolUse(self.call()?),
            "server_tool_use" => BlockKind::ServerToolUse(self.call()?),
            "mcp_tool_use" => BlockKind::McpToolUse(self.call()?),
            "tool_result" => BlockKind::ToolResult(ToolResult {
                tool_use_id: required(self.tool_use_id, "tool_use_id")?,
                content: match self.content {
                    Some(raw) => Content::from_raw(raw).ok_or("content")?,
                    None => Content::default(),
                },
                is_error: self.is_error.and_then(raw::boolean).unwrap_or(false),
            }),
            "mcp_tool_result" => BlockKind::McpToolResult {
                tool_use_id: required(self.tool_use_id, "tool_use_id")?,
                is_error: self.is_error.and_then(raw::boolean).unwrap_or(false),
            },
            "mcp_tool_listing" => BlockKind::McpToolListing,
            "container_upload" => BlockKind::ContainerUpload {
                file_id: required(self.file_id, "file_id")?,
            },
            "compaction" => BlockKind::Compaction,
            "fallback" => BlockKind::Fallback,
            "tool_reference" => BlockKind::ToolReference {
                tool_name: required(self.tool_name, "tool_name")?,
            },
            "browser_state" => BlockKind::BrowserState,
            "tool_addition" => BlockKind::ToolAddition,
            "tool_removal" => BlockKind::ToolRemoval,
            other => match SERVER_RESULTS.iter().find(|kind| **kind == other) {
                Some(kind) => BlockKind::ServerToolResult(ServerToolResult {
                    tool_use_id: required(self.tool_use_id, "tool_use_id")?,
                    kind,
                    error_code: self
                        .content
                        .and_then(raw::Fields::of)
                        .and_then(|content| content.text("error_code"))
                        .map(Arc::from),
                }),
                None => BlockKind::Unknown(Arc::from(other)),
            },
        })
    }

    fn call(&self) -> Result<ToolUse, &'static str> {
        // One documented stream example leaves the input of a server call out.
        let (input, parses) = match self.input {
            None => (Arc::from("{}"), true),
            Some(raw) => match kept_input(raw) {
                Some(text) => (Arc::from(text), false),
                None => (Arc::from(raw.get()), raw::is_object(raw)),
            },
        };
        Ok(ToolUse {
            id: required(self.id, "id")?,
            name: required(self.name, "name")?,
            input,
            parses,
            toolset_name: optional(self.toolset_name),
            server_name: optional(self.server_name),
            called_by_code: self
                .caller
                .and_then(raw::Fields::of)
                .and_then(|caller| caller.text("type"))
                .is_some_and(|kind| kind.starts_with("code_execution")),
        })
    }
}

/// The text that [`unparsed_input`] recorded, if `raw` is such a record.
fn kept_input(raw: &RawValue) -> Option<String> {
    if !raw.get().contains(UNPARSED_INPUT) {
        return None;
    }
    let kept = raw::Fields::of(raw)?.take(UNPARSED_INPUT)?;
    raw::Fields::of(&kept)?.text("raw")
}
