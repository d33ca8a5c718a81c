//! A folder of a real disk, confined.

mod spot;

use super::fs::{check_path, for_missing_folders};
use super::{
    Bytes, ContentHash, Entry, FileKind, Found, Fs, FsError, FsErrorKind, Meta, READ_LIMIT_BYTES,
    ReplaceError,
};
use spot::{For, Leaf};
use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A folder of a real disk as a file system, on Unix.
///
/// The folder appears at a path of its own choosing. Every path is resolved inside
/// it component by component; an absolute symlink begins at the top of what paths
/// mean here, not of the disk's. What leads out of the folder is refused with
/// [`FsErrorKind::Outside`] and is not touched.
///
/// Two things are weaker than in [`MemoryFs`](super::MemoryFs), because the disk belongs
/// to others as well. [`Fs::replace_if`] compares and then writes: who writes in between
/// is overwritten. And a program that swaps a folder for a symlink between our looking
/// and our opening leads us out of the root.
///
/// Names that are not UTF-8 are not listed. Pipes, sockets and devices are listed
/// as files and refused with [`FsErrorKind::Invalid`].
#[derive(Debug)]
pub struct DiskFs {
    /// Without symlinks.
    root: PathBuf,
    /// The components of the path at which the root appears.
    above: Vec<String>,
    case_sensitive: bool,
}

impl DiskFs {
    /// The folder `root`, which appears at the path `at` (`/` for the top; absolute and
    /// normal). Paths that are not below `at` are outside.
    pub fn open(root: &Path, at: &str) -> Result<DiskFs, FsError> {
        let error = |kind| FsError {
            kind,
            path: root.display().to_string(),
        };
        check_path(at).map_err(error)?;
        let root = root.canonicalize().map_err(|e| error(refusal(e)))?;
        if !root.is_dir() {
            return Err(error(FsErrorKind::NotDirectory));
        }
        Ok(DiskFs {
            case_sensitive: is_case_sensitive(&root),
            above: spot::names_of(at).map(str::to_owned).collect(),
            root,
        })
    }

    /// The folder `root`, which appears where it is on the disk, so that a path means
    /// the same to a real shell.
    pub fn open_in_place(root: &Path) -> Result<DiskFs, FsError> {
        let error = |kind| FsError {
            kind,
            path: root.display().to_string(),
        };
        let real = root.canonicalize().map_err(|e| error(refusal(e)))?;
        let at = real.to_str().ok_or_else(|| error(FsErrorKind::Invalid))?;
        DiskFs::open(&real, at)
    }

    /// Where the root is on the disk.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A file that exists, opened for reading, with its metadata.
    fn readable(&self, path: &str) -> Result<(File, Metadata), FsErrorKind> {
        let spot = self.spot(path, For::Use)?;
        match &spot.leaf {
            Leaf::Missing => return Err(FsErrorKind::NotFound),
            Leaf::File(meta) if !meta.is_file() => return Err(FsErrorKind::Invalid),
            Leaf::File(_) | Leaf::Folder => {}
        }
        let file = File::open(&spot.real).map_err(refusal)?;
        let meta = file.metadata().map_err(refusal)?;
        if meta.is_dir() {
            return Err(FsErrorKind::IsDirectory);
        }
        Ok((file, meta))
    }

    fn read_whole(&self, path: &str) -> Result<Bytes, FsErrorKind> {
        let (file, meta) = self.readable(path)?;
        if meta.len() > READ_LIMIT_BYTES {
            return Err(FsErrorKind::TooLarge);
        }
        let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or(0));
        // It may have grown since.
        let mut limited = file.take(READ_LIMIT_BYTES + 1);
        limited.read_to_end(&mut bytes).map_err(refusal)?;
        if bytes.len() as u64 > READ_LIMIT_BYTES {
            return Err(FsErrorKind::TooLarge);
        }
        Ok(bytes.into())
    }

    /// Opens a file for writing as `options` say, making it if it is missing.
    fn put(
        &self,
        path: &str,
        options: &OpenOptions,
        bytes: &[u8],
        mtime_ms: i64,
    ) -> Result<Meta, FsErrorKind> {
        let spot = self.spot(path, For::Create)?;
        match &spot.leaf {
            Leaf::Folder => return Err(FsErrorKind::IsDirectory),
            Leaf::File(meta) if !meta.is_file() => return Err(FsErrorKind::Invalid),
            Leaf::File(_) | Leaf::Missing => {}
        }
        let mut file = options.open(&spot.real).map_err(refusal)?;
        file.write_all(bytes).map_err(refusal)?;
        // The bytes are written. A file of somebody else's keeps the time of the write.
        let _ = file.set_modified(time_of(mtime_ms));
        Ok(meta_of(&file.metadata().map_err(refusal)?))
    }

    fn make_folders(&self, path: &str) -> Result<(), FsErrorKind> {
        for_missing_folders(path, |upto| match self.make_folder(upto) {
            Err(kind) if kind != FsErrorKind::NotFound && self.folder(upto).is_ok() => Ok(()),
            done => done,
        })
    }

    fn make_folder(&self, path: &str) -> Result<(), FsErrorKind> {
        let entry = self.entry(path)?.ok_or(FsErrorKind::Exists)?;
        std::fs::create_dir(entry).map_err(refusal)
    }

    /// The real path of what exists at the end of `path`.
    fn existing(&self, path: &str) -> Result<PathBuf, FsErrorKind> {
        let spot = self.spot(path, For::Use)?;
        match spot.leaf {
            Leaf::Missing => Err(FsErrorKind::NotFound),
            Leaf::File(_) | Leaf::Folder => Ok(spot.real),
        }
    }

    /// The real path of a folder.
    fn folder(&self, path: &str) -> Result<PathBuf, FsErrorKind> {
        let spot = self.spot(path, For::Use)?;
        match spot.leaf {
            Leaf::Missing => Err(FsErrorKind::NotFound),
            Leaf::File(_) => Err(FsErrorKind::NotDirectory),
            Leaf::Folder => Ok(spot.real),
        }
    }
}

impl Fs for DiskFs {
    fn stat(&self, path: &str) -> Result<Meta, FsError> {
        checked(path, || {
            let real = self.existing(path)?;
            Ok(meta_of(&real.symlink_metadata().map_err(refusal)?))
        })
    }

    fn lstat(&self, path: &str) -> Result<Meta, FsError> {
        checked(path, || {
            let entry = self.entry(path)?;
            let entry = entry.as_deref().unwrap_or(&self.root);
            Ok(meta_of(&entry.symlink_metadata().map_err(refusal)?))
        })
    }

    fn read(&self, path: &str) -> Result<Bytes, FsError> {
        checked(path, || self.read_whole(path))
    }

    fn read_range(&self, path: &str, offset: u64, len: u64) -> Result<Bytes, FsError> {
        checked(path, || {
            let (mut file, meta) = self.readable(path)?;
            let len = len.min(meta.len().saturating_sub(offset));
            if len > READ_LIMIT_BYTES {
                return Err(FsErrorKind::TooLarge);
            }
            let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0));
            if len > 0 {
                file.seek(SeekFrom::Start(offset)).map_err(refusal)?;
                file.take(len).read_to_end(&mut bytes).map_err(refusal)?;
            }
            Ok(bytes.into())
        })
    }

    fn write(&self, path: &str, bytes: &[u8], mtime_ms: i64) -> Result<Meta, FsError> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        checked(path, || self.put(path, &options, bytes, mtime_ms))
    }

    fn append(&self, path: &str, bytes: &[u8], mtime_ms: i64) -> Result<Meta, FsError> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        checked(path, || self.put(path, &options, bytes, mtime_ms))
    }

    /// Best effort: somebody else's write between the comparison and ours is lost.
    fn replace_if(
        &self,
        path: &str,
        expected: ContentHash,
        bytes: &[u8],
        mtime_ms: i64,
    ) -> Result<Meta, ReplaceError> {
        let now = self.read(path)?;
        if ContentHash::of(&now) != expected {
            return Err(ReplaceError::Changed(now));
        }
        Ok(self.write(path, bytes, mtime_ms)?)
    }

    fn list(&self, path: &str) -> Result<Vec<Entry>, FsError> {
        checked(path, || {
            let folder = self.folder(path)?;
            let mut entries = Vec::new();
            for entry in std::fs::read_dir(folder).map_err(refusal)? {
                let entry = entry.map_err(refusal)?;
                if let Some(name) = entry.file_name().to_str() {
                    let kind = kind_of(entry.file_type().map_err(refusal)?);
                    let name = name.into();
                    entries.push(Entry { name, kind });
                }
            }
            entries.sort_by(|a, b| a.name.cmp(&b.name));
            Ok(entries)
        })
    }

    fn walk(&self, path: &str) -> Result<Vec<Found>, FsError> {
        checked(path, || {
            let folder = self.folder(path)?;
            let mut found = Vec::new();
            let mut todo = vec![(folder, path.trim_end_matches('/').to_owned())];
            let mut is_start = true;
            while let Some((folder, prefix)) = todo.pop() {
                let entries = match std::fs::read_dir(&folder) {
                    Err(e) if is_start => return Err(refusal(e)),
                    Err(_) => continue,
                    Ok(entries) => entries,
                };
                is_start = false;
                // What may not be looked at, or is gone since, is left out.
                for entry in entries.flatten() {
                    let Ok(meta) = entry.path().symlink_metadata() else {
                        continue;
                    };
                    let Some(path) = entry.file_name().to_str().map(|n| format!("{prefix}/{n}"))
                    else {
                        continue;
                    };
                    if meta.is_dir() {
                        todo.push((entry.path(), path));
                    } else {
                        let meta = meta_of(&meta);
                        let path = path.into();
                        found.push(Found { path, meta });
                    }
                }
            }
            found.sort_by(|a, b| a.path.cmp(&b.path));
            Ok(found)
        })
    }

    /// The mtime of a folder is the disk's business.
    fn mkdir(&self, path: &str, parents: bool, _mtime_ms: i64) -> Result<(), FsError> {
        checked(path, || {
            if parents {
                self.make_folders(path)
            } else {
                self.make_folder(path)
            }
        })
    }

    fn remove(&self, path: &str, recursive: bool) -> Result<(), FsError> {
        checked(path, || {
            let entry = self.entry(path)?.ok_or(FsErrorKind::Invalid)?;
            remove_tree(&entry, recursive)
        })
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), FsError> {
        checked(from, || {
            check_path(to)?;
            let (from, to) = (self.entry(from)?, self.entry(to)?);
            match (from, to) {
                (Some(from), Some(to)) => std::fs::rename(from, to).map_err(refusal),
                _ => Err(FsErrorKind::Invalid),
            }
        })
    }

    /// The mtime of a symlink is the disk's business.
    fn symlink(&self, target: &str, link: &str, _mtime_ms: i64) -> Result<(), FsError> {
        checked(link, || {
            if target.is_empty() {
                return Err(FsErrorKind::NotFound);
            }
            if target.len() > super::PATH_BYTES_MAX {
                return Err(FsErrorKind::Invalid);
            }
            let entry = self.entry(link)?.ok_or(FsErrorKind::Exists)?;
            std::os::unix::fs::symlink(target, entry).map_err(refusal)
        })
    }

    fn read_link(&self, path: &str) -> Result<String, FsError> {
        checked(path, || {
            let entry = self.entry(path)?.ok_or(FsErrorKind::Invalid)?;
            let target = std::fs::read_link(entry).map_err(refusal)?;
            let target = target.to_str().ok_or(FsErrorKind::Invalid)?;
            Ok(target.to_owned())
        })
    }

    fn chmod(&self, path: &str, mode: u32) -> Result<(), FsError> {
        checked(path, || {
            let real = self.existing(path)?;
            let mode = Permissions::from_mode(mode & 0o7777);
            std::fs::set_permissions(real, mode).map_err(refusal)
        })
    }

    fn set_mtime(&self, path: &str, mtime_ms: i64) -> Result<(), FsError> {
        checked(path, || set_mtime(&self.existing(path)?, mtime_ms))
    }

    fn canonical(&self, path: &str) -> Result<String, FsError> {
        checked(path, || Ok(self.spot(path, For::Use)?.path))
    }

    fn case_sensitive(&self) -> bool {
        self.case_sensitive
    }
}

/// Runs `act` if `path` is one that a file system takes.
fn checked<T>(path: &str, act: impl FnOnce() -> Result<T, FsErrorKind>) -> Result<T, FsError> {
    check_path(path)
        .and_then(|()| act())
        .map_err(|kind| FsError {
            kind,
            path: path.to_owned(),
        })
}

/// What a refusal of the system's is called here.
fn refusal(error: std::io::Error) -> FsErrorKind {
    match error.kind() {
        ErrorKind::NotFound => FsErrorKind::NotFound,
        ErrorKind::AlreadyExists => FsErrorKind::Exists,
        ErrorKind::IsADirectory => FsErrorKind::IsDirectory,
        ErrorKind::NotADirectory => FsErrorKind::NotDirectory,
        ErrorKind::DirectoryNotEmpty => FsErrorKind::NotEmpty,
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => FsErrorKind::NoSpace,
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => FsErrorKind::Permission,
        ErrorKind::FileTooLarge => FsErrorKind::TooLarge,
        ErrorKind::InvalidInput | ErrorKind::InvalidFilename => FsErrorKind::Invalid,
        _ => FsErrorKind::Io,
    }
}

fn kind_of(kind: std::fs::FileType) -> FileKind {
    if kind.is_symlink() {
        FileKind::Symlink
    } else if kind.is_dir() {
        FileKind::Dir
    } else {
        FileKind::File
    }
}

fn meta_of(meta: &Metadata) -> Meta {
    let kind = kind_of(meta.file_type());
    Meta {
        kind,
        size: if kind == FileKind::Dir { 0 } else { meta.len() },
        mode: meta.mode() & 0o7777,
        mtime_ms: meta
            .mtime()
            .saturating_mul(1000)
            .saturating_add(meta.mtime_nsec() / 1_000_000),
    }
}

fn time_of(mtime_ms: i64) -> SystemTime {
    let distance = Duration::from_millis(mtime_ms.unsigned_abs());
    if mtime_ms < 0 {
        SystemTime::UNIX_EPOCH - distance
    } else {
        SystemTime::UNIX_EPOCH + distance
    }
}

/// Sets an mtime, for which std wants a handle. Who owns the file may do it whatever
/// its mode says, so a file that opens for nothing is made readable for that moment.
fn set_mtime(real: &Path, mtime_ms: i64) -> Result<(), FsErrorKind> {
    let opened = File::open(real).or_else(|_| OpenOptions::new().write(true).open(real));
    let set = |file: File| file.set_modified(time_of(mtime_ms));
    if let Ok(file) = opened {
        return set(file).map_err(refusal);
    }
    let mode = real.metadata().map_err(refusal)?.permissions();
    let lent = Permissions::from_mode(mode.mode() | 0o400);
    std::fs::set_permissions(real, lent).map_err(refusal)?;
    let result = File::open(real).and_then(set);
    std::fs::set_permissions(real, mode).map_err(refusal)?;
    result.map_err(refusal)
}

/// Removes an entry and, if `recursive`, everything below it by name, until one part is refused.
fn remove_tree(entry: &Path, recursive: bool) -> Result<(), FsErrorKind> {
    let meta = entry.symlink_metadata().map_err(refusal)?;
    if !meta.is_dir() {
        return std::fs::remove_file(entry).map_err(refusal);
    }
    match std::fs::remove_dir(entry).map_err(refusal) {
        Err(FsErrorKind::NotEmpty) if recursive => {}
        done => return done,
    }
    let mut names = Vec::new();
    for below in std::fs::read_dir(entry).map_err(refusal)? {
        names.push(below.map_err(refusal)?.file_name());
    }
    names.sort();
    for name in names {
        remove_tree(&entry.join(name), true)?;
    }
    std::fs::remove_dir(entry).map_err(refusal)
}

/// Whether the disk tells `root` from its name in the other case.
fn is_case_sensitive(root: &Path) -> bool {
    let Some(name) = root.file_name().and_then(|name| name.to_str()) else {
        return !cfg!(target_os = "macos");
    };
    let swapped = if name.to_lowercase() == name {
        name.to_uppercase()
    } else {
        name.to_lowercase()
    };
    if swapped == name {
        return !cfg!(target_os = "macos");
    }
    match (root.metadata(), root.with_file_name(swapped).metadata()) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) != (other.dev(), other.ino()),
        _ => true,
    }
}

#[cfg(test)]
mod tests;
