//! What the nodes of the grammar are, as far as the walk must tell them apart.

use tree_sitter::Node;

/// Whether nothing, or only a continued line, lies between.
pub(super) fn touches(source: &str, end: usize, start: usize) -> bool {
    let gap = source.get(end..start).unwrap_or(" ");
    gap.as_bytes().chunks(2).all(|pair| pair == b"\\\n")
}

/// The nodes right below one.
pub(super) fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}

/// Whether a node is one command.
pub(super) fn is_simple(kind: &str) -> bool {
    matches!(
        kind,
        "command"
            | "declaration_command"
            | "unset_command"
            | "test_command"
            | "variable_assignment"
            | "variable_assignments"
    )
}

/// Whether a node is commands, not a word or a sign.
pub(super) fn is_statement(kind: &str) -> bool {
    is_simple(kind)
        || matches!(
            kind,
            "ERROR"
                | "comment"
                | "redirected_statement"
                | "list"
                | "pipeline"
                | "subshell"
                | "function_definition"
                | "negated_command"
                | "compound_statement"
                | "if_statement"
                | "elif_clause"
                | "else_clause"
                | "while_statement"
                | "for_statement"
                | "c_style_for_statement"
                | "do_group"
                | "case_statement"
                | "case_item"
        )
}

/// What lies between the backticks of a text that no backslash stands before.
pub(super) fn between_backticks(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut from = 0;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            '\\' => escaped = !escaped,
            '`' if !escaped => {
                pieces.extend(text.get(from..at));
                from = at + 1;
            }
            _ => escaped = false,
        }
    }
    pieces.extend(text.get(from..));
    pieces
}

/// The script between backticks, where a backslash before some signs stands for nothing.
pub(super) fn unescaped(text: &str, in_string: bool) -> String {
    let mut chars = text.chars();
    let mut script = String::new();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(c @ ('`' | '\\' | '$')) => script.push(c),
                Some('"') if in_string => script.push('"'),
                Some(c) => script.extend(['\\', c]),
                None => script.push('\\'),
            },
            c => script.push(c),
        }
    }
    script
}
