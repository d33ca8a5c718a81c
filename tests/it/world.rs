//! The file system in memory and the confined real folder do what the kernel does.

mod kernel;
mod laws;

use kernel::KernelFs;
use proptest::prelude::*;
use rehearsal::world::{
    ContentHash, DiskFs, FileKind, Fs, FsError, FsErrorKind, MemoryFs, MemoryOptions, Meta,
    ReplaceError, normalize,
};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Everything happens so deep that the links generated, of which each climbs at most
/// four folders, do not lead out of the temporary folder, where the kernel would
/// follow them into the machine.
const DEPTH: usize = 30;

fn base() -> String {
    "/w".repeat(DEPTH)
}

/// One operation on paths below [`base`].
#[derive(Debug, Clone)]
enum Action {
    Write(String, Vec<u8>),
    Append(String, Vec<u8>),
    ReplaceIf(String, Vec<u8>, Vec<u8>),
    Read(String),
    ReadRange(String, u64, u64),
    Stat(String),
    Lstat(String),
    List(String),
    Walk(String),
    Mkdir(String, bool),
    Remove(String, bool),
    Rename(String, String),
    Symlink(String, String),
    ReadLink(String),
    Chmod(String, u32),
    SetMtime(String, i64),
    Canonical(String),
}

/// What an operation gave, without what may differ: see [`plain`].
#[derive(Debug, Clone, PartialEq)]
enum Gave {
    Nothing,
    Bytes(Vec<u8>),
    Text(String),
    Meta(Meta),
    Entries(Vec<(String, FileKind)>),
    Found(Vec<(String, Meta)>),
    Changed(Vec<u8>),
    Refused(FsErrorKind),
}

/// Without the mtimes that a real disk sets by the real clock: those of folders and
/// symlinks.
fn plain(meta: Meta) -> Meta {
    match meta.kind {
        FileKind::File => meta,
        FileKind::Dir | FileKind::Symlink => Meta {
            mtime_ms: 0,
            ..meta
        },
    }
}

fn gave<T>(result: Result<T, FsError>, ok: impl FnOnce(T) -> Gave) -> Gave {
    result.map_or_else(|error| Gave::Refused(error.kind), ok)
}

fn nothing(result: Result<(), FsError>) -> Gave {
    gave(result, |()| Gave::Nothing)
}

fn perform(fs: &dyn Fs, action: &Action, clock_ms: i64) -> Gave {
    let at = |path: &str| format!("{}{path}", base());
    let meta = |meta| Gave::Meta(plain(meta));
    let bytes = |bytes: rehearsal::world::Bytes| Gave::Bytes(bytes.to_vec());
    match action {
        Action::Write(path, content) => gave(fs.write(&at(path), content, clock_ms), meta),
        Action::Append(path, content) => gave(fs.append(&at(path), content, clock_ms), meta),
        Action::ReplaceIf(path, old, new) => {
            match fs.replace_if(&at(path), ContentHash::of(old), new, clock_ms) {
                Ok(done) => meta(done),
                Err(ReplaceError::Changed(now)) => Gave::Changed(now.to_vec()),
                Err(ReplaceError::Fs(error)) => Gave::Refused(error.kind),
            }
        }
        Action::Read(path) => gave(fs.read(&at(path)), bytes),
        Action::ReadRange(path, offset, len) => {
            gave(fs.read_range(&at(path), *offset, *len), bytes)
        }
        Action::Stat(path) => gave(fs.stat(&at(path)), meta),
        Action::Lstat(path) => gave(fs.lstat(&at(path)), meta),
        Action::List(path) => gave(fs.list(&at(path)), |entries| {
            Gave::Entries(
                entries
                    .iter()
                    .map(|e| (e.name.to_string(), e.kind))
                    .collect(),
            )
        }),
        Action::Walk(path) => gave(fs.walk(&at(path)), |found| {
            let found = found.into_iter();
            Gave::Found(found.map(|f| (f.path.to_string(), plain(f.meta))).collect())
        }),
        Action::Mkdir(path, parents) => nothing(fs.mkdir(&at(path), *parents, clock_ms)),
        Action::Remove(path, recursive) => nothing(fs.remove(&at(path), *recursive)),
        Action::Rename(from, to) => nothing(fs.rename(&at(from), &at(to))),
        Action::Symlink(target, link) => {
            let target = match target.strip_prefix('/') {
                Some(below) => format!("{}/{below}", base()),
                None => target.clone(),
            };
            nothing(fs.symlink(&target, &at(link), clock_ms))
        }
        Action::ReadLink(path) => gave(fs.read_link(&at(path)), Gave::Text),
        Action::Chmod(path, mode) => nothing(fs.chmod(&at(path), *mode)),
        Action::SetMtime(path, ms) => nothing(fs.set_mtime(&at(path), *ms)),
        Action::Canonical(path) => gave(fs.canonical(&at(path)), Gave::Text),
    }
}

/// The whole tree through the trait: path, metadata, content or target. Modes are
/// lifted for the moment of looking, where they bind.
fn tree(fs: &dyn Fs, path: &str, found: &mut Vec<(String, Meta, Gave)>) {
    let meta = fs.lstat(path).expect("it was listed");
    let held = match meta.kind {
        FileKind::Symlink => gave(fs.read_link(path), Gave::Text),
        FileKind::File => {
            fs.chmod(path, meta.mode | 0o400).expect("ours");
            let held = gave(fs.read(path), |bytes| Gave::Bytes(bytes.to_vec()));
            fs.chmod(path, meta.mode).expect("ours");
            held
        }
        FileKind::Dir => {
            fs.chmod(path, meta.mode | 0o500).expect("ours");
            for entry in fs.list(path).expect("a folder that may be read") {
                tree(fs, &format!("{path}/{}", entry.name), found);
            }
            fs.chmod(path, meta.mode).expect("ours");
            Gave::Nothing
        }
    };
    found.push((path.to_owned(), plain(meta), held));
}

/// Whether mode bits bind nobody here, and which bits new files are made without.
fn machine(dir: &Path) -> MemoryOptions {
    let probe = dir.join("probe");
    let mode = |path: &Path| path.metadata().expect("it exists").permissions().mode() & 0o777;
    std::fs::create_dir(&probe).expect("a temporary folder can be written to");
    let umask = 0o777 & !mode(&probe);
    std::fs::set_permissions(&probe, std::fs::Permissions::from_mode(0o0)).expect("ours");
    let superuser = std::fs::read_dir(&probe).is_ok();
    std::fs::remove_dir(&probe).expect("it is empty");
    MemoryOptions {
        superuser,
        umask,
        ..MemoryOptions::default()
    }
}

struct Arms {
    _dirs: [tempfile::TempDir; 2],
    memory: MemoryFs,
    disk: DiskFs,
    kernel: KernelFs,
}

impl Arms {
    fn new() -> Arms {
        let dirs = [tempfile::tempdir(), tempfile::tempdir()].map(|d| d.expect("a folder"));
        let memory = MemoryFs::new(machine(dirs[0].path()));
        let disk = DiskFs::open(dirs[0].path(), "/").expect("it exists");
        let kernel = KernelFs::new(dirs[1].path());
        for fs in [&memory as &dyn Fs, &disk, &kernel] {
            fs.mkdir(&base(), true, 0).expect("an empty file system");
        }
        Arms {
            _dirs: dirs,
            memory,
            disk,
            kernel,
        }
    }

    /// Does `action` on each and says where they differ.
    fn perform(&self, action: &Action, clock_ms: i64) -> Result<Gave, String> {
        let memory = perform(&self.memory, action, clock_ms);
        let disk = perform(&self.disk, action, clock_ms);
        let kernel = perform(&self.kernel, action, clock_ms);
        // realpath(3) knows nothing of a last component that does not exist yet.
        let silent = matches!(action, Action::Canonical(_))
            && kernel == Gave::Refused(FsErrorKind::NotFound);
        if memory != disk || (memory != kernel && !silent) {
            return Err(format!(
                "{action:?}\n memory: {memory:?}\n disk:   {disk:?}\n kernel: {kernel:?}"
            ));
        }
        Ok(memory)
    }

    fn trees(&self) -> [Vec<(String, Meta, Gave)>; 3] {
        [&self.memory as &dyn Fs, &self.disk, &self.kernel].map(|fs| {
            let mut found = Vec::new();
            // From the top: a link can carry a chmod to a folder above the base.
            tree(fs, "/w", &mut found);
            found
        })
    }
}

impl Drop for Arms {
    fn drop(&mut self) {
        if self.memory.options().superuser {
            return;
        }
        // So that the temporary folders can be removed.
        for fs in [&self.disk as &dyn Fs, &self.kernel] {
            unlock(fs, "/w");
        }
    }
}

fn unlock(fs: &dyn Fs, folder: &str) {
    let _ = fs.chmod(folder, 0o700);
    for entry in fs.list(folder).unwrap_or_default() {
        if entry.kind == FileKind::Dir {
            unlock(fs, &format!("{folder}/{}", entry.name));
        }
    }
}

fn path() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "b", "c", "A"]);
    prop::collection::vec(name, 0..4).prop_map(|names| {
        let names: String = names.iter().map(|name| format!("/{name}")).collect();
        normalize("/", &names).trim_end_matches('/').to_owned()
    })
}

fn target() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec!["a", "b", "c", ".", "..", "", "A"]);
    let parts = prop::collection::vec(part, 0..4).prop_map(|parts| parts.join("/"));
    (parts, prop::bool::weighted(0.2)).prop_map(
        |(parts, absolute)| {
            if absolute { format!("/{parts}") } else { parts }
        },
    )
}

fn content() -> impl Strategy<Value = Vec<u8>> {
    prop::sample::select(vec![&b""[..], b"x", b"yy", b"\0\xff"]).prop_map(<[u8]>::to_vec)
}

/// Modes that lock out and such that do not, so that sequences still get somewhere.
fn mode() -> impl Strategy<Value = u32> {
    let modes = vec![
        0o755, 0o755, 0o644, 0o700, 0o600, 0o500, 0o400, 0o300, 0o200, 0o100, 0o000, 0o2755,
        0o4755, 0o6755, 0o6744, 0o1777, 0o10644,
    ];
    prop::sample::select(modes)
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        4 => (path(), content()).prop_map(|(p, c)| Action::Write(p, c)),
        2 => (path(), content()).prop_map(|(p, c)| Action::Append(p, c)),
        2 => (path(), content(), content()).prop_map(|(p, o, n)| Action::ReplaceIf(p, o, n)),
        2 => path().prop_map(Action::Read),
        1 => (path(), 0..4u64, 0..4u64).prop_map(|(p, o, l)| Action::ReadRange(p, o, l)),
        2 => path().prop_map(Action::Stat),
        1 => path().prop_map(Action::Lstat),
        2 => path().prop_map(Action::List),
        2 => path().prop_map(Action::Walk),
        5 => (path(), any::<bool>()).prop_map(|(p, r)| Action::Mkdir(p, r)),
        2 => (path(), prop::bool::weighted(0.3)).prop_map(|(p, r)| Action::Remove(p, r)),
        4 => (path(), path()).prop_map(|(f, t)| Action::Rename(f, t)),
        5 => (target(), path()).prop_map(|(t, l)| Action::Symlink(t, l)),
        1 => path().prop_map(Action::ReadLink),
        3 => (path(), mode()).prop_map(|(p, m)| Action::Chmod(p, m)),
        1 => (path(), 0..100_000i64).prop_map(|(p, ms)| Action::SetMtime(p, ms)),
        2 => path().prop_map(Action::Canonical),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn memory_disk_and_kernel_agree(actions in prop::collection::vec(action(), 1..60)) {
        let arms = Arms::new();
        let mut actions = actions;
        // The base itself stays: above it the machine begins.
        actions.retain(|action| !matches!(
            action,
            Action::Remove(path, _) | Action::Rename(path, _) | Action::Chmod(path, _) if path.is_empty()
        ));
        for (i, action) in actions.iter().enumerate() {
            let result = arms.perform(action, 1_000 + i as i64);
            prop_assert!(result.is_ok(), "{}", result.err().unwrap_or_default());
        }
        let [memory, disk, kernel] = arms.trees();
        prop_assert_eq!(&memory, &disk);
        prop_assert_eq!(&memory, &kernel);
    }
}

/// Performs a story on all three arms and gives what each step gave.
fn story(actions: &[Action]) -> Vec<Gave> {
    let arms = Arms::new();
    let steps = actions.iter().enumerate();
    steps
        .map(|(i, action)| {
            arms.perform(action, i as i64)
                .unwrap_or_else(|e| panic!("{e}"))
        })
        .collect()
}

fn s(text: &str) -> String {
    text.to_owned()
}

#[test]
fn the_kernel_follows_forty_links_as_we_do() {
    let mut actions = vec![Action::Write(s("/f"), b"x".to_vec())];
    let mut target = s("f");
    for i in 0..41 {
        actions.push(Action::Symlink(target, format!("/l{i}")));
        target = format!("l{i}");
    }
    actions.extend([Action::Read(s("/l39")), Action::Read(s("/l40"))]);
    let gave = story(&actions);
    assert_eq!(gave[42], Gave::Bytes(b"x".to_vec()));
    assert_eq!(gave[43], Gave::Refused(FsErrorKind::Loop));
}

#[test]
fn a_slash_at_the_end_of_a_link_asks_for_a_folder() {
    let gave = story(&[
        Action::Write(s("/f"), b"x".to_vec()),
        Action::Symlink(s("f/"), s("/to_file")),
        Action::Symlink(s("none/"), s("/to_none")),
        Action::Read(s("/to_file")),
        Action::Write(s("/to_file"), b"y".to_vec()),
        Action::Write(s("/to_none"), b"y".to_vec()),
        Action::Mkdir(s("/to_none"), true),
        Action::Mkdir(s("/to_none/a"), true),
        Action::Stat(s("/to_none")),
        Action::Symlink(s(""), s("/empty")),
        Action::Symlink(s(&"n".repeat(256)), s("/long")),
        Action::Read(s("/long")),
    ]);
    let refused: Vec<_> = gave[3..]
        .iter()
        .map(|gave| match gave {
            Gave::Refused(kind) => Some(*kind),
            _ => None,
        })
        .collect();
    use FsErrorKind::*;
    assert_eq!(
        refused,
        [
            Some(NotDirectory),
            Some(IsDirectory),
            Some(IsDirectory),
            Some(Exists),
            Some(Exists),
            Some(NotFound),
            Some(NotFound),
            None,
            Some(Invalid),
        ]
    );
}

#[test]
fn a_folder_cannot_move_into_itself_nor_over_what_holds_it() {
    let gave = story(&[
        Action::Mkdir(s("/a/b/c"), true),
        Action::Rename(s("/a"), s("/a/b/d")),
        Action::Rename(s("/a/b"), s("/a")),
        Action::Write(s("/a/f"), vec![]),
        Action::Rename(s("/a/f"), s("/a")),
        Action::Rename(s("/a/f"), s("/a/b")),
        Action::Rename(s("/a/b"), s("/a/f")),
        Action::Mkdir(s("/e"), false),
        Action::Rename(s("/a"), s("/e")),
        Action::Rename(s("/e"), s("/e")),
    ]);
    let kinds = [
        Gave::Nothing,
        Gave::Refused(FsErrorKind::Invalid),
        Gave::Refused(FsErrorKind::NotEmpty),
    ];
    assert_eq!(gave[..3], kinds);
    assert_eq!(gave[4], Gave::Refused(FsErrorKind::NotEmpty));
    assert_eq!(gave[5], Gave::Refused(FsErrorKind::IsDirectory));
    assert_eq!(gave[6], Gave::Refused(FsErrorKind::NotDirectory));
    assert_eq!(gave[8..], [Gave::Nothing, Gave::Nothing]);
}
