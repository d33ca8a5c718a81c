//! What a call touched, noted in its trace and held against what it declared.

use crate::sim::{ActorId, Op, OpKind, Resource};
use crate::tools::Footprint;
use crate::trace::{Event, Invariant, OpEvent};
use crate::world::{Access, World};
use std::sync::Arc;

/// The events of everything that `actor` did since they were last taken; `by` is what
/// they are filed under.
pub(super) fn operations(
    world: &World,
    actor: ActorId,
    by: &Arc<str>,
) -> (Vec<Access>, Vec<(u64, Event)>) {
    let accesses = world.take_accesses_of(actor);
    let events = accesses.iter().map(|access| {
        let event = OpEvent {
            by: by.clone(),
            n: access.n,
            resource: access.op.resource.to_string(),
            kind: access.op.kind.as_str().into(),
            result: access.result.into(),
        };
        (access.at_ms, Event::Op(event))
    });
    let events = events.collect();
    (accesses, events)
}

/// The breach of `no_conflict_in_flight` that an undeclared touch is: the first one of
/// these accesses that no declared resource overlaps. What belongs to the runtime and
/// not to the tool (asking, slots, saved results) is declared by nobody.
pub(super) fn undeclared(
    footprint: &Footprint,
    accesses: &[Access],
    results_dir: &str,
    real: &dyn Fn(&str) -> Option<String>,
    call: &Arc<str>,
) -> Option<Event> {
    if footprint.exclusive {
        return None;
    }
    let access = accesses.iter().find(|access| {
        !is_runtime(&access.op.resource, results_dir) && !is_declared(footprint, &access.op, real)
    })?;
    Some(Event::Invariant(Invariant {
        name: "no_conflict_in_flight".to_owned(),
        call: Some(call.clone()),
        what: format!("the call touched {} without having declared it", access.op),
    }))
}

fn is_runtime(resource: &Resource, results_dir: &str) -> bool {
    match resource {
        Resource::User
        | Resource::Grants
        | Resource::Classifier
        | Resource::Slot
        | Resource::StepOf(..) => true,
        Resource::File(path) => path.starts_with(results_dir),
        _ => false,
    }
}

/// Whether a declared resource overlaps the touched one: whether the two, were either
/// a write, would conflict. A path that is declared stands also for where its symlinks
/// lead, which only the run can tell.
fn is_declared(footprint: &Footprint, op: &Op, real: &dyn Fn(&str) -> Option<String>) -> bool {
    let meets = |declared: Resource| {
        let declared = Op {
            resource: declared,
            kind: OpKind::Write,
        };
        declared.resource == op.resource || declared.conflicts(op)
    };
    let overlaps =
        |declared: &Resource| meets(declared.clone()) || declared.led(real).is_some_and(meets);
    footprint.writes.iter().any(overlaps)
        || (!op.kind.writes() && footprint.reads.iter().any(overlaps))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(resource: Resource, kind: OpKind) -> Access {
        Access {
            at_ms: 0,
            actor: ActorId::call(1),
            n: 0,
            op: Op { resource, kind },
            result: "ok",
        }
    }

    fn is_breach(footprint: &Footprint, access: Access) -> bool {
        undeclared(
            footprint,
            &[access],
            "/results",
            &|path| path.strip_prefix("/link").map(|rest| format!("/dir{rest}")),
            &"c".into(),
        )
        .is_some()
    }

    #[test]
    fn a_read_needs_a_declaration_and_a_write_needs_one_of_a_write() {
        let file = |path: &str| Resource::File(path.into());
        let reads = Footprint::reads([file("/a"), Resource::Subtree("/dir".into())]);
        assert!(!is_breach(&reads, access(file("/a"), OpKind::Read)));
        assert!(!is_breach(&reads, access(file("/dir/b"), OpKind::Stat)));
        assert!(is_breach(&reads, access(file("/c"), OpKind::Read)));
        assert!(is_breach(&reads, access(file("/a"), OpKind::Write)));
        assert!(!is_breach(
            &Footprint::writes([file("/a")]),
            access(file("/a"), OpKind::ReplaceIf)
        ));
        assert!(!is_breach(
            &reads,
            access(file("/results/x.txt"), OpKind::Write)
        ));
        let through = Footprint::reads([file("/link/x")]);
        assert!(!is_breach(&through, access(file("/dir/x"), OpKind::Read)));
        assert!(!is_breach(&reads, access(Resource::User, OpKind::Ask)));
        assert!(!is_breach(
            &Footprint::exclusive(),
            access(file("/c"), OpKind::Write)
        ));
    }
}
