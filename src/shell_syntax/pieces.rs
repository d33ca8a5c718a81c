//! What looks like a command in a line that cannot be parsed.

use super::walk::RESERVED;
use super::{Part, Word};

const ENDS: [char; 9] = ['\n', ';', '&', '|', '(', ')', '`', '{', '}'];
const QUOTES: [char; 2] = ['\'', '"'];

/// The parts of a line as if quotes meant nothing, so that a deny rule still sees them
/// where the quoting does not end.
pub(super) fn naive(line: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let line = line.replace("\\\n", "");
    // Once as if quotes ended commands, once as if they were not there.
    for piece in line.split(|c| ENDS.contains(&c) || QUOTES.contains(&c)) {
        parts.extend(part(piece));
    }
    for piece in line.split(ENDS) {
        if piece.contains(QUOTES) {
            parts.extend(part(&piece.replace(QUOTES, "")));
            parts.extend(of_words(quoted(piece)));
        }
        // And once as if what looks like a comment were one.
        if piece.contains('#') {
            let words = quoted(piece).into_iter();
            parts.extend(of_words(words.take_while(|word| !word.starts_with('#'))));
        }
    }
    parts
}

fn part(piece: &str) -> Option<Part> {
    of_words(piece.split_whitespace().map(|text| text.replace('\\', "")))
}

/// The command of some words, reserved ones before it left out.
fn of_words(texts: impl IntoIterator<Item = String>) -> Option<Part> {
    let words: Vec<Word> = texts
        .into_iter()
        .skip_while(|text| RESERVED.contains(&text.as_str()))
        .map(|text| Word {
            text,
            ..Word::default()
        })
        .collect();
    (!words.is_empty()).then(|| Part {
        words,
        ..Part::default()
    })
}

/// The words of a piece, as far as its quotes come in pairs.
fn quoted(piece: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut open = None;
    for c in piece.chars() {
        match open {
            Some(quote) if c == quote => open = None,
            Some(_) => word.get_or_insert_default().push(c),
            None if QUOTES.contains(&c) => {
                open = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            None if c == '\\' => {}
            None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
