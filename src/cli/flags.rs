//! The flags that verbs share which run something.

use super::console::Console;
use super::exit::Exit;
use crate::rule::{Anchors, about_unknown_tools, compile};
use crate::run::RunOptions;
use crate::settings::{Complaint, Settings, from_path, merge};
use crate::words::Policy;
use crate::world::{MemoryFs, MemoryOptions};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::{Path, PathBuf};

/// How to run, otherwise than the scenario says.
#[derive(clap::Args, Debug, Clone)]
pub struct RunFlags {
    /// Run under this profile
    #[arg(long, value_name = "NAME", value_parser = profile())]
    pub profile: Option<String>,
    /// The seed; any but 0 also draws the schedule
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Grant operations in this order, as an earlier run printed it
    #[arg(long, value_name = "TEXT")]
    pub schedule: Option<String>,
    /// How the calls of one message are scheduled
    #[arg(long, value_name = "P", value_parser = policy())]
    pub policy: Option<Policy>,
    /// How many calls may be in flight together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub max_concurrency: Option<u64>,
    /// Run only what has this in its path, case or name
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// How many scenarios to run at once; the output is the same
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: u16,
    /// Write the traces into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Run each twice, and once in another process, and compare the traces
    #[arg(long)]
    pub check_determinism: bool,
    /// Fail where a tool's description or schema leaves a model to guess
    #[arg(long)]
    pub strict_lint: bool,
    /// Settings beside the scenario's: a project folder with `.claude/` in it, a `.claude/`
    /// folder, or one settings file
    #[arg(long, value_name = "PATH", value_parser = given_settings)]
    pub settings: Option<Given>,
    #[arg(long, value_name = "PATH", hide = true)]
    cwd: Option<PathBuf>,
    #[arg(long, hide = true)]
    live: bool,
}

pub fn profile() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(crate::profile::Profile::names())
}

/// Settings that were given by their path, read once.
#[derive(Debug, Clone)]
pub struct Given {
    /// As it was typed.
    pub path: String,
    pub settings: Settings,
    /// What is worth a remark.
    pub remarks: Vec<String>,
    /// What is wrong with files of which what restricts is in force all the same.
    pub errors: Vec<String>,
}

impl Given {
    /// Says what is wrong with them; bad input, where something is.
    pub fn tell(&self, console: &mut Console) -> Exit {
        for remark in &self.remarks {
            console.note(remark);
        }
        for error in &self.errors {
            console.complain(error);
        }
        match self.errors.is_empty() {
            true => Exit::Same,
            false => {
                console.complain(ONLY_RESTRICTS);
                Exit::BadInput
            }
        }
    }
}

/// What holds of a settings file with an error.
pub const ONLY_RESTRICTS: &str = "note: what can be read of its deny and ask rules is in force, \
     and nothing that it allows";

/// Reads what `--settings` names.
///
/// # Errors
/// Every complaint that leaves nothing to go on with. Of a file that is broken what restricts
/// is in force, and [`Given::errors`] says so.
pub fn given_settings(path: &str) -> Result<Given, String> {
    let (layers, mut complaints) = from_path(Path::new(path));
    let (settings, of_layers) = merge(layers);
    complaints.extend(of_layers);
    // What a rule is worth does not depend on the world.
    let nothing = MemoryFs::new(MemoryOptions::default());
    let (_, of_rules) = compile(&settings, &Anchors::new("/work", "/home/user"), &nothing);
    complaints.extend(of_rules);
    complaints.extend(about_unknown_tools(&settings, &[]));
    let (errors, remarks): (Vec<_>, Vec<_>) = complaints.iter().partition(|c| c.is_error());
    let texts = |of: Vec<&Complaint>| of.iter().map(ToString::to_string).collect::<Vec<_>>();
    if errors.iter().any(|error| settings.stops(error)) {
        return Err(texts(errors).join("\n"));
    }
    let errors = texts(errors);
    Ok(Given {
        path: path.to_owned(),
        settings,
        remarks: texts(remarks),
        errors,
    })
}

fn policy() -> impl TypedValueParser<Value = Policy> {
    let words = Policy::ALL.iter().map(|policy| policy.as_str());
    PossibleValuesParser::new(words)
        .try_map(|word| Policy::from_word(&word).ok_or("no policy has this name"))
}

impl RunFlags {
    pub fn options(&self) -> RunOptions {
        RunOptions {
            profile: self.profile.clone(),
            seed: self.seed,
            schedule: self.schedule.clone(),
            policy: self.policy,
            max_concurrency: self.max_concurrency,
            settings: self.settings.as_ref().map(|given| given.settings.clone()),
        }
    }

    /// The flags that this version cannot do, of those that were given.
    pub fn not_supported(&self) -> Vec<&'static str> {
        let given = [(self.cwd.is_some(), "--cwd"), (self.live, "--live")];
        given
            .iter()
            .filter(|(given, _)| *given)
            .map(|(_, flag)| *flag)
            .collect()
    }

    /// The flags that change what a run does, as they are typed.
    pub fn typed(&self) -> String {
        let mut typed = String::new();
        let mut flag = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                typed.push_str(&format!(" --{name} {}", super::run::shell_quoted(&value)));
            }
        };
        flag("profile", self.profile.clone());
        flag(
            "settings",
            self.settings.as_ref().map(|given| given.path.clone()),
        );
        flag("seed", self.seed.map(|seed| seed.to_string()));
        flag("schedule", self.schedule.clone());
        flag("policy", self.policy.map(|policy| policy.to_string()));
        flag(
            "max-concurrency",
            self.max_concurrency.map(|cap| cap.to_string()),
        );
        if self.strict_lint {
            typed.push_str(" --strict-lint");
        }
        typed
    }
}
