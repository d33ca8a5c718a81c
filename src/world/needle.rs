//! Looks for a text in what a file holds.

use memchr::memmem;

/// A text that is looked for.
///
/// To prepare the search for a long text takes longer than the search itself, in a file
/// of the usual size. So only its beginning is looked for, and held against the whole;
/// where beginnings are many, the whole is searched for after all.
pub struct Needle<'n> {
    beginning: memmem::Finder<'n>,
    rest: &'n [u8],
    whole: &'n [u8],
}

/// A beginning of so many bytes is searched for without much preparation.
const BEGINNING_BYTES: usize = 32;
/// So many places are tried by their beginning.
const TRIES: usize = 16;

impl<'n> Needle<'n> {
    pub fn new(whole: &'n [u8]) -> Needle<'n> {
        let (beginning, rest) = whole.split_at(whole.len().min(BEGINNING_BYTES));
        Needle {
            beginning: memmem::Finder::new(beginning),
            rest,
            whole,
        }
    }

    /// Where it first stands in `hay`.
    pub fn find(&self, hay: &[u8]) -> Option<usize> {
        let mut from = 0;
        for _ in 0..TRIES {
            let at = from + self.beginning.find(hay.get(from..)?)?;
            let behind = hay.get(at + self.whole.len() - self.rest.len()..)?;
            if behind.starts_with(self.rest) {
                return Some(at);
            }
            from = at + 1;
        }
        let found = memmem::find(hay.get(from..)?, self.whole)?;
        Some(from + found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_found_where_trying_everything_finds_it(
            before in "[ab]{0,80}",
            needle in "[ab]{0,20}a{0,50}[ab]{0,5}",
            is_there: bool,
            after in "[ab]{0,40}",
        ) {
            let hay = match is_there {
                true => format!("{before}{needle}{after}"),
                false => format!("{before}{after}"),
            };
            prop_assert_eq!(Needle::new(needle.as_bytes()).find(hay.as_bytes()), hay.find(&needle));
        }
    }

    #[test]
    fn after_many_beginnings_it_is_still_found() {
        let needle = format!("{}b", "a".repeat(40));
        let hay = format!("{}{needle}", "a".repeat(100));
        assert_eq!(
            Needle::new(needle.as_bytes()).find(hay.as_bytes()),
            Some(100)
        );
        assert_eq!(
            Needle::new(needle.as_bytes()).find(&hay.as_bytes()[..139]),
            None
        );
        assert_eq!(Needle::new(b"").find(b""), Some(0));
    }
}
