//! How well tools fit the words of a search: BM25 over names, hints and descriptions,
//! in integers, so that the order is the same on every machine. Pure.
//!
//! The words of all tools are put into an index once; a search then looks only at the
//! tools that have one of its words.

use super::words::{is_filler, stems};
use std::collections::{BTreeMap, BTreeSet};

/// How often a word of each field counts.
const NAME_WEIGHT: u32 = 6;
const HINT_WEIGHT: u32 = 3;
const TEXT_WEIGHT: u32 = 1;
/// Shorter words are not taken for the beginning of longer ones.
const PREFIX_CHARS_MIN: usize = 4;
/// What the whole name as a query is worth: more than any sum of words.
const WHOLE_NAME: u64 = 1 << 40;
/// Scores are in thousandths.
const UNIT: u64 = 1_000;

/// What of a tool is searched.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a> {
    pub name: &'a str,
    pub hint: &'a str,
    pub description: &'a str,
}

/// The words of many tools, each with the tools that have it.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// In lower case.
    names: Vec<String>,
    /// How much the words of each tool count in sum.
    lengths: Vec<u64>,
    average: u64,
    /// By word: the tools that have it, in their order, and how much it counts in each.
    postings: BTreeMap<String, Vec<(u32, u32)>>,
}

impl Index {
    pub fn of<'a>(tools: impl Iterator<Item = Text<'a>>) -> Index {
        let mut index = Index::default();
        for tool in tools {
            index.add(tool);
        }
        let sum: u64 = index.lengths.iter().sum();
        index.average = (sum / (index.lengths.len() as u64).max(1)).max(1);
        index
    }

    fn add(&mut self, tool: Text<'_>) {
        let at = self.names.len() as u32;
        let mut length = 0;
        let fields = [
            (tool.name, NAME_WEIGHT),
            (tool.hint, HINT_WEIGHT),
            (tool.description, TEXT_WEIGHT),
        ];
        for (text, weight) in fields {
            for word in stems(text) {
                length += u64::from(weight);
                let with = self.postings.entry(word).or_default();
                match with.last_mut() {
                    Some((last, count)) if *last == at => *count += weight,
                    _ => with.push((at, weight)),
                }
            }
        }
        self.names.push(tool.name.to_lowercase());
        self.lengths.push(length);
    }

    /// The tools that fit best, at most so many, each with its score: the place of each
    /// in the order in which they came. Ties go by name. A term with `+` in front must be
    /// in the tool, in whichever field.
    pub fn best(&self, query: &str, most: usize) -> Vec<(u64, usize)> {
        let terms = Terms::of(query);
        let mut scores = vec![0; self.names.len()];
        let mut fits: Option<BTreeSet<u32>> = None;
        for (word, is_required) in &terms.words {
            let counts = self.counts(word);
            if *is_required {
                let with: BTreeSet<u32> = counts.keys().copied().collect();
                fits = Some(match fits {
                    Some(before) => before.intersection(&with).copied().collect(),
                    None => with,
                });
            }
            let rarity = rarity(self.names.len() as u64, counts.len() as u64);
            for (at, count) in counts {
                let length = self.lengths[at as usize];
                scores[at as usize] += rarity * saturated(count, length, self.average) / UNIT;
            }
        }
        let mut found: Vec<(u64, usize)> = scores
            .into_iter()
            .enumerate()
            .filter(|(at, score)| {
                *score > 0
                    && fits
                        .as_ref()
                        .is_none_or(|fits| fits.contains(&(*at as u32)))
            })
            .map(|(at, score)| (score, at))
            .collect();
        if let Some(at) = self.names.iter().position(|name| *name == terms.whole) {
            found.retain(|(_, other)| *other != at);
            found.push((WHOLE_NAME, at));
        }
        let by_name = |at: usize| self.names[at].as_str();
        found.sort_by(|(a, x), (b, y)| b.cmp(a).then_with(|| by_name(*x).cmp(by_name(*y))));
        found.truncate(most);
        found
    }

    /// How much a word counts in each tool that has it; the beginning of a longer word
    /// counts half of the word itself.
    fn counts(&self, word: &str) -> BTreeMap<u32, u64> {
        let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
        let is_long = word.chars().count() >= PREFIX_CHARS_MIN;
        let known = self.postings.range(word.to_owned()..);
        let known =
            known.take_while(|(known, _)| known.starts_with(word) && (is_long || *known == word));
        for (known, tools) in known {
            let times = if known == word { 2 } else { 1 };
            for (at, count) in tools {
                *counts.entry(*at).or_default() += times * u64::from(*count);
            }
        }
        counts
    }
}

/// The words of a query, each once, and whether a tool must have it.
struct Terms {
    words: Vec<(String, bool)>,
    whole: String,
}

impl Terms {
    fn of(query: &str) -> Terms {
        let mut words: BTreeMap<String, bool> = BTreeMap::new();
        for term in query.split_whitespace() {
            let required = term.strip_prefix('+');
            for word in stems(required.unwrap_or(term)) {
                *words.entry(word).or_default() |= required.is_some();
            }
        }
        let is_only_filler = words.keys().all(|word| is_filler(word));
        let keep =
            |(word, required): &(String, bool)| *required || is_only_filler || !is_filler(word);
        Terms {
            words: words.into_iter().filter(keep).collect(),
            whole: query.trim().to_lowercase(),
        }
    }
}

/// How much it says that a word is there: the rarer the more, in thousandths, never 0.
fn rarity(total: u64, with: u64) -> u64 {
    let odds = (2 * total.saturating_sub(with) + 1) * UNIT / (2 * with + 1) + UNIT;
    log2(odds, UNIT).max(1)
}

/// BM25's saturation with k1 = 1.2 and b = 0.75, in thousandths.
fn saturated(count: u64, length: u64, average: u64) -> u64 {
    let norm = UNIT / 4 + 3 * UNIT * length / (4 * average);
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

    fn tools() -> Index {
        let text = |name, hint, description| Text {
            name,
            hint,
            description,
        };
        Index::of(
            [
                text("mcp__tickets__search", "", "Find tickets by text."),
                text("mcp__tickets__create", "", "Open a new ticket."),
                text("WebFetch", "http page url", "Fetch a page from the web."),
                text(
                    "NotebookEdit",
                    "jupyter",
                    "Change a cell. Use the text of the page.",
                ),
            ]
            .into_iter(),
        )
    }

    fn best(query: &str) -> Vec<usize> {
        let best = tools().best(query, 10);
        best.into_iter().map(|(_, at)| at).collect()
    }

    #[test]
    fn names_count_more_than_descriptions() {
        assert_eq!(best("search tickets")[0], 0);
        assert_eq!(best("page"), [2, 3]);
        assert_eq!(best("jupyter"), [3]);
        assert_eq!(best("notebooks"), [3]);
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
    fn ties_go_by_name() {
        let same = |name| Text {
            name,
            hint: "",
            description: "Does it.",
        };
        let index = Index::of([same("b_x"), same("a_x"), same("c_x")].into_iter());
        let order: Vec<usize> = index.best("x", 2).into_iter().map(|(_, at)| at).collect();
        assert_eq!(order, [1, 0]);
    }
}
