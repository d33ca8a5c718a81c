//! The keys of `expect`.

use super::fields::MAX_INT;
use super::keys::{MODE_PATTERN, behaviors, classes, steps};
use super::shape::{Kind, Shape, key};
use crate::words::{Flag, Layer};

pub(super) fn flags() -> Vec<&'static str> {
    Flag::ALL.iter().map(|f| f.as_str()).collect()
}

pub(super) fn layers() -> Vec<&'static str> {
    Layer::ALL.iter().map(|l| l.as_str()).collect()
}

/// The events of a trace, in the order of `trace.md`.
pub(super) fn events() -> Vec<&'static str> {
    vec![
        "run_started",
        "pool",
        "request",
        "response",
        "call",
        "step",
        "hook",
        "decision",
        "prompt",
        "progress",
        "op",
        "outside",
        "result",
        "stop",
        "invariant",
        "run_finished",
    ]
}

/// How a run can stop: a stop reason of the API or one of the agent's own.
pub(super) fn run_stops() -> Vec<&'static str> {
    let mut stops = super::keys_script::stop_reasons();
    stops.extend([
        "max_turns",
        "interrupted",
        "hook_stopped",
        "model_error",
        "tool_deferred",
    ]);
    stops
}

const EVENT_KIND: Kind = Kind::Any(&[Kind::Words(events), Kind::Shape(&EVENT)]);

#[rustfmt::skip]
pub(super) static EXPECT: Shape = Shape {
    name: "expect",
    what: "expectations",
    keys: &[
        key("calls", Kind::Map(&Kind::Shape(&CALL)), "How calls end, by id or number.", "{toolu_edit: {step: validate, class: stale, is_error: true}}"),
        key("files", Kind::Map(&Kind::Any(&[Kind::Text, Kind::Null, Kind::Shape(&FILE)])), "What the world holds at the end: a text is the whole content, null is no file.", r#"{notes.txt: "ONE\ntwo\n", gone.txt: null}"#),
        key("order", Kind::List(&Kind::List(&Kind::Scalar)), "Calls that complete one after another.", r#"[["1", toolu_edit]]"#),
        key("stop", Kind::Words(run_stops), "Why the run stopped.", "end_turn"),
        key("turns", Kind::Int(0, MAX_INT), "How many responses the model gave.", "3"),
        key("prompts", Kind::Int(0, MAX_INT), "How often the user was asked.", "1"),
        key("broken_settings", Kind::OneOrMany(&Kind::Text), "Globs over what is wrong with settings files, one for each: of such a file only what restricts is in force.", r#""*settings.json:4:7: *""#),
        key("never", Kind::List(&EVENT_KIND), "Events of the trace that must not occur.", "[prompt]"),
        key("events", Kind::List(&EVENT_KIND), "Events of the trace that must occur.", r#"[{event: hook, with: {notice: "*lint*"}}]"#),
    ],
};

#[rustfmt::skip]
pub(super) static CALL: Shape = Shape {
    name: "expected_call",
    what: "an expectation of a call",
    keys: &[
        key("tool", Kind::Text, "The tool that was called.", "Edit"),
        key("step", Kind::Words(steps), "Where the call ended; post_hook for one that passed all seven.", "validate"),
        key("class", Kind::Words(classes), "The class of its outcome.", "stale"),
        key("is_error", Kind::Bool, "Whether its result is an error.", "true"),
        key("flags", Kind::List(&Kind::Words(flags)), "The flags of its outcome, all of them.", "[persisted]"),
        key("decision", Kind::Shape(&DECISION), "Who decided, and how.", "{behavior: allow, layer: mode}"),
        key("contains", Kind::OneOrMany(&Kind::Text), "Texts that the result holds.", "changed since"),
        key("lacks", Kind::OneOrMany(&Kind::Text), "Texts that the result does not hold.", "secret"),
    ],
};

#[rustfmt::skip]
pub(super) static DECISION: Shape = Shape {
    name: "expected_decision",
    what: "an expectation of a decision",
    keys: &[
        key("behavior", Kind::Words(behaviors), "What was decided.", "allow"),
        key("layer", Kind::Words(layers), "The layer that decided.", "mode"),
        key("reason", Kind::Scalar, "A glob over the reason.", r#""*outside*""#),
        key("rule", Kind::Text, "The rule that decided.", "Edit(notes.txt)"),
        key("source", Kind::Text, "The settings source that the rule stands in.", "project"),
        key("index", Kind::Int(0, MAX_INT), "The rule's index in its list, from 0.", "0"),
    ],
};

#[rustfmt::skip]
pub(super) static FILE: Shape = Shape {
    name: "expected_file",
    what: "an expectation of a file",
    keys: &[
        key("content", Kind::Text, "The whole content.", r#""one\n""#),
        key("repeat", Kind::Text, "A text of which the content is so many repetitions.", r#""line\n""#),
        key("times", Kind::Int(0, MAX_INT), "How many repetitions of `repeat`.", "5000"),
        key("base64", Kind::Pattern(r"^[A-Za-z0-9+/\s]*=?=?\s*$"), "The whole content as base64.", "iVBORw0KGgo="),
        key("unchanged", Kind::Bool, "Whether the content is that of the beginning.", "true"),
        key("contains", Kind::OneOrMany(&Kind::Text), "Texts that the content holds.", "one"),
        key("lacks", Kind::OneOrMany(&Kind::Text), "Texts that the content does not hold.", "two"),
        key("size", Kind::Int(0, MAX_INT), "Its bytes.", "4"),
        key("symlink", Kind::Text, "What the symbolic link points to.", "notes.txt"),
        key("dir", Kind::Bool, "Whether it is a folder.", "true"),
        key("mode", Kind::Pattern(MODE_PATTERN), "Its permission bits in octal, in quotes.", r#""644""#),
    ],
};

#[rustfmt::skip]
pub(super) static EVENT: Shape = Shape {
    name: "expected_event",
    what: "an event of the trace",
    keys: &[
        key("event", Kind::Words(events), "The event's name.", "hook").required(),
        key("call", Kind::Scalar, "The id or number of the call it is about.", "toolu_edit"),
        key("with", Kind::Map(&Kind::Any(&[Kind::Scalar, Kind::Null])), "Globs over single fields of the event; null for a field that is absent.", r#"{notice: "*lint*", exit: 1}"#),
        key("times", Kind::Int(1, MAX_INT), "How often exactly; at least once if not given.", "2"),
    ],
};
