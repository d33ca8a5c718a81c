//! Names of tools, exact or with `*`.

use super::{Problem, Side};

/// A name that `*` may stand in for any part of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamePattern {
    text: String,
}

const MCP: &str = "mcp__";

impl NamePattern {
    pub fn new(text: &str) -> NamePattern {
        NamePattern {
            text: text.to_owned(),
        }
    }

    /// A tool's name in a rule: in an allow rule, `*` only after a whole
    /// `mcp__server__`, so that nobody allows a tool that is not there yet by a slip.
    pub fn of_tool(text: &str, side: Side) -> Result<NamePattern, Problem> {
        if side == Side::Permits
            && let Some((before, _)) = text.split_once('*')
        {
            let server = before
                .strip_prefix(MCP)
                .and_then(|rest| rest.split_once("__"))
                .is_some_and(|(server, _)| !server.is_empty());
            if !server {
                return Err(
                    Problem::unusable("an allow rule with `*` only after `mcp__server__`")
                        .hint("name the tools, or the server: `mcp__server`"),
                );
            }
        }
        Ok(NamePattern::new(text))
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The name, if it holds no `*`.
    pub fn exact(&self) -> Option<&str> {
        (!self.text.contains('*')).then_some(&*self.text)
    }

    /// Whether it stands for `name`.
    pub fn matches(&self, name: &str) -> bool {
        let pieces: Vec<&str> = self.text.split('*').collect();
        wildcard(&pieces, name)
    }
}

/// The exact names under which a rule may know the tool `name`: its own, and for an
/// MCP tool its server's (`mcp__server`).
pub(super) fn known_as(name: &str, side: Side) -> Vec<&str> {
    let mut names = vec![name];
    if let Some(rest) = name.strip_prefix(MCP) {
        let mut ends = rest.match_indices("__").map(|(at, _)| MCP.len() + at);
        match side {
            // Where the server's name ends is certain only at the first `__`.
            Side::Permits => names.extend(ends.next().map(|end| &name[..end])),
            Side::Restricts => names.extend(ends.map(|end| &name[..end])),
        }
    }
    names
}

/// Whether `pieces`, with anything between two of them, make up the whole `text`.
pub(super) fn wildcard(pieces: &[&str], text: &str) -> bool {
    let Some((first, rest)) = pieces.split_first() else {
        return text.is_empty();
    };
    let Some((last, middle)) = rest.split_last() else {
        return *first == text;
    };
    let Some(mut left) = text.strip_prefix(first) else {
        return false;
    };
    for piece in middle {
        let Some(at) = left.find(piece) else {
            return false;
        };
        left = &left[at + piece.len()..];
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        let table = [
            ("Bash", "Bash", true),
            ("B*", "Bash", true),
            ("*", "x", true),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("*__get_*", "mcp__x__get_y", true),
            ("a*b*c", "abc", true),
            ("a*b*c", "acb", false),
            ("", "", true),
        ];
        for (pattern, name, expected) in table {
            assert_eq!(
                NamePattern::new(pattern).matches(name),
                expected,
                "{pattern} {name}"
            );
        }
    }

    #[test]
    fn an_allow_rule_takes_a_star_only_below_a_server() {
        for wrong in ["*", "B*", "mcp__*", "mcp__git*", "mcp____*"] {
            assert!(
                NamePattern::of_tool(wrong, Side::Permits).is_err(),
                "{wrong}"
            );
            assert!(
                NamePattern::of_tool(wrong, Side::Restricts).is_ok(),
                "{wrong}"
            );
        }
        assert!(NamePattern::of_tool("mcp__github__get_*", Side::Permits).is_ok());
    }

    #[test]
    fn a_server_stands_for_its_tools() {
        assert_eq!(
            known_as("mcp__a__x", Side::Permits),
            ["mcp__a__x", "mcp__a"]
        );
        assert_eq!(
            known_as("mcp__a__x__y", Side::Permits),
            ["mcp__a__x__y", "mcp__a"]
        );
        assert_eq!(
            known_as("mcp__a__x__y", Side::Restricts),
            ["mcp__a__x__y", "mcp__a", "mcp__a__x"]
        );
        assert_eq!(known_as("Read", Side::Restricts), ["Read"]);
    }
}
