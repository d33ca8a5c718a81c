//! The scenario's answers to whole command lines, and the timeout of a command.

use super::fixture::Fixtures;
use super::output::Printed;
use super::{Command, Ran};
use crate::world::Actor;
use std::future::Future;
use std::task::Poll;

/// What the scenario says that the whole command line does, if it does.
pub(super) async fn answer(fixtures: &Fixtures, command: &Command, actor: &Actor) -> Option<Ran> {
    let fixture = fixtures.take_line(&command.line)?;
    let acted = within(actor, command.timeout_ms, fixture.act(actor, &command.cwd));
    Some(match acted.await {
        None => Ran::TimedOut {
            after_ms: command.timeout_ms,
            merged: Vec::new(),
        },
        Some(Err(why)) => Ran::Lacks {
            what: format!("the files that its answer under `commands:` writes: {why}"),
            hint: "correct its `writes`".to_owned(),
        },
        Some(Ok(())) => {
            let out = Printed::default();
            out.print(&fixture.stdout, &fixture.stderr);
            out.exited(fixture.exit, command.cwd.clone())
        }
    })
}

/// Runs `work` for at most `timeout_ms` virtual milliseconds; `None` if that was too
/// short. Work that is done in the same instant counts as done.
pub(super) async fn within<T>(
    actor: &Actor,
    timeout_ms: u64,
    work: impl Future<Output = T>,
) -> Option<T> {
    let mut work = std::pin::pin!(work);
    let mut timer = std::pin::pin!(actor.sleep_ms(timeout_ms));
    std::future::poll_fn(|cx| {
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(Some(done));
        }
        timer.as_mut().poll(cx).map(|()| None)
    })
    .await
}
