//! What differs between real runtimes, as data: a named set of parameters, each
//! with a closed set of values and a source.
//!
//! `seed` is the system that this project implements. The `claude-code-…` profiles
//! hold the semantics that recordings of that runtime were made with. The values
//! live in `data/`, one file a profile; `=` there is the value of the base.

mod builtin;
mod overriding;
mod parameter;
mod values;

pub use builtin::{ProfileError, Version};
pub use overriding::OverrideError;
pub use values::*;

use parameter::Parameter;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Declares the struct and, from the same list, everything that goes over all
/// parameters: so that none can be forgotten in a file, a complaint or a trace.
macro_rules! parameters {
    ($($(#[$meta:meta])* $id:ident: $type:ty,)+) => {
        /// A named set of semantic parameters.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Profile {
            /// As in `profile:` of a scenario.
            pub name: String,
            /// The first version of the recorded runtime that behaves so; none for `seed`.
            pub version: Option<Version>,
            $($(#[$meta])* pub $id: $type,)+
            sources: Arc<BTreeMap<&'static str, String>>,
            overridden: BTreeMap<&'static str, Value>,
        }

        impl Profile {
            /// The identifiers of all parameters, in the order of the table.
            pub const PARAMETERS: &'static [&'static str] = &[$(stringify!($id),)+];

            /// Makes a profile of one value and source for each parameter; the
            /// complaints name the parameters that have none that is allowed.
            fn assemble(
                name: String,
                version: Option<Version>,
                mut values: BTreeMap<String, (Value, String)>,
            ) -> Result<Profile, Vec<String>> {
                let mut complaints = Vec::new();
                let mut sources = BTreeMap::new();
                $(let $id = match values.remove(stringify!($id)) {
                    None => {
                        complaints.push(format!("{name}: {} is missing", stringify!($id)));
                        None
                    }
                    Some((value, source)) => {
                        let read = <$type as Parameter>::read(&value);
                        if read.is_none() {
                            complaints.push(format!(
                                "{name}: {value} is not a value of {}; allowed: {}",
                                stringify!($id),
                                <$type as Parameter>::allowed().join(", "),
                            ));
                        }
                        sources.insert(stringify!($id), source);
                        read
                    }
                };)+
                for unknown in values.keys() {
                    complaints.push(format!("{name}: unknown parameter {unknown}"));
                }
                if let (true, $(Some($id),)+) = (complaints.is_empty(), $($id,)+) {
                    Ok(Profile {
                        name,
                        version,
                        $($id,)+
                        sources: Arc::new(sources),
                        overridden: BTreeMap::new(),
                    })
                } else {
                    Err(complaints)
                }
            }

            /// Sets one parameter; the error holds what is allowed.
            fn set(&mut self, id: &str, value: &Value) -> Result<&'static str, Option<Vec<String>>> {
                match id {
                    $(stringify!($id) => {
                        self.$id = <$type as Parameter>::read(value)
                            .ok_or_else(|| Some(<$type as Parameter>::allowed()))?;
                        Ok(stringify!($id))
                    })+
                    _ => Err(None),
                }
            }

            /// The value of a parameter as it is written in data.
            pub fn value_of(&self, id: &str) -> Option<Value> {
                match id {
                    $(stringify!($id) => Some(self.$id.write()),)+
                    _ => None,
                }
            }

            /// What may be written for a parameter.
            pub fn allowed(id: &str) -> Option<Vec<String>> {
                match id {
                    $(stringify!($id) => Some(<$type as Parameter>::allowed()),)+
                    _ => None,
                }
            }
        }
    };
}

parameters! {
    /// What a character is in every limit that counts characters.
    char_unit: CharUnit,
    /// Characters of a shell result over which [`Profile::shell_result_action`] applies.
    shell_result_limit: Option<u64>,
    shell_result_action: OverLimit,
    /// Characters of a Grep result over which [`Profile::grep_result_action`] applies.
    grep_result_limit: Option<u64>,
    grep_result_action: OverLimit,
    /// Characters of any other result over which [`Profile::result_action`] applies.
    result_limit: Option<u64>,
    result_action: OverLimit,
    read_result: ReadResult,
    /// Bytes of a file over which a Read without a range fails.
    read_max_bytes: Option<u64>,
    /// Tokens, as estimated, that one Read gives.
    read_max_tokens: Option<u64>,
    read_line_format: ReadLineFormat,
    /// Characters of a saved result that stay in the conversation.
    preview_chars: u64,
    preview_cut: PreviewCut,
    failed_shell_output: FailedShellOutput,
    /// Tokens, as estimated, of an MCP result over which [`Profile::mcp_max_tokens_action`] applies.
    mcp_max_tokens: Option<u64>,
    mcp_max_tokens_action: OverLimit,
    /// Bytes over which a file cannot be edited.
    edit_max_bytes: u64,
    stale_by: StaleBy,
    stale_edit: StaleEdit,
    stale_write: Unmet,
    unread_edit: Unmet,
    unread_write: Unmet,
    partial_read_counts: PartialReadCounts,
    /// Whether a tool that writes a file looks again, in the step of the write, that nobody changed it.
    recheck_before_write: bool,
    /// Whether what a post-hook writes to the file just edited counts as read.
    formatter_hook_refreshes_state: bool,
    missing_file_read_step: MissingFileReadStep,
    dont_ask: DontAsk,
    permission_order: PermissionOrder,
    bypass: Bypass,
    no_user: NoUser,
    project_trust: ProjectTrust,
    hook_rewrite_checked: HookRewriteChecked,
    hook_rewrite_winner: HookRewriteWinner,
    hook_other_exit: HookOtherExit,
    hook_timeout: HookFailed,
    hook_cannot_start: HookFailed,
    post_hook_on_error: PostHookOnError,
    /// Virtual milliseconds that a hook of a tool has if its settings give none.
    hook_default_timeout_ms: u64,
    hook_exit_2: HookExit2,
    hook_continue_false: HookContinueFalse,
    /// Whether the input that one hook rewrote and allowed holds where another hook asks.
    hook_rewrite_survives_ask: bool,
    hook_decisions: HookDecisions,
    hooks_together: HooksTogether,
    /// Characters of one text of a hook over which the conversation keeps a preview.
    hook_string_limit: Option<u64>,
    hook_output_rewrite: HookOutputRewrite,
    hook_defer: HookDefer,
    /// How often in a row hooks may keep an agent from stopping.
    stop_hook_cap: Option<u64>,
    sibling_failure: SiblingFailure,
    /// Whether a call may start before the message that holds it has ended.
    start_while_streaming: bool,
    policy: crate::words::Policy,
    /// Calls in flight together.
    max_concurrency: Option<u64>,
    result_order: ResultOrder,
    /// The features that are on unless a flag says otherwise.
    features: BTreeSet<Feature>,
    deferred: Deferred,
    loaded_tools_last: LoadedToolsLast,
    loaded_schema: LoadedSchema,
    unloaded_call: UnloadedCall,
    numeric_strings: NumericStrings,
    reread_unchanged: RereadUnchanged,
    cut_call: CutCall,
    pause_turn: PauseTurn,
    /// How many `pause_turn` in a row are sent back.
    pause_turn_max: u64,
    /// Virtual milliseconds before a paused turn is sent back.
    pause_poll_ms: u64,
    strict_default: StrictDefault,
    /// The invariants that the recorded runtime is known to break.
    broken_invariants: BTreeSet<Invariant>,
}

impl Profile {
    /// Where a parameter's value comes from; `None` for an unknown parameter.
    pub fn source_of(&self, id: &str) -> Option<&str> {
        if self.overridden.contains_key(id) {
            return Some("overridden");
        }
        self.sources.get(id).map(String::as_str)
    }
}
