//! What merging keeps, complains of and takes back.

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
    assert_eq!(
        shown(&settings.deny),
        ["Read(a) project[0]", "Read(b) project[1]"]
    );
    assert_eq!(settings.deny[0].origin.line, Some(3));
    assert_eq!(
        complaints[0].to_string(),
        "s.json:4:7: error: found '\\'', expected a value\n  hint: write double quotes"
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
