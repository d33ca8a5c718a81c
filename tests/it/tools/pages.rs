//! The pages of a Read, put together, are the file.

use super::{Bench, START_MS};
use proptest::prelude::*;
use rehearsal::profile::Profile;
use rehearsal::tools::{Outcome, Read, Write};
use rehearsal::words::Class;
use rehearsal::world::{MemoryFs, MemoryOptions};
use serde_json::{Value, json};
use std::sync::Arc;

/// The call that a notice below a page names, or none if the page was the last.
fn next(outcome: &Outcome) -> Option<(u64, u64)> {
    let text = outcome.text();
    let (_, call) = text.rsplit_once("Read this file again with offset ")?;
    let call = call.split_once(".]")?.0;
    let mut parts = call.split(", ");
    let line = parts.next()?.parse().ok()?;
    let unit = parts.find_map(|part| part.strip_prefix("char_offset "));
    Some((line, unit.map_or(0, |unit| unit.parse().unwrap())))
}

/// Reads page after page as the notices say, and gives what was shown and how many pages it took.
fn whole(bench: &Bench, path: &str) -> (String, u64) {
    let (mut input, mut all, mut pages) = (json!({"file_path": path}), String::new(), 0);
    loop {
        let outcome = bench.call(Read, input.clone());
        assert_eq!(outcome.class, Class::Ok, "{}", outcome.text());
        pages += 1;
        let data = outcome.data.as_ref().unwrap();
        all.push_str(data["file"]["content"].as_str().unwrap());
        let Some((line, unit)) = next(&outcome) else {
            return (all, pages);
        };
        let here = (
            input["offset"].as_u64().unwrap_or(1),
            input["char_offset"].as_u64().unwrap_or(0),
        );
        assert!((line, unit) > here, "{here:?} → {:?}", (line, unit));
        if unit == 0 {
            all.push('\n');
        }
        input["offset"] = json!(line);
        input["char_offset"] = json!(unit);
    }
}

fn on(content: &[u8], limit: u64) -> Bench {
    let fs = MemoryFs::new(MemoryOptions::default());
    fs.put_file("/p/f", content, 0o644, START_MS).unwrap();
    let mut profile = Profile::seed();
    profile
        .override_parameter("result_limit", &json!(limit))
        .unwrap();
    Bench::on(Arc::new(fs), "/p", profile)
}

fn content() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => Just("\n".to_owned()),
        1 => Just("\r\n".to_owned()),
        1 => Just("\r".to_owned()),
        6 => "[a-z ]{1,12}",
        2 => "[é漢😀\u{301}\u{1F3FD}]{1,6}",
        1 => "[x]{80,200}",
    ];
    prop::collection::vec(piece, 1..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn pages_are_the_whole_file(content in content(), limit in 2u64..300) {
        let bench = on(content.as_bytes(), limit);
        let (all, pages) = whole(&bench, "f");
        let lf = content.matches('\n').count();
        let crlf = content.matches("\r\n").count();
        // Where all lines end in CRLF the CR is not shown, and a notice says so.
        let expected = if lf > 0 && lf == crlf { content.replace("\r\n", "\n") } else { content.clone() };
        prop_assert_eq!(&all, &expected);
        prop_assert!(pages <= 1 + content.len() as u64);
        // Having seen every page is having read the file.
        let write = bench.call(Write, json!({"file_path": "f", "content": "new"}));
        prop_assert_eq!(write.class, Class::Ok);
    }

    #[test]
    fn any_pages_but_all_are_not_the_whole_file(content in "[a-z\n]{40,200}", skip in 0usize..5) {
        let bench = on(content.as_bytes(), 30);
        let lines = content.split('\n').count() as u64;
        let skipped = 1 + skip as u64 % lines;
        for line in (1..=lines).filter(|line| *line != skipped) {
            let mut input = json!({"file_path": "f", "offset": line, "limit": 1});
            // Each line in as many pieces as it takes.
            while let Some((next_line, unit)) = next(&bench.call(Read, input.clone())) {
                if next_line != line {
                    break;
                }
                input["char_offset"] = json!(unit);
            }
        }
        let write = bench.call(Write, json!({"file_path": "f", "content": "new"}));
        let text = content.split('\n').nth(skipped as usize - 1).unwrap();
        // An empty line without a line end of its own has nothing to show.
        let nothing = text.is_empty() && skipped == lines;
        prop_assert_eq!(write.class, if nothing { Class::Ok } else { Class::NotRead });
    }
}

#[test]
fn a_line_of_ten_megabytes_can_be_read() {
    let bench = on("0123456789".repeat(1_000_000).as_bytes(), 20_000);
    let last = json!({"file_path": "f", "offset": 1, "char_offset": 9_999_990});
    let outcome = bench.call(Read, last);
    assert_eq!(outcome.text(), "1\t0123456789");
    let first = bench.call(Read, json!({"file_path": "f"}));
    let (line, unit) = next(&first).unwrap();
    assert_eq!(line, 1);
    assert!(unit > 19_000 && first.text().len() <= 20_000);
    let shown: &Value = &first.data.as_ref().unwrap()["file"]["content"];
    assert_eq!(shown.as_str().unwrap().len() as u64, unit);
}
