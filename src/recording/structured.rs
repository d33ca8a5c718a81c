//! What a runtime kept of a result for itself (`semantics.md §3.1`), read once for all
//! who look at it.

use super::raw::{Bool, Object, Raw, Str, lenient_object};
use super::recorded::RecordedResult;

lenient_object! {
    /// The fields of structured results that an ending or a file can be told by. Long
    /// texts are left as they stand.
    Structured {
        kind: Str<'a> = "type",
        status: Str<'a> = "status",
        interrupted: Bool = "interrupted",
        background: Str<'a> = "backgroundTaskId",
        truncated: Bool = "truncated",
        persisted: Str<'a> = "persistedOutputPath",
        stale_recovered: Bool = "staleRecovered",
        file: Object<FileText<'a>> = "file",
        original: Option<Raw<'a>> = "originalFile",
        original_of_many: Option<Raw<'a>> = "originalFileContents",
        patch: Option<Raw<'a>> = "structuredPatch",
        user_modified: Bool = "userModified",
    }
}

lenient_object! {
    /// The text that a Read returned.
    FileText {
        content: Option<Raw<'a>> = "content",
        lines: Option<Raw<'a>> = "numLines",
        first_line: Option<Raw<'a>> = "startLine",
        total_lines: Option<Raw<'a>> = "totalLines",
    }
}

impl<'a> Structured<'a> {
    /// That of a result; with nothing in it where there is none.
    pub fn of(result: &RecordedResult<'a>) -> Structured<'a> {
        let structured = result.structured.filter(|raw| raw.is_object());
        structured.and_then(Raw::read).unwrap_or_default()
    }
}
