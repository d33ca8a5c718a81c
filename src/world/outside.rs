//! Changes to the world by someone who is not the agent.

use super::user::names_call;
use super::{Actor, Bytes, Fs, FsError, World};
use crate::sim::{ActorId, OpKind, Resource};
use crate::words::Step;
use std::fmt;
use std::sync::{Mutex, MutexGuard};

/// One thing done to the world from outside. Paths are absolute and normal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Writes a file, making the folders above it.
    Write {
        path: String,
        bytes: Bytes,
    },
    /// Adds to the end of a file, or makes it.
    Append {
        path: String,
        bytes: Bytes,
    },
    /// Sets the mtime to now, content unchanged.
    Touch {
        path: String,
    },
    /// Removes a file, a symlink, or a folder with everything below it.
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
    /// Makes a folder and those above it.
    Mkdir {
        path: String,
    },
    /// Puts an empty folder where a file or symlink is, or nothing.
    ReplaceByFolder {
        path: String,
    },
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Write { path, bytes } => write!(f, "write {path} ({} bytes)", bytes.len()),
            Change::Append { path, bytes } => write!(f, "append {path} ({} bytes)", bytes.len()),
            Change::Touch { path } => write!(f, "touch {path}"),
            Change::Remove { path } => write!(f, "remove {path}"),
            Change::Rename { from, to } => write!(f, "rename {from} to {to}"),
            Change::Symlink { target, link } => write!(f, "symlink {link} to {target}"),
            Change::Chmod { path, mode } => write!(f, "chmod {path} to {mode:o}"),
            Change::Mkdir { path } => write!(f, "mkdir {path}"),
            Change::ReplaceByFolder { path } => write!(f, "replace {path} by a folder"),
        }
    }
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

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trigger::Before { call, step } => write!(f, "before {step} of {call}"),
            Trigger::After { call, step } => write!(f, "after {step} of {call}"),
            Trigger::AtMs(ms) => write!(f, "at {ms} ms"),
            Trigger::Anywhere => f.write_str("anywhere"),
        }
    }
}

/// An outside change and its moment: each of `changes` is one operation, in order.
/// `keep_mtime` puts back the mtime that a file had before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutsideChange {
    pub trigger: Trigger,
    pub changes: Vec<Change>,
    pub keep_mtime: bool,
}

impl OutsideChange {
    /// Whether a call's move calls for it. `before`: enters the step; else leaves it.
    fn is_due(&self, id: &str, number: u32, reached: Step, before: bool) -> bool {
        match &self.trigger {
            Trigger::Before { call, step } => {
                before && *step == reached && names_call(call, id, number)
            }
            Trigger::After { call, step } => {
                !before && *step == reached && names_call(call, id, number)
            }
            Trigger::AtMs(_) | Trigger::Anywhere => false,
        }
    }
}

/// The record of one change that was made or tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    pub at_ms: u64,
    /// [`ActorId::outside`] of the index in the scenario's list.
    pub actor: ActorId,
    /// What was done, in words.
    pub change: String,
    pub trigger: Trigger,
    /// Why it failed, if it did.
    pub failed: Option<FsError>,
}

/// The outside changes of a run: which are still to come, and the records of
/// those that no call waits for.
pub(super) struct Board {
    all: Vec<OutsideChange>,
    /// Whether any of them waits for what a call does.
    waits_for_calls: bool,
    state: Mutex<State>,
}

struct State {
    /// As long as the list of changes.
    progress: Vec<Progress>,
    records: Vec<Applied>,
}

/// How far one outside change is.
#[derive(Clone, Copy, Default)]
struct Progress {
    changes_done: usize,
    /// Somebody is making it.
    in_hand: bool,
}

impl Board {
    pub fn new(all: Vec<OutsideChange>) -> Board {
        let state = State {
            progress: vec![Progress::default(); all.len()],
            records: Vec::new(),
        };
        let waits = |change: &OutsideChange| {
            matches!(
                change.trigger,
                Trigger::Before { .. } | Trigger::After { .. }
            )
        };
        Board {
            waits_for_calls: all.iter().any(waits),
            all,
            state: Mutex::new(state),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Takes the change of `index` in hand, if it is not done and nobody has it.
    fn take(&self, index: usize) -> Option<InHand<'_>> {
        let change = self.all.get(index)?;
        let mut state = self.lock();
        let progress = state.progress.get_mut(index)?;
        if progress.in_hand || progress.changes_done == change.changes.len() {
            return None;
        }
        progress.in_hand = true;
        Some(InHand {
            board: self,
            index,
            change,
        })
    }
}

/// A change that somebody is making. Dropped half-way, what is not done stays to do.
struct InHand<'a> {
    board: &'a Board,
    index: usize,
    change: &'a OutsideChange,
}

impl Drop for InHand<'_> {
    fn drop(&mut self) {
        if let Some(progress) = self.board.lock().progress.get_mut(self.index) {
            progress.in_hand = false;
        }
    }
}

impl InHand<'_> {
    /// Makes the changes that are not done yet, each one granted operation.
    async fn apply(self, world: &World, mut record: impl FnMut(Applied)) {
        let id = ActorId::outside(u32::try_from(self.index).unwrap_or(u32::MAX));
        let actor = world.actor(id);
        let progress = self.board.lock().progress.get(self.index).copied();
        let begin = progress.unwrap_or_default().changes_done;
        for change in self.change.changes.iter().skip(begin) {
            let result = change.make(&actor, self.change.keep_mtime).await;
            if let Some(progress) = self.board.lock().progress.get_mut(self.index) {
                progress.changes_done += 1;
            }
            record(Applied {
                at_ms: actor.now_ms(),
                actor: id,
                change: change.to_string(),
                trigger: self.change.trigger.clone(),
                failed: result.err(),
            });
        }
    }
}

impl Change {
    /// The one operation that the change is.
    async fn make(&self, actor: &Actor, keep_mtime: bool) -> Result<(), FsError> {
        let (resource, kind) = self.touches();
        actor
            .touch(resource, kind, |fs, now_ms| {
                self.make_on(fs, now_ms, keep_mtime)
            })
            .await
    }

    fn touches(&self) -> (Resource, OpKind) {
        match self {
            Change::Write { path, .. }
            | Change::Append { path, .. }
            | Change::Touch { path }
            | Change::Chmod { path, .. } => (Resource::File(path.as_str().into()), OpKind::Write),
            Change::Remove { path } | Change::ReplaceByFolder { path } => {
                (Resource::Subtree(path.as_str().into()), OpKind::Remove)
            }
            Change::Rename { from, to } => (Actor::above_both(from, to), OpKind::Write),
            Change::Symlink { link: path, .. } | Change::Mkdir { path } => {
                (Actor::entry(path), OpKind::Create)
            }
        }
    }

    fn make_on(&self, fs: &dyn Fs, now_ms: i64, keep_mtime: bool) -> Result<(), FsError> {
        match self {
            Change::Write { path, bytes } => keeping(fs, path, keep_mtime, || {
                if let Some((dir, _)) = super::split(path) {
                    fs.mkdir(dir, true, now_ms)?;
                }
                fs.write(path, bytes, now_ms).map(drop)
            }),
            Change::Append { path, bytes } => keeping(fs, path, keep_mtime, || {
                fs.append(path, bytes, now_ms).map(drop)
            }),
            Change::Touch { path } => keeping(fs, path, keep_mtime, || fs.set_mtime(path, now_ms)),
            Change::Remove { path } => fs.remove(path, true),
            Change::Rename { from, to } => fs.rename(from, to),
            Change::Symlink { target, link } => fs.symlink(target, link, now_ms),
            Change::Chmod { path, mode } => fs.chmod(path, *mode),
            Change::Mkdir { path } => fs.mkdir(path, true, now_ms),
            Change::ReplaceByFolder { path } => {
                match fs.lstat(path) {
                    Ok(meta) if meta.kind != super::FileKind::Dir => fs.remove(path, false)?,
                    _ => {}
                }
                fs.mkdir(path, true, now_ms)
            }
        }
    }
}

/// Does `change` and then, if wanted, puts the mtime back that the file had before.
fn keeping(
    fs: &dyn Fs,
    path: &str,
    keep_mtime: bool,
    change: impl FnOnce() -> Result<(), FsError>,
) -> Result<(), FsError> {
    let before = if keep_mtime { fs.stat(path).ok() } else { None };
    change()?;
    match before {
        Some(meta) => fs.set_mtime(path, meta.mtime_ms),
        None => Ok(()),
    }
}

impl Actor {
    /// Lets every outside change happen that waits for call `id`, the `number`-th, to
    /// enter `step` (`before`) or to leave it, each as operations of its own actor.
    /// Gives their records in the order of the scenario's list.
    pub async fn reach(&self, id: &str, number: u32, step: Step, before: bool) -> Vec<Applied> {
        let board = &self.world().inner.outside;
        let mut records = Vec::new();
        for (index, change) in board.all.iter().enumerate() {
            if change.is_due(id, number, step, before)
                && let Some(taken) = board.take(index)
            {
                taken
                    .apply(self.world(), |record| records.push(record))
                    .await;
            }
        }
        records
    }
}

impl World {
    /// Whether any outside change waits for a call to enter or to leave a step.
    pub fn outside_waits_for_calls(&self) -> bool {
        self.inner.outside.waits_for_calls
    }

    /// Starts an actor for each outside change that has a time, or none. Must be
    /// called once, when the run begins.
    ///
    /// In a timed run, what gives waits until everything due at time 0 has happened:
    /// awaited before the agent does anything, it makes these changes come first, whatever
    /// the strategy. In an untimed run they may come at any point, and it waits for nothing.
    pub fn start_outside(&self) -> impl Future<Output = ()> + use<> {
        let mut first = Vec::new();
        for (index, change) in self.inner.outside.all.iter().enumerate() {
            let at_ms = match change.trigger {
                Trigger::AtMs(ms) => ms,
                Trigger::Anywhere => 0,
                Trigger::Before { .. } | Trigger::After { .. } => continue,
            };
            let id = ActorId::outside(u32::try_from(index).unwrap_or(u32::MAX));
            let world = self.clone();
            // What it does stands in the records.
            let joined = self.sim().spawn(id, async move {
                world.actor(id).sleep_ms(at_ms).await;
                let board = &world.inner.outside;
                if let Some(taken) = board.take(index) {
                    let note = |record| board.lock().records.push(record);
                    taken.apply(&world, note).await;
                }
            });
            if self.sim().timed() && at_ms == 0 {
                first.push(joined);
            }
        }
        async move {
            for joined in first {
                // One that was cancelled is told by `outside_left`.
                let _ = joined.await;
            }
        }
    }

    /// The records since the last call of this of the changes that
    /// [`World::start_outside`] started, in the order in which they happened.
    pub fn take_outside_records(&self) -> Vec<Applied> {
        std::mem::take(&mut self.inner.outside.lock().records)
    }

    /// The outside changes that never happened, or not all of them, in words.
    pub fn outside_left(&self) -> Vec<String> {
        let state = self.inner.outside.lock();
        let both = self.inner.outside.all.iter().zip(&state.progress);
        both.enumerate()
            .filter(|(_, (change, progress))| progress.changes_done < change.changes.len())
            .map(|(index, (change, progress))| {
                let left = change.changes.iter().skip(progress.changes_done);
                let left: Vec<String> = left.map(Change::to_string).collect();
                let id = ActorId::outside(u32::try_from(index).unwrap_or(u32::MAX));
                format!("{id}: {}, {}", change.trigger, left.join(", "))
            })
            .collect()
    }
}
