//! The folders of a file system in memory, as a tree that copies share.

use super::super::{FileKind, Meta};
use super::content::Content;
use std::sync::{Arc, OnceLock};

/// Entries are kept in sorted chunks of at most this many: a write into a shared
/// folder copies one chunk and the list of chunks, not every entry.
const CHUNK_ENTRIES: usize = 64;

/// A file: cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct File {
    pub content: Arc<Content>,
    pub mode: u32,
    pub mtime_ms: i64,
}

/// A symlink: cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Link {
    pub target: Arc<str>,
    pub mtime_ms: i64,
}

/// What a name in a folder stands for. A clone shares everything below it.
#[derive(Debug, Clone)]
pub(super) enum Node {
    File(File),
    Folder(Arc<Folder>),
    Link(Link),
}

impl Node {
    pub fn kind(&self) -> FileKind {
        match self {
            Node::File(_) => FileKind::File,
            Node::Folder(_) => FileKind::Dir,
            Node::Link(_) => FileKind::Symlink,
        }
    }

    pub fn meta(&self) -> Meta {
        match self {
            Node::File(file) => Meta {
                kind: FileKind::File,
                size: file.content.size(),
                mode: file.mode,
                mtime_ms: file.mtime_ms,
            },
            Node::Folder(folder) => folder.meta(),
            Node::Link(link) => Meta {
                kind: FileKind::Symlink,
                size: link.target.len() as u64,
                mode: 0o777,
                mtime_ms: link.mtime_ms,
            },
        }
    }

    /// The bytes stored at and below the node.
    pub fn stored(&self) -> u64 {
        match self {
            Node::File(file) => file.content.stored(),
            Node::Link(_) => 0,
            Node::Folder(folder) => folder.iter().map(|child| child.node.stored()).sum(),
        }
    }

    /// How many folders lie one in the other at and below the node.
    pub fn height(&self) -> usize {
        match self {
            Node::File(_) | Node::Link(_) => 0,
            Node::Folder(folder) => {
                1 + folder
                    .iter()
                    .map(|child| child.node.height())
                    .max()
                    .unwrap_or(0)
            }
        }
    }

    /// The hash of kind, mode, bytes and link, without mtimes.
    pub fn hash(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("rehearsal world node 1");
        match self {
            Node::File(file) => {
                hasher.update(b"f");
                hasher.update(&file.mode.to_le_bytes());
                hasher.update(&file.content.hash().0);
            }
            Node::Link(link) => {
                hasher.update(b"l");
                hasher.update(link.target.as_bytes());
            }
            Node::Folder(folder) => return folder.hash(),
        }
        *hasher.finalize().as_bytes()
    }
}

/// One entry of a folder.
#[derive(Debug, Clone)]
pub(super) struct Child {
    /// The name as it is looked up: folded where case does not matter.
    key: Arc<str>,
    /// The name as it was written.
    pub name: Arc<str>,
    pub node: Node,
}

/// A folder.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    pub mode: u32,
    pub mtime_ms: i64,
    /// Sorted by key; no chunk is empty.
    chunks: Vec<Arc<Vec<Child>>>,
    /// Of everything at and below; emptied by every change there.
    hash: OnceLock<[u8; 32]>,
}

impl Folder {
    pub fn new(mode: u32, mtime_ms: i64) -> Folder {
        Folder {
            mode,
            mtime_ms,
            chunks: Vec::new(),
            hash: OnceLock::new(),
        }
    }

    pub fn meta(&self) -> Meta {
        Meta {
            kind: FileKind::Dir,
            size: 0,
            mode: self.mode,
            mtime_ms: self.mtime_ms,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Every entry, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = &Child> {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }

    /// Every entry, sorted by name, by bytes.
    pub fn by_name(&self) -> Vec<&Child> {
        let mut children: Vec<&Child> = self.iter().collect();
        children.sort_by(|a, b| a.name.cmp(&b.name));
        children
    }

    /// Where `key` is, or would be: chunk and place in it.
    fn place(&self, key: &str) -> (usize, Result<usize, usize>) {
        let chunk = self
            .chunks
            .partition_point(|chunk| chunk.last().is_some_and(|last| &*last.key < key));
        let within = match self.chunks.get(chunk) {
            Some(chunk) => chunk.binary_search_by(|child| (*child.key).cmp(key)),
            None => Err(0),
        };
        (chunk, within)
    }

    pub fn get(&self, key: &str) -> Option<&Child> {
        let (chunk, within) = self.place(key);
        self.chunks.get(chunk)?.get(within.ok()?)
    }

    /// The entry, to be changed: the hash is forgotten, a shared chunk is copied.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Child> {
        let (chunk, within) = self.place(key);
        let within = within.ok()?;
        self.hash = OnceLock::new();
        Arc::make_mut(self.chunks.get_mut(chunk)?).get_mut(within)
    }

    /// Puts an entry, replacing the one of the same key.
    pub fn insert(&mut self, key: Arc<str>, name: Arc<str>, node: Node) {
        self.hash = OnceLock::new();
        let (at, within) = self.place(&key);
        let child = Child { key, name, node };
        // A key above all others goes to the end of the last chunk.
        let last = self.chunks.len().saturating_sub(1);
        let (at, within) = match self.chunks.get(at) {
            Some(_) => (at, within),
            None => (last, Err(self.chunks.get(last).map_or(0, |c| c.len()))),
        };
        let Some(chunk) = self.chunks.get_mut(at) else {
            self.chunks.push(Arc::new(vec![child]));
            return;
        };
        let entries = Arc::make_mut(chunk);
        match within {
            Ok(i) => entries[i] = child,
            Err(i) => entries.insert(i, child),
        }
        if entries.len() > CHUNK_ENTRIES {
            let upper = entries.split_off(CHUNK_ENTRIES / 2);
            self.chunks.insert(at + 1, Arc::new(upper));
        }
    }

    pub fn remove(&mut self, key: &str) -> Option<Child> {
        let (at, within) = self.place(key);
        let within = within.ok()?;
        self.hash = OnceLock::new();
        let entries = Arc::make_mut(self.chunks.get_mut(at)?);
        let child = entries.remove(within);
        if entries.is_empty() {
            self.chunks.remove(at);
        }
        Some(child)
    }

    /// Forgets the hash, because something below is about to change.
    pub fn touch(&mut self) {
        self.hash = OnceLock::new();
    }

    /// The hash of mode, names and everything below, without mtimes; worked out
    /// once for what does not change.
    pub fn hash(&self) -> [u8; 32] {
        *self.hash.get_or_init(|| {
            let mut hasher = blake3::Hasher::new_derive_key("rehearsal world folder 1");
            hasher.update(&self.mode.to_le_bytes());
            for child in self.by_name() {
                hasher.update(&(child.name.len() as u64).to_le_bytes());
                hasher.update(child.name.as_bytes());
                hasher.update(&child.node.hash());
            }
            *hasher.finalize().as_bytes()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn link(target: &str) -> Node {
        Node::Link(Link {
            target: target.into(),
            mtime_ms: 0,
        })
    }

    #[test]
    fn a_folder_behaves_as_an_ordered_map() {
        let mut folder = Folder::new(0o755, 0);
        let mut model = BTreeMap::new();
        // A walk over all residues of 997, so that insertions land everywhere.
        for i in 0..997u32 {
            let name: Arc<str> = format!("{:03}", i * 331 % 997).into();
            folder.insert(Arc::clone(&name), Arc::clone(&name), link(&name));
            model.insert(name, i);
        }
        let shared = folder.clone();
        for i in (0..997u32).step_by(3) {
            let name = format!("{i:03}");
            assert!(folder.remove(&name).is_some());
            assert!(folder.remove(&name).is_none());
            model.remove(name.as_str());
        }
        let names: Vec<_> = folder.iter().map(|c| Arc::clone(&c.name)).collect();
        assert_eq!(names, model.keys().cloned().collect::<Vec<_>>());
        assert!(model.keys().all(|name| folder.get(name).is_some()));
        assert_eq!(shared.iter().count(), 997);
        assert!(
            folder
                .chunks
                .iter()
                .all(|c| !c.is_empty() && c.len() <= CHUNK_ENTRIES)
        );
    }

    #[test]
    fn a_change_after_a_copy_leaves_the_other_chunks_shared() {
        let mut a = Folder::new(0o755, 0);
        for i in 0..10_000u32 {
            let name: Arc<str> = format!("{i:05}").into();
            a.insert(Arc::clone(&name), name, link("x"));
        }
        let mut b = a.clone();
        b.insert("05000x".into(), "05000x".into(), link("y"));
        let shared = a
            .chunks
            .iter()
            .filter(|chunk| b.chunks.iter().any(|other| Arc::ptr_eq(chunk, other)))
            .count();
        assert_eq!(shared, a.chunks.len() - 1);
        assert_ne!(a.hash(), b.hash());
        b.remove("05000x");
        assert_eq!(a.hash(), b.hash());
    }
}
