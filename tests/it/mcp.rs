//! The client and the scripted server over the in-world pipe, in virtual time.

use rehearsal::mcp::{
    Change, Connected, Event, Failure, Limits, Link, Reply, Script, ScriptedTool,
};
use rehearsal::sim::{ActorId, InOrder, OpKind, Random, Sim, SimConfig};
use rehearsal::world::{MemoryFs, MemoryOptions, World};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

pub const LIMITS: Limits = Limits {
    connect_ms: 30_000,
    list_ms: 5_000,
    list_tries: 3,
    pages: 100,
    call_ms: 60_000,
    text_bytes: 2_048,
};

pub fn tool(name: &str, reply: Reply, latency_ms: u64) -> ScriptedTool {
    ScriptedTool {
        definition: json!({"name": name, "description": "Says.", "inputSchema": {"type": "object"}}),
        reply,
        latency_ms,
        progress: Vec::new(),
    }
}

pub fn says(text: &str) -> Reply {
    Reply::Result(json!({"content": [{"type": "text", "text": text}]}))
}

pub fn script(tools: Vec<ScriptedTool>) -> Script {
    Script {
        tools,
        greets_after_ms: Some(10),
        ..Script::default()
    }
}

fn world(seed: u64) -> (Sim, World) {
    let config = match seed {
        0 => SimConfig::new(InOrder),
        seed => SimConfig::new(Random::new(seed)),
    };
    let sim = Sim::new(config);
    let fs = Arc::new(MemoryFs::new(MemoryOptions::default()));
    (sim.clone(), World::new(sim, fs, 0, seed, Vec::new()))
}

fn connected(script: Script) -> (Arc<Link>, Connected) {
    Link::connect("s", script, LIMITS).unwrap()
}

type Ends = Vec<(u32, u64, Result<Value, Failure>)>;

/// Calls the tools together, each from an actor of its own: number, end, answer.
fn calls(link: &Arc<Link>, seed: u64, tools: &[&str]) -> Ends {
    let (sim, world) = world(seed);
    let ends = Arc::new(Mutex::new(Vec::new()));
    let running = sim.clone();
    sim.run(async {
        let mut group = rehearsal::sim::Group::new();
        for (n, tool) in (0..).zip(tools) {
            let (link, tool, ends) = (link.clone(), (*tool).to_owned(), ends.clone());
            let actor = world.actor(ActorId::call(n));
            group.spawn(&running, ActorId::call(n), n as usize, async move {
                let answer = link
                    .call(&actor, OpKind::Read, &tool, &json!({}), &|_| {})
                    .await;
                ends.lock().unwrap().push((n, actor.now_ms(), answer));
            });
        }
        while group.live().len() > 0 {
            group.next().await.1.unwrap();
        }
    })
    .unwrap();
    let ends = ends.lock().unwrap();
    ends.clone()
}

fn text(answer: &Result<Value, Failure>) -> &str {
    answer.as_ref().unwrap()["content"][0]["text"]
        .as_str()
        .unwrap()
}

#[test]
fn answers_out_of_order_come_to_who_asked() {
    let script = script(vec![
        tool("slow", says("late"), 90),
        tool("quick", says("soon"), 5),
    ]);
    for seed in 0..8 {
        let (link, there) = connected(script.clone());
        assert_eq!((there.took_ms, there.tools.len()), (10, 2));
        let ends = calls(&link, seed, &["slow", "quick"]);
        assert_eq!((ends[0].0, ends[0].1, text(&ends[0].2)), (1, 5, "soon"));
        assert_eq!((ends[1].0, ends[1].1, text(&ends[1].2)), (0, 90, "late"));
    }
}

#[test]
fn who_dies_in_mid_call_ends_every_call_at_once() {
    let script = script(vec![
        tool("slow", says("late"), 900),
        tool("fatal", Reply::Dies, 40),
    ]);
    let (link, _) = connected(script);
    let ends = calls(&link, 0, &["slow", "fatal"]);
    assert_eq!(ends.len(), 2);
    for (_, at, answer) in ends {
        assert!(matches!(answer, Err(Failure::Dead(_))), "{answer:?}");
        assert_eq!(at, 40);
    }
    // And who comes later hears it without waiting.
    let ends = calls(&link, 0, &["slow"]);
    assert!(matches!(ends[0].2, Err(Failure::Dead(_))));
    assert_eq!(ends[0].1, 0);
}

#[test]
fn who_never_answers_is_not_waited_for_for_ever() {
    let (link, _) = connected(script(vec![tool("mute", Reply::Never, 0)]));
    let ends = calls(&link, 0, &["mute"]);
    let after_ms = LIMITS.call_ms;
    assert_eq!(ends, [(0, after_ms, Err(Failure::Timeout { after_ms }))]);
}

#[test]
fn a_server_that_refuses_or_is_silent_is_not_connected() {
    let silent = Script::default();
    let there = Link::connect("s", silent, LIMITS).map(|_| ()).unwrap_err();
    assert_eq!(there.took_ms, LIMITS.connect_ms);
    let refuses = Script {
        refuses: Some("no licence".to_owned()),
        ..script(Vec::new())
    };
    let there = Link::connect("s", refuses, LIMITS).map(|_| ()).unwrap_err();
    assert!(there.why.contains("no licence"), "{}", there.why);
    assert_eq!(there.took_ms, 10);
}

#[test]
fn long_lists_come_in_pages_and_long_texts_are_cut() {
    let mut tools: Vec<ScriptedTool> = (0..25)
        .map(|n| tool(&format!("t{n}"), says("x"), 0))
        .collect();
    tools[0].definition["description"] = "ä".repeat(3_000).into();
    let script = Script {
        page: Some(10),
        instructions: Some("i".repeat(5_000)),
        ..script(tools)
    };
    let (_, there) = connected(script);
    assert_eq!(there.tools.len(), 25);
    assert_eq!(there.tools[0]["description"].as_str().unwrap().len(), 2_048);
    assert_eq!(there.instructions.unwrap().len(), 2_048);
    assert!(there.odd.is_empty(), "{:?}", there.odd);
}

#[test]
fn a_changed_list_is_fetched_and_told() {
    let mut script = script(vec![tool("old", says("o"), 50)]);
    let new = vec![tool("new", says("n"), 0)];
    script.changes = vec![(20, Change::Lists(new)), (30, Change::Floods(1_000))];
    let (link, _) = connected(script);
    let ends = calls(&link, 0, &["old"]);
    assert_eq!(text(&ends[0].2), "o");
    let told = link.told();
    assert_eq!(told[0], (20, Event::ListChanged));
    let Event::Listed(tools) = &told[1].1 else {
        panic!("{told:?}");
    };
    assert_eq!(tools[0]["name"], "new");
    // What is not listed any more is the server's to refuse.
    let ends = calls(&link, 0, &["old", "new"]);
    assert!(matches!(ends[0].2, Err(Failure::Fault(_))), "{ends:?}");
    assert_eq!(text(&ends[1].2), "n");
}

#[test]
fn who_stops_waiting_takes_the_call_back_and_a_late_answer_is_dropped() {
    for deaf_to_cancel in [false, true] {
        let script = Script {
            deaf_to_cancel,
            ..script(vec![
                tool("slow", says("late"), 90),
                tool("next", says("n"), 200),
            ])
        };
        let (link, _) = connected(script);
        let (sim, world) = world(0);
        sim.run(async {
            let actor = world.actor(ActorId::AGENT);
            let arguments = json!({});
            let call = link.call(&actor, OpKind::Read, "slow", &arguments, &|_| {});
            let call = Box::pin(call);
            let clock = world.actor(ActorId::outside(0));
            let tired = Box::pin(clock.sleep_ms(30));
            let first = futures_util::future::select(call, tired).await;
            assert!(matches!(first, futures_util::future::Either::Right(_)));
            drop(first);
            let next = link
                .call(&actor, OpKind::Read, "next", &arguments, &|_| {})
                .await;
            assert_eq!(text(&next), "n");
        })
        .unwrap();
        let odd = link.told();
        let late = Event::Odd("a late answer to a request that was given up".to_owned());
        match deaf_to_cancel {
            true => assert_eq!(odd, [(90, late)]),
            false => assert_eq!(odd, []),
        }
    }
}

#[test]
fn progress_is_told_while_the_call_is_under_way() {
    let mut slow = tool("slow", says("done"), 90);
    slow.progress = vec![(30, json!({"progress": 1})), (60, json!({"progress": 2}))];
    let (link, _) = connected(script(vec![slow]));
    let (sim, world) = world(0);
    let told = Mutex::new(Vec::new());
    sim.run(async {
        let actor = world.actor(ActorId::AGENT);
        let note = |said: Value| {
            let at = actor.now_ms();
            told.lock().unwrap().push((at, said["progress"].clone()));
        };
        link.call(&actor, OpKind::Read, "slow", &json!({}), &note)
            .await
            .unwrap();
    })
    .unwrap();
    assert_eq!(*told.lock().unwrap(), [(30, json!(1)), (60, json!(2))]);
}

#[test]
fn resources_are_listed_page_by_page_and_read() {
    let listed = |n: u32| json!({"uri": format!("mem:/{n}"), "name": format!("r{n}")});
    let contents = |n: u32| vec![json!({"uri": format!("mem:/{n}"), "text": format!("of {n}")})];
    let script = Script {
        resources: (0..7).map(|n| (listed(n), contents(n))).collect(),
        page: Some(3),
        ..script(Vec::new())
    };
    let (link, _) = connected(script);
    let (sim, world) = world(0);
    sim.run(async {
        let actor = world.actor(ActorId::AGENT);
        let all = link.resources(&actor).await.unwrap();
        assert_eq!(all, (0..7).map(listed).collect::<Vec<_>>());
        let read = link.read_resource(&actor, "mem:/4").await.unwrap();
        assert_eq!(read["contents"][0]["text"], "of 4");
        let none = link.read_resource(&actor, "mem:/9").await;
        assert!(matches!(none, Err(Failure::Fault(fault)) if fault.code == -32002));
    })
    .unwrap();
}
