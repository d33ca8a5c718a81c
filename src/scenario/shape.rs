//! What a key of a scenario file is: one table entry from which the unknown-key
//! complaints, the "not supported yet" complaints and the JSON Schema are made.

/// A map of a scenario file: its name and the keys it may have.
pub(super) struct Shape {
    /// Unique; the name of the definition in the schema.
    pub name: &'static str,
    /// What such a map is, in words that fit after "expected": `a call`.
    pub what: &'static str,
    pub keys: &'static [Key],
}

/// One key.
pub(super) struct Key {
    pub name: &'static str,
    pub kind: Kind,
    /// One sentence.
    pub doc: &'static str,
    /// A value, as YAML on one line.
    pub example: &'static str,
    pub need: Need,
}

/// Whether a key must or may be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Optional,
    Required,
    /// The key is part of the format, and this version cannot do it.
    NotYet,
}

/// The type of a value.
pub(super) enum Kind {
    Text,
    Bool,
    /// A whole number within bounds.
    Int(u64, u64),
    /// A boolean, number or text: its spelling counts.
    Scalar,
    /// Any JSON.
    Json,
    /// Any JSON object.
    Object,
    /// One of a closed list of words.
    Words(fn() -> Vec<&'static str>),
    /// A text of a form that the schema states as a pattern.
    Pattern(&'static str),
    /// `null`, where it says something of its own.
    Null,
    List(&'static Kind),
    /// One value or a list of them.
    OneOrMany(&'static Kind),
    /// Keys that the author chooses.
    Map(&'static Kind),
    /// Exactly one key that the author chooses, none of these.
    Single(&'static Kind, &'static [&'static str]),
    Shape(&'static Shape),
    Any(&'static [Kind]),
}

/// A key that may be there.
pub(super) const fn key(
    name: &'static str,
    kind: Kind,
    doc: &'static str,
    example: &'static str,
) -> Key {
    Key {
        name,
        kind,
        doc,
        example,
        need: Need::Optional,
    }
}

impl Key {
    pub const fn required(mut self) -> Key {
        self.need = Need::Required;
        self
    }

    pub const fn not_yet(mut self) -> Key {
        self.need = Need::NotYet;
        self
    }
}

impl Shape {
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|k| k.name == name)
    }
}

/// The word of `words` that `typed` was probably meant to be.
pub(super) fn nearest<'w>(
    typed: &str,
    words: impl IntoIterator<Item = &'w str>,
) -> Option<&'w str> {
    let typed_lower = typed.to_lowercase();
    words
        .into_iter()
        .map(|word| {
            let (typed, meant) = (typed.chars().count(), word.chars().count());
            let slips = edits(&typed_lower, &word.to_lowercase());
            (slips, typed.abs_diff(meant), typed.max(meant), word)
        })
        // A third of the word may be wrong, and at most three letters.
        .filter(|(slips, _, longer, _)| *slips <= 3 && slips * 3 <= *longer)
        .min()
        .map(|(.., word)| word)
}

/// How many letters must be changed, added, dropped or swapped with their
/// neighbour to make one word of the other.
fn edits(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(64).collect();
    let b: Vec<char> = b.chars().take(64).collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let same = a[i - 1] == b[j - 1];
            let mut best = (last[j - 1] + usize::from(!same))
                .min(last[j] + 1)
                .min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before_last[j - 2] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_seen_and_strangers_are_not() {
        let words = ["model", "mode", "prompt", "outside", "max_turns"];
        assert_eq!(nearest("modle", words), Some("model"));
        assert_eq!(nearest("Prompt", words), Some("prompt"));
        assert_eq!(nearest("maxturns", words), Some("max_turns"));
        assert_eq!(nearest("xyz", words), None);
        assert_eq!(nearest("", words), None);
    }
}
