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
            kind: access.op.kind.as_str().to_owned(),
            result: access.result.to_owned(),
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
    call: &Arc<str>,
) -> Option<Event> {
    if footprint.exclusive {
        return None;
    }
    let access = accesses.iter().find(|access| {
        !is_runtime(&access.op.resource, results_dir) && !is_declared(footprint, &access.op)
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
/// a write, would conflict.
fn is_declared(footprint: &Footprint, op: &Op) -> bool {
    let overlaps = |declared: &Resource| {
        let declared = Op {
            resource: declared.clone(),
            kind: OpKind::Write,
        };
        declared.resource == op.resource || declared.conflicts(op)
    };
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
        undeclared(footprint, &[access], "/results", &"c".into()).is_some()
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
        assert!(!is_breach(&reads, access(Resource::User, OpKind::Ask)));
        assert!(!is_breach(
            &Footprint::exclusive(),
            access(file("/c"), OpKind::Write)
        ));
    }
}
