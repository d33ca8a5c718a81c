//! `Tool(param:value)`: rules about one field of the input, for deny and ask alone
//! (`semantics.md §1.1`).

use super::{NamePattern, Problem, Side};
use serde_json::Value;

/// A field of the input at its top level, and what it must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ParameterPattern {
    key: String,
    value: NamePattern,
}

/// Inputs whose own rules have another form: a parameter rule about one is ignored.
const PRIMARY: &[(&str, &str)] = &[
    ("Bash", "command"),
    ("Monitor", "command"),
    ("PowerShell", "command"),
    ("Read", "file_path"),
    ("Edit", "file_path"),
    ("Write", "file_path"),
    ("MultiEdit", "file_path"),
    ("Grep", "path"),
    ("Glob", "path"),
    ("NotebookEdit", "notebook_path"),
    ("WebFetch", "url"),
];

/// Further inputs of tools whose rules have a form of their own, in which a colon may be
/// meant as it stands.
const PARAMETERS: &[(&str, &[&str])] = &[
    (
        "Bash",
        &[
            "timeout",
            "description",
            "run_in_background",
            "dangerouslyDisableSandbox",
        ],
    ),
    ("Monitor", &["timeout_ms", "description", "persistent"]),
    (
        "PowerShell",
        &["timeout", "description", "run_in_background"],
    ),
    ("Read", &["offset", "limit", "pages"]),
    ("Edit", &["old_string", "new_string", "replace_all"]),
    ("Write", &["content"]),
    ("MultiEdit", &[]),
    (
        "NotebookEdit",
        &["cell_id", "cell_type", "edit_mode", "new_source"],
    ),
    ("Glob", &["pattern"]),
    (
        "Grep",
        &[
            "pattern",
            "glob",
            "type",
            "output_mode",
            "head_limit",
            "multiline",
        ],
    ),
    ("LS", &[]),
    ("LSP", &["operation", "line", "character"]),
    ("WebFetch", &["prompt", "offset"]),
    ("Agent", AGENT),
    ("Task", AGENT),
    ("Skill", &["args"]),
];

const AGENT: &[&str] = &[
    "model",
    "name",
    "isolation",
    "effort",
    "prompt",
    "description",
    "run_in_background",
    "mode",
];

impl ParameterPattern {
    /// Reads the specifier of a rule about `tool`; none if it has another form.
    pub fn new(
        tool: &str,
        specifier: &str,
        side: Side,
    ) -> Result<Option<ParameterPattern>, Problem> {
        let Some((key, value)) = specifier.split_once(':') else {
            return Ok(None);
        };
        let (key, value) = (key.trim(), value.trim());
        if PRIMARY.contains(&(tool, key)) {
            return Err(Problem::inert(format!(
                "no parameter rule about `{key}`: it has rules of its own, and this one is never consulted"
            )));
        }
        let known = PARAMETERS.iter().find(|(name, _)| *name == tool);
        let of_key = |c: char| c.is_alphanumeric() || "_-".contains(c);
        let is_one = match known {
            Some((_, keys)) => keys.contains(&key),
            None => !key.is_empty() && key.chars().all(of_key),
        };
        if !is_one {
            return Ok(None);
        }
        if side == Side::Permits {
            return Err(Problem::unusable(
                "a parameter rule only in deny and ask: it says nothing of the other fields",
            )
            .hint(format!("for every use of the tool write `{tool}`")));
        }
        Ok(Some(ParameterPattern {
            key: key.to_owned(),
            value: NamePattern::new(value),
        }))
    }

    /// Whether the field is there and holds such a value; lists and objects never do.
    pub fn matches(&self, input: &Value) -> bool {
        match input.get(&self.key) {
            Some(Value::String(text)) => self.value.matches(text),
            Some(Value::Bool(flag)) => self.value.matches(if *flag { "true" } else { "false" }),
            Some(Value::Number(number)) => self.value.matches(&number.to_string()),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn matches(tool: &str, specifier: &str, input: Value) -> Option<bool> {
        let pattern = ParameterPattern::new(tool, specifier, Side::Restricts).unwrap();
        pattern.map(|pattern| pattern.matches(&input))
    }

    #[test]
    fn one_scalar_field_as_it_is() {
        // tool, specifier, input, whether it matches; none if it is no parameter rule
        let table = [
            ("Agent", "model:opus", json!({"model": "opus"}), Some(true)),
            (
                "Agent",
                "model : opus",
                json!({"model": "opus"}),
                Some(true),
            ),
            (
                "Agent",
                "model:opus",
                json!({"model": "opus-4"}),
                Some(false),
            ),
            ("Agent", "model:*", json!({"model": "opus"}), Some(true)),
            ("Agent", "model:*", json!({}), Some(false)),
            ("Agent", "model:*", json!({"model": null}), Some(false)),
            ("Agent", "model:*", json!({"model": ["opus"]}), Some(false)),
            (
                "Bash",
                "run_in_background:true",
                json!({"run_in_background": true}),
                Some(true),
            ),
            ("Bash", "timeout:5*", json!({"timeout": 5000}), Some(true)),
            ("Bash", "git:* push", json!({"git": "x push"}), None),
            ("Bash", "npm run *", json!({}), None),
            ("Agent", "reviewer", json!({}), None),
            (
                "mcp__db__run",
                "mode:w*",
                json!({"mode": "write"}),
                Some(true),
            ),
            ("Read", "C:/x", json!({}), None),
        ];
        for (tool, specifier, input, expected) in table {
            let what = format!("{tool}({specifier}) {input}");
            assert_eq!(matches(tool, specifier, input), expected, "{what}");
        }
    }
}
