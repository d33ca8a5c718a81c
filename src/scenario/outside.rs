//! What happens from outside: changes to the world, and the user's interrupt.

use super::complaint::{Complaint, Place};
use super::fields::{Fields, MAX_INT, Placed, Reader};
use super::file_spec::{read_mode, read_paths, read_written};
use super::keys;
use super::node::Node;
use super::script::read_moment;
use crate::words::Step;
use crate::world::{Change, OutsideChange, Trigger};

/// An outside change as the scenario tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutsideSpec {
    pub change: OutsideChange,
    pub at: Place,
}

/// When the user interrupts: just after a call leaves a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterruptSpec {
    /// The call's id or number.
    pub call: Placed<String>,
    pub step: Step,
}

pub(super) fn read_outside(r: &mut Reader, node: &Node, cwd: &str) -> Option<OutsideSpec> {
    let mut f = r.fields(node, &keys::OUTSIDE)?;
    f.only_one(r, &["before", "after", "at_ms", "anywhere"], true);
    let mut trigger = read_trigger(r, &mut f);
    if let Some(node) = f.get("anywhere") {
        match r.bool(node) {
            Some(true) => trigger = trigger.or(Some(Trigger::Anywhere)),
            Some(false) => r.complain(Complaint::error(
                &node.at,
                "anywhere: false",
                "anywhere: true, or another moment",
            )),
            None => {}
        }
    }
    let mut changes = Vec::new();
    for path in read_paths(r, f.get("mkdir"), cwd) {
        changes.push(Change::Mkdir { path });
    }
    for (path, content) in read_written(r, f.get("write"), Some(cwd)) {
        let bytes = content.bytes();
        changes.push(Change::Write { path, bytes });
    }
    for (path, content) in read_written(r, f.get("append"), Some(cwd)) {
        let bytes = content.bytes();
        changes.push(Change::Append { path, bytes });
    }
    for path in read_paths(r, f.get("touch"), cwd) {
        changes.push(Change::Touch { path });
    }
    for path in read_paths(r, f.get("replace_by_folder"), cwd) {
        changes.push(Change::ReplaceByFolder { path });
    }
    for path in read_paths(r, f.get("remove"), cwd) {
        changes.push(Change::Remove { path });
    }
    for (from, to) in read_pairs(r, f.get("rename"), cwd) {
        let to = crate::world::normalize(cwd, &to);
        changes.push(Change::Rename { from, to });
    }
    for (link, target) in read_pairs(r, f.get("symlink"), cwd) {
        changes.push(Change::Symlink { target, link });
    }
    if let Some(node) = f.get("chmod") {
        for entry in r.map(node, "paths and permission bits").unwrap_or_default() {
            if let Some(mode) = read_mode(r, &entry.value) {
                let path = crate::world::normalize(cwd, &entry.key);
                changes.push(Change::Chmod { path, mode });
            }
        }
    }
    let keep_mtime = f.bool(r, "keep_mtime").unwrap_or(false);
    const CHANGES: [&str; 9] = [
        "write",
        "append",
        "touch",
        "remove",
        "rename",
        "symlink",
        "chmod",
        "mkdir",
        "replace_by_folder",
    ];
    if CHANGES.iter().all(|name| f.get(name).is_none()) {
        r.complain(Complaint::error(
            &f.at,
            "an outside change that changes nothing",
            super::fields::one_of(&CHANGES),
        ));
    }
    f.done();
    Some(OutsideSpec {
        change: OutsideChange {
            trigger: trigger?,
            changes,
            keep_mtime,
        },
        at: node.at.clone(),
    })
}

pub(super) fn read_interrupt(r: &mut Reader, node: &Node) -> Option<InterruptSpec> {
    let mut f = r.fields(node, &keys::INTERRUPT)?;
    let after = f.get("after").and_then(|n| read_moment(r, n));
    f.done();
    let (call, step) = after?;
    Some(InterruptSpec { call, step })
}

/// `before`, `after` or `at_ms`.
fn read_trigger(r: &mut Reader, f: &mut Fields<'_>) -> Option<Trigger> {
    let before = f.get("before").and_then(|n| read_moment(r, n));
    let after = f.get("after").and_then(|n| read_moment(r, n));
    let at_ms = f.get("at_ms").and_then(|n| r.int(n, 0, MAX_INT));
    let call = |key: Placed<String>| key.value;
    match (before, after) {
        (Some((key, step)), _) => Some(Trigger::Before {
            call: call(key),
            step,
        }),
        (None, Some((key, step))) => Some(Trigger::After {
            call: call(key),
            step,
        }),
        (None, None) => at_ms.map(Trigger::AtMs),
    }
}

/// Paths from `cwd` and texts, in the order of the file.
fn read_pairs(r: &mut Reader, node: Option<&Node>, cwd: &str) -> Vec<(String, String)> {
    let Some(node) = node else {
        return Vec::new();
    };
    let entries = r.map(node, "paths and paths").unwrap_or_default();
    entries
        .iter()
        .filter_map(|e| {
            let value = r.text_as(&e.value, "a path")?;
            Some((crate::world::normalize(cwd, &e.key), value))
        })
        .collect()
}
