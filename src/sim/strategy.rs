//! Who goes on when several could.

use super::{ActorId, Key, Op, Schedule, Stream};

/// Chooses which announced operation is granted next.
///
/// A strategy must depend on nothing but what it is given and made with, and must not
/// call the simulation.
pub trait Strategy: Send {
    /// The index of the one to grant. `enabled` has two or more, sorted by actor, one
    /// an actor. An error ends the run, in words that fit after "schedule does not fit:".
    fn choose(&mut self, enabled: &[(ActorId, &Op)]) -> Result<usize, String>;

    /// Called when the root is done; an error says that the run ended too early.
    fn finish(&mut self) -> Result<(), String> {
        Ok(())
    }
}

/// Grants the least actor first: calls in the order in which the model made them.
#[derive(Debug, Clone, Copy, Default)]
pub struct InOrder;

impl Strategy for InOrder {
    fn choose(&mut self, _enabled: &[(ActorId, &Op)]) -> Result<usize, String> {
        Ok(0)
    }
}

/// Grants any one, each with the same chance.
#[derive(Debug, Clone)]
pub struct Random(pub Stream);

impl Random {
    /// The random walk of a seed.
    pub fn new(seed: u64) -> Random {
        let key = Key {
            use_of: "schedule",
            actor: ActorId::AGENT,
            n: 0,
        };
        Random(Stream::new(seed, key))
    }
}

impl Strategy for Random {
    fn choose(&mut self, enabled: &[(ActorId, &Op)]) -> Result<usize, String> {
        Ok(self.0.below(enabled.len() as u64) as usize)
    }
}

/// Grants what a recorded schedule granted, and complains where it cannot. The second
/// field is how many choices it has made.
#[derive(Debug, Clone)]
pub struct Replay(pub Schedule, pub usize);

impl Replay {
    /// Follows `schedule` from its beginning.
    pub fn new(schedule: Schedule) -> Replay {
        Replay(schedule, 0)
    }
}

impl Strategy for Replay {
    fn choose(&mut self, enabled: &[(ActorId, &Op)]) -> Result<usize, String> {
        let Replay(schedule, made) = self;
        let mismatch = |wanted: &str| {
            let could: Vec<String> = enabled
                .iter()
                .map(|(id, op)| format!("{id} ({op})"))
                .collect();
            format!(
                "choice {} of {} is {wanted}, but only {} could go on",
                *made + 1,
                schedule.choices.len(),
                could.join(", ")
            )
        };
        let Some(&wanted) = schedule.choices.get(*made) else {
            return Err(mismatch("missing"));
        };
        match enabled.iter().position(|(id, _)| *id == wanted) {
            Some(index) => {
                *made += 1;
                Ok(index)
            }
            None => Err(mismatch(&wanted.to_string())),
        }
    }

    fn finish(&mut self) -> Result<(), String> {
        let Replay(schedule, made) = self;
        match schedule.choices.get(*made) {
            None => Ok(()),
            Some(next) => Err(format!(
                "the run ended after {made} of {} choices; the next would be {next}",
                schedule.choices.len()
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{OpKind, Resource};
    use super::*;

    #[test]
    fn a_mismatch_names_position_wanted_and_enabled() {
        let op = Op {
            resource: Resource::File("/work/a".into()),
            kind: OpKind::Read,
        };
        let enabled = [(ActorId::call(1), &op), (ActorId::call(2), &op)];
        let schedule = Schedule {
            scenario_hash: String::new(),
            choices: vec![ActorId::call(2), ActorId::outside(0)],
        };
        let mut replay = Replay::new(schedule);
        assert_eq!(replay.choose(&enabled), Ok(1));
        assert_eq!(
            replay.choose(&enabled).unwrap_err(),
            "choice 2 of 2 is o0, but only c1 (read file:/work/a), c2 (read file:/work/a) could go on"
        );
        assert_eq!(
            replay.finish().unwrap_err(),
            "the run ended after 1 of 2 choices; the next would be o0"
        );
        replay.1 = 2;
        assert_eq!(replay.finish(), Ok(()));
        assert!(
            replay
                .choose(&enabled)
                .unwrap_err()
                .starts_with("choice 3 of 2 is missing")
        );
    }
}
