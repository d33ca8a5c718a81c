//! Virtual time: what takes it, what tells it, and what it stops.

use super::{START_UNIX_MS, Stage, command};
use rehearsal::shell::{Fixture, Ran, Shell};
use rehearsal::sim::{ActorId, InOrder, Random, Sim, SimConfig, Stream};
use rehearsal::world::Pattern;

/// What a line printed to stdout, and the virtual milliseconds that it took.
fn took(line: &str) -> (String, u64) {
    let stage = Stage::new(Vec::new());
    let mut asked = command(line);
    asked.timeout_ms = 3_600_000;
    match stage.run_command(&asked) {
        Ran::Exited { stdout, .. } => (
            String::from_utf8_lossy(&stdout).into_owned(),
            stage.sim.now_ms(),
        ),
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn sleeping_takes_virtual_time_and_every_clock_shows_it() {
    let start = START_UNIX_MS / 1_000;
    let (stdout, ms) = took("date +%s.%3N; sleep 90; date +%s.%3N; sleep 0.25; echo $SECONDS");
    assert_eq!(stdout, format!("{start}.042\n{}.042\n90\n", start + 90));
    assert_eq!(ms, 90_250);
    let (stdout, ms) = took("sleep 2; touch new; stat -c %Y new; echo x > late; stat -c %Y late");
    assert_eq!(stdout, format!("{0}\n{0}\n", start + 2));
    assert_eq!(ms, 2_000);
    assert_eq!(took("sleep 1m 30s 500").1, 590_000);
    assert_eq!(
        took("for i in 1 2 3; do sleep 1; done; x=$(sleep 2; echo y); bash -c 'sleep 1'").1,
        6_000
    );
}

#[test]
fn a_command_without_sleep_takes_none() {
    assert_eq!(
        took("find . | xargs ls -l | sort | tail -n 3; eval true; ./run.sh").1,
        0
    );
}

#[test]
fn the_shells_own_timeout_is_of_virtual_time() {
    assert_eq!(
        took("timeout 2 sleep 1; echo $?"),
        ("0\n".to_owned(), 1_000)
    );
    assert_eq!(
        took("timeout 1 sleep 5; echo $?"),
        ("124\n".to_owned(), 1_000)
    );
    let (stdout, ms) = took("time sleep 1; timeout 1 bash -c 'echo a; sleep 9; echo b'; echo $?");
    assert_eq!((stdout.as_str(), ms), ("a\n124\n", 2_000));
}

#[test]
fn a_command_that_takes_too_long_is_stopped_with_what_it_printed() {
    let stage = Stage::new(Vec::new());
    let mut asked = command("echo early; echo told >&2; sleep 100; echo late; touch late");
    asked.timeout_ms = 5_000;
    let stopped = Ran::TimedOut {
        after_ms: 5_000,
        merged: b"early\ntold\n".to_vec(),
    };
    assert_eq!(stage.run_command(&asked), stopped);
    assert_eq!(stage.sim.now_ms(), 5_000);
    assert!(!stage.files().contains_key("/work/late"));
}

#[test]
fn a_command_that_ends_in_the_last_instant_is_in_time() {
    let stage = Stage::new(Vec::new());
    let mut asked = command("sleep 5; echo done");
    asked.timeout_ms = 5_000;
    assert!(matches!(
        stage.run_command(&asked),
        Ran::Exited { code: 0, .. }
    ));
    asked.timeout_ms = 4_999;
    assert!(matches!(stage.run_command(&asked), Ran::TimedOut { .. }));
}

#[test]
fn a_loop_without_end_lasts_until_its_timeout() {
    let stage = Stage::new(Vec::new());
    let ran = stage.run("echo begun; while :; do :; done");
    let stopped = Ran::TimedOut {
        after_ms: 60_000,
        merged: b"begun\n".to_vec(),
    };
    assert_eq!(ran, stopped);
    assert_eq!(stage.sim.now_ms(), 60_000);
}

#[test]
fn an_answer_takes_its_time() {
    let slow = |glob: &str| Fixture {
        command: Some(Pattern::new(glob)),
        latency_ms: 900,
        writes: [("ok".to_owned(), Vec::new())].into(),
        ..Fixture::default()
    };
    let stage = Stage::new(vec![slow("cargo *")]);
    stage.run("cargo test");
    assert_eq!(stage.sim.now_ms(), 900);
    stage.run("true && cargo build && cargo test");
    assert_eq!(stage.sim.now_ms(), 2_700);

    let stage = Stage::new(vec![slow("cargo *")]);
    for line in ["cargo test", "true; cargo test"] {
        let mut asked = command(line);
        asked.timeout_ms = 800;
        assert!(matches!(
            stage.run_command(&asked),
            Ran::TimedOut { after_ms: 800, .. }
        ));
    }
    assert!(!stage.files().contains_key("/work/ok"));
}

/// Runs three commands side by side and tells what they read, when, and in which order.
fn side_by_side(sim: Sim) -> (String, String) {
    let stage = Stage::on(sim, Vec::new());
    let lines = [
        "for i in 1 2 3; do echo a$i >> log; eval 'sleep 0.01'; done",
        "for i in 1 2 3; do echo b$i >> log; bash -c 'sleep 0.01'; done",
        "sleep 0.01; sed -i s/1/X/ log; wc -l < log; mktemp; echo $RANDOM",
    ];
    let ran = stage.sim.run(async {
        let started: Vec<_> = (1..)
            .zip(lines)
            .map(|(number, line)| {
                let id = ActorId::call(number);
                let (world, shell) = (stage.world.clone(), stage.shell.clone());
                let call = async move { shell.run(&command(line), &world.actor(id)).await };
                stage.sim.spawn(id, call)
            })
            .collect();
        let mut told = String::new();
        for call in started {
            told.push_str(&format!("{:?}\n", call.await));
        }
        told
    });
    let log = stage.files()["/work/log"].clone();
    (
        format!("{}{log}", ran.expect("a run")),
        stage.sim.schedule(),
    )
}

#[test]
fn commands_side_by_side_are_interleaved_by_the_strategy_alone() {
    let seeded = |seed: u64| {
        let key = rehearsal::sim::Key {
            use_of: "test",
            actor: ActorId::AGENT,
            n: 0,
        };
        Sim::new(SimConfig::new(Random(Stream::new(seed, key))))
    };
    let mut outcomes = std::collections::BTreeSet::new();
    for seed in 0..12 {
        let first = side_by_side(seeded(seed));
        assert_eq!(first, side_by_side(seeded(seed)), "seed {seed}");
        outcomes.insert(first.0);
    }
    assert!(outcomes.len() > 3, "only {} outcomes", outcomes.len());
    let in_order = side_by_side(Sim::new(SimConfig::new(InOrder)));
    assert_eq!(in_order, side_by_side(Sim::new(SimConfig::new(InOrder))));
}

#[test]
fn without_latencies_a_command_runs_all_the_same() {
    let sim = Sim::new(SimConfig::new(InOrder).untimed());
    let stage = Stage::on(sim, Vec::new());
    match stage.run("sleep 5; eval 'cat a.txt'; bash -c 'sleep 1; echo end'") {
        Ran::Exited { stdout, .. } => assert_eq!(stdout, b"one\ntwo\nthree\nend\n"),
        other => panic!("{other:?}"),
    }
    assert_eq!(stage.sim.now_ms(), 0);
}
