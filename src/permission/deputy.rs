//! Who may answer in the user's place just before the user is asked: the
//! PermissionRequest hooks (`semantics.md §1.9`, line 14).

use super::Judged;
use crate::settings::PermissionUpdate;
use async_trait::async_trait;
use serde_json::{Value, json};

/// What a deputy is asked.
pub struct Request<'a> {
    pub judged: &'a Judged<'a>,
    /// Why it is asked about; may be empty.
    pub why: &'a str,
    /// The narrowest rule that covers the call.
    pub rule: &'a str,
}

impl Request<'_> {
    /// `permission_suggestions` of a hook's input.
    pub fn suggestions(&self) -> Value {
        let rule = match self.rule.split_once('(') {
            Some((tool, rest)) => json!({
                "toolName": tool,
                "ruleContent": rest.strip_suffix(')').unwrap_or(rest),
            }),
            None => json!({"toolName": self.rule}),
        };
        json!([{
            "type": "addRules",
            "rules": [rule],
            "behavior": "allow",
            "destination": "localSettings",
        }])
    }
}

/// What a deputy says in the user's place.
#[derive(Debug, Clone, PartialEq)]
pub enum DeputyAnswer {
    Allow {
        /// The input to run instead.
        updated_input: Option<Value>,
        /// What changes for the decisions to come.
        updates: Vec<PermissionUpdate>,
    },
    Deny {
        /// For the model.
        message: String,
    },
}

/// Somebody who may answer in the user's place.
#[async_trait]
pub trait Deputy: Send + Sync {
    /// `None` leaves it to the user.
    async fn answer(&self, request: &Request<'_>) -> Option<DeputyAnswer>;
}
