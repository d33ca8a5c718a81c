//! Calls against small sets of rules.

use super::{Anchors, Matches, Paths, Query, RuleSet, Subject, compile};
use crate::settings::{Layer, Source, merge};
use crate::shell_syntax::analyze;
use crate::world::{MemoryFs, MemoryOptions};
use serde_json::json;

fn set(rules: &[(&str, &str)]) -> RuleSet {
    let of = |kind: &str| -> Vec<&str> {
        let of_kind = rules.iter().filter(|(k, _)| *k == kind);
        of_kind.map(|(_, rule)| *rule).collect()
    };
    let value =
        json!({"permissions": {"deny": of("deny"), "ask": of("ask"), "allow": of("allow")}});
    let (settings, complaints) = merge(vec![Layer::from_value(Source::Project, &value)]);
    assert_eq!(complaints, []);
    let fs = MemoryFs::new(MemoryOptions::default());
    fs.put_dir("/real/p", 0o755, 0).unwrap();
    fs.put_symlink("/linked", "/real/p", 0).unwrap();
    compile(&settings, &Anchors::new("/p", "/home/u"), &fs).0
}

/// `deny`, `ask`, `allow` as far as they match.
fn shown(matches: &Matches<'_>) -> String {
    let kinds = [
        ("deny", &matches.deny),
        ("ask", &matches.ask),
        ("allow", &matches.allow),
    ];
    let hits = kinds.iter().filter_map(|(kind, hit)| {
        let hit = hit.as_ref()?;
        Some(format!("{kind} {}", hit.rule.text))
    });
    hits.collect::<Vec<_>>().join(", ")
}

fn query(rules: &RuleSet, tool: &str, aliases: &[&str], subject: Subject<'_>) -> String {
    shown(&rules.matches(&Query {
        tool,
        aliases,
        subject,
        input: None,
    }))
}

#[test]
fn tools_by_name() {
    let rules = set(&[
        ("deny", "mcp__bad"),
        ("deny", "Web*"),
        ("ask", "mcp__a__*"),
        ("allow", "mcp__a__x"),
        ("allow", "mcp__c"),
        ("allow", "Agent"),
    ]);
    let name = |tool: &str| query(&rules, tool, &[], Subject::None);
    assert_eq!(name("mcp__bad__x"), "deny mcp__bad");
    assert_eq!(name("mcp__badder__x"), "");
    assert_eq!(name("WebSearch"), "deny Web*");
    assert_eq!(name("mcp__a__x"), "ask mcp__a__*, allow mcp__a__x");
    assert_eq!(name("mcp__c__y"), "allow mcp__c");
    assert_eq!(
        query(&rules, "Task", &["Agent"], Subject::None),
        "allow Agent"
    );
    assert_eq!(
        rules.removes("WebSearch", &[]).map(|r| &*r.text),
        Some("Web*")
    );
    assert_eq!(rules.removes("Read", &[]), None);
}

#[test]
fn a_link_narrows_an_allow_and_widens_a_deny() {
    let rules = set(&[("deny", "Read(//etc/**)"), ("allow", "Read(./**)")]);
    let read = |spelled: &str, resolved: Option<&str>| {
        let paths = Paths {
            spelled: spelled.to_owned(),
            resolved: resolved.map(str::to_owned),
        };
        let matches = rules.matches(&Query {
            tool: "Read",
            aliases: &[],
            subject: Subject::Read(&paths),
            input: None,
        });
        (shown(&matches), matches.uncovered.is_some())
    };
    assert_eq!(
        read("/p/a", Some("/p/a")),
        ("allow Read(./**)".into(), false)
    );
    let denied = "deny Read(//etc/**)".to_owned();
    assert_eq!(read("/p/passwd", Some("/etc/passwd")), (denied, true));
    assert_eq!(read("/p/a", Some("/tmp/a")), (String::new(), true));
    assert_eq!(read("/tmp/a", Some("/p/a")), (String::new(), true));
    assert_eq!(
        read("/p/a", Some("/p/b")),
        ("allow Read(./**)".into(), false)
    );
    assert_eq!(read("/p/loop", None), (String::new(), true));
}

#[test]
fn a_folder_that_is_a_link_anchors_at_both_its_ends() {
    let value = json!({"permissions": {"allow": ["Edit(/src/**)"]}});
    let (settings, _) = merge(vec![Layer::from_value(Source::Project, &value)]);
    let fs = MemoryFs::new(MemoryOptions::default());
    fs.put_dir("/real/p", 0o755, 0).unwrap();
    fs.put_symlink("/linked", "/real/p", 0).unwrap();
    let (rules, _) = compile(&settings, &Anchors::new("/linked", "/home/u"), &fs);
    let paths = Paths {
        spelled: "/linked/src/a".to_owned(),
        resolved: Some("/real/p/src/a".to_owned()),
    };
    assert_eq!(
        query(&rules, "Edit", &[], Subject::Edit(&paths)),
        "allow Edit(/src/**)"
    );
}

#[test]
fn read_and_edit_have_effects_on_each_other() {
    let rules = set(&[
        ("deny", "Read(secret)"),
        ("deny", "Edit(frozen)"),
        ("allow", "Edit(notes)"),
        ("allow", "Read(docs)"),
    ]);
    let paths = |name: &str| Paths::plain(format!("/p/{name}"));
    let read = |name: &str| query(&rules, "Read", &[], Subject::Read(&paths(name)));
    let edit = |name: &str| query(&rules, "Write", &[], Subject::Edit(&paths(name)));
    assert_eq!(read("secret"), "deny Read(secret)");
    assert_eq!(edit("secret"), "deny Read(secret)");
    assert_eq!(read("frozen"), "");
    assert_eq!(edit("frozen"), "deny Edit(frozen)");
    assert_eq!(read("notes"), "allow Edit(notes)");
    assert_eq!(edit("docs"), "");
    assert_eq!(
        rules.hides(&paths("a/secret")).map(|r| &*r.text),
        Some("Read(secret)")
    );
    assert_eq!(rules.hides(&paths("frozen")), None);
    assert!(rules.hides_any());
}

#[test]
fn commands_and_the_files_they_touch() {
    let rules = set(&[
        ("deny", "Bash(rm *)"),
        ("deny", "Edit(bar/**)"),
        ("deny", "Read(.env)"),
        ("ask", "Bash(git push *)"),
        ("allow", "Bash(git *)"),
        ("allow", "Bash(echo *)"),
    ]);
    let run = |line: &str, reads: &[&str], writes: &[&str]| {
        let line = analyze(line);
        let paths =
            |list: &[&str]| -> Vec<Paths> { list.iter().map(|p| Paths::plain(*p)).collect() };
        let (reads, writes) = (paths(reads), paths(writes));
        let subject = Subject::Command {
            line: &line,
            reads: &reads,
            writes: &writes,
        };
        let matches = rules.matches(&Query {
            tool: "Bash",
            aliases: &[],
            subject,
            input: None,
        });
        let extra = (matches.uncovered.is_some(), matches.unsure.is_some());
        (shown(&matches), extra)
    };
    let says = |text: &str, uncovered, unsure| (text.to_owned(), (uncovered, unsure));
    assert_eq!(
        run("git status", &[], &[]),
        says("allow Bash(git *)", false, false)
    );
    assert_eq!(
        run("git push -f", &[], &[]),
        says("ask Bash(git push *), allow Bash(git *)", false, false)
    );
    assert_eq!(
        run("git status && rm x", &[], &[]),
        says("deny Bash(rm *)", true, false)
    );
    assert_eq!(run("git status && ls", &[], &[]), says("", true, false));
    assert_eq!(
        run("echo x > bar/a", &[], &["/p/bar/a"]),
        says("deny Edit(bar/**)", true, false)
    );
    assert_eq!(
        run("cat .env", &["/p/.env"], &[]),
        says("deny Read(.env)", false, false)
    );
    assert_eq!(run("echo 'x", &[], &[]), says("", false, true));
    assert_eq!(
        run("echo 'x; rm y", &[], &[]),
        says("deny Bash(rm *)", false, true)
    );
}

#[test]
fn of_several_rules_the_first_is_named() {
    let rules = set(&[
        ("deny", "Read(b)"),
        ("deny", "Read(**/a/*)"),
        ("deny", "Read(a/b)"),
        ("deny", "Read"),
    ]);
    let read = |path: &str| query(&rules, "Read", &[], Subject::Read(&Paths::plain(path)));
    assert_eq!(read("/p/a/b"), "deny Read(b)");
    assert_eq!(read("/p/a/c"), "deny Read(**/a/*)");
    assert_eq!(read("/p/c"), "deny Read");
}

#[test]
fn hosts_and_kinds_of_agents() {
    let rules = set(&[
        ("deny", "WebFetch(domain:*.evil.com)"),
        ("allow", "WebFetch(domain:docs.rs)"),
        ("deny", "Agent(fast*)"),
    ]);
    let fetch = |url: &str| query(&rules, "WebFetch", &[], Subject::Url(url));
    assert_eq!(
        fetch("https://a.evil.com/x"),
        "deny WebFetch(domain:*.evil.com)"
    );
    assert_eq!(
        fetch("https://docs.rs/serde"),
        "allow WebFetch(domain:docs.rs)"
    );
    assert_eq!(fetch("https://x.org"), "");
    let agent = |kind: &str| query(&rules, "Agent", &[], Subject::Agent(kind));
    assert_eq!(agent("faster"), "deny Agent(fast*)");
    assert_eq!(agent("slow"), "");
}
