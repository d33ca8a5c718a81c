//! Turns the YAML of a capture into lines of JSON, one for each message of its list.

use super::note::{LineComplaint, Notes};
use serde_json::Value;

/// The key under which a capture keeps its messages.
const LIST_KEY: &str = "messages:";

/// Whether `text` looks like a capture: a `messages:` at its outermost level.
pub(super) fn is_capture(text: &str) -> bool {
    text.lines().any(|line| line.trim_end() == LIST_KEY)
}

/// The messages of the list as JSON, one a line, and the line of `text` on which
/// each began. Every item is read by itself, so that a broken one costs only itself.
pub(super) fn to_lines(text: &str, notes: &mut Notes) -> (String, Vec<u32>) {
    let mut json = String::new();
    let mut lines = Vec::new();
    for item in items(text) {
        match serde_saphyr::from_str::<Vec<Value>>(item.text) {
            Ok(values) => {
                for value in values {
                    json.push_str(&value.to_string());
                    json.push('\n');
                    lines.push(item.line);
                }
            }
            Err(error) => notes.complaints.push(LineComplaint {
                line: item.line,
                column: 1,
                found: error.to_string().lines().next().unwrap_or("").to_owned(),
                expected: "an item of the list of messages, in YAML".to_owned(),
                hint: "the rest of the recording is read without it".to_owned(),
            }),
        }
    }
    (json, lines)
}

struct Item<'a> {
    text: &'a str,
    line: u32,
}

/// Cuts the list under `messages:` into its items: each begins with a dash at the
/// indentation of the first.
fn items(text: &str) -> Vec<Item<'_>> {
    let mut starts: Vec<(usize, u32)> = Vec::new();
    let mut indent = None;
    let mut in_list = false;
    let mut end = text.len();
    let mut offset = 0;
    for (number, line) in (1u32..).zip(text.split_inclusive('\n')) {
        let at = offset;
        offset += line.len();
        if !in_list {
            in_list = line.trim_end() == LIST_KEY;
            continue;
        }
        let spaces = line.len() - line.trim_start_matches(' ').len();
        let is_item = line[spaces..].starts_with("- ") || line[spaces..].trim_end() == "-";
        if is_item && *indent.get_or_insert(spaces) == spaces {
            starts.push((at, number));
        } else if spaces == 0 && !line.trim().is_empty() && !is_item {
            end = at;
            break;
        }
    }
    let ends = starts.iter().skip(1).map(|start| start.0).chain([end]);
    starts
        .iter()
        .zip(ends)
        .map(|(start, end)| Item {
            text: text.get(start.0..end).unwrap_or(""),
            line: start.1,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_become_lines_and_keep_their_place() {
        let text = "# a capture\nmessages:\n- type: user\n  text: 'a\n\n    b'\n- type: result\n  n: 1\nother: x\n";
        let mut notes = Notes::default();
        let (json, lines) = to_lines(text, &mut notes);
        assert_eq!(
            json,
            "{\"text\":\"a\\nb\",\"type\":\"user\"}\n{\"n\":1,\"type\":\"result\"}\n"
        );
        assert_eq!(lines, [3, 7]);
        assert!(notes.complaints.is_empty());
    }

    #[test]
    fn a_broken_item_costs_only_itself() {
        let text = "messages:\n  - type: user\n  - \"torn\n";
        let mut notes = Notes::default();
        let (json, lines) = to_lines(text, &mut notes);
        assert_eq!(json, "{\"type\":\"user\"}\n");
        assert_eq!(lines, [2]);
        assert_eq!(notes.complaints.len(), 1);
        assert_eq!(notes.complaints[0].line, 3);
    }
}
