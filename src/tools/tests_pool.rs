//! The pool: what its stages leave, in which order, and what names mean.

use super::custom::{Annotations, CustomTool, McpOrigin};
use super::{Checked, Edit, Pool, PoolOptions, Read, Tool, Write, lookup::Unknown};
use crate::profile::Profile;
use crate::words::Mode;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

fn closed() -> Value {
    json!({"type": "object", "properties": {"q": {"type": "integer"}}, "additionalProperties": false})
}

fn own(name: &str) -> Arc<dyn Tool> {
    Arc::new(CustomTool::new(name, "Does something.", closed()))
}

fn mcp(server: &str, tool: &str, read_only: bool) -> Arc<dyn Tool> {
    let origin = McpOrigin {
        server: server.to_owned(),
        tool: tool.to_owned(),
        annotations: Annotations {
            requires_user: false,
            read_only,
            destructive: None,
        },
    };
    Arc::new(CustomTool::of_server(origin, "Does something.", closed()))
}

struct Case {
    profile: Profile,
    mode: Mode,
    flags: BTreeMap<String, bool>,
    only: Option<Vec<String>>,
    denied: Vec<&'static str>,
}

impl Default for Case {
    fn default() -> Case {
        Case {
            profile: Profile::seed(),
            mode: Mode::Default,
            flags: BTreeMap::new(),
            only: None,
            denied: Vec::new(),
        }
    }
}

impl Case {
    fn build(&self, own: Vec<Arc<dyn Tool>>, mcp: Vec<Arc<dyn Tool>>) -> (Pool, Vec<String>) {
        let denied = |name: &str| {
            self.denied
                .contains(&name)
                .then(|| format!("the deny rule {name}"))
        };
        let options = PoolOptions {
            profile: &self.profile,
            mode: self.mode,
            flags: &self.flags,
            only: self.only.as_deref(),
            denied: &denied,
        };
        let (pool, events) = Pool::build(own, mcp, &options);
        let said = events
            .iter()
            .map(|e| {
                let gone: Vec<String> = e
                    .removed
                    .iter()
                    .map(|r| format!("{} ({})", r.name, r.why))
                    .collect();
                format!("{} {}→{} {}", e.stage, e.before, e.after, gone.join(", "))
            })
            .collect();
        (pool, said)
    }
}

fn names(pool: &Pool) -> Vec<&str> {
    pool.entries().iter().map(|e| e.name()).collect()
}

#[test]
fn built_in_by_name_then_mcp_by_name() {
    let own = || {
        vec![
            own("Zoo"),
            Arc::new(Read) as Arc<dyn Tool>,
            own("deploy"),
            Arc::new(Edit),
        ]
    };
    let (a, _) = Case::default().build(own(), vec![mcp("b", "x", true), mcp("a", "y", true)]);
    assert_eq!(
        names(&a),
        ["Edit", "Read", "Zoo", "deploy", "mcp__a__y", "mcp__b__x"]
    );
    // B148 to B150: the order in which they came does not matter.
    let (b, _) = Case::default().build(own(), vec![mcp("a", "y", true), mcp("b", "x", true)]);
    assert_eq!(a.tool_defs(&[]), b.tool_defs(&[]));
}

#[test]
fn every_stage_says_what_it_removed() {
    let case = Case {
        flags: BTreeMap::from([("fork_subagent".to_owned(), false)]),
        only: Some(vec!["Read".into(), "Edit".into(), "Agent".into()]),
        denied: vec!["Edit", "mcp__a__y"],
        ..Case::default()
    };
    let bad: Arc<dyn Tool> = Arc::new(CustomTool::of_server(
        McpOrigin {
            server: "map".into(),
            tool: "dir".into(),
            annotations: Annotations::default(),
        },
        "B151.",
        json!({"type": "object", "properties": {"q": {"items": [{"type": "string"}]}}}),
    ));
    let (pool, said) = case.build(
        vec![
            Arc::new(Read),
            Arc::new(Edit),
            Arc::new(Write),
            own("Agent"),
            own("Read"),
        ],
        vec![
            mcp("a", "y", true),
            mcp("b", "z", true),
            mcp("b", "z", false),
            bad,
        ],
    );
    assert_eq!(names(&pool), ["Read", "mcp__b__z"]);
    insta::assert_snapshot!(said.join("\n"), @r#"
    collect 5→3 Agent (the feature fork_subagent is off), Read (another tool of this name comes before it)
    filter 3→1 Edit (the deny rule Edit), Write (not among tools.only)
    merge 5→2 mcp__a__y (the deny rule mcp__a__y), mcp__b__z (another tool of this name comes before it), mcp__map__dir (its input schema is no JSON Schema: "properties.q.items" must be a boolean or an object; it is the array [{"type":"string"}])
    "#);
}

#[test]
fn dont_ask_keeps_what_is_read_only_for_every_input() {
    let build = |profile: &str| {
        let case = Case {
            mode: Mode::DontAsk,
            profile: Profile::by_name(profile).expect("profile"),
            ..Case::default()
        };
        let own: Vec<Arc<dyn Tool>> = vec![Arc::new(Read), Arc::new(Edit)];
        let (pool, _) = case.build(own, vec![mcp("a", "r", true), mcp("a", "w", false)]);
        names(&pool).join(" ")
    };
    assert_eq!(build("seed"), "Read mcp__a__r");
    assert_eq!(
        build("claude-code-2.1.197"),
        "Edit Read mcp__a__r mcp__a__w"
    );
}

#[test]
fn lookup_by_name_alias_and_mcp_name() {
    let case = Case {
        denied: vec!["Write"],
        ..Case::default()
    };
    let (pool, _) = case.build(
        vec![Arc::new(Read), Arc::new(Write)],
        vec![
            mcp("my server.v2", "weather.get", true),
            mcp("a", "search", true),
            mcp("b", "search", true),
            mcp("fs", "Write", false),
        ],
    );
    let found = |name: &str| pool.lookup(name).map(|entry| entry.name().to_owned());
    assert_eq!(found("Read").as_deref(), Ok("Read"));
    assert_eq!(found("View").as_deref(), Ok("Read"));
    for name in [
        "mcp__my server.v2__weather.get",
        "my server.v2__weather.get",
        "my server.v2.weather.get",
        "weather.get",
        "weather_get",
    ] {
        assert_eq!(
            found(name).as_deref(),
            Ok("mcp__my_server_v2__weather_get"),
            "{name}"
        );
    }
    assert_eq!(found("a/search").as_deref(), Ok("mcp__a__search"));
    let says = |name: &str| found(name).map_err(|e: Unknown| e.to_string()).unwrap_err();
    insta::assert_snapshot!(says("search"), @r#""search" could be mcp__a__search or mcp__b__search. Call the one you mean by its full name."#);
    insta::assert_snapshot!(says("read"), @r#"there is no tool called "read". Did you mean Read? Use one of the tools of this session, by its exact name."#);
    // One that was taken away is not replaced by one that resembles it.
    insta::assert_snapshot!(says("Write"), @r#"the tool "Write" is not available in this session (the deny rule Write). Do without it."#);
    insta::assert_snapshot!(says("Task\" >\n<parameter"), @r#"there is no tool called "Task\" >…". Use one of the tools of this session, by its exact name."#);
}

#[test]
fn deferred_tools_come_after_the_rest_in_their_order_of_loading() {
    let case = Case {
        profile: Profile::by_name("claude-code-2.1.2").expect("profile"),
        ..Case::default()
    };
    let mcps = || {
        vec![
            mcp("a", "x", true),
            mcp("b", "y", true),
            mcp("c", "z", true),
        ]
    };
    let (pool, _) = case.build(vec![Arc::new(Read), own("ToolSearch")], mcps());
    let defs = |loaded: &[&str]| -> Vec<String> {
        let loaded: Vec<Arc<str>> = loaded.iter().map(|name| (*name).into()).collect();
        pool.tool_defs(&loaded)
            .into_iter()
            .map(|def| def.name)
            .collect()
    };
    assert_eq!(defs(&[]), ["Read", "ToolSearch"]);
    assert_eq!(
        pool.deferred_names(),
        ["mcp__a__x", "mcp__b__y", "mcp__c__z"]
    );
    assert_eq!(
        defs(&["mcp__c__z", "Read", "mcp__a__x", "gone"]),
        ["Read", "ToolSearch", "mcp__c__z", "mcp__a__x"]
    );
    // B147: without the search nothing is deferred.
    let (pool, _) = case.build(vec![Arc::new(Read)], mcps());
    assert_eq!(pool.tool_defs(&[]).len(), 4);
}

#[test]
fn definitions_are_strict_where_they_can_be() {
    let open: Arc<dyn Tool> = Arc::new(CustomTool::new("open", "x", json!({"type": "object"})));
    let (pool, _) = Case::default().build(vec![Arc::new(Read), open], Vec::new());
    let strict: Vec<Option<bool>> = pool.tool_defs(&[]).iter().map(|def| def.strict).collect();
    assert_eq!(strict, [Some(true), None]);
}

#[test]
fn text_becomes_a_number_where_the_profile_says_so() {
    let (pool, _) = Case::default().build(vec![own("t")], Vec::new());
    let entry = pool.lookup("t").expect("there");
    let input = json!({"q": "890"});
    assert!(entry.check(input.clone(), &Profile::seed()).is_err());
    let coercing = Profile::by_name("claude-code-2.1.2").expect("profile");
    assert_eq!(
        entry.check(input, &coercing).ok(),
        Some(Checked {
            input: json!({"q": 890}),
            coerced: true
        })
    );
    let plain = json!({"q": 1});
    assert_eq!(
        entry.check(plain.clone(), &coercing).ok(),
        Some(Checked {
            input: plain,
            coerced: false
        })
    );
}
