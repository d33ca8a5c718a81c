//! What would have to change for another decision: each thing is changed, and the layers
//! are asked again.

use super::question::{Question, Unanswered, UserSays};
use super::ruling::Ruling;
use crate::settings::{PermissionUpdate, SettingsChange, Source};
use crate::words::{Behavior, Layer, Mode};
use serde::Serialize;

/// Rules that are taken away one after the other before it is given up.
const RULES_TAKEN_MAX: usize = 16;

/// A change that was tried, and what is decided with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// A condition: "without …", "in mode …", "with …", "if …".
    pub change: String,
    pub behavior: Behavior,
    pub layer: Layer,
    pub reason: String,
    pub rule: Option<String>,
}

impl Change {
    fn new(change: String, ruling: &Ruling) -> Change {
        Change {
            change,
            behavior: ruling.behavior,
            layer: ruling.layer,
            reason: ruling.reason.clone(),
            rule: ruling.rule.clone(),
        }
    }
}

/// Every change that was found to lead to another decision.
pub(super) fn changes(question: &Question, ruling: &Ruling) -> Result<Vec<Change>, Unanswered> {
    let mut changes = Vec::new();
    without_rules(question, ruling, &mut changes)?;
    with_a_rule(question, ruling, &mut changes)?;
    in_modes(question, ruling, &mut changes)?;
    if question.hook.is_none() {
        for says in [Behavior::Allow, Behavior::Ask, Behavior::Deny] {
            let mut other = question.clone();
            other.hook = Some(says);
            let change = format!("if a PreToolUse hook says {says}");
            differs(&other, ruling, change, &mut changes)?;
        }
    }
    if ruling.behavior == Behavior::Ask {
        for (says, change) in [
            (UserSays::Allow, "if the user says yes"),
            (UserSays::Deny, "if the user says no"),
            (UserSays::Nobody, "where nobody can be asked"),
        ] {
            let mut other = question.clone();
            other.user = Some(says);
            differs(&other, ruling, change.to_owned(), &mut changes)?;
        }
    }
    Ok(changes)
}

/// Keeps a change if it leads to another behaviour.
fn differs(
    other: &Question,
    ruling: &Ruling,
    change: String,
    changes: &mut Vec<Change>,
) -> Result<(), Unanswered> {
    let with = other.ruling()?;
    if with.behavior != ruling.behavior {
        changes.push(Change::new(change, &with));
    }
    Ok(())
}

/// Takes the deciding rule away, and the next, as long as rules decide.
fn without_rules(
    question: &Question,
    ruling: &Ruling,
    changes: &mut Vec<Change>,
) -> Result<(), Unanswered> {
    let mut other = question.clone();
    let mut now = ruling.clone();
    let mut taken = Vec::new();
    for _ in 0..RULES_TAKEN_MAX {
        let Some(rule) = now.find(&other.settings).cloned() else {
            break;
        };
        let settings = &mut other.settings;
        for list in [&mut settings.deny, &mut settings.ask, &mut settings.allow] {
            list.retain(|placed| *placed != rule);
        }
        taken.push(format!("`{}`", rule.text.trim()));
        let without = other.ruling()?;
        if without.behavior != now.behavior {
            let change = format!("without {}", taken.join(" and "));
            changes.push(Change::new(change, &without));
        }
        now = without;
    }
    // No rule is in the way any more, and still nobody allows it.
    if !taken.is_empty() && now.behavior == Behavior::Ask {
        let rule = add(&mut other, Behavior::Allow, Source::Local)?;
        let with = other.ruling()?;
        if with.behavior == Behavior::Allow {
            let change = format!("without {} and with `{rule}` in allow", taken.join(" and "));
            changes.push(Change::new(change, &with));
        }
    }
    Ok(())
}

/// Adds the narrowest rule that speaks of the call to the settings of `to`.
fn add(question: &mut Question, behavior: Behavior, to: Source) -> Result<String, Unanswered> {
    let rule = question.suggestion()?;
    question.settings.apply(&PermissionUpdate {
        change: SettingsChange::AddRules(behavior, vec![rule.clone()]),
        destination: to,
    });
    Ok(rule)
}

/// Adds the narrowest rule that speaks of the call.
fn with_a_rule(
    question: &Question,
    ruling: &Ruling,
    changes: &mut Vec<Change>,
) -> Result<(), Unanswered> {
    for behavior in [Behavior::Allow, Behavior::Ask, Behavior::Deny] {
        if behavior == ruling.behavior {
            continue;
        }
        let mut other = question.clone();
        let rule = add(&mut other, behavior, Source::Local)?;
        let before = changes.len();
        let change = format!("with `{rule}` in {behavior}");
        differs(&other, ruling, change, changes)?;
        // What no rule of the settings reaches, a grant of the session may.
        if behavior == Behavior::Allow && changes.len() == before {
            let mut other = question.clone();
            let rule = add(&mut other, behavior, Source::Session)?;
            let change = format!("with `{rule}` granted for the session");
            differs(&other, ruling, change, changes)?;
        }
    }
    Ok(())
}

/// Tries every other mode; those that lead to the same are named together.
fn in_modes(
    question: &Question,
    ruling: &Ruling,
    changes: &mut Vec<Change>,
) -> Result<(), Unanswered> {
    let mut found: Vec<(Vec<&str>, Ruling)> = Vec::new();
    for mode in Mode::ALL {
        if *mode == question.mode() {
            continue;
        }
        let mut other = question.clone();
        other.mode = Some(*mode);
        let with = other.ruling()?;
        if with.behavior == ruling.behavior {
            continue;
        }
        let same = |(_, other): &&mut (Vec<&str>, Ruling)| {
            (other.behavior, other.layer, &other.reason)
                == (with.behavior, with.layer, &with.reason)
        };
        match found.iter_mut().find(same) {
            Some((modes, _)) => modes.push(mode.as_str()),
            None => found.push((vec![mode.as_str()], with)),
        }
    }
    for (modes, with) in found {
        let change = format!("in mode {}", modes.join(" or "));
        changes.push(Change::new(change, &with));
    }
    Ok(())
}
