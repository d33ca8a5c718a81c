//! The scenario's answers to whole command lines.

use super::fixture::Fixtures;
use super::output::Printed;
use super::{Command, Ran};
use crate::world::Actor;

/// What the scenario says that the whole command line does, if it does.
pub(super) async fn answer(fixtures: &Fixtures, command: &Command, actor: &Actor) -> Option<Ran> {
    let fixture = fixtures.take(|fixture| fixture.answers_line(&command.line))?;
    let acted = actor.world().sim().timeout(
        actor.id(),
        command.timeout_ms,
        fixture.act(actor, &command.cwd),
    );
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
