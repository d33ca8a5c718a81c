//! What the model's side ran by itself within its response: seen, noted, and nothing more.

use crate::trace::{Call, CallResult};
use crate::wire::{Response, raw};
use crate::words::{Class, Lane};
use serde_json::Value;
use std::sync::Arc;

/// What a response holds of tools that the vendor hosts.
#[derive(Default)]
pub(super) struct Seen {
    pub calls: Vec<Call>,
    pub results: Vec<CallResult>,
    /// The tools that a search of the API's found, in its order.
    pub found: Vec<Arc<str>>,
}

/// Looks through a response. A result may belong to a call of an earlier one.
pub(super) fn seen(response: &Response, turn: u32) -> Seen {
    let mut seen = Seen::default();
    for block in &response.content {
        let kind = block.type_name();
        if kind != "server_tool_use" && !kind.ends_with("_tool_result") {
            continue;
        }
        let Ok(value) = serde_json::from_str::<Value>(block.raw().get()) else {
            continue;
        };
        let text = |key: &str| value[key].as_str().unwrap_or_default();
        if kind == "server_tool_use" {
            seen.calls.push(Call {
                call: text("id").into(),
                turn,
                tool: text("name").into(),
                lane: Lane::Hosted,
                input: raw::of(&value["input"]),
            });
            continue;
        }
        let content = &value["content"];
        let references = content["tool_references"].as_array();
        let names = references.into_iter().flatten();
        seen.found
            .extend(names.filter_map(|one| Some(Arc::from(one["tool_name"].as_str()?))));
        let code = content["error_code"].as_str();
        let class = code.map_or(Class::Ok, class_of);
        let content = raw::of(content);
        seen.results.push(CallResult {
            call: text("tool_use_id").into(),
            class,
            flags: Vec::new(),
            is_error: class.is_error(),
            full_chars: content.get().chars().count() as u64,
            content,
            saved_to: None,
            completed: 0,
            run_ms: 0,
        });
    }
    seen
}

/// The class of an error of a hosted tool, by the API's code (`protocol.md §3.1`).
fn class_of(code: &str) -> Class {
    match code {
        "invalid_tool_input" => Class::InvalidInput,
        "query_too_long"
        | "url_too_long"
        | "request_too_large"
        | "content_too_large"
        | "output_file_too_large" => Class::TooLarge,
        "url_not_accessible" | "unavailable" | "too_many_requests" | "overloaded" => Class::Network,
        "execution_time_exceeded" => Class::Timeout,
        "file_not_found" => Class::NotFound,
        _ => Class::ToolError,
    }
}
