//! One handler: what runs, for which event, under which condition.

use super::config::kind;
use super::{HookEvent, Matcher};
use crate::profile::Profile;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Milliseconds that a handler has where its event or its kind says so and its settings
/// do not (`semantics.md §2.4`).
const PROMPT_SUBMIT_MS: u64 = 30_000;
const MODEL_PROMPT_MS: u64 = 30_000;
const MODEL_AGENT_MS: u64 = 60_000;
/// A handler has at most so many seconds: a day.
const TIMEOUT_MAX_S: f64 = 86_400.0;

/// One handler that runs for an event.
#[derive(Debug, Clone, PartialEq)]
pub struct Handler {
    pub event: HookEvent,
    pub matcher: Matcher,
    /// `if`: a permission rule that must match the call.
    pub condition: Option<String>,
    pub what: What,
    /// In virtual milliseconds; none is the default of kind and event.
    pub timeout_ms: Option<u64>,
    /// The settings source it comes from.
    pub source: String,
    /// Its place among the handlers of its source, from 0.
    pub index: u32,
    /// It stands in a file that could not be read whole: what it allows or rewrites does
    /// not count, what it refuses does.
    pub only_restricts: bool,
}

/// What a handler does.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// A command line of the shell, or with `args` a program and its arguments.
    Command {
        line: String,
        args: Option<Vec<String>>,
    },
    Http {
        url: String,
        headers: BTreeMap<String, String>,
        /// The environment variables that headers may name.
        env: Vec<String>,
    },
    /// `prompt`, `agent` or `mcp_tool`: nothing here can do it, so its outcome is scripted.
    Scripted { kind: &'static str, text: String },
}

impl What {
    /// The command, the URL or the prompt: what scripted outcomes are matched with.
    pub fn text(&self) -> &str {
        match self {
            What::Command { line, .. } => line,
            What::Http { url, .. } => url,
            What::Scripted { text, .. } => text,
        }
    }
}

impl Handler {
    /// What traces and notices call it.
    pub fn label(&self) -> String {
        let text = self.what.text();
        let first = text.lines().next().unwrap_or_default();
        let more = if text.lines().count() > 1 { " …" } else { "" };
        format!("{}[{}]: {first}{more}", self.source, self.index)
    }

    /// Virtual milliseconds after which it is given up.
    pub fn timeout_ms(&self, profile: &Profile) -> u64 {
        let default = match &self.what {
            What::Scripted { kind: "prompt", .. } => MODEL_PROMPT_MS,
            What::Scripted { kind: "agent", .. } => MODEL_AGENT_MS,
            _ if self.event == HookEvent::UserPromptSubmit => PROMPT_SUBMIT_MS,
            _ => profile.hook_default_timeout_ms,
        };
        self.timeout_ms.unwrap_or(default)
    }

    /// Whether `other` would do the same for the same calls, so that one of them is enough.
    pub(super) fn is_twin_of(&self, other: &Handler) -> bool {
        self.event == other.event && self.condition == other.condition && self.what == other.what
    }
}

/// A handler as it is written, without its place.
pub(super) struct Written {
    pub what: What,
    pub condition: Option<String>,
    pub timeout_ms: Option<u64>,
}

/// Reads one handler.
pub(super) fn read(handler: &Value) -> Result<Written, String> {
    let Some(fields) = handler.as_object() else {
        return Err(format!("expected an object, found {}", kind(handler)));
    };
    for key in ["async", "asyncRewake"] {
        if fields
            .get(key)
            .is_some_and(|value| !value.is_null() && *value != Value::Bool(false))
        {
            return Err(format!("{key} is not supported yet"));
        }
    }
    let what = match fields.get("type").and_then(Value::as_str) {
        Some("command") => command(fields)?,
        Some("http") => http(fields)?,
        Some("prompt") => scripted("prompt", text(fields, "prompt")?),
        Some("agent") => scripted("agent", text(fields, "prompt")?),
        Some("mcp_tool") => scripted("mcp_tool", text(fields, "tool")?),
        other => {
            return Err(format!(
                "expected type: command, http, prompt, agent or mcp_tool, found {other:?}"
            ));
        }
    };
    let condition = match fields.get("if") {
        None | Some(Value::Null) => None,
        Some(Value::String(rule)) => Some(rule.trim().to_owned()),
        Some(other) => return Err(format!("if: expected a rule, found {}", kind(other))),
    };
    Ok(Written {
        what,
        condition,
        timeout_ms: timeout(fields)?,
    })
}

fn command(fields: &Map<String, Value>) -> Result<What, String> {
    if let Some(shell) = fields
        .get("shell")
        .filter(|shell| shell.as_str() != Some("bash"))
    {
        return Err(format!("shell {shell} is not supported; expected bash"));
    }
    let args = match fields.get("args") {
        None | Some(Value::Null) => None,
        Some(args) => Some(texts(args).ok_or("args: expected a list of texts")?),
    };
    Ok(What::Command {
        line: text(fields, "command")?,
        args,
    })
}

fn http(fields: &Map<String, Value>) -> Result<What, String> {
    let url = text(fields, "url")?;
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(format!(
            "url: expected http://… or https://…, found {url:?}"
        ));
    }
    let mut headers = BTreeMap::new();
    if let Some(given) = fields.get("headers").filter(|given| !given.is_null()) {
        let given = given.as_object().ok_or("headers: expected an object")?;
        for (name, value) in given {
            let value = value
                .as_str()
                .ok_or_else(|| format!("headers.{name}: expected text, found {}", kind(value)))?;
            headers.insert(name.clone(), value.to_owned());
        }
    }
    let env = match fields.get("allowedEnvVars") {
        None | Some(Value::Null) => Vec::new(),
        Some(names) => texts(names).ok_or("allowedEnvVars: expected a list of texts")?,
    };
    Ok(What::Http { url, headers, env })
}

fn scripted(kind: &'static str, text: String) -> What {
    What::Scripted { kind, text }
}

fn text(fields: &Map<String, Value>, key: &str) -> Result<String, String> {
    let text = fields.get(key).and_then(Value::as_str);
    text.map(str::to_owned)
        .ok_or_else(|| format!("expected text under {key}"))
}

fn texts(value: &Value) -> Option<Vec<String>> {
    let items = value.as_array()?.iter();
    items.map(|item| item.as_str().map(str::to_owned)).collect()
}

/// `timeout`, in seconds.
fn timeout(fields: &Map<String, Value>) -> Result<Option<u64>, String> {
    match fields.get("timeout") {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_f64() {
            Some(seconds) if seconds > 0.0 && seconds <= TIMEOUT_MAX_S => {
                Ok(Some(((seconds * 1_000.0) as u64).max(1)))
            }
            _ => Err(format!(
                "timeout: expected seconds above 0, at most {TIMEOUT_MAX_S}, found {value}"
            )),
        },
    }
}

/// A program and its arguments as a command line of the shell.
pub(super) fn quoted_line(program: &str, args: &[String]) -> String {
    let quote = |word: &str| format!("'{}'", word.replace('\'', "'\\''"));
    let words = std::iter::once(program).chain(args.iter().map(String::as_str));
    words.map(quote).collect::<Vec<_>>().join(" ")
}
