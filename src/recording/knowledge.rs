//! What the lines of a recording so far tell of the world.

use super::evidence::{Before, Evidence};
use super::known::{Agreement, Known, KnownLines, ShownLines};
use super::numbered::numbered_runs;
use super::recorded::Told;
use super::text::{find, line_count, line_feeds};
use super::world_path::Folders;
use std::collections::BTreeMap;

/// What is known of one file, and since when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFile {
    pub known: Known,
    /// The line of the recording that it rests on.
    pub line: u32,
    /// How many opaque calls had ended by then.
    opaque: u32,
}

/// The files of which something is known, by their absolute, normal paths.
#[derive(Debug, Clone, Default)]
pub struct Knowledge {
    files: BTreeMap<String, KnownFile>,
    opaque: u32,
    /// How often each file is known to have changed.
    changes: BTreeMap<String, u32>,
}

/// A change by someone else that evidence gives away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InferredChange {
    /// The line that gives it away.
    pub line: u32,
    pub path: String,
    /// The line that what was known rested on.
    pub known_since: u32,
    /// Whether a call that may change anything ended in between.
    pub opaque_between: bool,
    /// Where the first difference is, in words.
    pub what: String,
}

impl Knowledge {
    /// What is known of the file at `path`.
    pub fn of(&self, path: &str) -> Option<&KnownFile> {
        self.files.get(path)
    }

    /// Whether a call that may change anything ended since the file was last known.
    pub fn is_opaque_since(&self, file: &KnownFile) -> bool {
        file.opaque != self.opaque
    }

    /// How often the file at `path` is known to have changed so far: what was seen of it
    /// at another count is of another content.
    pub fn changes(&self, path: &str) -> u32 {
        self.changes.get(path).copied().unwrap_or(0)
    }

    fn changed(&mut self, path: &str) {
        *self.changes.entry(path.to_owned()).or_default() += 1;
    }

    /// Takes note that a call ended which may have changed anything.
    pub fn opaque_call(&mut self) {
        self.opaque += 1;
    }

    fn set(&mut self, path: &str, known: Known, line: u32) {
        let opaque = self.opaque;
        let file = KnownFile {
            known,
            line,
            opaque,
        };
        match self.files.get_mut(path) {
            Some(have) => *have = file,
            None => {
                self.files.insert(path.to_owned(), file);
            }
        }
    }

    fn change(&self, path: &str, line: u32, what: String) -> Option<InferredChange> {
        let file = self.files.get(path)?;
        Some(InferredChange {
            line,
            path: path.to_owned(),
            known_since: file.line,
            opaque_between: self.is_opaque_since(file),
            what,
        })
    }

    /// Takes over what the result on `line` proves. Where that is not what was known,
    /// someone else changed the file in between.
    pub fn learn(&mut self, evidence: &Evidence<'_>, line: u32) -> Option<InferredChange> {
        let change = self.take_over(evidence, line);
        let changes = matches!(
            evidence,
            Evidence::Written { .. } | Evidence::Edited { .. } | Evidence::Changed { .. }
        );
        // What is shown counts where it is taken over.
        let shown = matches!(evidence, Evidence::Shown { .. });
        if let Some(path) = evidence.path()
            && (changes || (change.is_some() && !shown))
        {
            self.changed(path);
        }
        change
    }

    fn take_over(&mut self, evidence: &Evidence<'_>, line: u32) -> Option<InferredChange> {
        match evidence {
            Evidence::Nothing => None,
            Evidence::Shown { path, .. } => {
                let shown = evidence.shown()?;
                self.show(path, shown, line)
            }
            Evidence::Changed { path } => {
                self.files.remove(path);
                None
            }
            Evidence::Stale { path } => {
                let change = self.change(path, line, "the runtime found it changed".to_owned());
                self.files.remove(path);
                change
            }
            Evidence::Without { path, text } => {
                let holds = matches!(
                    self.files.get(path).map(|file| &file.known),
                    Some(Known::Whole(whole)) if find(whole, &line_feeds(text)).is_some()
                );
                if !holds {
                    return None;
                }
                let change = self.change(path, line, "a known text is not in it".to_owned());
                self.files.remove(path);
                change
            }
            Evidence::Missing { path } => {
                let was = self.files.get(path).map(|file| &file.known);
                let change = match was {
                    None | Some(Known::Absent) => None,
                    Some(_) => self.change(path, line, "it is not there".to_owned()),
                };
                self.set(path, Known::Absent, line);
                change
            }
            Evidence::Written {
                path,
                before,
                content,
            } => {
                let what = self.files.get(path).and_then(|file| match before {
                    Before::Whole(text) => whole_differs(&file.known, text),
                    Before::Absent if file.known != Known::Absent => {
                        Some("it was not there".to_owned())
                    }
                    Before::Present if file.known == Known::Absent => {
                        Some("it was there".to_owned())
                    }
                    _ => None,
                });
                let change = what.and_then(|what| self.change(path, line, what));
                self.set(path, Known::Whole(line_feeds(content).into()), line);
                change
            }
            Evidence::Edited {
                path,
                before,
                replacements,
                hunks,
                user_modified,
            } => {
                let have = self.files.get(path).map(|file| &file.known);
                let what = match (have, before) {
                    (Some(known), Some(before)) => whole_differs(known, before),
                    (Some(known), None) => known.differs_from(hunks),
                    (None, _) => None,
                };
                let change = what.and_then(|what| self.change(path, line, what));
                let base = match before {
                    Some(before) => Some(Known::Whole(line_feeds(before).into())),
                    None if change.is_some() => None,
                    None => self.files.get(path).map(|file| file.known.clone()),
                };
                let after = base
                    .filter(|_| !user_modified)
                    .and_then(|known| known.edited(replacements, hunks));
                match after {
                    Some(after) => self.set(path, after, line),
                    None => {
                        self.files.remove(path);
                    }
                }
                change
            }
        }
    }

    /// Takes over what a hint on `line` tells. A notice of someone else's edit is an
    /// outside change by its own words.
    pub fn hear(
        &mut self,
        told: &Told<'_>,
        line: u32,
        folders: &Folders,
    ) -> Option<InferredChange> {
        match told {
            Told::Edited { path, snippet } => {
                let path = folders.resolve(path);
                self.changed(&path);
                let change = self.change(&path, line, "the runtime noticed an edit".to_owned());
                let old = self.files.remove(&path).map(|file| file.known);
                let mut known = None;
                for run in numbered_runs(snippet) {
                    let shown = ShownLines {
                        first_line: run.first_line,
                        lines: run.lines,
                        content: &run.content,
                        total: None,
                    };
                    let base = known.unwrap_or_else(|| Known::Part(KnownLines::default()));
                    known = Some(base.show(shown));
                }
                match (known, old) {
                    // Nothing shown contradicts what was known: a touch.
                    (Some(Known::Part(part)), Some(old @ Known::Whole(_)))
                        if part.runs().all(|(first_line, content)| {
                            let shown = ShownLines {
                                first_line,
                                lines: line_count(content),
                                content,
                                total: None,
                            };
                            old.agrees(shown) == Agreement::Same
                        }) =>
                    {
                        self.set(&path, old, line);
                    }
                    (Some(known), _) => self.set(&path, known, line),
                    (None, _) => {}
                }
                change
            }
            Told::Shown {
                path,
                content,
                first_line,
                lines,
                total_lines,
            } => {
                let shown = ShownLines {
                    first_line: *first_line,
                    lines: *lines,
                    content,
                    total: Some(*total_lines),
                };
                let counted = line_count(content);
                if *first_line == 0 || counted != *lines {
                    return None;
                }
                self.show(&folders.resolve(path), shown, line)
            }
            Told::Mentioned { .. } => None,
            Told::Whole { path, content } => {
                let lines = line_count(content);
                let shown = ShownLines {
                    first_line: 1,
                    lines,
                    content,
                    total: Some(lines),
                };
                self.show(&folders.resolve(path), shown, line)
            }
        }
    }

    fn show(&mut self, path: &str, shown: ShownLines<'_>, line: u32) -> Option<InferredChange> {
        let was = self.files.get(path).map(|file| &file.known);
        let what = match was.map(|known| known.agrees(shown)) {
            Some(Agreement::DiffersAt(at)) => Some(format!("line {at} is another")),
            _ => None,
        };
        let change = what.and_then(|what| self.change(path, line, what));
        if change.is_some() {
            self.changed(path);
        }
        let old = self.files.remove(path);
        // A few lines seen again say nothing of the others: those are known since before.
        let since = match &old {
            Some(file) if !shown.is_whole() => match (&file.known, &change) {
                (Known::Whole(_), None) | (Known::Part(_), _) => Some((file.line, file.opaque)),
                _ => None,
            },
            _ => None,
        };
        let base = match old {
            Some(file) => file.known,
            None => Known::Part(KnownLines::default()),
        };
        self.set(path, base.show(shown), line);
        if let (Some(file), Some((line, opaque))) = (self.files.get_mut(path), since) {
            (file.line, file.opaque) = (line, opaque);
        }
        change
    }
}

fn whole_differs(known: &Known, text: &str) -> Option<String> {
    let text = line_feeds(text);
    let lines = line_count(&text);
    let shown = ShownLines {
        first_line: 1,
        lines,
        content: &text,
        total: Some(lines),
    };
    match known.agrees(shown) {
        Agreement::DiffersAt(at) => Some(format!("line {at} is another")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::edit_effect::Replacement;

    fn written(content: &str) -> Evidence<'_> {
        Evidence::Written {
            path: "/a".into(),
            before: Before::Untold,
            content: content.into(),
        }
    }

    fn edited<'a>(before: Option<&'a str>, old: &'a str, new: &'a str) -> Evidence<'a> {
        Evidence::Edited {
            path: "/a".into(),
            before: before.map(Into::into),
            replacements: vec![Replacement {
                old: old.into(),
                new: new.into(),
                all: false,
            }],
            hunks: Vec::new(),
            user_modified: false,
        }
    }

    fn whole(knowledge: &Knowledge) -> Option<&str> {
        match &knowledge.of("/a")?.known {
            Known::Whole(text) => Some(text),
            _ => None,
        }
    }

    #[test]
    fn writes_and_edits_are_followed() {
        let mut knowledge = Knowledge::default();
        assert_eq!(knowledge.learn(&written("one\r\ntwo\n"), 1), None);
        assert_eq!(knowledge.learn(&edited(None, "two", "2"), 2), None);
        assert_eq!(whole(&knowledge), Some("one\n2\n"));
        assert_eq!(
            knowledge.learn(&edited(Some("one\n2\n"), "one", "1"), 3),
            None
        );
        assert_eq!(whole(&knowledge), Some("1\n2\n"));
    }

    #[test]
    fn a_result_that_shows_something_else_gives_an_outside_change_away() {
        let mut knowledge = Knowledge::default();
        knowledge.learn(&written("one\ntwo\n"), 1);
        let change = knowledge
            .learn(&edited(Some("one\nTWO\n"), "one", "1"), 4)
            .unwrap();
        assert_eq!((change.line, change.known_since), (4, 1));
        assert!(!change.opaque_between);
        assert_eq!(whole(&knowledge), Some("1\nTWO\n"));
        knowledge.opaque_call();
        let change = knowledge
            .learn(&Evidence::Missing { path: "/a".into() }, 6)
            .unwrap();
        assert!(change.opaque_between);
        assert_eq!(knowledge.of("/a").unwrap().known, Known::Absent);
    }

    #[test]
    fn lines_seen_again_do_not_vouch_for_the_others() {
        let mut knowledge = Knowledge::default();
        knowledge.learn(&written("one\ntwo\n"), 1);
        knowledge.opaque_call();
        let shown = |content: &'static str, lines| Evidence::Shown {
            path: "/a".into(),
            first_line: 1,
            lines,
            content: content.into(),
            total: Some(3),
        };
        knowledge.learn(&shown("one", 1), 2);
        let file = knowledge.of("/a").unwrap();
        assert!(knowledge.is_opaque_since(file) && file.line == 1);
        knowledge.learn(&shown("one\ntwo\n", 3), 3);
        let file = knowledge.of("/a").unwrap();
        assert!(!knowledge.is_opaque_since(file) && file.line == 3);
    }

    #[test]
    fn a_noticed_edit_leaves_only_what_it_shows() {
        let mut knowledge = Knowledge::default();
        let folders = Folders::of(Some("/"));
        knowledge.learn(&written("one\ntwo\nthree\n"), 1);
        let told = Told::Edited {
            path: "a".into(),
            snippet: "2\tTWO".into(),
        };
        assert!(knowledge.hear(&told, 2, &folders).is_some());
        let Known::Part(lines) = &knowledge.of("/a").unwrap().known else {
            panic!()
        };
        assert_eq!(lines.runs().collect::<Vec<_>>(), [(2, "TWO")]);
    }

    #[test]
    fn a_notice_that_shows_what_was_known_takes_nothing_away() {
        let mut knowledge = Knowledge::default();
        knowledge.learn(&written("one\ntwo\n"), 1);
        let told = Told::Edited {
            path: "/a".into(),
            snippet: "2\ttwo".into(),
        };
        knowledge.hear(&told, 2, &Folders::of(None));
        assert_eq!(whole(&knowledge), Some("one\ntwo\n"));
    }
}
