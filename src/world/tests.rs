//! The world as its actors meet it: the user, outside changes, the log of accesses.

use super::*;
use crate::sim::{InOrder, OpKind, Resource, SimConfig};
use crate::words::Step;

const START: i64 = 1_000_000;

fn sim() -> Sim {
    Sim::new(SimConfig {
        strategy: Box::new(InOrder),
        timed: true,
        livelock_polls: 10_000,
    })
}

/// A world with `/work/notes.txt` (mtime 7), and what `options` says.
fn world(options: WorldOptions) -> World {
    let fs = MemoryFs::new(MemoryOptions::default());
    fs.put_file("/work/notes.txt", *b"one\n", 0o644, 7)
        .expect("a plain file");
    World::with(
        sim(),
        Arc::new(fs),
        WorldOptions {
            start_unix_ms: START,
            ..options
        },
    )
}

fn outside(outside: Vec<OutsideChange>) -> World {
    world(WorldOptions {
        outside,
        log_accesses: true,
        ..WorldOptions::default()
    })
}

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

fn run<T>(world: &World, root: impl Future<Output = T>) -> T {
    world.sim().run(root).expect("the simulation ends")
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

fn reply(
    tool: Option<&str>,
    call: Option<&str>,
    input: Option<&str>,
    text: &str,
) -> Answer<UserAnswer> {
    let value = UserAnswer {
        tool: tool.map(Pattern::new),
        call: call.map(str::to_owned),
        input: input.map(Pattern::new),
        reply: UserReply::Deny {
            comment: Some(text.to_owned()),
        },
        think_ms: 30,
    };
    Answer {
        has_matcher: value.has_matcher(),
        value,
        times: None,
        optional: false,
        label: text.to_owned(),
    }
}

#[test]
fn the_user_answers_by_the_script() {
    let world = world(WorldOptions {
        user: User::new(vec![
            reply(Some("Edit"), None, None, "by tool"),
            reply(None, Some("toolu_9"), None, "by id"),
            reply(None, Some("4"), None, "by number"),
            reply(Some("Bash"), None, Some("rm *"), "by subject"),
            reply(None, None, Some("*delete*"), "by text"),
            reply(None, None, None, "once"),
        ]),
        log_accesses: true,
        ..WorldOptions::default()
    });
    let question = |tool: &str, call: &str, number, subject: &str, text: &str| Question {
        tool: tool.to_owned(),
        call: call.to_owned(),
        number,
        subject: subject.to_owned(),
        text: text.to_owned(),
    };
    let asked = [
        (question("Edit", "a", 1, "x", ""), Some("by tool")),
        (question("Read", "toolu_9", 2, "x", ""), Some("by id")),
        (question("Read", "b", 4, "x", ""), Some("by number")),
        (question("Bash", "b", 5, "rm -r x", ""), Some("by subject")),
        (
            question("Read", "b", 5, "rm -r x", "may I delete?"),
            Some("by text"),
        ),
        (question("Read", "b", 5, "rm -r x", "?"), Some("once")),
        (question("Read", "b", 5, "rm -r x", "?"), None),
    ];
    let actor = world.actor(ActorId::call(1));
    assert_eq!(world.user().left().len(), 6);
    run(&world, async {
        for (question, expected) in &asked {
            let reply = world.user().ask(&actor, question).await;
            let comment = reply.map(|reply| match reply {
                UserReply::Deny { comment } => comment.unwrap_or_default(),
                UserReply::Allow { .. } => panic!("nothing is allowed here"),
            });
            assert_eq!(comment.as_deref(), *expected);
        }
    });
    assert_eq!(world.user().left(), [""; 0]);
    let accesses = world.take_accesses();
    assert_eq!(accesses.len(), asked.len());
    assert!(
        accesses
            .iter()
            .all(|a| a.op.resource == Resource::User && a.op.kind == OpKind::Ask)
    );
}

#[test]
fn accesses_are_numbered_within_their_actor() {
    let world = outside(Vec::new());
    let (one, two) = (world.actor(ActorId::call(1)), world.actor(ActorId::call(2)));
    run(&world, async {
        for _ in 0..3 {
            one.read("/work/notes.txt").await.unwrap();
            two.stat("/none").await.unwrap_err();
        }
    });
    let of_two = world.take_accesses_of(two.id());
    assert_eq!(of_two.iter().map(|a| a.n).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(of_two[0].result, "no such file or directory");
    run(&world, async {
        two.list("/work").await.unwrap();
        one.list("/work").await.unwrap();
    });
    let rest = world.take_accesses();
    let order: Vec<_> = rest.iter().map(|a| (a.actor.number, a.n)).collect();
    assert_eq!(order, [(1, 0), (1, 1), (1, 2), (2, 3), (1, 3)]);
    assert_eq!(world.take_accesses(), []);
    assert_eq!(world.lost_accesses(), 0);
    let silent = self::world(WorldOptions::default());
    let actor = silent.actor(ActorId::call(1));
    run(&silent, async {
        actor.list("/work").await.unwrap();
    });
    assert_eq!(silent.take_accesses(), []);
}

#[test]
fn writes_are_stamped_with_what_the_actor_was_given() {
    let world = outside(Vec::new());
    let actor = world.actor(ActorId::call(1));
    run(&world, async {
        let meta = actor.write("/work/a", b"").await.unwrap();
        assert_eq!(meta.mtime_ms, START);
        let meta = actor.stamped(42).write("/work/a", b"").await.unwrap();
        assert_eq!(meta.mtime_ms, 42);
    });
}
