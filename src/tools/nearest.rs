//! Finds the names that somebody who misspelled one may have meant.

/// How many names are suggested at most.
const SUGGESTIONS: usize = 3;

/// The candidates nearest to `name`, best first: equal but for case, then the same
/// stem with another extension, then few edits away. Ties by name.
pub(super) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Vec<&'a str> {
    let mut scored: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter_map(|candidate| Some((distance_class(name, candidate)?, candidate)))
        .collect();
    scored.sort_unstable();
    scored.dedup();
    scored.truncate(SUGGESTIONS);
    scored.into_iter().map(|(_, name)| name).collect()
}

/// How far `candidate` is from `name`; `None` if it is not near.
fn distance_class(name: &str, candidate: &str) -> Option<usize> {
    let (a, b) = (name.to_lowercase(), candidate.to_lowercase());
    if a == b {
        return Some(0);
    }
    if !stem(&a).is_empty() && stem(&a) == stem(&b) {
        return Some(1);
    }
    // A third of the name may be wrong, and never more than three letters.
    let allowed = (a.chars().count() / 3).clamp(1, 3);
    let distance = edits(&a, &b, allowed)?;
    Some(1 + distance)
}

/// A file name without its last extension; dotfiles keep their name.
fn stem(name: &str) -> &str {
    match name.rfind('.') {
        Some(at) if at > 0 => &name[..at],
        _ => name,
    }
}

/// The number of insertions, removals and replacements from `a` to `b`, if at most `max`.
fn edits(a: &str, b: &str, max: usize) -> Option<usize> {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    if a.len().abs_diff(b.len()) > max {
        return None;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row.last().copied().filter(|distance| *distance <= max)
}

/// `Did you mean …?`, or nothing if no candidate is near.
pub(super) fn did_you_mean(near: &[&str]) -> String {
    match near {
        [] => String::new(),
        names => format!(" Did you mean {}?", names.join(" or ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_come_best_first() {
        let names = ["aa.md", "AA.TXT", "ab.txt", "zebra.txt"];
        assert_eq!(nearest("aa.txt", names), ["AA.TXT", "aa.md", "ab.txt"]);
        assert_eq!(nearest("quite_other", names), [] as [&str; 0]);
        assert_eq!(nearest("read", ["Read", "Bash"]), ["Read"]);
    }

    #[test]
    fn counts_edits_up_to_a_bound() {
        assert_eq!(edits("kitten", "sitting", 3), Some(3));
        assert_eq!(edits("kitten", "sitting", 2), None);
        assert_eq!(edits("", "", 0), Some(0));
    }
}
