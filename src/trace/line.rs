//! One event as one line of JSON.

use super::pen::Pen;
use super::{Event, Line};
use serde::Deserialize;
use std::borrow::Cow;

/// Appends the line of an event, without its line end. Says whether the line may hold
/// a string that belongs beside the trace.
///
/// Keys stand in the order of `seq`, `at`, `event`, then the event's fields. JSON that
/// only passes through keeps its bytes, but for line ends between its tokens: those
/// become spaces.
pub(super) fn write_line(line: &Line, out: &mut Vec<u8>) -> bool {
    let mut pen = Pen::new(out);
    pen.put("{\"seq\":");
    pen.number(line.seq);
    pen.put(",\"at\":");
    pen.number(line.at);
    pen.put(",");
    pen.event(&line.event);
    pen.wrote_long()
}

/// What a line of a file turned out to be.
pub(super) enum Parsed {
    Line(Line),
    /// An event that this version does not know: its `seq` and its name.
    Unknown {
        seq: u64,
        name: String,
    },
}

/// The fields that every line has.
#[derive(Deserialize)]
struct Head<'a> {
    seq: u64,
    at: u64,
    #[serde(borrow)]
    event: Cow<'a, str>,
}

/// Reads one line. Fields that are not known are passed over.
pub(super) fn parse_line(text: &str) -> Result<Parsed, serde_json::Error> {
    let Head { seq, at, event } = serde_json::from_str(text)?;
    // Not by serde's tag: it reads through a buffer that cannot hold raw JSON.
    let event = match &*event {
        "run_started" => Event::RunStarted(serde_json::from_str(text)?),
        "pool" => Event::Pool(serde_json::from_str(text)?),
        "request" => Event::Request(serde_json::from_str(text)?),
        "response" => Event::Response(serde_json::from_str(text)?),
        "call" => Event::Call(serde_json::from_str(text)?),
        "step" => Event::Step(serde_json::from_str(text)?),
        "hook" => Event::Hook(serde_json::from_str(text)?),
        "decision" => Event::Decision(serde_json::from_str(text)?),
        "prompt" => Event::Prompt(serde_json::from_str(text)?),
        "progress" => Event::Progress(serde_json::from_str(text)?),
        "op" => Event::Op(serde_json::from_str(text)?),
        "outside" => Event::Outside(serde_json::from_str(text)?),
        "result" => Event::Result(serde_json::from_str(text)?),
        "stop" => Event::Stop(serde_json::from_str(text)?),
        "invariant" => Event::Invariant(serde_json::from_str(text)?),
        "run_finished" => Event::RunFinished(serde_json::from_str(text)?),
        _ => {
            let name = event.into_owned();
            return Ok(Parsed::Unknown { seq, name });
        }
    };
    Ok(Parsed::Line(Line { seq, at, event }))
}

/// What the first line says of the file, read before anything that a newer format
/// may have changed.
#[derive(Deserialize)]
pub(super) struct Opening {
    pub event: String,
    pub format: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::super::{Call, Stop};
    use super::*;
    use crate::words::Lane;
    use serde_json::value::RawValue;

    fn text(line: &Line) -> String {
        let mut out = Vec::new();
        write_line(line, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn keys_stand_in_order() {
        let line = Line {
            seq: 12,
            at: 340,
            event: Event::Stop(Stop {
                turn: 2,
                reason: "end_turn".into(),
                why: "the model is done\n".into(),
            }),
        };
        assert_eq!(
            text(&line),
            r#"{"seq":12,"at":340,"event":"stop","turn":2,"reason":"end_turn","why":"the model is done\n"}"#
        );
    }

    #[test]
    fn raw_json_keeps_its_bytes_but_not_its_line_ends() {
        let raw = "{\r\n  \"b\": 1.0,\n  \"a\": \"\\ud800\\n\" }";
        let line = Line {
            seq: 0,
            at: 0,
            event: Event::Call(Call {
                call: "toolu_1".into(),
                turn: 1,
                tool: "Read".into(),
                lane: Lane::Own,
                input: RawValue::from_string(raw.into()).unwrap().into(),
            }),
        };
        let written = text(&line);
        assert!(
            written.ends_with(r#""input":{    "b": 1.0,   "a": "\ud800\n" }}"#),
            "{written}"
        );
        let Parsed::Line(back) = parse_line(&written).unwrap() else {
            panic!("not known");
        };
        assert_eq!(text(&back), written);
    }

    #[test]
    fn what_is_not_known_is_passed_over() {
        let stop = r#"{"seq":1,"at":2,"event":"stop","new":[1],"turn":2,"reason":"x","why":"y"}"#;
        assert!(matches!(
            parse_line(stop),
            Ok(Parsed::Line(Line { seq: 1, at: 2, .. }))
        ));
        let other = r#"{"seq":1,"at":2,"event":"weather","rain":true}"#;
        assert!(
            matches!(parse_line(other), Ok(Parsed::Unknown { seq: 1, name }) if name == "weather")
        );
        assert!(parse_line(r#"{"seq":1,"event":"stop"}"#).is_err());
        assert!(parse_line(r#"{"seq":1,"at":2,"event":"stop","turn":2}"#).is_err());
    }
}
