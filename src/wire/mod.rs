//! Skeleton of the Messages API as data.
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    User,
    Assistant,
    System,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Message {
    pub role: Role,
    pub content: Vec<Block>,
}

/// A content block: what it says, and its bytes where it only passes through.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Block {
    raw: Arc<RawValue>,
}

impl PartialEq for Block {
    fn eq(&self, other: &Block) -> bool {
        self.raw.get() == other.raw.get()
    }
}
impl Block {
    pub fn as_text(&self) -> Option<&str> {
        None
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    pub id: String,
    pub content: Vec<Block>,
    pub usage: Usage,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToolDef {
    pub name: String,
    pub description: String,
    pub input_schema: serde_json::Value,
}
