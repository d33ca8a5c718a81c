//! Sizes of text in the profile's character unit, in which the limits of results are given.

use crate::profile::CharUnit;
use crate::wire::count_bytes;
use std::borrow::Cow;

/// The number of units of `text`.
pub fn count(unit: CharUnit, text: &str) -> u64 {
    // Nearly every text is ASCII, which is seen many bytes at a time.
    if text.is_ascii() {
        return text.len() as u64;
    }
    let bytes = text.as_bytes();
    let chars = count_bytes(bytes, |b| (b as i8) >= -0x40);
    match unit {
        CharUnit::Scalar => chars,
        // A character takes one code unit, and one more if it needs four bytes in UTF-8.
        CharUnit::Utf16 => chars + count_bytes(bytes, |b| b >= 0xF0),
    }
}

/// Bytes as text, what is not UTF-8 as U+FFFD. Nearly all are, which is seen many bytes
/// at a time.
pub fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

fn size(unit: CharUnit, c: char) -> u64 {
    match unit {
        CharUnit::Scalar => 1,
        CharUnit::Utf16 => c.len_utf16() as u64,
    }
}

/// The longest beginning of `text` with at most `units` units that ends between characters.
pub fn head(unit: CharUnit, text: &str, units: u64) -> &str {
    // No character has more units than bytes.
    if text.len() as u64 <= units {
        return text;
    }
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += size(unit, c);
        if used > units {
            return &text[..at];
        }
    }
    text
}

/// The longest end of `text` with at most `units` units that begins between characters.
pub fn tail(unit: CharUnit, text: &str, units: u64) -> &str {
    if text.len() as u64 <= units {
        return text;
    }
    let mut used = 0;
    for (at, c) in text.char_indices().rev() {
        used += size(unit, c);
        if used > units {
            return &text[at + c.len_utf8()..];
        }
    }
    text
}

/// The first line of `text`, at most `units` UTF-16 units of it, with `…` where
/// something was left out.
pub fn one_line(text: &str, units: u64) -> String {
    let line = text.lines().next().unwrap_or("");
    let cut = head(CharUnit::Utf16, line, units);
    if cut.len() < text.trim_end().len() {
        format!("{cut}…")
    } else {
        cut.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::CharUnit::{Scalar, Utf16};
    use super::*;

    #[test]
    fn counts_as_utf16_does() {
        for text in ["", "abc", "é", "e\u{301}", "漢字", "😀a", "\u{feff}"] {
            assert_eq!(count(Utf16, text), text.encode_utf16().count() as u64);
            assert_eq!(count(Scalar, text), text.chars().count() as u64);
        }
    }

    #[test]
    fn cuts_before_a_character_that_does_not_fit() {
        assert_eq!(head(Utf16, "a😀b", 1), "a");
        assert_eq!(head(Utf16, "a😀b", 2), "a");
        assert_eq!(head(Utf16, "a😀b", 3), "a😀");
        assert_eq!(head(Utf16, "a😀b", 4), "a😀b");
        assert_eq!(head(Scalar, "a😀b", 2), "a😀");
        assert_eq!(tail(Utf16, "a😀b", 2), "b");
        assert_eq!(tail(Utf16, "a😀b", 3), "😀b");
        assert_eq!(head(Utf16, "", 0), "");
    }

    #[test]
    fn one_line_says_that_it_was_cut() {
        assert_eq!(one_line("abc", 3), "abc");
        assert_eq!(one_line("abc\n", 3), "abc");
        assert_eq!(one_line("abcd", 3), "abc…");
        assert_eq!(one_line("ab\ncd", 3), "ab…");
    }
}
