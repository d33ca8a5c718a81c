//! `hooks` of a settings file, read with every complaint at once (`semantics.md §2.1`).

use super::handler::{self, Handler, Written};
use super::{Condition, HookEvent, Matcher, event};
use crate::settings::HooksOf;
use serde_json::Value;
use std::collections::BTreeMap;

/// Every handler of a run, in the order of their registration.
#[derive(Debug, Clone, Default)]
pub struct Hooks {
    pub handlers: Vec<Handler>,
    /// By text; see [`Hooks::compile_conditions`].
    pub(super) conditions: BTreeMap<String, Condition>,
    /// What is kept and never does anything, each in a sentence.
    pub notes: Vec<String>,
}

impl Hooks {
    /// Adds the handlers of one source's `hooks` object. What cannot be run, or is no
    /// hook at all, is a complaint; what is never raised here is noted.
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
            let place = format!("hooks.{name} ({source})");
            let Some(event) = HookEvent::from_word(name) else {
                match event::NEVER_RAISED.contains(&name.as_str()) {
                    true => self.notes.push(format!(
                        "{place}: this event never happens here, so its hooks never run"
                    )),
                    false => complaints.push(unknown_event(&place)),
                }
                continue;
            };
            let Some(groups) = groups.as_array() else {
                complaints.push(format!("{place}: expected a list, found {}", kind(groups)));
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
            _ if !event.takes_matcher() => Ok(Matcher::all()),
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
            match handler::read(handler) {
                Ok(written) => {
                    self.add_one(event, &matcher, written, source, *index, &place);
                    *index += 1;
                }
                Err(what) => complaints.push(format!("{place}: {what}")),
            }
        }
    }

    fn add_one(
        &mut self,
        event: HookEvent,
        matcher: &Matcher,
        written: Written,
        source: &str,
        index: u32,
        place: &str,
    ) {
        let Written {
            what,
            condition,
            timeout_ms,
        } = written;
        if condition.is_some() && !event.is_of_a_call() {
            // As documented: such a hook never runs.
            return self.notes.push(format!(
                "{place}: {} is not about a call, so a hook with `if` never runs for it",
                event.as_str()
            ));
        }
        self.handlers.push(Handler {
            event,
            matcher: matcher.clone(),
            condition,
            what,
            timeout_ms,
            source: source.to_owned(),
            index,
            only_restricts: false,
        });
    }

    /// Adds the hooks of one source. Of a file that could not be read whole, what is wrong
    /// with them was told with the rest of it, and those that can run only restrict.
    pub fn add_of(&mut self, of: &HooksOf) -> Vec<String> {
        let first = self.handlers.len();
        let complaints = self.add(&of.value, of.origin.source.as_str());
        for handler in self.handlers.iter_mut().skip(first) {
            handler.only_restricts = of.only_restrict;
        }
        match of.only_restrict {
            true => Vec::new(),
            false => complaints,
        }
    }

    /// The handlers that run when `event` happens to something called `names`: a tool's
    /// name and its aliases. Of several that would do the same, the first.
    pub fn matching(&self, event: HookEvent, names: &[&str]) -> Vec<&Handler> {
        let fits = |handler: &Handler| {
            handler.event == event
                && (!event.takes_matcher()
                    || names.iter().any(|name| handler.matcher.matches(name)))
        };
        let mut matching: Vec<&Handler> = Vec::new();
        for handler in self.handlers.iter().filter(|handler| fits(handler)) {
            if !matching.iter().any(|other| other.is_twin_of(handler)) {
                matching.push(handler);
            }
        }
        matching
    }
}

fn unknown_event(place: &str) -> String {
    let known: Vec<&str> = HookEvent::ALL.iter().map(|event| event.as_str()).collect();
    format!("{place}: no such event; known: {}", known.join(", "))
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

    fn matching(hooks: &Hooks, event: HookEvent, name: &str) -> usize {
        hooks.matching(event, &[name]).len()
    }

    #[test]
    fn a_handler_that_two_sources_share_runs_once() {
        let one = json!({"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "x"}]}]});
        let wider = json!({"PreToolUse": [{"hooks": [{"type": "command", "command": "x"}]}]});
        let mut hooks = Hooks::default();
        for (settings, source) in [(&one, "user"), (&one, "project"), (&wider, "local")] {
            assert!(hooks.add(settings, source).is_empty());
        }
        assert_eq!(matching(&hooks, HookEvent::PreToolUse, "Bash"), 1);
        assert_eq!(matching(&hooks, HookEvent::PreToolUse, "Read"), 1);
        assert_eq!(matching(&hooks, HookEvent::PostToolUse, "Bash"), 0);
        let by_alias = hooks.matching(HookEvent::PreToolUse, &["Shell", "Bash"]);
        assert_eq!(
            by_alias
                .iter()
                .map(|h| h.source.as_str())
                .collect::<Vec<_>>(),
            ["user"]
        );
    }

    #[test]
    fn everything_wrong_is_said_at_once() {
        let bad = json!({
            "Nope": [],
            "PostToolUse": [{"hooks": [
                {"type": "http", "url": "x"},
                {"type": "command"},
                {"type": "command", "command": "x", "if": 1},
                {"type": "command", "command": "x", "timeout": 0},
                {"type": "command", "command": "x", "async": true},
                {"type": "telepathy"},
                {"type": "command", "command": "good", "timeout": 0.5},
            ]}],
            "PreToolUse": [{"matcher": "(", "hooks": []}, {"hooks": 1}],
        });
        let mut hooks = Hooks::default();
        let complaints = hooks.add(&bad, "project");
        assert_eq!(complaints.len(), 9, "{complaints:#?}");
        assert_eq!(hooks.handlers.len(), 1);
        assert_eq!(hooks.handlers[0].timeout_ms, Some(500));
    }

    #[test]
    fn what_never_happens_is_noted_and_no_complaint() {
        let settings = json!({
            "Notification": [{"hooks": [{"type": "command", "command": "beep"}]}],
            "Stop": [{"matcher": "ignored", "hooks": [
                {"type": "command", "command": "x"},
                {"type": "command", "command": "y", "if": "Bash"},
            ]}],
        });
        let mut hooks = Hooks::default();
        assert!(hooks.add(&settings, "user").is_empty());
        assert_eq!(hooks.notes.len(), 2, "{:#?}", hooks.notes);
        assert_eq!(matching(&hooks, HookEvent::Stop, ""), 1);
    }
}
