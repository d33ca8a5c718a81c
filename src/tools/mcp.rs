//! The names under which the tools of MCP servers are offered (`semantics.md §6`).

use super::McpOrigin;
use super::lookup::normalized;
use std::collections::{BTreeMap, BTreeSet};

/// The longest name that every part of the API takes, in characters.
const NAME_CHARS_MAX: usize = 64;
/// How many hex digits of a hash tell names apart that would be the same, at least.
const HASH_DIGITS: usize = 8;
/// So many more, where so few do not.
const HASH_DIGITS_MORE: usize = 8;

/// `mcp__{server}__{tool}`, every other character than letters, digits, `_` and `-` made `_`.
pub(super) fn plain_name(server: &str, tool: &str) -> String {
    format!("mcp__{}__{}", normalized(server), normalized(tool))
}

/// The offered name of each (server, tool): the plain one where it is short enough and
/// nobody else has it, else cut and with a hash of the raw names at its end, so that two
/// tools never share a name. What is given and its order do not matter to the result.
///
/// Of those that would share a name, one whose raw names are already plain keeps it.
pub fn mcp_names<'a>(
    tools: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> BTreeMap<(&'a str, &'a str), String> {
    let mut by_plain: BTreeMap<String, Vec<(&str, &str)>> = BTreeMap::new();
    for (server, tool) in tools {
        let same = by_plain.entry(plain_name(server, tool)).or_default();
        if !same.contains(&(server, tool)) {
            same.push((server, tool));
        }
    }
    let mut names = BTreeMap::new();
    let mut taken = BTreeSet::new();
    let mut others: Vec<(String, (&str, &str))> = Vec::new();
    for (plain, same) in by_plain {
        let is_plain = |(server, tool): &&(&str, &str)| {
            normalized(server) == *server && normalized(tool) == *tool
        };
        let keeper = match &same[..] {
            [only] => Some(*only),
            several => several.iter().find(is_plain).copied(),
        };
        for key in same {
            if plain.len() <= NAME_CHARS_MAX && Some(key) == keeper {
                taken.insert(plain.clone());
                names.insert(key, plain.clone());
            } else {
                others.push((plain.clone(), key));
            }
        }
    }
    // A name with a hash may be the plain one of another tool, or of few digits the same
    // as another's: those that keep theirs come first, and the rest in their order.
    others.sort_unstable();
    for (plain, key) in others {
        let name = free(&plain, key, &taken);
        taken.insert(name.clone());
        names.insert(key, name);
    }
    names
}

/// The name with a hash that nobody has yet.
fn free(plain: &str, (server, tool): (&str, &str), taken: &BTreeSet<String>) -> String {
    let mut text = format!("{server}\0{tool}");
    loop {
        let hash = blake3::hash(text.as_bytes()).to_hex();
        let digits = (HASH_DIGITS..NAME_CHARS_MAX / 2).step_by(HASH_DIGITS_MORE);
        for digits in digits {
            // Plain names are ASCII.
            let head = &plain[..plain.len().min(NAME_CHARS_MAX - digits - 1)];
            let name = format!("{head}_{}", &hash[..digits]);
            if !taken.contains(&name) {
                return name;
            }
        }
        text.push('\0');
    }
}

/// `mcp__{server}__{tool}` as the server has them, where that cannot be the name of any
/// tool that is offered: rules and calls by it mean this tool and no other.
pub(super) fn raw_name(origin: &McpOrigin) -> Option<String> {
    let raw = format!("mcp__{}__{}", origin.server, origin.tool);
    let cannot = raw.len() > NAME_CHARS_MAX || normalized(&raw) != raw;
    cannot.then_some(raw)
}

/// Why the tool of an MCP server goes by another name than its server's and its own make
/// up, if it does.
pub(super) fn why_renamed(name: &str, origin: &McpOrigin) -> Option<String> {
    let (server, tool) = (&origin.server, &origin.tool);
    let plain = plain_name(server, tool);
    if name == format!("mcp__{server}__{tool}") {
        return None;
    }
    Some(if plain.len() > NAME_CHARS_MAX {
        format!("a name has at most {NAME_CHARS_MAX} characters")
    } else if name == plain {
        "a name has only letters, digits, _ and -".to_owned()
    } else {
        format!("another tool would be called {plain} too")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(tools: &[(&'static str, &'static str)]) -> Vec<String> {
        let map = mcp_names(tools.iter().copied());
        tools.iter().map(|key| map[key].clone()).collect()
    }

    #[test]
    fn names_are_normalised() {
        assert_eq!(
            names(&[
                ("my server.v2", "weather.get"),
                ("a", "getUser"),
                ("a", "GETUSER")
            ]),
            [
                "mcp__my_server_v2__weather_get",
                "mcp__a__getUser",
                "mcp__a__GETUSER"
            ]
        );
    }

    #[test]
    fn colliding_names_stay_apart_whatever_the_order() {
        // B141, B142: the plain one keeps its name.
        let tools = [
            ("s", "catalog.query"),
            ("s", "catalog_query"),
            ("s", "catalog/query"),
        ];
        let there = names(&tools);
        assert_eq!(there[1], "mcp__s__catalog_query");
        assert!(there[0].starts_with("mcp__s__catalog_query_") && there[0] != there[2]);
        let mut back = tools;
        back.reverse();
        let mut reversed = names(&back);
        reversed.reverse();
        assert_eq!(reversed, there);
        // B143: nothing to normalise to.
        let there = names(&[("阿里巴巴", "x"), ("@@@@", "x")]);
        assert!(there[0] != there[1]);
    }

    #[test]
    fn no_name_is_too_long() {
        // B139.
        let long = "x".repeat(80);
        let longer = "x".repeat(81);
        let map = mcp_names([("s", long.as_str()), ("s", longer.as_str())]);
        let all: Vec<&String> = map.values().collect();
        assert!(all.iter().all(|name| name.len() == NAME_CHARS_MAX));
        assert_ne!(all[0], all[1]);
    }
}
