//! A tool as a request offers it.

use super::kind::Ttl;
use super::raw::{self, Fields};
use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;

/// A tool definition (`protocol.md §2.4`): one of the client's own, or one whose
/// type names a schema that the vendor publishes.
///
/// Written in the order of its fields here, then what else it had.
#[derive(Debug, Clone, Default)]
pub struct ToolDef {
    /// Empty for a toolset, which has none.
    pub name: String,
    /// The vendor's type, such as `bash_20250124`; absent or `custom` for an own tool.
    pub kind: Option<String>,
    pub description: Option<String>,
    /// Absent for a tool of the vendor's.
    pub input_schema: Option<Arc<RawValue>>,
    pub strict: Option<bool>,
    pub defer_loading: Option<bool>,
    pub cache_control: Option<Arc<RawValue>>,
    /// Fields that are not named above.
    pub extra: Fields,
}

impl ToolDef {
    /// Makes an own tool; the schema's keys are written sorted.
    pub fn custom(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: &Value,
    ) -> ToolDef {
        ToolDef {
            name: name.into(),
            description: Some(description.into()),
            input_schema: Some(raw::of(input_schema)),
            ..ToolDef::default()
        }
    }

    /// Makes a tool of the vendor's.
    pub fn vendor(kind: impl Into<String>, name: impl Into<String>) -> ToolDef {
        ToolDef {
            name: name.into(),
            kind: Some(kind.into()),
            ..ToolDef::default()
        }
    }

    /// Whether the client defines it, schema and all.
    pub fn is_custom(&self) -> bool {
        self.kind.as_deref().is_none_or(|kind| kind == "custom")
    }

    /// Whether its schema stays out of the prompt until it is referred to.
    pub fn is_deferred(&self) -> bool {
        self.defer_loading == Some(true)
    }

    /// How long the cache is to hold what ends with this tool, if it asks for that.
    pub fn cache(&self) -> Option<Ttl> {
        self.cache_control.as_deref().and_then(Ttl::of)
    }

    /// The length of the definition as it is sent, in bytes, within a few.
    pub(crate) fn text_bytes(&self) -> usize {
        self.name.len()
            + self.kind.as_ref().map_or(0, String::len)
            + self.description.as_ref().map_or(0, String::len)
            + self
                .input_schema
                .as_ref()
                .map_or(0, |schema| schema.get().len())
            + self
                .extra
                .iter()
                .map(|(key, value)| key.len() + value.get().len())
                .sum::<usize>()
    }
}

fn same(a: &Option<Arc<RawValue>>, b: &Option<Arc<RawValue>>) -> bool {
    a.as_ref().map(|raw| raw.get()) == b.as_ref().map(|raw| raw.get())
}

impl PartialEq for ToolDef {
    fn eq(&self, other: &ToolDef) -> bool {
        self.name == other.name
            && self.kind == other.kind
            && self.description == other.description
            && same(&self.input_schema, &other.input_schema)
            && self.strict == other.strict
            && self.defer_loading == other.defer_loading
            && same(&self.cache_control, &other.cache_control)
            && self.extra == other.extra
    }
}

impl Eq for ToolDef {}

impl Serialize for ToolDef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(kind) = &self.kind {
            map.serialize_entry("type", kind)?;
        }
        if !self.name.is_empty() {
            map.serialize_entry("name", &self.name)?;
        }
        if let Some(description) = &self.description {
            map.serialize_entry("description", description)?;
        }
        if let Some(schema) = &self.input_schema {
            map.serialize_entry("input_schema", schema)?;
        }
        if let Some(strict) = self.strict {
            map.serialize_entry("strict", &strict)?;
        }
        if let Some(deferred) = self.defer_loading {
            map.serialize_entry("defer_loading", &deferred)?;
        }
        if let Some(cache) = &self.cache_control {
            map.serialize_entry("cache_control", cache)?;
        }
        self.extra.write(&mut map)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for ToolDef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ToolDef, D::Error> {
        let mut extra = Fields::deserialize(deserializer)?;
        let mut string = |key: &'static str| match extra.take(key) {
            None => Ok(None),
            Some(value) if raw::is_null(&value) => Ok(None),
            Some(value) => raw::string(&value)
                .map(Some)
                .ok_or_else(|| D::Error::custom(format_args!("`{key}` is not a string"))),
        };
        let (name, kind, description) = (string("name")?, string("type")?, string("description")?);
        let mut boolean = |key: &'static str| match extra.take(key) {
            None => Ok(None),
            Some(value) if raw::is_null(&value) => Ok(None),
            Some(value) => raw::boolean(&value)
                .map(Some)
                .ok_or_else(|| D::Error::custom(format_args!("`{key}` is not a boolean"))),
        };
        let (strict, defer_loading) = (boolean("strict")?, boolean("defer_loading")?);
        Ok(ToolDef {
            name: name.unwrap_or_default(),
            kind,
            description,
            input_schema: extra.take("input_schema"),
            strict,
            defer_loading,
            cache_control: extra.take("cache_control"),
            extra,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_own_tool_is_written_in_order() {
        let tool = ToolDef::custom("Read", "Reads a file.", &json!({"type": "object"}));
        assert_eq!(
            serde_json::to_string(&tool).unwrap(),
            r#"{"name":"Read","description":"Reads a file.","input_schema":{"type":"object"}}"#
        );
    }

    #[test]
    fn a_vendor_tool_keeps_its_fields() {
        let text = r#"{"type":"web_search_20250305","name":"web_search","defer_loading":false,"max_uses":3}"#;
        let tool: ToolDef = serde_json::from_str(text).unwrap();
        assert!(!tool.is_custom());
        assert_eq!(serde_json::to_string(&tool).unwrap(), text);
    }
}
