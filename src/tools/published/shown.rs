//! How a file or a folder is shown to the model.

use crate::tools::target::refused;
use crate::tools::{Refusal, ToolCx};
use crate::words::Class;
use crate::world::FileKind;

/// Lines with their numbers, right-aligned in six columns, a tab behind each.
pub(super) fn numbered<'a>(first: usize, lines: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for (at, line) in lines.enumerate() {
        text.push_str(&format!("{:6}\t{line}\n", first + at));
    }
    text.pop();
    text
}

/// The lines of a text: a line end at its end begins no new one.
pub(super) fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    lines
}

/// The lines that a `view_range` of `[first, last]` asks for, from 1; -1 is the last one.
pub(super) fn range(asked: &[i64], lines: usize) -> Result<std::ops::Range<usize>, Refusal> {
    let invalid = |what: String| {
        Refusal::new(
            Class::InvalidInput,
            format!(
                "view_range is [first line, last line], and {what}. The file has {lines} lines; -1 as the last line shows all that follows."
            ),
        )
    };
    let [first, last] = asked else {
        return Err(invalid(format!("{} numbers were given", asked.len())));
    };
    let first = match usize::try_from(*first) {
        Ok(first) if (1..=lines.max(1)).contains(&first) => first,
        _ => return Err(invalid(format!("{first} is no line of it"))),
    };
    let last = match *last {
        -1 => lines,
        last => match usize::try_from(last) {
            Ok(last) if last >= first && last <= lines => last,
            _ => return Err(invalid(format!("{last} is no line from {first} on"))),
        },
    };
    Ok(first - 1..last.max(first - 1))
}

/// A snippet of `text` around the bytes from `at` on, `len` of them: four lines more on
/// each side, numbered.
pub(super) fn around(text: &str, at: usize, len: usize) -> String {
    const BESIDE: usize = 4;
    let ends = |upto: usize| memchr::memchr_iter(b'\n', &text.as_bytes()[..upto]).count();
    let (first, last) = (ends(at), ends(at + len));
    let all = lines(text);
    let from = first.saturating_sub(BESIDE);
    let to = (last + BESIDE + 1).min(all.len());
    numbered(from + 1, all[from.min(to)..to].iter().copied())
}

/// What lies in a folder, two levels deep, without what is hidden or in `skipped`: the
/// folder first, then each path with its size in front if `sizes`.
pub(super) async fn folder(
    cx: &ToolCx,
    path: &str,
    canonical: &str,
    skipped: &[&str],
    sizes: bool,
) -> Result<String, Refusal> {
    let mut rows = vec![(path.to_owned(), 0u64)];
    let mut waiting = vec![(path.to_owned(), canonical.to_owned(), 1)];
    while let Some((shown, real, depth)) = waiting.pop() {
        let entries = cx
            .world
            .list(&real)
            .await
            .map_err(|e| refused(&shown, &e))?;
        for entry in entries {
            if entry.name.starts_with('.') || skipped.contains(&&*entry.name) {
                continue;
            }
            let below = |dir: &str| match dir.ends_with('/') {
                true => format!("{dir}{}", entry.name),
                false => format!("{dir}/{}", entry.name),
            };
            let (shown, real) = (below(&shown), below(&real));
            let meta = cx
                .world
                .lstat(&real)
                .await
                .map_err(|e| refused(&shown, &e))?;
            rows.push((shown.clone(), meta.size));
            if meta.kind == FileKind::Dir && depth < 2 {
                waiting.push((shown, real, depth + 1));
            }
        }
    }
    rows[1..].sort();
    let rows: Vec<String> = rows
        .into_iter()
        .map(|(path, bytes)| match sizes {
            true => format!("{}\t{path}", size(bytes)),
            false => path,
        })
        .collect();
    Ok(rows.join("\n"))
}

/// A size as `du -h` writes it, of whole blocks of 4 KiB; a folder is one block.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["K", "M", "G", "T", "P"];
    let mut tenths = bytes.div_ceil(4096).max(1).saturating_mul(40);
    let mut unit = 0;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths = tenths.div_ceil(1024);
        unit += 1;
    }
    format!("{}.{}{}", tenths / 10, tenths % 10, UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_blocks_in_the_largest_fitting_unit() {
        assert_eq!(size(0), "4.0K");
        assert_eq!(size(4097), "8.0K");
        assert_eq!(size(1 << 20), "1.0M");
        assert_eq!(size(3 << 30), "3.0G");
    }

    #[test]
    fn a_range_counts_from_one_to_the_end() {
        assert_eq!(range(&[1, -1], 3), Ok(0..3));
        assert_eq!(range(&[2, 2], 3), Ok(1..2));
        assert_eq!(range(&[1, -1], 0), Ok(0..0));
        for wrong in [&[0, 1][..], &[4, -1], &[2, 1], &[1, 4], &[1], &[-2, 3]] {
            assert_eq!(
                range(wrong, 3).map_err(|r| r.class),
                Err(Class::InvalidInput),
                "{wrong:?}"
            );
        }
    }

    #[test]
    fn a_snippet_holds_the_lines_around() {
        let text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        let at = text.find('6').unwrap();
        let shown = around(text, at, 1);
        assert_eq!(shown.lines().count(), 9);
        assert!(
            shown.starts_with("     2\t2\n") && shown.ends_with("    10\t10"),
            "{shown}"
        );
    }
}
