//! Many path rules, compared with one path at once.

use super::Problem;
use super::path::{PathPattern, compile};
use globset::{Candidate, GlobSet, GlobSetBuilder};
use std::collections::BTreeMap;

/// Collects patterns.
#[derive(Debug, Clone, Default)]
pub(super) struct PathSetBuilder {
    /// By root: globs, each with the number of its rule.
    by_root: BTreeMap<String, Vec<(String, usize)>>,
}

/// Patterns compiled, by the folders they are anchored at.
#[derive(Debug, Clone, Default)]
pub(super) struct PathSet {
    groups: Vec<Group>,
    case_sensitive: bool,
}

#[derive(Debug, Clone)]
struct Group {
    root: String,
    set: GlobSet,
    /// The rule of each glob of the set, ascending.
    rules: Vec<usize>,
}

impl PathSetBuilder {
    /// Adds the pattern of rule number `rule`, at its root and wherever that really is.
    pub fn add(&mut self, pattern: &PathPattern, rule: usize, real: impl Fn(&str) -> String) {
        let mut roots = vec![pattern.root.clone(), real(&pattern.root)];
        roots.dedup();
        for root in roots {
            let globs = self.by_root.entry(root).or_default();
            globs.extend(pattern.globs.iter().map(|glob| (glob.clone(), rule)));
        }
    }

    pub fn build(self, case_sensitive: bool) -> Result<PathSet, Problem> {
        let mut groups = Vec::new();
        for (root, mut globs) in self.by_root {
            globs.sort_by_key(|(_, rule)| *rule);
            let mut builder = GlobSetBuilder::new();
            let mut rules = Vec::new();
            for (glob, rule) in globs {
                builder.add(compile(&glob, case_sensitive)?);
                rules.push(rule);
            }
            let set = builder
                .build()
                .map_err(|e| Problem::unusable(format!("paths that compile: {}", e.kind())))?;
            groups.push(Group { root, set, rules });
        }
        Ok(PathSet {
            groups,
            case_sensitive,
        })
    }
}

impl PathSet {
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The rules that match `path`, ascending, without repeats. Absolute and normal.
    pub fn matching(&self, path: &str) -> Vec<usize> {
        let mut found = Vec::new();
        for group in &self.groups {
            if let Some(rest) = below(&group.root, path, self.case_sensitive) {
                let globs = group.set.matches_candidate(&Candidate::new(rest));
                found.extend(globs.into_iter().map(|glob| group.rules[glob]));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// `path` as seen from `root`, empty for the root itself; `None` if it is not below.
pub fn below<'p>(root: &str, path: &'p str, case_sensitive: bool) -> Option<&'p str> {
    if root == "/" {
        return path.strip_prefix('/');
    }
    let mut rest = path;
    for part in root.split('/').skip(1) {
        rest = rest.strip_prefix('/')?;
        let end = rest.find('/').unwrap_or(rest.len());
        let same = match case_sensitive {
            true => &rest[..end] == part,
            false => rest[..end].to_lowercase() == part.to_lowercase(),
        };
        if !same {
            return None;
        }
        rest = &rest[end..];
    }
    Some(rest.strip_prefix('/').unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use super::super::Side;
    use super::super::path::Folders;
    use super::*;

    const FOLDERS: Folders<'_> = Folders {
        cwd: "/p/sub",
        home: "/home/u",
        source: "/p",
    };

    fn matches(rule: &str, side: Side, path: &str) -> bool {
        let pattern = PathPattern::new(rule, side, &FOLDERS).unwrap();
        let mut builder = PathSetBuilder::default();
        builder.add(&pattern, 0, str::to_owned);
        !builder.build(true).unwrap().matching(path).is_empty()
    }

    #[test]
    fn anchors_and_depths() {
        // rule, path, whether a deny matches, whether an allow matches
        let table = [
            ("//etc/passwd", "/etc/passwd", true, true),
            ("//dev/**", "/home/u/dev/proj/a.txt", false, false),
            ("//dev/**", "/dev/null0", true, true),
            ("//dev/**", "/dev", true, false),
            ("~/.ssh/**", "/home/u/.ssh/id_rsa", true, true),
            ("~/.zshrc", "/home/u/.zshrc", true, true),
            ("~/.zshrc", "/home/u/a/.zshrc", false, false),
            ("~", "/home/u/x/y", true, true),
            ("/src/**", "/p/src/a/b", true, true),
            ("/src/**", "/p/sub/src/a", false, false),
            ("/.env", "/p/.env", true, true),
            ("/.env", "/p/a/.env", false, false),
            ("./.env", "/p/sub/.env", true, true),
            ("./.env", "/p/sub/a/.env", false, false),
            (".env", "/p/sub/.env", true, true),
            (".env", "/p/sub/a/b/.env", true, true),
            (".env", "/p/.env", false, false),
            ("**/.env*", "/p/sub/a/.env.local", true, true),
            ("**/.env", "/p/sub/.env", true, true),
            ("*.key", "/p/sub/a/x.key", true, true),
            ("*", "/anything/at/all", true, true),
            ("**", "/p/sub/a/b", true, true),
            ("**", "/p/a", false, false),
            ("secrets", "/p/sub/a/secrets/b/c", true, true),
            ("secrets/", "/p/sub/secrets/b", true, true),
            ("secrets/", "/p/sub/secrets", true, false),
            ("docs/a.md", "/p/sub/docs/a.md", true, true),
            ("docs/a.md", "/p/sub/x/docs/a.md", false, false),
            ("docs/private/**", "/p/sub/docs/private/x/y", true, true),
            ("docs/private/**", "/p/sub/docs/private", true, false),
            ("docs/private/**", "/p/sub/a/docs/private/x", false, false),
            // One segment before the `/**`: at any depth for a deny, only here for an allow.
            ("node_modules/**", "/p/sub/node_modules/x", true, true),
            ("node_modules/**", "/p/sub/a/node_modules/x", true, false),
            ("../lib/*.rs", "/p/lib/a.rs", true, true),
            ("../lib/*.rs", "/p/lib/b/a.rs", false, false),
            ("a/../b", "/p/sub/b", true, true),
            ("a*b", "/p/sub/a/b", false, false),
            ("a**b", "/p/sub/axxb", true, true),
            ("{a,b}", "/p/sub/a", false, false),
            ("{a,b}", "/p/sub/{a,b}", true, true),
            ("[ab].c", "/p/sub/b.c", true, true),
            (r"\!x", "/p/sub/!x", true, true),
            ("#x", "/p/sub/#x", true, true),
            ("a/*/c", "/p/sub/a/b/c", true, true),
            ("a/*/c", "/p/sub/a/b/b/c", false, false),
            ("a/**/c", "/p/sub/a/c", true, true),
        ];
        for (rule, path, deny, allow) in table {
            assert_eq!(
                matches(rule, Side::Restricts, path),
                deny,
                "deny {rule} {path}"
            );
            assert_eq!(
                matches(rule, Side::Permits, path),
                allow,
                "allow {rule} {path}"
            );
        }
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for rule in [
            "!a",
            "C:\\Users\\m\\*.json",
            "c:/x",
            "\\\\srv\\x",
            "~bob/x",
            "*/../x",
            "[a",
        ] {
            assert!(
                PathPattern::new(rule, Side::Restricts, &FOLDERS).is_err(),
                "{rule}"
            );
        }
    }

    #[test]
    fn one_slash_that_looks_like_the_root_is_remarked_on() {
        let pattern = PathPattern::new("/home/me/.ssh/**", Side::Restricts, &FOLDERS).unwrap();
        let remark = pattern.remark.unwrap();
        assert_eq!(
            remark.hint.as_deref(),
            Some("for the absolute path write `//home/me/.ssh/**`")
        );
        let plain = PathPattern::new("/src/**", Side::Restricts, &FOLDERS).unwrap();
        assert_eq!(plain.remark, None);
    }

    #[test]
    fn case_counts_where_the_file_system_counts_it() {
        let pattern = PathPattern::new("~/.ssh/**", Side::Restricts, &FOLDERS).unwrap();
        let mut builder = PathSetBuilder::default();
        builder.add(&pattern, 0, str::to_owned);
        let path = "/home/U/.SSH/id_rsa";
        assert!(
            builder
                .clone()
                .build(true)
                .unwrap()
                .matching(path)
                .is_empty()
        );
        assert_eq!(builder.build(false).unwrap().matching(path), [0]);
    }
}
