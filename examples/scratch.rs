//! What the pipeline costs beside the work nobody can avoid.

#![allow(clippy::disallowed_methods, reason = "a bench measures wall time")]

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use rehearsal::model::{Model, ModelError, Request};
use rehearsal::run::{Setup, run_with};
use rehearsal::tools::{Footprint, Outcome, Permit, Progress, ReadOnly, Tool, ToolCx};
use rehearsal::trace::{Level, write_trace};
use rehearsal::wire::{Block, Response, StopReason};
use serde::Serialize;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

struct Empty(Value);

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"n": {"type": "integer"}, "text": {"type": "string"}},
        "required": ["n"],
        "additionalProperties": false,
    })
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
    fn read_only(&self) -> ReadOnly {
        ReadOnly::Always
    }
    fn footprint(&self, _cx: &ToolCx, _input: &Value) -> Footprint {
        Footprint::nothing()
    }
    async fn call(
        &self,
        _input: &Value,
        _cx: &ToolCx,
        _permit: &dyn Permit,
        _progress: &dyn Progress,
    ) -> Outcome {
        Outcome::ok("done")
    }
}

/// Gives responses that were made before.
struct Ready(std::vec::IntoIter<Response>);

#[async_trait]
impl Model for Ready {
    async fn respond(&mut self, _request: &Request<'_>) -> Result<Response, ModelError> {
        Ok(self.0.next().unwrap_or_else(|| Response {
            content: vec![Block::text("Done.")],
            stop_reason: StopReason::EndTurn,
            ..Response::default()
        }))
    }
}

fn input(n: usize, text: usize) -> String {
    json!({"n": n, "text": "x".repeat(text)}).to_string()
}

fn responses(turns: usize, calls: usize, text: usize) -> Vec<Response> {
    (0..turns)
        .map(|turn| Response {
            content: (0..calls)
                .map(|call| {
                    Block::tool_use(
                        format!("toolu_{turn:04}_{call}"),
                        "empty",
                        input(call, text),
                    )
                })
                .collect(),
            stop_reason: StopReason::ToolUse,
            ..Response::default()
        })
        .collect()
}

fn ours(turns: usize, calls: usize, text: usize) -> Duration {
    let setup = Setup {
        tools: vec![Arc::new(Empty(schema()))],
        max_turns: u32::MAX,
        only: Some(vec!["empty".to_owned()]),
        ..Setup::default()
    };
    let mut model = Ready(responses(turns, calls, text).into_iter());
    let start = Instant::now();
    let report = run_with(setup, &mut model).expect("runs");
    let run = start.elapsed();
    let written = write_trace(&report.trace, Level::Ops);
    let all = start.elapsed();
    if std::env::var("V").is_ok() {
        println!(
            "run {run:?} all {all:?} bytes/call {}",
            written.text.len() / turns / calls
        );
        println!(
            "{}",
            written
                .text
                .lines()
                .skip(4)
                .take(14)
                .collect::<Vec<_>>()
                .join("\n")
        );
    }
    black_box((written, report));
    all
}

#[derive(Serialize)]
struct Call<'a> {
    r#type: &'static str,
    id: &'a str,
    name: &'a str,
    input: &'a Value,
}
#[derive(Serialize)]
struct Done<'a> {
    r#type: &'static str,
    tool_use_id: &'a str,
    content: &'a str,
}

fn baseline3(turns: usize, calls: usize, text: usize) -> Duration {
    use rehearsal::trace::{Call, CallResult, Event};
    let schema = schema();
    let validator = jsonschema::draft202012::new(&schema).expect("schema");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("rt");
    let name: Arc<str> = "empty".into();
    let texts: Vec<(Arc<str>, Arc<serde_json::value::RawValue>)> = (0..turns * calls)
        .map(|n| {
            let text = input(n % calls, text);
            (
                format!("toolu_{:04}_{}", n / calls, n % calls).into(),
                serde_json::value::RawValue::from_string(text)
                    .unwrap()
                    .into(),
            )
        })
        .collect();
    let done: Arc<serde_json::value::RawValue> =
        serde_json::value::to_raw_value("done").unwrap().into();
    let start = Instant::now();
    let out = RefCell::new(Vec::new());
    runtime.block_on(async {
        for (turn, batch) in texts.chunks(calls).enumerate() {
            let mut tasks: FuturesUnordered<_> = batch
                .iter()
                .map(|(id, text)| {
                    let (out, validator, name, done) = (&out, &validator, &name, &done);
                    async move {
                        let value = serde_json::from_str(text.get()).unwrap();
                        assert!(validator.is_valid(&value));
                        let call = Event::Call(Call {
                            call: id.clone(),
                            turn: turn as u32,
                            tool: name.clone(),
                            lane: rehearsal::words::Lane::Own,
                            input: text.clone(),
                        });
                        let result = Event::Result(CallResult {
                            call: id.clone(),
                            class: rehearsal::words::Class::Ok,
                            flags: Vec::new(),
                            is_error: false,
                            content: done.clone(),
                            full_chars: 4,
                            saved_to: None,
                            completed: 1,
                            run_ms: 0,
                        });
                        let mut out = out.borrow_mut();
                        serde_json::to_writer(&mut *out, &call).unwrap();
                        serde_json::to_writer(&mut *out, &result).unwrap();
                    }
                })
                .collect();
            while tasks.next().await.is_some() {}
        }
    });
    let all = start.elapsed();
    black_box(out);
    all
}

fn baseline(turns: usize, calls: usize, text: usize, parse: bool) -> Duration {
    let schema = schema();
    let validator = jsonschema::draft202012::new(&schema).expect("schema");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("rt");
    let texts: Vec<(String, String, Value)> = (0..turns * calls)
        .map(|n| {
            let text = input(n % calls, text);
            let value = serde_json::from_str(&text).unwrap();
            (format!("toolu_{:04}_{}", n / calls, n % calls), text, value)
        })
        .collect();
    let start = Instant::now();
    let out = RefCell::new(Vec::new());
    runtime.block_on(async {
        for batch in texts.chunks(calls) {
            let mut tasks: FuturesUnordered<_> = batch
                .iter()
                .map(|(id, text, value)| {
                    let (out, validator) = (&out, &validator);
                    async move {
                        let parsed;
                        let value = if parse {
                            parsed = serde_json::from_str(text).unwrap();
                            &parsed
                        } else {
                            value
                        };
                        assert!(validator.is_valid(value));
                        let mut out = out.borrow_mut();
                        serde_json::to_writer(
                            &mut *out,
                            &Call {
                                r#type: "tool_use",
                                id,
                                name: "empty",
                                input: value,
                            },
                        )
                        .unwrap();
                        serde_json::to_writer(
                            &mut *out,
                            &Done {
                                r#type: "tool_result",
                                tool_use_id: id,
                                content: "done",
                            },
                        )
                        .unwrap();
                    }
                })
                .collect();
            while tasks.next().await.is_some() {}
        }
    });
    let all = start.elapsed();
    black_box(out);
    all
}

fn main() {
    if let Ok(turns) = std::env::var("ONE") {
        for _ in 0..std::env::var("K").map_or(5, |k| k.parse().unwrap()) {
            let turns = turns.parse().unwrap();
            if std::env::var("BASE").is_ok() {
                println!("{:?}", baseline3(turns, 100, 110));
            } else {
                println!("{:?}", ours(turns, 100, 110));
            }
        }
        return;
    }
    for (turns, calls) in [(1000, 1), (100, 10), (10, 100), (1, 1000), (20, 100)] {
        for text in [4, 110] {
            let n = (turns * calls) as u32;
            let mut m = [Duration::MAX; 4];
            for _ in 0..10 {
                m[0] = m[0].min(ours(turns, calls, text));
                m[3] = m[3].min(baseline3(turns, calls, text));
                m[1] = m[1].min(baseline(turns, calls, text, false));
                m[2] = m[2].min(baseline(turns, calls, text, true));
            }
            println!(
                "{turns}x{calls} text {text}: ours {:?} base {:?} base+parse {:?} base3 {:?} ratio {:.2} {:.2} {:.2}",
                m[0] / n,
                m[1] / n,
                m[2] / n,
                m[3] / n,
                m[0].as_secs_f64() / m[1].as_secs_f64(),
                m[0].as_secs_f64() / m[2].as_secs_f64(),
                m[0].as_secs_f64() / m[3].as_secs_f64(),
            );
        }
    }
}
