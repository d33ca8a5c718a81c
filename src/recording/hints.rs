//! What the runtime's attachments and progress lines tell of files and of the calls
//! of nested agents.

use super::line::Line;
use super::raw::{Object, Raw, Str, lenient_object};
use super::recorded::Told;
use memchr::memmem;
use std::borrow::Cow;

lenient_object! {
    /// The attachments that show a file (`data/README §3.12`, `semantics.md §7.2`).
    Attachment {
        kind: Str<'a> = "type",
        filename: Str<'a> = "filename",
        path: Str<'a> = "path",
        snippet: Str<'a> = "snippet",
        content: Option<Raw<'a>> = "content",
    }
}

lenient_object! {
    /// A file as Read's structured result and the attachment of a mentioned file show it.
    ShownFile {
        file: Object<FileText<'a>> = "file",
    }
}

lenient_object! {
    /// The text inside.
    FileText {
        path: Str<'a> = "filePath",
        content: Str<'a> = "content",
        lines: Option<Raw<'a>> = "numLines",
        first_line: Option<Raw<'a>> = "startLine",
        total_lines: Option<Raw<'a>> = "totalLines",
    }
}

lenient_object! {
    /// A memory file; `rawContent` is the file where `content` differs from it.
    Memory {
        path: Str<'a> = "path",
        content: Str<'a> = "content",
        differs: super::raw::Bool = "contentDiffersFromDisk",
        raw_content: Str<'a> = "rawContent",
    }
}

lenient_object! {
    /// What a progress line carries.
    Progress {
        kind: Str<'a> = "type",
        message: Object<Line<'a>> = "message",
        agent: Str<'a> = "agentId",
    }
}

/// What an attachment tells of a file, if it tells anything.
pub(super) fn of_attachment(attachment: Raw<'_>) -> Option<Told<'_>> {
    let attachment: Attachment = attachment.read()?;
    match attachment.kind.0.as_deref()? {
        "edited_text_file" => Some(Told::Edited {
            path: attachment.filename.0?,
            snippet: attachment.snippet.0?,
        }),
        "file" => {
            let file = attachment.content?.read::<ShownFile>()?.file.0?;
            Some(Told::Shown {
                path: file.path.0.or(attachment.filename.0)?,
                content: file.content.0?,
                first_line: file.first_line?.parse()?,
                lines: file.lines?.parse()?,
                total_lines: file.total_lines?.parse()?,
            })
        }
        "compact_file_reference" => Some(Told::Mentioned {
            path: attachment.filename.0?,
        }),
        "nested_memory" => {
            let memory: Memory = attachment.content?.read()?;
            // Without a word that both are the same, the text may be a digest of the file.
            let content = match memory.differs.0 {
                Some(false) => memory.content.0,
                _ => memory.raw_content.0,
            };
            Some(Told::Whole {
                path: memory.path.0.or(attachment.path.0)?,
                content: content?,
            })
        }
        _ => None,
    }
}

lenient_object! {
    /// What tells of a hook.
    Hook {
        event: Str<'a> = "hookEvent",
        name: Str<'a> = "hookName",
    }
}

/// Whether an attachment or a progress line tells of a hook for the beginning of a session,
/// other than the one that a compaction makes.
pub(super) fn is_session_start(data: Raw<'_>) -> bool {
    if memmem::find(data.get().as_bytes(), b"\"SessionStart").is_none() {
        return false;
    }
    let hook: Hook = data.read().unwrap_or_default();
    hook.event.0.as_deref() == Some("SessionStart")
        && hook.name.0.as_deref() != Some("SessionStart:compact")
}

/// The entry of a nested agent's conversation that a progress line carries, and the agent.
pub(super) fn of_progress(data: Raw<'_>) -> Option<(Line<'_>, Option<Cow<'_, str>>)> {
    // Most progress is of hooks and commands, and long.
    memmem::find(data.get().as_bytes(), b"\"agent_progress\"")?;
    let progress: Progress = data.read()?;
    (progress.kind.0.as_deref() == Some("agent_progress"))
        .then(|| Some((progress.message.0?, progress.agent.0)))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attachments_tell_of_files() {
        let told = of_attachment(Raw::new(
            r#"{"type":"edited_text_file","filename":"/a","snippet":"1\tx"}"#,
        ));
        assert!(matches!(told, Some(Told::Edited { .. })));
        let told = of_attachment(Raw::new(
            r#"{"type":"file","filename":"/a","content":{"type":"text","file":{"filePath":"/a","content":"x\n","numLines":2,"startLine":1,"totalLines":2}}}"#,
        ));
        assert!(matches!(told, Some(Told::Shown { lines: 2, .. })));
        let memory = |differs: &str| {
            format!(
                r#"{{"type":"nested_memory","path":"/m","content":{{"content":"x"{differs}}}}}"#
            )
        };
        let same = memory(r#","contentDiffersFromDisk":false"#);
        assert!(
            matches!(of_attachment(Raw::new(&same)), Some(Told::Whole { content, .. }) if content == "x")
        );
        let other = memory(r#","contentDiffersFromDisk":true,"rawContent":"y""#);
        assert!(
            matches!(of_attachment(Raw::new(&other)), Some(Told::Whole { content, .. }) if content == "y")
        );
        assert!(of_attachment(Raw::new(&memory(""))).is_none());
        assert!(of_attachment(Raw::new(r#"{"type":"task_reminder"}"#)).is_none());
    }
}
