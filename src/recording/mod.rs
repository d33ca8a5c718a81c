//! What a real runtime or client did, read from whatever file it left.
//!
//! [`Source`] makes the bytes readable and tells the format by content; [`read`]
//! turns them into one model, [`Recording`]: calls paired with their results, and
//! what was said, told and mended on the way. A line that cannot be read costs only
//! itself and is reported.

mod array;
mod builder;
mod calls;
mod chunk_list;
mod classify;
pub mod edit_effect;
mod evidence;
mod format;
mod hints;
mod knowledge;
mod known;
mod line;
mod lines;
mod note;
mod numbered;
mod raw;
mod reconstruct;
mod recorded;
mod sdk_capture;
mod session_file;
mod skim;
mod source;
mod stream_json;
mod structured;
pub mod text;
pub mod tool_name;
mod transcript;
mod turn_list;
mod world_path;
mod yaml;

pub use classify::{RecordedEnding, classify};
pub use evidence::{Before, Evidence, conclude, file_of};
pub use format::Format;
pub use knowledge::{InferredChange, Knowledge, KnownFile};
pub use known::{Agreement, Known, KnownLines, ShownLines};
pub use note::{LineComplaint, Repair, RepairKind};
pub use numbered::{NumberedLines, numbered_lines, numbered_runs};
pub use raw::Raw;
pub use reconstruct::{Happening, happenings};
pub use recorded::{
    Compaction, Counts, Entry, Hint, Interrupt, RecordedCall, RecordedResult, Recording, Speaker,
    Told, UserText, VersionFrom,
};
pub use source::Source;
pub use world_path::{Folders, has_drive};

/// Why a file is no recording.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    #[error("nothing in it\nhint: an import of nothing proves nothing; is this the right file?")]
    Empty,
    #[error(
        "a format that is not known, beginning `{found}`\nhint: transcripts (JSONL), stream-json, SDK captures, chunk lists and session files are read"
    )]
    Unknown { found: String },
}

/// Reads everything that is readable in `source`.
pub fn read<'a>(source: &'a Source<'_>) -> Recording<'a> {
    match source.format {
        Format::Transcript => transcript::read(source),
        Format::StreamJson => stream_json::read(source),
        Format::ChunkList => chunk_list::read(source),
        Format::SdkCapture => sdk_capture::read(source),
        Format::SessionFile => session_file::read(source),
        Format::TurnList => turn_list::read(source),
    }
}
