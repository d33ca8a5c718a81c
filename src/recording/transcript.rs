//! Session transcripts: JSONL, one content block a line (`semantics.md §7`,
//! `observed.md §4.9`).

use super::builder::Builder;
use super::format::{Container, Format};
use super::line::Line;
use super::note::Notes;
use super::recorded::Recording;
use super::source::Source;
use super::{array, lines};

/// Reads a session's transcript.
pub(super) fn read<'a>(source: &'a Source<'_>) -> Recording<'a> {
    entries(source, Format::Transcript)
}

/// Reads entries that are transcript lines or stream-json events, however they are
/// kept together.
pub(super) fn entries<'a>(source: &'a Source<'_>, format: Format) -> Recording<'a> {
    let mut builder = Builder::new(format);
    let mut notes = Notes::default();
    let text = &*source.text;
    match source.container {
        Container::Lines | Container::Yaml => {
            lines::each_object(text, &mut notes, |number, line: Line, notes: &mut Notes| {
                builder.entry(file_line(source, number), line, notes);
            })
        }
        Container::Array { at } => {
            let mut elements = array::objects::<super::raw::Object<Line>>(text, at);
            for element in elements.by_ref() {
                notes.lines += 1;
                if let Some(line) = element.value.0 {
                    builder.entry(element.line, line, &mut notes);
                }
            }
            elements.complain(&mut notes);
        }
    }
    builder.finish(source, notes)
}

/// The line of the file for a line of the source's text.
pub(super) fn file_line(source: &Source<'_>, number: u32) -> u32 {
    match &source.file_lines {
        Some(lines) => lines
            .get(number.saturating_sub(1) as usize)
            .copied()
            .unwrap_or(number),
        None => number,
    }
}
