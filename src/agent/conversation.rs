//! The only memory there is: what every request holds.

use crate::wire::{Message, estimate_message_tokens, rules};
use std::sync::Arc;

/// The messages of a session, append-only, checked as they are added.
///
/// Nothing here goes over old messages again: a turn costs what it adds.
#[derive(Debug, Default)]
pub struct Conversation {
    messages: Vec<Arc<Message>>,
    checker: rules::Checker,
    /// Estimated tokens of all messages.
    tokens: u64,
    /// How many messages a request has carried.
    sent: usize,
    /// After each message, what tells all messages so far from others.
    digests: Vec<blake3::Hash>,
}

impl Conversation {
    /// Takes up a session from its messages.
    pub fn resume(messages: Vec<Arc<Message>>) -> (Conversation, Vec<rules::Violation>) {
        let mut conversation = Conversation::default();
        let mut violations = Vec::new();
        for message in messages {
            violations.extend(conversation.push(message));
        }
        conversation.sent = conversation.messages.len();
        (conversation, violations)
    }

    /// Adds a message; gives what the API would refuse about it.
    pub fn push(&mut self, message: Arc<Message>) -> Vec<rules::Violation> {
        let violations = self.checker.push(&message);
        self.tokens += estimate_message_tokens(&message);
        self.digests.push(digest(self.digests.last(), &message));
        self.messages.push(message);
        violations
    }

    /// What tells the first `count` messages from others; `None` if there are fewer.
    pub fn digest_at(&self, count: usize) -> Option<blake3::Hash> {
        match count.checked_sub(1) {
            None => Some(blake3::hash(&[])),
            Some(at) => self.digests.get(at).copied(),
        }
    }

    /// Whether every message still is what it was when it was added. Goes over them all.
    pub fn is_as_it_was(&self) -> bool {
        let mut last = None;
        self.messages
            .iter()
            .zip(&self.digests)
            .all(|(message, was)| {
                let now = digest(last, message);
                last = Some(was);
                now == *was
            })
    }

    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// Estimated tokens of all messages.
    pub fn tokens_estimate(&self) -> u64 {
        self.tokens
    }

    /// How many messages an earlier request carried.
    pub fn sent(&self) -> usize {
        self.sent
    }

    /// Says that a request has carried everything.
    pub fn mark_sent(&mut self) {
        self.sent = self.messages.len();
    }
}

/// Of a message's bytes and of everything before it.
fn digest(before: Option<&blake3::Hash>, message: &Message) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    if let Some(before) = before {
        hasher.update(before.as_bytes());
    }
    // What cannot be written cannot be sent either; a message always can. In one piece:
    // that is faster than to hash the tokens of its JSON one by one.
    hasher.update(&serde_json::to_vec(message).unwrap_or_default());
    hasher.finalize()
}
