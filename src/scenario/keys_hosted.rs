//! The keys that speak of tools that the vendor hosts.

use super::fields::MAX_INT;
use super::keys::{MAX_TIMES, OPTIONAL, TIMES};
use super::shape::{Kind, Shape, key};
use crate::model::hosted::TYPES;

pub(super) fn types() -> Vec<&'static str> {
    TYPES.iter().map(|(kind, _)| *kind).collect()
}

#[rustfmt::skip]
pub(super) static HOSTED: Shape = Shape {
    name: "hosted",
    what: "a hosted tool",
    keys: &[
        key("type", Kind::Words(types), "Its type, which names its version.", "web_search_20250305").required(),
        key("max_uses", Kind::Int(1, MAX_INT), "How often it may be used within one response.", "3"),
        key("allowed_domains", Kind::List(&Kind::Text), "The only sites it goes to; not beside `blocked_domains`.", "[docs.rs]"),
        key("blocked_domains", Kind::List(&Kind::Text), "Sites it does not go to.", "[example.com]"),
        key("answers", Kind::List(&Kind::Shape(&HOSTED_ANSWER)), "What it gives.", r#"[{input: {query: "*serde*"}, results: [{url: "https://docs.rs/serde", title: serde}]}]"#),
    ],
};

#[rustfmt::skip]
pub(super) static HOSTED_ANSWER: Shape = Shape {
    name: "hosted_answer",
    what: "an answer of a hosted tool",
    keys: &[
        key("input", Kind::Map(&Kind::Scalar), "Globs over single values of the input.", r#"{query: "*serde*"}"#),
        key("results", Kind::List(&Kind::Shape(&HIT)), "The hits of a search.", r#"[{url: "https://docs.rs/serde", title: serde}]"#),
        key("text", Kind::Text, "The text of a fetched page.", "serde is a framework"),
        key("title", Kind::Text, "The title of a fetched page.", "serde"),
        key("stdout", Kind::Text, "What a program printed.", "two"),
        key("stderr", Kind::Text, "What it printed of errors.", "a warning"),
        key("return_code", Kind::Int(0, 255), "How it ended.", "1"),
        key("error", Kind::Text, "The API's code of an error, instead of all that.", "too_many_requests"),
        key("times", Kind::Int(1, MAX_TIMES), TIMES, "1"),
        key("optional", Kind::Bool, OPTIONAL, "true"),
    ],
};

#[rustfmt::skip]
pub(super) static HIT: Shape = Shape {
    name: "hit",
    what: "a hit of a web search",
    keys: &[
        key("url", Kind::Text, "Where it is.", "https://docs.rs/serde").required(),
        key("title", Kind::Text, "What it is called.", "serde"),
        key("page_age", Kind::Text, "How old it is.", "2 days"),
    ],
};

#[rustfmt::skip]
pub(super) static USE: Shape = Shape {
    name: "hosted_use",
    what: "a use of a hosted tool",
    keys: &[
        key("tool", Kind::Text, "The name the model calls it by.", "web_search").required(),
        key("id", Kind::Pattern("^srvtoolu_[A-Za-z0-9_]+$"), "Its id; made up if not given.", "srvtoolu_1"),
        key("input", Kind::Json, "The input.", "{query: serde}"),
        key("pending", Kind::Bool, "The response ends before the result is there; it comes with the next one.", "true"),
    ],
};
