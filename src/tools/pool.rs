//! The tools of a run: collected, filtered, merged with those of MCP servers, and put
//! into an order that no connection or loading changes (requests are cached by prefix).

use super::lookup::Names;
use super::schema::{self, Complaints};
use super::{ReadOnly, Tool, coerce, strict};
use crate::profile::{Deferred, DontAsk, NumericStrings, Profile, StrictDefault};
use crate::trace;
use crate::wire::ToolDef;
use crate::words::Mode;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// The tool by which deferred ones are found; without it nothing is deferred.
pub(super) const SEARCH: &str = "ToolSearch";

/// Tools that a feature flag switches off, with the flag. Without the flag they are on.
const FLAGGED: [(&str, &str); 2] = [("Agent", "fork_subagent"), ("Task", "fork_subagent")];

/// What decides about the tools of a run.
#[derive(Clone, Copy)]
pub struct PoolOptions<'a> {
    pub profile: &'a Profile,
    pub mode: Mode,
    /// `flags` of the scenario.
    pub flags: &'a BTreeMap<String, bool>,
    /// `tools.only` of the scenario: the built-in and own tools that stay.
    pub only: Option<&'a [String]>,
    /// Why a rule takes the tool of a name out of sight, if one does (a bare deny).
    pub denied: &'a (dyn Fn(&str) -> Option<String> + Sync),
}

/// Some tools after one of the stages.
#[derive(Clone)]
pub struct Staged {
    pub tools: Vec<Arc<dyn Tool>>,
    /// What the stage did.
    pub event: trace::Pool,
}

fn staged(
    stage: &str,
    before: usize,
    tools: Vec<Arc<dyn Tool>>,
    removed: Vec<trace::Removed>,
) -> Staged {
    let event = trace::Pool {
        stage: stage.to_owned(),
        before: before as u32,
        after: tools.len() as u32,
        removed,
    };
    Staged { tools, event }
}

fn removed(name: &str, why: impl Into<String>) -> trace::Removed {
    trace::Removed {
        name: name.to_owned(),
        why: why.into(),
    }
}

/// Stage 1: every built-in and own tool whose feature is on. Of two of one name the
/// first stays.
pub fn collect(tools: Vec<Arc<dyn Tool>>, options: &PoolOptions<'_>) -> Staged {
    let before = tools.len();
    let mut gone = Vec::new();
    let mut seen = BTreeSet::new();
    let kept = tools
        .into_iter()
        .filter(|tool| {
            let name = tool.name();
            let off = FLAGGED.iter().find(|(flagged, flag)| {
                *flagged == name && options.flags.get(*flag) == Some(&false)
            });
            if let Some((_, flag)) = off {
                gone.push(removed(name, format!("the flag {flag} is off")));
                return false;
            }
            let is_new = seen.insert(name.to_owned());
            if !is_new {
                gone.push(removed(name, "another tool of this name comes before it"));
            }
            is_new
        })
        .collect();
    staged("collect", before, kept, gone)
}

/// Stage 2: those that the context of the run leaves.
pub fn filter(tools: Vec<Arc<dyn Tool>>, options: &PoolOptions<'_>) -> Staged {
    let before = tools.len();
    let mut gone = Vec::new();
    let kept = tools
        .into_iter()
        .filter(|tool| {
            let name = tool.name();
            let not_listed = options
                .only
                .is_some_and(|only| !only.iter().any(|listed| listed == name))
                .then(|| "not among tools.only".to_owned());
            let why = not_listed.or_else(|| out_of_context(&**tool, options));
            match why {
                Some(why) => {
                    gone.push(removed(name, why));
                    false
                }
                None => true,
            }
        })
        .collect();
    staged("filter", before, kept, gone)
}

/// Why the context of the run removes a tool, of whatever origin.
fn out_of_context(tool: &dyn Tool, options: &PoolOptions<'_>) -> Option<String> {
    if let Some(why) = (options.denied)(tool.name()) {
        return Some(why);
    }
    let read_only_pool = options.mode == Mode::DontAsk
        && options.profile.dont_ask == DontAsk::PoolReadOnly
        && tool.read_only() != ReadOnly::Always;
    if read_only_pool {
        return Some("mode dontAsk keeps only tools that are read-only for every input".to_owned());
    }
    (!tool.is_enabled()).then(|| "not enabled".to_owned())
}

/// Stage 3: the tools of connected MCP servers come to those that are left. Built-in
/// and own tools win over MCP tools of their name.
pub fn merge(
    own: Vec<Arc<dyn Tool>>,
    mcp: Vec<Arc<dyn Tool>>,
    options: &PoolOptions<'_>,
) -> Staged {
    let before = own.len() + mcp.len();
    let mut gone = Vec::new();
    let mut names: BTreeSet<String> = own.iter().map(|tool| tool.name().to_owned()).collect();
    let mut all = own;
    all.sort_by(|a, b| a.name().cmp(b.name()));
    let mut mcp = mcp;
    // A stable sort: of two of one name the first given stays.
    mcp.sort_by(|a, b| a.name().cmp(b.name()));
    for tool in mcp {
        let name = tool.name().to_owned();
        if let Some(why) = out_of_context(&*tool, options) {
            gone.push(removed(&name, why));
        } else if !names.insert(name.clone()) {
            gone.push(removed(&name, "another tool of this name comes before it"));
        } else {
            all.push(tool);
        }
    }
    all.retain(|tool| match unusable(tool.input_schema()) {
        Some(why) => {
            gone.push(removed(tool.name(), why));
            false
        }
        None => true,
    });
    staged("merge", before, all, gone)
}

/// Why a request with this schema would be refused (`protocol.md §2.4`): one bad
/// schema must not take the other tools with it.
fn unusable(schema: &Value) -> Option<String> {
    if schema["type"] != "object" {
        return Some("its input schema is not of type object".to_owned());
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        if schema.get(key).is_some() {
            return Some(format!("its input schema has {key} at its root"));
        }
    }
    compiled(schema).err()
}

/// So many schemas are kept compiled; those of the built-in tools are among the first.
const COMPILED_MAX: usize = 256;

type Compiled = Result<Arc<jsonschema::Validator>, String>;

/// The validator of a schema, or why it has none. Pools are built often and of the same
/// tools: each schema is compiled once.
fn compiled(schema: &Value) -> Compiled {
    static KNOWN: Mutex<BTreeMap<String, Compiled>> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let text = schema.to_string();
    if let Some(compiled) = known().get(&text) {
        return compiled.clone();
    }
    let compiled = compile(schema).map(Arc::new);
    let mut known = known();
    if known.len() < COMPILED_MAX {
        known.insert(text, compiled.clone());
    }
    compiled
}

fn compile(schema: &Value) -> Result<jsonschema::Validator, String> {
    if let Err(e) = jsonschema::draft202012::meta::validate(schema) {
        return Err(format!(
            "its input schema is no JSON Schema: {}",
            schema::wrong_schema(&e)
        ));
    }
    jsonschema::draft202012::new(schema)
        .map_err(|e| format!("its input schema does not compile: {e}"))
}

/// A tool with what is made of it once.
pub struct Entry {
    tool: Arc<dyn Tool>,
    validator: Arc<jsonschema::Validator>,
    def: ToolDef,
    is_deferred: bool,
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Entry").field(&self.tool.name()).finish()
    }
}

/// An input that fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    pub input: Value,
    /// Whether text in it was read as what the schema wants.
    pub coerced: bool,
}

impl Entry {
    pub fn tool(&self) -> &dyn Tool {
        &*self.tool
    }

    pub fn name(&self) -> &str {
        self.tool.name()
    }

    /// Whether requests list it by its name only until it is loaded.
    pub fn is_deferred(&self) -> bool {
        self.is_deferred
    }

    /// As requests offer it.
    pub fn def(&self) -> &ToolDef {
        &self.def
    }

    /// Holds an input against the schema, every complaint at once.
    pub fn check(&self, input: Value, profile: &Profile) -> Result<Checked, Complaints> {
        if self.validator.is_valid(&input) {
            let coerced = false;
            return Ok(Checked { input, coerced });
        }
        let mut input = input;
        let schema = self.tool.input_schema();
        let coerced =
            profile.numeric_strings == NumericStrings::Coerce && coerce::coerce(schema, &mut input);
        match schema::check(self.name(), &self.validator, schema, &input) {
            Some(complaints) => Err(complaints),
            None => Ok(Checked { input, coerced }),
        }
    }

    /// Name, description, schema and how to call it, as text for the model.
    pub fn usage(&self) -> String {
        let schema = self.tool.input_schema();
        let example: serde_json::Map<String, Value> = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(|name| (name.to_owned(), Value::String("…".to_owned())))
            .collect();
        format!(
            "{}\n{}\nInput schema: {schema}\nCall it as {} with an input like {}.",
            self.name(),
            self.tool.description(),
            self.name(),
            Value::Object(example)
        )
    }
}

/// The tools of a run. Built-in and own tools by name, then MCP tools by name.
pub struct Pool {
    entries: Vec<Arc<Entry>>,
    names: Names,
}

impl Pool {
    /// All three stages at once, with the event of each.
    pub fn build(
        own: Vec<Arc<dyn Tool>>,
        mcp: Vec<Arc<dyn Tool>>,
        options: &PoolOptions<'_>,
    ) -> (Pool, Vec<trace::Pool>) {
        let collected = collect(own, options);
        let filtered = filter(collected.tools, options);
        let merged = merge(filtered.tools, mcp, options);
        let events = vec![collected.event, filtered.event, merged.event];
        (Pool::of(merged.tools, &events, options.profile), events)
    }

    /// The pool of merged tools; `events` tell which others there were.
    pub fn of(tools: Vec<Arc<dyn Tool>>, events: &[trace::Pool], profile: &Profile) -> Pool {
        let can_search = tools.iter().any(|tool| tool.name() == SEARCH);
        let entries: Vec<Arc<Entry>> = tools
            .into_iter()
            .filter_map(|tool| {
                // Merging left only those that compile.
                let validator = compiled(tool.input_schema()).ok()?;
                Some(Arc::new(Entry {
                    validator,
                    def: definition(&*tool, profile),
                    is_deferred: can_search && defers(&*tool, profile),
                    tool,
                }))
            })
            .collect();
        let gone = events.iter().flat_map(|event| &event.removed);
        let names = Names::of(&entries, gone);
        Pool { entries, names }
    }

    /// The tool that `name` means: by its exact name, by an alias, or, the name made
    /// one of an MCP tool's, by the only MCP tool that it can mean.
    pub fn lookup(&self, name: &str) -> Result<Arc<Entry>, super::lookup::Unknown> {
        let at = self.names.find(name)?;
        Ok(self.entries[at].clone())
    }

    pub fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    /// The definitions of a request: those that are not deferred, in the pool's order,
    /// then the loaded ones in their order of loading, so that loading only appends.
    pub fn tool_defs(&self, loaded: &[Arc<str>]) -> Vec<ToolDef> {
        let always = self.entries.iter().filter(|entry| !entry.is_deferred);
        let later = loaded.iter().filter_map(|name| {
            self.entries
                .iter()
                .find(|entry| entry.is_deferred && entry.name() == &**name)
        });
        always.chain(later).map(|entry| entry.def.clone()).collect()
    }

    /// The names that requests list without a definition, in the pool's order.
    pub fn deferred_names(&self) -> Vec<&str> {
        let deferred = self.entries.iter().filter(|entry| entry.is_deferred);
        deferred.map(|entry| entry.name()).collect()
    }
}

/// Whether a tool comes from an MCP server.
pub(super) fn is_mcp(name: &str) -> bool {
    name.starts_with("mcp__")
}

fn defers(tool: &dyn Tool, profile: &Profile) -> bool {
    if tool.name() == SEARCH {
        return false;
    }
    match profile.deferred {
        Deferred::ShouldDefer => tool.should_defer(),
        Deferred::Nothing => false,
        Deferred::Mcp => is_mcp(tool.name()),
        Deferred::McpAndSomeBuiltIn => is_mcp(tool.name()) || tool.should_defer(),
    }
}

fn definition(tool: &dyn Tool, profile: &Profile) -> ToolDef {
    let mut def = ToolDef::custom(tool.name(), tool.description(), tool.input_schema());
    let strict = profile.strict_default == StrictDefault::AllInSubset
        && tool.strict()
        && strict::in_subset(tool.input_schema());
    def.strict = strict.then_some(true);
    def
}
