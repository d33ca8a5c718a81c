//! A trace as a file: JSONL, one event a line, long strings beside it.

use super::line::{Opening, Parsed, parse_line, write_line};
use super::{Blobs, Event, Level, Line, Trace, blob};
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The format that is written, and the newest that is read.
pub const FORMAT: u32 = 1;

/// The folder beside a trace that keeps its long strings, each in a file named by its
/// hash. Traces in one folder share it.
pub const BLOB_FOLDER: &str = "blobs";

/// What every line of a trace begins with, by which a torn first line is told from
/// a file of another kind.
const LINE_START: &[u8] = b"{\"seq\":";

/// A trace as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The lines, each with its line end.
    pub text: String,
    /// The long strings that the lines refer to, by hash.
    pub blobs: Blobs,
}

/// Why a file is no trace that can be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceFileError {
    /// `line` counts from 1.
    #[error("not a trace: line {line}: {what}")]
    Malformed { line: u64, what: String },
    #[error(
        "the trace has format {found}, but this version of rehearsal reads up to format {FORMAT}; read it with a newer version"
    )]
    Newer { found: u64 },
    #[error("failed to access {path}: {source}")]
    Io { path: String, source: io::Error },
}

/// A trace as it was read, and what could not be.
#[derive(Debug, Clone, Default)]
pub struct ReadTrace {
    pub trace: Trace,
    /// Whether the last line is `run_finished`. If not, the file was cut, and the
    /// trace holds what was whole of it.
    pub complete: bool,
    /// Bytes after the last whole line.
    pub torn_bytes: u64,
    /// How often each event occurs that this version does not know; they are left out.
    pub unknown_events: BTreeMap<String, u64>,
    /// Hashes of long strings that are not beside the trace, or are spoilt there. In
    /// the trace stands the reference in their place.
    pub missing_blobs: Vec<String>,
}

impl ReadTrace {
    /// What was not read, a sentence for each kind; empty if all was.
    pub fn complaints(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        if !self.complete {
            let torn = match self.torn_bytes {
                0 => String::new(),
                bytes => format!("; {bytes} bytes of a torn line are left out"),
            };
            complaints.push(format!(
                "the trace was cut: it ends without run_finished after {} events{torn}",
                self.trace.lines.len()
            ));
        }
        for (event, times) in &self.unknown_events {
            complaints.push(format!(
                "the event {event} is not known to this version; left out {times} times"
            ));
        }
        for hash in &self.missing_blobs {
            complaints.push(format!("the content {hash} is missing beside the trace"));
        }
        complaints
    }
}

/// Writes the lines of a trace that appear at `level`.
pub fn write_trace(trace: &Trace, level: Level) -> Written {
    /// About as long as lines are.
    const LINE_BYTES: usize = 192;
    let mut text = Vec::with_capacity(trace.lines.len() * LINE_BYTES);
    let mut blobs = Blobs::new();
    for line in trace.at_level(level) {
        let from = text.len();
        let may_hold = write_line(line, &mut text);
        if may_hold && let Some(shorter) = shortened(&text[from..], &mut blobs) {
            text.truncate(from);
            text.extend_from_slice(shorter.as_bytes());
        }
        text.push(b'\n');
    }
    // JSON is UTF-8, so nothing is lost here.
    let text = String::from_utf8(text)
        .unwrap_or_else(|odd| String::from_utf8_lossy(odd.as_bytes()).into_owned());
    Written { text, blobs }
}

/// The line without its long strings, if it has any.
fn shortened(line: &[u8], blobs: &mut Blobs) -> Option<String> {
    blob::store(&String::from_utf8_lossy(line), blobs)
}

/// Reads the bytes of a trace; `fetch` gives the long strings by hash.
///
/// A file that was cut anywhere, be it within a character, gives its whole lines.
/// Older formats are read, newer ones refused. Fields and events that are not known
/// are passed over.
pub fn read_trace(
    bytes: &[u8],
    mut fetch: impl FnMut(&str) -> Option<String>,
) -> Result<ReadTrace, TraceFileError> {
    let mut read = ReadTrace::default();
    let mut last_seq = None;
    let mut rest = bytes;
    let mut number = 0;
    while !rest.is_empty() {
        number += 1;
        let (line, ended) = match memchr::memchr(b'\n', rest) {
            Some(end) => (&rest[..end], true),
            None => (rest, false),
        };
        let malformed = |what: String| TraceFileError::Malformed { line: number, what };
        rest = rest.get(line.len() + 1..).unwrap_or_default();
        if number == 1 {
            check_opening(line, ended)?;
        }
        let parsed = match parse(line, &mut fetch, &mut read.missing_blobs) {
            Ok(parsed) => parsed,
            // No beginning of an object is an object, so a last line that is one is
            // whole even without its line end, and any other was torn.
            Err(_) if !ended && serde_json::from_slice::<IgnoredAny>(line).is_err() => {
                read.torn_bytes = line.len() as u64;
                break;
            }
            Err(what) => return Err(malformed(what)),
        };
        if read.complete {
            return Err(malformed("there is more after run_finished".to_owned()));
        }
        let seq = match &parsed {
            Parsed::Line(Line { seq, .. }) | Parsed::Unknown { seq, .. } => *seq,
        };
        if last_seq.is_some_and(|last| seq <= last) {
            return Err(malformed(format!("seq {seq} is out of order")));
        }
        last_seq = Some(seq);
        match parsed {
            Parsed::Line(line) => {
                read.complete = matches!(line.event, Event::RunFinished(_));
                read.trace.lines.push(line);
            }
            Parsed::Unknown { name, .. } => *read.unknown_events.entry(name).or_default() += 1,
        }
    }
    Ok(read)
}

/// Reads one line with its long strings.
fn parse(
    line: &[u8],
    fetch: &mut dyn FnMut(&str) -> Option<String>,
    missing: &mut Vec<String>,
) -> Result<Parsed, String> {
    let text = std::str::from_utf8(line).map_err(|e| e.to_string())?;
    let resolved = blob::resolve(text, fetch, missing);
    parse_line(resolved.as_deref().unwrap_or(text)).map_err(|e| match e.line() {
        // Of a line there is only one, so the column says where.
        1 => e.to_string().replace("line 1 column", "column"),
        _ => e.to_string(),
    })
}

/// Checks that the first line opens a trace of a format that is read.
fn check_opening(line: &[u8], ended: bool) -> Result<(), TraceFileError> {
    let malformed = |what: &str| {
        Err(TraceFileError::Malformed {
            line: 1,
            what: what.to_owned(),
        })
    };
    match serde_json::from_slice::<Opening>(line) {
        Ok(Opening { event, format }) => match format {
            _ if event != "run_started" => malformed("the first event is not run_started"),
            None => malformed("run_started has no format"),
            Some(found) if found > u64::from(FORMAT) => Err(TraceFileError::Newer { found }),
            Some(_) => Ok(()),
        },
        Err(error) if ended => malformed(&format!("no run_started: {error}")),
        // The beginning of a first line, or of something else?
        Err(_) => {
            let common = line.len().min(LINE_START.len());
            if line[..common] == LINE_START[..common] {
                Ok(())
            } else {
                malformed("no run_started")
            }
        }
    }
}

/// Writes a trace to a file, and its long strings to [`BLOB_FOLDER`] beside it.
pub fn save_trace(trace: &Trace, level: Level, path: &Path) -> Result<(), TraceFileError> {
    let Written { text, blobs } = write_trace(trace, level);
    if !blobs.is_empty() {
        let folder = path.with_file_name(BLOB_FOLDER);
        std::fs::create_dir_all(&folder).map_err(|e| access(&folder, e))?;
        // The strings first: a trace that is there refers to nothing that is not.
        for (hash, content) in blobs {
            let file = folder.join(hash);
            // The name is the content's, so what is there in full length is the same.
            let there = std::fs::metadata(&file).is_ok_and(|m| m.len() == content.len() as u64);
            if !there {
                std::fs::write(&file, content).map_err(|e| access(&file, e))?;
            }
        }
    }
    std::fs::write(path, text).map_err(|e| access(path, e))
}

/// Reads what [`save_trace`] wrote.
pub fn load_trace(path: &Path) -> Result<ReadTrace, TraceFileError> {
    let bytes = std::fs::read(path).map_err(|e| access(path, e))?;
    let folder = path.with_file_name(BLOB_FOLDER);
    read_trace(&bytes, |hash| {
        // A reference is what the file says: nothing but a hash may become a name.
        let is_hash = hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit());
        is_hash
            .then(|| std::fs::read_to_string(folder.join(hash)).ok())
            .flatten()
    })
}

fn access(path: &Path, source: io::Error) -> TraceFileError {
    TraceFileError::Io {
        path: path.display().to_string(),
        source,
    }
}
