//! Tools that the vendor hosts (`protocol.md §7`): the model's side runs them within its
//! response, and the client sees call and result in the assistant message.
//!
//! An executor gets the request and nothing else. It has no handle on the world, so that no
//! byte of a file reaches it that a request does not hold.

mod domains;
mod search;
mod web;

use super::Request;
use crate::wire::{Block, ToolDef, raw};
use crate::world::{Answer, Answers, Pattern};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub use search::SearchTools;

/// The types that can be offered, with the name the model calls each by.
pub const TYPES: [(&str, &str); 12] = [
    ("web_search_20250305", "web_search"),
    ("web_search_20260209", "web_search"),
    ("web_search_20260318", "web_search"),
    ("web_fetch_20250910", "web_fetch"),
    ("web_fetch_20260209", "web_fetch"),
    ("web_fetch_20260309", "web_fetch"),
    ("web_fetch_20260318", "web_fetch"),
    ("code_execution_20250522", "code_execution"),
    ("code_execution_20250825", "code_execution"),
    ("code_execution_20260120", "code_execution"),
    ("tool_search_tool_regex_20251119", "tool_search_tool_regex"),
    ("tool_search_tool_bm25_20251119", "tool_search_tool_bm25"),
];

/// A hosted tool of a run, and what it gives.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostedTool {
    /// One of [`TYPES`].
    pub kind: String,
    /// How often it may be used in one request.
    pub max_uses: Option<u64>,
    /// Only these; empty for all. Never beside `blocked_domains`.
    pub allowed_domains: Vec<String>,
    pub blocked_domains: Vec<String>,
    /// Searched from the top; [`HostedAnswer::input`] is the matcher.
    pub answers: Vec<Answer<HostedAnswer>>,
}

/// What comes of one use.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostedAnswer {
    /// Globs over single values of the input.
    pub input: BTreeMap<String, Pattern>,
    pub gives: Gives,
}

/// What a hosted tool gives.
#[derive(Debug, Clone, PartialEq)]
pub enum Gives {
    /// The hits of a web search.
    Hits(Vec<Hit>),
    /// The text of a fetched page.
    Page { title: Option<String>, text: String },
    /// What a program printed and how it ended.
    Ran {
        stdout: String,
        stderr: String,
        return_code: i64,
    },
    /// An error of the tool, by the API's code.
    Error(String),
}

impl Default for Gives {
    fn default() -> Gives {
        Gives::Hits(Vec::new())
    }
}

/// One hit of a web search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hit {
    pub url: String,
    pub title: String,
    pub page_age: Option<String>,
}

/// A use of a hosted tool, as a script makes it.
#[derive(Debug, Clone, PartialEq)]
pub struct HostedCall {
    /// The name the model calls it by.
    pub tool: String,
    /// By default made of the turn and the place.
    pub id: Option<String>,
    pub input: Value,
    /// The response ends before the result is there; it comes with the next one.
    pub pending: bool,
}

impl HostedTool {
    /// The name the model calls it by; `None` if the type is unknown.
    pub fn name(&self) -> Option<&'static str> {
        TYPES
            .iter()
            .find(|(kind, _)| *kind == self.kind)
            .map(|(_, name)| *name)
    }

    /// How a request offers it.
    pub fn definition(&self) -> ToolDef {
        let mut def = ToolDef::vendor(self.kind.clone(), self.name().unwrap_or_default());
        if let Some(max) = self.max_uses {
            def.extra.set("max_uses", raw::of(&max));
        }
        for (key, domains) in [
            ("allowed_domains", &self.allowed_domains),
            ("blocked_domains", &self.blocked_domains),
        ] {
            if !domains.is_empty() {
                def.extra.set(key, raw::of(domains));
            }
        }
        def
    }

    /// Whether it is the API's own search for deferred tools.
    pub fn searches_tools(&self) -> bool {
        self.kind.starts_with("tool_search_tool_")
    }
}

/// A use without its result.
struct Open {
    id: String,
    call: HostedCall,
    /// How often the tool was used before it in its response.
    used: u64,
}

/// The executors of a run.
pub struct Hosted {
    tools: Vec<(HostedTool, Answers<HostedAnswer>)>,
    search: SearchTools,
    /// Uses whose results the last response left open.
    open: Vec<Open>,
}

impl Hosted {
    /// `search` ranks the deferred tools of a request for the BM25 variant.
    pub fn new(tools: Vec<HostedTool>, search: SearchTools) -> Hosted {
        let tools = tools
            .into_iter()
            .map(|mut tool| {
                let answers = Answers::new(std::mem::take(&mut tool.answers));
                (tool, answers)
            })
            .collect();
        Hosted {
            tools,
            search,
            open: Vec::new(),
        }
    }

    /// Answers that were never used.
    pub fn left(&self) -> Vec<String> {
        self.tools
            .iter()
            .flat_map(|(_, answers)| answers.left())
            .collect()
    }

    /// The results that the last response left open. An error is what the scenario lacks.
    pub fn late(&mut self, request: &Request<'_>) -> Result<Vec<Block>, String> {
        std::mem::take(&mut self.open)
            .iter()
            .map(|Open { id, call, used }| self.result(id, call, *used, request))
            .collect()
    }

    /// The uses of response `number` with their results. An error is what the scenario lacks.
    pub fn uses(
        &mut self,
        calls: &[HostedCall],
        number: u32,
        request: &Request<'_>,
    ) -> Result<Vec<Block>, String> {
        let mut blocks = Vec::new();
        let mut uses: BTreeMap<&str, u64> = BTreeMap::new();
        for (place, call) in calls.iter().enumerate() {
            let made = || format!("srvtoolu_{number:04}_{}", place + 1);
            let id = call.id.clone().unwrap_or_else(made);
            let used = uses.entry(&call.tool).or_default();
            blocks.push(Block::from_raw(raw::of(&json!({
                "type": "server_tool_use",
                "id": id,
                "name": self.wire_name(call)?,
                "input": call.input,
            }))));
            match call.pending {
                true => self.open.push(Open {
                    id,
                    call: call.clone(),
                    used: *used,
                }),
                false => blocks.push(self.result(&id, call, *used, request)?),
            }
            *used += 1;
        }
        Ok(blocks)
    }

    fn tool(&self, name: &str) -> Result<&(HostedTool, Answers<HostedAnswer>), String> {
        let known = |tool: &HostedTool| match name {
            // Newer code execution calls its shell by a name of its own.
            "bash_code_execution" => {
                tool.name() == Some("code_execution") && tool.kind != "code_execution_20250522"
            }
            _ => tool.name() == Some(name),
        };
        self.tools.iter().find(|(tool, _)| known(tool)).ok_or_else(|| {
            format!("the script uses {name}, which is no hosted tool of this run: list its type under `hosted:`")
        })
    }

    /// The name that a use has on the wire.
    fn wire_name<'c>(&self, call: &'c HostedCall) -> Result<&'c str, String> {
        self.tool(&call.tool)?;
        Ok(&call.tool)
    }

    /// The block of a result. `used` is how often the tool was used before in this response.
    fn result(
        &self,
        id: &str,
        call: &HostedCall,
        used: u64,
        request: &Request<'_>,
    ) -> Result<Block, String> {
        let (tool, answers) = self.tool(&call.tool)?;
        let answer = || {
            let fits = |answer: &HostedAnswer| {
                answer
                    .input
                    .iter()
                    .all(|(key, pattern)| match &call.input[key.as_str()] {
                        Value::String(text) => pattern.matches(text),
                        Value::Null => false,
                        other => pattern.matches(&other.to_string()),
                    })
            };
            answers.take(fits).map(|answer| answer.gives).ok_or_else(|| {
                format!(
                    "the script uses {} with the input {}, and no answer under `hosted:` fits: add one to {}",
                    call.tool, call.input, tool.kind
                )
            })
        };
        let content = if tool.max_uses.is_some_and(|max| used >= max) {
            error(&call.tool, "max_uses_exceeded", None)
        } else {
            match call.tool.as_str() {
                "web_search" => web::search(tool, &call.input, answer)?,
                "web_fetch" => web::fetch(tool, &call.input, request, answer)?,
                "tool_search_tool_regex" => search::by_pattern(&call.input, request),
                "tool_search_tool_bm25" => search::by_words(&call.input, request, self.search),
                name => ran(name, &call.input, answer)?,
            }
        };
        Ok(Block::from_raw(raw::of(&json!({
            "type": result_type(&call.tool),
            "tool_use_id": id,
            "content": content,
        }))))
    }
}

/// The type of the block that holds a tool's result.
fn result_type(tool: &str) -> String {
    match tool.strip_prefix("tool_search_tool_") {
        Some(_) => "tool_search_tool_result".to_owned(),
        None => format!("{tool}_tool_result"),
    }
}

/// The content that stands for an error, by the API's code.
fn error(tool: &str, code: &str, message: Option<String>) -> Value {
    let mut content = json!({
        "type": format!("{}_error", result_type(tool)),
        "error_code": code,
    });
    if let Some(message) = message {
        content["error_message"] = json!(message);
    }
    content
}

/// A program that the script says how it ended.
fn ran(
    tool: &str,
    input: &Value,
    answer: impl FnOnce() -> Result<Gives, String>,
) -> Result<Value, String> {
    let given = ["code", "command"]
        .iter()
        .any(|key| input[*key].is_string());
    if !given {
        return Ok(error(tool, "invalid_tool_input", None));
    }
    match answer()? {
        Gives::Error(code) => Ok(error(tool, &code, None)),
        Gives::Ran {
            stdout,
            stderr,
            return_code,
        } => Ok(json!({
            "type": format!("{tool}_result"),
            "stdout": stdout,
            "stderr": stderr,
            "return_code": return_code,
            "content": [],
        })),
        _ => Err(format!(
            "an answer of {tool} gives no output: say `stdout`, `stderr` and `return_code`, or `error`"
        )),
    }
}
