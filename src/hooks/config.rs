//! `hooks` of a settings file, read with every complaint at once (`semantics.md §2.1`).

use super::Matcher;
use serde_json::Value;

/// What a hook runs for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookEvent {
    PreToolUse,
    PostToolUse,
    PostToolUseFailure,
}

impl HookEvent {
    pub const ALL: &'static [HookEvent] = &[
        HookEvent::PreToolUse,
        HookEvent::PostToolUse,
        HookEvent::PostToolUseFailure,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            HookEvent::PreToolUse => "PreToolUse",
            HookEvent::PostToolUse => "PostToolUse",
            HookEvent::PostToolUseFailure => "PostToolUseFailure",
        }
    }

    pub fn from_word(word: &str) -> Option<HookEvent> {
        HookEvent::ALL
            .iter()
            .copied()
            .find(|event| event.as_str() == word)
    }
}

/// Events that settings may name and no part of this runtime raises yet (`semantics.md §2.1`).
const NOT_YET: &[&str] = &[
    "ConfigChange",
    "CwdChanged",
    "DirectoryAdded",
    "Elicitation",
    "ElicitationResult",
    "FileChanged",
    "InstructionsLoaded",
    "MessageDisplay",
    "Notification",
    "PermissionDenied",
    "PermissionRequest",
    "PostCompact",
    "PostModelSwitch",
    "PostToolBatch",
    "PreCompact",
    "PreModelSwitch",
    "PreSkillShellCommand",
    "SessionEnd",
    "SessionStart",
    "Setup",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "TaskCompleted",
    "TaskCreated",
    "TeammateIdle",
    "UserPromptExpansion",
    "UserPromptSubmit",
    "WorktreeCreate",
    "WorktreeRemove",
];

/// The time a handler has if its settings give none (`semantics.md §2.4`).
const TIMEOUT_DEFAULT_MS: u64 = 600_000;

/// One command that runs for an event.
#[derive(Debug, Clone, PartialEq)]
pub struct Handler {
    pub event: HookEvent,
    pub matcher: Matcher,
    pub command: String,
    /// In virtual milliseconds.
    pub timeout_ms: u64,
    /// The settings source it comes from.
    pub source: String,
    /// Its place among the handlers of its source, from 0.
    pub index: u32,
}

impl Handler {
    /// What traces and notices call it.
    pub fn label(&self) -> String {
        let first = self.command.lines().next().unwrap_or_default();
        let more = if self.command.lines().count() > 1 {
            " …"
        } else {
            ""
        };
        format!("{}[{}]: {first}{more}", self.source, self.index)
    }
}

/// Every handler of a run, in the order of their registration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hooks {
    pub handlers: Vec<Handler>,
}

impl Hooks {
    /// Adds the handlers of one source's `hooks` object. What is not there yet, or is no
    /// hook at all, is a complaint; a handler that another source has already runs once.
    pub fn add(&mut self, hooks: &Value, source: &str) -> Vec<String> {
        let mut complaints = Vec::new();
        let Some(events) = hooks.as_object() else {
            return vec![format!(
                "hooks ({source}): expected an object of events, found {}",
                kind(hooks)
            )];
        };
        let mut index = 0;
        for (name, groups) in events {
            let Some(event) = HookEvent::from_word(name) else {
                complaints.push(unknown_event(name, source));
                continue;
            };
            let Some(groups) = groups.as_array() else {
                complaints.push(format!(
                    "hooks.{name} ({source}): expected a list, found {}",
                    kind(groups)
                ));
                continue;
            };
            for (at, group) in groups.iter().enumerate() {
                let place = format!("hooks.{name}[{at}] ({source})");
                self.add_group(event, group, source, &place, &mut index, &mut complaints);
            }
        }
        complaints
    }

    fn add_group(
        &mut self,
        event: HookEvent,
        group: &Value,
        source: &str,
        place: &str,
        index: &mut u32,
        complaints: &mut Vec<String>,
    ) {
        let matcher = match group.get("matcher") {
            None | Some(Value::Null) => Ok(Matcher::all()),
            Some(Value::String(text)) => Matcher::new(text),
            Some(other) => Err(format!("expected text, found {}", kind(other))),
        };
        let matcher = match matcher {
            Ok(matcher) => matcher,
            Err(what) => return complaints.push(format!("{place}.matcher: {what}")),
        };
        let Some(handlers) = group.get("hooks").and_then(Value::as_array) else {
            return complaints.push(format!("{place}: expected a list under hooks"));
        };
        for (at, handler) in handlers.iter().enumerate() {
            let place = format!("{place}.hooks[{at}]");
            match command(handler) {
                Ok((command, timeout_ms)) => {
                    let twin = self.handlers.iter().any(|other| {
                        other.event == event
                            && other.matcher == matcher
                            && other.command == command
                            && other.source != source
                    });
                    if !twin {
                        self.handlers.push(Handler {
                            event,
                            matcher: matcher.clone(),
                            command,
                            timeout_ms,
                            source: source.to_owned(),
                            index: *index,
                        });
                    }
                    *index += 1;
                }
                Err(what) => complaints.push(format!("{place}: {what}")),
            }
        }
    }

    /// The handlers that run when `event` happens to `subject`, a tool's name.
    pub fn matching<'a>(
        &'a self,
        event: HookEvent,
        subject: &'a str,
    ) -> impl Iterator<Item = &'a Handler> {
        self.handlers
            .iter()
            .filter(move |handler| handler.event == event && handler.matcher.matches(subject))
    }
}

/// The command and the timeout of one handler.
fn command(handler: &Value) -> Result<(String, u64), String> {
    let Some(fields) = handler.as_object() else {
        return Err(format!("expected an object, found {}", kind(handler)));
    };
    match fields.get("type").and_then(Value::as_str) {
        Some("command") => {}
        Some(other @ ("http" | "mcp_tool" | "prompt" | "agent")) => {
            return Err(format!(
                "handlers of type {other} are not supported yet; expected command"
            ));
        }
        other => return Err(format!("expected type: command, found {other:?}")),
    }
    for key in ["if", "async", "asyncRewake", "args", "once"] {
        if fields
            .get(key)
            .is_some_and(|value| !value.is_null() && *value != Value::Bool(false))
        {
            return Err(format!("{key} is not supported yet"));
        }
    }
    if let Some(shell) = fields
        .get("shell")
        .filter(|shell| shell.as_str() != Some("bash"))
    {
        return Err(format!("shell {shell} is not supported; expected bash"));
    }
    let Some(command) = fields.get("command").and_then(Value::as_str) else {
        return Err("expected text under command".to_owned());
    };
    let timeout_ms = match fields.get("timeout") {
        None | Some(Value::Null) => TIMEOUT_DEFAULT_MS,
        Some(value) => match value.as_u64().and_then(|s| s.checked_mul(1_000)) {
            Some(ms) if ms > 0 => ms,
            _ => {
                return Err(format!(
                    "timeout: expected whole seconds from 1, found {value}"
                ));
            }
        },
    };
    Ok((command.to_owned(), timeout_ms))
}

fn unknown_event(name: &str, source: &str) -> String {
    if NOT_YET.contains(&name) {
        format!("hooks.{name} ({source}): this event is not supported yet")
    } else {
        let known: Vec<&str> = HookEvent::ALL.iter().map(|event| event.as_str()).collect();
        format!(
            "hooks.{name} ({source}): no such event; known: {}",
            known.join(", ")
        )
    }
}

/// What kind of JSON value stands there, in a word.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_handler_that_two_sources_share_runs_once() {
        let one = json!({"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "x"}]}]});
        let mut hooks = Hooks::default();
        assert!(hooks.add(&one, "user").is_empty());
        assert!(hooks.add(&one, "project").is_empty());
        assert_eq!(hooks.handlers.len(), 1);
        assert_eq!(hooks.matching(HookEvent::PreToolUse, "Bash").count(), 1);
        assert_eq!(hooks.matching(HookEvent::PreToolUse, "Read").count(), 0);
        assert_eq!(hooks.matching(HookEvent::PostToolUse, "Bash").count(), 0);
    }

    #[test]
    fn everything_wrong_is_said_at_once() {
        let bad = json!({
            "Stop": [],
            "Nope": [],
            "PostToolUse": [{"hooks": [
                {"type": "http", "url": "x"},
                {"type": "command"},
                {"type": "command", "command": "x", "if": "Bash(rm *)"},
                {"type": "command", "command": "x", "timeout": 0.5},
                {"type": "command", "command": "good", "timeout": 2},
            ]}],
            "PreToolUse": [{"matcher": "(", "hooks": []}, {"hooks": 1}],
        });
        let mut hooks = Hooks::default();
        let complaints = hooks.add(&bad, "project");
        assert_eq!(complaints.len(), 8, "{complaints:#?}");
        assert_eq!(hooks.handlers.len(), 1);
        assert_eq!(hooks.handlers[0].timeout_ms, 2_000);
    }
}
