//! Every key of a scenario file but those of `expect` and of a turn: what it is,
//! what it means, an example.

use super::fields::MAX_INT;
use super::keys_expect::EXPECT;
use super::keys_script::{MOMENT, TURN};
use super::shape::{Kind, Shape, key};
use crate::hooks::HookEvent;
use crate::profile::{Invariant, Profile};
use crate::words::{Behavior, Class, Policy, Step};

pub(super) const MODE_PATTERN: &str = "^[0-7]{3,4}$";
pub(super) const DATE_TIME_PATTERN: &str =
    r"^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$";
const BASE64_PATTERN: &str = r"^[A-Za-z0-9+/\s]*=?=?\s*$";
/// The most uses of one answer.
pub(super) const MAX_TIMES: u64 = u32::MAX as u64;
const LATENCY: &str = "Virtual milliseconds it takes.";
pub(super) const OPTIONAL: &str = "Whether it is no failure that the entry is never used.";
pub(super) const TIMES: &str = "How often the entry may be used; without it, any number of times if the entry has a matcher, else once.";

pub(super) fn classes() -> Vec<&'static str> {
    Class::ALL.iter().map(|c| c.as_str()).collect()
}

pub(super) fn failure_classes() -> Vec<&'static str> {
    Class::ALL
        .iter()
        .filter(|c| c.is_error())
        .map(|c| c.as_str())
        .collect()
}

pub(super) fn steps() -> Vec<&'static str> {
    Step::ALL.iter().map(|s| s.as_str()).collect()
}

pub(super) fn published() -> Vec<&'static str> {
    crate::tools::published::TYPES.to_vec()
}

pub(super) fn policies() -> Vec<&'static str> {
    Policy::ALL.iter().map(|p| p.as_str()).collect()
}

pub(super) fn behaviors() -> Vec<&'static str> {
    Behavior::ALL.iter().map(|b| b.as_str()).collect()
}

pub(super) fn hook_events() -> Vec<&'static str> {
    HookEvent::ALL.iter().map(|e| e.as_str()).collect()
}

pub(super) fn invariants() -> Vec<&'static str> {
    Invariant::ALL.iter().map(|i| i.as_str()).collect()
}

pub(super) fn profiles() -> Vec<&'static str> {
    Profile::names()
}

pub(super) fn snapshot_levels() -> Vec<&'static str> {
    vec!["none", "calls", "steps", "ops"]
}

/// A whole scenario, and one of its cases: `keys!` lists what both may have.
#[rustfmt::skip]
macro_rules! scenario_keys {
    ($($first:expr),* ; $($last:expr),*) => {
        &[
            $($first,)*
            key("profile", Kind::Words(profiles), "The named set of semantic parameters to run under.", "seed"),
            key("semantics", Kind::Map(&Kind::Json), "Single parameters of the profile, set otherwise.", "{recheck_before_write: true}"),
            key("seed", Kind::Int(0, MAX_INT), "The seed of every random choice.", "0"),
            key("cwd", Kind::Pattern("^/"), "The folder the agent works in; absolute.", "/work"),
            key("start_time", Kind::Pattern(DATE_TIME_PATTERN), "What the world's clock reads at the beginning.", "2026-01-01T00:00:00Z"),
            key("fs", Kind::Shape(&FS), "Settings of the file system in memory.", "{case_sensitive: true, mtime_granularity_ms: 1}"),
            key("files", Kind::Map(&Kind::Any(&[Kind::Text, Kind::Shape(&FILE)])), "What the world holds, by path; a text is the content, a path ending in / a folder.", r#"{notes.txt: "one\ntwo\n", empty/: {}}"#),
            key("files_from", Kind::OneOrMany(&Kind::Text), "Folders beside the scenario whose files the world holds too, below cwd; `files` wins.", "project/"),
            key("env", Kind::Map(&Kind::Scalar), "Environment variables of commands and hooks; HOME is what ~ stands for.", "{HOME: /home/user, CI: 1}"),
            key("settings", Kind::Any(&[Kind::Text, Kind::Object]), "Settings by source (user, project, local, cli, managed), each an object or the path of a file or folder; a plain object is `project`.", r#"{project: {permissions: {allow: ["Edit(notes.txt)"]}}}"#),
            key("flags", Kind::Map(&Kind::Bool), "Feature flags by name.", "{fork_subagent: true}"),
            key("tools", Kind::Shape(&TOOLS), "Which tools there are beside or instead of the built-in ones.", "{only: [Read, Edit]}"),
            key("commands", Kind::List(&Kind::Shape(&COMMAND)), "What commands do that the virtual shell does not have.", r#"[{command: "cargo test*", stdout: "1 passed\n"}]"#),
            key("hooks", Kind::Shape(&HOOKS), "How hooks end, instead of running their commands.", r#"{answers: [{event: PreToolUse, exit: 2, stderr: not today}]}"#),
            key("latency_ms", Kind::Map(&Kind::Int(0, MAX_INT)), "Virtual milliseconds by tool name, and `model` for a response.", "{Read: 5, model: 100}"),
            key("user", Kind::List(&Kind::Shape(&USER)), "What the user answers when asked for permission.", "[{tool: Edit, answer: allow}]"),
            key("classifier", Kind::List(&Kind::Shape(&CLASSIFIER)), "What the permission classifier says.", "[{tool: Bash, verdict: deny, reason: reaches the network}]"),
            key("max_turns", Kind::Int(1, 1_000_000), "After how many responses the agent stops.", "50"),
            key("prompt", Kind::OneOrMany(&Kind::Text), "What the user says; of a list, the next when the agent stops.", "Fix the note."),
            key("model", Kind::List(&Kind::Shape(&TURN)), "What the model answers, turn by turn.", "[{calls: [{Read: {file_path: notes.txt}}]}, {say: Done.}]"),
            key("outside", Kind::List(&Kind::Shape(&OUTSIDE)), "Changes to the world by someone who is not the agent.", "[{at_ms: 40, append: {big.log: x}}]"),
            key("interrupt", Kind::Shape(&INTERRUPT), "When the user interrupts the agent.", r#"{after: {call: "1", step: validate}}"#),
            key("policy", Kind::Words(policies), "How the calls of one message are scheduled.", "waves"),
            key("max_concurrency", Kind::Int(1, 10_000), "How many calls may be in flight together.", "10"),
            key("expect", Kind::Shape(&EXPECT), "What must come of it; at least the step and the class of one call.", r#"{calls: {"1": {step: post_hook, class: ok}}}"#),
            key("invariants_off", Kind::List(&Kind::Words(invariants)), "Invariants that are not checked here.", "[no_lost_update]"),
            key("snapshot", Kind::Words(snapshot_levels), "How much of the trace the snapshot shows.", "steps"),
            key("constraints", Kind::Json, "Which operations must be granted before which, as a shrunk counterexample states it.", "[]").not_yet(),
            key("faults", Kind::Json, "Faults of the world, as a shrunk counterexample states them.", "[]").not_yet(),
            key("agents", Kind::Json, "Scripts of nested agents.", "{}").not_yet(),
            key("hosted", Kind::List(&Kind::Any(&[Kind::Words(super::keys_hosted::types), Kind::Shape(&super::keys_hosted::HOSTED)])), "Tools that the vendor hosts, and what they give; they run on the model's side.", "[{type: web_search_20250305, max_uses: 3}]"),
            key("published", Kind::List(&Kind::Any(&[Kind::Words(published), Kind::Shape(&PUBLISHED)])), "Tools whose schema the vendor publishes, by type; they run in the world.", "[bash_20250124, memory_20250818]"),
            key("screen", Kind::Json, "The screen that a computer tool sees.", "{}").not_yet(),
            key("compact", Kind::Json, "When the conversation is compacted, and to what.", "{}").not_yet(),
            $($last,)*
        ]
    };
}

#[rustfmt::skip]
pub(super) static SCENARIO: Shape = Shape {
    name: "scenario",
    what: "a scenario",
    keys: scenario_keys!(
        key("rehearsal", Kind::Int(1, 1), "The version of this format.", "1").required(),
        key("name", Kind::Text, "What happens, in a few words.", "an edit is refused after an outside change").required();
        key("include", Kind::OneOrMany(&Kind::Text), "Scenario files whose keys stand in for those that this one does not have.", "common.yaml"),
        key("cases", Kind::List(&Kind::Shape(&CASE)), "Variants, each of which replaces whole keys of the scenario.", "[{name: without the outside change, outside: []}]")
    ),
};

#[rustfmt::skip]
pub(super) static CASE: Shape = Shape {
    name: "case",
    what: "a case",
    keys: scenario_keys!(
        key("name", Kind::Text, "What is different, in a few words; unique within the file.", "without the outside change").required();
    ),
};

#[rustfmt::skip]
pub(super) static FS: Shape = Shape {
    name: "fs",
    what: "settings of the file system",
    keys: &[
        key("case_sensitive", Kind::Bool, "Whether names that differ in case are different files.", "true"),
        key("mtime_granularity_ms", Kind::Int(1, 86_400_000), "To what milliseconds modification times are cut.", "1"),
        key("capacity_bytes", Kind::Int(0, MAX_INT), "How many bytes of content fit.", "1048576"),
        key("superuser", Kind::Bool, "Whether permission bits bind nobody.", "false"),
    ],
};

#[rustfmt::skip]
pub(super) static FILE: Shape = Shape {
    name: "file",
    what: "a file",
    keys: &[
        key("content", Kind::Text, "The content as text.", r#""echo hi\n""#),
        key("repeat", Kind::Text, "A text of which the content is so many repetitions.", r#""line\n""#),
        key("times", Kind::Int(0, MAX_INT), "How many repetitions of `repeat`.", "5000"),
        key("size", Kind::Int(0, MAX_INT), "Bytes of a sparse file of zeros.", "1073741825"),
        key("base64", Kind::Pattern(BASE64_PATTERN), "The content as base64.", "iVBORw0KGgo="),
        key("symlink", Kind::Text, "What the symbolic link points to, as written in the link.", "notes.txt"),
        key("dir", Kind::Bool, "Whether it is a folder.", "true"),
        key("mode", Kind::Pattern(MODE_PATTERN), "Permission bits in octal, in quotes.", r#""755""#),
        key("mtime", Kind::Pattern(DATE_TIME_PATTERN), "When it was modified last; the start time if not given.", "2025-12-31T00:00:00Z"),
    ],
};

/// File content where it is written by someone: no links, no modes.
#[rustfmt::skip]
pub(super) static CONTENT: Shape = Shape {
    name: "content",
    what: "a content",
    keys: &[
        key("content", Kind::Text, "The content as text.", r#""echo hi\n""#),
        key("repeat", Kind::Text, "A text of which the content is so many repetitions.", r#""line\n""#),
        key("times", Kind::Int(0, MAX_INT), "How many repetitions of `repeat`.", "5000"),
        key("base64", Kind::Pattern(BASE64_PATTERN), "The content as base64.", "iVBORw0KGgo="),
    ],
};

/// A text, or a map that makes one.
pub(super) const WRITTEN: Kind = Kind::Any(&[Kind::Text, Kind::Shape(&CONTENT)]);

#[rustfmt::skip]
pub(super) static TOOLS: Shape = Shape {
    name: "tools",
    what: "tools",
    keys: &[
        key("only", Kind::List(&Kind::Text), "The built-in tools there are; without it, all.", "[Read, Edit, Grep]"),
        key("custom", Kind::List(&Kind::Shape(&CUSTOM)), "Tools of the user's own.", "[{name: deploy, description: Ship the build., input_schema: {type: object}}]"),
        key("mcp", Kind::Map(&Kind::Shape(&MCP_SERVER)), "MCP servers by name.", "{tickets: {tools: [{name: search, description: Find tickets., input_schema: {type: object}}]}}"),
        key("answers", Kind::List(&Kind::Shape(&TOOL_ANSWER)), "What tools return without being run.", "[{tool: WebFetch, returns: page text, optional: true}]"),
    ],
};

#[rustfmt::skip]
pub(super) static CUSTOM: Shape = Shape {
    name: "custom_tool",
    what: "a tool",
    keys: &[
        key("name", Kind::Text, "The name the model calls it by.", "deploy").required(),
        key("aliases", Kind::List(&Kind::Text), "Other names it answers to.", "[ship]"),
        key("description", Kind::Text, "What it does, when to use it and when not.", "Ship the build. Use only after tests pass.").required(),
        key("search_hint", Kind::Text, "Words that a search for it may use.", "release"),
        key("input_schema", Kind::Object, "JSON Schema of its input.", "{type: object}").required(),
        key("read_only", Kind::Bool, "Whether it changes nothing, for any input.", "true"),
        key("destructive", Kind::Bool, "Whether what it does cannot be undone.", "false"),
        key("exclusive", Kind::Bool, "Whether nothing else may be in flight; true unless it is read-only.", "true"),
        key("should_defer", Kind::Bool, "Whether the model sees only its name until it searches for it.", "true"),
        key("repl", Kind::Bool, "Whether it can be used inside a read-eval-print loop (`flags: {repl: true}`); true if not given.", "false"),
        key("strict", Kind::Bool, "Whether its schema is enforced while an input is generated.", "true"),
        key("max_result_chars", Kind::Int(0, MAX_INT), "The size over which a result is saved; the profile's limit if not given.", "20000"),
        key("latency_ms", Kind::Int(0, MAX_INT), LATENCY, "500"),
        key("returns", RETURNS, "What it returns: a text or content blocks.", "shipped"),
        key("fails", Kind::Shape(&FAILS), "How it fails, instead of returning.", "{class: timeout, text: no answer}"),
    ],
};

const RETURNS: Kind = Kind::Any(&[Kind::Text, Kind::Shape(&CONTENT), Kind::List(&Kind::Object)]);

#[rustfmt::skip]
pub(super) static FAILS: Shape = Shape {
    name: "fails",
    what: "a failure",
    keys: &[
        key("class", Kind::Words(failure_classes), "The class of the outcome.", "timeout").required(),
        key("text", Kind::Text, "What the model is told.", "no answer"),
    ],
};

#[rustfmt::skip]
pub(super) static MCP_SERVER: Shape = Shape {
    name: "mcp_server",
    what: "an MCP server",
    keys: &[
        key("tools", Kind::List(&Kind::Shape(&MCP_TOOL)), "The tools it lists.", "[{name: search, description: Find tickets., input_schema: {type: object}}]").required(),
        key("connect", Kind::Json, "When it connects.", "{at_ms: 40}").not_yet(),
        key("die", Kind::Json, "When it dies.", "{at_ms: 40}").not_yet(),
    ],
};

#[rustfmt::skip]
pub(super) static MCP_TOOL: Shape = Shape {
    name: "mcp_tool",
    what: "an MCP tool",
    keys: &[
        key("name", Kind::Text, "The name the server knows it by.", "search").required(),
        key("description", Kind::Text, "What it does, when to use it and when not.", "Find tickets by text.").required(),
        key("input_schema", Kind::Object, "JSON Schema of its input.", "{type: object}").required(),
        key("annotations", Kind::Shape(&ANNOTATIONS), "What the server says of it.", "{readOnlyHint: true}"),
        key("_meta", Kind::Object, "What the server says to this runtime: `anthropic/alwaysLoad: true` for a tool that is never deferred.", "{anthropic/alwaysLoad: true}"),
        key("latency_ms", Kind::Int(0, MAX_INT), LATENCY, "80"),
        key("returns", RETURNS, "What it returns: a text or content blocks.", "3 open"),
        key("fails", Kind::Shape(&FAILS), "How it fails, instead of returning.", "{class: tool_error, text: no such project}"),
    ],
};

#[rustfmt::skip]
pub(super) static ANNOTATIONS: Shape = Shape {
    name: "annotations",
    what: "annotations of a tool",
    keys: &[
        key("readOnlyHint", Kind::Bool, "Whether it changes nothing.", "true"),
        key("requiresUserInteraction", Kind::Bool, "Whether no rule and no hook allows it in the user's place.", "true"),
        key("destructiveHint", Kind::Bool, "Whether what it does cannot be undone; true if not given.", "false"),
        key("idempotentHint", Kind::Bool, "Whether doing it twice is as doing it once; changes nothing here.", "true"),
        key("openWorldHint", Kind::Bool, "Whether it reaches what is not the server's; changes nothing here.", "false"),
        key("title", Kind::Text, "A name for people; changes nothing here.", "Search tickets"),
    ],
};

#[rustfmt::skip]
pub(super) static PUBLISHED: Shape = Shape {
    name: "published",
    what: "a published tool",
    keys: &[
        key("type", Kind::Words(published), "Its type, which names its version.", "text_editor_20250728").required(),
        key("max_characters", Kind::Int(1, MAX_INT), "How much of a file one view shows; of text_editor_20250728 alone.", "10000"),
    ],
};

#[rustfmt::skip]
pub(super) static TOOL_ANSWER: Shape = Shape {
    name: "tool_answer",
    what: "an answer of a tool",
    keys: &[
        key("tool", Kind::Scalar, TOOL_GLOB, "WebFetch"),
        key("input", Kind::Map(&Kind::Scalar), "Globs over single values of the input.", "{url: \"https://example.com/*\"}"),
        key("returns", RETURNS, "What it returns: a text or content blocks.", "page text"),
        key("fails", Kind::Shape(&FAILS), "How it fails, instead of returning.", "{class: network, text: no route}"),
        key("latency_ms", Kind::Int(0, MAX_INT), LATENCY, "80"),
        key("times", Kind::Int(1, MAX_TIMES), TIMES, "1"),
        key("optional", Kind::Bool, OPTIONAL, "true"),
    ],
};

#[rustfmt::skip]
pub(super) static COMMAND: Shape = Shape {
    name: "command",
    what: "a command's answer",
    keys: &[
        key("command", Kind::Scalar, "A glob over the whole command.", r#""cargo test*""#),
        key("stdout", WRITTEN, "What it writes to its output.", r#""1 passed\n""#),
        key("stderr", WRITTEN, "What it writes to its error output.", r#""warning\n""#),
        key("exit", Kind::Int(0, 255), "Its exit code.", "0"),
        key("latency_ms", Kind::Int(0, MAX_INT), LATENCY, "900"),
        key("writes", Kind::Map(&WRITTEN), "Files that it writes.", r#"{target/ok: ""}"#),
        key("times", Kind::Int(1, MAX_TIMES), TIMES, "1"),
        key("optional", Kind::Bool, OPTIONAL, "true"),
    ],
};

#[rustfmt::skip]
pub(super) static HOOKS: Shape = Shape {
    name: "hooks",
    what: "outcomes of hooks",
    keys: &[key("answers", Kind::List(&Kind::Shape(&HOOK_ANSWER)), "How hooks end.", "[{event: PreToolUse, exit: 2, stderr: not today}]").required()],
};

#[rustfmt::skip]
pub(super) static HOOK_ANSWER: Shape = Shape {
    name: "hook_answer",
    what: "an outcome of a hook",
    keys: &[
        key("event", Kind::Words(hook_events), "The event it runs for.", "PreToolUse"),
        key("command", Kind::Scalar, "A glob over the hook's command, URL or prompt.", r#""lint*""#),
        key("tool", Kind::Scalar, "A glob over the name of the call's tool.", "Edit"),
        key("exit", Kind::Int(0, 255), "Its exit code.", "2"),
        key("status", Kind::Int(0, 599), "The status of its response, for a hook of type http, whose body is stdout; 0 is a connection that fails.", "200"),
        key("stdout", Kind::Any(&[Kind::Text, Kind::Object]), "What it writes to its output; an object is written as JSON.", "{decision: block, reason: not today}"),
        key("stderr", Kind::Text, "What it writes to its error output.", "not today"),
        key("latency_ms", Kind::Int(0, MAX_INT), LATENCY, "20"),
        key("times", Kind::Int(1, MAX_TIMES), TIMES, "1"),
        key("optional", Kind::Bool, OPTIONAL, "true"),
    ],
};

pub(super) fn user_replies() -> Vec<&'static str> {
    vec!["allow", "always", "deny"]
}

const TOOL_GLOB: &str = "A glob over the tool's name.";
const CALL_NAME: &str = "The call's id or number.";
const SUBJECT_GLOB: &str =
    "A glob over what the call is about: a path, a command, a URL, else the input as JSON.";

const SUBJECT_OR_VALUES: &str = "A glob over what the call is about (a path, a command, a URL, else the input as JSON), or globs over single values of the input.";

#[rustfmt::skip]
pub(super) static USER: Shape = Shape {
    name: "user_answer",
    what: "an answer of the user",
    keys: &[
        key("tool", Kind::Scalar, TOOL_GLOB, "Edit"),
        key("call", Kind::Scalar, CALL_NAME, "toolu_edit"),
        key("input", Kind::Scalar, SUBJECT_GLOB, r#""*.txt""#),
        key("answer", Kind::Words(user_replies), "What the user says; `always` is also for what is alike until the session ends.", "allow").required(),
        key("comment", Kind::Text, "What the user says beside a refusal; the model is told.", "not this file"),
        key("updated_input", Kind::Object, "The input that the user allows instead of the one asked for.", "{command: ls}"),
        key("updated_permissions", Kind::List(&Kind::Object), "What the answer changes for the decisions to come, as `updatedPermissions` writes it.", "[{type: setMode, mode: acceptEdits, destination: session}]"),
        key("think_ms", Kind::Int(0, MAX_INT), "Virtual milliseconds from the question to the answer.", "3000"),
        key("times", Kind::Int(1, MAX_TIMES), TIMES, "1"),
        key("optional", Kind::Bool, OPTIONAL, "true"),
    ],
};

pub(super) fn verdicts() -> Vec<&'static str> {
    vec!["allow", "ask", "deny"]
}

#[rustfmt::skip]
pub(super) static CLASSIFIER: Shape = Shape {
    name: "classifier_answer",
    what: "an answer of the classifier",
    keys: &[
        key("tool", Kind::Scalar, TOOL_GLOB, "Bash"),
        key("call", Kind::Scalar, CALL_NAME, "toolu_edit"),
        key("input", Kind::Any(&[Kind::Scalar, Kind::Map(&Kind::Scalar)]), SUBJECT_OR_VALUES, r#""curl *""#),
        key("verdict", Kind::Words(verdicts), "What it says.", "deny").required(),
        key("reason", Kind::Text, "Why.", "reaches the network"),
        key("latency_ms", Kind::Int(0, MAX_INT), LATENCY, "200"),
        key("times", Kind::Int(1, MAX_TIMES), TIMES, "1"),
        key("optional", Kind::Bool, OPTIONAL, "true"),
    ],
};

#[rustfmt::skip]
pub(super) static OUTSIDE: Shape = Shape {
    name: "outside",
    what: "an outside change",
    keys: &[
        key("before", Kind::Shape(&MOMENT), "Just before a call enters a step.", r#"{call: "1", step: validate}"#),
        key("after", Kind::Shape(&MOMENT), "Just after a call leaves a step.", r#"{call: "1", step: execute}"#),
        key("at_ms", Kind::Int(0, MAX_INT), "At a virtual time.", "40"),
        key("anywhere", Kind::Bool, "At no point in particular: `explore` tries every one, `run` takes the beginning.", "true"),
        key("write", Kind::Map(&WRITTEN), "Files that are written, and their content.", r#"{notes.txt: "ONE\n"}"#),
        key("append", Kind::Map(&WRITTEN), "Files that are added to, and what.", "{big.log: x}"),
        key("touch", Kind::OneOrMany(&Kind::Text), "Files whose time of modification is set to now.", "notes.txt"),
        key("remove", Kind::OneOrMany(&Kind::Text), "Files or folders that are removed.", "notes.txt"),
        key("rename", Kind::Map(&Kind::Text), "Files that are moved, and where to.", "{notes.txt: old.txt}"),
        key("symlink", Kind::Map(&Kind::Text), "Symbolic links that are made, and what they point to.", "{link: notes.txt}"),
        key("chmod", Kind::Map(&Kind::Pattern(MODE_PATTERN)), "Files whose permission bits are set.", r#"{notes.txt: "600"}"#),
        key("replace_by_folder", Kind::OneOrMany(&Kind::Text), "Files in whose place an empty folder is put.", "notes.txt"),
        key("mkdir", Kind::OneOrMany(&Kind::Text), "Folders that are made.", "out"),
        key("keep_mtime", Kind::Bool, "Whether written files keep their time of modification.", "true"),
    ],
};

#[rustfmt::skip]
pub(super) static INTERRUPT: Shape = Shape {
    name: "interrupt",
    what: "an interrupt",
    keys: &[
        key("after", Kind::Shape(&MOMENT), "Just after a call leaves a step.", r#"{call: "1", step: validate}"#).required(),
    ],
};
