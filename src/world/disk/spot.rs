//! From a path to a place inside the root, component by component.

use super::super::fs::{LINKS_MAX, NAME_BYTES_MAX};
use super::super::{FsErrorKind, split};
use super::{DiskFs, refusal};
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// Whether a missing last component is about to be made (`O_CREAT`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum For {
    Use,
    Create,
}

/// Where a path led, every link followed.
pub(super) struct Spot {
    /// On the real disk. No part of it below the root is a symlink.
    pub real: PathBuf,
    /// The path without links, as this file system names it.
    pub path: String,
    pub leaf: Leaf,
}

/// What stands there.
pub(super) enum Leaf {
    Folder,
    /// Anything that is neither a folder nor a symlink.
    File(Metadata),
    /// Nothing, but its folder exists.
    Missing,
}

/// Stands for a slash at the end of a link's target.
const TRAILING: &str = "/";

impl DiskFs {
    /// Follows `path`, which is normal, to its end, links included.
    pub(super) fn spot(&self, path: &str, for_what: For) -> Result<Spot, FsErrorKind> {
        let mut names: Vec<String> = Vec::new();
        let mut todo: Vec<String> = Vec::new();
        let mut links = 0;
        push_parts(&mut todo, path);
        while let Some(part) = todo.pop() {
            if part == TRAILING {
                continue;
            }
            if names.len() < self.above.len() {
                self.step_above(&mut names, part)?;
                continue;
            }
            let here = self.real(&names);
            if part == "." || part == ".." {
                // The kernel asks for leave to search the folder even for these.
                may_search(&here)?;
                if part == ".." {
                    names.pop();
                }
                continue;
            }
            if part.len() > NAME_BYTES_MAX {
                return Err(FsErrorKind::Invalid);
            }
            let must_be_folder = !todo.is_empty();
            let is_last = todo.iter().all(|part| part == TRAILING);
            let entry = here.join(&part);
            let found = entry.symlink_metadata().map_err(refusal);
            if for_what == For::Create && is_last && must_be_folder {
                // open(2) with O_CREAT refuses a trailing slash before it looks further.
                return Err(match found {
                    Err(FsErrorKind::Permission) => FsErrorKind::Permission,
                    _ => FsErrorKind::IsDirectory,
                });
            }
            let meta = match found {
                Ok(meta) => meta,
                Err(FsErrorKind::NotFound) if is_last && !must_be_folder => {
                    names.push(part);
                    return Ok(self.at(&names, Leaf::Missing));
                }
                Err(kind) => return Err(kind),
            };
            if meta.is_symlink() {
                links += 1;
                if links > LINKS_MAX {
                    return Err(FsErrorKind::Loop);
                }
                let target = std::fs::read_link(&entry).map_err(refusal)?;
                let target = target.to_str().ok_or(FsErrorKind::Invalid)?;
                if target.starts_with('/') {
                    names.clear();
                }
                push_parts(&mut todo, target);
            } else if meta.is_dir() {
                names.push(part);
            } else if must_be_folder {
                return Err(FsErrorKind::NotDirectory);
            } else {
                names.push(part);
                return Ok(self.at(&names, Leaf::File(meta)));
            }
        }
        if names.len() < self.above.len() {
            return Err(FsErrorKind::Outside);
        }
        Ok(self.at(&names, Leaf::Folder))
    }

    /// One component above the root: on the way down to it, or outside.
    fn step_above(&self, names: &mut Vec<String>, part: String) -> Result<(), FsErrorKind> {
        match part.as_str() {
            "." => Ok(()),
            ".." => {
                names.pop();
                Ok(())
            }
            _ if self.above.get(names.len()) == Some(&part) => {
                names.push(part);
                Ok(())
            }
            _ => Err(FsErrorKind::Outside),
        }
    }

    /// Follows `path` to the folder that holds its last component, which is not
    /// followed; gives where that component is. `None` for the root.
    pub(super) fn entry(&self, path: &str) -> Result<Option<PathBuf>, FsErrorKind> {
        if names_of(path).eq(self.above.iter().map(String::as_str)) {
            return Ok(None);
        }
        let Some((dir, name)) = split(path) else {
            return Err(FsErrorKind::Outside);
        };
        let spot = self.spot(dir, For::Use)?;
        match spot.leaf {
            Leaf::Folder => {
                may_search(&spot.real)?;
                Ok(Some(spot.real.join(name)))
            }
            Leaf::File(_) => Err(FsErrorKind::NotDirectory),
            Leaf::Missing => Err(FsErrorKind::NotFound),
        }
    }

    fn at(&self, names: &[String], leaf: Leaf) -> Spot {
        Spot {
            real: self.real(names),
            path: format!("/{}", names.join("/")),
            leaf,
        }
    }

    fn real(&self, names: &[String]) -> PathBuf {
        let mut real = self.root.clone();
        real.extend(names.iter().skip(self.above.len()));
        real
    }
}

/// Whether the kernel lets us search a folder.
fn may_search(folder: &Path) -> Result<(), FsErrorKind> {
    folder
        .join(".")
        .symlink_metadata()
        .map(drop)
        .map_err(refusal)
}

/// The components of a normal path.
pub(super) fn names_of(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty())
}

/// Pushes the components of `path`, the first on top.
fn push_parts(todo: &mut Vec<String>, path: &str) {
    if path.len() > 1 && path.ends_with('/') {
        todo.push(TRAILING.to_owned());
    }
    let parts = path.rsplit('/').filter(|part| !part.is_empty());
    todo.extend(parts.map(str::to_owned));
}
