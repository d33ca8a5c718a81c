//! Merging the sources: lists one after the other, scalars by strength.

use super::node::{Data, Node};
use super::{Complaint, HooksOf, Layer, Origin, Placed, Settings, Severity, Source};
use crate::words::Mode;

/// Merges `layers`, given in any order; two of one source in the order given. Every
/// complaint is returned; with an error among them, the settings hold what could be
/// read, which is no fewer denials than the readable part had.
pub fn merge(mut layers: Vec<Layer>) -> (Settings, Vec<Complaint>) {
    layers.sort_by_key(|layer| layer.source);
    let mut merging = Merging::default();
    for layer in &layers {
        merging.complaints.extend(layer.complaints.iter().cloned());
        merging.add(layer);
    }
    merging.finish()
}

#[derive(Default)]
struct Merging {
    settings: Settings,
    complaints: Vec<Complaint>,
    managed_rules_only: bool,
    managed_hooks_only: bool,
    /// Who switches all hooks off.
    hooks_off: Option<Source>,
}

impl Merging {
    fn add(&mut self, layer: &Layer) {
        self.settings
            .raw
            .push((layer.source, layer.node.to_value()));
        let Data::Map(entries) = &layer.node.data else {
            if layer.complaints.is_empty() {
                self.wrong(layer, &layer.node, "", "an object");
            }
            return;
        };
        self.twice(layer, entries, "");
        for (key, node) in entries {
            match key.as_str() {
                "permissions" => self.permissions(layer, node),
                "hooks" => self.hooks(layer, node),
                "disableAllHooks" => {
                    if self.flag(layer, node, key) {
                        self.hooks_off.get_or_insert(layer.source);
                    }
                }
                "allowManagedPermissionRulesOnly" if layer.source == Source::Managed => {
                    self.managed_rules_only |= self.flag(layer, node, key);
                }
                "allowManagedHooksOnly" if layer.source == Source::Managed => {
                    self.managed_hooks_only |= self.flag(layer, node, key);
                }
                "$schema" => {}
                other => self.unused(layer, node, other),
            }
        }
    }

    fn permissions(&mut self, layer: &Layer, node: &Node) {
        let Data::Map(entries) = &node.data else {
            return self.wrong(layer, node, "permissions", "an object");
        };
        self.twice(layer, entries, "permissions.");
        for (key, node) in entries {
            let path = format!("permissions.{key}");
            match key.as_str() {
                "deny" => {
                    let first = of_source(&self.settings.deny, layer.source);
                    let list = self.texts(layer, node, &path, first);
                    self.settings.deny.extend(list);
                }
                "ask" => {
                    let first = of_source(&self.settings.ask, layer.source);
                    let list = self.texts(layer, node, &path, first);
                    self.settings.ask.extend(list);
                }
                "allow" => {
                    let first = of_source(&self.settings.allow, layer.source);
                    let list = self.texts(layer, node, &path, first);
                    self.settings.allow.extend(list);
                }
                "additionalDirectories" => {
                    let list = self.texts(layer, node, &path, 0);
                    self.settings.additional_directories.extend(list);
                }
                "defaultMode" => self.mode(layer, node, &path),
                "disableBypassPermissionsMode" => match &node.data {
                    Data::Text(word) if word == "disable" => self.settings.bypass_disabled = true,
                    _ => self.wrong(layer, node, &path, "\"disable\""),
                },
                _ => self.unused(layer, node, &path),
            }
        }
    }

    /// A list of texts, whose first has index `first`.
    fn texts(&mut self, layer: &Layer, node: &Node, path: &str, first: usize) -> Vec<Placed> {
        let Data::List(list) = &node.data else {
            self.wrong(layer, node, path, "a list of texts");
            return Vec::new();
        };
        let mut texts = Vec::new();
        for (i, entry) in list.iter().enumerate() {
            let Data::Text(text) = &entry.data else {
                self.wrong(layer, entry, &format!("{path}[{i}]"), "a text");
                continue;
            };
            texts.push(Placed {
                text: text.clone(),
                origin: origin(layer, entry, first + i),
            });
        }
        texts
    }

    fn mode(&mut self, layer: &Layer, node: &Node, path: &str) {
        let modes = Mode::ALL.iter().map(|m| m.as_str()).collect::<Vec<_>>();
        let expected = format!("one of {}", modes.join(", "));
        let mode = match &node.data {
            Data::Text(word) if word == "manual" => Mode::Default,
            Data::Text(word) => match Mode::from_word(word) {
                Some(mode) => mode,
                None => return self.wrong(layer, node, path, &expected),
            },
            _ => return self.wrong(layer, node, path, &expected),
        };
        self.settings
            .default_mode
            .get_or_insert((mode, layer.source));
    }

    fn hooks(&mut self, layer: &Layer, node: &Node) {
        if !matches!(node.data, Data::Map(_)) {
            return self.wrong(layer, node, "hooks", "an object of events");
        }
        self.settings.hooks.push(HooksOf {
            value: node.to_value(),
            origin: origin(layer, node, 0),
        });
    }

    fn flag(&mut self, layer: &Layer, node: &Node, path: &str) -> bool {
        match node.data {
            Data::Bool(flag) => flag,
            _ => {
                self.wrong(layer, node, path, "true or false");
                false
            }
        }
    }

    fn wrong(&mut self, layer: &Layer, node: &Node, path: &str, expected: &str) {
        let found = node.describe();
        self.complaints
            .push(layer.complaint(Severity::Error, Some(node), path, found, expected));
    }

    fn unused(&mut self, layer: &Layer, node: &Node, path: &str) {
        let complaint = layer.complaint(
            Severity::Warning,
            Some(node),
            path,
            "a key that is not used here",
            "a key of permissions or hooks",
        );
        self.complaints.push(complaint.hint("it is kept"));
    }

    /// Complains of keys that stand twice: other readers would drop one of them.
    fn twice(&mut self, layer: &Layer, entries: &[(String, Node)], above: &str) {
        for (i, (key, node)) in entries.iter().enumerate() {
            if entries[..i].iter().any(|(earlier, _)| earlier == key) {
                let complaint = layer.complaint(
                    Severity::Error,
                    Some(node),
                    format!("{above}{key}"),
                    "the same key a second time",
                    "each key once",
                );
                self.complaints.push(complaint.hint("put both into one"));
            }
        }
    }

    fn finish(mut self) -> (Settings, Vec<Complaint>) {
        let settings = &mut self.settings;
        if self.managed_rules_only {
            for list in [&mut settings.allow, &mut settings.ask, &mut settings.deny] {
                list.retain(|placed| placed.origin.source == Source::Managed);
            }
        }
        if self.managed_hooks_only {
            settings
                .hooks
                .retain(|hooks| hooks.origin.source == Source::Managed);
        }
        if let Some(by) = self.hooks_off {
            // Nobody but an administrator can switch an administrator's hooks off.
            settings
                .hooks
                .retain(|hooks| hooks.origin.source == Source::Managed && by != Source::Managed);
        }
        if settings.bypass_disabled
            && matches!(settings.default_mode, Some((Mode::BypassPermissions, _)))
        {
            settings.default_mode = None;
        }
        (self.settings, self.complaints)
    }
}

impl Settings {
    /// These and `others` as one: every list holds both, those of one source one after
    /// the other; of two scalars the stronger source's holds, and of one source that of
    /// `others`.
    pub fn and(mut self, others: Settings) -> Settings {
        for (list, more) in [
            (&mut self.allow, others.allow),
            (&mut self.ask, others.ask),
            (&mut self.deny, others.deny),
            (
                &mut self.additional_directories,
                others.additional_directories,
            ),
        ] {
            join(list, more);
        }
        self.default_mode = match (self.default_mode, others.default_mode) {
            (Some(own), Some(theirs)) if own.1 < theirs.1 => Some(own),
            (own, theirs) => theirs.or(own),
        };
        self.bypass_disabled |= others.bypass_disabled;
        self.hooks.extend(others.hooks);
        self.hooks.sort_by_key(|hooks| hooks.origin.source);
        self.raw.extend(others.raw);
        self.raw.sort_by_key(|(source, _)| *source);
        self
    }
}

impl Settings {
    /// What counts of them in a workspace that is not trusted (`semantics.md §1.5`): the
    /// project's allow rules and additional folders do not, its deny and ask rules do.
    pub fn without_trust(mut self) -> Settings {
        for list in [&mut self.allow, &mut self.additional_directories] {
            list.retain(|placed| placed.origin.source != Source::Project);
        }
        self
    }
}

/// Adds `more` to `list`, numbered on behind what its source has there.
fn join(list: &mut Vec<Placed>, more: Vec<Placed>) {
    let before: Vec<(Source, usize)> = Source::ALL
        .iter()
        .map(|source| (*source, of_source(list, *source)))
        .collect();
    for mut placed in more {
        let source = placed.origin.source;
        let first = before.iter().find(|(of, _)| *of == source);
        // Of a file, the index is the place in that file.
        if placed.origin.file.is_none() {
            let first = u32::try_from(first.map_or(0, |(_, n)| *n)).unwrap_or(u32::MAX);
            placed.origin.index = placed.origin.index.saturating_add(first);
        }
        list.push(placed);
    }
    list.sort_by_key(|placed| placed.origin.source);
}

/// How many of `list` an earlier list of the same source gave.
fn of_source(list: &[Placed], source: Source) -> usize {
    list.iter().filter(|p| p.origin.source == source).count()
}

fn origin(layer: &Layer, node: &Node, index: usize) -> Origin {
    Origin {
        source: layer.source,
        index: u32::try_from(index).unwrap_or(u32::MAX),
        file: layer.file.clone(),
        line: node.at.map(|(line, _)| line),
        column: node.at.map(|(_, column)| column),
        anchor: layer.anchor.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(list: &[Placed]) -> Vec<String> {
        list.iter()
            .map(|p| format!("{} {}[{}]", p.text, p.origin.source, p.origin.index))
            .collect()
    }

    #[test]
    fn lists_are_merged_and_scalars_are_the_strongest_sources() {
        let layers = vec![
            Layer::from_value(
                Source::User,
                &json!({"permissions": {"deny": ["A"], "defaultMode": "plan"}}),
            ),
            Layer::from_value(
                Source::Local,
                &json!({"permissions": {"deny": ["B", "C"], "defaultMode": "acceptEdits"}}),
            ),
            Layer::from_value(Source::Managed, &json!({"permissions": {"deny": ["D"]}})),
        ];
        let (settings, complaints) = merge(layers);
        assert_eq!(complaints, []);
        assert_eq!(
            shown(&settings.deny),
            ["D managed[0]", "B local[0]", "C local[1]", "A user[0]"]
        );
        assert_eq!(
            settings.default_mode,
            Some((Mode::AcceptEdits, Source::Local))
        );
    }

    #[test]
    fn a_broken_file_is_an_error_with_its_place_and_keeps_what_it_denies() {
        let text = "{\n  \"permissions\": {\n    \"deny\": [\"Read(a)\",\n      'Read(b)']\n  }\n}";
        let (settings, complaints) = merge(vec![Layer::from_text(Source::Project, "s.json", text)]);
        assert_eq!(shown(&settings.deny), ["Read(a) project[0]"]);
        assert_eq!(settings.deny[0].origin.line, Some(3));
        assert_eq!(
            complaints[0].to_string(),
            "s.json:4:7: error: found '\\'', expected a value"
        );
    }

    #[test]
    fn a_key_that_stands_twice_loses_nothing() {
        let text = r#"{"permissions": {"deny": ["A"], "allow": ["X"], "deny": ["B"]}}"#;
        let (settings, complaints) = merge(vec![Layer::from_text(Source::User, "s.json", text)]);
        assert_eq!(shown(&settings.deny), ["A user[0]", "B user[1]"]);
        assert_eq!(complaints.len(), 1);
        assert!(complaints[0].is_error());
        assert_eq!(complaints[0].path, "permissions.deny");
    }

    #[test]
    fn everything_wrong_is_told_at_once() {
        let value = json!({
            "model": "x",
            "permissions": {"deny": "Read(a)", "allow": [1], "defaultMode": "yolo", "denny": []},
            "hooks": [],
        });
        let (settings, complaints) = merge(vec![Layer::from_value(Source::Cli, &value)]);
        let mut told: Vec<String> = complaints.iter().map(ToString::to_string).collect();
        told.sort();
        assert_eq!(
            told,
            [
                "cli settings: error: hooks: found a list, expected an object of events",
                "cli settings: error: permissions.allow[0]: found 1, expected a text",
                "cli settings: error: permissions.defaultMode: found \"yolo\", expected one of \
                 default, acceptEdits, plan, auto, dontAsk, bypassPermissions",
                "cli settings: error: permissions.deny: found \"Read(a)\", expected a list of texts",
                "cli settings: warning: model: found a key that is not used here, expected a key \
                 of permissions or hooks\n  hint: it is kept",
                "cli settings: warning: permissions.denny: found a key that is not used here, \
                 expected a key of permissions or hooks\n  hint: it is kept",
            ]
        );
        assert_eq!(settings.raw, [(Source::Cli, value)]);
    }

    #[test]
    fn an_administrator_has_the_last_word() {
        let managed = json!({
            "allowManagedPermissionRulesOnly": true,
            "allowManagedHooksOnly": true,
            "permissions": {"deny": ["A"], "disableBypassPermissionsMode": "disable"},
            "hooks": {"Stop": []},
        });
        let user = json!({
            "disableAllHooks": true,
            "permissions": {"allow": ["B"], "defaultMode": "bypassPermissions"},
            "hooks": {"PreToolUse": []},
        });
        let (settings, complaints) = merge(vec![
            Layer::from_value(Source::User, &user),
            Layer::from_value(Source::Managed, &managed),
        ]);
        assert_eq!(complaints, []);
        assert_eq!(shown(&settings.deny), ["A managed[0]"]);
        assert!(settings.allow.is_empty());
        assert_eq!(settings.default_mode, None);
        let hooks: Vec<Source> = settings.hooks.iter().map(|h| h.origin.source).collect();
        assert_eq!(hooks, [Source::Managed]);
    }
}
