//! What it costs to make a pool of tools, to search it and to lint it, as it grows.
//!
//! `cargo bench --bench pool` measures with criterion and then prints how much more ten
//! thousand tools cost than a hundred; `-- --check` prints only that, and fails if one of
//! the three grows faster than n log n.

#![allow(clippy::disallowed_methods, reason = "a bench measures wall time")]

#[path = "../tests/it/tools/ten_thousand.rs"]
mod ten_thousand;

use criterion::{BenchmarkId, Criterion, Throughput};
use rehearsal::profile::{Deferred, Profile};
use rehearsal::tools::lint::lint;
use rehearsal::tools::{Pool, PoolOptions, Tool, builtin};
use rehearsal::words::Mode;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SIZES: [usize; 3] = [100, 1_000, 10_000];
/// How much more the most tools may cost than the fewest: n log n.
const GROWTH_MAX: f64 = 200.0;
const QUERIES: [&str; 5] = [
    "create a github issue",
    "which checks failed in the last build",
    "file operations",
    "+pull list requests that wait for review",
    "mcp__slack__search_message",
];

/// What a pool is made of. Schemas are compiled once a process; a `round` of its own makes
/// each pool as dear as the first.
fn tools(count: usize, round: usize) -> Vec<Arc<dyn Tool>> {
    ten_thousand::sample(count, Some(round))
}

fn pool(mcp: Vec<Arc<dyn Tool>>) -> Pool {
    let mut profile = Profile::seed();
    profile.deferred = Deferred::Mcp;
    let options = PoolOptions {
        profile: &profile,
        mode: Mode::Default,
        flags: &BTreeMap::new(),
        only: None,
        denied: &|_| None,
    };
    Pool::build(builtin(), mcp, &options).0
}

fn assemble(count: usize, round: usize) -> Duration {
    let tools = tools(count, round);
    let began = Instant::now();
    let pool = black_box(pool(tools));
    let took = began.elapsed();
    assert_eq!(pool.deferred().len(), count);
    took
}

/// The first search makes the index, and is part of what a search costs a session.
fn search(pool: &Pool) -> Duration {
    let began = Instant::now();
    for query in QUERIES {
        black_box(pool.search(query, 5));
    }
    began.elapsed()
}

fn look_over(pool: &Pool) -> Duration {
    let began = Instant::now();
    black_box(lint(pool.entries().iter().map(|entry| &**entry)));
    began.elapsed()
}

/// How much more the most tools cost than the fewest, for the worst of all three.
fn growth(tries: usize) -> f64 {
    let mut rounds = 0..;
    let times = SIZES.map(|size| {
        let mut least = [Duration::MAX; 3];
        for _ in 0..tries {
            let round = rounds.next().unwrap_or_default();
            let fresh = pool(tools(size, round));
            let took = [
                assemble(size, round + 1_000_000),
                search(&fresh),
                look_over(&fresh),
            ];
            for (least, took) in least.iter_mut().zip(took) {
                *least = took.min(*least);
            }
        }
        let ms = least.map(|time| time.as_secs_f64() * 1e3);
        println!(
            "pool: {size} tools made in {:.2} ms, index and five searches {:.2} ms, lint {:.2} ms",
            ms[0], ms[1], ms[2]
        );
        ms
    });
    let [fewest, _, most] = times;
    let each: Vec<f64> = most
        .iter()
        .zip(fewest)
        .map(|(most, few)| most / few)
        .collect();
    println!(
        "pool: growth {:.0} made, {:.0} searched, {:.0} linted (limit {GROWTH_MAX})",
        each[0], each[1], each[2]
    );
    each.into_iter().fold(0.0, f64::max)
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    if has("--check") {
        return match growth(5) <= GROWTH_MAX {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        };
    }
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("pool");
    group.sample_size(10);
    let mut round = 2_000_000;
    for size in SIZES {
        group.throughput(Throughput::Elements(size as u64));
        group.bench_with_input(BenchmarkId::new("assemble", size), &size, |b, size| {
            b.iter_custom(|n| {
                (0..n)
                    .map(|_| {
                        round += 1;
                        assemble(*size, round)
                    })
                    .sum()
            });
        });
        let pool = pool(tools(size, 0));
        search(&pool);
        group.bench_with_input(BenchmarkId::new("search", size), &pool, |b, pool| {
            b.iter_custom(|n| (0..n).map(|_| search(pool)).sum());
        });
    }
    group.finish();
    criterion.final_summary();
    growth(if has("--test") { 2 } else { 5 });
    ExitCode::SUCCESS
}
