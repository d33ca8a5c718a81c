//! The tool ToolSearch: finds deferred tools and loads them.

use super::nearest::nearest;
use super::pool::{Entry, Pool, SEARCH};
use super::session;
use super::{
    Footprint, Outcome, OwnVerdict, Permit, Progress, ReadOnly, Refusal, Tool, ToolCx, fields,
};
use crate::profile::LoadedSchema;
use crate::wire::Block;
use crate::words::Class;
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

/// How many tools a search by words gives if it does not say (`semantics.md §3.7`).
const RESULTS_DEFAULT: usize = 5;

/// Finds tools by name or by words and loads them.
pub struct ToolSearch;

#[derive(Deserialize)]
struct Input {
    query: String,
    #[serde(default, deserialize_with = "fields::whole")]
    max_results: Option<i64>,
}

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "\"select:NameA,NameB\" for tools whose names you know, or words for what a tool should do; a word with + in front must be there."},
            "max_results": {"type": "integer", "description": "How many tools a search by words gives at most (default 5)."}
        },
        "required": ["query"],
        "additionalProperties": false
    })
});

#[async_trait]
impl Tool for ToolSearch {
    fn name(&self) -> &str {
        SEARCH
    }

    fn search_hint(&self) -> &str {
        "find load deferred tools"
    }

    fn description(&self) -> &str {
        "Finds tools that are listed by name only and loads them: it shows the description, input \
         schema and usage of each, and from the next request on they can be called. Use it before you \
         call such a tool. Not for tools whose definition you already have."
    }

    fn input_schema(&self) -> &Value {
        &SCHEMA
    }

    fn read_only(&self) -> ReadOnly {
        ReadOnly::Always
    }

    /// What several searches load is the same in any order of them.
    fn footprint(&self, _cx: &ToolCx, _input: &Value) -> Footprint {
        Footprint::reads([session::loaded_tools()])
    }

    fn summary(&self, input: &Value) -> String {
        input["query"].as_str().unwrap_or_default().to_owned()
    }

    async fn validate_input(&self, input: &Value, _cx: &ToolCx) -> Result<(), Refusal> {
        let input: Input = fields::read(input)?;
        let names = input.query.strip_prefix("select:");
        if names.unwrap_or(&input.query).trim().is_empty() {
            return Err(Refusal::new(
                Class::InvalidInput,
                "the query is empty. Give names after select:, or words.",
            ));
        }
        Ok(())
    }

    /// It touches nothing but the session's own list.
    async fn check_permissions(&self, _input: &Value, _cx: &ToolCx) -> OwnVerdict {
        OwnVerdict::Allow {
            why: "it only looks up tools".to_owned(),
        }
    }

    async fn call(
        &self,
        input: &Value,
        cx: &ToolCx,
        _permit: &dyn Permit,
        _progress: &dyn Progress,
    ) -> Outcome {
        let input: Input = match fields::read(input) {
            Ok(input) => input,
            Err(refusal) => return refusal.into(),
        };
        let Some(pool) = cx.env.pool.get() else {
            return Outcome::error(Class::Internal, "the pool of tools is not built.");
        };
        let (found, unknown) = match input.query.strip_prefix("select:") {
            Some(names) => select(pool, names),
            None => (search(pool, &input), Vec::new()),
        };
        let loaded: Vec<Arc<str>> = found
            .iter()
            .filter(|entry| entry.is_deferred())
            .map(|entry| entry.name().into())
            .collect();
        cx.env
            .session
            .load_tools(&cx.world, &cx.call, &loaded)
            .await;
        let names: Vec<&str> = found.iter().map(|entry| entry.name()).collect();
        let data = json!({
            "matches": names,
            "query": input.query,
            "total_deferred_tools": pool.deferred().len(),
        });
        let outcome = match cx.env.profile.loaded_schema {
            LoadedSchema::ToolReference => referred(pool, &found),
            LoadedSchema::Result | LoadedSchema::ToolsBlock => {
                Outcome::ok(said(pool, &found, &unknown))
            }
        };
        outcome.with_data(data)
    }
}

/// The tools that are named, each once, in their order; and the names that mean none.
fn select<'a>(pool: &Pool, names: &'a str) -> (Vec<Arc<Entry>>, Vec<&'a str>) {
    let mut found: Vec<Arc<Entry>> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut unknown = Vec::new();
    for name in names.split(',').map(str::trim).filter(|n| !n.is_empty()) {
        match pool.lookup(name) {
            Ok(entry) if seen.insert(entry.name().to_owned()) => found.push(entry),
            Ok(_) => {}
            Err(_) => unknown.push(name),
        }
    }
    (found, unknown)
}

/// The deferred tools that fit the words best.
fn search(pool: &Pool, input: &Input) -> Vec<Arc<Entry>> {
    let most = input
        .max_results
        .and_then(|n| usize::try_from(n).ok())
        .filter(|n| *n > 0)
        .unwrap_or(RESULTS_DEFAULT);
    let best = pool.search(&input.query, most).into_iter();
    best.map(|(_, entry)| entry.clone()).collect()
}

/// The found tools as the API's own references, which it replaces by their definitions.
/// Every tool that is referred to must be among those of the request.
fn referred(pool: &Pool, found: &[Arc<Entry>]) -> Outcome {
    if found.is_empty() {
        return Outcome::ok(nothing(pool));
    }
    let references = found
        .iter()
        .map(|entry| Block::tool_reference(entry.name()));
    Outcome::blocks(references.collect())
}

fn said(pool: &Pool, found: &[Arc<Entry>], unknown: &[&str]) -> String {
    let mut parts: Vec<String> = Vec::new();
    match found.len() {
        0 if unknown.is_empty() => parts.push(nothing(pool)),
        0 => {}
        1 => parts.push("Loaded 1 tool. It can be called from now on.".to_owned()),
        n => parts.push(format!("Loaded {n} tools. They can be called from now on.")),
    }
    parts.extend(found.iter().map(|entry| entry.usage()));
    for name in unknown {
        let names = pool.entries().iter().map(|entry| entry.name());
        let near = nearest(name, names);
        let hint = super::nearest::did_you_mean(&near);
        parts.push(format!("There is no tool called {name}.{hint}"));
    }
    parts.join("\n\n")
}

/// That no tool fits, with what there is.
fn nothing(pool: &Pool) -> String {
    let Some(first) = pool.deferred().next() else {
        return "No tool is deferred: every tool of this session can be called.".to_owned();
    };
    format!(
        "No tool fits. Try other words, or \"select:{}\" with one of: {}.",
        first.name(),
        pool.deferred_listing()
    )
}
