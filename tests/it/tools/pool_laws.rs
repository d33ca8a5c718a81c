//! The pool as laws: the order in which servers list their tools does not show, names are
//! injective, and loading changes no byte that was sent.

use proptest::prelude::*;
use proptest::sample::Index;
use rehearsal::model::{ScriptedCall, Turn};
use rehearsal::profile::{Deferred, LoadedSchema, LoadedToolsLast, Profile};
use rehearsal::run::{Setup, run};
use rehearsal::tools::{
    Annotations, CustomTool, McpOrigin, Pool, PoolOptions, Tool, builtin, mcp_names, normalized,
};
use rehearsal::trace::{Event, Trace};
use rehearsal::words::Mode;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A server's name, a tool's, and which of several definitions it has.
type Listed = (String, String, u8);

/// Names that are plain, that become one another, that are long, or anything.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab]{1,2}",
        "[ab][._ /-]{1,2}[ab]",
        "[x]{50,90}",
        "a__[ab]",
        "catalog_query_[0-9a-f]{8}",
        "\\PC{1,12}",
    ]
}

fn listed() -> impl Strategy<Value = Vec<Listed>> {
    prop::collection::vec((name(), name(), 0..3u8), 0..12)
}

fn names(listed: &[Listed]) -> BTreeMap<(&str, &str), String> {
    mcp_names(listed.iter().map(|(server, tool, _)| (&**server, &**tool)))
}

fn tools(listed: &[Listed]) -> Vec<Arc<dyn Tool>> {
    let names = names(listed);
    listed
        .iter()
        .map(|(server, tool, kind)| {
            let origin = McpOrigin {
                server: server.clone(),
                tool: tool.clone(),
                annotations: Annotations::default(),
            };
            let schema = match kind {
                0 => json!({"type": "object"}),
                1 => json!({"type": "object", "properties": {"q": {"type": "string"}}}),
                // No request may hold it.
                _ => json!({"type": "object", "properties": {"q": {"items": [1]}}}),
            };
            let tool = CustomTool::of_server(origin, format!("Does {kind}."), schema);
            let name = names[&(&**server, &*tool.mcp.as_ref().expect("of a server").tool)].clone();
            Arc::new(CustomTool { name, ..tool }) as Arc<dyn Tool>
        })
        .collect()
}

fn profile(schema: LoadedSchema) -> Profile {
    let mut profile = Profile::seed();
    profile.deferred = Deferred::Mcp;
    profile.loaded_schema = schema;
    profile.loaded_tools_last = LoadedToolsLast::Session;
    profile
}

fn pool(listed: &[Listed], profile: &Profile) -> Pool {
    let options = PoolOptions {
        profile,
        mode: Mode::Default,
        flags: &BTreeMap::new(),
        only: None,
        denied: &|_| None,
    };
    Pool::build(builtin(), tools(listed), &options).0
}

fn bytes(pool: &Pool, loaded: &[Arc<str>]) -> String {
    let defs = pool.tool_defs(loaded);
    let defs = defs
        .iter()
        .map(|def| serde_json::to_string(def).expect("written"));
    defs.collect::<Vec<_>>().join(",")
}

/// The tools blocks of the requests of a run, by their hashes; and that nothing broke.
fn blocks(trace: &Trace) -> Vec<String> {
    let mut hashes = Vec::new();
    for event in trace.events() {
        match event {
            Event::Request(request) => hashes.push(request.tools_hash.clone()),
            Event::Invariant(broken) => panic!("{broken:?}"),
            _ => {}
        }
    }
    hashes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_listing_does_not_show((listed, shuffled) in listed().prop_flat_map(|listed| {
        (Just(listed.clone()), Just(listed).prop_shuffle())
    })) {
        let mut profile = profile(LoadedSchema::Result);
        for deferred in [Deferred::Mcp, Deferred::Nothing] {
            profile.deferred = deferred;
            let (a, b) = (pool(&listed, &profile), pool(&shuffled, &profile));
            prop_assert_eq!(bytes(&a, &[]), bytes(&b, &[]));
            prop_assert_eq!(a.deferred_listing(), b.deferred_listing());
            let all = |pool: &Pool| -> Vec<Arc<str>> { pool.entries().iter().map(|e| e.name().into()).collect() };
            prop_assert_eq!(all(&a), all(&b));
            prop_assert_eq!(bytes(&a, &all(&a)), bytes(&b, &all(&b)));
        }
    }

    #[test]
    fn names_are_valid_injective_and_stable((listed, more) in (listed(), listed())) {
        let few = names(&listed);
        let mut seen = BTreeSet::new();
        for name in few.values() {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            prop_assert!(name.starts_with("mcp__") && name.len() <= 64 && name.chars().all(plain), "{}", name);
            prop_assert!(seen.insert(name), "{} twice", name);
        }
        // What comes later changes a name only where it would be the same.
        let both: Vec<Listed> = listed.iter().chain(&more).cloned().collect();
        let many = names(&both);
        let plain = |(server, tool): (&str, &str)| format!("mcp__{}__{}", normalized(server), normalized(tool));
        for (key, name) in &few {
            let would_be = |new: (&str, &str)| plain(new) == plain(*key) || plain(new) == *name;
            let has_rival = many.keys().any(|new| !few.contains_key(new) && would_be(*new));
            prop_assert!(many[key] == *name || has_rival, "{:?}: {} became {}", key, name, many[key]);
        }
    }

    #[test]
    fn every_tool_is_found_by_its_name_and_by_its_raw_one(listed in listed()) {
        let pool = pool(&listed, &profile(LoadedSchema::Result));
        for ((server, tool), name) in names(&listed) {
            let Ok(found) = pool.lookup(&name) else { continue };
            prop_assert_eq!(found.name(), &name);
            let raw = format!("mcp__{server}__{tool}");
            let same_raw = |(s, t, _): &&Listed| format!("mcp__{s}__{t}") == raw && (&**s, &**t) != (server, tool);
            if listed.iter().find(same_raw).is_none() {
                let by_raw = pool.lookup(&raw).map(|entry| entry.name().to_owned());
                prop_assert_eq!(by_raw, Ok(name));
            }
        }
    }

    #[test]
    fn loading_appends(listed in listed(), order in prop::collection::vec(any::<Index>(), 0..6)) {
        let pool = pool(&listed, &profile(LoadedSchema::ToolsBlock));
        let deferred = pool.deferred_names();
        prop_assume!(!deferred.is_empty());
        let mut loaded: Vec<Arc<str>> = Vec::new();
        let mut sent = bytes(&pool, &loaded);
        for at in order {
            let name = *at.get(&deferred);
            if !loaded.iter().any(|known| **known == *name) {
                loaded.push(name.into());
            }
            let now = bytes(&pool, &loaded);
            prop_assert!(now.starts_with(&sent));
            sent = now;
        }
        prop_assert_eq!(pool.tool_defs(&loaded).len(), builtin().len() + loaded.len());
    }

    #[test]
    fn no_run_changes_what_it_sent(
        listed in listed(),
        order in prop::collection::vec(any::<Index>(), 1..5),
        schema in prop_oneof![Just(LoadedSchema::Result), Just(LoadedSchema::ToolsBlock), Just(LoadedSchema::ToolReference)],
    ) {
        let profile = profile(schema);
        let pool = pool(&listed, &profile);
        let deferred = pool.deferred_names();
        prop_assume!(!deferred.is_empty());
        let search = |at: &Index| Turn {
            calls: vec![ScriptedCall {
                tool: "ToolSearch".to_owned(),
                id: None,
                input: json!({"query": format!("select:{}", at.get(&deferred))}).to_string(),
            }],
            ..Turn::default()
        };
        let mut turns: Vec<Turn> = order.iter().map(search).collect();
        turns.push(Turn { say: vec!["Done.".to_owned()], ..Turn::default() });
        let setup = Setup { profile, mcp: tools(&listed), turns, ..Setup::default() };
        let report = run(setup).expect("it runs");
        prop_assert!(report.complaints.is_empty(), "{:?}", report.complaints);
        let blocks = blocks(&report.trace);
        let different: BTreeSet<&String> = blocks.iter().collect();
        let chosen: BTreeSet<&str> = order.iter().map(|at| *at.get(&deferred)).collect();
        let expected = match schema {
            LoadedSchema::Result => 1,
            _ => 1 + chosen.len(),
        };
        prop_assert_eq!(different.len(), expected);
        let stop = report.trace.events().any(|event| matches!(event, Event::Stop(stop) if stop.reason == "end_turn"));
        prop_assert!(stop);
    }
}
