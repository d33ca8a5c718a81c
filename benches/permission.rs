//! What it costs to find the rules that decide about a call, compiled once, as their
//! number grows.
//!
//! `cargo bench --bench permission` measures with criterion and then prints how much more
//! the most rules cost than the fewest; `-- --check` prints only that, and fails if it is
//! over its limit.

#![allow(clippy::disallowed_methods, reason = "a bench measures wall time")]

use criterion::{BenchmarkId, Criterion};
use rehearsal::rule::{Anchors, Paths, Query, RuleSet, Subject, compile};
use rehearsal::settings::{Layer, Source, merge};
use rehearsal::shell_syntax::{CommandLine, analyze};
use rehearsal::world::{MemoryFs, MemoryOptions};
use serde_json::json;
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SIZES: [usize; 3] = [10, 250, 5_000];
/// How much more a decision may cost against the most rules than against the fewest.
const GROWTH_MAX: f64 = 10.0;

/// So many rules, of every form and behaviour.
fn rules(count: usize) -> RuleSet {
    let mut lists: [Vec<String>; 3] = Default::default();
    for n in 0..count {
        let rule = match n % 9 {
            0 => format!("Bash(tool{n} run *)"),
            1 => format!("Read(secrets{n}/**)"),
            2 => format!("Edit(src/module{n}/*.rs)"),
            3 => format!("Read(.env{n})"),
            4 => format!("WebFetch(domain:host{n}.example.com)"),
            5 => format!("mcp__server{n}__tool"),
            6 => format!("Read(//data/store{n}/file.txt)"),
            7 => format!("Agent(model:m{n})"),
            _ => format!("Edit(~/notes{n}/**)"),
        };
        let list = match rule.starts_with("Agent") {
            true => 0,
            false => n / 9 % 3,
        };
        lists[list].push(rule);
    }
    let [deny, ask, allow] = lists;
    let value = json!({"permissions": {"deny": deny, "ask": ask, "allow": allow}});
    let (settings, complaints) = merge(vec![Layer::from_value(Source::Project, &value)]);
    assert_eq!(complaints, []);
    let fs = MemoryFs::new(MemoryOptions::default());
    let (rules, complaints) = compile(&settings, &Anchors::new("/work", "/home/user"), &fs);
    assert_eq!(complaints, []);
    assert_eq!(rules.len(), count);
    rules
}

/// Calls that no rule is about, which are compared with all that could be.
struct Calls {
    read: Paths,
    edit: Paths,
    line: Arc<CommandLine>,
}

impl Calls {
    fn new() -> Calls {
        Calls {
            read: Paths::plain("/work/docs/guide/start.md"),
            edit: Paths::plain("/work/src/parser/lexer.rs"),
            line: analyze("cargo test --workspace && git status"),
        }
    }

    fn decide(&self, rules: &RuleSet) -> usize {
        let subjects = [
            ("Read", Subject::Read(&self.read)),
            ("Edit", Subject::Edit(&self.edit)),
            (
                "Bash",
                Subject::Command {
                    line: &self.line,
                    reads: &[],
                    writes: &[],
                },
            ),
            ("WebFetch", Subject::Url("https://docs.rs/serde")),
            ("mcp__tickets__list", Subject::None),
        ];
        let hits = subjects.into_iter().filter(|(tool, subject)| {
            let matches = rules.matches(&Query {
                tool,
                aliases: &[],
                subject: *subject,
                input: None,
            });
            matches.deny.is_some() || matches.ask.is_some() || matches.allow.is_some()
        });
        hits.count()
    }
}

/// The least time of one round of calls, of several tries.
fn least(rules: &RuleSet, calls: &Calls, tries: usize) -> Duration {
    const ROUNDS: u32 = 100;
    let one = |_| {
        let began = Instant::now();
        for _ in 0..ROUNDS {
            assert_eq!(black_box(calls.decide(black_box(rules))), 0);
        }
        began.elapsed() / ROUNDS
    };
    (0..tries).map(one).min().unwrap_or_default()
}

/// How much more the most rules cost than the fewest.
fn growth(tries: usize) -> f64 {
    let calls = Calls::new();
    let times = SIZES.map(|size| {
        let time = least(&rules(size), &calls, tries);
        println!(
            "rules: {size} in {:.2} µs for five calls",
            time.as_secs_f64() * 1e6
        );
        time.as_secs_f64()
    });
    let [fewest, _, most] = times;
    let growth = most / fewest;
    println!("rules: growth {growth:.1} (limit {GROWTH_MAX})");
    growth
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    if has("--check") {
        return match growth(15) <= GROWTH_MAX {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        };
    }
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("rules");
    let calls = Calls::new();
    for size in SIZES {
        let rules = rules(size);
        group.bench_with_input(BenchmarkId::from_parameter(size), &rules, |b, rules| {
            b.iter(|| calls.decide(rules));
        });
    }
    group.finish();
    criterion.final_summary();
    growth(if has("--test") { 3 } else { 15 });
    ExitCode::SUCCESS
}
