//! Applies edits to a file's content in memory: all of them or none. Pure.

use super::changes::line_of;
use super::file_state::FileState;
use super::matching::{Matches, Reading, find, replacement};
use super::ranges::{Ranges, Replaced};
use super::units::one_line;
use super::{Refusal, no_match};
use crate::words::Class;
use serde::Deserialize;

/// How many line numbers an ambiguous match lists.
const LINES_LISTED: usize = 10;
/// How much of an `old_string` a text quotes.
const QUOTE_UNITS: u64 = 80;

/// One replacement that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Edit {
    pub old_string: String,
    pub new_string: String,
    #[serde(default)]
    pub replace_all: bool,
}

/// A content with its edits made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Applied {
    pub content: Vec<u8>,
    /// What the model knows of it.
    pub shown: Ranges,
    /// For each edit: how many places it replaced, and the line of the first.
    pub places: Vec<(usize, usize)>,
    /// The most forgiving reading that was needed.
    pub reading: Reading,
}

/// What edits are held against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Given<'a> {
    pub path: &'a str,
    pub content: &'a [u8],
    /// Whether an edit to nothing takes the line end behind it along, as the recorded
    /// runtime does (seen in recordings; no public text says so).
    pub empties_lines: bool,
    /// What the model was shown of this content, where a place outside of it must not
    /// be edited; `None` where any place may be.
    pub shown: Option<&'a Ranges>,
}

/// The knowledge of a state, or of everything if there is none.
pub(super) fn knowledge(state: Option<&FileState>, len: usize) -> Ranges {
    state.map_or_else(|| Ranges::whole(len), |state| state.shown.clone())
}

/// Makes `edits` one after the other, each on what the one before left.
pub(super) fn apply(given: Given<'_>, known: Ranges, edits: &[Edit]) -> Result<Applied, Refusal> {
    let mut applied = Applied {
        content: given.content.to_vec(),
        shown: known,
        places: Vec::new(),
        reading: Reading::Exact,
    };
    for (index, edit) in edits.iter().enumerate() {
        one(&given, &mut applied, edit).map_err(|refusal| numbered(refusal, index, edits.len()))?;
    }
    if applied.content == given.content {
        return Err(Refusal::new(
            Class::NoChange,
            format!(
                "with these edits {} would stay as it is. Say what is to be different.",
                given.path
            ),
        ));
    }
    Ok(applied)
}

/// Says which of several edits was refused, and that none was made.
fn numbered(refusal: Refusal, index: usize, of: usize) -> Refusal {
    if of < 2 {
        return refusal;
    }
    let text = format!(
        "edit {} of {of}: {} None of the edits was made.",
        index + 1,
        refusal.text
    );
    Refusal { text, ..refusal }
}

fn one(given: &Given<'_>, applied: &mut Applied, edit: &Edit) -> Result<(), Refusal> {
    let Some(found) = find(&applied.content, &edit.old_string) else {
        let help = no_match::help(&applied.content, &edit.old_string);
        return Err(Refusal::new(
            Class::NoMatch,
            format!(
                "{} does not contain the old_string {}. {help}",
                given.path,
                quoted(&edit.old_string)
            ),
        ));
    };
    if !edit.replace_all && found.starts.len() > 1 {
        return Err(ambiguous(given.path, &applied.content, edit, &found.starts));
    }
    if given.shown.is_some()
        && let Some(unseen) = found
            .spans
            .iter()
            .find(|span| !applied.shown.covers((*span).clone()))
    {
        let line = line_of(&applied.content, unseen.start);
        return Err(Refusal::new(
            Class::NotRead,
            format!(
                "line {line} of {} is outside the part you have read. Read that part (offset {line}), then edit it.",
                given.path
            ),
        ));
    }
    make(given, applied, edit, &found);
    Ok(())
}

/// Puts the new text in the place of every occurrence.
fn make(given: &Given<'_>, applied: &mut Applied, edit: &Edit, found: &Matches) {
    let line = found
        .spans
        .first()
        .map_or(1, |span| line_of(&applied.content, span.start));
    let mut content = Vec::with_capacity(applied.content.len() + edit.new_string.len());
    let mut replaced = Vec::with_capacity(found.spans.len());
    let mut copied = 0;
    let empties =
        given.empties_lines && edit.new_string.is_empty() && !edit.old_string.ends_with('\n');
    let spans = found.spans.iter().map(|span| match empties {
        true => span.start..span.end + line_end_len(&applied.content[span.end..]),
        false => span.clone(),
    });
    for span in spans {
        let new = replacement(
            &applied.content,
            span.clone(),
            &edit.old_string,
            &edit.new_string,
            found.reading,
        );
        content.extend_from_slice(&applied.content[copied..span.start]);
        content.extend_from_slice(&new);
        copied = span.end;
        replaced.push(Replaced {
            old: span.clone(),
            new_len: new.len(),
        });
    }
    content.extend_from_slice(&applied.content[copied..]);
    applied.content = content;
    applied.shown = applied.shown.after(&replaced);
    applied.places.push((found.spans.len(), line));
    applied.reading = applied.reading.max(found.reading);
}

/// The length of the line end that `rest` begins with, or 0.
fn line_end_len(rest: &[u8]) -> usize {
    match rest {
        [b'\r', b'\n', ..] => 2,
        [b'\n', ..] => 1,
        _ => 0,
    }
}

fn ambiguous(path: &str, content: &[u8], edit: &Edit, starts: &[usize]) -> Refusal {
    let lines: Vec<String> = starts
        .iter()
        .take(LINES_LISTED)
        .map(|at| line_of(content, *at).to_string())
        .collect();
    let more = if starts.len() > LINES_LISTED {
        ", …"
    } else {
        ""
    };
    Refusal::new(
        Class::Ambiguous,
        format!(
            "{path} contains the old_string {} {} times, at lines {}{more}. Name more of the text around the one you mean, or set replace_all to change all.",
            quoted(&edit.old_string),
            starts.len(),
            lines.join(", ")
        ),
    )
}

/// A text as JSON writes a string, cut to one line.
fn quoted(text: &str) -> String {
    serde_json::Value::String(one_line(text, QUOTE_UNITS)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(old: &str, new: &str, all: bool) -> Edit {
        Edit {
            old_string: old.to_owned(),
            new_string: new.to_owned(),
            replace_all: all,
        }
    }

    fn applied(content: &str, edits: &[Edit]) -> Result<Applied, Refusal> {
        let given = Given {
            path: "/p/a",
            content: content.as_bytes(),
            empties_lines: false,
            shown: None,
        };
        apply(given, Ranges::whole(content.len()), edits)
    }

    #[test]
    fn edits_see_what_those_before_left() {
        let done = applied("a b", &[edit("a", "x", false), edit("x b", "y", false)]);
        assert_eq!(done.map(|d| d.content), Ok(b"y".to_vec()));
    }

    #[test]
    fn all_or_none() {
        let refusal = applied("a b", &[edit("a", "x", false), edit("q", "y", false)]).unwrap_err();
        assert_eq!(refusal.class, Class::NoMatch);
        assert!(
            refusal.text.starts_with("edit 2 of 2: "),
            "{}",
            refusal.text
        );
        assert!(refusal.text.ends_with("None of the edits was made."));
    }

    #[test]
    fn several_places_need_replace_all() {
        let refusal = applied("a\nb\na\n", &[edit("a", "x", false)]).unwrap_err();
        assert_eq!(refusal.class, Class::Ambiguous);
        assert!(
            refusal.text.contains("2 times, at lines 1, 3."),
            "{}",
            refusal.text
        );
        let done = applied("a\nb\na\n", &[edit("a", "x", true)]).expect("applies");
        assert_eq!(done.content, b"x\nb\nx\n");
        assert_eq!(done.places, [(2, 1)]);
    }

    #[test]
    fn an_edit_to_nothing_may_take_the_line_end_along() {
        let content = b"one\r\ntwo\r\nthree";
        let given = |empties_lines| Given {
            path: "/p/a",
            content,
            empties_lines,
            shown: None,
        };
        let known = || Ranges::whole(content.len());
        let after = |empties, old| apply(given(empties), known(), &[edit(old, "", false)]);
        let after = |empties, old| after(empties, old).map(|done| done.content);
        assert_eq!(after(false, "two"), Ok(b"one\r\n\r\nthree".to_vec()));
        assert_eq!(after(true, "two"), Ok(b"one\r\nthree".to_vec()));
        assert_eq!(after(true, "two\n"), Ok(b"one\r\nthree".to_vec()));
        assert_eq!(after(true, "three"), Ok(b"one\r\ntwo\r\n".to_vec()));
    }

    #[test]
    fn edits_that_cancel_out_change_nothing() {
        let refusal = applied("a", &[edit("a", "b", false), edit("b", "a", false)]).unwrap_err();
        assert_eq!(refusal.class, Class::NoChange);
    }

    #[test]
    fn only_what_was_shown_may_be_edited() {
        let content = "one\ntwo\nthree\n";
        let mut shown = Ranges::default();
        shown.add(4..8);
        let given = Given {
            path: "/p/a",
            content: content.as_bytes(),
            empties_lines: false,
            shown: Some(&shown),
        };
        let done = apply(given, shown.clone(), &[edit("two", "2", false)]).expect("applies");
        assert_eq!(done.content, b"one\n2\nthree\n");
        assert!(done.shown.covers(4..6) && !done.shown.covers(4..7));
        let refusal = apply(given, shown.clone(), &[edit("three", "3", false)]).unwrap_err();
        assert_eq!(refusal.class, Class::NotRead);
        assert!(refusal.text.contains("line 3"), "{}", refusal.text);
        // One outside is enough to refuse all.
        let refusal = apply(given, shown.clone(), &[edit("t", "T", true)]).unwrap_err();
        assert_eq!(refusal.class, Class::NotRead);
    }
}
