//! Changes of permission settings that an answer brings about while a run goes on
//! (`updatedPermissions`; `semantics.md §1.5`).

use super::{Origin, Placed, Settings, Source};
use crate::words::{Behavior, Mode};
use serde_json::Value;
use std::fmt;

/// One change, and whose settings it changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionUpdate {
    pub change: SettingsChange,
    pub destination: Source,
}

/// What changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingsChange {
    AddRules(Behavior, Vec<String>),
    /// In place of every rule of this behaviour that the destination has.
    ReplaceRules(Behavior, Vec<String>),
    RemoveRules(Behavior, Vec<String>),
    SetMode(Mode),
    AddDirectories(Vec<String>),
    RemoveDirectories(Vec<String>),
}

/// Destinations as they are written, and the source each is.
const DESTINATIONS: &[(&str, Source)] = &[
    ("userSettings", Source::User),
    ("projectSettings", Source::Project),
    ("localSettings", Source::Local),
    ("session", Source::Session),
    ("cliArg", Source::Cli),
];

impl PermissionUpdate {
    /// Reads one update.
    ///
    /// # Errors
    /// What is found and what is expected, with the key.
    pub fn read(value: &Value) -> Result<PermissionUpdate, String> {
        let text = |key: &str, words: &str| match value[key].as_str() {
            Some(text) => Ok(text),
            None => Err(format!("{key}: expected {words}, found {}", value[key])),
        };
        let kinds = "one of addRules, replaceRules, removeRules, setMode, addDirectories, removeDirectories";
        let kind = text("type", kinds)?;
        let change = match kind {
            "addRules" => SettingsChange::AddRules(behavior(value)?, rules(value)?),
            "replaceRules" => SettingsChange::ReplaceRules(behavior(value)?, rules(value)?),
            "removeRules" => SettingsChange::RemoveRules(behavior(value)?, rules(value)?),
            "setMode" => SettingsChange::SetMode(mode(text("mode", "a mode")?)?),
            "addDirectories" => SettingsChange::AddDirectories(directories(value)?),
            "removeDirectories" => SettingsChange::RemoveDirectories(directories(value)?),
            other => return Err(format!("type: expected {kinds}, found \"{other}\"")),
        };
        let names: Vec<&str> = DESTINATIONS.iter().map(|(name, _)| *name).collect();
        let names = format!("one of {}", names.join(", "));
        let word = text("destination", &names)?;
        let found = DESTINATIONS.iter().find(|(name, _)| *name == word);
        let Some((_, destination)) = found else {
            return Err(format!("destination: expected {names}, found \"{word}\""));
        };
        Ok(PermissionUpdate {
            change,
            destination: *destination,
        })
    }
}

fn behavior(value: &Value) -> Result<Behavior, String> {
    let word = value["behavior"].as_str().and_then(Behavior::from_word);
    word.filter(|behavior| *behavior != Behavior::Defer)
        .ok_or_else(|| {
            let found = &value["behavior"];
            format!("behavior: expected allow, ask or deny, found {found}")
        })
}

fn mode(word: &str) -> Result<Mode, String> {
    match word {
        "manual" => Ok(Mode::Default),
        word => Mode::from_word(word)
            .ok_or_else(|| format!("mode: expected a permission mode, found \"{word}\"")),
    }
}

/// Rules as `{toolName, ruleContent?}`, or written out.
fn rules(value: &Value) -> Result<Vec<String>, String> {
    let list = value["rules"].as_array();
    let list = list.ok_or_else(|| format!("rules: expected a list, found {}", value["rules"]))?;
    let rule = |rule: &Value| match (rule.as_str(), rule["toolName"].as_str()) {
        (Some(text), _) => Ok(text.to_owned()),
        (None, Some(tool)) => Ok(match rule["ruleContent"].as_str() {
            Some(content) => format!("{tool}({content})"),
            None => tool.to_owned(),
        }),
        (None, None) => Err(format!(
            "rules: expected an object with toolName, found {rule}"
        )),
    };
    list.iter().map(rule).collect()
}

fn directories(value: &Value) -> Result<Vec<String>, String> {
    let list = value["directories"].as_array();
    let texts = list.and_then(|list| {
        let texts = list.iter().map(|dir| dir.as_str().map(str::to_owned));
        texts.collect::<Option<Vec<_>>>()
    });
    texts.ok_or_else(|| {
        let found = &value["directories"];
        format!("directories: expected a list of paths, found {found}")
    })
}

impl fmt::Display for PermissionUpdate {
    /// As a person would say it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let to = self.destination;
        match &self.change {
            SettingsChange::AddRules(behavior, rules) => {
                write!(f, "{behavior} {} ({to})", rules.join(", "))
            }
            SettingsChange::ReplaceRules(behavior, rules) => {
                write!(f, "{behavior} only {} ({to})", rules.join(", "))
            }
            SettingsChange::RemoveRules(behavior, rules) => {
                write!(f, "no longer {behavior} {} ({to})", rules.join(", "))
            }
            SettingsChange::SetMode(mode) => write!(f, "mode {mode} ({to})"),
            SettingsChange::AddDirectories(dirs) => {
                write!(f, "also work in {} ({to})", dirs.join(", "))
            }
            SettingsChange::RemoveDirectories(dirs) => {
                write!(f, "no longer work in {} ({to})", dirs.join(", "))
            }
        }
    }
}

impl Settings {
    /// Applies what an update says of rules and folders; a mode is not part of them.
    pub fn apply(&mut self, update: &PermissionUpdate) {
        let to = update.destination;
        match &update.change {
            SettingsChange::AddRules(behavior, rules) => add(self.list(*behavior), rules, to),
            SettingsChange::ReplaceRules(behavior, rules) => {
                let list = self.list(*behavior);
                list.retain(|placed| placed.origin.source != to);
                add(list, rules, to);
            }
            SettingsChange::RemoveRules(behavior, rules) => remove(self.list(*behavior), rules, to),
            SettingsChange::AddDirectories(dirs) => {
                add(&mut self.additional_directories, dirs, to);
            }
            SettingsChange::RemoveDirectories(dirs) => {
                remove(&mut self.additional_directories, dirs, to);
            }
            SettingsChange::SetMode(_) => {}
        }
    }

    fn list(&mut self, behavior: Behavior) -> &mut Vec<Placed> {
        match behavior {
            Behavior::Allow => &mut self.allow,
            Behavior::Deny => &mut self.deny,
            Behavior::Ask | Behavior::Defer => &mut self.ask,
        }
    }
}

/// Adds behind all of the same source; what is there already stays as it is.
fn add(list: &mut Vec<Placed>, texts: &[String], to: Source) {
    for text in texts {
        let own = |placed: &&Placed| placed.origin.source == to;
        if list.iter().filter(own).any(|placed| placed.text == *text) {
            continue;
        }
        let last = list.iter().filter(own).map(|placed| placed.origin.index);
        let index = last.max().map_or(0, |last| last.saturating_add(1));
        let at = list.partition_point(|placed| placed.origin.source <= to);
        let placed = Placed {
            text: text.clone(),
            origin: Origin::of(to, index),
        };
        list.insert(at, placed);
    }
}

fn remove(list: &mut Vec<Placed>, texts: &[String], from: Source) {
    list.retain(|placed| placed.origin.source != from || !texts.contains(&placed.text));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Layer, merge};
    use serde_json::json;

    fn shown(list: &[Placed]) -> Vec<String> {
        let shown = |p: &Placed| format!("{} {}[{}]", p.text, p.origin.source, p.origin.index);
        list.iter().map(shown).collect()
    }

    fn settings() -> Settings {
        let of = |source, allow: &[&str]| {
            Layer::from_value(source, &json!({"permissions": {"allow": allow}}))
        };
        let layers = vec![of(Source::Local, &["A"]), of(Source::User, &["B", "C"])];
        merge(layers).0
    }

    fn after(updates: &[Value]) -> Vec<String> {
        let mut settings = settings();
        for update in updates {
            settings.apply(&PermissionUpdate::read(update).unwrap());
        }
        shown(&settings.allow)
    }

    #[test]
    fn updates_change_the_settings_of_their_destination_and_no_others() {
        let rules = |kind: &str, to: &str, rules: &[&str]| json!({"type": kind, "behavior": "allow", "destination": to, "rules": rules});
        let first = rules("addRules", "localSettings", &["D", "A"]);
        assert_eq!(
            after(&[first]),
            ["A local[0]", "D local[1]", "B user[0]", "C user[1]"]
        );
        let session = rules("addRules", "session", &["E"]);
        assert_eq!(
            after(&[session]),
            ["A local[0]", "B user[0]", "C user[1]", "E session[0]"]
        );
        let replaced = rules("replaceRules", "userSettings", &["F"]);
        assert_eq!(after(&[replaced]), ["A local[0]", "F user[0]"]);
        let removed = rules("removeRules", "userSettings", &["B", "A"]);
        assert_eq!(after(&[removed]), ["A local[0]", "C user[1]"]);
    }

    #[test]
    fn rules_may_be_written_in_two_parts() {
        let update = json!({
            "type": "addRules", "behavior": "deny", "destination": "session",
            "rules": [{"toolName": "Bash", "ruleContent": "rm *"}, {"toolName": "Write"}],
        });
        let update = PermissionUpdate::read(&update).unwrap();
        assert_eq!(update.to_string(), "deny Bash(rm *), Write (session)");
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let cases = [
            (json!({}), "type: expected one of addRules"),
            (json!({"type": "x"}), "found \"x\""),
            (
                json!({"type": "addRules", "rules": []}),
                "behavior: expected allow, ask or deny, found null",
            ),
            (
                json!({"type": "addRules", "behavior": "deny"}),
                "rules: expected a list, found null",
            ),
            (
                json!({"type": "setMode", "mode": "x"}),
                "mode: expected a permission mode, found \"x\"",
            ),
            (
                json!({"type": "setMode", "mode": "plan"}),
                "destination: expected one of userSettings",
            ),
            (
                json!({"type": "addDirectories", "directories": [1]}),
                "directories: expected a list of paths, found [1]",
            ),
        ];
        for (value, says) in cases {
            let error = PermissionUpdate::read(&value).unwrap_err();
            assert!(error.contains(says), "{value}: {error}");
        }
    }
}
