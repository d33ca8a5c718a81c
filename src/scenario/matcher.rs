//! Globs in the matchers of a scenario.

use super::complaint::Complaint;
use super::fields::Reader;
use super::node::{Node, quoted};
use globset::{GlobBuilder, GlobMatcher};
use std::collections::BTreeMap;
use std::fmt;

/// A glob over a whole text: `*` and `?` cross every character, `/` too.
#[derive(Clone)]
pub struct Glob(GlobMatcher);

impl Glob {
    /// The glob of a pattern.
    pub fn new(pattern: &str) -> Result<Glob, String> {
        GlobBuilder::new(pattern)
            .literal_separator(false)
            .backslash_escape(true)
            .build()
            .map(|glob| Glob(glob.compile_matcher()))
            .map_err(|error| error.kind().to_string())
    }

    pub fn matches(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        self.0.glob().glob()
    }

    /// Whether the glob matches one text only: itself.
    pub fn is_literal(&self) -> bool {
        !self.as_str().contains(['*', '?', '[', '{', '\\'])
    }

    pub(super) fn read(r: &mut Reader, node: &Node) -> Option<Glob> {
        let pattern = r.scalar(node)?;
        match Glob::new(&pattern) {
            Ok(glob) => Some(glob),
            Err(why) => {
                r.complain(Complaint::error(&node.at, quoted(&pattern), "a glob").hint(why));
                None
            }
        }
    }

    /// Keys and globs.
    pub(super) fn read_map(r: &mut Reader, node: Option<&Node>) -> BTreeMap<String, Glob> {
        let Some(node) = node else {
            return BTreeMap::new();
        };
        let entries = r.map(node, "keys and globs").unwrap_or_default();
        entries
            .iter()
            .filter_map(|e| Glob::read(r, &e.value).map(|glob| (e.key.clone(), glob)))
            .collect()
    }
}

impl PartialEq for Glob {
    fn eq(&self, other: &Glob) -> bool {
        self.as_str() == other.as_str()
    }
}

impl fmt::Debug for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Glob({:?})", self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_is_over_the_whole_text() {
        let glob = Glob::new("cargo test*");
        let matches = |text| glob.as_ref().is_ok_and(|g| g.matches(text));
        assert!(matches("cargo test"));
        assert!(matches("cargo test -- a/b"));
        assert!(!matches("run cargo test"));
        assert!(Glob::new("[").is_err());
    }
}
