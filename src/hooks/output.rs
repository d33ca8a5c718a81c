//! What a hook says on stdout (`semantics.md §2.4`, `§2.5`).

use super::config::kind;
use crate::words::Behavior;
use serde_json::Value;

/// The JSON that a hook printed, read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Output {
    /// A decision, of `permissionDecision` or of the older `decision`.
    pub behavior: Option<Behavior>,
    pub reason: Option<String>,
    pub updated_input: Option<Value>,
    pub additional_context: Option<String>,
    pub updated_output: Option<Value>,
    /// `continue: false`, with `stopReason`.
    pub stop: Option<String>,
    /// For the user.
    pub system_message: Option<String>,
}

impl Output {
    /// Reads stdout. `Ok(None)`: it is plain text. `Err`: it is JSON that says something
    /// no hook may say, or looks like JSON and is not.
    pub fn read(stdout: &str) -> Result<Option<Output>, String> {
        let text = stdout.trim_start();
        if !text.starts_with('{') {
            return Ok(None);
        }
        let value: Value = serde_json::from_str(text)
            .map_err(|e| format!("stdout begins like JSON and is none: {e}"))?;
        let mut fields = Reader { wrong: Vec::new() };
        let specific = value.get("hookSpecificOutput").unwrap_or(&Value::Null);
        if !specific.is_null() && !specific.is_object() {
            fields.wrong.push(format!(
                "hookSpecificOutput: expected an object, found {}",
                kind(specific)
            ));
        }
        let modern = fields.behavior(
            specific,
            "permissionDecision",
            &["allow", "deny", "ask", "defer"],
        );
        let legacy = fields.behavior(&value, "decision", &["block", "approve"]);
        let go_on = fields.flag(&value, "continue");
        let stop_reason = fields.text(&value, "stopReason");
        let modern_reason = fields.text(specific, "permissionDecisionReason");
        let legacy_reason = fields.text(&value, "reason");
        // Where both forms are used, the older may still forbid what the other allows.
        let older_forbids = legacy == Some(Behavior::Deny) && modern != legacy;
        let (behavior, reason) = match modern {
            Some(_) if !older_forbids => (modern, modern_reason),
            _ => (legacy, legacy_reason),
        };
        let output = Output {
            behavior,
            reason,
            updated_input: fields.object(specific, "updatedInput"),
            additional_context: fields.text(specific, "additionalContext"),
            updated_output: specific
                .get("updatedToolOutput")
                .filter(|output| !output.is_null())
                .cloned(),
            stop: (go_on == Some(false)).then(|| stop_reason.unwrap_or_default()),
            system_message: fields.text(&value, "systemMessage"),
        };
        match fields.wrong.is_empty() {
            true => Ok(Some(output)),
            false => Err(fields.wrong.join("; ")),
        }
    }
}

/// Reads fields and notes every one that has the wrong type.
struct Reader {
    wrong: Vec<String>,
}

impl Reader {
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

    #[test]
    fn text_is_text_and_broken_json_is_said() {
        assert_eq!(Output::read("all good\n"), Ok(None));
        assert_eq!(Output::read(""), Ok(None));
        assert!(Output::read("{\"continue\": fal").is_err());
        assert!(
            Output::read("{\"continue\": 1, \"decision\": \"maybe\"}")
                .is_err_and(|e| e.contains("; "))
        );
    }

    #[test]
    fn the_older_decision_is_understood() -> Result<(), String> {
        let read = Output::read("{\"decision\": \"block\", \"reason\": \"no\"}")?.ok_or("plain")?;
        assert_eq!(
            (read.behavior, read.reason.as_deref()),
            (Some(Behavior::Deny), Some("no"))
        );
        let both = "{\"decision\": \"block\", \"reason\": \"no\", \
                    \"hookSpecificOutput\": {\"permissionDecision\": \"allow\"}}";
        let read = Output::read(both)?.ok_or("plain")?;
        assert_eq!(
            (read.behavior, read.reason.as_deref()),
            (Some(Behavior::Deny), Some("no"))
        );
        Ok(())
    }
}
