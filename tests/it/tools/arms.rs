//! The simulated arm and the real arm: the file tools say and do the same on both.

use super::{Bench, START_MS};
use proptest::prelude::*;
use rehearsal::profile::Profile;
use rehearsal::tools::{Edit, Glob, Grep, Outcome, Read, Write};
use rehearsal::world::{DiskFs, Fs, MemoryFs, MemoryOptions};
use serde_json::{Value, json};
use std::sync::Arc;

/// One entry of a tree; what does not fit where it is to go is left out on both arms.
#[derive(Debug, Clone)]
enum Entry {
    File(String, String, i64),
    Folder(String),
    Link(String, String),
}

fn name() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "a",
        "b.rs",
        "c.txt",
        ".env",
        "target",
        "src",
        ".git",
        "x.log",
        ".gitignore",
        ".ignore",
    ]);
    prop::collection::vec(name, 1..4).prop_map(|parts| parts.join("/"))
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "hello",
        "world\n",
        "\n",
        "x\r\n",
        "*.log\n",
        "target/\n",
        "!b.rs\n",
        "src\n",
        "/a\n",
        "é ",
    ]);
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn tree() -> impl Strategy<Value = Vec<Entry>> {
    let entry = prop_oneof![
        6 => (name(), text(), 0i64..5).prop_map(|(n, t, age)| Entry::File(n, t, age)),
        1 => name().prop_map(Entry::Folder),
        2 => (name(), prop_oneof![
            name(),
            name().prop_map(|n| format!("/p/{n}")),
            Just("nowhere".to_owned()),
        ]).prop_map(|(n, to)| Entry::Link(n, to)),
    ];
    prop::collection::vec(entry, 1..14)
}

/// The two arms with the same tree below `/p`.
fn arms(tree: &[Entry], disk: &tempfile::TempDir) -> [Bench; 2] {
    let memory = MemoryFs::new(MemoryOptions::default());
    let real = DiskFs::open(disk.path(), "/").unwrap();
    let (memory, real): (Arc<dyn Fs>, Arc<dyn Fs>) = (Arc::new(memory), Arc::new(real));
    for fs in [&memory, &real] {
        fs.mkdir("/p", true, START_MS).unwrap();
    }
    for entry in tree {
        let made = [&memory, &real].map(|fs| make(&**fs, entry));
        assert_eq!(made[0], made[1], "{entry:?}");
    }
    [memory, real].map(|fs| Bench::on(fs, "/p", Profile::seed()))
}

/// Makes an entry; says whether it fitted.
fn make(fs: &dyn Fs, entry: &Entry) -> bool {
    let parent = |name: &str| match format!("/p/{name}").rsplit_once('/') {
        Some((folder, _)) => fs.mkdir(folder, true, START_MS).is_ok(),
        None => false,
    };
    match entry {
        Entry::File(name, content, age) => {
            let path = format!("/p/{name}");
            parent(name)
                && fs.write(&path, content.as_bytes(), START_MS).is_ok()
                && fs.set_mtime(&path, START_MS + age).is_ok()
        }
        Entry::Folder(name) => fs.mkdir(&format!("/p/{name}"), true, START_MS).is_ok(),
        Entry::Link(name, to) => {
            parent(name) && fs.symlink(to, &format!("/p/{name}"), START_MS).is_ok()
        }
    }
}

fn glob() -> impl Strategy<Value = Value> {
    let pattern = prop::sample::select(vec![
        "**/*",
        "*",
        "*.rs",
        "src/**",
        "**/a",
        ".*",
        "**/{a,.env}",
        "target/*",
        "*/*.txt",
        "../*",
    ]);
    let path = prop::option::of(prop::sample::select(vec![
        "src", "a", ".git", "/p", "target/a",
    ]));
    (pattern, path).prop_map(|(pattern, path)| {
        let mut input = json!({"pattern": pattern});
        if let Some(path) = path {
            input["path"] = json!(path);
        }
        input
    })
}

fn grep() -> impl Strategy<Value = Value> {
    let pattern = prop::sample::select(vec!["hello", "^", "o$", "w.r", "x|é", "lo\\s*wor"]);
    let mode = prop::sample::select(vec!["content", "files_with_matches", "count"]);
    let path = prop::option::of(prop::sample::select(vec![
        "src", "a", "b.rs", ".", "target",
    ]));
    let glob = prop::option::of(prop::sample::select(vec!["*.rs", "!src", "**/a", "src/**"]));
    let flags = (any::<bool>(), any::<bool>(), 0u8..3);
    (pattern, mode, path, glob, flags).prop_map(|(pattern, mode, path, glob, (multi, only, around))| {
        let mut input = json!({
            "pattern": pattern, "output_mode": mode, "multiline": multi, "-o": only, "-C": around,
        });
        for (key, value) in [("path", path), ("glob", glob)] {
            if let Some(value) = value {
                input[key] = json!(value);
            }
        }
        input
    })
}

fn same(what: &Value, both: [Outcome; 2]) -> Result<(), TestCaseError> {
    let [memory, disk] = both;
    prop_assert_eq!(memory.class, disk.class, "{} {}", what, disk.text());
    prop_assert_eq!(memory.text(), disk.text(), "{}", what);
    prop_assert_eq!(&memory.data, &disk.data, "{}", what);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn searches_say_the_same(
        tree in tree(),
        globs in prop::collection::vec(glob(), 4),
        greps in prop::collection::vec(grep(), 6),
    ) {
        let disk = tempfile::tempdir().unwrap();
        let arms = arms(&tree, &disk);
        for input in &globs {
            same(input, [0, 1].map(|i| arms[i].call(Glob, input.clone())))?;
        }
        for input in &greps {
            same(input, [0, 1].map(|i| arms[i].call(Grep, input.clone())))?;
        }
    }

    #[test]
    fn reads_and_changes_do_the_same(
        tree in tree(),
        calls in prop::collection::vec((0u8..3, name(), text(), text()), 1..12),
    ) {
        let disk = tempfile::tempdir().unwrap();
        let arms = arms(&tree, &disk);
        for (kind, name, old, new) in &calls {
            let input = match kind {
                0 => json!({"file_path": name}),
                1 => json!({"file_path": name, "content": new}),
                _ => json!({"file_path": name, "old_string": old, "new_string": new}),
            };
            same(&input, [0, 1].map(|i| match kind {
                0 => arms[i].call(Read, input.clone()),
                1 => arms[i].call(Write, input.clone()),
                _ => arms[i].call(Edit, input.clone()),
            }))?;
        }
        let all = |fs: &Arc<dyn Fs>| -> Vec<_> {
            let found = fs.walk("/p").unwrap();
            found.into_iter().map(|f| (f.path.clone(), f.meta.kind, fs.read(&f.path).ok())).collect()
        };
        prop_assert_eq!(all(&arms[0].fs), all(&arms[1].fs));
    }
}
