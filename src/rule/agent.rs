//! `Agent(…)`: kinds of nested agents.

use super::{NamePattern, Problem};

/// Reads the specifier of an `Agent` rule. `key:value` would be a parameter rule.
pub(super) fn pattern(specifier: &str) -> Result<NamePattern, Problem> {
    let key = specifier.split_once(':').map(|(key, _)| key.trim());
    if key.is_some_and(|key| matches!(key, "model" | "name" | "isolation" | "effort" | "prompt")) {
        return Err(Problem::unusable(
            "a kind of agent; parameter rules are not known here yet",
        ));
    }
    Ok(NamePattern::new(specifier))
}
