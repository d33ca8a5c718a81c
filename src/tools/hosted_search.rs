//! The ranking that the API's own search of deferred tools goes by.

use super::rank::{Index, Text};
use crate::wire::ToolDef;
use serde_json::Value;

/// The names of the tools that fit `query` best, at most `limit`: by score, ties by name;
/// those that share no word with it are left out.
pub fn search_definitions(query: &str, tools: &[&ToolDef], limit: usize) -> Vec<String> {
    let texts: Vec<String> = tools.iter().map(|tool| text(tool)).collect();
    let index = Index::of(tools.iter().zip(&texts).map(|(tool, text)| Text {
        name: &tool.name,
        hint: "",
        description: text,
    }));
    let best = index.best(query, limit).into_iter();
    best.map(|(_, at)| tools[at].name.clone()).collect()
}

/// The description, and the names and descriptions of the arguments.
fn text(tool: &ToolDef) -> String {
    let schema: Option<Value> = tool
        .input_schema
        .as_ref()
        .and_then(|schema| serde_json::from_str(schema.get()).ok());
    let mut text = tool.description.clone().unwrap_or_default();
    for (name, argument) in schema
        .as_ref()
        .and_then(|schema| schema["properties"].as_object())
        .into_iter()
        .flatten()
    {
        text.push(' ');
        text.push_str(name);
        text.push(' ');
        text.push_str(argument["description"].as_str().unwrap_or_default());
    }
    text
}
