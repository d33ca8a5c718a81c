//! Globs in the matchers of a scenario: over a whole text, not over paths.

use std::fmt;

/// A glob over a whole text: `*` is any run of characters, spaces, slashes and line
/// ends included, `?` is any one character, everything else is itself. There are
/// no classes and no escapes: a literal `*` is matched by `*` or `?`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pattern {
    text: String,
}

impl Pattern {
    /// Every text is a pattern.
    pub fn new(text: &str) -> Pattern {
        Pattern {
            text: text.to_owned(),
        }
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the whole of `text` matches. Takes time in proportion to the two
    /// lengths multiplied, at worst; a pattern without `*` in proportion to its own.
    pub fn matches(&self, text: &str) -> bool {
        let mut pattern = self.text.as_str();
        let mut rest = text;
        // After the last `*`: the pattern behind it, and where its match is tried next.
        let mut retry: Option<(&str, &str)> = None;
        loop {
            let mut wanted = pattern.chars();
            let mut given = rest.chars();
            match (wanted.next(), given.next()) {
                (Some('*'), _) => {
                    pattern = wanted.as_str();
                    if pattern.is_empty() {
                        return true;
                    }
                    retry = Some((pattern, rest));
                    continue;
                }
                (None, None) => return true,
                (Some(w), Some(g)) if w == '?' || w == g => {
                    pattern = wanted.as_str();
                    rest = given.as_str();
                    continue;
                }
                _ => {}
            }
            // What an earlier `*` could take, the last one can take as well: only the
            // last is ever tried again.
            let Some((behind, tried)) = retry else {
                return false;
            };
            let mut skipped = tried.chars();
            if skipped.next().is_none() {
                return false;
            }
            rest = skipped.as_str();
            pattern = behind;
            retry = Some((behind, rest));
        }
    }
}

impl From<&str> for Pattern {
    fn from(text: &str) -> Pattern {
        Pattern::new(text)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, yes: &[&str], no: &[&str]) {
        let glob = Pattern::new(pattern);
        for text in yes {
            assert!(glob.matches(text), "{pattern} must match {text:?}");
        }
        for text in no {
            assert!(!glob.matches(text), "{pattern} must not match {text:?}");
        }
    }

    #[test]
    fn a_star_takes_anything() {
        check(
            "cargo test*",
            &["cargo test", "cargo test --lib a/b", "cargo test\nrm -rf /"],
            &["cargo tes", " cargo test", "CARGO test"],
        );
        check("*", &["", "x", "a\nb"], &[]);
        check(
            "a*b*c",
            &["abc", "a/b c", "aXbbYbcc"],
            &["acb", "abcd", "ab"],
        );
        check("*.txt", &[".txt", "a.txt.txt"], &["a.txt ", "txt"]);
        check("a**b", &["ab", "a--b"], &["a"]);
    }

    #[test]
    fn a_question_mark_is_one_character() {
        check("?", &["x", "é", "🦀", "\n"], &["", "xx"]);
        check("*?", &["x", "xx"], &[""]);
        check("a?c", &["abc", "a🦀c", "a?c"], &["ac", "abbc"]);
    }

    #[test]
    fn everything_else_is_itself() {
        check("", &[""], &["x"]);
        check(
            "a.c[0-9]+\\*",
            &["a.c[0-9]+\\", "a.c[0-9]+\\x"],
            &["abc0", "a.c5"],
        );
        check("ls *.rs", &["ls *.rs", "ls main.rs"], &["ls *.rsx"]);
    }

    #[test]
    fn stars_in_a_row_do_not_explode() {
        let pattern = Pattern::new(&"a*".repeat(60));
        assert!(!pattern.matches(&format!("{}b", "a".repeat(59))));
        let pattern = Pattern::new(&format!("{}b", "*a".repeat(60)));
        assert!(!pattern.matches(&"a".repeat(5_000)));
    }
}
