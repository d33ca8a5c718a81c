//! The vocabulary of the project as types: what a call passes through, who
//! decides about it, who executes it and how it can end.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Declares a closed list of words: an enum, its spelling, and its parsing.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$vmeta])* #[serde(rename = $word)] $variant,)* }

        impl $name {
            /// Every word of the list, in its order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The word as it is written in files, traces and on the command line.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }

            /// The member that `word` spells, if it is one of the list.
            pub fn from_word(word: &str) -> Option<$name> {
                match word { $($word => Some($name::$variant),)* _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

words! {
    /// One of the seven steps of a call, in their order.
    Step {
        Lookup = "lookup",
        Parse = "parse",
        Validate = "validate",
        PreHook = "pre_hook",
        Permission = "permission",
        Execute = "execute",
        PostHook = "post_hook",
    }
}

words! {
    /// One of the five layers that can decide permission.
    Layer {
        Rule = "rule",
        Mode = "mode",
        Hook = "hook",
        Classifier = "classifier",
        User = "user",
    }
}

words! {
    /// Who executes a call.
    Lane {
        /// The user's own tools.
        Own = "own",
        /// Tools whose schema the vendor publishes and the user runs.
        Published = "published",
        /// Tools that the vendor hosts.
        Hosted = "hosted",
    }
}

words! {
    /// What a decision says of a call.
    Behavior {
        Allow = "allow",
        Ask = "ask",
        Deny = "deny",
        Defer = "defer",
    }
}

words! {
    /// A permission mode.
    Mode {
        Default = "default",
        AcceptEdits = "acceptEdits",
        Plan = "plan",
        Auto = "auto",
        DontAsk = "dontAsk",
        BypassPermissions = "bypassPermissions",
    }
}

words! {
    /// How a batch is scheduled.
    Policy {
        Serial = "serial",
        Waves = "waves",
        Rwlock = "rwlock",
        Footprint = "footprint",
    }
}

words! {
    /// The kind of a call's outcome: one closed list that every verb shares.
    Class {
        Ok = "ok",
        UnknownTool = "unknown_tool",
        UnparsableInput = "unparsable_input",
        InvalidInput = "invalid_input",
        NotFound = "not_found",
        Exists = "exists",
        NotRead = "not_read",
        Stale = "stale",
        NoMatch = "no_match",
        Ambiguous = "ambiguous",
        NoChange = "no_change",
        TooLarge = "too_large",
        IsDirectory = "is_directory",
        NotDirectory = "not_directory",
        Binary = "binary",
        Loop = "loop",
        NoSpace = "no_space",
        PermissionOs = "permission_os",
        DeniedRule = "denied_rule",
        DeniedMode = "denied_mode",
        DeniedHook = "denied_hook",
        DeniedClassifier = "denied_classifier",
        DeniedUser = "denied_user",
        Deferred = "deferred",
        HookStopped = "hook_stopped",
        ExitNonzero = "exit_nonzero",
        Timeout = "timeout",
        Network = "network",
        CancelledSibling = "cancelled_sibling",
        Interrupted = "interrupted",
        CutCall = "cut_call",
        ToolError = "tool_error",
        Internal = "internal",
    }
}

words! {
    /// A remark beside an outcome's class.
    Flag {
        Persisted = "persisted",
        Truncated = "truncated",
        Unchanged = "unchanged",
        Background = "background",
        Coerced = "coerced",
        StaleRecovered = "stale_recovered",
    }
}

impl Class {
    /// Whether a result of this class goes back to the model as an error.
    pub fn is_error(self) -> bool {
        self != Class::Ok
    }

    /// The class of a call that `layer` denied.
    pub fn denied_by(layer: Layer) -> Class {
        match layer {
            Layer::Rule => Class::DeniedRule,
            Layer::Mode => Class::DeniedMode,
            Layer::Hook => Class::DeniedHook,
            Layer::Classifier => Class::DeniedClassifier,
            Layer::User => Class::DeniedUser,
        }
    }
}

/// A call's place in the run: its number, counted from 1 over the whole run, the
/// turn whose response asked for it (from 1), and its `tool_use` id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallId {
    pub number: u32,
    pub turn: u32,
    pub id: std::sync::Arc<str>,
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back() {
        for class in Class::ALL {
            assert_eq!(Class::from_word(class.as_str()), Some(*class));
        }
        for step in Step::ALL {
            assert_eq!(Step::from_word(step.as_str()), Some(*step));
        }
        assert_eq!(Step::ALL.len(), 7);
        assert_eq!(Layer::ALL.len(), 5);
    }
}
