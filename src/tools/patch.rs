//! The structured patch of a change, for hooks and transcripts. Pure.

use super::units::lossy;
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

/// Lines around a change that a hunk shows.
const CONTEXT_LINES: usize = 3;
/// Changed parts of more lines than this are not compared line by line.
const COMPARED_LINES_MAX: usize = 2_000;

/// The hunks from `old` to `new`: `[{oldStart, oldLines, newStart, newLines, lines}]`,
/// each line with its `-`, `+` or space in front (`semantics.md §3.1`).
pub(super) fn structured(old: &[u8], new: &[u8]) -> Value {
    let (old, new) = (lossy(old), lossy(new));
    let (skipped, old, new) = trimmed(&old, &new);
    hunks(skipped, old, new)
}

/// The hunks between two texts that `skipped` lines go before.
fn hunks(skipped: usize, old: &str, new: &str) -> Value {
    let old: Vec<&str> = old.lines().collect();
    let new: Vec<&str> = new.lines().collect();
    let before = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let after = old[before..]
        .iter()
        .rev()
        .zip(new[before..].iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    // Only what differs and the lines around it is compared.
    let from = before.saturating_sub(CONTEXT_LINES);
    let after = after.saturating_sub(CONTEXT_LINES);
    let old = &old[from..old.len() - after];
    let new = &new[from..new.len() - after];
    let from = skipped + from;
    if old.len().max(new.len()) > COMPARED_LINES_MAX {
        return json!([{
            "oldStart": from + 1, "oldLines": old.len(),
            "newStart": from + 1, "newLines": new.len(),
            "lines": [],
        }]);
    }
    let diff = TextDiff::configure().diff_slices(old, new);
    let hunks = diff.grouped_ops(CONTEXT_LINES);
    hunks
        .iter()
        .map(|ops| {
            let (first, last) = (&ops[0], &ops[ops.len() - 1]);
            let old_lines = first.old_range().start..last.old_range().end;
            let new_lines = first.new_range().start..last.new_range().end;
            let lines: Vec<String> = ops
                .iter()
                .flat_map(|op| diff.iter_changes(op))
                .map(|change| {
                    let sign = match change.tag() {
                        ChangeTag::Delete => '-',
                        ChangeTag::Insert => '+',
                        ChangeTag::Equal => ' ',
                    };
                    format!("{sign}{}", change.value())
                })
                .collect();
            json!({
                "oldStart": from + old_lines.start + 1, "oldLines": old_lines.len(),
                "newStart": from + new_lines.start + 1, "newLines": new_lines.len(),
                "lines": lines,
            })
        })
        .collect()
}

/// The two without the lines that they begin and end with in common and that no hunk
/// shows, told from bytes; and how many lines that leaves out before.
fn trimmed<'a>(old: &'a str, new: &'a str) -> (usize, &'a str, &'a str) {
    // A carriage return makes no difference to a line, but one to its bytes.
    if old.contains('\r') || new.contains('\r') {
        return (0, old, new);
    }
    let (o, n) = (old.as_bytes(), new.as_bytes());
    let same = common_beginning(o, n);
    let differing = line_start(o, same, 0);
    let start = line_start(o, same, CONTEXT_LINES);
    // What is common before is not common behind as well.
    let most = o.len().min(n.len()) - differing;
    let same = common_end(&o[differing..], &n[differing..]).min(most);
    let behind = &o[o.len() - same..];
    // A line of which only the end is common is none in common.
    let ends = memchr::memchr_iter(b'\n', behind).map(|end| end + 1);
    let mut ends = ends.skip(CONTEXT_LINES);
    let cut = ends.next().map_or(0, |kept| behind.len() - kept);
    let skipped = memchr::memchr_iter(b'\n', &o[..start]).count();
    let rest = |text: &'a str| text.get(start..text.len() - cut).unwrap_or(text);
    (skipped, rest(old), rest(new))
}

/// The start of the line that byte `at` is in, or of the line `above` lines above it.
fn line_start(text: &[u8], at: usize, above: usize) -> usize {
    let ends = memchr::memrchr_iter(b'\n', text.get(..at).unwrap_or(text));
    ends.map(|end| end + 1).nth(above).unwrap_or(0)
}

/// So many bytes are compared at once.
const BLOCK: usize = 64;

fn common_beginning(a: &[u8], b: &[u8]) -> usize {
    let blocks = a.chunks_exact(BLOCK).zip(b.chunks_exact(BLOCK));
    let at = blocks.take_while(|(a, b)| a == b).count() * BLOCK;
    let rest = a[at..].iter().zip(&b[at..]);
    at + rest.take_while(|(a, b)| a == b).count()
}

fn common_end(a: &[u8], b: &[u8]) -> usize {
    let blocks = a.rchunks_exact(BLOCK).zip(b.rchunks_exact(BLOCK));
    let at = blocks.take_while(|(a, b)| a == b).count() * BLOCK;
    let (a, b) = (&a[..a.len() - at], &b[..b.len() - at]);
    let rest = a.iter().rev().zip(b.iter().rev());
    at + rest.take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text() -> impl Strategy<Value = String> {
        proptest::collection::vec("[ab]?(\n|\n|\n|\r\n)?", 0..40).prop_map(|lines| lines.concat())
    }

    proptest! {
        #[test]
        fn what_is_trimmed_is_in_no_hunk(a in text(), b in text(), c in text(), d in text()) {
            let (old, new) = (format!("{a}{b}{d}"), format!("{a}{c}{d}"));
            prop_assert_eq!(
                structured(old.as_bytes(), new.as_bytes()),
                hunks(0, &old, &new)
            );
        }
    }

    #[test]
    fn hunks_name_their_lines() {
        let old: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let new = old.replace("10\n", "ten\n");
        assert_eq!(
            structured(old.as_bytes(), new.as_bytes()),
            json!([{
                "oldStart": 7, "oldLines": 7, "newStart": 7, "newLines": 7,
                "lines": [" 7", " 8", " 9", "-10", "+ten", " 11", " 12", " 13"],
            }])
        );
        assert_eq!(structured(b"a\n", b"a\n"), json!([]));
        assert_eq!(
            structured(b"", b"x\n"),
            json!([{"oldStart": 1, "oldLines": 0, "newStart": 1, "newLines": 1, "lines": ["+x"]}])
        );
    }
}
