//! The world's file system as the virtual shell sees it.

use super::state::{Running, Touching};
use super::system;
use crate::world::{FileKind, FsError, FsErrorKind, Meta, normalize};
use async_trait::async_trait;
use bashkit::{DirEntry, Error, FileSystem, FileSystemExt, FileType, Metadata, Result};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The hands of one command on the world: each method is one operation of its actor.
///
/// `stat` does not follow a link in the last component: the shell's own layer
/// above this one does, and asks for `lstat` below.
pub(super) struct WorldFiles {
    running: Arc<Running>,
}

impl WorldFiles {
    pub(super) fn new(running: Arc<Running>) -> WorldFiles {
        WorldFiles { running }
    }

    /// Marks that the shell waits for the world until the mark is dropped.
    fn touching(&self) -> Result<Touching<'_>> {
        self.running.touching().ok_or_else(|| {
            self.running.lacks(
                "a file access from another thread",
                "the virtual shell runs on one thread; give the command an answer",
            );
            refused(FsErrorKind::Invalid)
        })
    }

    async fn metadata(&self, path: &str) -> Result<Metadata> {
        if let Some(special) = system::special(path) {
            return Ok(meta_of_special(&self.running, special));
        }
        if is_scratch(path) {
            // The shell's in-place editors write a scratch file of a random name
            // and move it over the target. Refused a look at it, they write the
            // target itself.
            return Err(refused(FsErrorKind::Permission));
        }
        let touching = self.touching()?;
        let found = touching.actor.lstat(path).await;
        drop(touching);
        match found {
            Ok(meta) => Ok(metadata(&meta)),
            Err(e) if e.kind == FsErrorKind::NotFound => match self.running.stub(path) {
                Some(stub) => Ok(Metadata {
                    file_type: FileType::File,
                    size: stub.len() as u64,
                    mode: 0o755,
                    modified: UNIX_EPOCH,
                    created: UNIX_EPOCH,
                }),
                None => Err(io(&e)),
            },
            Err(e) => Err(io(&e)),
        }
    }
}

/// The text form of a path as the world wants it.
fn text(path: &Path) -> Result<String> {
    let path = path.to_str().ok_or_else(|| refused(FsErrorKind::Invalid))?;
    Ok(normalize("/", path))
}

/// A refusal of the world as the shell reports it, in the words of POSIX.
fn io(error: &FsError) -> Error {
    refused(error.kind)
}

fn refused(kind: FsErrorKind) -> Error {
    let (kind, words) = match kind {
        FsErrorKind::NotFound => (ErrorKind::NotFound, "No such file or directory"),
        FsErrorKind::Exists => (ErrorKind::AlreadyExists, "File exists"),
        FsErrorKind::IsDirectory => (ErrorKind::IsADirectory, "Is a directory"),
        FsErrorKind::NotDirectory => (ErrorKind::NotADirectory, "Not a directory"),
        FsErrorKind::NotEmpty => (ErrorKind::DirectoryNotEmpty, "Directory not empty"),
        FsErrorKind::Loop => (ErrorKind::Other, "Too many levels of symbolic links"),
        FsErrorKind::NoSpace => (ErrorKind::StorageFull, "No space left on device"),
        FsErrorKind::Permission | FsErrorKind::Outside => {
            (ErrorKind::PermissionDenied, "Permission denied")
        }
        FsErrorKind::TooLarge => (ErrorKind::FileTooLarge, "File too large"),
        FsErrorKind::Invalid => (ErrorKind::InvalidInput, "Invalid argument"),
        FsErrorKind::Io => (ErrorKind::Other, "Input/output error"),
    };
    std::io::Error::new(kind, words).into()
}

/// A time of the world as the shell's libraries hold it.
fn system_time(unix_ms: i64) -> SystemTime {
    let distance = Duration::from_millis(unix_ms.unsigned_abs());
    if unix_ms >= 0 {
        UNIX_EPOCH + distance
    } else {
        UNIX_EPOCH - distance
    }
}

/// Milliseconds since 1970; what does not fit is cut to the nearest that does.
pub(super) fn unix_ms(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |ms| -ms),
    }
}

fn metadata(meta: &Meta) -> Metadata {
    let modified = system_time(meta.mtime_ms);
    Metadata {
        file_type: match meta.kind {
            FileKind::File => FileType::File,
            FileKind::Dir => FileType::Directory,
            FileKind::Symlink => FileType::Symlink,
        },
        size: meta.size,
        mode: meta.mode,
        modified,
        created: modified,
    }
}

fn meta_of_special(running: &Running, special: system::Special) -> Metadata {
    let start = system_time(running.began_unix_ms);
    Metadata {
        file_type: match special {
            system::Special::DevDir => FileType::Directory,
            _ => FileType::File,
        },
        size: 0,
        mode: match special {
            system::Special::DevDir => 0o755,
            _ => 0o666,
        },
        modified: start,
        created: start,
    }
}

#[async_trait]
impl FileSystemExt for WorldFiles {
    async fn mkfifo(&self, path: &Path, _mode: u32) -> Result<()> {
        self.running.lacks(
            &format!("named pipes (mkfifo {})", path.display()),
            "the virtual shell runs one process after another, so nothing could read from it; \
             give the command an answer",
        );
        Err(refused(FsErrorKind::Invalid))
    }

    fn backend_kind(&self) -> &'static str {
        "world"
    }
}

#[async_trait]
impl FileSystem for WorldFiles {
    async fn read_file(&self, path: &Path) -> Result<Vec<u8>> {
        let path = text(path)?;
        if let Some(special) = system::special(&path) {
            return self.running.read_special(special).ok_or_else(|| {
                refused(match special {
                    system::Special::DevDir => FsErrorKind::IsDirectory,
                    _ => FsErrorKind::Permission,
                })
            });
        }
        let touching = self.touching()?;
        let read = touching.actor.read(&path).await;
        drop(touching);
        match read {
            Ok(bytes) => {
                self.running.reads(&path, &bytes);
                Ok(bytes.to_vec())
            }
            Err(e) if e.kind == FsErrorKind::NotFound => match self.running.stub(&path) {
                Some(stub) => Ok(stub.into_bytes()),
                None => Err(io(&e)),
            },
            Err(e) => Err(io(&e)),
        }
    }

    async fn write_file(&self, path: &Path, content: &[u8]) -> Result<()> {
        let path = text(path)?;
        match system::special(&path) {
            Some(system::Special::Full) => return Err(refused(FsErrorKind::NoSpace)),
            Some(system::Special::DevDir) => return Err(refused(FsErrorKind::IsDirectory)),
            Some(_) => return Ok(()),
            None => {}
        }
        let touching = self.touching()?;
        let written = touching.actor.write(&path, content).await;
        written.map(drop).map_err(|e| io(&e))
    }

    async fn append_file(&self, path: &Path, content: &[u8]) -> Result<()> {
        let path = text(path)?;
        if system::special(&path).is_some() {
            return self.write_file(Path::new(&path), content).await;
        }
        let touching = self.touching()?;
        let written = touching.actor.append(&path, content).await;
        written.map(drop).map_err(|e| io(&e))
    }

    async fn mkdir(&self, path: &Path, recursive: bool) -> Result<()> {
        let path = text(path)?;
        let touching = self.touching()?;
        let made = touching.actor.mkdir(&path, recursive).await;
        made.map_err(|e| io(&e))
    }

    async fn remove(&self, path: &Path, recursive: bool) -> Result<()> {
        let path = text(path)?;
        if system::special(&path).is_some() {
            return Err(refused(FsErrorKind::Permission));
        }
        let touching = self.touching()?;
        let removed = touching.actor.remove(&path, recursive).await;
        removed.map_err(|e| io(&e))
    }

    async fn stat(&self, path: &Path) -> Result<Metadata> {
        self.metadata(&text(path)?).await
    }

    async fn read_dir(&self, path: &Path) -> Result<Vec<DirEntry>> {
        let path = text(path)?;
        let touching = self.touching()?;
        let listed = touching.actor.list(&path).await;
        // What follows the grant happens in the same step, so the entries'
        // metadata belong to the listing: no operation of their own.
        let files = touching.actor.world().fs();
        listed
            .map_err(|e| io(&e))?
            .into_iter()
            .map(|entry| {
                let below = normalize(&path, &entry.name);
                Ok(DirEntry {
                    name: entry.name.to_string(),
                    metadata: metadata(&files.lstat(&below).map_err(|e| io(&e))?),
                })
            })
            .collect()
    }

    async fn exists(&self, path: &Path) -> Result<bool> {
        let path = text(path)?;
        match self.metadata(&path).await {
            Ok(_) => Ok(true),
            Err(Error::Io(e)) if e.kind() == ErrorKind::PermissionDenied => Err(e.into()),
            Err(_) => Ok(false),
        }
    }

    async fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let (from, to) = (text(from)?, text(to)?);
        let touching = self.touching()?;
        let renamed = touching.actor.rename(&from, &to).await;
        renamed.map_err(|e| io(&e))
    }

    async fn copy(&self, from: &Path, to: &Path) -> Result<()> {
        let (from, to) = (text(from)?, text(to)?);
        if system::special(&from).is_some() {
            let bytes = self.read_file(Path::new(&from)).await?;
            return self.write_file(Path::new(&to), &bytes).await;
        }
        let touching = self.touching()?;
        let actor = touching.actor;
        let (bytes, meta) = actor.read_with_meta(&from).await.map_err(|e| io(&e))?;
        let is_new = actor.lstat(&to).await.is_err();
        let written = actor.write(&to, &bytes).await.map_err(|e| io(&e))?;
        if is_new && written.mode != meta.mode {
            actor.chmod(&to, meta.mode).await.map_err(|e| io(&e))?;
        }
        Ok(())
    }

    async fn symlink(&self, target: &Path, link: &Path) -> Result<()> {
        // A target is kept as it was written, relative or not.
        let target = target
            .to_str()
            .ok_or_else(|| refused(FsErrorKind::Invalid))?;
        let link = text(link)?;
        let touching = self.touching()?;
        let linked = touching.actor.symlink(target, &link).await;
        linked.map_err(|e| io(&e))
    }

    async fn read_link(&self, path: &Path) -> Result<PathBuf> {
        let path = text(path)?;
        let touching = self.touching()?;
        let target = touching.actor.read_link(&path).await;
        target.map(PathBuf::from).map_err(|e| io(&e))
    }

    async fn chmod(&self, path: &Path, mode: u32) -> Result<()> {
        let path = text(path)?;
        let touching = self.touching()?;
        let changed = touching.actor.chmod(&path, mode).await;
        changed.map_err(|e| io(&e))
    }

    async fn set_modified_time(&self, path: &Path, time: SystemTime) -> Result<()> {
        let path = text(path)?;
        let touching = self.touching()?;
        let set = touching.actor.set_mtime(&path, unix_ms(time)).await;
        set.map_err(|e| io(&e))
    }
}

/// Whether `path` is a scratch file of the shell's in-place editors.
fn is_scratch(path: &str) -> bool {
    path.rsplit_once('/')
        .is_some_and(|(_, name)| name.starts_with(".bashkit-") && name.ends_with(".tmp"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_before_1970_survive_the_round_trip() {
        for ms in [-1, 0, 1, -86_400_000, 1_767_225_600_123] {
            assert_eq!(unix_ms(system_time(ms)), ms);
        }
    }

    #[test]
    fn only_the_editors_scratch_files_are_refused() {
        assert!(is_scratch("/work/.bashkit-sed-00ff.tmp"));
        assert!(!is_scratch("/work/.bashkit-sed/notes.tmp2"));
        assert!(!is_scratch("/work/bashkit-sed.tmp"));
    }
}
