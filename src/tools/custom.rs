//! Tools that a scenario defines: own ones, and those of MCP servers.

use super::{
    Footprint, Outcome, OwnVerdict, Permit, Progress, ReadOnly, RuleSubject, Tool, ToolCx,
};
use crate::sim::{OpKind, Resource};
use crate::wire::{Block, raw};
use crate::words::Class;
use async_trait::async_trait;
use serde_json::{Value, json};

/// What a scripted tool gives back.
#[derive(Debug, Clone, PartialEq)]
pub enum Returns {
    Text(String),
    /// Content blocks, of the API (`{"type": "image", "source": …}`) or of MCP
    /// (`{"type": "image", "data": …, "mimeType": …}`).
    Blocks(Vec<Value>),
}

impl Default for Returns {
    fn default() -> Returns {
        Returns::Text(String::new())
    }
}

/// What comes of one call of a scripted tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scripted {
    pub returns: Returns,
    /// The failure, if it fails; `returns` does not count then.
    pub fails: Option<(Class, String)>,
}

impl Scripted {
    pub fn text(text: impl Into<String>) -> Scripted {
        Scripted {
            returns: Returns::Text(text.into()),
            fails: None,
        }
    }

    pub(super) fn outcome(&self) -> Outcome {
        match (&self.fails, &self.returns) {
            (Some((class, text)), _) if class.is_error() => Outcome::error(*class, text),
            // `fails` with the class `ok` is no failure.
            (Some((_, text)), _) => Outcome::ok(text),
            (None, Returns::Text(text)) => Outcome::ok(text),
            (None, Returns::Blocks(blocks)) => Outcome::blocks(blocks.iter().map(block).collect()),
        }
    }
}

/// A content block as the API takes it.
fn block(value: &Value) -> Block {
    let is_mcp_image = value["type"] == "image" && value["data"].is_string();
    if !is_mcp_image {
        return Block::from_raw(raw::of(value));
    }
    Block::from_raw(raw::of(&json!({
        "type": "image",
        "source": {"type": "base64", "media_type": value["mimeType"], "data": value["data"]},
    })))
}

/// What an MCP server says of a tool. Hints: the server may be wrong.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Annotations {
    /// `readOnlyHint`; false if not given.
    pub read_only: bool,
    /// `requiresUserInteraction`: no rule and no hook allows it in the user's place; false
    /// if not given.
    pub requires_user: bool,
    /// `destructiveHint`; true if not given, and meaningless for a read-only tool.
    pub destructive: Option<bool>,
}

/// The MCP server that a tool belongs to, both by the names they go by there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpOrigin {
    pub server: String,
    pub tool: String,
    pub annotations: Annotations,
}

/// A tool that a scenario defines, data and no code.
#[derive(Debug, Clone, PartialEq)]
pub struct CustomTool {
    /// The name that the model calls it by; for MCP tools see [`super::mcp_names`].
    pub name: String,
    pub aliases: Vec<String>,
    pub search_hint: String,
    pub description: String,
    pub input_schema: Value,
    pub read_only: bool,
    /// Whether nothing else may be in flight; by default so unless it is read-only.
    pub exclusive: Option<bool>,
    pub is_destructive: bool,
    pub should_defer: bool,
    /// Whether it is sent in full although others are deferred.
    pub always_load: bool,
    /// Whether it can be used inside a read-eval-print loop.
    pub fits_repl: bool,
    /// `false` opts out of enforcement while generating.
    pub strict: bool,
    /// Virtual milliseconds that one call takes; the pipeline lets them pass.
    pub latency_ms: Option<u64>,
    pub max_result_chars: Option<u64>,
    pub answer: Scripted,
    pub mcp: Option<McpOrigin>,
}

impl CustomTool {
    /// A tool of the user's own that returns nothing yet.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Value,
    ) -> CustomTool {
        CustomTool {
            name: name.into(),
            aliases: Vec::new(),
            search_hint: String::new(),
            description: description.into(),
            input_schema,
            read_only: false,
            exclusive: None,
            is_destructive: false,
            should_defer: false,
            always_load: false,
            fits_repl: true,
            strict: true,
            latency_ms: None,
            max_result_chars: None,
            answer: Scripted::default(),
            mcp: None,
        }
    }

    /// A tool of an MCP server. Its name is the plain one; where several tools of a run
    /// would share it, the caller sets the one of [`super::mcp_names`].
    pub fn of_server(
        origin: McpOrigin,
        description: impl Into<String>,
        input_schema: Value,
    ) -> CustomTool {
        let annotations = origin.annotations;
        let name = super::mcp::plain_name(&origin.server, &origin.tool);
        CustomTool {
            read_only: annotations.read_only,
            is_destructive: !annotations.read_only && annotations.destructive.unwrap_or(true),
            // Other people's schemas are seldom in the subset, and not ours to promise.
            strict: false,
            aliases: super::mcp::raw_name(&origin).into_iter().collect(),
            mcp: Some(origin),
            ..CustomTool::new(name, description, input_schema)
        }
    }

    fn is_exclusive(&self) -> bool {
        self.exclusive.unwrap_or(!self.read_only)
    }

    /// What a call touches besides nothing.
    fn resource(&self) -> Option<Resource> {
        match &self.mcp {
            Some(origin) => Some(Resource::Mcp(origin.server.as_str().into())),
            None if self.read_only => None,
            None => Some(Resource::Session(format!("tool:{}", self.name).into())),
        }
    }
}

#[async_trait]
impl Tool for CustomTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn aliases(&self) -> Vec<&str> {
        self.aliases.iter().map(String::as_str).collect()
    }

    fn search_hint(&self) -> &str {
        &self.search_hint
    }

    fn latency_ms(&self) -> Option<u64> {
        self.latency_ms
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn input_schema(&self) -> &Value {
        &self.input_schema
    }

    fn fits_repl(&self) -> bool {
        self.fits_repl
    }

    fn mcp_origin(&self) -> Option<&McpOrigin> {
        self.mcp.as_ref()
    }

    fn read_only(&self) -> ReadOnly {
        if self.read_only {
            ReadOnly::Always
        } else {
            ReadOnly::Never
        }
    }

    fn is_destructive(&self, _input: &Value) -> bool {
        self.is_destructive
    }

    fn footprint(&self, _cx: &ToolCx, _input: &Value) -> Footprint {
        let touched = self.resource();
        match (self.is_exclusive(), self.read_only) {
            (true, _) => Footprint::exclusive(),
            (false, true) => Footprint::reads(touched),
            (false, false) => Footprint::writes(touched),
        }
    }

    fn strict(&self) -> bool {
        self.strict
    }

    fn should_defer(&self) -> bool {
        self.should_defer
    }

    fn always_load(&self) -> bool {
        self.always_load
    }

    fn max_result_chars(&self) -> Option<u64> {
        self.max_result_chars
    }

    /// Tools that have no implementation here and that rules with a specifier know
    /// (`semantics.md §1.1`); rules about others are by name.
    fn rule_subject(&self, cx: &ToolCx, input: &Value) -> RuleSubject {
        let text = |key: &str| input[key].as_str();
        let (name, here) = (self.name.as_str(), &cx.env.cwd);
        match name {
            "WebFetch" => text("url").map(|url| RuleSubject::Url(url.to_owned())),
            "NotebookEdit" => {
                text("notebook_path").map(|path| RuleSubject::EditPath(cx.absolute(path)))
            }
            "LS" => Some(RuleSubject::ReadPath(
                cx.absolute(text("path").unwrap_or(here)),
            )),
            "Monitor" => text("command").map(|line| RuleSubject::Command(line.to_owned())),
            _ => None,
        }
        .unwrap_or(RuleSubject::None)
    }

    /// What is said to a person needs the person, whatever rule allows it
    /// (`semantics.md §1.8`).
    async fn check_permissions(&self, _input: &Value, _cx: &ToolCx) -> OwnVerdict {
        let of_server = self.mcp.as_ref().map(|origin| origin.annotations);
        let is_for_user = matches!(self.name.as_str(), "AskUserQuestion" | "ExitPlanMode")
            || of_server.is_some_and(|annotations| annotations.requires_user);
        match is_for_user {
            true => OwnVerdict::Ask {
                why: "it is for the user to answer".to_owned(),
            },
            false => OwnVerdict::None,
        }
    }

    async fn call(
        &self,
        _input: &Value,
        cx: &ToolCx,
        _permit: &dyn Permit,
        _progress: &dyn Progress,
    ) -> Outcome {
        if let Some(resource) = self.resource() {
            let kind = if self.read_only {
                OpKind::Read
            } else {
                OpKind::Write
            };
            cx.world.op(resource, kind).await;
        }
        self.answer.outcome()
    }
}
