//! Whether a here-document ends where the tree says: what bash runs must not be taken for
//! its body, nor its body for what bash runs.

use super::word;
use tree_sitter::Node;

/// Why the extent of a here-document cannot be told.
const UNSURE: &str = "where a here-document ends cannot be told";

/// Compares the end that bash would find with that of the tree.
pub(super) fn check(source: &str, redirect: Node<'_>) -> Result<(), &'static str> {
    let mut cursor = redirect.walk();
    let children: Vec<Node<'_>> = redirect.children(&mut cursor).collect();
    let of = |kind: &str| children.iter().find(|child| child.kind() == kind);
    let (Some(start), Some(end)) = (of("heredoc_start"), of("heredoc_end")) else {
        return Err(UNSURE);
    };
    let tabs = of("<<-").is_some();
    let delimiter = word::decode(source, start.start_byte(), start.end_byte(), &[]);
    let after = source.get(start.end_byte()..).unwrap_or_default();
    // What follows the delimiter without a space belongs to it.
    let attached = after.starts_with(|c: char| !c.is_whitespace() && !";&|<>)".contains(c));
    let line = after.lines().next().unwrap_or_default();
    let open = |quote: char| line.matches(quote).count() % 2 == 1;
    let unclear = line.contains(['`', '\\', '(', '#', '<']) || open('"') || open('\'');
    if attached || delimiter.dynamic || unclear {
        return Err(UNSURE);
    }
    let Some(first) = after.find('\n').map(|at| start.end_byte() + at + 1) else {
        return Err(UNSURE);
    };
    let mut at = first;
    for line in source.get(first..).unwrap_or_default().split('\n') {
        let text = if tabs {
            line.trim_start_matches('\t')
        } else {
            line
        };
        if text == delimiter.text {
            let same = end.end_byte() == at + line.len();
            return same.then_some(()).ok_or(UNSURE);
        }
        at += line.len() + 1;
    }
    Err(UNSURE)
}

/// Whether a body in which the shell expands holds more than the tree has found.
pub(super) fn hides(source: &str, redirect: Node<'_>, body: Node<'_>) -> bool {
    let mut cursor = redirect.walk();
    let start = redirect
        .children(&mut cursor)
        .find(|child| child.kind() == "heredoc_start");
    let quoted = start
        .and_then(|start| source.get(start.byte_range()))
        .is_some_and(|text| text.contains(['\'', '"', '\\']));
    let text = source.get(body.byte_range()).unwrap_or_default();
    let mut found = Vec::new();
    word::insets(body, &mut found);
    let openings =
        text.matches("$(").count() + text.matches('`').count() + text.matches("${").count();
    !quoted && openings > 0 && found.is_empty()
}
