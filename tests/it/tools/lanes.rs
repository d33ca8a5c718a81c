//! The lane of a tool changes nothing but who executes it (`R24`).

use proptest::prelude::*;
use rehearsal::model::{ScriptedCall, Turn};
use rehearsal::run::{Setup, run};
use rehearsal::settings::{Layer, Source, merge};
use rehearsal::tools::published::published;
use rehearsal::tools::{CustomTool, McpOrigin, Scripted, Tool, ToolAnswer};
use rehearsal::trace::Event;
use rehearsal::words::{Class, Lane, Mode};
use rehearsal::world::Answer;
use serde_json::{Value, json};
use std::sync::Arc;

/// One tool by the name that it has where it comes from.
fn offered() -> Vec<(&'static str, Lane, Setup)> {
    let own = |name: &str| CustomTool {
        // As the built-in one is: it may change anything.
        exclusive: Some(true),
        ..CustomTool::new(
            name,
            "Runs a command. Use it to run one; not for files.",
            json!({"type": "object", "properties": {"command": {"type": "string"}}}),
        )
    };
    let mcp = CustomTool {
        mcp: Some(McpOrigin {
            server: "s".to_owned(),
            tool: "run".to_owned(),
            annotations: rehearsal::tools::Annotations::default(),
        }),
        ..own("mcp__s__run")
    };
    let with = |tools: Vec<Arc<dyn Tool>>, mcp: Vec<Arc<dyn Tool>>| Setup {
        tools,
        mcp,
        ..Setup::default()
    };
    vec![
        ("Bash", Lane::Own, with(Vec::new(), Vec::new())),
        (
            "run",
            Lane::Own,
            with(vec![Arc::new(own("run"))], Vec::new()),
        ),
        (
            "mcp__s__run",
            Lane::Own,
            with(Vec::new(), vec![Arc::new(mcp)]),
        ),
        (
            "bash",
            Lane::Published,
            with(
                published("bash_20250124", None).into_iter().collect(),
                Vec::new(),
            ),
        ),
    ]
}

/// What happened, with the tool's name, its lane and what hangs on its definition left out.
fn story(name: &str, lane: Lane, setup: Setup) -> Vec<Value> {
    let report = run(setup).expect("it runs");
    assert!(report.complaints.is_empty(), "{:?}", report.complaints);
    let mut story = Vec::new();
    for line in &report.trace.lines {
        match &line.event {
            Event::Pool(_) | Event::RunStarted(_) | Event::RunFinished(_) => continue,
            Event::Call(call) => assert_eq!(call.lane, lane),
            _ => {}
        }
        let mut event = serde_json::to_value(&line.event).expect("JSON");
        // `detail` is the beginning of the result that follows, cut at a length.
        for gone in ["tools_hash", "tokens_estimate", "usage", "lane", "detail"] {
            if let Some(map) = event.as_object_mut() {
                map.remove(gone);
            }
        }
        let text = event
            .to_string()
            .replace(&format!("\"{name}\""), "\"TOOL\"");
        let text = text.replace(&format!("of {name} "), "of TOOL ");
        let text = text.replace(&format!(":answers:{name}\""), ":answers:TOOL\"");
        story.push(json!([
            line.at,
            serde_json::from_str::<Value>(&text).expect("JSON")
        ]));
    }
    story
}

fn answer() -> impl Strategy<Value = Scripted> {
    prop_oneof![
        "[a-z\n]{0,40}".prop_map(Scripted::text),
        (
            prop::sample::select(vec![Class::Timeout, Class::Network, Class::ToolError]),
            "[a-z ]{0,20}"
        )
            .prop_map(|(class, text)| Scripted {
                fails: Some((class, text)),
                ..Scripted::text("")
            }),
        Just(Scripted::text("long ".repeat(6_000))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_tool_is_the_same_in_every_lane(
        answers in prop::collection::vec(answer(), 1..4),
        mode in prop::sample::select(vec![Mode::BypassPermissions, Mode::Default, Mode::Plan, Mode::AcceptEdits]),
    ) {
        // These two modes look at what a command would do, which only a shell's input is.
        let looks = matches!(mode, Mode::Plan | Mode::AcceptEdits);
        let alike = |name: &str| !looks || name.eq_ignore_ascii_case("bash");
        let mut stories = offered().into_iter().filter(|(name, ..)| alike(name)).map(|(name, lane, setup)| {
            let settings = json!({"permissions": {"defaultMode": mode.as_str()}});
            let (settings, _) = merge(vec![Layer::from_value(Source::Project, &settings)]);
            let call = || ScriptedCall {
                tool: name.to_owned(),
                id: None,
                input: json!({"command": "deploy --now"}).to_string(),
            };
            let calls = answers.iter().map(|_| call()).collect();
            let scripted = answers.iter().enumerate().map(|(at, answer)| Answer {
                value: ToolAnswer { tool: name.into(), input: None, answer: answer.clone(), latency_ms: 5 },
                has_matcher: false,
                times: None,
                optional: true,
                label: format!("answers[{at}]"),
            });
            let done = Turn { say: vec!["Done.".to_owned()], ..Turn::default() };
            story(name, lane, Setup {
                settings,
                answers: scripted.collect(),
                turns: vec![Turn { calls, ..Turn::default() }, done],
                ..setup
            })
        });
        let first = stories.next().expect("four lanes");
        for other in stories {
            for (one, other) in first.iter().zip(&other) {
                prop_assert_eq!(one, other);
            }
            prop_assert_eq!(first.len(), other.len());
        }
    }
}
