use super::super::{FileKind, Fs, LINKS_MAX, Meta, ReplaceError};
use super::*;

fn fs() -> MemoryFs {
    MemoryFs::new(MemoryOptions::default())
}

fn kind<T: std::fmt::Debug>(result: Result<T, FsError>) -> FsErrorKind {
    result.expect_err("this must be refused").kind
}

#[test]
fn what_is_written_is_read_back() {
    let fs = fs();
    fs.put_file("/work/a.txt", *b"one", 0o640, 7).unwrap();
    assert_eq!(&*fs.read("/work/a.txt").unwrap(), b"one");
    let meta = fs.write("/work/a.txt", b"three", 9).unwrap();
    assert_eq!(
        meta,
        Meta {
            kind: FileKind::File,
            size: 5,
            mode: 0o640,
            mtime_ms: 9
        }
    );
    assert_eq!(fs.append("/work/b.txt", b"x", 1).unwrap().mode, 0o644);
    assert_eq!(kind(fs.write("/none/b", b"", 1)), FsErrorKind::NotFound);
    assert_eq!(kind(fs.write("/work", b"", 1)), FsErrorKind::IsDirectory);
    assert_eq!(kind(fs.read("/work")), FsErrorKind::IsDirectory);
    assert_eq!(kind(fs.read("/work/a.txt/b")), FsErrorKind::NotDirectory);
    let names: Vec<_> = fs.list("/work").unwrap();
    assert_eq!(names.len(), 2);
}

#[test]
fn a_path_that_is_not_normal_is_refused() {
    let fs = fs();
    let long = format!("/{}", "n".repeat(256));
    let deep = "/n".repeat(2048);
    for path in [
        "", "a", "/a/", "//", "/a//b", "/.", "/a/..", "/a\0", &long, &deep,
    ] {
        assert_eq!(kind(fs.write(path, b"", 0)), FsErrorKind::Invalid, "{path}");
        assert_eq!(kind(fs.stat(path)), FsErrorKind::Invalid, "{path}");
        assert_eq!(kind(fs.rename("/a", path)), FsErrorKind::Invalid, "{path}");
    }
}

#[test]
fn links_are_followed_to_the_limit() {
    let fs = fs();
    fs.put_file("/real", *b"x", 0o644, 0).unwrap();
    let mut target = "real".to_owned();
    for i in 0..=LINKS_MAX {
        let link = format!("l{i}");
        fs.put_symlink(&format!("/{link}"), &target, 0).unwrap();
        target = link;
    }
    assert_eq!(&*fs.read(&format!("/l{}", LINKS_MAX - 1)).unwrap(), b"x");
    assert_eq!(kind(fs.read(&format!("/l{LINKS_MAX}"))), FsErrorKind::Loop);
    fs.put_symlink("/self", "self", 0).unwrap();
    assert_eq!(kind(fs.stat("/self")), FsErrorKind::Loop);
    assert_eq!(fs.lstat("/self").unwrap().kind, FileKind::Symlink);
}

#[test]
fn a_link_cannot_lead_out_of_the_root() {
    let fs = fs();
    fs.put_file("/etc/passwd", *b"ours", 0o644, 0).unwrap();
    fs.put_symlink("/work/up", "../../../../etc/passwd", 0)
        .unwrap();
    assert_eq!(&*fs.read("/work/up").unwrap(), b"ours");
    assert_eq!(fs.canonical("/work/up").unwrap(), "/etc/passwd");
}

#[test]
fn a_write_through_a_dangling_link_makes_its_target() {
    let fs = fs();
    fs.put_symlink("/work/link", "there", 0).unwrap();
    assert_eq!(fs.canonical("/work/link").unwrap(), "/work/there");
    fs.write("/work/link", b"x", 0).unwrap();
    assert_eq!(&*fs.read("/work/there").unwrap(), b"x");
    assert_eq!(kind(fs.mkdir("/work/link", false, 0)), FsErrorKind::Exists);
}

#[test]
fn the_owners_bits_bind_all_but_the_superuser() {
    let prepared = fs();
    prepared.put_file("/d/secret", *b"x", 0o200, 0).unwrap();
    prepared.put_file("/d/fixed", *b"x", 0o400, 0).unwrap();
    prepared.put_file("/closed/f", *b"x", 0o644, 0).unwrap();
    prepared.put_dir("/closed", 0o555, 0).unwrap();
    prepared.put_dir("/blind", 0o600, 0).unwrap();
    let denied = FsErrorKind::Permission;
    assert_eq!(kind(prepared.read("/d/secret")), denied);
    assert_eq!(kind(prepared.write("/d/fixed", b"y", 0)), denied);
    assert_eq!(kind(prepared.write("/closed/new", b"y", 0)), denied);
    assert_eq!(kind(prepared.remove("/closed/f", false)), denied);
    assert_eq!(kind(prepared.rename("/closed/f", "/d/f")), denied);
    assert_eq!(kind(prepared.stat("/blind/f")), denied);
    prepared.write("/closed/f", b"y", 0).unwrap();
    let root = prepared.with_options(MemoryOptions {
        superuser: true,
        ..MemoryOptions::default()
    });
    root.read("/d/secret").unwrap();
    root.write("/d/fixed", b"y", 0).unwrap();
    root.write("/closed/new", b"y", 0).unwrap();
    assert_eq!(kind(root.stat("/blind/f")), FsErrorKind::NotFound);
}

#[test]
fn a_full_disk_refuses_and_changes_nothing() {
    let fs = MemoryFs::new(MemoryOptions {
        capacity_bytes: 10,
        ..MemoryOptions::default()
    });
    fs.write("/a", b"12345", 0).unwrap();
    fs.put_sparse("/huge", 1 << 50, &[(7, b"z")], 0o644, 0)
        .unwrap();
    assert_eq!(kind(fs.write("/b", b"12345", 0)), FsErrorKind::NoSpace);
    assert_eq!(kind(fs.append("/a", b"12345", 0)), FsErrorKind::NoSpace);
    assert_eq!(&*fs.read("/a").unwrap(), b"12345");
    assert_eq!(kind(fs.stat("/b")), FsErrorKind::NotFound);
    fs.write("/a", b"123456789", 0).unwrap();
    fs.remove("/a", false).unwrap();
    fs.write("/b", b"123456789", 0).unwrap();
    assert_eq!(fs.stored_bytes(), 10);
}

#[test]
fn a_huge_file_is_read_in_ranges() {
    let fs = fs();
    fs.put_sparse("/huge", 1 << 40, &[(1 << 30, b"mark")], 0o644, 0)
        .unwrap();
    assert_eq!(fs.stat("/huge").unwrap().size, 1 << 40);
    assert_eq!(kind(fs.read("/huge")), FsErrorKind::TooLarge);
    assert_eq!(
        kind(fs.read_range("/huge", 0, u64::MAX)),
        FsErrorKind::TooLarge
    );
    assert_eq!(
        &*fs.read_range("/huge", (1 << 30) - 1, 6).unwrap(),
        b"\0mark\0"
    );
    assert_eq!(&*fs.read_range("/huge", u64::MAX, 6).unwrap(), b"");
    assert!(matches!(
        fs.replace_if("/huge", ContentHash::of(b""), b"", 0),
        Err(ReplaceError::Fs(FsError {
            kind: FsErrorKind::TooLarge,
            ..
        }))
    ));
}

#[test]
fn replace_if_writes_only_over_what_was_expected() {
    let fs = fs();
    fs.write("/a", b"one", 1).unwrap();
    let seen = ContentHash::of(b"one");
    fs.replace_if("/a", seen, b"two", 2).unwrap();
    let changed = fs.replace_if("/a", seen, b"three", 3);
    assert_eq!(
        changed,
        Err(ReplaceError::Changed(Bytes::from(&b"two"[..])))
    );
    assert_eq!(fs.stat("/a").unwrap().mtime_ms, 2);
    assert!(matches!(
        fs.replace_if("/none", seen, b"", 0),
        Err(ReplaceError::Fs(FsError {
            kind: FsErrorKind::NotFound,
            ..
        }))
    ));
}

#[test]
fn case_is_kept_even_where_it_does_not_matter() {
    let fs = MemoryFs::new(MemoryOptions {
        case_sensitive: false,
        ..MemoryOptions::default()
    });
    fs.write("/Notes.TXT", b"1", 0).unwrap();
    fs.write("/notes.txt", b"2", 0).unwrap();
    fs.write("/Zed", b"", 0).unwrap();
    fs.write("/able", b"", 0).unwrap();
    let names: Vec<_> = fs.list("/").unwrap().into_iter().map(|e| e.name).collect();
    assert_eq!(names, ["Notes.TXT".into(), "Zed".into(), Arc::from("able")]);
    assert_eq!(&*fs.read("/NOTES.txt").unwrap(), b"2");
    assert_eq!(fs.canonical("/NOTES.txt").unwrap(), "/Notes.TXT");
    fs.rename("/notes.txt", "/notes.txt").unwrap();
    assert_eq!(fs.canonical("/x").unwrap(), "/x");
    assert_eq!(fs.list("/").unwrap()[0].name, "Zed".into());
    fs.mkdir("/Dir/sub", true, 0).unwrap();
    assert_eq!(kind(fs.rename("/dir", "/DIR/SUB/x")), FsErrorKind::Invalid);
    assert_eq!(kind(fs.rename("/DIR/SUB", "/dir")), FsErrorKind::NotEmpty);
    assert_eq!(kind(fs.mkdir("/dIR", false, 0)), FsErrorKind::Exists);
}

#[test]
fn mtimes_are_cut_to_the_granularity() {
    let fs = MemoryFs::new(MemoryOptions {
        mtime_granularity_ms: 2000,
        ..MemoryOptions::default()
    });
    assert_eq!(fs.write("/a", b"", 3999).unwrap().mtime_ms, 2000);
    fs.set_mtime("/a", -1).unwrap();
    assert_eq!(fs.stat("/a").unwrap().mtime_ms, -2000);
}

#[test]
fn a_copy_is_independent_and_shares() {
    let a = fs();
    for i in 0..5_000 {
        a.put_file(&format!("/work/d{}/f{i}", i % 50), *b"same", 0o644, 0)
            .unwrap();
    }
    let hash = a.world_hash();
    let b = a.snapshot();
    b.write("/work/d1/f1", b"other", 5).unwrap();
    b.remove("/work/d2", true).unwrap();
    b.chmod("/work/d3/f3", 0o600).unwrap();
    b.put_symlink("/work/l", "d3", 0).unwrap();
    assert_eq!(a.world_hash(), hash);
    assert_ne!(b.world_hash(), hash);
    let found: Vec<_> = diff(&a, &b)
        .into_iter()
        .map(|d| (d.path, d.differs))
        .collect();
    assert_eq!(found.len(), 3 + 101);
    assert!(found.contains(&("/work/d1/f1".to_owned(), Differs::Content)));
    assert!(found.contains(&("/work/d3/f3".to_owned(), Differs::Mode)));
    assert!(found.contains(&("/work/l".to_owned(), Differs::Added)));
    assert!(found.contains(&("/work/d2/f2".to_owned(), Differs::Removed)));
    assert_eq!(b.stored_bytes(), 5_000 * 4 + 1 - 100 * 4);
}

#[test]
fn the_hash_is_of_the_tree_and_not_of_its_history() {
    let a = fs();
    a.put_file("/x/a", *b"1", 0o644, 1).unwrap();
    a.put_file("/x/b", *b"2", 0o644, 1).unwrap();
    let b = fs();
    b.put_file("/x/b", *b"0", 0o644, 2).unwrap();
    b.put_file("/x/c", *b"1", 0o644, 2).unwrap();
    b.write("/x/b", b"2", 3).unwrap();
    b.rename("/x/c", "/x/a").unwrap();
    assert_eq!(a.world_hash(), b.world_hash());
    assert_eq!(diff(&a, &b), []);
    b.set_mtime("/x/a", 77).unwrap();
    assert_eq!(a.world_hash(), b.world_hash());
    b.chmod("/x", 0o700).unwrap();
    assert_ne!(a.world_hash(), b.world_hash());
    assert_eq!(diff(&a, &b).len(), 1);
}

#[test]
fn walks_are_in_the_order_of_whole_paths() {
    let fs = fs();
    for path in ["/a/b/c", "/a/b.txt", "/a/b-x", "/a.txt", "/a/z"] {
        fs.put_file(path, *b"", 0o644, 0).unwrap();
    }
    fs.put_symlink("/a/link", "/a", 0).unwrap();
    let found: Vec<_> = fs.walk("/").unwrap().into_iter().map(|f| f.path).collect();
    let mut sorted = found.clone();
    sorted.sort();
    assert_eq!(found, sorted);
    assert_eq!(found.len(), 6);
    assert_eq!(&*fs.walk("/a/link").unwrap()[0].path, "/a/link/b-x");
    assert_eq!(kind(fs.walk("/a/z")), FsErrorKind::NotDirectory);
}
