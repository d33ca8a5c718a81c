//! What a file system is to the runtime, on whichever arm: the simulated one in
//! memory or a confined folder of a real disk.
//!
//! Paths are absolute, UTF-8, `/`-separated and normal (no `.`, `..`, `//` or
//! trailing `/` except the root): [`normalize`] makes them so. Symlinks are
//! followed by everything but [`Fs::lstat`], [`Fs::read_link`], [`Fs::remove`]
//! and the last component of [`Fs::rename`] and [`Fs::symlink`].

use crate::words::Class;
use std::sync::Arc;

/// The bytes of a file, shared.
pub type Bytes = Arc<[u8]>;

/// What a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileKind {
    File,
    Dir,
    Symlink,
}

/// What is known of a path without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meta {
    pub kind: FileKind,
    /// In bytes; 0 for folders.
    pub size: u64,
    /// Permission bits, at most `0o7777`.
    pub mode: u32,
    /// Milliseconds since 1970, cut to the file system's granularity.
    pub mtime_ms: i64,
}

/// One entry of a folder, as [`Fs::list`] gives them: sorted by name, by bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: Arc<str>,
    pub kind: FileKind,
}

/// One file below a folder, as [`Fs::walk`] gives them: sorted by path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Absolute.
    pub path: Arc<str>,
    pub meta: Meta,
}

/// Why the file system refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {}", .path, .kind.as_str())]
pub struct FsError {
    pub kind: FsErrorKind,
    /// The path that the operation was asked for.
    pub path: String,
}

/// The kind of a refusal, named as in the outcome classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FsErrorKind {
    NotFound,
    Exists,
    IsDirectory,
    NotDirectory,
    NotEmpty,
    Loop,
    NoSpace,
    Permission,
    /// Outside the root, or more than can be read at once.
    TooLarge,
    Outside,
    Invalid,
}

impl FsErrorKind {
    /// What the refusal is, in words that fit after "failed: ".
    pub fn as_str(self) -> &'static str {
        match self {
            FsErrorKind::NotFound => "no such file or directory",
            FsErrorKind::Exists => "file exists",
            FsErrorKind::IsDirectory => "is a directory",
            FsErrorKind::NotDirectory => "not a directory",
            FsErrorKind::NotEmpty => "directory not empty",
            FsErrorKind::Loop => "too many levels of symbolic links",
            FsErrorKind::NoSpace => "no space left on device",
            FsErrorKind::Permission => "permission denied",
            FsErrorKind::TooLarge => "file too large",
            FsErrorKind::Outside => "outside the root of this file system",
            FsErrorKind::Invalid => "invalid path",
        }
    }

    /// The outcome class of a call that met this refusal.
    pub fn class(self) -> Class {
        match self {
            FsErrorKind::NotFound => Class::NotFound,
            FsErrorKind::Exists | FsErrorKind::NotEmpty => Class::Exists,
            FsErrorKind::IsDirectory => Class::IsDirectory,
            FsErrorKind::NotDirectory => Class::NotDirectory,
            FsErrorKind::Loop => Class::Loop,
            FsErrorKind::NoSpace => Class::NoSpace,
            FsErrorKind::Permission | FsErrorKind::Outside => Class::PermissionOs,
            FsErrorKind::TooLarge => Class::TooLarge,
            FsErrorKind::Invalid => Class::InvalidInput,
        }
    }
}

/// A blake3 hash of some content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash(pub [u8; 32]);

impl ContentHash {
    /// The hash of `bytes`.
    pub fn of(bytes: &[u8]) -> ContentHash {
        ContentHash(*blake3::hash(bytes).as_bytes())
    }
}

/// Why a compare-and-write did not write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplaceError {
    /// The file holds something else than was expected; what it holds now.
    Changed(Bytes),
    Fs(FsError),
}

/// A file system. Every method is one step that nothing can interleave.
pub trait Fs: Send + Sync {
    fn stat(&self, path: &str) -> Result<Meta, FsError>;
    fn lstat(&self, path: &str) -> Result<Meta, FsError>;
    /// The whole content. Fails with `TooLarge` over 64 MiB: use [`Fs::read_range`].
    fn read(&self, path: &str) -> Result<Bytes, FsError>;
    /// At most `len` bytes from byte `offset`; fewer at the end.
    fn read_range(&self, path: &str, offset: u64, len: u64) -> Result<Bytes, FsError>;
    /// Creates or replaces a file (mode kept if it exists, else 0o644). The folder must exist.
    fn write(&self, path: &str, bytes: &[u8], mtime_ms: i64) -> Result<Meta, FsError>;
    fn append(&self, path: &str, bytes: &[u8], mtime_ms: i64) -> Result<Meta, FsError>;
    /// Writes if the file's content hashes to `expected`, in one step.
    fn replace_if(
        &self,
        path: &str,
        expected: ContentHash,
        bytes: &[u8],
        mtime_ms: i64,
    ) -> Result<Meta, ReplaceError>;
    fn list(&self, path: &str) -> Result<Vec<Entry>, FsError>;
    /// Every file and symlink below a folder (not the folders), links not followed, sorted by path.
    fn walk(&self, path: &str) -> Result<Vec<Found>, FsError>;
    /// Makes a folder; with `parents`, also those above it, and an existing folder is no error.
    fn mkdir(&self, path: &str, parents: bool, mtime_ms: i64) -> Result<(), FsError>;
    /// Removes a file, a symlink or a folder; a folder with entries only if `recursive`.
    fn remove(&self, path: &str, recursive: bool) -> Result<(), FsError>;
    fn rename(&self, from: &str, to: &str, mtime_ms: i64) -> Result<(), FsError>;
    fn symlink(&self, target: &str, link: &str, mtime_ms: i64) -> Result<(), FsError>;
    fn read_link(&self, path: &str) -> Result<String, FsError>;
    fn chmod(&self, path: &str, mode: u32) -> Result<(), FsError>;
    fn set_mtime(&self, path: &str, mtime_ms: i64) -> Result<(), FsError>;
    /// The path with every symlink resolved; the last component need not exist.
    fn canonical(&self, path: &str) -> Result<String, FsError>;
    /// Whether two names that differ in case are two files.
    fn case_sensitive(&self) -> bool;
}

/// The absolute, normal form of `path` as seen from `cwd`: `.`, `..` and `//`
/// resolved by text, `~` not expanded, never above the root.
pub fn normalize(cwd: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let absolute = path.starts_with('/');
    let whole = if absolute { "" } else { cwd };
    for part in whole.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    if parts.is_empty() {
        "/".to_owned()
    } else {
        format!("/{}", parts.join("/"))
    }
}

/// The folder of a normal path and the name in it; `None` for the root.
pub fn split(path: &str) -> Option<(&str, &str)> {
    let (dir, name) = path.rsplit_once('/')?;
    if name.is_empty() {
        return None;
    }
    Some((if dir.is_empty() { "/" } else { dir }, name))
}
