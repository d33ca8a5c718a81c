//! What a hook gets on stdin (`semantics.md §2.3`).

use super::HookEvent;
use crate::words::Mode;
use serde_json::{Map, Value};

/// The facts that a hook of a tool is told.
#[derive(Debug, Clone)]
pub struct HookInput<'a> {
    pub event: HookEvent,
    pub session_id: &'a str,
    pub cwd: &'a str,
    pub mode: Mode,
    pub tool_name: &'a str,
    pub tool_input: &'a Value,
    pub tool_use_id: &'a str,
    /// After the call: its structured result, or its text.
    pub tool_response: Option<Value>,
    pub is_error: Option<bool>,
    /// In virtual milliseconds, without prompts and hooks.
    pub duration_ms: Option<u64>,
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
    put("tool_name", input.tool_name.into());
    put("tool_input", input.tool_input.clone());
    put("tool_use_id", input.tool_use_id.into());
    match (input.event, &input.tool_response) {
        // The event tells an error as text, whatever the tool made of it.
        (HookEvent::PostToolUseFailure, Some(Value::String(text))) => {
            put("error", text.as_str().into());
        }
        (HookEvent::PostToolUseFailure, Some(response)) => {
            put("error", response.to_string().into());
        }
        (_, Some(response)) => put("tool_response", response.clone()),
        (_, None) => {}
    }
    if let Some(is_error) = input.is_error {
        put("is_error", is_error.into());
    }
    if let Some(duration_ms) = input.duration_ms {
        put("duration_ms", duration_ms.into());
    }
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(event: HookEvent, tool_response: Option<Value>) -> Value {
        stdin(&HookInput {
            event,
            session_id: "s",
            cwd: "/work",
            mode: Mode::AcceptEdits,
            tool_name: "Bash",
            tool_input: &json!({"command": "ls"}),
            tool_use_id: "toolu_1",
            tool_response,
            is_error: None,
            duration_ms: Some(5),
        })
    }

    #[test]
    fn every_event_has_its_fields() {
        let before = told(HookEvent::PreToolUse, None);
        let common = json!({
            "session_id": "s", "transcript_path": "", "cwd": "/work",
            "permission_mode": "acceptEdits", "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": {"command": "ls"},
            "tool_use_id": "toolu_1", "duration_ms": 5,
        });
        assert_eq!(before, common);
        let after = told(HookEvent::PostToolUse, Some(json!({"stdout": "x"})));
        assert_eq!(after["tool_response"], json!({"stdout": "x"}));
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
