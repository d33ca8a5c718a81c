//! What an actor waits for: the grant of an operation, or a time.

use super::clock::TimerKey;
use super::executor::Sim;
use super::{ActorId, Op};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Waits until an operation is granted. The operation is announced at the first
/// poll; dropped before its grant, it is never granted.
#[must_use = "an operation is announced when it is awaited"]
pub struct Granting<'a> {
    sim: &'a Sim,
    actor: ActorId,
    stage: Stage,
}

enum Stage {
    New(Op),
    Announced(u64),
    Granted,
}

impl<'a> Granting<'a> {
    pub(super) fn new(sim: &'a Sim, actor: ActorId, op: Op) -> Granting<'a> {
        Granting {
            sim,
            actor,
            stage: Stage::New(op),
        }
    }
}

impl Future for Granting<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        match std::mem::replace(&mut this.stage, Stage::Granted) {
            Stage::New(op) => {
                let ticket = this.sim.lock().announce(this.actor, op, cx.waker());
                this.stage = Stage::Announced(ticket);
                Poll::Pending
            }
            Stage::Announced(ticket) => {
                if this.sim.lock().still_waits(this.actor, ticket, cx.waker()) {
                    this.stage = Stage::Announced(ticket);
                    return Poll::Pending;
                }
                Poll::Ready(())
            }
            Stage::Granted => Poll::Ready(()),
        }
    }
}

impl Drop for Granting<'_> {
    fn drop(&mut self) {
        if let Stage::Announced(ticket) = self.stage {
            // The waker is dropped after the lock: its destructor may be anybody's.
            let waker = self.sim.lock().withdraw(self.actor, ticket);
            drop(waker);
        }
    }
}

/// Waits until a virtual time.
#[must_use = "time passes when it is awaited"]
pub struct Sleeping<'a> {
    sim: &'a Sim,
    actor: ActorId,
    until_ms: u64,
    key: Option<TimerKey>,
}

impl<'a> Sleeping<'a> {
    pub(super) fn new(sim: &'a Sim, actor: ActorId, until_ms: u64) -> Sleeping<'a> {
        Sleeping {
            sim,
            actor,
            until_ms,
            key: None,
        }
    }
}

impl Future for Sleeping<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if this.sim.now_ms() >= this.until_ms {
            return Poll::Ready(());
        }
        let mut state = this.sim.lock();
        let waits = this
            .key
            .is_some_and(|key| state.timers.renew(key, cx.waker()));
        if !waits {
            this.key = Some(state.timers.set(this.until_ms, this.actor, cx.waker()));
        }
        Poll::Pending
    }
}

impl Drop for Sleeping<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let waker = self.sim.lock().timers.remove(key);
            drop(waker);
        }
    }
}
