//! What is wrong with the tools of a pool as a model reads them: descriptions that do not
//! say what a tool is for, pairs that cannot be told apart, schemas with faults. Pure.
//!
//! A model selects by the description: what the tool does, when to use it and when not.

use super::Entry;
use super::words::{is_filler, stems};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A shorter description cannot say what a tool does, when to use it and when not.
const DESCRIPTION_CHARS_MIN: usize = 40;
/// How similar two descriptions are from which on they are told of, in thousandths.
const SIMILAR_MIN: u64 = 800;
/// How many pairs are told of, the most similar first.
const PAIRS_MAX: usize = 10;
/// A description is compared with so many others that have one of its rarest words.
/// Where more have it, all of them say the same, and the first few show that.
const COMPARED_MAX: usize = 32;

/// Words of which one tells when a tool is to be used.
const WHEN: [&str; 8] = [
    "use ", "when", "for ", "if ", "after", "before", "whenever", "once",
];
/// Words of which one tells when not.
const WHEN_NOT: [&str; 12] = [
    " not ",
    "not for",
    "n't",
    "never",
    "instead",
    "rather than",
    "avoid",
    "except",
    "unless",
    "only",
    "no need",
    "without",
];

/// What is wrong with one tool.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    NoDescription,
    /// Its characters.
    ShortDescription(usize),
    NoWhen,
    NoWhenNot,
    /// Where in the schema, and what is wrong there.
    Schema(String),
    /// Another tool with nearly the same description; how similar, in thousandths.
    Similar(String, u64),
}

/// A fault and the tool that has it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lint {
    pub tool: String,
    pub fault: Fault,
}

impl fmt::Display for Lint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = &self.tool;
        match &self.fault {
            Fault::NoDescription => write!(f, "the tool {tool} has no description"),
            Fault::ShortDescription(chars) => write!(
                f,
                "the description of the tool {tool} has {chars} characters; say what it does, when to use it and when not"
            ),
            Fault::NoWhen => write!(
                f,
                "the description of the tool {tool} does not say when to use it"
            ),
            Fault::NoWhenNot => write!(
                f,
                "the description of the tool {tool} does not say when not to use it"
            ),
            Fault::Schema(what) => write!(f, "the input schema of the tool {tool}: {what}"),
            Fault::Similar(other, score) => write!(
                f,
                "the tools {tool} and {other} have nearly the same description ({score} of 1000 words in common)"
            ),
        }
    }
}

/// Everything that is wrong with the tools of a pool: tool by tool in their order, then
/// the most similar pairs.
pub fn lint<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Vec<Lint> {
    let entries: Vec<&Entry> = entries.into_iter().collect();
    let mut found = Vec::new();
    for entry in &entries {
        let mut faults = description(entry.tool().description());
        faults.extend(schema(entry.tool().input_schema()));
        found.extend(faults.into_iter().map(|fault| Lint {
            tool: entry.name().to_owned(),
            fault,
        }));
    }
    found.extend(similar(&entries));
    found
}

fn description(text: &str) -> Vec<Fault> {
    let text = text.trim();
    if text.is_empty() {
        return vec![Fault::NoDescription];
    }
    let chars = text.chars().count();
    if chars < DESCRIPTION_CHARS_MIN {
        return vec![Fault::ShortDescription(chars)];
    }
    let lower = text.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let mut faults = Vec::new();
    if !has(&WHEN) {
        faults.push(Fault::NoWhen);
    }
    if !has(&WHEN_NOT) && !points_elsewhere(text) {
        faults.push(Fault::NoWhenNot);
    }
    faults
}

/// Whether a description sends the model to another tool: "Use Edit for …", or a second
/// "use" that is about something else than the first.
fn points_elsewhere(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let uses = words
        .windows(2)
        .filter(|two| two[0].eq_ignore_ascii_case("use"));
    let names_one = |word: &str| word.contains('_') || word.starts_with(char::is_uppercase);
    uses.clone().count() > 1 || uses.clone().any(|two| names_one(two[1]))
}

/// What a request takes and a model stumbles over.
fn schema(schema: &Value) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut say = |what: String| faults.push(Fault::Schema(what));
    let none = serde_json::Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&none);
    for required in schema["required"].as_array().into_iter().flatten() {
        let name = required.as_str().unwrap_or_default();
        if !properties.contains_key(name) {
            say(format!("{name:?} is required and not among the properties"));
        }
    }
    for (name, property) in properties {
        let is_free = property.as_object().is_some_and(|p| {
            ["type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"]
                .iter()
                .all(|key| !p.contains_key(*key))
        });
        if is_free || property == &Value::Bool(true) {
            say(format!("{name:?} has no type"));
        }
        if property["enum"].as_array().is_some_and(Vec::is_empty) {
            say(format!("{name:?} can have no value: its enum is empty"));
        }
        if property["type"] == "array" && property.get("items").is_none() {
            say(format!("{name:?} is an array of nobody knows what"));
        }
    }
    faults
}

/// The pairs whose descriptions have most of their words in common.
///
/// Two sets that are similar enough share one of their rarest words: each description is
/// compared only with those that have one of its own (prefix filtering, so that ten
/// thousand tools are no hundred million comparisons).
fn similar(entries: &[&Entry]) -> Vec<Lint> {
    let sets: Vec<BTreeSet<String>> = entries.iter().map(|entry| word_set(entry)).collect();
    let mut rarity: BTreeMap<&str, usize> = BTreeMap::new();
    for word in sets.iter().flatten() {
        *rarity.entry(word).or_default() += 1;
    }
    let mut with: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut pairs: BTreeSet<(u64, usize, usize)> = BTreeSet::new();
    for (at, set) in sets.iter().enumerate() {
        let mut rarest: Vec<&str> = set.iter().map(String::as_str).collect();
        rarest.sort_by_key(|word| (rarity[word], *word));
        rarest.truncate(prefix_length(set.len()));
        let mut others = BTreeSet::new();
        for word in &rarest {
            let known = with.entry(word).or_default();
            others.extend(known.iter().copied());
            if known.len() < COMPARED_MAX {
                known.push(at);
            }
        }
        for other in others {
            let score = in_common(&sets[other], set);
            if score >= SIMILAR_MIN {
                pairs.insert((1_000 - score, other, at));
                if pairs.len() > PAIRS_MAX {
                    pairs.pop_last();
                }
            }
        }
    }
    let name = |at: usize| entries[at].name().to_owned();
    pairs
        .into_iter()
        .map(|(distance, a, b)| Lint {
            tool: name(a),
            fault: Fault::Similar(name(b), 1_000 - distance),
        })
        .collect()
}

/// The words that tell what a tool does.
fn word_set(entry: &Entry) -> BTreeSet<String> {
    stems(entry.tool().description())
        .filter(|word| !is_filler(word))
        .collect()
}

/// How many of the rarest words of a set of this size a similar set must share one of.
fn prefix_length(words: usize) -> usize {
    let shared = (words as u64 * SIMILAR_MIN).div_ceil(1_000) as usize;
    words - shared.min(words) + usize::from(words > 0)
}

/// The words that both have, in thousandths of those that either has.
fn in_common(a: &BTreeSet<String>, b: &BTreeSet<String>) -> u64 {
    let both = a.intersection(b).count();
    let either = a.len() + b.len() - both;
    both as u64 * 1_000 / (either as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;
    use crate::tools::{CustomTool, Pool, Tool};
    use serde_json::json;
    use std::sync::Arc;

    fn said(tools: Vec<CustomTool>) -> String {
        let tools = tools
            .into_iter()
            .map(|tool| Arc::new(tool) as Arc<dyn Tool>);
        let pool = Pool::of(tools.collect(), &[], &Profile::seed());
        let lints = lint(pool.entries().iter().map(|entry| &**entry));
        let lines: Vec<String> = lints.iter().map(Lint::to_string).collect();
        lines.join("\n")
    }

    fn tool(name: &str, description: &str) -> CustomTool {
        CustomTool::new(name, description, json!({"type": "object"}))
    }

    #[test]
    fn what_a_model_cannot_select_by_is_told() {
        let lints = said(vec![
            tool("none", " "),
            tool("short", "Does it."),
            tool("vague", "Prints a label on the printer next to the door"),
            tool(
                "half",
                "Prints a label on the printer. Use it when a parcel is packed",
            ),
            tool(
                "good",
                "Seals a parcel for good. Use it when it is packed; not for open ones.",
            ),
            CustomTool::new(
                "faulty",
                "Weighs a parcel. Use it once it is sealed; never for pallets.",
                json!({"type": "object", "required": ["id", "gone"], "properties": {
                    "id": {"description": "Which."}, "unit": {"enum": []}, "all": {"type": "array"}}}),
            ),
        ]);
        insta::assert_snapshot!(lints, @r#"
        the tool none has no description
        the description of the tool short has 8 characters; say what it does, when to use it and when not
        the description of the tool vague does not say when to use it
        the description of the tool vague does not say when not to use it
        the description of the tool half does not say when not to use it
        the input schema of the tool faulty: "gone" is required and not among the properties
        the input schema of the tool faulty: "all" is an array of nobody knows what
        the input schema of the tool faulty: "id" has no type
        the input schema of the tool faulty: "unit" can have no value: its enum is empty
        "#);
    }

    #[test]
    fn pairs_that_say_the_same_are_told_the_most_similar_first() {
        let lints = said(vec![
            tool(
                "a",
                "Finds tickets by words of their text. Use it when no id is known; not to read one.",
            ),
            tool(
                "b",
                "Finds tickets by words of their text. Use it when no id is known; not to read one.",
            ),
            tool(
                "c",
                "Finds open tickets by words of their text. Use it when no id is known; not to read one.",
            ),
            tool(
                "d",
                "Seals a parcel for good. Use it when everything is in; not for open ones.",
            ),
        ]);
        insta::assert_snapshot!(lints, @r"
        the tools a and b have nearly the same description (1000 of 1000 words in common)
        the tools a and c have nearly the same description (875 of 1000 words in common)
        the tools b and c have nearly the same description (875 of 1000 words in common)
        ");
    }

    /// Every pair compared with every other: slower, and the same.
    #[test]
    fn no_pair_is_missed() {
        let words = [
            "find", "ticket", "parcel", "label", "seal", "weigh", "print", "store", "move",
        ];
        let text = |n: usize| {
            let of_n: Vec<&str> = words
                .iter()
                .enumerate()
                .filter(|(bit, _)| n >> bit & 1 == 1)
                .map(|(_, word)| *word)
                .collect();
            of_n.join(" ")
        };
        let sets: Vec<BTreeSet<String>> = (300..320).map(|n| stems(&text(n)).collect()).collect();
        let mut expected = 0;
        for (at, a) in sets.iter().enumerate() {
            expected += sets[..at]
                .iter()
                .filter(|b| in_common(a, b) >= SIMILAR_MIN)
                .count();
        }
        let tools = (300..320).map(|n| tool(&format!("t{n}"), &text(n)));
        let found = said(tools.collect());
        let found = found
            .lines()
            .filter(|line| line.contains("nearly the same"))
            .count();
        assert!(
            expected > 0 && found == expected.min(PAIRS_MAX),
            "{found} of {expected}"
        );
    }
}
