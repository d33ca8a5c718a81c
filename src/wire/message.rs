//! A message of a conversation, and what it contains.

use super::block::Block;
use super::kind::{BlockKind, ToolUse};
use super::raw::{self, Fields};
use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    User,
    Assistant,
    /// Only in the middle of a conversation (`protocol.md §2.2`).
    System,
}

impl Role {
    pub fn as_str(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::System => "system",
        }
    }
}

/// Blocks, or the one text that a string stands for. Reads as a slice of blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Content {
    blocks: Vec<Block>,
    /// Written as a string, as long as it is one text block without more fields.
    string: bool,
}

impl Content {
    /// Reads a string or an array of blocks; `None` for anything else but `null`.
    pub fn from_raw(raw: &RawValue) -> Option<Content> {
        match raw.get().as_bytes().first() {
            Some(b'"') => Some(Content {
                blocks: vec![Block::text_of_raw(raw)],
                string: true,
            }),
            Some(b'[') => serde_json::from_str::<Vec<Block>>(raw.get())
                .ok()
                .map(Content::from),
            _ => raw::is_null(raw).then(Content::default),
        }
    }

    /// The content as JSON: a string or an array of blocks.
    pub fn to_raw(&self) -> Arc<RawValue> {
        match self.as_string() {
            Some(string) => raw::of(&string),
            None => raw::of(&self.blocks),
        }
    }

    /// Whether it is written as a string.
    pub fn is_string(&self) -> bool {
        self.as_string().is_some()
    }

    /// All text in it, blocks that are not text left out, joined by line ends.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.blocks.iter().filter_map(Block::as_text).collect();
        texts.join("\n")
    }

    pub fn push(&mut self, block: Block) {
        self.blocks.push(block);
    }

    /// What it is written as, if that is a string.
    fn as_string(&self) -> Option<AsString<'_>> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct OnlyText<'a> {
            #[serde(borrow, rename = "type")]
            _type: &'a RawValue,
            #[serde(borrow)]
            text: &'a RawValue,
        }
        let [block] = self.blocks.as_slice() else {
            return None;
        };
        if !self.string || !matches!(block.kind(), BlockKind::Text(_)) {
            return None;
        }
        if let Some(text) = block.only_text() {
            return Some(AsString::Text(text));
        }
        let only: OnlyText<'_> = serde_json::from_str(block.raw().get()).ok()?;
        Some(AsString::Json(only.text))
    }
}

/// A content that is written as a string.
#[derive(Serialize)]
#[serde(untagged)]
enum AsString<'a> {
    Text(&'a str),
    /// The bytes it came in.
    Json(&'a RawValue),
}

impl Deref for Content {
    type Target = [Block];
    fn deref(&self) -> &[Block] {
        &self.blocks
    }
}

impl DerefMut for Content {
    fn deref_mut(&mut self) -> &mut [Block] {
        &mut self.blocks
    }
}

impl From<Vec<Block>> for Content {
    fn from(blocks: Vec<Block>) -> Content {
        Content {
            blocks,
            string: false,
        }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Content {
        Content {
            blocks: vec![Block::text(text)],
            string: true,
        }
    }
}

impl From<String> for Content {
    fn from(text: String) -> Content {
        Content::from(text.as_str())
    }
}

impl<'a> IntoIterator for &'a Content {
    type Item = &'a Block;
    type IntoIter = std::slice::Iter<'a, Block>;
    fn into_iter(self) -> Self::IntoIter {
        self.blocks.iter()
    }
}

impl IntoIterator for Content {
    type Item = Block;
    type IntoIter = std::vec::IntoIter<Block>;
    fn into_iter(self) -> Self::IntoIter {
        self.blocks.into_iter()
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_string() {
            Some(text) => text.serialize(serializer),
            None => self.blocks.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Content, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Content::from_raw(&raw)
            .ok_or_else(|| D::Error::custom("content is neither a string nor an array of blocks"))
    }
}

/// A message. Written as role, content, then what else it had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub role: Role,
    pub content: Content,
    /// Fields that are not named above.
    pub extra: Fields,
}

impl Message {
    pub fn new(role: Role, content: impl Into<Content>) -> Message {
        Message {
            role,
            content: content.into(),
            extra: Fields::new(),
        }
    }

    /// Makes a user message of blocks.
    pub fn user(blocks: Vec<Block>) -> Message {
        Message::new(Role::User, blocks)
    }

    /// Makes a user message of one text block.
    pub fn user_text(text: impl Into<Arc<str>>) -> Message {
        Message::user(vec![Block::text(text)])
    }

    /// Makes an assistant message of blocks.
    pub fn assistant(blocks: Vec<Block>) -> Message {
        Message::new(Role::Assistant, blocks)
    }

    /// The calls that the client is to execute, in their order.
    pub fn tool_uses(&self) -> impl Iterator<Item = &ToolUse> {
        self.content.iter().filter_map(Block::as_tool_use)
    }

    /// All text in it, other blocks left out, joined by line ends.
    pub fn text(&self) -> String {
        self.content.text()
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", &self.role)?;
        map.serialize_entry("content", &self.content)?;
        self.extra.write(&mut map)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Message, D::Error> {
        let mut extra = Fields::deserialize(deserializer)?;
        let role = extra
            .take("role")
            .ok_or_else(|| D::Error::missing_field("role"))?;
        let content = extra
            .take("content")
            .ok_or_else(|| D::Error::missing_field("content"))?;
        Ok(Message {
            role: serde_json::from_str(role.get()).map_err(D::Error::custom)?,
            content: serde_json::from_str(content.get()).map_err(D::Error::custom)?,
            extra,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(text: &str) -> Message {
        let message: Message = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&message).unwrap(), text);
        message
    }

    #[test]
    fn a_string_stays_a_string() {
        let message = same(r#"{"role":"assistant","content":"a\u0062"}"#);
        assert_eq!(message.content[0].as_text(), Some("ab"));
    }

    #[test]
    fn blocks_keep_their_bytes() {
        same(
            r#"{"role":"assistant","content":[{ "text": "\u00e9" ,"type":"text"},{"type":"new_kind","n":1e400}],"clear_at":"never"}"#,
        );
    }

    #[test]
    fn a_second_block_makes_it_an_array() {
        let mut content = Content::from("one");
        content.push(Block::text("two"));
        assert_eq!(
            content.to_raw().get(),
            r#"[{"type":"text","text":"one"},{"type":"text","text":"two"}]"#
        );
    }

    #[test]
    fn an_input_that_does_not_parse_is_kept() {
        let block = Block::tool_use("toolu_1", "Read", r#"{"file_path": "a"#);
        assert_eq!(
            block.raw().get(),
            r#"{"type":"tool_use","id":"toolu_1","name":"Read","input":{"__unparsedToolInput":{"raw":"{\"file_path\": \"a","len":16}}}"#
        );
        let call = block.as_tool_use().unwrap();
        assert_eq!(&*call.input, r#"{"file_path": "a"#);
        assert!(!call.parses);
        let again: Block = serde_json::from_str(block.raw().get()).unwrap();
        assert_eq!(again.as_tool_use(), Some(call));
    }

    #[test]
    fn an_input_keeps_its_bytes() {
        let block = Block::tool_use(
            "toolu_1",
            "T",
            r#"{ "a":1e400, "b" : 12345678901234567890.0}"#,
        );
        let call = block.as_tool_use().unwrap();
        assert_eq!(
            &*call.input,
            r#"{ "a":1e400, "b" : 12345678901234567890.0}"#
        );
        assert!(call.parses);
        assert_eq!(
            &*Block::tool_use("t", "T", "").as_tool_use().unwrap().input,
            "{}"
        );
    }
}
