//! A small world to try tools in.

use super::{FileStates, Outcome, Permit, Progress, Session, Tool, ToolCx, ToolEnv};
use crate::profile::Profile;
use crate::shell::{Command, Ran, Shell};
use crate::sim::{ActorId, InOrder, Sim, SimConfig};
use crate::words::{CallId, Class};
use crate::world::{Actor, Fs, MemoryFs, MemoryOptions, World};
use async_trait::async_trait;
use serde_json::Value;
use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

/// 2026-01-01T00:00:00Z.
pub const START_MS: i64 = 1_767_225_600_000;

/// A world, its session, and a counter of calls.
#[derive(Clone)]
pub struct Bench {
    pub world: World,
    pub env: Arc<ToolEnv>,
    calls: Arc<AtomicU32>,
    /// What was given to the shell, in order.
    pub ran: Arc<Mutex<Vec<Command>>>,
}

pub struct Nobody;

#[async_trait]
impl Permit for Nobody {
    async fn ask(&self, _question: &str) -> bool {
        false
    }
}

impl Progress for Nobody {
    fn report(&self, _data: Value) {}
}

/// A shell that answers from a function.
struct Fake {
    answer: Box<dyn Fn(&Command) -> Ran + Send + Sync>,
    ran: Arc<Mutex<Vec<Command>>>,
}

#[async_trait]
impl Shell for Fake {
    async fn run(&self, command: &Command, _actor: &Actor) -> Ran {
        self.ran.lock().expect("lock").push(command.clone());
        (self.answer)(command)
    }
}

fn sim() -> Sim {
    Sim::new(SimConfig::new(InOrder))
}

impl Bench {
    /// A world in memory that holds `files`.
    pub fn new(files: &[(&str, &str)]) -> Bench {
        let fs = MemoryFs::new(MemoryOptions::default());
        for (path, content) in files {
            fs.put_file(path, content.as_bytes(), 0o644, START_MS)
                .expect("put");
        }
        Bench::on(fs)
    }

    pub fn on(fs: MemoryFs) -> Bench {
        fs.put_dir("/p", 0o755, START_MS).expect("put");
        Bench::with(Arc::new(fs), Profile::seed(), |_| Ran::Lacks {
            what: "everything".into(),
            hint: "none".into(),
        })
    }

    pub fn with(
        fs: Arc<dyn Fs>,
        profile: Profile,
        shell: impl Fn(&Command) -> Ran + Send + Sync + 'static,
    ) -> Bench {
        let ran = Arc::new(Mutex::new(Vec::new()));
        let env = ToolEnv {
            profile: Arc::new(profile),
            cwd: "/p".into(),
            home: "/home/me".into(),
            additional_dirs: vec!["/more".into()],
            results_dir: "/results".into(),
            shell_env: vec![("LANG".into(), "C.UTF-8".into())],
            files: FileStates::default(),
            session: Session::default(),
            shell: Arc::new(Fake {
                answer: Box::new(shell),
                ran: ran.clone(),
            }),
            latency_ms: Default::default(),
            pool: Default::default(),
            rules: Default::default(),
        };
        Bench {
            world: World::new(sim(), fs, START_MS, 0, Vec::new()),
            env: Arc::new(env),
            calls: Arc::default(),
            ran,
        }
    }

    /// The same world and a new session under a profile with some parameters changed.
    pub fn profile(&self, name: &str, changes: Value) -> Bench {
        let mut profile = Profile::by_name(name).expect("profile");
        for (id, value) in changes.as_object().expect("object") {
            profile.override_parameter(id, value).expect("parameter");
        }
        Bench::with(self.world.fs().clone(), profile, |_| Ran::Lacks {
            what: "everything".into(),
            hint: "none".into(),
        })
    }

    /// The surroundings of the next call.
    pub fn cx(&self) -> ToolCx {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        ToolCx {
            parent: None,
            call: CallId {
                number,
                turn: number,
                id: format!("toolu_{number}").into(),
            },
            world: self.world.actor(ActorId::call(number)),
            env: self.env.clone(),
        }
    }

    /// Runs a story to its end, on a clock of its own.
    pub fn play<T, F: Future<Output = T>>(&self, story: impl FnOnce(Bench) -> F) -> T {
        let sim = sim();
        let world = World::new(
            sim.clone(),
            self.world.fs().clone(),
            START_MS,
            0,
            Vec::new(),
        );
        let bench = Bench {
            world,
            ..self.clone()
        };
        sim.run(story(bench)).expect("the story ends")
    }

    /// Validates and, if that passes, runs one call.
    pub async fn call(&self, tool: impl Tool + 'static, input: Value) -> Outcome {
        self.call_between(tool, input, |_| {}).await
    }

    /// The same, with something happening between the steps validate and execute.
    pub async fn call_between(
        &self,
        tool: impl Tool + 'static,
        input: Value,
        between: impl FnOnce(&dyn Fs) + Send + 'static,
    ) -> Outcome {
        let cx = self.cx();
        let id = cx.world.id();
        let world = self.world.clone();
        let call = async move {
            if let Err(refusal) = tool.validate_input(&input, &cx).await {
                return (Outcome::from(refusal), false);
            }
            between(&**world.fs());
            (tool.call(&input, &cx, &Nobody, &Nobody).await, true)
        };
        let (outcome, _ran) = self.world.sim().spawn(id, call).await.expect("it ends");
        outcome
    }

    /// One call in a story of its own.
    pub fn one(&self, tool: impl Tool + 'static, input: Value) -> Outcome {
        self.play(|bench| async move { bench.call(tool, input).await })
    }

    pub fn read(&self, path: &str) -> String {
        let bytes = self.world.fs().read(path).expect("readable");
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Changes a file as somebody outside would.
    pub fn outside(&self, path: &str, content: &str) {
        self.world
            .fs()
            .write(path, content.as_bytes(), START_MS + 5_000)
            .expect("written");
    }
}

/// Asserts class and that an error's text states it.
#[track_caller]
pub fn assert_class(outcome: &Outcome, class: Class) {
    assert_eq!(outcome.class, class, "{}", outcome.text());
    let stated = super::stated_class(&outcome.text());
    assert_eq!(stated, class.is_error().then_some(class));
}
