//! The bytes of a recording made into text that can be read: valid UTF-8, without
//! halves of surrogate pairs, which JSON readers refuse.

use super::LoadError;
use super::format::{Container, Format, detect};
use super::note::{Notes, RepairKind};
use super::yaml;
use memchr::memmem;
use std::borrow::Cow;

/// The text of one recording and what had to be mended in it. A [`super::Recording`]
/// borrows from it.
#[derive(Debug, Clone)]
pub struct Source<'b> {
    pub(super) text: Cow<'b, str>,
    pub(super) format: Format,
    pub(super) container: Container,
    /// For text that was made from another notation: the line of the file for each line of `text`.
    pub(super) file_lines: Option<Vec<u32>>,
    pub(super) notes: Notes,
    /// The length of the file, in bytes.
    pub(super) len: usize,
}

impl<'b> Source<'b> {
    /// Reads the bytes of a recording and tells its format by what is in them. Bytes
    /// that are borrowed are copied only if something in them must be mended.
    ///
    /// # Errors
    ///
    /// [`LoadError`] if there is nothing in it, or nothing that is known.
    pub fn new(bytes: impl Into<Cow<'b, [u8]>>) -> Result<Source<'b>, LoadError> {
        let mut bytes = bytes.into();
        let mut notes = Notes::default();
        let len = bytes.len();
        mend_surrogates(&mut bytes, &mut notes);
        let text = into_text(bytes, &mut notes);
        let (format, container) = detect(&text)?;
        let mut source = Source {
            text,
            format,
            container,
            file_lines: None,
            notes,
            len,
        };
        if source.container == Container::Yaml {
            let (text, lines) = yaml::to_lines(&source.text, &mut source.notes);
            source.text = Cow::Owned(text);
            source.file_lines = Some(lines);
        }
        Ok(source)
    }

    /// The format that was found.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The length of the file, in bytes.
    pub fn len_bytes(&self) -> usize {
        self.len
    }
}

/// The number of the line at `offset`, from 1.
pub(super) fn line_of(bytes: &[u8], offset: usize) -> u32 {
    let before = bytes.get(..offset).unwrap_or(bytes);
    memchr::memchr_iter(b'\n', before).count() as u32 + 1
}

/// Puts U+FFFD for each escaped half of a surrogate pair without its other half.
/// Escape and replacement are equally long, so nothing else moves.
fn mend_surrogates(bytes: &mut Cow<'_, [u8]>, notes: &mut Notes) {
    let places: Vec<usize> = memmem::find_iter(bytes, b"\\u")
        .filter(|at| matches!(bytes.get(at + 2), Some(b'd' | b'D')))
        .collect();
    let mut paired_until = 0;
    for at in places {
        if at < paired_until || is_escaped(bytes, at) {
            continue;
        }
        let Some(unit) = unit_at(bytes, at).filter(|unit| (0xd800..0xe000).contains(unit)) else {
            continue;
        };
        let pair = unit_at(bytes, at + 6).is_some_and(|low| (0xdc00..0xe000).contains(&low));
        if unit < 0xdc00 && pair {
            paired_until = at + 12;
            continue;
        }
        bytes.to_mut()[at..at + 6].copy_from_slice(b"\\ufffd");
        notes.repair(
            line_of(bytes, at),
            RepairKind::LoneSurrogate,
            format!("\\u{unit:04x} alone became U+FFFD"),
        );
    }
}

/// Whether the backslash at `at` is itself escaped.
fn is_escaped(bytes: &[u8], at: usize) -> bool {
    let before = bytes.get(..at).unwrap_or(&[]);
    before.iter().rev().take_while(|b| **b == b'\\').count() % 2 == 1
}

/// The code unit that a `\uXXXX` at `at` stands for.
fn unit_at(bytes: &[u8], at: usize) -> Option<u16> {
    let escape = std::str::from_utf8(bytes.get(at..at + 6)?).ok()?;
    let digits = escape.strip_prefix("\\u")?;
    if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    u16::from_str_radix(digits, 16).ok()
}

fn into_text<'b>(bytes: Cow<'b, [u8]>, notes: &mut Notes) -> Cow<'b, str> {
    let bytes = match bytes {
        Cow::Borrowed(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => return Cow::Borrowed(text),
            Err(_) => Cow::Borrowed(bytes),
        },
        Cow::Owned(bytes) => match String::from_utf8(bytes) {
            Ok(text) => return Cow::Owned(text),
            Err(error) => Cow::Owned(error.into_bytes()),
        },
    };
    let mut line = 1;
    let mut said = 0;
    for chunk in bytes.utf8_chunks() {
        line += memchr::memchr_iter(b'\n', chunk.valid().as_bytes()).count() as u32;
        if !chunk.invalid().is_empty() && said != line {
            said = line;
            notes.repair(
                line,
                RepairKind::InvalidUtf8,
                "bytes that are no UTF-8 became U+FFFD",
            );
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mended(text: &str) -> (String, Vec<u32>) {
        let mut bytes = Cow::Borrowed(text.as_bytes());
        let mut notes = Notes::default();
        mend_surrogates(&mut bytes, &mut notes);
        let text = into_text(bytes, &mut notes).into_owned();
        (text, notes.repairs.iter().map(|r| r.line).collect())
    }

    #[test]
    fn halves_of_pairs_become_replacement_characters() {
        assert_eq!(mended(r#""\ud83d""#), (r#""\ufffd""#.into(), vec![1]));
        assert_eq!(mended(r#""\ude00x""#), (r#""\ufffdx""#.into(), vec![1]));
        assert_eq!(
            mended("1\n\"\\uD83D\\uD83D\\uDE00\""),
            ("1\n\"\\ufffd\\uD83D\\uDE00\"".into(), vec![2])
        );
        assert_eq!(mended(r#""\ud83d\n\ude00""#).1, vec![1, 1]);
    }

    #[test]
    fn whole_pairs_and_escaped_backslashes_stay() {
        for text in [
            r#""\ud83d\ude00""#,
            r#""\\ud83d""#,
            r#""\\\\udc00""#,
            r#""\ud7ff""#,
            r#""\ud8""#,
        ] {
            assert_eq!(mended(text), (text.to_owned(), Vec::new()));
        }
        assert_eq!(mended(r#""\\\ud83d""#).0, r#""\\\ufffd""#);
    }

    #[test]
    fn bytes_that_are_no_utf8_are_said_once_a_line() {
        let mut notes = Notes::default();
        let text = into_text(b"a\n\xff b \xff\nc\xe2\x82"[..].into(), &mut notes);
        assert_eq!(text, "a\n\u{fffd} b \u{fffd}\nc\u{fffd}");
        let lines: Vec<u32> = notes.repairs.iter().map(|r| r.line).collect();
        assert_eq!(lines, [2, 3]);
    }
}
