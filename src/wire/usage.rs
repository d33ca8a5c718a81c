//! Token counts: those the API gave, and our own estimate of them.

use super::message::Message;
use super::raw::{self, Fields};
use super::tool::ToolDef;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The tokens that a response cost (`protocol.md §3`). Counts that are absent or
/// `null` are 0 or `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    /// Without those written to or read from a cache.
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_creation_input_tokens: Option<u64>,
    pub cache_read_input_tokens: Option<u64>,
    /// Every other field, among them `cache_creation`, `output_tokens_details`,
    /// `server_tool_use`, `service_tier`, `inference_geo`, `speed` and `iterations`.
    pub extra: Fields,
}

impl Usage {
    /// Makes a usage without caches.
    pub fn new(input_tokens: u64, output_tokens: u64) -> Usage {
        Usage {
            input_tokens,
            output_tokens,
            ..Usage::default()
        }
    }

    /// All tokens that went in, cached or not.
    pub fn total_input_tokens(&self) -> u64 {
        self.input_tokens
            .saturating_add(self.cache_creation_input_tokens.unwrap_or(0))
            .saturating_add(self.cache_read_input_tokens.unwrap_or(0))
    }

    /// The count `inner` in the object `outer`, such as `output_tokens_details.thinking_tokens`.
    pub fn detail(&self, outer: &str, inner: &str) -> Option<u64> {
        let object = Fields::of(self.extra.get(outer)?)?;
        raw::integer(object.get(inner)?)
    }

    /// Takes over every field of a later report: the counts of a stream are
    /// cumulative, so the later one replaces the earlier.
    pub fn overlay(&mut self, later: Fields) {
        for (key, value) in later.iter() {
            let count = raw::integer(value);
            match (key, count) {
                ("input_tokens", Some(count)) => self.input_tokens = count,
                ("output_tokens", Some(count)) => self.output_tokens = count,
                ("cache_creation_input_tokens", Some(count)) => {
                    self.cache_creation_input_tokens = Some(count);
                }
                ("cache_read_input_tokens", Some(count)) => {
                    self.cache_read_input_tokens = Some(count);
                }
                // A `null` in a later report says nothing new about a count.
                (key, None) if is_count(key) && raw::is_null(value) => {}
                _ => self.extra.set(key, value.clone()),
            }
        }
    }
}

fn is_count(key: &str) -> bool {
    matches!(
        key,
        "input_tokens"
            | "output_tokens"
            | "cache_creation_input_tokens"
            | "cache_read_input_tokens"
    )
}

impl Serialize for Usage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("input_tokens", &self.input_tokens)?;
        map.serialize_entry("output_tokens", &self.output_tokens)?;
        if let Some(count) = self.cache_creation_input_tokens {
            map.serialize_entry("cache_creation_input_tokens", &count)?;
        }
        if let Some(count) = self.cache_read_input_tokens {
            map.serialize_entry("cache_read_input_tokens", &count)?;
        }
        self.extra.write(&mut map)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Usage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Usage, D::Error> {
        let mut usage = Usage::default();
        usage.overlay(Fields::deserialize(deserializer)?);
        Ok(usage)
    }
}

/// ASCII characters that make one token, in the estimate.
const ASCII_PER_TOKEN: u64 = 4;
/// Tokens that a message costs beside its content, in the estimate.
const TOKENS_PER_MESSAGE: u64 = 4;
/// Tokens that a tool costs beside its text, in the estimate.
const TOKENS_PER_TOOL: u64 = 12;

/// Estimates the tokens of a text: a quarter of its ASCII characters, rounded up,
/// and one for each other character.
///
/// An estimate, made of integers and the same everywhere; no tokenizer's count.
pub fn estimate_tokens(text: &str) -> u64 {
    // Nearly every text is ASCII, which is seen many bytes at a time.
    if text.is_ascii() {
        return (text.len() as u64).div_ceil(ASCII_PER_TOKEN);
    }
    // First bytes of longer characters; the bytes after them do not count.
    let other = count_bytes(text.as_bytes(), |byte| byte >= 0xc0);
    let ascii = count_bytes(text.as_bytes(), |byte| byte < 0x80);
    ascii.div_ceil(ASCII_PER_TOKEN) + other
}

/// How many bytes are such. In blocks that a byte can count, which is done with many
/// bytes at a time.
pub fn count_bytes(bytes: &[u8], such: impl Fn(u8) -> bool + Copy) -> u64 {
    let block = |block: &[u8]| block.iter().map(|b| u8::from(such(*b))).sum::<u8>();
    bytes.chunks(128).map(|b| u64::from(block(b))).sum()
}

/// Estimates the tokens of a message from its JSON.
pub fn estimate_message_tokens(message: &Message) -> u64 {
    let blocks = message.content.iter();
    TOKENS_PER_MESSAGE
        + blocks
            .map(|block| estimate_tokens(block.raw().get()))
            .sum::<u64>()
}

/// Estimates the tokens of tool definitions; deferred ones cost nothing.
pub fn estimate_tools_tokens(tools: &[ToolDef]) -> u64 {
    tools
        .iter()
        .filter(|tool| !tool.is_deferred())
        .map(estimate_tool_tokens)
        .sum()
}

/// Estimates the tokens of one definition where it stands in the prompt.
pub fn estimate_tool_tokens(tool: &ToolDef) -> u64 {
    TOKENS_PER_TOOL + (tool.text_bytes() as u64).div_ceil(ASCII_PER_TOKEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_is_what_it_says() {
        assert_eq!(estimate_tokens(""), 0);
        assert_eq!(estimate_tokens("abcd"), 1);
        assert_eq!(estimate_tokens("abcde"), 2);
        assert_eq!(estimate_tokens("é漢😀"), 3);
    }

    #[test]
    fn unknown_counts_are_kept() {
        let text = r#"{"input_tokens":3,"output_tokens":5,"cache_read_input_tokens":7,"server_tool_use":{"web_search_requests":2},"new":[1]}"#;
        let usage: Usage = serde_json::from_str(text).unwrap();
        assert_eq!(usage.total_input_tokens(), 10);
        assert_eq!(
            usage.detail("server_tool_use", "web_search_requests"),
            Some(2)
        );
        assert_eq!(serde_json::to_string(&usage).unwrap(), text);
    }

    #[test]
    fn a_later_report_replaces_counts() {
        let mut usage = Usage::new(9, 1);
        usage.overlay(
            serde_json::from_str(r#"{"output_tokens":40,"input_tokens":null,"speed":"fast"}"#)
                .unwrap(),
        );
        assert_eq!((usage.input_tokens, usage.output_tokens), (9, 40));
        assert_eq!(usage.extra.text("speed").as_deref(), Some("fast"));
    }
}
