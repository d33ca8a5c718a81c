//! The tools that a scenario brings: the user's own and those of MCP servers.

use super::answers::{ToolAnswer, read_gives, read_list, read_tool_answer};
use super::complaint::{Complaint, Place};
use super::fields::{MAX_INT, Placed, Reader};
use super::keys;
use super::node::{Data, Node, ticked};
use crate::tools::published::{TYPES, has_max_characters, published};
use crate::tools::{Annotations, CustomTool, McpOrigin, mcp_names};
use crate::world::Answer;
use serde_json::Value;
use std::collections::BTreeMap;

/// Which tools there are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolSpecs {
    /// The built-in tools there are; all if not given.
    pub only: Option<Vec<Placed<String>>>,
    pub custom: Vec<CustomTool>,
    /// The tools of connected MCP servers, under the names they are offered by.
    pub mcp: Vec<CustomTool>,
    pub answers: Vec<Answer<ToolAnswer>>,
}

/// A tool whose schema the vendor publishes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedSpec {
    /// Its type, such as `bash_20250124`.
    pub kind: String,
    pub max_characters: Option<u64>,
}

pub(super) fn read_published(r: &mut Reader, node: Option<&Node>) -> Vec<PublishedSpec> {
    let mut found: Vec<PublishedSpec> = Vec::new();
    for node in node
        .and_then(|n| r.list(n, "published tools"))
        .unwrap_or_default()
    {
        let Some(spec) = read_one_published(r, node) else {
            continue;
        };
        let name =
            |spec: &PublishedSpec| published(&spec.kind, None).map(|tool| tool.name().to_owned());
        match found.iter().find(|earlier| name(earlier) == name(&spec)) {
            Some(earlier) => r.complain(Complaint::error(
                &node.at,
                format!(
                    "{} beside {}, which has the same name",
                    spec.kind, earlier.kind
                ),
                "every tool once",
            )),
            None => found.push(spec),
        }
    }
    found
}

fn read_one_published(r: &mut Reader, node: &Node) -> Option<PublishedSpec> {
    let word = |r: &mut Reader, n: &Node| {
        r.word(n, &keys::published(), |word| {
            TYPES.contains(&word).then(|| word.to_owned())
        })
    };
    if !matches!(node.data, Data::Map(_)) {
        let kind = word(r, node)?;
        return Some(PublishedSpec {
            kind,
            max_characters: None,
        });
    }
    let mut f = r.fields(node, &keys::PUBLISHED)?;
    let kind = f.get("type").and_then(|n| word(r, n));
    let max = f.get("max_characters");
    if let (Some(node), Some(kind)) = (max, &kind)
        && !has_max_characters(kind)
    {
        r.complain(Complaint::error(
            &node.at,
            format!("max_characters of {kind}"),
            "it with text_editor_20250728 alone",
        ));
    }
    let max_characters = max.and_then(|n| r.int(n, 1, MAX_INT));
    f.done();
    Some(PublishedSpec {
        kind: kind?,
        max_characters,
    })
}

pub(super) fn read_tools(r: &mut Reader, node: &Node) -> Option<ToolSpecs> {
    let mut f = r.fields(node, &keys::TOOLS)?;
    let only = f
        .get("only")
        .and_then(|n| r.list(n, "tool names"))
        .map(|items| {
            let named = |n: &Node| {
                Some(Placed {
                    value: r.text(n)?,
                    at: n.at.clone(),
                })
            };
            items.iter().filter_map(named).collect()
        });
    let custom: Vec<(Place, CustomTool)> = f
        .get("custom")
        .and_then(|n| r.list(n, "tools"))
        .unwrap_or_default()
        .iter()
        .filter_map(|n| Some((n.at.clone(), read_custom(r, n)?)))
        .collect();
    for (i, (at, tool)) in custom.iter().enumerate() {
        if custom[..i]
            .iter()
            .any(|(_, earlier)| earlier.name == tool.name)
        {
            r.complain(Complaint::error(
                at,
                format!("a second tool {}", ticked(&tool.name)),
                "every tool once",
            ));
        }
    }
    let mut mcp = Vec::new();
    if let Some(node) = f.get("mcp") {
        for entry in r.map(node, "MCP servers").unwrap_or_default() {
            read_server(r, &entry.key, &entry.value, &mut mcp);
        }
    }
    name_mcp(&mut mcp);
    let answers = read_list(
        r,
        f.get("answers"),
        "tools.answers",
        read_tool_answer,
        &keys::TOOL_ANSWER,
    );
    f.done();
    Some(ToolSpecs {
        only,
        custom: custom.into_iter().map(|(_, tool)| tool).collect(),
        mcp,
        answers,
    })
}

fn read_custom(r: &mut Reader, node: &Node) -> Option<CustomTool> {
    let mut f = r.fields(node, &keys::CUSTOM)?;
    let name = f.text(r, "name");
    let aliases = f
        .get("aliases")
        .and_then(|n| r.list(n, "names"))
        .unwrap_or_default()
        .iter()
        .filter_map(|n| r.text(n))
        .collect();
    let description = f.text(r, "description");
    let search_hint = f.text(r, "search_hint").unwrap_or_default();
    let input_schema = f.get("input_schema").and_then(|n| read_schema(r, n));
    let read_only = f.bool(r, "read_only").unwrap_or(false);
    let is_destructive = f.bool(r, "destructive").unwrap_or(false);
    let exclusive = f.bool(r, "exclusive");
    let should_defer = f.bool(r, "should_defer").unwrap_or(false);
    let fits_repl = f.bool(r, "repl").unwrap_or(true);
    let strict = f.bool(r, "strict").unwrap_or(true);
    let max_result_chars = f.get("max_result_chars").and_then(|n| r.int(n, 0, MAX_INT));
    let latency_ms = f.ms(r, "latency_ms");
    f.only_one(r, &["returns", "fails"], false);
    let answer = read_gives(r, &mut f).unwrap_or_default();
    f.done();
    Some(CustomTool {
        aliases,
        search_hint,
        read_only,
        exclusive,
        is_destructive,
        should_defer,
        fits_repl,
        strict,
        latency_ms,
        max_result_chars,
        answer,
        ..CustomTool::new(name?, description?, input_schema?)
    })
}

fn read_server(r: &mut Reader, server: &str, node: &Node, into: &mut Vec<CustomTool>) {
    let Some(mut f) = r.fields(node, &keys::MCP_SERVER) else {
        return;
    };
    let tools = f.get("tools").and_then(|n| r.list(n, "tools"));
    for node in tools.unwrap_or_default() {
        let Some(tool) = read_mcp_tool(r, server, node) else {
            continue;
        };
        // A server may list a tool twice: that is what the pool is there for.
        into.push(tool);
    }
    f.done();
}

fn read_mcp_tool(r: &mut Reader, server: &str, node: &Node) -> Option<CustomTool> {
    let mut f = r.fields(node, &keys::MCP_TOOL)?;
    let name = f.text(r, "name");
    let description = f.text(r, "description");
    // Whatever a server says: that a schema is none is the pool's to find.
    let input_schema = f.get("input_schema").and_then(|n| r.object(n));
    let annotations = f.get("annotations").and_then(|n| read_annotations(r, n));
    let meta = f.get("_meta").and_then(|n| r.object(n)).unwrap_or_default();
    let latency_ms = f.ms(r, "latency_ms");
    f.only_one(r, &["returns", "fails"], false);
    let answer = read_gives(r, &mut f).unwrap_or_default();
    f.done();
    let origin = McpOrigin {
        server: server.to_owned(),
        tool: name?,
        annotations: annotations.unwrap_or_default(),
    };
    Some(CustomTool {
        latency_ms,
        answer,
        always_load: meta["anthropic/alwaysLoad"] == true,
        ..CustomTool::of_server(origin, description?, input_schema?)
    })
}

fn read_annotations(r: &mut Reader, node: &Node) -> Option<Annotations> {
    let mut f = r.fields(node, &keys::ANNOTATIONS)?;
    let annotations = Annotations {
        read_only: f.bool(r, "readOnlyHint").unwrap_or(false),
        requires_user: f.bool(r, "requiresUserInteraction").unwrap_or(false),
        destructive: f.bool(r, "destructiveHint"),
    };
    // What servers say besides changes nothing here.
    f.bool(r, "idempotentHint");
    f.bool(r, "openWorldHint");
    f.text(r, "title");
    f.done();
    Some(annotations)
}

/// Gives tools of MCP servers the names that no two of them share.
fn name_mcp(tools: &mut [CustomTool]) {
    let origins: Vec<McpOrigin> = tools.iter().filter_map(|tool| tool.mcp.clone()).collect();
    let raw = |origin: &'_ McpOrigin| (origin.server.clone(), origin.tool.clone());
    let pairs = origins.iter().map(|o| (o.server.as_str(), o.tool.as_str()));
    let names: BTreeMap<(String, String), String> = mcp_names(pairs)
        .into_iter()
        .map(|((server, tool), name)| ((server.to_owned(), tool.to_owned()), name))
        .collect();
    for tool in tools {
        if let Some(name) = tool.mcp.as_ref().and_then(|origin| names.get(&raw(origin))) {
            tool.name.clone_from(name);
        }
    }
}

/// A JSON Schema of an object.
fn read_schema(r: &mut Reader, node: &Node) -> Option<Value> {
    let schema = r.object(node)?;
    if let Err(error) = jsonschema::draft202012::new(&schema) {
        let complaint = Complaint::error(&node.at, "a schema that is none", "a JSON Schema");
        r.complain(complaint.hint(error.to_string()));
        return None;
    }
    Some(schema)
}
