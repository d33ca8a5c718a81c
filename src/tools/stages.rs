//! The three stages by which the tools of a run become its pool: collect, filter, merge.
//! Each is a pure function that says what it took away and why.

use super::compiled::unusable;
use super::mcp::{raw_name, why_renamed};
use super::{ReadOnly, Tool};
use crate::profile::{DontAsk, Feature, Profile};
use crate::trace;
use crate::words::Mode;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The tools that there are only with a feature.
const OF_FEATURES: [(&str, Feature); 2] = [
    ("Agent", Feature::ForkSubagent),
    ("Task", Feature::ForkSubagent),
];

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

impl PoolOptions<'_> {
    /// Whether a feature is on: as its flag says, else as the profile has it.
    fn has(&self, feature: Feature) -> bool {
        let flag = self.flags.get(feature.as_str()).copied();
        flag.unwrap_or_else(|| self.profile.features.contains(&feature))
    }
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
        renamed: Vec::new(),
        tokens: None,
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
            let off = OF_FEATURES
                .iter()
                .find(|(of, feature)| *of == name && !options.has(*feature));
            if let Some((_, feature)) = off {
                let why = format!("the feature {} is off", feature.as_str());
                gone.push(removed(name, why));
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
    let raw = tool.mcp_origin().and_then(raw_name);
    let names = [Some(tool.name()), raw.as_deref()];
    if let Some(why) = names.into_iter().flatten().find_map(options.denied) {
        return Some(why);
    }
    let read_only_pool = options.mode == Mode::DontAsk
        && options.profile.dont_ask == DontAsk::PoolReadOnly
        && tool.read_only() != ReadOnly::Always;
    if read_only_pool {
        return Some("mode dontAsk keeps only tools that are read-only for every input".to_owned());
    }
    if options.has(Feature::Repl) && !tool.fits_repl() {
        return Some("it does not fit into a read-eval-print loop".to_owned());
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
    // Of those that do not stay too: what is called by its raw name must not be taken for another.
    let mut renamed_of_servers: Vec<_> = mcp.iter().filter_map(|t| renamed(&**t)).collect();
    renamed_of_servers.sort();
    renamed_of_servers.dedup();
    let mut names: BTreeSet<String> = own.iter().map(|tool| tool.name().to_owned()).collect();
    let mut all = own;
    all.sort_by(|a, b| a.name().cmp(b.name()));
    let mut mcp = mcp;
    // Of two of one name one stays, and which one hangs on what they are, not on who came first.
    let definition = |tool: &dyn Tool| {
        (
            tool.description().to_owned(),
            tool.input_schema().to_string(),
        )
    };
    mcp.sort_by(|a, b| {
        let by_name = a.name().cmp(b.name());
        by_name.then_with(|| definition(&**a).cmp(&definition(&**b)))
    });
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
    let mut staged = staged("merge", before, all, gone);
    staged.event.renamed = renamed_of_servers;
    staged
}

/// That a tool is not offered by the name that its server's and its own make up.
fn renamed(tool: &dyn Tool) -> Option<trace::Renamed> {
    let origin = tool.mcp_origin()?;
    let from = format!("mcp__{}__{}", origin.server, origin.tool);
    let name = tool.name().to_owned();
    let why = why_renamed(&name, origin)?;
    Some(trace::Renamed { name, from, why })
}
