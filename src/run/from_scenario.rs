//! A scenario becomes what a run is made from.

use super::{Order, Setup};
use crate::permission;
use crate::profile::ProfileError;
use crate::scenario::{ClassifierAnswer, CommandAnswer, Scenario, ToolAnswer};
use crate::settings::Settings;
use crate::shell::Fixture;
use crate::tools::{self, Tool};
use crate::words::Policy;
use crate::world::{Answer, Answers, Pattern};
use std::sync::Arc;

/// What the command line may say otherwise than the scenario.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunOptions {
    pub profile: Option<String>,
    /// Any seed but 0 also draws the schedule; 0 grants in the order of the actors.
    pub seed: Option<u64>,
    pub schedule: Option<String>,
    pub policy: Option<Policy>,
    pub max_concurrency: Option<u64>,
    /// Beside those of the scenario.
    pub settings: Option<Settings>,
}

impl Setup {
    /// The setup of a scenario under `options`.
    ///
    /// # Errors
    /// If `options` names a profile that there is not.
    pub fn from_scenario(scenario: &Scenario, options: &RunOptions) -> Result<Setup, ProfileError> {
        let profile = match &options.profile {
            Some(name) => scenario.profile_called(name)?,
            None => scenario.profile.clone(),
        };
        let seed = options.seed.unwrap_or(scenario.seed);
        let order = match (&options.schedule, seed) {
            (Some(text), _) => Order::Given(text.clone()),
            (None, 0) => Order::InOrder,
            (None, _) => Order::Random,
        };
        let tool = |tool: &tools::CustomTool| Arc::new(tool.clone()) as Arc<dyn Tool>;
        let only = scenario.tools.only.as_ref();
        let interrupt = scenario.interrupt.as_ref();
        Ok(Setup {
            // Not its file: a trace does not depend on where a scenario lies.
            name: scenario.name.clone(),
            hash: scenario.hash.clone(),
            profile,
            seed,
            order,
            cwd: scenario.cwd.clone(),
            home: scenario.home().to_owned(),
            start_unix_ms: scenario.start_unix_ms,
            fs: scenario.fs.snapshot(),
            env: scenario.env.clone().into_iter().collect(),
            settings: match &options.settings {
                Some(more) => scenario.settings.clone().and(more.clone()),
                None => scenario.settings.clone(),
            },
            scripted_hooks: scenario.hooks.clone(),
            only: only.map(|only| only.iter().map(|name| name.value.clone()).collect()),
            tools: scenario
                .tools
                .custom
                .iter()
                .map(tool)
                .chain(scenario.published.iter().filter_map(|spec| {
                    tools::published::published(&spec.kind, spec.max_characters)
                }))
                .collect(),
            hosted: scenario.hosted.clone(),
            mcp: scenario.tools.mcp.iter().map(tool).collect(),
            answers: map(&scenario.tools.answers, tool_answer),
            flags: scenario.flags.clone(),
            fixtures: Arc::new(Answers::new(map(&scenario.commands, fixture))),
            user: scenario.user.clone(),
            classifier: map(&scenario.classifier, classifier),
            latency_ms: scenario.latency_ms.clone(),
            outside: scenario
                .outside
                .iter()
                .map(|outside| outside.change.clone())
                .collect(),
            interrupt: interrupt.map(|interrupt| (interrupt.call.value.clone(), interrupt.step)),
            policy: options.policy.or(scenario.policy),
            max_concurrency: options
                .max_concurrency
                .or(scenario.max_concurrency.map(u64::from)),
            max_turns: scenario.max_turns,
            prompts: scenario.prompts.clone(),
            turns: (0..)
                .zip(&scenario.model)
                .map(|(at, turn)| turn.to_model(&format!("model[{at}]")))
                .collect(),
            history: Vec::new(),
        })
    }
}

/// The same answers with other values.
fn map<T: Clone, U>(answers: &[Answer<T>], value: impl Fn(T) -> U) -> Vec<Answer<U>> {
    answers
        .iter()
        .map(|answer| Answer {
            value: value(answer.value.clone()),
            has_matcher: answer.has_matcher,
            times: answer.times,
            optional: answer.optional,
            label: answer.label.clone(),
        })
        .collect()
}

fn fixture(of: CommandAnswer) -> Fixture {
    Fixture {
        command: of.command,
        stdout: of.stdout,
        stderr: of.stderr,
        exit: of.exit,
        latency_ms: of.latency_ms,
        writes: of.writes,
    }
}

fn tool_answer(of: ToolAnswer) -> tools::ToolAnswer {
    let fields = of
        .input
        .iter()
        .map(|(key, glob)| (key.clone(), glob.as_str().into()));
    let fields: serde_json::Map<_, _> = fields.collect();
    tools::ToolAnswer {
        tool: of.tool.unwrap_or_else(|| Pattern::new("*")),
        input: (!fields.is_empty()).then(|| fields.into()),
        answer: of.gives,
        latency_ms: of.latency_ms,
    }
}

fn classifier(of: ClassifierAnswer) -> permission::ClassifierAnswer {
    permission::ClassifierAnswer {
        tool: of.tool,
        call: of.call,
        input: of.input,
        sees: of.about,
        answer: of.verdict,
        reason: of.reason,
        think_ms: of.latency_ms,
    }
}
