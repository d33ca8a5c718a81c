//! Says why an `old_string` may not have been found, so that the next try finds it. Pure.

use super::changes::line_of;
use super::units::one_line;

/// Larger files are not searched for what is alike.
const HELPED_BYTES_MAX: usize = 4 << 20;
/// How many lines are looked through for one that is alike.
const LINES_COMPARED: usize = 5_000;
/// How much of a line is compared and quoted.
const LINE_CHARS: u64 = 120;
/// Of a hundred: how alike a line must be to be named.
const LIKE_ENOUGH: usize = 60;

/// One or two sentences about what is in `content` in place of `old`.
pub(super) fn help(content: &[u8], old: &str) -> String {
    if content.is_empty() {
        return "The file is empty.".to_owned();
    }
    if content.len() > HELPED_BYTES_MAX {
        return "Read the part that you mean and copy the text exactly.".to_owned();
    }
    let text = String::from_utf8_lossy(content);
    if let Some(bare) = without_line_numbers(old)
        && super::matching::find(content, &bare).is_some()
    {
        return "It begins its lines with the numbers that Read shows; they are not in the file: leave them out.".to_owned();
    }
    if old.contains('\u{FFFD}') && std::str::from_utf8(content).is_err() {
        return "The file has bytes that are not UTF-8, shown as U+FFFD; name only text without them.".to_owned();
    }
    if let Some(line) = find_squeezed(&text, old) {
        return format!(
            "Line {line} is the same but for spaces, tabs or empty lines. Copy it as Read shows it."
        );
    }
    // Lowering the case keeps line ends, so lines can be counted in the lowered text.
    let lower = text.to_lowercase();
    if let Some(at) = lower.find(&old.to_lowercase()) {
        let line = line_of(lower.as_bytes(), at);
        return format!("Line {line} is the same but for upper and lower case. Copy it exactly.");
    }
    match nearest_line(&text, old) {
        Some((line, found)) => format!(
            "The nearest line is {line}: {}. Read the file again and copy the text exactly.",
            serde_json::Value::String(found)
        ),
        None => {
            "Nothing in it is like that. Read the file again and copy the text exactly.".to_owned()
        }
    }
}

/// `old` without a number and tab (or arrow) at the head of each line, if every line has one.
fn without_line_numbers(old: &str) -> Option<String> {
    let bare: Option<Vec<&str>> = old
        .split('\n')
        .map(|line| {
            let (number, rest) = line.split_once(['\t', '→'])?;
            let number = number.trim_start();
            (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then_some(rest)
        })
        .collect();
    bare.map(|lines| lines.join("\n"))
        .filter(|bare| !bare.is_empty())
}

/// The line at which `old` stands if white space is left out of both.
fn find_squeezed(text: &str, old: &str) -> Option<usize> {
    let squeezed = |text: &str| -> String { text.chars().filter(|c| !c.is_whitespace()).collect() };
    let needle = squeezed(old);
    if needle.is_empty() {
        return None;
    }
    let at = squeezed(text).find(&needle)?;
    let mut seen = 0;
    let mut line = 1;
    for c in text.chars() {
        if c == '\n' {
            line += 1;
        } else if !c.is_whitespace() {
            if seen == at {
                break;
            }
            seen += c.len_utf8();
        }
    }
    Some(line)
}

/// The line most like the first line of `old` that says something, and its text.
fn nearest_line(text: &str, old: &str) -> Option<(usize, String)> {
    let wanted = old.lines().find(|line| !line.trim().is_empty())?;
    let wanted = pairs(wanted);
    let mut best: Option<(usize, usize, &str)> = None;
    for (index, line) in text.lines().take(LINES_COMPARED).enumerate() {
        let score = likeness(&wanted, &pairs(line));
        if score >= LIKE_ENOUGH && best.is_none_or(|(top, _, _)| score > top) {
            best = Some((score, index + 1, line));
        }
    }
    best.map(|(_, line, found)| (line, one_line(found.trim(), LINE_CHARS)))
}

/// The pairs of neighbouring characters of a line, sorted.
fn pairs(line: &str) -> Vec<(char, char)> {
    let chars: Vec<char> = line.trim().chars().take(LINE_CHARS as usize).collect();
    let mut pairs: Vec<(char, char)> = chars.windows(2).map(|w| (w[0], w[1])).collect();
    pairs.sort_unstable();
    pairs
}

/// How many of a hundred pairs two lines have in common.
fn likeness(a: &[(char, char)], b: &[(char, char)]) -> usize {
    if a.is_empty() || b.is_empty() {
        return 0;
    }
    let (mut i, mut j, mut common) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, common) = (i + 1, j + 1, common + 1),
        }
    }
    200 * common / (a.len() + b.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_is_different() {
        let content = b"fn main() {\n    let value = compute(1);\n}\n";
        let says = |old: &str| help(content, old);
        assert!(says("2\t    let value = compute(1);").contains("leave them out"));
        assert!(says("\tlet value = compute(1);").starts_with("Line 2 is the same but for spaces"));
        assert!(says("FN MAIN").starts_with("Line 1 is the same but for upper"));
        assert!(says("let value = compute(2);").starts_with("The nearest line is 2: \"let value"));
        assert!(says("zzzzzz").starts_with("Nothing in it"));
        assert_eq!(help(b"", "x"), "The file is empty.");
    }

    #[test]
    fn names_bytes_that_cannot_be_matched() {
        assert!(help(b"caf\xE9 au lait", "caf\u{FFFD} au").contains("not UTF-8"));
    }
}
