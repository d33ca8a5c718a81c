//! What the agent knows of each file: the content it last saw, how much of it, and
//! when. Edit and Write hold it against the world before they change a file.

use super::ranges::{Ranges, Replaced};
use crate::sim::{OpKind, Resource};
use crate::world::{Actor, Bytes, ContentHash, FsError, Meta};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// What brought a piece of knowledge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    Read,
    Edit,
    Write,
    /// A hook rewrote the file after a call of the agent, and the profile counts that
    /// as the agent's own doing.
    Hook,
}

impl Origin {
    pub fn as_str(self) -> &'static str {
        match self {
            Origin::Read => "read",
            Origin::Edit => "edit",
            Origin::Write => "write",
            Origin::Hook => "hook",
        }
    }
}

/// What a Read asked for: offset, limit and character offset, as the tool understood them.
pub type View = (u64, u64, u64);

/// What the agent knows of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileState {
    /// The number of the call that brought this content; of two contents the one of
    /// the higher number is kept.
    pub call: u32,
    /// Virtual milliseconds since the run began.
    pub read_ms: u64,
    /// Milliseconds since 1970.
    pub mtime_ms: i64,
    pub content: Bytes,
    pub hash: ContentHash,
    /// The bytes of `content` that the model was shown or wrote.
    pub shown: Ranges,
    pub origin: Origin,
    /// The views in which this content was read.
    pub views: BTreeSet<View>,
}

impl FileState {
    /// Whether the model has seen all of it (a byte order mark is never shown).
    pub fn is_full(&self) -> bool {
        let bom = super::form::bom_len(&self.content);
        self.shown.covers(bom..self.content.len())
    }

    /// One piece of knowledge out of two, the same whichever comes first.
    ///
    /// Reads of the same content add up. Of two contents the later call's is kept,
    /// which errs on the safe side: at worst an edit is refused and a Read heals it.
    fn merged(self, other: &FileState) -> FileState {
        let other_is_later = (other.call, other.hash) > (self.call, self.hash);
        if self.hash != other.hash {
            return if other_is_later { other.clone() } else { self };
        }
        let mut shown = self.shown;
        shown.union(&other.shown);
        let mut views = self.views;
        views.extend(&other.views);
        FileState {
            call: self.call.max(other.call),
            read_ms: self.read_ms.max(other.read_ms),
            mtime_ms: self.mtime_ms.max(other.mtime_ms),
            content: self.content,
            hash: self.hash,
            shown,
            origin: if other_is_later {
                other.origin
            } else {
                self.origin
            },
            views,
        }
    }
}

/// The cache of file states. Cloning it gives another handle on the same cache.
///
/// Its keys are canonical paths (`Fs::canonical`): two spellings of one file, by a
/// symlink or by case on a file system that ignores case, share one state. Every
/// access is an operation on [`Resource::FileState`] of that path alone, so that
/// calls on different files never meet here. There is no clock and no counter in it.
#[derive(Clone, Default)]
pub struct FileStates {
    states: Arc<Mutex<BTreeMap<Arc<str>, Arc<FileState>>>>,
}

/// What was seen or made, as [`FileStates`] takes it.
pub(super) struct Seen {
    pub call: u32,
    pub meta_mtime_ms: i64,
    pub content: Bytes,
    pub hash: ContentHash,
    pub shown: Ranges,
    pub view: Option<View>,
}

impl FileStates {
    /// What is known of the file at a canonical path.
    pub async fn get(&self, actor: &Actor, path: &str) -> Option<Arc<FileState>> {
        actor
            .op(Resource::FileState(path.into()), OpKind::Read)
            .await;
        self.lock().get(path).cloned()
    }

    /// Adds what a Read showed.
    ///
    /// Announced as a read: such records of a batch commute, so that Reads of one
    /// file need not wait for each other.
    pub(super) async fn record_read(&self, actor: &Actor, path: &str, seen: Seen) {
        actor
            .op(Resource::FileState(path.into()), OpKind::Read)
            .await;
        let state = state_of(actor, seen, Origin::Read);
        let mut states = self.lock();
        let merged = match states.get(path) {
            Some(known) => state.merged(known),
            None => state,
        };
        states.insert(path.into(), Arc::new(merged));
    }

    /// Sets what a call of the agent made of the file.
    pub(super) async fn record_change(
        &self,
        actor: &Actor,
        path: &str,
        seen: Seen,
        origin: Origin,
    ) {
        actor
            .op(Resource::FileState(path.into()), OpKind::Write)
            .await;
        let state = state_of(actor, seen, origin);
        self.lock().insert(path.into(), Arc::new(state));
    }

    /// Takes the file as it is now for known, after a hook of call number `call`
    /// rewrote what the agent had just written (`formatter_hook_refreshes_state`).
    /// Does nothing for a file of which nothing is known. Says whether it had changed.
    pub async fn refresh(&self, actor: &Actor, path: &str, call: u32) -> Result<bool, FsError> {
        let Some(known) = self.get(actor, path).await else {
            return Ok(false);
        };
        let (content, meta): (Bytes, Meta) = actor.read_with_meta(path).await?;
        let hash = ContentHash::of(&content);
        if hash == known.hash && meta.mtime_ms == known.mtime_ms {
            return Ok(false);
        }
        let changed = hash != known.hash;
        let shown = if !changed {
            known.shown.clone()
        } else if known.is_full() {
            Ranges::whole(content.len())
        } else {
            moved(&known, &content)
        };
        let seen = Seen {
            call,
            meta_mtime_ms: meta.mtime_ms,
            content,
            hash,
            shown,
            view: None,
        };
        self.record_change(actor, path, seen, Origin::Hook).await;
        Ok(changed)
    }

    /// Every state by canonical path, for saving a run and for looking at it: nobody's operation.
    pub fn entries(&self) -> Vec<(Arc<str>, Arc<FileState>)> {
        self.lock()
            .iter()
            .map(|(path, state)| (path.clone(), state.clone()))
            .collect()
    }

    /// Puts these states in place of all: nobody's operation.
    pub fn set(&self, entries: impl IntoIterator<Item = (Arc<str>, Arc<FileState>)>) {
        let mut states = self.lock();
        states.clear();
        states.extend(entries);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<Arc<str>, Arc<FileState>>> {
        self.states.lock().unwrap_or_else(|e| e.into_inner())
    }
}

fn state_of(actor: &Actor, seen: Seen, origin: Origin) -> FileState {
    FileState {
        call: seen.call,
        read_ms: actor.now_ms(),
        mtime_ms: seen.meta_mtime_ms,
        content: seen.content,
        hash: seen.hash,
        shown: seen.shown,
        origin,
        views: seen.view.into_iter().collect(),
    }
}

/// Partial knowledge of `known` carried over to `content`, by the common beginning
/// and end of the two; what lies between is taken for seen.
fn moved(known: &FileState, content: &Bytes) -> Ranges {
    let (start, old_end, new_end) = super::changes::differing(&known.content, content);
    known.shown.after(&[Replaced {
        old: start..old_end,
        new_len: new_end - start,
    }])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(call: u32, content: &str, shown: std::ops::Range<usize>) -> FileState {
        let content: Bytes = content.as_bytes().into();
        let mut ranges = Ranges::default();
        ranges.add(shown);
        FileState {
            call,
            read_ms: u64::from(call),
            mtime_ms: 7,
            hash: ContentHash::of(&content),
            content,
            shown: ranges,
            origin: Origin::Read,
            views: BTreeSet::new(),
        }
    }

    #[test]
    fn reads_of_one_content_add_up_in_any_order() {
        let parts = [
            state(1, "abcdef", 0..2),
            state(2, "abcdef", 4..6),
            state(3, "abcdef", 2..4),
        ];
        let orders = [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ];
        for order in orders {
            let mut known = parts[order[0]].clone();
            for i in &order[1..] {
                known = parts[*i].clone().merged(&known);
            }
            assert!(known.is_full());
            assert_eq!((known.call, known.read_ms), (3, 3));
        }
    }

    #[test]
    fn of_two_contents_the_later_call_stays() {
        let (old, new) = (state(1, "old", 0..3), state(2, "new", 0..3));
        assert_eq!(old.clone().merged(&new), new);
        assert_eq!(new.clone().merged(&old), new);
    }

    #[test]
    fn a_byte_order_mark_need_not_be_shown() {
        let mut known = state(1, "\u{feff}ab", 3..5);
        assert!(known.is_full());
        known.shown = Ranges::whole(1);
        assert!(!known.is_full());
        assert!(state(1, "", 0..0).is_full());
    }
}
