//! What went over the SDK's standard input and output, as its tests keep it: a list
//! of stream-json events, bare (in YAML) or each with the direction it went (in JSON).

use super::builder::Builder;
use super::format::{Container, Format};
use super::line::Line;
use super::note::Notes;
use super::raw::{Object, Str, lenient_object};
use super::recorded::Recording;
use super::source::Source;
use super::{array, lines, transcript};

lenient_object! {
    /// An event and the direction it went.
    Captured {
        direction: Str<'a> = "direction",
        message: Object<Line<'a>> = "message",
    }
}

impl<'a> lines::Object<'a> for Captured<'a> {
    fn is_known(&self) -> bool {
        self.message.0.is_some()
    }

    fn is_outermost(&self) -> bool {
        self.direction.0.is_some()
    }
}

/// Reads a capture.
pub(super) fn read<'a>(source: &'a Source<'_>) -> Recording<'a> {
    let text = &*source.text;
    let mut notes = Notes::default();
    let mut builder = Builder::new(Format::SdkCapture);
    match source.container {
        Container::Yaml => transcript::entries(source, Format::SdkCapture),
        Container::Lines => {
            lines::each_object(
                text,
                &mut notes,
                |number, captured: Captured, notes: &mut Notes| {
                    if let Some(line) = captured.message.0 {
                        builder.entry(number, line, notes);
                    }
                },
            );
            builder.finish(source, notes)
        }
        Container::Array { at } => {
            let mut elements = array::objects::<Object<Captured>>(text, at);
            for element in elements.by_ref() {
                notes.lines += 1;
                let captured = element.value.0.unwrap_or_default();
                if let Some(line) = captured.message.0 {
                    builder.entry(element.line, line, &mut notes);
                }
            }
            elements.complain(&mut notes);
            builder.finish(source, notes)
        }
    }
}
