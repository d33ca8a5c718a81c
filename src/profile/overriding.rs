//! Setting single parameters of a profile, as `semantics:` of a scenario does.

use super::Profile;
use serde_json::Value;

/// Why a parameter could not be set.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum OverrideError {
    #[error("unknown parameter `{id}`{}", hint(.nearest))]
    Unknown {
        id: String,
        /// The identifier that was probably meant.
        nearest: Option<&'static str>,
    },
    #[error("{value} is not a value of `{id}`; allowed: {}", .allowed.join(", "))]
    NotAllowed {
        id: String,
        value: Value,
        allowed: Vec<String>,
    },
}

fn hint(nearest: &Option<&'static str>) -> String {
    match nearest {
        Some(id) => format!("; did you mean `{id}`?"),
        None => format!("; the parameters are: {}", Profile::PARAMETERS.join(", ")),
    }
}

impl Profile {
    /// Sets the parameter `id`; on an error nothing is changed.
    pub fn override_parameter(&mut self, id: &str, value: &Value) -> Result<(), OverrideError> {
        match self.set(id, value) {
            Ok(id) => {
                self.overridden.insert(id, value.clone());
                Ok(())
            }
            Err(Some(allowed)) => Err(OverrideError::NotAllowed {
                id: id.to_owned(),
                value: value.clone(),
                allowed,
            }),
            Err(None) => Err(OverrideError::Unknown {
                id: id.to_owned(),
                nearest: nearest(id),
            }),
        }
    }

    /// The overridden parameters as `name=value`, sorted, as a trace begins with them.
    pub fn overridden(&self) -> Vec<String> {
        self.overridden
            .iter()
            .map(|(id, value)| match value {
                Value::String(word) => format!("{id}={word}"),
                other => format!("{id}={other}"),
            })
            .collect()
    }
}

/// The parameter whose identifier is the most like `id`, if one is like it at all.
fn nearest(id: &str) -> Option<&'static str> {
    /// Edits between two identifiers up to which the one may be a slip for the other.
    const MAX_SLIPS: usize = 3;
    Profile::PARAMETERS
        .iter()
        .map(|known| (edits(id, known), *known))
        .min()
        .filter(|(slips, _)| *slips <= MAX_SLIPS)
        .map(|(_, known)| known)
}

/// How many single-byte edits make `a` into `b`.
fn edits(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::StaleBy;
    use serde_json::json;

    #[test]
    fn an_override_is_set_and_told() {
        let mut profile = Profile::seed();
        profile
            .override_parameter("stale_by", &json!("mtime"))
            .unwrap();
        profile
            .override_parameter("result_limit", &json!("none"))
            .unwrap();
        profile
            .override_parameter("broken_invariants", &json!(["deny_wins"]))
            .unwrap();
        assert_eq!(profile.stale_by, StaleBy::Mtime);
        assert_eq!(profile.source_of("stale_by"), Some("overridden"));
        assert_eq!(
            profile.overridden(),
            [
                "broken_invariants=[\"deny_wins\"]",
                "result_limit=none",
                "stale_by=mtime"
            ]
        );
    }

    #[test]
    fn what_is_not_allowed_names_what_is() {
        let mut profile = Profile::seed();
        let before = profile.clone();
        let wrong = profile.override_parameter("stale_by", &json!("luck"));
        assert_eq!(
            wrong.unwrap_err().to_string(),
            "\"luck\" is not a value of `stale_by`; allowed: content, mtime, mtime_then_content"
        );
        let unknown = profile.override_parameter("stale_bye", &json!(1));
        assert_eq!(
            unknown.unwrap_err().to_string(),
            "unknown parameter `stale_bye`; did you mean `stale_by`?"
        );
        let far = profile
            .override_parameter("weather", &json!(1))
            .unwrap_err();
        assert!(far.to_string().contains("the parameters are: char_unit, "));
        assert_eq!(profile, before);
    }
}
