//! The executor: what it grants, in which order, and how it says that it cannot.

use rehearsal::sim::{
    ActorId, Died, InOrder, Op, OpKind, Random, Replay, Resource, Schedule, Sim, SimConfig,
    SimError,
};
use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;

/// What happened, in the order in which it happened.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn add(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }
    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
    fn text(&self) -> String {
        self.lines().join(" ")
    }
}

fn read(path: &str) -> Op {
    Op {
        resource: Resource::File(path.into()),
        kind: OpKind::Read,
    }
}

fn in_order() -> Sim {
    Sim::new(SimConfig::new(InOrder))
}

fn random(seed: u64) -> Sim {
    Sim::new(SimConfig::new(Random::new(seed)))
}

/// Eight calls of equal latency with three operations each.
fn eight_calls(sim: &Sim) -> (Result<(), SimError>, String) {
    let log = Log::default();
    let result = sim.run(async {
        let calls: Vec<_> = (1..=8)
            .map(|number| {
                let (sim, log, id) = (sim.clone(), log.clone(), ActorId::call(number));
                sim.clone().spawn(id, async move {
                    for n in 0..3 {
                        sim.op(id, read("/work/a")).await;
                        log.add(format!("{id}#{n}"));
                        sim.sleep_ms(id, 5).await;
                    }
                })
            })
            .collect();
        for call in calls {
            assert_eq!(call.await, Ok(()));
        }
    });
    (result, log.text())
}

#[test]
fn in_order_takes_the_least_actor_first() {
    let sim = in_order();
    let (result, log) = eight_calls(&sim);
    assert_eq!(result, Ok(()));
    assert!(
        log.starts_with("c1#0 c2#0 c3#0 c4#0 c5#0 c6#0 c7#0 c8#0 c1#1"),
        "{log}"
    );
    assert_eq!(sim.now_ms(), 15);
    // The last of a group has no competitor, so it is no choice.
    assert_eq!(
        sim.with_scenario("ab12cd34").schedule(),
        "1:ab12cd34:c1,c2,c3,c4,c5,c6,c7,c1,c2,c3,c4,c5,c6,c7,c1,c2,c3,c4,c5,c6,c7"
    );
}

#[test]
fn a_seed_gives_the_same_run_every_time_and_seeds_differ() {
    let runs: Vec<_> = (0..200)
        .map(|seed| {
            let (first, second) = (random(seed), random(seed));
            let (a, b) = (eight_calls(&first), eight_calls(&second));
            assert_eq!(a, b);
            assert_eq!(a.0, Ok(()));
            assert_eq!(first.schedule(), second.schedule());
            first.schedule()
        })
        .collect();
    assert_eq!(runs.iter().collect::<BTreeSet<_>>().len(), 200);
}

#[test]
fn a_schedule_replays() {
    let sim = random(11);
    let (_, log) = eight_calls(&sim);
    let schedule: Schedule = sim.schedule().parse().unwrap();
    let again = Sim::new(SimConfig::new(Replay::new(schedule)));
    assert_eq!(eight_calls(&again), (Ok(()), log));
    assert_eq!(again.schedule(), sim.schedule());
}

#[test]
fn a_schedule_that_does_not_fit_is_an_error() {
    let run = |text: &str| {
        let sim = Sim::new(SimConfig::new(Replay::new(text.parse().unwrap())));
        eight_calls(&sim).0.unwrap_err().to_string()
    };
    assert_eq!(
        run("1::c2*2"),
        "schedule does not fit: choice 2 of 2 is c2, but only c1 (read file:/work/a), \
         c3 (read file:/work/a), c4 (read file:/work/a), c5 (read file:/work/a), \
         c6 (read file:/work/a), c7 (read file:/work/a), c8 (read file:/work/a) could go on"
    );
    let sim = in_order();
    assert_eq!(eight_calls(&sim).0, Ok(()));
    assert_eq!(
        run(&format!("{},o0", sim.schedule())),
        "schedule does not fit: the run ended after 21 of 22 choices; the next would be o0"
    );
}

#[test]
fn one_actor_alone_is_never_a_choice() {
    let sim = in_order();
    let result = sim.run(async {
        sim.op(ActorId::AGENT, read("/a")).await;
        // Several at once by one actor are granted in the order of announcing.
        let log = Log::default();
        let one = |path: &'static str| {
            let (sim, log) = (&sim, log.clone());
            async move {
                sim.op(ActorId::AGENT, read(path)).await;
                log.add(path);
            }
        };
        futures_util::future::join3(one("/c"), one("/b"), one("/d")).await;
        log.text()
    });
    assert_eq!(result.as_deref(), Ok("/c /b /d"));
    assert_eq!(sim.schedule(), "1::");
}

#[test]
fn a_deadlock_names_what_each_actor_did_last() {
    let sim = in_order();
    let result = sim.run(async {
        let (_keep, mut never) = tokio::sync::mpsc::channel::<()>(1);
        let other = sim.clone();
        let call = sim.spawn(ActorId::call(1), async move {
            other.op(ActorId::call(1), read("/work/a")).await;
            never.recv().await;
        });
        let other = sim.clone();
        let _sleeper = sim.spawn(ActorId::call(2), async move {
            other.sleep_ms(ActorId::call(2), u64::MAX).await;
        });
        sim.op(ActorId::hook(1, 0), read("/work/b")).await;
        call.await
    });
    let error = result.unwrap_err();
    assert_eq!(
        error.to_string(),
        "deadlock: every actor waits and nothing can happen (a last did: read file:/work/b as h1.0; \
         c1 last did: read file:/work/a; c2 last did: nothing, sleeps until 630720000000 ms)"
    );
    assert!(matches!(error, SimError::Deadlock { waiting } if waiting.len() == 3));
    assert_eq!(sim.now_ms(), 0);
}

#[test]
fn polls_without_progress_are_a_livelock() {
    let sim = in_order();
    let result = sim.run(async {
        sim.op(ActorId::AGENT, read("/a")).await;
        poll_fn(|cx| -> Poll<()> {
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await
    });
    assert_eq!(
        result.unwrap_err().to_string(),
        "livelock: 100001 polls without progress (a last did: read file:/a)"
    );
    // Guests that yield for ever are found too.
    let result = in_order().run(async {
        loop {
            tokio::task::yield_now().await;
        }
    });
    assert!(matches!(result, Err::<(), _>(SimError::Livelock { .. })));
}

#[test]
fn grants_and_sleeps_without_end_are_a_livelock() {
    let me = ActorId::AGENT;
    let limited = || {
        Sim::new(SimConfig {
            livelock_polls: 100,
            ..SimConfig::new(InOrder)
        })
    };
    let sim = limited();
    let result = sim.run(async {
        loop {
            sim.op(me, read("/a")).await;
        }
    });
    let error: SimError = result.map(|never: ()| never).unwrap_err();
    assert!(
        matches!(error, SimError::Livelock { polls: 10_100, .. }),
        "{error}"
    );
    let sim = limited();
    let result = sim.run(async {
        loop {
            sim.sleep_ms(me, 1).await;
        }
    });
    let error: SimError = result.map(|never: ()| never).unwrap_err();
    assert!(
        matches!(error, SimError::Livelock { polls: 1_010, .. }),
        "{error}"
    );
}

#[test]
fn actors_that_touch_nothing_are_progress() {
    let sim = in_order();
    let result = sim.run(async {
        for number in 0..120_000 {
            sim.spawn(ActorId::call(number), async {}).await.unwrap();
        }
    });
    assert_eq!(result, Ok(()));
}

#[test]
fn time_goes_to_the_next_timer_and_ties_wake_together() {
    let log = Log::default();
    let sim = in_order();
    let result = sim.run(async {
        let actors: Vec<_> = [(1, 20), (2, 10), (3, 20), (4, 10), (5, 0)]
            .map(|(number, ms)| {
                let (sim, log, id) = (sim.clone(), log.clone(), ActorId::call(number));
                sim.clone().spawn(id, async move {
                    sim.sleep_ms(id, ms).await;
                    sim.op(id, read("/a")).await;
                    log.add(format!("{id}@{}", sim.now_ms()));
                })
            })
            .into();
        for actor in actors {
            actor.await.unwrap();
        }
    });
    assert_eq!(result, Ok(()));
    assert_eq!(log.text(), "c5@0 c2@10 c4@10 c1@20 c3@20");
    // The ties were choices.
    assert_eq!(sim.schedule(), "1::c2,c1");
}

#[test]
fn an_untimed_run_takes_no_time() {
    let sim = Sim::new(SimConfig::new(InOrder).untimed());
    let result = sim.run(async {
        sim.sleep_ms(ActorId::AGENT, 500).await;
        let slow = async {
            sim.sleep_ms(ActorId::AGENT, 500).await;
            1
        };
        let in_time = sim.timeout(ActorId::AGENT, 10, slow).await;
        let took_ms = sim.now_ms();
        let never = sim
            .timeout(ActorId::AGENT, 10, std::future::pending::<()>())
            .await;
        (in_time, took_ms, never)
    });
    assert_eq!(result, Ok((Some(1), 0, None)));
}

#[test]
fn a_timeout_counts_the_last_instant_as_in_time() {
    let sim = in_order();
    let me = ActorId::AGENT;
    let result = sim.run(async {
        let sleep = |ms| {
            let sim = &sim;
            async move {
                sim.sleep_ms(me, ms).await;
                ms
            }
        };
        let just = sim.timeout(me, 10, sleep(10)).await;
        let late = sim.timeout(me, 10, sleep(11)).await;
        let done = sim.timeout(me, 0, sleep(0)).await;
        let none = sim.timeout(me, 0, sleep(1)).await;
        (just, late, done, none, sim.now_ms())
    });
    assert_eq!(result, Ok((Some(10), None, Some(0), None, 20)));
}

#[test]
fn an_operation_dropped_before_its_grant_is_never_granted() {
    let sim = in_order();
    let log = Log::default();
    let result = sim.run(async {
        let rival = {
            let (sim, log) = (sim.clone(), log.clone());
            sim.clone().spawn(ActorId::call(1), async move {
                sim.op(ActorId::call(1), read("/a")).await;
                log.add("rival");
            })
        };
        // Announced, then dropped in the same poll.
        let mut op = Box::pin(sim.op(ActorId::AGENT, read("/dropped")));
        poll_fn(|cx| {
            assert!(op.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        })
        .await;
        drop(op);
        rival.await.unwrap();
    });
    assert_eq!(result, Ok(()));
    assert_eq!(log.text(), "rival");
    assert_eq!(sim.schedule(), "1::", "there never were two to choose from");
}

#[test]
fn a_cancelled_actor_is_dropped_with_its_pending_operation() {
    struct OnDrop(Log);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.add("dropped");
        }
    }
    let log = Log::default();
    let sim = in_order();
    let result = sim.run(async {
        let (other, guard) = (sim.clone(), OnDrop(log.clone()));
        let victim = sim.spawn(ActorId::call(9), async move {
            let guard = guard;
            other.op(ActorId::call(9), read("/a")).await;
            guard.0.add("granted");
        });
        let (other, killer_log) = (sim.clone(), log.clone());
        let killer = sim.spawn(ActorId::call(1), async move {
            other.op(ActorId::call(1), read("/a")).await;
            other.cancel(ActorId::call(9));
            other.cancel(ActorId::AGENT);
            other.cancel(ActorId::call(77));
            killer_log.add("cancelled");
        });
        killer.await.unwrap();
        let died = victim.await;
        let other = sim.clone();
        let suicide = sim.spawn(ActorId::call(9), async move {
            other.cancel(ActorId::call(9));
            std::future::pending::<()>().await;
        });
        (died, suicide.await)
    });
    assert_eq!(result, Ok((Err(Died::Cancelled), Err(Died::Cancelled))));
    assert_eq!(log.text(), "dropped cancelled");
}

#[test]
fn a_panic_is_told_to_who_waits() {
    let sim = in_order();
    let result = sim.run(async {
        let bad = sim.spawn(ActorId::call(1), async {
            panic!("the tool broke at {}", 7)
        });
        let died: Result<(), Died> = bad.await;
        let twice = sim.spawn(ActorId::AGENT, async {});
        (died, twice.await)
    });
    let (died, twice) = result.unwrap();
    assert_eq!(died, Err(Died::Panicked("the tool broke at 7".into())));
    assert_eq!(
        twice,
        Err(Died::Panicked("an actor a already lives".into()))
    );
}

#[test]
fn a_panic_that_nobody_waits_for_ends_the_run() {
    let sim = in_order();
    let result = sim.run(async {
        drop(sim.spawn(ActorId::call(1), async { panic!("unheard") }));
        sim.sleep_ms(ActorId::AGENT, 1).await;
    });
    let want = SimError::Panicked {
        actor: ActorId::call(1),
        message: "unheard".into(),
    };
    assert_eq!(result, Err(want));
    let result = in_order().run(async { panic!("the root") });
    let want: Result<(), _> = Err(SimError::Panicked {
        actor: ActorId::AGENT,
        message: "the root".into(),
    });
    assert_eq!(result, want);
}

#[test]
fn a_task_on_tokio_is_an_error() {
    #[expect(clippy::disallowed_methods, reason = "what is tested")]
    let result = in_order().run(async {
        tokio::spawn(async {}).await.unwrap();
    });
    assert_eq!(result, Err(SimError::ForeignTask));
}

#[test]
fn actors_spawn_actors_and_orphans_are_dropped_at_the_end() {
    let log = Log::default();
    let sim = random(3);
    let result = sim.run(async {
        let (outer, log) = (sim.clone(), log.clone());
        let parent = sim.spawn(ActorId::call(1), async move {
            let children: Vec<_> = (0..4)
                .map(|sub| {
                    let (sim, log, id) = (outer.clone(), log.clone(), ActorId::hook(1, sub));
                    outer.spawn(id, async move {
                        sim.op(id, read("/a")).await;
                        log.add(id.to_string());
                        u64::from(sub)
                    })
                })
                .collect();
            let orphan = ActorId::outside(0);
            let sim = outer.clone();
            drop(outer.spawn(orphan, async move {
                sim.sleep_ms(orphan, 1_000_000).await;
                log.add("never");
            }));
            let mut sum = 0;
            for child in children {
                sum += child.await.unwrap();
            }
            sum
        });
        parent.await
    });
    assert_eq!(result, Ok(Ok(6)));
    assert_eq!(log.lines().len(), 4);
    assert_eq!(sim.now_ms(), 0);
    // A run that is over starts nobody.
    let late = sim.spawn(ActorId::call(5), async {});
    assert!(late.is_finished());
}

#[test]
fn a_simulation_in_a_simulation_is_refused() {
    let sim = in_order();
    let result = sim.run(async { in_order().run(async {}) });
    assert!(matches!(result, Ok(Err(SimError::Runtime(_)))));
}
