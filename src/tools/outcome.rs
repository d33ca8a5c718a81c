//! How a call ended, as a value: tool failures are not `Err`.

use crate::wire::Block;
use crate::words::{Class, Flag};
use serde_json::Value;

/// What goes into the `content` of a `tool_result`.
#[derive(Debug, Clone, PartialEq)]
pub enum ResultContent {
    Text(String),
    Blocks(Vec<Block>),
}

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub class: Class,
    /// Sorted, each at most once.
    pub flags: Vec<Flag>,
    pub content: ResultContent,
    /// The structured result that post-hooks and transcripts get, if the tool has one.
    pub data: Option<Value>,
}

impl Outcome {
    /// A success whose content is `text`.
    pub fn ok(text: impl Into<String>) -> Outcome {
        Outcome {
            class: Class::Ok,
            flags: Vec::new(),
            content: ResultContent::Text(text.into()),
            data: None,
        }
    }

    /// A failure of `class`; `text` is for the model and states what to do.
    pub fn error(class: Class, text: impl Into<String>) -> Outcome {
        Outcome {
            class,
            flags: Vec::new(),
            content: ResultContent::Text(text.into()),
            data: None,
        }
    }

    pub fn with_data(mut self, data: Value) -> Outcome {
        self.data = Some(data);
        self
    }

    pub fn with_flag(mut self, flag: Flag) -> Outcome {
        if let Err(at) = self.flags.binary_search(&flag) {
            self.flags.insert(at, flag);
        }
        self
    }

    pub fn is_error(&self) -> bool {
        self.class.is_error()
    }

    /// All text of the content, blocks that are not text left out.
    pub fn text(&self) -> String {
        match &self.content {
            ResultContent::Text(text) => text.clone(),
            ResultContent::Blocks(blocks) => blocks
                .iter()
                .filter_map(Block::as_text)
                .collect::<Vec<_>>()
                .join("\n"),
        }
    }
}
