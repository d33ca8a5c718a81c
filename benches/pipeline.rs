//! What a call costs on its way through the seven steps, beside the work that nobody can
//! avoid, and what a turn costs in a long conversation.
//!
//! `cargo bench --bench pipeline` measures with criterion and then prints the ratio and the
//! exponent, both taken in this one process; `-- --check` prints only those two, and fails
//! if they are over their limits.

#![allow(clippy::disallowed_methods, reason = "a bench measures wall time")]

use async_trait::async_trait;
use criterion::{BenchmarkId, Criterion, Throughput};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use rehearsal::model::{Model, ModelError, Request};
use rehearsal::run::{Setup, run_with};
use rehearsal::tools::{Footprint, Outcome, Permit, Progress, ReadOnly, Tool, ToolCx};
use rehearsal::trace::{Call, CallResult, Event, Level, write_trace};
use rehearsal::wire::{Block, Response, StopReason};
use rehearsal::words::{Class, Lane};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

const CALLS: usize = 100;
const TURNS: usize = 10;
/// What the pipeline is meant to cost beside the unavoidable work.
const RATIO_GOAL: f64 = 5.0;
/// What it must not cost: a guard against getting slower, until the goal is met.
const RATIO_MAX: f64 = 25.0;
/// How the time of a conversation may grow with its turns.
const EXPONENT_MAX: f64 = 1.1;

/// A tool that does nothing.
struct Empty(Value);

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"n": {"type": "integer"}, "text": {"type": "string"}},
        "required": ["n"],
        "additionalProperties": false,
    })
}

fn input(n: usize) -> String {
    json!({"n": n, "text": "a text of the length that inputs of tools often have"}).to_string()
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
        _p: &dyn Permit,
        _q: &dyn Progress,
    ) -> Outcome {
        Outcome::ok("done")
    }
}

/// Gives responses that were made before.
struct Ready(std::vec::IntoIter<Response>);

#[async_trait]
impl Model for Ready {
    async fn respond(&mut self, _request: &Request<'_>) -> Result<Response, ModelError> {
        self.0
            .next()
            .ok_or_else(|| ModelError::Script("no response is left".to_owned()))
    }
}

fn responses(turns: usize, calls: usize) -> Vec<Response> {
    let turn = |turn: usize| Response {
        content: (0..calls)
            .map(|call| Block::tool_use(format!("toolu_{turn:05}_{call}"), "empty", input(call)))
            .collect(),
        stop_reason: StopReason::ToolUse,
        ..Response::default()
    };
    let last = Response {
        content: vec![Block::text("Done.")],
        stop_reason: StopReason::EndTurn,
        ..Response::default()
    };
    (0..turns).map(turn).chain([last]).collect()
}

/// The time of whole runs of so many turns and calls, trace written, set-up of the run included.
fn ours(turns: usize, calls: usize) -> Duration {
    let setup = Setup {
        tools: vec![Arc::new(Empty(schema()))],
        max_turns: turns as u32 + 1,
        ..Setup::default()
    };
    let mut model = Ready(responses(turns, calls).into_iter());
    let began = Instant::now();
    let report = run_with(setup, &mut model).expect("the run begins");
    let written = write_trace(&report.trace, Level::Ops);
    let took = began.elapsed();
    assert_eq!(report.stop, "end_turn");
    black_box((report, written));
    took
}

/// The time of the same calls with nothing but what nobody can avoid: the input parsed and
/// validated by a compiled schema, call and result written once.
fn unavoidable(turns: usize, calls: usize) -> Duration {
    let validator = jsonschema::draft202012::new(&schema()).expect("a schema");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let name: Arc<str> = "empty".into();
    let done: Arc<RawValue> = serde_json::value::to_raw_value("done")
        .expect("JSON")
        .into();
    let asked: Vec<(Arc<str>, Arc<RawValue>)> = (0..turns * calls)
        .map(|n| {
            let input = RawValue::from_string(input(n % calls)).expect("JSON");
            (
                format!("toolu_{:05}_{}", n / calls, n % calls).into(),
                input.into(),
            )
        })
        .collect();
    let began = Instant::now();
    let out = RefCell::new(Vec::new());
    runtime.block_on(async {
        for batch in asked.chunks(calls) {
            let task = |(id, input): &(Arc<str>, Arc<RawValue>)| {
                let (id, input) = (id.clone(), input.clone());
                let (out, validator, name, done) = (&out, &validator, &name, &done);
                async move {
                    let value: Value = serde_json::from_str(input.get()).expect("JSON");
                    assert!(validator.is_valid(&value));
                    let call = Event::Call(Call {
                        call: id.clone(),
                        turn: 1,
                        tool: name.clone(),
                        lane: Lane::Own,
                        input,
                    });
                    let result = Event::Result(CallResult {
                        call: id,
                        class: Class::Ok,
                        flags: Vec::new(),
                        is_error: false,
                        content: done.clone(),
                        full_chars: 4,
                        saved_to: None,
                        completed: 1,
                        run_ms: 0,
                    });
                    let mut out = out.borrow_mut();
                    serde_json::to_writer(&mut *out, &call).expect("writes");
                    serde_json::to_writer(&mut *out, &result).expect("writes");
                }
            };
            let mut tasks: FuturesUnordered<_> = batch.iter().map(task).collect();
            while tasks.next().await.is_some() {}
        }
    });
    let took = began.elapsed();
    black_box(out);
    took
}

/// Ours over the unavoidable, each the least of several runs that take turns, so that
/// both meet the same noise.
fn ratio(runs: usize) -> f64 {
    let (mut least_ours, mut least_theirs) = (Duration::MAX, Duration::MAX);
    for _ in 0..runs {
        least_ours = least_ours.min(ours(TURNS, CALLS));
        least_theirs = least_theirs.min(unavoidable(TURNS, CALLS));
    }
    let a_call = |time: Duration| time.as_nanos() as f64 / (TURNS * CALLS) as f64;
    let ratio = a_call(least_ours) / a_call(least_theirs);
    println!(
        "pipeline: {:.0} ns a call, {:.0} ns of it unavoidable: ratio {ratio:.1} (goal {RATIO_GOAL}, limit {RATIO_MAX})",
        a_call(least_ours),
        a_call(least_theirs),
    );
    ratio
}

/// The exponent with which the time of one conversation grows with its turns: the slope of
/// the least-squares line through the logarithms.
fn exponent(runs: usize, most_turns: usize) -> f64 {
    let mut points = Vec::new();
    let mut turns = 10;
    while turns <= most_turns {
        let least = (0..runs).map(|_| ours(turns, 1)).min().unwrap_or_default();
        println!("turns: {turns} in {:.2} ms", least.as_secs_f64() * 1e3);
        points.push(((turns as f64).ln(), least.as_secs_f64().ln()));
        turns *= 10;
    }
    let n = points.len() as f64;
    let (sx, sy) = points
        .iter()
        .fold((0.0, 0.0), |(sx, sy), (x, y)| (sx + x, sy + y));
    let (mx, my) = (sx / n, sy / n);
    let over: f64 = points.iter().map(|(x, y)| (x - mx) * (y - my)).sum();
    let under: f64 = points.iter().map(|(x, _)| (x - mx) * (x - mx)).sum();
    let slope = over / under;
    println!("turns: exponent {slope:.3} (limit {EXPONENT_MAX})");
    slope
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    if has("--check") {
        let within = ratio(15) <= RATIO_MAX && exponent(3, 10_000) <= EXPONENT_MAX;
        return if within {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        };
    }
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("calls");
    group.throughput(Throughput::Elements((TURNS * CALLS) as u64));
    group.bench_function("pipeline", |b| {
        b.iter_custom(|n| (0..n).map(|_| ours(TURNS, CALLS)).sum())
    });
    group.bench_function("unavoidable", |b| {
        b.iter_custom(|n| (0..n).map(|_| unavoidable(TURNS, CALLS)).sum())
    });
    group.finish();
    let mut group = criterion.benchmark_group("turns");
    group.sample_size(10);
    for turns in [10, 100, 1_000, 10_000] {
        group.throughput(Throughput::Elements(turns as u64));
        group.bench_with_input(BenchmarkId::from_parameter(turns), &turns, |b, turns| {
            b.iter_custom(|n| (0..n).map(|_| ours(*turns, 1)).sum());
        });
    }
    group.finish();
    criterion.final_summary();
    let brief = has("--test");
    ratio(if brief { 3 } else { 15 });
    exponent(
        if brief { 1 } else { 3 },
        if brief { 1_000 } else { 10_000 },
    );
    ExitCode::SUCCESS
}
