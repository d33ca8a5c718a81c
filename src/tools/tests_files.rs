//! Read, Edit, MultiEdit and Write together: what they demand of each other.

use super::testing::{Bench, START_MS, assert_class};
use super::{Edit, MultiEdit, Read, Write};
use crate::words::{Class, Flag};
use crate::world::{Fs, MemoryFs, MemoryOptions};
use serde_json::{Value, json};

fn file(path: &str) -> Value {
    json!({"file_path": path})
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"file_path": path, "old_string": old, "new_string": new})
}

fn write(path: &str, content: &str) -> Value {
    json!({"file_path": path, "content": content})
}

#[test]
fn edits_demand_a_read() {
    let bench = Bench::new(&[("/p/a", "one\ntwo\n")]);
    assert_class(&bench.one(Edit, edit("a", "one", "1")), Class::NotRead);
    assert_class(&bench.one(Write, write("a", "x")), Class::NotRead);
    bench.one(Read, file("a"));
    let done = bench.one(Edit, edit("a", "one", "1"));
    assert_class(&done, Class::Ok);
    assert_eq!(done.text(), "Edited /p/a at line 1.");
    // What the agent wrote it knows.
    assert_class(&bench.one(Edit, edit("a", "1", "uno")), Class::Ok);
    assert_class(&bench.one(Write, write("a", "new\n")), Class::Ok);
    assert_class(&bench.one(Edit, edit("a", "new", "newer")), Class::Ok);
    assert_eq!(bench.read("/p/a"), "newer\n");
}

#[test]
fn edits_say_why_they_do_not_apply() {
    let bench = Bench::new(&[("/p/a", "one\ntwo\none\n"), ("/p/aa.md", "")]);
    bench.one(Read, file("a"));
    for (input, class, says) in [
        (edit("a", "one", "one"), Class::NoChange, "are the same"),
        (edit("b", "x", "y"), Class::NotFound, "does not exist"),
        (
            edit("aa.txt", "x", "y"),
            Class::NotFound,
            "Did you mean aa.md?",
        ),
        (edit("/p", "x", "y"), Class::IsDirectory, "folder"),
        (edit("a", "", "y"), Class::Exists, "exists already"),
        (edit("a", "three", "y"), Class::NoMatch, "does not contain"),
        (
            edit("a", "one", "1"),
            Class::Ambiguous,
            "2 times, at lines 1, 3",
        ),
    ] {
        let outcome = bench.one(Edit, input.clone());
        assert_class(&outcome, class);
        assert!(outcome.text().contains(says), "{input} {}", outcome.text());
    }
    let all =
        json!({"file_path": "a", "old_string": "one", "new_string": "1", "replace_all": true});
    let done = bench.one(Edit, all);
    assert_eq!(done.text(), "Edited /p/a at 2 places from line 1 on.");
    assert_eq!(bench.read("/p/a"), "1\ntwo\n1\n");
}

#[test]
fn a_file_over_a_gibibyte_is_too_large_and_one_of_it_is_not() {
    let fs = MemoryFs::new(MemoryOptions::default());
    fs.put_sparse("/p/more", (1 << 30) + 1, &[], 0o644, START_MS)
        .expect("put");
    fs.put_sparse("/p/just", 1 << 30, &[], 0o644, START_MS)
        .expect("put");
    let bench = Bench::on(fs);
    assert_class(&bench.one(Edit, edit("more", "a", "b")), Class::TooLarge);
    assert_class(&bench.one(Edit, edit("just", "a", "b")), Class::NotRead);
}

#[test]
fn an_empty_old_string_makes_a_file() {
    let bench = Bench::new(&[]);
    assert_class(&bench.one(Edit, edit("new/dir/f", "", "hi\n")), Class::Ok);
    assert_eq!(bench.read("/p/new/dir/f"), "hi\n");
    assert_class(&bench.one(Edit, edit("new/dir/f", "hi", "ho")), Class::Ok);
    let edits = json!({"file_path": "g", "edits": [
        {"old_string": "", "new_string": "a b"}, {"old_string": "b", "new_string": "c"}]});
    assert_class(&bench.one(MultiEdit, edits), Class::Ok);
    assert_eq!(bench.read("/p/g"), "a c");
}

#[test]
fn a_change_from_outside_makes_stale_and_one_read_heals_it() {
    let bench = Bench::new(&[("/p/a", "one\ntwo\n")]);
    bench.one(Read, file("a"));
    bench.outside("/p/a", "ONE\ntwo\n");
    for outcome in [
        bench.one(Edit, edit("a", "two", "2")),
        bench.one(Write, write("a", "x")),
    ] {
        assert_class(&outcome, Class::Stale);
        assert!(
            outcome
                .text()
                .contains("line 1 was \"one\" and is now \"ONE\""),
            "{}",
            outcome.text()
        );
    }
    bench.one(Read, file("a"));
    assert_class(&bench.one(Edit, edit("a", "two", "2")), Class::Ok);
    assert_eq!(bench.read("/p/a"), "ONE\n2\n");
}

#[test]
fn only_content_makes_stale() {
    let bench = Bench::new(&[("/p/a", "aaaa")]);
    bench.one(Read, file("a"));
    bench
        .world
        .fs()
        .set_mtime("/p/a", START_MS + 9_999)
        .expect("touch");
    assert_class(&bench.one(Edit, edit("a", "aaaa", "bbbb")), Class::Ok);
    // B079: same size, same mtime, other content.
    bench
        .world
        .fs()
        .write("/p/a", b"cccc", START_MS)
        .expect("write");
    assert_class(&bench.one(Write, write("a", "dddd")), Class::Stale);
}

#[test]
fn a_change_between_the_checks_is_caught_before_the_write() {
    let bench = Bench::new(&[("/p/a", "one\n")]);
    bench.play(|story| async move {
        story.call(Read, file("a")).await;
        let outside = |fs: &dyn Fs| {
            fs.write("/p/a", b"ONE\none\n", START_MS).expect("write");
        };
        let edited = story
            .call_between(Edit, edit("a", "one", "1"), outside)
            .await;
        assert_class(&edited, Class::Stale);
        assert_eq!(story.read("/p/a"), "ONE\none\n");
        let appears = |fs: &dyn Fs| {
            fs.write("/p/new", b"theirs", START_MS).expect("write");
        };
        let written = story
            .call_between(Write, write("new", "mine"), appears)
            .await;
        assert_class(&written, Class::Stale);
        assert_eq!(story.read("/p/new"), "theirs");
        let gone = |fs: &dyn Fs| fs.remove("/p/a", false).expect("removed");
        story.call(Read, file("a")).await;
        let edited = story.call_between(Edit, edit("a", "ONE", "1"), gone).await;
        assert_class(&edited, Class::NotFound);
    });
}

#[test]
fn without_the_second_check_an_edit_goes_on() {
    let bench = Bench::new(&[("/p/a", "one\n")]);
    let bench = bench.profile("seed", json!({"recheck_before_write": false}));
    bench.play(|story| async move {
        story.call(Read, file("a")).await;
        let outside = |fs: &dyn Fs| {
            fs.write("/p/a", b"ONE\none\n", START_MS).expect("write");
        };
        let edited = story
            .call_between(Edit, edit("a", "one", "1"), outside)
            .await;
        assert_class(&edited, Class::Ok);
        assert_eq!(story.read("/p/a"), "ONE\n1\n");
    });
}

#[test]
fn a_partial_read_is_enough_for_an_edit_inside_it_and_for_nothing_else() {
    let bench = Bench::new(&[("/p/a", "one\ntwo\nthree\n")]);
    bench.one(Read, json!({"file_path": "a", "offset": 2, "limit": 1}));
    let outside = bench.one(Edit, edit("a", "three", "3"));
    assert_class(&outside, Class::NotRead);
    assert!(outside.text().contains("line 3"), "{}", outside.text());
    let whole = bench.one(Write, write("a", "x"));
    assert_class(&whole, Class::NotRead);
    assert!(whole.text().contains("only a part"), "{}", whole.text());
    assert_class(&bench.one(Edit, edit("a", "two", "2")), Class::Ok);
    // The edit does not make the rest known.
    assert_class(&bench.one(Write, write("a", "x")), Class::NotRead);
    bench.one(Read, json!({"file_path": "a", "offset": 1, "limit": 1}));
    bench.one(Read, json!({"file_path": "a", "offset": 3}));
    assert_class(&bench.one(Write, write("a", "x")), Class::Ok);
    let other = Bench::new(&[("/p/a", "one\ntwo\n")]);
    let other = other.profile("claude-code-2.1.197", json!({}));
    other.one(Read, json!({"file_path": "a", "offset": 2, "limit": 1}));
    assert_class(&other.one(Edit, edit("a", "one", "1")), Class::Ok);
}

#[test]
fn spellings_of_one_file_share_one_state() {
    let fs = MemoryFs::new(MemoryOptions::default());
    fs.put_file("/f/projects/a", b"x\n".as_slice(), 0o644, START_MS)
        .expect("put");
    fs.put_symlink("/s", "/f/projects", START_MS).expect("put");
    fs.put_file("/b/work/myproject/a", b"1".as_slice(), 0o644, START_MS)
        .expect("put");
    fs.put_file("/b/myproject/a", b"2".as_slice(), 0o644, START_MS)
        .expect("put");
    fs.put_symlink("/b/MyProject", "work/myproject", START_MS)
        .expect("put");
    let bench = Bench::on(fs);
    bench.one(Read, file("/s/a"));
    assert_class(&bench.one(Edit, edit("/f/projects/a", "x", "y")), Class::Ok);
    bench.outside("/f/projects/a", "z\n");
    assert_class(&bench.one(Edit, edit("/s/a", "z", "y")), Class::Stale);
    // B070: names that only look alike are two files.
    bench.one(Read, file("/b/MyProject/a"));
    assert_class(
        &bench.one(Edit, edit("/b/myproject/a", "2", "3")),
        Class::NotRead,
    );

    let fs = MemoryFs::new(MemoryOptions {
        case_sensitive: false,
        ..Default::default()
    });
    fs.put_file("/p/notes.md", b"a".as_slice(), 0o644, START_MS)
        .expect("put");
    let bench = Bench::on(fs);
    bench.one(Read, file("/P/NOTES.md"));
    assert_class(&bench.one(Edit, edit("/p/notes.md", "a", "b")), Class::Ok);
    assert_eq!(bench.env.files.entries().len(), 1);
}

#[test]
fn forms_are_kept() {
    let bench = Bench::new(&[
        ("/p/a.cs", "one\r\ntwo\r\n"),
        ("/p/bom", "\u{feff}é"),
        ("/p/mix", "a\r\nb\nc\rd\n"),
    ]);
    for path in ["a.cs", "bom", "mix"] {
        bench.one(Read, file(path));
    }
    // B064, B088.
    assert_class(
        &bench.one(Edit, edit("a.cs", "one\ntwo", "one\nTWO")),
        Class::Ok,
    );
    assert_eq!(bench.read("/p/a.cs"), "one\r\nTWO\r\n");
    // B065.
    let written = bench.one(Write, write("a.cs", "a\nc\n"));
    assert!(written.text().contains("stay CRLF"), "{}", written.text());
    assert_eq!(bench.read("/p/a.cs"), "a\r\nc\r\n");
    // B084.
    assert_class(&bench.one(Write, write("bom", "éà")), Class::Ok);
    assert_eq!(bench.read("/p/bom"), "\u{feff}éà");
    assert_class(&bench.one(Edit, edit("bom", "éà", "x")), Class::Ok);
    assert_eq!(bench.read("/p/bom"), "\u{feff}x");
    // B086.
    assert_class(&bench.one(Edit, edit("mix", "b", "B")), Class::Ok);
    assert_eq!(bench.read("/p/mix"), "a\r\nB\nc\rd\n");
}

#[test]
fn a_recovered_edit_says_so() {
    let bench = Bench::new(&[("/p/a", "one\ntwo\n")]);
    let bench = bench.profile("claude-code-2.1.208", json!({}));
    bench.one(Read, file("a"));
    bench.outside("/p/a", "ONE\ntwo\n");
    let done = bench.one(Edit, edit("a", "two", "2"));
    assert_class(&done, Class::Ok);
    assert_eq!(done.flags, [Flag::StaleRecovered]);
    bench.outside("/p/a", "two\ntwo\n");
    bench
        .world
        .fs()
        .set_mtime("/p/a", START_MS + 9_000)
        .expect("touch");
    assert_class(&bench.one(Edit, edit("a", "two", "2")), Class::Stale);
    assert_class(&bench.one(Write, write("a", "x")), Class::Stale);
}

#[test]
fn a_profile_by_mtime_is_blind_where_the_mtime_stays() {
    let bench = Bench::new(&[("/p/a", "aaaa")]);
    let bench = bench.profile("claude-code-2.1.2", json!({}));
    bench.one(Read, file("a"));
    bench
        .world
        .fs()
        .write("/p/a", b"aabb", START_MS)
        .expect("write");
    assert_class(&bench.one(Edit, edit("a", "bb", "cc")), Class::Ok);
    assert_eq!(bench.read("/p/a"), "aacc");
    // Touched only: not stale after a full Read.
    bench
        .world
        .fs()
        .set_mtime("/p/a", START_MS + 99_000)
        .expect("touch");
    assert_class(&bench.one(Edit, edit("a", "cc", "dd")), Class::Ok);
}

#[test]
fn a_second_read_may_be_a_stub() {
    let bench = Bench::new(&[("/p/a", "one\n")]);
    let bench = bench.profile("claude-code-2.1.197", json!({}));
    bench.one(Read, file("a"));
    let again = bench.one(Read, file("a"));
    assert_eq!(again.flags, [Flag::Unchanged]);
    let other = bench.one(Read, json!({"file_path": "a", "offset": 2}));
    assert!(other.flags.is_empty());
    bench.outside("/p/a", "two\n");
    assert!(bench.one(Read, file("a")).flags.is_empty());
}

#[test]
fn several_edits_are_all_or_none() {
    let bench = Bench::new(&[("/p/a", "one two\n")]);
    bench.one(Read, file("a"));
    let edits = |second: &str| {
        json!({"file_path": "a", "edits": [
        {"old_string": "one", "new_string": "1"}, {"old_string": second, "new_string": "2"}]})
    };
    let refused = bench.one(MultiEdit, edits("three"));
    assert_class(&refused, Class::NoMatch);
    assert!(refused.text().contains("edit 2 of 2"), "{}", refused.text());
    assert_eq!(bench.read("/p/a"), "one two\n");
    let done = bench.one(MultiEdit, edits("two"));
    assert_eq!(done.text(), "Edited /p/a at line 1, line 1.");
    assert_eq!(bench.read("/p/a"), "1 2\n");
}

#[test]
fn write_makes_and_shrinks() {
    let bench = Bench::new(&[("/p/a", &"line of text\n".repeat(100))]);
    let made = bench.one(Write, write("x/y/z", "hi\n"));
    assert_eq!(made.text(), "Created /p/x/y/z (1 lines, 3 bytes).");
    assert_class(&bench.one(Write, write("/p", "x")), Class::IsDirectory);
    assert_class(&bench.one(Write, write("a/b", "x")), Class::NotDirectory);
    bench.one(Read, file("a"));
    let small = bench.one(Write, write("a", "# rest unchanged\n"));
    assert!(small.text().contains("much smaller"), "{}", small.text());
    // Deleted since it was read: made anew.
    bench.world.fs().remove("/p/a", false).expect("removed");
    assert_class(&bench.one(Write, write("a", "again")), Class::Ok);
}

#[test]
fn a_hook_that_formats_can_refresh_what_is_known() {
    let bench = Bench::new(&[("/p/a", "x=1\ny=2\n")]);
    bench.one(Read, file("a"));
    bench.one(Edit, edit("a", "x=1", "x=2"));
    bench.outside("/p/a", "x = 2\ny = 2\n");
    let refreshed = bench.play(|story| async move {
        let actor = story.cx().world;
        story.env.files.refresh(&actor, "/p/a", 3).await
    });
    assert_eq!(refreshed, Ok(true));
    assert_class(&bench.one(Edit, edit("a", "x = 2", "x = 3")), Class::Ok);
}

#[test]
fn what_the_system_refuses_has_its_class() {
    let small = MemoryFs::new(MemoryOptions {
        capacity_bytes: 10,
        ..Default::default()
    });
    small
        .put_file("/p/a", b"12345".as_slice(), 0o644, START_MS)
        .expect("put");
    let bench = Bench::on(small);
    let full = bench.one(Write, write("b", "1234567"));
    assert_class(&full, Class::NoSpace);
    bench.one(Read, file("a"));
    let full = bench.one(Edit, edit("a", "5", "567890123"));
    assert_class(&full, Class::NoSpace);
    assert_eq!(bench.read("/p/a"), "12345");
    let fs = MemoryFs::new(MemoryOptions::default());
    fs.put_file("/p/secret", b"x".as_slice(), 0o000, START_MS)
        .expect("put");
    fs.put_file("/p/fixed", b"x".as_slice(), 0o444, START_MS)
        .expect("put");
    let bench = Bench::on(fs);
    assert_class(&bench.one(Read, file("secret")), Class::PermissionOs);
    bench.one(Read, file("fixed"));
    assert_class(
        &bench.one(Edit, edit("fixed", "x", "y")),
        Class::PermissionOs,
    );
}
