//! One run: a world, an agent and a script become a trace.

mod finish;
mod from_scenario;
mod setup;

pub use from_scenario::RunOptions;
pub use setup::{Order, Setup, SetupError};

use crate::agent::{Agent, AgentOptions, Ended};
use crate::hooks::HookCx;
use crate::model::hosted::Hosted;
use crate::model::{Model, Scripted, Strict};
use crate::pipeline::{Desk, HookDesk};
use crate::schedule::Batch;
use crate::sim::{InOrder, Random, Replay, Schedule, Sim, SimConfig, SimError};
use crate::tools::{self, FileStates, Pool, Session, ToolAnswer, ToolEnv};
use crate::trace::{self, Event, Trace, TraceBuilder};
use crate::wire::Message;
use crate::world::{Answers, Fs, MemoryFs, User, World, WorldOptions};
use std::sync::Arc;

/// Where large results are saved. No Glob, Grep or listing looks there.
pub const RESULTS_DIR: &str = "/.rehearsal/results";
/// The format of traces that this version writes.
const TRACE_FORMAT: u32 = 1;

/// What a run leaves behind.
#[derive(Debug)]
pub struct RunReport {
    pub trace: Trace,
    /// The conversation as it stands at the end.
    pub messages: Vec<Arc<Message>>,
    /// The world as it stands at the end.
    pub fs: MemoryFs,
    /// What the scenario lacks or demands in vain; a run with any of these proves nothing.
    pub complaints: Vec<String>,
    /// Answers, turns and outside changes that were never used.
    pub leftover: Vec<String>,
    /// The grants of the run, as a string that replays them.
    pub schedule: String,
    pub makespan_ms: u64,
    pub stop: String,
    /// The tools that there were.
    pub pool: Arc<Pool>,
}

/// Why there is no trace.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error(transparent)]
    Sim(#[from] SimError),
}

/// Runs a scripted session to its end, against a model that refuses what the API refuses.
pub fn run(setup: Setup) -> Result<RunReport, RunError> {
    let hosted = Hosted::new(setup.hosted.clone(), tools::search_definitions);
    let mut model = Strict::new(Scripted::new(setup.turns.clone()).with_hosted(hosted));
    let mut report = run_with(setup, &mut model)?;
    report.leftover.extend(model.inner().leftover());
    Ok(report)
}

/// Runs a session with a model of the caller's.
pub fn run_with(setup: Setup, model: &mut dyn Model) -> Result<RunReport, RunError> {
    let sim = simulation(&setup)?;
    let fs = Arc::new(setup.fs.snapshot());
    furnish(&fs, &setup);
    let options = WorldOptions {
        start_unix_ms: setup.start_unix_ms,
        seed: setup.seed,
        outside: setup.outside.clone(),
        user: User::default(),
        log_accesses: true,
    };
    let world = World::with(sim.clone(), fs.clone(), options);
    let mut builder = TraceBuilder::default();
    builder.push(0, Event::RunStarted(Box::new(started(&setup))));
    let (desk, answers) = desk(&setup, &world, &mut builder)?;
    let desk = Arc::new(desk);
    let policy = setup.policy.unwrap_or(setup.profile.policy);
    let cap = setup.max_concurrency.or(setup.profile.max_concurrency);
    let batch = Batch::new(world.clone(), desk.clone(), policy, cap);
    let options = AgentOptions {
        system: setup.system_text(&desk.pool),
        prompts: setup.prompts.clone(),
        max_turns: setup.max_turns,
        model_latency_ms: setup.latency_ms.get("model").copied().unwrap_or(0),
        history: setup.history.clone(),
    };
    let tools = desk.pool.tool_defs(&[]).into();
    let ended = sim.run(async {
        world.start_outside().await;
        Agent::new(options, model, batch, tools, &mut builder)
            .run()
            .await
    })?;
    let makespan_ms = sim.now_ms();
    let world_hash = fs.world_hash();
    let trace = finish::finish(builder, &ended, makespan_ms, world_hash);
    let Ended {
        stop,
        messages,
        complaints,
        ..
    } = ended;
    Ok(RunReport {
        trace,
        messages,
        fs: fs.snapshot(),
        complaints,
        leftover: leftover(&world, &desk, &setup, &answers),
        schedule: sim.schedule(),
        makespan_ms,
        stop,
        pool: desk.pool.clone(),
    })
}

/// Makes the folders that every machine has; those that are there stay as they are, and
/// a world that has no room for them goes without.
fn furnish(fs: &MemoryFs, setup: &Setup) {
    for (path, mode) in [
        ("/tmp", 0o1777),
        (setup.home.as_str(), 0o755),
        (setup.cwd.as_str(), 0o755),
    ] {
        if fs.lstat(path).is_err() {
            let _ = fs.put_dir(path, mode, setup.start_unix_ms);
        }
    }
}

fn simulation(setup: &Setup) -> Result<Sim, RunError> {
    let config = match &setup.order {
        Order::InOrder => SimConfig::new(InOrder),
        Order::Random => SimConfig::new(Random::new(setup.seed)),
        Order::Given(text) => {
            let schedule: Schedule = text.parse().map_err(SetupError::Schedule)?;
            if schedule.scenario_hash != setup.hash_start() {
                return Err(SetupError::OtherScenario {
                    wanted: setup.hash_start(),
                    found: schedule.scenario_hash,
                }
                .into());
            }
            SimConfig::new(Replay::new(schedule))
        }
    };
    Ok(Sim::new(config).with_scenario(&setup.hash_start()))
}

fn started(setup: &Setup) -> trace::RunStarted {
    trace::RunStarted {
        format: TRACE_FORMAT,
        rehearsal: env!("CARGO_PKG_VERSION").to_owned(),
        profile: setup.profile.name.clone(),
        semantics: setup.profile.overridden(),
        seed: setup.seed,
        schedule: match &setup.order {
            Order::Given(text) => Some(text.clone()),
            _ => None,
        },
        scenario: setup.name.clone(),
        scenario_hash: setup.hash.clone(),
        broken_settings: setup
            .settings
            .broken
            .iter()
            .map(ToString::to_string)
            .collect(),
    }
}

/// Everything that the calls of the run share.
fn desk(
    setup: &Setup,
    world: &World,
    builder: &mut TraceBuilder,
) -> Result<(Desk, Arc<Answers<ToolAnswer>>), RunError> {
    let profile = Arc::new(setup.profile.clone());
    let shell = setup.shell();
    let permissions = setup.permissions(&profile)?;
    let env = Arc::new(ToolEnv {
        profile: profile.clone(),
        cwd: setup.cwd.clone(),
        home: setup.home.clone(),
        additional_dirs: setup.additional_dirs(),
        results_dir: RESULTS_DIR.to_owned(),
        shell_env: setup.env.clone(),
        files: FileStates::default(),
        session: Session::default(),
        shell: shell.clone(),
        latency_ms: setup.latency_ms.clone(),
        pool: std::sync::OnceLock::new(),
        rules: permissions.rules(),
    });
    let (pool, stages, answers) = setup.pool(&permissions);
    for stage in stages {
        builder.push(0, Event::Pool(stage));
    }
    let pool = Arc::new(pool);
    // The pool is set once, before any call can look at it.
    let _ = env.pool.set(pool.clone());
    let cx = HookCx {
        world: world.clone(),
        shell,
        profile: profile.clone(),
        cwd: setup.cwd.clone(),
        results_dir: RESULTS_DIR.to_owned(),
        env: setup.env.clone(),
        scripted: Arc::new(Answers::new(setup.scripted_hooks.clone())),
    };
    let desk = Desk {
        env,
        pool,
        hooks: HookDesk::new(setup.hooks()?, cx, setup.session_id()),
        permissions: Arc::new(permissions),
        interrupt: Arc::new(setup.interrupt()),
    };
    Ok((desk, answers))
}

/// What was scripted and never came to be used.
fn leftover(
    world: &World,
    desk: &Desk,
    setup: &Setup,
    answers: &Answers<ToolAnswer>,
) -> Vec<String> {
    let mut left = world.user().left();
    left.extend(world.outside_left());
    left.extend(desk.hooks.left());
    left.extend(desk.permissions.left());
    left.extend(setup.fixtures.left());
    left.extend(answers.left());
    left
}
