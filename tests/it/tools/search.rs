//! How well the search finds what is meant among ten thousand tools.

use super::ten_thousand;
use rehearsal::profile::{Deferred, Profile};
use rehearsal::tools::{Pool, PoolOptions, builtin};
use rehearsal::words::Mode;
use std::collections::{BTreeMap, BTreeSet};

const QUERIES: &str = include_str!("../../../fixtures/search/queries.tsv");
/// So many tools a search gives if it does not say.
const GIVEN: usize = 5;

struct Query {
    has_word: bool,
    text: &'static str,
    /// Names as they are offered.
    meant: Vec<String>,
}

fn queries() -> Vec<Query> {
    let lines = QUERIES.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let parts: Vec<&str> = line.split('\t').collect();
            let name = |meant: &str| format!("mcp__{}", meant.replacen('.', "__", 1));
            Query {
                has_word: parts[0] == "word",
                text: parts[1],
                meant: parts[2].split(',').map(name).collect(),
            }
        })
        .collect()
}

fn pool() -> Pool {
    let mut profile = Profile::seed();
    profile.deferred = Deferred::Mcp;
    let options = PoolOptions {
        profile: &profile,
        mode: Mode::Default,
        flags: &BTreeMap::new(),
        only: None,
        denied: &|_| None,
    };
    Pool::build(builtin(), ten_thousand::sample(10_000, None), &options).0
}

/// Lower case, plurals cut.
fn words(text: &str) -> BTreeSet<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric());
    let words = parts.filter(|word| !word.is_empty()).map(str::to_lowercase);
    words
        .map(|word| word.strip_suffix('s').unwrap_or(&word).to_owned())
        .collect()
}

#[test]
fn the_halves_are_what_they_say() {
    let queries = queries();
    let known: BTreeSet<String> = ten_thousand::sample(10_000, None)
        .iter()
        .map(|tool| tool.name().to_owned())
        .collect();
    assert_eq!(known.len(), 10_000);
    assert!(queries.len() >= 200);
    let with = queries.iter().filter(|query| query.has_word).count();
    assert!(with * 2 <= queries.len(), "{with} of {}", queries.len());
    for query in &queries {
        for name in &query.meant {
            assert!(known.contains(name), "{name}");
            let shared = !words(query.text).is_disjoint(&words(name));
            assert_eq!(shared, query.has_word, "{:?}: {name}", query.text);
        }
    }
}

#[test]
fn what_shares_a_word_is_among_the_first_five() {
    let pool = pool();
    let mut recall = BTreeMap::from([(true, (0, 0)), (false, (0, 0))]);
    let mut missed = Vec::new();
    for query in queries() {
        let found = pool.search(query.text, GIVEN);
        let hits = query
            .meant
            .iter()
            .filter(|name| found.iter().any(|(_, entry)| entry.name() == *name));
        let hits = hits.count();
        let (sum, count) = recall.entry(query.has_word).or_default();
        *sum += 1_000 * hits / query.meant.len();
        *count += 1;
        if hits < query.meant.len() && query.has_word {
            let names: Vec<&str> = found.iter().map(|(_, entry)| entry.name()).collect();
            missed.push(format!("{}: {names:?}", query.text));
        }
    }
    let share = |half: bool| {
        let (sum, count) = recall[&half];
        sum / count
    };
    println!(
        "recall@5 in thousandths: {} with a word of the name, {} without one",
        share(true),
        share(false)
    );
    assert!(share(true) >= 950, "{}\n{}", share(true), missed.join("\n"));
}
