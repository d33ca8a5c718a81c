//! `rehearsal explain` through the built program.

use proptest::prelude::*;
use proptest::sample::select;
use rehearsal::explain::{Question, UserSays, explain as explain_call};
use rehearsal::model::{ScriptedCall, Turn};
use rehearsal::run::{Setup, run};
use rehearsal::settings::{Layer, Source, merge};
use rehearsal::trace::Event;
use rehearsal::words::{Behavior, Mode};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Ran {
    fn json(&self) -> Vec<Value> {
        let lines = self.stdout.lines();
        let read = lines.map(|line| serde_json::from_str(line).expect("a line of JSON"));
        read.collect()
    }
}

fn explain(args: &[&str]) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_rehearsal"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .arg("explain")
        .args(args)
        .stdin(Stdio::null())
        .env_clear()
        .output()
        .expect("the program starts");
    Ran {
        code: output.status.code().expect("it was not killed"),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

const TYPICAL: &str = "fixtures/projects/typical";
const GREETING: &str = "fixtures/recordings/greeting.jsonl";

/// Settings in a file of their own.
fn settings(value: &Value) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("settings.json");
    std::fs::write(&path, value.to_string()).expect("writes");
    let name = path.display().to_string();
    (folder, name)
}

fn shell(command: &str) -> String {
    json!({"command": command}).to_string()
}

/// The answer for one command line under some rules, as JSON.
fn answer(rules: &Value, command: &str, more: &[&str]) -> Value {
    let (_folder, file) = settings(&json!({"permissions": rules}));
    let input = shell(command);
    let mut args = vec![
        "--json",
        "--settings",
        &file,
        "--tool",
        "Bash",
        "--input",
        &input,
    ];
    args.extend(more);
    let ran = explain(&args);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran.json().remove(0)
}

#[test]
fn a_removal_behind_an_assignment_in_a_typical_project() {
    let input = shell("FOO=1 rm -rf build && echo ok");
    let ran = explain(&["--settings", TYPICAL, "--tool", "Bash", "--input", &input]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    insta::assert_snapshot!(ran.stdout);
}

#[test]
fn what_only_the_user_could_decide() {
    let input = shell("git push origin main");
    let ran = explain(&["--settings", TYPICAL, "--tool", "Bash", "--input", &input]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    insta::assert_snapshot!(ran.stdout);
}

#[test]
fn an_ask_names_its_rule_and_the_users_answer_decides_it() {
    let rules = json!({"ask": ["Bash(make *)"]});
    let asked = answer(&rules, "make all", &[]);
    assert_eq!(asked["behavior"], "ask");
    assert_eq!(
        (&asked["layer"], &asked["rule"]),
        (&json!("rule"), &json!("Bash(make *)"))
    );
    assert_eq!(
        (&asked["source"], &asked["index"]),
        (&json!("project"), &json!(0))
    );
    assert_eq!(asked["layers"].as_array().map(Vec::len), Some(5));
    for (user, behavior) in [("allow", "allow"), ("deny", "deny"), ("none", "deny")] {
        let answered = answer(&rules, "make all", &["--user", user]);
        assert_eq!(answered["behavior"], behavior, "{user}");
        assert_eq!(answered["layer"], "user", "{user}");
    }
    let nobody = answer(&json!({}), "make all", &[]);
    assert_eq!(
        (&nobody["behavior"], &nobody["layer"]),
        (&json!("ask"), &json!("user"))
    );
}

#[test]
fn a_tool_that_a_bare_deny_takes_away_is_denied_by_that_rule() {
    let removed = answer(
        &json!({"deny": ["Bash"], "allow": ["Bash(ls *)"]}),
        "ls -l",
        &[],
    );
    assert_eq!(removed["behavior"], "deny");
    assert_eq!(removed["reason"], "tool_removed");
    assert_eq!(
        (&removed["layer"], &removed["rule"]),
        (&json!("rule"), &json!("Bash"))
    );
    let change = &removed["changes"][0];
    assert_eq!(change["change"], "without `Bash`");
    assert_eq!(
        (&change["behavior"], &change["rule"]),
        (&json!("allow"), &json!("Bash(ls *)"))
    );
}

#[test]
fn every_change_that_is_named_was_tried() {
    let rules = json!({"deny": ["Bash(rm *)", "Bash(rm -rf *)"], "ask": ["Bash(rm -rf build)"]});
    let explained = answer(&rules, "rm -rf build", &[]);
    let of = |text: &str| {
        let changes = explained["changes"].as_array().expect("a list").iter();
        let found = changes.filter(|change| change["change"] == text);
        found.map(|change| change["behavior"].clone()).next()
    };
    assert_eq!(
        of("without `Bash(rm *)`"),
        None,
        "the second denial still holds"
    );
    let both = "without `Bash(rm *)` and `Bash(rm -rf *)`";
    assert_eq!(of(both), Some(json!("ask")));
    assert_eq!(of("in mode bypassPermissions"), None);
}

#[test]
fn what_no_rule_reaches_a_grant_of_the_session_does() {
    let input = json!({"file_path": "~/.bashrc", "content": ""}).to_string();
    let profile = ["--profile", "claude-code-2.1.332"];
    let call = [
        "--json",
        "--mode",
        "acceptEdits",
        "--cwd",
        "/home/user",
        "--tool",
        "Write",
    ];
    let ran = explain(&[&call[..], &["--input", &input], &profile].concat());
    let answer = ran.json().remove(0);
    assert_eq!(answer["reason"], "protected", "{answer}");
    let changes = answer["changes"].as_array().expect("a list").iter();
    let allows = changes.filter(|change| change["behavior"] == "allow");
    let allows: Vec<&str> = allows
        .filter_map(|change| change["change"].as_str())
        .collect();
    assert_eq!(
        allows,
        [
            "with `Edit(//home/user/.bashrc)` granted for the session",
            "in mode bypassPermissions",
            "if a PreToolUse hook says allow",
            "if the user says yes",
        ]
    );
}

#[test]
fn a_link_leads_where_the_flags_say() {
    let (_folder, file) = settings(&json!({"permissions": {"deny": ["Read(//etc/**)"]}}));
    let input = json!({"file_path": "passwd"}).to_string();
    let call = [
        "--json",
        "--settings",
        &file,
        "--tool",
        "Read",
        "--input",
        &input,
    ];
    let plain = explain(&[&call[..], &["--file", "passwd=x"]].concat()).json();
    assert_eq!(plain[0]["behavior"], "allow");
    let link = ["--file", "/etc/passwd", "--symlink", "passwd=/etc/passwd"];
    let linked = explain(&[&call[..], &link].concat()).json();
    assert_eq!(
        (&linked[0]["behavior"], &linked[0]["layer"]),
        (&json!("deny"), &json!("rule"))
    );
}

#[test]
fn the_exit_code_says_whether_it_is_as_expected() {
    let input = shell("ls");
    let call = ["--tool", "Bash", "--input", &input, "--expect"];
    assert_eq!(explain(&[&call[..], &["allow"]].concat()).code, 0);
    let differs = explain(&[&call[..], &["deny"]].concat());
    assert_eq!(differs.code, 1);
    assert_eq!(differs.stderr, "error: expected deny, found allow\n");
}

#[test]
fn what_cannot_be_explained_is_bad_input() {
    let (_folder, broken) = settings(&json!({"permissions": {"deny": ["Bash(x"]}}));
    let input = shell("ls");
    let cases: [&[&str]; 6] = [
        &["--tool", "Bash", "--input", "{"],
        &["--tool", "bash", "--input", &input],
        &["--tool", "Bash", "--input", "{\"command\": 1}"],
        &["--tool", "Bash", "--input", &input, "--settings", &broken],
        &[
            "--tool",
            "Bash",
            "--input",
            &input,
            "--settings",
            "not/there",
        ],
        &["--tool", "Bash", "--input", &input, "--symlink", "x"],
    ];
    for args in cases {
        let ran = explain(args);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.stdout);
        assert!(
            ran.stderr.starts_with("error: ") || ran.stderr.contains(": error: "),
            "{}",
            ran.stderr
        );
        assert_eq!(ran.stdout, "");
    }
}

#[test]
fn a_broken_file_is_answered_by_what_restricts_and_is_bad_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("settings.json");
    let text = "{\"permissions\": {\"allow\": [\"Bash(make *)\"],\n \"deny\": [\"Bash(rm *)\",]}}";
    std::fs::write(&path, text).expect("writes");
    let name = path.display().to_string();
    let ask = |command: &str, more: &[&str]| {
        let input = shell(command);
        let call = [
            "--json",
            "--tool",
            "Bash",
            "--input",
            &input,
            "--settings",
            &name,
        ];
        explain(&[&call[..], more].concat())
    };
    let denied = ask("rm x", &["--expect", "deny"]);
    assert_eq!(denied.json()[0]["behavior"], "deny");
    assert_eq!(denied.json()[0]["rule"], "Bash(rm *)");
    assert_eq!(denied.code, 2);
    assert_eq!(
        denied.stderr,
        format!(
            "{name}:2:24: error: found ']', expected a value\n  \
             hint: leave the comma before it away\n\
             note: what can be read of its deny and ask rules is in force, and nothing that it allows\n"
        )
    );
    let asked = ask("make all", &[]);
    assert_eq!(asked.json()[0]["behavior"], "ask");
    let why = asked.json()[0]["layers"][0]["why"].to_string();
    assert!(why.contains("could not be read whole"), "{why}");
    assert_eq!(asked.code, 2);
    let over = explain(&[GREETING, "--settings", &name]);
    assert_eq!(over.code, 2, "{}", over.stderr);
    assert!(over.stdout.contains("calls"), "{}", over.stdout);
}

#[test]
fn rules_without_effect_are_told_of() {
    let rules = json!({"deny": ["Write(secret)"], "allow": ["mcp__*"]});
    let (_folder, file) = settings(&json!({"permissions": rules, "model": "x"}));
    let input = shell("ls");
    let call = ["--settings", &file, "--tool", "Bash", "--input", &input];
    let ran = explain(&call);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for told in ["`Write(secret)`", "`mcp__*`", "model"] {
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
    assert_eq!(ran.stderr.matches("warning: ").count(), 3, "{}", ran.stderr);
    assert_eq!(explain(&[&call[..], &["--quiet"]].concat()).stderr, "");
}

#[test]
fn over_a_recording_nothing_flips_and_useless_rules_are_named() {
    let rules = json!({
        "ask": ["Edit", "Edit(**)"],
        "allow": ["Bash(npm *)"],
        "deny": ["Read(.env)"],
    });
    let (_folder, file) = settings(&json!({"permissions": rules}));
    let ran = explain(&["--json", "--settings", &file, GREETING]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let lines = ran.json();
    assert_eq!(lines.len(), 5);
    let summary = &lines[4]["summary"];
    assert_eq!(
        (&summary["calls"], &summary["flips"]),
        (&json!(4), &json!(0))
    );
    let of = |rule: &str| {
        let mut rules = summary["rules"].as_array().expect("a list").iter();
        rules
            .find(|one| one["rule"] == rule)
            .expect("is listed")
            .clone()
    };
    assert_eq!(of("Edit")["decided"], 1);
    assert_eq!(
        (
            &of("Edit(**)")["decided"],
            &of("Edit(**)")["preempted_by"]["`Edit`"]
        ),
        (&json!(0), &json!(1))
    );
    assert_eq!(of("Bash(npm *)")["matched"], 0);
    assert_eq!(summary["shadowed"], json!(["Edit(**)"]));
    assert_eq!(summary["never_fired"], json!(["Read(.env)", "Bash(npm *)"]));
    let text = explain(&["--settings", &file, GREETING]).stdout;
    assert!(
        text.contains("\nshadowed: another always decides\n  `Edit(**)`"),
        "{text}"
    );
    assert!(
        text.contains("\nnever fired: no call is theirs\n  `Read(.env)`"),
        "{text}"
    );
}

#[test]
fn a_decision_that_flips_ends_with_one() {
    let (_folder, file) = settings(&json!({"permissions": {"deny": ["Edit"]}}));
    let ran = explain(&["--json", "--settings", &file, GREETING]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let flips: Vec<Value> = ran
        .json()
        .into_iter()
        .filter(|line| line["flips"] == true)
        .collect();
    assert_eq!(flips.len(), 1);
    for flip in &flips {
        assert_eq!(
            (&flip["old"]["behavior"], &flip["new"]["behavior"]),
            (&json!("allow"), &json!("deny"))
        );
        assert_eq!(flip["new"]["rule"], "Edit");
    }
}

#[test]
fn without_settings_it_says_what_is_assumed() {
    let ran = explain(&[GREETING]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert!(ran.stderr.contains("no --settings"), "{}", ran.stderr);
}

#[test]
fn all_recordings_are_decided_about() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/claude-code");
    if !folder.is_dir() {
        eprintln!("skipped: the recordings are not beside this checkout");
        return;
    }
    let ran = explain(&[
        "--json",
        "--settings",
        TYPICAL,
        &folder.display().to_string(),
    ]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let lines = ran.json();
    let summary = &lines.last().expect("a summary")["summary"];
    let number = |key: &str| summary[key].as_u64().expect("a number");
    assert_eq!(lines.len() as u64, number("calls") + 1);
    assert!(number("compared") * 100 > number("calls") * 95, "{summary}");
    assert!(
        number("flips") > 0 && number("unreadable") == 0,
        "{summary}"
    );
}

/// Rules that match some of the calls below and not others.
const RULES: &[&str] = &[
    "Bash",
    "Bash(make *)",
    "Bash(rm *)",
    "Bash(ls *)",
    "Edit(src/**)",
    "Edit(.git/**)",
    "Read(//etc/**)",
    "Write",
];

fn some_call() -> impl Strategy<Value = (&'static str, Value)> {
    let lines = [
        "make all",
        "rm -r src",
        "ls src",
        "make && rm x",
        "FOO=1 rm x",
        "echo 'x",
    ];
    let paths = ["src/a", ".git/x", "/etc/x", "b"];
    prop_oneof![
        select(lines.to_vec()).prop_map(|line| ("Bash", json!({"command": line}))),
        select(paths.to_vec())
            .prop_map(|path| ("Write", json!({"file_path": path, "content": "x"}))),
        select(paths.to_vec()).prop_map(|path| ("Read", json!({"file_path": path}))),
    ]
}

fn some_rules() -> impl Strategy<Value = Vec<&'static str>> {
    proptest::collection::vec(select(RULES), 0..3)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// What is explained is what a run would decide: the same layers, the same rule, the
    /// same verdict of every layer.
    #[test]
    fn a_run_decides_what_is_explained(
        (tool, input) in some_call(),
        (deny, ask, allow) in (some_rules(), some_rules(), some_rules()),
        mode in select(Mode::ALL),
    ) {
        let permissions = json!({"deny": deny, "ask": ask, "allow": allow, "defaultMode": mode.as_str()});
        let layer = Layer::from_value(Source::Project, &json!({"permissions": permissions}));
        let (settings, complaints) = merge(vec![layer]);
        prop_assert_eq!(complaints, []);
        let call = ScriptedCall { tool: tool.to_owned(), id: None, input: input.to_string() };
        let setup = Setup {
            settings: settings.clone(),
            turns: vec![Turn { calls: vec![call], ..Turn::default() }],
            ..Setup::default()
        };
        let question = Question {
            tool: tool.to_owned(),
            input,
            settings,
            profile: Arc::new(setup.profile.clone()),
            mode: None,
            cwd: setup.cwd.clone(),
            home: setup.home.clone(),
            fs: setup.fs.snapshot(),
            hook: None,
            user: Some(UserSays::Nobody),
        };
        let ruling = explain_call(&question).expect("it comes to a decision").ruling;
        let report = run(setup).expect("it begins");
        let decided = report.trace.lines.iter().find_map(|line| match &line.event {
            Event::Decision(decision) => Some(decision.clone()),
            _ => None,
        });
        let Some(decided) = decided else {
            // The tool is not in the pool, and the model is told so.
            prop_assert_eq!(ruling.behavior, Behavior::Deny);
            prop_assert_eq!(&ruling.reason, "tool_removed");
            return Ok(());
        };
        prop_assert_eq!(ruling.behavior, decided.behavior);
        prop_assert_eq!(ruling.layer, decided.layer);
        prop_assert_eq!(ruling.reason.as_str(), &*decided.reason);
        prop_assert_eq!(ruling.rule, decided.rule.map(|rule| rule.to_string()));
        prop_assert_eq!(ruling.source, decided.source.map(|source| source.to_string()));
        prop_assert_eq!(ruling.index, decided.index);
        let verdicts: Vec<&str> = ruling.layers.iter().map(|line| line.verdict.as_str()).collect();
        let wanted: Vec<&str> = decided.layers.iter().map(|line| &*line.verdict).collect();
        prop_assert_eq!(verdicts, wanted);
    }
}
