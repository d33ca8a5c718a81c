//! The executor over generated programs: what was recorded replays.

use proptest::prelude::*;
use rehearsal::sim::{
    ActorId, ActorKind, Op, OpKind, Random, Replay, Resource, Schedule, Sim, SimConfig, SimError,
};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What happened, in the order in which it happened.
type Log = Arc<Mutex<Vec<String>>>;

fn read(path: &str) -> Op {
    Op {
        resource: Resource::File(path.into()),
        kind: OpKind::Read,
    }
}

/// One thing that an actor of a generated program does.
#[derive(Debug, Clone)]
enum Act {
    Touch(u8),
    Sleep(u64),
    GuestSleep(u64),
    Yield,
    Send,
    Receive,
    Race(u64),
    Child(Vec<Act>),
}

fn act() -> impl Strategy<Value = Act> {
    let leaf = prop_oneof![
        4 => (0..3u8).prop_map(Act::Touch),
        1 => (0..6u64).prop_map(Act::Sleep),
        1 => (0..6u64).prop_map(Act::GuestSleep),
        1 => Just(Act::Yield),
        1 => Just(Act::Send),
        1 => Just(Act::Receive),
        1 => (0..6u64).prop_map(Act::Race),
    ];
    leaf.prop_recursive(2, 12, 4, |inner| {
        prop::collection::vec(inner, 1..4).prop_map(Act::Child)
    })
}

type Channel = Arc<(
    tokio::sync::mpsc::UnboundedSender<u8>,
    tokio::sync::Mutex<tokio::sync::mpsc::UnboundedReceiver<u8>>,
)>;

/// What the actors of a generated program share, and who each one is.
#[derive(Clone)]
struct Player {
    sim: Sim,
    id: ActorId,
    log: Log,
    channel: Channel,
    subs: Arc<Mutex<u32>>,
}

impl Player {
    fn note(&self, what: &str) {
        let line = format!("{}:{what}@{}", self.id, self.sim.now_ms());
        self.log.lock().unwrap().push(line);
    }

    fn play(self, acts: Vec<Act>) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            for act in acts {
                self.act(act).await;
            }
        })
    }

    async fn act(&self, act: Act) {
        let (sim, id) = (&self.sim, self.id);
        match act {
            Act::Touch(file) => {
                sim.op(id, read(&format!("/{file}"))).await;
                self.note(&format!("touch{file}"));
            }
            Act::Sleep(ms) => sim.sleep_ms(id, ms).await,
            Act::GuestSleep(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
            Act::Yield => tokio::task::yield_now().await,
            Act::Send => self.channel.0.send(1).unwrap(),
            Act::Receive => {
                let receive = async { self.channel.1.lock().await.recv().await };
                let got = sim.timeout(id, 3, receive).await;
                self.note(&format!("received{got:?}"));
            }
            Act::Race(ms) => {
                let slow = async {
                    sim.sleep_ms(id, 3).await;
                    sim.op(id, read("/raced")).await;
                };
                let won = sim.timeout(id, ms, slow).await;
                self.note(&format!("race{won:?}"));
            }
            Act::Child(acts) => {
                let sub = {
                    let mut subs = self.subs.lock().unwrap();
                    *subs += 1;
                    *subs
                };
                let child = ActorId {
                    kind: ActorKind::Hook,
                    number: id.number,
                    sub,
                };
                let player = Player {
                    id: child,
                    ..self.clone()
                };
                let joined = sim.spawn(child, player.play(acts));
                sim.op(id, read("/beside")).await;
                joined.await.unwrap();
                self.note("joined");
            }
        }
    }
}

fn play(sim: &Sim, program: &[Vec<Act>]) -> (Result<(), SimError>, String) {
    let log = Log::default();
    let (tx, rx) = tokio::sync::mpsc::unbounded_channel();
    let channel = Arc::new((tx, tokio::sync::Mutex::new(rx)));
    let subs = Arc::new(Mutex::new(0));
    let result = sim.run(async {
        let actors: Vec<_> = (1..)
            .zip(program)
            .map(|(number, acts)| {
                let player = Player {
                    sim: sim.clone(),
                    id: ActorId::call(number),
                    log: log.clone(),
                    channel: channel.clone(),
                    subs: subs.clone(),
                };
                sim.spawn(player.id, player.play(acts.clone()))
            })
            .collect();
        for actor in actors {
            actor.await.unwrap();
        }
    });
    let lines = log.lock().unwrap().join(" ");
    (result, lines)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn a_recorded_schedule_replays_to_the_same_grants(
        program in prop::collection::vec(prop::collection::vec(act(), 0..6), 1..5),
        seed in any::<u64>().no_shrink(),
        timed in any::<bool>(),
    ) {
        let config = |strategy: Box<dyn rehearsal::sim::Strategy>| SimConfig {
            strategy,
            timed,
            livelock_polls: SimConfig::LIVELOCK_POLLS,
        };
        let first = Sim::new(config(Box::new(Random::new(seed)))).with_scenario("ab12");
        let played = play(&first, &program);
        prop_assert_eq!(&played.0, &Ok(()));
        let schedule: Schedule = first.schedule().parse().unwrap();
        prop_assert_eq!(&schedule, &first.recorded());
        let again = Sim::new(config(Box::new(Replay::new(schedule)))).with_scenario("ab12");
        prop_assert_eq!(play(&again, &program), played);
        prop_assert_eq!(again.schedule(), first.schedule());
        prop_assert_eq!(again.now_ms(), first.now_ms());
    }

    #[test]
    fn conflict_is_symmetric_and_needs_a_write(a in op(), b in op()) {
        prop_assert_eq!(a.conflicts(&b), b.conflicts(&a));
        if !a.kind.writes() && !b.kind.writes() {
            prop_assert!(!a.conflicts(&b));
        }
        if a.kind.writes() && a.resource != Resource::Slot {
            prop_assert!(a.conflicts(&a));
        }
    }
}

fn op() -> impl Strategy<Value = Op> {
    let name = || prop::sample::select(vec!["a", "b", "ab"]);
    let path = || {
        prop::collection::vec(name(), 0..3).prop_map(|names| format!("/{}", names.join("/")).into())
    };
    let resource = prop_oneof![
        path().prop_map(Resource::File),
        (path(), name()).prop_map(|(folder, name)| Resource::Entry(folder, name.into())),
        path().prop_map(Resource::Subtree),
        path().prop_map(Resource::FileState),
        name().prop_map(|name| Resource::Mcp(name.into())),
        name().prop_map(|name| Resource::Session(name.into())),
        (0..2u32, 0..2u8).prop_map(|(call, step)| Resource::StepOf(call, step)),
        prop::sample::select(vec![
            Resource::ShellSession,
            Resource::User,
            Resource::Grants,
            Resource::Classifier,
            Resource::Slot,
        ]),
    ];
    use OpKind::*;
    let kind = prop::sample::select(vec![
        Read, Write, ReplaceIf, Create, Remove, List, Stat, Ask, Start,
    ]);
    (resource, kind).prop_map(|(resource, kind)| Op { resource, kind })
}
