//! What a file system in memory holds, listed and compared.

use super::super::{Bytes, ContentHash, Meta};
use super::MemoryFs;
use super::folder::{Folder, Node};
use std::sync::Arc;

/// What an entry holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    Folder,
    /// The content's hash, and its bytes if they can be read whole.
    File {
        hash: ContentHash,
        bytes: Option<Bytes>,
    },
    Link {
        target: Arc<str>,
    },
}

/// One entry of a whole tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Absolute.
    pub path: String,
    pub meta: Meta,
    pub held: Held,
}

/// How an entry differs between two trees. The first that applies is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Differs {
    /// Only the second has it.
    Added,
    /// Only the first has it.
    Removed,
    Kind,
    /// The bytes of a file or the target of a link.
    Content,
    Mode,
}

/// One path at which two trees differ.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// Absolute.
    pub path: String,
    pub differs: Differs,
}

impl MemoryFs {
    /// Every folder, file and symlink but the root, whatever the modes say; sorted by path.
    pub fn entries(&self) -> Vec<Kept> {
        let mut kept = Vec::new();
        collect(&self.root(), "", &mut kept);
        kept.sort_by(|a, b| a.path.cmp(&b.path));
        kept
    }
}

fn collect(folder: &Folder, prefix: &str, kept: &mut Vec<Kept>) {
    for child in folder.iter() {
        let path = format!("{prefix}/{}", child.name);
        let held = match &child.node {
            Node::Folder(below) => {
                collect(below, &path, kept);
                Held::Folder
            }
            Node::File(file) => Held::File {
                hash: file.content.hash(),
                bytes: file.content.whole().ok(),
            },
            Node::Link(link) => Held::Link {
                target: Arc::clone(&link.target),
            },
        };
        kept.push(Kept {
            path,
            meta: child.node.meta(),
            held,
        });
    }
}

/// The paths at which two file systems differ in what [`MemoryFs::world_hash`]
/// covers, sorted. Parts that they share cost nothing.
pub fn diff(a: &MemoryFs, b: &MemoryFs) -> Vec<Difference> {
    let mut found = Vec::new();
    let (a, b) = (a.root(), b.root());
    if a.mode != b.mode {
        note("/", Differs::Mode, &mut found);
    }
    folders(&a, &b, "", &mut found);
    found.sort();
    found
}

fn note(path: &str, differs: Differs, found: &mut Vec<Difference>) {
    found.push(Difference {
        path: path.to_owned(),
        differs,
    });
}

fn folders(a: &Arc<Folder>, b: &Arc<Folder>, prefix: &str, found: &mut Vec<Difference>) {
    if Arc::ptr_eq(a, b) || a.hash() == b.hash() {
        return;
    }
    let (ours, theirs) = (a.by_name(), b.by_name());
    let (mut ours, mut theirs) = (ours.into_iter().peekable(), theirs.into_iter().peekable());
    loop {
        let order = match (ours.peek(), theirs.peek()) {
            (None, None) => return,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(our), Some(their)) => our.name.cmp(&their.name),
        };
        let our = ours.next_if(|_| order.is_le());
        let their = theirs.next_if(|_| order.is_ge());
        let name = our.or(their).map_or("", |child| &child.name);
        let path = format!("{prefix}/{name}");
        match (our.map(|c| &c.node), their.map(|c| &c.node)) {
            (Some(our), Some(their)) => nodes(our, their, &path, found),
            (Some(our), None) => whole(our, &path, Differs::Removed, found),
            (None, Some(their)) => whole(their, &path, Differs::Added, found),
            (None, None) => {}
        }
    }
}

fn nodes(a: &Node, b: &Node, path: &str, found: &mut Vec<Difference>) {
    match (a, b) {
        (Node::File(a), Node::File(b)) => {
            if !Arc::ptr_eq(&a.content, &b.content) && a.content.hash() != b.content.hash() {
                note(path, Differs::Content, found);
            } else if a.mode != b.mode {
                note(path, Differs::Mode, found);
            }
        }
        (Node::Link(a), Node::Link(b)) => {
            if a.target != b.target {
                note(path, Differs::Content, found);
            }
        }
        (Node::Folder(a), Node::Folder(b)) => {
            if a.mode != b.mode {
                note(path, Differs::Mode, found);
            }
            folders(a, b, path, found);
        }
        _ => {
            note(path, Differs::Kind, found);
            below(a, path, Differs::Removed, found);
            below(b, path, Differs::Added, found);
        }
    }
}

/// Notes a node that only one side has, and everything below it.
fn whole(node: &Node, path: &str, differs: Differs, found: &mut Vec<Difference>) {
    note(path, differs, found);
    below(node, path, differs, found);
}

fn below(node: &Node, path: &str, differs: Differs, found: &mut Vec<Difference>) {
    if let Node::Folder(folder) = node {
        for child in folder.iter() {
            whole(
                &child.node,
                &format!("{path}/{}", child.name),
                differs,
                found,
            );
        }
    }
}
