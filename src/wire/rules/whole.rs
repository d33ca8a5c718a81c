//! The rules over a whole request, at once.
//!
//! Written the other way round than the incremental check (by looking up instead
//! of remembering), so that each can tell on the other.

use super::checker::{is_server_result, server_result_id};
use super::content::{self, Caches};
use super::{Findings, Head, Violation, say};
use crate::wire::block::Block;
use crate::wire::kind::BlockKind;
use crate::wire::message::{Message, Role};
use crate::wire::request::RequestBody;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Everything for which the API would reject the request, sorted by path.
pub fn check_all(body: &RequestBody) -> Vec<Violation> {
    let head = Head::new(&body.tools, &body.system, body.cache_control.as_deref());
    let mut out = Findings(head.violations().to_vec());
    let messages = &body.messages;
    for (n, message) in messages.iter().enumerate() {
        content::check(n, message, &mut out);
    }
    check_shape(messages, &mut out);
    check_system(messages, &mut out);
    check_pairs(&turns(messages), &mut out);
    check_ids(messages, &mut out);
    check_server(messages, &mut out);
    check_caches(&head, messages, &mut out);
    check_references(&head, messages, &mut out);
    out.0.sort();
    out.0
}

fn check_shape(messages: &[Arc<Message>], out: &mut Findings) {
    let Some((last, _)) = messages.split_last() else {
        say::first_is_user(out, "messages");
        return;
    };
    if messages[0].role != Role::User {
        say::first_is_user(out, "messages.0");
    }
    let last_n = messages.len() - 1;
    for (n, message) in messages.iter().enumerate() {
        let may_be_empty = n == last_n && message.role == Role::Assistant;
        if content::is_empty(message) && !may_be_empty {
            say::empty_content(out, n);
        }
    }
    if last.role == Role::Assistant && content::ends_with_space(last) {
        say::trailing_space(out, last_n);
    }
}

fn check_system(messages: &[Arc<Message>], out: &mut Findings) {
    let is_system = |n: usize| messages.get(n).map(|message| message.role == Role::System);
    for n in 0..messages.len() {
        if is_system(n) != Some(true) {
            continue;
        }
        let is_first_of_run = n > 0 && is_system(n - 1) == Some(false);
        if is_first_of_run {
            let before = &messages[n - 1];
            let ends_in_result = before.content.last().is_some_and(is_server_result);
            if before.role == Role::Assistant && !ends_in_result {
                say::system_place(out, n, say::SYSTEM_AFTER);
            }
        }
        if let Some(after) = messages.get(n + 1)
            && after.role == Role::User
        {
            say::system_place(out, n, say::SYSTEM_BEFORE);
        }
    }
}

/// Messages of one role that follow each other, system messages left out.
struct Turn<'a> {
    role: Role,
    messages: Vec<(usize, &'a Message)>,
}

fn turns(messages: &[Arc<Message>]) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for (n, message) in messages.iter().enumerate() {
        match turns.last_mut() {
            _ if message.role == Role::System => {}
            Some(turn) if turn.role == message.role => turn.messages.push((n, message)),
            _ => turns.push(Turn {
                role: message.role,
                messages: vec![(n, message)],
            }),
        }
    }
    turns
}

impl Turn<'_> {
    fn blocks(&self) -> impl Iterator<Item = (usize, usize, &Block)> {
        self.messages.iter().flat_map(|&(n, message)| {
            let blocks = message.content.iter().enumerate();
            blocks.map(move |(m, block)| (n, m, block))
        })
    }

    /// Ids of its calls, with the message of each.
    fn calls(&self) -> Vec<(usize, &Arc<str>)> {
        self.blocks()
            .filter_map(|(n, _, block)| block.as_tool_use().map(|call| (n, &call.id)))
            .collect()
    }
}

fn check_pairs(turns: &[Turn<'_>], out: &mut Findings) {
    for (t, turn) in turns.iter().enumerate() {
        let before = t.checked_sub(1).and_then(|before| turns.get(before));
        if turn.role == Role::User {
            let asked = sorted(
                before
                    .map(Turn::calls)
                    .into_iter()
                    .flatten()
                    .map(|(_, id)| &**id),
            );
            check_results(turn, &asked, out);
        } else {
            let answers = turns
                .get(t + 1)
                .into_iter()
                .flat_map(Turn::blocks)
                .filter_map(|(_, _, block)| block.as_tool_result())
                .map(|result| &*result.tool_use_id);
            let answers = sorted(answers);
            let calls = turn.calls();
            let missing: BTreeSet<&str> = calls
                .iter()
                .map(|(_, id)| &***id)
                .filter(|id| answers.binary_search(id).is_err())
                .collect();
            if let Some((n, _)) = calls.last()
                && !missing.is_empty()
            {
                say::unanswered(out, *n, missing);
            }
        }
    }
}

/// Ids for looking up: they mostly come in their order, and then sorting costs nothing.
fn sorted<'a>(ids: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut ids: Vec<&str> = ids.collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

fn check_results(turn: &Turn<'_>, asked: &[&str], out: &mut Findings) {
    let mut answered = vec![false; asked.len()];
    let mut leading = true;
    for (n, m, block) in turn.blocks() {
        let path = || format!("messages.{n}.content.{m}");
        let Some(id) = block.as_tool_result().map(|result| &*result.tool_use_id) else {
            leading = false;
            continue;
        };
        match asked.binary_search(&id) {
            Err(_) => say::orphan(out, &path(), id),
            Ok(at) if answered[at] => say::duplicate_result(out, &path(), id),
            Ok(at) => {
                answered[at] = true;
                if !leading {
                    say::results_first(out, &path(), id);
                }
            }
        }
    }
}

fn check_ids(messages: &[Arc<Message>], out: &mut Findings) {
    let mut places: Vec<(&str, usize, usize)> = Vec::new();
    for (n, message) in messages.iter().enumerate() {
        if message.role != Role::Assistant {
            continue;
        }
        for (m, block) in message.content.iter().enumerate() {
            if let Some(call) = block.as_tool_use() {
                places.push((&call.id, n, m));
            }
        }
    }
    places.sort_unstable();
    for two in places.windows(2) {
        let ((before, ..), (id, n, m)) = (two[0], two[1]);
        if before == id {
            say::duplicate_id(out, &format!("messages.{n}.content.{m}"), id);
        }
    }
}

fn check_server(messages: &[Arc<Message>], out: &mut Findings) {
    let mut calls: Vec<((usize, usize), &str)> = Vec::new();
    let mut results: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
    // Where the user says something that is no result, in order.
    let mut spoken: Vec<(usize, usize)> = Vec::new();
    for (n, message) in messages.iter().enumerate() {
        for (m, block) in message.content.iter().enumerate() {
            match (message.role, block.kind()) {
                (Role::Assistant, BlockKind::ServerToolUse(call) | BlockKind::McpToolUse(call)) => {
                    calls.push(((n, m), &call.id))
                }
                (Role::Assistant, kind) => {
                    if let Some(id) = server_result_id(kind) {
                        results.entry(id).or_default().push((n, m));
                    }
                }
                (Role::User, BlockKind::ToolResult(_)) | (Role::System, _) => {}
                (Role::User, _) => spoken.push((n, m)),
            }
        }
    }
    let mut first_call: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for &(place, id) in &calls {
        first_call.entry(id).or_insert(place);
        let until = spoken.get(spoken.partition_point(|spoken| *spoken < place));
        let resolved = results.get(id).is_some_and(|results| {
            let after = results.get(results.partition_point(|result| *result < place));
            after.is_some_and(|after| until.is_none_or(|until| after < until))
        });
        if until.is_some() && !resolved {
            let (n, m) = place;
            say::unresolved_server(out, &format!("messages.{n}.content.{m}"), id);
        }
    }
    for (id, places) in results {
        for place in places {
            if first_call.get(id).is_none_or(|call| *call > place) {
                let (n, m) = place;
                say::orphan_server(out, &format!("messages.{n}.content.{m}"), id);
            }
        }
    }
}

fn check_caches(head: &Head, messages: &[Arc<Message>], out: &mut Findings) {
    let mut caches: Caches = head.caches.clone();
    for (n, message) in messages.iter().enumerate() {
        content::each_block(n, message, &mut |block, path| {
            if let Some(ttl) = block.cache_control() {
                caches.add(ttl, path);
            }
        });
    }
    say::breakpoints(out, caches.count);
    if let Some(path) = &caches.misplaced {
        say::cache_order(out, path);
    }
}

fn check_references(head: &Head, messages: &[Arc<Message>], out: &mut Findings) {
    let mut told = BTreeSet::new();
    for (n, message) in messages.iter().enumerate() {
        content::each_block(n, message, &mut |block, path| {
            if let BlockKind::ToolReference { tool_name } = block.kind()
                && !head.tools.contains(&**tool_name)
                && told.insert(tool_name)
            {
                say::unknown_reference(out, &path(), tool_name);
            }
        });
    }
}
