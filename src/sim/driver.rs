//! The scheduler: a plain future that polls every actor, grants their operations
//! and moves the time.

use super::ActorId;
use super::clock::NEVER_MS;
use super::executor::{Sim, SimError};
use super::joined::{Died, panic_message};
use super::state::bury;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::runtime::RuntimeMetrics;
use tokio::time::{Instant, Sleep};

/// How many times [`SimConfig::livelock_polls`](super::SimConfig) a run may take of
/// what is progress but may never end: grants and ended actors at one instant, and
/// instants without either. Far above what any run needs, and reached within seconds.
const STEPS_PER_POLL: u64 = 100;
const INSTANTS_PER_POLL: u64 = 10;

/// What happened when all that was ready had been polled.
enum Settled<T> {
    Done(T),
    AllBlocked,
}

/// The scheduler of one run.
pub(super) struct Driver {
    sim: Sim,
    root_waker: Waker,
    metrics: RuntimeMetrics,
    /// Where tokio's clock stood when the run began, and ours.
    began: Instant,
    began_ms: u64,
    /// The one tokio timer through which our time and that of guests meet.
    alarm: Pin<Box<Sleep>>,
    /// When the alarm rings by our clock; [`NEVER_MS`] if nothing is due.
    alarm_ms: u64,
    polls: u64,
    steps: u64,
    instants: u64,
}

impl Driver {
    /// Must be called within the runtime that will poll it.
    pub fn new(sim: Sim) -> Driver {
        let began = Instant::now();
        let began_ms = sim.now_ms();
        Driver {
            root_waker: sim.waker(ActorId::AGENT),
            metrics: tokio::runtime::Handle::current().metrics(),
            began,
            began_ms,
            alarm: Box::pin(tokio::time::sleep_until(began)),
            alarm_ms: began_ms,
            polls: 0,
            steps: 0,
            instants: 0,
            sim,
        }
    }

    /// Does what can be done at this instant; pending when only time can help.
    pub fn poll<F: Future>(
        &mut self,
        root: Pin<&mut F>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<F::Output, SimError>> {
        self.sim.ready().begin_work(cx.waker());
        match self.work(root, cx) {
            Ok(Some(value)) => Poll::Ready(Ok(value)),
            Ok(None) => Poll::Pending,
            Err(error) => Poll::Ready(Err(error)),
        }
    }

    fn work<F: Future>(
        &mut self,
        mut root: Pin<&mut F>,
        cx: &mut Context<'_>,
    ) -> Result<Option<F::Output>, SimError> {
        self.follow_clock()?;
        loop {
            let settled = self.settle(root.as_mut())?;
            if self.metrics.num_alive_tasks() > 0 {
                return Err(SimError::ForeignTask);
            }
            if let Settled::Done(value) = settled {
                return Ok(Some(value));
            }
            let granted = self.sim.lock().grant()?;
            if let Some(waker) = granted {
                self.count_progress()?;
                waker.wake();
                continue;
            }
            let rings = self.set_alarm(cx);
            if rings {
                self.follow_clock()?;
            } else if self.sim.ready().rest() {
                return Ok(None);
            }
        }
    }

    /// Polls the ready actors, the least id first, until none is ready.
    fn settle<F: Future>(&mut self, mut root: Pin<&mut F>) -> Result<Settled<F::Output>, SimError> {
        while let Some(id) = self.sim.ready().pop() {
            self.count_poll()?;
            if id == ActorId::AGENT {
                if let Some(value) = self.poll_root(root.as_mut())? {
                    return Ok(Settled::Done(value));
                }
            } else {
                self.poll_actor(id)?;
            }
        }
        Ok(Settled::AllBlocked)
    }

    fn poll_root<F: Future>(&mut self, root: Pin<&mut F>) -> Result<Option<F::Output>, SimError> {
        self.sim.lock().polling = ActorId::AGENT;
        let mut cx = Context::from_waker(&self.root_waker);
        match catch_unwind(AssertUnwindSafe(|| root.poll(&mut cx))) {
            Ok(Poll::Ready(value)) => Ok(Some(value)),
            Ok(Poll::Pending) => Ok(None),
            Err(payload) => Err(SimError::Panicked {
                actor: ActorId::AGENT,
                message: panic_message(&*payload),
            }),
        }
    }

    fn poll_actor(&mut self, id: ActorId) -> Result<(), SimError> {
        let task = {
            let mut state = self.sim.lock();
            state.polling = id;
            state.actors.get_mut(&id).and_then(|live| live.task.take())
        };
        // A waker may outlive its actor.
        let Some(mut task) = task else {
            return Ok(());
        };
        let mut cx = Context::from_waker(&task.waker);
        let polled = catch_unwind(AssertUnwindSafe(|| task.future.as_mut().poll(&mut cx)));
        let mut state = self.sim.lock();
        let why = match polled {
            Ok(Poll::Pending) => match state.actors.get_mut(&id) {
                Some(live) if !live.cancelled => {
                    live.task = Some(task);
                    return Ok(());
                }
                _ => Died::Cancelled,
            },
            // The value is in its slot; what is said now is not heard.
            Ok(Poll::Ready(())) => Died::Cancelled,
            Err(payload) => Died::Panicked(panic_message(&*payload)),
        };
        state.actors.remove(&id);
        drop(state);
        self.count_progress()?;
        let panicked = match &why {
            Died::Panicked(message) => Some(message.clone()),
            Died::Cancelled => None,
        };
        let (heard, destructor) = bury(task, why);
        let unheard = panicked.filter(|_| !heard).or(destructor);
        match unheard {
            Some(message) => Err(SimError::Panicked { actor: id, message }),
            None => Ok(()),
        }
    }

    /// Takes over tokio's time and fires the timers that are due by it.
    fn follow_clock(&mut self) -> Result<(), SimError> {
        let ours_ms = self.sim.now_ms();
        let passed = Instant::now().saturating_duration_since(self.began);
        let tokio_ms = u64::try_from(passed.as_millis())
            .unwrap_or(u64::MAX)
            .saturating_add(self.began_ms);
        let whole = passed.subsec_nanos().is_multiple_of(1_000_000);
        if !whole || tokio_ms < ours_ms || tokio_ms > self.alarm_ms.max(ours_ms) {
            return Err(SimError::Clock {
                ours_ms,
                tokio_ns: u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX),
            });
        }
        if tokio_ms >= NEVER_MS {
            return Err(SimError::Deadlock {
                waiting: self.sim.lock().report(),
            });
        }
        if tokio_ms > ours_ms {
            self.sim.set_now_ms(tokio_ms);
            self.count_instant()?;
        }
        loop {
            let due = self.sim.lock().timers.pop_due(tokio_ms);
            match due {
                Some(waker) => waker.wake(),
                None => return Ok(()),
            }
        }
    }

    /// Sets the alarm for our next deadline, or for never: tokio then goes to the
    /// earliest of it and what guests wait for. `true` if it rings at once.
    fn set_alarm(&mut self, cx: &mut Context<'_>) -> bool {
        let next_ms = self.sim.lock().timers.next_ms().unwrap_or(NEVER_MS);
        if next_ms != self.alarm_ms || self.alarm.is_elapsed() {
            self.alarm_ms = next_ms;
            let after = Duration::from_millis(next_ms.saturating_sub(self.began_ms));
            self.alarm.as_mut().reset(self.began + after);
        }
        self.alarm.as_mut().poll(cx).is_ready()
    }

    fn count_poll(&mut self) -> Result<(), SimError> {
        self.polls += 1;
        if self.polls > self.sim.livelock_polls() {
            return Err(self.livelock());
        }
        Ok(())
    }

    fn count_progress(&mut self) -> Result<(), SimError> {
        self.polls = 0;
        self.instants = 0;
        self.steps += 1;
        if self.steps / STEPS_PER_POLL > self.sim.livelock_polls() {
            return Err(self.livelock());
        }
        Ok(())
    }

    fn count_instant(&mut self) -> Result<(), SimError> {
        self.polls = 0;
        self.steps = 0;
        self.instants += 1;
        if self.instants / INSTANTS_PER_POLL > self.sim.livelock_polls() {
            return Err(self.livelock());
        }
        Ok(())
    }

    fn livelock(&self) -> SimError {
        SimError::Livelock {
            // At least one poll belongs to each step and to each instant.
            polls: self.polls.max(self.steps).max(self.instants),
            last: self.sim.lock().report(),
        }
    }
}
