//! Which calls of a batch may be in flight together: pure, call by call.
//!
//! A policy says of each call which earlier ones must have ended before it starts; that is
//! all that a plan is. A call whose facts may still change closes the plan until they
//! cannot, so that nothing is ever placed on what does not hold.

mod footprint;
mod rwlock;
mod serial;
mod waves;

use crate::tools::Footprint;
use crate::words::Policy;
use std::collections::BTreeSet;

/// What planning needs to know of one call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// It may run beside other safe calls.
    pub safe: bool,
    /// Its input may still be rewritten, or somebody may be asked about it: until it is
    /// permitted, what is known of it may not hold.
    pub provisional: bool,
    /// What it touches; looked at by policy `footprint` alone.
    pub footprint: Footprint,
}

/// What the calls behind a call wait for before they are placed at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hold {
    /// Nothing: enough is known.
    Free,
    /// That it is permitted: then its facts are final.
    UntilPermitted,
    /// That it has ended: it may change what the facts of later calls rest on.
    UntilEnded,
}

/// One policy. Places are those of the batch, from 0, and come in order.
trait Planner: Send {
    /// The earlier calls that must have ended before a call of these facts starts. It may
    /// name calls that have ended already.
    fn before(&self, facts: &Facts) -> Vec<usize>;

    /// Takes the call into account, with facts that will not change.
    fn settle(&mut self, place: usize, facts: &Facts);

    fn hold(&self, facts: &Facts) -> Hold;
}

fn planner(policy: Policy) -> Box<dyn Planner> {
    match policy {
        Policy::Serial => Box::new(serial::Serial::default()),
        Policy::Waves => Box::new(waves::Waves::default()),
        Policy::Rwlock => Box::new(rwlock::Rwlock::default()),
        Policy::Footprint => Box::new(footprint::ByFootprint::default()),
    }
}

/// The calls of a batch as far as they are placed, and who waits for whom.
pub struct Plan {
    planner: Box<dyn Planner>,
    nodes: Vec<Node>,
    /// Calls that nothing holds back and that have not been given out.
    ready: BTreeSet<usize>,
    /// The last call and its facts, if later ones wait for it.
    held: Option<(Hold, Facts)>,
    /// The last call was under way, had to wait, and may go on.
    resumed: bool,
}

#[derive(Default)]
struct Node {
    given_out: bool,
    /// How many calls it waits for.
    waits: usize,
    followers: Vec<usize>,
    ended: bool,
}

impl Plan {
    pub fn new(policy: Policy) -> Plan {
        Plan {
            planner: planner(policy),
            nodes: Vec::new(),
            ready: BTreeSet::new(),
            held: None,
            resumed: false,
        }
    }

    /// Whether the next call of the batch can be placed now.
    pub fn is_open(&self) -> bool {
        self.held.is_none()
    }

    /// Places the next call of the batch. The plan must be open.
    pub fn push(&mut self, facts: Facts) {
        debug_assert!(self.is_open(), "the facts before this call are not final");
        let place = self.nodes.len();
        self.nodes.push(Node::default());
        self.wait(place, &facts);
        if self.nodes[place].waits == 0 {
            self.ready.insert(place);
        }
        match self.planner.hold(&facts) {
            Hold::Free => self.planner.settle(place, &facts),
            hold => self.held = Some((hold, facts)),
        }
    }

    /// Makes `place` wait for the live calls that are in its way; how many there are.
    fn wait(&mut self, place: usize, facts: &Facts) -> usize {
        for earlier in self.planner.before(facts) {
            if !self.nodes[earlier].ended {
                self.nodes[earlier].followers.push(place);
                self.nodes[place].waits += 1;
            }
        }
        self.nodes[place].waits
    }

    /// The first call, in call order, that may start now and has not been given out.
    pub fn next_ready(&mut self) -> Option<usize> {
        let place = self.ready.pop_first()?;
        self.nodes[place].given_out = true;
        Some(place)
    }

    /// Whether a call that had to wait in the middle of its way may go on now; once.
    pub fn take_resumed(&mut self) -> bool {
        std::mem::take(&mut self.resumed)
    }

    /// Whether permission of the call at `place` would change anything here.
    pub fn awaits_permission(&self, place: usize) -> bool {
        place + 1 == self.nodes.len() && matches!(self.held, Some((Hold::UntilPermitted, _)))
    }

    /// The call at `place`, which may be under way, turned out to touch something else
    /// than it was placed with. It must wait for the live calls that are in its way, until
    /// [`take_resumed`](Plan::take_resumed) says that it may go on.
    pub fn rewritten(&mut self, place: usize, facts: &Facts) {
        // Of a call that has ended, nobody waits for what it said.
        if self.awaits_permission(place) {
            self.resumed = self.wait(place, facts) == 0;
        }
    }

    /// The call at `place` is permitted, and these facts are final.
    pub fn permitted(&mut self, place: usize, facts: Facts) {
        if !self.awaits_permission(place) {
            return;
        }
        let facts = Facts {
            provisional: false,
            ..facts
        };
        match self.planner.hold(&facts) {
            Hold::UntilEnded => self.held = Some((Hold::UntilEnded, facts)),
            _ => {
                self.planner.settle(place, &facts);
                self.held = None;
            }
        }
    }

    /// The call at `place` has ended, whether it ran or not.
    pub fn ended(&mut self, place: usize) {
        let node = &mut self.nodes[place];
        if std::mem::replace(&mut node.ended, true) {
            return;
        }
        for follower in std::mem::take(&mut node.followers) {
            let follower_node = &mut self.nodes[follower];
            follower_node.waits -= 1;
            match (follower_node.waits, follower_node.given_out) {
                (0, true) => self.resumed = true,
                (0, false) => {
                    self.ready.insert(follower);
                }
                _ => {}
            }
        }
        if place + 1 == self.nodes.len()
            && let Some((_, facts)) = self.held.take()
        {
            self.planner.settle(place, &facts);
        }
    }
}

#[cfg(test)]
mod tests;
