//! Polls the virtual shell so that nothing of it happens beside the simulation.
//!
//! bashkit parses `eval`, `source`, nested shells and long scripts on another
//! thread. Left alone, the moment at which that thread is done would decide which
//! actor moves next. Here it is awaited on the spot: whenever the shell waits for
//! something that is not the world, the polling thread waits with it, and to the
//! executor no time has passed.

use super::state::Running;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// How long another thread may take, in real time, before the wait counts as a
/// fault. Parsing is bounded by its own fuel, so that this is never reached unless
/// the shell waits for something that nobody will do.
const FOREIGN_MAX: Duration = Duration::from_secs(60);

/// Wakes the executor and whoever waits on the spot.
struct Signal {
    woken: Mutex<bool>,
    changed: Condvar,
    outer: Mutex<Waker>,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        *self.woken.lock().unwrap_or_else(|e| e.into_inner()) = true;
        self.changed.notify_all();
        self.outer
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .wake_by_ref();
    }
}

impl Signal {
    fn take(&self) -> bool {
        std::mem::take(&mut *self.woken.lock().unwrap_or_else(|e| e.into_inner()))
    }

    /// Blocks until woken, but for no longer than `max`.
    fn wait(&self, max: Duration) {
        let woken = self.woken.lock().unwrap_or_else(|e| e.into_inner());
        let _ = self.changed.wait_timeout_while(woken, max, |woken| !*woken);
    }
}

/// Runs `shell` so that it only ever waits for the world. `None` if it lacks
/// something, which [`Running::lack`] then tells.
pub(super) async fn on_the_spot<T>(
    shell: impl Future<Output = T> + Send,
    running: Arc<Running>,
) -> Option<T> {
    let mut shell = Box::pin(tokio::task::unconstrained(shell));
    let signal = Arc::new(Signal {
        woken: Mutex::new(false),
        changed: Condvar::new(),
        outer: Mutex::new(Waker::noop().clone()),
    });
    let waker = Waker::from(signal.clone());
    std::future::poll_fn(move |cx| {
        running.polled_here();
        signal
            .outer
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .clone_from(cx.waker());
        poll(shell.as_mut(), &running, &signal, &waker)
    })
    .await
}

fn poll<T>(
    mut shell: Pin<&mut impl Future<Output = T>>,
    running: &Running,
    signal: &Signal,
    waker: &Waker,
) -> Poll<Option<T>> {
    let mut idle = Idle::default();
    loop {
        signal.take();
        let polled = shell.as_mut().poll(&mut Context::from_waker(waker));
        if running.lack().is_some() {
            return Poll::Ready(None);
        }
        if let Poll::Ready(done) = polled {
            return Poll::Ready(Some(done));
        }
        if running.is_touching() {
            return Poll::Pending;
        }
        if signal.take() {
            idle = Idle::default();
        } else if !idle.wait(signal, running.progress()) {
            running.lacks(
                "something that this command waits for",
                "the virtual shell waits for neither the world nor itself; give the command an answer",
            );
        }
    }
}

/// How long the shell has waited without a sign of life.
#[derive(Default)]
struct Idle {
    waited: Duration,
    progress: u64,
}

/// The longest wait between two looks.
const LOOK_MAX: Duration = Duration::from_millis(5);

impl Idle {
    /// Waits for another thread; `false` if that has taken too long.
    ///
    /// A shell that yields to tokio is woken only after the root has returned, so it
    /// is looked at again at once, and so is one that got on since the last look.
    fn wait(&mut self, signal: &Signal, progress: u64) -> bool {
        if self.progress != progress {
            *self = Idle {
                progress,
                ..Idle::default()
            };
        }
        let max = self.waited.min(LOOK_MAX);
        signal.wait(max);
        self.waited += max.max(Duration::from_micros(10));
        self.waited < FOREIGN_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn running() -> Arc<Running> {
        use crate::sim::{ActorId, Sim, SimConfig};
        let sim = Sim::new(SimConfig {
            strategy: Box::new(crate::sim::InOrder),
            timed: true,
            livelock_polls: 1_000,
        });
        let files = Arc::new(crate::world::MemoryFs::new(Default::default()));
        let world = crate::world::World::new(sim, files, 0, 0, Vec::new());
        Arc::new(Running::new(
            world.actor(ActorId::call(1)),
            Arc::default(),
            Arc::new(BTreeSet::new()),
        ))
    }

    #[test]
    fn work_on_another_thread_is_done_within_one_poll() {
        let running = running();
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.expect("a runtime");
        runtime.block_on(async {
            let work = async {
                #[expect(clippy::disallowed_methods, reason = "what bashkit does")]
                let parsed = tokio::task::spawn_blocking(|| 7).await;
                for _ in 0..3 {
                    tokio::task::yield_now().await;
                }
                parsed.ok()
            };
            let mut run = std::pin::pin!(on_the_spot(work, running));
            let mut cx = Context::from_waker(Waker::noop());
            assert_eq!(run.as_mut().poll(&mut cx), Poll::Ready(Some(Some(7))));
        });
    }
}
