//! What a policy needs to know of a call before it can place it.

use super::Facts;
use crate::pipeline::{Desk, Known, Parsed};
use crate::sim::Resource;
use crate::tools::Footprint;
use crate::words::Policy;
use crate::world::World;

/// The facts of a call, as far as `policy` looks at them. A call that ended on its way
/// here touches nothing.
pub(super) async fn of(parsed: Option<&Parsed>, desk: &Desk, policy: Policy) -> Facts {
    let Some(parsed) = parsed else {
        return Facts {
            safe: true,
            ..Facts::default()
        };
    };
    // A hook that sees a call may rewrite it into anything.
    let provisional = || desk.hooks.may_rewrite(parsed.tool());
    match policy {
        // One after the other, nobody asks.
        Policy::Serial => Facts {
            safe: true,
            ..Facts::default()
        },
        Policy::Waves => Facts {
            safe: parsed.is_safe(),
            provisional: provisional(),
            ..Facts::default()
        },
        Policy::Rwlock | Policy::Footprint => Facts {
            provisional: provisional() || !parsed.is_settled(desk).await,
            ..known(parsed.known(), parsed.carried().cx.world.world())
        },
    }
}

/// The facts of a call whose input will not change any more. A path in its footprint also
/// stands for where its symlinks lead.
pub(super) fn known(known: Known, world: &World) -> Facts {
    let Known { safe, footprint } = known;
    let lead = |resources: Vec<Resource>| -> Vec<Resource> {
        let led: Vec<_> = resources
            .iter()
            .filter_map(|resource| resource.led(&|path| world.fs().canonical(path).ok()))
            .filter(|led| !resources.contains(led))
            .collect();
        resources.into_iter().chain(led).collect()
    };
    Facts {
        safe,
        provisional: false,
        footprint: Footprint {
            reads: lead(footprint.reads),
            writes: lead(footprint.writes),
            exclusive: footprint.exclusive,
        },
    }
}

impl Facts {
    /// Whether the decision about the call changes nothing for others, so that nobody
    /// needs to wait for it.
    pub(super) fn is_settled(&self, policy: Policy) -> bool {
        matches!(policy, Policy::Rwlock | Policy::Footprint) && !self.provisional
    }
}
