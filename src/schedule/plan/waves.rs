//! `waves`: a run of consecutive safe calls is one wave, an unsafe call is alone
//! (`semantics.md §5`). A provisional call is alone as well: what is known of it before
//! it is permitted may not hold after.

use super::{Facts, Hold, Planner};

#[derive(Default)]
pub(super) struct Waves {
    /// The last call that was alone.
    alone: Option<usize>,
    /// The calls of the wave after it.
    wave: Vec<usize>,
}

impl Planner for Waves {
    fn before(&self, facts: &Facts) -> Vec<usize> {
        match joins(facts) || self.wave.is_empty() {
            true => self.alone.into_iter().collect(),
            false => self.wave.clone(),
        }
    }

    fn settle(&mut self, place: usize, facts: &Facts) {
        match joins(facts) {
            true => self.wave.push(place),
            false => {
                self.wave.clear();
                self.alone = Some(place);
            }
        }
    }

    fn hold(&self, _facts: &Facts) -> Hold {
        Hold::Free
    }
}

fn joins(facts: &Facts) -> bool {
    facts.safe && !facts.provisional
}
