//! Settings as users have them: five sources, merged as documented, each value
//! with where it came from, none of it interpreted further than that.
//!
//! Lists are merged over all sources, scalars are the strongest source's
//! (`semantics.md §1.5`). What cannot be read is an error. Of a file with an error only
//! what restricts is in force: every deny and ask rule that can be found in it by any
//! means, and nothing that it allows, so that a break never means fewer denials.

mod complaint;
mod files;
mod layer;
mod merge;
mod node;
mod salvage;
mod update;

pub use complaint::{Broken, Complaint, Severity};
pub use files::from_path;
pub use layer::Layer;
pub use merge::merge;
pub use update::{PermissionUpdate, SettingsChange};

use crate::words::Mode;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// Where a setting comes from; the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// An administrator's.
    Managed,
    /// The command line's.
    Cli,
    /// `.claude/settings.local.json`.
    Local,
    /// `.claude/settings.json`.
    Project,
    /// `~/.claude/settings.json`.
    User,
    /// Granted while the run goes on; only rules come from here.
    Session,
}

impl Source {
    /// The five that settings are read from, the strongest first.
    pub const ALL: &'static [Source] = &[
        Source::Managed,
        Source::Cli,
        Source::Local,
        Source::Project,
        Source::User,
    ];

    /// The word used in scenarios and traces.
    pub const fn as_str(self) -> &'static str {
        match self {
            Source::Managed => "managed",
            Source::Cli => "cli",
            Source::Local => "local",
            Source::Project => "project",
            Source::User => "user",
            Source::Session => "session",
        }
    }

    /// The source that `word` names.
    pub fn from_word(word: &str) -> Option<Source> {
        Source::ALL.iter().copied().find(|s| s.as_str() == word)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Where one value stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub source: Source,
    /// Its place in its list, from 0.
    pub index: u32,
    /// The file, if it came from one.
    pub file: Option<Arc<str>>,
    /// From 1, if it came from a file.
    pub line: Option<u32>,
    /// From 1, in characters, if it came from a file.
    pub column: Option<u32>,
    /// The folder that a path with one leading slash is anchored at, where the file
    /// says otherwise than the source does. Absolute and normal.
    pub anchor: Option<Arc<str>>,
}

impl Origin {
    /// The first place of a source that is no file.
    pub fn of(source: Source, index: u32) -> Origin {
        Origin {
            source,
            index,
            file: None,
            line: None,
            column: None,
            anchor: None,
        }
    }
}

/// A text of a list, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    pub text: String,
    pub origin: Origin,
}

/// The `hooks` object of one source, as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HooksOf {
    pub value: Value,
    pub origin: Origin,
    /// They stand in a file that could not be read whole: what they allow does not count.
    pub only_restrict: bool,
}

/// All sources merged. Every list is in the order of the sources, the strongest
/// first, and within one in the order written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    pub allow: Vec<Placed>,
    pub ask: Vec<Placed>,
    pub deny: Vec<Placed>,
    /// `permissions.defaultMode` and who says so.
    pub default_mode: Option<(Mode, Source)>,
    /// Whether mode `bypassPermissions` is switched off.
    pub bypass_disabled: bool,
    /// As they are written.
    pub additional_directories: Vec<Placed>,
    pub hooks: Vec<HooksOf>,
    /// What is wrong with files of which for that reason only what restricts is in force.
    pub broken: Vec<Broken>,
    /// Everything as it was written, by source.
    pub raw: Vec<(Source, Value)>,
}
