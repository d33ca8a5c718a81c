//! Skeleton of keyed randomness.
use super::ActorId;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// What a draw is for.
pub struct Key<'a> {
    pub use_of: &'a str,
    pub actor: ActorId,
    pub n: u64,
}

/// A stream of random numbers.
pub struct Stream(ChaCha8Rng);

impl Stream {
    pub fn new(seed: u64, _key: Key<'_>) -> Stream {
        Stream(ChaCha8Rng::seed_from_u64(seed))
    }
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }
    /// Uniform in `0..bound`, without bias and without floats; `bound` must not be 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound
    }
}
