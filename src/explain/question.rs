//! One call, and everything that decides about it.

use super::change::{Change, changes};
use super::court::{Call, Court};
use super::ruling::Ruling;
use crate::hooks::{HookEvent, Hooks};
use crate::profile::Profile;
use crate::settings::Settings;
use crate::sim::{InOrder, Sim, SimConfig, SimError};
use crate::words::{Behavior, Mode};
use crate::world::{MemoryFs, World, WorldOptions};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

/// When the world of a question stands, in milliseconds since 1970.
const START_UNIX_MS: i64 = 1_767_225_600_000;

/// What the user would say if asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserSays {
    Allow,
    Deny,
    /// Nobody is there to be asked.
    Nobody,
}

/// A call, and everything that decides about it. Cloning is cheap.
#[derive(Clone)]
pub struct Question {
    pub tool: String,
    /// As the model would write it.
    pub input: Value,
    pub settings: Settings,
    pub profile: Arc<Profile>,
    /// In place of the settings' own.
    pub mode: Option<Mode>,
    /// Absolute and normal: where the run began, and where settings are anchored.
    pub cwd: String,
    /// Absolute and normal.
    pub home: String,
    /// The world, as far as it matters: where paths lead.
    pub fs: MemoryFs,
    /// What the pre-hooks say together.
    pub hook: Option<Behavior>,
    /// If nothing is said, a decision that only the user could take is `ask`.
    pub user: Option<UserSays>,
}

impl Question {
    /// The mode that decides.
    pub fn mode(&self) -> Mode {
        let own = || self.settings.default_mode.map(|(mode, _)| mode);
        match self.mode.or_else(own).unwrap_or(Mode::Default) {
            Mode::BypassPermissions if self.settings.bypass_disabled => Mode::Default,
            mode => mode,
        }
    }

    /// Lets the five layers decide.
    pub(super) fn ruling(&self) -> Result<Ruling, Unanswered> {
        self.asked(async |court, call| court.ruling(call).await)?
    }

    /// The narrowest rule that speaks of this call.
    pub(super) fn suggestion(&self) -> Result<String, Unanswered> {
        self.asked(async |court, call| court.suggestion(call).await)?
    }

    fn asked<T>(&self, ask: impl AsyncFnOnce(&Court, &Call<'_>) -> T) -> Result<T, Unanswered> {
        let sim = Sim::new(SimConfig::new(InOrder));
        let fs = Arc::new(self.fs.snapshot());
        let options = WorldOptions {
            start_unix_ms: START_UNIX_MS,
            ..WorldOptions::default()
        };
        let world = World::with(sim.clone(), fs, options);
        let court = Court::new(&world, &self.settings, &self.profile, &self.cwd, &self.home)?;
        let call = Call {
            tool: &self.tool,
            input: &self.input,
            accepted: false,
            mode: self.mode(),
            cwd: &self.cwd,
            hook: self.hook,
            user: self.user,
        };
        Ok(sim.run(ask(&court, &call))?)
    }

    /// The hooks that would see the call before it is decided about.
    fn hooks(&self) -> Vec<String> {
        let mut hooks = Hooks::default();
        for of in &self.settings.hooks {
            // What is wrong with them is no part of this answer: a run complains of it.
            let _ = hooks.add_of(of);
        }
        let names = [self.tool.as_str()];
        let matching = hooks.matching(HookEvent::PreToolUse, &names);
        matching.iter().map(|handler| handler.label()).collect()
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    /// The call ends at lookup: no layer would be asked.
    #[error("{0}")]
    UnknownTool(String),
    /// The call ends at parse: no layer would be asked.
    #[error("{0}")]
    InvalidInput(String),
    /// Rules that cannot be used.
    #[error("{}", .0.join("\n"))]
    Settings(Vec<String>),
    /// A fault of this program.
    #[error("the runtime failed: {0}")]
    Fault(#[from] SimError),
}

/// The answer for one call (`interface.md`, `explain --json`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    #[serde(flatten)]
    pub ruling: Ruling,
    pub tool: String,
    /// What the call is about, in one line.
    pub input: String,
    pub mode: Mode,
    pub profile: String,
    pub cwd: String,
    /// How many rules were compared.
    pub rules: u32,
    /// The hooks that would see the call. None of them is run here.
    pub hooks: Vec<String>,
    /// What would have to change for another decision, each tried.
    pub changes: Vec<Change>,
}

/// Explains one call.
///
/// # Errors
///
/// [`Unanswered`] if the call would not come as far as a decision, or rules cannot be used.
pub fn explain(question: &Question) -> Result<Explanation, Unanswered> {
    let ruling = question.ruling()?;
    let changes = changes(question, &ruling)?;
    let settings = &question.settings;
    let rules = settings.deny.len() + settings.ask.len() + settings.allow.len();
    Ok(Explanation {
        ruling,
        tool: question.tool.clone(),
        input: shown(&question.input),
        mode: question.mode(),
        profile: question.profile.name.clone(),
        cwd: question.cwd.clone(),
        rules: u32::try_from(rules).unwrap_or(u32::MAX),
        hooks: question.hooks(),
        changes,
    })
}

/// An input in one line: its only or its most telling text, else its JSON.
pub(super) fn shown(input: &Value) -> String {
    const TELLING: [&str; 6] = [
        "command",
        "file_path",
        "notebook_path",
        "url",
        "pattern",
        "path",
    ];
    let telling = TELLING.iter().find_map(|key| input[*key].as_str());
    match telling {
        Some(text) => crate::tools::units::one_line(text, 100),
        None => crate::tools::short_json(input),
    }
}
