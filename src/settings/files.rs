//! Settings of a real project, as they lie on disk.

use super::{Complaint, Layer, Severity, Source};
use std::path::{Path, PathBuf};

/// The names of the files in a `.claude/` folder, and whose settings they are.
const FILES: &[(Source, &str)] = &[
    (Source::Local, "settings.local.json"),
    (Source::Project, "settings.json"),
];

/// The settings at `path`: of a project folder with `.claude/` in it, of a `.claude/`
/// folder, or one settings file, which is the project's.
///
/// The complaints are about files that cannot be read or are not there, each an error:
/// without them there may be fewer denials than were written. What is wrong inside of a
/// file is said by [`super::merge`].
pub fn from_path(path: &Path) -> (Vec<Layer>, Vec<Complaint>) {
    let mut complaints = Vec::new();
    let mut layers = Vec::new();
    for (source, file) in there(path) {
        match std::fs::read(&file) {
            Ok(bytes) => {
                let name = file.display().to_string();
                layers.push(Layer::from_bytes(source, &name, &bytes));
            }
            Err(error) => {
                let found = format!("a file that cannot be read ({error})");
                complaints.push(complaint(&file, &found, "a settings file"));
            }
        }
    }
    if layers.is_empty() && complaints.is_empty() {
        let expected = "a project with .claude/settings.json, a .claude folder or a settings file";
        complaints.push(complaint(path, "none", expected));
    }
    (layers, complaints)
}

/// The files that there are, of the local settings first.
fn there(path: &Path) -> Vec<(Source, PathBuf)> {
    if path.is_file() {
        return vec![(Source::Project, path.to_owned())];
    }
    let inside = path.join(".claude");
    let folder = if inside.is_dir() { &inside } else { path };
    FILES
        .iter()
        .map(|(source, name)| (*source, folder.join(name)))
        // A link that leads nowhere is a file that cannot be read, not one that is not there.
        .filter(|(_, file)| file.symlink_metadata().is_ok())
        .collect()
}

fn complaint(file: &Path, found: &str, expected: &str) -> Complaint {
    Complaint {
        severity: Severity::Error,
        file: file.display().to_string().into(),
        place: None,
        path: String::new(),
        found: found.to_owned(),
        expected: expected.to_owned(),
        hint: None,
    }
}
