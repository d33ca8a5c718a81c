//! The operations of a file system in memory: what each refuses, in the order in
//! which Linux would.

use super::super::fs::check_path;
use super::super::{
    Bytes, ContentHash, Entry, Found, Fs, FsError, FsErrorKind, Meta, ReplaceError,
};
use super::content::Content;
use super::folder::{File, Folder, Node};
use super::resolve::{For, Leaf};
use super::{DEPTH_MAX, MemoryFs, Rules, State, at, folder_at, leads_through};
use std::sync::Arc;

impl MemoryFs {
    /// Runs `read` on the tree as it is, `path` having been checked.
    fn look<T>(
        &self,
        path: &str,
        read: impl FnOnce(&Rules<'_>, &Arc<Folder>) -> Result<T, FsErrorKind>,
    ) -> Result<T, FsError> {
        check_path(path)
            .and_then(|()| read(&self.rules(), &self.root()))
            .map_err(at(path))
    }

    /// Runs `change` on the tree, `path` having been checked.
    fn change<T>(
        &self,
        path: &str,
        change: impl FnOnce(&Rules<'_>, &mut State) -> Result<T, FsErrorKind>,
    ) -> Result<T, FsError> {
        check_path(path)
            .and_then(|()| change(&self.rules(), &mut self.lock()))
            .map_err(at(path))
    }

    /// The content of a file that may be read.
    fn content(&self, path: &str) -> Result<Arc<Content>, FsError> {
        self.look(path, |rules, root| {
            let file = rules.readable(root, path)?;
            Ok(Arc::clone(&file.content))
        })
    }
}

impl Fs for MemoryFs {
    fn stat(&self, path: &str) -> Result<Meta, FsError> {
        self.look(path, |rules, root| {
            let place = rules.walker.walk(root, path, For::Use)?;
            match place.leaf {
                Leaf::Folder => Ok(place.folder().meta()),
                Leaf::File(_, file) => Ok(Node::File(file.clone()).meta()),
                Leaf::Missing(_) => Err(FsErrorKind::NotFound),
            }
        })
    }

    fn lstat(&self, path: &str) -> Result<Meta, FsError> {
        self.look(path, |rules, root| match rules.entry(root, path)? {
            Some(node) => Ok(node.meta()),
            None => Ok(root.meta()),
        })
    }

    fn read(&self, path: &str) -> Result<Bytes, FsError> {
        self.content(path)?.whole().map_err(at(path))
    }

    fn read_hashed(&self, path: &str) -> Result<(Bytes, ContentHash), FsError> {
        let content = self.content(path)?;
        let bytes = content.whole().map_err(at(path))?;
        Ok((bytes, content.hash()))
    }

    fn read_range(&self, path: &str, offset: u64, len: u64) -> Result<Bytes, FsError> {
        self.content(path)?.range(offset, len).map_err(at(path))
    }

    fn write(&self, path: &str, bytes: &[u8], mtime_ms: i64) -> Result<Meta, FsError> {
        self.change(path, |rules, state| {
            let make = |_: Option<&Content>| Ok(Content::of(bytes.into()));
            rules.written(state, path, mtime_ms, true, make)
        })
    }

    fn append(&self, path: &str, bytes: &[u8], mtime_ms: i64) -> Result<Meta, FsError> {
        self.change(path, |rules, state| {
            let make = |old: Option<&Content>| match old {
                Some(old) => old.appended(bytes),
                None => Ok(Content::of(bytes.into())),
            };
            rules.written(state, path, mtime_ms, !bytes.is_empty(), make)
        })
    }

    fn replace_if(
        &self,
        path: &str,
        expected: ContentHash,
        bytes: &[u8],
        mtime_ms: i64,
    ) -> Result<Meta, ReplaceError> {
        check_path(path).map_err(at(path))?;
        let rules = self.rules();
        let mut state = self.lock();
        let file = rules.readable(&state.root, path).map_err(at(path))?;
        let now = file.content.whole().map_err(at(path))?;
        if file.content.hash() != expected {
            return Err(ReplaceError::Changed(now));
        }
        let make = |_: Option<&Content>| Ok(Content::of(bytes.into()));
        let meta = rules.written(&mut state, path, mtime_ms, true, make);
        Ok(meta.map_err(at(path))?)
    }

    fn list(&self, path: &str) -> Result<Vec<Entry>, FsError> {
        self.look(path, |rules, root| {
            let place = rules.walker.walk(root, path, For::Use)?;
            let folder = folder_at(&place)?;
            rules.walker.may(folder.mode, 4)?;
            let entries = folder.by_name().into_iter();
            Ok(entries
                .map(|child| Entry {
                    name: Arc::clone(&child.name),
                    kind: child.node.kind(),
                })
                .collect())
        })
    }

    fn walk(&self, path: &str) -> Result<Vec<Found>, FsError> {
        self.look(path, |rules, root| {
            let place = rules.walker.walk(root, path, For::Use)?;
            let folder = folder_at(&place)?;
            rules.walker.may(folder.mode, 4)?;
            let mut found = Vec::new();
            let mut prefix = if path == "/" { "" } else { path }.to_owned();
            rules.find(folder, &mut prefix, &mut found);
            found.sort_by(|a, b| a.path.cmp(&b.path));
            Ok(found)
        })
    }

    fn mkdir(&self, path: &str, parents: bool, mtime_ms: i64) -> Result<(), FsError> {
        self.change(path, |rules, state| {
            if parents {
                rules.make_folders(state, path, mtime_ms)
            } else {
                rules.make_folder(state, path, mtime_ms)
            }
        })
    }

    fn remove(&self, path: &str, recursive: bool) -> Result<(), FsError> {
        self.change(path, |rules, state| {
            let Some((place, name)) = rules.walker.walk_to_parent(&state.root, path)? else {
                return Err(FsErrorKind::Invalid);
            };
            let parent = place.folder();
            let child = parent.get(&rules.walker.key(name));
            let child = child.ok_or(FsErrorKind::NotFound)?;
            rules.walker.may(parent.mode, 2)?;
            if let Node::Folder(folder) = &child.node
                && !folder.is_empty()
                && !recursive
            {
                return Err(FsErrorKind::NotEmpty);
            }
            let (names, name) = (place.names(), Arc::clone(&child.name));
            let parent = rules.folder_mut(&mut state.root, &names)?;
            let mut freed = 0;
            let outcome = rules.remove_tree(parent, &name, &mut freed);
            state.stored -= freed;
            outcome
        })
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), FsError> {
        check_path(to).map_err(at(from))?;
        self.change(from, |rules, state| rules.rename(state, from, to))
    }

    fn symlink(&self, target: &str, link: &str, mtime_ms: i64) -> Result<(), FsError> {
        self.change(link, |rules, state| {
            rules.add_link(state, target, link, mtime_ms)
        })
    }

    fn read_link(&self, path: &str) -> Result<String, FsError> {
        self.look(path, |rules, root| match rules.entry(root, path)? {
            Some(Node::Link(link)) => Ok(link.target.as_ref().to_owned()),
            _ => Err(FsErrorKind::Invalid),
        })
    }

    fn chmod(&self, path: &str, mode: u32) -> Result<(), FsError> {
        self.change(path, |rules, state| rules.set_mode(state, path, mode))
    }

    fn set_mtime(&self, path: &str, mtime_ms: i64) -> Result<(), FsError> {
        self.change(path, |rules, state| rules.set_mtime(state, path, mtime_ms))
    }

    fn canonical(&self, path: &str) -> Result<String, FsError> {
        self.look(path, |rules, root| {
            Ok(rules.walker.walk(root, path, For::Use)?.path())
        })
    }

    fn case_sensitive(&self) -> bool {
        self.options.case_sensitive
    }
}

impl Rules<'_> {
    /// The file at the end of `path`, if it may be read.
    fn readable<'a>(&self, root: &'a Arc<Folder>, path: &'a str) -> Result<&'a File, FsErrorKind> {
        let place = self.walker.walk(root, path, For::Use)?;
        match place.leaf {
            Leaf::Folder => {
                // Linux opens a folder for reading, then refuses the read.
                self.walker.may(place.folder().mode, 4)?;
                Err(FsErrorKind::IsDirectory)
            }
            Leaf::Missing(_) => Err(FsErrorKind::NotFound),
            Leaf::File(_, file) => {
                self.walker.may(file.mode, 4)?;
                Ok(file)
            }
        }
    }

    /// What `path` names, the last component not followed; `None` for the root.
    fn entry<'a>(
        &self,
        root: &'a Arc<Folder>,
        path: &'a str,
    ) -> Result<Option<&'a Node>, FsErrorKind> {
        let Some((place, name)) = self.walker.walk_to_parent(root, path)? else {
            return Ok(None);
        };
        let child = place.folder().get(&self.walker.key(name));
        Ok(Some(&child.ok_or(FsErrorKind::NotFound)?.node))
    }

    /// Replaces the content of a file by what `make` makes of it, or makes the file.
    /// `drops_set_id` says that the set-user and set-group bits go, as a write by
    /// others than the superuser takes them.
    fn written(
        &self,
        state: &mut State,
        path: &str,
        mtime_ms: i64,
        drops_set_id: bool,
        make: impl FnOnce(Option<&Content>) -> Result<Content, FsErrorKind>,
    ) -> Result<Meta, FsErrorKind> {
        let mut file = self.set_content(state, path, mtime_ms, make)?;
        let group = if file.mode & 0o010 == 0 { 0 } else { 0o2000 };
        let set_id = file.mode & (0o4000 | group);
        if drops_set_id && !self.walker.superuser && set_id != 0 {
            file.mode &= !set_id;
            self.set_mode(state, path, file.mode)?;
        }
        Ok(Node::File(file).meta())
    }

    /// Adds every file and link below `folder` to `found`. What may not be read is
    /// left out, as by the programs that search folders.
    fn find(&self, folder: &Folder, prefix: &mut String, found: &mut Vec<Found>) {
        if self.walker.may(folder.mode, 1).is_err() {
            return;
        }
        for child in folder.iter() {
            let before = prefix.len();
            prefix.push('/');
            prefix.push_str(&child.name);
            match &child.node {
                Node::Folder(below) => {
                    if self.walker.may(below.mode, 4).is_ok() {
                        self.find(below, prefix, found);
                    }
                }
                node => found.push(Found {
                    path: prefix.as_str().into(),
                    meta: node.meta(),
                }),
            }
            prefix.truncate(before);
        }
    }

    /// Removes the entry `name` of `parent` and everything below it, by name, until
    /// the modes forbid one; what was removed before that stays removed.
    fn remove_tree(
        &self,
        parent: &mut Folder,
        name: &str,
        freed: &mut u64,
    ) -> Result<(), FsErrorKind> {
        let key = self.walker.key(name).into_owned();
        self.walker.may(parent.mode, 3)?;
        if !self.walker.superuser
            && let Some(child) = parent.get_mut(&key)
            && let Node::Folder(folder) = &mut child.node
            && !folder.is_empty()
        {
            self.walker.may(folder.mode, 5)?;
            let folder = Arc::make_mut(folder);
            let names = folder.by_name().into_iter();
            let names: Vec<Arc<str>> = names.map(|child| Arc::clone(&child.name)).collect();
            for name in names {
                self.remove_tree(folder, &name, freed)?;
            }
        }
        if let Some(child) = parent.remove(&key) {
            *freed += child.node.stored();
        }
        Ok(())
    }

    fn rename(&self, state: &mut State, from: &str, to: &str) -> Result<(), FsErrorKind> {
        let from_at = self.walker.walk_to_parent(&state.root, from)?;
        let to_at = self.walker.walk_to_parent(&state.root, to)?;
        let (Some((from_at, from_name)), Some((to_at, to_name))) = (from_at, to_at) else {
            return Err(FsErrorKind::Invalid);
        };
        let source = from_at.folder().get(&self.walker.key(from_name));
        let source = source.ok_or(FsErrorKind::NotFound)?;
        let target = to_at.folder().get(&self.walker.key(to_name));
        let (from_names, to_names) = (from_at.names(), to_at.names());
        if leads_through(&to_names, &from_names, &source.name) {
            return Err(FsErrorKind::Invalid);
        }
        if let Some(target) = target
            && leads_through(&from_names, &to_names, &target.name)
        {
            return Err(FsErrorKind::NotEmpty);
        }
        let same_folder = from_names == to_names;
        let same_entry = same_folder && target.is_some_and(|target| target.name == source.name);
        if same_entry && *source.name == *to_name {
            return Ok(());
        }
        self.walker.may(from_at.folder().mode, 2)?;
        self.walker.may(to_at.folder().mode, 2)?;
        match (&source.node, target.map(|target| &target.node)) {
            (Node::Folder(_), Some(Node::File(_) | Node::Link(_))) => {
                return Err(FsErrorKind::NotDirectory);
            }
            (Node::File(_) | Node::Link(_), Some(Node::Folder(_))) => {
                return Err(FsErrorKind::IsDirectory);
            }
            (Node::Folder(moved), _) if !same_folder => {
                // Its `..` is rewritten.
                self.walker.may(moved.mode, 2)?;
            }
            _ => {}
        }
        if let Some(Node::Folder(replaced)) = target.map(|target| &target.node)
            && !same_entry
            && !replaced.is_empty()
        {
            return Err(FsErrorKind::NotEmpty);
        }
        if to_names.len() + source.node.height() > DEPTH_MAX {
            return Err(FsErrorKind::Invalid);
        }
        let replaced = target.filter(|_| !same_entry);
        let freed = replaced.map_or(0, |target| target.node.stored());
        let (from_key, to_name) = (
            self.walker.key(&source.name).into_owned(),
            to_name.to_owned(),
        );
        let moved = self
            .folder_mut(&mut state.root, &from_names)?
            .remove(&from_key)
            .ok_or(FsErrorKind::NotFound)?;
        state.stored -= freed;
        self.insert(state, &to_names, &to_name, moved.node)
    }
}
