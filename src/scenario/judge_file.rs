//! What the world's files came to against what was expected of them.

use super::definition::Scenario;
use super::expectation::{ExpectedFile, FileFact, FileIs};
use super::file_spec::{Content, FileContent};
use super::judge::Failure;
use super::node::quoted;
use crate::world::{FileKind, Fs, FsError, FsErrorKind};

/// What is wrong with one path.
pub(super) fn judge_file(
    scenario: &Scenario,
    fs: &dyn Fs,
    expected: &ExpectedFile,
) -> Vec<Failure> {
    let path = &expected.path;
    let wrong = |wanted: &str, found: &str| {
        vec![Failure {
            what: format!("file {path}"),
            expected: wanted.to_owned(),
            found: found.to_owned(),
            at: Some(expected.at.clone()),
        }]
    };
    let facts = match (&expected.is, fs.lstat(path)) {
        (FileIs::Absent, Err(_)) => return Vec::new(),
        (FileIs::Absent, Ok(meta)) => return wrong("nothing there", kind_word(meta.kind)),
        (FileIs::There(_), Err(error)) => return wrong("it to be there", error.kind.as_str()),
        (FileIs::There(facts), Ok(_)) => facts,
    };
    facts
        .iter()
        .filter_map(|fact| {
            let (what, wanted, found) = check(fs, path, &fact.value, scenario).err()?;
            Some(Failure {
                what: format!("file {path}: {what}"),
                expected: wanted,
                found,
                at: Some(fact.at.clone()),
            })
        })
        .collect()
}

/// What was looked at, expected and found.
type Wrong = (&'static str, String, String);

/// Whether one fact is so of a path.
fn check(fs: &dyn Fs, path: &str, fact: &FileFact, scenario: &Scenario) -> Result<(), Wrong> {
    match fact {
        FileFact::Content(content) => same_content(fs, path, content),
        FileFact::Unchanged => match scenario.files.get(path).map(|spec| &spec.content) {
            Some(FileContent::File(content)) => same_content(fs, path, content),
            Some(FileContent::Symlink(target)) => same_target(fs, path, target),
            Some(FileContent::Sparse(size)) => same_size(fs, path, *size),
            Some(FileContent::Dir) => is_folder(fs, path),
            None => Err((
                "content",
                "what it was at the beginning".to_owned(),
                "a file that was not there then".to_owned(),
            )),
        },
        FileFact::Contains(text) => holds(fs, path, text, true),
        FileFact::Lacks(text) => holds(fs, path, text, false),
        FileFact::Size(size) => same_size(fs, path, *size),
        FileFact::Symlink(target) => same_target(fs, path, target),
        FileFact::Dir => is_folder(fs, path),
        FileFact::Mode(mode) => {
            let octal = |mode: u32| format!("{mode:03o}");
            same("mode", octal(*mode), fs.stat(path).map(|m| octal(m.mode)))
        }
    }
}

fn same(what: &'static str, wanted: String, found: Result<String, FsError>) -> Result<(), Wrong> {
    let found = found.unwrap_or_else(|error| error.kind.as_str().to_owned());
    if wanted == found {
        return Ok(());
    }
    Err((what, wanted, found))
}

fn same_target(fs: &dyn Fs, path: &str, target: &str) -> Result<(), Wrong> {
    same("target", target.to_owned(), fs.read_link(path))
}

fn same_size(fs: &dyn Fs, path: &str, size: u64) -> Result<(), Wrong> {
    same(
        "size",
        size.to_string(),
        fs.stat(path).map(|m| m.size.to_string()),
    )
}

fn is_folder(fs: &dyn Fs, path: &str) -> Result<(), Wrong> {
    let found = fs.lstat(path).map(|m| kind_word(m.kind).to_owned());
    same("kind", kind_word(FileKind::Dir).to_owned(), found)
}

fn holds(fs: &dyn Fs, path: &str, text: &str, must: bool) -> Result<(), Wrong> {
    let wanted = match must {
        true => format!("it to hold {}", quoted(text)),
        false => format!("it not to hold {}", quoted(text)),
    };
    match fs.read(path) {
        Ok(bytes) if String::from_utf8_lossy(&bytes).contains(text) == must => Ok(()),
        Ok(bytes) => Err(("content", wanted, shown_bytes(&bytes))),
        Err(error) => Err(("content", wanted, error.kind.as_str().to_owned())),
    }
}

fn same_content(fs: &dyn Fs, path: &str, content: &Content) -> Result<(), Wrong> {
    let wanted = content.bytes();
    match fs.read(path) {
        Ok(found) if found == wanted => Ok(()),
        Ok(found) => {
            let from = first_difference(&wanted, &found);
            Err((
                "content",
                shown_from(&wanted, from),
                shown_from(&found, from),
            ))
        }
        Err(FsError {
            kind: FsErrorKind::TooLarge,
            ..
        }) => Err((
            "content",
            shown_bytes(&wanted),
            "a file too large to be compared".to_owned(),
        )),
        Err(error) => Err((
            "content",
            shown_bytes(&wanted),
            error.kind.as_str().to_owned(),
        )),
    }
}

/// The first byte at which two contents differ.
fn first_difference(a: &[u8], b: &[u8]) -> usize {
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    same.min(a.len()).min(b.len())
}

/// A content around a byte, in quotes.
fn shown_from(bytes: &[u8], from: usize) -> String {
    /// What is shown of what both contents begin with.
    const BEFORE: usize = 20;
    let mut start = from.saturating_sub(BEFORE);
    // Do not begin within a character.
    while start > 0 && bytes.get(start).is_some_and(|b| (b & 0xC0) == 0x80) {
        start -= 1;
    }
    let text = shown_bytes(bytes.get(start..).unwrap_or_default());
    if start == 0 {
        return text;
    }
    format!("…{text} (from byte {start})")
}

fn shown_bytes(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => shown(text),
        Err(_) => shown(&String::from_utf8_lossy(bytes)),
    }
}

/// A text in quotes, cut if it is long.
pub(super) fn shown(text: &str) -> String {
    const SHOWN_CHARS: usize = 200;
    match text.char_indices().nth(SHOWN_CHARS) {
        None => format!("{text:?}"),
        Some((cut, _)) => format!("{:?}… ({} bytes)", &text[..cut], text.len()),
    }
}

fn kind_word(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "a file",
        FileKind::Dir => "a folder",
        FileKind::Symlink => "a symbolic link",
    }
}
