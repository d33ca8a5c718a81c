//! Takes the elements of a JSON array apart, as far as the array goes.

use super::note::{LineComplaint, Notes};
use serde::de::Deserialize;

/// An element and where it begins.
pub(super) struct Element<T> {
    /// Of the file, from 1.
    pub line: u32,
    pub value: T,
}

/// The elements of the array whose `[` is at `at`, up to its end or to the first
/// that cannot be read.
pub(super) fn objects<'a, T: Deserialize<'a>>(text: &'a str, at: usize) -> Elements<'a, T> {
    Elements {
        text,
        at: at + 1,
        counted: 0,
        line: 1,
        stopped: None,
        element: std::marker::PhantomData,
    }
}

/// An iterator over [`Element`]s.
pub(super) struct Elements<'a, T> {
    text: &'a str,
    at: usize,
    /// How far lines are counted, and the line there.
    counted: usize,
    line: u32,
    /// Where and why it ended, if not at the array's end.
    stopped: Option<(usize, &'static str)>,
    element: std::marker::PhantomData<T>,
}

impl<'a, T: Deserialize<'a>> Iterator for Elements<'a, T> {
    type Item = Element<T>;

    fn next(&mut self) -> Option<Element<T>> {
        if self.stopped.is_some() {
            return None;
        }
        let rest = self.text.get(self.at..)?;
        let rest = rest.trim_start_matches([' ', '\t', '\r', '\n', ',']);
        self.at = self.text.len() - rest.len();
        if rest.starts_with(']') {
            return None;
        }
        if rest.is_empty() {
            self.stopped = Some((self.at, "the end of the file inside the list"));
            return None;
        }
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<T>();
        match values.next() {
            Some(Ok(value)) => {
                let passed = self.text.get(self.counted..self.at).unwrap_or("");
                self.line += memchr::memchr_iter(b'\n', passed.as_bytes()).count() as u32;
                self.counted = self.at;
                self.at += values.byte_offset();
                Some(Element {
                    line: self.line,
                    value,
                })
            }
            _ => {
                self.stopped = Some((self.at, "an element that is no whole JSON value"));
                None
            }
        }
    }
}

impl<T> Elements<'_, T> {
    /// Says where the array broke off, if it did.
    pub fn complain(&self, notes: &mut Notes) {
        let Some((at, found)) = self.stopped else {
            return;
        };
        let before = self.text.get(..at).unwrap_or("");
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        notes.complaints.push(LineComplaint {
            line: super::source::line_of(self.text.as_bytes(), at),
            column: before.get(line_start..).unwrap_or("").chars().count() as u32 + 1,
            found: found.to_owned(),
            expected: "the elements of the list and its end".to_owned(),
            hint: "the elements before it are read".to_owned(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, elements: &[(u32, u64)], complaint: Option<(u32, u32)>) {
        let mut notes = Notes::default();
        let mut all = objects::<u64>(text, text.find('[').unwrap());
        let got: Vec<(u32, u64)> = all.by_ref().map(|e| (e.line, e.value)).collect();
        all.complain(&mut notes);
        assert_eq!(got, elements);
        assert_eq!(
            notes.complaints.first().map(|c| (c.line, c.column)),
            complaint
        );
    }

    #[test]
    fn elements_up_to_the_end_or_to_the_cut() {
        check("[1, 2,\n 3]", &[(1, 1), (1, 2), (2, 3)], None);
        check("x: []", &[], None);
        check("[1, 2,\n ", &[(1, 1), (1, 2)], Some((2, 2)));
        check("[1,\n {\"", &[(1, 1)], Some((2, 2)));
    }
}
