//! Many path rules, compared with one path at once.
//!
//! What a rule costs is paid when it is compiled: the folders that a glob begins with are
//! part of the key that it is found by, and a name that may lie at any depth is looked up
//! by that name. Only what is left is compared glob by glob.

use super::Problem;
use super::path::{PathPattern, compile};
use globset::{Candidate, GlobSet, GlobSetBuilder};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Collects patterns.
#[derive(Debug, Clone, Default)]
pub(super) struct PathSetBuilder {
    by_root: BTreeMap<String, Vec<Entry>>,
}

/// One glob below a folder.
#[derive(Debug, Clone)]
struct Entry {
    glob: String,
    /// The number of its rule.
    rule: usize,
    /// Whether the folder is the root of the pattern, and not one that its glob began
    /// with: `a/*` stands for nothing that is `a` itself.
    at_root: bool,
}

/// Patterns compiled, by the folders they are anchored at.
#[derive(Debug, Clone, Default)]
pub(super) struct PathSet {
    /// By root, its case folded where the file system folds it.
    groups: BTreeMap<String, Group>,
    case_sensitive: bool,
}

#[derive(Debug, Clone)]
struct Group {
    set: GlobSet,
    /// The rule of each glob of the set, ascending.
    rules: Vec<usize>,
    /// Whether each may also stand for the folder itself.
    at_root: Vec<bool>,
    /// `**/name`, by the name.
    last: BTreeMap<String, Vec<usize>>,
    /// `**/name/**`, by the name.
    inside: BTreeMap<String, Vec<usize>>,
}

impl PathSetBuilder {
    /// Adds the pattern of rule number `rule`, at its root and wherever that really is.
    pub fn add(&mut self, pattern: &PathPattern, rule: usize, real: impl Fn(&str) -> String) {
        let mut roots = vec![pattern.root.clone(), real(&pattern.root)];
        roots.dedup();
        for root in roots {
            for glob in &pattern.globs {
                let (folder, rest) = split_literal(glob);
                let root = match folder {
                    "" => root.clone(),
                    folder if root == "/" => format!("/{folder}"),
                    folder => format!("{root}/{folder}"),
                };
                let globs = self.by_root.entry(root).or_default();
                globs.push(Entry {
                    glob: rest.to_owned(),
                    rule,
                    at_root: folder.is_empty(),
                });
            }
        }
    }

    pub fn build(self, case_sensitive: bool) -> Result<PathSet, Problem> {
        let mut folded: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
        for (root, globs) in self.by_root {
            let root = fold(&root, case_sensitive).into_owned();
            folded.entry(root).or_default().extend(globs);
        }
        let groups = folded
            .into_iter()
            .map(|(root, globs)| Ok((root, Group::new(globs, case_sensitive)?)))
            .collect::<Result<_, Problem>>()?;
        Ok(PathSet {
            groups,
            case_sensitive,
        })
    }
}

impl Group {
    fn new(mut globs: Vec<Entry>, case_sensitive: bool) -> Result<Group, Problem> {
        globs.sort_by_key(|entry| entry.rule);
        let mut builder = GlobSetBuilder::new();
        let mut rules = Vec::new();
        let mut at_root = Vec::new();
        let mut last: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut inside: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for entry in globs {
            let (glob, rule) = (&entry.glob, entry.rule);
            let below = glob.strip_prefix("**/");
            let folder = below.and_then(|rest| rest.strip_suffix("/**"));
            let of = |name: &str| fold(name, case_sensitive).into_owned();
            if let Some(name) = folder.filter(|name| is_name(name)) {
                inside.entry(of(name)).or_default().push(rule);
            } else if let Some(name) = below.filter(|name| is_name(name)) {
                last.entry(of(name)).or_default().push(rule);
            } else {
                builder.add(compile(glob, case_sensitive)?);
                rules.push(rule);
                at_root.push(entry.at_root);
            }
        }
        let set = builder
            .build()
            .map_err(|e| Problem::unusable(format!("paths that compile: {}", e.kind())))?;
        Ok(Group {
            set,
            rules,
            at_root,
            last,
            inside,
        })
    }

    /// Adds the rules that match `rest`, a path as seen from the root of the group.
    fn matching(&self, rest: &str, case_sensitive: bool, found: &mut Vec<usize>) {
        if !self.rules.is_empty() {
            let globs = self
                .set
                .matches_candidate(&Candidate::new(rest))
                .into_iter();
            let may = |glob: &usize| !rest.is_empty() || self.at_root.get(*glob) == Some(&true);
            found.extend(globs.filter(may).filter_map(|glob| self.rules.get(glob)));
        }
        if self.last.is_empty() && self.inside.is_empty() {
            return;
        }
        let rest = fold(rest, case_sensitive);
        let (folders, name) = rest.rsplit_once('/').unwrap_or(("", &rest));
        found.extend(self.last.get(name).into_iter().flatten());
        for folder in folders.split('/') {
            found.extend(self.inside.get(folder).into_iter().flatten());
        }
    }
}

impl PathSet {
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The rules that match `path`, ascending, without repeats. Absolute and normal.
    pub fn matching(&self, path: &str) -> Vec<usize> {
        let mut found = Vec::new();
        let mut at = |root: &str, rest: &str| {
            let root = fold(root, self.case_sensitive);
            if let Some(group) = self.groups.get(&*root) {
                group.matching(rest, self.case_sensitive, &mut found);
            }
        };
        if let Some(rest) = path.strip_prefix('/') {
            at("/", rest);
        }
        for (end, _) in path.match_indices('/').skip(1) {
            at(&path[..end], &path[end + 1..]);
        }
        if path.len() > 1 {
            at(path, "");
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// The folders that a glob begins with, and what is left of it. The folder just before a
/// `**` stays with it, because `a/**` does not stand for `a`.
fn split_literal(glob: &str) -> (&str, &str) {
    let mut end = 0;
    while let Some(at) = glob[end..].find('/') {
        let next = end + at + 1;
        let after = &glob[next..];
        if !is_name(&glob[end..next - 1]) || after == "**" || after.starts_with("**/") {
            break;
        }
        end = next;
    }
    (glob[..end].trim_end_matches('/'), &glob[end..])
}

/// Whether a glob is one name and stands for nothing but itself.
fn is_name(glob: &str) -> bool {
    !glob.is_empty() && !glob.contains(['*', '?', '[', ']', '{', '}', '\\', '/'])
}

fn fold(text: &str, case_sensitive: bool) -> Cow<'_, str> {
    match case_sensitive {
        true => Cow::Borrowed(text),
        false => Cow::Owned(text.to_lowercase()),
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
            ("a/*", "/p/sub/a", false, false),
            ("a/*", "/p/sub/a/b/c", true, true),
            ("a/b/**/c", "/p/sub/a/b/c", true, true),
            ("a/b/?", "/p/sub/a/b/c", true, true),
            ("//", "/x/y", true, true),
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
