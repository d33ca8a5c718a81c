//! `Agent(…)` and `Skill(…)`: kinds of nested agents, and skills by their names.

use super::{NamePattern, Side};

/// A skill's name, and perhaps what it is given (`semantics.md §1.1`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SkillPattern {
    name: NamePattern,
    /// Whether anything may follow the name.
    open: bool,
}

impl SkillPattern {
    /// Reads the specifier of a `Skill` rule: a name, or `name *`.
    pub fn new(specifier: &str) -> SkillPattern {
        let open = specifier
            .strip_suffix(" *")
            .or_else(|| specifier.strip_suffix(":*"));
        SkillPattern {
            name: NamePattern::new(open.unwrap_or(specifier)),
            open: open.is_some(),
        }
    }

    /// Whether it stands for `call`: a skill, and after a space what it is given. A rule
    /// that restricts stands for its skill whatever that is given.
    pub fn matches(&self, call: &str, side: Side) -> bool {
        let name = call.split_once(' ').map_or(call, |(name, _)| name);
        let alone = self.open || side == Side::Restricts;
        self.name.matches(call) || alone && self.name.matches(name)
    }
}
