//! The simulated arm and the real arm: a search says the same on both.
