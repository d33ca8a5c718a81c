//! `footprint`: only calls that conflict wait for each other, in call order.
//!
//! Every call takes all that it needs at once and in call order, so that nobody holds one
//! thing while waiting for another: no deadlock, and no idle place while a call is ready.

use super::{Facts, Hold, Planner};
use crate::sim::{Op, OpKind, Resource};
use crate::tools::Footprint;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub(super) struct ByFootprint {
    /// Every call since the last exclusive one.
    since: Vec<usize>,
    exclusive: Option<usize>,
    reads: Table,
    writes: Table,
}

/// Who touches what, by place. Of paths those above and below are found without a look
/// at the others.
#[derive(Default)]
struct Table {
    paths: BTreeMap<String, Vec<(Resource, usize)>>,
    others: BTreeMap<Resource, Vec<usize>>,
}

impl Planner for ByFootprint {
    fn before(&self, facts: &Facts) -> Vec<usize> {
        let Footprint {
            reads,
            writes,
            exclusive,
        } = &facts.footprint;
        let mut before: BTreeSet<usize> = self.exclusive.into_iter().collect();
        if *exclusive {
            before.extend(&self.since);
        }
        for resource in writes {
            self.writes
                .meet(resource, OpKind::Write, OpKind::Write, &mut before);
            self.reads
                .meet(resource, OpKind::Write, OpKind::Read, &mut before);
        }
        for resource in reads {
            self.writes
                .meet(resource, OpKind::Read, OpKind::Write, &mut before);
        }
        before.into_iter().collect()
    }

    fn settle(&mut self, place: usize, facts: &Facts) {
        let Footprint {
            reads,
            writes,
            exclusive,
        } = &facts.footprint;
        if *exclusive {
            *self = ByFootprint {
                exclusive: Some(place),
                ..ByFootprint::default()
            };
            return;
        }
        self.since.push(place);
        for resource in writes {
            // Whoever conflicts with an older touch of the same thing conflicts with this
            // write too, which itself waits for the older one.
            self.reads.forget(resource);
            self.writes.forget(resource);
        }
        for resource in writes {
            self.writes.add(resource, place);
        }
        for resource in reads {
            self.reads.add(resource, place);
        }
    }

    fn hold(&self, facts: &Facts) -> Hold {
        match (facts.provisional, facts.footprint.exclusive) {
            (true, _) => Hold::UntilPermitted,
            // It may make a link, and what later calls touch hangs on where links lead.
            (false, true) => Hold::UntilEnded,
            (false, false) => Hold::Free,
        }
    }
}

impl Table {
    /// Adds to `found` who touches, by `theirs`, something that a touch of `resource` by
    /// `ours` conflicts with.
    fn meet(&self, resource: &Resource, ours: OpKind, theirs: OpKind, found: &mut BTreeSet<usize>) {
        let our_op = Op {
            resource: resource.clone(),
            kind: ours,
        };
        let Some(path) = key(resource) else {
            found.extend(self.others.get(resource).into_iter().flatten());
            return;
        };
        let above = path
            .match_indices('/')
            .map(|(at, _)| &path[..=at])
            .filter(|above| above.len() < path.len())
            .filter_map(|above| self.paths.get(above));
        let below = self
            .paths
            .range(path.clone()..)
            .take_while(|(other, _)| other.starts_with(&path))
            .map(|(_, those)| those);
        for (other, place) in above.chain(below).flatten() {
            let their_op = Op {
                resource: other.clone(),
                kind: theirs,
            };
            if our_op.conflicts(&their_op) {
                found.insert(*place);
            }
        }
    }

    fn add(&mut self, resource: &Resource, place: usize) {
        match key(resource) {
            Some(path) => self
                .paths
                .entry(path)
                .or_default()
                .push((resource.clone(), place)),
            None => self.others.entry(resource.clone()).or_default().push(place),
        }
    }

    fn forget(&mut self, resource: &Resource) {
        match key(resource) {
            Some(path) => {
                if let Some(those) = self.paths.get_mut(&path) {
                    those.retain(|(other, _)| other != resource);
                }
            }
            None => {
                self.others.remove(resource);
            }
        }
    }
}

/// The path of a resource that has one, every name ended by a slash, so that what lies
/// below a folder begins with the folder's key.
fn key(resource: &Resource) -> Option<String> {
    let (folder, name) = match resource {
        Resource::File(path) | Resource::Subtree(path) => (&**path, ""),
        Resource::Entry(folder, name) => (&**folder, &**name),
        _ => return None,
    };
    let mut key = String::with_capacity(folder.len() + name.len() + 2);
    key.push('/');
    for part in folder
        .split('/')
        .chain([name])
        .filter(|part| !part.is_empty())
    {
        key.push_str(part);
        key.push('/');
    }
    Some(key)
}
