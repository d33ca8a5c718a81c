//! A whole answer of the API.

use super::block::Block;
use super::kind::ToolUse;
use super::message::{Content, Message, Role};
use super::raw::{self, Fields};
use super::usage::Usage;
use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Why the model stopped (`protocol.md §3`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum StopReason {
    EndTurn,
    MaxTokens,
    StopSequence,
    ToolUse,
    /// The vendor's own loop hit its limit: send the answer back as it is.
    PauseTurn,
    Refusal,
    ModelContextWindowExceeded,
    /// A beta's, after a pause for compaction.
    Compaction,
    /// None was given: the answer was cut.
    #[default]
    Absent,
    Unknown(String),
}

impl StopReason {
    /// The word as the API writes it; `null` if none was given.
    pub fn as_str(&self) -> &str {
        match self {
            StopReason::EndTurn => "end_turn",
            StopReason::MaxTokens => "max_tokens",
            StopReason::StopSequence => "stop_sequence",
            StopReason::ToolUse => "tool_use",
            StopReason::PauseTurn => "pause_turn",
            StopReason::Refusal => "refusal",
            StopReason::ModelContextWindowExceeded => "model_context_window_exceeded",
            StopReason::Compaction => "compaction",
            StopReason::Absent => "null",
            StopReason::Unknown(word) => word,
        }
    }

    /// The stop reason that `word` spells, any other kept.
    pub fn from_word(word: &str) -> StopReason {
        match word {
            "end_turn" => StopReason::EndTurn,
            "max_tokens" => StopReason::MaxTokens,
            "stop_sequence" => StopReason::StopSequence,
            "tool_use" => StopReason::ToolUse,
            "pause_turn" => StopReason::PauseTurn,
            "refusal" => StopReason::Refusal,
            "model_context_window_exceeded" => StopReason::ModelContextWindowExceeded,
            "compaction" => StopReason::Compaction,
            other => StopReason::Unknown(other.to_owned()),
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for StopReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            StopReason::Absent => serializer.serialize_none(),
            other => serializer.serialize_str(other.as_str()),
        }
    }
}

impl<'de> Deserialize<'de> for StopReason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<StopReason, D::Error> {
        let word = Option::<String>::deserialize(deserializer)?;
        Ok(word.map_or(StopReason::Absent, |word| StopReason::from_word(&word)))
    }
}

/// An assistant's message as the API answers it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Response {
    pub id: String,
    pub model: String,
    pub content: Vec<Block>,
    pub stop_reason: StopReason,
    pub stop_sequence: Option<String>,
    pub usage: Usage,
    /// Fields that are not named above, among them `stop_details`, `container`,
    /// `diagnostics` and `context_management`.
    pub extra: Fields,
}

impl Response {
    /// The message that goes into the conversation: the same blocks.
    pub fn to_message(&self) -> Message {
        Message::assistant(self.content.clone())
    }

    /// The calls that the client is to execute, in their order.
    pub fn tool_uses(&self) -> impl Iterator<Item = &ToolUse> {
        self.content.iter().filter_map(Block::as_tool_use)
    }
}

impl Serialize for Response {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("type", "message")?;
        map.serialize_entry("role", &Role::Assistant)?;
        map.serialize_entry("model", &self.model)?;
        map.serialize_entry("content", &self.content)?;
        map.serialize_entry("stop_reason", &self.stop_reason)?;
        map.serialize_entry("stop_sequence", &self.stop_sequence)?;
        map.serialize_entry("usage", &self.usage)?;
        self.extra.write(&mut map)?;
        map.end()
    }
}

impl Response {
    /// Reads the fields of a message; those of ours that are absent are empty.
    ///
    /// # Errors
    ///
    /// A field of ours has the wrong shape; the text names it.
    pub fn from_fields(mut fields: Fields) -> Result<Response, String> {
        fn read<T: serde::de::DeserializeOwned + Default>(
            fields: &mut Fields,
            key: &str,
        ) -> Result<T, String> {
            match fields.take(key) {
                None => Ok(T::default()),
                Some(value) if raw::is_null(&value) => Ok(T::default()),
                Some(value) => {
                    serde_json::from_str(value.get()).map_err(|error| format!("`{key}`: {error}"))
                }
            }
        }
        fields.take("type");
        fields.take("role");
        let content: Content = read(&mut fields, "content")?;
        Ok(Response {
            id: read(&mut fields, "id")?,
            model: read(&mut fields, "model")?,
            content: content.into_iter().collect(),
            stop_reason: read(&mut fields, "stop_reason")?,
            stop_sequence: read(&mut fields, "stop_sequence")?,
            usage: read(&mut fields, "usage")?,
            extra: fields,
        })
    }
}

impl<'de> Deserialize<'de> for Response {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Response, D::Error> {
        Response::from_fields(Fields::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stop_reason_reads_back() {
        for word in [
            "end_turn",
            "max_tokens",
            "stop_sequence",
            "tool_use",
            "pause_turn",
            "refusal",
            "model_context_window_exceeded",
            "compaction",
        ] {
            let reason = StopReason::from_word(word);
            assert!(!matches!(reason, StopReason::Unknown(_)), "{word}");
            assert_eq!(reason.as_str(), word);
        }
        assert_eq!(StopReason::from_word("new").as_str(), "new");
    }

    #[test]
    fn a_response_keeps_what_it_does_not_know() {
        let text = r#"{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":2},"stop_details":null,"new":{"b":1,"a":2}}"#;
        let response: Response = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&response).unwrap(), text);
    }
}
