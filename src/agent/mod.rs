//! The loop: request, response, calls, results, request, until the model stops.
//!
//! The model gets the request and nothing else: a session can be dropped and taken up
//! again from its messages and its world, and the next request is the same.

mod conversation;
mod hosted;
mod prefix;
mod retry;
mod session;
mod turn;

pub use conversation::Conversation;
pub use turn::{Agent, AgentOptions, Ended};
