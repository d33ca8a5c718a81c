//! Layer 1: the rules of the settings, and what the tool itself says.

use super::Verdict;
use crate::rule::Matches;
use crate::tools::OwnVerdict;
use crate::words::Behavior;

/// A deny rule is before everything, an ask before an allow; of each, a rule is before
/// the tool's own check, so that no tool can allow what a rule denies. A call of which
/// nothing can be said must be asked about.
pub(super) fn verdict(matches: Matches<'_>, own: &OwnVerdict) -> Verdict {
    if let Some(hit) = matches.deny {
        return Verdict::by_rule(Behavior::Deny, "deny_rule", hit);
    }
    if let OwnVerdict::Deny { why } = own {
        return Verdict::new(Behavior::Deny, "tool_check", why.clone());
    }
    if let Some(hit) = matches.ask {
        return Verdict::by_rule(Behavior::Ask, "ask_rule", hit);
    }
    if let Some(why) = matches.unsure {
        let why = format!("the command cannot be taken apart: {why}");
        return Verdict::new(Behavior::Ask, "unsplittable", why);
    }
    if let OwnVerdict::Ask { why } = own {
        return Verdict::new(Behavior::Ask, "tool_check", why.clone());
    }
    if let Some(hit) = matches.allow {
        return Verdict::by_rule(Behavior::Allow, "allow_rule", hit);
    }
    if let OwnVerdict::Allow { why } = own {
        return Verdict::new(Behavior::Allow, "tool_check", why.clone());
    }
    Verdict::none(matches.uncovered.unwrap_or_default())
}
