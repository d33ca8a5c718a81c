//! What stands beside a scenario file: folders of files, settings.

use super::complaint::Complaint;
use super::fields::Reader;
use super::file_spec::{Content, FileContent, FileSpec};
use super::node::{Data, Node, quoted};
use crate::settings::Source;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most bytes of all files that `files_from` may bring.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// The most files that `files_from` may bring.
const MAX_FILES: usize = 10_000;
/// The largest file that is read as one text.
const MAX_TEXT_BYTES: u64 = super::yaml::MAX_FILE_BYTES as u64;

/// What stands beside a scenario, read.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// By path from `cwd`.
    pub files: Vec<(String, FileSpec)>,
    /// By the path as it was written.
    pub settings: BTreeMap<String, Vec<SettingsFile>>,
}

/// A settings file beside a scenario.
#[derive(Debug)]
pub(super) struct SettingsFile {
    pub file: Arc<str>,
    /// The source that the name of the file tells, for one found in a folder.
    pub told: Source,
    pub bytes: Vec<u8>,
    pub text: String,
}

/// Where paths beside a scenario lead.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shelf {
    /// Nowhere: the scenario is a text.
    None,
    /// To the disk, from the folder of the file that names them.
    Disk,
}

impl Shelf {
    /// The path of what `file` calls `name`; the error is what was expected.
    pub fn path(self, file: &str, name: &str) -> Result<PathBuf, String> {
        match self {
            Shelf::None => Err("no path: this scenario is a text and has nothing beside it".into()),
            Shelf::Disk => Ok(Path::new(file).parent().unwrap_or(Path::new("")).join(name)),
        }
    }

    /// The text of a file; the error says why there is none.
    pub fn text(self, path: &Path) -> Result<String, String> {
        String::from_utf8(self.bytes(path)?).map_err(|_| "it is not UTF-8".to_owned())
    }

    /// The bytes of a file; the error says why there are none.
    fn bytes(self, path: &Path) -> Result<Vec<u8>, String> {
        let length = std::fs::metadata(path).map_err(|e| said(&e))?.len();
        if length > MAX_TEXT_BYTES {
            return Err(format!("it has {length} bytes, more than {MAX_TEXT_BYTES}"));
        }
        std::fs::read(path).map_err(|e| said(&e))
    }
}

/// What the system says, without its numbers.
fn said(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is none".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        std::io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        kind => kind.to_string(),
    }
}

/// Reads what a scenario names beside it.
pub(super) fn read_beside(r: &mut Reader, node: &Node, shelf: &Shelf) -> Beside {
    let mut beside = Beside::default();
    if let Some(from) = node.get("files_from").filter(|n| !n.is_null()) {
        for named in r.one_or_many(from) {
            if let Some(name) = r.text_as(named, "a path") {
                read_folder(r, named, &name, *shelf, &mut beside.files);
            }
        }
    }
    let Some(settings) = node.get("settings") else {
        return beside;
    };
    let named: Vec<&Node> = match &settings.data {
        Data::Text(_) => vec![settings],
        Data::Map(entries) => {
            let known = |key: &str| Source::from_word(key).is_some();
            entries
                .iter()
                .filter(|e| known(&e.key) && matches!(e.value.data, Data::Text(_)))
                .map(|e| &e.value)
                .collect()
        }
        _ => Vec::new(),
    };
    for node in named {
        if let Data::Text(name) = &node.data
            && let Some(files) = read_settings(r, node, name, *shelf)
        {
            beside.settings.insert(name.clone(), files);
        }
    }
    beside
}

fn read_folder(
    r: &mut Reader,
    at: &Node,
    name: &str,
    shelf: Shelf,
    into: &mut Vec<(String, FileSpec)>,
) {
    let path = match shelf.path(&at.at.file, name) {
        Ok(path) => path,
        Err(expected) => return r.complain(Complaint::error(&at.at, quoted(name), expected)),
    };
    match walk(&path, at) {
        Ok(files) => into.extend(files),
        Err(why) => {
            let found = format!("{}, which cannot be read ({why})", quoted(name));
            r.complain(
                Complaint::error(&at.at, found, "a folder of files")
                    .hint("paths are relative to the file that names them"),
            );
        }
    }
}

/// Everything below a folder, sorted by path, links not followed.
fn walk(root: &Path, at: &Node) -> Result<Vec<(String, FileSpec)>, String> {
    let mut files = Vec::new();
    let mut bytes = 0u64;
    let mut folders: BTreeSet<PathBuf> = BTreeSet::from([PathBuf::new()]);
    while let Some(folder) = folders.pop_first() {
        let listing = std::fs::read_dir(root.join(&folder)).map_err(|e| said(&e))?;
        let mut empty = true;
        for entry in listing {
            let entry = entry.map_err(|e| said(&e))?;
            empty = false;
            let relative = folder.join(entry.file_name());
            let name = relative
                .to_str()
                .ok_or_else(|| format!("{} is not UTF-8", relative.display()))?
                .to_owned();
            let meta = entry.metadata().map_err(|e| said(&e))?;
            let content = if meta.is_dir() {
                folders.insert(relative);
                continue;
            } else if meta.file_type().is_symlink() {
                let target = std::fs::read_link(entry.path()).map_err(|e| said(&e))?;
                FileContent::Symlink(target.to_string_lossy().into_owned())
            } else {
                bytes = bytes.saturating_add(meta.len());
                if bytes > MAX_BYTES {
                    return Err(format!("it holds more than {MAX_BYTES} bytes"));
                }
                let bytes = std::fs::read(entry.path()).map_err(|e| said(&e))?;
                FileContent::File(Content::Bytes(bytes.into()))
            };
            files.push((name, spec(content, executable(&meta), at)));
            if files.len() > MAX_FILES {
                return Err(format!("it holds more than {MAX_FILES} files"));
            }
        }
        if empty && let Some(name) = folder.to_str().filter(|name| !name.is_empty()) {
            files.push((name.to_owned(), spec(FileContent::Dir, None, at)));
        }
    }
    files.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(files)
}

fn spec(content: FileContent, mode: Option<u32>, at: &Node) -> FileSpec {
    FileSpec {
        content,
        mode,
        mtime_unix_ms: None,
        at: at.at.clone(),
    }
}

/// Of all permission bits only this one is the same in every checkout.
#[cfg(unix)]
fn executable(meta: &std::fs::Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    (meta.is_file() && meta.permissions().mode() & 0o100 != 0).then_some(0o755)
}

#[cfg(not(unix))]
fn executable(_meta: &std::fs::Metadata) -> Option<u32> {
    None
}

/// One settings file, or those of a project folder or a `.claude` folder.
fn read_settings(r: &mut Reader, at: &Node, name: &str, shelf: Shelf) -> Option<Vec<SettingsFile>> {
    let path = match shelf.path(&at.at.file, name) {
        Ok(path) => path,
        Err(expected) => {
            r.complain(Complaint::error(&at.at, quoted(name), expected));
            return None;
        }
    };
    let candidates: Vec<(PathBuf, Source)> = if path.is_dir() {
        let folder = match path.file_name() {
            Some(last) if last == ".claude" => path.clone(),
            _ => path.join(".claude"),
        };
        [
            ("settings.json", Source::Project),
            ("settings.local.json", Source::Local),
        ]
        .into_iter()
        .map(|(file, told)| (folder.join(file), told))
        .filter(|(file, _)| file.is_file())
        .collect()
    } else {
        vec![(path, Source::Project)]
    };
    if candidates.is_empty() {
        r.complain(Complaint::error(
            &at.at,
            format!("{}, a folder without settings", quoted(name)),
            "a folder with .claude/settings.json or .claude/settings.local.json, or a file",
        ));
        return None;
    }
    let mut files = Vec::new();
    for (file, told) in candidates {
        match shelf.bytes(&file) {
            Ok(bytes) => files.push(SettingsFile {
                file: file.to_string_lossy().into(),
                told,
                text: String::from_utf8_lossy(&bytes).into_owned(),
                bytes,
            }),
            Err(why) => {
                let found = format!("{}, which cannot be read ({why})", quoted(name));
                r.complain(
                    Complaint::error(&at.at, found, "settings")
                        .hint("paths are relative to the file that names them"),
                );
            }
        }
    }
    Some(files)
}
