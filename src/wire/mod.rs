//! The Messages API as plain data (`protocol.md §2–§6`).
//!
//! Fields, block types and events that are not known are kept, and content that
//! only passes through keeps its bytes.

pub mod block;
pub mod error;
pub mod fold;
pub mod kind;
pub mod message;
pub mod raw;
pub mod request;
pub mod response;
pub mod rules;
pub mod sse;
pub mod stream;
pub mod tool;
pub mod usage;

pub use block::Block;
pub use error::{ApiError, ErrorKind};
pub use fold::{Fold, Folded, fold, fold_all, unfold};
pub use kind::{BlockKind, ServerToolResult, ToolResult, ToolUse, Ttl};
pub use message::{Content, Message, Role};
pub use raw::Fields;
pub use request::RequestBody;
pub use response::{Response, StopReason};
pub use stream::{Delta, Event, EventKind};
pub use tool::ToolDef;
pub use usage::{
    Usage, count_bytes, estimate_message_tokens, estimate_tokens, estimate_tool_tokens,
    estimate_tools_tokens,
};
