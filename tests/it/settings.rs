//! Settings of a real project, and what becomes of those that cannot be used.

use rehearsal::rule::{Anchors, compile};
use rehearsal::settings::{Layer, Settings, Source, from_path, merge};
use rehearsal::words::Mode;
use rehearsal::world::{MemoryFs, MemoryOptions};
use serde_json::{Value, json};
use std::path::Path;

fn texts(list: &[rehearsal::settings::Placed]) -> Vec<String> {
    let shown = |p: &rehearsal::settings::Placed| {
        format!("{} {}[{}]", p.text, p.origin.source, p.origin.index)
    };
    list.iter().map(shown).collect()
}

fn of(source: Source, value: Value) -> Settings {
    merge(vec![Layer::from_value(source, &value)]).0
}

#[test]
fn a_project_its_folder_and_one_file() {
    let project = Path::new("fixtures/projects/typical");
    let sources = |path: &Path| {
        let (layers, complaints) = from_path(path);
        assert_eq!(complaints, []);
        layers.iter().map(|layer| layer.source).collect::<Vec<_>>()
    };
    assert_eq!(sources(project), [Source::Local, Source::Project]);
    assert_eq!(
        sources(&project.join(".claude")),
        [Source::Local, Source::Project]
    );
    let file = project.join(".claude/settings.json");
    assert_eq!(sources(&file), [Source::Project]);
}

#[test]
fn what_is_not_there_or_cannot_be_read_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let complaints = |path: &Path| {
        let complaints = from_path(path).1;
        assert!(complaints.iter().all(|c| c.is_error()));
        complaints
            .iter()
            .map(|c| c.found.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(complaints(dir.path()), ["none"]);
    let file = dir.path().join("settings.json");
    std::fs::write(
        &file,
        b"{\"permissions\": {\"deny\": [\"Read(\xff)\", \"Read(a)\"]}}",
    )
    .unwrap();
    assert_eq!(complaints(dir.path()), ["bytes that are no UTF-8"]);
    // What can be read of it still denies.
    let (settings, _) = merge(from_path(&file).0);
    assert_eq!(settings.deny.len(), 2);
}

#[test]
fn settings_beside_others_take_nothing_away() {
    let own = json!({"permissions": {"deny": ["A"], "allow": ["B"], "defaultMode": "plan"}});
    let more = json!({"permissions": {
        "deny": ["C"], "defaultMode": "acceptEdits", "disableBypassPermissionsMode": "disable",
        "additionalDirectories": ["../x"],
    }});
    let both = of(Source::Project, own.clone()).and(of(Source::Project, more.clone()));
    assert_eq!(texts(&both.deny), ["A project[0]", "C project[1]"]);
    assert_eq!(texts(&both.allow), ["B project[0]"]);
    assert_eq!(
        both.default_mode,
        Some((Mode::AcceptEdits, Source::Project))
    );
    assert!(both.bypass_disabled);
    let folders = Anchors::new("/p/a", "/home/u").working_folders(&both);
    assert_eq!(folders, ["/p/x"]);
    // The stronger source has the word, from whichever side it comes.
    let local = of(Source::Local, own).and(of(Source::User, more));
    assert_eq!(local.default_mode, Some((Mode::Plan, Source::Local)));
    assert_eq!(texts(&local.deny), ["A local[0]", "C user[0]"]);
}

#[test]
fn without_trust_a_project_restricts_and_permits_nothing() {
    let all = json!({"permissions": {
        "deny": ["A"], "ask": ["B"], "allow": ["C"], "additionalDirectories": ["/x"],
    }});
    let project = of(Source::Project, all.clone()).without_trust();
    assert_eq!(texts(&project.deny), ["A project[0]"]);
    assert_eq!(texts(&project.ask), ["B project[0]"]);
    assert_eq!(texts(&project.allow), [""; 0]);
    assert_eq!(texts(&project.additional_directories), [""; 0]);
    for source in Source::ALL.iter().filter(|s| **s != Source::Project) {
        let whole = of(*source, all.clone());
        assert_eq!(whole.clone().without_trust(), whole, "{source}");
    }
}

/// B007: a path of Windows in a deny rule is said at once; nothing runs as if it were not there.
#[test]
fn a_deny_rule_with_a_path_of_windows_is_an_error() {
    let rules = [
        "Edit(C:\\Users\\m\\.claude\\*.json)",
        "Read(c:/x)",
        "Read(\\\\srv\\x)",
    ];
    let fs = MemoryFs::new(MemoryOptions::default());
    for rule in rules {
        let settings = of(Source::User, json!({"permissions": {"deny": [rule]}}));
        let (_, complaints) = compile(&settings, &Anchors::new("/p", "/home/u"), &fs);
        let errors: Vec<bool> = complaints.iter().map(|c| c.is_error()).collect();
        assert_eq!(errors, [true], "{rule}");
        assert!(complaints[0].hint.is_some(), "{rule}");
    }
}
