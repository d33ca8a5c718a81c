//! Generated traces: every event, with text and JSON of every kind.

use proptest::prelude::*;
use rehearsal::trace::*;
use rehearsal::wire::{Block, Content, Message, Role, Usage};
use rehearsal::words::{Behavior, Class, Flag, Lane, Layer, Step};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Text with what can go wrong: line ends, quotes, astral characters, NULs, our own mark.
pub fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-z /.]{0,12}",
        2 => "\\PC{0,8}",
        1 => Just("line\r\n\u{2028}\"\\\u{0}\u{1F600}e\u{301}".to_owned()),
        1 => Just("blob:raw:".to_owned()),
        1 => (4_090..4_100usize).prop_map(|n| "x".repeat(n)),
        1 => Just("\u{e9}\n".repeat(2_100)),
    ]
}

/// JSON as somebody else wrote it.
pub fn raw() -> impl Strategy<Value = Arc<RawValue>> {
    let odd = prop::sample::select(vec![
        "{\n  \"b\": 1.0,\r\n  \"a\": [1e400, -0, \"\\u0041\\ud800\"]\n}",
        "{\"a\":{\"$\":null},\"a\":2}",
        "[]",
        "{ }",
    ]);
    let long = (4_000..4_200usize).prop_map(|n| format!("[\"{}\"]", "\\u0041".repeat(n / 6)));
    prop_oneof![
        text().prop_map(|text| serde_json::to_string(&text).unwrap()),
        odd.prop_map(str::to_owned),
        long,
    ]
    .prop_map(|json| RawValue::from_string(json).unwrap().into())
}

fn words<T: Copy + std::fmt::Debug + 'static>(all: &'static [T]) -> impl Strategy<Value = T> {
    prop::sample::select(all)
}

fn name() -> impl Strategy<Value = Arc<str>> {
    "toolu_[0-9]{1,2}".prop_map(Arc::from)
}

fn maybe(
    strategy: impl Strategy<Value = String> + 'static,
) -> impl Strategy<Value = Option<String>> {
    prop::option::of(strategy)
}

fn some(strategy: impl Strategy<Value = String>) -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(strategy, 0..3)
}

pub fn started() -> impl Strategy<Value = RunStarted> {
    let broken = some(text());
    (some(text()), any::<u64>(), maybe(text()), text(), broken).prop_map(
        |(semantics, seed, schedule, scenario, broken_settings)| RunStarted {
            format: FORMAT,
            rehearsal: "0.1.0".into(),
            profile: "seed".into(),
            semantics,
            seed,
            schedule,
            scenario,
            scenario_hash: "ab12cd34".into(),
            broken_settings,
        },
    )
}

pub fn finished() -> impl Strategy<Value = RunFinished> {
    let stats = prop::collection::btree_map(
        text(),
        prop::collection::btree_map(words(Class::ALL), any::<u32>(), 0..3),
        0..2,
    );
    (text(), any::<u64>(), text(), stats).prop_map(|(stop, makespan_ms, world_hash, stats)| {
        let stats: BTreeMap<String, ToolStats> = stats
            .into_iter()
            .map(|(tool, errors)| {
                let stats = ToolStats {
                    calls: 2,
                    errors,
                    run_ms: RunMs::default(),
                };
                (tool, stats)
            })
            .collect();
        RunFinished {
            stop,
            turns: 3,
            calls: 4,
            makespan_ms,
            world_hash,
            outcome_hash: "0".repeat(16),
            stats,
        }
    })
}

fn message() -> impl Strategy<Value = Arc<Message>> {
    let content = prop_oneof![
        3 => prop::collection::vec(block(), 0..3).prop_map(Content::from),
        1 => text().prop_map(Content::from),
    ];
    let roles = words(&[Role::User, Role::Assistant, Role::System]);
    (roles, content, prop::option::of(raw())).prop_map(|(role, content, extra)| {
        let mut message = Message::new(role, content);
        if let Some(extra) = extra {
            message.extra.set("extra", extra);
        }
        Arc::new(message)
    })
}

fn block() -> impl Strategy<Value = Block> {
    prop_oneof![
        text().prop_map(Block::text),
        (name(), text()).prop_map(|(id, text)| Block::tool_result(id, text, true)),
        (name(), raw()).prop_map(|(id, input)| Block::tool_use(id, "Read", input.get())),
    ]
}

fn of_the_agent() -> BoxedStrategy<Event> {
    let removed = (text(), text()).prop_map(|(name, why)| Removed { name, why });
    let renamed =
        (text(), text(), text()).prop_map(|(name, from, why)| Renamed { name, from, why });
    let removed = prop::collection::vec(removed, 0..2);
    let renamed = prop::collection::vec(renamed, 0..2);
    let pool = (text(), removed, renamed).prop_map(|(stage, removed, renamed)| {
        Event::Pool(Pool {
            stage,
            before: 4,
            after: 3,
            removed,
            renamed,
            tokens: None,
        })
    });
    let request = (
        prop::collection::vec(message(), 0..3),
        any::<bool>(),
        any::<u64>(),
    )
        .prop_map(|(appended, prefix_stable, tokens_estimate)| {
            Event::Request(Request {
                turn: 1,
                appended,
                tools_hash: "t".into(),
                prefix_stable,
                tokens_estimate,
                loaded_tokens: tokens_estimate % 3,
            })
        });
    let response =
        (prop::collection::vec(block(), 0..3), text()).prop_map(|(content, stop_reason)| {
            Event::Response(Response {
                turn: 1,
                content,
                stop_reason,
                usage: Usage::new(10, 20),
            })
        });
    let outside =
        (text(), prop::option::of((name(), words(Step::ALL)))).prop_map(|(change, before)| {
            Event::Outside(Outside {
                actor: "o0".into(),
                change,
                before,
            })
        });
    let stop = (text(), text()).prop_map(|(reason, why)| {
        Event::Stop(Stop {
            turn: 2,
            reason,
            why,
        })
    });
    let invariant = (text(), prop::option::of(name()), text())
        .prop_map(|(name, call, what)| Event::Invariant(Invariant { name, call, what }));
    prop_oneof![pool, request, response, outside, stop, invariant].boxed()
}

pub fn result() -> impl Strategy<Value = CallResult> {
    let flags = prop::collection::vec(words(Flag::ALL), 0..3);
    (
        name(),
        words(Class::ALL),
        flags,
        raw(),
        maybe(text()),
        any::<(u64, u32, u64)>(),
    )
        .prop_map(
            |(call, class, flags, content, saved_to, (full_chars, completed, run_ms))| CallResult {
                call,
                class,
                flags,
                is_error: class.is_error(),
                content,
                full_chars,
                saved_to,
                completed,
                run_ms,
            },
        )
}

pub fn decision() -> impl Strategy<Value = Decision> {
    let verdict = (words(Layer::ALL), text()).prop_map(|(layer, why)| LayerVerdict {
        layer,
        verdict: "none".into(),
        why: why.into(),
    });
    let layers = prop::collection::vec(verdict, 0..3);
    (
        name(),
        words(Behavior::ALL),
        words(Layer::ALL),
        text(),
        maybe(text()),
        layers,
    )
        .prop_map(|(call, behavior, layer, reason, rule, layers)| Decision {
            call,
            behavior,
            layer,
            reason: reason.into(),
            source: rule.clone(),
            index: rule.as_ref().map(|_| 3),
            rule,
            layers,
        })
}

fn of_a_call() -> BoxedStrategy<Event> {
    let call = (name(), words(Lane::ALL), raw()).prop_map(|(call, lane, input)| {
        Event::Call(Call {
            call,
            turn: 1,
            tool: "Read".into(),
            lane,
            input,
        })
    });
    let verdict = words(&[Verdict::Pass, Verdict::Stop, Verdict::Rewrite]);
    let class = prop::option::of(words(Class::ALL));
    let step = (
        name(),
        words(Step::ALL),
        verdict,
        class,
        maybe(text()),
        any::<u64>(),
    )
        .prop_map(|(call, step, verdict, class, detail, queued_ms)| {
            Event::Step(StepEvent {
                call,
                step,
                verdict,
                class,
                detail,
                queued_ms,
                took_ms: 1,
            })
        });
    let hook = (
        prop::option::of(name()),
        text(),
        prop::option::of(any::<i32>()),
        maybe(text()),
    )
        .prop_map(|(call, handler, exit, notice)| {
            Event::Hook(Box::new(Hook {
                call,
                hook_event: "PreToolUse".into(),
                handler,
                exit,
                verdict: "deny".into(),
                notice,
                rewrite: false,
                took_ms: 9,
            }))
        });
    let prompt = (name(), text(), text()).prop_map(|(call, question, answer)| {
        Event::Prompt(Prompt {
            call,
            question,
            answer,
            waited_ms: 5,
        })
    });
    let progress = (name(), text()).prop_map(|(call, text)| {
        let data = serde_json::json!({"text": text, "n": [1, null]});
        Event::Progress(Progress { call, data })
    });
    let op = (name(), any::<u32>(), text()).prop_map(|(by, n, resource)| {
        Event::Op(OpEvent {
            by,
            n,
            resource,
            kind: "read".into(),
            result: "ok".into(),
        })
    });
    prop_oneof![
        call,
        step,
        hook,
        prompt,
        progress,
        op,
        decision().prop_map(Event::Decision),
        result().prop_map(Event::Result),
    ]
    .boxed()
}

/// A whole trace: it begins, something happens, it ends.
pub fn trace() -> impl Strategy<Value = Trace> {
    let middle = prop::collection::vec(
        (0..3u64, prop_oneof![1 => of_the_agent(), 2 => of_a_call()]),
        0..12,
    );
    (started(), middle, finished()).prop_map(|(started, middle, finished)| {
        let mut builder = TraceBuilder::new();
        builder.push(0, Event::RunStarted(Box::new(started)));
        let mut at_ms = 0;
        for (passed_ms, event) in middle {
            at_ms += passed_ms;
            builder.push(at_ms, event);
        }
        builder.push(at_ms, Event::RunFinished(finished));
        builder.finish()
    })
}
