//! Somebody's hands on the world.

use super::{
    Bytes, ContentHash, Entry, Found, Fs, FsError, FsErrorKind, Meta, ReplaceError, World, split,
};
use crate::sim::{ActorId, Key, Op, OpKind, Resource, Stream};

/// An actor's handle on the world. Cheap to clone.
#[derive(Clone)]
pub struct Actor {
    world: World,
    id: ActorId,
    stamp_unix_ms: Option<i64>,
}

impl Actor {
    pub(super) fn new(world: World, id: ActorId) -> Actor {
        Actor {
            world,
            id,
            stamp_unix_ms: None,
        }
    }

    pub fn id(&self) -> ActorId {
        self.id
    }

    pub fn world(&self) -> &World {
        &self.world
    }

    /// Virtual milliseconds since the run began.
    pub fn now_ms(&self) -> u64 {
        self.world.inner.sim.now_ms()
    }

    /// Milliseconds since 1970 by the world's clock.
    pub fn now_unix_ms(&self) -> i64 {
        self.world.inner.start_unix_ms + self.now_ms() as i64
    }

    /// The same hands, whose writes have this mtime instead of the time of the write:
    /// mtimes must not depend on how the calls of a batch were scheduled.
    pub fn stamped(&self, unix_ms: i64) -> Actor {
        Actor {
            stamp_unix_ms: Some(unix_ms),
            ..self.clone()
        }
    }

    fn stamp_ms(&self) -> i64 {
        self.stamp_unix_ms.unwrap_or_else(|| self.now_unix_ms())
    }

    /// Lets `ms` of virtual time pass.
    pub async fn sleep_ms(&self, ms: u64) {
        if ms > 0 {
            self.world.inner.sim.sleep_ms(self.id, ms).await;
        }
    }

    /// Random numbers for one use of this actor, independent of every other draw.
    pub fn random(&self, use_of: &str) -> Stream {
        Stream::new(
            self.world.inner.seed,
            Key {
                use_of,
                actor: self.id,
                n: 0,
            },
        )
    }

    /// Announces a touch of `resource` and waits until it is granted.
    pub async fn op(&self, resource: Resource, kind: OpKind) {
        let op = Op { resource, kind };
        self.world.inner.sim.op(self.id, op.clone()).await;
        self.log(op, "ok");
    }

    fn log(&self, op: Op, result: &'static str) {
        let accesses = &self.world.inner.accesses;
        accesses.note(self.now_ms(), self.id, op, result);
    }

    /// Announces, waits for the grant, does `act` in the same step, logs how it went.
    /// `act` gets the mtime of what it writes.
    pub(super) async fn touch<T>(
        &self,
        resource: Resource,
        kind: OpKind,
        act: impl FnOnce(&dyn Fs, i64) -> Result<T, FsError>,
    ) -> Result<T, FsError> {
        let op = Op { resource, kind };
        self.world.inner.sim.op(self.id, op.clone()).await;
        let result = act(&*self.world.inner.fs, self.stamp_ms());
        self.log(
            op,
            result.as_ref().map_or_else(|e| e.kind.as_str(), |_| "ok"),
        );
        result
    }

    /// The resource that making or removing `path` touches.
    pub(super) fn entry(path: &str) -> Resource {
        match split(path) {
            Some((dir, name)) => Resource::Entry(dir.into(), name.into()),
            None => Resource::Subtree("/".into()),
        }
    }

    pub async fn stat(&self, path: &str) -> Result<Meta, FsError> {
        self.touch(Resource::File(path.into()), OpKind::Stat, |fs, _| {
            fs.stat(path)
        })
        .await
    }

    pub async fn lstat(&self, path: &str) -> Result<Meta, FsError> {
        self.touch(Resource::File(path.into()), OpKind::Stat, |fs, _| {
            fs.lstat(path)
        })
        .await
    }

    pub async fn read(&self, path: &str) -> Result<Bytes, FsError> {
        self.touch(Resource::File(path.into()), OpKind::Read, |fs, _| {
            fs.read(path)
        })
        .await
    }

    /// The content and the metadata of one file, in one step.
    pub async fn read_with_meta(&self, path: &str) -> Result<(Bytes, Meta), FsError> {
        self.touch(Resource::File(path.into()), OpKind::Read, |fs, _| {
            Ok((fs.read(path)?, fs.stat(path)?))
        })
        .await
    }

    /// The content, its hash and the metadata of one file, in one step.
    pub async fn read_hashed(&self, path: &str) -> Result<(Bytes, ContentHash, Meta), FsError> {
        self.touch(Resource::File(path.into()), OpKind::Read, |fs, _| {
            let (bytes, hash) = fs.read_hashed(path)?;
            Ok((bytes, hash, fs.stat(path)?))
        })
        .await
    }

    pub async fn read_range(&self, path: &str, offset: u64, len: u64) -> Result<Bytes, FsError> {
        self.touch(Resource::File(path.into()), OpKind::Read, |fs, _| {
            fs.read_range(path, offset, len)
        })
        .await
    }

    /// Writes an existing file, or makes a new one in an existing folder.
    pub async fn write(&self, path: &str, bytes: &[u8]) -> Result<Meta, FsError> {
        self.touch(Resource::File(path.into()), OpKind::Write, |fs, mtime| {
            fs.write(path, bytes, mtime)
        })
        .await
    }

    /// Writes a file, making the folders above it, in one step.
    pub async fn write_with_parents(&self, path: &str, bytes: &[u8]) -> Result<Meta, FsError> {
        self.touch(Resource::File(path.into()), OpKind::Write, |fs, mtime| {
            if let Some((dir, _)) = split(path) {
                fs.mkdir(dir, true, mtime)?;
            }
            fs.write(path, bytes, mtime)
        })
        .await
    }

    /// Makes a file that must not exist yet (nor its folders), in one step.
    pub async fn create_new(&self, path: &str, bytes: &[u8]) -> Result<Meta, FsError> {
        self.touch(Resource::File(path.into()), OpKind::Create, |fs, mtime| {
            if fs.lstat(path).is_ok() {
                return Err(FsError {
                    kind: FsErrorKind::Exists,
                    path: path.to_owned(),
                });
            }
            if let Some((dir, _)) = split(path) {
                fs.mkdir(dir, true, mtime)?;
            }
            fs.write(path, bytes, mtime)
        })
        .await
    }

    pub async fn append(&self, path: &str, bytes: &[u8]) -> Result<Meta, FsError> {
        self.touch(Resource::File(path.into()), OpKind::Write, |fs, mtime| {
            fs.append(path, bytes, mtime)
        })
        .await
    }

    /// Writes only if the file still holds what hashes to `expected`, in one step.
    pub async fn replace_if(
        &self,
        path: &str,
        expected: ContentHash,
        bytes: &[u8],
    ) -> Result<Meta, ReplaceError> {
        let op = Op {
            resource: Resource::File(path.into()),
            kind: OpKind::ReplaceIf,
        };
        self.world.inner.sim.op(self.id, op.clone()).await;
        let result = self
            .world
            .inner
            .fs
            .replace_if(path, expected, bytes, self.stamp_ms());
        self.log(
            op,
            match &result {
                Ok(_) => "ok",
                Err(ReplaceError::Changed(_)) => "changed",
                Err(ReplaceError::Fs(e)) => e.kind.as_str(),
            },
        );
        result
    }

    pub async fn list(&self, path: &str) -> Result<Vec<Entry>, FsError> {
        self.touch(Resource::Subtree(path.into()), OpKind::List, |fs, _| {
            fs.list(path)
        })
        .await
    }

    pub async fn walk(&self, path: &str) -> Result<Vec<Found>, FsError> {
        self.touch(Resource::Subtree(path.into()), OpKind::List, |fs, _| {
            fs.walk(path)
        })
        .await
    }

    pub async fn mkdir(&self, path: &str, parents: bool) -> Result<(), FsError> {
        self.touch(Self::entry(path), OpKind::Create, |fs, mtime| {
            fs.mkdir(path, parents, mtime)
        })
        .await
    }

    pub async fn remove(&self, path: &str, recursive: bool) -> Result<(), FsError> {
        let resource = if recursive {
            Resource::Subtree(path.into())
        } else {
            Self::entry(path)
        };
        self.touch(resource, OpKind::Remove, |fs, _| fs.remove(path, recursive))
            .await
    }

    /// Moves `from` to `to`. Announced as a write of the subtree above both.
    pub async fn rename(&self, from: &str, to: &str) -> Result<(), FsError> {
        self.touch(Self::above_both(from, to), OpKind::Write, |fs, _| {
            fs.rename(from, to)
        })
        .await
    }

    pub async fn symlink(&self, target: &str, link: &str) -> Result<(), FsError> {
        self.touch(Self::entry(link), OpKind::Create, |fs, mtime| {
            fs.symlink(target, link, mtime)
        })
        .await
    }

    pub async fn read_link(&self, path: &str) -> Result<String, FsError> {
        self.touch(Resource::File(path.into()), OpKind::Stat, |fs, _| {
            fs.read_link(path)
        })
        .await
    }

    pub async fn chmod(&self, path: &str, mode: u32) -> Result<(), FsError> {
        self.touch(Resource::File(path.into()), OpKind::Write, |fs, _| {
            fs.chmod(path, mode)
        })
        .await
    }

    pub async fn set_mtime(&self, path: &str, mtime_ms: i64) -> Result<(), FsError> {
        self.touch(Resource::File(path.into()), OpKind::Write, |fs, _| {
            fs.set_mtime(path, mtime_ms)
        })
        .await
    }

    pub async fn canonical(&self, path: &str) -> Result<String, FsError> {
        self.touch(Resource::File(path.into()), OpKind::Stat, |fs, _| {
            fs.canonical(path)
        })
        .await
    }

    /// The deepest folder that holds both paths, with everything below.
    pub(super) fn above_both(a: &str, b: &str) -> Resource {
        let same = a.split('/').zip(b.split('/')).take_while(|(x, y)| x == y);
        let len: usize = same.map(|(part, _)| part.len() + 1).sum();
        // If one path is all of what both share, the folder is the one that holds it.
        let len = len.min(a.len()).min(b.len());
        let shared = &a[..len];
        match shared.rfind('/') {
            Some(0) | None => Resource::Subtree("/".into()),
            Some(end) => Resource::Subtree(shared[..end].into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rename_is_announced_for_the_folder_above_both() {
        let above = |a: &str, b: &str| match Actor::above_both(a, b) {
            Resource::Subtree(path) => path.to_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(above("/work/a", "/work/b"), "/work");
        assert_eq!(above("/work/a", "/work/ab"), "/work");
        assert_eq!(above("/work/x/a", "/work/y/a"), "/work");
        assert_eq!(above("/work/x", "/work/x/y"), "/work");
        assert_eq!(above("/work/x/y", "/work/x"), "/work");
        assert_eq!(above("/work/x", "/work/x"), "/work");
        assert_eq!(above("/a", "/b"), "/");
        assert_eq!(above("/wörk/a", "/wörk/é"), "/wörk");
    }
}
