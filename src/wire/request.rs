//! The body of a request.

use super::message::{Content, Message};
use super::raw::{self, Fields};
use super::tool::ToolDef;
use serde::de::{DeserializeOwned, Error as _};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::sync::Arc;

/// The body of `POST /v1/messages` (`protocol.md §2.1`).
///
/// Written in the order of its fields here (what changes least comes first), then
/// what else it had.
#[derive(Debug, Clone, Default)]
pub struct RequestBody {
    pub model: String,
    pub max_tokens: Option<u64>,
    pub stream: Option<bool>,
    pub tools: Vec<ToolDef>,
    pub tool_choice: Option<Arc<RawValue>>,
    /// Empty if there is none.
    pub system: Content,
    pub messages: Vec<Arc<Message>>,
    /// Asks for a cache of everything up to the last block that can be cached.
    pub cache_control: Option<Arc<RawValue>>,
    /// Fields that are not named above, among them `thinking`, `output_config`,
    /// `metadata`, `stop_sequences` and `context_management`.
    pub extra: Fields,
}

impl Serialize for RequestBody {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("model", &self.model)?;
        if let Some(max_tokens) = self.max_tokens {
            map.serialize_entry("max_tokens", &max_tokens)?;
        }
        if let Some(stream) = self.stream {
            map.serialize_entry("stream", &stream)?;
        }
        if !self.tools.is_empty() {
            map.serialize_entry("tools", &self.tools)?;
        }
        if let Some(choice) = &self.tool_choice {
            map.serialize_entry("tool_choice", choice)?;
        }
        if !self.system.is_empty() {
            map.serialize_entry("system", &self.system)?;
        }
        map.serialize_entry("messages", &self.messages)?;
        if let Some(cache) = &self.cache_control {
            map.serialize_entry("cache_control", cache)?;
        }
        self.extra.write(&mut map)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for RequestBody {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RequestBody, D::Error> {
        fn read<T: DeserializeOwned + Default, E: serde::de::Error>(
            fields: &mut Fields,
            key: &str,
        ) -> Result<T, E> {
            match fields.take(key) {
                None => Ok(T::default()),
                Some(value) if raw::is_null(&value) => Ok(T::default()),
                Some(value) => serde_json::from_str(value.get())
                    .map_err(|error| E::custom(format_args!("`{key}`: {error}"))),
            }
        }
        let mut extra = Fields::deserialize(deserializer)?;
        if extra.get("messages").is_none() {
            return Err(D::Error::missing_field("messages"));
        }
        Ok(RequestBody {
            model: read(&mut extra, "model")?,
            max_tokens: read(&mut extra, "max_tokens")?,
            stream: read(&mut extra, "stream")?,
            tools: read(&mut extra, "tools")?,
            tool_choice: extra.take("tool_choice"),
            system: read(&mut extra, "system")?,
            messages: read(&mut extra, "messages")?,
            cache_control: extra.take("cache_control"),
            extra,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_written_in_order() {
        let text = r#"{"model":"m","max_tokens":10,"tools":[{"name":"T","input_schema":{"type":"object"}}],"system":"be brief","messages":[{"role":"user","content":"hi"}],"thinking":{"type":"adaptive"}}"#;
        let body: RequestBody = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&body).unwrap(), text);
    }

    #[test]
    fn a_body_needs_messages() {
        assert!(serde_json::from_str::<RequestBody>(r#"{"model":"m"}"#).is_err());
    }
}
