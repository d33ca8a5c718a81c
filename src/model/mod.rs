//! Whoever answers the agent's requests.

mod class;
pub mod hosted;
mod script;
mod scripted;
mod strict;

pub use class::{ERROR_PREFIX, class_of_result};
pub use script::{ExpectRequest, ExpectResult, Fault, ScriptedCall, Turn, When};
pub use scripted::{SCRIPTED_MODEL, Scripted};
pub use strict::Strict;

use crate::wire::{Message, Response, ToolDef};
use async_trait::async_trait;

/// What the model gets, and nothing else.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// From 1; the same when a request is sent again after a failure.
    pub turn: u32,
    pub tools: &'a [ToolDef],
    pub system: &'a str,
    pub messages: &'a [std::sync::Arc<Message>],
    /// How many of `messages` earlier requests already held.
    pub seen: usize,
    /// Of everything in the request, tools too.
    pub tokens_estimate: u64,
}

/// Why no response came.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// The API refused or failed; `retry_after_s` as the header said.
    #[error("HTTP {status} {kind}: {message}")]
    Api {
        status: u16,
        kind: String,
        message: String,
        retry_after_s: Option<u64>,
    },
    /// The stream ended before the message did, or an error event ended it.
    #[error("the stream was cut after {events} events")]
    Cut {
        /// Whole events that had arrived.
        events: usize,
        /// What they make up; without id and content if the message had not begun.
        partial: Box<Response>,
        /// The type of the error event, such as `overloaded_error`, if one came.
        error: Option<String>,
    },
    /// The answer is no message in any form.
    #[error("the answer was not understood: {0}")]
    Garbage(String),
    /// The script has no turn left, or the request is not what the turn demands.
    #[error("{0}")]
    Script(String),
}

/// A model. Deterministic: the same requests get the same responses.
#[async_trait]
pub trait Model: Send {
    async fn respond(&mut self, request: &Request<'_>) -> Result<Response, ModelError>;
}
