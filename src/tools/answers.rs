//! Tools that answer from `tools.answers` of a scenario: those that have no
//! implementation here, and built-in ones whose answer a scenario overrides.

use super::custom::{CustomTool, Scripted};
use super::{
    Footprint, Outcome, OwnVerdict, Permit, Progress, ReadOnly, Refusal, RuleSubject, Tool, ToolCx,
};
use crate::sim::{OpKind, Resource};
use crate::world::{Answers, Pattern};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::Arc;

/// One scripted answer of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolAnswer {
    /// The tool's name.
    pub tool: Pattern,
    /// What the input must hold: for each field of this object the value, a text being a glob.
    pub input: Option<Value>,
    pub answer: Scripted,
    /// Virtual milliseconds until it is there.
    pub latency_ms: u64,
}

impl ToolAnswer {
    fn matches(&self, tool: &str, input: &Value) -> bool {
        let fields = self.input.as_ref().and_then(Value::as_object);
        self.tool.matches(tool)
            && fields.is_none_or(|fields| {
                fields
                    .iter()
                    .all(|(name, wanted)| fits(wanted, &input[name.as_str()]))
            })
    }
}

fn fits(wanted: &Value, given: &Value) -> bool {
    match (wanted, given) {
        (Value::String(glob), Value::String(text)) => Pattern::new(glob).matches(text),
        _ => wanted == given,
    }
}

/// What a tool that has no implementation here looks like: with its published
/// parameters if it is known (`semantics.md §3.1`), else one that takes any object.
pub fn stand_in(name: &str) -> CustomTool {
    let text = || json!({"type": "string"});
    let closed = |properties: Value, required: &[&str]| {
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false
        })
    };
    let list = json!({"type": "array", "items": {"type": "string"}});
    let (description, schema, reads) = match name {
        "WebFetch" => (
            "Fetches a page and answers a question about it. Use it for a page whose address you know.",
            closed(json!({"url": text(), "prompt": text()}), &["url", "prompt"]),
            true,
        ),
        "WebSearch" => (
            "Searches the web. Use it to find pages; use WebFetch for one whose address you know.",
            closed(
                json!({"query": text(), "allowed_domains": list, "blocked_domains": list}),
                &["query"],
            ),
            true,
        ),
        _ => (
            "Answers as the scenario says.",
            json!({"type": "object"}),
            false,
        ),
    };
    let aliases: &[&str] = match name {
        "Agent" => &["Task"],
        _ => &[],
    };
    CustomTool {
        read_only: reads,
        aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
        ..CustomTool::new(name, description, schema)
    }
}

/// A tool over which a list of answers lies.
pub struct Answered {
    inner: Arc<dyn Tool>,
    answers: Arc<Answers<ToolAnswer>>,
    /// Whether a call that no answer fits runs the tool itself.
    falls_through: bool,
}

impl Answered {
    /// Lays `answers` over a tool; a call that none of them fits runs the tool itself.
    pub fn over(inner: Arc<dyn Tool>, answers: Arc<Answers<ToolAnswer>>) -> Answered {
        Answered {
            inner,
            answers,
            falls_through: true,
        }
    }

    /// A tool that is nothing but its answers: `definition` says what it looks like.
    /// A call that none of them fits is a complaint about the scenario.
    pub fn only(definition: Arc<dyn Tool>, answers: Arc<Answers<ToolAnswer>>) -> Answered {
        Answered {
            inner: definition,
            answers,
            falls_through: false,
        }
    }

    fn resource(&self) -> Resource {
        Resource::Session(format!("answers:{}", self.inner.name()).into())
    }
}

#[async_trait]
impl Tool for Answered {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> Vec<&str> {
        self.inner.aliases()
    }

    fn search_hint(&self) -> &str {
        self.inner.search_hint()
    }

    fn latency_ms(&self) -> Option<u64> {
        self.inner.latency_ms()
    }

    fn description(&self) -> &str {
        self.inner.description()
    }

    fn input_schema(&self) -> &Value {
        self.inner.input_schema()
    }

    fn is_enabled(&self) -> bool {
        self.inner.is_enabled()
    }

    fn fits_repl(&self) -> bool {
        self.inner.fits_repl()
    }

    fn mcp_origin(&self) -> Option<&super::McpOrigin> {
        self.inner.mcp_origin()
    }

    fn published(&self) -> Option<crate::wire::ToolDef> {
        self.inner.published()
    }

    fn read_only(&self) -> ReadOnly {
        self.inner.read_only()
    }

    fn is_read_only(&self, input: &Value) -> bool {
        self.inner.is_read_only(input)
    }

    fn is_destructive(&self, input: &Value) -> bool {
        self.inner.is_destructive(input)
    }

    /// Answers are given out in the order of the calls, so two calls of one such tool
    /// never run beside each other.
    fn footprint(&self, cx: &ToolCx, input: &Value) -> Footprint {
        let mut footprint = if self.falls_through {
            self.inner.footprint(cx, input)
        } else {
            Footprint::nothing()
        };
        footprint.writes.push(self.resource());
        footprint
    }

    fn strict(&self) -> bool {
        self.inner.strict()
    }

    fn rule_subject(&self, cx: &ToolCx, input: &Value) -> RuleSubject {
        self.inner.rule_subject(cx, input)
    }

    async fn validate_input(&self, input: &Value, cx: &ToolCx) -> Result<(), Refusal> {
        self.inner.validate_input(input, cx).await
    }

    async fn check_permissions(&self, input: &Value, cx: &ToolCx) -> OwnVerdict {
        self.inner.check_permissions(input, cx).await
    }

    async fn call(
        &self,
        input: &Value,
        cx: &ToolCx,
        permit: &dyn Permit,
        progress: &dyn Progress,
    ) -> Outcome {
        cx.world.op(self.resource(), OpKind::Write).await;
        let name = self.inner.name();
        if let Some(given) = self.answers.take(|answer| answer.matches(name, input)) {
            cx.world.sleep_ms(given.latency_ms).await;
            return given.answer.outcome();
        }
        if self.falls_through {
            return self.inner.call(input, cx, permit, progress).await;
        }
        Outcome::complaint(format!(
            "no answer for this call of {name}. Add one to tools.answers."
        ))
    }

    fn render_tool_use(&self, input: &Value) -> String {
        self.inner.render_tool_use(input)
    }

    fn render_tool_result(&self, outcome: &Outcome) -> String {
        self.inner.render_tool_result(outcome)
    }

    fn to_result_block(&self, outcome: &Outcome) -> super::ResultContent {
        self.inner.to_result_block(outcome)
    }

    fn max_result_chars(&self) -> Option<u64> {
        self.inner.max_result_chars()
    }

    fn summary(&self, input: &Value) -> String {
        self.inner.summary(input)
    }

    fn should_defer(&self) -> bool {
        self.inner.should_defer()
    }
    fn always_load(&self) -> bool {
        self.inner.always_load()
    }

    fn to_classifier_input(&self, input: &Value) -> Value {
        self.inner.to_classifier_input(input)
    }
}
