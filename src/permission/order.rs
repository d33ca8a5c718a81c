//! Which layer decides: pure, so that every combination can be tried.
//!
//! [`next`] is given what the layers have said so far and answers with the decision or
//! with whom to ask next. The three orders are those of `permission_order`.

use super::Verdict;
use super::mode::{CRITICAL, Place};
use crate::profile::{Bypass, PermissionOrder};
use crate::words::{Behavior, Layer, Mode};

/// What does not change while one call is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    pub order: PermissionOrder,
    pub bypass: Bypass,
    pub mode: Mode,
    /// The user wrote this input.
    pub granted_by_user: bool,
}

impl Setup {
    /// Whether a call touches what no allow rule of the settings reaches, but a grant of the
    /// session does (`semantics.md §1.7`).
    pub(super) fn beyond(&self, place: Place) -> bool {
        self.order != PermissionOrder::RulesFirst && place == Place::EditsProtected
    }
}

/// What the layers have said so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdicts {
    pub rule: Verdict,
    pub mode: Verdict,
    pub hook: Verdict,
    /// What the user granted for the session before; looked up only where it is open.
    pub grant: Option<Verdict>,
    pub classifier: Option<Verdict>,
    pub user: Option<Verdict>,
}

/// What to look up where the first three layers leave it open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    Grants,
    Classifier,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// This layer's verdict decides.
    Decided(Layer),
    /// A grant of the session decides, in the name of layer rule.
    Granted,
    /// Mode `dontAsk` denies what this layer, or nobody, would have asked about.
    DontAsk(Option<Layer>),
    LookUp(Open),
    /// Ask the user, because this layer wants it or because nobody else decided.
    AskUser(Option<Layer>),
}

/// The decision, or whom to ask.
pub fn next(setup: &Setup, said: &Verdicts) -> Step {
    if said.user.is_some() {
        return Step::Decided(Layer::User);
    }
    let decided = match setup.order {
        PermissionOrder::RulesFirst => rules_first(setup, said),
        PermissionOrder::HookThenRules => hook_then_rules(setup, said),
        PermissionOrder::HookFirst => hook_first(setup, said),
    };
    decided.unwrap_or_else(|| open(setup, said))
}

/// The system that this project implements: any deny decides; then bypass; then an ask
/// of a rule or a hook; then the first allow.
fn rules_first(setup: &Setup, said: &Verdicts) -> Option<Step> {
    let layers = [
        (Layer::Rule, &said.rule),
        (Layer::Mode, &said.mode),
        (Layer::Hook, &said.hook),
    ];
    let first = |behavior: Behavior| {
        let of = layers.iter().find(|(_, verdict)| verdict.is(behavior));
        of.map(|(layer, _)| *layer)
    };
    if let Some(layer) = first(Behavior::Deny) {
        return Some(Step::Decided(layer));
    }
    if said.hook.is(Behavior::Defer) {
        return Some(Step::Decided(Layer::Hook));
    }
    if setup.granted_by_user {
        return Some(Step::Decided(Layer::User));
    }
    let ask = first(Behavior::Ask);
    if setup.mode == Mode::BypassPermissions
        && (ask.is_none() || setup.bypass == Bypass::AllButDeny)
    {
        return Some(Step::Decided(Layer::Mode));
    }
    if ask.is_some() {
        return Some(ask_user(setup, ask));
    }
    first(Behavior::Allow).map(Step::Decided)
}

/// From 2.1.77 on: a hook's deny ends it; rules come before a hook's allow; the safety
/// check of the mode comes before allow rules (`semantics.md §1.9`).
fn hook_then_rules(setup: &Setup, said: &Verdicts) -> Option<Step> {
    if said.hook.is(Behavior::Deny) {
        return Some(Step::Decided(Layer::Hook));
    }
    if said.rule.is(Behavior::Deny) {
        return Some(Step::Decided(Layer::Rule));
    }
    if said.hook.is(Behavior::Defer) {
        return Some(Step::Decided(Layer::Hook));
    }
    if setup.granted_by_user {
        return Some(Step::Decided(Layer::User));
    }
    let passes = setup.mode == Mode::BypassPermissions && setup.bypass == Bypass::AllButDeny;
    for (layer, verdict) in [(Layer::Rule, &said.rule), (Layer::Hook, &said.hook)] {
        if verdict.is(Behavior::Ask) && !passes {
            return Some(ask_user(setup, Some(layer)));
        }
    }
    if said.mode.is(Behavior::Ask) && said.mode.reason == CRITICAL {
        return Some(ask_user(setup, Some(Layer::Mode)));
    }
    for (layer, verdict) in [
        (Layer::Hook, &said.hook),
        (Layer::Mode, &said.mode),
        (Layer::Rule, &said.rule),
    ] {
        match verdict.behavior {
            Some(Behavior::Allow) => return Some(Step::Decided(layer)),
            Some(Behavior::Ask) if !passes => return Some(ask_user(setup, Some(layer))),
            _ => {}
        }
    }
    None
}

/// 2.0.76: a hook that allows or denies ends it, before any rule; a hook that asks is
/// heard only where no rule allows (`observed.md §4.11`).
fn hook_first(setup: &Setup, said: &Verdicts) -> Option<Step> {
    if matches!(
        said.hook.behavior,
        Some(Behavior::Deny | Behavior::Allow | Behavior::Defer)
    ) {
        return Some(Step::Decided(Layer::Hook));
    }
    if said.rule.is(Behavior::Deny) {
        return Some(Step::Decided(Layer::Rule));
    }
    if setup.granted_by_user {
        return Some(Step::Decided(Layer::User));
    }
    let passes = setup.mode == Mode::BypassPermissions && setup.bypass == Bypass::AllButDeny;
    if said.rule.is(Behavior::Ask) && !passes {
        return Some(ask_user(setup, Some(Layer::Rule)));
    }
    for (layer, verdict) in [
        (Layer::Mode, &said.mode),
        (Layer::Rule, &said.rule),
        (Layer::Hook, &said.hook),
    ] {
        match verdict.behavior {
            Some(Behavior::Allow) => return Some(Step::Decided(layer)),
            Some(Behavior::Ask) if !passes => return Some(ask_user(setup, Some(layer))),
            _ => {}
        }
    }
    None
}

/// An ask goes to the user, unless the mode is to ask nobody.
fn ask_user(setup: &Setup, because: Option<Layer>) -> Step {
    match setup.mode {
        Mode::DontAsk => Step::DontAsk(because),
        _ => Step::AskUser(because),
    }
}

/// Nobody has decided: what was granted before, the classifier, the user.
fn open(setup: &Setup, said: &Verdicts) -> Step {
    match &said.grant {
        None => return Step::LookUp(Open::Grants),
        Some(grant) if grant.is(Behavior::Allow) => return Step::Granted,
        Some(_) => {}
    }
    if setup.mode == Mode::DontAsk {
        return Step::DontAsk(None);
    }
    match &said.classifier {
        None => Step::LookUp(Open::Classifier),
        Some(verdict) if verdict.behavior.is_some() => Step::Decided(Layer::Classifier),
        Some(_) => Step::AskUser(None),
    }
}
