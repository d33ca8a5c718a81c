//! Where recorded calls are performed: one world, and for each call a desk with what
//! its agent knows, on which it goes through all seven steps.

use super::ground::Content;
use super::served::{Serve, Served, Slot};
use crate::hooks::{HookCx, Hooks};
use crate::permission::{ClassifierAnswer, Permissions, Working};
use crate::pipeline::{Desk, Finished, HookDesk, Interrupt};
use crate::profile::Profile;
use crate::recording::{Folders, Recording, classify};
use crate::rule::{Anchors, RuleSet};
use crate::run::RESULTS_DIR;
use crate::schedule::{Asked, Batch};
use crate::settings::Settings;
use crate::shell::{Fixtures, Shell};
use crate::sim::{InOrder, Sim, SimConfig};
use crate::tools::{self, FileState, FileStates, Pool, PoolOptions, Session, ToolEnv};
use crate::trace::Event;
use crate::wire::ToolUse;
use crate::words::{Behavior, CallId, Class, Mode, Policy};
use crate::world::{
    Answer, Answers, Fs, MemoryFs, MemoryOptions, User, UserAnswer, UserReply, World, WorldOptions,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

/// When replayed sessions begin, in milliseconds since 1970: what a recording says of
/// times is not needed.
const START_UNIX_MS: i64 = 1_767_225_600_000;
/// How much newer a file is that changed since its agent saw it.
const NEWER_MS: i64 = 1_000;

/// One call, ready to be performed.
pub(super) struct Cue {
    pub number: u32,
    pub turn: u32,
    pub id: Arc<str>,
    pub tool: Arc<str>,
    /// The input's JSON, its paths those of the world.
    pub input: Arc<str>,
    pub mode: Mode,
    /// What the user says if asked.
    pub allow: bool,
    /// Whether a classifier refuses it; else none has an opinion.
    pub refused: bool,
    /// The file that the call is about and what it holds.
    pub file: Option<(String, Content)>,
    /// What the agent knows of that file.
    pub state: Option<FileState>,
    pub serve: Serve,
}

/// How a performed call ended.
pub(super) struct Performed {
    pub finished: Finished,
    /// Whether the user was asked.
    pub asked: bool,
    /// What the file of the call holds now.
    pub file: Option<Arc<[u8]>>,
}

/// What stays the same for the calls of a stretch of a recording: its profile and folder.
struct Scenery {
    profile: Arc<Profile>,
    pool: Arc<Pool>,
    folders: Folders,
    working: Working,
    /// The desk of the last call, for the next one that needs the same.
    desk: Option<(Says, Arc<Desk>)>,
}

/// The stage of one recording.
pub(super) struct Stage {
    sim: Sim,
    fs: Arc<MemoryFs>,
    world: World,
    shell: Arc<dyn Shell>,
    rules: Arc<RuleSet>,
    /// Further working folders.
    more_folders: Vec<String>,
    slot: Slot,
    /// Tools that the recording calls and that are not built in.
    others: BTreeSet<String>,
    /// Built-in tools that the recording calls.
    own: BTreeSet<String>,
    scenery: Option<Scenery>,
    /// What was last put into the world, by path.
    put: BTreeMap<String, Arc<str>>,
}

impl Stage {
    /// A stage for the calls of `recording`.
    pub fn new(recording: &Recording<'_>, folders: &Folders, settings: &Settings) -> Stage {
        let options = MemoryOptions {
            superuser: true,
            ..MemoryOptions::default()
        };
        let sim = Sim::new(SimConfig::new(InOrder));
        let fs = Arc::new(MemoryFs::new(options));
        let options = WorldOptions {
            start_unix_ms: START_UNIX_MS,
            ..WorldOptions::default()
        };
        let world = World::with(sim.clone(), fs.clone(), options);
        let anchors = Anchors::new(&folders.cwd, &folders.home);
        let (rules, _) = crate::rule::compile(settings, &anchors, &*fs);
        let (own, others) = tools_of(recording);
        Stage {
            sim,
            fs,
            world,
            shell: crate::shell::simulated(Arc::new(Fixtures::default())),
            rules: Arc::new(rules),
            more_folders: anchors.working_folders(settings),
            slot: Slot::default(),
            others,
            own,
            scenery: None,
            put: BTreeMap::new(),
        }
    }

    /// The simulation in which everything happens.
    pub fn sim(&self) -> Sim {
        self.sim.clone()
    }

    /// When files are written that the agent knows as they are.
    pub fn mtime_ms(&self) -> i64 {
        START_UNIX_MS
    }

    /// Sets profile and folder for the calls to come.
    pub fn set(&mut self, profile: &Arc<Profile>, folders: &Folders) {
        if let Some(now) = &self.scenery
            && Arc::ptr_eq(&now.profile, profile)
        {
            if now.folders == *folders {
                return;
            }
            let (profile, pool) = (now.profile.clone(), now.pool.clone());
            self.scenery = Some(self.scenery(profile, pool, folders));
            return;
        }
        let pool = self.pool(profile);
        self.scenery = Some(self.scenery(profile.clone(), Arc::new(pool), folders));
    }

    fn scenery(&self, profile: Arc<Profile>, pool: Arc<Pool>, folders: &Folders) -> Scenery {
        Scenery {
            profile,
            pool,
            working: Working::new(&folders.cwd, &self.more_folders, RESULTS_DIR, &*self.fs),
            folders: folders.clone(),
            desk: None,
        }
    }

    fn pool(&self, profile: &Profile) -> Pool {
        let built_in = tools::builtin().into_iter();
        let own = built_in.filter(|tool| {
            let mut names = tool.aliases();
            names.push(tool.name());
            names.iter().any(|name| self.own.contains(*name))
        });
        let own = own.map(|tool| Served::over(tool, &self.slot));
        let others = self
            .others
            .iter()
            .map(|name| Served::only(name, &self.slot));
        // A recording shows the tools that there were.
        let flags = BTreeMap::from([("fork_subagent".to_owned(), true)]);
        let options = PoolOptions {
            profile,
            mode: Mode::Default,
            flags: &flags,
            only: None,
            denied: &|_| None,
        };
        Pool::build(own.chain(others).collect(), Vec::new(), &options).0
    }

    /// Puts a file into the world as it is to be met.
    fn put(&mut self, path: &str, content: &Content, mtime_ms: i64) {
        match content {
            Content::Absent => {
                // Not there is how it should be.
                let _ = self.fs.remove(path, true);
                self.put.remove(path);
            }
            Content::Text(text) => {
                let same = self.put.get(path).is_some_and(|put| Arc::ptr_eq(put, text));
                let stands = same
                    && self
                        .fs
                        .stat(path)
                        .is_ok_and(|meta| meta.mtime_ms == mtime_ms);
                if !stands
                    && self
                        .fs
                        .put_file(path, Arc::<[u8]>::from(text.clone()), 0o644, mtime_ms)
                        .is_ok()
                {
                    self.put.insert(path.to_owned(), text.clone());
                }
            }
        }
    }

    /// Performs one call; `None` if the world is not set or the call got no result, which
    /// no recording can bring about.
    pub async fn perform(&mut self, cue: Cue) -> Option<Performed> {
        if let Some((path, content)) = &cue.file {
            let stale = cue
                .state
                .as_ref()
                .is_some_and(|state| state.mtime_ms < self.mtime_ms());
            let mtime_ms = self.mtime_ms() + if stale { NEWER_MS } else { 0 };
            self.put(path, content, mtime_ms);
        }
        let says = Says {
            mode: cue.mode,
            allow: cue.allow,
            refused: cue.refused,
        };
        let desk = self.desk(says)?;
        // Each call meets what its own agent knows, and nothing else.
        let known = cue.file.as_ref().zip(cue.state);
        let known = known.map(|((path, _), state)| (Arc::from(path.as_str()), Arc::new(state)));
        desk.env.files.set(known);
        self.slot.set(cue.serve);
        let id = CallId {
            number: cue.number,
            turn: cue.turn,
            id: cue.id.clone(),
        };
        let tool_use = ToolUse {
            id: cue.id,
            name: cue.tool,
            parses: true,
            input: cue.input,
            toolset_name: None,
            server_name: None,
            called_by_code: false,
        };
        let asked = Asked {
            id,
            tool_use,
            asked_in: None,
            cut: None,
        };
        let batch = Batch::new(self.world.clone(), desk, Policy::Serial, None);
        let done = batch.run(vec![asked]).await.calls.pop()?;
        self.slot.set(Serve::Nothing);
        let asked = done
            .events
            .iter()
            .any(|(_, event)| matches!(event, Event::Prompt(_)));
        let file = cue.file.and_then(|(path, _)| {
            let bytes = self.fs.read(&path).ok()?;
            // What the call wrote there is not what was put.
            self.put.remove(&path);
            Some(bytes)
        });
        Some(Performed {
            finished: done.paid.finished,
            asked,
            file,
        })
    }

    /// The desk for a call about which the recording says this.
    fn desk(&mut self, says: Says) -> Option<Arc<Desk>> {
        let scenery = self.scenery.as_ref()?;
        if let Some((of, desk)) = &scenery.desk
            && *of == says
        {
            return Some(desk.clone());
        }
        let desk = Arc::new(self.new_desk(scenery, &says));
        // A classifier that refuses again and again is heard no more: each refusal is judged
        // as recorded, whatever came before.
        if !says.refused {
            self.scenery.as_mut()?.desk = Some((says, desk.clone()));
        }
        Some(desk)
    }

    fn new_desk(&self, scenery: &Scenery, says: &Says) -> Desk {
        let Scenery {
            profile,
            pool,
            folders,
            working,
            ..
        } = scenery;
        let env = Arc::new(ToolEnv {
            profile: profile.clone(),
            cwd: folders.cwd.clone(),
            home: folders.home.clone(),
            additional_dirs: Vec::new(),
            results_dir: RESULTS_DIR.to_owned(),
            shell_env: Vec::new(),
            files: FileStates::default(),
            session: Session::default(),
            shell: self.shell.clone(),
            latency_ms: BTreeMap::new(),
            pool: OnceLock::from(pool.clone()),
            rules: self.rules.clone(),
        });
        let reply = match says.allow {
            true => UserReply::Allow {
                always: false,
                updated_input: None,
                updated_permissions: Vec::new(),
            },
            false => UserReply::Deny { comment: None },
        };
        let answer = UserAnswer {
            tool: None,
            call: None,
            input: None,
            reply,
            think_ms: 0,
        };
        let user = User::new(vec![Answer {
            value: answer,
            // For every question.
            has_matcher: true,
            times: None,
            optional: true,
            label: "as recorded".to_owned(),
        }]);
        let permissions = Permissions::new(
            self.rules.clone(),
            working.clone(),
            says.mode,
            profile.clone(),
        )
        .with_classifier(vec![classifier(says.refused)])
        .with_user(Arc::new(user));
        Desk {
            env,
            pool: pool.clone(),
            hooks: HookDesk::new(
                Hooks::default(),
                HookCx {
                    world: self.world.clone(),
                    shell: self.shell.clone(),
                    profile: profile.clone(),
                    cwd: folders.cwd.clone(),
                    results_dir: RESULTS_DIR.to_owned(),
                    env: Vec::new(),
                    scripted: Arc::new(Answers::default()),
                },
                "replay".to_owned(),
            ),
            permissions: Arc::new(permissions),
            interrupt: Arc::new(Interrupt::default()),
        }
    }
}

/// Who says what of a call, as recorded.
#[derive(PartialEq, Eq)]
struct Says {
    mode: Mode,
    allow: bool,
    refused: bool,
}

/// A classifier that refuses, or has no opinion: then the user decides, as recorded.
fn classifier(refuses: bool) -> Answer<ClassifierAnswer> {
    let answer = match refuses {
        true => Behavior::Deny,
        false => Behavior::Ask,
    };
    Answer {
        value: ClassifierAnswer {
            tool: None,
            call: None,
            input: BTreeMap::new(),
            sees: None,
            answer,
            reason: None,
            think_ms: 0,
        },
        has_matcher: true,
        times: None,
        optional: true,
        label: "as recorded".to_owned(),
    }
}

/// The tools that a recording calls: those that are built in, and those that are not but
/// that the recorded runtime had, as it did more than say that it does not know them.
fn tools_of(recording: &Recording<'_>) -> (BTreeSet<String>, BTreeSet<String>) {
    let built_in = tools::builtin();
    let is_own = |name: &str| {
        built_in
            .iter()
            .any(|tool| tool.name() == name || tool.aliases().contains(&name))
    };
    let mut own = BTreeSet::new();
    let mut others = BTreeSet::new();
    for call in &recording.calls {
        let name = &*call.tool;
        if own.contains(name) || others.contains(name) {
            continue;
        }
        if is_own(name) {
            own.insert(name.to_owned());
        } else if classify(call).is_none_or(|ending| ending.class != Class::UnknownTool) {
            others.insert(name.to_owned());
        }
    }
    (own, others)
}
