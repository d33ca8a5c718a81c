//! One entry of a recording: the fields of a transcript line or of a stream-json
//! event that matter for calls, everything else skipped unread.
//!
//! `semantics.md §7.2` lists the transcript's fields; stream-json says the same
//! with `session_id`, `parent_tool_use_id` and `tool_use_result`.

use super::raw::{Bool, Object, Raw, Str, lenient_object};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

lenient_object! {
    /// The fields of one entry.
    Line {
        kind: Str<'a> = "type",
        subtype: Str<'a> = "subtype",
        uuid: Str<'a> = "uuid",
        parent_uuid: Str<'a> = "parentUuid",
        session: Str<'a> = "sessionId",
        stream_session: Str<'a> = "session_id",
        cwd: Str<'a> = "cwd",
        version: Str<'a> = "version",
        init_version: Str<'a> = "claude_code_version",
        is_sidechain: Bool = "isSidechain",
        is_meta: Bool = "isMeta",
        is_compact_summary: Bool = "isCompactSummary",
        is_api_error: Bool = "isApiErrorMessage",
        agent: Str<'a> = "agentId",
        parent_tool_use: Str<'a> = "parent_tool_use_id",
        source_assistant: Str<'a> = "sourceToolAssistantUUID",
        source_tool_use: Str<'a> = "sourceToolUseID",
        denial: Str<'a> = "toolDenialKind",
        permission_mode: Str<'a> = "permissionMode",
        message: Object<Message<'a>> = "message",
        tool_use_result: Option<Raw<'a>> = "toolUseResult",
        stream_tool_use_result: Option<Raw<'a>> = "tool_use_result",
        attachment: Option<Raw<'a>> = "attachment",
        data: Option<Raw<'a>> = "data",
        permission_denials: Option<Raw<'a>> = "permission_denials",
        // A call as a line of its own, as one third-party writer has it.
        name: Str<'a> = "name",
        input: Option<Raw<'a>> = "input",
        output: Option<Raw<'a>> = "output",
        is_error: Bool = "is_error",
        // How a headless run ended.
        result: Option<Raw<'a>> = "result",
        // A turn with its calls inside, as one viewer's export has it.
        user_text: Option<Raw<'a>> = "user_text",
        blocks: Option<Raw<'a>> = "blocks",
    }
}

lenient_object! {
    /// The message of an entry.
    Message {
        id: Str<'a> = "id",
        model: Str<'a> = "model",
        content: Content<'a> = "content",
    }
}

/// What a message holds.
#[derive(Debug, Clone, Default)]
pub(super) enum Content<'a> {
    #[default]
    Absent,
    Text(Cow<'a, str>),
    /// Elements that are no objects are left out.
    Blocks(Vec<Block<'a>>),
}

lenient_object! {
    /// One content block.
    Block {
        kind: Str<'a> = "type",
        id: Str<'a> = "id",
        name: Str<'a> = "name",
        input: Option<Raw<'a>> = "input",
        tool_use_id: Str<'a> = "tool_use_id",
        content: Option<Raw<'a>> = "content",
        is_error: Bool = "is_error",
        text: Option<Raw<'a>> = "text",
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text or content blocks")
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Borrowed(text)))
    }
    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Owned(text.to_owned())))
    }
    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Owned(text)))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut blocks = Vec::new();
        while let Some(element) = seq.next_element::<Object<Block<'de>>>()? {
            blocks.extend(element.0);
        }
        Ok(Content::Blocks(blocks))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Content::Absent)
    }
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Content::Absent)
    }
    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Content::Absent)
    }
    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Content::Absent)
    }
    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Content::Absent)
    }
    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Content::Absent)
    }
}

impl<'a> super::lines::Object<'a> for Line<'a> {
    fn is_known(&self) -> bool {
        self.kind.0.is_some()
            || self.uuid.0.is_some()
            || self.blocks.is_some()
            || self.result.is_some()
    }

    fn is_outermost(&self) -> bool {
        self.session.0.is_some() || self.stream_session.0.is_some() || self.user_text.is_some()
    }
}

impl<'a> Line<'a> {
    /// The structured result that the entry carries, by either of its names.
    pub fn structured(&self) -> Option<Raw<'a>> {
        self.tool_use_result.or(self.stream_tool_use_result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_no_object_costs_only_itself() {
        let line: Line =
            serde_json::from_str(r#"{"type":"user","uuid":"u","message":"error"}"#).unwrap();
        assert_eq!(line.kind.0.as_deref(), Some("user"));
        assert!(line.message.0.is_none());
    }

    #[test]
    fn blocks_that_are_no_objects_are_left_out() {
        let line: Line = serde_json::from_str(
            r#"{"type":"user","message":{"content":["odd",7,{"type":"text","text":"a"}]}}"#,
        )
        .unwrap();
        let Some(Message {
            content: Content::Blocks(blocks),
            ..
        }) = line.message.0
        else {
            panic!("blocks expected");
        };
        assert_eq!(blocks.len(), 1);
        assert_eq!(blocks[0].kind.0.as_deref(), Some("text"));
    }
}
