//! The world that a call meets in a replay: what earlier lines tell of its file, and
//! where they do not reach, what its own result supplies.

use super::canvas::Canvas;
use crate::recording::edit_effect::{Replacement, lines_before};
use crate::recording::text::line_feeds;
use crate::recording::{Agreement, Before, Evidence, Known, KnownLines, RecordedEnding, tool_name};
use crate::words::Class;
use std::sync::Arc;

/// The file of a call as it is put into the world before the call runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    Absent,
    Text(Arc<str>),
}

/// What a call stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ground {
    /// Earlier lines tell all that matters for it.
    Known(Content),
    /// Its own result supplies the world, or a part of it.
    Supplied(Content),
    /// No line tells enough for it to run: the tool is served from the recording, from
    /// its validation on.
    Unknown,
    /// It is not about the content of a file, or must not run: the tool itself is served
    /// from the recording, on this file if there is one.
    Served(Option<Content>),
}

/// The ground of a call of a file tool that ended so.
pub(super) fn ground(
    tool: &str,
    ending: &RecordedEnding,
    known: Option<&Known>,
    evidence: &Evidence<'_>,
    replacements: &[Replacement<'_>],
) -> Ground {
    use Class::*;
    match (ending.class, tool_name::canonical(tool)) {
        // These end before the world is looked at.
        (UnknownTool | UnparsableInput | InvalidInput | NoChange, _) => {
            Ground::Known(as_known(known).unwrap_or(Content::Absent))
        }
        (
            DeniedUser | DeniedRule | DeniedMode | DeniedHook | DeniedClassifier | Interrupted
            | CancelledSibling | HookStopped | Deferred | Internal | Timeout,
            tool,
        ) => {
            match (tool, known) {
                (_, Some(Known::Whole(text))) => Ground::Served(Some(Content::Text(text.clone()))),
                (_, Some(Known::Absent)) => Ground::Served(Some(Content::Absent)),
                // Read demands nothing of a file before it runs, Write nothing of a missing one.
                ("Read" | "Write", None) => Ground::Served(Some(Content::Absent)),
                _ => Ground::Unknown,
            }
        }
        (NotFound, _) => match as_known(known) {
            Some(content) => Ground::Known(content),
            None => Ground::Supplied(Content::Absent),
        },
        (NotRead | Exists, _) => match as_known(known) {
            Some(content) => Ground::Known(content),
            // That it is there is told by the refusal.
            None => Ground::Supplied(Content::Text("".into())),
        },
        (Ok, "Read") => read(known, evidence),
        (Ok, "Write") => write(known, evidence),
        (Ok, _) => edit(known, evidence, replacements),
        (Ambiguous, _) => match known {
            Some(Known::Part(lines)) if !stands_twice(lines, replacements) => Ground::Unknown,
            _ => as_known(known).map_or(Ground::Unknown, Ground::Known),
        },
        // What does not stand in a part may stand in the rest.
        _ => match known {
            Some(Known::Part(_)) | None => Ground::Unknown,
            _ => as_known(known).map_or(Ground::Unknown, Ground::Known),
        },
    }
}

/// The known file, lines of which nothing is known left empty.
fn as_known(known: Option<&Known>) -> Option<Content> {
    Some(match known? {
        Known::Absent => Content::Absent,
        Known::Whole(text) => Content::Text(text.clone()),
        part @ Known::Part(lines) => {
            let mut canvas = Canvas::new(lines.total().unwrap_or(0));
            canvas.draw_known(part);
            Content::Text(canvas.text())
        }
    })
}

fn read(known: Option<&Known>, evidence: &Evidence<'_>) -> Ground {
    let Some(shown) = evidence.shown() else {
        // An image, a notebook, a notice: there is no text to put there.
        return match known {
            Some(Known::Whole(_)) => as_known(known).map_or(Ground::Unknown, Ground::Known),
            _ => Ground::Unknown,
        };
    };
    let by_its_own = || {
        let mut canvas = Canvas::new(shown.total.unwrap_or(0));
        if shown.lines > 0 {
            canvas.draw(shown.first_line, shown.content);
        }
        canvas
    };
    match known {
        Some(part @ Known::Part(_)) => match part.agrees(shown) {
            Agreement::Same => as_known(known).map_or(Ground::Unknown, Ground::Known),
            // What was known stands, also where the result shows something else.
            _ => {
                let mut canvas = by_its_own();
                canvas.draw_known(part);
                Ground::Supplied(Content::Text(canvas.text()))
            }
        },
        Some(_) => as_known(known).map_or(Ground::Unknown, Ground::Known),
        None if shown.is_whole() => Ground::Supplied(Content::Text(shown.content.into())),
        None => Ground::Supplied(Content::Text(by_its_own().text())),
    }
}

fn write(known: Option<&Known>, evidence: &Evidence<'_>) -> Ground {
    let Evidence::Written { before, .. } = evidence else {
        return Ground::Unknown;
    };
    match known {
        Some(Known::Absent | Known::Whole(_)) => {
            as_known(known).map_or(Ground::Unknown, Ground::Known)
        }
        part => Ground::Supplied(match before {
            Before::Whole(text) => over(text, part),
            Before::Absent => match as_known(part) {
                Some(content) => content,
                None => Content::Absent,
            },
            Before::Present => as_known(part).unwrap_or(Content::Text("".into())),
            Before::Untold => as_known(part).unwrap_or(Content::Absent),
        }),
    }
}

/// A text with what is known drawn over it.
fn over(text: &str, known: Option<&Known>) -> Content {
    let text = line_feeds(text);
    match known {
        Some(part @ Known::Part(_)) => {
            let mut canvas = Canvas::new(0);
            canvas.draw(1, &text);
            canvas.draw_known(part);
            Content::Text(canvas.text())
        }
        _ => Content::Text(text.into()),
    }
}

fn edit(
    known: Option<&Known>,
    evidence: &Evidence<'_>,
    replacements: &[Replacement<'_>],
) -> Ground {
    let Evidence::Edited { before, hunks, .. } = evidence else {
        return Ground::Unknown;
    };
    if let Some(Known::Absent | Known::Whole(_)) = known {
        return as_known(known).map_or(Ground::Unknown, Ground::Known);
    }
    let creates = replacements
        .first()
        .is_some_and(|first| first.old.is_empty());
    match before {
        Some(text) if creates && text.is_empty() => Ground::Supplied(Content::Absent),
        Some(text) => Ground::Supplied(over(text, known)),
        None if creates => Ground::Supplied(Content::Absent),
        None => match replacements {
            [only] => by_patch(known, hunks, only),
            _ => Ground::Unknown,
        },
    }
}

/// The file as far as the patch and earlier lines show it.
fn by_patch(
    known: Option<&Known>,
    hunks: &[crate::recording::edit_effect::Hunk<'_>],
    replacement: &Replacement<'_>,
) -> Ground {
    let Some(runs) = lines_before(hunks, replacement) else {
        return Ground::Unknown;
    };
    let total = match known {
        Some(Known::Part(lines)) => lines.total().unwrap_or(0),
        _ => 0,
    };
    let mut canvas = Canvas::new(total);
    for (first, text) in &runs {
        canvas.draw(*first, text);
    }
    if let Some(known) = known {
        canvas.draw_known(known);
    }
    Ground::Supplied(Content::Text(canvas.text()))
}

/// Whether the known lines alone hold the text of an edit more than once.
fn stands_twice(lines: &KnownLines, replacements: &[Replacement<'_>]) -> bool {
    replacements.iter().any(|replacement| {
        let places = lines
            .runs()
            .map(|(_, text)| text.matches(&*replacement.old).count());
        !replacement.old.is_empty() && places.sum::<usize>() > 1
    })
}
