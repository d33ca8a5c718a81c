//! The kernel itself as a file system: paths are handed to it whole, so that it and
//! nobody else resolves them. Not confined; for comparing only.

use rehearsal::world::{
    Bytes, ContentHash, Entry, FileKind, Found, Fs, FsError, FsErrorKind, Meta, ReplaceError,
};
use std::fs::{File, OpenOptions, Permissions};
use std::io::{Error, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// `ELOOP` on Linux, which std does not name yet.
const ELOOP: i32 = 40;

/// The tree below a real folder, which every path and every absolute link is below.
pub struct KernelFs {
    root: PathBuf,
}

impl KernelFs {
    pub fn new(root: &Path) -> KernelFs {
        KernelFs {
            root: root.canonicalize().expect("the folder exists"),
        }
    }

    fn real(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    fn prefix(&self) -> &str {
        self.root
            .to_str()
            .expect("a temporary folder has a plain name")
    }

    fn meta(&self, real: &Path, meta: &std::fs::Metadata) -> Meta {
        let kind = kind_of(meta.file_type());
        let size = match kind {
            FileKind::File => meta.len(),
            FileKind::Dir => 0,
            FileKind::Symlink => self.target(real).map_or(0, |target| target.len() as u64),
        };
        Meta {
            kind,
            size,
            mode: meta.mode() & 0o7777,
            mtime_ms: meta.mtime() * 1000 + meta.mtime_nsec() / 1_000_000,
        }
    }

    /// What a link was made with: absolute targets were put below the root.
    fn target(&self, real: &Path) -> std::io::Result<String> {
        let target = std::fs::read_link(real)?;
        let target = target.to_str().expect("made by us").to_owned();
        Ok(match target.strip_prefix(self.prefix()) {
            Some(below) => below.to_owned(),
            None => target,
        })
    }

    fn put(
        &self,
        path: &str,
        how: &mut OpenOptions,
        bytes: &[u8],
        ms: i64,
    ) -> Result<Meta, FsError> {
        let real = self.real(path);
        let mut put = || {
            let mut file = how.create(true).open(&real)?;
            file.write_all(bytes)?;
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(ms as u64))?;
            Ok(self.meta(&real, &file.metadata()?))
        };
        put().map_err(|e| refused(path, &e))
    }

    fn remove_tree(&self, real: &Path, recursive: bool) -> std::io::Result<()> {
        if !real.symlink_metadata()?.is_dir() {
            return std::fs::remove_file(real);
        }
        match std::fs::remove_dir(real) {
            Err(e) if recursive && e.kind() == ErrorKind::DirectoryNotEmpty => {}
            done => return done,
        }
        let entries: std::io::Result<Vec<_>> = std::fs::read_dir(real)?.collect();
        let mut names: Vec<_> = entries?.into_iter().map(|e| e.path()).collect();
        names.sort();
        for name in names {
            self.remove_tree(&name, true)?;
        }
        std::fs::remove_dir(real)
    }

    fn find(&self, folder: &Path, prefix: &str, found: &mut Vec<Found>) -> std::io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let Ok(meta) = entry.path().symlink_metadata() else {
                continue;
            };
            let path = format!("{prefix}/{}", entry.file_name().to_str().expect("ours"));
            if meta.is_dir() {
                // What may not be read is left out.
                let _ = self.find(&entry.path(), &path, found);
            } else {
                let meta = self.meta(&entry.path(), &meta);
                found.push(Found {
                    path: path.into(),
                    meta,
                });
            }
        }
        Ok(())
    }
}

fn kind_of(kind: std::fs::FileType) -> FileKind {
    match (kind.is_symlink(), kind.is_dir()) {
        (true, _) => FileKind::Symlink,
        (_, true) => FileKind::Dir,
        _ => FileKind::File,
    }
}

fn refused(path: &str, error: &Error) -> FsError {
    let kind = match error.kind() {
        _ if error.raw_os_error() == Some(ELOOP) => FsErrorKind::Loop,
        ErrorKind::NotFound => FsErrorKind::NotFound,
        ErrorKind::AlreadyExists => FsErrorKind::Exists,
        ErrorKind::IsADirectory => FsErrorKind::IsDirectory,
        ErrorKind::NotADirectory => FsErrorKind::NotDirectory,
        ErrorKind::DirectoryNotEmpty => FsErrorKind::NotEmpty,
        ErrorKind::PermissionDenied => FsErrorKind::Permission,
        ErrorKind::InvalidInput | ErrorKind::InvalidFilename => FsErrorKind::Invalid,
        other => panic!("{path}: {other:?} {error}"),
    };
    FsError {
        kind,
        path: path.to_owned(),
    }
}

impl Fs for KernelFs {
    fn stat(&self, path: &str) -> Result<Meta, FsError> {
        let real = self.real(path);
        let meta = real.metadata().map_err(|e| refused(path, &e))?;
        Ok(self.meta(&real, &meta))
    }

    fn lstat(&self, path: &str) -> Result<Meta, FsError> {
        let real = self.real(path);
        let meta = real.symlink_metadata().map_err(|e| refused(path, &e))?;
        Ok(self.meta(&real, &meta))
    }

    fn read(&self, path: &str) -> Result<Bytes, FsError> {
        let bytes = std::fs::read(self.real(path)).map_err(|e| refused(path, &e))?;
        Ok(bytes.into())
    }

    fn read_range(&self, path: &str, offset: u64, len: u64) -> Result<Bytes, FsError> {
        let read = || {
            let mut file = File::open(self.real(path))?;
            file.seek(SeekFrom::Start(offset))?;
            let mut bytes = Vec::new();
            // std makes no call for nothing, so that a folder would not be noticed.
            file.take(len.max(1)).read_to_end(&mut bytes)?;
            bytes.truncate(len as usize);
            Ok(bytes.into())
        };
        read().map_err(|e| refused(path, &e))
    }

    fn write(&self, path: &str, bytes: &[u8], mtime_ms: i64) -> Result<Meta, FsError> {
        let mut how = OpenOptions::new();
        self.put(path, how.write(true).truncate(true), bytes, mtime_ms)
    }

    fn append(&self, path: &str, bytes: &[u8], mtime_ms: i64) -> Result<Meta, FsError> {
        let mut how = OpenOptions::new();
        self.put(path, how.append(true), bytes, mtime_ms)
    }

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
        let list = || {
            let mut entries = Vec::new();
            for entry in std::fs::read_dir(self.real(path))? {
                let entry = entry?;
                entries.push(Entry {
                    name: entry.file_name().to_str().expect("ours").into(),
                    kind: kind_of(entry.file_type()?),
                });
            }
            entries.sort_by(|a, b| a.name.cmp(&b.name));
            Ok(entries)
        };
        list().map_err(|e| refused(path, &e))
    }

    fn walk(&self, path: &str) -> Result<Vec<Found>, FsError> {
        let mut found = Vec::new();
        let prefix = path.trim_end_matches('/');
        self.find(&self.real(path), prefix, &mut found)
            .map_err(|e| refused(path, &e))?;
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }

    fn mkdir(&self, path: &str, parents: bool, _mtime_ms: i64) -> Result<(), FsError> {
        let real = self.real(path);
        let made = if parents {
            std::fs::create_dir_all(real)
        } else {
            std::fs::create_dir(real)
        };
        made.map_err(|e| refused(path, &e))
    }

    fn remove(&self, path: &str, recursive: bool) -> Result<(), FsError> {
        self.remove_tree(&self.real(path), recursive)
            .map_err(|e| refused(path, &e))
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), FsError> {
        std::fs::rename(self.real(from), self.real(to)).map_err(|e| refused(from, &e))
    }

    fn symlink(&self, target: &str, link: &str, _mtime_ms: i64) -> Result<(), FsError> {
        let target = if target.starts_with('/') {
            format!("{}{target}", self.prefix())
        } else {
            target.to_owned()
        };
        symlink(target, self.real(link)).map_err(|e| refused(link, &e))
    }

    fn read_link(&self, path: &str) -> Result<String, FsError> {
        self.target(&self.real(path)).map_err(|e| refused(path, &e))
    }

    fn chmod(&self, path: &str, mode: u32) -> Result<(), FsError> {
        std::fs::set_permissions(self.real(path), Permissions::from_mode(mode))
            .map_err(|e| refused(path, &e))
    }

    fn set_mtime(&self, path: &str, mtime_ms: i64) -> Result<(), FsError> {
        let real = self.real(path);
        let meta = real.metadata().map_err(|e| refused(path, &e))?;
        let set = || {
            // utimensat(2) needs no permission of the owner; std's way needs a handle.
            std::fs::set_permissions(&real, Permissions::from_mode(meta.mode() | 0o400))?;
            let time = SystemTime::UNIX_EPOCH + Duration::from_millis(mtime_ms as u64);
            File::open(&real)?.set_modified(time)?;
            std::fs::set_permissions(&real, Permissions::from_mode(meta.mode()))
        };
        set().map_err(|e| refused(path, &e))
    }

    /// As far as the kernel says: [`FsErrorKind::NotFound`] if nothing is there.
    fn canonical(&self, path: &str) -> Result<String, FsError> {
        let real = self.real(path).canonicalize();
        let real = real.map_err(|e| refused(path, &e))?;
        let below = real
            .to_str()
            .and_then(|real| real.strip_prefix(self.prefix()));
        Ok(below
            .filter(|below| !below.is_empty())
            .unwrap_or("/")
            .to_owned())
    }

    fn case_sensitive(&self) -> bool {
        true
    }
}
