//! The keys of a turn of the model, and of what refers to its calls.

use super::fields::MAX_INT;
use super::keys::{classes, steps};
use super::shape::{Kind, Shape, key};

/// Why the model stopped (`protocol.md §3`).
pub(super) fn stop_reasons() -> Vec<&'static str> {
    vec![
        "end_turn",
        "tool_use",
        "pause_turn",
        "max_tokens",
        "stop_sequence",
        "refusal",
        "model_context_window_exceeded",
    ]
}

/// API failures that have a name of their own, and their HTTP status (`protocol.md §5`).
pub(super) const NAMED_FAULTS: &[(&str, u16)] = &[
    ("overloaded", 529),
    ("rate_limited", 429),
    ("api_error", 500),
    ("timeout", 504),
];

pub(super) fn fault_names() -> Vec<&'static str> {
    NAMED_FAULTS.iter().map(|(name, _)| *name).collect()
}

const USE_KIND: Kind = Kind::Any(&[
    Kind::Shape(&super::keys_hosted::USE),
    Kind::Single(&Kind::Json, &["tool", "id", "input", "pending"]),
]);

const CALL_KIND: Kind = Kind::Any(&[
    Kind::Shape(&CALL),
    Kind::Single(&Kind::Json, &["tool", "id", "input", "raw_input"]),
]);

#[rustfmt::skip]
pub(super) static TURN: Shape = Shape {
    name: "turn",
    what: "a turn",
    keys: &[
        key("when", Kind::Shape(&WHEN), "The turn is taken if a result is so, by class or tool, never by text.", "{result: toolu_edit, class: stale}"),
        key("thinking", Kind::Text, "What the model thinks first.", "The note is short."),
        key("say", Kind::OneOrMany(&Kind::Text), "What the model says before its calls.", "I will read it first."),
        key("blocks", Kind::List(&Kind::Object), "Content blocks as the API gives them, between what it says and its calls.", "[{type: redacted_thinking, data: c2ln}]"),
        key("hosted", Kind::List(&USE_KIND), "Which hosted tools the model uses, before its calls.", "[{web_search: {query: serde}}]"),
        key("calls", Kind::List(&CALL_KIND), "What the model calls; several are one batch.", "[{Read: {file_path: notes.txt}}]"),
        key("stop", Kind::Words(stop_reasons), "Why it stops; tool_use if there are calls, else end_turn.", "end_turn"),
        key("else", Kind::Shape(&TURN), "What the model does if `when` is not so.", "{say: Done.}"),
        key("expect_request", Kind::Shape(&EXPECT_REQUEST), "What the turn demands of the request, or the run fails.", "{tools: [Read], results: {toolu_edit: {is_error: true}}}"),
        key("fault", Kind::Any(&[Kind::Words(fault_names), Kind::Shape(&FAULT)]), "How the API fails instead of, or within, the response.", "overloaded"),
    ],
};

#[rustfmt::skip]
pub(super) static CALL: Shape = Shape {
    name: "call",
    what: "a call",
    keys: &[
        key("tool", Kind::Text, "The tool's name, as the model spells it.", "Edit").required(),
        key("id", Kind::Pattern("^[A-Za-z0-9_-]+$"), "The call's id; made up if not given.", "toolu_edit"),
        key("input", Kind::Json, "The input.", "{file_path: notes.txt}"),
        key("raw_input", Kind::Text, "What the model really emitted, where it is not the input's JSON.", r#""{\"file_path\": \"no""#),
    ],
};

#[rustfmt::skip]
pub(super) static WHEN: Shape = Shape {
    name: "when",
    what: "a condition",
    keys: &[
        key("result", Kind::Scalar, "The id or number of the call whose result is looked at; without it, any of the last results.", "toolu_edit"),
        key("class", Kind::Words(classes), "The class of the result.", "stale"),
        key("tool", Kind::Scalar, "A glob over the name of its tool.", "Edit"),
        key("is_error", Kind::Bool, "Whether the result is an error.", "true"),
    ],
};

#[rustfmt::skip]
pub(super) static EXPECT_REQUEST: Shape = Shape {
    name: "expect_request",
    what: "a demand of the request",
    keys: &[
        key("tools", Kind::List(&Kind::Text), "Tools that the request must offer.", "[Read, Edit]"),
        key("without_tools", Kind::List(&Kind::Text), "Tools that it must not offer.", "[Bash]"),
        key("messages", Kind::Int(1, MAX_INT), "How many messages it must have.", "3"),
        key("results", Kind::Map(&Kind::Shape(&REQUEST_RESULT)), "Results that it must bring, by id or number of the call.", "{toolu_edit: {is_error: true}}"),
    ],
};

#[rustfmt::skip]
pub(super) static REQUEST_RESULT: Shape = Shape {
    name: "request_result",
    what: "a result in a request",
    keys: &[
        key("is_error", Kind::Bool, "Whether it is an error.", "true"),
        key("class", Kind::Words(classes), "Its class, as its text states it.", "stale"),
        key("contains", Kind::OneOrMany(&Kind::Text), "Texts that it must hold.", "changed"),
    ],
};

#[rustfmt::skip]
pub(super) static FAULT: Shape = Shape {
    name: "fault",
    what: "a fault",
    keys: &[
        key("status", Kind::Int(400, 599), "The HTTP status of the failure.", "429"),
        key("kind", Kind::Text, "The error type; the status's own if not given.", "rate_limit_error"),
        key("message", Kind::Text, "The error message.", "slow down"),
        key("retry_after_s", Kind::Int(0, 86_400), "The seconds after which the API asks to be called again.", "2"),
        key("cut_after_events", Kind::Int(0, MAX_INT), "After how many stream events the response breaks off.", "3"),
    ],
};

#[rustfmt::skip]
pub(super) static MOMENT: Shape = Shape {
    name: "moment",
    what: "a moment in a call's life",
    keys: &[
        key("call", Kind::Scalar, "The call's id, or its number in quotes, counted from 1.", "toolu_edit").required(),
        key("step", Kind::Words(steps), "One of the seven steps.", "validate").required(),
    ],
};
