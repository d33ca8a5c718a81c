//! `serial`: one call after the other.

use super::{Facts, Hold, Planner};

#[derive(Default)]
pub(super) struct Serial {
    last: Option<usize>,
}

impl Planner for Serial {
    fn before(&self, _facts: &Facts) -> Vec<usize> {
        self.last.into_iter().collect()
    }

    fn settle(&mut self, place: usize, _facts: &Facts) {
        self.last = Some(place);
    }

    fn hold(&self, _facts: &Facts) -> Hold {
        Hold::Free
    }
}
