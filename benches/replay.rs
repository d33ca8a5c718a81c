//! How fast recordings load and replay, beside a bare parse of the same lines into
//! `serde_json::Value`.

#![allow(clippy::disallowed_methods, reason = "a bench measures wall time")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rehearsal::recording::{Source, read};
use rehearsal::replay::{ReplayOptions, replay as replay_recording};
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

/// The transcripts of the shared folder whose every line is one JSON value.
fn transcripts() -> Vec<Vec<u8>> {
    let places = ["/../shared/data", "/../../shared/data"];
    let folder = places
        .map(|place| format!("{}{place}/claude-code", env!("CARGO_MANIFEST_DIR")))
        .into_iter()
        .find(|folder| Path::new(folder).is_dir());
    let Some(folder) = folder else {
        println!("skipped: no shared recordings beside the repository");
        return Vec::new();
    };
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .map(|entries| entries.filter_map(Result::ok).map(|e| e.path()).collect())
        .unwrap_or_default();
    files.sort();
    files
        .iter()
        .filter(|path| path.extension().is_some_and(|ext| ext == "jsonl"))
        .filter_map(|path| std::fs::read(path).ok())
        .filter(|bytes| bare_parse(bytes).is_some())
        .collect()
}

/// What is measured against: every line a `serde_json::Value`, nothing else done.
fn bare_parse(bytes: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut values = 0;
    for line in text.split('\n').filter(|line| !line.trim().is_empty()) {
        black_box(serde_json::from_str::<serde_json::Value>(line).ok()?);
        values += 1;
    }
    Some(values)
}

fn load(bytes: &[u8]) -> usize {
    let Ok(source) = Source::new(bytes) else {
        return 0;
    };
    black_box(read(&source)).calls.len()
}

fn whole(bytes: &[u8]) -> u32 {
    let Ok(source) = Source::new(bytes) else {
        return 0;
    };
    let recording = read(&source);
    replay_recording(&recording, &ReplayOptions::default())
        .map_or(0, |replayed| replayed.tally.all.calls)
}

/// The shortest of several runs: what else the machine does only ever adds.
fn shortest(runs: usize, mut run: impl FnMut()) -> Duration {
    (0..runs)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

fn replay(criterion: &mut Criterion) {
    let files = transcripts();
    let bytes: usize = files.iter().map(Vec::len).sum();
    if bytes == 0 {
        return;
    }
    let mut group = criterion.benchmark_group("replay");
    group.throughput(Throughput::Bytes(bytes as u64));
    group.sample_size(10);
    group.bench_function("bare_value", |bench| {
        bench.iter(|| {
            files
                .iter()
                .filter_map(|file| bare_parse(file))
                .sum::<usize>()
        });
    });
    group.bench_function("load", |bench| {
        bench.iter(|| files.iter().map(|file| load(file)).sum::<usize>());
    });
    group.bench_function("whole_replay", |bench| {
        bench.iter(|| files.iter().map(|file| whole(file)).sum::<u32>());
    });
    group.finish();

    let bare = shortest(10, || {
        black_box(
            files
                .iter()
                .filter_map(|file| bare_parse(file))
                .sum::<usize>(),
        );
    });
    let loaded = shortest(10, || {
        black_box(files.iter().map(|file| load(file)).sum::<usize>());
    });
    let replayed = shortest(5, || {
        black_box(files.iter().map(|file| whole(file)).sum::<u32>());
    });
    let speed = |time: Duration| bytes as f64 / 1e6 / time.as_secs_f64();
    println!("bare parse {:8.0} MB/s", speed(bare));
    println!(
        "load       {:8.0} MB/s, {:.2} times the bare parse (at least 1.5 wanted)",
        speed(loaded),
        speed(loaded) / speed(bare)
    );
    println!(
        "replay     {:8.0} MB/s, {:.2} times the bare parse (at least 0.5 wanted)",
        speed(replayed),
        speed(replayed) / speed(bare)
    );
}

criterion_group!(benches, replay);
criterion_main!(benches);
