//! Fixed streams of random numbers, each with a name of its own.

use super::{ActorId, ActorKind};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// Sets our keys apart from every other use of the hash. Changing it changes every
/// run with a seed.
const CONTEXT: &str = "rehearsal 1 random stream";

/// What a draw is for. Two keys that differ anywhere give unrelated streams, so a
/// draw in one place moves nothing elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key<'a> {
    /// What the numbers are used for (`schedule`, `latency`, `mktemp`).
    pub use_of: &'a str,
    pub actor: ActorId,
    /// The operation within the actor, or whatever else tells its draws apart.
    pub n: u64,
}

/// A stream of random numbers: ChaCha8, the same on every machine and for ever.
#[derive(Debug, Clone)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream of `key` in the run with this seed.
    pub fn new(seed: u64, key: Key<'_>) -> Stream {
        let Key { use_of, actor, n } = key;
        let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
        hasher.update(&seed.to_le_bytes());
        // The length keeps `ab` + `c` apart from `a` + `bc`.
        hasher.update(&(use_of.len() as u64).to_le_bytes());
        hasher.update(use_of.as_bytes());
        hasher.update(&[kind_code(actor.kind)]);
        hasher.update(&actor.number.to_le_bytes());
        hasher.update(&actor.sub.to_le_bytes());
        hasher.update(&n.to_le_bytes());
        Stream(ChaCha8Rng::from_seed(*hasher.finalize().as_bytes()))
    }

    /// The next number, uniform over all of them.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number uniform in `0..bound`, without bias and without floats; 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        // Lemire's method: the high word of a product is uniform once the low words
        // that occur once too often are rejected.
        let too_often = match bound {
            0 => return 0,
            bound => bound.wrapping_neg() % bound,
        };
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            if product as u64 >= too_often {
                return (product >> 64) as u64;
            }
        }
    }
}

/// Codes that stay when a kind is added anywhere in the list.
fn kind_code(kind: ActorKind) -> u8 {
    match kind {
        ActorKind::Agent => b'a',
        ActorKind::Call => b'c',
        ActorKind::Hook => b'h',
        ActorKind::Mcp => b'm',
        ActorKind::User => b'u',
        ActorKind::Outside => b'o',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(seed: u64, use_of: &str, actor: ActorId, n: u64) -> u64 {
        Stream::new(seed, Key { use_of, actor, n }).next_u64()
    }

    /// The numbers are part of every trace with randomness: this must never change.
    #[test]
    fn the_stream_is_frozen() {
        let key = Key {
            use_of: "schedule",
            actor: ActorId::AGENT,
            n: 0,
        };
        let mut stream = Stream::new(7, key);
        let drawn: Vec<u64> = (0..3).map(|_| stream.next_u64()).collect();
        assert_eq!(drawn, FROZEN);
        let mut stream = Stream::new(7, key);
        let dice: Vec<u64> = (0..12).map(|_| stream.below(6)).collect();
        assert_eq!(dice, FROZEN_DICE);
    }
    const FROZEN: [u64; 3] = [
        277431396193914163,
        2703368542836912745,
        14302976573737475475,
    ];
    const FROZEN_DICE: [u64; 12] = [0, 0, 4, 4, 5, 2, 2, 0, 1, 0, 4, 3];

    #[test]
    fn every_part_of_the_key_counts() {
        let hook = ActorId::hook(3, 1);
        let drawn = [
            first(7, "ab", hook, 0),
            first(8, "ab", hook, 0),
            first(7, "abc", hook, 0),
            first(7, "ab", ActorId::hook(3, 2), 0),
            first(7, "ab", ActorId::hook(4, 1), 0),
            first(
                7,
                "ab",
                ActorId {
                    kind: ActorKind::Mcp,
                    ..hook
                },
                0,
            ),
            first(7, "ab", hook, 1),
        ];
        for (i, a) in drawn.iter().enumerate() {
            assert!(!drawn[..i].contains(a), "draw {i} occurs twice");
        }
        assert_eq!(drawn[0], first(7, "ab", hook, 0));
    }

    #[test]
    fn below_is_in_range_and_reaches_everything() {
        let key = Key {
            use_of: "test",
            actor: ActorId::AGENT,
            n: 0,
        };
        let mut stream = Stream::new(0, key);
        let mut counts = [0u32; 5];
        for _ in 0..5_000 {
            counts[stream.below(5) as usize] += 1;
        }
        assert!(
            counts.iter().all(|&n| (900..1_100).contains(&n)),
            "{counts:?}"
        );
        assert_eq!(stream.below(1), 0);
        assert_eq!(stream.below(0), 0);
        // With a bound just over half of the range, every other draw is rejected; with
        // a plain remainder the lower half would come up twice as often.
        let bound = (1 << 63) + 1;
        let low = (0..4_000)
            .filter(|_| stream.below(bound) < bound / 2)
            .count();
        assert!((1_850..2_150).contains(&low), "{low}");
    }
}
