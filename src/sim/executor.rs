//! The handle on a simulation, and how one is run.

use super::clock::NEVER_MS;
use super::driver::Driver;
use super::joined::{Died, Joined, Slot, Take};
use super::pending::{Granting, Sleeping};
use super::ready::{Ready, waker_of};
use super::state::{Live, State, Task, bury};
use super::{ActorId, Op, Schedule, Strategy};
use futures_util::FutureExt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// How a simulation runs.
pub struct SimConfig {
    pub strategy: Box<dyn Strategy>,
    /// Latencies count; otherwise every latency is 0. Then a time-out fires only when
    /// nothing else can happen.
    pub timed: bool,
    /// Polls without any progress of time or grants after which a run is a livelock.
    /// A hundred times as many grants at one instant, and ten times as many instants
    /// without a grant, are one too.
    pub livelock_polls: u64,
}

impl SimConfig {
    /// Enough for a thousand actors that each look a hundred times at one channel.
    pub const LIVELOCK_POLLS: u64 = 100_000;

    /// A timed simulation with the usual limit.
    pub fn new(strategy: impl Strategy + 'static) -> SimConfig {
        SimConfig {
            strategy: Box::new(strategy),
            timed: true,
            livelock_polls: SimConfig::LIVELOCK_POLLS,
        }
    }

    /// The same simulation without latencies.
    pub fn untimed(self) -> SimConfig {
        SimConfig {
            timed: false,
            ..self
        }
    }
}

/// Why a simulation could not go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SimError {
    /// No actor is ready, nothing is announced and no timer is set. Each live actor
    /// with the operation it was granted last.
    #[error("deadlock: every actor waits and nothing can happen ({})", listed(.waiting))]
    Deadlock { waiting: Vec<(ActorId, String)> },
    /// The actors go on for ever. `polls` counts those since there was progress.
    #[error("livelock: {polls} polls without progress ({})", listed(.last))]
    Livelock {
        polls: u64,
        last: Vec<(ActorId, String)>,
    },
    #[error("schedule does not fit: {0}")]
    Schedule(String),
    #[error("a task was spawned on tokio, where no seed orders it; spawn an actor instead")]
    ForeignTask,
    /// The root panicked, or an actor that nobody waits for.
    #[error("actor {actor} panicked: {message}")]
    Panicked { actor: ActorId, message: String },
    /// Somebody moved or resumed tokio's clock. Ours in milliseconds, tokio's in nanoseconds.
    #[error(
        "the clocks disagree: ours reads {ours_ms} ms, tokio's {tokio_ns} ns; nothing in a simulation may move tokio's clock"
    )]
    Clock { ours_ms: u64, tokio_ns: u64 },
    #[error("failed to start a simulation: {0}")]
    Runtime(String),
}

fn listed(actors: &[(ActorId, String)]) -> String {
    let lines: Vec<String> = actors
        .iter()
        .map(|(id, last)| format!("{id} last did: {last}"))
        .collect();
    lines.join("; ")
}

/// The executor of one run. Cloning gives another handle on it.
#[derive(Clone)]
pub struct Sim(Arc<Shared>);

struct Shared {
    now_ms: AtomicU64,
    timed: bool,
    livelock_polls: u64,
    ready: Arc<Ready>,
    state: Mutex<State>,
}

impl Sim {
    pub fn new(config: SimConfig) -> Sim {
        Sim(Arc::new(Shared {
            now_ms: AtomicU64::new(0),
            timed: config.timed,
            livelock_polls: config.livelock_polls,
            ready: Arc::default(),
            state: Mutex::new(State::new(config.strategy)),
        }))
    }

    /// Names the scenario that the schedule string will belong to.
    pub fn with_scenario(self, scenario_hash: &str) -> Sim {
        self.lock().schedule.scenario_hash = scenario_hash.to_owned();
        self
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    pub(super) fn ready(&self) -> &Ready {
        &self.0.ready
    }

    pub(super) fn waker(&self, id: ActorId) -> std::task::Waker {
        waker_of(id, &self.0.ready)
    }

    pub(super) fn livelock_polls(&self) -> u64 {
        self.0.livelock_polls
    }

    pub(super) fn set_now_ms(&self, now_ms: u64) {
        self.0.now_ms.store(now_ms, Ordering::Relaxed);
    }

    /// Virtual milliseconds since the run began.
    pub fn now_ms(&self) -> u64 {
        self.0.now_ms.load(Ordering::Relaxed)
    }

    /// Whether latencies count.
    pub fn timed(&self) -> bool {
        self.0.timed
    }

    /// Announces `op` in the name of `actor` and waits until it is granted.
    ///
    /// What one actor announces is granted in that order. Dropped before its grant,
    /// an operation is never granted.
    pub fn op(&self, actor: ActorId, op: Op) -> Granting<'_> {
        Granting::new(self, actor, op)
    }

    /// Lets `ms` of virtual time pass; none in an untimed simulation.
    ///
    /// The timers of one instant fire together: what their actors then announce is
    /// for the strategy to order.
    pub fn sleep_ms(&self, actor: ActorId, ms: u64) -> Sleeping<'_> {
        let ms = if self.timed() { ms } else { 0 };
        self.until(actor, ms)
    }

    fn until(&self, actor: ActorId, ms: u64) -> Sleeping<'_> {
        let at_ms = self.now_ms().saturating_add(ms).min(NEVER_MS);
        Sleeping::new(self, actor, at_ms)
    }

    /// Gives what `future` gives, or `None` if it is not done `ms` from now, and then
    /// drops it. What is done in the last instant counts as in time. In an untimed
    /// simulation the time is up only when nothing else can happen.
    pub async fn timeout<T>(
        &self,
        actor: ActorId,
        ms: u64,
        future: impl Future<Output = T>,
    ) -> Option<T> {
        let mut future = pin!(future);
        let mut deadline = pin!(self.until(actor, ms));
        poll_fn(|cx| match future.as_mut().poll(cx) {
            std::task::Poll::Ready(value) => std::task::Poll::Ready(Some(value)),
            std::task::Poll::Pending => deadline.as_mut().poll(cx).map(|()| None),
        })
        .await
    }

    /// Starts an actor. It is polled for the first time when its turn comes, not here.
    ///
    /// An actor that panics gives [`Died::Panicked`]; if nobody holds its [`Joined`],
    /// the run ends with [`SimError::Panicked`]. (The process's panic hook runs
    /// in either case and may write to stderr: setting one is for a program, not for a
    /// library.) An id that still lives, or that of the root, is refused as a panic of
    /// the new actor. Actors that outlive the root are dropped.
    pub fn spawn<T: Send + 'static>(
        &self,
        id: ActorId,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Joined<T> {
        let slot = Slot::new();
        self.spawn_for(id, future, slot.clone());
        Joined::new(slot)
    }

    /// Starts an actor that leaves its value in `place`.
    pub(super) fn spawn_for<T: Send + 'static>(
        &self,
        id: ActorId,
        future: impl Future<Output = T> + Send + 'static,
        place: Arc<impl Take<T> + 'static>,
    ) {
        let mut state = self.lock();
        if state.ended {
            drop(state);
            return place.fill(Err(Died::Cancelled));
        }
        if id == ActorId::AGENT || state.actors.contains_key(&id) {
            drop(state);
            return place.fill(Err(Died::Panicked(format!("an actor {id} already lives"))));
        }
        let end = place.clone();
        let task = Task {
            // Not an `async` block, which would hold the future twice.
            future: Box::pin(future.map(move |value| place.fill(Ok(value)))),
            waker: self.waker(id),
            end,
        };
        let live = Live {
            task: Some(task),
            ..Live::default()
        };
        state.actors.insert(id, live);
        drop(state);
        self.0.ready.insert(id);
    }

    /// Drops an actor's future; a pending operation of it is never granted. One that is
    /// being polled is dropped when the poll returns. Does nothing for the root or
    /// for who does not live.
    pub fn cancel(&self, id: ActorId) {
        let task = self.lock().take_for_cancel(id);
        if let Some(task) = task {
            self.bury_cancelled(id, task);
        }
    }

    pub(super) fn bury_cancelled(&self, id: ActorId, task: Task) {
        if let (_, Some(message)) = bury(task, Died::Cancelled) {
            self.lock().orphan.get_or_insert((id, message));
        }
    }

    /// Drives `root` (the actor [`ActorId::AGENT`]) and every spawned actor until
    /// `root` is done, on a paused tokio runtime of its own. Must not be called from
    /// within a tokio runtime.
    pub fn run<T>(&self, root: impl Future<Output = T>) -> Result<T, SimError> {
        if tokio::runtime::Handle::try_current().is_ok() {
            return Err(SimError::Runtime(
                "this thread already runs a tokio runtime".to_owned(),
            ));
        }
        {
            let mut state = self.lock();
            if std::mem::replace(&mut state.running, true) {
                return Err(SimError::Runtime("it already runs".to_owned()));
            }
            state.ended = false;
            state.actors.insert(ActorId::AGENT, Live::default());
        }
        let result = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .map_err(|e| SimError::Runtime(e.to_string()))
            .and_then(|runtime| {
                // Unconstrained: all actors are one task to tokio, and its budget for
                // one task would make guests that have much to do look blocked.
                runtime.block_on(tokio::task::coop::unconstrained(async {
                    let result = {
                        let mut root = pin!(root);
                        let mut driver = Driver::new(self.clone());
                        self.0.ready.insert(ActorId::AGENT);
                        poll_fn(|cx| driver.poll(root.as_mut(), cx)).await
                    };
                    self.drop_the_rest();
                    result
                }))
            });
        let mut state = self.lock();
        state.running = false;
        let value = result?;
        if let Some((actor, message)) = state.orphan.take() {
            return Err(SimError::Panicked { actor, message });
        }
        state.finish()?;
        Ok(value)
    }

    /// Drops the actors that outlived the root, in the order of their ids.
    fn drop_the_rest(&self) {
        self.lock().ended = true;
        while let Some((id, live)) = self.take_any() {
            if let Some(task) = live.task {
                self.bury_cancelled(id, task);
            }
        }
        self.0.ready.clear();
    }

    fn take_any(&self) -> Option<(ActorId, Live)> {
        self.lock().actors.pop_first()
    }

    /// The choices so far, as a string that replays them.
    pub fn schedule(&self) -> String {
        self.lock().schedule.to_string()
    }

    /// The choices so far.
    pub fn recorded(&self) -> Schedule {
        self.lock().schedule.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_shared_between_threads() {
        fn shared<T: Clone + Send + Sync>() {}
        shared::<Sim>();
    }
}
