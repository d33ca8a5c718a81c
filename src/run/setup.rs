//! What a run is made from: plain data, from a scenario, a recording or a test.

use crate::hooks::{Hooks, ScriptedHook};
use crate::model::Turn;
use crate::model::hosted::HostedTool;
use crate::permission::{ClassifierAnswer, Permissions, Working};
use crate::pipeline::Interrupt;
use crate::profile::{Profile, ProjectTrust};
use crate::rule::Anchors;
use crate::settings::Settings;
use crate::shell::{Fixtures, Shell};
use crate::sim::ScheduleError;
use crate::tools::{self, Answered, Pool, PoolOptions, Tool, ToolAnswer};
use crate::trace;
use crate::wire::Message;
use crate::words::{Mode, Policy, Step};
use crate::world::{Answer, Answers, MemoryFs, MemoryOptions, OutsideChange, User, UserAnswer};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// In which order operations are granted where two or more could be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// The first actor first.
    InOrder,
    /// Drawn, keyed by the seed.
    Random,
    /// As a schedule string says.
    Given(String),
}

/// Everything a run needs. Cloning is cheap: the file system shares what it holds.
#[derive(Clone)]
pub struct Setup {
    pub name: String,
    /// Of the scenario's text and of what it includes; hex.
    pub hash: String,
    pub profile: Profile,
    pub seed: u64,
    pub order: Order,
    /// Absolute and normal.
    pub cwd: String,
    /// Absolute and normal.
    pub home: String,
    /// Milliseconds since 1970 at virtual time 0.
    pub start_unix_ms: i64,
    pub fs: MemoryFs,
    /// Besides `HOME` and `PWD`; sorted by name.
    pub env: Vec<(String, String)>,
    pub settings: Settings,
    pub scripted_hooks: Vec<Answer<ScriptedHook>>,
    /// Built-in tools that are left in; all if none.
    pub only: Option<Vec<String>>,
    /// Tools of the scenario's or the caller's own.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Tools that the vendor hosts, run by the scripted model.
    pub hosted: Vec<HostedTool>,
    /// The tools of connected MCP servers.
    pub mcp: Vec<Arc<dyn Tool>>,
    /// What tools answer in place of running; see [`Answered`].
    pub answers: Vec<Answer<ToolAnswer>>,
    /// Feature flags.
    pub flags: BTreeMap<String, bool>,
    pub fixtures: Arc<Fixtures>,
    pub user: Vec<Answer<UserAnswer>>,
    pub classifier: Vec<Answer<ClassifierAnswer>>,
    /// By tool, and `model` for the model.
    pub latency_ms: BTreeMap<String, u64>,
    pub outside: Vec<OutsideChange>,
    /// The call and the step after which the user interrupts.
    pub interrupt: Option<(String, Step)>,
    pub policy: Option<Policy>,
    pub max_concurrency: Option<u64>,
    pub max_turns: u32,
    pub prompts: Vec<String>,
    pub turns: Vec<Turn>,
    /// The messages of a session that is taken up again.
    pub history: Vec<Arc<Message>>,
}

/// The turns that a run has if nothing says otherwise.
pub const MAX_TURNS_DEFAULT: u32 = 50;

/// Why a run cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    #[error("the schedule is of another scenario: expected hash {wanted}, found {found}")]
    OtherScenario { wanted: String, found: String },
    #[error("{}", .0.join("; "))]
    Permissions(Vec<String>),
    #[error("{}", .0.join("; "))]
    Hooks(Vec<String>),
}

impl std::fmt::Debug for Setup {
    /// What a failing test needs to be understood; code and file contents left out.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setup")
            .field("name", &self.name)
            .field("profile", &self.profile.name)
            .field("seed", &self.seed)
            .field("order", &self.order)
            .field("settings", &self.settings.raw)
            .field("scripted_hooks", &self.scripted_hooks)
            .field("user", &self.user)
            .field("latency_ms", &self.latency_ms)
            .field("outside", &self.outside)
            .field("interrupt", &self.interrupt)
            .field("policy", &self.policy)
            .field("turns", &self.turns)
            .finish_non_exhaustive()
    }
}

impl Default for Setup {
    /// An empty world at `/work` under the profile `seed`, and a model that says nothing.
    fn default() -> Setup {
        Setup {
            name: "unnamed".to_owned(),
            hash: "0".repeat(16),
            profile: Profile::seed(),
            seed: 0,
            order: Order::InOrder,
            cwd: "/work".to_owned(),
            home: "/home/user".to_owned(),
            start_unix_ms: 1_767_225_600_000,
            fs: MemoryFs::new(MemoryOptions::default()),
            env: Vec::new(),
            settings: Settings::default(),
            scripted_hooks: Vec::new(),
            only: None,
            tools: Vec::new(),
            hosted: Vec::new(),
            mcp: Vec::new(),
            answers: Vec::new(),
            flags: BTreeMap::new(),
            fixtures: Arc::default(),
            user: Vec::new(),
            classifier: Vec::new(),
            latency_ms: BTreeMap::new(),
            outside: Vec::new(),
            interrupt: None,
            policy: None,
            max_concurrency: None,
            max_turns: MAX_TURNS_DEFAULT,
            prompts: vec!["Begin.".to_owned()],
            turns: Vec::new(),
            history: Vec::new(),
        }
    }
}

impl Setup {
    /// The beginning of the hash, as schedule strings carry it.
    pub fn hash_start(&self) -> String {
        self.hash.chars().take(8).collect()
    }

    pub(super) fn shell(&self) -> Arc<dyn Shell> {
        crate::shell::simulated(self.fixtures.clone())
    }

    pub(super) fn interrupt(&self) -> Interrupt {
        match &self.interrupt {
            Some((call, step)) => Interrupt::after_step(call.clone(), *step),
            None => Interrupt::default(),
        }
    }

    pub(super) fn session_id(&self) -> String {
        format!("session-{}-{}", self.hash_start(), self.seed)
    }

    /// The settings that count here.
    fn settings(&self) -> Cow<'_, Settings> {
        match self.profile.project_trust {
            ProjectTrust::Trusted => Cow::Borrowed(&self.settings),
            ProjectTrust::Untrusted => Cow::Owned(self.settings.clone().without_trust()),
        }
    }

    /// Absolute forms of `additionalDirectories`.
    pub(super) fn additional_dirs(&self) -> Vec<String> {
        Anchors::new(&self.cwd, &self.home).working_folders(&self.settings())
    }

    /// The hooks of every source, the strongest first.
    pub(super) fn hooks(&self) -> Result<Hooks, SetupError> {
        let mut hooks = Hooks::default();
        let mut complaints = Vec::new();
        for of in &self.settings.hooks {
            complaints.extend(hooks.add_of(of));
        }
        // What is no rule holds of every call; it was warned of with the scenario.
        let _ = hooks.compile_conditions(&Anchors::new(&self.cwd, &self.home), &self.fs);
        match complaints.is_empty() {
            true => Ok(hooks),
            false => Err(SetupError::Hooks(complaints)),
        }
    }
}

impl Setup {
    /// What decides about the calls of the run, and the rules that take tools out of it.
    pub(super) fn permissions(&self, profile: &Arc<Profile>) -> Result<Permissions, SetupError> {
        let anchors = Anchors::new(&self.cwd, &self.home);
        let settings = self.settings();
        let (rules, complaints) = crate::rule::compile(&settings, &anchors, &self.fs);
        let errors: Vec<String> = complaints
            .iter()
            .filter(|c| settings.stops(c))
            .map(ToString::to_string)
            .collect();
        if !errors.is_empty() {
            return Err(SetupError::Permissions(errors));
        }
        let working = Working::new(
            &self.cwd,
            &self.additional_dirs(),
            super::RESULTS_DIR,
            &self.fs,
        );
        let permissions = Permissions::new(Arc::new(rules), working, self.mode(), profile.clone())
            .with_classifier(self.classifier.clone())
            .with_settings(settings.into_owned(), anchors, super::RESULTS_DIR, &self.fs);
        Ok(match self.user.is_empty() {
            true => permissions,
            false => permissions.with_user(Arc::new(User::new(self.user.clone()))),
        })
    }

    /// The mode that the run begins in.
    pub(super) fn mode(&self) -> Mode {
        let mode = self
            .settings
            .default_mode
            .map_or(Mode::Default, |(mode, _)| mode);
        match mode {
            Mode::BypassPermissions if self.settings.bypass_disabled => Mode::Default,
            mode => mode,
        }
    }

    /// The tools of the run, and what each stage did to them.
    pub(super) fn pool(
        &self,
        permissions: &Permissions,
    ) -> (Pool, Vec<trace::Pool>, Arc<Answers<ToolAnswer>>) {
        let rules = permissions.rules();
        let denied = move |name: &str| {
            let rule = rules.removes(name, &[])?;
            Some(format!(
                "the deny rule {} of {}",
                rule.text, rule.origin.source
            ))
        };
        let options = PoolOptions {
            profile: &self.profile,
            mode: self.mode(),
            flags: &self.flags,
            only: self.only.as_deref(),
            denied: &denied,
        };
        let answers = Arc::new(Answers::new(self.answers.clone()));
        let mut own = tools::builtin();
        own.extend(self.tools.iter().cloned());
        let mut mcp = self.mcp.clone();
        for tool in own.iter_mut().chain(&mut mcp) {
            if self
                .answers
                .iter()
                .any(|answer| answer.value.tool.matches(tool.name()))
            {
                *tool = Arc::new(Answered::over(tool.clone(), answers.clone()));
            }
        }
        for name in self.answered_only(&own, &mcp) {
            let definition = Arc::new(tools::stand_in(&name));
            own.push(Arc::new(Answered::only(definition, answers.clone())));
        }
        let (pool, stages) = Pool::build(own, mcp, &options);
        let hosted = self.hosted.iter().map(HostedTool::definition).collect();
        let searches = self.hosted.iter().any(HostedTool::searches_tools);
        let pool = pool.with_hosted(hosted, searches, &self.profile);
        (pool, stages, answers)
    }

    /// The names in answers that no tool of the run has.
    fn answered_only(&self, own: &[Arc<dyn Tool>], mcp: &[Arc<dyn Tool>]) -> BTreeSet<String> {
        let names = self.answers.iter().map(|answer| answer.value.tool.as_str());
        let literal = names.filter(|name| !name.contains(['*', '?']));
        let known = |name: &str| own.iter().chain(mcp).any(|tool| tool.name() == name);
        literal
            .filter(|name| !known(name))
            .map(str::to_owned)
            .collect()
    }

    /// What the model is told besides the conversation.
    pub(super) fn system_text(&self, pool: &Pool) -> String {
        let mut text = format!(
            "You work in {}. Its files are yours to read with the tools.",
            self.cwd
        );
        text.push_str(&pool.deferred_notice());
        text
    }
}
