//! The world as its actors meet it: the user, outside changes, the log of accesses.

mod outside;

use super::*;
use crate::sim::{InOrder, OpKind, Resource, SimConfig};

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

fn run<T>(world: &World, root: impl Future<Output = T>) -> T {
    world.sim().run(root).expect("the simulation ends")
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
