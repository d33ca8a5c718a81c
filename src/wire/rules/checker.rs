//! The rules over a conversation, one message at a time.

use super::content::{self, Caches};
use super::{Findings, Head, Violation, say};
use crate::wire::block::Block;
use crate::wire::kind::BlockKind;
use crate::wire::message::{Message, Role};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Checks a conversation as it grows, without looking at a message twice.
///
/// [`push`](Checker::push) tells what is wrong for good, [`end`](Checker::end) what
/// would be wrong if a request ended here.
#[derive(Debug, Clone, Default)]
pub struct Checker {
    /// Messages taken.
    count: usize,
    turn: Turn,
    /// Ids of all calls so far.
    ids: BTreeSet<Arc<str>>,
    /// The calls of the last assistant turn.
    asked: Asked,
    /// The last message with calls.
    asked_at: usize,
    /// The current user turn holds something that is no result.
    other_content: bool,
    /// The vendor's calls so far, and those without a result yet with their paths.
    server_ids: BTreeSet<Arc<str>>,
    server_open: Vec<(Arc<str>, String)>,
    /// The last message, if it is an empty one of the assistant's.
    empty: Option<usize>,
    /// The last message, if it is of role `system`.
    system: Option<usize>,
    /// The last message is the assistant's and ends with a space.
    ends_with_space: bool,
    /// The last message is the assistant's and ends in a result of the vendor's.
    ends_in_server_result: bool,
    caches: Caches,
    /// Tools referred to, with the path of the first reference.
    references: BTreeMap<Arc<str>, String>,
}

/// Whose turn it is: messages of the same role that follow each other are one turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Turn {
    #[default]
    Nobody,
    User,
    Assistant,
}

/// The calls of one assistant turn, in their order, and which have a result.
///
/// Results mostly come in the order of the calls, so the next one is looked for first;
/// only if one comes elsewhere are all of them sorted.
#[derive(Debug, Clone, Default)]
struct Asked {
    calls: Vec<(Arc<str>, bool)>,
    /// The call after the one that was answered last.
    next: usize,
    /// The calls by id, once one was looked for.
    places: BTreeMap<Arc<str>, usize>,
}

/// What a result is to the calls of the turn before.
enum Answer {
    First,
    Again,
    Unasked,
}

impl Asked {
    /// Adds a call; `is_new` if its id is not that of an earlier one.
    fn add(&mut self, id: &Arc<str>, is_new: bool) {
        if is_new || self.calls.iter().all(|(asked, _)| asked != id) {
            self.calls.push((id.clone(), false));
        }
    }

    fn answer(&mut self, id: &Arc<str>) -> Answer {
        let Some(place) = self.place(id) else {
            return Answer::Unasked;
        };
        self.next = place + 1;
        match std::mem::replace(&mut self.calls[place].1, true) {
            false => Answer::First,
            true => Answer::Again,
        }
    }

    fn place(&mut self, id: &Arc<str>) -> Option<usize> {
        if self
            .calls
            .get(self.next)
            .is_some_and(|(next, _)| next == id)
        {
            return Some(self.next);
        }
        if self.places.len() < self.calls.len() {
            let places = self.calls.iter().enumerate();
            self.places = places.map(|(at, (id, _))| (id.clone(), at)).collect();
        }
        self.places.get(id).copied()
    }

    /// The ids of the calls without a result, sorted.
    fn unanswered(&self) -> BTreeSet<&str> {
        let open = self.calls.iter().filter(|(_, answered)| !answered);
        open.map(|(id, _)| &**id).collect()
    }
}

impl Checker {
    pub fn new() -> Checker {
        Checker::default()
    }

    /// How many messages it has taken.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Takes the next message; gives what it makes wrong, whatever may follow.
    pub fn push(&mut self, message: &Message) -> Vec<Violation> {
        let mut out = Findings::default();
        let n = self.count;
        if n == 0 && message.role != Role::User {
            say::first_is_user(&mut out, "messages.0");
        }
        content::check(n, message, &mut out);
        self.check_empty(n, message, &mut out);
        self.check_system(n, message.role, &mut out);
        match message.role {
            Role::Assistant => self.take_assistant(n, message, &mut out),
            Role::User => self.take_user(n, message, &mut out),
            Role::System => {}
        }
        self.take_caches_and_references(n, message);
        self.ends_with_space = message.role == Role::Assistant && content::ends_with_space(message);
        self.ends_in_server_result =
            message.role == Role::Assistant && message.content.last().is_some_and(is_server_result);
        self.count += 1;
        out.0
    }

    /// What is wrong with a request that has this conversation and `head`, beside
    /// what [`push`](Checker::push) told and [`Head::violations`] tells.
    pub fn end(&self, head: &Head) -> Vec<Violation> {
        let mut out = Findings::default();
        if self.count == 0 {
            say::first_is_user(&mut out, "messages");
        }
        self.say_unanswered(&mut out);
        if self.ends_with_space {
            say::trailing_space(&mut out, self.count.saturating_sub(1));
        }
        for (name, path) in &self.references {
            if !head.tools.contains(&**name) {
                say::unknown_reference(&mut out, path, name);
            }
        }
        say::breakpoints(&mut out, head.caches.count + self.caches.count);
        let misplaced = match &head.caches.misplaced {
            Some(path) => Some(path),
            None if head.caches.five_minutes => self.caches.first_hour.as_ref(),
            None => self.caches.misplaced.as_ref(),
        };
        if let Some(path) = misplaced {
            say::cache_order(&mut out, path);
        }
        out.0
    }

    fn check_empty(&mut self, n: usize, message: &Message, out: &mut Findings) {
        if let Some(before) = self.empty.take() {
            say::empty_content(out, before);
        }
        if content::is_empty(message) {
            if message.role == Role::Assistant {
                self.empty = Some(n);
            } else {
                say::empty_content(out, n);
            }
        }
    }

    fn check_system(&mut self, n: usize, role: Role, out: &mut Findings) {
        let before = self.system.take();
        if role == Role::System {
            let follows_user = self.turn == Turn::User || self.ends_in_server_result;
            if before.is_none() && n > 0 && !follows_user {
                say::system_place(out, n, say::SYSTEM_AFTER);
            }
            self.system = Some(n);
        } else if let Some(before) = before
            && role != Role::Assistant
        {
            say::system_place(out, before, say::SYSTEM_BEFORE);
        }
    }

    fn take_assistant(&mut self, n: usize, message: &Message, out: &mut Findings) {
        if self.turn != Turn::Assistant {
            self.turn = Turn::Assistant;
            self.say_unanswered(out);
            self.asked = Asked::default();
        }
        for (m, block) in message.content.iter().enumerate() {
            let path = || format!("messages.{n}.content.{m}");
            match block.kind() {
                BlockKind::ToolUse(call) => {
                    let is_new = self.ids.insert(call.id.clone());
                    if !is_new {
                        say::duplicate_id(out, &path(), &call.id);
                    }
                    self.asked.add(&call.id, is_new);
                    self.asked_at = n;
                }
                BlockKind::ServerToolUse(call) | BlockKind::McpToolUse(call) => {
                    self.server_ids.insert(call.id.clone());
                    self.server_open.push((call.id.clone(), path()));
                }
                kind => {
                    if let Some(id) = server_result_id(kind) {
                        if !self.server_ids.contains(id) {
                            say::orphan_server(out, &path(), id);
                        }
                        self.server_open.retain(|(open, _)| open != id);
                    }
                }
            }
        }
    }

    fn take_user(&mut self, n: usize, message: &Message, out: &mut Findings) {
        if self.turn != Turn::User {
            self.turn = Turn::User;
            self.other_content = false;
        }
        for (m, block) in message.content.iter().enumerate() {
            let Some(result) = block.as_tool_result() else {
                self.other_content = true;
                for (id, path) in self.server_open.drain(..) {
                    say::unresolved_server(out, &path, &id);
                }
                continue;
            };
            let id = &result.tool_use_id;
            let path = || format!("messages.{n}.content.{m}");
            match self.asked.answer(id) {
                Answer::First if self.other_content => say::results_first(out, &path(), id),
                Answer::First => {}
                Answer::Again => say::duplicate_result(out, &path(), id),
                Answer::Unasked => say::orphan(out, &path(), id),
            }
        }
    }

    /// Complains if a call of the last assistant turn has no result.
    fn say_unanswered(&self, out: &mut Findings) {
        let ids = self.asked.unanswered();
        if !ids.is_empty() {
            say::unanswered(out, self.asked_at, ids);
        }
    }

    fn take_caches_and_references(&mut self, n: usize, message: &Message) {
        content::each_block(n, message, &mut |block, path| {
            if let Some(ttl) = block.cache_control() {
                self.caches.add(ttl, path);
            }
            if let BlockKind::ToolReference { tool_name } = block.kind()
                && !self.references.contains_key(tool_name)
            {
                self.references.insert(tool_name.clone(), path());
            }
        });
    }
}

/// The id of the call that a result of the vendor's is for.
pub(super) fn server_result_id(kind: &BlockKind) -> Option<&Arc<str>> {
    match kind {
        BlockKind::ServerToolResult(result) => Some(&result.tool_use_id),
        BlockKind::McpToolResult { tool_use_id, .. } => Some(tool_use_id),
        _ => None,
    }
}

pub(super) fn is_server_result(block: &Block) -> bool {
    server_result_id(block.kind()).is_some()
}
