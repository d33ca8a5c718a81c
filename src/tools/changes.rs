//! Says what is different between two contents of a file.

use super::units::one_line;
use crate::world::Meta;

/// The longest piece of a line that is quoted.
const QUOTE_UNITS: u64 = 80;

/// Where two contents differ: the first differing byte, and the ends of the differing
/// parts in the one and in the other. `(n, n, n)` if they are equal.
pub(super) fn differing(a: &[u8], b: &[u8]) -> (usize, usize, usize) {
    let prefix = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let suffix = a[prefix..]
        .iter()
        .rev()
        .zip(b[prefix..].iter().rev())
        .take_while(|(x, y)| x == y)
        .count();
    (prefix, a.len() - suffix, b.len() - suffix)
}

/// The number of the line that byte `at` is in, from 1.
pub(super) fn line_of(content: &[u8], at: usize) -> usize {
    1 + memchr::memchr_iter(b'\n', &content[..at.min(content.len())]).count()
}

/// How a file differs from what was last seen of it: sizes, lines, and the first
/// line that is different, before and after.
pub(super) fn describe(known: &[u8], now: &[u8]) -> String {
    let (start, known_end, now_end) = differing(known, now);
    let first = line_of(known, start);
    let known_last = line_of(known, last_byte(start, known_end));
    let now_last = line_of(now, last_byte(start, now_end));
    let sizes = format!("{} → {}", bytes(known.len()), bytes(now.len()));
    let lines = if known_last == first && now_last == first {
        format!("line {first} is different")
    } else {
        format!(
            "line{} {} became line{} {}",
            if known_last == first { "" } else { "s" },
            span(first, known_last),
            if now_last == first { "" } else { "s" },
            span(first, now_last)
        )
    };
    format!(
        "{lines} ({sizes}); line {first} was {} and is now {}",
        quoted_line(known, start),
        quoted_line(now, start)
    )
}

/// What moved if only the time of modification is compared.
pub(super) fn describe_times(known_ms: i64, now: &Meta) -> String {
    format!(
        "its modification time went from {known_ms} to {} (ms since 1970)",
        now.mtime_ms
    )
}

fn last_byte(start: usize, end: usize) -> usize {
    if end > start { end - 1 } else { start }
}

fn span(first: usize, last: usize) -> String {
    if first == last {
        first.to_string()
    } else {
        format!("{first}–{last}")
    }
}

fn bytes(n: usize) -> String {
    if n == 1 {
        "1 byte".to_owned()
    } else {
        format!("{n} bytes")
    }
}

/// The line that byte `at` is in, as JSON writes a string, cut.
fn quoted_line(content: &[u8], at: usize) -> String {
    if at > content.len() || content.is_empty() {
        return "nothing".to_owned();
    }
    let start = memchr::memrchr(b'\n', &content[..at]).map_or(0, |i| i + 1);
    let end = memchr::memchr(b'\n', &content[at..]).map_or(content.len(), |i| at + i);
    if start == content.len() {
        return "the end of the file".to_owned();
    }
    let line = String::from_utf8_lossy(&content[start..end]);
    serde_json::Value::String(one_line(&line, QUOTE_UNITS)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_differing_part() {
        assert_eq!(differing(b"abc", b"abc"), (3, 3, 3));
        assert_eq!(differing(b"abc", b"axc"), (1, 2, 2));
        assert_eq!(differing(b"aa", b"aaa"), (2, 2, 3));
        assert_eq!(differing(b"", b"x"), (0, 0, 1));
    }

    #[test]
    fn says_what_changed() {
        assert_eq!(
            describe(b"one\ntwo\n", b"ONE\ntwo\n"),
            "line 1 is different (8 bytes → 8 bytes); line 1 was \"one\" and is now \"ONE\""
        );
        assert_eq!(
            describe(b"a\nb\nc\n", b"a\nc\n"),
            "line 2 is different (6 bytes → 4 bytes); line 2 was \"b\" and is now \"c\""
        );
        assert_eq!(
            describe(b"a\n", b"a\nb\nc\n"),
            "line 2 became lines 2–3 (2 bytes → 6 bytes); line 2 was the end of the file and is now \"b\""
        );
        assert_eq!(
            describe(b"x", b""),
            "line 1 is different (1 byte → 0 bytes); line 1 was \"x\" and is now nothing"
        );
    }
}
