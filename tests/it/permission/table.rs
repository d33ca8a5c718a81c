//! What is decided about every combination of rule, mode, hook, classifier and user.

use super::stage::{About, Case, no, yes};
use rehearsal::profile::Profile;
use rehearsal::words::{Behavior, Mode};
use std::fmt::Write;

const HOOKS: [Option<Behavior>; 5] = [
    None,
    Some(Behavior::Allow),
    Some(Behavior::Ask),
    Some(Behavior::Deny),
    Some(Behavior::Defer),
];

const RULES: [Option<Behavior>; 4] = [
    None,
    Some(Behavior::Allow),
    Some(Behavior::Ask),
    Some(Behavior::Deny),
];

/// Name, what the call is about, and a rule that matches it.
fn kinds() -> Vec<(&'static str, About, &'static str)> {
    vec![
        ("read-only", About::ReadOnly, "Look"),
        ("read", About::Read("src/a".into()), "Read(src/a)"),
        (
            "read outside",
            About::Read("/etc/a".into()),
            "Read(//etc/a)",
        ),
        ("edit", About::Edit("src/a".into()), "Edit(src/a)"),
        (
            "edit outside",
            About::Edit("/etc/a".into()),
            "Edit(//etc/a)",
        ),
        (
            "edit protected",
            About::Edit(".git/x".into()),
            "Edit(.git/x)",
        ),
        ("shell", About::Shell("make".into()), "Bash(make *)"),
        ("shell edit", About::Shell("rm src/a".into()), "Bash(rm *)"),
        (
            "shell read-only",
            About::Shell("ls src".into()),
            "Bash(ls *)",
        ),
        ("mcp", About::Mcp("mcp__a__b".into()), "mcp__a__b"),
    ]
}

/// What is decided, whatever classifier and user say; or whom it is left to.
fn cell(case: &Case) -> String {
    let classifiers = [None, Some(Behavior::Allow), Some(Behavior::Deny)];
    let users = [None, Some(yes()), Some(no())];
    let mut outcomes = Vec::new();
    for classifier in classifiers {
        for user in &users {
            let mut case = case.clone();
            case.classifier = classifier;
            case.user = user.clone();
            outcomes.push(case.line());
        }
    }
    let user = [
        "deny user nobody_to_ask",
        "allow user user",
        "deny user user",
    ];
    let user_alone = [user, user, user].concat();
    let open = [
        user,
        ["allow classifier classifier"; 3],
        ["deny classifier classifier"; 3],
    ]
    .concat();
    if outcomes.iter().all(|outcome| *outcome == outcomes[0]) {
        outcomes.swap_remove(0)
    } else if outcomes == user_alone {
        "ask user".to_owned()
    } else if outcomes == open {
        "open".to_owned()
    } else {
        panic!("neither decided nor left to the user or the classifier: {case:?}: {outcomes:?}")
    }
}

/// One row: what is decided under each verdict of the hooks.
fn row(about: &About, rule: Option<(Behavior, &str)>, mode: Mode, profile: &'static str) -> String {
    let cells = HOOKS.map(|hook| {
        let mut case = Case::of(about.clone()).mode(mode);
        if let Some((behavior, rule)) = rule {
            case = case.rule(behavior, rule);
        }
        case.hook = hook;
        case.profile = profile;
        format!("{:26}", cell(&case))
    });
    cells.join("| ").trim_end().to_owned()
}

/// Kinds of calls, and their row under each rule.
type Block = (String, [String; RULES.len()]);

/// For each mode the rows of each kind of call; kinds with the same rows together.
fn rows(profile: &'static str) -> Vec<(Mode, Vec<Block>)> {
    let of_mode = |mode: Mode| {
        let mut blocks: Vec<Block> = Vec::new();
        for (name, about, rule) in kinds() {
            let rows = RULES.map(|r| row(&about, r.map(|b| (b, rule)), mode, profile));
            match blocks.iter_mut().find(|(_, same)| *same == rows) {
                Some((names, _)) => {
                    let _ = write!(names, ", {name}");
                }
                None => blocks.push((name.to_owned(), rows)),
            }
        }
        (mode, blocks)
    };
    Mode::ALL.iter().copied().map(of_mode).collect()
}

const HEAD: &str = "\
ask user: allow user user, deny user user, or deny user nobody_to_ask where nobody is there
open: the classifier if there is one, else as ask user

rule  | hook none                 | hook allow                | hook ask                  | hook deny                 | hook defer
";

fn shown(profile: &'static str) -> String {
    let mut text = HEAD.to_owned();
    for (mode, blocks) in rows(profile) {
        for (names, rows) in blocks {
            let _ = writeln!(text, "\n{mode}: {names}");
            for (rule, row) in RULES.iter().zip(rows) {
                let rule = rule.map_or("none", Behavior::as_str);
                let _ = writeln!(text, "{rule:6}| {row}");
            }
        }
    }
    text
}

#[test]
fn seed() {
    insta::assert_snapshot!(shown("seed"));
}

#[test]
fn claude_code_2_0_76() {
    insta::assert_snapshot!(shown("claude-code-2.0.76"));
}

#[test]
fn claude_code_2_1_197() {
    insta::assert_snapshot!(shown("claude-code-2.1.197"));
    let of = |name: &str| {
        let profile = Profile::by_name(name).unwrap();
        (profile.permission_order, profile.bypass, profile.no_user)
    };
    assert_eq!(of("claude-code-2.1.197"), of("claude-code-2.1.332"));
}
