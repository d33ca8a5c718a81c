//! An edit changes the span that it names and nothing else; nothing unseen is overwritten.

use super::{Bench, START_MS};
use proptest::prelude::*;
use rehearsal::tools::{Edit, Read, Write};
use rehearsal::words::Class;
use serde_json::json;

/// Pieces of files: words, every kind of line end, quotes of both kinds, bytes that are no text.
fn pieces() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let piece = prop::sample::select(vec![
        "a", "b", "one ", "\n", "\r\n", "\r", "\t", "\"", "'", "“", "’", "é", "😀", "x = 1",
    ])
    .prop_map(|text| text.as_bytes().to_vec());
    let piece = prop_oneof![12 => piece, 1 => Just(b"\xFF\xFE".to_vec())];
    prop::collection::vec(piece, 1..30)
}

fn new_text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec!["z", "\n", "\r\n", "'", "\"", "é", " ", "one "]);
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn only_the_span_changes(
        pieces in pieces(), bom in any::<bool>(), at in any::<prop::sample::Index>(),
        len in 1usize..5, new in new_text(), as_lf in any::<bool>(),
    ) {
        let start = at.index(pieces.len());
        let end = (start + len).min(pieces.len());
        let mark: &[u8] = if bom { b"\xEF\xBB\xBF" } else { b"" };
        let before = [mark, &pieces[..start].concat()].concat();
        let span = pieces[start..end].concat();
        let after = pieces[end..].concat();
        let content = [&before[..], &span, &after].concat();
        let Ok(old) = String::from_utf8(span.clone()) else { return Ok(()) };
        let lf = old.replace("\r\n", "\n");
        // With a CR left over it would read as another text.
        let old = if as_lf && !lf.contains('\r') { lf } else { old };
        let bench = Bench::memory(&[("/p/f", &content)]);
        bench.call(Read, json!({"file_path": "f"}));
        let outcome = bench.call(Edit, json!({"file_path": "f", "old_string": old, "new_string": new}));
        let now = bench.bytes("/p/f");
        match outcome.class {
            Class::Ok => {
                let count = |hay: &[u8], needle: &[u8]| hay.windows(needle.len()).filter(|w| *w == needle).count();
                if count(&content, old.as_bytes()) == 1 {
                    // Found as it stands: everything around it is as it was.
                    let at = content.windows(old.len()).position(|w| w == old.as_bytes()).unwrap();
                    prop_assert!(now.starts_with(&content[..at]));
                    prop_assert!(now.ends_with(&content[at + old.len()..]));
                    let middle = &now[at..now.len() - (content.len() - at - old.len())];
                    let plain = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("\r\n", "\n");
                    prop_assert_eq!(plain(middle), new.replace("\r\n", "\n"));
                } else {
                    // Found with its line ends or quotes taken for equal.
                    prop_assert_eq!(count(&content, old.as_bytes()), 0);
                    let plain = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("\r\n", "\n");
                    let (all, wanted) = (plain(&content), old.replace("\r\n", "\n"));
                    // With a CR that ends no line, making line ends alike is not undone by an edit.
                    if all.matches(&wanted).count() == 1 && !all.contains('\r') {
                        let expected = all.replacen(&wanted, &new.replace("\r\n", "\n"), 1);
                        prop_assert_eq!(plain(&now), plain(expected.as_bytes()));
                        // A CR at the edge may belong to the line end that was named.
                        let before = before.strip_suffix(b"\r").unwrap_or(&before);
                        let after = after.strip_prefix(b"\n").unwrap_or(&after);
                        prop_assert!(now.starts_with(before) && now.ends_with(after));
                    }
                }
                prop_assert_eq!(now.starts_with(b"\xEF\xBB\xBF"), bom || new.starts_with('\u{feff}'));
                // No CR CR LF that was not there or asked for.
                let doubled = |bytes: &[u8]| count(bytes, b"\r\r\n");
                let room = doubled(&content) + doubled(new.as_bytes()) + count(&content, b"\r");
                prop_assert!(doubled(&now) <= room);
            }
            Class::Ambiguous | Class::NoChange => prop_assert_eq!(now, content),
            class => prop_assert!(false, "{class}: {} in {content:?}", outcome.text()),
        }
    }

    #[test]
    fn replace_all_is_the_same_as_replacing(
        words in prop::collection::vec(prop::sample::select(vec!["ab", "c", " ", "\n"]), 1..40),
        new in "[a-d]{0,4}",
    ) {
        let content = words.concat();
        let bench = Bench::memory(&[("/p/f", content.as_bytes())]);
        bench.call(Read, json!({"file_path": "f"}));
        let input = json!({"file_path": "f", "old_string": "ab", "new_string": new, "replace_all": true});
        let outcome = bench.call(Edit, input);
        let expected = content.replace("ab", &new);
        prop_assert_eq!(String::from_utf8(bench.bytes("/p/f")).unwrap(), expected.clone());
        let class = match (content.contains("ab"), new == "ab") {
            (_, true) => Class::NoChange,
            (false, _) => Class::NoMatch,
            (true, false) => Class::Ok,
        };
        prop_assert_eq!(outcome.class, class);
    }

    /// P7: reading and then editing never fails for staleness unless the content changed;
    /// if it changed nothing is overwritten unseen; one more Read always heals it.
    #[test]
    fn nothing_unseen_is_overwritten(
        steps in prop::collection::vec((0u8..6, "[a-c]{1,3}"), 1..25),
    ) {
        let bench = Bench::memory(&[("/p/f", b"abc")]);
        // What the agent last saw or wrote; none before it has read the file.
        let mut known: Option<Vec<u8>> = None;
        for (step, text) in steps {
            let now = bench.bytes("/p/f");
            match step {
                0 => {
                    bench.call(Read, json!({"file_path": "f"}));
                    known = Some(now);
                }
                1 => {
                    bench.fs.write("/p/f", text.as_bytes(), START_MS).unwrap();
                }
                2 => bench.fs.set_mtime("/p/f", START_MS + 1_000).unwrap(),
                3 => {
                    // The same bytes once more, as an autosave does.
                    bench.fs.write("/p/f", &now, START_MS + 2_000).unwrap();
                }
                4 => {
                    let outcome = bench.call(Write, json!({"file_path": "f", "content": text}));
                    let expected = match &known {
                        None => Class::NotRead,
                        Some(known) if *known == now => Class::Ok,
                        Some(_) => Class::Stale,
                    };
                    prop_assert_eq!(outcome.class, expected);
                    if expected == Class::Ok {
                        known = Some(text.into_bytes());
                    } else {
                        prop_assert_eq!(bench.bytes("/p/f"), now);
                    }
                }
                _ => {
                    let input = json!({"file_path": "f", "old_string": text, "new_string": "new"});
                    let outcome = bench.call(Edit, input);
                    match &known {
                        None => prop_assert_eq!(outcome.class, Class::NotRead),
                        Some(known) if *known != now => prop_assert_eq!(outcome.class, Class::Stale),
                        Some(_) => prop_assert!(!matches!(outcome.class, Class::Stale | Class::NotRead)),
                    }
                    if outcome.class == Class::Ok {
                        known = Some(bench.bytes("/p/f"));
                    } else {
                        prop_assert_eq!(bench.bytes("/p/f"), now);
                    }
                }
            }
        }
        bench.call(Read, json!({"file_path": "f"}));
        let healed = bench.call(Write, json!({"file_path": "f", "content": "healed"}));
        prop_assert_eq!(healed.class, Class::Ok);
    }
}
