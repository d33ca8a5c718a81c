//! Which bytes of a file the model has been shown.

use std::ops::Range;

/// Disjoint byte ranges, sorted, none empty, none touching the next.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ranges(Vec<Range<usize>>);

/// A part of some content that was replaced: where it was, and how long the new text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Replaced {
    pub old: Range<usize>,
    pub new_len: usize,
}

impl Ranges {
    /// All of a content of `len` bytes.
    pub fn whole(len: usize) -> Ranges {
        let mut ranges = Ranges::default();
        ranges.add(0..len);
        ranges
    }

    pub fn iter(&self) -> impl Iterator<Item = &Range<usize>> {
        self.0.iter()
    }

    /// Adds one range; an empty one adds nothing.
    pub fn add(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        let first = self.0.partition_point(|r| r.end < range.start);
        let last = self.0.partition_point(|r| r.start <= range.end);
        let mut merged = range;
        for touched in &self.0[first..last] {
            merged.start = merged.start.min(touched.start);
            merged.end = merged.end.max(touched.end);
        }
        self.0.splice(first..last, [merged]);
    }

    /// Adds all ranges of `other`. The order of several unions does not matter.
    pub fn union(&mut self, other: &Ranges) {
        for range in &other.0 {
            self.add(range.clone());
        }
    }

    /// Whether every byte of `range` is in; true for an empty one.
    pub fn covers(&self, range: Range<usize>) -> bool {
        range.is_empty()
            || self
                .0
                .iter()
                .any(|r| r.start <= range.start && range.end <= r.end)
    }

    /// Whether a content of `len` bytes is in as a whole.
    pub fn covers_all(&self, len: usize) -> bool {
        self.covers(0..len)
    }

    /// The same knowledge after `replaced` (sorted, disjoint): what was shown and
    /// stayed has moved, and the new text is known to who wrote it.
    pub(super) fn after(&self, replaced: &[Replaced]) -> Ranges {
        let mut after = Ranges::default();
        let mut kept_from = 0;
        let mut new_from = 0;
        for part in replaced {
            self.keep(kept_from..part.old.start, new_from, &mut after);
            let at = new_from + (part.old.start - kept_from);
            after.add(at..at + part.new_len);
            kept_from = part.old.end;
            new_from = at + part.new_len;
        }
        self.keep(kept_from..usize::MAX, new_from, &mut after);
        after
    }

    /// Copies what lies in `window` to where the window's beginning is `to`.
    fn keep(&self, window: Range<usize>, to: usize, into: &mut Ranges) {
        for range in &self.0 {
            let start = range.start.max(window.start);
            let end = range.end.min(window.end);
            if start < end {
                into.add(start - window.start + to..end - window.start + to);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ranges: &[(usize, usize)]) -> Ranges {
        let mut all = Ranges::default();
        for (start, end) in ranges {
            all.add(*start..*end);
        }
        all
    }

    #[test]
    fn touching_ranges_become_one() {
        assert_eq!(of(&[(0, 3), (5, 7), (3, 5)]), of(&[(0, 7)]));
        assert_eq!(of(&[(5, 7), (0, 3)]).0, vec![0..3, 5..7]);
        assert_eq!(of(&[(0, 10), (2, 3)]).0, vec![0..10]);
        assert_eq!(of(&[(4, 4)]), Ranges::default());
    }

    #[test]
    fn covers_only_what_is_in_one_piece() {
        let ranges = of(&[(0, 3), (5, 7)]);
        assert!(ranges.covers(1..3));
        assert!(!ranges.covers(2..6));
        assert!(ranges.covers(4..4));
        assert!(!ranges.covers_all(7));
        assert!(of(&[(0, 7)]).covers_all(7));
    }

    #[test]
    fn knowledge_moves_with_an_edit() {
        // Ten bytes of which 2..4 and 6..10 were shown; 2..4 becomes five bytes long.
        let after = of(&[(2, 4), (6, 10)]).after(&[Replaced {
            old: 2..4,
            new_len: 5,
        }]);
        assert_eq!(after, of(&[(2, 7), (9, 13)]));
        // An insertion into the unknown is itself known.
        let after = of(&[(0, 1)]).after(&[Replaced {
            old: 5..5,
            new_len: 2,
        }]);
        assert_eq!(after, of(&[(0, 1), (5, 7)]));
    }
}
