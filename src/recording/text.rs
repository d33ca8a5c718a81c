//! Texts of recordings as they are compared: with line feeds, line by line, searched
//! many bytes at a time.

use crate::world::Needle;
use memchr::{memchr, memchr_iter, memchr2};
use std::borrow::Cow;

/// The text with line feeds only.
pub fn line_feeds(text: &str) -> Cow<'_, str> {
    match memchr(b'\r', text.as_bytes()) {
        Some(_) => Cow::Owned(text.replace("\r\n", "\n")),
        None => Cow::Borrowed(text),
    }
}

/// How many lines the text has; an empty last line counts.
pub fn line_count(text: &str) -> u32 {
    memchr_iter(b'\n', text.as_bytes()).count() as u32 + 1
}

/// The lines of the text, an empty last one too.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut from = Some(0);
    std::iter::from_fn(move || {
        let rest = text.get(from?..)?;
        let end = memchr(b'\n', rest.as_bytes());
        from = end.and_then(|end| Some(from? + end + 1));
        rest.get(..end.unwrap_or(rest.len()))
    })
}

/// The lines of the text from line `n` (from 0) on; none if there are fewer.
pub fn lines_from(text: &str, n: usize) -> impl Iterator<Item = &str> {
    let start = match n {
        0 => Some(0),
        n => memchr_iter(b'\n', text.as_bytes())
            .nth(n - 1)
            .map(|newline| newline + 1),
    };
    start
        .and_then(|start| text.get(start..))
        .into_iter()
        .flat_map(lines)
}

/// The offset at which line `n` (from 0) begins, or the length if there are fewer.
pub fn line_start(text: &str, n: usize) -> usize {
    if n == 0 {
        return 0;
    }
    memchr_iter(b'\n', text.as_bytes())
        .nth(n - 1)
        .map_or(text.len(), |newline| newline + 1)
}

/// Where `part` first stands in the text.
pub fn find(text: &str, part: &str) -> Option<usize> {
    Needle::new(part.as_bytes()).find(text.as_bytes())
}

/// The string that a JSON string, with its quotes, stands for; `None` if it is none.
/// Its escapes are taken to be well formed, which whoever found its end has seen; half
/// of a surrogate pair becomes U+FFFD.
pub(super) fn unescaped(json: &str) -> Option<Cow<'_, str>> {
    unescaped_body(json.strip_prefix('"')?.strip_suffix('"')?)
}

/// Where the first of one or two bytes stands. Escapes and quotes stand close together,
/// so a call that sets out to search far takes longer than looking near by, eight bytes
/// at a time.
pub(super) fn next_of<const N: usize>(bytes: [u8; N], text: &[u8]) -> Option<usize> {
    const NEAR: usize = 64;
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    let (near, far) = text.split_at(text.len().min(NEAR));
    let (words, rest) = near.as_chunks::<8>();
    for (n, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // The high bit of each byte that is one of them, and perhaps of bytes after it.
        let found = bytes.iter().fold(0, |found, byte| {
            let differs = word ^ (ONES * u64::from(*byte));
            found | (differs.wrapping_sub(ONES) & !differs)
        }) & HIGH;
        if found != 0 {
            return Some(n * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let at = words.len() * 8;
    if let Some(found) = rest.iter().position(|byte| bytes.contains(byte)) {
        return Some(at + found);
    }
    let found = match bytes[..] {
        [a] => memchr(a, far),
        [a, b] => memchr2(a, b, far),
        _ => far.iter().position(|byte| bytes.contains(byte)),
    };
    found.map(|found| near.len() + found)
}

fn unescaped_body(body: &str) -> Option<Cow<'_, str>> {
    let Some(first) = memchr(b'\\', body.as_bytes()) else {
        return Some(Cow::Borrowed(body));
    };
    // No escape is shorter than what it stands for.
    let mut text = String::with_capacity(body.len());
    let mut rest = body;
    let mut next = Some(first);
    while let Some(at) = next {
        text.push_str(rest.get(..at)?);
        let escape = rest.get(at + 1..)?;
        let plain = match escape.as_bytes().first()? {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => {
                let (c, len) = unicode_escape(escape)?;
                text.push(c);
                rest = escape.get(len..)?;
                next = next_of([b'\\'], rest.as_bytes());
                continue;
            }
            same @ (b'"' | b'\\' | b'/') => char::from(*same),
            _ => return None,
        };
        text.push(plain);
        rest = escape.get(1..)?;
        next = next_of([b'\\'], rest.as_bytes());
    }
    text.push_str(rest);
    Some(Cow::Owned(text))
}

/// The beginning, of about `len` bytes of JSON, of what a JSON string stands for.
pub(super) fn beginning(json: &str, len: usize) -> Option<Cow<'_, str>> {
    let body = json.strip_prefix('"')?.strip_suffix('"')?;
    let mut at = 0;
    while at < body.len().min(len) {
        at += match &body.as_bytes()[at..] {
            [b'\\', b'u', ..] => 6,
            [b'\\', ..] => 2,
            _ => 1,
        };
    }
    let end = (at.min(body.len())..=body.len()).find(|end| body.is_char_boundary(*end))?;
    // The opening quote is the byte before.
    unescaped_body(json.get(1..=end)?)
}

/// The character of `uXXXX` at the start of `escape`, or of two of them with a
/// backslash between, and the length of what stands for it.
fn unicode_escape(escape: &str) -> Option<(char, usize)> {
    let unit = |at: usize| u16::from_str_radix(escape.get(at..at + 4)?, 16).ok();
    let first = unit(1)?;
    if let Some(c) = char::from_u32(u32::from(first)) {
        return Some((c, 5));
    }
    let second = match escape.get(5..7) {
        Some("\\u") => unit(7),
        _ => None,
    };
    let pair = [first, second.unwrap_or(0)];
    match char::decode_utf16(pair).next() {
        Some(Ok(c)) => Some((c, 11)),
        _ => Some((char::REPLACEMENT_CHARACTER, 5)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_those_of_split() {
        for text in ["", "\n", "a", "a\n", "a\nb", "\n\na\r\n"] {
            let split: Vec<&str> = text.split('\n').collect();
            assert_eq!(lines(text).collect::<Vec<_>>(), split);
            assert_eq!(line_count(text) as usize, split.len());
        }
        assert_eq!(lines_from("a\nb\n", 1).collect::<Vec<_>>(), ["b", ""]);
        assert_eq!(lines_from("a\nb\n", 3).count(), 0);
        assert_eq!(line_feeds("a\r\nb\rc\n"), "a\nb\rc\n");
    }

    #[test]
    fn escapes_of_every_kind() {
        assert_eq!(
            unescaped(r#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00""#).as_deref(),
            Some("\"\\/\u{8}\u{c}\n\r\t\u{e9}\u{1f600}")
        );
        assert_eq!(
            unescaped(r#""\ud83dx\ude00""#).as_deref(),
            Some("\u{fffd}x\u{fffd}")
        );
        for odd in ["1", "\"", "\"\\x\"", "\"\\u12\"", "\"\\\"", ""] {
            assert_eq!(unescaped(odd), None, "{odd}");
        }
    }

    proptest! {
        #[test]
        fn the_first_of_some_bytes(text in "[a-c\u{80}é]{0,100}[a\"\\\\é]{0,20}") {
            let text = text.as_bytes();
            let first = |bytes: &[u8]| text.iter().position(|byte| bytes.contains(byte));
            prop_assert_eq!(next_of([b'"'], text), first(b"\""));
            prop_assert_eq!(next_of([b'"', b'\\'], text), first(b"\"\\"));
            prop_assert_eq!(next_of([0x81], text), first(&[0x81]));
        }

        #[test]
        fn a_beginning_is_one(text in "[a\\\\\"\n\u{1}é😀]{0,40}", len in 0_usize..60) {
            let json = serde_json::Value::String(text.clone()).to_string();
            let beginning = beginning(&json, len);
            let beginning = beginning.as_deref().unwrap_or("-");
            prop_assert!(text.starts_with(beginning), "{beginning:?}");
            prop_assert!(beginning.len() >= (len / 6).min(text.len()), "{beginning:?}");
        }

        #[test]
        fn what_serde_json_writes_is_read_as_it_was(text in ".*", ascii: bool) {
            let mut json = serde_json::Value::String(text.clone()).to_string();
            if ascii {
                json = json
                    .encode_utf16()
                    .map(|unit| match u8::try_from(unit) {
                        Ok(byte) if byte.is_ascii() => char::from(byte).to_string(),
                        _ => format!("\\u{unit:04x}"),
                    })
                    .collect();
            }
            let read = unescaped(&json);
            prop_assert_eq!(read.as_deref(), Some(&*text));
            prop_assert_eq!(serde_json::from_str::<String>(&json).ok(), Some(text));
        }
    }
}
