//! What the result of one call proves about files.

use super::classify::{RecordedEnding, ending};
use super::edit_effect::{Hunk, Replacement, hunks, replacements};
use super::known::ShownLines;
use super::numbered::numbered_lines;
use super::raw::{Raw, Str, lenient_object};
use super::recorded::RecordedCall;
use super::structured::Structured;
use super::text::line_count;
use super::tool_name;
use super::world_path::Folders;
use crate::words::{Class, Flag};
use std::borrow::Cow;

/// The most lines that a Read without a range is sure to have shown all of, where the
/// result does not say how many there are (`semantics.md §3.2`).
const WHOLE_LINES_MAX: u32 = 2_000;

/// What a result proves. Paths are absolute and normal, line ends are line feeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence<'a> {
    /// Nothing about the content of any file.
    Nothing,
    /// These lines stand in the file.
    Shown {
        path: String,
        first_line: u32,
        lines: u32,
        content: Cow<'a, str>,
        /// How many lines the file has, if the result says it.
        total: Option<u32>,
    },
    /// The file was edited.
    Edited {
        path: String,
        /// The whole file before, if the result says it.
        before: Option<Cow<'a, str>>,
        replacements: Vec<Replacement<'a>>,
        hunks: Vec<Hunk<'a>>,
        /// The user changed what was written.
        user_modified: bool,
    },
    /// The file was written.
    Written {
        path: String,
        before: Before<'a>,
        content: Cow<'a, str>,
    },
    /// The file is not there.
    Missing { path: String },
    /// The file was changed in a way that the result does not tell.
    Changed { path: String },
    /// The runtime found the file to be another than the agent had seen.
    Stale { path: String },
    /// This text does not stand in the file.
    Without { path: String, text: Cow<'a, str> },
}

/// What a result says of the file before it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Before<'a> {
    Absent,
    Whole(Cow<'a, str>),
    /// It was there.
    Present,
    Untold,
}

lenient_object! {
    /// The inputs of file tools.
    Input {
        file_path: Str<'a> = "file_path",
        notebook_path: Str<'a> = "notebook_path",
        content: Str<'a> = "content",
        offset: Option<Raw<'a>> = "offset",
        limit: Option<Raw<'a>> = "limit",
    }
}

/// The file that a call is about, if it is a call of a file tool.
pub fn file_of(call: &RecordedCall<'_>, folders: &Folders) -> Option<String> {
    let tool = tool_name::canonical(&call.tool);
    if !matches!(
        tool,
        "Read" | "Write" | "Edit" | "MultiEdit" | "NotebookEdit"
    ) {
        return None;
    }
    let input: Input = call.input.read()?;
    let path = input.file_path.0.or(input.notebook_path.0)?;
    Some(folders.resolve(&path))
}

/// How a call ended, and what its result proves; `None` if it has none.
pub fn conclude<'a>(
    call: &RecordedCall<'a>,
    folders: &Folders,
) -> Option<(RecordedEnding, Evidence<'a>)> {
    let result = call.result.as_ref()?;
    let structured = Structured::of(result);
    let ending = ending(call, result, &structured);
    let evidence = evidence(call, &ending, structured, folders);
    Some((ending, evidence))
}

/// What the result of `call`, which ended so, proves.
fn evidence<'a>(
    call: &RecordedCall<'a>,
    ending: &RecordedEnding,
    structured: Structured<'a>,
    folders: &Folders,
) -> Evidence<'a> {
    let Some(path) = file_of(call, folders) else {
        return Evidence::Nothing;
    };
    match (ending.class, tool_name::canonical(&call.tool)) {
        (Class::NotFound, _) => Evidence::Missing { path },
        (Class::Stale, _) => Evidence::Stale { path },
        (Class::NoMatch, "Edit") => {
            match replacements(call.input).map(|all| all.into_iter().next()) {
                Some(Some(edit)) => Evidence::Without {
                    path,
                    text: edit.old,
                },
                _ => Evidence::Nothing,
            }
        }
        (Class::Ok, _) if ending.flags.contains(&Flag::Unchanged) => Evidence::Nothing,
        (Class::Ok, "Read") => read(call, structured, path),
        (Class::Ok, "Edit" | "MultiEdit") => edited(call, structured, path),
        (Class::Ok, "Write") => written(call, structured, path),
        (Class::Ok, "NotebookEdit") => Evidence::Changed { path },
        _ => Evidence::Nothing,
    }
}

fn read<'a>(call: &RecordedCall<'a>, result: Structured<'a>, path: String) -> Evidence<'a> {
    let structured = call.result.as_ref().and_then(|result| result.structured);
    let shown = match structured.filter(|raw| raw.is_object()) {
        Some(_) if result.kind.0.as_deref() == Some("text") => shown_by_structure(result, path),
        // An image, a notebook, a PDF: no text of a file.
        Some(_) => None,
        None => shown_by_text(call, path),
    };
    shown.unwrap_or(Evidence::Nothing)
}

fn shown_by_structure(result: Structured<'_>, path: String) -> Option<Evidence<'_>> {
    let file = result.file.0?;
    let content = file.content?.as_text()?;
    let number = |raw: Option<Raw<'_>>| raw?.parse::<u32>();
    let (lines, first, total) = (
        number(file.lines)?,
        number(file.first_line)?,
        number(file.total_lines)?,
    );
    // An empty file has one line, which is empty; versions differ in whether it counts.
    if content.is_empty() && lines <= 1 && total <= 1 {
        return Some(Evidence::Shown {
            path,
            first_line: 1,
            lines: 1,
            content,
            total: Some(1),
        });
    }
    let counted = line_count(&content);
    let consistent = match lines {
        0 => content.is_empty(),
        lines => lines == counted && first >= 1 && lines <= total.saturating_sub(first - 1),
    };
    consistent.then_some(Evidence::Shown {
        path,
        first_line: first,
        lines,
        content,
        total: Some(total),
    })
}

fn shown_by_text<'a>(call: &RecordedCall<'a>, path: String) -> Option<Evidence<'a>> {
    let result = call.result.as_ref()?;
    let lines = numbered_lines(&result.text())?;
    let input: Input = call.input.read()?;
    let whole = input.offset.is_none()
        && input.limit.is_none()
        && lines.first_line == 1
        && lines.lines < WHOLE_LINES_MAX;
    Some(Evidence::Shown {
        path,
        first_line: lines.first_line,
        lines: lines.lines,
        total: whole.then_some(lines.lines),
        content: Cow::Owned(lines.content),
    })
}

fn edited<'a>(call: &RecordedCall<'a>, result: Structured<'a>, path: String) -> Evidence<'a> {
    let Some(replacements) = replacements(call.input) else {
        return Evidence::Changed { path };
    };
    let text = |raw: Option<Raw<'a>>| raw.and_then(Raw::as_text);
    Evidence::Edited {
        path,
        before: text(result.original).or_else(|| text(result.original_of_many)),
        replacements,
        hunks: result.patch.and_then(hunks).unwrap_or_default(),
        user_modified: result.user_modified.0 == Some(true),
    }
}

fn written<'a>(call: &RecordedCall<'a>, result: Structured<'a>, path: String) -> Evidence<'a> {
    let input: Input = call.input.read().unwrap_or_default();
    let Some(content) = input.content.0 else {
        return Evidence::Changed { path };
    };
    let original = result.original.and_then(Raw::as_text);
    let before = match (result.kind.0.as_deref(), original) {
        (_, Some(original)) => Before::Whole(original),
        (Some("create"), None) => Before::Absent,
        (Some("update"), None) => Before::Present,
        _ => Before::Untold,
    };
    Evidence::Written {
        path,
        before,
        content,
    }
}

impl Evidence<'_> {
    /// The file that the evidence is about.
    pub fn path(&self) -> Option<&str> {
        match self {
            Evidence::Nothing => None,
            Evidence::Shown { path, .. }
            | Evidence::Edited { path, .. }
            | Evidence::Written { path, .. }
            | Evidence::Missing { path }
            | Evidence::Changed { path }
            | Evidence::Stale { path }
            | Evidence::Without { path, .. } => Some(path),
        }
    }

    /// The lines shown, if lines are.
    pub fn shown(&self) -> Option<ShownLines<'_>> {
        match self {
            Evidence::Shown {
                first_line,
                lines,
                content,
                total,
                ..
            } => Some(ShownLines {
                first_line: *first_line,
                lines: *lines,
                content,
                total: *total,
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Source, read as read_recording};

    fn check(tool: &str, input: &str, result: &str, look: impl FnOnce(Evidence<'_>)) {
        let text = format!(
            "{{\"type\":\"assistant\",\"sessionId\":\"s\",\"message\":{{\"content\":[{{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"{tool}\",\"input\":{input}}}]}}}}\n\
             {{\"type\":\"user\",\"sessionId\":\"s\",\"message\":{{\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t\",{result}}}"
        );
        let source = Source::new(text.as_bytes()).unwrap();
        let recording = read_recording(&source);
        let call = &recording.calls[0];
        let (_, evidence) = conclude(call, &Folders::of(Some("/w"))).unwrap();
        look(evidence);
    }

    #[test]
    fn reads_prove_the_lines_they_show() {
        let result = r#""content":"x"}]},"toolUseResult":{"type":"text","file":{"filePath":"a","content":"b\nc","numLines":2,"startLine":2,"totalLines":9}}"#;
        check(
            "Read",
            r#"{"file_path":"a","offset":2,"limit":2}"#,
            result,
            |evidence| {
                assert_eq!(evidence.path(), Some("/w/a"));
                let shown = evidence.shown().unwrap();
                assert_eq!(
                    (shown.first_line, shown.lines, shown.total),
                    (2, 2, Some(9))
                );
            },
        );
        let text = r#""content":"     1→a\n     2→\n\n<system-reminder>"}]}"#;
        check("Read", r#"{"file_path":"/a"}"#, text, |evidence| {
            assert!(evidence.shown().unwrap().is_whole());
        });
        check(
            "Read",
            r#"{"file_path":"/a","limit":2}"#,
            text,
            |evidence| {
                assert!(!evidence.shown().unwrap().is_whole());
            },
        );
    }

    #[test]
    fn numbers_that_do_not_fit_the_content_prove_nothing() {
        let result = r#""content":"x"}]},"toolUseResult":{"type":"text","file":{"content":"b\nc","numLines":3,"startLine":1,"totalLines":3}}"#;
        check("Read", r#"{"file_path":"a"}"#, result, |evidence| {
            assert_eq!(evidence, Evidence::Nothing);
        });
    }

    #[test]
    fn writes_prove_what_was_before() {
        let result = |kind: &str| format!(r#""content":"x"}}]}},"toolUseResult":{{{kind}}}"#);
        let input = r#"{"file_path":"a","content":"new"}"#;
        for (kind, expected) in [
            (r#""type":"create""#, Before::Absent),
            (
                r#""type":"update","originalFile":"old""#,
                Before::Whole("old".into()),
            ),
            (r#""type":"update""#, Before::Present),
            ("", Before::Untold),
        ] {
            check("Write", input, &result(kind), |evidence| {
                assert!(matches!(evidence, Evidence::Written { before, .. } if before == expected));
            });
        }
    }

    #[test]
    fn a_missing_file_is_known_to_be_missing() {
        let result = r#""is_error":true,"content":"<tool_use_error>File does not exist.</tool_use_error>"}]}"#;
        check("Read", r#"{"file_path":"a"}"#, result, |evidence| {
            assert_eq!(
                evidence,
                Evidence::Missing {
                    path: "/w/a".into()
                }
            );
        });
    }
}
