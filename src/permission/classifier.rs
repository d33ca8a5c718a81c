//! Layer 4: a classifier, as the scenario scripts it; in mode `auto`, where none is
//! scripted, one that goes by a few rules.

use super::mode::Place;
use super::subject::About;
use super::{Judged, Permissions, Verdict, lock};
use crate::sim::{OpKind, Resource};
use crate::words::{Behavior, Mode};
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

    fn answers(&self, judged: &Judged<'_>, about: &str) -> bool {
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
                .is_none_or(|pattern| pattern.matches(about) || pattern.matches(&shown(judged)))
            && self
                .input
                .iter()
                .all(|(key, pattern)| value(key).is_some_and(|text| pattern.matches(&text)))
    }
}

/// Asks the classifier that there is.
pub(super) async fn ask(
    permissions: &Permissions,
    judged: &Judged<'_>,
    about: &About,
    place: Place,
    mode: Mode,
) -> Verdict {
    if mode == Mode::Auto
        && let Some(why) = lock(&permissions.refusals).pause()
    {
        return Verdict::none(why);
    }
    match (permissions.classifier.is_empty(), mode) {
        (false, _) => scripted(permissions, judged, about.shown()).await,
        (true, Mode::Auto) => {
            let world = &judged.cx.world;
            world.op(Resource::Classifier, OpKind::Ask).await;
            by_rules(judged, about, place)
        }
        (true, _) => Verdict::none("there is no classifier"),
    }
}

/// What a call shows that makes it dangerous, whatever the tool says of itself.
const DANGERS: &[(&str, &str)] = &[
    (".ssh/", "it is about keys"),
    ("id_rsa", "it is about keys"),
    (".aws/credentials", "it is about credentials"),
    (".netrc", "it is about credentials"),
    ("/etc/shadow", "it is about passwords"),
    ("--force", "it does without asking what would be asked"),
    ("--no-verify", "it leaves checks out"),
    ("sudo ", "it runs as somebody else"),
    ("| sh", "it runs what it has just got"),
    ("| bash", "it runs what it has just got"),
    ("chmod 777", "it opens files to everybody"),
];

/// The rule-based classifier: denies what a tool calls destructive and what shows a
/// danger, allows what changes nothing or only files of the project, and has no opinion
/// of the rest.
fn by_rules(judged: &Judged<'_>, about: &About, place: Place) -> Verdict {
    let (tool, input) = (judged.tool, judged.input);
    let deny = |why: &str| Verdict::new(Behavior::Deny, "by_rules", why.to_owned());
    let allow = |why: &'static str| Verdict::new(Behavior::Allow, "by_rules", why);
    let sees = shown(judged);
    if let Some((_, why)) = DANGERS.iter().find(|(sign, _)| sees.contains(sign)) {
        return deny(why);
    }
    if tool.is_read_only(input) {
        return allow("it changes nothing");
    }
    if let Some(what) = about.critical() {
        return deny(what);
    }
    match place {
        Place::EditsProtected => return deny("it changes a file that configures other programs"),
        Place::EditsOutside => return deny("it changes files outside the working folders"),
        _ => {}
    }
    if tool.is_destructive(input) {
        return deny("it may take something away for good");
    }
    match place {
        Place::EditsInside => allow("it changes only files of the working folders"),
        _ if is_mcp(tool.name()) => allow("its server says that it takes nothing away"),
        _ => Verdict::none("nothing speaks for it or against it"),
    }
}

/// What the tool shows a classifier of a call, as JSON.
fn shown(judged: &Judged<'_>) -> String {
    judged.tool.to_classifier_input(judged.input).to_string()
}

fn is_mcp(name: &str) -> bool {
    name.starts_with("mcp__")
}

/// Asks the scripted classifier: one operation, then the time it takes.
async fn scripted(permissions: &Permissions, judged: &Judged<'_>, about: &str) -> Verdict {
    let world = &judged.cx.world;
    world.op(Resource::Classifier, OpKind::Ask).await;
    let answer = permissions
        .classifier
        .take(|answer| answer.answers(judged, about));
    let Some(answer) = answer else {
        return Verdict::none("it has no answer to this call");
    };
    world.sleep_ms(answer.think_ms).await;
    let why = answer.reason.unwrap_or_default();
    match answer.answer {
        Behavior::Allow | Behavior::Deny => Verdict::new(answer.answer, "classifier", why),
        Behavior::Ask | Behavior::Defer => Verdict::none(why),
    }
}
