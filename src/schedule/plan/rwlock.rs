//! `rwlock`: one lock, taken in call order: safe calls share it, an unsafe one has it to
//! itself. Unlike in `waves`, a provisional call goes by what it turned out to be: the
//! calls behind it wait until it is permitted, and then for it only if either is unsafe.

use super::{Facts, Hold, Planner};

#[derive(Default)]
pub(super) struct Rwlock {
    writer: Option<usize>,
    /// The readers after it.
    readers: Vec<usize>,
}

impl Planner for Rwlock {
    fn before(&self, facts: &Facts) -> Vec<usize> {
        match facts.safe || self.readers.is_empty() {
            true => self.writer.into_iter().collect(),
            false => self.readers.clone(),
        }
    }

    fn settle(&mut self, place: usize, facts: &Facts) {
        match facts.safe {
            true => self.readers.push(place),
            false => {
                self.readers.clear();
                self.writer = Some(place);
            }
        }
    }

    fn hold(&self, facts: &Facts) -> Hold {
        match facts.provisional {
            true => Hold::UntilPermitted,
            false => Hold::Free,
        }
    }
}
