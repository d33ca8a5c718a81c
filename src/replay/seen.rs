//! What each agent of a recording has seen of each file, by earlier lines, as the
//! runtime's file states.

use crate::recording::{Evidence, Knowledge};
use crate::tools::{FileState, Origin, Ranges, View};
use crate::world::{Bytes, ContentHash};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What one agent has seen of one file.
#[derive(Debug, Clone)]
struct Seen {
    /// All of it, in one Read or by writing it.
    full: bool,
    /// The lines shown, each range from a first line (1 is the first) up to one behind its last.
    lines: Vec<(u32, u32)>,
    views: BTreeSet<View>,
    /// The number of the call that showed it last.
    call: u32,
    /// How often the file had changed by then.
    changes: u32,
    /// The text as it was put into the world then.
    text: Option<Arc<str>>,
}

/// What all agents have seen: by agent (none is the main one) and path.
#[derive(Debug, Default)]
pub(super) struct SeenFiles {
    seen: BTreeMap<(Option<String>, String), Seen>,
    /// What was seen before a compaction or a restart: whether it still counts, the
    /// recording does not say.
    unsure: BTreeMap<(Option<String>, String), Seen>,
    /// Every path that any call of an agent was about.
    touched: BTreeSet<(Option<String>, String)>,
}

/// Whose file, and which.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whose<'a> {
    pub agent: Option<&'a str>,
    pub path: &'a str,
}

impl Whose<'_> {
    fn key(self) -> (Option<String>, String) {
        (self.agent.map(str::to_owned), self.path.to_owned())
    }
}

impl SeenFiles {
    /// Whether an earlier call of the agent was about the file.
    pub fn is_touched(&self, whose: Whose<'_>) -> bool {
        self.touched.contains(&whose.key())
    }

    /// Whether the agent has seen anything of the file.
    pub fn has(&self, whose: Whose<'_>) -> bool {
        self.seen.contains_key(&whose.key())
    }

    /// The runtime's state of a file that holds `text` now, written at `mtime_ms`: current
    /// unless the file is known to have changed since it was seen.
    pub fn state(
        &self,
        whose: Whose<'_>,
        knowledge: &Knowledge,
        text: &Arc<str>,
        mtime_ms: i64,
    ) -> Option<FileState> {
        let seen = self.seen.get(&whose.key())?;
        let current = seen.changes == knowledge.changes(whose.path);
        let (text, mtime_ms) = match (&seen.text, current) {
            (_, true) => (text.clone(), mtime_ms),
            (Some(old), false) => (old.clone(), mtime_ms - 1),
            (None, false) => ("\u{fffd}".into(), mtime_ms - 1),
        };
        Some(seen.as_state(text, mtime_ms))
    }

    /// The state of a file that the agent must have read before the recording begins.
    pub fn assumed(text: &Arc<str>, mtime_ms: i64) -> FileState {
        let seen = Seen {
            full: true,
            lines: Vec::new(),
            views: BTreeSet::new(),
            call: 0,
            changes: 0,
            text: None,
        };
        seen.as_state(text.clone(), mtime_ms)
    }

    /// Makes everything that was seen unsure.
    pub fn doubt(&mut self) {
        self.unsure.append(&mut self.seen);
    }

    /// Whether the agent has seen the file, but the recording does not say whether that
    /// still counts.
    pub fn is_unsure(&self, whose: Whose<'_>) -> bool {
        let key = whose.key();
        !self.seen.contains_key(&key) && self.unsure.contains_key(&key)
    }

    /// Takes note of a call about the file, and of what its result showed the agent.
    pub fn after(
        &mut self,
        whose: Whose<'_>,
        call: u32,
        evidence: &Evidence<'_>,
        view: View,
        text: Option<Arc<str>>,
        knowledge: &Knowledge,
    ) {
        let key = whose.key();
        self.touched.insert(key.clone());
        let changes = knowledge.changes(whose.path);
        let old = self.seen.get(&key);
        // What was seen of another content is seen no more.
        let still = old.filter(|seen| seen.changes == changes);
        let mut seen = still.cloned().unwrap_or(Seen {
            full: false,
            lines: Vec::new(),
            views: BTreeSet::new(),
            call,
            changes,
            text: None,
        });
        match evidence {
            Evidence::Shown { .. } => {
                if let Some(shown) = evidence.shown() {
                    seen.full |= shown.is_whole();
                    let end = shown.first_line.saturating_add(shown.lines);
                    seen.lines.push((shown.first_line, end));
                    seen.views.insert(view);
                }
            }
            Evidence::Written { .. } => seen.full = true,
            // An edit tells the agent what it wrote; the rest it knows as before.
            Evidence::Edited { .. } => {
                let before = old.map(|old| (old.full, old.lines.clone()));
                (seen.full, seen.lines) = before.unwrap_or((true, Vec::new()));
            }
            _ => return,
        }
        seen.call = call;
        seen.text = text.or(seen.text);
        self.seen.insert(key, seen);
    }

    /// Takes note that the runtime told an agent of a file: what it is now is seen.
    pub fn told(&mut self, whose: Whose<'_>, full: bool, knowledge: &Knowledge) {
        let changes = knowledge.changes(whose.path);
        let old = self.seen.get(&whose.key());
        let seen = Seen {
            full: full || old.is_some_and(|old| old.full),
            lines: old.map(|old| old.lines.clone()).unwrap_or_default(),
            views: BTreeSet::new(),
            call: old.map_or(0, |old| old.call),
            changes,
            text: None,
        };
        self.seen.insert(whose.key(), seen);
    }
}

impl Seen {
    fn as_state(&self, text: Arc<str>, mtime_ms: i64) -> FileState {
        let shown = match self.full {
            true => Ranges::whole(text.len()),
            false => self.bytes_shown(&text),
        };
        let content: Bytes = text.into();
        FileState {
            call: self.call,
            read_ms: 0,
            mtime_ms,
            hash: ContentHash::of(&content),
            content,
            shown,
            origin: Origin::Read,
            views: self.views.clone(),
        }
    }

    fn bytes_shown(&self, text: &str) -> Ranges {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
        let start = |line: u32| {
            let at = line.saturating_sub(1) as usize;
            starts.get(at).copied().unwrap_or(text.len())
        };
        let mut ranges = Ranges::default();
        for (first, end) in &self.lines {
            ranges.add(start(*first)..start(*end));
        }
        ranges
    }
}
