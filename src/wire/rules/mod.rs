//! What the API rejects (`protocol.md §6`), in words of our own.
//!
//! [`Checker`] takes a conversation message by message and never looks back at an
//! earlier one; [`check_all`] looks at a whole request. They agree.

mod checker;
mod content;
mod head;
mod whole;

pub use checker::Checker;
pub use head::Head;
pub use whole::check_all;

use std::fmt;

/// The name of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// There is a message, and the first is the user's.
    FirstIsUser,
    /// Only the final assistant message may be empty.
    EmptyContent,
    /// A text is not empty.
    EmptyText,
    /// A text is not only spaces, unless it is one of several blocks of an answer.
    BlankText,
    /// The final assistant message does not end with a space.
    TrailingSpace,
    /// A block has the fields that its type demands.
    MissingField,
    /// A block stands in a message of a role that may hold it.
    WrongRole,
    /// A system message within a conversation stands between a user and an assistant.
    SystemPlace,
    /// Every call has a result in the next user message.
    UnansweredCall,
    /// Results come before everything else in their message.
    ResultsFirst,
    /// Every result has its call in the message before.
    OrphanResult,
    /// A call has one result.
    DuplicateResult,
    /// No two calls of a request have the same id.
    DuplicateCallId,
    /// An id is made of letters, digits, `_` and `-`.
    CallIdCharacters,
    /// The input of a call is an object.
    CallInput,
    /// A result that is an error says something.
    EmptyError,
    /// A result that is an error has only text.
    ErrorTextOnly,
    /// A result holds only blocks that a result may hold.
    ResultContent,
    /// Every call that the vendor executed has its result before the user speaks.
    UnresolvedServerCall,
    /// Every result of the vendor's has its call before it.
    OrphanServerResult,
    /// A tool's name has 1 to 128 letters, digits, `_` and `-`.
    ToolName,
    /// No two tools have the same name.
    DuplicateTool,
    /// An own tool has a schema of type `object` without alternatives at its root.
    SchemaRoot,
    /// A schema is one of draft 2020-12.
    Schema,
    /// Not every tool is deferred.
    AllDeferred,
    /// A deferred tool does not ask for a cache.
    DeferredCache,
    /// A reference names a tool of the request.
    ToolReference,
    /// At most 20 tools are strict.
    StrictTools,
    /// At most four places ask for a cache.
    CacheBreakpoints,
    /// Nothing that is cached for an hour comes after what is cached for minutes.
    CacheOrder,
    /// What asks for a cache can be cached.
    CachePlace,
}

/// One thing for which the API rejects a request.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// Such as `messages.3.content.0`.
    pub path: String,
    pub rule: Rule,
    pub text: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.text)
    }
}

/// The violations found so far.
#[derive(Debug, Default)]
struct Findings(Vec<Violation>);

impl Findings {
    fn add(&mut self, rule: Rule, path: impl Into<String>, text: impl Into<String>) {
        self.0.push(Violation {
            path: path.into(),
            rule,
            text: text.into(),
        });
    }
}

/// Whether `id` is made of what ids and names may be made of.
fn is_plain(id: &str) -> bool {
    !id.is_empty()
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// The words that the incremental and the whole check share.
mod say {
    use super::{Findings, Rule};

    /// Places that may ask for a cache.
    pub const CACHE_BREAKPOINTS_MAX: usize = 4;

    pub fn first_is_user(out: &mut Findings, path: &str) {
        out.add(
            Rule::FirstIsUser,
            path,
            "a conversation begins with a message of role `user`",
        );
    }

    pub fn empty_content(out: &mut Findings, n: usize) {
        out.add(
            Rule::EmptyContent,
            format!("messages.{n}"),
            "content is empty; only the last message may be, and only if it is the assistant's",
        );
    }

    pub fn trailing_space(out: &mut Findings, n: usize) {
        out.add(
            Rule::TrailingSpace,
            format!("messages.{n}"),
            "the assistant's last message ends with whitespace",
        );
    }

    pub fn unanswered<'a>(out: &mut Findings, n: usize, ids: impl IntoIterator<Item = &'a str>) {
        let ids: Vec<&str> = ids.into_iter().collect();
        out.add(
            Rule::UnansweredCall,
            format!("messages.{n}"),
            format!(
                "no `tool_result` in the next user message for: {}",
                ids.join(", ")
            ),
        );
    }

    pub fn results_first(out: &mut Findings, path: &str, id: &str) {
        out.add(
            Rule::ResultsFirst,
            path,
            format!("the `tool_result` for {id} comes after other content of its message"),
        );
    }

    pub fn orphan(out: &mut Findings, path: &str, id: &str) {
        out.add(
            Rule::OrphanResult,
            path,
            format!("the assistant's message before this has no `tool_use` with id {id}"),
        );
    }

    pub fn duplicate_result(out: &mut Findings, path: &str, id: &str) {
        out.add(
            Rule::DuplicateResult,
            path,
            format!("a second `tool_result` for {id}"),
        );
    }

    pub fn duplicate_id(out: &mut Findings, path: &str, id: &str) {
        out.add(
            Rule::DuplicateCallId,
            path,
            format!("another `tool_use` has the id {id} too"),
        );
    }

    pub fn unresolved_server(out: &mut Findings, path: &str, id: &str) {
        out.add(
            Rule::UnresolvedServerCall,
            path,
            format!("the vendor's call {id} has no result before the user speaks"),
        );
    }

    pub fn orphan_server(out: &mut Findings, path: &str, id: &str) {
        out.add(
            Rule::OrphanServerResult,
            path,
            format!("no call of the vendor's with id {id} comes before this"),
        );
    }

    pub fn system_place(out: &mut Findings, n: usize, text: &str) {
        out.add(Rule::SystemPlace, format!("messages.{n}"), text);
    }

    pub const SYSTEM_AFTER: &str = "a message of role `system` follows a user's, or an assistant's that ends in a result of the vendor's";
    pub const SYSTEM_BEFORE: &str =
        "a message of role `system` is the last, or an assistant's follows";

    pub fn unknown_reference(out: &mut Findings, path: &str, name: &str) {
        out.add(
            Rule::ToolReference,
            path,
            format!("no tool of the request is called `{name}`"),
        );
    }

    pub fn breakpoints(out: &mut Findings, count: usize) {
        if count > CACHE_BREAKPOINTS_MAX {
            out.add(
                Rule::CacheBreakpoints,
                "cache_control",
                format!("{count} places ask for a cache; {CACHE_BREAKPOINTS_MAX} may"),
            );
        }
    }

    pub fn cache_order(out: &mut Findings, path: &str) {
        out.add(
            Rule::CacheOrder,
            path,
            "a cache of `1h` comes after one of `5m`; tools come first, then system, then messages",
        );
    }
}
