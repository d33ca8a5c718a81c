//! What a tool is to the runtime.

use super::{Outcome, ToolCx};
use crate::sim::Resource;
use async_trait::async_trait;
use serde_json::Value;

/// Whether a tool changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOnly {
    /// For no input does it change anything.
    Always,
    /// [`Tool::is_read_only`] tells.
    PerInput,
    /// It may change something, whatever the input.
    Never,
}

/// What a call reads and writes, declared before it runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Footprint {
    pub reads: Vec<Resource>,
    pub writes: Vec<Resource>,
    /// Nothing else may be in flight.
    pub exclusive: bool,
}

impl Footprint {
    /// A call that touches nothing another call could touch.
    pub fn nothing() -> Footprint {
        Footprint::default()
    }

    /// A call of which nothing is known: it runs alone.
    pub fn exclusive() -> Footprint {
        Footprint {
            exclusive: true,
            ..Footprint::default()
        }
    }

    pub fn reads(resources: impl IntoIterator<Item = Resource>) -> Footprint {
        Footprint {
            reads: resources.into_iter().collect(),
            ..Footprint::default()
        }
    }

    pub fn writes(resources: impl IntoIterator<Item = Resource>) -> Footprint {
        Footprint {
            writes: resources.into_iter().collect(),
            ..Footprint::default()
        }
    }
}

/// What a tool's own permission check says. It can never beat a deny rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnVerdict {
    /// No opinion: the layers decide.
    None,
    Allow {
        why: String,
    },
    Ask {
        why: String,
    },
    Deny {
        why: String,
    },
}

/// What is wrong with an input that its schema accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub class: crate::words::Class,
    /// For the model: what is wrong and what to do about it. The class is not part of
    /// it: [`Outcome::error`] puts it in front.
    pub text: String,
}

impl Refusal {
    pub fn new(class: crate::words::Class, text: impl Into<String>) -> Refusal {
        Refusal {
            class,
            text: text.into(),
        }
    }
}

/// Asks for permission while a tool runs, for what its input did not show.
#[async_trait]
pub trait Permit: Send + Sync {
    /// Puts `question` to the layers that can answer; `true` if it may go on.
    async fn ask(&self, question: &str) -> bool;
}

/// Takes what a running tool tells of its progress.
pub trait Progress: Send + Sync {
    fn report(&self, data: Value);
}

/// A tool: it describes itself, and the runtime never knows its implementation.
///
/// Only `name`, `description`, `input_schema` and `call` have no default.
/// `input` is always the parsed input that the schema accepted, defaults filled in
/// only by the tool itself.
#[async_trait]
pub trait Tool: Send + Sync {
    // Identity.
    fn name(&self) -> &str;
    fn aliases(&self) -> Vec<&str> {
        Vec::new()
    }
    /// Words that a search for the tool may use and its name does not hold.
    fn search_hint(&self) -> &str {
        ""
    }
    /// What it does, when to use it and when not: what the model selects by.
    fn description(&self) -> &str;
    /// JSON Schema (2020-12) of the input; an object at its root.
    fn input_schema(&self) -> &Value;

    // Capabilities.
    fn is_enabled(&self) -> bool {
        true
    }
    /// Whether it can be used inside a read-eval-print loop, where somebody types at the
    /// same prompt.
    fn fits_repl(&self) -> bool {
        true
    }
    /// The server and the name there, of a tool of an MCP server.
    fn mcp_origin(&self) -> Option<&super::McpOrigin> {
        None
    }
    /// How a request offers it, if its schema is one that the vendor publishes.
    fn published(&self) -> Option<crate::wire::ToolDef> {
        None
    }
    fn read_only(&self) -> ReadOnly {
        ReadOnly::Never
    }
    fn is_read_only(&self, _input: &Value) -> bool {
        self.read_only() == ReadOnly::Always
    }
    /// Whether a call with this input may run beside others.
    fn is_concurrency_safe(&self, cx: &ToolCx, input: &Value) -> bool {
        let footprint = self.footprint(cx, input);
        footprint.writes.is_empty() && !footprint.exclusive
    }
    fn is_destructive(&self, _input: &Value) -> bool {
        false
    }
    /// What a call with this input reads and writes. Unknown unless told: exclusive.
    fn footprint(&self, _cx: &ToolCx, _input: &Value) -> Footprint {
        Footprint::exclusive()
    }
    /// Virtual milliseconds that one call takes, if the tool knows better than the run's
    /// settings; the pipeline lets them pass before [`Tool::call`].
    fn latency_ms(&self) -> Option<u64> {
        None
    }
    /// Whether inputs are enforced while they are generated.
    fn strict(&self) -> bool {
        true
    }
    /// The permission rule names that a rule about this tool may use besides its own
    /// (`Edit` for Write), and the value of the call's specifier (a path, a command).
    fn rule_subject(&self, _cx: &ToolCx, _input: &Value) -> RuleSubject {
        RuleSubject::None
    }

    // Lifecycle.
    async fn validate_input(&self, _input: &Value, _cx: &ToolCx) -> Result<(), Refusal> {
        Ok(())
    }
    async fn check_permissions(&self, _input: &Value, _cx: &ToolCx) -> OwnVerdict {
        OwnVerdict::None
    }
    async fn call(
        &self,
        input: &Value,
        cx: &ToolCx,
        permit: &dyn Permit,
        progress: &dyn Progress,
    ) -> Outcome;

    // Output. Rendered text appears in `show` and in prompts, never in a request.
    fn render_tool_use(&self, input: &Value) -> String {
        format!("{}({})", self.name(), self.summary(input))
    }
    fn render_tool_result(&self, outcome: &Outcome) -> String {
        outcome.class.to_string()
    }
    /// The `content` of the `tool_result` block that goes to the model.
    fn to_result_block(&self, outcome: &Outcome) -> super::ResultContent {
        outcome.content.clone()
    }
    /// The size over which a result is saved, in the profile's unit; `None` for the profile's limit.
    fn max_result_chars(&self) -> Option<u64> {
        None
    }
    /// One short line about a use.
    fn summary(&self, input: &Value) -> String {
        super::short_json(input)
    }

    // Smart features.
    fn should_defer(&self) -> bool {
        false
    }
    /// Whether it is never deferred, whatever else is; what a server says of a tool
    /// (`anthropic/alwaysLoad`).
    fn always_load(&self) -> bool {
        false
    }
    /// What a permission classifier is shown of a use.
    fn to_classifier_input(&self, input: &Value) -> Value {
        serde_json::json!({"tool": self.name(), "input": input})
    }
}

/// What the specifier of a permission rule is compared with, for one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleSubject {
    /// Rules about this tool are by its name alone.
    None,
    /// A file that the call reads: `Read(…)` rules. Absolute and normal.
    ReadPath(String),
    /// A file that the call changes: `Edit(…)` rules. Absolute and normal.
    EditPath(String),
    /// A shell command: `Bash(…)` rules.
    Command(String),
    /// A URL: `WebFetch(domain:…)` rules.
    Url(String),
}
