//! Reads text as what the schema wants where a model wrote `"2"` for 2 (profile
//! parameter `numeric_strings`). Pure; doing it twice changes nothing more.

use serde_json::Value;

/// Replaces each string that stands where the schema allows no string and that is
/// exactly a value of the type it wants: a number, a boolean, an array or an object.
/// Where the schema says no type nothing is touched. Says whether anything was.
pub(super) fn coerce(schema: &Value, input: &mut Value) -> bool {
    match input {
        Value::String(text) => match wanted(schema, text) {
            Some(value) => {
                *input = value;
                true
            }
            None => false,
        },
        Value::Object(fields) => {
            let Some(properties) = schema["properties"].as_object() else {
                return false;
            };
            let mut changed = false;
            for (name, value) in fields.iter_mut() {
                if let Some(schema) = properties.get(name) {
                    changed |= coerce(schema, value);
                }
            }
            changed
        }
        Value::Array(items) => {
            let Some(schema) = schema.get("items").filter(|items| items.is_object()) else {
                return false;
            };
            let mut changed = false;
            for item in items {
                changed |= coerce(schema, item);
            }
            changed
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The value that `text` spells, if the schema's types ask for one like it and not for text.
fn wanted(schema: &Value, text: &str) -> Option<Value> {
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    if types.contains(&"string") {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    let fits = match &value {
        Value::Number(number) => {
            types.contains(&"number")
                || (types.contains(&"integer") && (number.is_i64() || number.is_u64()))
        }
        Value::Bool(_) => types.contains(&"boolean"),
        Value::Array(_) => types.contains(&"array"),
        Value::Object(_) => types.contains(&"object"),
        Value::String(_) | Value::Null => false,
    };
    fits.then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_where_text_is_not_allowed() {
        let schema = json!({"type": "object", "properties": {
            "n": {"type": "number"}, "i": {"type": "integer"}, "b": {"type": ["boolean", "null"]},
            "tags": {"type": "array", "items": {"type": "integer"}}, "o": {"type": "object"},
            "note": {"type": "string"}, "either": {"type": ["string", "number"]}, "any": {}
        }});
        let mut input = json!({
            "n": "1.5", "i": "890", "b": "true", "tags": "[\"1\", 2]", "o": "{\"a\":1}",
            "note": "[1]", "either": "5", "any": "[\"u1\"]", "unknown": "1"
        });
        assert!(coerce(&schema, &mut input));
        assert_eq!(
            input,
            json!({
                "n": 1.5, "i": 890, "b": true, "tags": ["1", 2], "o": {"a": 1},
                "note": "[1]", "either": "5", "any": "[\"u1\"]", "unknown": "1"
            })
        );
    }

    #[test]
    fn what_is_not_exactly_a_value_stays() {
        let schema = json!({"type": "object", "properties": {"i": {"type": "integer"}, "l": {"type": "array"}}});
        for text in ["abc", "1.5", "1e3x", "", "0x10"] {
            let mut input = json!({"i": text, "l": "not json"});
            assert!(!coerce(&schema, &mut input), "{text}");
        }
    }
}
