//! Laws of the MCP client on whatever a server can send, in whatever pieces.

use crate::fuzz::config;
use crate::mcp::{LIMITS, says, script, tool};
use proptest::collection::vec;
use proptest::prelude::*;
use rehearsal::mcp::{CallNumber, Client, Event, Message, Reply, Sent, Server, State};
use serde_json::json;
use std::collections::BTreeMap;

/// Lines that a server sends of its own accord, most of them wrong.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let id = || {
        prop_oneof![
            Just(json!(null)),
            (0..12u64).prop_map(|n| json!(n)),
            Just(json!("x"))
        ]
    };
    let result = prop_oneof![
        Just(json!({})),
        Just(json!([])),
        Just(json!(7)),
        Just(json!({"content": [{"type": "text", "text": "t"}]})),
        Just(json!({"content": 3, "tools": [1, {"name": "n"}], "nextCursor": "1"})),
        Just(json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}})),
        Just(json!({"protocolVersion": "1999-01-01"})),
    ];
    prop_oneof![
        vec(any::<u8>(), 0..40),
        (id(), result).prop_map(|(id, r)| json!({"jsonrpc": "2.0", "id": id, "result": r})
            .to_string()
            .into_bytes()),
        id().prop_map(
            |id| json!({"jsonrpc": "2.0", "id": id, "error": {"code": 1}})
                .to_string()
                .into_bytes()
        ),
        Just(Message::notification("notifications/tools/list_changed", json!(null)).line()),
        id().prop_map(|id| Message::notification(
            "notifications/progress",
            json!({"progressToken": id})
        )
        .line()),
        id().prop_map(|id| Message::request(id, "ping", json!(null)).line()),
        id().prop_map(|id| Message::request(id, "sampling/createMessage", json!([1])).line()),
        ".{0,30}".prop_map(String::into_bytes),
    ]
}

/// The outcomes so far, by request.
fn collect(client: &mut Client, outcomes: &mut BTreeMap<CallNumber, u32>) {
    while let Some(event) = client.event() {
        if let Event::Answered { call, .. } = event {
            *outcomes.entry(call).or_default() += 1;
        }
    }
}

/// `bytes` in pieces of the sizes, over and over.
fn pieces<'a>(mut bytes: &'a [u8], sizes: &'a [usize]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for size in sizes.iter().cycle() {
        if bytes.is_empty() {
            break;
        }
        let (piece, rest) = bytes.split_at((*size).min(bytes.len()));
        pieces.push(piece);
        bytes = rest;
    }
    pieces
}

proptest! {
    #![proptest_config(config(96, 1))]

    /// Every request has exactly one outcome, at its deadline at the latest.
    #[test]
    fn every_request_has_one_outcome_whatever_the_server_says(
        lines in vec((line(), 0..400u64), 0..30),
        sizes in vec(1..50usize, 1..6),
        asked in vec(0..5u64, 1..8),
        cancelled in vec(any::<bool>(), 8),
        is_real in any::<bool>(),
        closes in any::<bool>(),
    ) {
        let tools = vec![tool("a", says("a"), 70), tool("b", Reply::Never, 0), tool("c", Reply::Dies, 300)];
        // A real server besides what is sent without it, or nobody but that.
        let mut server = Server::new(script(tools));
        let mut client = Client::new(LIMITS);
        client.connect(0);
        let (mut now, mut outcomes, mut calls) = (0, BTreeMap::new(), Vec::new());
        let mut lines = lines.into_iter();
        let mut asked = asked.into_iter();
        for step in 0..60u64 {
            while let Some(bytes) = client.output() {
                if is_real {
                    server.receive(&bytes, now);
                }
            }
            while let Some(sent) = server.output(now) {
                match sent {
                    Sent::Bytes(bytes) => pieces(&bytes, &sizes).iter().for_each(|piece| client.receive(piece, now)),
                    Sent::Closed => client.closed("it died"),
                }
            }
            if let Some((mut line, pause)) = lines.next() {
                line.push(b'\n');
                pieces(&line, &sizes).iter().for_each(|piece| client.receive(piece, now));
                now += pause;
            }
            if step > 2 && let Some(which) = asked.next() {
                let call = match which {
                    0 => client.list_resources(None, now),
                    1 => client.read_resource("mem:/1", now),
                    n => client.call(["a", "b", "c"][n as usize % 3], &json!({}), now),
                };
                if cancelled[calls.len()] {
                    client.cancel(call, "no");
                    client.cancel(call, "no, twice");
                }
                calls.push(call);
            }
            client.time_is(now);
            collect(&mut client, &mut outcomes);
        }
        if closes {
            client.closed("gone");
        }
        // What is still open ends at its deadline. A server that sends nothing more can
        // cost its attempts to list, and no more.
        let mut rounds = 0;
        while let Some(deadline) = client.deadline() {
            rounds += 1;
            prop_assert!(rounds < 40, "a deadline that does not pass");
            now = deadline.max(now);
            client.time_is(now);
            while client.output().is_some() {}
        }
        collect(&mut client, &mut outcomes);
        prop_assert!(now <= 60 * 400 + 3 * LIMITS.call_ms);
        for call in &calls {
            prop_assert_eq!(outcomes.get(call), Some(&1), "{:?}", call);
        }
        prop_assert_eq!(outcomes.len(), calls.len());
    }

    /// Where lines are cut into pieces makes no difference.
    #[test]
    fn pieces_make_no_difference(
        lines in vec(line(), 0..20),
        sizes in vec(1..9usize, 1..5),
    ) {
        let bytes: Vec<u8> = lines.into_iter().flat_map(|mut line| { line.push(b'\n'); line }).collect();
        let run = |pieces: &[&[u8]]| {
            let mut client = Client::new(LIMITS);
            client.connect(0);
            pieces.iter().for_each(|piece| client.receive(piece, 1));
            let mut events = Vec::new();
            while let Some(event) = client.event() {
                events.push(event);
            }
            let mut out = Vec::new();
            while let Some(bytes) = client.output() {
                out.extend(bytes);
            }
            (client.state(), events, out)
        };
        prop_assert_eq!(run(&[&bytes[..]]), run(&pieces(&bytes, &sizes)));
    }

    /// A scripted server answers garbage with nothing, or with an error, and goes on.
    #[test]
    fn no_garbage_ends_a_server(lines in vec(line(), 0..20)) {
        let mut server = Server::new(script(vec![tool("a", says("a"), 0)]));
        for mut line in lines {
            line.push(b'\n');
            server.receive(&line, 0);
        }
        while server.output(1_000).is_some() {}
        let mut client = Client::new(LIMITS);
        client.connect(1_000);
        for now in [1_000, 1_010] {
            while let Some(bytes) = client.output() {
                server.receive(b"\n", now);
                server.receive(&bytes, now);
            }
            while let Some(Sent::Bytes(bytes)) = server.output(now) {
                client.receive(&bytes, now);
            }
        }
        while let Some(bytes) = client.output() {
            server.receive(&bytes, 1_010);
        }
        while let Some(Sent::Bytes(bytes)) = server.output(1_010) {
            client.receive(&bytes, 1_010);
        }
        prop_assert_eq!(client.state(), State::Ready);
    }
}
