//! A call as rules see it, and what they say of it.

use super::Rule;
use crate::shell_syntax::CommandLine;
use serde_json::Value;
use std::borrow::Cow;

/// A call, as rules see it.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    pub tool: &'a str,
    pub aliases: &'a [&'a str],
    pub subject: Subject<'a>,
    /// The input as it is, for rules about one of its fields.
    pub input: Option<&'a Value>,
}

/// What specifiers are compared with.
#[derive(Debug, Clone, Copy)]
pub enum Subject<'a> {
    None,
    /// A file or folder that is read.
    Read(&'a Paths),
    /// A file that is changed.
    Edit(&'a Paths),
    Command {
        line: &'a CommandLine,
        /// Files that it is certain to read, and to write: as far as its text tells.
        reads: &'a [Paths],
        writes: &'a [Paths],
    },
    Url(&'a str),
    /// A kind of nested agent.
    Agent(&'a str),
    /// A skill, and after a space what it is given.
    Skill(&'a str),
}

/// A path as it was given, and where it leads. Absolute and normal, both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    pub spelled: String,
    /// With all symlinks resolved; `None` if that cannot be done.
    pub resolved: Option<String>,
}

impl Paths {
    /// A path on which no symlink lies.
    pub fn plain(path: impl Into<String>) -> Paths {
        let spelled = path.into();
        Paths {
            resolved: Some(spelled.clone()),
            spelled,
        }
    }
}

/// A rule that matches, and by what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit<'s> {
    pub rule: &'s Rule,
    pub why: Cow<'static, str>,
}

/// Which rules match a call: of each behaviour the first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matches<'s> {
    pub deny: Option<Hit<'s>>,
    pub ask: Option<Hit<'s>>,
    pub allow: Option<Hit<'s>>,
    /// Why no allow rule can cover the call, if there is a reason beyond that none matches.
    pub uncovered: Option<Cow<'static, str>>,
    /// Why nothing can be said of the call, so that it must be asked about.
    pub unsure: Option<&'static str>,
}
