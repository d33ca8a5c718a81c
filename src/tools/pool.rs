//! The tools of a run as its calls and requests see them: by name, and in an order that
//! no connection or loading changes (requests are cached by prefix).

use super::compiled::{Compiled, compiled};
use super::lookup::{Names, normalized};
use super::rank::{Index, Text};
use super::schema::{self, Complaints};
use super::stages::{PoolOptions, collect, filter, merge};
use super::{Tool, coerce, strict};
use crate::profile::{Deferred, LoadedSchema, NumericStrings, Profile, StrictDefault};
use crate::trace;
use crate::wire::{ToolDef, estimate_tokens, estimate_tool_tokens};
use crate::words::Lane;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// The tool by which deferred ones are found; without it nothing is deferred.
pub(super) const SEARCH: &str = "ToolSearch";

/// A tool with what is made of it once.
pub struct Entry {
    tool: Arc<dyn Tool>,
    /// Made at the first call: of ten thousand tools few are ever called.
    validator: OnceLock<Compiled>,
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

    /// Who executes its calls.
    pub fn lane(&self) -> Lane {
        match self.def.is_custom() {
            true => Lane::Own,
            false => Lane::Published,
        }
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
        let compiled = || compiled(self.tool.input_schema());
        let validator = match self.validator.get_or_init(compiled) {
            Ok(validator) => validator,
            // Merging leaves no such tool.
            Err(why) => return Err(Complaints::of_schema(self.name(), why)),
        };
        if validator.is_valid(&input) {
            let coerced = false;
            return Ok(Checked { input, coerced });
        }
        let mut input = input;
        let schema = self.tool.input_schema();
        let coerced =
            profile.numeric_strings == NumericStrings::Coerce && coerce::coerce(schema, &mut input);
        match schema::check(self.name(), validator, schema, &input) {
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
    /// The places of the deferred tools.
    deferred: Vec<usize>,
    /// Over the deferred tools, made when the first search comes.
    index: OnceLock<Index>,
    /// What the vendor hosts: offered, and never called here.
    hosted: Vec<ToolDef>,
    /// The API searches the deferred tools itself, so that it gets their definitions.
    searched_by_api: bool,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(&self.entries).finish()
    }
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
        let mut events = vec![collected.event, filtered.event, merged.event];
        let pool = Pool::of(merged.tools, &events, options.profile);
        if let Some(merged) = events.last_mut() {
            merged.tokens = Some(pool.tokens());
        }
        (pool, events)
    }

    /// The pool of merged tools; `events` tell which others there were.
    pub fn of(tools: Vec<Arc<dyn Tool>>, events: &[trace::Pool], profile: &Profile) -> Pool {
        let can_search = tools.iter().any(|tool| tool.name() == SEARCH);
        let entries: Vec<Arc<Entry>> = tools
            .into_iter()
            .map(|tool| {
                let is_deferred = can_search && defers(&*tool, profile);
                let mut def = definition(&*tool, profile);
                if is_deferred && profile.loaded_schema == LoadedSchema::ToolReference {
                    def.defer_loading = Some(true);
                }
                Arc::new(Entry {
                    validator: OnceLock::new(),
                    def,
                    is_deferred,
                    tool,
                })
            })
            .collect();
        let names = Names::of(&entries, events.iter());
        let places = (0..entries.len()).filter(|at| entries[*at].is_deferred);
        Pool {
            deferred: places.collect(),
            entries,
            names,
            index: OnceLock::new(),
            hosted: Vec::new(),
            searched_by_api: false,
        }
    }

    /// The same pool beside tools that the vendor hosts. If one of them searches tools,
    /// `profile` still says which are deferred, and requests hold all of their definitions.
    pub fn with_hosted(self, hosted: Vec<ToolDef>, searches: bool, profile: &Profile) -> Pool {
        let mut entries = self.entries;
        for entry in entries.iter_mut().filter(|_| searches) {
            if entry.name() == SEARCH || !defers(entry.tool(), profile) {
                continue;
            }
            let mut def = entry.def.clone();
            def.defer_loading = Some(true);
            *entry = Arc::new(Entry {
                tool: entry.tool.clone(),
                validator: entry.validator.clone(),
                def,
                is_deferred: true,
            });
        }
        let places = (0..entries.len()).filter(|at| entries[*at].is_deferred);
        Pool {
            deferred: places.collect(),
            entries,
            hosted,
            searched_by_api: searches,
            ..self
        }
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
        if self.searched_by_api {
            let all = self.entries.iter().map(|entry| entry.def.clone());
            return all.chain(self.hosted.iter().cloned()).collect();
        }
        let always = self.entries.iter().filter(|entry| !entry.is_deferred);
        let later = loaded.iter().filter_map(|name| {
            let at = self.names.exact(name)?;
            self.entries.get(at).filter(|entry| entry.is_deferred)
        });
        let own = always.map(|entry| entry.def.clone());
        let hosted = self.hosted.iter().cloned();
        own.chain(hosted)
            .chain(later.map(|entry| entry.def.clone()))
            .collect()
    }

    /// What the definitions cost, with and without deferral.
    pub fn tokens(&self) -> trace::PoolTokens {
        let cost = |entry: &Arc<Entry>| estimate_tool_tokens(&entry.def);
        let always = self.entries.iter().filter(|entry| !entry.is_deferred);
        trace::PoolTokens {
            always: always.map(cost).sum(),
            deferred: self.deferred().map(cost).sum(),
            listing: match self.deferred.is_empty() {
                true => 0,
                false => estimate_tokens(&self.deferred_notice()),
            },
        }
    }

    /// The names that requests list without a definition, in the pool's order.
    pub fn deferred_names(&self) -> Vec<&str> {
        // Where the API searches, their definitions are there.
        let by_name = self.deferred().filter(|_| !self.searched_by_api);
        by_name.map(|entry| entry.name()).collect()
    }

    /// What requests say in place of the definitions that are deferred; nothing if none is.
    pub fn deferred_notice(&self) -> String {
        if self.deferred.is_empty() {
            return String::new();
        }
        format!(
            " These tools are not loaded; find them with {SEARCH}: {}.",
            self.deferred_listing()
        )
    }

    /// The deferred tools: their names, or, where they are very many,
    /// how many there are of each server.
    pub fn deferred_listing(&self) -> String {
        const NAMES_MAX: usize = 500;
        if self.deferred.len() <= NAMES_MAX || self.searched_by_api {
            return self.deferred_names().join(", ");
        }
        let mut origins: BTreeMap<String, usize> = BTreeMap::new();
        for entry in self.deferred() {
            let origin = match entry.tool.mcp_origin() {
                Some(origin) => format!("mcp__{}__*", normalized(&origin.server)),
                None => entry.name().to_owned(),
            };
            *origins.entry(origin).or_default() += 1;
        }
        let said = origins.into_iter().map(|(origin, count)| match count {
            1 => origin,
            count => format!("{origin} ({count})"),
        });
        said.collect::<Vec<_>>().join(", ")
    }

    /// The deferred tools, in the pool's order.
    pub fn deferred(&self) -> impl ExactSizeIterator<Item = &Arc<Entry>> {
        self.deferred.iter().map(|at| &self.entries[*at])
    }

    /// The deferred tools that fit the words of a query best, each with its score: BM25
    /// over names, search hints and descriptions, ties by name. A word with `+` in front
    /// must be in the tool; the whole name of a tool finds it first.
    pub fn search(&self, query: &str, most: usize) -> Vec<(u64, &Arc<Entry>)> {
        let index = self.index.get_or_init(|| {
            Index::of(self.deferred().map(|entry| Text {
                name: entry.name(),
                hint: entry.tool.search_hint(),
                description: entry.tool.description(),
            }))
        });
        let best = index.best(query, most).into_iter();
        best.filter_map(|(score, at)| Some((score, self.entries.get(*self.deferred.get(at)?)?)))
            .collect()
    }
}

/// Whether a tool comes from an MCP server.
pub(super) fn is_mcp(name: &str) -> bool {
    name.starts_with("mcp__")
}

fn defers(tool: &dyn Tool, profile: &Profile) -> bool {
    if tool.name() == SEARCH || tool.always_load() {
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
    if let Some(published) = tool.published() {
        return published;
    }
    let mut def = ToolDef::custom(tool.name(), tool.description(), tool.input_schema());
    let strict = profile.strict_default == StrictDefault::AllInSubset
        && tool.strict()
        && strict::in_subset(tool.input_schema());
    def.strict = strict.then_some(true);
    def
}
