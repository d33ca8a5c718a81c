//! The files below a folder, as Glob and Grep see them.

use super::target::{Foreseen, Target, missing, refused, resolve};
use super::{Footprint, Refusal, ToolCx};
use crate::rule::Paths;
use crate::sim::Resource;
use crate::words::Class;
use crate::world::{FileKind, Found, FsErrorKind, Meta};
use std::sync::Arc;

/// Folders in which version control keeps its own files: not looked into unless they
/// are where the search begins.
const VERSION_CONTROL: [&str; 5] = [".git", ".hg", ".svn", ".jj", ".bzr"];

/// One file below the folder of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Below {
    /// Relative to the folder, without a `/` in front.
    pub relative: String,
    /// Absolute, below the folder as the model wrote it.
    pub path: String,
    /// Absolute, below the folder's canonical path.
    pub canonical: Arc<str>,
    /// A symlink's is that of the file it leads to.
    pub meta: Meta,
}

/// What a search begins at.
pub(super) enum Base {
    Folder { target: Target, files: Vec<Below> },
    File { target: Target },
}

/// The files at or below `raw`, sorted by path.
///
/// A symlink to a file counts as a file under its own name; one to a folder is not
/// entered, and one that leads nowhere is left out. Saved results are never among them, and
/// what a rule denies to be read is not either (`semantics.md §1.1`).
pub(super) async fn find(cx: &ToolCx, raw: &str) -> Result<Base, Refusal> {
    let target = resolve(cx, raw).await?;
    let meta = match cx.world.stat(&target.canonical).await {
        Ok(meta) => meta,
        Err(e) if e.kind == FsErrorKind::NotFound => return Err(missing(cx, &target).await),
        Err(e) => return Err(refused(&target.path, &e)),
    };
    if meta.kind != FileKind::Dir {
        return Ok(Base::File { target });
    }
    let found = match cx.world.walk(&target.canonical).await {
        Ok(found) => found,
        Err(e) => return Err(refused(&target.path, &e)),
    };
    let results = format!("{}/", cx.env.results_dir);
    let hides = cx.env.rules.hides_any();
    let mut files = Vec::with_capacity(found.len());
    for Found { path, meta } in found {
        let relative = relative(&target.canonical, &path);
        if path.starts_with(&results) || in_version_control(relative) {
            continue;
        }
        let meta = match meta.kind {
            FileKind::Symlink => match cx.world.stat(&path).await {
                Ok(meta) if meta.kind == FileKind::File => meta,
                Ok(_) | Err(_) => continue,
            },
            FileKind::File | FileKind::Dir => meta,
        };
        let shown = join(&target.path, relative);
        if hides
            && cx
                .env
                .rules
                .hides(&paths(cx, &shown, &path).await)
                .is_some()
        {
            continue;
        }
        files.push(Below {
            relative: relative.to_owned(),
            path: shown,
            canonical: path,
            meta,
        });
    }
    Ok(Base::Folder { target, files })
}

/// A file as rules know it: by the name that it is shown under, and where that leads.
async fn paths(cx: &ToolCx, shown: &str, path: &str) -> Paths {
    Paths {
        spelled: shown.to_owned(),
        resolved: cx.world.canonical(path).await.ok(),
    }
}

/// What a search at `raw` reads.
pub(super) fn footprint(cx: &ToolCx, raw: &str) -> Footprint {
    let base = Foreseen::of(cx, raw);
    let mut reads = base.reads();
    if !base.is_file {
        reads.push(Resource::Subtree(base.canonical.as_str().into()));
    }
    Footprint::reads(reads)
}

/// The refusal of a search for files in what is a file itself.
pub(super) fn not_a_folder(target: &Target) -> Refusal {
    Refusal::new(
        Class::NotDirectory,
        format!(
            "{} is a file, not a folder. Give the folder to look in.",
            target.path
        ),
    )
}

/// `path` without the folder that it is in.
fn relative<'a>(folder: &str, path: &'a str) -> &'a str {
    path.strip_prefix(folder)
        .unwrap_or(path)
        .trim_start_matches('/')
}

fn join(folder: &str, relative: &str) -> String {
    if folder == "/" {
        format!("/{relative}")
    } else {
        format!("{folder}/{relative}")
    }
}

fn in_version_control(relative: &str) -> bool {
    let mut parts = relative.split('/');
    // The last part is the file itself.
    parts.next_back();
    parts.any(|part| VERSION_CONTROL.contains(&part))
}
