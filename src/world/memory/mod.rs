//! A file system in memory that behaves as Linux does, whatever machine it is on.
//!
//! The tree is persistent: a clone of a [`MemoryFs`] shares everything with its
//! original and costs microseconds whatever its size; a write copies the path to
//! the file, not the world.

mod compare;
mod content;
mod folder;
mod operations;
mod resolve;

pub use compare::{Difference, Differs, Held, Kept, diff};

use super::fs::{check_path, for_missing_folders};
use super::{Bytes, ContentHash, FsError, FsErrorKind};
use content::Content;
use folder::{File, Folder, Link, Node};
use resolve::{For, Leaf, Place, Walker};
use std::sync::{Arc, Mutex, MutexGuard};

/// The depth of the deepest folder: what fits into a path of one-letter names.
const DEPTH_MAX: usize = super::fs::PATH_BYTES_MAX / 2;

/// The settings of a file system in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryOptions {
    /// Whether `a` and `A` are two names. If not, a name keeps the case it was made with.
    pub case_sensitive: bool,
    /// Mtimes are cut down to a multiple of this; 0 counts as 1.
    pub mtime_granularity_ms: u32,
    /// How many bytes of content it can hold; holes of sparse files are free.
    pub capacity_bytes: u64,
    /// Whether mode bits bind nobody, as for root on Linux.
    pub superuser: bool,
    /// The bits that a new file (0o666) or folder (0o777) is made without.
    pub umask: u32,
}

impl Default for MemoryOptions {
    fn default() -> MemoryOptions {
        MemoryOptions {
            case_sensitive: true,
            mtime_granularity_ms: 1,
            capacity_bytes: u64::MAX,
            superuser: false,
            umask: 0o022,
        }
    }
}

/// A file system in memory. A clone is an independent file system that begins
/// with the same tree.
///
/// What it does not do: hard links, owners and groups (everything belongs to one
/// owner, whose bits of the mode are enforced), times of access, and the mtime of
/// a folder, which is when it was made and does not move as entries come and go,
/// so that two writes into one folder have nothing in common. A write for which
/// there is no space changes nothing, where a disk would leave a part.
pub struct MemoryFs {
    options: MemoryOptions,
    state: Mutex<State>,
}

#[derive(Clone)]
struct State {
    root: Arc<Folder>,
    /// The sum of what every file stores, in bytes.
    stored: u64,
}

impl Clone for MemoryFs {
    fn clone(&self) -> MemoryFs {
        MemoryFs {
            options: self.options.clone(),
            state: Mutex::new(self.lock().clone()),
        }
    }
}

impl std::fmt::Debug for MemoryFs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let stored = self.lock().stored;
        f.debug_struct("MemoryFs")
            .field("options", &self.options)
            .field("stored_bytes", &stored)
            .finish_non_exhaustive()
    }
}

impl MemoryFs {
    /// An empty root folder.
    pub fn new(options: MemoryOptions) -> MemoryFs {
        let root = Arc::new(Folder::new(0o777 & !options.umask, 0));
        MemoryFs {
            options,
            state: Mutex::new(State { root, stored: 0 }),
        }
    }

    /// The settings it was made with.
    pub fn options(&self) -> &MemoryOptions {
        &self.options
    }

    /// The same tree under other settings.
    pub fn with_options(&self, options: MemoryOptions) -> MemoryFs {
        MemoryFs {
            options,
            state: Mutex::new(self.lock().clone()),
        }
    }

    /// An independent copy of the tree as it is now.
    pub fn snapshot(&self) -> MemoryFs {
        self.clone()
    }

    /// The bytes of content it holds, holes not counted.
    pub fn stored_bytes(&self) -> u64 {
        self.lock().stored
    }

    /// The hash of every path, kind, mode, byte and link. Mtimes are not part of it:
    /// they may depend on the schedule where bytes may not.
    pub fn world_hash(&self) -> ContentHash {
        ContentHash(self.root().hash())
    }

    /// Puts a file and the folders above it, whatever the modes say; replaces a file.
    pub fn put_file(
        &self,
        path: &str,
        bytes: impl Into<Bytes>,
        mode: u32,
        mtime_ms: i64,
    ) -> Result<(), FsError> {
        self.put_content(path, Content::of(bytes.into()), mode, mtime_ms)
    }

    /// Puts a file of `size` bytes that are zeros but for `extents` (offset, bytes),
    /// sorted and not overlapping.
    pub fn put_sparse(
        &self,
        path: &str,
        size: u64,
        extents: &[(u64, &[u8])],
        mode: u32,
        mtime_ms: i64,
    ) -> Result<(), FsError> {
        let content = Content::sparse(size, extents).map_err(at(path))?;
        self.put_content(path, content, mode, mtime_ms)
    }

    /// Puts a symlink, which may dangle, and the folders above it.
    pub fn put_symlink(&self, path: &str, target: &str, mtime_ms: i64) -> Result<(), FsError> {
        self.put_parents(path, mtime_ms)?;
        self.preparing()
            .add_link(&mut self.lock(), target, path, mtime_ms)
            .map_err(at(path))
    }

    /// Puts a folder and those above it; an existing one gets the mode and the mtime.
    pub fn put_dir(&self, path: &str, mode: u32, mtime_ms: i64) -> Result<(), FsError> {
        let prepare = self.preparing();
        let mut state = self.lock();
        prepare
            .make_folders(&mut state, path, mtime_ms)
            .and_then(|()| prepare.set_mode(&mut state, path, mode))
            .and_then(|()| prepare.set_mtime(&mut state, path, mtime_ms))
            .map_err(at(path))
    }

    fn put_content(
        &self,
        path: &str,
        content: Content,
        mode: u32,
        mtime_ms: i64,
    ) -> Result<(), FsError> {
        self.put_parents(path, mtime_ms)?;
        let prepare = self.preparing();
        let mut state = self.lock();
        prepare
            .set_content(&mut state, path, mtime_ms, |_| Ok(content))
            .and_then(|_| prepare.set_mode(&mut state, path, mode))
            .map_err(at(path))
    }

    fn put_parents(&self, path: &str, mtime_ms: i64) -> Result<(), FsError> {
        check_path(path).map_err(at(path))?;
        match super::split(path) {
            Some((dir, _)) => self
                .preparing()
                .make_folders(&mut self.lock(), dir, mtime_ms)
                .map_err(at(path)),
            None => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics half-way through a change.
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn root(&self) -> Arc<Folder> {
        Arc::clone(&self.lock().root)
    }

    /// The rules as the options say.
    fn rules(&self) -> Rules<'_> {
        Rules {
            options: &self.options,
            walker: Walker {
                case_sensitive: self.options.case_sensitive,
                superuser: self.options.superuser,
            },
        }
    }

    /// The rules for somebody whom modes do not bind.
    fn preparing(&self) -> Rules<'_> {
        let mut rules = self.rules();
        rules.walker.superuser = true;
        rules
    }
}

/// Makes an error of `path`.
fn at(path: &str) -> impl Fn(FsErrorKind) -> FsError + '_ {
    move |kind| FsError {
        kind,
        path: path.to_owned(),
    }
}

/// What may be changed and how.
struct Rules<'a> {
    options: &'a MemoryOptions,
    walker: Walker,
}

impl Rules<'_> {
    fn cut(&self, mtime_ms: i64) -> i64 {
        let granularity = i64::from(self.options.mtime_granularity_ms.max(1));
        mtime_ms.saturating_sub(mtime_ms.rem_euclid(granularity))
    }

    /// The folder that `names` lead to, for changing it.
    fn folder_mut<'s>(
        &self,
        root: &'s mut Arc<Folder>,
        names: &[String],
    ) -> Result<&'s mut Folder, FsErrorKind> {
        let mut folder = Arc::make_mut(root);
        for name in names {
            let child = folder
                .get_mut(&self.walker.key(name))
                .ok_or(FsErrorKind::NotFound)?;
            let Node::Folder(below) = &mut child.node else {
                return Err(FsErrorKind::NotDirectory);
            };
            folder = Arc::make_mut(below);
        }
        folder.touch();
        Ok(folder)
    }

    /// Puts `node` as `name` into the folder that `names` lead to.
    fn insert(
        &self,
        state: &mut State,
        names: &[String],
        name: &str,
        node: Node,
    ) -> Result<(), FsErrorKind> {
        let key: Arc<str> = self.walker.key(name).into();
        let name = if *key == *name {
            Arc::clone(&key)
        } else {
            name.into()
        };
        self.folder_mut(&mut state.root, names)?
            .insert(key, name, node);
        Ok(())
    }

    /// Replaces the content of a file by what `make` makes of it, or makes the file.
    fn set_content(
        &self,
        state: &mut State,
        path: &str,
        mtime_ms: i64,
        make: impl FnOnce(Option<&Content>) -> Result<Content, FsErrorKind>,
    ) -> Result<File, FsErrorKind> {
        let place = self.walker.walk(&state.root, path, For::Create)?;
        let (name, old) = match place.leaf {
            Leaf::Folder => return Err(FsErrorKind::IsDirectory),
            Leaf::File(name, file) => {
                self.walker.may(file.mode, 2)?;
                (name, Some(file))
            }
            Leaf::Missing(name) => {
                self.walker.may(place.folder().mode, 2)?;
                (name, None)
            }
        };
        let content = make(old.map(|file| &*file.content))?;
        let old_stored = old.map_or(0, |file| file.content.stored());
        let stored = (state.stored - old_stored)
            .checked_add(content.stored())
            .filter(|stored| *stored <= self.options.capacity_bytes)
            .ok_or(FsErrorKind::NoSpace)?;
        let file = File {
            content: Arc::new(content),
            mode: old.map_or(0o666 & !self.options.umask, |file| file.mode),
            mtime_ms: self.cut(mtime_ms),
        };
        let (names, name) = (place.names(), name.to_owned());
        // An existing entry keeps its name in the case it was made with: `name` is that.
        self.insert(state, &names, &name, Node::File(file.clone()))?;
        state.stored = stored;
        Ok(file)
    }

    fn add_link(
        &self,
        state: &mut State,
        target: &str,
        link: &str,
        mtime_ms: i64,
    ) -> Result<(), FsErrorKind> {
        if target.is_empty() {
            return Err(FsErrorKind::NotFound);
        }
        if target.len() > super::fs::PATH_BYTES_MAX || target.contains('\0') {
            return Err(FsErrorKind::Invalid);
        }
        let (names, name) = self.vacant(state, link)?;
        let node = Node::Link(Link {
            target: target.into(),
            mtime_ms: self.cut(mtime_ms),
        });
        self.insert(state, &names, &name, node)
    }

    fn make_folder(&self, state: &mut State, path: &str, mtime_ms: i64) -> Result<(), FsErrorKind> {
        let (names, name) = self.vacant(state, path)?;
        let inherited = self.folder_mut(&mut state.root, &names)?.mode & 0o2000;
        let mode = (0o777 & !self.options.umask) | inherited;
        let folder = Folder::new(mode, self.cut(mtime_ms));
        self.insert(state, &names, &name, Node::Folder(Arc::new(folder)))
    }

    /// Where `path` would be made: the folder must exist and let it, the entry must not exist.
    fn vacant(&self, state: &State, path: &str) -> Result<(Vec<String>, String), FsErrorKind> {
        let Some((place, name)) = self.walker.walk_to_parent(&state.root, path)? else {
            return Err(FsErrorKind::Exists);
        };
        if place.folder().get(&self.walker.key(name)).is_some() {
            return Err(FsErrorKind::Exists);
        }
        self.walker.may(place.folder().mode, 2)?;
        Ok((place.names(), name.to_owned()))
    }

    /// Makes `path` and the folders above it as far as they are missing.
    fn make_folders(
        &self,
        state: &mut State,
        path: &str,
        mtime_ms: i64,
    ) -> Result<(), FsErrorKind> {
        check_path(path)?;
        for_missing_folders(path, |upto| {
            let place = self.walker.walk(&state.root, upto, For::Use);
            match place.is_ok_and(|place| matches!(place.leaf, Leaf::Folder)) {
                true => Ok(()),
                false => self.make_folder(state, upto, mtime_ms),
            }
        })
    }

    fn set_mode(&self, state: &mut State, path: &str, mode: u32) -> Result<(), FsErrorKind> {
        self.update(
            state,
            path,
            |file| file.mode = mode & 0o7777,
            |folder| folder.mode = mode & 0o7777,
        )
    }

    fn set_mtime(&self, state: &mut State, path: &str, mtime_ms: i64) -> Result<(), FsErrorKind> {
        let mtime_ms = self.cut(mtime_ms);
        self.update(
            state,
            path,
            |file| file.mtime_ms = mtime_ms,
            |folder| folder.mtime_ms = mtime_ms,
        )
    }

    /// Changes the metadata of what `path` leads to.
    fn update(
        &self,
        state: &mut State,
        path: &str,
        file: impl FnOnce(&mut File),
        folder: impl FnOnce(&mut Folder),
    ) -> Result<(), FsErrorKind> {
        let place = self.walker.walk(&state.root, path, For::Use)?;
        let names = place.names();
        let name = match place.leaf {
            Leaf::Missing(_) => return Err(FsErrorKind::NotFound),
            Leaf::Folder => None,
            Leaf::File(name, _) => Some(name.to_owned()),
        };
        let parent = self.folder_mut(&mut state.root, &names)?;
        let Some(name) = name else {
            folder(parent);
            return Ok(());
        };
        let child = parent.get_mut(&self.walker.key(&name));
        if let Some(Node::File(it)) = child.map(|child| &mut child.node) {
            file(it);
        }
        Ok(())
    }
}

/// Whether `names` begin with `prefix` and then `name`.
fn leads_through(names: &[String], prefix: &[String], name: &str) -> bool {
    names.len() > prefix.len() && names.starts_with(prefix) && names[prefix.len()] == name
}

/// The folder that `place` is, if it is one.
fn folder_at<'a>(place: &Place<'a>) -> Result<&'a Folder, FsErrorKind> {
    match place.leaf {
        Leaf::Folder => Ok(place.folder()),
        Leaf::File(..) => Err(FsErrorKind::NotDirectory),
        Leaf::Missing(_) => Err(FsErrorKind::NotFound),
    }
}

#[cfg(test)]
mod tests;
