//! What the command line prints with `--output-format stream-json`: JSONL, or the
//! same events as one JSON array; and the single object of `--output-format json`.
//!
//! The events are a transcript's entries with other names for a few fields: the
//! session, the folder and the mode stand in `system`/`init`, a nested agent is the
//! call that started it, denied calls are listed at the end (`observed.md §4.9`).

use super::format::Format;
use super::recorded::Recording;
use super::source::Source;
use super::transcript;

/// Reads a stream's events.
pub(super) fn read<'a>(source: &'a Source<'_>) -> Recording<'a> {
    transcript::entries(source, Format::StreamJson)
}
