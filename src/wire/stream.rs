//! The events of a streamed answer, read and written.

use super::error::ApiError;
use super::raw::{self, Fields};
use super::sse::{self, Frame};
use serde_json::value::RawValue;
use std::sync::Arc;

/// One event: what it says, and its bytes.
#[derive(Debug, Clone)]
pub struct Event {
    /// The `event:` line. SDKs pass over events without one (`protocol.md §4.1`).
    pub name: Option<Arc<str>>,
    /// The data as it came.
    pub data: Arc<str>,
    pub kind: EventKind,
}

/// What an event says (`protocol.md §4`).
#[derive(Debug, Clone)]
pub enum EventKind {
    /// The message so far: no content, no stop reason.
    MessageStart {
        message: Fields,
    },
    BlockStart {
        index: u64,
        block: Arc<RawValue>,
    },
    BlockDelta {
        index: u64,
        delta: Delta,
    },
    BlockStop {
        index: u64,
    },
    /// How the message ends; the counts are cumulative.
    MessageDelta {
        delta: Fields,
        /// `None` if it is missing, which SDKs do not survive.
        usage: Option<Fields>,
        /// Fields beside those, such as `context_management`.
        extra: Fields,
    },
    MessageStop,
    Ping,
    Error(ApiError),
    /// An event type that is not known.
    Unknown(Arc<str>),
    /// No JSON, no type, or a field missing that the type demands.
    Malformed,
}

/// A piece of a block. Strings are JSON strings as they came: a surrogate pair may
/// be split over two of them.
#[derive(Debug, Clone)]
pub enum Delta {
    Text(Arc<RawValue>),
    InputJson(Arc<RawValue>),
    Thinking(Arc<RawValue>),
    Signature(Arc<RawValue>),
    Citation(Arc<RawValue>),
    /// The whole content of a compaction block, as fields to set.
    Compaction(Fields),
    /// A delta type that is not known.
    Unknown(Arc<str>),
}

impl Event {
    /// Reads a frame; it need not make sense.
    pub fn of(frame: Frame) -> Event {
        let kind = EventKind::read(&frame.data).unwrap_or(EventKind::Malformed);
        Event {
            name: frame.name.map(Arc::from),
            data: Arc::from(frame.data),
            kind,
        }
    }

    /// Reads the data of an event that came without framing.
    pub fn of_data(data: &str) -> Event {
        Event::of(Frame {
            name: None,
            data: data.to_owned(),
        })
    }

    /// Makes an event of the fields of its data, named by its type.
    pub(crate) fn made(kind: &str, fields: &[(&str, Arc<RawValue>)]) -> Event {
        let mut data = Fields::new();
        data.set("type", raw::of(kind));
        for (key, value) in fields {
            data.set(key, value.clone());
        }
        Event::of(Frame {
            name: Some(kind.to_owned()),
            data: data.to_raw().get().to_owned(),
        })
    }

    /// Makes a ping.
    pub fn ping() -> Event {
        Event::made("ping", &[])
    }

    /// Makes an error event.
    pub fn error(error: &ApiError) -> Event {
        Event::of(Frame {
            name: Some("error".to_owned()),
            data: error.to_body().get().to_owned(),
        })
    }

    /// Writes the event as a frame.
    pub fn encode_to(&self, out: &mut Vec<u8>) {
        Frame {
            name: self.name.as_deref().map(str::to_owned),
            data: self.data.to_string(),
        }
        .encode_to(out);
    }
}

impl EventKind {
    fn read(data: &str) -> Option<EventKind> {
        let mut fields: Fields = serde_json::from_str(data).ok()?;
        let kind = fields.text("type")?;
        let index = |fields: &Fields| fields.get("index").and_then(|raw| raw::integer(raw));
        Some(match kind.as_str() {
            "message_start" => EventKind::MessageStart {
                message: Fields::of(&fields.take("message")?)?,
            },
            "content_block_start" => EventKind::BlockStart {
                index: index(&fields)?,
                block: fields.take("content_block")?,
            },
            "content_block_delta" => EventKind::BlockDelta {
                index: index(&fields)?,
                delta: Delta::read(&fields.take("delta")?)?,
            },
            "content_block_stop" => EventKind::BlockStop {
                index: index(&fields)?,
            },
            "message_delta" => {
                fields.take("type");
                EventKind::MessageDelta {
                    delta: Fields::of(&fields.take("delta")?)?,
                    usage: fields.take("usage").and_then(|usage| Fields::of(&usage)),
                    extra: fields,
                }
            }
            "message_stop" => EventKind::MessageStop,
            "ping" => EventKind::Ping,
            "error" => EventKind::Error(ApiError::from_body(200, &fields.to_raw())?),
            other => EventKind::Unknown(Arc::from(other)),
        })
    }
}

impl Delta {
    fn read(delta: &RawValue) -> Option<Delta> {
        let mut fields = Fields::of(delta)?;
        let kind = raw::string(&fields.take("type")?)?;
        let mut string = |key: &str| {
            fields
                .take(key)
                .filter(|value| raw::string_body(value).is_some())
        };
        Some(match kind.as_str() {
            "text_delta" => Delta::Text(string("text")?),
            "input_json_delta" => Delta::InputJson(string("partial_json")?),
            "thinking_delta" => Delta::Thinking(string("thinking")?),
            "signature_delta" => Delta::Signature(string("signature")?),
            "citations_delta" => Delta::Citation(fields.take("citation")?),
            "compaction_delta" => Delta::Compaction(fields),
            other => Delta::Unknown(Arc::from(other)),
        })
    }
}

/// Reads events from bytes, wherever the chunks are split.
#[derive(Debug, Clone, Default)]
pub struct Decoder(sse::Decoder);

impl Decoder {
    pub fn new() -> Decoder {
        Decoder::default()
    }

    /// Takes the next bytes; gives the events that they complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        self.0.push(bytes).into_iter().map(Event::of).collect()
    }

    /// Ends the stream. An event that only lacks its blank line is given; one that is
    /// cut elsewhere is [`EventKind::Malformed`].
    pub fn finish(self) -> Option<Event> {
        self.0.finish().map(Event::of)
    }
}

/// Reads the events of a whole stream.
pub fn decode(bytes: &[u8]) -> Vec<Event> {
    let mut decoder = Decoder::new();
    let mut events = decoder.push(bytes);
    events.extend(decoder.finish());
    events
}

/// Writes events as a stream.
pub fn encode(events: &[Event]) -> Vec<u8> {
    let mut out = Vec::new();
    for event in events {
        event.encode_to(&mut out);
    }
    out
}
