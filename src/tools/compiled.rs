//! Schemas compiled once, and those that no request may hold.

use super::schema;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Why a request with this schema would be refused (`protocol.md §2.4`): one bad
/// schema must not take the other tools with it.
pub(super) fn unusable(schema: &Value) -> Option<String> {
    if schema["type"] != "object" {
        return Some("its input schema is not of type object".to_owned());
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        if schema.get(key).is_some() {
            return Some(format!("its input schema has {key} at its root"));
        }
    }
    compiled(schema).err()
}

/// So many schemas are kept compiled; those of the built-in tools are among the first.
const COMPILED_MAX: usize = 256;

pub(super) type Compiled = Result<Arc<jsonschema::Validator>, String>;

/// The validator of a schema, or why it has none. Pools are built often and of the same
/// tools: each schema is compiled once.
pub(super) fn compiled(schema: &Value) -> Compiled {
    static KNOWN: Mutex<BTreeMap<String, Compiled>> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let text = schema.to_string();
    if let Some(compiled) = known().get(&text) {
        return compiled.clone();
    }
    let compiled = compile(schema).map(Arc::new);
    let mut known = known();
    if known.len() < COMPILED_MAX {
        known.insert(text, compiled.clone());
    }
    compiled
}

fn compile(schema: &Value) -> Result<jsonschema::Validator, String> {
    if let Err(e) = jsonschema::draft202012::meta::validate(schema) {
        return Err(format!(
            "its input schema is no JSON Schema: {}",
            schema::wrong_schema(&e)
        ));
    }
    jsonschema::draft202012::new(schema)
        .map_err(|e| format!("its input schema does not compile: {e}"))
}
