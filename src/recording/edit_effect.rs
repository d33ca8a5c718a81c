//! What a recorded edit made of a file: by its strings, checked against its patch.

use super::raw::{Bool, Raw, Str, lenient_object};
use super::text::{find, lines_from};
use std::borrow::Cow;

/// One replacement, as asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement<'a> {
    pub old: Cow<'a, str>,
    pub new: Cow<'a, str>,
    pub all: bool,
}

lenient_object! {
    /// The fields of a replacement in an input.
    Fields {
        old: Str<'a> = "old_string",
        new: Str<'a> = "new_string",
        all: Bool = "replace_all",
        /// Those of MultiEdit, of which each has the three above.
        edits: Option<Raw<'a>> = "edits",
    }
}

/// The replacements that the input of Edit or MultiEdit asks for; `None` if it has none.
pub fn replacements(input: Raw<'_>) -> Option<Vec<Replacement<'_>>> {
    let asked: Fields = input.read()?;
    let fields = match asked.edits {
        Some(edits) => edits.read::<Vec<Fields>>()?,
        None => vec![asked],
    };
    fields
        .into_iter()
        .map(|fields| {
            Some(Replacement {
                old: fields.old.0?,
                new: fields.new.0?,
                all: fields.all.0 == Some(true),
            })
        })
        .collect()
}

/// One hunk of a structured patch: lines with ` `, `-` or `+` before them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk<'a> {
    /// From 1.
    pub old_start: u32,
    pub old_lines: u32,
    pub new_start: u32,
    pub new_lines: u32,
    pub lines: Vec<Cow<'a, str>>,
}

lenient_object! {
    /// The fields of a hunk.
    HunkFields {
        old_start: Option<Raw<'a>> = "oldStart",
        old_lines: Option<Raw<'a>> = "oldLines",
        new_start: Option<Raw<'a>> = "newStart",
        new_lines: Option<Raw<'a>> = "newLines",
        lines: Option<Raw<'a>> = "lines",
    }
}

/// The hunks of a `structuredPatch`; `None` if it is none.
pub fn hunks(patch: Raw<'_>) -> Option<Vec<Hunk<'_>>> {
    let hunks: Vec<HunkFields> = patch.read()?;
    hunks
        .into_iter()
        .map(|hunk| {
            let lines: Vec<Str> = hunk.lines?.read()?;
            Some(Hunk {
                old_start: hunk.old_start?.parse()?,
                old_lines: hunk.old_lines?.parse()?,
                new_start: hunk.new_start?.parse()?,
                new_lines: hunk.new_lines?.parse()?,
                lines: lines.into_iter().filter_map(|line| line.0).collect(),
            })
        })
        .collect()
}

/// The text after one replacement; `None` if `old` is not in it. Where nothing takes
/// the place of whole lines, the line end goes with them: so did the recorded runtimes.
pub fn replaced(text: &str, replacement: &Replacement<'_>) -> Option<String> {
    let Replacement { old, new, all } = replacement;
    if old.is_empty() {
        return Some(new.clone().into_owned());
    }
    let with_end = (new.is_empty() && !old.ends_with('\n'))
        .then(|| format!("{old}\n"))
        .filter(|with_end| find(text, with_end).is_some());
    let old = with_end.as_deref().unwrap_or(old);
    let mut after = String::with_capacity(text.len() + new.len());
    let mut rest = text;
    let mut next = Some(find(text, old)?);
    while let Some(at) = next {
        after.push_str(rest.get(..at)?);
        after.push_str(new);
        rest = rest.get(at + old.len()..)?;
        next = if *all { find(rest, old) } else { None };
    }
    after.push_str(rest);
    Some(after)
}

/// The text after all replacements, in order.
pub fn all_replaced(text: &str, replacements: &[Replacement<'_>]) -> Option<String> {
    let mut text = Cow::Borrowed(text);
    for replacement in replacements {
        text = Cow::Owned(replaced(&text, replacement)?);
    }
    Some(text.into_owned())
}

/// Whether the hunks' old lines stand in `before` and their new lines in `after`.
/// Leading tabs stand as two spaces each in recorded patches.
pub fn patch_fits(hunks: &[Hunk<'_>], before: Option<&str>, after: Option<&str>) -> bool {
    let fits = |text: Option<&str>, old: bool| {
        let Some(text) = text else { return true };
        hunks.iter().all(|hunk| {
            let start = if old { hunk.old_start } else { hunk.new_start };
            let skipped = if old { '+' } else { '-' };
            let mut there = lines_from(text, start.saturating_sub(1) as usize);
            hunk.lines.iter().all(|line| {
                let mut chars = line.chars();
                match chars.next() {
                    // `\ No newline at end of file`
                    Some('\\') => true,
                    Some(mark) if mark == skipped => true,
                    _ => there
                        .next()
                        .is_some_and(|have| same_line(have, chars.as_str())),
                }
            })
        })
    };
    fits(before, true) && fits(after, false)
}

/// The lines of a file before an edit as far as its patch and the replaced text show
/// them, run by run with the number of the first: exact where the replaced text stands,
/// elsewhere with leading tabs as the patch has them. `None` if the two do not fit.
pub fn lines_before(
    hunks: &[Hunk<'_>],
    replacement: &Replacement<'_>,
) -> Option<Vec<(u32, String)>> {
    let old: Vec<&str> = replacement.old.split('\n').collect();
    let shown: Vec<(u32, Vec<&str>)> = hunks
        .iter()
        .map(|hunk| {
            let lines = hunk
                .lines
                .iter()
                .filter_map(|line| line.strip_prefix([' ', '-']));
            (hunk.old_start, lines.collect())
        })
        .collect();
    let (first, lines) = shown.first()?;
    // The replaced text may begin above the first hunk's context, and end below the last's.
    let earliest = first.saturating_sub(old.len() as u32 - 1).max(1);
    let latest = first.saturating_add(lines.len() as u32);
    let start = (earliest..latest).find(|start| fits_at(&shown, &old, *start))?;
    let mut runs: Vec<(u32, String)> = Vec::new();
    for (first, lines) in &shown {
        runs.push((*first, lines.join("\n")));
    }
    let exact = (start..)
        .zip(old.iter().enumerate())
        .map(|(number, (at, text))| {
            let place = (at == 0, at + 1 == old.len());
            match line_at(&shown, number) {
                Some(line) => exact_line(line, text, place),
                None => Some((*text).to_owned()),
            }
        });
    let exact: Vec<String> = exact.collect::<Option<_>>()?;
    runs.push((start, exact.join("\n")));
    Some(runs)
}

fn line_at<'s>(shown: &[(u32, Vec<&'s str>)], number: u32) -> Option<&'s str> {
    shown.iter().find_map(|(first, lines)| {
        let at = number.checked_sub(*first)? as usize;
        lines.get(at).copied()
    })
}

/// Whether the replaced text, begun on line `start`, is what every hunk shows of it.
fn fits_at(shown: &[(u32, Vec<&str>)], old: &[&str], start: u32) -> bool {
    let end = start.saturating_add(old.len() as u32);
    let overlaps = |(first, lines): &(u32, Vec<&str>)| {
        *first < end && start < first.saturating_add(lines.len() as u32)
    };
    shown.iter().all(overlaps)
        && (start..)
            .zip(old.iter().enumerate())
            .all(|(number, (at, text))| {
                let place = (at == 0, at + 1 == old.len());
                line_at(shown, number).is_none_or(|line| exact_line(line, text, place).is_some())
            })
}

/// The exact line of which a patch shows `line` and the replaced text covers `text`;
/// `(first, last)` tells which line of the replaced text that is.
fn exact_line(line: &str, text: &str, place: (bool, bool)) -> Option<String> {
    let rest = text.trim_start_matches(['\t', ' ']);
    let spaced = format!(
        "{}{rest}",
        text[..text.len() - rest.len()].replace('\t', "  ")
    );
    match place {
        (true, true) if line.starts_with(&spaced) => {
            Some(format!("{text}{}", &line[spaced.len()..]))
        }
        (true, true) => line.contains(text).then(|| line.to_owned()),
        (true, false) if line == spaced => Some(text.to_owned()),
        (true, false) => line.ends_with(text).then(|| line.to_owned()),
        (false, true) => line
            .strip_prefix(&*spaced)
            .map(|rest| format!("{text}{rest}")),
        (false, false) => (line == spaced).then(|| text.to_owned()),
    }
}

/// Whether a line of a file is what a patch shows of it.
pub fn same_line(have: &str, shown: &str) -> bool {
    if have == shown {
        return true;
    }
    let tabs = have.len() - have.trim_start_matches(['\t', ' ']).len();
    let (lead, rest) = have.split_at(tabs);
    lead.contains('\t') && shown.strip_suffix(rest) == Some(&*lead.replace('\t', "  "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit<'a>(old: &'a str, new: &'a str, all: bool) -> Replacement<'a> {
        Replacement {
            old: old.into(),
            new: new.into(),
            all,
        }
    }

    #[test]
    fn replacements_of_both_tools() {
        let one = replacements(Raw::new(r#"{"old_string":"a","new_string":"b"}"#)).unwrap();
        assert_eq!(one, [edit("a", "b", false)]);
        let many = Raw::new(
            r#"{"edits":[{"old_string":"a","new_string":"b","replace_all":true},{"old_string":"b","new_string":"c"}]}"#,
        );
        assert_eq!(
            replacements(many).unwrap(),
            [edit("a", "b", true), edit("b", "c", false)]
        );
        assert_eq!(replacements(Raw::new(r#"{"old_string":"a"}"#)), None);
    }

    #[test]
    fn edits_replace_once_or_everywhere() {
        assert_eq!(
            replaced("aXbX", &edit("X", "-", false)).as_deref(),
            Some("a-bX")
        );
        assert_eq!(
            replaced("aXbX", &edit("X", "-", true)).as_deref(),
            Some("a-b-")
        );
        assert_eq!(replaced("a", &edit("X", "-", false)), None);
        assert_eq!(
            replaced("", &edit("", "new", false)).as_deref(),
            Some("new")
        );
    }

    #[test]
    fn nothing_in_place_of_a_line_takes_its_end_along() {
        assert_eq!(
            replaced("a\nb\nc\n", &edit("b", "", false)).as_deref(),
            Some("a\nc\n")
        );
        assert_eq!(
            replaced("a\nb", &edit("b", "", false)).as_deref(),
            Some("a\n")
        );
        assert_eq!(
            replaced("a\nb\n", &edit("b\n", "", false)).as_deref(),
            Some("a\n")
        );
    }

    #[test]
    fn a_patch_shows_the_lines_before_the_edit() {
        let patch = hunks(Raw::new(
            r#"[{"oldStart":7,"oldLines":4,"newStart":7,"newLines":3,"lines":["   if x {","-    a","-    b","+    c","   }"]}]"#,
        ))
        .unwrap();
        let lines = |old: &'static str| lines_before(&patch, &edit(old, "c", false));
        let shown = (7, "  if x {\n    a\n    b\n  }".to_owned());
        assert_eq!(lines("\ta\n\t\tb"), None);
        assert_eq!(lines("nowhere"), None);
        for (old, first, exact) in [
            ("\t\ta\n\t\tb", 8, "\t\ta\n\t\tb"),
            ("x {\n\t\ta\n\t\tb\n\t}", 7, "  if x {\n\t\ta\n\t\tb\n\t}"),
            // The replaced text goes on where the patch does not.
            ("\t\tb\n\t}\nunseen\n\tmo", 9, "\t\tb\n\t}\nunseen\n\tmo"),
        ] {
            assert_eq!(
                lines(old),
                Some(vec![shown.clone(), (first, exact.to_owned())])
            );
        }
    }

    #[test]
    fn patches_are_compared_with_their_tabs() {
        let patch = hunks(Raw::new(
            r#"[{"oldStart":1,"oldLines":2,"newStart":1,"newLines":2,"lines":["   a","-b","+c","\\ No newline at end of file"]}]"#,
        ))
        .unwrap();
        assert!(patch_fits(&patch, Some("\ta\nb"), Some("\ta\nc")));
        assert!(!patch_fits(&patch, Some("\ta\nx"), None));
        assert!(!patch_fits(&patch, None, Some("\ta\nb")));
        assert!(!same_line("a", "  a"));
    }
}
