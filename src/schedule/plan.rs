//! Which calls of a batch may be in flight together: pure, call by call.

use crate::words::Policy;

/// What planning needs to know of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// It may run beside other safe calls.
    pub safe: bool,
    /// Its input may still be rewritten before it runs, so what is known of it may not hold.
    pub provisional: bool,
}

/// The places of a batch in the order in which they may start: each wave begins when
/// the one before it has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    policy: Policy,
    waves: Vec<Vec<usize>>,
    /// Whether the last wave takes further safe calls.
    open: bool,
    calls: usize,
}

impl Plan {
    pub fn new(policy: Policy) -> Plan {
        Plan {
            policy,
            waves: Vec::new(),
            open: false,
            calls: 0,
        }
    }

    /// Places the next call of the batch.
    ///
    /// `serial`: each call is a wave of its own. `waves`: a run of consecutive safe calls
    /// is one wave, an unsafe or provisional call is alone (`semantics.md §5`).
    pub fn push(&mut self, facts: Facts) {
        let joins = self.policy != Policy::Serial && facts.safe && !facts.provisional;
        match self.waves.last_mut() {
            Some(wave) if joins && self.open => wave.push(self.calls),
            _ => self.waves.push(vec![self.calls]),
        }
        self.open = joins;
        self.calls += 1;
    }

    pub fn waves(&self) -> &[Vec<usize>] {
        &self.waves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(policy: Policy, calls: &str) -> Vec<Vec<usize>> {
        let mut plan = Plan::new(policy);
        for call in calls.chars() {
            plan.push(Facts {
                safe: call != 'w',
                provisional: call == 'p',
            });
        }
        plan.waves().to_vec()
    }

    #[test]
    fn an_unsafe_call_is_a_barrier_both_ways() {
        assert_eq!(
            plan(Policy::Waves, "rrwrwr"),
            [vec![0, 1], vec![2], vec![3], vec![4], vec![5]]
        );
        assert_eq!(plan(Policy::Waves, "rprr"), [vec![0], vec![1], vec![2, 3]]);
        assert_eq!(plan(Policy::Serial, "rr"), [vec![0], vec![1]]);
        assert!(plan(Policy::Waves, "").is_empty());
    }
}
