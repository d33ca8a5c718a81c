//! Lines with their numbers, as Read shows them, read back to the text they show.
//!
//! Two forms (`observed.md §4.11`): `     1→text`, padded, up to 2.1.62 at least, and
//! `1⇥text` later. What follows the numbered lines (reminders) is left out.

use super::text::lines;

/// Consecutive lines of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedLines {
    /// The number of the first line; a file begins with 1.
    pub first_line: u32,
    pub lines: u32,
    /// The lines, joined by line feeds.
    pub content: String,
}

/// The runs of consecutive numbered lines in `text`, in order; lines without a number
/// between them are skipped.
pub fn numbered_runs(text: &str) -> Vec<NumberedLines> {
    let mut runs: Vec<NumberedLines> = Vec::new();
    let mut going_on = false;
    for line in lines(text) {
        let Some((number, shown)) = numbered(line) else {
            going_on = false;
            continue;
        };
        match runs.last_mut() {
            Some(run) if going_on && run.first_line + run.lines == number => {
                run.lines += 1;
                run.content.push('\n');
                run.content.push_str(shown);
            }
            _ => runs.push(NumberedLines {
                first_line: number,
                lines: 1,
                content: shown.to_owned(),
            }),
        }
        going_on = true;
    }
    runs
}

/// The lines that `text` begins with, if it begins with a numbered one. Content that
/// itself looks numbered cannot end the run: its lines have numbers of their own.
pub fn numbered_lines(text: &str) -> Option<NumberedLines> {
    numbered(text.split('\n').next()?)?;
    numbered_runs(text).into_iter().next()
}

/// The number and the text of one shown line. Of the last line, empty, some versions
/// leave out the mark as well.
fn numbered(line: &str) -> Option<(u32, &str)> {
    let unpadded = line.trim_start_matches(' ');
    let digits = unpadded.len()
        - unpadded
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .len();
    let (number, rest) = unpadded.split_at_checked(digits)?;
    let number = number.parse().ok()?;
    let shown = rest
        .strip_prefix('→')
        .or_else(|| rest.strip_prefix('\t'))
        .or_else(|| rest.is_empty().then_some(""))?;
    Some((number, shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, first_line: u32, content: &str) {
        let read = numbered_lines(text).unwrap();
        assert_eq!((read.first_line, &*read.content), (first_line, content));
        assert_eq!(read.lines as usize, content.split('\n').count());
    }

    #[test]
    fn both_forms_read_back() {
        check("     1→one\n     2→", 1, "one\n");
        check("   998→\ta\n   999→b\n  1000→c", 998, "\ta\nb\nc");
        check("100000→a\n100001→b", 100_000, "a\nb");
        check("1\tone\n2\t\ttwo\n3\t", 1, "one\n\ttwo\n");
        check("9\tx\n10", 9, "x\n");
    }

    #[test]
    fn what_follows_the_lines_is_left_out() {
        check(
            "     1→a\n     2→\n\n<system-reminder>\n1\tx\n</system-reminder>\n",
            1,
            "a\n",
        );
    }

    #[test]
    fn lines_that_look_numbered_are_content() {
        check("1\t1\tx\n2\t7→y\n3\t     3→z", 1, "1\tx\n7→y\n     3→z");
    }

    #[test]
    fn snippets_have_several_runs() {
        let runs = numbered_runs("1\ta\n2\tb\n...\n9\tc");
        let runs: Vec<_> = runs.iter().map(|r| (r.first_line, r.lines)).collect();
        assert_eq!(runs, [(1, 2), (9, 1)]);
    }

    #[test]
    fn what_is_not_numbered_is_not_read() {
        assert_eq!(numbered_lines("File does not exist."), None);
        assert_eq!(numbered_lines(""), None);
    }
}
