//! Which tools a hook is about (`semantics.md §2.2`).

use regex::Regex;

/// The matcher of a group of handlers.
#[derive(Debug, Clone)]
pub struct Matcher {
    text: String,
    how: How,
}

#[derive(Debug, Clone)]
enum How {
    All,
    /// One of these names, exactly.
    Names(Vec<String>),
    /// A regular expression, anchored nowhere.
    Regex(Regex),
}

impl PartialEq for Matcher {
    fn eq(&self, other: &Matcher) -> bool {
        self.text == other.text
    }
}

impl Matcher {
    /// Matches every tool.
    pub fn all() -> Matcher {
        Matcher {
            text: String::new(),
            how: How::All,
        }
    }

    /// Reads a matcher: empty or `*` is everything; letters, digits, `_`, `-`, spaces, `,`
    /// and `|` are a list of exact names; anything else is a regular expression.
    pub fn new(text: &str) -> Result<Matcher, String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ' | ',' | '|');
        let how = if text.is_empty() || text == "*" {
            How::All
        } else if text.chars().all(plain) {
            let names = text.split(['|', ',']).map(|name| name.trim().to_owned());
            How::Names(names.filter(|name| !name.is_empty()).collect())
        } else {
            How::Regex(Regex::new(text).map_err(|e| format!("not a regular expression: {e}"))?)
        };
        Ok(Matcher {
            text: text.to_owned(),
            how,
        })
    }

    pub fn matches(&self, subject: &str) -> bool {
        match &self.how {
            How::All => true,
            How::Names(names) => names.iter().any(|name| name == subject),
            How::Regex(regex) => regex.is_match(subject),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_exact_and_everything_else_is_a_regex() -> Result<(), String> {
        let matches =
            |text: &str, subject: &str| Ok::<bool, String>(Matcher::new(text)?.matches(subject));
        assert!(matches("", "Bash")? && matches("*", "Bash")?);
        assert!(matches("Edit|Write", "Write")? && matches("Edit, Write", "Write")?);
        assert!(!matches("Edit", "NotebookEdit")? && matches("Edit.*", "NotebookEdit")?);
        assert!(
            !matches("mcp__memory", "mcp__memory__get")?
                && matches("mcp__memory__.*", "mcp__memory__get")?
        );
        assert!(!matches("bash", "Bash")?);
        assert!(Matcher::new("(").is_err());
        Ok(())
    }
}
