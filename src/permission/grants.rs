//! What the user allowed for the rest of the session, as rules.

use super::subject::About;
use crate::rule::{Anchors, Query, RuleSet, compile, host_of};
use crate::settings::{Origin, Placed, Settings, Source};
use crate::world::Fs;

/// The rules granted so far.
#[derive(Debug, Default)]
pub(super) struct Granted {
    list: Vec<Placed>,
    rules: RuleSet,
}

impl Granted {
    /// Adds an allow rule; one that is there already stays as it is.
    pub fn add(&mut self, rule: &str, cwd: &str, home: &str, fs: &dyn Fs) {
        if self.list.iter().any(|placed| placed.text == rule) {
            return;
        }
        let index = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.list.push(Placed {
            text: rule.to_owned(),
            origin: Origin::of(Source::Session, index),
        });
        let settings = Settings {
            allow: self.list.clone(),
            ..Settings::default()
        };
        // What does not compile allows nothing, and the user is asked again.
        self.rules = compile(&settings, &Anchors::new(cwd, home), fs).0;
    }

    pub fn texts(&self) -> Vec<String> {
        self.list.iter().map(|placed| placed.text.clone()).collect()
    }

    /// What the granted rules say of a call.
    pub fn verdict(&self, query: &Query<'_>) -> Option<super::Verdict> {
        let hit = self.rules.matches(query).allow?;
        let behavior = crate::words::Behavior::Allow;
        Some(super::Verdict::by_rule(behavior, "session_grant", hit))
    }
}

/// The narrowest rule that covers a call like this one.
pub(super) fn rule_for(tool: &str, about: &About) -> String {
    match about {
        About::None => tool.to_owned(),
        About::Read(paths) => format!("Read(/{})", escaped(&paths.spelled)),
        About::Edit(paths) => format!("Edit(/{})", escaped(&paths.spelled)),
        About::Command { line, .. } => format!("Bash({})", line.text.trim()),
        About::Url(url) => match host_of(url) {
            Some(host) => format!("WebFetch(domain:{host})"),
            None => tool.to_owned(),
        },
        About::Agent(kind) => format!("Agent({kind})"),
        About::Skill(call) => format!("Skill({call})"),
    }
}

/// A path that means itself in the syntax of gitignore.
fn escaped(path: &str) -> String {
    let mut out = String::new();
    for c in path.chars() {
        if "\\*?[]{}!#".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
