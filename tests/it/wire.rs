//! The Messages API as data: streams, bytes that pass through, recorded traffic.

use proptest::prelude::*;
use rehearsal::wire::{
    self, Block, BlockKind, Event, EventKind, Folded, Message, RequestBody, Response, StopReason,
    Usage, fold::End, raw, sse, stream,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn folded(bytes: &[u8]) -> Folded {
    wire::fold(stream::decode(bytes))
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Everything that a stream can be made of, in one.
fn rich_stream() -> String {
    [
        r#"ping|{"type": "ping"}"#,
        r#"message_start|{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":7,"output_tokens":1}}}"#,
        r#"content_block_start|{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"content_block_delta|{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"né \ud83d"}}"#,
        r#"content_block_delta|{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\ude00 漢"}}"#,
        r#"content_block_delta|{"type":"content_block_delta","index":0,"delta":{"type":"new_delta","x":1}}"#,
        r#"content_block_stop|{"type":"content_block_stop","index":0}"#,
        r#"content_block_start|{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"T","input":{}}}"#,
        r#"content_block_delta|{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}"#,
        r#"content_block_delta|{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\": 1e4"}}"#,
        r#"content_block_delta|{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"00}"}}"#,
        r#"content_block_stop|{"type":"content_block_stop","index":1}"#,
        r#"content_block_start|{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_2","name":"T","input":{}}}"#,
        r#"content_block_stop|{"type":"content_block_stop","index":2}"#,
        r#"content_block_start|{"type":"content_block_start","index":3,"content_block":{"type":"new_block", "deep":{"b":1,"a":2}}}"#,
        r#"content_block_stop|{"type":"content_block_stop","index":3}"#,
        r#"new_event|{"type":"new_event","n":12345678901234567890.0}"#,
        r#"message_delta|{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":40}}"#,
        r#"message_delta|{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":42}}"#,
        r#"message_stop|{"type":"message_stop"}"#,
    ]
    .iter()
    .map(|line| {
        let (name, data) = line.split_once('|').unwrap();
        format!("event: {name}\ndata: {data}\n\n")
    })
    .collect()
}

fn check_rich(folded: &Folded) {
    let response = &folded.response;
    assert_eq!(folded.end, End::Complete);
    assert_eq!(folded.events, 20);
    assert_eq!(folded.open, Vec::<usize>::new());
    assert_eq!(response.stop_reason, StopReason::ToolUse);
    assert_eq!(response.usage, Usage::new(7, 42));
    assert_eq!(response.content[0].as_text(), Some("né 😀 漢"));
    assert_eq!(
        &*response.content[1].as_tool_use().unwrap().input,
        r#"{"a": 1e400}"#
    );
    assert_eq!(&*response.content[2].as_tool_use().unwrap().input, "{}");
    assert_eq!(
        response.content[3].raw().get(),
        r#"{"type":"new_block", "deep":{"b":1,"a":2}}"#
    );
    let leftover: Vec<&str> = folded.leftover.iter().map(|event| &*event.data).collect();
    assert_eq!(
        leftover,
        [
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"new_delta","x":1}}"#,
            r#"{"type":"new_event","n":12345678901234567890.0}"#,
        ]
    );
}

#[test]
fn a_stream_folds_the_same_wherever_it_is_split() {
    for end in ["\n", "\r\n", "\r"] {
        let text = rich_stream().replace('\n', end);
        check_rich(&folded(text.as_bytes()));
        for at in 0..=text.len() {
            let mut decoder = stream::Decoder::new();
            let mut fold = wire::Fold::new();
            let (head, tail) = text.as_bytes().split_at(at);
            for event in decoder
                .push(head)
                .into_iter()
                .chain(decoder.push(tail))
                .chain(decoder.finish())
            {
                fold.push(event);
            }
            check_rich(&fold.finish());
        }
        let mut decoder = stream::Decoder::new();
        let mut events = Vec::new();
        for byte in text.as_bytes() {
            events.extend(decoder.push(std::slice::from_ref(byte)));
        }
        events.extend(decoder.finish());
        check_rich(&wire::fold(events));
    }
}

#[test]
fn a_cut_stream_gives_what_had_arrived() {
    let text = rich_stream();
    let whole = folded(text.as_bytes());
    for at in 0..text.len() {
        let cut = folded(&text.as_bytes()[..at]);
        // Only the blank line at the very end may be missing.
        if cut.end == End::Complete {
            assert!(at >= text.len() - 2, "complete at {at}");
            continue;
        }
        assert_eq!(cut.end, End::Cut);
        for (place, block) in cut.response.content.iter().enumerate() {
            if !cut.open.contains(&place) {
                assert_eq!(block, &whole.response.content[place], "cut at {at}");
            }
        }
    }
    let at = text.find("00}").unwrap();
    let cut = folded(&text.as_bytes()[..at]);
    assert_eq!(cut.open, [1]);
    let call = cut.response.content[1].as_tool_use().unwrap();
    assert_eq!((&*call.input, call.parses), (r#"{"a": 1e4"#, false));
    assert_eq!(cut.response.stop_reason, StopReason::Absent);
}

#[test]
fn an_error_event_ends_the_stream() {
    let text = rich_stream();
    let at = text.find("event: content_block_start").unwrap();
    let error = r#"event: error
data: {"type":"error","error":{"details":null,"type":"overloaded_error","message":"Overloaded"}}

"#;
    let stream = format!("{}{error}{}", &text[..at], &text[at..]);
    let folded = folded(stream.as_bytes());
    let End::Error(error) = &folded.end else {
        panic!("{:?}", folded.end);
    };
    assert_eq!(error.kind, wire::ErrorKind::Overloaded);
    assert_eq!(error.status, 200);
    assert!(!error.is_retryable());
    assert!(folded.response.content.is_empty());
    assert_eq!(folded.response.id, "msg_1");
}

#[test]
fn events_out_of_place_change_nothing() {
    let text = rich_stream();
    let early = r#"event: content_block_stop
data: {"type":"content_block_stop","index":0}

"#;
    let second = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":99}}}

"#;
    let at = text.find("event: content_block_delta").unwrap();
    let stream = format!(
        "{early}{}{second}{}data: [DONE]\n\n",
        &text[..at],
        &text[at..]
    );
    let folded = folded(stream.as_bytes());
    assert_eq!(folded.response, self::folded(text.as_bytes()).response);
    assert_eq!(folded.leftover.len(), 5);
    assert!(matches!(folded.leftover[4].kind, EventKind::Malformed));
    assert_eq!(&*folded.leftover[4].data, "[DONE]");
}

#[test]
fn another_message_in_the_same_stream_begins_anew() {
    let Some(folder) = recordings() else { return };
    let text =
        std::fs::read_to_string(folder.join("vercel-ai_spliced-message-start.chunks.txt")).unwrap();
    let folded = wire::fold(
        text.lines()
            .filter(|line| !line.is_empty())
            .map(Event::of_data),
    );
    assert_eq!(folded.response.id, "msg_second");
    assert_eq!(folded.response.content.len(), 2);
    assert_eq!(folded.abandoned.len(), 1);
    assert_eq!(folded.abandoned[0].id, "msg_first");
    let call = folded.abandoned[0].content[1].as_tool_use().unwrap();
    assert_eq!(&*call.input, r#"{"value":"Spark"#);
}

// ---- Generated messages.

/// A JSON string, with escapes that a writer of ours would not choose.
fn json_string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ -!#-\\[\\]-~]{0,6}",
        Just(r"\n".to_owned()),
        Just(r#"\""#.to_owned()),
        Just(r"\\".to_owned()),
        Just(r"\/".to_owned()),
        Just(r"\u0041".to_owned()),
        Just(r"\u00e9".to_owned()),
        Just(r"\uD83D\uDE00".to_owned()),
        Just(r"\ud83d".to_owned()),
        Just("é漢😀e\u{301}".to_owned()),
    ];
    prop::collection::vec(piece, 0..5).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

fn json_text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        json_string(),
        Just("1e400".to_owned()),
        Just("-0.0".to_owned()),
        Just("12345678901234567890.0".to_owned()),
        Just("1E+2".to_owned()),
        Just("null".to_owned()),
        Just("true".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3)
                .prop_map(|items| format!("[ {} ]", items.join(" ,"))),
            object(inner),
        ]
    })
}

fn object(value: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    prop::collection::vec(("[a-z]{1,3}", value), 0..3).prop_map(|fields| {
        let fields: Vec<String> = fields
            .iter()
            .map(|(key, value)| format!("\"{key}\" : {value}"))
            .collect();
        format!("{{ {} }}", fields.join(", "))
    })
}

/// The text of a block as an API might write it: keys in any order, spaces anywhere.
fn block_text() -> impl Strategy<Value = String> {
    prop_oneof![
        (json_string(), any::<bool>()).prop_map(|(text, swap)| if swap {
            format!("{{ \"text\":{text} , \"type\":\"text\"}}")
        } else {
            format!("{{\"type\": \"text\",\"citations\":null,\"text\":{text}}}")
        }),
        (json_string(), json_string()).prop_map(|(thinking, signature)| format!(
            "{{\"type\":\"thinking\", \"thinking\":{thinking},\n\"signature\":{signature}}}"
        )),
        ("[a-z0-9]{1,4}", object(json_text())).prop_map(|(id, input)| format!(
            "{{\"type\":\"tool_use\",\"id\":\"toolu_{id}\",\"name\":\"T\", \"input\" :{input},\"caller\":{{\"type\":\"direct\"}}}}"
        )),
        object(json_text()).prop_map(|content| format!(
            "{{\"type\":\"web_fetch_tool_result\",\"tool_use_id\":\"srvtoolu_1\",\"content\":{content}}}"
        )),
        object(json_text()).prop_map(|inner| format!("{{\"type\":\"novel\",\"z\":{inner}}}")),
    ]
}

/// What is left of a JSON text when the spaces between tokens do not count.
fn without_spaces(text: &str) -> String {
    let mut out = String::new();
    let mut in_string = false;
    let mut escaped = false;
    for c in text.chars() {
        if in_string {
            out.push(c);
            in_string = escaped || c != '"';
            escaped = c == '\\' && !escaped;
        } else if !c.is_ascii_whitespace() {
            out.push(c);
            in_string = c == '"';
        }
    }
    out
}

fn response_of(blocks: &[String]) -> Response {
    let text = format!(
        r#"{{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{}],"stop_reason":"tool_use","stop_sequence":null,"usage":{{"input_tokens":3,"output_tokens":9,"service_tier":"standard"}},"stop_details":{{"a":1}},"novel":[1e999]}}"#,
        blocks.join(",")
    );
    serde_json::from_str(&text).unwrap()
}

proptest! {
    #[test]
    fn a_message_passes_through_byte_for_byte(blocks in prop::collection::vec(block_text(), 0..4)) {
        let text = format!(r#"{{"role":"assistant","content":[{}]}}"#, blocks.join(","));
        let message: Message = serde_json::from_str(&text).unwrap();
        // Asking what a block says changes nothing.
        for block in &message.content {
            prop_assert!(!matches!(block.kind(), BlockKind::Malformed { .. }), "{block:?}");
        }
        prop_assert_eq!(serde_json::to_string(&message).unwrap(), text.clone());
        for (block, text) in message.content.iter().zip(&blocks) {
            prop_assert_eq!(block.raw().get(), text);
        }
        let shared = response_of(&blocks).to_message();
        prop_assert_eq!(serde_json::to_string(&shared).unwrap(), text);
    }

    #[test]
    fn a_response_comes_back_from_its_events(
        blocks in prop::collection::vec(block_text(), 0..4),
        piece_chars in 0usize..9,
        end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let response = response_of(&blocks);
        let events = wire::unfold(&response, piece_chars);
        let text = String::from_utf8(stream::encode(&events)).unwrap().replace('\n', end);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        cuts.push(text.len());
        cuts.sort_unstable();
        let mut decoder = stream::Decoder::new();
        let mut fold = wire::Fold::new();
        let mut from = 0;
        for cut in cuts {
            for event in decoder.push(&text.as_bytes()[from..cut]) {
                prop_assert!(event.name.is_some());
                fold.push(event);
            }
            from = cut;
        }
        prop_assert!(decoder.finish().is_none());
        let back = fold.finish();
        prop_assert_eq!(&back.end, &End::Complete);
        prop_assert!(back.leftover.is_empty(), "{:?}", back.leftover);
        prop_assert_eq!(back.events, events.len());
        prop_assert_eq!(&back.response.stop_reason, &response.stop_reason);
        prop_assert_eq!(&back.response.usage, &response.usage);
        prop_assert_eq!(&back.response.extra, &response.extra);
        prop_assert_eq!(back.response.content.len(), blocks.len());
        for (back, block) in back.response.content.iter().zip(&response.content) {
            prop_assert_eq!(
                without_spaces(back.raw().get()),
                without_spaces(block.raw().get())
            );
            if let (Some(back), Some(call)) = (back.as_tool_use(), block.as_tool_use()) {
                prop_assert_eq!(&back.input, &call.input);
            }
        }
    }

    #[test]
    fn an_input_is_kept_whatever_the_model_emits(input in prop_oneof![
        "\\PC{0,20}",
        object(json_text()).prop_flat_map(|text| (0..=text.chars().count(), Just(text)))
            .prop_map(|(chars, text)| text.chars().take(chars).collect::<String>()),
    ]) {
        let block = Block::tool_use("toolu_1", "T", &input);
        let call = block.as_tool_use().unwrap();
        let text = input.trim_matches([' ', '\t', '\n', '\r']);
        prop_assert_eq!(&*call.input, if text.is_empty() { "{}" } else { text });
        // History carries an object, whatever it was.
        let fields = raw::Fields::of(block.raw()).unwrap();
        prop_assert!(raw::is_object(fields.get("input").unwrap()));
        // And the stream carries the text itself.
        let response = Response { content: vec![block.clone()], ..Response::default() };
        let back = wire::fold(wire::unfold(&response, 3));
        prop_assert_eq!(&back.response.content, &response.content);
    }

    #[test]
    fn a_decoder_takes_any_bytes(bytes in prop::collection::vec(prop_oneof![
        Just(b'\n'), Just(b'\r'), Just(b':'), Just(b' '), any::<u8>()
    ], 0..60), at in any::<prop::sample::Index>()) {
        let mut whole = sse::Decoder::new();
        let mut frames = whole.push(&bytes);
        frames.extend(whole.finish());
        let (head, tail) = bytes.split_at(at.index(bytes.len() + 1));
        let mut split = sse::Decoder::new();
        let mut again = split.push(head);
        again.extend(split.push(tail));
        again.extend(split.finish());
        prop_assert_eq!(frames, again);
    }
}

// ---- Recorded traffic.

/// The folder of recorded API traffic; says so if it is not there.
fn recordings() -> Option<PathBuf> {
    let folder = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../shared/data/anthropic-api"
    ));
    if folder.is_dir() {
        return Some(folder.to_owned());
    }
    println!("skipped: no recordings at {}", folder.display());
    None
}

fn files(folder: &Path, ending: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(ending))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no files end with {ending}");
    files
}

/// Puts a stream together the plain way, on parsed values, to compare with.
fn plain_fold(events: &[Event]) -> Value {
    let mut message = Value::Null;
    let mut inputs: Vec<String> = Vec::new();
    for event in events {
        let data = value(&event.data);
        let index = data["index"].as_u64().unwrap_or(0) as usize;
        match data["type"].as_str().unwrap() {
            "message_start" if message["id"] == data["message"]["id"] => {}
            "message_start" => {
                message = data["message"].clone();
                inputs = vec![String::new(); message["content"].as_array().unwrap().len()];
            }
            "content_block_start" => {
                message["content"]
                    .as_array_mut()
                    .unwrap()
                    .push(data["content_block"].clone());
                inputs.push(String::new());
            }
            "content_block_delta" => {
                let block = &mut message["content"][index];
                let delta = &data["delta"];
                let mut append = |key: &str| {
                    let whole = block[key].as_str().unwrap_or("").to_owned();
                    block[key] = json!(whole + delta[key].as_str().unwrap());
                };
                match delta["type"].as_str().unwrap() {
                    "text_delta" => append("text"),
                    "thinking_delta" => append("thinking"),
                    "signature_delta" => append("signature"),
                    "input_json_delta" => {
                        inputs[index].push_str(delta["partial_json"].as_str().unwrap());
                    }
                    "citations_delta" => {
                        if block["citations"].is_null() {
                            block["citations"] = json!([]);
                        }
                        let citations = block["citations"].as_array_mut().unwrap();
                        citations.push(delta["citation"].clone());
                    }
                    "compaction_delta" => {
                        for (key, value) in delta.as_object().unwrap() {
                            if key != "type" {
                                block[key] = value.clone();
                            }
                        }
                    }
                    other => panic!("delta {other}"),
                }
            }
            "content_block_stop" => {
                if !inputs[index].is_empty() {
                    message["content"][index]["input"] = value(&inputs[index]);
                }
            }
            "message_delta" => {
                for (key, value) in data["delta"].as_object().unwrap() {
                    message[key] = value.clone();
                }
                for (key, value) in data["usage"].as_object().unwrap() {
                    message["usage"][key] = value.clone();
                }
                if let Some(management) = data.get("context_management") {
                    message["context_management"] = management.clone();
                }
            }
            "message_stop" | "ping" => {}
            other => panic!("event {other}"),
        }
    }
    message
}

fn check_events(name: &str, events: &[Event]) {
    for event in events {
        assert!(
            !matches!(event.kind, EventKind::Unknown(_) | EventKind::Malformed),
            "{name}: {}",
            event.data
        );
    }
    let folded = wire::fold_all(events.to_vec());
    // Some files hold several answers, one after the other.
    let mut from = 0;
    for folded in folded {
        let events = &events[from..from + folded.events];
        from += folded.events;
        assert!(folded.begun, "{name}");
        assert_eq!(folded.end, End::Complete, "{name}");
        let extra_starts = usize::from(name == "vercel-ai_duplicate-message-start.chunks.txt");
        assert_eq!(folded.leftover.len(), extra_starts, "{name}");
        let spliced = usize::from(name == "vercel-ai_spliced-message-start.chunks.txt");
        assert_eq!(folded.abandoned.len(), spliced, "{name}");
        check_response(name, &folded.response);
        let mut plain = plain_fold(events);
        complete(&mut plain);
        assert_eq!(
            value(&serde_json::to_string(&folded.response).unwrap()),
            plain,
            "{name}"
        );
    }
    assert_eq!(from, events.len(), "{name}");
}

/// Adds the fields that we always write.
fn complete(message: &mut Value) {
    for key in ["id", "model"] {
        if message.get(key).is_none() {
            message[key] = json!("");
        }
    }
    for key in ["stop_reason", "stop_sequence"] {
        if message.get(key).is_none() {
            message[key] = Value::Null;
        }
    }
    message["type"] = json!("message");
    message["role"] = json!("assistant");
    for key in ["input_tokens", "output_tokens"] {
        if message["usage"][key].is_null() {
            message["usage"][key] = json!(0);
        }
    }
}

/// Checks that every block is known and that its own events give the message back.
fn check_response(name: &str, response: &Response) {
    for block in &response.content {
        assert!(
            !matches!(
                block.kind(),
                BlockKind::Unknown(_) | BlockKind::Malformed { .. }
            ),
            "{name}: {block:?}"
        );
    }
    assert!(
        !matches!(response.stop_reason, StopReason::Unknown(_)),
        "{name}"
    );
    let back = wire::fold(wire::unfold(response, 5));
    assert!(back.leftover.is_empty(), "{name}");
    assert_eq!(
        value(&serde_json::to_string(&back.response).unwrap()),
        value(&serde_json::to_string(response).unwrap()),
        "{name}"
    );
}

#[test]
fn recorded_streams_fold_without_loss() {
    let Some(folder) = recordings() else { return };
    for (name, text) in files(&folder, ".sse") {
        if name == "vercel-ai_anthropic-fallback-tool-call.sse" {
            // Another API's stream: nothing of it is lost, and it is no message.
            let folded = folded(text.as_bytes());
            assert_eq!(folded.leftover.len(), folded.events);
            assert!(!folded.begun);
            continue;
        }
        check_events(&name, &stream::decode(text.as_bytes()));
        let mut whole = sse::Decoder::new();
        let mut frames = whole.push(text.as_bytes());
        frames.extend(whole.finish());
        // Every byte of the first few thousand: beyond, the lines only repeat.
        for at in 0..text.len().min(2_000) {
            let (head, tail) = text.as_bytes().split_at(at);
            let mut decoder = sse::Decoder::new();
            let mut again = decoder.push(head);
            again.extend(decoder.push(tail));
            again.extend(decoder.finish());
            assert_eq!(frames, again, "{name} split at {at}");
        }
    }
    for (name, text) in files(&folder, ".chunks.txt") {
        let events: Vec<Event> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(Event::of_data)
            .collect();
        check_events(&name, &events);
    }
}

/// Calls `look` with every object in `value`.
fn each_object(value: &Value, look: &mut dyn FnMut(&serde_json::Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            look(object);
            object.values().for_each(|value| each_object(value, look));
        }
        Value::Array(items) => items.iter().for_each(|value| each_object(value, look)),
        Value::String(text) => {
            // Bodies are recorded as strings.
            if let Ok(inner @ Value::Object(_)) = serde_json::from_str(text) {
                each_object(&inner, look);
            }
        }
        _ => {}
    }
}

#[test]
fn recorded_messages_read_without_loss() {
    let Some(folder) = recordings() else { return };
    let (mut responses, mut streams, mut requests) = (0, 0, 0);
    for (name, text) in files(&folder, ".json") {
        each_object(&value(&text), &mut |object| {
            let whole = Value::Object(object.clone());
            let is_message = object.get("type") == Some(&json!("message"));
            if is_message && object.get("content").is_some_and(Value::is_array) {
                let response: Response = serde_json::from_str(&whole.to_string())
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
                let mut expected = whole.clone();
                complete(&mut expected);
                assert_eq!(
                    value(&serde_json::to_string(&response).unwrap()),
                    expected,
                    "{name}"
                );
                check_response(&name, &response);
                responses += 1;
            }
            if let Some(body) = object.get("body").and_then(Value::as_str)
                && body.starts_with("event:")
            {
                check_events(&name, &stream::decode(body.as_bytes()));
                streams += 1;
            }
            if object.contains_key("messages") && object.contains_key("model") {
                let request: RequestBody = serde_json::from_str(&whole.to_string())
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(
                    value(&serde_json::to_string(&request).unwrap()),
                    whole,
                    "{name}"
                );
                requests += 1;
            }
        });
    }
    println!("{responses} responses, {streams} streams, {requests} requests");
    assert!(responses >= 40, "{responses} responses");
    assert!(streams >= 3, "{streams} streams");
}
