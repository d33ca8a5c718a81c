//! The files of a scenario's world and the contents that somebody writes.

use super::complaint::{Complaint, Place};
use super::fields::{MAX_INT, Reader, bad_form};
use super::keys;
use super::node::{Data, Node, quoted, ticked};
use crate::world::{Bytes, MemoryFs, MemoryOptions};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The most bytes that one `repeat` may make.
pub const MAX_REPEATED_BYTES: u64 = 1 << 30;

/// What is at a path of the world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSpec {
    pub content: FileContent,
    /// Permission bits; the file system's default if not given.
    pub mode: Option<u32>,
    /// Milliseconds since 1970; the start time if not given.
    pub mtime_unix_ms: Option<i64>,
    pub at: Place,
}

/// What a path holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileContent {
    File(Content),
    /// So many bytes of zeros that take no room.
    Sparse(u64),
    /// The target as written in the link.
    Symlink(String),
    Dir,
}

/// Bytes that somebody writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    Bytes(Bytes),
    /// `text` so many times.
    Repeat {
        text: String,
        times: u64,
    },
}

impl Content {
    pub fn text(text: &str) -> Content {
        Content::Bytes(text.as_bytes().into())
    }

    /// The bytes themselves; at most [`MAX_REPEATED_BYTES`].
    pub fn bytes(&self) -> Bytes {
        match self {
            Content::Bytes(bytes) => bytes.clone(),
            Content::Repeat { text, times } => {
                let times = usize::try_from(*times).unwrap_or(usize::MAX);
                text.as_bytes().repeat(times).into()
            }
        }
    }
}

/// Reads `files`: paths from `cwd`, each once, none below a file.
pub(super) fn read_files(r: &mut Reader, node: &Node, cwd: &str) -> BTreeMap<String, FileSpec> {
    let mut files: BTreeMap<String, FileSpec> = BTreeMap::new();
    for entry in r.map(node, "paths and contents").unwrap_or_default() {
        let path = crate::world::normalize(cwd, &entry.key);
        let folder = entry.key.ends_with('/');
        let Some(spec) = read_file(r, &entry.value, folder) else {
            continue;
        };
        if let Some(other) = files.get(&path) {
            let line = other.at.line;
            r.complain(
                Complaint::error(
                    &entry.key_at,
                    format!("{path} a second time"),
                    "every file once",
                )
                .hint(format!("the first is in line {line}")),
            );
            continue;
        }
        files.insert(path, spec);
    }
    for (path, spec) in &files {
        let mut above = path.as_str();
        while let Some((folder, _)) = above.rsplit_once('/') {
            if let Some(FileSpec {
                content: FileContent::File(_) | FileContent::Sparse(_),
                ..
            }) = files.get(folder)
            {
                r.complain(Complaint::error(
                    &spec.at,
                    format!("{path} below the file {folder}"),
                    "a folder above it",
                ));
                break;
            }
            above = folder;
        }
    }
    files
}

/// The permission bits of a file or folder that says nothing else.
const FILE_MODE: u32 = 0o644;
const FOLDER_MODE: u32 = 0o755;

/// A file system with `files` and the folder `cwd` in it.
pub(super) fn prepare(
    r: &mut Reader,
    files: &BTreeMap<String, FileSpec>,
    options: MemoryOptions,
    cwd: &str,
    start_unix_ms: i64,
) -> MemoryFs {
    let fs = MemoryFs::new(options);
    // Cannot fail: the root is empty, and `cwd` is absolute and normal.
    let _ = fs.put_dir(cwd, FOLDER_MODE, start_unix_ms);
    for (path, spec) in files {
        let mtime = spec.mtime_unix_ms.unwrap_or(start_unix_ms);
        let mode = spec.mode.unwrap_or(FILE_MODE);
        let put = match &spec.content {
            FileContent::File(content) => fs.put_file(path, content.bytes(), mode, mtime),
            FileContent::Sparse(size) => fs.put_sparse(path, *size, &[], mode, mtime),
            FileContent::Symlink(target) => fs.put_symlink(path, target, mtime),
            FileContent::Dir => fs.put_dir(path, spec.mode.unwrap_or(FOLDER_MODE), mtime),
        };
        if let Err(error) = put {
            r.complain(Complaint::error(
                &spec.at,
                format!("{path}, which cannot be put there: {}", error.kind.as_str()),
                "a file that fits into the world",
            ));
        }
    }
    fs
}

fn read_file(r: &mut Reader, node: &Node, folder: bool) -> Option<FileSpec> {
    let at = node.at.clone();
    let plain = |content| FileSpec {
        content,
        mode: None,
        mtime_unix_ms: None,
        at: at.clone(),
    };
    match &node.data {
        Data::Null if folder => return Some(plain(FileContent::Dir)),
        Data::Map(_) => {}
        _ if folder => {
            r.complain(
                Complaint::error(&node.at, node.describe(), "{} or {mode: …}, for a folder")
                    .hint("drop the / at the end of the path if a file is meant"),
            );
            return None;
        }
        _ => {
            let text = r.text_as(node, "a text, the content, or a map")?;
            return Some(plain(FileContent::File(Content::text(&text))));
        }
    }
    let mut f = r.fields(node, &keys::FILE)?;
    if folder {
        f.only_one(
            r,
            &["dir", "content", "repeat", "size", "base64", "symlink"],
            false,
        );
    } else {
        f.only_one(
            r,
            &["content", "repeat", "size", "base64", "symlink", "dir"],
            true,
        );
    }
    let written = read_content_keys(r, &mut f);
    let size = f.get("size").and_then(|n| r.int(n, 0, MAX_INT));
    let symlink = f.text(r, "symlink");
    let dir = f.get("dir").map(|n| (r.bool(n), n));
    let mode = f.get("mode").and_then(|n| read_mode(r, n));
    let mtime_unix_ms = f.get("mtime").and_then(|n| read_time(r, n));
    f.done();
    let content = match (written, size, symlink, dir) {
        (Some(content), ..) if !folder => FileContent::File(content),
        (None, Some(size), ..) if !folder => FileContent::Sparse(size),
        (None, None, Some(target), _) if !folder => FileContent::Symlink(target),
        (None, None, None, Some((Some(false), n))) => {
            r.complain(Complaint::error(
                &n.at,
                "dir: false",
                "dir: true, or a content",
            ));
            return None;
        }
        (None, None, None, Some((Some(true), _))) => FileContent::Dir,
        (None, None, None, None) if folder => FileContent::Dir,
        (None, None, None, _) => return None,
        _ => {
            r.complain(
                Complaint::error(
                    &node.at,
                    "a content for a folder",
                    "`mode` or `mtime` at most",
                )
                .hint("drop the / at the end of the path if a file is meant"),
            );
            return None;
        }
    };
    Some(FileSpec {
        content,
        mode,
        mtime_unix_ms,
        at: node.at.clone(),
    })
}

/// `content`, `repeat` with `times`, `base64`.
fn read_content_keys(r: &mut Reader, f: &mut super::fields::Fields<'_>) -> Option<Content> {
    let text = f.text(r, "content");
    let repeat = f.text(r, "repeat");
    let times_at = f.get("times");
    let times = times_at.and_then(|n| r.int(n, 0, MAX_INT));
    let base64 = f.get("base64").and_then(|n| read_base64(r, n));
    if let (Some(node), None) = (times_at, f.get("repeat")) {
        r.complain(Complaint::error(
            &node.at,
            "`times` without `repeat`",
            "a text to repeat",
        ));
    }
    match (text, repeat, base64) {
        (Some(text), ..) => Some(Content::text(&text)),
        (None, Some(text), _) => {
            let Some(times) = times else {
                if times_at.is_none() {
                    r.complain(Complaint::error(
                        &f.at,
                        "`repeat` without `times`",
                        "how many times",
                    ));
                }
                return None;
            };
            let bytes = (text.len() as u64).saturating_mul(times);
            if bytes > MAX_REPEATED_BYTES {
                r.complain(
                    Complaint::error(
                        &f.at,
                        format!("a content of {bytes} bytes"),
                        format!("at most {MAX_REPEATED_BYTES}"),
                    )
                    .hint("`size` makes a sparse file of any size"),
                );
                return None;
            }
            Some(Content::Repeat { text, times })
        }
        (None, None, bytes) => bytes.map(Content::Bytes),
    }
}

/// A text, or a map that makes one.
pub(super) fn read_content(r: &mut Reader, node: &Node) -> Option<Content> {
    if !matches!(node.data, Data::Map(_)) {
        return r
            .text_as(node, "a text, the content, or a map")
            .map(|text| Content::text(&text));
    }
    let mut f = r.fields(node, &keys::CONTENT)?;
    f.only_one(r, &["content", "repeat", "base64"], true);
    let content = read_content_keys(r, &mut f);
    f.done();
    content
}

/// Paths and what is written to them; from `cwd`, or from wherever they will be used.
pub(super) fn read_written(
    r: &mut Reader,
    node: Option<&Node>,
    cwd: Option<&str>,
) -> BTreeMap<String, Content> {
    let Some(node) = node else {
        return BTreeMap::new();
    };
    let mut written = BTreeMap::new();
    for entry in r.map(node, "paths and contents").unwrap_or_default() {
        let path = match cwd {
            Some(cwd) => crate::world::normalize(cwd, &entry.key),
            None => entry.key.clone(),
        };
        let content = read_content(r, &entry.value);
        match (written.entry(path), content) {
            (Slot::Occupied(taken), _) => r.complain(Complaint::error(
                &entry.key_at,
                format!("{} a second time", taken.key()),
                "every file once",
            )),
            (Slot::Vacant(free), Some(content)) => {
                free.insert(content);
            }
            (Slot::Vacant(_), None) => {}
        }
    }
    written
}

/// One path or a list of paths, from `cwd`.
pub(super) fn read_paths(r: &mut Reader, node: Option<&Node>, cwd: &str) -> Vec<String> {
    let Some(node) = node else {
        return Vec::new();
    };
    r.one_or_many(node)
        .iter()
        .filter_map(|n| r.text_as(n, "a path"))
        .map(|path| crate::world::normalize(cwd, &path))
        .collect()
}

pub(super) fn read_mode(r: &mut Reader, node: &Node) -> Option<u32> {
    let text = r.text_as(node, "permission bits in quotes, as in \"755\"")?;
    let octal = (3..=4).contains(&text.len()) && text.bytes().all(|b| (b'0'..=b'7').contains(&b));
    if let (true, Ok(mode)) = (octal, u32::from_str_radix(&text, 8)) {
        return Some(mode);
    }
    bad_form(
        r,
        node,
        &text,
        "permission bits as three or four octal digits",
        "as in \"755\"",
    );
    None
}

/// A point in time, in milliseconds since 1970.
pub(super) fn read_time(r: &mut Reader, node: &Node) -> Option<i64> {
    let text = r.text_as(node, "a time as in 2026-01-01T00:00:00Z")?;
    let parsed = OffsetDateTime::parse(&text, &Rfc3339).ok();
    let ms = parsed.and_then(|t| i64::try_from(t.unix_timestamp_nanos() / 1_000_000).ok());
    if ms.is_none() {
        bad_form(
            r,
            node,
            &text,
            "a time as RFC 3339 writes it",
            "as in 2026-01-01T00:00:00Z",
        );
    }
    ms
}

pub(super) fn read_base64(r: &mut Reader, node: &Node) -> Option<Bytes> {
    use base64::Engine;
    let text = r.text_as(node, "base64 in quotes")?;
    let compact: String = text.split_ascii_whitespace().collect();
    match base64::engine::general_purpose::STANDARD.decode(compact) {
        Ok(bytes) => Some(bytes.into()),
        Err(error) => {
            let complaint = Complaint::error(&node.at, quoted(&text), "base64 with padding");
            r.complain(complaint.hint(error.to_string()));
            None
        }
    }
}

/// The absolute path of a folder to work in.
pub(super) fn read_cwd(r: &mut Reader, node: &Node) -> Option<String> {
    let text = r.text_as(node, "an absolute path")?;
    if text.starts_with('/') {
        return Some(crate::world::normalize("/", &text));
    }
    bad_form(
        r,
        node,
        &text,
        "an absolute path",
        &format!("write {}", ticked(&format!("/{text}"))),
    );
    None
}
