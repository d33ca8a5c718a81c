//! What comes before the conversation: tools and system prompt.

use super::content::Caches;
use super::{Findings, Rule, Violation, is_plain};
use crate::wire::kind::Ttl;
use crate::wire::message::Content;
use crate::wire::raw::Fields;
use crate::wire::tool::ToolDef;
use serde_json::value::RawValue;
use std::collections::BTreeSet;

/// The longest name of a tool.
const TOOL_NAME_CHARS_MAX: usize = 128;
/// Tools of a request that may be strict (`protocol.md §8`).
const STRICT_TOOLS_MAX: usize = 20;
/// Keywords that a schema may not have at its root.
const ALTERNATIVES: [&str; 3] = ["oneOf", "allOf", "anyOf"];

/// The tools and the system prompt of a request, checked once for many requests.
#[derive(Debug, Clone, Default)]
pub struct Head {
    pub(super) caches: Caches,
    pub(super) tools: BTreeSet<String>,
    violations: Vec<Violation>,
}

impl Head {
    /// Checks tools, system prompt and the request's own `cache_control`.
    pub fn new(tools: &[ToolDef], system: &Content, cache_control: Option<&RawValue>) -> Head {
        let mut out = Findings::default();
        let mut caches = Caches::default();
        check_tools(tools, &mut caches, &mut out);
        for (n, block) in system.iter().enumerate() {
            let path = format!("system.{n}");
            match block.as_text() {
                // The empty string stands for no prompt; recorded, and taken.
                Some("") if system.is_string() => {}
                Some("") => out.add(Rule::EmptyText, &*path, "the text is empty"),
                Some(_) => {}
                None => out.add(Rule::WrongRole, &*path, "a system prompt holds only text"),
            }
            if let Some(ttl) = block.cache_control() {
                caches.add(ttl, &|| path.clone());
            }
        }
        // An automatic place counts, but it stands at the end of the messages.
        caches.count += usize::from(cache_control.and_then(Ttl::of).is_some());
        Head {
            caches,
            tools: tools.iter().map(|tool| tool.name.clone()).collect(),
            violations: out.0,
        }
    }

    /// What is wrong with it.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }
}

fn check_tools(tools: &[ToolDef], caches: &mut Caches, out: &mut Findings) {
    let mut names = BTreeSet::new();
    for (n, tool) in tools.iter().enumerate() {
        let path = format!("tools.{n}");
        if tool.is_custom() {
            check_custom(tool, &format!("{path}.custom"), out);
        }
        if !tool.name.is_empty() && !names.insert(&tool.name) {
            out.add(
                Rule::DuplicateTool,
                &*path,
                format!("another tool is called `{}` too", tool.name),
            );
        }
        if let Some(ttl) = tool.cache() {
            caches.add(ttl, &|| path.clone());
            if tool.is_deferred() {
                out.add(
                    Rule::DeferredCache,
                    &*path,
                    format!(
                        "`{}` is deferred, and what is deferred cannot be cached",
                        tool.name
                    ),
                );
            }
        }
    }
    if !tools.is_empty() && tools.iter().all(ToolDef::is_deferred) {
        out.add(
            Rule::AllDeferred,
            "tools",
            "every tool is deferred; one at least must not be",
        );
    }
    let strict = tools.iter().filter(|tool| tool.strict == Some(true));
    let strict = strict.count();
    if strict > STRICT_TOOLS_MAX {
        out.add(
            Rule::StrictTools,
            "tools",
            format!("{strict} tools are strict; {STRICT_TOOLS_MAX} may be"),
        );
    }
}

fn check_custom(tool: &ToolDef, path: &str, out: &mut Findings) {
    // Every character of a plain name is one byte.
    if !is_plain(&tool.name) || tool.name.len() > TOOL_NAME_CHARS_MAX {
        out.add(
            Rule::ToolName,
            format!("{path}.name"),
            format!("a name is 1 to {TOOL_NAME_CHARS_MAX} letters, digits, `_` and `-`"),
        );
    }
    let path = format!("{path}.input_schema");
    let Some(schema) = &tool.input_schema else {
        out.add(Rule::SchemaRoot, path, "missing");
        return;
    };
    let Some(root) = Fields::of(schema) else {
        out.add(Rule::SchemaRoot, path, "not an object");
        return;
    };
    if root.text("type").as_deref() != Some("object") {
        out.add(
            Rule::SchemaRoot,
            format!("{path}.type"),
            "the root of a schema has the type `object`",
        );
    }
    for keyword in ALTERNATIVES {
        if root.get(keyword).is_some() {
            out.add(
                Rule::SchemaRoot,
                &*path,
                format!("`{keyword}` may not stand at the root of a schema"),
            );
        }
    }
    let is_schema = serde_json::from_str(schema.get())
        .is_ok_and(|value| jsonschema::draft202012::meta::is_valid(&value));
    if !is_schema {
        out.add(Rule::Schema, path, "not a JSON Schema of draft 2020-12");
    }
}
