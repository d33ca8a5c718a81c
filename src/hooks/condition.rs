//! `if` of a handler: one permission rule over the call (`semantics.md §2.2`).

use super::{Handler, Hooks};
use crate::rule::{self, Anchors, RuleSet};
use crate::settings::{Origin, Placed, Settings, Source};
use crate::shell_syntax::{self, Shape};
use crate::world::Fs;

/// A condition that can be looked up.
#[derive(Debug, Clone)]
pub struct Condition {
    text: String,
    set: RuleSet,
    /// Whether it says more of a command than its name.
    narrow: bool,
}

impl Condition {
    /// Compiles the rule as one that restricts: any part of a command is enough. `None`
    /// if it is no rule: then it holds of every call.
    fn new(text: &str, anchors: &Anchors, fs: &dyn Fs) -> Option<Condition> {
        let settings = Settings {
            deny: vec![Placed {
                text: text.to_owned(),
                origin: Origin::of(Source::Project, 0),
            }],
            ..Settings::default()
        };
        let (set, complaints) = rule::compile(&settings, anchors, fs);
        if complaints.iter().any(|complaint| complaint.is_error()) {
            return None;
        }
        Some(Condition {
            narrow: is_narrow(text),
            text: text.to_owned(),
            set,
        })
    }

    pub fn set(&self) -> &RuleSet {
        &self.set
    }

    /// Whether it holds of a command whatever its rule says: of one that cannot be taken
    /// apart, or whose words are known only when it runs.
    pub fn fails_open(&self, command: &str) -> bool {
        let line = shell_syntax::analyze(command);
        matches!(line.shape, Shape::Unsplittable(_))
            || (self.narrow && (line.nested || expands(&line.text)))
    }
}

/// Whether a rule's specifier says more than the name of a command.
fn is_narrow(rule: &str) -> bool {
    let Some((_, rest)) = rule.split_once('(') else {
        return false;
    };
    let specifier = rest.trim_end().strip_suffix(')').unwrap_or(rest).trim();
    let name = specifier
        .strip_suffix(":*")
        .or_else(|| specifier.strip_suffix(" *"))
        .unwrap_or(specifier);
    name != "*" && (name.contains([' ', '*']))
}

/// Whether the shell may put something else in place of a part of the line.
fn expands(line: &str) -> bool {
    line.contains('`')
        || line.match_indices('$').any(|(at, _)| {
            let next = line[at + 1..].chars().next();
            next.is_some_and(|c| c == '(' || c == '{' || c == '_' || c.is_ascii_alphabetic())
        })
}

impl Hooks {
    /// Makes the conditions of all handlers ready. What is no rule is said: it holds of
    /// every call, so that its hook runs rather too often than not.
    pub fn compile_conditions(&mut self, anchors: &Anchors, fs: &dyn Fs) -> Vec<String> {
        let mut unread = Vec::new();
        for handler in &self.handlers {
            let Some(text) = &handler.condition else {
                continue;
            };
            match Condition::new(text, anchors, fs) {
                Some(condition) => {
                    self.conditions.insert(text.clone(), condition);
                }
                None => unread.push(format!(
                    "the hook {}: `if: {text}` is no rule, so it runs for every call",
                    handler.label()
                )),
            }
        }
        unread
    }

    /// The condition of a handler, if it has one that can be looked up.
    pub fn condition(&self, handler: &Handler) -> Option<&Condition> {
        let text = handler.condition.as_ref()?;
        let condition = self.conditions.get(text);
        condition.filter(|condition| condition.text == *text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::MemoryFs;

    #[test]
    fn what_cannot_be_read_fails_open() {
        let fs = MemoryFs::new(Default::default());
        let anchors = Anchors::new("/work", "/home/user");
        let open = |rule: &str, line: &str| {
            Condition::new(rule, &anchors, &fs).is_some_and(|c| c.fails_open(line))
        };
        assert!(open("Bash(git *)", "git 'unclosed"));
        assert!(!open("Bash(git *)", "git $(date)"));
        assert!(open("Bash(git push *)", "git $(date)"));
        assert!(open("Bash(git push *)", "echo $HOME"));
        assert!(open("Bash(git push *)", "echo `date`"));
        assert!(!open("Bash(git push *)", "git status"));
        assert!(!open("Bash(git push *)", "echo 5$"));
        assert!(Condition::new("Bash(", &anchors, &fs).is_none());
    }
}
