//! The pipeline seen from outside: a tool of one's own, times, resuming, what a model sees.

use async_trait::async_trait;
use rehearsal::hooks::ScriptedHook;
use rehearsal::model::{Model, ModelError, Request, ScriptedCall, Turn};
use rehearsal::run::{Order, RunReport, Setup, run, run_with};
use rehearsal::sim::Resource;
use rehearsal::tools::{Footprint, Outcome, Permit, Progress, Refusal, Tool, ToolCx};
use rehearsal::trace::Event;
use rehearsal::wire::{Block, Message, Response, StopReason};
use rehearsal::words::{Class, Step};
use rehearsal::world::{Answer, Change, Fs, OutsideChange, Trigger, UserAnswer, UserReply};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A tool that does nothing and needs nobody's leave.
pub struct Empty(Value);

impl Empty {
    pub fn new() -> Empty {
        Empty(json!({
            "type": "object",
            "properties": {"n": {"type": "integer"}, "text": {"type": "string"}},
            "required": ["n"],
            "additionalProperties": false,
        }))
    }
}

#[async_trait]
impl Tool for Empty {
    fn name(&self) -> &str {
        "empty"
    }
    fn description(&self) -> &str {
        "Does nothing. Use it to measure the pipeline; not for work."
    }
    fn input_schema(&self) -> &Value {
        &self.0
    }
    fn read_only(&self) -> rehearsal::tools::ReadOnly {
        rehearsal::tools::ReadOnly::Always
    }
    fn footprint(&self, _cx: &ToolCx, _input: &Value) -> Footprint {
        Footprint::nothing()
    }
    async fn call(
        &self,
        input: &Value,
        cx: &ToolCx,
        _p: &dyn Permit,
        progress: &dyn Progress,
    ) -> Outcome {
        if input["n"] == 13 {
            panic!("thirteen is no good");
        }
        if input["n"] == 7 {
            progress.report(json!({"half": "done"}));
        }
        if input["n"] == 21 {
            let parent = cx.parent.as_ref().map(|message| message.text());
            return Outcome::ok(parent.unwrap_or_default());
        }
        Outcome::ok("done")
    }
}

pub fn turn(calls: &[(&str, Value)]) -> Turn {
    let call = |(tool, input): &(&str, Value)| ScriptedCall {
        tool: (*tool).to_owned(),
        id: None,
        input: input.to_string(),
    };
    Turn {
        calls: calls.iter().map(call).collect(),
        ..Turn::default()
    }
}

pub fn say(text: &str) -> Turn {
    Turn {
        say: vec![text.to_owned()],
        ..Turn::default()
    }
}

pub fn with_empty(turns: Vec<Turn>) -> Setup {
    Setup {
        tools: vec![Arc::new(Empty::new())],
        turns,
        ..Setup::default()
    }
}

fn steps(report: &RunReport, id: &str) -> Vec<Step> {
    let steps = report
        .trace
        .lines
        .iter()
        .filter_map(|line| match &line.event {
            Event::Step(step) if &*step.call == id => Some(step.step),
            _ => None,
        });
    steps.collect()
}

#[test]
fn an_empty_tool_passes_all_seven_steps() {
    let report = run(with_empty(vec![
        turn(&[("empty", json!({"n": 7}))]),
        say("Done."),
    ]))
    .expect("runs");
    assert_eq!(steps(&report, "toolu_0001_1"), Step::ALL);
    assert_eq!(report.stop, "end_turn");
    assert!(
        report
            .trace
            .lines
            .iter()
            .any(|line| matches!(line.event, Event::Progress(_)))
    );
    assert!(report.leftover.is_empty() && report.complaints.is_empty());
}

#[test]
fn a_panic_in_a_tool_is_its_result_and_no_sibling_notices() {
    let calls = turn(&[
        ("empty", json!({"n": 1})),
        ("empty", json!({"n": 13})),
        ("empty", json!({"n": 2})),
    ]);
    let report = run(with_empty(vec![calls, say("Done.")])).expect("runs");
    let classes: Vec<Class> = report
        .trace
        .lines
        .iter()
        .filter_map(|line| match &line.event {
            Event::Result(result) => Some(result.class),
            _ => None,
        })
        .collect();
    assert_eq!(classes, [Class::Ok, Class::Internal, Class::Ok]);
}

#[test]
fn time_is_split_into_queued_waiting_and_running() {
    let answer = UserAnswer {
        tool: None,
        call: None,
        input: None,
        reply: UserReply::Allow {
            always: false,
            updated_input: None,
            updated_permissions: Vec::new(),
        },
        think_ms: 30,
    };
    let settings = json!({"permissions": {"ask": ["empty"]}});
    let layer =
        rehearsal::settings::Layer::from_value(rehearsal::settings::Source::Project, &settings);
    let setup = Setup {
        settings: rehearsal::settings::merge(vec![layer]).0,
        user: vec![Answer {
            value: answer,
            has_matcher: true,
            times: None,
            optional: false,
            label: "user".to_owned(),
        }],
        latency_ms: [("empty".to_owned(), 5)].into(),
        policy: Some(rehearsal::words::Policy::Serial),
        ..with_empty(vec![
            turn(&[("empty", json!({"n": 1})), ("empty", json!({"n": 2}))]),
            say("Done."),
        ])
    };
    let report = run(setup).expect("runs");
    let mut times = Vec::new();
    for line in &report.trace.lines {
        match &line.event {
            Event::Step(s)
                if matches!(s.step, Step::Validate | Step::Permission | Step::Execute) =>
            {
                times.push((s.step, s.queued_ms, s.took_ms));
            }
            _ => {}
        }
    }
    let wanted = [
        (Step::Validate, 0, 0),
        (Step::Permission, 0, 30),
        (Step::Execute, 0, 5),
        (Step::Validate, 35, 0),
        (Step::Permission, 0, 30),
        (Step::Execute, 0, 5),
    ];
    assert_eq!(times, wanted);
    assert_eq!(report.makespan_ms, 70);
}

/// Writes down every request, whole, and says what it is told to.
struct Recorder {
    requests: Vec<String>,
    calls: Vec<Option<Value>>,
}

#[async_trait]
impl Model for Recorder {
    async fn respond(&mut self, request: &Request<'_>) -> Result<Response, ModelError> {
        let body = json!({
            "system": request.system,
            "tools": request.tools.iter().map(|t| serde_json::to_value(t).expect("JSON")).collect::<Vec<_>>(),
            "messages": request.messages.iter().map(|m| serde_json::to_value(&**m).expect("JSON")).collect::<Vec<_>>(),
        });
        let number = self.requests.len() + 1;
        self.requests.push(body.to_string());
        let next = if self.calls.is_empty() {
            None
        } else {
            self.calls.remove(0)
        };
        let (content, stop_reason) = match next {
            Some(input) => {
                let messages = request.messages.len();
                let id = format!("toolu_{messages}");
                (
                    vec![Block::tool_use(id, "Read", input.to_string())],
                    StopReason::ToolUse,
                )
            }
            None => (vec![Block::text("Done.")], StopReason::EndTurn),
        };
        Ok(Response {
            id: format!("msg_{number}"),
            content,
            stop_reason,
            ..Response::default()
        })
    }
}

fn reading(max_turns: u32) -> Setup {
    let setup = Setup {
        max_turns,
        ..Setup::default()
    };
    setup
        .fs
        .put_file("/work/secret", *b"not asked for\n", 0o644, 0)
        .expect("writes");
    setup
        .fs
        .put_file("/work/a", *b"one\n", 0o644, 0)
        .expect("writes");
    setup
        .fs
        .put_file("/work/b", *b"two\n", 0o644, 0)
        .expect("writes");
    setup
}

#[test]
fn the_model_gets_the_request_and_nothing_else() {
    let mut model = Recorder {
        requests: Vec::new(),
        calls: vec![Some(json!({"file_path": "a"}))],
    };
    run_with(reading(9), &mut model).expect("runs");
    assert_eq!(model.requests.len(), 2);
    assert!(model.requests[1].contains("one"));
    assert!(
        model
            .requests
            .iter()
            .all(|request| !request.contains("not asked for"))
    );
}

#[test]
fn a_session_resumes_with_the_same_next_request() {
    let calls = vec![
        Some(json!({"file_path": "a"})),
        Some(json!({"file_path": "b"})),
    ];
    let mut whole = Recorder {
        requests: Vec::new(),
        calls: calls.clone(),
    };
    run_with(reading(9), &mut whole).expect("runs");

    let mut first = Recorder {
        requests: Vec::new(),
        calls: calls[..1].to_vec(),
    };
    let stopped = run_with(reading(1), &mut first).expect("runs");
    assert_eq!(stopped.stop, "max_turns");
    let text = serde_json::to_string(&stopped.messages.iter().map(|m| &**m).collect::<Vec<_>>())
        .expect("JSON");
    let history: Vec<Message> = serde_json::from_str(&text).expect("reads back");

    let mut second = Recorder {
        requests: Vec::new(),
        calls: calls[1..].to_vec(),
    };
    let resumed = Setup {
        history: history.into_iter().map(Arc::new).collect(),
        fs: stopped.fs,
        prompts: Vec::new(),
        ..reading(9)
    };
    run_with(resumed, &mut second).expect("runs");
    assert_eq!(second.requests, whole.requests[1..]);
}

/// An answer that is used once and must be.
fn once<T>(value: T) -> Answer<T> {
    Answer {
        value,
        has_matcher: false,
        times: Some(1),
        optional: false,
        label: "once".to_owned(),
    }
}

/// A session over files of one line each, under the project's settings.
fn session(files: &[&str], settings: Value, turns: Vec<Turn>) -> Setup {
    let layer =
        rehearsal::settings::Layer::from_value(rehearsal::settings::Source::Project, &settings);
    let setup = Setup {
        settings: rehearsal::settings::merge(vec![layer]).0,
        turns,
        ..Setup::default()
    };
    for path in files {
        setup
            .fs
            .put_file(&format!("/work/{path}"), *b"one\n", 0o644, 0)
            .expect("writes");
    }
    setup
}

fn ran(setup: Setup) -> RunReport {
    let report = run(setup).expect("runs");
    assert!(report.complaints.is_empty(), "{:?}", report.complaints);
    assert!(report.leftover.is_empty(), "{:?}", report.leftover);
    report
}

fn text(report: &RunReport, path: &str) -> String {
    String::from_utf8_lossy(&report.fs.read(path).expect("it is there")).into_owned()
}

/// Where a call ended: its last step that is no post-hook, and its class.
fn end(report: &RunReport, id: &str) -> (Step, Class) {
    let last = steps(report, id)
        .into_iter()
        .rfind(|step| *step != Step::PostHook);
    let class = report
        .trace
        .lines
        .iter()
        .find_map(|line| match &line.event {
            Event::Result(result) if &*result.call == id => Some(result.class),
            _ => None,
        });
    (last.expect("a step"), class.expect("a result"))
}

fn read(path: &str) -> (&'static str, Value) {
    ("Read", json!({"file_path": path}))
}

fn edit(path: &str, old: &str, new: &str) -> (&'static str, Value) {
    (
        "Edit",
        json!({"file_path": path, "old_string": old, "new_string": new}),
    )
}

#[test]
fn a_stale_edit_is_refused_before_anybody_is_asked() {
    let appended = OutsideChange {
        trigger: Trigger::Before {
            call: "2".to_owned(),
            step: Step::Lookup,
        },
        changes: vec![Change::Append {
            path: "/work/a".to_owned(),
            bytes: b"two\n"[..].into(),
        }],
        keep_mtime: true,
    };
    let turns = vec![
        turn(&[read("a")]),
        turn(&[edit("a", "one", "1")]),
        say("Done."),
    ];
    // Nobody answers: were the user asked, that would be how the call ends.
    let report = ran(Setup {
        outside: vec![appended],
        ..session(&["a"], json!({}), turns)
    });
    assert_eq!(end(&report, "toolu_0002_1"), (Step::Validate, Class::Stale));
    assert_eq!(text(&report, "/work/a"), "one\ntwo\n");
}

#[test]
fn an_input_that_a_hook_rewrote_is_validated_like_any() {
    let (_, unread) = edit("unread", "one", "1");
    let output = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": unread,
    }});
    let rewrites = ScriptedHook {
        event: None,
        tool: None,
        command: None,
        exit: 0,
        status: None,
        stdout: output.to_string(),
        stderr: String::new(),
        delay_ms: 0,
    };
    let settings = json!({"hooks": {
        "PreToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "rewrite"}]}],
    }});
    let turns = vec![
        turn(&[read("a")]),
        turn(&[edit("a", "one", "1")]),
        say("Done."),
    ];
    let report = ran(Setup {
        scripted_hooks: vec![once(rewrites)],
        ..session(&["a", "unread"], settings, turns)
    });
    assert_eq!(
        end(&report, "toolu_0002_1"),
        (Step::Validate, Class::NotRead)
    );
}

#[test]
fn every_spelling_of_a_file_is_the_file_that_was_read() {
    let spellings = [
        "a",
        "./dir/../a",
        "/work/a",
        "link",
        "folder/a",
        "/work/folder/link",
    ];
    for first in spellings {
        for second in spellings {
            let turns = vec![
                turn(&[read(first)]),
                turn(&[edit(second, "one", "two")]),
                turn(&[edit(first, "two", "three")]),
                say("Done."),
            ];
            let setup = session(&["a"], json!({"permissions": {"allow": ["Edit"]}}), turns);
            for (target, link) in [("a", "/work/link"), (".", "/work/folder")] {
                setup.fs.symlink(target, link, 0).expect("links");
            }
            let report = ran(setup);
            for id in ["toolu_0002_1", "toolu_0003_1"] {
                assert_eq!(
                    end(&report, id),
                    (Step::Execute, Class::Ok),
                    "{first} and {second}"
                );
            }
            assert_eq!(text(&report, "/work/a"), "three\n");
        }
    }
}

/// A tool that looks at the world before it is permitted, and has to be.
struct Survey(Value);

#[async_trait]
impl Tool for Survey {
    fn name(&self) -> &str {
        "survey"
    }
    fn description(&self) -> &str {
        "Looks at the working folder."
    }
    fn input_schema(&self) -> &Value {
        &self.0
    }
    fn footprint(&self, _cx: &ToolCx, _input: &Value) -> Footprint {
        Footprint::reads([Resource::File("/work".into())])
    }
    async fn validate_input(&self, _input: &Value, cx: &ToolCx) -> Result<(), Refusal> {
        let looked = cx.world.stat("/work").await;
        looked
            .map(drop)
            .map_err(|error| Refusal::new(Class::ToolError, error.to_string()))
    }
    async fn call(
        &self,
        _input: &Value,
        _cx: &ToolCx,
        _permit: &dyn Permit,
        _progress: &dyn Progress,
    ) -> Outcome {
        Outcome::ok("looked")
    }
}

#[test]
fn the_first_call_is_asked_about_first_whatever_the_schedule() {
    let yes = UserAnswer {
        tool: None,
        call: None,
        input: None,
        reply: UserReply::Allow {
            always: true,
            updated_input: None,
            updated_permissions: Vec::new(),
        },
        think_ms: 1,
    };
    let calls = vec![("survey", json!({})); 5];
    for seed in 0..24 {
        let report = ran(Setup {
            seed,
            order: Order::Random,
            tools: vec![Arc::new(Survey(json!({"type": "object"})))],
            user: vec![once(yes.clone())],
            ..session(&["a"], json!({}), vec![turn(&calls), say("Done.")])
        });
        let prompts = report
            .trace
            .lines
            .iter()
            .filter_map(|line| match &line.event {
                Event::Prompt(prompt) => Some(&*prompt.call),
                _ => None,
            });
        // What the user grants for the first call covers the rest.
        assert_eq!(prompts.collect::<Vec<_>>(), ["toolu_0001_1"], "seed {seed}");
    }
}

#[test]
fn seeds_order_calls_of_equal_latency_in_many_ways_and_each_in_one() {
    let files = ["1", "2", "3", "4", "5", "6", "7", "8"];
    let setup = Setup {
        order: Order::Random,
        ..session(
            &files,
            json!({}),
            vec![turn(&files.map(read)), say("Done.")],
        )
    };
    let traced = |seed: u64| {
        let setup = Setup {
            seed,
            ..setup.clone()
        };
        ran(setup).trace.trace_hash()
    };
    let hashes: BTreeSet<String> = (0..160).map(traced).collect();
    assert!(hashes.len() >= 100, "160 seeds, {} traces", hashes.len());
    assert_eq!(traced(7), traced(7));
}

/// Somebody adds a line in the very instant in which the edit runs: wherever the seed puts
/// that among the edit's own operations, the line is there afterwards.
#[test]
fn no_change_between_load_and_write_is_lost() {
    let mut stale_at_execute = 0;
    for seed in 1..=200 {
        let mut setup = session(
            &["a"],
            json!({"permissions": {"defaultMode": "acceptEdits"}}),
            vec![
                turn(&[read("a")]),
                turn(&[edit("a", "one", "1")]),
                say("Done."),
            ],
        );
        setup.seed = seed;
        setup.order = rehearsal::run::Order::Random;
        setup.latency_ms = [("Edit".to_owned(), 5)].into();
        setup.outside = vec![OutsideChange {
            trigger: Trigger::AtMs(5),
            changes: vec![Change::Append {
                path: "/work/a".to_owned(),
                bytes: (*b"outside\n").into(),
            }],
            keep_mtime: false,
        }];
        let report = run(setup).expect("runs");
        if !report.leftover.is_empty() {
            // The run was over before anybody came.
            continue;
        }
        let (step, class) = end(&report, "toolu_0002_1");
        stale_at_execute += u32::from((step, class) == (Step::Execute, Class::Stale));
        assert!(
            text(&report, "/work/a").contains("outside"),
            "lost under seed {seed}: {class}"
        );
    }
    assert!(
        stale_at_execute > 0,
        "no seed put the change before the write"
    );
}

#[test]
fn a_tool_sees_the_message_that_asked_for_it() {
    let mut asking = turn(&[("empty", json!({"n": 21}))]);
    asking.say = vec!["Because I said so.".to_owned()];
    let report = run(with_empty(vec![asking, say("Done.")])).expect("runs");
    let content = report
        .trace
        .lines
        .iter()
        .find_map(|line| match &line.event {
            Event::Result(result) => Some(result.content.get().to_owned()),
            _ => None,
        });
    assert_eq!(content.as_deref(), Some("\"Because I said so.\""));
}
