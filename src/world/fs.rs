//! What a file system is to the runtime, on whichever arm: the simulated one in
//! memory or a confined folder of a real disk.
//!
//! Paths are absolute, UTF-8, `/`-separated and normal (no `.`, `..`, `//` or
//! trailing `/` except the root): [`normalize`] makes them so. Symlinks are
//! followed by everything but [`Fs::lstat`], [`Fs::read_link`], [`Fs::remove`]
//! and the last component of [`Fs::rename`] and [`Fs::symlink`].

use crate::words::Class;
use std::sync::Arc;

/// The most that [`Fs::read`] and [`Fs::read_range`] give at once.
pub const READ_LIMIT_BYTES: u64 = 64 * 1024 * 1024;

/// The longest name of a folder's entry, in bytes.
pub const NAME_BYTES_MAX: usize = 255;

/// The longest path, and the longest target of a symlink, in bytes.
pub const PATH_BYTES_MAX: usize = 4095;

/// The most symlinks that are followed on the way of one path.
pub const LINKS_MAX: usize = 40;

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
    /// The mode does not let the owner do this.
    Permission,
    /// More than can be read at once, or than a file can hold.
    TooLarge,
    /// Outside the root of a confined folder.
    Outside,
    /// A path that is not normal or too long, a folder moved into itself, the root
    /// removed or moved, or [`Fs::read_link`] of what is no symlink.
    Invalid,
    /// Whatever else a real disk may say.
    Io,
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
            FsErrorKind::Io => "input or output failed",
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
            FsErrorKind::Io => Class::ToolError,
        }
    }
}

/// A blake3 hash of some content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash(pub [u8; 32]);

impl std::fmt::Display for ContentHash {
    /// In hex, whole.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

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

impl From<FsError> for ReplaceError {
    fn from(error: FsError) -> ReplaceError {
        ReplaceError::Fs(error)
    }
}

/// A file system. Every method is one step that nothing can interleave.
pub trait Fs: Send + Sync {
    fn stat(&self, path: &str) -> Result<Meta, FsError>;
    fn lstat(&self, path: &str) -> Result<Meta, FsError>;
    /// The whole content. Fails with `TooLarge` over [`READ_LIMIT_BYTES`]: use [`Fs::read_range`].
    fn read(&self, path: &str) -> Result<Bytes, FsError>;
    /// The whole content with its hash. A file system that keeps hashes gives the one it has.
    fn read_hashed(&self, path: &str) -> Result<(Bytes, ContentHash), FsError> {
        let bytes = self.read(path)?;
        let hash = ContentHash::of(&bytes);
        Ok((bytes, hash))
    }
    /// At most `len` bytes from byte `offset`; fewer at the end. Fails with `TooLarge`
    /// if that is more than [`READ_LIMIT_BYTES`].
    fn read_range(&self, path: &str, offset: u64, len: u64) -> Result<Bytes, FsError>;
    /// Creates or replaces a file (mode kept if it exists, else 0o666 less the umask).
    /// The folder must exist. Through a dangling symlink it creates the target.
    fn write(&self, path: &str, bytes: &[u8], mtime_ms: i64) -> Result<Meta, FsError>;
    /// Adds to the end of a file, or creates it.
    fn append(&self, path: &str, bytes: &[u8], mtime_ms: i64) -> Result<Meta, FsError>;
    /// Writes if the file exists and its content hashes to `expected`, in one step.
    fn replace_if(
        &self,
        path: &str,
        expected: ContentHash,
        bytes: &[u8],
        mtime_ms: i64,
    ) -> Result<Meta, ReplaceError>;
    /// The entries of a folder, sorted by name.
    fn list(&self, path: &str) -> Result<Vec<Entry>, FsError>;
    /// Every file and symlink below a folder (not the folders), links not followed,
    /// sorted by path. Folders below that may not be read are left out.
    fn walk(&self, path: &str) -> Result<Vec<Found>, FsError>;
    /// Makes a folder; with `parents`, also those above it, and an existing folder is no error.
    fn mkdir(&self, path: &str, parents: bool, mtime_ms: i64) -> Result<(), FsError>;
    /// Removes a file, a symlink or a folder; a folder with entries only if `recursive`.
    /// Where modes forbid a part of it, what sorts before that part is gone.
    fn remove(&self, path: &str, recursive: bool) -> Result<(), FsError>;
    /// Moves an entry, replacing a file or an empty folder; mtimes stay.
    fn rename(&self, from: &str, to: &str) -> Result<(), FsError>;
    /// Makes a symlink. `target` is kept as it is and need not exist.
    fn symlink(&self, target: &str, link: &str, mtime_ms: i64) -> Result<(), FsError>;
    fn read_link(&self, path: &str) -> Result<String, FsError>;
    /// Sets the permission bits, at most `0o7777`; more is cut off.
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
    let absolute = path.starts_with('/');
    if absolute
        && path.len() > 1
        && !path.ends_with('/')
        && !path.contains("/.")
        && !path.contains("//")
    {
        return path.to_owned();
    }
    let whole = if absolute { "" } else { cwd };
    let mut normal = String::with_capacity(whole.len() + path.len() + 1);
    for part in whole.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => normal.truncate(normal.rfind('/').unwrap_or(0)),
            part => {
                normal.push('/');
                normal.push_str(part);
            }
        }
    }
    if normal.is_empty() {
        normal.push('/');
    }
    normal
}

/// Whether `path` is one that a file system takes: absolute, normal, no NUL, within
/// [`PATH_BYTES_MAX`] and [`NAME_BYTES_MAX`].
pub(crate) fn check_path(path: &str) -> Result<(), FsErrorKind> {
    let normal = |part: &str| {
        !part.is_empty() && part != "." && part != ".." && part.len() <= NAME_BYTES_MAX
    };
    let fits = path.len() <= PATH_BYTES_MAX && !path.contains('\0');
    match path.strip_prefix('/') {
        Some("") => Ok(()),
        Some(rest) if fits && rest.split('/').all(normal) => Ok(()),
        _ => Err(FsErrorKind::Invalid),
    }
}

/// Makes `path` and the folders above it as far as they are missing, as `mkdir -p` does:
/// `make` makes one folder, and is content with one that exists. Climbs while the
/// folder above is missing, then comes down.
pub(crate) fn for_missing_folders(
    path: &str,
    mut make: impl FnMut(&str) -> Result<(), FsErrorKind>,
) -> Result<(), FsErrorKind> {
    let mut missing: Vec<&str> = Vec::new();
    let mut upto = path;
    loop {
        match make(upto) {
            Ok(()) => break,
            Err(FsErrorKind::NotFound) => missing.push(upto),
            Err(other) => return Err(other),
        }
        match split(upto) {
            Some((above, _)) => upto = above,
            None => return Err(FsErrorKind::NotFound),
        }
    }
    missing.into_iter().rev().try_for_each(make)
}

/// The folder of a normal path and the name in it; `None` for the root.
pub fn split(path: &str) -> Option<(&str, &str)> {
    let (dir, name) = path.rsplit_once('/')?;
    if name.is_empty() {
        return None;
    }
    Some((if dir.is_empty() { "/" } else { dir }, name))
}
