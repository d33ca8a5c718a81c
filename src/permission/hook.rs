//! Layer 3: what the pre-hooks say.

use super::Verdict;
use crate::words::Behavior;

/// What all pre-hooks of a call say together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookVerdict {
    pub behavior: Behavior,
    /// The hook's own words; may be empty.
    pub reason: String,
}

pub(super) fn verdict(hook: Option<&HookVerdict>) -> Verdict {
    match hook {
        None => Verdict::none(""),
        Some(hook) => Verdict::new(hook.behavior, "hook", hook.reason.clone()),
    }
}
