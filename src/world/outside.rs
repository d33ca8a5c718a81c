//! Changes to the world by someone who is not the agent.

use crate::words::Step;
use std::sync::Mutex;

/// One thing done to the world from outside. Paths are absolute and normal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    Write {
        path: String,
        bytes: super::Bytes,
    },
    Append {
        path: String,
        bytes: super::Bytes,
    },
    /// Sets the mtime to now, content unchanged.
    Touch {
        path: String,
    },
    Remove {
        path: String,
    },
    Rename {
        from: String,
        to: String,
    },
    Symlink {
        target: String,
        link: String,
    },
    Chmod {
        path: String,
        mode: u32,
    },
    Mkdir {
        path: String,
    },
}

/// When an outside change happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trigger {
    /// Just before a call (by id, or by number as text) enters a step.
    Before { call: String, step: Step },
    /// Just after a call leaves a step.
    After { call: String, step: Step },
    /// At a virtual time.
    AtMs(u64),
    /// Anywhere: a plain run takes it at time 0, `explore` tries every point.
    Anywhere,
}

/// An outside change and its moment. `keep_mtime` puts the file's old mtime back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutsideChange {
    pub trigger: Trigger,
    pub changes: Vec<Change>,
    pub keep_mtime: bool,
}

/// The changes of a run that have not happened yet.
pub(crate) struct Board {
    #[expect(dead_code)]
    waiting: Mutex<Vec<Option<OutsideChange>>>,
}

impl Board {
    pub fn new(changes: Vec<OutsideChange>) -> Board {
        Board {
            waiting: Mutex::new(changes.into_iter().map(Some).collect()),
        }
    }
}
