//! The API's own search for tools whose definitions are deferred.

use super::error;
use crate::model::Request;
use crate::wire::ToolDef;
use regex::RegexBuilder;
use serde_json::{Value, json};

/// Ranks tools for the words of a query: the names of the best, at most so many.
pub type SearchTools = fn(&str, &[&ToolDef], usize) -> Vec<String>;

/// Limits of `protocol.md §7`, in characters and in tools.
const PATTERN_CHARS_MAX: usize = 200;
const QUERY_CHARS_MAX: usize = 500;
const LIMIT_DEFAULT: u64 = 5;
const LIMIT_MAX: u64 = 10_000;

const REGEX: &str = "tool_search_tool_regex";
const BM25: &str = "tool_search_tool_bm25";

pub(super) fn by_pattern(input: &Value, request: &Request<'_>) -> Value {
    let (Some(pattern), Some(limit)) = (input["pattern"].as_str(), limit(input)) else {
        return error(REGEX, "invalid_tool_input", None);
    };
    if pattern.chars().count() > PATTERN_CHARS_MAX {
        let what = format!("the pattern has more than {PATTERN_CHARS_MAX} characters");
        return error(REGEX, "invalid_tool_input", Some(what));
    }
    let pattern = match RegexBuilder::new(pattern).case_insensitive(true).build() {
        Ok(pattern) => pattern,
        Err(wrong) => {
            let wrong = wrong.to_string();
            let last = wrong.lines().last().unwrap_or_default();
            let what = format!("the pattern is no regular expression: {last}");
            return error(REGEX, "invalid_tool_input", Some(what));
        }
    };
    let found = deferred(request)
        .filter(|tool| texts(tool).iter().any(|text| pattern.is_match(text)))
        .map(|tool| tool.name.clone());
    references(found.take(limit))
}

pub(super) fn by_words(input: &Value, request: &Request<'_>, search: SearchTools) -> Value {
    let (Some(query), Some(limit)) = (input["query"].as_str(), limit(input)) else {
        return error(BM25, "invalid_tool_input", None);
    };
    if query.chars().count() > QUERY_CHARS_MAX {
        let what = format!("the query has more than {QUERY_CHARS_MAX} characters");
        return error(BM25, "invalid_tool_input", Some(what));
    }
    let tools: Vec<&ToolDef> = deferred(request).collect();
    references(search(query, &tools, limit).into_iter())
}

fn deferred<'r>(request: &Request<'r>) -> impl Iterator<Item = &'r ToolDef> {
    request.tools.iter().filter(|tool| tool.is_deferred())
}

fn limit(input: &Value) -> Option<usize> {
    match &input["limit"] {
        Value::Null => Some(LIMIT_DEFAULT),
        given => given.as_u64().filter(|n| (1..=LIMIT_MAX).contains(n)),
    }
    .and_then(|limit| usize::try_from(limit).ok())
}

/// What is searched of a tool: its name, its description, its arguments and theirs.
fn texts(tool: &ToolDef) -> Vec<String> {
    let mut texts = vec![tool.name.clone()];
    texts.extend(tool.description.clone());
    let schema: Option<Value> = tool
        .input_schema
        .as_ref()
        .and_then(|schema| serde_json::from_str(schema.get()).ok());
    let arguments = schema.as_ref().and_then(|s| s["properties"].as_object());
    for (name, argument) in arguments.into_iter().flatten() {
        texts.push(name.clone());
        texts.extend(argument["description"].as_str().map(str::to_owned));
    }
    texts
}

fn references(names: impl Iterator<Item = String>) -> Value {
    let references: Vec<Value> = names
        .map(|name| json!({"type": "tool_reference", "tool_name": name}))
        .collect();
    json!({"type": "tool_search_tool_search_result", "tool_references": references})
}
