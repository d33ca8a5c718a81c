//! Tells the class of a recorded result by the texts that the recorded runtimes use
//! (`semantics.md §3.8`, `observed.md §4`, `data/README §3`).
//!
//! The texts below are recognisers. None of them is ever written by this project.

use super::recorded::{RecordedCall, RecordedResult};
use super::structured::Structured;
use super::tool_name::{self, is_mcp};
use crate::words::{Class, Flag};
use std::borrow::Cow;

/// How a recorded call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedEnding {
    pub class: Class,
    /// Sorted, each at most once.
    pub flags: Vec<Flag>,
}

/// Where in a text a recogniser must stand.
enum At {
    Start,
    Anywhere,
    /// At the start, with the second text anywhere behind.
    StartWith(&'static str),
}

/// Texts of failures, the more particular before the more general.
const SIGNS: &[(At, &str, Class)] = &[
    // Lookup and parse.
    (At::Start, "No such tool available", Class::UnknownTool),
    (
        At::StartWith("could not be parsed as JSON"),
        "InputValidationError",
        Class::UnparsableInput,
    ),
    (At::Start, "InputValidationError", Class::InvalidInput),
    // Permission.
    (
        At::Start,
        "The user doesn't want to proceed with this tool use",
        Class::DeniedUser,
    ),
    (
        At::Start,
        "The user doesn't want to take this action",
        Class::DeniedUser,
    ),
    (At::Start, "Permission denied by user", Class::DeniedUser),
    (
        At::StartWith("haven't granted it yet"),
        "Claude requested permissions",
        Class::DeniedUser,
    ),
    (
        At::Start,
        "Permission prompt was aborted",
        Class::Interrupted,
    ),
    (
        At::StartWith("don't ask mode"),
        "Permission to use ",
        Class::DeniedMode,
    ),
    (
        At::StartWith("dontAsk mode"),
        "Permission to use ",
        Class::DeniedMode,
    ),
    (
        At::StartWith("has been denied"),
        "Permission to use ",
        Class::DeniedRule,
    ),
    (
        At::Start,
        "File is covered by a Read deny rule",
        Class::DeniedRule,
    ),
    (
        At::StartWith("while in plan mode"),
        "Cannot call ",
        Class::DeniedMode,
    ),
    (At::Start, "Blocked by classifier", Class::DeniedClassifier),
    (
        At::Start,
        "Auto mode could not evaluate this action",
        Class::DeniedClassifier,
    ),
    (
        At::Anywhere,
        "so auto mode cannot determine the safety of",
        Class::DeniedClassifier,
    ),
    (
        At::StartWith("hook stopped continuation"),
        "PreToolUse:",
        Class::HookStopped,
    ),
    (
        At::StartWith("hook error"),
        "PreToolUse:",
        Class::DeniedHook,
    ),
    // The batch.
    (
        At::Start,
        "Sibling tool call errored",
        Class::CancelledSibling,
    ),
    (
        At::Start,
        "Cancelled: parallel tool call",
        Class::CancelledSibling,
    ),
    (
        At::Start,
        "[Request interrupted by user",
        Class::Interrupted,
    ),
    (At::Start, "[Tool result missing]", Class::Internal),
    // Files.
    (At::Start, "File has not been read yet", Class::NotRead),
    (At::Start, "File has been modified since read", Class::Stale),
    (
        At::Start,
        "File has been unexpectedly modified",
        Class::Stale,
    ),
    (At::Start, "File content has changed", Class::Stale),
    (At::Start, "String to replace not found", Class::NoMatch),
    (
        At::StartWith("matches of the string to replace"),
        "Found ",
        Class::Ambiguous,
    ),
    (At::Start, "No changes to make", Class::NoChange),
    (At::Start, "File does not exist", Class::NotFound),
    (At::Start, "Path does not exist", Class::NotFound),
    (At::Start, "Directory does not exist", Class::NotFound),
    (
        At::Start,
        "Cannot create new file - file already exists",
        Class::Exists,
    ),
    (
        At::StartWith("exceeds maximum allowed"),
        "File content (",
        Class::TooLarge,
    ),
    (
        At::StartWith("exceeds maximum allowed tokens"),
        "MCP tool ",
        Class::TooLarge,
    ),
    (
        At::Start,
        "This tool cannot read binary files",
        Class::Binary,
    ),
    (At::Start, "EISDIR", Class::IsDirectory),
    (At::Start, "ENOTDIR", Class::NotDirectory),
    (At::Start, "ENOENT", Class::NotFound),
    (At::Start, "EACCES", Class::PermissionOs),
    (At::Start, "EPERM", Class::PermissionOs),
    (At::Start, "ENOSPC", Class::NoSpace),
    (At::Start, "ELOOP", Class::Loop),
    // Agents and skills.
    (At::StartWith("not found"), "Agent type '", Class::NotFound),
    (At::Start, "Unknown skill", Class::NotFound),
    // The network.
    (At::Start, "Request failed with status code", Class::Network),
    (At::Start, "getaddrinfo ", Class::Network),
    (At::Start, "connect ECONNREFUSED", Class::Network),
    (At::Start, "MCP error -32000", Class::Network),
    (At::Start, "MCP error -32001", Class::Timeout),
];

/// How a call ended by its recorded result; `None` if it has none.
pub fn classify(call: &RecordedCall<'_>) -> Option<RecordedEnding> {
    let result = call.result.as_ref()?;
    Some(ending(call, result, &Structured::of(result)))
}

/// How a call ended by its result, of which `structured` is what the runtime kept.
pub(super) fn ending(
    call: &RecordedCall<'_>,
    result: &RecordedResult<'_>,
    structured: &Structured<'_>,
) -> RecordedEnding {
    let text = told(result);
    let class = if failed(result, &text) {
        class_of_failure(call, result, &text)
    } else if structured.interrupted.0 == Some(true) {
        Class::Interrupted
    } else {
        Class::Ok
    };
    RecordedEnding {
        class,
        flags: flags(call, &text, structured),
    }
}

/// The text of a result as far as its ending can be told by it: of a success that says
/// nothing of a cut or a saved output, the beginning.
fn told<'a>(result: &'a RecordedResult<'_>) -> Cow<'a, str> {
    let beginning = result.beginning();
    let all_matters =
        failed(result, &beginning) || beginning.starts_with(TOO_LONG) || result.may_hold(CUT);
    match all_matters {
        true => result.text(),
        false => beginning,
    }
}

/// What results begin with that were saved for their length, and what marks a cut.
const TOO_LONG: &str = "Error: result (";
const CUT: &str = " truncated] ...";

/// Whether a result is a failure. `is_error` is left out of most successes, and old or
/// third-party writers leave it out of failures too.
fn failed(result: &RecordedResult<'_>, text: &str) -> bool {
    match result.is_error {
        Some(is_error) => is_error,
        None => result.denial.is_some() || text.starts_with("<tool_use_error>"),
    }
}

fn class_of_failure(call: &RecordedCall<'_>, result: &RecordedResult<'_>, text: &str) -> Class {
    let text = text.strip_prefix("<tool_use_error>").unwrap_or(text);
    let text = text.strip_prefix("Error: ").unwrap_or(text);
    let shell = tool_name::is_shell(&call.tool);
    // A command's output may hold anything, so only what the runtime itself puts first counts.
    if shell && text.starts_with("Exit code ") {
        return match text.lines().nth(1) {
            Some(line) if line.starts_with("Command timed out after") => Class::Timeout,
            _ => Class::ExitNonzero,
        };
    }
    if shell && text.starts_with("Command timed out after") {
        return Class::Timeout;
    }
    let sign = SIGNS.iter().find(|(at, sign, _)| match at {
        At::Start => text.starts_with(sign),
        At::Anywhere => !shell && text.contains(sign),
        At::StartWith(then) => text.starts_with(sign) && text.contains(then),
    });
    match (sign, result.denial.as_deref()) {
        (Some((_, _, class)), _) => *class,
        (None, Some("permission-rule")) => Class::DeniedRule,
        (None, Some(_)) => Class::DeniedUser,
        // Runtimes before 2.0 give a failed command's output without its exit code.
        (None, None) if shell => Class::ExitNonzero,
        (None, None) => Class::ToolError,
    }
}

fn flags(call: &RecordedCall<'_>, text: &str, structured: &Structured<'_>) -> Vec<Flag> {
    let tool = tool_name::canonical(&call.tool);
    let saved = text.starts_with("<persisted-output>")
        || structured.persisted.0.is_some()
        || (text.starts_with(TOO_LONG) && text.contains("Output has been saved to"));
    let cut = text.contains(" lines truncated] ...")
        || text.contains(" characters truncated] ...")
        || (tool == "Glob" && structured.truncated.0 == Some(true));
    let unchanged = structured.kind.0.as_deref() == Some("file_unchanged")
        || (tool == "Read" && text.starts_with("Wasted call"));
    let background = structured.background.0.is_some()
        || structured.status.0.as_deref() == Some("async_launched");
    let recovered = structured.stale_recovered.0 == Some(true);
    let shell = tool_name::is_shell(&call.tool);
    let all = [
        (Flag::Persisted, saved),
        (
            Flag::Truncated,
            cut && (shell || is_mcp(&call.tool) || tool == "Glob"),
        ),
        (Flag::Unchanged, unchanged),
        (Flag::Background, background),
        (Flag::StaleRecovered, recovered),
    ];
    let mut flags: Vec<Flag> = all.into_iter().filter(|f| f.1).map(|f| f.0).collect();
    flags.sort();
    flags
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Source, read};

    /// The class and flags of a call of `tool` with this result block's fields and this
    /// structured result.
    fn check(tool: &str, result: &str, structured: &str, class: Class, flags: &[Flag]) {
        let text = format!(
            "{{\"type\":\"assistant\",\"sessionId\":\"s\",\"message\":{{\"content\":[{{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"{tool}\",\"input\":{{}}}}]}}}}\n\
             {{\"type\":\"user\",\"sessionId\":\"s\",\"message\":{{\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t\",{result}}}]}}{structured}}}"
        );
        let source = Source::new(text.as_bytes()).unwrap();
        let recording = read(&source);
        let ending = classify(&recording.calls[0]).unwrap();
        assert_eq!((ending.class, &*ending.flags), (class, flags), "{result}");
    }

    #[test]
    fn failures_are_told_by_their_beginning() {
        let error = |text: &str| format!(r#""is_error":true,"content":"{text}""#);
        for (tool, text, class) in [
            (
                "Read",
                "<tool_use_error>File does not exist.</tool_use_error>",
                Class::NotFound,
            ),
            (
                "Edit",
                "<tool_use_error>Error: No such tool available: Edit",
                Class::UnknownTool,
            ),
            (
                "Edit",
                "Found 3 matches of the string to replace, but",
                Class::Ambiguous,
            ),
            (
                "Read",
                "InputValidationError: Read failed due to",
                Class::InvalidInput,
            ),
            (
                "Read",
                "InputValidationError: Read was called with input that could not be parsed as JSON",
                Class::UnparsableInput,
            ),
            (
                "Bash",
                "Exit code 1\\nFile does not exist",
                Class::ExitNonzero,
            ),
            (
                "Bash",
                "Exit code 143\\nCommand timed out after 2m 0s",
                Class::Timeout,
            ),
            (
                "Bash",
                "npm ERR! so auto mode cannot determine the safety of",
                Class::ExitNonzero,
            ),
            (
                "Bash",
                "Permission to use Bash with command rm has been denied.",
                Class::DeniedRule,
            ),
            ("mcp__a__b", "### Error\\nTimeoutError: x", Class::ToolError),
            (
                "mcp__a__b",
                "MCP error -32000: Connection closed",
                Class::Network,
            ),
            (
                "Task",
                "Agent type 'x' not found. Available agents: y",
                Class::NotFound,
            ),
        ] {
            check(tool, &error(text), "", class, &[]);
        }
    }

    #[test]
    fn successes_and_their_flags() {
        check("Read", r#""content":"Error: x""#, "", Class::Ok, &[]);
        check(
            "mcp__a__b",
            r#""content":"Error: result (9 characters) exceeds maximum allowed tokens. Output has been saved to /x""#,
            "",
            Class::Ok,
            &[Flag::Persisted],
        );
        check(
            "Bash",
            r#""content":"<persisted-output>\nx","is_error":false"#,
            r#","toolUseResult":{"stdout":"x","interrupted":false}"#,
            Class::Ok,
            &[Flag::Persisted],
        );
        check(
            "Bash",
            r#""content":"x\n\n... [12 lines truncated] ...""#,
            r#","toolUseResult":{"backgroundTaskId":"b"}"#,
            Class::Ok,
            &[Flag::Truncated, Flag::Background],
        );
        check(
            "Bash",
            r#""content":"x""#,
            r#","toolUseResult":{"interrupted":true}"#,
            Class::Interrupted,
            &[],
        );
    }

    #[test]
    fn the_runtimes_own_word_decides_where_the_text_does_not() {
        check(
            "Write",
            r#""content":"no","is_error":true"#,
            r#","toolDenialKind":"permission-rule""#,
            Class::DeniedRule,
            &[],
        );
        check(
            "Write",
            r#""content":"no","is_error":true"#,
            r#","toolDenialKind":"user-rejected""#,
            Class::DeniedUser,
            &[],
        );
    }
}
