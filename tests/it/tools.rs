//! The tools as laws: an edit changes only what it names, pages are the whole file,
//! nothing unseen is overwritten, and searches say the same on every file system.

mod arms;
mod edits;
mod lanes;
mod pages;
mod pool_laws;
mod recorded;
mod saving;
mod search;
mod ten_thousand;
mod units;

use async_trait::async_trait;
use rehearsal::profile::Profile;
use rehearsal::shell::{Command, Ran, Shell};
use rehearsal::sim::{ActorId, InOrder, Sim, SimConfig};
use rehearsal::tools::{FileStates, Outcome, Permit, Progress, Session, Tool, ToolCx, ToolEnv};
use rehearsal::words::CallId;
use rehearsal::world::{Actor, Fs, MemoryFs, MemoryOptions, World};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const START_MS: i64 = 1_767_225_600_000;

/// A world and a session in it; each call runs in a simulation of its own.
struct Bench {
    fs: Arc<dyn Fs>,
    env: Arc<ToolEnv>,
    calls: AtomicU32,
}

struct Nobody;

#[async_trait]
impl Permit for Nobody {
    async fn ask(&self, _question: &str) -> bool {
        false
    }
}

impl Progress for Nobody {
    fn report(&self, _data: Value) {}
}

#[async_trait]
impl Shell for Nobody {
    async fn run(&self, _command: &Command, _actor: &Actor) -> Ran {
        Ran::Lacks {
            what: "no shell here".into(),
            hint: String::new(),
        }
    }
}

impl Bench {
    fn memory(files: &[(&str, &[u8])]) -> Bench {
        let fs = MemoryFs::new(MemoryOptions::default());
        fs.put_dir("/p", 0o755, START_MS).unwrap();
        for (path, content) in files {
            fs.put_file(path, *content, 0o644, START_MS).unwrap();
        }
        Bench::on(Arc::new(fs), "/p", Profile::seed())
    }

    fn on(fs: Arc<dyn Fs>, cwd: &str, profile: Profile) -> Bench {
        let env = ToolEnv {
            profile: Arc::new(profile),
            cwd: cwd.to_owned(),
            home: "/home/me".to_owned(),
            additional_dirs: Vec::new(),
            results_dir: "/results".to_owned(),
            shell_env: Vec::new(),
            files: FileStates::default(),
            session: Session::default(),
            shell: Arc::new(Nobody),
            latency_ms: Default::default(),
            pool: Default::default(),
            rules: Default::default(),
        };
        Bench {
            fs,
            env: Arc::new(env),
            calls: AtomicU32::new(0),
        }
    }

    /// Validates and, if that passes, runs one call.
    fn call(&self, tool: impl Tool, input: Value) -> Outcome {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let sim = Sim::new(SimConfig::new(InOrder));
        let world = World::new(sim.clone(), self.fs.clone(), START_MS, 0, Vec::new());
        let cx = ToolCx {
            parent: None,
            call: CallId {
                number,
                turn: number,
                id: format!("toolu_{number}").into(),
            },
            world: world.actor(ActorId::AGENT),
            env: self.env.clone(),
        };
        let call = async {
            match tool.validate_input(&input, &cx).await {
                Ok(()) => tool.call(&input, &cx, &Nobody, &Nobody).await,
                Err(refusal) => Outcome::from(refusal),
            }
        };
        sim.run(call).unwrap()
    }

    fn bytes(&self, path: &str) -> Vec<u8> {
        self.fs.read(path).unwrap().to_vec()
    }
}
