//! Read: what it shows, and how pages follow each other.

use super::testing::{Bench, START_MS, assert_class};
use super::{Read, Write};
use crate::words::{Class, Flag};
use crate::world::{MemoryFs, MemoryOptions};
use serde_json::{Value, json};

fn file(path: &str) -> Value {
    json!({"file_path": path})
}

#[test]
fn read_numbers_lines() {
    let bench = Bench::new(&[("/p/a", "one\ntwo\n")]);
    let outcome = bench.one(Read, file("a"));
    assert_eq!(outcome.text(), "1\tone\n2\ttwo\n3\t");
    let data = outcome.data.expect("data");
    assert_eq!(data["file"]["content"], "one\ntwo\n");
    assert_eq!(data["file"]["totalLines"], 3);
    let ranged = bench.one(Read, json!({"file_path": "/p/a", "offset": 2, "limit": 1}));
    assert_eq!(ranged.text(), "2\ttwo");
    let as_absent = bench.one(Read, json!({"file_path": "/p/a", "offset": -1, "limit": 0}));
    assert_eq!(as_absent.text(), "1\tone\n2\ttwo\n3\t");
}

#[test]
fn read_says_what_it_cannot_show() {
    let fs = MemoryFs::new(MemoryOptions::default());
    let put = |path: &str, bytes: &[u8]| fs.put_file(path, bytes, 0o644, START_MS).expect("put");
    put("/p/empty", b"");
    put("/p/one", b"x");
    put("/p/notes.md", b"x");
    put("/p/bin", b"a\0b");
    put("/p/crlf", b"a\r\nb\r\n");
    put("/p/mixed", b"a\r\nb\nc\rd");
    put("/p/bom", b"\xEF\xBB\xBFa");
    put("/p/latin", b"caf\xE9");
    put("/results/toolu_1.txt", b"a\0b");
    fs.put_sparse("/p/huge", (1 << 30) + 1, &[], 0o644, START_MS)
        .expect("put");
    fs.put_symlink("/p/loop", "loop", START_MS).expect("put");
    let bench = Bench::on(fs);
    let empty = bench.one(Read, file("empty"));
    assert_class(&empty, Class::Ok);
    assert!(empty.text().contains("is empty"), "{}", empty.text());
    let past = bench.one(Read, json!({"file_path": "one", "offset": 9}));
    assert_class(&past, Class::Ok);
    assert!(past.text().contains("ends with line 1"), "{}", past.text());
    assert_class(&bench.one(Read, file("/p")), Class::IsDirectory);
    assert_class(&bench.one(Read, file("bin")), Class::Binary);
    assert_class(&bench.one(Read, file("huge")), Class::Binary);
    assert_class(&bench.one(Read, file("loop")), Class::Loop);
    assert_class(&bench.one(Read, file("one/x")), Class::NotDirectory);
    assert_class(&bench.one(Read, file(" ")), Class::InvalidInput);
    let missing = bench.one(Read, file("notes.txt"));
    assert_class(&missing, Class::NotFound);
    assert!(
        missing.text().contains("Did you mean notes.md?"),
        "{}",
        missing.text()
    );
    assert!(missing.text().contains("working folder is /p"));
    assert_class(&bench.one(Read, file("no/where/x")), Class::NotFound);
    // A saved result is text, whatever is in it.
    assert_eq!(
        bench.one(Read, file("/results/toolu_1.txt")).text(),
        "1\ta\0b"
    );
    let crlf = bench.one(Read, file("crlf")).text();
    assert!(
        crlf.starts_with("1\ta\n2\tb\n3\t\n\n[Its lines end in CRLF"),
        "{crlf:?}"
    );
    let mixed = bench.one(Read, file("mixed")).text();
    assert!(
        mixed.starts_with("1\ta\r\n2\tb\n3\tc\rd\n\n[1 of its lines"),
        "{mixed:?}"
    );
    assert!(
        bench
            .one(Read, file("bom"))
            .text()
            .starts_with("1\ta\n\n[It begins with a byte order")
    );
    assert!(
        bench
            .one(Read, file("latin"))
            .text()
            .starts_with("1\tcaf\u{FFFD}\n\n[Bytes")
    );
}

#[test]
fn read_shows_images() {
    let fs = MemoryFs::new(MemoryOptions::default());
    let png = b"\x89PNG\r\n\x1a\n\0\0".as_slice();
    fs.put_file("/p/pic", png, 0o644, START_MS).expect("put");
    let outcome = Bench::on(fs).one(Read, file("pic"));
    assert_class(&outcome, Class::Ok);
    let super::ResultContent::Blocks(blocks) = outcome.content else {
        panic!("no blocks");
    };
    assert_eq!(blocks[0].type_name(), "image");
    assert!(blocks[0].raw().get().contains("iVBORw0KGgoAAA=="));
}

#[test]
fn every_page_fits_and_all_pages_are_the_file() {
    let long: String = "0123456789".repeat(4_000);
    let content = format!("{}{long}\n😀 end", "some line of text\n".repeat(1_500));
    let bench = Bench::new(&[("/p/big", &content)]);
    let mut input = file("big");
    let mut whole = String::new();
    let mut pages = 0;
    loop {
        let outcome = bench.one(Read, input.clone());
        assert_class(&outcome, Class::Ok);
        assert!(outcome.text().encode_utf16().count() <= 20_000);
        let data = outcome.data.clone().expect("data");
        let piece = data["file"]["content"]
            .as_str()
            .expect("content")
            .to_owned();
        pages += 1;
        whole.push_str(&piece);
        let text = outcome.text();
        let Some((_, next)) = text.rsplit_once("again with offset ") else {
            break;
        };
        assert_eq!(outcome.flags, [Flag::Truncated]);
        let next = next.trim_end_matches(".]");
        let (line, unit) = next.split_once(", char_offset ").unwrap_or((next, "0"));
        input["offset"] = json!(line.parse::<u64>().expect("line"));
        let unit: u64 = unit.parse().expect("unit");
        input["char_offset"] = json!(unit);
        if unit == 0 {
            whole.push('\n');
        }
    }
    assert_eq!(whole, content);
    assert!((3..8).contains(&pages), "{pages}");
    // All pages together are a full read.
    assert_class(
        &bench.one(Write, json!({"file_path": "big", "content": "new"})),
        Class::Ok,
    );
}

#[test]
fn the_page_after_a_limit_keeps_what_is_left_of_it() {
    let bench = Bench::new(&[("/p/big", &"0123456789\n".repeat(5_000))]);
    let outcome = bench.one(
        Read,
        json!({"file_path": "big", "offset": 1000, "limit": 3000}),
    );
    let text = outcome.text();
    let notice = text.rsplit_once("\n\n").expect("notice").1;
    let last: u64 = notice
        .split_once('–')
        .and_then(|(_, rest)| rest.split_once(' '))
        .and_then(|(n, _)| n.parse().ok())
        .expect("last line");
    assert!(
        notice.ends_with(&format!(
            "with offset {}, limit {}.]",
            last + 1,
            3999 - last
        )),
        "{notice}"
    );
}

#[test]
fn a_file_over_what_can_be_read_at_once_is_paged_as_any() {
    let lines = (crate::world::READ_LIMIT_BYTES / 64 + 1) as usize;
    let content = format!("{}end", format!("{}\n", "x".repeat(63)).repeat(lines));
    let bench = Bench::new(&[("/p/big", &content)]);
    let last = bench.one(Read, json!({"file_path": "big", "offset": lines}));
    assert_eq!(
        last.text(),
        format!("{lines}\t{}\n{}\tend", "x".repeat(63), lines + 1)
    );
    let edit = json!({"file_path": "big", "old_string": "end", "new_string": "END"});
    assert_class(&bench.one(super::Edit, edit), Class::Ok);
    let tail = bench
        .world
        .fs()
        .read_range("/p/big", content.len() as u64 - 4, 9);
    assert_eq!(&*tail.expect("read"), b"\nEND");
}
