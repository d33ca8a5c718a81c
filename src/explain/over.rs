//! Every call of a recording under other settings: what was decided, what would be now,
//! and which rules are of use.

use super::court::{Call, Court};
use super::old::Old;
use super::question::{Unanswered, UserSays, shown};
use super::ruling::Ruling;
use super::used::{RuleUse, count, sets, uses};
use crate::profile::Profile;
use crate::recording::{Folders, RecordedCall, Recording};
use crate::replay::{mode_of, world_input};
use crate::rule::RuleSet;
use crate::settings::Settings;
use crate::sim::{InOrder, Sim, SimConfig};
use crate::words::{Behavior, Class, Layer, Mode};
use crate::world::{MemoryFs, World, WorldOptions};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Under what the calls of recordings are decided about.
#[derive(Clone)]
pub struct OverOptions {
    /// None if there are none: then nothing but modes decides.
    pub settings: Option<Settings>,
    /// In place of the profile that each call's version picks.
    pub profile: Option<Arc<Profile>>,
    /// In place of the mode that each call was recorded in.
    pub mode: Option<Mode>,
    /// In place of the folder that the recording began in.
    pub cwd: Option<String>,
    pub home: Option<String>,
    /// Where paths lead.
    pub fs: MemoryFs,
    /// What the user says if asked. If nothing is said, a call that would be asked about
    /// is decided as recorded.
    pub user: Option<UserSays>,
}

/// What would be decided now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct New {
    pub behavior: Behavior,
    pub layer: Layer,
    pub reason: String,
    pub rule: Option<String>,
    pub source: Option<String>,
    pub index: Option<u32>,
}

impl New {
    fn of(ruling: &Ruling) -> New {
        New {
            behavior: ruling.behavior,
            layer: ruling.layer,
            reason: ruling.reason.clone(),
            rule: ruling.rule.clone(),
            source: ruling.source.clone(),
            index: ruling.index,
        }
    }
}

/// One call, then and now (`explain --json` over recordings, one line a call).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallLine {
    pub recording: String,
    pub call: String,
    pub number: u32,
    pub line: u32,
    pub tool: String,
    /// What it is about, in one line.
    pub input: String,
    pub mode: Mode,
    pub old: Option<Old>,
    pub new: Option<New>,
    pub flips: bool,
    /// Why the two are not compared.
    pub why: Option<String>,
}

/// All recordings together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Overview {
    pub recordings: u32,
    pub unreadable: u32,
    pub calls: u32,
    /// Calls whose decisions were compared.
    pub compared: u32,
    pub flips: u32,
    /// `old → new`, of those compared.
    pub decisions: BTreeMap<String, u32>,
    /// By whom the new decisions are taken.
    pub decided_by: BTreeMap<String, u32>,
    /// Of the flips: who brings them about.
    pub flips_by: BTreeMap<String, u32>,
    pub not_compared: BTreeMap<String, u32>,
    pub rules: Vec<RuleUse>,
    /// The rules that speak of no call.
    pub never_fired: Vec<String>,
    /// The rules that speak of calls of which another always decides.
    pub shadowed: Vec<String>,
}

impl Overview {
    /// An overview of nothing yet, under `options`.
    pub fn new(options: &OverOptions) -> Overview {
        Overview {
            rules: options.settings.as_ref().map(uses).unwrap_or_default(),
            ..Overview::default()
        }
    }

    /// Names the rules that are of no use, when every call has been counted.
    pub fn finish(&mut self) {
        let of = |is: fn(&RuleUse) -> bool| {
            let rules = self.rules.iter().filter(|rule| is(rule));
            rules.map(|rule| rule.rule.clone()).collect()
        };
        self.never_fired = of(RuleUse::never_fired);
        self.shadowed = of(RuleUse::is_shadowed);
    }

    fn add(&mut self, line: &CallLine) {
        self.calls += 1;
        let (Some(old), Some(new)) = (&line.old, &line.new) else {
            let why = line.why.clone().unwrap_or_default();
            *self.not_compared.entry(why).or_default() += 1;
            return;
        };
        self.compared += 1;
        let decisions = format!("{} → {}", old.behavior, new.behavior);
        *self.decisions.entry(decisions).or_default() += 1;
        *self.decided_by.entry(by(new)).or_default() += 1;
        if line.flips {
            self.flips += 1;
            *self.flips_by.entry(by(new)).or_default() += 1;
        }
    }
}

/// Who decided.
fn by(new: &New) -> String {
    match &new.rule {
        Some(rule) => format!("`{rule}`"),
        None => format!("{} ({})", new.layer, new.reason),
    }
}

/// Decides anew about every call of a recording, in the order of the file, and counts it.
///
/// # Errors
///
/// [`Unanswered::Settings`] if rules cannot be used, or a fault of this program.
pub fn over(
    name: &str,
    recording: &Recording<'_>,
    options: &OverOptions,
    overview: &mut Overview,
) -> Result<Vec<CallLine>, Unanswered> {
    let recorded = Folders::of(recording.cwd.as_deref());
    let folders = Folders {
        cwd: options.cwd.clone().unwrap_or(recorded.cwd),
        home: options.home.clone().unwrap_or(recorded.home),
    };
    let sim = Sim::new(SimConfig::new(InOrder));
    let fs = Arc::new(options.fs.snapshot());
    let world = World::with(sim.clone(), fs, WorldOptions::default());
    let settings = options.settings.clone().unwrap_or_default();
    let mut session = Session {
        name,
        options,
        sets: sets(&settings, &folders.cwd, &folders.home, &**world.fs()),
        settings,
        world,
        folders,
        courts: BTreeMap::new(),
    };
    overview.recordings += 1;
    sim.run(async {
        let mut lines = Vec::with_capacity(recording.calls.len());
        for call in &recording.calls {
            let line = session.line(call, overview).await?;
            overview.add(&line);
            lines.push(line);
        }
        Ok(lines)
    })?
}

/// A recording on its way.
struct Session<'o> {
    name: &'o str,
    options: &'o OverOptions,
    settings: Settings,
    /// Every rule alone.
    sets: Vec<RuleSet>,
    world: World,
    folders: Folders,
    /// By the name of the profile.
    courts: BTreeMap<String, Court>,
}

impl Session<'_> {
    async fn line(
        &mut self,
        call: &RecordedCall<'_>,
        overview: &mut Overview,
    ) -> Result<CallLine, Unanswered> {
        let folders = match &call.cwd {
            Some(cwd) if self.options.cwd.is_none() => Folders {
                cwd: self.folders.resolve(cwd),
                home: self.folders.home.clone(),
            },
            _ => self.folders.clone(),
        };
        let text = world_input(call, &folders);
        let input: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
        let mode = self.mode(call);
        let mut line = CallLine {
            recording: self.name.to_owned(),
            call: call.id.to_string(),
            number: call.number,
            line: call.line,
            tool: call.tool.to_string(),
            input: shown(&input),
            mode,
            old: None,
            new: None,
            flips: false,
            why: None,
        };
        let old = match Old::of(call) {
            Ok(old) => old,
            Err(why) => {
                line.why = Some(why.to_owned());
                return Ok(line);
            }
        };
        line.old = Some(old);
        let user = self.options.user;
        self.court(call)?;
        let Some(court) = self.courts.get(&self.profile_name(call)) else {
            return Ok(line);
        };
        let asked = Call {
            tool: &call.tool,
            input: &input,
            accepted: true,
            mode,
            cwd: &folders.cwd,
            hook: None,
            user,
        };
        let ruling = match court.ruling(&asked).await {
            Ok(ruling) => ruling,
            Err(Unanswered::UnknownTool(_)) => {
                line.why = Some("a tool that is not known here".to_owned());
                return Ok(line);
            }
            Err(error) => return Err(error),
        };
        line.flips = flips(&old, &ruling);
        count(
            &mut overview.rules,
            &self.sets,
            court,
            &asked,
            &ruling,
            line.flips,
        )
        .await;
        line.new = Some(New::of(&ruling));
        Ok(line)
    }

    /// The mode that a call is decided in: as asked for, as recorded, or as the settings say.
    fn mode(&self, call: &RecordedCall<'_>) -> Mode {
        if let Some(mode) = self.options.mode {
            return mode;
        }
        match (&call.mode, self.settings.default_mode) {
            (None, Some((mode, _))) => mode,
            _ => mode_of(call),
        }
    }

    fn profile(&self, call: &RecordedCall<'_>) -> Arc<Profile> {
        match &self.options.profile {
            Some(profile) => profile.clone(),
            None => Arc::new(Profile::for_version(call.version.as_deref().unwrap_or("")).0),
        }
    }

    fn profile_name(&self, call: &RecordedCall<'_>) -> String {
        self.profile(call).name.clone()
    }

    /// Makes the court of the profile that a call was made under.
    fn court(&mut self, call: &RecordedCall<'_>) -> Result<(), Unanswered> {
        let profile = self.profile(call);
        if !self.courts.contains_key(&profile.name) {
            let (cwd, home) = (&self.folders.cwd, &self.folders.home);
            let court = Court::new(&self.world, &self.settings, &profile, cwd, home)?;
            self.courts.insert(profile.name.clone(), court);
        }
        Ok(())
    }
}

/// Whether another thing is decided now. A call that was allowed, or that the user
/// or a classifier refused, and that would be asked about now, is not another thing: whether the user
/// was asked then, no recording says, and what they said stands.
fn flips(old: &Old, new: &Ruling) -> bool {
    match new.behavior {
        Behavior::Ask => {
            let asked = matches!(old.class, Class::DeniedUser | Class::DeniedClassifier);
            old.behavior == Behavior::Deny && !asked
        }
        behavior => behavior != old.behavior,
    }
}
