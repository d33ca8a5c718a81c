//! The tools that a scenario brings: the user's own and those of MCP servers.

use super::answers::{Answer, Gives, ToolAnswer, placed, read_gives, read_list, read_tool_answer};
use super::complaint::{Complaint, Place};
use super::fields::{MAX_INT, Placed, Reader};
use super::file_spec::{Content, read_written};
use super::keys;
use super::node::{Node, ticked};
use serde_json::Value;
use std::collections::BTreeMap;

/// Which tools there are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolSpecs {
    /// The built-in tools there are; all if not given.
    pub only: Option<Vec<Placed<String>>>,
    pub custom: Vec<CustomTool>,
    /// By server name.
    pub mcp: BTreeMap<String, McpServer>,
    pub answers: Vec<Answer<ToolAnswer>>,
}

/// A tool of the user's own.
#[derive(Debug, Clone, PartialEq)]
pub struct CustomTool {
    pub at: Place,
    pub name: String,
    pub aliases: Vec<String>,
    pub description: String,
    pub search_hint: Option<String>,
    /// A JSON Schema.
    pub input_schema: Value,
    pub read_only: bool,
    pub destructive: bool,
    /// Nothing else may be in flight.
    pub exclusive: bool,
    pub should_defer: bool,
    pub strict: Option<bool>,
    pub max_result_chars: Option<u64>,
    pub latency_ms: u64,
    pub gives: Gives,
    /// By absolute path; written before it gives what it gives.
    pub writes: BTreeMap<String, Content>,
}

/// An MCP server and the tools it lists.
#[derive(Debug, Clone, PartialEq)]
pub struct McpServer {
    pub at: Place,
    pub tools: Vec<McpTool>,
}

/// A tool of an MCP server.
#[derive(Debug, Clone, PartialEq)]
pub struct McpTool {
    pub at: Place,
    /// As the server knows it.
    pub name: String,
    pub title: Option<String>,
    pub description: String,
    pub input_schema: Value,
    /// What the server says of it (`readOnlyHint`, …).
    pub annotations: Value,
    pub latency_ms: u64,
    pub gives: Gives,
}

pub(super) fn read_tools(r: &mut Reader, node: &Node, cwd: &str) -> Option<ToolSpecs> {
    let mut f = r.fields(node, &keys::TOOLS)?;
    let only = f
        .get("only")
        .and_then(|n| r.list(n, "tool names"))
        .map(|items| {
            items
                .iter()
                .filter_map(|n| r.text(n).map(|name| placed(n, name)))
                .collect()
        });
    let custom: Vec<CustomTool> = f
        .get("custom")
        .and_then(|n| r.list(n, "tools"))
        .unwrap_or_default()
        .iter()
        .filter_map(|n| read_custom(r, n, cwd))
        .collect();
    for (i, tool) in custom.iter().enumerate() {
        if custom[..i].iter().any(|earlier| earlier.name == tool.name) {
            r.complain(Complaint::error(
                &tool.at,
                format!("a second tool {}", ticked(&tool.name)),
                "every tool once",
            ));
        }
    }
    let mut mcp = BTreeMap::new();
    if let Some(node) = f.get("mcp") {
        for entry in r.map(node, "MCP servers").unwrap_or_default() {
            if let Some(server) = read_server(r, &entry.value) {
                mcp.insert(entry.key.clone(), server);
            }
        }
    }
    let answers = read_list(r, f.get("answers"), "tools.answers", read_tool_answer);
    f.done();
    Some(ToolSpecs {
        only,
        custom,
        mcp,
        answers,
    })
}

fn read_custom(r: &mut Reader, node: &Node, cwd: &str) -> Option<CustomTool> {
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
    let search_hint = f.text(r, "search_hint");
    let input_schema = f.get("input_schema").and_then(|n| read_schema(r, n));
    let read_only = f.bool(r, "read_only").unwrap_or(false);
    let destructive = f.bool(r, "destructive").unwrap_or(false);
    let exclusive = f.bool(r, "exclusive").unwrap_or(!read_only);
    let should_defer = f.bool(r, "should_defer").unwrap_or(false);
    let strict = f.bool(r, "strict");
    let max_result_chars = f.get("max_result_chars").and_then(|n| r.int(n, 0, MAX_INT));
    let latency_ms = f.ms(r, "latency_ms").unwrap_or(0);
    f.only_one(r, &["returns", "fails", "panics"], false);
    let panics = f.text(r, "panics");
    let gives = read_gives(r, f.get("returns"), f.get("fails"));
    let writes_at = f.get("writes");
    let writes = read_written(r, writes_at, cwd);
    if let (Some(node), true) = (writes_at, read_only) {
        r.complain(Complaint::error(
            &node.at,
            "files that a read-only tool writes",
            "`read_only: false`, or no `writes`",
        ));
    }
    f.done();
    Some(CustomTool {
        at: node.at.clone(),
        name: name?,
        aliases,
        description: description?,
        search_hint,
        input_schema: input_schema?,
        read_only,
        destructive,
        exclusive,
        should_defer,
        strict,
        max_result_chars,
        latency_ms,
        gives: panics
            .map(Gives::Panics)
            .or(gives)
            .unwrap_or_else(|| Gives::Text(String::new())),
        writes,
    })
}

fn read_server(r: &mut Reader, node: &Node) -> Option<McpServer> {
    let mut f = r.fields(node, &keys::MCP_SERVER)?;
    let tools = f
        .get("tools")
        .and_then(|n| r.list(n, "tools"))
        .unwrap_or_default()
        .iter()
        .filter_map(|n| read_mcp_tool(r, n))
        .collect();
    f.done();
    Some(McpServer {
        at: node.at.clone(),
        tools,
    })
}

fn read_mcp_tool(r: &mut Reader, node: &Node) -> Option<McpTool> {
    let mut f = r.fields(node, &keys::MCP_TOOL)?;
    let name = f.text(r, "name");
    let title = f.text(r, "title");
    let description = f.text(r, "description");
    let input_schema = f.get("input_schema").and_then(|n| read_schema(r, n));
    let annotations = f.get("annotations").and_then(|n| r.object(n));
    let latency_ms = f.ms(r, "latency_ms").unwrap_or(0);
    f.only_one(r, &["returns", "fails"], false);
    let gives = read_gives(r, f.get("returns"), f.get("fails"));
    f.done();
    Some(McpTool {
        at: node.at.clone(),
        name: name?,
        title,
        description: description?,
        input_schema: input_schema?,
        annotations: annotations.unwrap_or_else(|| Value::Object(Default::default())),
        latency_ms,
        gives: gives.unwrap_or_else(|| Gives::Text(String::new())),
    })
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
