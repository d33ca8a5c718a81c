//! One page of a file as Read shows it: numbered lines up to a size, and where the
//! next page begins. Pure.

use super::units;
use crate::profile::{CharUnit, ReadLineFormat};
use std::borrow::Cow;
use std::ops::Range;

/// Where a page begins and how far it may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Start {
    /// The first line, from 1.
    pub line: u64,
    /// How many characters, in the layout's unit, of that line are left out.
    pub unit: u64,
    pub max_lines: Option<u64>,
}

/// Where the next page begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Next {
    pub line: u64,
    pub unit: u64,
    /// What remains of the lines that were asked for.
    pub max_lines: Option<u64>,
}

/// One page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    /// With line numbers.
    pub text: String,
    /// Without.
    pub content: String,
    pub first_line: u64,
    pub lines: u64,
    pub total_lines: u64,
    /// The bytes of the file that are shown, line ends between shown lines included.
    pub shown: Range<usize>,
    /// There, if the page ends for its size.
    pub next: Option<Next>,
    /// The length in units of the line that the page holds a piece of.
    pub piece_of_units: Option<u64>,
    pub has_invalid_utf8: bool,
}

/// What there is to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Paged {
    Empty,
    PastEnd { total_lines: u64 },
    Page(Page),
}

/// Room for a page that is no longer than most.
const ROOM_BYTES: usize = 16 * 1024;

/// How a page is laid out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub format: ReadLineFormat,
    /// Leaves out the carriage return before each line feed.
    pub hide_cr: bool,
    pub unit: CharUnit,
    /// In `unit`; a page holds at least one character whatever it is.
    pub budget: Option<u64>,
}

impl Layout {
    /// Puts what goes before line number `line` into `prefix`, in place of what is there.
    fn number(self, line: u64, prefix: &mut String) {
        prefix.clear();
        let mut digits = [b' '; 20];
        let mut at = digits.len();
        let mut rest = line;
        while at > 0 && (rest > 0 || at == digits.len()) {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        let (from, end) = match self.format {
            ReadLineFormat::NumberTab => (at, '\t'),
            ReadLineFormat::PaddedArrow => (at.min(digits.len() - 6), '→'),
        };
        prefix.extend(digits[from..].iter().map(|b| char::from(*b)));
        prefix.push(end);
    }
}

/// A line of a content, or what is left of it.
struct Line {
    number: u64,
    /// The first byte to show.
    start: usize,
    /// Where what is shown of it ends, a hidden carriage return left out.
    visible: usize,
    /// Where it ends, its line feed left out.
    end: usize,
    is_last: bool,
    /// How many characters before `start` belong to it.
    skipped: u64,
}

impl Line {
    /// The line that begins at byte `at`, less its first `skip` characters; an error if
    /// that leaves nothing of it.
    fn at(content: &[u8], number: u64, at: usize, skip: u64, layout: Layout) -> Result<Line, Line> {
        let end = memchr::memchr(b'\n', &content[at..]).map_or(content.len(), |i| at + i);
        let is_last = end == content.len();
        let visible = visible_end(content, at, end, is_last, layout.hide_cr);
        let (bytes, skipped) = bytes_of_units(layout.unit, &content[at..visible], skip);
        let line = Line {
            number,
            start: at + bytes,
            visible,
            end,
            is_last,
            skipped,
        };
        if skip > 0 && line.start >= visible {
            Err(line)
        } else {
            Ok(line)
        }
    }

    /// The next line; there is one unless this is the last.
    fn following(&self, content: &[u8], layout: Layout) -> Line {
        match Line::at(content, self.number + 1, self.end + 1, 0, layout) {
            Ok(line) | Err(line) => line,
        }
    }

    fn bytes<'a>(&self, content: &'a [u8]) -> &'a [u8] {
        &content[self.start..self.visible]
    }

    /// Where it ends with its line feed, if it has one.
    fn whole_end(&self) -> usize {
        if self.is_last { self.end } else { self.end + 1 }
    }
}

/// The page of `content` (without a byte order mark; `skipped` bytes of one came
/// before it) that begins at `from`. A line end at the very end gives one more, empty line.
pub(super) fn page(content: &[u8], skipped: usize, from: Start, layout: Layout) -> Paged {
    if content.is_empty() {
        return Paged::Empty;
    }
    let total_lines = 1 + memchr::memchr_iter(b'\n', content).count() as u64;
    if from.line > total_lines {
        return Paged::PastEnd { total_lines };
    }
    let at = line_start(content, from.line);
    let mut line = match Line::at(content, from.line, at, from.unit, layout) {
        Ok(line) => line,
        Err(line) if line.is_last => return Paged::PastEnd { total_lines },
        // All of this line was left out.
        Err(line) => line.following(content, layout),
    };
    let room = content.len().min(ROOM_BYTES);
    let mut page = Page {
        text: String::with_capacity(room),
        content: String::with_capacity(room),
        first_line: line.number,
        lines: 0,
        total_lines,
        shown: line.start..line.start,
        next: None,
        piece_of_units: None,
        has_invalid_utf8: false,
    };
    let mut used = 0;
    let mut prefix = String::new();
    loop {
        layout.number(line.number, &mut prefix);
        let shown = first_piece(layout.unit, line.bytes(content), u64::MAX);
        let room = layout.budget.map_or(u64::MAX, |all| {
            let separator = u64::from(page.lines > 0);
            all.saturating_sub(used + separator + units::count(layout.unit, &prefix))
        });
        let chars = units::count(layout.unit, &shown.text);
        if chars > room || (room == 0 && page.lines > 0) {
            if page.lines > 0 {
                page.next = Some(Next {
                    line: line.number,
                    unit: 0,
                    max_lines: from.max_lines.map(|max| max - page.lines),
                });
            } else {
                let piece = first_piece(layout.unit, line.bytes(content), room.max(1));
                page.add(&line, &prefix, &piece);
                page.cut(&line, &piece, chars, from, layout);
            }
            break;
        }
        page.add(&line, &prefix, &shown);
        page.shown.end = line.whole_end();
        if line.skipped > 0 {
            page.piece_of_units = Some(line.skipped + chars);
        }
        if line.is_last || from.max_lines.is_some_and(|max| page.lines >= max) {
            break;
        }
        used = layout
            .budget
            .unwrap_or(0)
            .saturating_sub(room - chars.min(room));
        line = line.following(content, layout);
    }
    page.shown = page.shown.start + skipped..page.shown.end + skipped;
    Paged::Page(page)
}

impl Page {
    /// Puts a line, or the piece of it that is shown, at the end of the page.
    fn add(&mut self, line: &Line, prefix: &str, shown: &Shown<'_>) {
        if self.lines > 0 {
            self.text.push('\n');
            self.content.push('\n');
        }
        self.text.push_str(prefix);
        self.text.push_str(&shown.text);
        self.content.push_str(&shown.text);
        self.lines += 1;
        self.shown.end = line.start + shown.bytes;
        self.has_invalid_utf8 |= shown.invalid;
    }

    /// Says where the page goes on after a piece of a line that has `chars` characters left.
    fn cut(&mut self, line: &Line, piece: &Shown<'_>, chars: u64, from: Start, layout: Layout) {
        self.piece_of_units = Some(line.skipped + chars);
        let is_rest = line.start + piece.bytes >= line.visible;
        if is_rest {
            self.shown.end = line.whole_end();
        }
        self.next = match (is_rest, line.is_last) {
            (true, true) => None,
            (true, false) if from.max_lines == Some(1) => None,
            (true, false) => Some(Next {
                line: line.number + 1,
                unit: 0,
                max_lines: from.max_lines.map(|max| max - 1),
            }),
            (false, _) => Some(Next {
                line: line.number,
                unit: line.skipped + units::count(layout.unit, &piece.text),
                max_lines: from.max_lines,
            }),
        };
    }
}

/// The byte at which line number `line` begins; it exists.
fn line_start(content: &[u8], line: u64) -> usize {
    if line <= 1 {
        return 0;
    }
    memchr::memchr_iter(b'\n', content)
        .nth((line - 2) as usize)
        .map_or(content.len(), |at| at + 1)
}

/// Where the visible part of the line `at..end` ends.
fn visible_end(content: &[u8], at: usize, end: usize, is_last: bool, hide_cr: bool) -> usize {
    if hide_cr && !is_last && end > at && content[end - 1] == b'\r' {
        end - 1
    } else {
        end
    }
}

/// Bytes as the model is shown them: what is not UTF-8 becomes U+FFFD.
struct Shown<'a> {
    text: Cow<'a, str>,
    bytes: usize,
    invalid: bool,
}

/// The longest beginning of `bytes` that has at most `most` units as shown, and at
/// least one character.
fn first_piece(unit: CharUnit, bytes: &[u8], most: u64) -> Shown<'_> {
    // No byte is shown as more than one unit.
    if bytes.len() as u64 <= most
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return Shown {
            text: Cow::Borrowed(text),
            bytes: bytes.len(),
            invalid: false,
        };
    }
    let mut text = String::new();
    let mut shown = Shown {
        text: Cow::Borrowed(""),
        bytes: 0,
        invalid: false,
    };
    let mut left = most;
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid();
        let taken = units::head(unit, valid, left);
        let taken = match valid.chars().next() {
            Some(c) if taken.is_empty() && shown.bytes == 0 => &valid[..c.len_utf8()],
            _ => taken,
        };
        text.push_str(taken);
        shown.bytes += taken.len();
        left = left.saturating_sub(units::count(unit, taken));
        if taken.len() < valid.len() {
            break;
        }
        let invalid = chunk.invalid();
        if !invalid.is_empty() {
            if left == 0 && shown.bytes > 0 {
                break;
            }
            text.push('\u{FFFD}');
            shown.bytes += invalid.len();
            shown.invalid = true;
            left = left.saturating_sub(1);
        }
    }
    shown.text = Cow::Owned(text);
    shown
}

/// The longest beginning of a line that is shown as at most `most` units: its bytes,
/// and its units.
fn bytes_of_units(unit: CharUnit, line: &[u8], most: u64) -> (usize, u64) {
    if most == 0 {
        return (0, 0);
    }
    if most >= line.len() as u64 {
        // No byte is shown as more than one unit.
        return (line.len(), most);
    }
    let mut left = most;
    let mut bytes = 0;
    for chunk in line.utf8_chunks() {
        let taken = units::head(unit, chunk.valid(), left);
        bytes += taken.len();
        left -= units::count(unit, taken);
        if taken.len() < chunk.valid().len() || chunk.invalid().is_empty() || left == 0 {
            break;
        }
        bytes += chunk.invalid().len();
        left -= 1;
    }
    (bytes, most - left)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(budget: u64) -> Layout {
        Layout {
            format: ReadLineFormat::NumberTab,
            hide_cr: false,
            unit: CharUnit::Utf16,
            budget: Some(budget),
        }
    }

    fn from(line: u64, unit: u64) -> Start {
        Start {
            line,
            unit,
            max_lines: None,
        }
    }

    fn shown(content: &str, from: Start, budget: u64) -> Page {
        match page(content.as_bytes(), 0, from, layout(budget)) {
            Paged::Page(page) => page,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_last_line_end_gives_one_more_line() {
        let page = shown("a\nb\n", from(1, 0), 100);
        assert_eq!(page.text, "1\ta\n2\tb\n3\t");
        assert_eq!((page.lines, page.total_lines, page.next), (3, 3, None));
        assert_eq!(page.shown, 0..4);
        assert_eq!(shown("a\nb", from(2, 0), 100).text, "2\tb");
    }

    #[test]
    fn a_page_ends_before_the_line_that_does_not_fit() {
        // "1\tab" has 4 units, the next line with its line feed 5.
        let page = shown("ab\ncd\n", from(1, 0), 8);
        assert_eq!(page.text, "1\tab");
        assert_eq!(page.next.map(|n| (n.line, n.unit)), Some((2, 0)));
        assert_eq!(page.shown, 0..3);
        assert_eq!(shown("ab\ncd\n", from(1, 0), 9).lines, 2);
    }

    #[test]
    fn a_long_line_comes_in_pieces() {
        let content = "x\n0123456789\nz";
        let first = shown(content, from(2, 0), 6);
        assert_eq!(first.text, "2\t0123");
        assert_eq!(first.next.map(|n| (n.line, n.unit)), Some((2, 4)));
        assert_eq!(first.piece_of_units, Some(10));
        let last = shown(content, from(2, 8), 6);
        assert_eq!(last.text, "2\t89");
        assert_eq!(last.next.map(|n| (n.line, n.unit)), Some((3, 0)));
        assert_eq!(last.shown, 10..13);
        // A piece that ends with its line goes on in the next one.
        let exact = shown(content, from(2, 6), 6);
        assert_eq!(exact.text, "2\t6789");
        assert_eq!(exact.next.map(|n| (n.line, n.unit)), Some((3, 0)));
    }

    #[test]
    fn a_character_is_never_split_and_never_stops_progress() {
        let page = shown("😀😀", from(1, 0), 1);
        assert_eq!(page.text, "1\t😀");
        assert_eq!(page.next.map(|n| n.unit), Some(2));
        // An offset inside a character begins with that character.
        assert_eq!(shown("😀😀", from(1, 1), 100).content, "😀😀");
        assert_eq!(shown("😀😀", from(1, 2), 100).content, "😀");
    }

    #[test]
    fn invalid_bytes_are_one_character_each() {
        let Paged::Page(page) = page(b"a\xFFb\xFE", 0, from(1, 2), layout(100)) else {
            panic!("no page");
        };
        assert_eq!(page.content, "b\u{FFFD}");
        assert!(page.has_invalid_utf8);
        assert_eq!(page.shown, 2..4);
    }

    #[test]
    fn past_the_end_is_told() {
        assert_eq!(
            page(b"a\n", 0, from(3, 0), layout(9)),
            Paged::PastEnd { total_lines: 2 }
        );
        assert_eq!(
            page(b"abc", 0, from(1, 3), layout(9)),
            Paged::PastEnd { total_lines: 1 }
        );
        assert_eq!(page(b"", 0, from(1, 0), layout(9)), Paged::Empty);
        // Past the end of one line is the beginning of the next.
        assert_eq!(shown("abc\nd", from(1, 9), 9).text, "2\td");
    }
}
