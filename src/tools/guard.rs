//! Keeps the agent from changing what it has not seen: a file must have been read, and
//! must not have changed since, before Edit or Write touch it (`semantics.md §3.3, §3.4`).
//!
//! The same checks run in the step validate and again in the step execute, where they
//! end in one compare-and-write operation of the world.

use super::changes::{describe, describe_times};
use super::file_state::{FileState, Origin, Seen};
use super::ranges::Ranges;
use super::target::{Loaded, Target, load, refused};
use super::{Refusal, ToolCx};
use crate::profile::{PartialReadCounts, Profile, StaleBy, Unmet};
use crate::words::Class;
use crate::world::{Bytes, ContentHash, FsErrorKind, Meta, ReplaceError};
use std::sync::Arc;

/// What is about to be done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Edit,
    Write,
}

/// When the checks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Validate,
    Execute,
}

/// What is known of an existing file, or why that is not enough. Looks at the cache only.
pub(super) async fn known(
    cx: &ToolCx,
    target: &Target,
    purpose: Purpose,
    stage: Stage,
) -> Result<Option<Arc<FileState>>, Refusal> {
    let profile = &cx.env.profile;
    let (unread, verb) = match purpose {
        Purpose::Edit => (profile.unread_edit, "edit"),
        Purpose::Write => (profile.unread_write, "overwrite"),
    };
    let path = &target.path;
    let Some(state) = cx.env.files.get(&cx.world, &target.canonical).await else {
        return match (unread, purpose, stage) {
            (Unmet::Apply, ..) => Ok(None),
            // When the call was checked there was no such file.
            (Unmet::Refuse, Purpose::Write, Stage::Execute) => Err(appeared(path)),
            (Unmet::Refuse, ..) => Err(Refusal::new(
                Class::NotRead,
                format!("{path} exists and you have not read it. Read it first, then {verb} it."),
            )),
        };
    };
    let counts = match (profile.partial_read_counts, purpose) {
        (PartialReadCounts::Both, _) | (PartialReadCounts::EditsInRange, Purpose::Edit) => true,
        (PartialReadCounts::EditsInRange | PartialReadCounts::Nothing, _) => false,
    };
    if counts || state.is_full() {
        return Ok(Some(state));
    }
    Err(Refusal::new(
        Class::NotRead,
        format!(
            "you have read only a part of {path} (partial). Read all of it, then {verb} it{}.",
            match purpose {
                Purpose::Write => ", or change the part you know with Edit",
                Purpose::Edit => "",
            }
        ),
    ))
}

/// How the file differs from what is known, if the profile calls that stale.
pub(super) fn changed_since(
    profile: &Profile,
    state: &FileState,
    loaded: &Loaded,
    hash: ContentHash,
) -> Option<String> {
    let newer = loaded.meta.mtime_ms > state.mtime_ms;
    let same = hash == state.hash;
    let stale = match profile.stale_by {
        StaleBy::Content => !same,
        StaleBy::Mtime => newer,
        // A partial Read has nothing to compare the whole with (`observed.md §4.3`).
        StaleBy::MtimeThenContent => newer && !(same && state.is_full()),
    };
    stale.then(|| {
        if same {
            describe_times(state.mtime_ms, &loaded.meta)
        } else {
            describe(&state.content, &loaded.content)
        }
    })
}

/// The refusal of a change to a file that is not as it was last seen.
pub(super) fn stale(path: &str, how: &str) -> Refusal {
    Refusal::new(
        Class::Stale,
        format!(
            "{path} has changed since you last saw it: {how}. Read it again, then decide what to change."
        ),
    )
}

fn appeared(path: &str) -> Refusal {
    Refusal::new(
        Class::Stale,
        format!(
            "{path} has come into being since this call was checked. Read it, then decide what to write."
        ),
    )
}

/// Puts `content` in the place of what was loaded, and only of that.
pub(super) async fn replace(
    cx: &ToolCx,
    target: &Target,
    loaded: &Loaded,
    hash: ContentHash,
    content: &[u8],
) -> Result<Meta, Refusal> {
    let path = &target.canonical;
    let written = if cx.env.profile.recheck_before_write {
        match cx.world.replace_if(path, hash, content).await {
            Err(ReplaceError::Changed(now)) => {
                return Err(stale(&target.path, &describe(&loaded.content, &now)));
            }
            Err(ReplaceError::Fs(e)) if e.kind == FsErrorKind::TooLarge => {
                return replace_large(cx, target, loaded, hash, content).await;
            }
            Err(ReplaceError::Fs(e)) => Err(e),
            Ok(meta) => Ok(meta),
        }
    } else {
        cx.world.write(path, content).await
    };
    let meta = written.map_err(|e| refused(&target.path, &e))?;
    whole(target, content, meta)
}

/// Replaces a file that is too large to be compared and written in one operation:
/// compares it once more and then writes, so that a change in between is lost.
async fn replace_large(
    cx: &ToolCx,
    target: &Target,
    loaded: &Loaded,
    hash: ContentHash,
    content: &[u8],
) -> Result<Meta, Refusal> {
    let now = load(cx, target)
        .await
        .map_err(|e| refused(&target.path, &e))?;
    if ContentHash::of(&now.content) != hash {
        return Err(stale(
            &target.path,
            &describe(&loaded.content, &now.content),
        ));
    }
    let meta = cx
        .world
        .write(&target.canonical, content)
        .await
        .map_err(|e| refused(&target.path, &e))?;
    whole(target, content, meta)
}

/// Makes a file that did not exist when it was looked for.
pub(super) async fn create(cx: &ToolCx, target: &Target, content: &[u8]) -> Result<Meta, Refusal> {
    let path = &target.canonical;
    let made = if cx.env.profile.recheck_before_write {
        cx.world.create_new(path, content).await
    } else {
        cx.world.write_with_parents(path, content).await
    };
    let meta = made.map_err(|e| match e.kind {
        FsErrorKind::Exists => appeared(&target.path),
        _ => refused(&target.path, &e),
    })?;
    whole(target, content, meta)
}

/// Success means that the bytes are there.
fn whole(target: &Target, content: &[u8], meta: Meta) -> Result<Meta, Refusal> {
    if meta.size == content.len() as u64 {
        return Ok(meta);
    }
    Err(Refusal::new(
        Class::ToolError,
        format!(
            "{} was written, but it holds {} bytes in place of {}. Read it to see what became of it.",
            target.path,
            meta.size,
            content.len()
        ),
    ))
}

/// Remembers what a call made of a file.
pub(super) async fn remember(
    cx: &ToolCx,
    target: &Target,
    content: Bytes,
    meta: &Meta,
    shown: Ranges,
    origin: Origin,
) {
    let seen = Seen {
        call: cx.call.number,
        meta_mtime_ms: meta.mtime_ms,
        hash: ContentHash::of(&content),
        content,
        shown,
        view: None,
    };
    cx.env
        .files
        .record_change(&cx.world, &target.canonical, seen, origin)
        .await;
}
