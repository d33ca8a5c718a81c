//! A tool that is itself up to the moment where it would run, and then either runs or
//! gives back what the recording has.

use crate::recording::{Raw, RecordedCall, RecordedEnding, tool_name};
use crate::tools::{
    CustomTool, Footprint, McpOrigin, Outcome, OwnVerdict, Permit, Progress, ReadOnly, Refusal,
    ResultContent, RuleSubject, Tool, ToolCx,
};
use crate::wire::{Block, raw};
use crate::words::{Class, Flag};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard};

/// What is to come of the next call.
#[derive(Debug, Clone, Default)]
pub(super) enum Serve {
    /// The tool runs.
    #[default]
    Nothing,
    /// This comes in place of running it.
    Execution(Outcome),
    /// The same, and what the tool demands of the world is not asked either.
    FromValidation(Outcome),
}

/// Where the next call's outcome is left for its tool. One call is under way at a time.
#[derive(Clone, Default)]
pub(super) struct Slot(Arc<Mutex<Serve>>);

impl Slot {
    pub fn set(&self, serve: Serve) {
        *self.lock() = serve;
    }

    fn lock(&self) -> MutexGuard<'_, Serve> {
        self.0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// A tool over which the recording lies.
pub(super) struct Served {
    inner: Arc<dyn Tool>,
    slot: Slot,
}

impl Served {
    /// Lays the recording over a tool that is built in.
    pub fn over(inner: Arc<dyn Tool>, slot: &Slot) -> Arc<dyn Tool> {
        Arc::new(Served {
            inner,
            slot: slot.clone(),
        })
    }

    /// A tool of which there is nothing but what the recording has.
    pub fn only(name: &str, slot: &Slot) -> Arc<dyn Tool> {
        let definition = CustomTool {
            strict: false,
            ..CustomTool::new(name, "Answers as recorded.", json!({"type": "object"}))
        };
        Served::over(Arc::new(definition), slot)
    }
}

#[async_trait]
impl Tool for Served {
    fn name(&self) -> &str {
        self.inner.name()
    }
    fn aliases(&self) -> Vec<&str> {
        self.inner.aliases()
    }
    fn search_hint(&self) -> &str {
        self.inner.search_hint()
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
    fn mcp_origin(&self) -> Option<&McpOrigin> {
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
    fn is_concurrency_safe(&self, cx: &ToolCx, input: &Value) -> bool {
        self.inner.is_concurrency_safe(cx, input)
    }
    fn is_destructive(&self, input: &Value) -> bool {
        self.inner.is_destructive(input)
    }
    fn footprint(&self, cx: &ToolCx, input: &Value) -> Footprint {
        self.inner.footprint(cx, input)
    }
    fn strict(&self) -> bool {
        self.inner.strict()
    }
    fn rule_subject(&self, cx: &ToolCx, input: &Value) -> RuleSubject {
        self.inner.rule_subject(cx, input)
    }
    async fn validate_input(&self, input: &Value, cx: &ToolCx) -> Result<(), Refusal> {
        if matches!(*self.slot.lock(), Serve::FromValidation(_)) {
            return Ok(());
        }
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
        let serve = std::mem::take(&mut *self.slot.lock());
        match serve {
            Serve::Nothing => self.inner.call(input, cx, permit, progress).await,
            Serve::Execution(outcome) | Serve::FromValidation(outcome) => outcome,
        }
    }
    fn render_tool_use(&self, input: &Value) -> String {
        self.inner.render_tool_use(input)
    }
    fn render_tool_result(&self, outcome: &Outcome) -> String {
        self.inner.render_tool_result(outcome)
    }
    fn to_result_block(&self, outcome: &Outcome) -> ResultContent {
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

/// The outcome that the recording has for a call.
pub(super) fn recorded_outcome(call: &RecordedCall<'_>, ending: &RecordedEnding) -> Outcome {
    let result = call.result.as_ref();
    let text = || {
        result
            .map(|result| result.text().into_owned())
            .unwrap_or_default()
    };
    if ending.class != Class::Ok {
        return Outcome::error(ending.class, text());
    }
    // Where the conversation had only the beginning of an output, step 7 gets the whole
    // of it and makes the beginning itself.
    let whole = ending
        .flags
        .contains(&Flag::Persisted)
        .then(|| result?.structured.and_then(|raw| whole_output(raw, call)))
        .flatten();
    let blocks = || {
        let content = result?.content.filter(|content| content.is_array())?;
        content.parse::<Vec<Value>>()
    };
    match (whole, blocks()) {
        (Some(whole), _) => Outcome::ok(whole),
        (None, Some(blocks)) => {
            let blocks = blocks.iter().map(|block| Block::from_raw(raw::of(block)));
            Outcome::blocks(blocks.collect())
        }
        (None, None) => Outcome::ok(text()),
    }
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct ShellOutput {
    stdout: String,
    persisted_output_path: Option<String>,
}

/// The whole output of a command, as the runtime kept it for itself. Where it names the
/// file of a saved output, what it keeps is cut.
fn whole_output(structured: Raw<'_>, call: &RecordedCall<'_>) -> Option<String> {
    let output = tool_name::is_shell(&call.tool)
        .then(|| structured.parse::<ShellOutput>())
        .flatten()?;
    output
        .persisted_output_path
        .is_none()
        .then_some(output.stdout)
}

/// Whether the recording has the whole output of a command.
pub(super) fn has_whole_output(call: &RecordedCall<'_>) -> bool {
    let structured = call.result.as_ref().and_then(|result| result.structured);
    structured.is_some_and(|structured| whole_output(structured, call).is_some())
}
