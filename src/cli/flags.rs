//! The flags that verbs share which run something.

use crate::run::RunOptions;
use crate::words::Policy;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;

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
    #[arg(long, value_name = "PATH", hide = true)]
    settings: Option<PathBuf>,
    #[arg(long, value_name = "PATH", hide = true)]
    cwd: Option<PathBuf>,
    #[arg(long, hide = true)]
    live: bool,
}

pub fn profile() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(crate::profile::Profile::names())
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
        }
    }

    /// The flags that this version cannot do, of those that were given.
    pub fn not_supported(&self) -> Vec<&'static str> {
        let given = [
            (self.settings.is_some(), "--settings"),
            (self.cwd.is_some(), "--cwd"),
            (self.live, "--live"),
        ];
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
        flag("seed", self.seed.map(|seed| seed.to_string()));
        flag("schedule", self.schedule.clone());
        flag("policy", self.policy.map(|policy| policy.to_string()));
        flag(
            "max-concurrency",
            self.max_concurrency.map(|cap| cap.to_string()),
        );
        typed
    }
}
