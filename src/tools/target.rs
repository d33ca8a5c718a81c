//! The file that a call is about: found by what the model wrote, loaded whole, and
//! explained if it is not there.

use super::nearest::{did_you_mean, nearest};
use super::{Refusal, ToolCx};
use crate::sim::Resource;
use crate::words::Class;
use crate::world::{Bytes, ContentHash, FsError, FsErrorKind, Meta, split};
use std::sync::Arc;

/// Files over this are read in pieces (`Fs::read` refuses them).
const PIECE_BYTES: u64 = 16 << 20;

/// A path as the model wrote it and the file it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    /// Absolute and normal, symlinks as written: for texts.
    pub path: String,
    /// Every symlink resolved, the spelling that the file system keeps: the file's identity.
    pub canonical: Arc<str>,
}

/// Finds the file that `raw` names; it need not exist, nor its folders.
pub(super) async fn resolve(cx: &ToolCx, raw: &str) -> Result<Target, Refusal> {
    if raw.trim().is_empty() {
        return Err(Refusal::new(
            Class::InvalidInput,
            "the path is empty. Give the path of a file.",
        ));
    }
    if raw.contains('\0') {
        return Err(Refusal::new(
            Class::InvalidInput,
            "the path holds a NUL character. Give the path without it.",
        ));
    }
    let path = cx.absolute(raw);
    let mut missing = String::new();
    let mut ancestor = path.as_str();
    loop {
        match cx.world.canonical(ancestor).await {
            Ok(found) => {
                let canonical = join(&found, &missing).into();
                return Ok(Target { path, canonical });
            }
            Err(e) if e.kind == FsErrorKind::NotFound => {
                let Some((dir, name)) = split(ancestor) else {
                    return Err(refused(&path, &e));
                };
                missing = join_relative(name, &missing);
                ancestor = dir;
            }
            Err(e) => return Err(refused(&path, &e)),
        }
    }
}

/// What planning may look at before the call begins: the resources that resolving
/// and touching the file that `raw` names will touch. This is nobody's operation.
pub(super) struct Foreseen {
    pub path: String,
    pub canonical: String,
    pub is_file: bool,
}

impl Foreseen {
    pub fn of(cx: &ToolCx, raw: &str) -> Foreseen {
        let path = cx.absolute(raw);
        let fs = cx.world.world().fs();
        let mut missing = String::new();
        let mut ancestor = path.as_str();
        let canonical = loop {
            match fs.canonical(ancestor) {
                Ok(found) => break join(&found, &missing),
                Err(_) => match split(ancestor) {
                    Some((dir, name)) => {
                        missing = join_relative(name, &missing);
                        ancestor = dir;
                    }
                    None => break path.clone(),
                },
            }
        };
        let is_file = fs
            .stat(&canonical)
            .is_ok_and(|meta| meta.kind == crate::world::FileKind::File);
        Foreseen {
            path,
            canonical,
            is_file,
        }
    }

    /// What finding the file and looking at it reads; for a missing one also the folder
    /// in which similar names are looked for.
    pub fn reads(&self) -> Vec<Resource> {
        let mut reads = self.finding();
        if !self.is_file
            && let Some((dir, _)) = split(&self.canonical)
        {
            reads.push(Resource::Subtree(dir.into()));
        }
        reads
    }

    /// What finding the file reads: each spelling, and for a missing one the folders above it.
    pub fn finding(&self) -> Vec<Resource> {
        let mut reads = vec![Resource::File(self.path.as_str().into())];
        if self.canonical != self.path {
            reads.push(Resource::File(self.canonical.as_str().into()));
        }
        if !self.is_file {
            let mut ancestor = self.path.as_str();
            while let Some((dir, _)) = split(ancestor) {
                reads.push(Resource::File(dir.into()));
                ancestor = dir;
            }
        }
        reads
    }

    /// What making or changing the file writes: it, and if it is new its entry and
    /// those of the folders that are made for it.
    pub fn writes(&self, cx: &ToolCx) -> Vec<Resource> {
        let mut writes = vec![Resource::File(self.canonical.as_str().into())];
        if !self.is_file {
            let fs = cx.world.world().fs();
            let mut path = self.canonical.as_str();
            while let Some((dir, name)) = split(path) {
                writes.push(Resource::Entry(dir.into(), name.into()));
                if fs.stat(dir).is_ok() {
                    break;
                }
                path = dir;
            }
        }
        writes
    }

    /// What the agent knows of the file.
    pub fn state(&self) -> Resource {
        Resource::FileState(self.canonical.as_str().into())
    }
}

fn join(dir: &str, rest: &str) -> String {
    if rest.is_empty() {
        dir.to_owned()
    } else if dir == "/" {
        format!("/{rest}")
    } else {
        format!("{dir}/{rest}")
    }
}

fn join_relative(name: &str, rest: &str) -> String {
    if rest.is_empty() {
        name.to_owned()
    } else {
        format!("{name}/{rest}")
    }
}

/// A file's content with its metadata.
pub(super) struct Loaded {
    pub content: Bytes,
    pub meta: Meta,
    /// It is large and begins as no text does: only that beginning was loaded.
    pub is_cut: bool,
}

/// Loads the whole content of a file.
pub(super) async fn load(cx: &ToolCx, target: &Target) -> Result<Loaded, FsError> {
    match cx.world.read_with_meta(&target.canonical).await {
        Err(e) if e.kind == FsErrorKind::TooLarge => load_in_pieces(cx, target).await,
        read => read.map(|(content, meta)| Loaded {
            content,
            meta,
            is_cut: false,
        }),
    }
}

/// The same with the content's hash.
pub(super) async fn load_hashed(
    cx: &ToolCx,
    target: &Target,
) -> Result<(Loaded, ContentHash), FsError> {
    match cx.world.read_hashed(&target.canonical).await {
        Err(e) if e.kind == FsErrorKind::TooLarge => {
            let loaded = load_in_pieces(cx, target).await?;
            let hash = ContentHash::of(&loaded.content);
            Ok((loaded, hash))
        }
        read => read.map(|(content, hash, meta)| {
            let loaded = Loaded {
                content,
                meta,
                is_cut: false,
            };
            (loaded, hash)
        }),
    }
}

/// Loads a file that is too large to be read at once. If it changes meanwhile the
/// pieces do not fit, which the comparison before a write finds.
async fn load_in_pieces(cx: &ToolCx, target: &Target) -> Result<Loaded, FsError> {
    let path = &target.canonical;
    let meta = cx.world.stat(path).await?;
    let mut content: Vec<u8> = Vec::new();
    loop {
        let at = content.len() as u64;
        let piece = cx.world.read_range(path, at, PIECE_BYTES).await?;
        let is_cut = at == 0 && super::form::looks_binary(&piece);
        content.extend_from_slice(&piece);
        if piece.is_empty() || is_cut {
            let content = content.into();
            return Ok(Loaded {
                content,
                meta,
                is_cut,
            });
        }
    }
}

/// What the file system's refusal means to the model.
pub(super) fn refused(path: &str, e: &FsError) -> Refusal {
    let text = match e.kind {
        FsErrorKind::NotFound => format!("{path} does not exist. Check the path."),
        FsErrorKind::IsDirectory => {
            format!("{path} is a folder. Give the path of a file in it; Glob lists them.")
        }
        FsErrorKind::NotDirectory => {
            format!("a part of {path} is a file, not a folder. Check the path.")
        }
        FsErrorKind::Loop => {
            format!("{path} leads in a circle of symbolic links. Give the path of the file itself.")
        }
        FsErrorKind::NoSpace => {
            format!("there is no space left for {path}. Nothing was written.")
        }
        FsErrorKind::Permission => {
            format!("the system does not permit this for {path}. Tell the user if it is needed.")
        }
        FsErrorKind::Outside => {
            format!("{path} lies outside the folder that can be reached. Use a path inside it.")
        }
        FsErrorKind::TooLarge => format!("{path} is too large for this. Read a part of it."),
        FsErrorKind::Exists | FsErrorKind::NotEmpty => {
            format!("{path} exists already. Choose another path.")
        }
        FsErrorKind::Invalid => format!("{path} is not a valid path. Check it."),
        FsErrorKind::Io => format!("the disk failed on {path}. Tell the user."),
    };
    Refusal::new(e.kind.class(), text)
}

/// That a file is missing, with the names that may have been meant.
pub(super) async fn missing(cx: &ToolCx, target: &Target) -> Refusal {
    let path = &target.path;
    let mut text = format!("{path} does not exist.");
    if let Some((dir, name)) = split(&target.canonical) {
        match cx.world.list(dir).await {
            Ok(entries) => {
                let names = entries.iter().map(|e| &*e.name);
                text.push_str(&did_you_mean(&nearest(name, names)));
            }
            Err(_) => text.push_str(&format!(" Its folder {dir} does not exist either.")),
        }
    }
    text.push_str(&format!(
        " The working folder is {}; Glob finds files by name.",
        cx.env.cwd
    ));
    Refusal::new(Class::NotFound, text)
}

/// The refusal for an error met while loading `target`.
pub(super) async fn not_loaded(cx: &ToolCx, target: &Target, e: &FsError) -> Refusal {
    if e.kind == FsErrorKind::NotFound {
        missing(cx, target).await
    } else {
        refused(&target.path, e)
    }
}
