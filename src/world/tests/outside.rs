//! Changes from outside: each once, at its moment, on the record.

use super::*;
use crate::sim::Random;
use crate::words::Step;

fn before(call: &str, step: Step, changes: Vec<Change>) -> OutsideChange {
    let call = call.to_owned();
    OutsideChange {
        trigger: Trigger::Before { call, step },
        changes,
        keep_mtime: false,
    }
}

fn write(path: &str, text: &str) -> Change {
    Change::Write {
        path: path.to_owned(),
        bytes: text.as_bytes().into(),
    }
}

#[test]
fn a_change_happens_once_when_its_call_reaches_the_step() {
    let text = "ONE\n";
    let world = outside(vec![
        before(
            "toolu_edit",
            Step::Validate,
            vec![write("/work/notes.txt", text)],
        ),
        before("2", Step::Execute, vec![write("/new/dir/file", "x")]),
        OutsideChange {
            trigger: Trigger::After {
                call: "toolu_edit".to_owned(),
                step: Step::Validate,
            },
            changes: vec![Change::Mkdir {
                path: "/after".to_owned(),
            }],
            keep_mtime: false,
        },
    ]);
    let actor = world.actor(ActorId::call(1));
    run(&world, async {
        assert_eq!(actor.reach("other", 3, Step::Validate, true).await, []);
        assert_eq!(actor.reach("toolu_edit", 1, Step::Parse, true).await, []);
        let records = actor.reach("toolu_edit", 1, Step::Validate, true).await;
        assert_eq!(records.len(), 1);
        assert_eq!(records[0].actor, ActorId::outside(0));
        assert_eq!(records[0].change, "write /work/notes.txt (4 bytes)");
        assert_eq!(records[0].failed, None);
        assert_eq!(actor.reach("toolu_edit", 1, Step::Validate, true).await, []);
        let after = actor.reach("toolu_edit", 1, Step::Validate, false).await;
        assert_eq!(after.len(), 1);
    });
    assert_eq!(&*world.fs().read("/work/notes.txt").unwrap(), b"ONE\n");
    assert_eq!(world.fs().stat("/work/notes.txt").unwrap().mtime_ms, START);
    assert_eq!(
        world.outside_left(),
        ["o1: before execute of 2, write /new/dir/file (1 bytes)"]
    );
    let accesses = world.take_accesses();
    let actors: Vec<_> = accesses.iter().map(|access| access.actor).collect();
    assert_eq!(actors, [ActorId::outside(0), ActorId::outside(2)]);
    run(&world, async {
        let records = actor.reach("toolu_any", 2, Step::Execute, true).await;
        assert_eq!(records[0].actor, ActorId::outside(1));
    });
    assert_eq!(world.outside_left(), [""; 0]);
}

#[test]
fn every_kind_of_change_does_what_it_says() {
    let path = || "/work/notes.txt".to_owned();
    let to = || "/work/moved.txt".to_owned();
    let world = outside(vec![before(
        "1",
        Step::Lookup,
        vec![
            Change::Append {
                path: path(),
                bytes: Bytes::from(&b"two\n"[..]),
            },
            Change::Chmod {
                path: path(),
                mode: 0o600,
            },
            Change::Rename {
                from: path(),
                to: to(),
            },
            Change::Symlink {
                target: "moved.txt".to_owned(),
                link: path(),
            },
            Change::ReplaceByFolder { path: to() },
            Change::Remove { path: path() },
            Change::Touch { path: path() },
            Change::Mkdir {
                path: "/work/a/b".to_owned(),
            },
        ],
    )]);
    let actor = world.actor(ActorId::call(1));
    let records = run(&world, actor.reach("id", 1, Step::Lookup, true));
    let words: Vec<_> = records.iter().map(|r| r.change.as_str()).collect();
    assert_eq!(
        words,
        [
            "append /work/notes.txt (4 bytes)",
            "chmod /work/notes.txt to 600",
            "rename /work/notes.txt to /work/moved.txt",
            "symlink /work/notes.txt to moved.txt",
            "replace /work/moved.txt by a folder",
            "remove /work/notes.txt",
            "touch /work/notes.txt",
            "mkdir /work/a/b",
        ]
    );
    let failed: Vec<_> = records.iter().filter_map(|r| r.failed.clone()).collect();
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0].kind, FsErrorKind::NotFound);
    assert_eq!(records[6].failed.as_ref(), failed.first());
    let fs = world.fs();
    assert_eq!(fs.stat("/work/moved.txt").unwrap().kind, FileKind::Dir);
    assert_eq!(fs.stat("/work/a/b").unwrap().kind, FileKind::Dir);
    assert!(fs.lstat("/work/notes.txt").is_err());
    assert_eq!(
        world.outside_left(),
        [""; 0],
        "a failed change has happened"
    );
    let results: Vec<_> = world.take_accesses().iter().map(|a| a.result).collect();
    assert_eq!(results[5..7], ["ok", "no such file or directory"]);
}

#[test]
fn a_change_can_put_the_old_mtime_back() {
    let world = outside(vec![OutsideChange {
        keep_mtime: true,
        ..before("1", Step::Execute, vec![write("/work/notes.txt", "two\n")])
    }]);
    let actor = world.actor(ActorId::call(1));
    run(&world, actor.reach("id", 1, Step::Execute, true));
    let meta = world.fs().stat("/work/notes.txt").unwrap();
    assert_eq!((meta.size, meta.mtime_ms), (4, 7));
    assert_eq!(&*world.fs().read("/work/notes.txt").unwrap(), b"two\n");
}

fn timed(trigger: Trigger, path: &str) -> OutsideChange {
    OutsideChange {
        trigger,
        changes: vec![write(path, "outside")],
        keep_mtime: false,
    }
}

#[test]
fn a_timed_change_happens_at_its_time() {
    let world = outside(vec![
        timed(Trigger::AtMs(40), "/work/later"),
        timed(Trigger::Anywhere, "/work/first"),
        timed(Trigger::AtMs(9_000), "/work/never"),
    ]);
    let agent = world.actor(ActorId::AGENT);
    run(&world, async {
        world.start_outside().await;
        assert!(agent.stat("/work/first").await.is_ok());
        agent.sleep_ms(39).await;
        assert!(agent.stat("/work/later").await.is_err());
        agent.sleep_ms(2).await;
        let meta = agent.stat("/work/later").await.unwrap();
        assert_eq!(meta.mtime_ms, START + 40);
    });
    let records = world.take_outside_records();
    let moments: Vec<_> = records.iter().map(|r| (r.at_ms, r.actor.number)).collect();
    assert_eq!(moments, [(0, 1), (40, 0)]);
    assert_eq!(world.take_outside_records(), []);
    let left = ["o2: at 9000 ms, write /work/never (7 bytes)"];
    assert_eq!(world.outside_left(), left);
}

#[test]
fn without_time_a_change_comes_at_any_point() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..200 {
        let config = SimConfig::new(Random::new(seed)).untimed();
        let fs = MemoryFs::new(MemoryOptions::default());
        fs.put_dir("/work", 0o755, 0).unwrap();
        let options = WorldOptions {
            outside: vec![timed(Trigger::AtMs(40), "/work/f")],
            ..WorldOptions::default()
        };
        let world = World::with(Sim::new(config), Arc::new(fs), options);
        let agent = world.actor(ActorId::AGENT);
        seen.insert(run(&world, async {
            world.start_outside().await;
            let mut points = Vec::new();
            for _ in 0..3 {
                points.push(agent.stat("/work/f").await.is_ok());
            }
            points
        }));
    }
    assert_eq!(
        seen.len(),
        4,
        "before, between and after three looks: {seen:?}"
    );
}

/// Grants the greatest actor once, then always the least.
struct GreatestOnce(bool);

impl crate::sim::Strategy for GreatestOnce {
    fn choose(&mut self, enabled: &[(ActorId, &crate::sim::Op)]) -> Result<usize, String> {
        let was_done = std::mem::replace(&mut self.0, true);
        Ok(if was_done { 0 } else { enabled.len() - 1 })
    }
}

#[test]
fn a_change_whose_call_is_cancelled_half_way_is_finished_by_the_next() {
    let both = vec![write("/a", "1"), write("/b", "2")];
    let options = WorldOptions {
        outside: vec![before("1", Step::Execute, both)],
        ..WorldOptions::default()
    };
    let sim = Sim::new(SimConfig::new(GreatestOnce(false)));
    let fs = MemoryFs::new(MemoryOptions::default());
    let world = World::with(sim, Arc::new(fs), options);
    run(&world, async {
        let call = ActorId::call(1);
        let hands = world.actor(call);
        let joined = world.sim().spawn(call, async move {
            hands.reach("id", 1, Step::Execute, true).await.len()
        });
        // Granted between the two changes.
        let agent = world.actor(ActorId::AGENT);
        assert!(agent.stat("/a").await.is_ok());
        world.sim().cancel(call);
        assert!(joined.await.is_err());
        assert!(agent.stat("/b").await.is_err());
        assert_eq!(
            world.outside_left(),
            ["o0: before execute of 1, write /b (1 bytes)"]
        );
        let hands = world.actor(ActorId::call(2));
        assert_eq!(hands.reach("id", 1, Step::Execute, true).await.len(), 1);
    });
    assert_eq!(world.outside_left(), [""; 0]);
    assert_eq!(&*world.fs().read("/b").unwrap(), b"2");
}
