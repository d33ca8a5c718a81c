//! The person at the keyboard, as the scenario scripts them.

use super::{Actor, Answer, Answers, Pattern};
use crate::sim::{OpKind, Resource};
use serde_json::Value;

/// What the user is asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Question {
    /// The tool's name.
    pub tool: String,
    /// The call's `tool_use` id and its number.
    pub call: String,
    pub number: u32,
    /// What the call is about: a path, a command, a URL.
    pub subject: String,
    /// The question as the user would read it.
    pub text: String,
}

/// An answer that the scripted user gives. What is `None` matches every question.
#[derive(Debug, Clone, PartialEq)]
pub struct UserAnswer {
    /// Over the tool's name.
    pub tool: Option<Pattern>,
    /// The call's id, or its number as text.
    pub call: Option<String>,
    /// Over the subject or over the text of the question.
    pub input: Option<Pattern>,
    pub reply: UserReply,
    /// Virtual milliseconds from the question to the reply.
    pub think_ms: u64,
}

/// What the user says to a question.
#[derive(Debug, Clone, PartialEq)]
pub enum UserReply {
    Allow {
        /// Also for what is alike, until the session ends.
        always: bool,
        /// The input to run instead.
        updated_input: Option<Value>,
        /// What changes for the decisions to come, as `updatedPermissions` writes it.
        updated_permissions: Vec<Value>,
    },
    Deny {
        comment: Option<String>,
    },
}

impl UserAnswer {
    /// Whether the entry says what it answers.
    pub fn has_matcher(&self) -> bool {
        self.tool.is_some() || self.call.is_some() || self.input.is_some()
    }

    fn answers(&self, question: &Question) -> bool {
        let tool = self.tool.as_ref();
        let call = self.call.as_ref();
        let input = self.input.as_ref();
        tool.is_none_or(|tool| tool.matches(&question.tool))
            && call.is_none_or(|call| names_call(call, &question.call, question.number))
            && input.is_none_or(|input| {
                input.matches(&question.subject) || input.matches(&question.text)
            })
    }
}

/// Whether `name`, an id or a number as text, is that of a call.
pub(super) fn names_call(name: &str, id: &str, number: u32) -> bool {
    name == id || name.parse() == Ok(number)
}

/// The scripted user. The default one never answers.
#[derive(Debug, Default)]
pub struct User {
    answers: Answers<UserAnswer>,
}

impl User {
    pub fn new(answers: Vec<Answer<UserAnswer>>) -> User {
        User {
            answers: Answers::new(answers),
        }
    }

    /// Asks in the name of `actor`: one operation on the user, then the time the
    /// user takes to think. `None` if the script has no answer to this question,
    /// as when nobody sits there.
    pub async fn ask(&self, actor: &Actor, question: &Question) -> Option<UserReply> {
        actor.op(Resource::User, OpKind::Ask).await;
        let answer = self.answers.take(|answer| answer.answers(question))?;
        actor.sleep_ms(answer.think_ms).await;
        Some(answer.reply)
    }

    /// The labels of the answers that were never given and are not optional.
    pub fn left(&self) -> Vec<String> {
        self.answers.left()
    }
}
