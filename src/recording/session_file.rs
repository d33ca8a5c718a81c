//! A session in one JSON object, with its transcript's lines under `loglines`.

use super::format::Format;
use super::recorded::Recording;
use super::source::Source;
use super::transcript;

/// Reads a session file.
pub(super) fn read<'a>(source: &'a Source<'_>) -> Recording<'a> {
    transcript::entries(source, Format::SessionFile)
}
