//! Random sessions: worlds, batches, hooks, rules, answers, outside changes, schedules.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use rehearsal::hooks::ScriptedHook;
use rehearsal::model::{ScriptedCall, Turn};
use rehearsal::run::{Order, Setup};
use rehearsal::settings::{Layer, Source, merge};
use rehearsal::words::{Policy, Step};
use rehearsal::world::{
    Answer, Change, MemoryFs, MemoryOptions, OutsideChange, Trigger, UserAnswer, UserReply,
};
use serde_json::{Value, json};

pub const FILES: [&str; 4] = ["/work/a", "/work/b", "/work/dir/c", "/work/d"];

/// One call: a tool and the text of its input.
fn call() -> impl Strategy<Value = (String, String)> {
    let file = prop::sample::select(FILES.to_vec());
    let word = prop::sample::select(vec!["one", "two", "three", "gone"]);
    prop_oneof![
        4 => file.clone().prop_map(|f| ("Read", json!({"file_path": f}))),
        1 => file.clone().prop_map(|f| ("Read", json!({"file_path": f, "offset": 2, "limit": 1}))),
        4 => (file.clone(), word.clone()).prop_map(|(f, w)| {
            ("Edit", json!({"file_path": f, "old_string": w, "new_string": format!("{w}!")}))
        }),
        2 => file.clone().prop_map(|f| ("Write", json!({"file_path": f, "content": "mine\n"}))),
        1 => file.clone().prop_map(|f| ("Write", json!({"file_path": format!("{f}/new"), "content": "x"}))),
        1 => Just(("Glob", json!({"pattern": "**/*"}))),
        1 => word.prop_map(|w| ("Grep", json!({"pattern": w}))),
        1 => Just(("Nope", json!({}))),
        1 => Just(("Read", json!({"path": 1}))),
        1 => Just(("Edit", Value::Null)),
    ]
    .prop_map(|(tool, input)| {
        // No input of a call is null: it stands for one that was cut.
        let text = if input.is_null() { "{\"file_path\": \"/wo".to_owned() } else { input.to_string() };
        (tool.to_owned(), text)
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop::sample::select(Step::ALL.to_vec())
}

/// An outside change that adds a line nobody else writes.
fn outside(index: usize) -> impl Strategy<Value = OutsideChange> {
    let trigger = prop_oneof![
        (1..9u32, step()).prop_map(|(call, step)| Trigger::Before {
            call: call.to_string(),
            step
        }),
        (1..9u32, step()).prop_map(|(call, step)| Trigger::After {
            call: call.to_string(),
            step
        }),
        (0..60u64).prop_map(Trigger::AtMs),
    ];
    (trigger, prop::sample::select(FILES.to_vec())).prop_map(move |(trigger, file)| OutsideChange {
        trigger,
        changes: vec![Change::Append {
            path: file.to_owned(),
            bytes: format!("{}\n", marker(index)).into_bytes().into(),
        }],
        keep_mtime: false,
    })
}

/// The line that the `index`-th outside change adds.
pub fn marker(index: usize) -> String {
    format!("outside-{index}")
}

fn rules() -> impl Strategy<Value = Value> {
    let rule = prop::sample::select(vec![
        "Read",
        "Edit",
        "Write",
        "Glob",
        "Read(a)",
        "Edit(a)",
        "Edit(dir/**)",
        "Read(/b)",
        "Edit(//work/d)",
    ]);
    let mode = prop::sample::select(rehearsal::words::Mode::ALL);
    (vec(rule.clone(), 0..3), vec(rule.clone(), 0..2), vec(rule, 0..2), mode).prop_map(
        |(allow, ask, deny, mode)| {
            json!({"permissions": {"allow": allow, "ask": ask, "deny": deny, "defaultMode": mode.as_str()}})
        },
    )
}

fn hook_output() -> impl Strategy<Value = (i32, String)> {
    let said = prop::sample::select(vec!["allow", "deny", "ask"]);
    prop_oneof![
        Just((0, String::new())),
        Just((2, String::new())),
        Just((1, "no JSON".to_owned())),
        Just((0, "{\"broken\"".to_owned())),
        said.prop_map(|said| {
            let output = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": said}});
            (0, output.to_string())
        }),
        prop::sample::select(FILES.to_vec()).prop_map(|file| {
            let output = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"file_path": file}}});
            (0, output.to_string())
        }),
    ]
}

fn reply() -> impl Strategy<Value = UserReply> {
    prop_oneof![
        any::<bool>().prop_map(|always| UserReply::Allow {
            always,
            updated_input: None,
            updated_permissions: Vec::new(),
        }),
        Just(UserReply::Allow {
            always: false,
            updated_input: Some(json!({"file_path": "/work/a"})),
            updated_permissions: Vec::new(),
        }),
        Just(UserReply::Deny { comment: None }),
    ]
}

/// What may be in a random session.
#[derive(Debug, Clone, Copy)]
pub struct With {
    pub outside: bool,
    pub interrupt: bool,
    pub hooks: bool,
}

fn optional<T>(value: T) -> Answer<T> {
    Answer {
        value,
        has_matcher: true,
        times: None,
        optional: true,
        label: "generated".to_owned(),
    }
}

prop_compose! {
    /// A whole session.
    pub fn session(with: With)(
        batches in vec(vec(call(), 1..6), 1..4),
        contents in vec(prop::sample::select(vec!["one\ntwo\n", "three\n", "one one\n", "two\r\nthree\r\n", ""]), 4),
        settings in rules(),
        hook in option::of((prop::sample::select(vec!["*", "Edit", "Read|Write"]), hook_output(), 0..30u64)),
        replies in option::of(reply()),
        changes in (outside(0), outside(1), 0..3usize),
        interrupt in option::weighted(0.3, (1..8u32, step())),
        latency in 0..20u64,
        policy in option::of(prop::sample::select(Policy::ALL)),
        seed in any::<u64>(),
    ) -> Setup {
        let fs = MemoryFs::new(MemoryOptions::default());
        for (path, content) in FILES.iter().zip(contents) {
            fs.put_file(path, content.as_bytes(), 0o644, 0).expect("a fresh world takes files");
        }
        let mut settings = settings;
        let mut scripted_hooks = Vec::new();
        if let (true, Some((matcher, (exit, stdout), delay_ms))) = (with.hooks, hook) {
            settings["hooks"] = json!({
                "PreToolUse": [{"matcher": matcher, "hooks": [{"type": "command", "command": "scripted"}]}],
            });
            scripted_hooks.push(optional(ScriptedHook {
                event: None, tool: None, command: None, exit, stdout, stderr: "said so".to_owned(), delay_ms,
                status: None,
            }));
        }
        let (settings, _) = merge(vec![Layer::from_value(Source::Project, &settings)]);
        let mut outside = vec![changes.0, changes.1];
        outside.truncate(if with.outside { changes.2 } else { 0 });
        let mut turns: Vec<Turn> = batches
            .into_iter()
            .map(|calls| Turn {
                calls: calls.into_iter().map(|(tool, input)| ScriptedCall { tool, id: None, input }).collect(),
                ..Turn::default()
            })
            .collect();
        turns.push(Turn { say: vec!["Done.".to_owned()], ..Turn::default() });
        Setup {
            seed,
            policy,
            order: Order::Random,
            fs,
            settings,
            scripted_hooks,
            user: replies.into_iter().map(|reply| {
                optional(UserAnswer { tool: None, call: None, input: None, reply, think_ms: 7 })
            }).collect(),
            latency_ms: [("Read".to_owned(), latency), ("Edit".to_owned(), 5), ("model".to_owned(), 3)].into(),
            outside,
            interrupt: interrupt.filter(|_| with.interrupt).map(|(call, step)| (call.to_string(), step)),
            turns,
            ..Setup::default()
        }
    }
}
