//! What a hook gets on stdin (`semantics.md §2.3`).

use super::HookEvent;
use crate::words::Mode;
use serde_json::{Map, Value};

/// What a hook is told.
#[derive(Debug, Clone)]
pub struct HookInput<'a> {
    pub event: HookEvent,
    pub session_id: &'a str,
    pub cwd: &'a str,
    pub mode: Mode,
    /// The call, for an event of one.
    pub tool: Option<ToolFacts<'a>>,
    /// What the event tells beside.
    pub facts: Vec<(&'static str, Value)>,
}

/// The call that an event is about.
#[derive(Debug, Clone, Copy)]
pub struct ToolFacts<'a> {
    pub name: &'a str,
    pub input: &'a Value,
    /// PermissionRequest is not told it.
    pub use_id: Option<&'a str>,
}

/// The JSON object that a hook reads, keys sorted.
pub fn stdin(input: &HookInput<'_>) -> Value {
    let mut fields = Map::new();
    let mut put = |key: &str, value: Value| drop(fields.insert(key.to_owned(), value));
    put("session_id", input.session_id.into());
    put("transcript_path", Value::String(String::new()));
    put("cwd", input.cwd.into());
    put("permission_mode", input.mode.as_str().into());
    put("hook_event_name", input.event.as_str().into());
    if let Some(tool) = &input.tool {
        put("tool_name", tool.name.into());
        put("tool_input", tool.input.clone());
        if let Some(id) = tool.use_id {
            put("tool_use_id", id.into());
        }
    }
    for (key, value) in &input.facts {
        put(key, value.clone());
    }
    Value::Object(fields)
}

/// What an event after a call tells: `response` is its structured result, or its text;
/// `duration_ms` is virtual, without prompts and hooks.
pub fn result_facts(
    event: HookEvent,
    response: Value,
    is_error: bool,
    duration_ms: u64,
) -> Vec<(&'static str, Value)> {
    let told = match (event, response) {
        // The event tells an error as text, whatever the tool made of it.
        (HookEvent::PostToolUseFailure, Value::String(text)) => ("error", text.into()),
        (HookEvent::PostToolUseFailure, other) => ("error", other.to_string().into()),
        (_, response) => ("tool_response", response),
    };
    vec![
        told,
        ("is_error", is_error.into()),
        ("duration_ms", duration_ms.into()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(event: HookEvent, response: Option<Value>) -> Value {
        let facts = response.map(|response| result_facts(event, response, false, 5));
        stdin(&HookInput {
            event,
            session_id: "s",
            cwd: "/work",
            mode: Mode::AcceptEdits,
            tool: Some(ToolFacts {
                name: "Bash",
                input: &json!({"command": "ls"}),
                use_id: Some("toolu_1"),
            }),
            facts: facts.unwrap_or_default(),
        })
    }

    #[test]
    fn every_event_has_its_fields() {
        let before = told(HookEvent::PreToolUse, None);
        let common = json!({
            "session_id": "s", "transcript_path": "", "cwd": "/work",
            "permission_mode": "acceptEdits", "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": {"command": "ls"},
            "tool_use_id": "toolu_1",
        });
        assert_eq!(before, common);
        let after = told(HookEvent::PostToolUse, Some(json!({"stdout": "x"})));
        assert_eq!(after["tool_response"], json!({"stdout": "x"}));
        assert_eq!(
            (&after["is_error"], &after["duration_ms"]),
            (&json!(false), &json!(5))
        );
        assert_eq!(after.get("error"), None);
    }

    #[test]
    fn a_failure_is_told_as_text() {
        let failed = |response| told(HookEvent::PostToolUseFailure, Some(response));
        assert_eq!(
            failed(json!("no such file"))["error"],
            json!("no such file")
        );
        assert_eq!(failed(json!({"code": 1}))["error"], json!("{\"code\":1}"));
        assert_eq!(failed(json!("x")).get("tool_response"), None);
    }
}
