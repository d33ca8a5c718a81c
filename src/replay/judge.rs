//! Holds what a replay made of a call against what its recording says.

use super::ground::Content;
use super::stage::Performed;
use super::verdict::Cause;
use crate::recording::edit_effect::{all_replaced, patch_fits};
use crate::recording::text::{line_feeds, lines};
use crate::recording::{Before, Evidence, Known, RecordedCall, RecordedEnding};
use crate::tools::units::lossy;
use crate::words::{Class, Flag, Step};
use std::borrow::Cow;
use std::sync::Arc;

/// How much of a differing value is shown, in characters.
const SHOWN_CHARS: usize = 80;
/// What stands in shared recordings where a secret stood.
const REDACTED: &str = "REDACTED";

/// Everything that a call is judged by.
pub(super) struct Case<'r, 'a> {
    pub call: &'r RecordedCall<'a>,
    pub ending: &'r RecordedEnding,
    pub evidence: &'r Evidence<'a>,
    pub performed: &'r Performed,
    /// What the file of the call held before it.
    pub before: Option<Content>,
    /// Whether the tool itself ran.
    pub executes: bool,
    /// What earlier lines tell of the file.
    pub known: Option<&'r Known>,
    /// Whether the file was known from earlier lines, and then whether a call that may
    /// change anything ended since.
    pub opaque: Option<bool>,
}

/// The first difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Difference {
    pub path: &'static str,
    pub recorded: String,
    pub replayed: String,
}

impl Difference {
    fn of(path: &'static str, recorded: impl ToString, replayed: impl ToString) -> Difference {
        Difference {
            path,
            recorded: recorded.to_string(),
            replayed: replayed.to_string(),
        }
    }
}

impl Case<'_, '_> {
    /// The first place where the two differ: class, flags that both can bear, payload.
    pub fn difference(&self) -> Option<Difference> {
        let ours = &self.performed.finished.outcome;
        if ours.class != self.ending.class {
            return Some(Difference::of("class", self.ending.class, ours.class));
        }
        for flag in [Flag::Persisted, Flag::Unchanged] {
            let (recorded, replayed) = (
                self.ending.flags.contains(&flag),
                ours.flags.contains(&flag),
            );
            if recorded != replayed && self.compares(flag) {
                return Some(Difference::of(
                    "flags",
                    said(flag, recorded),
                    said(flag, replayed),
                ));
            }
        }
        if ours.class != Class::Ok || !self.executes {
            return None;
        }
        match self.evidence {
            Evidence::Shown { .. } => self.read_difference(),
            Evidence::Edited { .. } => self.edit_difference(),
            Evidence::Written { .. } => self.write_difference(),
            _ => None,
        }
    }

    /// Whether the two can be held against each other in this flag.
    fn compares(&self, flag: Flag) -> bool {
        match flag {
            Flag::Persisted => super::served::has_whole_output(self.call),
            _ => true,
        }
    }

    fn read_difference(&self) -> Option<Difference> {
        let shown = self.evidence.shown()?;
        let file = &self.performed.finished.outcome.data.as_ref()?["file"];
        let number = |key: &str| file[key].as_u64().unwrap_or(0);
        let content = file["content"].as_str().unwrap_or("");
        let (first, lines, total) = (
            number("startLine"),
            number("numLines"),
            number("totalLines"),
        );
        // An empty file has one line or none.
        if shown.content.is_empty() && content.is_empty() && shown.lines <= 1 && lines <= 1 {
            return None;
        }
        if content != shown.content {
            return Some(text_difference("file.content", shown.content, content));
        }
        let numbers = [
            ("file.startLine", u64::from(shown.first_line), first),
            ("file.numLines", u64::from(shown.lines), lines),
            (
                "file.totalLines",
                shown.total.map_or(total, u64::from),
                total,
            ),
        ];
        let differing = numbers
            .into_iter()
            .find(|(_, recorded, replayed)| recorded != replayed);
        differing.map(|(path, recorded, replayed)| Difference::of(path, recorded, replayed))
    }

    fn before_text(&self) -> Option<&Arc<str>> {
        match &self.before {
            Some(Content::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn after_text(&self) -> Cow<'_, str> {
        let bytes = self.performed.file.as_deref().unwrap_or(&[]);
        match lossy(bytes) {
            Cow::Borrowed(text) => line_feeds(text),
            Cow::Owned(text) => Cow::Owned(line_feeds(&text).into_owned()),
        }
    }

    fn edit_difference(&self) -> Option<Difference> {
        let Evidence::Edited {
            before,
            replacements,
            hunks,
            ..
        } = self.evidence
        else {
            return None;
        };
        let ours = self.after_text();
        let met = self.before_text();
        if let Some(recorded) = before {
            let recorded = line_feeds(recorded);
            let met = met.map_or("", |met| met);
            if recorded != met {
                return Some(text_difference("originalFile", &recorded, met));
            }
            let expected = all_replaced(&recorded, replacements)
                .filter(|expected| patch_fits(hunks, None, Some(expected)));
            if let Some(expected) = expected {
                return (expected != ours).then(|| text_difference("file", &expected, &ours));
            }
        }
        let met = met.map(|met| &**met);
        if patch_fits(hunks, met, Some(&ours)) {
            return None;
        }
        let recorded: Vec<&str> = hunks
            .iter()
            .flat_map(|hunk| &hunk.lines)
            .map(|l| &**l)
            .collect();
        Some(Difference::of(
            "structuredPatch",
            shorten(&recorded.join("\n")),
            "a file that the patch does not fit",
        ))
    }

    fn write_difference(&self) -> Option<Difference> {
        let Evidence::Written {
            before, content, ..
        } = self.evidence
        else {
            return None;
        };
        let met = self.before_text().map_or("", |met| met);
        let there = self.before_text().is_some();
        match before {
            Before::Absent if there => return Some(Difference::of("type", "create", "update")),
            Before::Present | Before::Whole(_) if !there => {
                return Some(Difference::of("type", "update", "create"));
            }
            Before::Whole(recorded) => {
                let recorded = line_feeds(recorded);
                if recorded != met {
                    return Some(text_difference("originalFile", &recorded, met));
                }
            }
            _ => {}
        }
        let (recorded, ours) = (line_feeds(content), self.after_text());
        (recorded != ours).then(|| text_difference("content", &recorded, &ours))
    }

    /// Why the two differ.
    pub fn cause(&self, difference: &Difference) -> Cause {
        let (recorded, ours) = (self.ending.class, self.performed.finished.outcome.class);
        let either = |class: Class| recorded == class || ours == class;
        let denied = [
            Class::DeniedRule,
            Class::DeniedMode,
            Class::DeniedHook,
            Class::DeniedClassifier,
            Class::DeniedUser,
        ];
        if difference.path == "class" {
            if either(Class::UnknownTool) {
                return Cause::ToolsChanged;
            }
            if denied.into_iter().any(either) {
                return Cause::UnknownSettings;
            }
            if either(Class::NotRead) {
                return Cause::ReadState;
            }
            if either(Class::InvalidInput) || either(Class::UnparsableInput) {
                return match self.performed.finished.step {
                    Step::Parse => Cause::Schema,
                    _ => Cause::Unsupported,
                };
            }
        }
        if self.is_redacted() {
            return Cause::Redacted;
        }
        match self.opaque {
            Some(true) if self.world_differs(difference) => Cause::OpaqueBetween,
            Some(false) if self.world_differs(difference) => Cause::UnseenChange,
            _ => Cause::Semantics,
        }
    }

    /// Whether the difference lies in what the call met, not in what was made of it.
    fn world_differs(&self, difference: &Difference) -> bool {
        if let (Some(known), Evidence::Edited { hunks, .. }) = (self.known, self.evidence)
            && known.differs_from(hunks).is_some()
        {
            return true;
        }
        // What stood there once for the recorded runtime stands twice among what is known.
        let ours = self.performed.finished.outcome.class;
        if (self.ending.class, ours) == (Class::Ok, Class::Ambiguous) {
            return true;
        }
        match difference.path {
            "originalFile" | "type" | "file.content" | "file.totalLines" | "file.startLine"
            | "file.numLines" => true,
            "structuredPatch" => self
                .before_text()
                .is_some_and(|met| matches!(self.evidence, Evidence::Edited { hunks, .. } if !patch_fits(hunks, Some(met), None))),
            "class" => match self.evidence {
                Evidence::Edited {
                    before: Some(recorded),
                    ..
                } => self.before_text().is_none_or(|met| *line_feeds(recorded) != **met),
                Evidence::Edited { hunks, .. } if !hunks.is_empty() => self
                    .before_text()
                    .is_none_or(|met| !patch_fits(hunks, Some(met), None)),
                _ => true,
            },
            _ => false,
        }
    }

    /// Whether a redacted text stands in the input or in what the call met.
    fn is_redacted(&self) -> bool {
        self.call.input.get().contains(REDACTED)
            || self.before_text().is_some_and(|met| met.contains(REDACTED))
    }
}

fn said(flag: Flag, is_there: bool) -> String {
    match is_there {
        true => flag.to_string(),
        false => format!("not {flag}"),
    }
}

/// The first line in which two texts differ.
fn text_difference(path: &'static str, recorded: &str, replayed: &str) -> Difference {
    let (mut ours, mut theirs) = (lines(replayed), lines(recorded));
    let mut line = 0;
    loop {
        line += 1;
        let shown = |text: Option<&str>| match text {
            Some(text) => format!("line {line}: {}", shorten(text)),
            None => format!("line {line} is not there"),
        };
        match (theirs.next(), ours.next()) {
            (None, None) => return Difference::of(path, "", ""),
            (theirs, ours) if theirs != ours => {
                return Difference::of(path, shown(theirs), shown(ours));
            }
            _ => {}
        }
    }
}

fn shorten(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_differ_where_their_first_lines_do() {
        let difference = text_difference("file", "a\nb\nc", "a\nB");
        assert_eq!(difference.recorded, "line 2: b");
        assert_eq!(difference.replayed, "line 2: B");
        let difference = text_difference("file", "a\nb", "a");
        assert_eq!(difference.replayed, "line 2 is not there");
    }
}
