//! Skeleton: every operation is granted at once.
use super::{ActorId, Op, Strategy};
use std::future::Future;
use std::sync::Arc;

/// How a simulation runs.
pub struct SimConfig {
    pub strategy: Box<dyn Strategy>,
    /// Latencies count; otherwise every latency is 0 and timers are free choices.
    pub timed: bool,
    /// Polls without any progress of time or grants after which a run is a livelock.
    pub livelock_polls: u64,
}

/// Why a simulation could not go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SimError {
    #[error("deadlock")]
    Deadlock { waiting: Vec<(ActorId, String)> },
    #[error("livelock")]
    Livelock {
        polls: u64,
        last: Vec<(ActorId, String)>,
    },
    #[error("schedule does not fit: {0}")]
    Schedule(String),
    #[error("a task was spawned on tokio")]
    ForeignTask,
}

/// Why an actor gave no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Died {
    Panicked(String),
    Cancelled,
}

/// The executor of one run. Cloning gives another handle on it.
#[derive(Clone)]
pub struct Sim(Arc<()>);

/// Waits for a spawned actor's value.
pub struct Joined<T>(std::pin::Pin<Box<dyn Future<Output = Result<T, Died>> + Send>>);

impl<T> Future for Joined<T> {
    type Output = Result<T, Died>;
    fn poll(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        self.0.as_mut().poll(cx)
    }
}

impl Sim {
    pub fn new(_config: SimConfig) -> Sim {
        Sim(Arc::new(()))
    }
    pub fn now_ms(&self) -> u64 {
        0
    }
    pub async fn op(&self, _actor: ActorId, _op: Op) {}
    pub async fn sleep_ms(&self, _actor: ActorId, _ms: u64) {}
    /// Starts an actor.
    pub fn spawn<T: Send + 'static>(
        &self,
        _id: ActorId,
        f: impl Future<Output = T> + Send + 'static,
    ) -> Joined<T> {
        Joined(Box::pin(async move { Ok(f.await) }))
    }
    /// Drops an actor's future; a pending operation of it is never granted.
    pub fn cancel(&self, _id: ActorId) {}
    /// Drives `root` (the actor `ActorId::AGENT`) to its end.
    pub fn run<T>(&self, root: impl Future<Output = T>) -> Result<T, SimError> {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .map(|rt| rt.block_on(root))
            .map_err(|_| SimError::ForeignTask)
    }
    /// The grants so far, as a string that replays them.
    pub fn schedule(&self) -> String {
        String::new()
    }
}
