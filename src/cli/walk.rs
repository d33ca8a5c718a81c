//! From the paths of a command line to scenario files.

use std::path::{Path, PathBuf};

/// A scenario file, and the one case of it that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    pub path: PathBuf,
    pub case: Option<String>,
}

/// The scenario files at `paths`: files as they are, `FILE@CASE`, and below folders
/// every `.yaml` and `.yml`, sorted. The error names the path that is neither.
pub fn scenario_files(paths: &[PathBuf]) -> Result<Vec<Given>, String> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            below(path, &mut files)?;
        } else if path.is_file() {
            files.push(Given {
                path: path.clone(),
                case: None,
            });
        } else {
            files.push(
                with_case(path)
                    .ok_or_else(|| format!("no such file or folder: {}", path.display()))?,
            );
        }
    }
    Ok(files)
}

/// `FILE@CASE`, where FILE is a file.
fn with_case(path: &Path) -> Option<Given> {
    let text = path.to_str()?;
    text.match_indices('@').find_map(|(at, _)| {
        let file = PathBuf::from(&text[..at]);
        file.is_file().then(|| Given {
            path: file,
            case: Some(text[at + 1..].to_owned()),
        })
    })
}

fn below(folder: &Path, into: &mut Vec<Given>) -> Result<(), String> {
    let failed = |error| format!("failed to list {}: {error}", folder.display());
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        entries.push(entry.map_err(failed)?.path());
    }
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') {
            continue;
        }
        let ending = path.extension().unwrap_or_default();
        let is_scenario = ending == "yaml" || ending == "yml";
        if path.is_dir() {
            below(&path, into)?;
        } else if is_scenario {
            into.push(Given { path, case: None });
        }
    }
    Ok(())
}

/// The folder that relative paths start from.
pub fn current_folder() -> Result<PathBuf, String> {
    std::env::current_dir().map_err(|error| format!("there is no current folder: {error}"))
}

/// A path from the root, links as they are.
pub fn absolute(path: &Path) -> Result<PathBuf, String> {
    std::path::absolute(path)
        .map(|path| path.components().collect())
        .map_err(|error| format!("{}: {error}", path.display()))
}
