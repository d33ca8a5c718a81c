//! What a text that is no JSON still denies: found by its shape alone, so that no lost
//! quote, comma or bracket makes a rule disappear.
//!
//! Generous on purpose: of two readings of a broken list the one with more denials is
//! taken. Rules that allow are never looked for.

use super::node::Place;

/// A rule that a broken text still holds below `deny` or `ask`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Salvaged {
    /// Below `deny`, not `ask`.
    pub denies: bool,
    pub text: String,
    pub at: Place,
}

/// Keys that end the list before them, wherever they stand.
const KEYS: &[&str] = &[
    "permissions",
    "allow",
    "ask",
    "deny",
    "defaultMode",
    "additionalDirectories",
    "disableBypassPermissionsMode",
    "hooks",
    "disableAllHooks",
    "allowManagedPermissionRulesOnly",
    "allowManagedHooksOnly",
];

/// Rules that are looked for in one stretch between two quotes.
const MAX_PIECES: usize = 64;

/// The rules that a broken text holds, each once, in the order of their places.
pub(super) fn restrictions(text: &str) -> Vec<Salvaged> {
    let mut found: Vec<Salvaged> = Vec::new();
    for (denies, key) in [(true, "deny"), (false, "ask")] {
        for from in lists(text, key) {
            let to = end_of_list(text, from);
            for (at, rule) in rules(text, from, to) {
                let known = |s: &Salvaged| s.denies == denies && s.text == rule;
                if !found.iter().any(known) {
                    found.push(Salvaged {
                        denies,
                        text: rule,
                        at: place(text, at),
                    });
                }
            }
        }
    }
    found.sort_by_key(|salvaged| salvaged.at);
    found
}

/// Whether a key stands in the text.
pub(super) fn mentions(text: &str, key: &str) -> bool {
    words(text, key).next().is_some()
}

/// Where `word` stands with no letter beside it.
fn words<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let alone = move |at: &usize| {
        let before = text[..*at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        ![before, after].into_iter().flatten().any(in_name)
    };
    text.match_indices(word).map(|(at, _)| at).filter(alone)
}

fn in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where the lists below `key` begin: behind the word, where it looks like a key.
fn lists<'t>(text: &'t str, key: &'t str) -> impl Iterator<Item = usize> + 't {
    words(text, key).filter_map(move |at| {
        let rest = &text[at + key.len()..];
        let behind = rest.trim_start_matches(['"', '\'']).trim_start();
        let quoted = text[..at].ends_with('"') && !text[..at].ends_with("\\\"");
        (quoted || behind.starts_with([':', '['])).then_some(at + key.len())
    })
}

/// Where the list that begins at `from` ends at the latest: before the next key. A word
/// that is no key of settings ends it only where its brackets are closed.
fn end_of_list(text: &str, from: usize) -> usize {
    let quotes: Vec<usize> = quotes(text, from, text.len()).collect();
    for pair in quotes.windows(2) {
        let [open, close] = *pair else { continue };
        let word = &text[open + 1..close];
        let is_key = !word.is_empty()
            && word.chars().all(|c| in_name(c) || matches!(c, '$' | '-'))
            && text[close + 1..].trim_start().starts_with(':');
        let so_far = &text[from..open];
        let open_list = so_far.contains('[') && !so_far.contains(']');
        if is_key && (KEYS.contains(&word) || !open_list) {
            return open;
        }
    }
    text.len()
}

/// The quotes in a stretch that no backslash stands before.
fn quotes(text: &str, from: usize, to: usize) -> impl Iterator<Item = usize> + '_ {
    let mut escaped = false;
    text[from..to].char_indices().filter_map(move |(at, c)| {
        let quote = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        quote.then_some(from + at)
    })
}

/// What may be a rule in a list: what stands between quotes, whichever of them opens.
fn rules(text: &str, from: usize, to: usize) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut start = from;
    for quote in quotes(text, from, to) {
        stretch(text, start, quote, true, &mut found);
        start = quote + 1;
    }
    stretch(text, start, to, to < text.len(), &mut found);
    found
}

/// Adds the rules of one stretch. One that is not `closed` may end in the middle of a rule.
fn stretch(text: &str, from: usize, to: usize, closed: bool, found: &mut Vec<(usize, String)>) {
    const AROUND: &[char] = &[',', '[', ']', '{', '}', ':', ';', '\'', '"', '\\'];
    let around = |c: char| c.is_whitespace() || AROUND.contains(&c);
    let within = &text[from..to];
    let whole = within.trim_matches(around);
    if whole.is_empty() {
        return;
    }
    let mut add = |part: &str| {
        let at = from + within.find(part).unwrap_or(0);
        let rule = (at, unescaped(part));
        if !found.contains(&rule) {
            found.push(rule);
        }
    };
    if looks_whole(whole) {
        return add(whole);
    }
    if closed || whole.ends_with(')') {
        // A rule whose own text ends in what is cut off here is kept as well.
        for whole in [whole, within.trim().trim_end_matches(',').trim_end()] {
            if starts_a_rule(whole) && whole.ends_with(')') {
                add(whole);
            }
        }
    }
    let mut pieces = pieces(whole);
    pieces.truncate(MAX_PIECES);
    pieces.into_iter().for_each(&mut add);
    // A name that is torn off may have been a whole one: it denies.
    for name in whole.split([',', '"']) {
        let name = name.trim_matches(around);
        if is_name(name) {
            add(name);
        }
    }
}

/// Whether a text is one rule and cannot be two: a name, or one with brackets that pair.
fn looks_whole(text: &str) -> bool {
    let Some(open) = text.find('(') else {
        return false;
    };
    let mut depth = 0_i64;
    let pairs = text.char_indices().all(|(at, c)| {
        depth += i64::from(c == '(') - i64::from(c == ')');
        depth > 0 || at < open || at + 1 == text.len()
    });
    is_name(&text[..open]) && pairs && depth == 0
}

/// A name of a tool, as a rule may give it.
fn is_name(text: &str) -> bool {
    let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '*');
    !text.is_empty() && text.chars().all(name)
}

fn starts_a_rule(text: &str) -> bool {
    text.find('(').is_some_and(|open| is_name(&text[..open]))
}

/// Every stretch of a text that is a name with brackets behind it.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    for (open, _) in text.match_indices('(') {
        let name = text[..open]
            .rfind(|c: char| !is_name(c.encode_utf8(&mut [0; 4])))
            .map_or(0, |at| {
                at + text[at..].chars().next().map_or(1, char::len_utf8)
            });
        if !text[name..open].starts_with(|c: char| c.is_ascii_uppercase() || c == 'm') {
            continue;
        }
        for (close, _) in text[open..].match_indices(')') {
            pieces.push(&text[name..=open + close]);
        }
    }
    pieces
}

/// A text with its JSON escapes read; as it is written where they are wrong.
fn unescaped(text: &str) -> String {
    serde_json::from_str(&format!("\"{text}\"")).unwrap_or_else(|_| text.to_owned())
}

/// Line and column of a byte, both from 1.
fn place(text: &str, at: usize) -> Place {
    let before = &text[..at];
    let line = before.matches('\n').count() + 1;
    let column = before
        .rsplit('\n')
        .next()
        .map_or(0, |line| line.chars().count())
        + 1;
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    (number(line), number(column))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denied(text: &str) -> Vec<String> {
        let of = restrictions(text).into_iter();
        of.filter(|s| s.denies).map(|s| s.text).collect()
    }

    #[test]
    fn a_rule_is_found_whatever_is_lost_around_it() {
        let broken = [
            r#"{"permissions": {"deny": ["A(x)", "B(y)",], "allow": ["C"]}}"#,
            r#"{"permissions": {"deny": ["A(x)" "B(y)"], "allow": ["C"]}}"#,
            r#"{"permissions": {"deny": ["A(x), "B(y)"], "allow": ["C(z"]}}"#,
            r#"{"permissions": {"deny": [A(x)", "B(y)"}, "allow": ["C"]}}"#,
            r#"{"permissions": {"deny": ["A(x)", 'B(y)'], "allow": ["C"]}}"#,
            r#"{"permissions": {"deny" ["A(x)", "B(y)"], "allow": ["C"]}}"#,
            r#"{"permissions": {"deny": "A(x)", "B(y)"], "allow": ["C"]}}"#,
            r#"{permissions: {deny: [A(x), B(y)]"#,
            r#"{"permissions": {"deny": ["A(x)", "B(y)"#,
            r#"{"permissions": {"allow": ["C], "deny": ["A(x)", "B(y)"]"#,
        ];
        for text in broken {
            let denied = denied(text);
            for rule in ["A(x)", "B(y)"] {
                assert!(
                    denied.iter().any(|d| d == rule),
                    "{rule} of {text}: {denied:?}"
                );
            }
        }
    }

    #[test]
    fn what_is_allowed_beside_it_is_not_denied() {
        let text = "{\"permissions\": {\n  \"deny\": [\"Read(a)\", // why\n],\n  \
                    \"allow\": [\"Bash(ls)\"], \"defaultMode\": \"plan\"},\n \"model\": \"x\"";
        assert_eq!(denied(text), ["Read(a)"]);
        assert_eq!(restrictions(text)[0].at, (2, 13));
    }

    #[test]
    fn a_name_that_is_torn_denies_and_a_torn_specifier_does_not() {
        assert_eq!(denied("{\"deny\": [\"Bash"), ["Bash"]);
        assert!(denied("{\"deny\": [\"Bash(rm").is_empty());
    }

    #[test]
    fn escapes_are_read_and_a_bare_word_is_a_name() {
        assert_eq!(
            denied(r#"{"deny": ["Bash(echo \"a\")", oops"#),
            [r#"Bash(echo "a")"#, "oops"]
        );
    }
}
