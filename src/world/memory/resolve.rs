//! From a path to a place in the tree, as Linux walks it.

use super::super::fs::{LINKS_MAX, NAME_BYTES_MAX};
use super::super::{FsErrorKind, split};
use super::folder::{File, Folder, Node};
use std::borrow::Cow;
use std::sync::Arc;

/// How names and permissions are taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Walker {
    pub case_sensitive: bool,
    pub superuser: bool,
}

/// Whether a missing last component is about to be made (`O_CREAT`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum For {
    Use,
    Create,
}

/// Where a path led, every link followed.
pub(super) struct Place<'a> {
    /// From the root, which has no name, to the folder that holds the leaf, or
    /// that is it.
    pub folders: Vec<(&'a str, &'a Folder)>,
    pub leaf: Leaf<'a>,
}

/// The end of the path.
pub(super) enum Leaf<'a> {
    /// The last of the folders.
    Folder,
    File(&'a str, &'a File),
    /// No such entry in the last of the folders, which could hold it.
    Missing(&'a str),
}

impl<'a> Place<'a> {
    pub fn folder(&self) -> &'a Folder {
        // `walk` never pops the root.
        self.folders[self.folders.len() - 1].1
    }

    /// The names from the root to the last folder.
    pub fn names(&self) -> Vec<String> {
        let names = self.folders.iter().skip(1);
        names.map(|(name, _)| (*name).to_owned()).collect()
    }

    /// The absolute path without links.
    pub fn path(&self) -> String {
        let leaf = match self.leaf {
            Leaf::Folder => None,
            Leaf::File(name, _) | Leaf::Missing(name) => Some(name),
        };
        let folders = self.folders.iter().skip(1).map(|(name, _)| *name);
        let names = folders.chain(leaf);
        let mut path = String::with_capacity(names.clone().map(|name| name.len() + 1).sum());
        for name in names {
            path.push('/');
            path.push_str(name);
        }
        if path.is_empty() {
            path.push('/');
        }
        path
    }
}

impl Walker {
    /// The key that `name` is looked up by.
    pub fn key<'a>(&self, name: &'a str) -> Cow<'a, str> {
        if self.case_sensitive {
            Cow::Borrowed(name)
        } else {
            Cow::Owned(name.to_lowercase())
        }
    }

    /// Whether the owner may do all of `bits` (4 read, 2 write, 1 search).
    pub fn may(&self, mode: u32, bits: u32) -> Result<(), FsErrorKind> {
        if self.superuser || (mode >> 6) & bits == bits {
            Ok(())
        } else {
            Err(FsErrorKind::Permission)
        }
    }

    /// Follows `path`, which is normal, to its end, links included.
    pub fn walk<'a>(
        &self,
        root: &'a Arc<Folder>,
        path: &'a str,
        for_what: For,
    ) -> Result<Place<'a>, FsErrorKind> {
        let mut folders: Vec<(&'a str, &'a Folder)> = Vec::with_capacity(USUAL_DEPTH);
        folders.push(("", root));
        let mut todo: Vec<&'a str> = Vec::with_capacity(USUAL_DEPTH);
        let mut links = 0;
        push_parts(&mut todo, path);
        while let Some(part) = todo.pop() {
            let folder = folders[folders.len() - 1].1;
            if part == TRAILING {
                continue;
            }
            self.may(folder.mode, 1)?;
            match part {
                "." => continue,
                ".." => {
                    if folders.len() > 1 {
                        folders.pop();
                    }
                    continue;
                }
                _ if part.len() > NAME_BYTES_MAX => return Err(FsErrorKind::Invalid),
                _ => {}
            }
            let is_last = todo.iter().all(|part| *part == TRAILING);
            let must_be_folder = !todo.is_empty();
            if for_what == For::Create && is_last && must_be_folder {
                // open(2) with O_CREAT refuses a trailing slash before it looks.
                return Err(FsErrorKind::IsDirectory);
            }
            let Some(child) = folder.get(&self.key(part)) else {
                if is_last && (!must_be_folder) {
                    return Ok(Place {
                        folders,
                        leaf: Leaf::Missing(part),
                    });
                }
                return Err(FsErrorKind::NotFound);
            };
            match &child.node {
                Node::Folder(below) => folders.push((&child.name, below)),
                Node::File(_) if must_be_folder => return Err(FsErrorKind::NotDirectory),
                Node::File(file) => {
                    return Ok(Place {
                        folders,
                        leaf: Leaf::File(&child.name, file),
                    });
                }
                Node::Link(link) => {
                    links += 1;
                    if links > LINKS_MAX {
                        return Err(FsErrorKind::Loop);
                    }
                    if link.target.starts_with('/') {
                        folders.truncate(1);
                    }
                    push_parts(&mut todo, &link.target);
                }
            }
        }
        Ok(Place {
            folders,
            leaf: Leaf::Folder,
        })
    }

    /// Follows `path` to the folder that holds its last component, which is not
    /// followed; `None` for the root.
    pub fn walk_to_parent<'a>(
        &self,
        root: &'a Arc<Folder>,
        path: &'a str,
    ) -> Result<Option<(Place<'a>, &'a str)>, FsErrorKind> {
        let Some((dir, name)) = split(path) else {
            return Ok(None);
        };
        let place = self.walk(root, dir, For::Use)?;
        match place.leaf {
            Leaf::Missing(_) => Err(FsErrorKind::NotFound),
            Leaf::File(..) => Err(FsErrorKind::NotDirectory),
            Leaf::Folder => {
                self.may(place.folder().mode, 1)?;
                Ok(Some((place, name)))
            }
        }
    }
}

/// Room for the folders of a path that is no deeper than most.
const USUAL_DEPTH: usize = 12;

/// Stands for a slash at the end of a link's target.
const TRAILING: &str = "/";

/// Pushes the components of `path`, the first on top.
fn push_parts<'a>(todo: &mut Vec<&'a str>, path: &'a str) {
    if path.len() > 1 && path.ends_with('/') {
        todo.push(TRAILING);
    }
    todo.extend(path.rsplit('/').filter(|part| !part.is_empty()));
}
