//! Permission rules: what `Tool` and `Tool(specifier)` mean, and which rules of a
//! set match a call (`semantics.md §1.1–§1.5`).
//!
//! A set is compiled once; a call is then compared with all its rules at once. Deny
//! and ask rules match generously, allow rules narrowly: where a call can be read in
//! two ways, a deny needs one of them and an allow needs both.
//!
//! Not known, and complained about when settings are loaded: `PowerShell(…)`, negated
//! paths, Windows paths.

mod agent;
mod command;
mod compile;
mod domain;
mod grammar;
mod known;
mod name;
mod parameter;
mod path;
mod path_set;
mod query;
mod set;
#[cfg(test)]
mod set_tests;

pub use command::CommandPattern;
pub use compile::{Anchors, compile};
pub use domain::{DomainPattern, host_of};
pub use grammar::{Written, parse};
pub use known::about_unknown_tools;
pub use name::NamePattern;
pub use path::PathPattern;
pub use path_set::below;
pub use query::{Hit, Matches, Paths, Query, Subject};
pub use set::RuleSet;

use crate::settings::Origin;
use crate::words::Behavior;
use std::sync::Arc;

/// One rule, as it was written, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// `allow`, `ask` or `deny`.
    pub behavior: Behavior,
    pub text: Arc<str>,
    pub origin: Origin,
}

/// Whether an ask or deny, or an allow is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Matches if any reading of the call does.
    Restricts,
    /// Matches only if every reading of the call does.
    Permits,
}

impl Side {
    fn of(behavior: Behavior) -> Side {
        match behavior {
            Behavior::Allow => Side::Permits,
            _ => Side::Restricts,
        }
    }
}

/// Why a rule has no effect, or not the one that may be thought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Words that fit after "expected".
    pub expected: String,
    pub hint: Option<String>,
    pub kind: ProblemKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    /// It says nothing, or what is not known here. As a deny or ask rule it is an
    /// error; as an allow rule it allows nothing.
    Unusable,
    /// It is well-formed and never consulted, as in the described runtime.
    Inert,
    /// It has an effect, but perhaps not the intended one.
    Remark,
}

impl Problem {
    fn unusable(expected: impl Into<String>) -> Problem {
        Problem {
            expected: expected.into(),
            hint: None,
            kind: ProblemKind::Unusable,
        }
    }

    fn inert(expected: impl Into<String>) -> Problem {
        Problem {
            kind: ProblemKind::Inert,
            ..Problem::unusable(expected)
        }
    }

    fn remark(expected: impl Into<String>) -> Problem {
        Problem {
            kind: ProblemKind::Remark,
            ..Problem::unusable(expected)
        }
    }

    fn hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = Some(hint.into());
        self
    }
}
