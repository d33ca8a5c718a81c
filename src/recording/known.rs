//! What is known of a file: that it is not there, all of it, or some of its lines.

use super::edit_effect::{Hunk, Replacement, all_replaced, patch_fits, replaced, same_line};
use super::text::{find, line_count, line_start, lines};
use std::sync::Arc;

/// The content of a file as far as it is known. Line ends are line feeds: recorded
/// runtimes show no others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    Absent,
    Whole(Arc<str>),
    Part(KnownLines),
}

/// Some lines of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownLines {
    /// In order, none touching the next.
    runs: Vec<Run>,
    /// How many lines the file has; an empty last line counts.
    total: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Run {
    first: u32,
    lines: u32,
    /// Joined by line feeds.
    text: String,
}

impl Run {
    fn end(&self) -> u32 {
        self.first.saturating_add(self.lines)
    }

    /// Lines `from..to` of the file; both within the run.
    fn slice(&self, from: u32, to: u32) -> Run {
        let skipped = (from - self.first) as usize;
        let wanted = (to - from) as usize;
        let start = line_start(&self.text, skipped);
        let rest = self.text.get(start..).unwrap_or("");
        let len = match line_start(rest, wanted) {
            end if end >= rest.len() && to == self.end() => rest.len(),
            end => end.saturating_sub(1),
        };
        Run {
            first: from,
            lines: to - from,
            text: rest.get(..len).unwrap_or("").to_owned(),
        }
    }
}

/// How shown lines compare with the known ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// All of them were known, and are the same.
    Same,
    /// Those that were known are the same; some were not known.
    SameWhereKnown,
    /// A known line, this one, is another.
    DiffersAt(u32),
}

/// The lines that a result or an attachment shows of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShownLines<'a> {
    /// From 1.
    pub first_line: u32,
    /// How many; 0 if the file has none there.
    pub lines: u32,
    /// Joined by line feeds.
    pub content: &'a str,
    pub total: Option<u32>,
}

impl ShownLines<'_> {
    /// The number of the line behind the last.
    fn end(&self) -> u32 {
        self.first_line.saturating_add(self.lines)
    }

    /// Whether they are all that the file has.
    pub fn is_whole(&self) -> bool {
        self.first_line == 1 && self.total == Some(self.lines)
    }
}

impl Known {
    /// Compares what is shown with what is known.
    pub fn agrees(&self, shown: ShownLines<'_>) -> Agreement {
        match self {
            Known::Absent => Agreement::DiffersAt(1),
            Known::Whole(text) => {
                let total = line_count(text);
                if shown.total.is_some_and(|shown| shown != total) {
                    return first_difference(text, shown);
                }
                let whole = Run {
                    first: 1,
                    lines: total,
                    text: String::new(),
                };
                let (from, to) = (shown.first_line, shown.end());
                if shown.lines == 0 || from < 1 || to > whole.end() {
                    return match shown.lines {
                        0 => Agreement::Same,
                        _ => Agreement::DiffersAt(whole.end()),
                    };
                }
                first_difference(text, shown)
            }
            Known::Part(lines) => lines.agrees(shown),
        }
    }

    /// Takes over what is shown, in place of what was known of those lines.
    pub fn show(self, shown: ShownLines<'_>) -> Known {
        if shown.is_whole() {
            return Known::Whole(shown.content.into());
        }
        match (self.agrees(shown), self) {
            (Agreement::Same, known @ Known::Whole(_)) => known,
            (_, Known::Part(mut lines)) => {
                lines.show(shown);
                lines.whole().map_or(Known::Part(lines), Known::Whole)
            }
            _ => {
                let mut lines = KnownLines::default();
                lines.show(shown);
                Known::Part(lines)
            }
        }
    }

    /// How the old lines of a patch contradict what is known, in words, if they do.
    pub fn differs_from(&self, hunks: &[Hunk<'_>]) -> Option<String> {
        match self {
            Known::Absent => (!hunks.is_empty()).then(|| "it is there".to_owned()),
            Known::Whole(text) => (!patch_fits(hunks, Some(text), None))
                .then(|| "the patch's old lines are others".to_owned()),
            Known::Part(lines) => {
                let line = hunks.iter().find_map(|hunk| lines.differs_in(hunk))?;
                Some(format!("line {line} is another"))
            }
        }
    }

    /// What is known after a replacement that succeeded; `hunks` tell where it was.
    /// `None` if nothing can be said any more.
    pub fn edited(self, replacements: &[Replacement<'_>], hunks: &[Hunk<'_>]) -> Option<Known> {
        match self {
            Known::Absent => match replacements {
                [only] if only.old.is_empty() => Some(Known::Whole(only.new.as_ref().into())),
                _ => None,
            },
            Known::Whole(text) => {
                let after = all_replaced(&text, replacements)?;
                patch_fits(hunks, None, Some(&after)).then(|| Known::Whole(after.into()))
            }
            Known::Part(mut lines) => lines
                .edit(replacements, hunks)
                .then_some(lines)
                .map(Known::Part),
        }
    }
}

/// Compares shown lines with the text of the whole file.
fn first_difference(text: &str, shown: ShownLines<'_>) -> Agreement {
    if shown.lines == 0 {
        return Agreement::DiffersAt(1);
    }
    let start = line_start(text, shown.first_line.saturating_sub(1) as usize);
    let have = text.get(start..).unwrap_or("");
    if let Some(after) = have.strip_prefix(shown.content)
        && (after.is_empty() || after.starts_with('\n'))
        && shown.total.is_none_or(|total| total == line_count(text))
    {
        return Agreement::Same;
    }
    let same = lines(have)
        .zip(lines(shown.content))
        .take_while(|(have, shown)| have == shown)
        .count();
    Agreement::DiffersAt(shown.first_line.saturating_add(same as u32))
}

impl KnownLines {
    fn agrees(&self, shown: ShownLines<'_>) -> Agreement {
        let (from, to) = (shown.first_line, shown.end());
        let resized = matches!((self.total, shown.total), (Some(a), Some(b)) if a != b);
        let shown_run = Run {
            first: from,
            lines: shown.lines,
            text: shown.content.to_owned(),
        };
        let mut covered = 0;
        for run in &self.runs {
            let (start, end) = (run.first.max(from), run.end().min(to));
            if start >= end {
                continue;
            }
            let (have, show) = (run.slice(start, end), shown_run.slice(start, end));
            covered += end - start;
            if have.text != show.text {
                let same = lines(&have.text).zip(lines(&show.text));
                let same = same.take_while(|(a, b)| a == b).count();
                return Agreement::DiffersAt(start + same as u32);
            }
        }
        if resized {
            Agreement::DiffersAt(from)
        } else if covered == shown.lines && self.total.is_some() {
            Agreement::Same
        } else {
            Agreement::SameWhereKnown
        }
    }

    fn show(&mut self, shown: ShownLines<'_>) {
        if self.total.is_some() && shown.total.is_some() && self.total != shown.total {
            // Another number of lines: none of the old ones need be where it was.
            self.runs.clear();
        }
        self.total = shown.total.or(self.total);
        if shown.lines == 0 {
            return;
        }
        let (from, to) = (shown.first_line, shown.end());
        self.forget(from, to);
        self.runs.push(Run {
            first: from,
            lines: shown.lines,
            text: shown.content.to_owned(),
        });
        self.settle();
    }

    /// Drops lines `from..to`.
    fn forget(&mut self, from: u32, to: u32) {
        let mut kept = Vec::new();
        for run in self.runs.drain(..) {
            if run.first < from {
                kept.push(run.slice(run.first, run.end().min(from)));
            }
            if run.end() > to {
                kept.push(run.slice(run.first.max(to), run.end()));
            }
        }
        self.runs = kept;
    }

    /// Sorts the runs and joins those that touch.
    fn settle(&mut self) {
        self.runs.sort_by_key(|run| run.first);
        let mut joined: Vec<Run> = Vec::new();
        for run in self.runs.drain(..) {
            match joined.last_mut() {
                Some(last) if last.end() == run.first => {
                    last.lines += run.lines;
                    last.text.push('\n');
                    last.text.push_str(&run.text);
                }
                _ => joined.push(run),
            }
        }
        self.runs = joined;
    }

    /// The text of the whole file, if all its lines are known.
    pub fn whole(&self) -> Option<Arc<str>> {
        match self.runs.as_slice() {
            [run] if run.first == 1 && Some(run.lines) == self.total => {
                Some(run.text.as_str().into())
            }
            _ => None,
        }
    }

    /// The number of lines of the file, if known.
    pub fn total(&self) -> Option<u32> {
        self.total
    }

    /// The known lines: the number of the first and their text, run by run.
    pub fn runs(&self) -> impl Iterator<Item = (u32, &str)> {
        self.runs.iter().map(|run| (run.first, run.text.as_str()))
    }

    /// The text of lines `first..first + lines`, if all of them are known.
    pub fn text(&self, first: u32, lines: u32) -> Option<String> {
        let end = first.checked_add(lines)?;
        let run = self
            .runs
            .iter()
            .find(|run| run.first <= first && end <= run.end())?;
        Some(run.slice(first, end).text)
    }

    /// The first line that is known and that a hunk shows to be another.
    fn differs_in(&self, hunk: &Hunk<'_>) -> Option<u32> {
        let old = hunk
            .lines
            .iter()
            .filter_map(|line| line.strip_prefix([' ', '-']));
        let mut old = (hunk.old_start..).zip(old);
        old.find_map(|(number, shown)| {
            let have = self.text(number, 1)?;
            (!same_line(&have, shown)).then_some(number)
        })
    }

    /// Follows an edit. Lines that may have moved or changed without being known are
    /// forgotten.
    fn edit(&mut self, replacements: &[Replacement<'_>], hunks: &[Hunk<'_>]) -> bool {
        if let [only] = replacements
            && let Some((at, line, after)) = self.edited_run(only)
        {
            // Known lines that stand elsewhere than the patch says are no longer known.
            let hit = |hunk: &Hunk<'_>| {
                let end = hunk.old_start.saturating_add(hunk.old_lines);
                hunk.old_start <= line.saturating_add(line_count(&only.old)) && line < end
            };
            if !hunks.is_empty() && !hunks.iter().any(hit) {
                return false;
            }
            let run = &mut self.runs[at];
            let lines = line_count(&after);
            let moved = i64::from(lines) - i64::from(run.lines);
            (run.lines, run.text) = (lines, after);
            for later in self.runs.iter_mut().skip(at + 1) {
                later.first = later.first.saturating_add_signed(moved as i32);
            }
            self.total = self
                .total
                .map(|total| total.saturating_add_signed(moved as i32));
            return true;
        }
        if hunks.is_empty() {
            return false;
        }
        for hunk in hunks.iter().rev() {
            let (from, to) = (
                hunk.old_start,
                hunk.old_start.saturating_add(hunk.old_lines),
            );
            self.forget(from, to);
            let moved = i64::from(hunk.new_lines) - i64::from(hunk.old_lines);
            for later in self.runs.iter_mut().filter(|run| run.first >= to) {
                later.first = later.first.saturating_add_signed(moved as i32);
            }
            self.total = self
                .total
                .map(|total| total.saturating_add_signed(moved as i32));
        }
        self.settle();
        true
    }

    /// The only run in which a replacement has its only match, the line on which the match
    /// begins, and the run's text afterwards.
    fn edited_run(&self, replacement: &Replacement<'_>) -> Option<(usize, u32, String)> {
        // More matches may stand where nothing is known.
        if replacement.all || replacement.old.is_empty() {
            return None;
        }
        let mut found = None;
        for (at, run) in self.runs.iter().enumerate() {
            match run.text.matches(&*replacement.old).count() {
                0 => {}
                1 if found.is_none() => found = Some(at),
                _ => return None,
            }
        }
        let at = found?;
        let run = self.runs.get(at)?;
        let start = find(&run.text, &replacement.old)?;
        let before = memchr::memchr_iter(b'\n', &run.text.as_bytes()[..start]).count();
        let line = run.first.saturating_add(before as u32);
        Some((at, line, replaced(&run.text, replacement)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(first_line: u32, content: &str, total: Option<u32>) -> ShownLines<'_> {
        ShownLines {
            first_line,
            lines: line_count(content),
            content,
            total,
        }
    }

    fn part(shows: &[ShownLines<'_>]) -> Known {
        shows
            .iter()
            .fold(Known::Part(KnownLines::default()), |known, shown| {
                known.show(*shown)
            })
    }

    #[test]
    fn parts_grow_together_to_a_whole() {
        let known = part(&[shown(1, "a\nb", Some(5)), shown(4, "d\n", Some(5))]);
        assert!(matches!(&known, Known::Part(lines) if lines.runs().count() == 2));
        assert_eq!(
            known.show(shown(3, "c", Some(5))),
            Known::Whole("a\nb\nc\nd\n".into())
        );
    }

    #[test]
    fn shown_lines_are_compared_with_known_ones() {
        let whole = Known::Whole("a\nb\nc\n".into());
        assert_eq!(
            whole.agrees(shown(1, "a\nb\nc\n", Some(4))),
            Agreement::Same
        );
        assert_eq!(whole.agrees(shown(2, "b\nc", Some(4))), Agreement::Same);
        assert_eq!(
            whole.agrees(shown(2, "b\nX", Some(4))),
            Agreement::DiffersAt(3)
        );
        assert_eq!(
            whole.agrees(shown(2, "b\nc", Some(5))),
            Agreement::DiffersAt(4)
        );
        let part = part(&[shown(2, "b\nc", Some(9))]);
        assert_eq!(part.agrees(shown(3, "c", Some(9))), Agreement::Same);
        assert_eq!(
            part.agrees(shown(3, "c\nd", Some(9))),
            Agreement::SameWhereKnown
        );
        assert_eq!(
            part.agrees(shown(1, "a\nX", Some(9))),
            Agreement::DiffersAt(2)
        );
        assert_eq!(
            Known::Absent.agrees(shown(1, "", Some(1))),
            Agreement::DiffersAt(1)
        );
    }

    #[test]
    fn an_overlapping_part_replaces_what_it_shows() {
        let known = part(&[shown(1, "a\nb\nc\nd", Some(9)), shown(2, "B\nC", Some(9))]);
        let Known::Part(lines) = known else { panic!() };
        assert_eq!(lines.runs().collect::<Vec<_>>(), [(1, "a\nB\nC\nd")]);
        assert_eq!(lines.text(2, 2).as_deref(), Some("B\nC"));
        assert_eq!(lines.text(4, 2), None);
    }

    #[test]
    fn an_edit_in_a_known_part_moves_the_lines_behind_it() {
        let known = part(&[shown(2, "b\nc", Some(9)), shown(7, "g", Some(9))]);
        let edit = Replacement {
            old: "b".into(),
            new: "b\nb2".into(),
            all: false,
        };
        let Some(Known::Part(lines)) = known.edited(&[edit], &[]) else {
            panic!()
        };
        assert_eq!(
            lines.runs().collect::<Vec<_>>(),
            [(2, "b\nb2\nc"), (8, "g")]
        );
        assert_eq!(lines.total(), Some(10));
    }

    #[test]
    fn an_edit_elsewhere_forgets_the_hunk_and_moves_the_rest() {
        let known = part(&[shown(1, "a\nb\nc", Some(9)), shown(7, "g", Some(9))]);
        let edit = Replacement {
            old: "unseen".into(),
            new: "x".into(),
            all: false,
        };
        let hunk = Hunk {
            old_start: 3,
            old_lines: 3,
            new_start: 3,
            new_lines: 2,
            lines: Vec::new(),
        };
        let Some(Known::Part(lines)) = known.edited(&[edit], &[hunk]) else {
            panic!()
        };
        assert_eq!(lines.runs().collect::<Vec<_>>(), [(1, "a\nb"), (6, "g")]);
        assert_eq!(lines.total(), Some(8));
    }
}
