//! Glob and Grep.

use super::testing::{Bench, START_MS, assert_class};
use super::{Glob, Grep, Outcome, Read};
use crate::words::{Class, Flag};
use crate::world::{MemoryFs, MemoryOptions};
use serde_json::{Value, json};

fn tree() -> Bench {
    let fs = MemoryFs::new(MemoryOptions::default());
    let files = [
        ("/p/src/main.rs", "fn main() {\n    hello();\n}\n", 5),
        ("/p/src/lib/a.rs", "pub fn hello() {}\n", 9),
        ("/p/src/lib/b.ts", "hello\n", 7),
        ("/p/.env", "HELLO=1\n", 3),
        ("/p/target/out.rs", "hello\n", 1),
        ("/p/.gitignore", "target/\n*.log\n!keep.log\n", 0),
        ("/p/x.log", "hello\n", 2),
        ("/p/keep.log", "hello\n", 2),
        ("/p/.git/config", "hello\n", 2),
        ("/p/bin", "hello\0hello\n", 2),
        ("/results/toolu_1.txt", "hello\n", 2),
        ("/other/o.rs", "hello\n", 2),
    ];
    for (path, content, age) in files {
        fs.put_file(path, content.as_bytes(), 0o644, START_MS + age)
            .expect("put");
    }
    fs.put_symlink("/p/link.rs", "/other/o.rs", START_MS)
        .expect("put");
    fs.put_symlink("/p/dangling.rs", "nowhere", START_MS)
        .expect("put");
    fs.put_symlink("/p/folder", "/other", START_MS)
        .expect("put");
    Bench::on(fs)
}

fn names(outcome: &Outcome) -> Vec<String> {
    assert_class(outcome, Class::Ok);
    let data = outcome.data.as_ref().expect("data");
    let names = data["filenames"].as_array().expect("names");
    names
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

#[test]
fn glob_lists_the_last_changed_first() {
    let bench = tree();
    let glob = |input: Value| names(&bench.one(Glob, input));
    assert_eq!(
        glob(json!({"pattern": "**/*.rs"})),
        [
            "/p/src/lib/a.rs",
            "/p/src/main.rs",
            "/p/link.rs",
            "/p/target/out.rs"
        ]
    );
    assert_eq!(glob(json!({"pattern": "*.ts"})), ["/p/src/lib/b.ts"]);
    assert_eq!(glob(json!({"pattern": "src/*"})), ["/p/src/main.rs"]);
    assert_eq!(glob(json!({"pattern": "./*.rs"})), ["/p/link.rs"]);
    assert_eq!(glob(json!({"pattern": "*.rs", "path": "src"})).len(), 2);
    assert_eq!(
        glob(json!({"pattern": "../main.rs", "path": "src/lib"})),
        ["/p/src/main.rs"]
    );
    assert_eq!(
        glob(json!({"pattern": "/p/src/**/*.{ts,js}"})),
        ["/p/src/lib/b.ts"]
    );
    assert_eq!(glob(json!({"pattern": ".env*"})), ["/p/.env"]);
    // Neither saved results nor what version control keeps.
    assert_eq!(glob(json!({"pattern": "/**/toolu*"})), [] as [&str; 0]);
    assert_eq!(glob(json!({"pattern": "**/config"})), [] as [&str; 0]);
    assert_eq!(
        glob(json!({"pattern": "config", "path": ".git"})),
        ["/p/.git/config"]
    );
    // A folder by a link is searched when it is where the search begins.
    assert_eq!(
        glob(json!({"pattern": "*", "path": "folder"})),
        ["/p/folder/o.rs"]
    );
}

#[test]
fn glob_says_what_it_leaves_out_and_what_is_wrong() {
    let files: Vec<(String, &str)> = (0..101).map(|n| (format!("/p/f{n:03}"), "x")).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, x)| (path.as_str(), *x)).collect();
    let bench = Bench::new(&files);
    let cut = bench.one(Glob, json!({"pattern": "*"}));
    assert_eq!(cut.flags, [Flag::Truncated]);
    assert_eq!(names(&cut).len(), 100);
    assert!(cut.text().contains("100 of 101 files"), "{}", cut.text());
    let all = bench.one(Glob, json!({"pattern": "f0*"}));
    assert!(all.flags.is_empty());
    assert_eq!(names(&all)[0], "/p/f000");
    let none = bench.one(Glob, json!({"pattern": "zzz"}));
    assert_eq!(none.text(), "[No file below /p matches.]");
    assert_class(
        &bench.one(Glob, json!({"pattern": "a[" })),
        Class::InvalidInput,
    );
    assert_class(
        &bench.one(Glob, json!({"pattern": "*", "path": "no"})),
        Class::NotFound,
    );
    assert_class(
        &bench.one(Glob, json!({"pattern": "*", "path": "f000"})),
        Class::NotDirectory,
    );
}

#[test]
fn grep_lists_files_by_path() {
    let bench = tree();
    let found = bench.one(Grep, json!({"pattern": "hello"}));
    assert_eq!(
        found.text(),
        "Found 5 files\nkeep.log\nlink.rs\nsrc/lib/a.rs\nsrc/lib/b.ts\nsrc/main.rs"
    );
    let grep = |input: Value| names(&bench.one(Grep, input));
    assert_eq!(
        grep(json!({"pattern": "hello", "glob": "*.ts"})),
        ["src/lib/b.ts"]
    );
    assert_eq!(
        grep(json!({"pattern": "hello", "glob": "!src"})),
        ["keep.log", "link.rs"]
    );
    assert_eq!(
        grep(json!({"pattern": "hello", "glob": "src/**/*.rs"})).len(),
        2
    );
    assert_eq!(
        grep(json!({"pattern": "hello", "type": "ts"})),
        ["src/lib/b.ts"]
    );
    assert_eq!(
        grep(json!({"pattern": "HELLO", "path": "src"})),
        [] as [&str; 0]
    );
    assert_eq!(grep(json!({"pattern": "HELLO=", "path": "."})), [".env"]);
    assert_eq!(
        grep(json!({"pattern": "HELLO", "-i": true, "path": "src"})).len(),
        3
    );
    // Where the search begins is searched, whatever is ignored.
    assert_eq!(
        grep(json!({"pattern": "hello", "path": "target"})),
        ["target/out.rs"]
    );
    assert_eq!(
        grep(json!({"pattern": "hello", "path": "x.log"})),
        ["x.log"]
    );
    assert_eq!(
        grep(json!({"pattern": "hello", "path": "/other"})),
        ["/other/o.rs"]
    );
    assert_eq!(
        grep(json!({"pattern": "hello", "path": "/results/toolu_1.txt"})).len(),
        1
    );
    assert!(
        !grep(json!({"pattern": "hello", "path": "/"}))
            .iter()
            .any(|n| n.contains("results"))
    );
}

#[test]
fn grep_shows_lines_and_counts() {
    let bench = Bench::new(&[
        ("/p/a", "one\ntwo\nthree\nfour\ntwo\r\n"),
        ("/p/b", "two two\n"),
    ]);
    let grep = |input: Value| bench.one(Grep, input).text();
    let content = |extra: Value| {
        let mut input = json!({"pattern": "two", "output_mode": "content"});
        for (key, value) in extra.as_object().expect("object") {
            input[key] = value.clone();
        }
        grep(input)
    };
    assert_eq!(content(json!({})), "a:2:two\na:5:two\nb:1:two two");
    assert_eq!(content(json!({"-n": false})), "a:two\na:two\nb:two two");
    assert_eq!(
        content(json!({"path": "a", "-A": 1})),
        "2:two\n3-three\n--\n5:two"
    );
    assert_eq!(
        content(json!({"path": "a", "-C": 1})),
        "1-one\n2:two\n3-three\n4-four\n5:two"
    );
    assert_eq!(content(json!({"path": "b", "-o": true})), "1:two\n1:two");
    assert_eq!(
        content(json!({"head_limit": 1, "offset": 1})),
        "a:5:two\n\n[2–2 of 3 are shown. Go on with offset 2, or narrow the search.]"
    );
    assert_eq!(
        content(json!({"offset": 9})),
        "[There are 3, none from offset 9 on.]"
    );
    assert_eq!(content(json!({"pattern": "none"})), "[Nothing matches.]");
    assert_eq!(
        grep(json!({"pattern": "two", "output_mode": "count"})),
        "a:2\nb:1\n\nFound 3 in 2 files."
    );
    assert_eq!(
        grep(json!({"pattern": "two.three", "output_mode": "content", "multiline": true})),
        "a:2:two\na:3:three"
    );
}

#[test]
fn grep_shows_250_unless_told_otherwise() {
    let bench = Bench::new(&[("/p/a", &"x\n".repeat(300))]);
    let lines = |limit: Value| {
        let mut input = json!({"pattern": "x", "output_mode": "content"});
        if !limit.is_null() {
            input["head_limit"] = limit;
        }
        bench.one(Grep, input).data.expect("data")["numLines"].clone()
    };
    assert_eq!(
        [lines(json!(null)), lines(json!(0)), lines(json!(7))],
        [250, 300, 7]
    );
}

#[test]
fn grep_says_what_is_wrong() {
    let bench = Bench::new(&[("/p/a", "x")]);
    for (input, class, says) in [
        (
            json!({"pattern": "("}),
            Class::InvalidInput,
            "no valid regular expression",
        ),
        (
            json!({"pattern": "a\nb"}),
            Class::InvalidInput,
            "Set multiline",
        ),
        (json!({"pattern": "x", "type": "rst"}), Class::Ok, ""),
        (
            json!({"pattern": "x", "type": "rrust"}),
            Class::InvalidInput,
            "Did you mean",
        ),
        (
            json!({"pattern": "x", "glob": "a["}),
            Class::InvalidInput,
            "glob",
        ),
        (
            json!({"pattern": "x", "path": "b"}),
            Class::NotFound,
            "does not exist",
        ),
    ] {
        let outcome = bench.one(Grep, input.clone());
        assert_class(&outcome, class);
        assert!(outcome.text().contains(says), "{input} {}", outcome.text());
    }
}

#[test]
fn a_binary_file_that_is_named_is_told() {
    let bench = tree();
    let outcome = bench.one(Grep, json!({"pattern": "hello", "path": "bin"}));
    assert!(outcome.text().contains("binary file"), "{}", outcome.text());
}

#[test]
fn deeper_ignore_files_win() {
    let bench = Bench::new(&[
        ("/p/.gitignore", "*.txt\nbuild\n"),
        ("/p/a.txt", "x"),
        ("/p/sub/.gitignore", "!b.txt\n"),
        ("/p/sub/b.txt", "x"),
        ("/p/sub/.ignore", "c.md\n"),
        ("/p/sub/c.md", "x"),
        // What is in an ignored folder cannot be taken back.
        ("/p/build/.gitignore", "!*\n"),
        ("/p/build/d.md", "x"),
        ("/p/sub/deep/e.txt", "x"),
    ]);
    let found = names(&bench.one(Grep, json!({"pattern": "^x"})));
    assert_eq!(found, ["sub/b.txt"]);
    // The rules above where the search begins hold as well.
    assert_eq!(
        names(&bench.one(Grep, json!({"pattern": "^x", "path": "sub/deep"}))),
        [] as [&str; 0]
    );
}

#[test]
fn searching_is_not_reading() {
    let bench = Bench::new(&[("/p/a", "x\n")]);
    bench.one(Grep, json!({"pattern": "x", "output_mode": "content"}));
    assert!(bench.env.files.entries().is_empty());
    bench.one(Read, json!({"file_path": "a"}));
    assert_eq!(bench.env.files.entries().len(), 1);
}
