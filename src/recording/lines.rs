//! Takes a text of one JSON object a line apart, whatever has happened to it.
//!
//! Whole lines are the fast way. A line that does not parse is looked at again:
//! several objects on it, an object behind the stub of a torn one, an object that
//! goes on over the next lines. What remains is a complaint about that line alone.

use super::note::{LineComplaint, Notes, RepairKind};
use super::skim::skim;
use memchr::memchr;
use serde::de::{Deserialize, IgnoredAny};

/// How many objects on a broken line are tried as the start of a whole one.
const SPLICE_TRIES: usize = 64;

/// What an object of the text must be, for complaints.
const EXPECTED: &str = "one JSON object with a `type`";

/// What an object of a text is known by.
pub(super) trait Object<'a>: Deserialize<'a> {
    /// Whether the object is an entry at all.
    fn is_known(&self) -> bool;
    /// Whether it can only be an entry, and no part of one.
    fn is_outermost(&self) -> bool;
}

/// Gives every entry of `text` to `take`, with the number of the line on which it
/// starts.
pub(super) fn each_object<'a, T: Object<'a>>(
    text: &'a str,
    notes: &mut Notes,
    mut take: impl FnMut(u32, T, &mut Notes),
) {
    let mut walk = Walk {
        text,
        at: 0,
        line: 1,
    };
    while walk.at < text.len() {
        let (line, number) = (walk.rest_of_line(), walk.line);
        if line.trim_ascii().is_empty() {
            notes.blank_lines += u32::from(walk.at + line.len() < text.len() || !line.is_empty());
            walk.skip(line.len(), 0);
            continue;
        }
        notes.lines += 1;
        if line.trim_ascii_start().starts_with('{')
            && let Some(object) = skim::<T>(line).or_else(|| serde_json::from_str(line).ok())
        {
            if object.is_known() {
                take(number, object, notes);
            } else {
                complain(notes, line, number, 0, "an object without `type` or `uuid`");
            }
            walk.skip(line.len(), 0);
            continue;
        }
        broken_line(&mut walk, notes, &mut take);
    }
}

/// A place in the text.
struct Walk<'a> {
    text: &'a str,
    at: usize,
    /// Of `at`, from 1.
    line: u32,
}

impl<'a> Walk<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn rest_of_line(&self) -> &'a str {
        let rest = self.rest();
        rest.get(..memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len()))
            .unwrap_or("")
    }

    /// Goes `len` bytes on, over `more` line ends, and over the one that follows.
    fn skip(&mut self, len: usize, more: u32) {
        self.line += more;
        self.at += len;
        if self.rest().starts_with('\n') {
            self.at += 1;
            self.line += 1;
        }
    }
}

/// Reads what can be read of a line that is not one object.
fn broken_line<'a, T: Object<'a>>(
    walk: &mut Walk<'a>,
    notes: &mut Notes,
    take: &mut impl FnMut(u32, T, &mut Notes),
) {
    let (line, number) = (walk.rest_of_line(), walk.line);
    let mut at = 0;
    let mut found = 0;
    loop {
        let rest = line.get(at..).unwrap_or("");
        let lead = rest.len() - rest.trim_start_matches(is_filler).len();
        let nul_bytes = memchr::memchr_iter(0, &rest.as_bytes()[..lead]).count();
        if nul_bytes > 0 {
            notes.repair(
                number,
                RepairKind::NulBytes,
                format!("{nul_bytes} NUL bytes skipped"),
            );
        }
        at += lead;
        let rest = line.get(at..).unwrap_or("");
        if rest.is_empty() {
            break;
        }
        // An object, alone or with others behind it.
        if rest.starts_with('{')
            && let Some((object, len)) = first_value::<T>(rest)
        {
            if object.is_known() {
                take(number, object, notes);
                found += 1;
            } else {
                complain(
                    notes,
                    line,
                    number,
                    at,
                    "an object without `type` or `uuid`",
                );
            }
            at += len;
            continue;
        }
        // Another value: it costs itself, what follows on the line is read.
        if let Some((_, len)) = first_value::<IgnoredAny>(rest) {
            complain(notes, line, number, at, kind_of(rest));
            at += len;
            continue;
        }
        // An object that goes on over the next lines.
        if rest.starts_with('{')
            && let Some(len) = object_over_lines(walk.text, walk.at + at, line.len() - at)
            && let Some(whole) = walk.text.get(walk.at + at..walk.at + at + len)
            && let Ok(object) = serde_json::from_str::<T>(whole)
        {
            let more = memchr::memchr_iter(b'\n', whole.as_bytes()).count() as u32;
            notes.repair(
                number,
                RepairKind::Joined,
                format!("one object over {} lines", more + 1),
            );
            notes.lines += more;
            if object.is_known() {
                take(number, object, notes);
            } else {
                complain(
                    notes,
                    line,
                    number,
                    at,
                    "an object without `type` or `uuid`",
                );
            }
            walk.skip(at + len, more);
            return;
        }
        // A stub, and perhaps something whole behind it.
        let stub = rest;
        match whole_behind_stub::<T>(stub) {
            Some(len) => {
                complain(
                    notes,
                    line,
                    number,
                    at,
                    "the beginning of an object that was never finished",
                );
                notes.repair(
                    number,
                    RepairKind::Spliced,
                    format!("a whole object behind a stub of {len} bytes"),
                );
                at += len;
            }
            None => {
                let column = error_offset(stub);
                complain(notes, line, number, at + column, torn_or(stub));
                break;
            }
        }
    }
    if found > 1 {
        notes.repair(
            number,
            RepairKind::Glued,
            format!("{found} objects on one line"),
        );
    }
    walk.skip(line.len(), 0);
}

/// Spaces, and what crashed or concurrent writers leave between two objects.
fn is_filler(c: char) -> bool {
    c.is_ascii_whitespace() || c == '\0' || c == '\u{feff}'
}

/// The value that `text` begins with, and its length.
fn first_value<'a, T: Deserialize<'a>>(text: &'a str) -> Option<(T, usize)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<T>();
    let value = values.next()?.ok()?;
    Some((value, values.byte_offset()))
}

/// The length of the object that begins at `start` and ends on a later line than
/// the one it begins on (of which `first_len` bytes are left).
fn object_over_lines(text: &str, start: usize, first_len: usize) -> Option<usize> {
    let rest = text.get(start..)?;
    // Only a line that could be the first of several: what fails on the line for
    // another reason than its end fails over several lines too.
    let first = rest.get(..first_len)?;
    let error = serde_json::from_str::<IgnoredAny>(first).err()?;
    if !error.is_eof() {
        return None;
    }
    let (_, len) = first_value::<IgnoredAny>(rest)?;
    let after = rest.get(len..)?.trim_start_matches([' ', '\t', '\r']);
    (len > first_len && (after.is_empty() || after.starts_with('\n') || after.starts_with('{')))
        .then_some(len)
}

/// Where behind the beginning of `line` an object starts from which the line is
/// whole entries up to its end.
fn whole_behind_stub<'a, T: Object<'a>>(line: &'a str) -> Option<usize> {
    memchr::memmem::find_iter(line.as_bytes(), b"{\"")
        .filter(|at| *at > 0)
        .take(SPLICE_TRIES)
        .find(|at| {
            let mut rest = line.get(*at..).unwrap_or("");
            let mut objects = 0;
            loop {
                rest = rest.trim_start_matches(is_filler);
                if rest.is_empty() {
                    return objects > 0;
                }
                match first_value::<T>(rest) {
                    Some((object, len)) if rest.starts_with('{') && object.is_known() => {
                        // A line cut behind a part of it ends in a whole object too.
                        if objects == 0 && !object.is_outermost() && may_hold(line, *at) {
                            return false;
                        }
                        objects += 1;
                        rest = rest.get(len..).unwrap_or("");
                    }
                    _ => return false,
                }
            }
        })
}

/// Whether the object begun by `stub` up to `at` could hold a value there.
fn may_hold(stub: &str, at: usize) -> bool {
    let before = stub.get(..at).unwrap_or("");
    let in_string = serde_json::from_str::<IgnoredAny>(before)
        .is_err_and(|error| error.to_string().starts_with("EOF while parsing a string"));
    !in_string
        && serde_json::from_str::<IgnoredAny>(&format!("{before}0"))
            .is_err_and(|error| error.is_eof())
}

/// The offset in `text` at which it stops being JSON.
fn error_offset(text: &str) -> usize {
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => 0,
        Err(error) if error.is_eof() => text.trim_ascii_end().len(),
        // serde_json counts columns in bytes, from 1; there is one line here.
        Err(error) => error.column().saturating_sub(1).min(text.len()),
    }
}

fn torn_or(text: &str) -> &'static str {
    match serde_json::from_str::<IgnoredAny>(text) {
        Err(error) if error.is_eof() => "the end of the line inside an object",
        _ => "text that is no JSON",
    }
}

fn kind_of(json: &str) -> &'static str {
    match json.as_bytes().first() {
        Some(b'"') => "a string",
        Some(b'[') => "an array",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

fn complain(notes: &mut Notes, line: &str, number: u32, at: usize, found: &str) {
    let before = line.get(..at).map_or(at, |before| before.chars().count());
    notes.complaints.push(LineComplaint {
        line: number,
        column: before as u32 + 1,
        found: found.to_owned(),
        expected: EXPECTED.to_owned(),
        hint: "the rest of the recording is read without it".to_owned(),
    });
}

#[cfg(test)]
mod tests {
    use super::super::line::Line;
    use super::*;

    /// The entries of a text as `line:uuid`, its complaints as `line:column`, and its repairs.
    fn check(text: &str, entries: &[&str], complaints: &[&str], repairs: &[&str]) {
        let mut notes = Notes::default();
        let mut got = Vec::new();
        each_object(text, &mut notes, |line, object: Line, _: &mut Notes| {
            got.push(format!(
                "{line}:{}",
                object.uuid.0.as_deref().unwrap_or("-")
            ));
        });
        assert_eq!(got, entries, "entries of {text:?}");
        let said: Vec<String> = notes
            .complaints
            .iter()
            .map(|c| format!("{}:{}", c.line, c.column))
            .collect();
        assert_eq!(said, complaints, "complaints about {text:?}");
        let mended: Vec<&str> = notes.repairs.iter().map(|r| r.kind.as_str()).collect();
        assert_eq!(mended, repairs, "repairs of {text:?}");
    }

    const A: &str = r#"{"type":"user","uuid":"a"}"#;
    const B: &str = r#"{"type":"user","uuid":"b"}"#;

    #[test]
    fn whole_lines() {
        check(&format!("{A}\n{B}\n"), &["1:a", "2:b"], &[], &[]);
        check(&format!("{A}\r\n\n{B}"), &["1:a", "3:b"], &[], &[]);
        check("", &[], &[], &[]);
    }

    #[test]
    fn two_objects_on_one_line() {
        check(&format!("{A}{B}\n"), &["1:a", "1:b"], &[], &["glued"]);
        check(
            &format!("{A} {B}\n{A}\n"),
            &["1:a", "1:b", "2:a"],
            &[],
            &["glued"],
        );
    }

    #[test]
    fn b191_a_stub_and_a_whole_object_behind_it() {
        for stub in [
            r#"{"type":"pr-link","prNu"#,
            r#"{"type":"pr-link","prNumber"#,
            r#"{"type":"pr-link","list":[{"type":"x"}"#,
            r#"{"type":"pr-link","text":"half a wo"#,
            r#"{"type":"pr-link","text":"half an escape\"#,
            "{",
        ] {
            check(
                &format!("{stub}{B}\n{A}\n"),
                &["1:b", "2:a"],
                &["1:1"],
                &["spliced"],
            );
        }
    }

    #[test]
    fn a_stub_that_could_hold_the_object_behind_it() {
        let session = r#"{"type":"user","uuid":"c","sessionId":"s"}"#;
        for stub in [
            r#"{"type":"pr-link","prNumber":"#,
            r#"{"type":"pr-link","list":["#,
            r#"{"type":"pr-link","list":[{"type":"x"},"#,
        ] {
            // With a session it is an entry, without one it may be a part of the stub.
            check(
                &format!("{stub}{session}\n"),
                &["1:c"],
                &["1:1"],
                &["spliced"],
            );
            let cut = format!("{stub}{B}");
            let column = format!("1:{}", cut.len() + 1);
            check(&format!("{cut}\n{A}\n"), &["2:a"], &[&column], &[]);
        }
    }

    #[test]
    fn b192_runs_of_nul_bytes_are_skipped() {
        check(
            &format!("{A}\n\0\0\0{B}\n{A}\0\0\n\0\0\n{A}\0{B}"),
            &["1:a", "2:b", "3:a", "5:a", "5:b"],
            &[],
            &["nul_bytes", "nul_bytes", "nul_bytes", "nul_bytes", "glued"],
        );
        check(
            &format!("{}\0\0{B}", &A[..9]),
            &["1:b"],
            &["1:1"],
            &["spliced"],
        );
    }

    #[test]
    fn b196_half_written_and_then_written_again() {
        check(&format!("{}\n{A}\n", &A[..20]), &["2:a"], &["1:21"], &[]);
    }

    #[test]
    fn b195_lines_end_at_line_feeds_only() {
        check(
            "{\"type\":\"user\",\"uuid\":\"a\u{2028}b\u{85}c\"}\n",
            &["1:a\u{2028}b\u{85}c"],
            &[],
            &[],
        );
    }

    #[test]
    fn an_object_over_several_lines() {
        let pretty = "{\n  \"type\": \"user\",\n  \"uuid\": \"a\"\n}";
        check(
            &format!("{pretty}\n{pretty}\n{B}\n"),
            &["1:a", "5:a", "9:b"],
            &[],
            &["joined", "joined"],
        );
        check(
            &format!("{pretty}{B}\n{A}"),
            &["1:a", "4:b", "5:a"],
            &[],
            &["joined"],
        );
    }

    #[test]
    fn a_torn_line_never_swallows_the_next() {
        for cut in 1..A.len() {
            let text = format!("{}\n{B}\n{B}\n", &A[..cut]);
            let mut notes = Notes::default();
            let mut got = 0;
            each_object(&text, &mut notes, |_, _: Line, _: &mut Notes| got += 1);
            assert_eq!((got, notes.complaints.len()), (2, 1), "{text:?}");
        }
    }

    #[test]
    fn values_that_are_no_objects_cost_only_themselves() {
        check(
            &format!("42\n[1]\n\"massive error\"\n{{\"silly\":\"this\"}}\n{A}\n7 {B}\n"),
            &["5:a", "6:b"],
            &["1:1", "2:1", "3:1", "4:1", "6:1"],
            &[],
        );
    }

    #[test]
    fn columns_are_characters() {
        check("{\"type\":\"é\",é", &[], &["1:13"], &[]);
    }
}
