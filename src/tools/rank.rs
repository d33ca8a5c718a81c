//! How well tools fit the words of a search: BM25 over names, hints and descriptions,
//! in integers, so that the order is the same on every machine. Pure.

use std::collections::BTreeMap;

/// How often a word of each field counts.
const NAME_WEIGHT: u64 = 6;
const HINT_WEIGHT: u64 = 3;
const TEXT_WEIGHT: u64 = 1;
/// Shorter words are not taken for the beginning of longer ones.
const PREFIX_CHARS_MIN: usize = 3;
/// What the whole name as a query is worth: more than any sum of words.
const WHOLE_NAME: u64 = 1 << 40;
/// Scores are in thousandths.
const UNIT: u64 = 1_000;

/// The words of one tool and how much each counts in it.
#[derive(Debug, Clone)]
pub(super) struct Words {
    name: String,
    counts: BTreeMap<String, u64>,
    length: u64,
}

impl Words {
    pub fn of(name: &str, hint: &str, description: &str) -> Words {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        let fields = [
            (name, NAME_WEIGHT),
            (hint, HINT_WEIGHT),
            (description, TEXT_WEIGHT),
        ];
        for (text, weight) in fields {
            for word in split(text) {
                *counts.entry(word).or_default() += weight;
            }
        }
        let length = counts.values().sum();
        Words {
            name: name.to_lowercase(),
            counts,
            length,
        }
    }

    /// How much a word counts here; the beginning of a longer word counts half.
    fn count(&self, word: &str) -> u64 {
        let exact = self.counts.get(word).copied().unwrap_or(0);
        if word.chars().count() < PREFIX_CHARS_MIN {
            return exact * 2;
        }
        let begun = self.counts.range(word.to_owned()..);
        let begun = begun.take_while(|(known, _)| known.starts_with(word));
        exact + begun.map(|(_, count)| *count).sum::<u64>()
    }
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

/// The score of each tool for a query; 0 for one that does not fit. A term with `+` in
/// front must be in the tool, in whichever field.
pub(super) fn score(query: &str, tools: &[Words]) -> Vec<u64> {
    let mut required = Vec::new();
    let mut optional = Vec::new();
    for term in query.split_whitespace() {
        match term.strip_prefix('+') {
            Some(term) => required.extend(split(term)),
            None => optional.extend(split(term)),
        }
    }
    let whole = query.trim().to_lowercase();
    let total = tools.len() as u64;
    let average = tools.iter().map(|t| t.length).sum::<u64>() / total.max(1);
    let rarity: BTreeMap<&String, u64> = required
        .iter()
        .chain(&optional)
        .map(|word| {
            let with = tools.iter().filter(|tool| tool.count(word) > 0).count() as u64;
            (word, rarity(total, with))
        })
        .collect();
    let one = |tool: &Words| {
        if tool.name == whole {
            return WHOLE_NAME;
        }
        if required.iter().any(|word| tool.count(word) == 0) {
            return 0;
        }
        let words = required.iter().chain(&optional);
        words
            .map(|word| rarity[word] * saturated(tool.count(word), tool.length, average) / UNIT)
            .sum()
    };
    tools.iter().map(one).collect()
}

/// How much it says that a word is there: the rarer the more, in thousandths, never 0.
fn rarity(total: u64, with: u64) -> u64 {
    let odds = (2 * (total - with) + 1) * UNIT / (2 * with + 1) + UNIT;
    log2(odds, UNIT).max(1)
}

/// BM25's saturation with k1 = 1.2 and b = 0.75, in thousandths.
fn saturated(count: u64, length: u64, average: u64) -> u64 {
    if count == 0 {
        return 0;
    }
    let norm = UNIT / 4 + 3 * UNIT * length / (4 * average.max(1));
    count * UNIT * 22 / (count * 10 + 12 * norm / UNIT).max(1)
}

/// log2(n / unit) in thousandths, for n at least unit: whole steps, and the rest in a line.
fn log2(n: u64, unit: u64) -> u64 {
    let mut whole = 0;
    let mut rest = n;
    while rest >= 2 * unit {
        rest /= 2;
        whole += UNIT;
    }
    whole + (rest - unit) * UNIT / unit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools() -> Vec<Words> {
        vec![
            Words::of("mcp__tickets__search", "", "Find tickets by text."),
            Words::of("mcp__tickets__create", "", "Open a new ticket."),
            Words::of("WebFetch", "http page url", "Fetch a page from the web."),
            Words::of(
                "NotebookEdit",
                "jupyter",
                "Change a cell. Use the text of the page.",
            ),
        ]
    }

    fn best(query: &str) -> Vec<usize> {
        let scores = score(query, &tools());
        let mut order: Vec<usize> = (0..scores.len()).filter(|i| scores[*i] > 0).collect();
        order.sort_by_key(|i| std::cmp::Reverse(scores[*i]));
        order
    }

    #[test]
    fn names_count_more_than_descriptions() {
        assert_eq!(best("search tickets")[0], 0);
        assert_eq!(best("page"), [2, 3]);
        assert_eq!(best("jupyter"), [3]);
        assert_eq!(best("notebook"), [3]);
        assert_eq!(best("nothing like it"), [] as [usize; 0]);
    }

    #[test]
    fn a_required_word_must_be_there() {
        assert_eq!(best("+create ticket"), [1]);
        assert_eq!(best("+text"), [0, 3]);
        assert_eq!(best("+text +cell"), [3]);
    }

    #[test]
    fn the_whole_name_comes_first() {
        assert_eq!(best("mcp__tickets__create")[0], 1);
        assert_eq!(best("webfetch")[0], 2);
    }

    #[test]
    fn words_are_parted_at_capitals() {
        assert_eq!(
            split("WebFetch2 mcp__a-b"),
            ["web", "fetch2", "mcp", "a", "b"]
        );
    }
}
