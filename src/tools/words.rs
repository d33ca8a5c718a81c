//! The words of names, descriptions and queries, in the form in which they are compared.

/// Words that stand in any sentence and tell nothing of what is looked for.
const FILLERS: [&str; 63] = [
    "a", "about", "all", "am", "an", "and", "any", "are", "as", "at", "be", "before", "by", "can",
    "could", "do", "does", "for", "from", "had", "has", "have", "here", "how", "i", "if", "in",
    "into", "is", "it", "its", "me", "my", "no", "not", "of", "on", "one", "or", "our", "please",
    "so", "some", "that", "the", "their", "them", "there", "they", "this", "to", "us", "use",
    "was", "we", "what", "when", "which", "who", "will", "with", "you", "your",
];

/// Whether a word tells nothing of what is looked for.
pub(super) fn is_filler(word: &str) -> bool {
    FILLERS.binary_search(&word).is_ok()
}

/// The words of a text in lower case and in singular.
pub(super) fn stems(text: &str) -> impl Iterator<Item = String> {
    split(text)
        .into_iter()
        .map(|word| singular(&word).to_owned())
}

/// The words of a text, in lower case: parted where neither letter nor digit stands and
/// where a capital follows a small letter.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut was_lower = false;
    for c in text.chars() {
        let begins = c.is_uppercase() && was_lower;
        if (!c.is_alphanumeric() || begins) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase() || c.is_ascii_digit();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// A word without the ending of an English plural, as far as that can be told from its
/// letters: the same on both sides of a comparison is all that counts.
fn singular(word: &str) -> &str {
    const LETTERS_MIN: usize = 4;
    if word.len() < LETTERS_MIN || !word.is_ascii() {
        return word;
    }
    for ending in ["sses", "shes", "ches", "xes"] {
        if word.ends_with(ending) {
            return &word[..word.len() - 2];
        }
    }
    let keeps = ["ss", "us", "is"]
        .iter()
        .any(|ending| word.ends_with(ending));
    match word.strip_suffix('s') {
        Some(stem) if !keeps => stem,
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fillers_are_sorted() {
        assert!(FILLERS.is_sorted());
    }

    #[test]
    fn words_are_parted_at_capitals() {
        assert_eq!(
            split("WebFetch2 mcp__a-b"),
            ["web", "fetch2", "mcp", "a", "b"]
        );
    }

    #[test]
    fn plurals_are_as_singulars() {
        for (many, one) in [
            ("tickets", "ticket"),
            ("branches", "branch"),
            ("addresses", "address"),
            ("boxes", "box"),
            ("files", "file"),
            ("statuses", "statuse"),
            ("status", "status"),
            ("gas", "gas"),
        ] {
            assert_eq!(singular(many), one);
        }
    }
}
