//! Whether a schema is in the subset that can be enforced while a model generates
//! (`protocol.md §8`). Pure.

use serde_json::Value;

/// Keywords that the subset knows.
const KNOWN: [&str; 19] = [
    "$defs",
    "$ref",
    "$schema",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "default",
    "definitions",
    "description",
    "enum",
    "examples",
    "format",
    "items",
    "minItems",
    "pattern",
    "properties",
    "required",
    "type",
];

const FORMATS: [&str; 10] = [
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "uri",
    "ipv4",
    "ipv6",
    "uuid",
];

/// Whether every part of `schema` can be enforced. References are not followed: a
/// schema with any is taken to be outside, because it may be recursive.
pub(super) fn in_subset(schema: &Value) -> bool {
    let Some(object) = schema.as_object() else {
        return false;
    };
    let known = object
        .keys()
        .all(|key| key == "title" || (KNOWN.contains(&key.as_str()) && key != "$ref"));
    let closed = schema["type"] != "object" || schema["additionalProperties"] == false;
    let primitive = |value: &Value| !value.is_object() && !value.is_array();
    let enums = schema["enum"]
        .as_array()
        .is_none_or(|all| all.iter().all(primitive));
    let items = object.get("minItems").is_none_or(|n| *n == 0 || *n == 1);
    let format = schema["format"]
        .as_str()
        .is_none_or(|name| FORMATS.contains(&name));
    let pattern = schema["pattern"].as_str().is_none_or(simple_pattern);
    let children = schema["properties"]
        .as_object()
        .into_iter()
        .flat_map(|properties| properties.values())
        .chain(object.get("items"))
        .chain(alternatives(schema, "anyOf"))
        .chain(alternatives(schema, "allOf"));
    known && closed && enums && items && format && pattern && children.into_iter().all(in_subset)
}

fn alternatives<'a>(schema: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    schema[key].as_array().into_iter().flatten()
}

/// Whether a pattern has no look-around, no word boundary and no reference back.
fn simple_pattern(pattern: &str) -> bool {
    let escape = pattern
        .as_bytes()
        .windows(2)
        .any(|w| w[0] == b'\\' && (w[1] == b'b' || w[1] == b'B' || w[1].is_ascii_digit()));
    !escape && !pattern.contains("(?=") && !pattern.contains("(?!") && !pattern.contains("(?<")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn objects_must_be_closed_and_limits_are_out() {
        let closed = |inner: Value| json!({"type": "object", "properties": {"a": inner}, "additionalProperties": false});
        assert!(in_subset(&closed(
            json!({"type": "string", "enum": ["x", 1, null]})
        )));
        assert!(in_subset(&closed(
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]})
        )));
        for outside in [
            json!({"type": "object"}),
            json!({"type": "integer", "minimum": 1}),
            json!({"type": "string", "minLength": 1}),
            json!({"type": "array", "items": {"type": "string"}, "minItems": 2}),
            json!({"type": "string", "pattern": "(?=a)"}),
            json!({"type": "string", "format": "regex"}),
            json!({"$ref": "#/$defs/x"}),
            json!({"oneOf": [{"type": "string"}]}),
            json!({"enum": [{"a": 1}]}),
            json!(true),
        ] {
            assert!(!in_subset(&closed(outside.clone())), "{outside}");
        }
    }
}
