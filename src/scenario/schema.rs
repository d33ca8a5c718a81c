//! The JSON Schema of scenario files, made of the table of keys.

use super::keys;
use super::shape::{Key, Kind, Need, Shape};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The JSON Schema (2020-12) of a scenario file. Keys that this version does not
/// support are in it with what they will mean, and no value is valid for them.
pub fn schema() -> Value {
    let mut shapes: BTreeMap<&'static str, &'static Shape> = BTreeMap::new();
    collect(&keys::SCENARIO, &mut shapes);
    let definitions: Map<String, Value> = shapes
        .values()
        .filter(|shape| shape.name != keys::SCENARIO.name)
        .map(|shape| (shape.name.to_owned(), of_shape(shape)))
        .collect();
    let mut schema = of_shape(&keys::SCENARIO);
    if let Value::Object(map) = &mut schema {
        map.insert(
            "$schema".to_owned(),
            json!("https://json-schema.org/draft/2020-12/schema"),
        );
        map.insert("title".to_owned(), json!("rehearsal scenario"));
        map.insert("$defs".to_owned(), Value::Object(definitions));
    }
    schema
}

/// Finds every shape that one leads to.
fn collect(shape: &'static Shape, into: &mut BTreeMap<&'static str, &'static Shape>) {
    if into.insert(shape.name, shape).is_some() {
        return;
    }
    for key in shape.keys {
        collect_kind(&key.kind, into);
    }
}

fn collect_kind(kind: &'static Kind, into: &mut BTreeMap<&'static str, &'static Shape>) {
    match kind {
        Kind::Shape(shape) => collect(shape, into),
        Kind::List(kind) | Kind::OneOrMany(kind) | Kind::Map(kind) | Kind::Single(kind, _) => {
            collect_kind(kind, into);
        }
        Kind::Any(kinds) => kinds.iter().for_each(|kind| collect_kind(kind, into)),
        _ => {}
    }
}

fn of_shape(shape: &'static Shape) -> Value {
    let properties: Map<String, Value> = shape
        .keys
        .iter()
        .map(|key| (key.name.to_owned(), of_key(key)))
        .collect();
    let required: Vec<&str> = shape
        .keys
        .iter()
        .filter(|key| key.need == Need::Required)
        .map(|key| key.name)
        .collect();
    let mut schema = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn of_key(key: &'static Key) -> Value {
    let kind = of_kind(&key.kind);
    let mut schema = match key.need {
        Need::Required => kind,
        Need::Optional if matches!(key.kind, Kind::Json) => kind,
        // An absent key and an empty one are the same.
        Need::Optional => json!({"anyOf": [kind, {"type": "null"}]}),
        Need::NotYet => json!({"not": {}}),
    };
    schema["description"] = match key.need {
        Need::NotYet => json!(format!("Not supported yet. {}", key.doc)),
        _ => json!(key.doc),
    };
    if let Some(example) = example(key) {
        schema["examples"] = json!([example]);
    }
    schema
}

/// The example of a key as JSON.
fn example(key: &Key) -> Option<Value> {
    let mut complaints = Vec::new();
    let node = super::yaml::parse(&"example".into(), key.example, &mut complaints)?;
    complaints.is_empty().then(|| node.to_json())
}

fn of_kind(kind: &'static Kind) -> Value {
    match kind {
        Kind::Text => json!({"type": "string"}),
        Kind::Bool => json!({"type": "boolean"}),
        Kind::Int(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
        Kind::Scalar => json!({"type": ["string", "number", "boolean"]}),
        Kind::Json => json!({}),
        Kind::Object => json!({"type": "object"}),
        Kind::Words(words) => json!({"enum": words()}),
        Kind::Pattern(pattern) => json!({"type": "string", "pattern": pattern}),
        Kind::Null => json!({"type": "null"}),
        Kind::List(of) => json!({"type": "array", "items": of_kind(of)}),
        Kind::OneOrMany(of) => {
            json!({"anyOf": [of_kind(of), {"type": "array", "items": of_kind(of)}]})
        }
        Kind::Map(of) => json!({"type": "object", "additionalProperties": of_kind(of)}),
        Kind::Single(of, never) => json!({
            "type": "object",
            "propertyNames": {"not": {"enum": never}},
            "additionalProperties": of_kind(of),
            "minProperties": 1,
            "maxProperties": 1,
        }),
        Kind::Shape(shape) => json!({"$ref": format!("#/$defs/{}", shape.name)}),
        Kind::Any(kinds) => json!({"anyOf": kinds.iter().map(of_kind).collect::<Vec<_>>()}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Severity, parse};

    /// Where a map of each shape stands in a scenario: `…` is the map, and the keys
    /// that it needs beside the one that is tried.
    const PLACES: &[(&str, &str, &str)] = &[
        (
            "call",
            "model: [{calls: [{tool: Edit, id: toolu_edit}, …]}]",
            "tool: Read",
        ),
        ("case", "cases: [{name: other, seed: 1}, …]", "name: one"),
        ("classifier_answer", "classifier: […]", "verdict: deny"),
        ("command", "commands: […]", ""),
        (
            "content",
            "outside: [{at_ms: 1, write: {a: …}}]",
            "content: x",
        ),
        (
            "custom_tool",
            "tools: {custom: […]}",
            "name: t, description: d, input_schema: {}",
        ),
        (
            "expect",
            "expect: …",
            r#"calls: {"1": {step: post_hook, class: ok}}"#,
        ),
        (
            "expect_request",
            "model: [{calls: [{tool: Edit, id: toolu_edit}], expect_request: …}]",
            "",
        ),
        (
            "expected_call",
            r#"expect: {calls: {"1": {step: execute, class: timeout}, toolu_edit: …}}"#,
            "",
        ),
        (
            "expected_decision",
            r#"expect: {calls: {"1": {step: execute, class: timeout, decision: …}}}"#,
            "",
        ),
        (
            "expected_event",
            r#"expect: {calls: {"1": {step: execute, class: timeout}}, events: […]}"#,
            "event: hook",
        ),
        (
            "expected_file",
            r#"expect: {calls: {"1": {step: execute, class: timeout}}, files: {a: …}}"#,
            "",
        ),
        (
            "fails",
            "tools: {answers: [{tool: X, fails: …}]}",
            "class: timeout",
        ),
        (
            "fault",
            "model: [{calls: [{tool: Edit, id: toolu_edit}], fault: …}]",
            "status: 429",
        ),
        ("file", "files: {a: …}", "content: x"),
        ("fs", "fs: …", ""),
        ("hook_answer", "hooks: {answers: […]}", ""),
        ("hooks", "hooks: …", "answers: []"),
        ("interrupt", "interrupt: …", ""),
        (
            "annotations",
            "tools: {mcp: {s: {tools: [{name: t, description: d, input_schema: {}, annotations: …}]}}}",
            "",
        ),
        ("mcp_server", "tools: {mcp: {s: …}}", "tools: []"),
        (
            "mcp_tool",
            "tools: {mcp: {s: {tools: […]}}}",
            "name: t, description: d, input_schema: {}",
        ),
        (
            "moment",
            "interrupt: {after: …}",
            "call: toolu_edit, step: execute",
        ),
        ("outside", "outside: […]", "at_ms: 1, touch: a"),
        ("hosted", "hosted: […]", "type: web_search_20250305"),
        (
            "hosted_answer",
            "hosted: [{type: web_search_20250305, answers: […]}]",
            "results: []",
        ),
        (
            "hit",
            "hosted: [{type: web_search_20250305, answers: [{results: […]}]}]",
            "url: https://docs.rs",
        ),
        (
            "hosted_use",
            "model: [{calls: [{tool: Edit, id: toolu_edit}], hosted: […]}]",
            "tool: web_search",
        ),
        ("published", "published: […]", "type: text_editor_20250728"),
        (
            "request_result",
            "model: [{calls: [{tool: Edit, id: toolu_edit}]}, {expect_request: {results: {toolu_edit: …}}}]",
            "",
        ),
        ("scenario", "…", ""),
        ("tool_answer", "tools: {answers: […]}", "returns: x"),
        ("tools", "tools: …", ""),
        (
            "turn",
            "model: [{calls: [{tool: Edit, id: toolu_edit}]}, …]",
            "when: {class: ok}",
        ),
        ("user_answer", "user: […]", "answer: allow"),
        (
            "when",
            "model: [{calls: [{tool: Edit, id: toolu_edit}]}, {when: …}]",
            "class: ok",
        ),
    ];

    /// Keys that cannot stand beside what `PLACES` gives, and what they need.
    fn beside(shape: &str, key: &str) -> Option<&'static str> {
        Some(match (shape, key) {
            ("file" | "content" | "expected_file", "times") => "repeat: x",
            ("file" | "content" | "expected_file", "repeat") => "times: 3",
            ("file", "size" | "base64" | "symlink" | "dir") | ("content", "base64") => "",
            ("fault", "cut_after_events") => "",
            ("outside", "before" | "after" | "anywhere") => "touch: a",
            ("tool_answer", "fails") | ("hosted_answer", "text" | "stdout" | "error") => "",
            ("user_answer", "comment") => "answer: deny",
            ("scenario", "expect") | ("expect", "calls") => "",
            _ => return None,
        })
    }

    /// A scenario in which a shape has a key with a value.
    fn scenario_with(shape: &Shape, key: &str, value: &str) -> String {
        let (_, place, needs) = PLACES
            .iter()
            .find(|(name, ..)| *name == shape.name)
            .unwrap_or_else(|| panic!("{} stands nowhere", shape.name));
        let needs = beside(shape.name, key).unwrap_or(needs);
        let others = needs.split_inclusive(", ").filter(|one| {
            // A map among the needs is not split: its pieces hold no key of the shape.
            !one.starts_with(&format!("{key}:"))
        });
        let others: String = others.collect();
        let others = others.trim_end_matches(", ");
        let separator = if others.is_empty() { "" } else { ", " };
        let whole = [
            "rehearsal: 1".to_owned(),
            "name: n".to_owned(),
            "model: [{calls: [{Read: {}}, {tool: Edit, id: toolu_edit}]}]".to_owned(),
            r#"expect: {calls: {"1": {step: execute, class: timeout}}}"#.to_owned(),
        ];
        let (given, named) = if shape.name == "scenario" {
            (format!("{key}: {value}"), key)
        } else {
            let map = format!("{{{others}{separator}{key}: {value}}}");
            (
                place.replace('…', &map),
                place.split(':').next().unwrap_or(""),
            )
        };
        let kept = whole
            .iter()
            .filter(|line| !line.starts_with(&format!("{named}:")));
        let mut text: String = kept.map(|line| format!("{line}\n")).collect();
        text.push_str(&given);
        text
    }

    fn all_shapes() -> Vec<&'static Shape> {
        let mut shapes = BTreeMap::new();
        collect(&keys::SCENARIO, &mut shapes);
        shapes.into_values().collect()
    }

    fn json_of(text: &str) -> Value {
        let mut complaints = Vec::new();
        let node = super::super::yaml::parse(&"a".into(), text, &mut complaints);
        node.unwrap_or_else(|| panic!("{text}\n{complaints:?}"))
            .to_json()
    }

    fn errors(text: &str) -> Vec<String> {
        match parse("a.yaml", text) {
            Ok(_) => Vec::new(),
            Err(rejected) => {
                let errors = rejected.complaints.iter();
                let errors = errors.filter(|c| c.severity == Severity::Error);
                errors.map(ToString::to_string).collect()
            }
        }
    }

    #[test]
    fn every_example_is_valid_and_is_read() {
        let validator = jsonschema::draft202012::new(&schema()).expect("a schema");
        let mut tried = 0;
        for shape in all_shapes() {
            for key in shape.keys.iter().filter(|key| key.need != Need::NotYet) {
                let text = scenario_with(shape, key.name, key.example);
                let value = json_of(&text);
                let invalid: Vec<_> = validator
                    .iter_errors(&value)
                    .map(|e| e.to_string())
                    .collect();
                assert!(
                    invalid.is_empty(),
                    "{}.{}:\n{text}\n{invalid:?}",
                    shape.name,
                    key.name
                );
                // What names files beside the scenario has none here.
                if !matches!(key.name, "include" | "files_from") {
                    let errors = errors(&text);
                    assert!(
                        errors.is_empty(),
                        "{}.{}:\n{text}\n{errors:?}",
                        shape.name,
                        key.name
                    );
                }
                tried += 1;
            }
        }
        assert!(tried > 150, "only {tried} keys");
    }

    #[test]
    fn what_the_schema_refuses_is_complained_about() {
        let validator = jsonschema::draft202012::new(&schema()).expect("a schema");
        for shape in all_shapes() {
            for key in shape.keys {
                if matches!(key.kind, Kind::Json) && key.need != Need::NotYet {
                    continue;
                }
                let text = scenario_with(shape, key.name, "[[{zz: 1}]]");
                assert!(
                    !validator.is_valid(&json_of(&text)),
                    "the schema accepts\n{text}"
                );
                assert!(!errors(&text).is_empty(), "nobody complains about\n{text}");
            }
            let text = scenario_with(shape, "zz", "1");
            assert!(
                !validator.is_valid(&json_of(&text)),
                "the schema accepts\n{text}"
            );
            let errors = errors(&text);
            assert!(
                errors.iter().any(|e| e.contains("`zz`")),
                "{text}\n{errors:?}"
            );
        }
    }

    #[test]
    fn every_scenario_of_the_project_is_one_by_the_schema() {
        let validator = jsonschema::draft202012::new(&schema()).expect("a schema");
        let top = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios");
        let mut folders = vec![std::path::PathBuf::from(top)];
        let mut seen = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ext| ext == "yaml") {
                    seen += 1;
                    let json = json_of(&std::fs::read_to_string(&path).expect("a file"));
                    let odd: Vec<String> = validator
                        .iter_errors(&json)
                        .map(|e| e.to_string())
                        .collect();
                    assert!(odd.is_empty(), "{}: {odd:?}", path.display());
                }
            }
        }
        assert!(seen >= 40, "{seen} files");
    }

    #[test]
    fn every_key_is_described() {
        for shape in all_shapes() {
            for key in shape.keys {
                assert!(key.doc.ends_with('.'), "{}.{}", shape.name, key.name);
                assert!(example(key).is_some(), "{}.{}", shape.name, key.name);
            }
        }
    }
}
