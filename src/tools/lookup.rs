//! Which tool a name means (`semantics.md §0.1`, step lookup).

use super::nearest::nearest;
use super::pool::{Entry, is_mcp};
use super::units::one_line;
use crate::trace;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// How much of an unknown name is quoted: some are whole paragraphs.
const NAME_UNITS: u64 = 100;

/// The names of a pool, each with its tool's place in it.
pub(super) struct Names {
    exact: BTreeMap<String, usize>,
    aliases: BTreeMap<String, usize>,
    /// Names by which MCP tools may be meant besides their own, with every tool meant.
    mcp: BTreeMap<String, BTreeSet<usize>>,
    /// The tools that are not there, and why.
    gone: BTreeMap<String, String>,
}

/// A name that means no tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    pub name: String,
    /// Why there is no such tool, if there could be.
    pub why_gone: Option<String>,
    /// What may have been meant, best first.
    pub near: Vec<String>,
    /// The MCP tools among which the name does not decide.
    pub several: Vec<String>,
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = serde_json::Value::String(one_line(&self.name, NAME_UNITS));
        if let Some(why) = &self.why_gone {
            return write!(
                f,
                "the tool {name} is not available in this session ({why}). Do without it."
            );
        }
        if !self.several.is_empty() {
            let several = self.several.join(" or ");
            return write!(
                f,
                "{name} could be {several}. Call the one you mean by its full name."
            );
        }
        write!(f, "there is no tool called {name}.")?;
        if !self.near.is_empty() {
            write!(f, " Did you mean {}?", self.near.join(" or "))?;
        }
        f.write_str(" Use one of the tools of this session, by its exact name.")
    }
}

impl std::error::Error for Unknown {}

impl Names {
    pub fn of<'a>(
        entries: &[Arc<Entry>],
        events: impl Iterator<Item = &'a trace::Pool> + Clone,
    ) -> Names {
        let mut names = Names {
            exact: BTreeMap::new(),
            aliases: BTreeMap::new(),
            mcp: BTreeMap::new(),
            gone: BTreeMap::new(),
        };
        for (at, entry) in entries.iter().enumerate() {
            names.exact.entry(entry.name().to_owned()).or_insert(at);
            for alias in entry.tool().aliases() {
                names.aliases.entry(alias.to_owned()).or_insert(at);
            }
            for spelling in mcp_spellings(entry.name()) {
                names.mcp.entry(spelling).or_default().insert(at);
            }
        }
        for removed in events.clone().flat_map(|event| &event.removed) {
            if !names.exact.contains_key(&removed.name) {
                names.gone.insert(removed.name.clone(), removed.why.clone());
            }
        }
        for renamed in events.flat_map(|event| &event.renamed) {
            if let Some(why) = names.gone.get(&renamed.name).cloned() {
                names.gone.insert(renamed.from.clone(), why);
            }
        }
        names
    }

    /// The place of the tool of exactly this name.
    pub fn exact(&self, name: &str) -> Option<usize> {
        self.exact.get(name).copied()
    }

    pub fn find(&self, name: &str) -> Result<usize, Unknown> {
        if let Some(at) = self.exact.get(name) {
            return Ok(*at);
        }
        let unknown = |several: Vec<String>| Unknown {
            name: name.to_owned(),
            why_gone: self.gone.get(name).cloned(),
            near: nearest(name, self.exact.keys().map(String::as_str))
                .into_iter()
                .map(str::to_owned)
                .collect(),
            several,
        };
        // A tool that was taken away is not replaced by one that resembles it.
        if self.gone.contains_key(name) {
            return Err(unknown(Vec::new()));
        }
        if let Some(at) = self.aliases.get(name) {
            return Ok(*at);
        }
        let normal = normalized(name);
        if let Some(at) = self.exact.get(&normal).filter(|_| is_mcp(&normal)) {
            return Ok(*at);
        }
        let meant: Vec<usize> = self
            .mcp
            .get(&normal)
            .into_iter()
            .flatten()
            .copied()
            .collect();
        match &meant[..] {
            [one] => Ok(*one),
            several => Err(unknown(
                self.exact
                    .iter()
                    .filter(|(_, at)| several.contains(at))
                    .map(|(name, _)| name.clone())
                    .collect(),
            )),
        }
    }
}

/// A name with every character that tool names cannot hold made `_`.
pub fn normalized(name: &str) -> String {
    let keep = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.chars()
        .map(|c| if keep(c) { c } else { '_' })
        .collect()
}

/// What a model may call an MCP tool besides its name: `server__tool`, `server_tool`
/// (from `server.tool` and the like) and `tool`.
fn mcp_spellings(name: &str) -> Vec<String> {
    let Some(rest) = name.strip_prefix("mcp__") else {
        return Vec::new();
    };
    let mut spellings = vec![rest.to_owned()];
    // A server's name may hold `__` itself: every split is a possible one.
    for (at, _) in rest.match_indices("__") {
        let (server, tool) = (&rest[..at], &rest[at + 2..]);
        if !server.is_empty() && !tool.is_empty() {
            spellings.push(format!("{server}_{tool}"));
            spellings.push(tool.to_owned());
        }
    }
    spellings
}
