//! Where calls are decided about and never run: the tools, the compiled rules and the
//! folders that belong together.

use super::question::{Unanswered, UserSays};
use super::ruling::Ruling;
use crate::permission::{ClassifierAnswer, HookVerdict, Judged, Permissions, Working};
use crate::profile::{Profile, ProjectTrust};
use crate::rule::{Anchors, RuleSet};
use crate::run::RESULTS_DIR;
use crate::settings::{Placed, Settings};
use crate::shell::{Fixtures, Shell};
use crate::sim::ActorId;
use crate::tools::{
    Annotations, CustomTool, Entry, FileStates, McpOrigin, Pool, PoolOptions, Session, Tool,
    ToolCx, ToolEnv, builtin, stand_in,
};
use crate::words::{Behavior, CallId, Layer, Mode};
use crate::world::{Answer, User, UserAnswer, UserReply, World, normalize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

/// Tools that the described runtime has and this one has not: their calls can be
/// decided about all the same (`semantics.md §3.1`).
const PUBLISHED: &[&str] = &[
    "Agent",
    "AskUserQuestion",
    "BashOutput",
    "EnterPlanMode",
    "ExitPlanMode",
    "KillShell",
    "LS",
    "ListMcpResourcesTool",
    "Monitor",
    "NotebookEdit",
    "PowerShell",
    "ReadMcpResourceTool",
    "Skill",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "WebFetch",
    "WebSearch",
];

/// Of those, the ones that change nothing.
const CHANGE_NOTHING: &[&str] = &[
    "BashOutput",
    "LS",
    "ListMcpResourcesTool",
    "ReadMcpResourceTool",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskUpdate",
];

/// One call to be decided about.
pub(super) struct Call<'a> {
    pub tool: &'a str,
    pub input: &'a Value,
    /// Whether it was recorded: then its input is one that the tool takes, whatever its schema
    /// here says, and what a classifier said of it stands in the recording.
    pub accepted: bool,
    pub mode: Mode,
    /// Absolute and normal.
    pub cwd: &'a str,
    pub hook: Option<Behavior>,
    pub user: Option<UserSays>,
}

/// What tools depend on: whether the mode is `dontAsk`, and a name that is not built in.
type PoolKey = (bool, Option<String>);

/// What decides about the calls of one session under one profile.
pub(super) struct Court {
    world: World,
    settings: Settings,
    rules: Arc<RuleSet>,
    profile: Arc<Profile>,
    /// Where the session began.
    cwd: String,
    home: String,
    shell: Arc<dyn Shell>,
    pools: Mutex<BTreeMap<PoolKey, Arc<Pool>>>,
}

impl Court {
    /// Compiles the rules of `settings`, anchored at `cwd`.
    pub fn new(
        world: &World,
        settings: &Settings,
        profile: &Arc<Profile>,
        cwd: &str,
        home: &str,
    ) -> Result<Court, Unanswered> {
        let anchors = Anchors::new(cwd, home);
        let settings = match profile.project_trust {
            ProjectTrust::Trusted => settings.clone(),
            ProjectTrust::Untrusted => settings.clone().without_trust(),
        };
        let (rules, complaints) = crate::rule::compile(&settings, &anchors, &**world.fs());
        let errors = complaints
            .iter()
            .filter(|complaint| settings.stops(complaint));
        let errors: Vec<String> = errors.map(ToString::to_string).collect();
        if !errors.is_empty() {
            return Err(Unanswered::Settings(errors));
        }
        Ok(Court {
            world: world.clone(),
            settings,
            rules: Arc::new(rules),
            profile: profile.clone(),
            cwd: cwd.to_owned(),
            home: home.to_owned(),
            shell: crate::shell::simulated(Arc::new(Fixtures::default())),
            pools: Mutex::default(),
        })
    }

    /// Lets the five layers decide about a call.
    pub async fn ruling(&self, call: &Call<'_>) -> Result<Ruling, Unanswered> {
        let entry = match self.entry(call) {
            Ok(entry) => entry,
            Err(Gone::Ruled(ruling)) => return Ok(*ruling),
            Err(Gone::Unknown(text)) => return Err(Unanswered::UnknownTool(text)),
        };
        let input = self.parsed(&entry, call)?;
        let cx = self.cx(call);
        let judged = self.judged(&entry, &input, call, &cx);
        let permissions = self.permissions(call, &cx);
        let decided = permissions.decide(&judged).await;
        let open = call.user.is_none();
        Ok(Ruling::of(&decided, open, &self.settings))
    }

    /// The narrowest rule that speaks of a call.
    pub async fn suggestion(&self, call: &Call<'_>) -> Result<String, Unanswered> {
        let Ok(entry) = self.entry(call) else {
            return Ok(call.tool.to_owned());
        };
        let input = self.parsed(&entry, call)?;
        let cx = self.cx(call);
        let judged = self.judged(&entry, &input, call, &cx);
        Ok(self.permissions(call, &cx).suggestion(&judged).await)
    }

    /// Which of `sets` have a rule that speaks of a call; of one that ends before
    /// permission, none but those that take its tool away.
    pub async fn matching(&self, call: &Call<'_>, sets: &[RuleSet]) -> Vec<bool> {
        let removes = |set: &RuleSet| set.removes(call.tool, &[]).is_some();
        let Ok(entry) = self.entry(call) else {
            return sets.iter().map(removes).collect();
        };
        let Ok(input) = self.parsed(&entry, call) else {
            return vec![false; sets.len()];
        };
        let cx = self.cx(call);
        let judged = self.judged(&entry, &input, call, &cx);
        self.permissions(call, &cx).matching(&judged, sets).await
    }

    fn judged<'j>(
        &self,
        entry: &'j Entry,
        input: &'j Value,
        call: &Call<'_>,
        cx: &'j ToolCx,
    ) -> Judged<'j> {
        Judged {
            cx,
            tool: entry.tool(),
            input,
            hook: call.hook.map(|behavior| HookVerdict {
                behavior,
                reason: "as asked for".to_owned(),
            }),
            deputy: None,
            granted_by_user: false,
        }
    }

    fn parsed(&self, entry: &Entry, call: &Call<'_>) -> Result<Value, Unanswered> {
        match entry.check(call.input.clone(), &self.profile) {
            Ok(checked) => Ok(checked.input),
            Err(_) if call.accepted => Ok(call.input.clone()),
            Err(complaints) => Err(Unanswered::InvalidInput(complaints.to_string())),
        }
    }

    fn cx(&self, call: &Call<'_>) -> ToolCx {
        ToolCx {
            call: CallId {
                number: 1,
                turn: 1,
                id: "call".into(),
            },
            parent: None,
            world: self.world.actor(ActorId::AGENT),
            env: Arc::new(ToolEnv {
                profile: self.profile.clone(),
                cwd: call.cwd.to_owned(),
                home: self.home.clone(),
                additional_dirs: self.additional_dirs(),
                results_dir: RESULTS_DIR.to_owned(),
                shell_env: Vec::new(),
                files: FileStates::default(),
                session: Session::default(),
                shell: self.shell.clone(),
                latency_ms: BTreeMap::new(),
                pool: OnceLock::new(),
                rules: Arc::default(),
            }),
        }
    }

    fn anchors(&self) -> Anchors {
        Anchors::new(&self.cwd, &self.home)
    }

    fn additional_dirs(&self) -> Vec<String> {
        let absolute = |text: &str| match text.strip_prefix("~/") {
            Some(rest) => normalize(&self.home, rest),
            None => normalize(&self.cwd, text),
        };
        let dirs = self.settings.additional_directories.iter();
        dirs.map(|dir| absolute(&dir.text)).collect()
    }

    fn permissions(&self, call: &Call<'_>, cx: &ToolCx) -> Permissions {
        // A session that has moved keeps the folder it began in.
        let mut folders = cx.env.additional_dirs.clone();
        folders.push(self.cwd.clone());
        let fs = &**self.world.fs();
        let working = Working::new(call.cwd, &folders, RESULTS_DIR, fs);
        let permissions =
            Permissions::new(self.rules.clone(), working, call.mode, self.profile.clone())
                .with_settings(self.settings.clone(), self.anchors(), RESULTS_DIR, fs);
        // What a recorded classifier said stands in the recording: like the user's answer.
        let permissions = match call.accepted {
            true => permissions.with_classifier(vec![no_opinion()]),
            false => permissions,
        };
        let reply = match call.user {
            None | Some(UserSays::Nobody) => return permissions,
            Some(UserSays::Allow) => UserReply::Allow {
                always: false,
                updated_input: None,
                updated_permissions: Vec::new(),
            },
            Some(UserSays::Deny) => UserReply::Deny { comment: None },
        };
        let answer = UserAnswer {
            tool: None,
            call: None,
            input: None,
            reply,
            think_ms: 0,
        };
        permissions.with_user(Arc::new(User::new(vec![Answer {
            value: answer,
            has_matcher: false,
            times: None,
            optional: true,
            label: "as asked for".to_owned(),
        }])))
    }

    /// The tool that a call means, or who took it away.
    fn entry(&self, call: &Call<'_>) -> Result<Arc<Entry>, Gone> {
        let pool = self.pool(call);
        let unknown = match pool.lookup(call.tool) {
            Ok(entry) => return Ok(entry),
            Err(unknown) => unknown,
        };
        if let Some(rule) = self.rules.removes(call.tool, &[]) {
            let placed = Placed {
                text: rule.text.to_string(),
                origin: rule.origin.clone(),
            };
            let why = "it is about the tool as a whole, so the model does not see the tool";
            let ruling = Ruling::gone(Layer::Rule, "tool_removed", why, Some(&placed));
            return Err(Gone::Ruled(Box::new(ruling)));
        }
        match &unknown.why_gone {
            Some(why) => {
                let ruling = Ruling::gone(Layer::Mode, "tool_removed", why, None);
                Err(Gone::Ruled(Box::new(ruling)))
            }
            None => Err(Gone::Unknown(unknown.to_string())),
        }
    }

    fn pool(&self, call: &Call<'_>) -> Arc<Pool> {
        let own = builtin();
        let is_own = own
            .iter()
            .any(|tool| tool.name() == call.tool || tool.aliases().contains(&call.tool));
        let other = (!is_own).then(|| call.tool.to_owned());
        let key = (call.mode == Mode::DontAsk, other);
        let mut pools = self
            .pools
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        let build = || Arc::new(self.build(own, call));
        pools.entry(key).or_insert_with(build).clone()
    }

    fn build(&self, own: Vec<Arc<dyn Tool>>, call: &Call<'_>) -> Pool {
        let denied = |name: &str| {
            let rule = self.rules.removes(name, &[])?;
            Some(format!("the deny rule {}", rule.text))
        };
        // What is asked is what permission says of a tool, so that every tool is there.
        let flags = BTreeMap::from([("fork_subagent".to_owned(), true)]);
        let options = PoolOptions {
            profile: &self.profile,
            mode: call.mode,
            flags: &flags,
            only: None,
            denied: &denied,
        };
        let mut own = own;
        let mut mcp: Vec<Arc<dyn Tool>> = Vec::new();
        match published(call.tool) {
            Some(tool) => own.push(Arc::new(tool)),
            None => mcp.extend(of_server(call.tool).map(|tool| Arc::new(tool) as Arc<dyn Tool>)),
        }
        Pool::build(own, mcp, &options).0
    }
}

/// A classifier that leaves it to the user.
fn no_opinion() -> Answer<ClassifierAnswer> {
    Answer {
        value: ClassifierAnswer {
            tool: None,
            call: None,
            input: BTreeMap::new(),
            sees: None,
            answer: Behavior::Ask,
            reason: None,
            think_ms: 0,
        },
        has_matcher: false,
        times: None,
        optional: true,
        label: "as recorded".to_owned(),
    }
}

/// Why there is no tool to ask.
enum Gone {
    Ruled(Box<Ruling>),
    Unknown(String),
}

/// A tool that the described runtime has.
fn published(called: &str) -> Option<CustomTool> {
    let name = crate::recording::tool_name::canonical(called);
    PUBLISHED.contains(&name).then(|| {
        let mut stand_in = stand_in(name);
        // An old name still means the tool.
        if called != name && !stand_in.aliases.iter().any(|alias| alias == called) {
            stand_in.aliases.push(called.to_owned());
        }
        CustomTool {
            read_only: stand_in.read_only && !name.starts_with("Web")
                || CHANGE_NOTHING.contains(&name),
            ..stand_in
        }
    })
}

/// A tool of a server that nothing is known of.
fn of_server(name: &str) -> Option<CustomTool> {
    let (server, tool) = name.strip_prefix("mcp__")?.split_once("__")?;
    let origin = McpOrigin {
        server: server.to_owned(),
        tool: tool.to_owned(),
        annotations: Annotations::default(),
    };
    let schema = json!({"type": "object"});
    Some(CustomTool::of_server(origin, "A tool of a server.", schema))
}
