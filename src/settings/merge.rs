//! Merging the sources: lists one after the other, scalars by strength.

use super::node::{Data, Node};
use super::salvage::{mentions, restrictions};
use super::{Broken, Complaint, HooksOf, Layer, Origin, Placed, Settings, Severity, Source};
use crate::words::Mode;

/// Merges `layers`, given in any order; two of one source in the order given. Every
/// complaint is returned. Of a file with an error among them only what restricts is in
/// force, and [`Settings::broken`] says so; with an error elsewhere nothing should run.
pub fn merge(mut layers: Vec<Layer>) -> (Settings, Vec<Complaint>) {
    layers.sort_by_key(|layer| layer.source);
    let mut merging = Merging::default();
    for layer in &layers {
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
    /// As `managed_rules_only`, by a file that could not be read whole: allow rules only.
    managed_allow_only: bool,
    /// Who switches all hooks off.
    hooks_off: Option<Source>,
}

/// What the layers before one gave.
struct Before {
    complaints: usize,
    allow: usize,
    folders: usize,
    hooks: usize,
    mode: Option<(Mode, Source)>,
    managed_rules_only: bool,
    managed_hooks_only: bool,
    hooks_off: Option<Source>,
}

impl Merging {
    fn before(&self) -> Before {
        Before {
            complaints: self.complaints.len(),
            allow: self.settings.allow.len(),
            folders: self.settings.additional_directories.len(),
            hooks: self.settings.hooks.len(),
            mode: self.settings.default_mode,
            managed_rules_only: self.managed_rules_only,
            managed_hooks_only: self.managed_hooks_only,
            hooks_off: self.hooks_off,
        }
    }

    /// Adds one layer; of a file with an error, what restricts.
    fn add(&mut self, layer: &Layer) {
        let before = self.before();
        self.complaints.extend(layer.complaints.iter().cloned());
        self.whole(layer);
        let errors: Vec<Complaint> = self.complaints[before.complaints..]
            .iter()
            .filter(|complaint| complaint.is_error())
            .cloned()
            .collect();
        if layer.file.is_some() && !errors.is_empty() {
            self.only_restrictions(layer, &before);
            let source = layer.source;
            let broken = errors.into_iter();
            let broken = broken.map(|complaint| Broken { source, complaint });
            self.settings.broken.extend(broken);
        }
    }

    /// Takes back what a layer permits, and adds every restriction that its text may hold.
    fn only_restrictions(&mut self, layer: &Layer, before: &Before) {
        let settings = &mut self.settings;
        settings.allow.truncate(before.allow);
        settings.additional_directories.truncate(before.folders);
        for hooks in settings.hooks.iter_mut().skip(before.hooks) {
            hooks.only_restrict = true;
        }
        self.managed_rules_only = before.managed_rules_only;
        self.managed_hooks_only = before.managed_hooks_only;
        self.hooks_off = before.hooks_off;
        // What mode it asked for may be lost, so no weaker source may loosen its own.
        let restricts = |mode: Mode| matches!(mode, Mode::Plan | Mode::DontAsk);
        settings.default_mode = Some(match (before.mode, settings.default_mode) {
            (Some(stronger), _) => stronger,
            (None, Some(own)) if restricts(own.0) => own,
            (None, _) => (Mode::Default, layer.source),
        });
        let Some(text) = layer.broken.as_deref() else {
            return;
        };
        settings.bypass_disabled |= mentions(text, "disableBypassPermissionsMode");
        self.managed_allow_only |=
            layer.source == Source::Managed && mentions(text, "allowManagedPermissionRulesOnly");
        for found in restrictions(text) {
            let list = match found.denies {
                true => &mut settings.deny,
                false => &mut settings.ask,
            };
            let of_file = |p: &&Placed| p.origin.file == layer.file;
            if list.iter().filter(of_file).any(|p| p.text == found.text) {
                continue;
            }
            let node = Node {
                at: Some(found.at),
                data: Data::Null,
            };
            let index = of_source(list, layer.source);
            list.push(Placed {
                text: found.text,
                origin: origin(layer, &node, index),
            });
        }
    }

    fn whole(&mut self, layer: &Layer) {
        self.settings
            .raw
            .push((layer.source, layer.node.to_value()));
        let Data::Map(entries) = &layer.node.data else {
            if layer.complaints.is_empty() {
                self.wrong(layer, &layer.node, "", "an object");
            }
            return self.deep(layer, &layer.node);
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
                other if restricts(node) => {
                    self.wrong_key(layer, node, other);
                    self.deep(layer, node);
                }
                other => self.unused(layer, node, other),
            }
        }
    }

    fn permissions(&mut self, layer: &Layer, node: &Node) {
        let Data::Map(entries) = &node.data else {
            self.wrong(layer, node, "permissions", "an object");
            return self.deep(layer, node);
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

    /// What restricts below a value that is not what it should be.
    fn deep(&mut self, layer: &Layer, node: &Node) {
        match &node.data {
            Data::List(list) => list.iter().for_each(|node| self.deep(layer, node)),
            Data::Map(entries) => {
                for (key, node) in entries {
                    let list = match key.as_str() {
                        "deny" => &mut self.settings.deny,
                        "ask" => &mut self.settings.ask,
                        _ => {
                            self.deep(layer, node);
                            continue;
                        }
                    };
                    let first = of_source(list, layer.source);
                    any_texts(layer, node, first, list);
                }
            }
            _ => {}
        }
    }

    /// A list of texts, whose first has index `first`. Of another value, the texts that it
    /// holds: those of a list that permits go with the rest of its file.
    fn texts(&mut self, layer: &Layer, node: &Node, path: &str, first: usize) -> Vec<Placed> {
        let mut texts = Vec::new();
        let Data::List(list) = &node.data else {
            self.wrong(layer, node, path, "a list of texts");
            any_texts(layer, node, first, &mut texts);
            return texts;
        };
        for (i, entry) in list.iter().enumerate() {
            if !matches!(entry.data, Data::Text(_)) {
                self.wrong(layer, entry, &format!("{path}[{i}]"), "a text");
            }
            any_texts(layer, entry, first + i, &mut texts);
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
            only_restrict: false,
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

    /// A key that is not `permissions`, over what can be nothing else.
    fn wrong_key(&mut self, layer: &Layer, node: &Node, path: &str) {
        let found = "a key over deny and ask rules";
        let complaint = layer.complaint(Severity::Error, Some(node), path, found, "`permissions`");
        self.complaints.push(complaint);
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
        if self.managed_allow_only {
            settings
                .allow
                .retain(|placed| placed.origin.source == Source::Managed);
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
        self.broken.extend(others.broken);
        self.broken.sort_by_key(|broken| broken.source);
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

    /// Whether a complaint about these settings, or about rules of theirs, leaves nothing
    /// to go on with: an error that is not in a file of which only what restricts counts.
    pub fn stops(&self, complaint: &Complaint) -> bool {
        let broken = |b: &Broken| b.complaint.file == complaint.file;
        complaint.is_error() && !self.broken.iter().any(broken)
    }
}

/// Whether a value is an object with a list of deny or ask rules.
fn restricts(node: &Node) -> bool {
    let Data::Map(entries) = &node.data else {
        return false;
    };
    let list = |node: &Node| matches!(&node.data, Data::List(list) if !list.is_empty());
    entries
        .iter()
        .any(|(key, node)| matches!(key.as_str(), "deny" | "ask") && list(node))
}

/// Adds every text at or below `node`, keys among them: all of them at the same place of
/// their list.
fn any_texts(layer: &Layer, node: &Node, index: usize, into: &mut Vec<Placed>) {
    let mut add = |text: &str| {
        into.push(Placed {
            text: text.to_owned(),
            origin: origin(layer, node, index),
        });
    };
    match &node.data {
        Data::Text(text) => add(text),
        Data::List(list) => {
            for node in list {
                any_texts(layer, node, index, into);
            }
        }
        Data::Map(entries) => {
            for (key, _) in entries.iter().filter(|(key, _)| key.contains('(')) {
                add(key);
            }
            for (_, node) in entries {
                any_texts(layer, node, index, into);
            }
        }
        _ => {}
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
#[path = "merge_tests.rs"]
mod tests;
