//! The tools of `fixtures/search`, made from their tables; the benches use this too.

use rehearsal::tools::{Annotations, CustomTool, McpOrigin, Tool, mcp_names};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

const SERVERS: &str = include_str!("../../../fixtures/search/servers.txt");
const VERBS: &str = include_str!("../../../fixtures/search/verbs.tsv");
const BY_HAND: &str = include_str!("../../../fixtures/search/by_hand.tsv");

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
}

/// Server, tool, description and schema of every tool.
pub fn described() -> Vec<(String, String, String, Value)> {
    let by_hand = lines(BY_HAND).map(|line| {
        let mut parts = line.split('\t').map(str::to_owned);
        let mut next = || parts.next().unwrap_or_default();
        (next(), next(), next(), schema("create", "text"))
    });
    let verbs: Vec<Vec<&str>> = lines(VERBS)
        .map(|line| line.split('\t').collect())
        .collect();
    let mut all: Vec<_> = by_hand.collect();
    let (mut server, mut about) = ("", "");
    for line in lines(SERVERS) {
        let (name, gloss) = line.split_once(": ").unwrap_or((line, ""));
        let Some(thing) = name.strip_prefix("  ") else {
            (server, about) = (name, gloss);
            continue;
        };
        for verb in &verbs {
            let filled = |text: &str| {
                text.replace("{name}", &thing.replace('_', " "))
                    .replace("{thing}", gloss)
            };
            let description = format!(
                "{} Part of {server}, {about}. {}",
                filled(verb[1]),
                filled(verb[2])
            );
            let tool = format!("{}_{thing}", verb[0]);
            all.push((server.to_owned(), tool, description, schema(verb[0], thing)));
        }
    }
    all
}

fn schema(verb: &str, thing: &str) -> Value {
    let text = |what: &str| json!({"type": "string", "description": what});
    let (properties, required) = match verb {
        "create" => (
            json!({"title": text("What it is called."), "body": text("What it says.")}),
            json!(["title"]),
        ),
        "list" | "search" => (
            json!({"query": text("Words to look for."), "limit": {"type": "integer", "description": "How many at most."}}),
            json!([]),
        ),
        _ => (
            json!({format!("{thing}_id"): text("Which one.")}),
            json!([format!("{thing}_id")]),
        ),
    };
    json!({"type": "object", "properties": properties, "required": required})
}

/// So many of the tools, evenly taken from all of them. With a `round`, no schema is that
/// of another round.
pub fn sample(count: usize, round: Option<usize>) -> Vec<Arc<dyn Tool>> {
    let mut all = described();
    let step = all.len() / count.max(1);
    let mut at = 0..;
    all.retain(|_| {
        at.next()
            .is_some_and(|at: usize| at.is_multiple_of(step.max(1)))
    });
    for (.., schema) in &mut all {
        if let Some(round) = round {
            schema["$comment"] = round.to_string().into();
        }
    }
    let names: BTreeMap<(&str, &str), String> =
        mcp_names(all.iter().map(|(server, tool, ..)| (&**server, &**tool)));
    all.iter()
        .map(|(server, tool, description, schema)| {
            let origin = McpOrigin {
                server: server.clone(),
                tool: tool.clone(),
                annotations: Annotations::default(),
            };
            let name = names[&(&**server, &**tool)].clone();
            let tool = CustomTool::of_server(origin, description, schema.clone());
            Arc::new(CustomTool { name, ..tool }) as Arc<dyn Tool>
        })
        .collect()
}
