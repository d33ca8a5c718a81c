//! A content block: what it says, and the bytes it came in.

use super::kind::{BlockKind, Reading, ToolResult, ToolUse, Ttl, input_object};
use super::message::Content;
use super::raw;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A content block of a message (`protocol.md §2.2, §3.1`).
///
/// It is written as the bytes it was read from. What it says is worked out when
/// first asked for. Cheap to clone.
#[derive(Clone)]
pub struct Block(Arc<Inner>);

/// At least one of the two is there from the beginning, and the other is made of it
/// when it is first asked for.
struct Inner {
    raw: OnceLock<Arc<RawValue>>,
    read: OnceLock<Reading>,
}

impl Block {
    /// Takes a block as it came, byte for byte. It need not make sense.
    pub fn from_raw(raw: Arc<RawValue>) -> Block {
        Block(Arc::new(Inner {
            raw: raw.into(),
            read: OnceLock::new(),
        }))
    }

    /// Makes a text block. Its bytes are made when they are first asked for: of the text
    /// of a result, they never are.
    pub fn text(text: impl Into<Arc<str>>) -> Block {
        let reading = Reading {
            kind: BlockKind::Text(text.into()),
            cache: None,
        };
        Block(Arc::new(Inner {
            raw: OnceLock::new(),
            read: reading.into(),
        }))
    }

    /// Makes a text block of a JSON string, whose bytes it keeps.
    pub(crate) fn text_of_raw(string: &RawValue) -> Block {
        let text = format!(r#"{{"type":"text","text":{}}}"#, string.get());
        Block::from_raw(raw::from_text(text).unwrap_or_else(raw::null))
    }

    /// Makes a thinking block.
    pub fn thinking(thinking: impl Into<Arc<str>>, signature: impl Into<Arc<str>>) -> Block {
        #[derive(Serialize)]
        struct Out<'a> {
            r#type: &'static str,
            thinking: &'a str,
            signature: &'a str,
        }
        let (thinking, signature) = (thinking.into(), signature.into());
        let raw = raw::of(&Out {
            r#type: "thinking",
            thinking: &thinking,
            signature: &signature,
        });
        Block::made(
            raw,
            BlockKind::Thinking {
                thinking,
                signature,
            },
        )
    }

    /// Makes a call of `input`, the text that the model emitted; nothing but spaces counts as `{}`.
    ///
    /// A text that is no JSON object stands in the block as an object that records
    /// it, because the API takes nothing else: see [`unparsed_input`](super::kind::unparsed_input).
    pub fn tool_use(
        id: impl Into<Arc<str>>,
        name: impl Into<Arc<str>>,
        input: impl AsRef<str>,
    ) -> Block {
        #[derive(Serialize)]
        struct Out<'a> {
            r#type: &'static str,
            id: &'a str,
            name: &'a str,
            input: &'a RawValue,
        }
        let (id, name) = (id.into(), name.into());
        let input = input_object(input.as_ref());
        let raw = raw::of(&Out {
            r#type: "tool_use",
            id: &id,
            name: &name,
            input: &input,
        });
        match ToolUse::of_object(id, name, &input) {
            Some(call) => Block::made(raw, BlockKind::ToolUse(call)),
            None => Block::from_raw(raw),
        }
    }

    /// Makes the result of the call `tool_use_id`; `is_error` is written if it is so.
    pub fn tool_result(
        tool_use_id: impl Into<Arc<str>>,
        content: impl Into<Content>,
        is_error: bool,
    ) -> Block {
        #[derive(Serialize)]
        struct Out<'a> {
            r#type: &'static str,
            tool_use_id: &'a str,
            content: &'a Content,
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            is_error: bool,
        }
        let (tool_use_id, content) = (tool_use_id.into(), content.into());
        let raw = raw::of(&Out {
            r#type: "tool_result",
            tool_use_id: &tool_use_id,
            content: &content,
            is_error,
        });
        let result = ToolResult {
            tool_use_id,
            content,
            is_error,
        };
        Block::made(raw, BlockKind::ToolResult(result))
    }

    /// Makes a reference to a deferred tool.
    pub fn tool_reference(tool_name: impl Into<Arc<str>>) -> Block {
        #[derive(Serialize)]
        struct Out<'a> {
            r#type: &'static str,
            tool_name: &'a str,
        }
        let tool_name = tool_name.into();
        let raw = raw::of(&Out {
            r#type: "tool_reference",
            tool_name: &tool_name,
        });
        Block::made(raw, BlockKind::ToolReference { tool_name })
    }

    fn made(raw: Arc<RawValue>, kind: BlockKind) -> Block {
        Block(Arc::new(Inner {
            raw: raw.into(),
            read: Reading { kind, cache: None }.into(),
        }))
    }

    /// The block's bytes.
    pub fn raw(&self) -> &Arc<RawValue> {
        #[derive(Serialize)]
        struct Text<'a> {
            r#type: &'static str,
            text: &'a str,
        }
        self.0.raw.get_or_init(|| match &self.0.read.get() {
            Some(Reading {
                kind: BlockKind::Text(text),
                ..
            }) => raw::of(&Text {
                r#type: "text",
                text,
            }),
            // Only of a text are the bytes not there from the beginning.
            _ => raw::null(),
        })
    }

    /// The text, if it is all there is: the block has never been bytes.
    pub(super) fn only_text(&self) -> Option<&str> {
        match self.0.raw.get() {
            None => self.as_text(),
            Some(_) => None,
        }
    }

    /// What the block is.
    pub fn kind(&self) -> &BlockKind {
        &self.reading().kind
    }

    /// How long the cache is to hold what ends with this block, if it asks for that.
    pub fn cache_control(&self) -> Option<Ttl> {
        self.reading().cache
    }

    /// Its type as it is written; empty if it has none.
    pub fn type_name(&self) -> &str {
        self.kind().type_name()
    }

    pub fn as_text(&self) -> Option<&str> {
        match self.kind() {
            BlockKind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The call, if the client is to execute it.
    pub fn as_tool_use(&self) -> Option<&ToolUse> {
        match self.kind() {
            BlockKind::ToolUse(call) => Some(call),
            _ => None,
        }
    }

    pub fn as_tool_result(&self) -> Option<&ToolResult> {
        match self.kind() {
            BlockKind::ToolResult(result) => Some(result),
            _ => None,
        }
    }

    fn reading(&self) -> &Reading {
        self.0.read.get_or_init(|| Reading::of(self.raw()))
    }
}

impl PartialEq for Block {
    /// Whether the bytes are the same.
    fn eq(&self, other: &Block) -> bool {
        raw::same(self.raw(), other.raw())
    }
}

impl Eq for Block {}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.raw().get())
    }
}

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Block, D::Error> {
        Ok(Block::from_raw(Arc::from(Box::<RawValue>::deserialize(
            deserializer,
        )?)))
    }
}
