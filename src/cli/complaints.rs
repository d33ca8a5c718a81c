//! Complaints about files, with the lines they are about.

use crate::scenario::{Complaint, Severity, SourceText};
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// Columns that a complaint may take.
const COLUMNS: usize = 110;

/// A complaint with its lines, or on one line if its file is not at hand.
pub fn render(complaint: &Complaint, sources: &[SourceText], color: bool) -> String {
    let place = &complaint.place;
    let (from, to) = (place.bytes.0 as usize, place.bytes.1 as usize);
    let source = sources.iter().find(|source| source.file == place.file);
    let Some(source) = source.filter(|s| !s.text.is_empty() && s.text.get(from..to).is_some())
    else {
        return complaint.to_string();
    };
    let level = match complaint.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mark = AnnotationKind::Primary.span(from..to);
    let mark = match complaint.path.as_str() {
        "" => mark,
        path => mark.label(path),
    };
    let title = complaint.title();
    let mut group = level.primary_title(&*title).element(
        Snippet::source(&*source.text)
            .path(&*source.file)
            .annotation(mark),
    );
    if let Some(hint) = &complaint.hint {
        group = group.element(Level::HELP.with_name("hint").message(&**hint));
    }
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    renderer.term_width(COLUMNS).render(&[group])
}
