//! Searching and fetching, of what the scenario says the web holds.

use super::domains::host;
use super::{Gives, Hit, HostedTool, error};
use crate::model::Request;
use crate::wire::Role;
use serde_json::{Value, json};

/// Longer addresses are refused, in characters (`protocol.md §3.1`).
const URL_CHARS_MAX: usize = 250;
/// Longer queries are refused, in characters. Where the API draws the line is not
/// documented; this is assumed.
const QUERY_CHARS_MAX: usize = 1_000;

pub(super) fn search(
    tool: &HostedTool,
    input: &Value,
    answer: impl FnOnce() -> Result<Gives, String>,
) -> Result<Value, String> {
    let Some(query) = input["query"]
        .as_str()
        .filter(|query| !query.trim().is_empty())
    else {
        return Ok(error("web_search", "invalid_tool_input", None));
    };
    if query.chars().count() > QUERY_CHARS_MAX {
        return Ok(error("web_search", "query_too_long", None));
    }
    match answer()? {
        Gives::Error(code) => Ok(error("web_search", &code, None)),
        Gives::Hits(hits) => {
            let shown = hits.iter().filter(|hit| tool.may_go_to(&hit.url));
            Ok(Value::Array(shown.map(hit).collect()))
        }
        _ => Err("an answer of web_search gives no hits: say `results`, or `error`".to_owned()),
    }
}

fn hit(hit: &Hit) -> Value {
    json!({
        "type": "web_search_result",
        "url": hit.url,
        "title": hit.title,
        // What stands for the page between requests; its content is nobody's to read.
        "encrypted_content": blake3::hash(hit.url.as_bytes()).to_hex()[..16],
        "page_age": hit.page_age,
    })
}

pub(super) fn fetch(
    tool: &HostedTool,
    input: &Value,
    request: &Request<'_>,
    answer: impl FnOnce() -> Result<Gives, String>,
) -> Result<Value, String> {
    let refused = |code: &str| Ok(error("web_fetch", code, None));
    let Some(url) = input["url"].as_str().filter(|url| host(url).is_some()) else {
        return refused("invalid_tool_input");
    };
    if url.chars().count() > URL_CHARS_MAX {
        return refused("url_too_long");
    }
    if !tool.may_go_to(url) {
        return refused("url_not_allowed");
    }
    if !stands_in(url, request) {
        return refused("url_not_in_prior_context");
    }
    match answer()? {
        Gives::Error(code) => refused(&code),
        Gives::Page { title, text } => Ok(json!({
            "type": "web_fetch_result",
            "url": url,
            "retrieved_at": null,
            "content": {
                "type": "document",
                "source": {"type": "text", "media_type": "text/plain", "data": text},
                "title": title,
            },
        })),
        _ => Err("an answer of web_fetch gives no page: say `text`, or `error`".to_owned()),
    }
}

/// Whether somebody but the model named the address before: the user, a result, a hit. What
/// the model itself wrote does not count, or it would only have to ask twice.
fn stands_in(url: &str, request: &Request<'_>) -> bool {
    let escaped = serde_json::to_string(url).unwrap_or_default();
    let escaped = escaped.trim_matches('"');
    request.messages.iter().any(|message| {
        let blocks = message.content.iter().filter(|block| {
            message.role == Role::User || block.type_name().ends_with("_tool_result")
        });
        blocks
            .into_iter()
            .any(|block| holds_whole(block.raw().get(), escaped))
    })
}

/// Whether an address stands in a text as a whole, and not as the beginning of another.
fn holds_whole(text: &str, url: &str) -> bool {
    let goes_on = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#@!$&'()*+,;=%[]".contains(c);
    text.match_indices(url).any(|(at, _)| {
        // A full stop behind an address is the sentence's.
        let rest =
            text[at + url.len()..].trim_start_matches(['.', ',', ';', ':', '!', '?', ')', ']']);
        match rest.chars().next() {
            None => true,
            Some(next) => !goes_on(next),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_not_the_beginning_of_another() {
        let url = "https://example.com/page";
        for text in [
            "see https://example.com/page.",
            "https://example.com/page\\n",
            "(https://example.com/page)",
            "https://example.com/page",
        ] {
            assert!(holds_whole(text, url), "{text}");
        }
        for text in [
            "https://example.com/page2",
            "https://example.com/page/2",
            "https://example.com/page?x=1",
            "https://example.com/page.html",
        ] {
            assert!(!holds_whole(text, url), "{text}");
        }
    }
}
