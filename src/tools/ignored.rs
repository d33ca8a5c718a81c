//! Which files `.gitignore` and `.ignore` files keep out of a search.

use super::ToolCx;
use super::below::Below;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::collections::BTreeMap;

/// The files that hold ignore rules; the rules of the first win over those of the second.
const FILES: [&str; 2] = [".ignore", ".gitignore"];

/// The rules of each folder, by its canonical path, for one kind of file.
type ByFolder = BTreeMap<String, Gitignore>;

/// The ignore rules that hold for a search.
pub(super) struct Ignored {
    /// In the order of [`FILES`].
    kinds: [ByFolder; 2],
    /// Where the search begins: rules decide about what is below it, not about itself.
    base: String,
    folders: BTreeMap<String, bool>,
}

impl Ignored {
    /// Reads the rule files among `files` and in the folders above `base`, up to the
    /// working folder if `base` is in it.
    pub async fn load(cx: &ToolCx, base: &str, files: &[Below]) -> Ignored {
        let mut kinds = [ByFolder::new(), ByFolder::new()];
        for (kind, name) in FILES.iter().enumerate() {
            let above = above(&cx.env.cwd, base)
                .into_iter()
                .map(|folder| join(&folder, name));
            let below = files
                .iter()
                .filter(|file| file.relative.rsplit('/').next() == Some(name))
                .map(|file| file.canonical.to_string());
            for path in above.chain(below) {
                if let Ok(content) = cx.world.read(&path).await {
                    let folder = folder_of(&path).to_owned();
                    let rules = rules(&folder, &content);
                    kinds[kind].insert(folder, rules);
                }
            }
        }
        Ignored {
            kinds,
            base: base.to_owned(),
            folders: BTreeMap::new(),
        }
    }

    /// Whether the file at a canonical path is kept out, by itself or by a folder it is in.
    pub fn is_ignored(&mut self, path: &str) -> bool {
        self.folder_is_ignored(folder_of(path)) || self.matches(path, false)
    }

    fn folder_is_ignored(&mut self, folder: &str) -> bool {
        if folder.len() <= self.base.len() {
            return false;
        }
        if let Some(known) = self.folders.get(folder) {
            return *known;
        }
        let ignored = self.folder_is_ignored(folder_of(folder)) || self.matches(folder, true);
        self.folders.insert(folder.to_owned(), ignored);
        ignored
    }

    /// The rule nearest to the path decides.
    fn matches(&self, path: &str, is_dir: bool) -> bool {
        for by_folder in &self.kinds {
            let mut folder = folder_of(path);
            loop {
                if let Some(rules) = by_folder.get(folder) {
                    let verdict = rules.matched(path, is_dir);
                    if !verdict.is_none() {
                        return verdict.is_ignore();
                    }
                }
                if folder == "/" {
                    break;
                }
                folder = folder_of(folder);
            }
        }
        false
    }
}

/// The folders from `base`'s parent up to `cwd`; none if `base` is not below `cwd`.
pub(super) fn above(cwd: &str, base: &str) -> Vec<String> {
    let inside = cwd == "/" || base.starts_with(&format!("{cwd}/"));
    let mut folders = Vec::new();
    let mut folder = base;
    while inside && folder != cwd && folder != "/" {
        folder = folder_of(folder);
        folders.push(folder.to_owned());
    }
    folders
}

/// The paths of the rule files above `base` that a search reads.
pub(super) fn rule_files_above(cwd: &str, base: &str) -> impl Iterator<Item = String> {
    above(cwd, base)
        .into_iter()
        .flat_map(|folder| FILES.map(|name| join(&folder, name)))
}

fn rules(folder: &str, content: &[u8]) -> Gitignore {
    let mut builder = GitignoreBuilder::new(folder);
    for line in String::from_utf8_lossy(content).lines() {
        // A line that is no pattern is none; the others hold.
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

fn folder_of(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) | None => "/",
        Some(at) => &path[..at],
    }
}

fn join(folder: &str, name: &str) -> String {
    if folder == "/" {
        format!("/{name}")
    } else {
        format!("{folder}/{name}")
    }
}
