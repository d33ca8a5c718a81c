//! Pieces of a line: what looks like a command, an assignment, a parenthesis.

use super::{Part, Word};
use std::iter::Peekable;
use std::str::Chars;

/// Adds the parts of a line as if quotes meant nothing, so that a deny rule still
/// sees them where the quoting does not end.
pub(super) fn naive(line: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    for piece in line.split(['\n', ';', '&', '|', '(', ')', '`', '{', '}', '\'', '"']) {
        let words: Vec<Word> = piece
            .split_whitespace()
            .map(|text| Word {
                text: text.replace('\\', ""),
                ..Word::default()
            })
            .collect();
        if !words.is_empty() {
            parts.push(Part {
                words,
                ..Part::default()
            });
        }
    }
    parts
}

/// Whether a word assigns a variable: a name, then `=`, `+=` or `[…]=`.
pub(super) fn is_assignment(word: &Word) -> bool {
    let Some((name, _)) = word.text.split_once('=') else {
        return false;
    };
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split('[').next().unwrap_or(name);
    let mut chars = name.chars();
    chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// What stands before the `)` that closes an opened `(`; `None` if none does.
/// Parentheses in quotes do not count.
pub(super) fn balanced(chars: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut inner = String::new();
    let mut open = 1u32;
    let mut quote = None;
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None | Some('"'), '\\') => {
                inner.push(c);
                inner.extend(chars.next());
                continue;
            }
            (None, '(') => open += 1,
            (None, ')') => {
                open -= 1;
                if open == 0 {
                    return Some(inner);
                }
            }
            _ => {}
        }
        inner.push(c);
    }
    None
}
