//! Whether a call may run: five layers, each a small function, and the order in which
//! they decide.
//!
//! [`Permissions::decide`] reads as the story: what the call is about, what each layer
//! says of it ([`rule`], [`mode`], [`hook`], [`classifier`], [`user`]), and which of
//! them decides ([`order`]). The first three are pure; the classifier and the user are
//! asked only where the others leave it open, each by one announced operation. Just
//! before the user a [`deputy`] may answer in their place. What an answer changes for the
//! decisions to come is in [`changes`].

mod auto;
mod changes;
mod classifier;
mod critical;
mod decide;
mod deputy;
mod grants;
mod hook;
mod mode;
mod order;
mod protected;
mod rule;
mod subject;
mod text;
mod user;
mod verdict;
mod working;

pub use classifier::ClassifierAnswer;
pub use deputy::{Deputy, DeputyAnswer, Request};
pub use hook::HookVerdict;
pub use order::{Open, Setup, Step, Verdicts, next};
pub use verdict::{RuleRef, Verdict};
pub use working::Working;

use crate::profile::Profile;
use crate::rule::{Anchors, RuleSet};
use crate::settings::Settings;
use crate::tools::{Tool, ToolCx};
use crate::trace;
use crate::words::{Class, Layer, Mode};
use crate::world::{Answer, Answers, Fs, User};
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard};

/// What decides about the calls of a run.
pub struct Permissions {
    current: Mutex<changes::Current>,
    basis: Mutex<Option<changes::Basis>>,
    /// The rules that mode `auto` leaves, where it sets any aside.
    narrow: Mutex<Option<Arc<RuleSet>>>,
    /// Whether the run began in mode `bypassPermissions`, so that it may come back to it.
    bypass_available: bool,
    refusals: Mutex<auto::Refusals>,
    profile: Arc<Profile>,
    classifier: Answers<ClassifierAnswer>,
    /// None where nobody can be asked.
    user: Option<Arc<User>>,
    mode: Mutex<Mode>,
    granted: Mutex<grants::Granted>,
}

/// One call, to be judged.
pub struct Judged<'a> {
    pub cx: &'a ToolCx,
    pub tool: &'a dyn Tool,
    /// What will run: the input after hooks, parsed and valid.
    pub input: &'a Value,
    /// What the pre-hooks say, combined.
    pub hook: Option<HookVerdict>,
    /// Who may answer in the user's place.
    pub deputy: Option<&'a dyn Deputy>,
    /// Whether the input is one that the user wrote instead of the model's: then only a
    /// denial still stops it.
    pub granted_by_user: bool,
}

/// What was decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    pub decision: trace::Decision,
    /// Who wanted the user to be asked, if it came to that.
    pub asks: Option<Asks>,
    /// The questions that were put to the user, with their answers.
    pub prompts: Vec<trace::Prompt>,
    /// What the user wants to run instead: it goes through parse and validate, and is
    /// judged once more with [`Judged::granted_by_user`].
    pub updated_input: Option<Value>,
    /// `ok` for a call that may run.
    pub class: Class,
    /// For the model, if the call may not run: which layer and which rule, and what to
    /// do. The class is not part of it: [`crate::tools::Outcome::error`] puts it in front.
    pub text: String,
    /// Virtual milliseconds spent asking.
    pub waited_ms: u64,
}

/// Why the user is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asks {
    /// The layer that asks; [`Layer::User`] where nobody before the user decided.
    pub layer: Layer,
    /// One word for what it rests on, as in a decision.
    pub reason: &'static str,
}

impl Permissions {
    /// Decides by `rules` in `mode`; nobody can be asked and there is no classifier.
    pub fn new(
        rules: Arc<RuleSet>,
        working: Working,
        mode: Mode,
        profile: Arc<Profile>,
    ) -> Permissions {
        let working = Arc::new(working);
        Permissions {
            current: Mutex::new(changes::Current { rules, working }),
            basis: Mutex::default(),
            narrow: Mutex::default(),
            bypass_available: mode == Mode::BypassPermissions,
            refusals: Mutex::default(),
            profile,
            classifier: Answers::default(),
            user: None,
            mode: Mutex::new(mode),
            granted: Mutex::default(),
        }
    }

    /// The settings that the rules were made from, so that answers can change them; saved
    /// results lie in `results_dir`.
    pub fn with_settings(
        self,
        settings: Settings,
        anchors: Anchors,
        results_dir: &str,
        fs: &dyn Fs,
    ) -> Permissions {
        let basis = changes::Basis {
            settings,
            anchors,
            results_dir: results_dir.to_owned(),
        };
        *lock(&self.narrow) = basis.narrow(self.mode(), fs);
        *lock(&self.basis) = Some(basis);
        self
    }

    /// Somebody who can be asked.
    pub fn with_user(mut self, user: Arc<User>) -> Permissions {
        self.user = Some(user);
        self
    }

    /// A scripted classifier. An empty one is none.
    pub fn with_classifier(mut self, answers: Vec<Answer<ClassifierAnswer>>) -> Permissions {
        self.classifier = Answers::new(answers);
        self
    }

    pub fn mode(&self) -> Mode {
        *lock(&self.mode)
    }

    /// The rules as they are now.
    pub fn rules(&self) -> Arc<RuleSet> {
        lock(&self.current).rules.clone()
    }

    /// The rules that count in `mode`, and the working folders.
    fn current(&self, mode: Mode) -> changes::Current {
        let mut current = lock(&self.current).clone();
        if mode == Mode::Auto
            && let Some(narrow) = &*lock(&self.narrow)
        {
            current.rules = narrow.clone();
        }
        current
    }

    /// The labels of the answers, of classifier and user, that were never given and are
    /// not optional.
    pub fn left(&self) -> Vec<String> {
        let mut left = self.classifier.left();
        left.extend(self.user.iter().flat_map(|user| user.left()));
        left
    }

    /// The rules that the user has granted for the session, in the order granted.
    pub fn granted(&self) -> Vec<String> {
        lock(&self.granted).texts()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}
