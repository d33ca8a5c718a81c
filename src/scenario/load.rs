//! From a file to scenarios: includes, what stands beside the file, cases.

use super::beside::{Shelf, read_beside};
use super::complaint::{Complaint, Place, Rejected, Severity, SourceText};
use super::definition::{Scenario, read_scenario, slug};
use super::fields::Reader;
use super::keys;
use super::lint::lint;
use super::node::{Data, Entry, Node, quoted};
use super::yaml;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// How deep includes may include.
const MAX_INCLUDE_DEPTH: usize = 8;

/// The scenarios of one file: itself, then its cases.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// Never empty.
    pub scenarios: Vec<Scenario>,
    pub warnings: Vec<Complaint>,
    /// The file and what it includes.
    pub sources: Vec<SourceText>,
}

/// Reads the scenarios of a file on disk, with all it names beside it.
///
/// # Errors
/// Every complaint about the file, warnings among them, if one of them is an error.
pub fn load(path: &Path) -> Result<Loaded, Rejected> {
    let file: Arc<str> = path.to_string_lossy().into();
    match Shelf::Disk.text(path) {
        Ok(text) => read(file, text.into(), Shelf::Disk),
        Err(why) => Err(Rejected {
            complaints: vec![Complaint::error(
                &Place::top_of(file),
                format!("a file that cannot be read ({why})"),
                "a scenario file",
            )],
            sources: Vec::new(),
        }),
    }
}

/// Reads the scenarios of a text called `file`, which has nothing beside it.
///
/// # Errors
/// As [`load`].
pub fn parse(file: &str, text: &str) -> Result<Loaded, Rejected> {
    read(file.into(), text.into(), Shelf::None)
}

fn read(file: Arc<str>, text: Arc<str>, shelf: Shelf) -> Result<Loaded, Rejected> {
    let mut loader = Loader {
        r: Reader::default(),
        sources: Vec::new(),
        trees: Vec::new(),
        shelf,
    };
    let root = loader.tree(&file, &text, &mut Vec::new());
    let scenarios = match &root {
        Some(root) => loader.scenarios(root),
        None => Vec::new(),
    };
    let Loader {
        r, sources, trees, ..
    } = loader;
    let complaints = finished(r.complaints, &sources, &trees);
    let failed = complaints.iter().any(|c| c.severity == Severity::Error);
    if failed || scenarios.is_empty() {
        return Err(Rejected {
            complaints,
            sources,
        });
    }
    Ok(Loaded {
        scenarios,
        warnings: complaints,
        sources,
    })
}

struct Loader {
    r: Reader,
    sources: Vec<SourceText>,
    /// Of every file that was read, for the key paths of complaints.
    trees: Vec<Node>,
    shelf: Shelf,
}

impl Loader {
    /// The tree of one file, with the keys of what it includes.
    fn tree(
        &mut self,
        file: &Arc<str>,
        text: &Arc<str>,
        above: &mut Vec<Arc<str>>,
    ) -> Option<Node> {
        self.sources.push(SourceText {
            file: file.clone(),
            text: text.clone(),
        });
        let root = yaml::parse(file, text, &mut self.r.complaints)?;
        self.trees.push(root.clone());
        let Some(include) = root.get("include").cloned() else {
            return Some(root);
        };
        let Data::Map(mut entries) = root.data else {
            return None;
        };
        above.push(file.clone());
        for named in self.r.one_or_many(&include) {
            let Some(name) = self.r.text_as(named, "a path") else {
                continue;
            };
            let Some(included) = self.included(named, &name, above) else {
                continue;
            };
            let Data::Map(more) = included.data else {
                let complaint = Complaint::error(&included.at, included.describe(), "a scenario");
                self.r.complain(complaint);
                continue;
            };
            for entry in more {
                let own = matches!(entry.key.as_str(), "rehearsal" | "name" | "include");
                if !own && !entries.iter().any(|e| e.key == entry.key) {
                    entries.push(entry);
                }
            }
        }
        above.pop();
        Some(Node {
            at: root.at,
            data: Data::Map(entries),
        })
    }

    fn included(&mut self, at: &Node, name: &str, above: &mut Vec<Arc<str>>) -> Option<Node> {
        let file: Arc<str> = match self.shelf.path(&at.at.file, name) {
            Ok(path) => path.to_string_lossy().into(),
            Err(why) => {
                self.r.complain(Complaint::error(&at.at, quoted(name), why));
                return None;
            }
        };
        if above.contains(&file) || above.len() >= MAX_INCLUDE_DEPTH {
            self.r.complain(Complaint::error(
                &at.at,
                format!("{} included by itself, or too deep", quoted(name)),
                format!("at most {MAX_INCLUDE_DEPTH} files that include one another in a row"),
            ));
            return None;
        }
        match self.shelf.text(Path::new(&*file)) {
            Ok(text) => self.tree(&file, &text.into(), above),
            Err(why) => {
                let found = format!("{}, which cannot be read ({why})", quoted(name));
                self.r.complain(
                    Complaint::error(&at.at, found, "a scenario file")
                        .hint("paths of included files are relative to the file that names them"),
                );
                None
            }
        }
    }

    fn scenarios(&mut self, root: &Node) -> Vec<Scenario> {
        let mut scenarios = Vec::new();
        self.scenario(root, None, &mut scenarios);
        let Some(node) = root.get("cases").filter(|n| !n.is_null()) else {
            return scenarios;
        };
        let mut names = BTreeSet::new();
        for case in self.r.list(node, "cases").unwrap_or_default() {
            let Some(own) = self.r.map(case, "keys") else {
                continue;
            };
            let name = match case.get("name").map(|n| (n, &n.data)) {
                Some((at, Data::Text(name))) => {
                    // They are parts of the names of files, on any disk.
                    if !names.insert(slug(name).to_lowercase()) {
                        self.r.complain(Complaint::error(
                            &at.at,
                            format!("the case {} a second time", quoted(name)),
                            "a name for every case of its own, also without its punctuation",
                        ));
                    }
                    name.clone()
                }
                // Complained about when the case is read.
                _ => String::new(),
            };
            let merged = merged(root, case, own);
            self.scenario(&merged, Some(name), &mut scenarios);
        }
        scenarios
    }

    fn scenario(&mut self, node: &Node, case: Option<String>, into: &mut Vec<Scenario>) {
        let shape = if case.is_some() {
            &keys::CASE
        } else {
            &keys::SCENARIO
        };
        let beside = read_beside(&mut self.r, node, &self.shelf);
        let before = self.r.complaints.len();
        if let Some(scenario) = read_scenario(&mut self.r, node, shape, case, &beside) {
            // What could not be read is missing: checks across keys would complain
            // of its absence.
            let whole = self.r.complaints[before..]
                .iter()
                .all(|c| c.severity == Severity::Warning);
            if whole {
                let before = self.r.complaints.len();
                lint(&mut self.r, node, &scenario);
                if let Some(case) = &scenario.case {
                    name_the_case(&mut self.r.complaints, before, case);
                }
            }
            into.push(scenario);
        }
    }
}

/// Says in the complaints from `new` on which case they are about, where the
/// scenario itself gave no such complaint.
fn name_the_case(complaints: &mut [Complaint], new: usize, case: &str) {
    let (old, new) = complaints.split_at_mut(new);
    for complaint in new.iter_mut().filter(|c| !old.contains(c)) {
        let of = format!("in the case {}", quoted(case));
        complaint.hint = Some(match complaint.hint.take() {
            Some(hint) => format!("{of}; {hint}"),
            None => of,
        });
    }
}

/// A case's own keys, then the scenario's that it does not have. A key that is null
/// in the case is as if nobody had it.
fn merged(root: &Node, case: &Node, own: &[Entry]) -> Node {
    let mut entries = own.to_vec();
    if let Data::Map(base) = &root.data {
        for entry in base {
            let file_only = matches!(
                entry.key.as_str(),
                "rehearsal" | "name" | "cases" | "include"
            );
            if !file_only && !own.iter().any(|e| e.key == entry.key) {
                entries.push(entry.clone());
            }
        }
    }
    Node {
        at: case.at.clone(),
        data: Data::Map(entries),
    }
}

/// Complaints in order of place, each once, with their key paths. What is an error
/// is not also remarked on.
fn finished(
    mut complaints: Vec<Complaint>,
    sources: &[SourceText],
    trees: &[Node],
) -> Vec<Complaint> {
    let rank = |c: &Complaint| {
        let file = sources.iter().position(|s| s.file == c.place.file);
        (file, c.place.line, c.place.column, c.severity)
    };
    complaints.sort_by_key(rank);
    let mut seen: Vec<Complaint> = Vec::new();
    for mut complaint in complaints {
        if complaint.severity == Severity::Warning
            && seen.iter().any(|c| c.place == complaint.place)
        {
            continue;
        }
        if complaint.path.is_empty() {
            let tree = trees.iter().find(|t| t.at.file == complaint.place.file);
            if let Some(path) = tree.and_then(|t| t.path_of(&complaint.place)) {
                complaint.path = path;
            }
        }
        if !seen.contains(&complaint) {
            seen.push(complaint);
        }
    }
    seen
}
