//! The settings of a scenario: read, merged, and their rules and hooks looked at, so
//! that what is wrong with them is said with everything else.

use super::beside::Beside;
use super::complaint::{Complaint, Place, Severity};
use super::fields::{Reader, one_of};
use super::node::{Data, Node, ticked};
use crate::hooks::Hooks;
use crate::rule::{Anchors, about_unknown_tools, compile};
use crate::settings::{self, Layer, Settings, Source, merge};
use crate::world::Fs;
use std::sync::Arc;

/// Settings of one source, and where its complaints belong.
struct Read<'n> {
    layer: Layer,
    /// The object in the scenario, or the path of the file.
    node: &'n Node,
    /// The text of the file, if it is one.
    text: Option<&'n str>,
}

/// Reads `settings`: by source, or a plain object, which is the project's.
pub(super) fn read_settings(
    r: &mut Reader,
    node: Option<&Node>,
    beside: &Beside,
    (cwd, home): (&str, &str),
    fs: &dyn Fs,
    own_tools: &[&str],
) -> Settings {
    let Some(node) = node else {
        return Settings::default();
    };
    let mut read = Vec::new();
    match &node.data {
        Data::Map(entries) if entries.iter().any(|e| Source::from_word(&e.key).is_some()) => {
            for entry in entries {
                match Source::from_word(&entry.key) {
                    Some(source) => one_source(r, Some(source), &entry.value, beside, &mut read),
                    None => {
                        let words: Vec<&str> = Source::ALL.iter().map(|s| s.as_str()).collect();
                        r.complain(
                            Complaint::error(
                                &entry.key_at,
                                format!("{} beside sources", ticked(&entry.key)),
                                one_of(&words),
                            )
                            .hint("put it below `project`"),
                        );
                    }
                }
            }
        }
        _ => one_source(r, None, node, beside, &mut read),
    }
    let (settings, mut complaints) = merge(read.iter().map(|read| read.layer.clone()).collect());
    let (_, of_rules) = compile(&settings, &Anchors::new(cwd, home), fs);
    complaints.extend(of_rules);
    complaints.extend(about_unknown_tools(&settings, own_tools));
    // An error in a file of which what restricts is in force is told with the run.
    let told_later = |c: &settings::Complaint| c.is_error() && !settings.stops(c);
    for complaint in complaints.into_iter().filter(|c| !told_later(c)) {
        r.complain(placed(complaint, &read, node));
    }
    hooks(r, &settings, &read, node, (&Anchors::new(cwd, home), fs));
    settings
}

/// The settings of `source`, or of none in particular: an object is then the
/// project's, and the files of a folder are what their names say.
fn one_source<'n>(
    r: &mut Reader,
    source: Option<Source>,
    node: &'n Node,
    beside: &'n Beside,
    read: &mut Vec<Read<'n>>,
) {
    match &node.data {
        Data::Map(_) => read.push(Read {
            layer: Layer::from_value(source.unwrap_or(Source::Project), &node.to_json()),
            node,
            text: None,
        }),
        Data::Text(path) => {
            // A path that could not be read was complained about when it was.
            for found in beside.settings.get(path).into_iter().flatten() {
                let source = source.unwrap_or(found.told);
                read.push(Read {
                    layer: Layer::from_bytes(source, &found.file, &found.bytes),
                    node,
                    text: Some(&found.text),
                });
            }
        }
        Data::Null => {}
        _ => r.complain(Complaint::error(
            &node.at,
            node.describe(),
            "an object or a path",
        )),
    }
}

/// A complaint about settings as one about the scenario or the file beside it.
fn placed(complaint: settings::Complaint, read: &[Read<'_>], all: &Node) -> Complaint {
    let of_file = |read: &&Read<'_>| read.layer.file.as_ref() == Some(&complaint.file);
    let inline = |read: &&Read<'_>| {
        read.layer.file.is_none() && *complaint.file == *format!("{} settings", read.layer.source)
    };
    let place = match (read.iter().find(of_file), complaint.place) {
        (
            Some(Read {
                text: Some(text), ..
            }),
            Some((line, column)),
        ) => place_in(&complaint.file, text, line, column),
        (Some(read), _) => read.node.at.clone(),
        (None, _) => match read.iter().find(inline) {
            Some(read) => read.node.at_path(&complaint.path).at.clone(),
            None => all.at.clone(),
        },
    };
    Complaint {
        severity: match complaint.severity {
            settings::Severity::Error => Severity::Error,
            settings::Severity::Warning => Severity::Warning,
        },
        place,
        path: String::new(),
        found: complaint.found,
        expected: complaint.expected,
        hint: complaint.hint,
    }
}

/// The place of a line and a column, both from 1, in a text.
fn place_in(file: &Arc<str>, text: &str, line: u32, column: u32) -> Place {
    let before = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
    let start: usize = text.split_inclusive('\n').take(before).map(str::len).sum();
    let in_line = usize::try_from(column.saturating_sub(1)).unwrap_or(usize::MAX);
    let within: usize = text[start..]
        .chars()
        .take(in_line)
        .map(char::len_utf8)
        .sum();
    let from = u32::try_from(start + within).unwrap_or(u32::MAX);
    Place {
        file: file.clone(),
        line,
        column,
        bytes: (from, from),
    }
}

/// Complains about hooks that this runtime does not have.
fn hooks(
    r: &mut Reader,
    settings: &Settings,
    read: &[Read<'_>],
    all: &Node,
    (anchors, fs): (&Anchors, &dyn Fs),
) {
    let mut hooks = Hooks::default();
    for of in &settings.hooks {
        let source = of.origin.source;
        let node = read.iter().find(|read| read.layer.source == source);
        let at = node.map_or(&all.at, |read| &read.node.at_path("hooks").at);
        for complaint in hooks.add_of(of) {
            let (found, expected) = match complaint.split_once(": ") {
                Some((place, what)) => (format!("{place} ({what})"), "hooks that can be run"),
                None => (complaint, "hooks that can be run"),
            };
            r.complain(Complaint::error(at, found, expected));
        }
    }
    let unread = hooks.compile_conditions(anchors, fs);
    for note in hooks.notes.iter().chain(&unread) {
        let expected = "hooks of which each can run";
        r.complain(Complaint::warning(&all.at, note.clone(), expected));
    }
}
