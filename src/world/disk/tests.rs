use super::*;
use std::os::unix::fs::symlink;

fn kind<T: std::fmt::Debug>(result: Result<T, FsError>) -> FsErrorKind {
    result.expect_err("this must be refused").kind
}

/// A folder `root` with a file `in`, beside a file `secret`.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("in"), "inside").unwrap();
    std::fs::write(dir.path().join("secret"), "outside").unwrap();
    (dir, root)
}

#[test]
fn a_link_that_leads_out_is_refused() {
    let (dir, root) = folder();
    symlink("../secret", root.join("up")).unwrap();
    symlink(dir.path().join("secret"), root.join("absolute")).unwrap();
    symlink("..", root.join("parent")).unwrap();
    symlink("parent/secret", root.join("chain")).unwrap();
    symlink("../root/in", root.join("back")).unwrap();
    let fs = DiskFs::open(&root, "/work").unwrap();
    let outside = FsErrorKind::Outside;
    for link in ["/work/up", "/work/absolute", "/work/chain", "/work/parent"] {
        assert_eq!(kind(fs.read(link)), outside, "{link}");
        assert_eq!(kind(fs.write(link, b"x", 0)), outside, "{link}");
        assert_eq!(kind(fs.append(link, b"x", 0)), outside, "{link}");
        assert_eq!(kind(fs.stat(link)), outside, "{link}");
        assert_eq!(kind(fs.chmod(link, 0o600)), outside, "{link}");
        assert_eq!(kind(fs.set_mtime(link, 0)), outside, "{link}");
        assert_eq!(kind(fs.canonical(link)), outside, "{link}");
        assert_eq!(fs.lstat(link).unwrap().kind, FileKind::Symlink);
    }
    assert_eq!(kind(fs.write("/work/parent/new", b"x", 0)), outside);
    assert_eq!(kind(fs.mkdir("/work/parent/a/b", true, 0)), outside);
    assert_eq!(kind(fs.remove("/work/parent/secret", false)), outside);
    assert_eq!(kind(fs.rename("/work/parent/secret", "/work/x")), outside);
    assert_eq!(kind(fs.rename("/work/in", "/work/parent/x")), outside);
    assert_eq!(kind(fs.list("/work/parent")), outside);
    assert_eq!(kind(fs.symlink("x", "/work/parent/l", 0)), outside);
    // `/root` is not where the folder appears, so the way back is not one.
    assert_eq!(kind(fs.read("/work/back")), outside);
    let secret = std::fs::read(dir.path().join("secret")).unwrap();
    assert_eq!(secret, b"outside");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
}

#[test]
fn a_path_above_the_root_is_outside() {
    let (_dir, root) = folder();
    let fs = DiskFs::open(&root, "/home/me/work").unwrap();
    for path in [
        "/",
        "/home",
        "/home/me",
        "/etc/passwd",
        "/home/me/worker/in",
    ] {
        assert_eq!(kind(fs.stat(path)), FsErrorKind::Outside, "{path}");
        assert_eq!(kind(fs.lstat(path)), FsErrorKind::Outside, "{path}");
        assert_eq!(
            kind(fs.mkdir(path, true, 0)),
            FsErrorKind::Outside,
            "{path}"
        );
        assert_eq!(kind(fs.remove(path, true)), FsErrorKind::Outside, "{path}");
    }
    assert_eq!(fs.lstat("/home/me/work").unwrap().kind, FileKind::Dir);
    assert_eq!(kind(fs.remove("/home/me/work", true)), FsErrorKind::Invalid);
    assert_eq!(
        kind(fs.mkdir("/home/me/work", false, 0)),
        FsErrorKind::Exists
    );
    fs.mkdir("/home/me/work", true, 0).unwrap();
    fs.mkdir("/home/me/work/a/b", true, 0).unwrap();
    assert_eq!(&*fs.read("/home/me/work/in").unwrap(), b"inside");
    fs.symlink("/home/me/work/in", "/home/me/work/a/l", 0)
        .unwrap();
    assert_eq!(
        fs.canonical("/home/me/work/a/l").unwrap(),
        "/home/me/work/in"
    );
    assert_eq!(&*fs.read("/home/me/work/a/l").unwrap(), b"inside");
}

#[test]
fn in_place_paths_are_those_of_the_disk() {
    let (dir, root) = folder();
    symlink("../root/in", root.join("back")).unwrap();
    symlink("../secret", root.join("up")).unwrap();
    let fs = DiskFs::open_in_place(&root).unwrap();
    let at = |name: &str| fs.root().join(name).to_str().unwrap().to_owned();
    assert_eq!(&*fs.read(&at("in")).unwrap(), b"inside");
    assert_eq!(&*fs.read(&at("back")).unwrap(), b"inside");
    assert_eq!(fs.canonical(&at("back")).unwrap(), at("in"));
    assert_eq!(kind(fs.read(&at("up"))), FsErrorKind::Outside);
    let secret = dir.path().canonicalize().unwrap().join("secret");
    assert_eq!(
        kind(fs.read(secret.to_str().unwrap())),
        FsErrorKind::Outside
    );
}

#[test]
fn at_the_top_there_is_no_way_up() {
    let (_dir, root) = folder();
    symlink("../../../in", root.join("up")).unwrap();
    symlink("/in", root.join("absolute")).unwrap();
    let fs = DiskFs::open(&root, "/").unwrap();
    assert_eq!(&*fs.read("/up").unwrap(), b"inside");
    assert_eq!(&*fs.read("/absolute").unwrap(), b"inside");
    assert_eq!(kind(fs.read("/secret")), FsErrorKind::NotFound);
}

#[test]
fn what_is_no_plain_file_is_not_opened() {
    let (_dir, root) = folder();
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    let fs = DiskFs::open(&root, "/").unwrap();
    assert_eq!(kind(fs.read("/socket")), FsErrorKind::Invalid);
    assert_eq!(kind(fs.read_range("/socket", 0, 1)), FsErrorKind::Invalid);
    assert_eq!(kind(fs.write("/socket", b"x", 0)), FsErrorKind::Invalid);
    assert_eq!(fs.list("/").unwrap().len(), 2);
}

#[test]
fn a_huge_file_is_read_in_ranges() {
    let (_dir, root) = folder();
    let file = File::create(root.join("huge")).unwrap();
    file.set_len(READ_LIMIT_BYTES + 1).unwrap();
    let fs = DiskFs::open(&root, "/").unwrap();
    assert_eq!(kind(fs.read("/huge")), FsErrorKind::TooLarge);
    assert_eq!(
        kind(fs.read_range("/huge", 0, u64::MAX)),
        FsErrorKind::TooLarge
    );
    assert_eq!(
        &*fs.read_range("/huge", READ_LIMIT_BYTES, 9).unwrap(),
        b"\0"
    );
    assert_eq!(&*fs.read_range("/huge", u64::MAX, 9).unwrap(), b"");
}

#[test]
fn names_that_are_not_utf8_are_left_out_and_removed() {
    use std::os::unix::ffi::OsStrExt;
    let (_dir, root) = folder();
    let odd = root.join("dir").join(std::ffi::OsStr::from_bytes(b"\xff"));
    std::fs::create_dir(root.join("dir")).unwrap();
    std::fs::write(&odd, "x").unwrap();
    let fs = DiskFs::open(&root, "/").unwrap();
    assert_eq!(fs.list("/dir").unwrap(), []);
    assert_eq!(fs.walk("/dir").unwrap(), []);
    assert_eq!(kind(fs.remove("/dir", false)), FsErrorKind::NotEmpty);
    fs.remove("/dir", true).unwrap();
    assert!(!odd.exists());
}

#[test]
fn a_root_must_be_a_folder() {
    let (_dir, root) = folder();
    assert_eq!(
        kind(DiskFs::open(&root.join("in"), "/")),
        FsErrorKind::NotDirectory
    );
    assert_eq!(
        kind(DiskFs::open(&root.join("none"), "/")),
        FsErrorKind::NotFound
    );
    assert_eq!(kind(DiskFs::open(&root, "work")), FsErrorKind::Invalid);
}
