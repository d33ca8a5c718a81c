//! What a hook says on stdout (`semantics.md §2.4`, `§2.5`).

use super::HookEvent;
use super::config::kind;
use crate::settings::PermissionUpdate;
use crate::words::Behavior;
use serde_json::Value;

/// The JSON that a hook printed, read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Output {
    /// A decision: `permissionDecision`, `decision.behavior` of a PermissionRequest, or
    /// the older `decision`.
    pub behavior: Option<Behavior>,
    pub reason: Option<String>,
    pub updated_input: Option<Value>,
    pub additional_context: Option<String>,
    pub updated_output: Option<Value>,
    /// `updatedMCPToolOutput`, the older form of it.
    pub updated_mcp_output: Option<Value>,
    /// `updatedPermissions` of a PermissionRequest.
    pub updates: Vec<PermissionUpdate>,
    /// `interrupt` of a PermissionRequest: the agent stops too.
    pub interrupt: bool,
    /// `retry` of PermissionDenied.
    pub retry: bool,
    /// `continue: false`, with `stopReason`.
    pub stop: Option<String>,
    /// For the user.
    pub system_message: Option<String>,
}

impl Output {
    /// Reads stdout of a hook of `event`. `Ok(None)`: it is plain text. `Err`: it is JSON
    /// that says something no hook may say, or looks like JSON and is not.
    pub fn read(event: HookEvent, stdout: &str) -> Result<Option<Output>, String> {
        let text = stdout.trim_start();
        if !text.starts_with('{') {
            return Ok(None);
        }
        let value: Value = serde_json::from_str(text)
            .map_err(|e| format!("stdout begins like JSON and is none: {e}"))?;
        let mut fields = Reader { wrong: Vec::new() };
        let specific = fields.specific(event, &value);
        let go_on = fields.flag(&value, "continue");
        let stop_reason = fields.text(&value, "stopReason");
        let mut output = Output {
            additional_context: fields.text(specific, "additionalContext"),
            updated_output: present(specific, "updatedToolOutput"),
            updated_mcp_output: present(specific, "updatedMCPToolOutput"),
            retry: fields.flag(specific, "retry").unwrap_or(false),
            stop: (go_on == Some(false)).then(|| stop_reason.unwrap_or_default()),
            system_message: fields.text(&value, "systemMessage"),
            ..Output::default()
        };
        match event {
            HookEvent::PermissionRequest => fields.request(specific, &mut output),
            _ => fields.decision(event, specific, &value, &mut output),
        }
        match fields.wrong.is_empty() {
            true => Ok(Some(output)),
            false => Err(fields.wrong.join("; ")),
        }
    }
}

/// A field that may be anything but null.
fn present(from: &Value, key: &str) -> Option<Value> {
    from.get(key).filter(|value| !value.is_null()).cloned()
}

/// Reads fields and notes every one that has the wrong type.
struct Reader {
    wrong: Vec<String>,
}

impl Reader {
    /// `hookSpecificOutput`; an empty one if there is none that is of this event.
    fn specific<'a>(&mut self, event: HookEvent, value: &'a Value) -> &'a Value {
        let specific = value.get("hookSpecificOutput").unwrap_or(&Value::Null);
        if specific.is_null() {
            return specific;
        }
        if !specific.is_object() {
            self.wrong.push(format!(
                "hookSpecificOutput: expected an object, found {}",
                kind(specific)
            ));
            return &Value::Null;
        }
        let named = self.text(specific, "hookEventName");
        if let Some(named) = named.filter(|named| named != event.as_str()) {
            self.wrong.push(format!(
                "hookEventName: expected {}, found {named:?}",
                event.as_str()
            ));
        }
        specific
    }

    /// The decision of any event but PermissionRequest.
    fn decision(&mut self, event: HookEvent, specific: &Value, value: &Value, output: &mut Output) {
        let modern = match event {
            HookEvent::PreToolUse => self.behavior(
                specific,
                "permissionDecision",
                &["allow", "deny", "ask", "defer"],
            ),
            _ => None,
        };
        let legacy = self.behavior(value, "decision", &["block", "approve"]);
        let modern_reason = self.text(specific, "permissionDecisionReason");
        let legacy_reason = self.text(value, "reason");
        // Where both forms are used, the older may still forbid what the other allows.
        let older_forbids = legacy == Some(Behavior::Deny) && modern != legacy;
        (output.behavior, output.reason) = match modern {
            Some(_) if !older_forbids => (modern, modern_reason),
            _ => (legacy, legacy_reason),
        };
        if event == HookEvent::PreToolUse {
            output.updated_input = self.object(specific, "updatedInput");
        }
    }

    /// `decision` of a PermissionRequest.
    fn request(&mut self, specific: &Value, output: &mut Output) {
        let Some(decision) = self.object(specific, "decision") else {
            return;
        };
        output.behavior = self.behavior(&decision, "behavior", &["allow", "deny"]);
        output.reason = self.text(&decision, "message");
        output.updated_input = self.object(&decision, "updatedInput");
        output.interrupt = self.flag(&decision, "interrupt").unwrap_or(false);
        match decision.get("updatedPermissions") {
            None | Some(Value::Null) => {}
            Some(Value::Array(updates)) => {
                for (at, update) in updates.iter().enumerate() {
                    match PermissionUpdate::read(update) {
                        Ok(update) => output.updates.push(update),
                        Err(why) => self.wrong.push(format!("updatedPermissions[{at}]: {why}")),
                    }
                }
            }
            Some(other) => self.wrong.push(format!(
                "updatedPermissions: expected a list, found {}",
                kind(other)
            )),
        }
    }

    fn of<'a>(
        &mut self,
        from: &'a Value,
        key: &str,
        expected: &str,
        fits: bool,
    ) -> Option<&'a Value> {
        let value = from.get(key).filter(|value| !value.is_null())?;
        if !fits {
            self.wrong
                .push(format!("{key}: expected {expected}, found {}", kind(value)));
            return None;
        }
        Some(value)
    }

    fn text(&mut self, from: &Value, key: &str) -> Option<String> {
        let fits = from.get(key).is_some_and(Value::is_string);
        self.of(from, key, "text", fits)?
            .as_str()
            .map(str::to_owned)
    }

    fn flag(&mut self, from: &Value, key: &str) -> Option<bool> {
        let fits = from.get(key).is_some_and(Value::is_boolean);
        self.of(from, key, "true or false", fits)?.as_bool()
    }

    fn object(&mut self, from: &Value, key: &str) -> Option<Value> {
        let fits = from.get(key).is_some_and(Value::is_object);
        self.of(from, key, "an object", fits).cloned()
    }

    fn behavior(&mut self, from: &Value, key: &str, allowed: &[&str]) -> Option<Behavior> {
        let word = self.text(from, key)?;
        if !allowed.contains(&word.as_str()) {
            self.wrong.push(format!(
                "{key}: expected one of {}, found {word:?}",
                allowed.join(", ")
            ));
            return None;
        }
        match word.as_str() {
            "block" => Some(Behavior::Deny),
            "approve" => Some(Behavior::Allow),
            other => Behavior::from_word(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PRE: HookEvent = HookEvent::PreToolUse;

    #[test]
    fn text_is_text_and_broken_json_is_said() {
        assert_eq!(Output::read(PRE, "all good\n"), Ok(None));
        assert_eq!(Output::read(PRE, ""), Ok(None));
        assert!(Output::read(PRE, "{\"continue\": fal").is_err());
        assert!(
            Output::read(PRE, "{\"continue\": 1, \"decision\": \"maybe\"}")
                .is_err_and(|e| e.contains("; "))
        );
    }

    #[test]
    fn the_older_decision_is_understood() -> Result<(), String> {
        let read =
            Output::read(PRE, "{\"decision\": \"block\", \"reason\": \"no\"}")?.ok_or("plain")?;
        assert_eq!(
            (read.behavior, read.reason.as_deref()),
            (Some(Behavior::Deny), Some("no"))
        );
        let both = "{\"decision\": \"block\", \"reason\": \"no\", \
                    \"hookSpecificOutput\": {\"permissionDecision\": \"allow\"}}";
        let read = Output::read(PRE, both)?.ok_or("plain")?;
        assert_eq!(
            (read.behavior, read.reason.as_deref()),
            (Some(Behavior::Deny), Some("no"))
        );
        Ok(())
    }

    #[test]
    fn a_decision_is_of_the_event_it_is_for() -> Result<(), String> {
        let deny = r#"{"hookSpecificOutput": {"permissionDecision": "deny"}}"#;
        let read = Output::read(HookEvent::Stop, deny)?.ok_or("plain")?;
        assert_eq!(read.behavior, None);
        let other = r#"{"hookSpecificOutput": {"hookEventName": "PostToolUse"}}"#;
        assert!(Output::read(PRE, other).is_err_and(|e| e.contains("expected PreToolUse")));
        let request = json!({"hookSpecificOutput": {"decision": {
            "behavior": "deny", "message": "no", "interrupt": true,
            "updatedPermissions": [{"type": "setMode", "mode": "plan", "destination": "session"}],
        }}});
        let read = Output::read(HookEvent::PermissionRequest, &request.to_string())?;
        let read = read.ok_or("plain")?;
        assert_eq!(
            (read.behavior, read.interrupt),
            (Some(Behavior::Deny), true)
        );
        assert_eq!(
            (read.reason.as_deref(), read.updates.len()),
            (Some("no"), 1)
        );
        let bad =
            r#"{"hookSpecificOutput": {"decision": {"updatedPermissions": [{"type": "x"}]}}}"#;
        assert!(Output::read(HookEvent::PermissionRequest, bad).is_err());
        Ok(())
    }
}
