//! The structured patch of a change, for hooks and transcripts. Pure.

use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

/// Lines around a change that a hunk shows.
const CONTEXT_LINES: usize = 3;
/// Changed parts of more lines than this are not compared line by line.
const COMPARED_LINES_MAX: usize = 2_000;

/// The hunks from `old` to `new`: `[{oldStart, oldLines, newStart, newLines, lines}]`,
/// each line with its `-`, `+` or space in front (`semantics.md §3.1`).
pub(super) fn structured(old: &[u8], new: &[u8]) -> Value {
    let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
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

#[cfg(test)]
mod tests {
    use super::*;

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
