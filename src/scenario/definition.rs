//! A scenario as a value: everything a run needs to know, checked.

use super::answers::{
    ClassifierAnswer, CommandAnswer, read_classifier, read_command, read_hook, read_list, read_user,
};
use super::beside::Beside;
use super::complaint::{Complaint, Place};
use super::expectation::{Expect, read_expect};
use super::fields::{Fields, MAX_INT, Placed, Reader};
use super::file_spec::{FileSpec, prepare, read_cwd, read_files, read_time};
use super::hosted_spec::read_hosted;
use super::keys;
use super::node::{Data, Node, ticked};
use super::outside::{InterruptSpec, OutsideSpec, read_interrupt, read_outside};
use super::script::{Turn, read_texts, read_turn};
use super::settings_spec::read_settings;
use super::shape::{Shape, nearest};
use super::tool_spec::{PublishedSpec, ToolSpecs, read_published, read_tools};
use crate::hooks::ScriptedHook;
use crate::model;
use crate::model::hosted::HostedTool;
use crate::profile::{Invariant, OverrideError, Profile, ProfileError};
use crate::settings::Settings;
use crate::words::Policy;
use crate::world::{Answer, MemoryFs, MemoryOptions, OutsideChange, UserAnswer};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// 2026-01-01T00:00:00Z, when a world begins that says nothing else.
pub const DEFAULT_START_UNIX_MS: i64 = 1_767_225_600_000;
/// The folder `~` stands for in a world whose `env` has no HOME.
pub const DEFAULT_HOME: &str = "/home/user";
/// After how many responses an agent stops that is told nothing else.
pub const DEFAULT_MAX_TURNS: u32 = 50;

/// One scenario, or one case of it, ready to be run.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The file as it was named.
    pub file: Arc<str>,
    /// The case, if it is one.
    pub case: Option<String>,
    pub name: String,
    /// With `semantics` applied.
    pub profile: Profile,
    /// The single parameters that are set otherwise.
    pub semantics: Vec<(Placed<String>, Value)>,
    pub seed: u64,
    /// Absolute and normal.
    pub cwd: String,
    /// Milliseconds since 1970 at virtual time 0.
    pub start_unix_ms: i64,
    /// The world's files at the beginning.
    pub fs: MemoryFs,
    /// What `files` and `files_from` say, by absolute path.
    pub files: BTreeMap<String, FileSpec>,
    pub env: BTreeMap<String, String>,
    /// Of all sources, merged; their rules and hooks were looked at and can be read.
    pub settings: Settings,
    pub flags: BTreeMap<String, bool>,
    pub tools: ToolSpecs,
    /// Tools whose schema the vendor publishes.
    pub published: Vec<PublishedSpec>,
    /// Tools that the vendor hosts.
    pub hosted: Vec<HostedTool>,
    pub commands: Vec<Answer<CommandAnswer>>,
    pub hooks: Vec<Answer<ScriptedHook>>,
    /// Virtual milliseconds by tool name, and `model` for a response.
    pub latency_ms: BTreeMap<String, u64>,
    pub user: Vec<Answer<UserAnswer>>,
    pub classifier: Vec<Answer<ClassifierAnswer>>,
    pub max_turns: u32,
    /// What the user says, in order; never empty.
    pub prompts: Vec<String>,
    pub model: Vec<Turn>,
    pub outside: Vec<OutsideSpec>,
    pub interrupt: Option<InterruptSpec>,
    /// The profile's if not given.
    pub policy: Option<Policy>,
    /// The profile's if not given.
    pub max_concurrency: Option<u32>,
    pub expect: Expect,
    pub invariants_off: BTreeSet<Invariant>,
    pub snapshot: SnapshotLevel,
    /// A hash of everything that a run depends on: not of name, expectations,
    /// snapshot level and other cases. Hexadecimal.
    pub hash: String,
    /// Where answers stand, by their labels (`user[0]`).
    pub(super) labels: BTreeMap<String, Place>,
}

/// How much of the trace a snapshot shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SnapshotLevel {
    None,
    Calls,
    Steps,
    Ops,
}

impl SnapshotLevel {
    pub fn as_str(self) -> &'static str {
        match self {
            SnapshotLevel::None => "none",
            SnapshotLevel::Calls => "calls",
            SnapshotLevel::Steps => "steps",
            SnapshotLevel::Ops => "ops",
        }
    }

    fn from_word(word: &str) -> Option<SnapshotLevel> {
        [Self::None, Self::Calls, Self::Steps, Self::Ops]
            .into_iter()
            .find(|level| level.as_str() == word)
    }
}

impl Scenario {
    /// The folder `~` stands for.
    pub fn home(&self) -> &str {
        self.env.get("HOME").map_or(DEFAULT_HOME, String::as_str)
    }

    /// File and case in one word, as reports name it.
    pub fn title(&self) -> String {
        match &self.case {
            Some(case) => format!("{}@{case}", self.file),
            None => self.file.to_string(),
        }
    }

    /// The case's name as it can be part of a file's name.
    pub fn case_slug(&self) -> Option<String> {
        self.case.as_deref().map(slug)
    }

    /// The turns as the scripted model takes them.
    pub fn turns(&self) -> Vec<model::Turn> {
        self.model
            .iter()
            .enumerate()
            .map(|(i, turn)| turn.to_model(&format!("model[{i}]")))
            .collect()
    }

    /// The outside changes as the world takes them.
    pub fn outside_changes(&self) -> Vec<OutsideChange> {
        self.outside.iter().map(|o| o.change.clone()).collect()
    }

    /// The place of what a run calls by its label: an answer (`user[0]`), a turn
    /// (`model[1]`) or an outside change (`o0: …`, after its actor).
    pub fn place_of(&self, label: &str) -> Option<&Place> {
        let turn = || -> Option<&Place> {
            let index = label.strip_prefix("model[")?.strip_suffix(']')?;
            self.model
                .get(index.parse::<usize>().ok()?)
                .map(|turn| &turn.at)
        };
        let outside = || -> Option<&Place> {
            let (index, _) = label.strip_prefix('o')?.split_once(':')?;
            self.outside
                .get(index.parse::<usize>().ok()?)
                .map(|spec| &spec.at)
        };
        self.labels.get(label).or_else(turn).or_else(outside)
    }

    /// The profile called `name` with this scenario's semantics set in it.
    ///
    /// # Errors
    /// If no profile has this name.
    pub fn profile_called(&self, name: &str) -> Result<Profile, ProfileError> {
        let mut profile = Profile::by_name(name)?;
        for (id, value) in &self.semantics {
            // Every profile has every parameter, and the value was checked when read.
            let _ = profile.override_parameter(&id.value, value);
        }
        Ok(profile)
    }
}

/// A name with everything but ASCII letters, digits and `-` replaced by `_`.
pub(super) fn slug(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    name.chars()
        .map(|c| if plain(c) { c } else { '_' })
        .collect()
}

/// Reads a scenario, or a case with the scenario's keys below its own.
pub(super) fn read_scenario(
    r: &mut Reader,
    node: &Node,
    shape: &'static Shape,
    case: Option<String>,
    beside: &Beside,
) -> Option<Scenario> {
    r.labels.clear();
    r.calls.clear();
    let mut f = r.fields(node, shape)?;
    if case.is_none() {
        // Read where the file is taken apart; here only so that no key is forgotten.
        let format = f.get("rehearsal");
        format.and_then(|n| read_format(r, n));
        f.entry("cases");
        f.entry("include");
    }
    f.entry("files_from");
    let name = f.text(r, "name");
    let named = f
        .get("profile")
        .and_then(|n| r.word(n, &keys::profiles(), |word| Profile::by_name(word).ok()));
    let mut profile = named.unwrap_or_else(Profile::seed);
    let semantics = read_semantics(r, f.get("semantics"), &mut profile);
    let cwd = f.get("cwd").and_then(|n| read_cwd(r, n));
    let cwd = cwd.unwrap_or_else(|| "/work".to_owned());
    let before = r.complaints.len();
    let mut files = BTreeMap::new();
    for (path, spec) in &beside.files {
        files.insert(crate::world::normalize(&cwd, path), spec.clone());
    }
    if let Some(node) = f.get("files") {
        files.extend(read_files(r, node, &cwd));
    }
    let start_unix_ms = f
        .get("start_time")
        .and_then(|n| read_time(r, n))
        .unwrap_or(DEFAULT_START_UNIX_MS);
    let options = f.get("fs").and_then(|n| read_fs(r, n));
    // What is wrong with the files is said once.
    let whole = r.complaints.len() == before;
    let put = if whole { &files } else { &BTreeMap::new() };
    let fs = prepare(r, put, options.unwrap_or_default(), &cwd, start_unix_ms);
    let env = read_env(r, f.get("env"));
    let home = env.get("HOME").map_or(DEFAULT_HOME, String::as_str);
    let tools = f
        .get("tools")
        .and_then(|n| read_tools(r, n))
        .unwrap_or_default();
    let published = read_published(r, f.get("published"));
    let own_tools = own_tools(&tools, &published);
    let settings = read_settings(
        r,
        f.get("settings"),
        beside,
        (&cwd, home),
        &fs,
        &own_tools.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    let hooks = f.get("hooks").and_then(|n| {
        let mut f = r.fields(n, &keys::HOOKS)?;
        let answers = f.get("answers");
        let shape = &keys::HOOK_ANSWER;
        let hooks = read_list(r, answers, "hooks.answers", read_hook, shape);
        f.done();
        Some(hooks)
    });
    let scenario = Scenario {
        file: node.at.file.clone(),
        case,
        name: name.unwrap_or_default(),
        profile,
        semantics,
        seed: f
            .get("seed")
            .and_then(|n| r.int(n, 0, MAX_INT))
            .unwrap_or(0),
        start_unix_ms,
        fs,
        files,
        env,
        settings,
        flags: read_flags(r, f.get("flags")),
        tools,
        commands: read_list(
            r,
            f.get("commands"),
            "commands",
            read_command,
            &keys::COMMAND,
        ),
        hooks: hooks.unwrap_or_default(),
        latency_ms: read_latency(r, f.get("latency_ms")),
        published,
        hosted: read_hosted(r, f.get("hosted")),
        user: read_list(r, f.get("user"), "user", read_user, &keys::USER),
        classifier: read_list(
            r,
            f.get("classifier"),
            "classifier",
            read_classifier,
            &keys::CLASSIFIER,
        ),
        max_turns: f
            .get("max_turns")
            .and_then(|n| r.int(n, 1, 1_000_000))
            .and_then(|n| u32::try_from(n).ok())
            .unwrap_or(DEFAULT_MAX_TURNS),
        prompts: read_prompts(r, f.get("prompt")),
        model: f
            .get("model")
            .and_then(|n| r.list(n, "turns"))
            .unwrap_or_default()
            .iter()
            .filter_map(|n| read_turn(r, n))
            .collect(),
        outside: f
            .get("outside")
            .and_then(|n| r.list(n, "outside changes"))
            .unwrap_or_default()
            .iter()
            .filter_map(|n| read_outside(r, n, &cwd))
            .collect(),
        interrupt: f.get("interrupt").and_then(|n| read_interrupt(r, n)),
        policy: f
            .get("policy")
            .and_then(|n| r.word(n, &keys::policies(), Policy::from_word)),
        max_concurrency: f
            .get("max_concurrency")
            .and_then(|n| r.int(n, 1, 10_000))
            .and_then(|n| u32::try_from(n).ok()),
        expect: f
            .get("expect")
            .and_then(|n| read_expect(r, n, &cwd))
            .unwrap_or_default(),
        invariants_off: read_invariants(r, &mut f),
        snapshot: f
            .get("snapshot")
            .and_then(|n| r.word(n, &keys::snapshot_levels(), SnapshotLevel::from_word))
            .unwrap_or(SnapshotLevel::Steps),
        hash: hash(node, beside),
        labels: std::mem::take(&mut r.labels),
        cwd,
    };
    f.done();
    Some(scenario)
}

/// The names of the tools that a scenario adds to the built-in ones.
fn own_tools(tools: &ToolSpecs, published: &[PublishedSpec]) -> Vec<String> {
    let custom = tools
        .custom
        .iter()
        .flat_map(|tool| std::iter::once(tool.name.clone()).chain(tool.aliases.iter().cloned()));
    let answered = tools.answers.iter().filter_map(|answer| {
        let tool = answer.value.tool.as_ref()?;
        Some(tool.as_str().to_owned())
    });
    let published = published
        .iter()
        .filter_map(|spec| crate::tools::published::published(&spec.kind, None))
        .map(|tool| tool.name().to_owned());
    custom.chain(answered).chain(published).collect()
}

fn read_format(r: &mut Reader, node: &Node) -> Option<u64> {
    let format = r.int(node, 0, MAX_INT)?;
    if format != 1 {
        r.complain(
            Complaint::error(&node.at, format!("format {format}"), "format 1")
                .hint("this version reads format 1 only"),
        );
    }
    Some(format)
}

fn read_semantics(
    r: &mut Reader,
    node: Option<&Node>,
    profile: &mut Profile,
) -> Vec<(Placed<String>, Value)> {
    let Some(node) = node else {
        return Vec::new();
    };
    let mut set = Vec::new();
    for entry in r.map(node, "parameters and values").unwrap_or_default() {
        let value = entry.value.to_json();
        match profile.override_parameter(&entry.key, &value) {
            Ok(()) => set.push((
                Placed {
                    value: entry.key.clone(),
                    at: entry.key_at.clone(),
                },
                value,
            )),
            Err(OverrideError::Unknown { id, .. }) => {
                let complaint = Complaint::error(
                    &entry.key_at,
                    format!("the unknown parameter {}", ticked(&id)),
                    "a parameter of a profile",
                );
                let known = Profile::PARAMETERS;
                r.complain(match nearest(&id, known.iter().copied()) {
                    Some(meant) => complaint.hint(format!("did you mean `{meant}`?")),
                    None => complaint.hint(format!("the parameters are: {}", known.join(", "))),
                });
            }
            Err(OverrideError::NotAllowed { id, allowed, .. }) => r.complain(Complaint::error(
                &entry.value.at,
                entry.value.describe(),
                format!("a value of {}: {}", ticked(&id), allowed.join(", ")),
            )),
        }
    }
    set
}

fn read_fs(r: &mut Reader, node: &Node) -> Option<MemoryOptions> {
    let mut f = r.fields(node, &keys::FS)?;
    let default = MemoryOptions::default();
    let options = MemoryOptions {
        case_sensitive: f
            .bool(r, "case_sensitive")
            .unwrap_or(default.case_sensitive),
        mtime_granularity_ms: f
            .get("mtime_granularity_ms")
            .and_then(|n| r.int(n, 1, 86_400_000))
            .and_then(|n| u32::try_from(n).ok())
            .unwrap_or(default.mtime_granularity_ms),
        capacity_bytes: f
            .get("capacity_bytes")
            .and_then(|n| r.int(n, 0, MAX_INT))
            .unwrap_or(default.capacity_bytes),
        superuser: f.bool(r, "superuser").unwrap_or(default.superuser),
        ..default
    };
    f.done();
    Some(options)
}

fn read_env(r: &mut Reader, node: Option<&Node>) -> BTreeMap<String, String> {
    let Some(node) = node else {
        return BTreeMap::new();
    };
    let entries = r.map(node, "names and values").unwrap_or_default();
    let mut env = BTreeMap::new();
    for entry in entries {
        if entry.key.is_empty() || entry.key.contains(['=', '\0']) {
            r.complain(Complaint::error(
                &entry.key_at,
                format!("the variable {}", ticked(&entry.key)),
                "a name without `=`",
            ));
        } else if entry.key == "HOME" {
            if let Some(home) = read_cwd(r, &entry.value) {
                env.insert(entry.key.clone(), home);
            }
        } else if let Some(value) = r.scalar(&entry.value) {
            env.insert(entry.key.clone(), value);
        }
    }
    env
}

fn read_flags(r: &mut Reader, node: Option<&Node>) -> BTreeMap<String, bool> {
    let Some(node) = node else {
        return BTreeMap::new();
    };
    let entries = r.map(node, "flags").unwrap_or_default();
    entries
        .iter()
        .filter_map(|e| Some((e.key.clone(), r.bool(&e.value)?)))
        .collect()
}

fn read_latency(r: &mut Reader, node: Option<&Node>) -> BTreeMap<String, u64> {
    let Some(node) = node else {
        return BTreeMap::new();
    };
    let entries = r.map(node, "names and milliseconds").unwrap_or_default();
    entries
        .iter()
        .filter_map(|e| Some((e.key.clone(), r.int(&e.value, 0, MAX_INT)?)))
        .collect()
}

fn read_prompts(r: &mut Reader, node: Option<&Node>) -> Vec<String> {
    if let Some(Node {
        data: Data::List(items),
        at,
    }) = node
        && items.is_empty()
    {
        r.complain(Complaint::error(at, "an empty list", "at least one prompt"));
    }
    let prompts = read_texts(r, node);
    if prompts.is_empty() {
        return vec!["Go.".to_owned()];
    }
    prompts
}

fn read_invariants(r: &mut Reader, f: &mut Fields<'_>) -> BTreeSet<Invariant> {
    f.get("invariants_off")
        .and_then(|n| r.list(n, "invariants"))
        .unwrap_or_default()
        .iter()
        .filter_map(|n| r.word(n, &keys::invariants(), invariant_named))
        .collect()
}

fn invariant_named(word: &str) -> Option<Invariant> {
    Invariant::ALL.iter().copied().find(|i| i.as_str() == word)
}

/// The keys that a run does not depend on.
const NOT_HASHED: [&str; 6] = [
    "rehearsal",
    "name",
    "expect",
    "snapshot",
    "cases",
    "include",
];

fn hash(node: &Node, beside: &Beside) -> String {
    let mut json = node.to_json();
    if let Value::Object(map) = &mut json {
        map.retain(|key, value| !NOT_HASHED.contains(&key.as_str()) && !value.is_null());
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update(json.to_string().as_bytes());
    for (path, spec) in &beside.files {
        hasher.update(path.as_bytes());
        if let super::file_spec::FileContent::File(content) = &spec.content {
            hasher.update(&content.bytes());
        }
    }
    for found in beside.settings.values().flatten() {
        hasher.update(&found.bytes);
    }
    hasher.finalize().to_hex().to_string()
}
