//! Lists of a stream's messages, kept by a client library: a JSON array (or JSONL)
//! of `assistant` and `user` messages with their `parent_tool_use_id`, without session,
//! folder or version.

use super::format::Format;
use super::recorded::Recording;
use super::source::Source;
use super::transcript;

/// Reads a list of messages.
pub(super) fn read<'a>(source: &'a Source<'_>) -> Recording<'a> {
    transcript::entries(source, Format::ChunkList)
}
