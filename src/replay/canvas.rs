//! A file drawn from the lines that are known of it; lines of which nothing is known
//! stay empty.

use crate::recording::Known;
use crate::recording::text::lines;
use std::sync::Arc;

/// The most lines that are drawn: a recorded number of lines is a stranger's number.
const LINES_MAX: u32 = 5_000_000;

/// Lines of a file, some drawn.
#[derive(Debug, Default)]
pub(super) struct Canvas<'t> {
    lines: Vec<Option<&'t str>>,
}

impl<'t> Canvas<'t> {
    /// A file of `total` lines; an empty last line counts.
    pub fn new(total: u32) -> Canvas<'t> {
        Canvas {
            lines: vec![None; total.min(LINES_MAX) as usize],
        }
    }

    /// Draws lines from line `first` on (1 is the first), over what was drawn before.
    pub fn draw(&mut self, first: u32, text: &'t str) {
        let Some(start) = first.checked_sub(1).filter(|start| *start < LINES_MAX) else {
            return;
        };
        for (at, line) in (start as usize..LINES_MAX as usize).zip(lines(text)) {
            if at >= self.lines.len() {
                self.lines.resize(at + 1, None);
            }
            self.lines[at] = Some(line);
        }
    }

    /// Draws what is known.
    pub fn draw_known(&mut self, known: &'t Known) {
        match known {
            Known::Absent => {}
            Known::Whole(text) => self.draw(1, text),
            Known::Part(lines) => {
                for (first, text) in lines.runs() {
                    self.draw(first, text);
                }
            }
        }
    }

    /// The file's text.
    pub fn text(&self) -> Arc<str> {
        let lines: Vec<&str> = self.lines.iter().map(|line| line.unwrap_or("")).collect();
        lines.join("\n").into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_strokes_cover_earlier_ones() {
        let mut canvas = Canvas::new(4);
        canvas.draw(2, "b\nc");
        canvas.draw(3, "C");
        assert_eq!(&*canvas.text(), "\nb\nC\n");
        canvas.draw(6, "f");
        assert_eq!(&*canvas.text(), "\nb\nC\n\n\nf");
    }

    #[test]
    fn numbers_out_of_the_world_draw_nothing() {
        let mut canvas = Canvas::new(1);
        canvas.draw(0, "x");
        canvas.draw(u32::MAX, "x");
        assert_eq!(&*canvas.text(), "");
    }
}
