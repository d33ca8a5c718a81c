//! What one layer says of a call.

use crate::rule::{Hit, Rule};
use crate::settings::Source;
use crate::words::Behavior;
use std::borrow::Cow;
use std::sync::Arc;

/// What one layer says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// None if the layer leaves it to others.
    pub behavior: Option<Behavior>,
    /// One word for what it rests on; empty without a behavior.
    pub reason: &'static str,
    /// A sentence without a capital and a full stop; may be empty.
    pub why: Cow<'static, str>,
    pub rule: Option<RuleRef>,
}

/// A rule and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleRef {
    pub text: Arc<str>,
    pub source: &'static str,
    pub behavior: Behavior,
    pub index: u32,
}

impl RuleRef {
    pub fn of(rule: &Rule) -> RuleRef {
        RuleRef {
            text: rule.text.clone(),
            source: rule.origin.source.as_str(),
            behavior: rule.behavior,
            index: rule.origin.index,
        }
    }
}

impl Verdict {
    pub fn new(
        behavior: Behavior,
        reason: &'static str,
        why: impl Into<Cow<'static, str>>,
    ) -> Verdict {
        Verdict {
            behavior: Some(behavior),
            reason,
            why: why.into(),
            rule: None,
        }
    }

    /// Leaves it to others, and says why.
    pub fn none(why: impl Into<Cow<'static, str>>) -> Verdict {
        Verdict {
            why: why.into(),
            ..Verdict::default()
        }
    }

    pub fn by_rule(behavior: Behavior, reason: &'static str, hit: Hit<'_>) -> Verdict {
        Verdict {
            rule: Some(RuleRef::of(hit.rule)),
            ..Verdict::new(behavior, reason, hit.why)
        }
    }

    /// Whether a rule of the session allows, and not one of the settings.
    pub(super) fn is_of_session(&self) -> bool {
        let session = Source::Session.as_str();
        self.is(Behavior::Allow)
            && self
                .rule
                .as_ref()
                .is_some_and(|rule| rule.source == session)
    }

    /// The same, or nothing if it is `behavior`.
    pub(super) fn unless(self, behavior: Behavior) -> Verdict {
        match self.is(behavior) {
            true => Verdict::none("it does not reach so far"),
            false => self,
        }
    }

    /// The same, less an allow that is not of the session.
    pub(super) fn unless_allowed_by_settings(self) -> Verdict {
        match self.is_of_session() {
            true => self,
            false => self.unless(Behavior::Allow),
        }
    }

    pub fn is(&self, behavior: Behavior) -> bool {
        self.behavior == Some(behavior)
    }

    /// As traces write it.
    pub fn word(&self) -> &'static str {
        self.behavior.map_or("none", Behavior::as_str)
    }
}
