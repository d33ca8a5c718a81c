//! What looks like a command in a line that cannot be parsed.

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
    for piece in line.split(ENDS).filter(|piece| piece.contains(QUOTES)) {
        parts.extend(part(&piece.replace(QUOTES, "")));
    }
    parts
}

fn part(piece: &str) -> Option<Part> {
    let word = |text: &str| Word {
        text: text.replace('\\', ""),
        ..Word::default()
    };
    let words: Vec<Word> = piece.split_whitespace().map(word).collect();
    (!words.is_empty()).then(|| Part {
        words,
        ..Part::default()
    })
}
