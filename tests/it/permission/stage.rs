//! One call, judged in a world of its own.

use async_trait::async_trait;
use rehearsal::permission::{
    ClassifierAnswer, Decided, Deputy, DeputyAnswer, HookVerdict, Judged, Permissions, Request,
    Working,
};
use rehearsal::profile::Profile;
use rehearsal::rule::{Anchors, RuleSet, compile};
use rehearsal::settings::{Layer, Source, merge};
use rehearsal::shell::{Command, Ran, Shell};
use rehearsal::shell_syntax;
use rehearsal::sim::{ActorId, InOrder, Sim, SimConfig};
use rehearsal::tools::{Outcome, OwnVerdict, Permit, Progress, RuleSubject, Tool, ToolCx, ToolEnv};
use rehearsal::words::{Behavior, CallId, Mode};
use rehearsal::world::{
    Actor, Answer, Fs, MemoryFs, MemoryOptions, User, UserAnswer, UserReply, World,
};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a call is about.
#[derive(Debug, Clone, PartialEq)]
pub enum About {
    /// A tool that changes nothing and knows no files.
    ReadOnly,
    Read(String),
    Edit(String),
    Shell(String),
    /// A tool of a server, of which nothing is known.
    Mcp(String),
    Fetch(String),
}

/// A call and everything that decides about it.
#[derive(Debug, Clone)]
pub struct Case {
    pub about: About,
    /// Source, `allow`, `ask` or `deny`, and the rule.
    pub rules: Vec<(Source, Behavior, String)>,
    pub mode: Mode,
    pub hook: Option<Behavior>,
    pub classifier: Option<Behavior>,
    /// None where nobody can be asked.
    pub user: Option<UserReply>,
    pub profile: &'static str,
    pub case_sensitive: bool,
    pub own: OwnVerdict,
    pub granted_by_user: bool,
    /// Who answers in the user's place, if anybody does.
    pub deputy: Option<DeputyAnswer>,
    /// Links in the world: from, to.
    pub links: Vec<(&'static str, &'static str)>,
}

pub const CWD: &str = "/home/u/p";
pub const HOME: &str = "/home/u";

thread_local! {
    /// Sets by what they are made of: compiling one takes longer than all else here.
    static COMPILED: RefCell<BTreeMap<String, Arc<RuleSet>>> = const { RefCell::new(BTreeMap::new()) };
}

impl Case {
    pub fn of(about: About) -> Case {
        Case {
            about,
            rules: Vec::new(),
            mode: Mode::Default,
            hook: None,
            classifier: None,
            user: None,
            profile: "seed",
            case_sensitive: true,
            own: OwnVerdict::None,
            granted_by_user: false,
            deputy: None,
            links: Vec::new(),
        }
    }

    pub fn rule(mut self, behavior: Behavior, rule: &str) -> Case {
        self.rules
            .push((Source::Project, behavior, rule.to_owned()));
        self
    }

    pub fn mode(mut self, mode: Mode) -> Case {
        self.mode = mode;
        self
    }

    /// The decision in one line: behaviour, layer, reason.
    pub fn line(&self) -> String {
        line(&self.decide())
    }

    pub fn decide(&self) -> Decided {
        let mut all = self.decide_all(std::slice::from_ref(&self.about));
        all.remove(0)
    }

    /// Judges several calls one after the other with the same permissions.
    pub fn decide_all(&self, abouts: &[About]) -> Vec<Decided> {
        let fs = MemoryFs::new(MemoryOptions {
            case_sensitive: self.case_sensitive,
            ..MemoryOptions::default()
        });
        for dir in ["/home/u/p/src", "/home/u/.ssh", "/etc", "/tmp"] {
            fs.put_dir(dir, 0o755, 0).unwrap();
        }
        for (link, target) in &self.links {
            fs.put_symlink(link, target, 0).unwrap();
        }
        let permissions = self.permissions(&fs);
        let deputy = self.deputy.clone().map(Standing);
        let sim = Sim::new(SimConfig::new(InOrder));
        let world = World::new(sim.clone(), Arc::new(fs), 0, 0, Vec::new());
        let env = Arc::new(env(self.profile));
        let all = async {
            let mut decided = Vec::new();
            for (i, about) in abouts.iter().enumerate() {
                let number = i as u32 + 1;
                let cx = ToolCx {
                    parent: None,
                    call: CallId {
                        number,
                        turn: 1,
                        id: format!("toolu_{number}").into(),
                    },
                    world: world.actor(ActorId::AGENT),
                    env: env.clone(),
                };
                let (tool, input) = tool(about, &self.own);
                let judged = Judged {
                    cx: &cx,
                    tool: &tool,
                    input: &input,
                    hook: self.hook.map(|behavior| HookVerdict {
                        behavior,
                        reason: "the hook's words".to_owned(),
                    }),
                    deputy: deputy.as_ref().map(|deputy| deputy as &dyn Deputy),
                    granted_by_user: self.granted_by_user,
                };
                decided.push(permissions.decide(&judged).await);
            }
            decided
        };
        sim.run(all).unwrap()
    }

    fn compiled(&self, fs: &dyn Fs) -> Arc<RuleSet> {
        let key = format!("{:?} {:?} {}", self.rules, self.links, self.case_sensitive);
        if let Some(rules) = COMPILED.with_borrow(|all| all.get(&key).cloned()) {
            return rules;
        }
        let layers = Source::ALL.iter().map(|source| {
            let of = |behavior: Behavior| -> Vec<&str> {
                let wanted = self.rules.iter();
                let wanted = wanted.filter(|(s, b, _)| s == source && *b == behavior);
                wanted.map(|(_, _, rule)| rule.as_str()).collect()
            };
            let value = json!({"permissions": {
                "deny": of(Behavior::Deny), "ask": of(Behavior::Ask), "allow": of(Behavior::Allow),
            }});
            Layer::from_value(*source, &value)
        });
        let (settings, complaints) = merge(layers.collect());
        assert_eq!(complaints, []);
        let (rules, complaints) = compile(&settings, &Anchors::new(CWD, HOME), fs);
        assert!(complaints.iter().all(|c| !c.is_error()), "{complaints:?}");
        let rules = Arc::new(rules);
        COMPILED.with_borrow_mut(|all| all.insert(key, rules.clone()));
        rules
    }

    fn permissions(&self, fs: &dyn Fs) -> Permissions {
        let rules = self.compiled(fs);
        let profile = Profile::by_name(self.profile).unwrap();
        let working = Working::new(CWD, &[], "/results", fs);
        let mut permissions = Permissions::new(rules, working, self.mode, Arc::new(profile));
        if let Some(reply) = &self.user {
            let answer = UserAnswer {
                tool: None,
                call: None,
                input: None,
                reply: reply.clone(),
                think_ms: 40,
            };
            permissions = permissions.with_user(Arc::new(User::new(vec![once(answer)])));
        }
        if let Some(answer) = self.classifier {
            permissions = permissions.with_classifier(vec![once(ClassifierAnswer {
                call: None,
                tool: None,
                input: Default::default(),
                sees: None,
                answer,
                reason: Some("the classifier's words".to_owned()),
                think_ms: 7,
            })]);
        }
        permissions
    }
}

fn once<T>(value: T) -> Answer<T> {
    Answer {
        value,
        has_matcher: false,
        times: None,
        optional: false,
        label: "the answer".to_owned(),
    }
}

/// A decision in one line: behaviour, layer, reason.
pub fn line(decided: &Decided) -> String {
    let decision = &decided.decision;
    format!(
        "{} {} {}",
        decision.behavior, decision.layer, decision.reason
    )
}

pub fn yes() -> UserReply {
    UserReply::Allow {
        always: false,
        updated_input: None,
        updated_permissions: Vec::new(),
    }
}

pub fn no() -> UserReply {
    UserReply::Deny { comment: None }
}

fn env(profile: &str) -> ToolEnv {
    ToolEnv {
        profile: Arc::new(Profile::by_name(profile).unwrap()),
        cwd: CWD.to_owned(),
        home: HOME.to_owned(),
        additional_dirs: Vec::new(),
        results_dir: "/results".to_owned(),
        shell_env: Vec::new(),
        files: Default::default(),
        session: Default::default(),
        shell: Arc::new(NoShell),
        latency_ms: Default::default(),
        pool: Default::default(),
        rules: Default::default(),
    }
}

struct NoShell;

#[async_trait]
impl Shell for NoShell {
    async fn run(&self, _command: &Command, _actor: &Actor) -> Ran {
        unreachable!("permission runs nothing")
    }
}

/// A deputy who says the same of every call.
struct Standing(DeputyAnswer);

#[async_trait]
impl Deputy for Standing {
    /// A refusal also shows what was suggested.
    async fn answer(&self, request: &Request<'_>) -> Option<DeputyAnswer> {
        Some(match &self.0 {
            DeputyAnswer::Deny { message } => DeputyAnswer::Deny {
                message: format!("{message} {}", request.suggestions()),
            },
            allow => allow.clone(),
        })
    }
}

/// A tool as permission sees one.
struct Fake {
    name: String,
    about: About,
    schema: Value,
    own: OwnVerdict,
}

fn tool(about: &About, own: &OwnVerdict) -> (Fake, Value) {
    let (name, input) = match about {
        About::ReadOnly => ("Look", json!({})),
        About::Read(path) => ("Read", json!({"file_path": path})),
        About::Edit(path) => ("Edit", json!({"file_path": path})),
        About::Shell(command) => ("Bash", json!({"command": command})),
        About::Mcp(name) => (name.as_str(), json!({})),
        About::Fetch(url) => ("WebFetch", json!({"url": url})),
    };
    let fake = Fake {
        name: name.to_owned(),
        about: about.clone(),
        schema: json!({"type": "object"}),
        own: own.clone(),
    };
    (fake, input)
}

#[async_trait]
impl Tool for Fake {
    fn name(&self) -> &str {
        &self.name
    }
    fn description(&self) -> &str {
        "A tool for these tests."
    }
    fn input_schema(&self) -> &Value {
        &self.schema
    }
    fn is_read_only(&self, _input: &Value) -> bool {
        match &self.about {
            About::ReadOnly | About::Read(_) => true,
            About::Shell(line) => shell_syntax::is_read_only(&shell_syntax::analyze(line)),
            _ => false,
        }
    }
    fn rule_subject(&self, cx: &ToolCx, _input: &Value) -> RuleSubject {
        match &self.about {
            About::Read(path) => RuleSubject::ReadPath(cx.absolute(path)),
            About::Edit(path) => RuleSubject::EditPath(cx.absolute(path)),
            About::Shell(line) => RuleSubject::Command(line.clone()),
            About::Fetch(url) => RuleSubject::Url(url.clone()),
            About::ReadOnly | About::Mcp(_) => RuleSubject::None,
        }
    }
    async fn check_permissions(&self, _input: &Value, _cx: &ToolCx) -> OwnVerdict {
        self.own.clone()
    }
    async fn call(
        &self,
        _input: &Value,
        _cx: &ToolCx,
        _permit: &dyn Permit,
        _progress: &dyn Progress,
    ) -> Outcome {
        unreachable!("permission runs nothing")
    }
}
