//! The last line of a trace: how it all went, counted.

use crate::agent::Ended;
use crate::trace::{Event, RunFinished, RunMs, ToolStats, Trace, TraceBuilder};
use crate::world::ContentHash;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Closes a trace with its `run_finished`.
pub(super) fn finish(
    mut builder: TraceBuilder,
    ended: &Ended,
    makespan_ms: u64,
    world: ContentHash,
) -> Trace {
    let world_hash = world.to_string()[..16].to_owned();
    let finished = RunFinished {
        stop: ended.stop.clone(),
        turns: ended.turns,
        calls: ended.calls,
        makespan_ms,
        outcome_hash: builder.outcome_hash(&world_hash),
        world_hash,
        stats: stats(builder.lines().iter().map(|line| &line.event)),
    };
    builder.push(makespan_ms, Event::RunFinished(finished));
    builder.finish()
}

/// By tool: calls, errors by class, time spent running.
fn stats<'a>(events: impl Iterator<Item = &'a Event>) -> BTreeMap<String, ToolStats> {
    let mut tools: BTreeMap<Arc<str>, Arc<str>> = BTreeMap::new();
    let mut stats: BTreeMap<Arc<str>, (ToolStats, Vec<u64>)> = BTreeMap::new();
    for event in events {
        match event {
            Event::Call(call) => {
                tools.insert(call.call.clone(), call.tool.clone());
            }
            Event::Result(result) => {
                let Some(tool) = tools.remove(&result.call) else {
                    continue;
                };
                let (stats, times) = stats.entry(tool).or_default();
                stats.calls += 1;
                if result.is_error {
                    *stats.errors.entry(result.class).or_default() += 1;
                }
                times.push(result.run_ms);
            }
            _ => {}
        }
    }
    let with_times = |(tool, (mut stats, times)): (Arc<str>, (ToolStats, Vec<u64>))| {
        stats.run_ms = run_ms(times);
        (tool.to_string(), stats)
    };
    stats.into_iter().map(with_times).collect()
}

/// Sum, percentiles by nearest rank, and maximum.
fn run_ms(mut times: Vec<u64>) -> RunMs {
    times.sort_unstable();
    let rank = |percent: usize| {
        let at = (times.len() * percent).div_ceil(100).saturating_sub(1);
        times.get(at).copied().unwrap_or(0)
    };
    RunMs {
        total: times.iter().sum(),
        p50: rank(50),
        p95: rank(95),
        max: times.last().copied().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_by_nearest_rank() {
        assert_eq!(run_ms(vec![]), RunMs::default());
        assert_eq!(
            run_ms(vec![7]),
            RunMs {
                total: 7,
                p50: 7,
                p95: 7,
                max: 7
            }
        );
        let hundred = run_ms((1..=100).rev().collect());
        assert_eq!(
            hundred,
            RunMs {
                total: 5_050,
                p50: 50,
                p95: 95,
                max: 100
            }
        );
    }
}
