//! What the model and the user read.

use super::Verdict;
use crate::tools::Tool;
use crate::words::{Behavior, Layer};
use serde_json::Value;

/// What the user is asked.
pub(super) fn question(tool: &dyn Tool, input: &Value, why: &str) -> String {
    let call = tool.render_tool_use(input);
    match why {
        "" => format!("May {call} run?"),
        why => format!("May {call} run? ({why})"),
    }
}

/// What the model is told of a call that may not run: who decided, by what, what to do.
pub(super) fn denial(tool: &str, layer: Layer, verdict: &Verdict, asked_by: &str) -> String {
    let why = match &*verdict.why {
        "" => String::new(),
        why => format!(": {why}"),
    };
    if verdict.behavior == Some(Behavior::Defer) {
        return format!(
            "a hook put this call of {tool} off{why}. It has not run; it may be decided about later."
        );
    }
    let (who, what) = match (layer, verdict.reason) {
        (Layer::Rule, "tool_check") => (
            format!("{tool} itself does not allow this use{why}"),
            "Do it another way that the tool allows, or leave it",
        ),
        (Layer::Rule, _) => (
            match &verdict.rule {
                Some(rule) => format!(
                    "the rule `{}` (deny[{}] of the {} settings) forbids this call of {tool}{why}",
                    rule.text, rule.index, rule.source
                ),
                None => format!("a rule forbids this call of {tool}{why}"),
            },
            "Do not try the same by other means; go on without it, or ask the user to change the rule",
        ),
        (Layer::Mode, "plan") => (
            format!("mode plan does not allow this call of {tool}{why}"),
            "Finish the plan and present it; changes come after it is accepted",
        ),
        (Layer::Mode, _) => (
            format!("the permission mode does not allow this call of {tool}{why}"),
            "Use what is allowed already, or ask the user to allow it by a rule",
        ),
        (Layer::Hook, _) => (
            format!("a hook refused this call of {tool}{why}"),
            "Change what the hook objects to, or go on without it",
        ),
        (Layer::Classifier, _) => (
            format!("the permission classifier refused this call of {tool}{why}"),
            "Choose a safer way, or ask the user",
        ),
        (Layer::User, "nobody_to_ask") => (
            format!(
                "this call of {tool} needs a permission that nobody is there to give{asked_by}"
            ),
            "Go on without it, or with calls that a rule allows",
        ),
        (Layer::User, _) => (
            format!("the user refused this call of {tool}{why}"),
            "Do not repeat it; do what the user said, or ask what to do instead",
        ),
    };
    format!("{who}. Nothing of it has run. {what}.")
}
