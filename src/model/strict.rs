//! A model behind the rules of the API: what the real one refuses, it refuses.

use super::{Model, ModelError, Request};
use crate::wire::rules::{Checker, Head, Violation};
use crate::wire::{Block, BlockKind, Content, ErrorKind, Message, Response, Role, ToolDef};
use async_trait::async_trait;
use std::sync::Arc;

/// Refuses, with status 400, every request that breaks a rule of [`crate::wire::rules`];
/// gives the others to the model behind it.
///
/// Messages that an earlier request held are not checked again, as long as the last
/// of them stands where it stood.
pub struct Strict<M> {
    inner: M,
    checker: Checker,
    /// The last message that the checker took.
    last: Option<Arc<Message>>,
    /// What the checker found; it stays wrong for the rest of the conversation.
    found: Vec<Violation>,
    head: Head,
    tools: Vec<ToolDef>,
    system: String,
    /// The thinking of the last answer, which must come back as it was; `None` if
    /// there was no answer, or the conversation was replaced since.
    thinking: Option<Vec<Block>>,
}

impl<M: Model> Strict<M> {
    pub fn new(inner: M) -> Strict<M> {
        Strict {
            inner,
            checker: Checker::new(),
            last: None,
            found: Vec::new(),
            head: Head::default(),
            tools: Vec::new(),
            system: String::new(),
            thinking: None,
        }
    }

    /// The model behind it.
    pub fn inner(&self) -> &M {
        &self.inner
    }

    pub fn into_inner(self) -> M {
        self.inner
    }

    /// What the API would say against the request, if anything.
    fn refusal(&mut self, request: &Request<'_>) -> Option<String> {
        self.check_head(request);
        let new = self.new_messages(request);
        let mut words = Vec::new();
        // Only the newest answer has to have its thinking.
        let answer = new.iter().rfind(|message| message.role == Role::Assistant);
        if let (Some(answer), Some(given)) = (answer, &self.thinking)
            && !given.iter().eq(thinking(&answer.content))
        {
            words.push(format!(
                "messages: the thinking of the last `{}` message is not what was answered",
                Role::Assistant.as_str()
            ));
        }
        for message in new {
            self.found.extend(self.checker.push(message));
        }
        if let Some(last) = request.messages.last() {
            self.last = Some(last.clone());
        }
        let now = self.checker.end(&self.head);
        let all = self.head.violations().iter().chain(&self.found).chain(&now);
        words.extend(all.map(Violation::to_string));
        (!words.is_empty()).then(|| words.join("; "))
    }

    fn check_head(&mut self, request: &Request<'_>) {
        if self.tools != request.tools || self.system != request.system {
            self.tools = request.tools.to_vec();
            self.system = request.system.to_owned();
            let system = match request.system {
                "" => Content::default(),
                text => Content::from(text),
            };
            self.head = Head::new(&self.tools, &system, None);
        }
    }

    /// The messages that are to be checked: those that no request held before, or all
    /// of them, if earlier ones were replaced.
    fn new_messages<'a>(&mut self, request: &Request<'a>) -> &'a [Arc<Message>] {
        let taken = self.checker.count();
        let is_grown = match (taken.checked_sub(1), &self.last) {
            (None, _) => true,
            (Some(at), Some(last)) => request
                .messages
                .get(at)
                .is_some_and(|message| Arc::ptr_eq(message, last) || message == last),
            (Some(_), None) => false,
        };
        if is_grown {
            return request.messages.get(taken..).unwrap_or_default();
        }
        self.checker = Checker::new();
        self.found.clear();
        self.thinking = None;
        request.messages
    }
}

fn thinking(blocks: &[Block]) -> impl Iterator<Item = &Block> {
    blocks.iter().filter(|block| {
        matches!(
            block.kind(),
            BlockKind::Thinking { .. } | BlockKind::RedactedThinking
        )
    })
}

#[async_trait]
impl<M: Model> Model for Strict<M> {
    async fn respond(&mut self, request: &Request<'_>) -> Result<Response, ModelError> {
        if let Some(message) = self.refusal(request) {
            let kind = ErrorKind::InvalidRequest;
            return Err(ModelError::Api {
                status: kind.status(),
                kind: kind.as_str().to_owned(),
                message,
                retry_after_s: None,
            });
        }
        let response = self.inner.respond(request).await?;
        self.thinking = Some(thinking(&response.content).cloned().collect());
        Ok(response)
    }
}
