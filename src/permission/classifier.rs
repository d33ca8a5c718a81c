//! Layer 4: a classifier, as the scenario scripts it.

use super::{Judged, Permissions, Verdict};
use crate::sim::{OpKind, Resource};
use crate::words::Behavior;
use crate::world::Pattern;
use serde_json::Value;
use std::collections::BTreeMap;

/// What the scripted classifier says of a call. What is `None` or empty matches every call.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassifierAnswer {
    /// Over the tool's name.
    pub tool: Option<Pattern>,
    /// The call's id, or its number as text.
    pub call: Option<String>,
    /// Over single values of the input, by key; what is no text is compared as JSON.
    pub input: BTreeMap<String, Pattern>,
    /// Over what the call is about (a path, a command, a URL), or over the JSON text of
    /// what the tool shows a classifier.
    pub sees: Option<Pattern>,
    /// `allow`, `deny`, or `ask` for no opinion.
    pub answer: Behavior,
    pub reason: Option<String>,
    /// Virtual milliseconds until it answers.
    pub think_ms: u64,
}

impl ClassifierAnswer {
    /// Whether the entry says what it answers.
    pub fn has_matcher(&self) -> bool {
        self.tool.is_some() || self.call.is_some() || !self.input.is_empty() || self.sees.is_some()
    }

    fn answers(&self, judged: &Judged<'_>, about: &str, sees: &str) -> bool {
        let (tool, input, id) = (judged.tool.name(), judged.input, &judged.cx.call);
        let value = |key: &str| match input.get(key)? {
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        self.tool
            .as_ref()
            .is_none_or(|tool_is| tool_is.matches(tool))
            && self
                .call
                .as_ref()
                .is_none_or(|call| **call == *id.id || call.parse() == Ok(id.number))
            && self
                .sees
                .as_ref()
                .is_none_or(|pattern| pattern.matches(about) || pattern.matches(sees))
            && self
                .input
                .iter()
                .all(|(key, pattern)| value(key).is_some_and(|text| pattern.matches(&text)))
    }
}

/// Asks the classifier: one operation, then the time it takes.
pub(super) async fn verdict(
    permissions: &Permissions,
    judged: &Judged<'_>,
    about: &str,
) -> Verdict {
    let (cx, tool) = (judged.cx, judged.tool);
    cx.world.op(Resource::Classifier, OpKind::Ask).await;
    let sees = tool.to_classifier_input(judged.input).to_string();
    let answer = permissions
        .classifier
        .take(|answer| answer.answers(judged, about, &sees));
    let Some(answer) = answer else {
        return Verdict::none("it has no answer to this call");
    };
    cx.world.sleep_ms(answer.think_ms).await;
    let why = answer.reason.unwrap_or_default();
    match answer.answer {
        Behavior::Allow | Behavior::Deny => Verdict::new(answer.answer, "classifier", why),
        Behavior::Ask | Behavior::Defer => Verdict::none(why),
    }
}
