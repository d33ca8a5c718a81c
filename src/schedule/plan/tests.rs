use super::*;
use crate::sim::{Op, OpKind, Resource};
use proptest::prelude::*;

/// What starts together, if all that is in flight ends before anything else starts.
fn rounds(policy: Policy, calls: &[Facts]) -> Vec<Vec<usize>> {
    let mut plan = Plan::new(policy);
    let mut waiting = calls.iter();
    let mut rounds = Vec::new();
    loop {
        while plan.is_open()
            && let Some(facts) = waiting.next()
        {
            plan.push(facts.clone());
        }
        let round: Vec<usize> = std::iter::from_fn(|| plan.next_ready()).collect();
        if round.is_empty() {
            return rounds;
        }
        round.iter().for_each(|place| plan.ended(*place));
        rounds.push(round);
    }
}

fn by_letters(policy: Policy, calls: &str) -> Vec<Vec<usize>> {
    let calls: Vec<Facts> = calls
        .chars()
        .map(|call| Facts {
            safe: call != 'w',
            provisional: call == 'p',
            footprint: match call {
                'w' => Footprint::exclusive(),
                _ => Footprint::nothing(),
            },
        })
        .collect();
    rounds(policy, &calls)
}

#[test]
fn an_unsafe_call_is_a_barrier_both_ways() {
    assert_eq!(
        by_letters(Policy::Waves, "rrwrwr"),
        [vec![0, 1], vec![2], vec![3], vec![4], vec![5]]
    );
    assert_eq!(
        by_letters(Policy::Waves, "rprr"),
        [vec![0], vec![1], vec![2, 3]]
    );
    assert_eq!(by_letters(Policy::Serial, "rr"), [vec![0], vec![1]]);
    assert_eq!(
        by_letters(Policy::Rwlock, "rrwr"),
        [vec![0, 1], vec![2], vec![3]]
    );
    assert!(by_letters(Policy::Waves, "").is_empty());
}

#[test]
fn what_comes_behind_a_provisional_call_waits_until_it_is_permitted() {
    for policy in [Policy::Rwlock, Policy::Footprint] {
        let mut plan = Plan::new(policy);
        let reads = |path: &str| Facts {
            safe: true,
            provisional: false,
            footprint: Footprint::reads([Resource::File(path.into())]),
        };
        plan.push(reads("/a"));
        plan.push(Facts {
            provisional: true,
            ..reads("/b")
        });
        assert!(!plan.is_open());
        assert_eq!(plan.next_ready(), Some(0));
        assert_eq!(plan.next_ready(), Some(1));
        // It turns out to write what the first call reads.
        let rewritten = Facts {
            safe: false,
            provisional: false,
            footprint: Footprint::writes([Resource::File("/a".into())]),
        };
        plan.rewritten(1, &rewritten);
        assert!(!plan.take_resumed());
        plan.permitted(1, rewritten);
        assert!(plan.is_open());
        plan.push(reads("/a"));
        assert_eq!(plan.next_ready(), None);
        plan.ended(0);
        assert!(plan.take_resumed());
        assert_eq!(plan.next_ready(), None);
        plan.ended(1);
        assert_eq!(plan.next_ready(), Some(2));
    }
}

/// Whether two footprints conflict, by looking at every pair.
fn conflict(one: &Footprint, other: &Footprint) -> bool {
    let ops = |footprint: &Footprint| -> Vec<Op> {
        let of = |kind: OpKind| {
            move |resource: &Resource| Op {
                resource: resource.clone(),
                kind,
            }
        };
        let reads = footprint.reads.iter().map(of(OpKind::Read));
        reads
            .chain(footprint.writes.iter().map(of(OpKind::Write)))
            .collect()
    };
    one.exclusive
        || other.exclusive
        || ops(one)
            .iter()
            .any(|mine| ops(other).iter().any(|theirs| mine.conflicts(theirs)))
}

fn resource() -> impl Strategy<Value = Resource> {
    let path = prop::sample::select(vec!["/a", "/a/b", "/a/b/c", "/ab", "/a/d", "/", "/e/f"]);
    (path, 0..6u8).prop_map(|(path, kind)| match kind {
        0 | 1 => Resource::File(path.into()),
        2 => Resource::Subtree(path.into()),
        3 => Resource::Entry(path.into(), "n".into()),
        4 => Resource::FileState(path.into()),
        _ => Resource::ShellSession,
    })
}

fn footprint() -> impl Strategy<Value = Footprint> {
    (
        prop::collection::vec(resource(), 0..3),
        prop::collection::vec(resource(), 0..2),
        prop::bool::weighted(0.1),
    )
        .prop_map(|(reads, writes, exclusive)| match exclusive {
            true => Footprint::exclusive(),
            false => Footprint {
                reads,
                writes,
                exclusive: false,
            },
        })
}

/// A batch, and how long each call takes.
fn batch(calls: usize) -> impl Strategy<Value = Vec<(Facts, u64)>> {
    let call = (footprint(), 1..50u64, prop::bool::weighted(0.2)).prop_map(
        |(footprint, ms, provisional)| {
            let safe = footprint.writes.is_empty() && !footprint.exclusive;
            let facts = Facts {
                safe,
                provisional,
                footprint,
            };
            (facts, ms)
        },
    );
    prop::collection::vec(call, 0..calls)
}

/// When each call starts and ends if at most `slots` run together, in whole milliseconds.
/// A provisional call is permitted when half its time is over.
fn timed(policy: Policy, calls: &[(Facts, u64)], slots: usize) -> Vec<(u64, u64)> {
    let mut plan = Plan::new(policy);
    let mut times = vec![(u64::MAX, u64::MAX); calls.len()];
    // (when, what: 0 permitted, 1 ended, whose)
    let mut coming = BTreeSet::new();
    let (mut now, mut next, mut free) = (0, 0, slots);
    loop {
        while next < calls.len() && plan.is_open() {
            plan.push(calls[next].0.clone());
            next += 1;
        }
        while free > 0
            && let Some(place) = plan.next_ready()
        {
            free -= 1;
            let ms = calls[place].1;
            times[place] = (now, now + ms);
            coming.insert((now + ms, 1, place));
            if calls[place].0.provisional {
                coming.insert((now + ms / 2, 0, place));
            }
        }
        let Some((at, what, place)) = coming.pop_first() else {
            return times;
        };
        now = at;
        if what == 0 {
            plan.permitted(place, calls[place].0.clone());
        } else {
            plan.ended(place);
            free += 1;
        }
    }
}

proptest! {
    #[test]
    fn every_call_runs_and_no_two_that_conflict_run_together(
        calls in batch(24), slots in 1..6usize, policy in prop::sample::select(Policy::ALL),
    ) {
        let times = timed(policy, &calls, slots);
        for (later, (start, _)) in times.iter().enumerate() {
            prop_assert!(*start != u64::MAX, "call {} never started", later);
            for (earlier, (_, end)) in times[..later].iter().enumerate() {
                let (one, other) = (&calls[earlier].0, &calls[later].0);
                let apart = match policy {
                    Policy::Serial => true,
                    Policy::Waves | Policy::Rwlock => !one.safe || !other.safe,
                    Policy::Footprint => conflict(&one.footprint, &other.footprint),
                };
                prop_assert!(!apart || end <= start, "{} and {} overlap", earlier, later);
            }
        }
    }

    /// Graham's bound for list scheduling, in whole numbers:
    /// `m × makespan ≤ work + (m − 1) × critical path`.
    #[test]
    fn footprint_never_idles_a_place_while_a_call_is_ready(calls in batch(40), slots in 1..12usize) {
        let calls: Vec<_> = calls
            .into_iter()
            .map(|(facts, ms)| (Facts { provisional: false, ..facts }, ms))
            .collect();
        let times = timed(Policy::Footprint, &calls, slots);
        let makespan = times.iter().map(|(_, end)| *end).max().unwrap_or(0);
        let work: u64 = calls.iter().map(|(_, ms)| ms).sum();
        let mut paths: Vec<u64> = Vec::new();
        for (at, (facts, ms)) in calls.iter().enumerate() {
            let before = (0..at)
                .filter(|earlier| conflict(&calls[*earlier].0.footprint, &facts.footprint))
                .map(|earlier| paths[earlier])
                .max();
            paths.push(before.unwrap_or(0) + ms);
        }
        let critical = paths.iter().copied().max().unwrap_or(0);
        let m = slots as u64;
        prop_assert!(m * makespan <= work + (m - 1) * critical);
        // And with places for all there is nothing to wait for but conflicts.
        let unbounded = timed(Policy::Footprint, &calls, calls.len().max(1));
        let makespan = unbounded.iter().map(|(_, end)| *end).max().unwrap_or(0);
        prop_assert_eq!(makespan, critical);
    }

    /// What must run apart for `waves` runs apart for every policy that is laxer.
    #[test]
    fn serial_is_the_slowest_and_waves_are_those_of_old(calls in batch(24)) {
        let sum: u64 = calls.iter().map(|(_, ms)| ms).sum();
        let makespan = |policy| timed(policy, &calls, usize::MAX).iter().map(|(_, end)| *end).max().unwrap_or(0);
        prop_assert_eq!(makespan(Policy::Serial), sum);
        prop_assert!(makespan(Policy::Waves) <= sum);
        let mut waves: Vec<Vec<usize>> = Vec::new();
        let mut open = false;
        for (place, (facts, _)) in calls.iter().enumerate() {
            let joins = facts.safe && !facts.provisional;
            match waves.last_mut() {
                Some(wave) if joins && open => wave.push(place),
                _ => waves.push(vec![place]),
            }
            open = joins;
        }
        let facts: Vec<Facts> = calls.iter().map(|(facts, _)| facts.clone()).collect();
        prop_assert_eq!(rounds(Policy::Waves, &facts), waves);
    }
}
