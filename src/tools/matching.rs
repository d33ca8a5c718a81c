//! Finds in a file's bytes what an edit names, and makes what stands there afterwards.
//! Pure.
//!
//! Three readings are tried, the next only if the one before finds nothing: the
//! bytes as they are; line ends of either kind taken for equal; and curly quotes
//! taken for straight ones besides (`semantics.md §3.3`). Nothing else is forgiven.

use super::form::{to_crlf, to_lf};
use crate::world::Needle;
use std::borrow::Cow;
use std::ops::Range;

/// How an `old_string` was read when it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reading {
    Exact,
    LineEnds,
    LineEndsAndQuotes,
}

/// Where an `old_string` stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Matches {
    pub reading: Reading,
    /// The occurrences that do not overlap, from the left.
    pub spans: Vec<Range<usize>>,
    /// Where every occurrence begins, overlapping ones too.
    pub starts: Vec<usize>,
}

/// Finds `old` (not empty) in `content`; `None` if it is nowhere.
pub(super) fn find(content: &[u8], old: &str) -> Option<Matches> {
    let exact = occurrences(content, old.as_bytes());
    if !exact.is_empty() {
        return Some(matches(Reading::Exact, old.len(), exact, |at| at));
    }
    for reading in [Reading::LineEnds, Reading::LineEndsAndQuotes] {
        let quotes = reading == Reading::LineEndsAndQuotes;
        let needle = Plain::of(old.as_bytes(), quotes);
        let hay = Plain::of(content, quotes);
        if needle.shifts.is_empty() && hay.shifts.is_empty() {
            // Nothing to forgive in this reading.
            continue;
        }
        let found = occurrences(&hay.text, &needle.text);
        if !found.is_empty() {
            return Some(matches(reading, needle.text.len(), found, |at| {
                hay.original(at)
            }));
        }
    }
    None
}

fn matches(
    reading: Reading,
    len: usize,
    found: Vec<usize>,
    original: impl Fn(usize) -> usize,
) -> Matches {
    let mut spans = Vec::new();
    let mut free_from = 0;
    for at in &found {
        if *at >= free_from {
            free_from = at + len;
            spans.push(original(*at)..original(free_from));
        }
    }
    Matches {
        reading,
        spans,
        starts: found.iter().map(|at| original(*at)).collect(),
    }
}

/// Where `needle` begins in `hay`, overlapping occurrences too.
fn occurrences(hay: &[u8], needle: &[u8]) -> Vec<usize> {
    let needle = Needle::new(needle);
    let mut starts = Vec::new();
    let mut from = 0;
    while let Some(at) = hay.get(from..).and_then(|rest| needle.find(rest)) {
        starts.push(from + at);
        from += at + 1;
    }
    starts
}

/// Some bytes with line ends made LF and, if asked for, quotes made straight, and the
/// way back to where each byte came from.
struct Plain {
    text: Vec<u8>,
    /// From this position in `text` on (to the next entry), the second is where its
    /// byte was.
    shifts: Vec<(usize, usize)>,
}

impl Plain {
    fn of(bytes: &[u8], quotes: bool) -> Plain {
        let mut plain = Plain {
            text: Vec::with_capacity(bytes.len()),
            shifts: Vec::new(),
        };
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            let rest = &bytes[at..];
            let (plain_byte, len) = if rest.starts_with(b"\r\n") {
                (b'\n', 2)
            } else if let (true, Some(straight)) = (quotes, straight_quote(rest)) {
                (straight, 3)
            } else {
                (*byte, 1)
            };
            plain.text.push(plain_byte);
            at += len;
            if len > 1 {
                plain.shifts.push((plain.text.len(), at));
            }
        }
        plain
    }

    /// Where position `at` of the plain text was: for a byte made of several, the
    /// first of them.
    fn original(&self, at: usize) -> usize {
        match self.shifts.partition_point(|(plain, _)| *plain <= at) {
            0 => at,
            i => {
                let (plain, original) = self.shifts[i - 1];
                original + (at - plain)
            }
        }
    }
}

/// The straight quote for the curly one that `bytes` begin with.
fn straight_quote(bytes: &[u8]) -> Option<u8> {
    match bytes {
        [0xE2, 0x80, 0x98 | 0x99, ..] => Some(b'\''),
        [0xE2, 0x80, 0x9C | 0x9D, ..] => Some(b'"'),
        _ => None,
    }
}

/// What takes the place of `content[span]`, in which `old` was found by `reading`.
///
/// Where `new` begins and ends as `old` does, the file's own bytes stay: its line
/// ends and its quotes. Line ends in the rest are those of the place.
pub(super) fn replacement(
    content: &[u8],
    span: Range<usize>,
    old: &str,
    new: &str,
    reading: Reading,
) -> Vec<u8> {
    let read = |text| match reading {
        Reading::Exact => Cow::Borrowed(text),
        _ => Cow::Owned(str::replace(text, "\r\n", "\n")),
    };
    let (old, new) = (read(old), read(new));
    let (prefix, suffix) = common_ends(&old, &new);
    // In an exact reading it is what it is.
    let there = (reading != Reading::Exact).then(|| {
        let quotes = reading == Reading::LineEndsAndQuotes;
        Plain::of(&content[span.clone()], quotes)
    });
    let plain_len = |text: &str| match reading {
        Reading::LineEndsAndQuotes => Plain::of(text.as_bytes(), true).text.len(),
        // In an exact reading the bytes of `old` are those of the file.
        _ => text.len(),
    };
    let there = there.as_ref();
    let kept = |at: usize| there.map_or(at, |there| there.original(at));
    let whole = there.map_or(span.len(), |there| there.text.len());
    let head = &content[span.start..span.start + kept(plain_len(&old[..prefix]))];
    let tail_at = kept(whole - plain_len(&old[old.len() - suffix..]));
    let tail = &content[span.start + tail_at..span.end];
    let middle = &new.as_bytes()[prefix..new.len() - suffix];
    let middle = if ends_in_crlf(content, &span) {
        to_crlf(middle)
    } else if reading == Reading::Exact {
        middle.to_vec()
    } else {
        to_lf(middle)
    };
    [head, &middle, tail].concat()
}

/// The lengths of what `a` and `b` have in common at their beginnings and, apart from
/// that, at their ends; neither splits a character or a CRLF.
fn common_ends(a: &str, b: &str) -> (usize, usize) {
    let mut prefix: usize = a
        .chars()
        .zip(b.chars())
        .take_while(|(x, y)| x == y)
        .map(|(c, _)| c.len_utf8())
        .sum();
    if a[..prefix].ends_with('\r') {
        prefix -= 1;
    }
    let mut suffix: usize = a[prefix..]
        .chars()
        .rev()
        .zip(b[prefix..].chars().rev())
        .take_while(|(x, y)| x == y)
        .map(|(c, _)| c.len_utf8())
        .sum();
    if a[a.len() - suffix..].starts_with('\n') {
        suffix -= 1;
    }
    (prefix, suffix)
}

/// Whether lines around `span` end in CRLF: those in it, else the one it stands in,
/// else the one before.
fn ends_in_crlf(content: &[u8], span: &Range<usize>) -> bool {
    let is_crlf = |at: usize| at > 0 && content[at - 1] == b'\r';
    let within = memchr::memchr(b'\n', &content[span.clone()]).map(|at| span.start + at);
    let after = || memchr::memchr(b'\n', &content[span.end..]).map(|at| span.end + at);
    let before = || memchr::memrchr(b'\n', &content[..span.start]);
    within.or_else(after).or_else(before).is_some_and(is_crlf)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(content: &str, old: &str, new: &str) -> String {
        let found = find(content.as_bytes(), old).unwrap_or_else(|| panic!("{old:?} not found"));
        assert_eq!(found.spans.len(), 1, "{content:?} {old:?}");
        let span = found.spans[0].clone();
        let middle = replacement(content.as_bytes(), span.clone(), old, new, found.reading);
        let bytes = [
            &content.as_bytes()[..span.start],
            &middle,
            &content.as_bytes()[span.end..],
        ];
        String::from_utf8(bytes.concat()).expect("UTF-8")
    }

    #[test]
    fn exact_bytes_win() {
        assert_eq!(edited("a\nb\r\nc", "a\nb", "x\ny"), "x\ny\r\nc");
        assert_eq!(edited("one two", "two", "2"), "one 2");
        // The exact occurrence is taken, not the one that only looks alike.
        assert_eq!(edited("a\r\nb a\nb", "a\nb", "c"), "a\r\nb c");
    }

    #[test]
    fn line_ends_of_the_place_are_kept() {
        assert_eq!(edited("one\r\ntwo\r\n", "one\ntwo", "1\n2"), "1\r\n2\r\n");
        assert_eq!(edited("one\r\ntwo\r\n", "two", "2\n3"), "one\r\n2\r\n3\r\n");
        assert_eq!(edited("one\ntwo\n", "one\r\ntwo", "1\r\n2"), "1\n2\n");
        assert_eq!(edited("a\r\nb\nc\rd\n", "b", "B"), "a\r\nB\nc\rd\n");
        assert_eq!(edited("a\r\nb\nc\rd\n", "b", "B\nB"), "a\r\nB\nB\nc\rd\n");
        assert_eq!(edited("x\r\n", "x\r\n", "x\r\ny\n"), "x\r\ny\r\n");
        assert_eq!(edited("a\r\nb", "\nb", "\nc"), "a\r\nc");
        assert_eq!(edited("a\r\nb", "a\n", ""), "b");
    }

    #[test]
    fn no_carriage_return_is_doubled() {
        for (old, new) in [
            ("l2", "L2"),
            ("l1\nl2", "l1\nL2"),
            ("\n", "\n\n"),
            ("l2\n", "l2\r\n"),
        ] {
            let content = "l1\r\nl2 x";
            if find(content.as_bytes(), old).is_some() {
                assert!(!edited(content, old, new).contains("\r\r\n"), "{old:?}");
            }
        }
    }

    #[test]
    fn curly_quotes_match_and_stay_where_nothing_changed() {
        let content = "say “hello” and ‘bye’";
        assert_eq!(
            edited(content, "\"hello\"", "\"hallo\""),
            "say “hallo” and ‘bye’"
        );
        assert_eq!(
            edited(content, "'bye'", "'\"bye\"'"),
            "say “hello” and ‘\"bye\"’"
        );
        assert_eq!(edited("it's", "it’s", "it’s not"), "it's not");
        // With both: quotes and line ends.
        assert_eq!(edited("“a”\r\nb", "\"a\"\nb", "\"a\"\nc"), "“a”\r\nc");
    }

    #[test]
    fn overlapping_occurrences_are_counted() {
        let found = find(b"aaa", "aa").expect("there");
        assert_eq!((found.starts.len(), found.spans.len()), (2, 1));
        assert_eq!(find(b"abc", "d"), None);
        assert_eq!(find(b"a b", "a  b"), None);
    }

    #[test]
    fn bytes_that_are_not_utf8_do_not_matter() {
        let found = find(b"\xFFab\xFE", "ab").expect("there");
        assert_eq!(found.spans.first(), Some(&(1..3)));
    }
}
