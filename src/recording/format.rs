//! Which format a recording has, told by what is in it and never by its name.

use super::LoadError;
use super::line::Line;
use super::raw::{Object, Raw, Str, lenient_object};
use memchr::memmem;

/// What wrote a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// A session's JSONL as Claude Code keeps it (`semantics.md §7`).
    Transcript,
    /// The events that the command line prints with `--output-format stream-json`.
    StreamJson,
    /// A list of a stream's messages, without a session.
    ChunkList,
    /// What went over the SDK's standard input and output.
    SdkCapture,
    /// A session in one JSON object, its lines under `loglines`.
    SessionFile,
    /// A viewer's export: turns with their calls and results inside.
    TurnList,
}

impl Format {
    /// The name that reports use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Format::Transcript => "transcript",
            Format::StreamJson => "stream-json",
            Format::ChunkList => "chunk-list",
            Format::SdkCapture => "sdk-capture",
            Format::SessionFile => "session-file",
            Format::TurnList => "turn-list",
        }
    }
}

/// How the objects of a recording are kept together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Container {
    /// One object a line.
    Lines,
    /// A JSON array, whose `[` is at this offset.
    Array { at: usize },
    /// A YAML list under `messages`.
    Yaml,
}

/// How many objects are looked at before a recording is called unknown.
const LOOKED_AT: usize = 64;
/// How many characters of an unknown file are shown.
const SHOWN_CHARS: usize = 60;

lenient_object! {
    /// The keys by which a format is known.
    Shape {
        kind: Str<'a> = "type",
        session: Str<'a> = "sessionId",
        uuid: Str<'a> = "uuid",
        leaf: Str<'a> = "leafUuid",
        history: Str<'a> = "messageId",
        stream_session: Str<'a> = "session_id",
        message: Option<Raw<'a>> = "message",
        result: Option<Raw<'a>> = "result",
        blocks: Option<Raw<'a>> = "blocks",
        user_text: Option<Raw<'a>> = "user_text",
        direction: Str<'a> = "direction",
    }
}

impl Shape<'_> {
    fn format(&self) -> Option<Format> {
        let known = self.kind.0.is_some();
        if self.blocks.is_some() && self.user_text.is_some() {
            Some(Format::TurnList)
        } else if self.direction.0.is_some() && self.message.is_some() {
            Some(Format::SdkCapture)
        } else if known && (self.session.0.is_some() || self.history.0.is_some())
            || self.leaf.0.is_some()
        {
            Some(Format::Transcript)
        } else if self.stream_session.0.is_some() {
            Some(Format::StreamJson)
        } else if known && self.uuid.0.is_some() {
            Some(Format::Transcript)
        } else if self.result.is_some() && !known {
            Some(Format::StreamJson)
        } else if known && self.message.is_some() {
            Some(Format::ChunkList)
        } else {
            None
        }
    }
}

/// Tells the format of a text.
///
/// # Errors
///
/// [`LoadError::Empty`] if there is nothing but space, [`LoadError::Unknown`] if
/// nothing in the first objects is known.
pub(super) fn detect(text: &str) -> Result<(Format, Container), LoadError> {
    let start = text.len()
        - text
            .trim_start_matches([' ', '\t', '\r', '\n', '\0', '\u{feff}'])
            .len();
    let body = text.get(start..).unwrap_or("");
    match body.chars().next() {
        None => Err(LoadError::Empty),
        Some('[') if body[1..].trim_ascii_start().starts_with('{') => {
            let objects = || super::array::objects::<Object<Shape>>(text, start);
            let formats = || {
                objects()
                    .take(LOOKED_AT)
                    .filter_map(|object| object.value.0?.format())
            };
            // A chunk list is what tells of nothing else.
            let telling = formats().find(|format| *format != Format::ChunkList);
            match telling.or_else(|| formats().next()) {
                Some(format) => Ok((format, Container::Array { at: start })),
                None => Err(unknown(body)),
            }
        }
        Some('{') => match wrapper(body) {
            Some((format, at)) => Ok((format, Container::Array { at: start + at })),
            None => lines(text).map(|format| (format, Container::Lines)),
        },
        _ if super::yaml::is_capture(body) => Ok((Format::SdkCapture, Container::Yaml)),
        _ => lines(text).map(|format| (format, Container::Lines)),
    }
}

/// The list inside an object that wraps a whole recording, if `body` begins with one.
fn wrapper(body: &str) -> Option<(Format, usize)> {
    let inside = body.strip_prefix('{')?.trim_ascii_start();
    let (format, key) = if inside.starts_with("\"loglines\"") {
        (Format::SessionFile, "\"loglines\"")
    } else if inside.starts_with("\"messages\"") || inside.starts_with("\"metadata\"") {
        (Format::SdkCapture, "\"messages\"")
    } else {
        return None;
    };
    memmem::find_iter(body.as_bytes(), key).find_map(|at| {
        let after = body.get(at + key.len()..)?.trim_ascii_start();
        let list = after.strip_prefix(':')?.trim_ascii_start();
        list.starts_with('[')
            .then(|| (format, body.len() - list.len()))
    })
}

/// The format of a text of one object a line, by the first object that tells.
fn lines(text: &str) -> Result<Format, LoadError> {
    let mut notes = super::note::Notes::default();
    let mut weak = None;
    let mut looked_at = 0;
    // Only the beginning: a broken first line may hide a good one behind it, a
    // thousand others do not need to be read twice.
    let mut rest = text;
    while !rest.is_empty() && looked_at < LOOKED_AT {
        let end = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |at| at + 1);
        let (line, after) = rest.split_at(end);
        rest = after;
        if let Ok(shape) = serde_json::from_str::<Shape>(line) {
            looked_at += 1;
            match shape.format() {
                Some(Format::ChunkList) => weak = weak.or(Some(Format::ChunkList)),
                Some(format) => return Ok(format),
                None => {}
            }
        }
    }
    if weak.is_none() {
        // No line is whole: objects over several lines, glued or spliced ones.
        let mut found = None;
        super::lines::each_object(
            text,
            &mut notes,
            |_, line: Line, _: &mut super::note::Notes| {
                let transcript = line.session.0.is_some() || line.uuid.0.is_some();
                found.get_or_insert(if line.blocks.is_some() {
                    Format::TurnList
                } else if transcript {
                    Format::Transcript
                } else if line.stream_session.0.is_some() {
                    Format::StreamJson
                } else {
                    Format::ChunkList
                });
            },
        );
        weak = found;
    }
    weak.ok_or_else(|| unknown(text))
}

fn unknown(text: &str) -> LoadError {
    let shown: String = text.trim_ascii_start().chars().take(SHOWN_CHARS).collect();
    LoadError::Unknown {
        found: shown.escape_debug().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, format: Format) {
        match detect(text) {
            Ok((found, _)) => assert_eq!(found, format, "{text}"),
            Err(error) => panic!("{text}: {error}"),
        }
    }

    #[test]
    fn formats_are_told_by_content() {
        check(
            r#"{"type":"user","sessionId":"s","uuid":"u"}"#,
            Format::Transcript,
        );
        check(r#"{"type":"summary","leafUuid":"u"}"#, Format::Transcript);
        check(
            r#"{"type":"user","uuid":"u","message":{}}"#,
            Format::Transcript,
        );
        check(r#"{"type":"system","session_id":"s"}"#, Format::StreamJson);
        check(
            r#"[{"type":"user","message":{}},{"type":"result","session_id":"s"}]"#,
            Format::StreamJson,
        );
        check(r#"[ {"type":"user","message":{}}]"#, Format::ChunkList);
        check(
            r#"{"metadata":{"messages":1},"messages":[{"direction":"send"}]}"#,
            Format::SdkCapture,
        );
        check("messages:\n- type: user\n", Format::SdkCapture);
        check(
            r#"{ "loglines" : [ {"type":"user"}] }"#,
            Format::SessionFile,
        );
        check(
            r#"{"index":1,"user_text":"x","blocks":[]}"#,
            Format::TurnList,
        );
    }

    #[test]
    fn b202_headless_output_as_an_object_and_as_a_list() {
        check(r#"{"result":"x"}"#, Format::StreamJson);
        check(
            r#"[{"type":"system","session_id":"s"},{"type":"result","result":"x"}]"#,
            Format::StreamJson,
        );
    }

    #[test]
    fn a_torn_or_odd_first_line_hides_nothing() {
        check(
            "{\"type\":\"us\n{\"type\":\"user\",\"sessionId\":\"s\"}",
            Format::Transcript,
        );
        check(
            "[1]\n\n{\"type\":\"user\",\"sessionId\":\"s\"}",
            Format::Transcript,
        );
        check(
            "{\n\"type\":\"user\",\n\"sessionId\":\"s\"}",
            Format::Transcript,
        );
    }

    #[test]
    fn what_is_unknown_is_named_with_what_was_seen() {
        assert!(matches!(detect(" \n"), Err(LoadError::Empty)));
        let Err(LoadError::Unknown { found }) = detect("one: two\n") else {
            panic!("unknown expected");
        };
        assert_eq!(found, "one: two\\n");
        assert!(matches!(
            detect("[{\"a\":1}]"),
            Err(LoadError::Unknown { .. })
        ));
        assert!(matches!(
            detect("{\"a\":1}"),
            Err(LoadError::Unknown { .. })
        ));
    }
}
