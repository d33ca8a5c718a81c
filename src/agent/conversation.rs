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
        self.messages.push(message);
        violations
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
