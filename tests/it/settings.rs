//! Settings of a real project, and what becomes of those that cannot be used.

use proptest::prelude::*;
use proptest::sample::select;
use rehearsal::rule::{Anchors, compile};
use rehearsal::settings::{Layer, Settings, Source, from_path, merge};
use rehearsal::words::{Behavior, Mode};
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
    // Its bytes are there: what is wrong with them is told with the rest of it.
    assert_eq!(complaints(dir.path()), Vec::<String>::new());
    // What can be read of it still denies.
    let (settings, complaints) = merge(from_path(&file).0);
    assert_eq!(complaints[0].expected, "UTF-8");
    assert!(texts(&settings.deny).contains(&"Read(a) project[1]".to_owned()));
    assert_eq!(settings.broken.len(), 1);
}

#[test]
fn of_a_broken_file_only_what_restricts_is_in_force() {
    let whole = r#"{"permissions": {
  "deny": ["Read(a)"], "ask": ["Bash(b)"], "allow": ["Bash(c)"],
  "defaultMode": "acceptEdits", "additionalDirectories": ["/x"],
  "disableBypassPermissionsMode": "disable"},
 "hooks": {"Stop": []}, "disableAllHooks": true}"#;
    let breaks: [(&str, &str); 9] = [
        (r#"["Read(a)"]"#, r#"["Read(a)",]"#),
        (r#"["Read(a)"]"#, r#"["Read(a)" // the secret"#),
        (r#"["Read(a)"]"#, r#""Read(a)""#),
        (r#"["Read(a)"]"#, r#"[1, "Read(a)"]"#),
        (r#"["Read(a)"]"#, r#"[["Read(a)"]]"#),
        (r#"["Read(a)"]"#, r#"{"rule": "Read(a)"}"#),
        (r#""allow": ["#, r#""allow": [,"#),
        (r#""acceptEdits""#, r#""faster""#),
        (r#""permissions""#, r#""permission""#),
    ];
    let user = r#"{"permissions": {"defaultMode": "bypassPermissions", "allow": ["Bash(d)"]}}"#;
    for (from, to) in breaks {
        let text = whole.replacen(from, to, 1);
        let (settings, complaints) = merge(vec![
            Layer::from_text(Source::Local, "s.json", &text),
            Layer::from_text(Source::User, "u.json", user),
        ]);
        assert!(complaints.iter().any(|c| c.is_error()), "{text}");
        assert_eq!(settings.deny[0].text, "Read(a)", "{text}");
        assert_eq!(settings.ask[0].text, "Bash(b)", "{text}");
        assert_eq!(texts(&settings.allow), ["Bash(d) user[0]"], "{text}");
        assert_eq!(settings.additional_directories, [], "{text}");
        // What the broken file says of the mode may be lost: no weaker one loosens it.
        assert_eq!(settings.default_mode, Some((Mode::Default, Source::Local)));
        assert!(settings.hooks.iter().all(|hooks| hooks.only_restrict));
        assert!(!settings.broken.is_empty(), "{text}");
        assert!(
            settings.broken[0]
                .to_string()
                .starts_with("local settings: s.json")
        );
    }
    let (settings, complaints) = merge(vec![Layer::from_text(Source::Local, "s.json", whole)]);
    assert!(complaints.iter().all(|c| !c.is_error()));
    assert_eq!(texts(&settings.allow), ["Bash(c) local[0]"]);
    assert_eq!(settings.broken, []);
}

/// A settings file, and where in it the key of its deny list stands and each deny rule.
#[derive(Debug, Clone)]
struct Written {
    text: String,
    key: std::ops::Range<usize>,
    rules: Vec<(String, std::ops::Range<usize>)>,
}

fn written() -> impl Strategy<Value = Written> {
    let rule = select(&[
        "Read(.env)",
        "Read(secrets/**)",
        "Read(//etc/[ab]*)",
        "Bash(rm *)",
        "Bash(echo \"a, b\" (c)",
        "Bash(curl {a,b}:*)",
        "WebFetch(domain:x.com)",
        "mcp__tickets__*",
        "Write",
    ]);
    let first = prop::sample::subsequence(vec!["allow", "ask", "defaultMode"], 0..=3);
    (prop::collection::vec(rule, 1..5), first, any::<bool>()).prop_map(|(rules, first, spaced)| {
        let gap = if spaced { "\n    " } else { "" };
        let entry = |key: &&str| match *key {
            "defaultMode" => "\"defaultMode\": \"bypassPermissions\"".to_owned(),
            key => format!("\"{key}\": [\"Bash(ls *)\",{gap}\"Edit\"]"),
        };
        let all = ["allow", "ask", "defaultMode"];
        let (before, after): (Vec<&str>, Vec<&str>) =
            all.iter().partition(|key| first.contains(key));
        let mut text = format!("{{\"permissions\": {{{gap}");
        for key in &before {
            text.push_str(&format!("{},{gap}", entry(key)));
        }
        let key = text.len()..text.len() + "\"deny\":".len();
        text.push_str(&format!("\"deny\": [{gap}"));
        let mut places = Vec::new();
        for (at, rule) in rules.iter().enumerate() {
            if at > 0 {
                text.push_str(&format!(",{gap}"));
            }
            let json = json!(rule).to_string();
            let from = text.len() + 1;
            text.push_str(&json);
            places.push(((*rule).to_owned(), from..text.len() - 1));
        }
        text.push(']');
        for key in &after {
            text.push_str(&format!(",{gap}{}", entry(key)));
        }
        text.push_str("},\n \"model\": \"x\"}");
        Written {
            text,
            key,
            rules: places,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Whatever is cut off or put in the place of a few bytes, a rule of the deny list
    /// that is still there denies, and nothing that the broken file allows counts.
    #[test]
    fn no_break_of_a_file_loses_a_denial(
        file in written(),
        at in any::<prop::sample::Index>(),
        length in 0..6usize,
        instead in "[\\[\\]{}\"',:/\\\\x \n#]{0,3}",
        cut in any::<bool>(),
    ) {
        let from = at.index(file.text.len());
        let to = if cut { file.text.len() } else { (from + length).min(file.text.len()) };
        prop_assume!(to <= file.key.start || from >= file.key.end);
        let mut text = file.text.clone();
        text.replace_range(from..to, if cut { "" } else { &instead });
        let (settings, complaints) =
            merge(vec![Layer::from_text(Source::Project, "s.json", &text)]);
        let denied = texts(&settings.deny);
        let broken = complaints.iter().any(|c| c.is_error());
        let kept = file.key.start < from || to <= file.key.start;
        for (rule, place) in file.rules.iter().filter(|_| kept) {
            // What is put in beside a text belongs to it; what is only taken away does not.
            // In a file that is whole after all, its quotes are what makes it a rule.
            let beside = match (cut, instead.as_str()) {
                (true, _) => 0,
                (false, "") => usize::from(!broken),
                // A backslash before its quote joins it to what stands before.
                (false, put) => 1 + usize::from(!broken && put.ends_with('\\')),
            };
            let there = to + beside <= place.start || from >= place.end + beside;
            // A bare name that is glued to a word is another name.
            if there && (rule.ends_with(')') || stands_alone(&text, rule)) {
                let found = denied.iter().any(|d| d.rsplit_once(' ').unwrap().0 == rule);
                prop_assert!(found, "{rule} of {text}: {denied:?}");
            }
        }
        if broken {
            prop_assert_eq!(&settings.allow, &[]);
            let (mode, _) = settings.default_mode.unwrap();
            prop_assert!(mode == Mode::Default, "{mode:?} of {text}");
            let (set, _) = compile(&settings, &Anchors::new("/w", "/h"), &memory());
            prop_assert!(set.rules().all(|rule| rule.behavior != Behavior::Allow));
        }
    }
}

fn stands_alone(text: &str, name: &str) -> bool {
    let in_name = |c: char| c.is_alphanumeric() || "_-*".contains(c);
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        ![before, after].into_iter().flatten().any(in_name)
    })
}

fn memory() -> MemoryFs {
    MemoryFs::new(MemoryOptions::default())
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
