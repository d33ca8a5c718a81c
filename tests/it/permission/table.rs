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
        (
            "critical removal",
            About::Shell("rm -rf /etc".into()),
            "Bash(rm *)",
        ),
        ("mcp", About::Mcp("mcp__a__b".into()), "mcp__a__b"),
    ]
}

const CLASSIFIERS: [Option<Behavior>; 3] = [None, Some(Behavior::Allow), Some(Behavior::Deny)];

/// What is decided under every classifier and every user, in this order.
fn outcomes(case: &Case) -> Vec<String> {
    let mut outcomes = Vec::new();
    for classifier in CLASSIFIERS {
        for user in [None, Some(yes()), Some(no())] {
            let mut case = case.clone();
            case.classifier = classifier;
            case.user = user;
            outcomes.push(case.line());
        }
    }
    outcomes
}

const USER: [&str; 3] = [
    "deny user nobody_to_ask",
    "allow user user",
    "deny user user",
];

/// What is decided, whatever classifier and user say; or whom it is left to.
fn cell(outcomes: &[String]) -> String {
    let same = |part: &[String]| part.iter().all(|outcome| *outcome == part[0]);
    let (without, with) = outcomes.split_at(USER.len());
    let left_to_a_classifier = with[..3].iter().all(|o| o == "allow classifier classifier")
        && with[3..].iter().all(|o| o == "deny classifier classifier");
    if same(outcomes) {
        outcomes[0].clone()
    } else if outcomes == [USER, USER, USER].concat() {
        "ask user".to_owned()
    } else if left_to_a_classifier && without == USER {
        "open".to_owned()
    } else if left_to_a_classifier && same(without) {
        format!("open, {}", without[0].replace("classifier ", ""))
    } else {
        panic!("neither decided nor left to the user or the classifier: {outcomes:?}")
    }
}

/// A profile's table: for each mode and kind of call what is decided under each rule and
/// each verdict of the hooks.
struct Table {
    rows: Vec<(Mode, &'static str, [String; RULES.len()])>,
    /// Of every single decision.
    hash: String,
}

fn table(profile: &'static str) -> Table {
    let mut all = String::new();
    let mut rows = Vec::new();
    for mode in Mode::ALL.iter().copied() {
        for (name, about, rule) in kinds() {
            let of_rule = |behavior: Option<Behavior>| {
                let cells = HOOKS.map(|hook| {
                    let mut case = Case::of(about.clone()).mode(mode);
                    if let Some(behavior) = behavior {
                        case = case.rule(behavior, rule);
                    }
                    case.hook = hook;
                    case.profile = profile;
                    let outcomes = outcomes(&case);
                    let _ = writeln!(all, "{mode} {name} {behavior:?} {hook:?} {outcomes:?}");
                    format!("{:26}", cell(&outcomes))
                });
                cells.join("| ").trim_end().to_owned()
            };
            rows.push((mode, name, RULES.map(of_rule)));
        }
    }
    let hash = blake3::hash(all.as_bytes()).to_hex()[..16].to_owned();
    Table { rows, hash }
}

/// The rows of a table that `wanted` wants, kinds of calls with the same rows together.
fn shown(table: &Table, wanted: impl Fn(usize, usize) -> bool) -> String {
    let mut text = String::new();
    let mut blocks: Vec<(Mode, Vec<&str>, Vec<String>)> = Vec::new();
    for (at, (mode, name, rows)) in table.rows.iter().enumerate() {
        let rows = rows
            .iter()
            .enumerate()
            .filter(|(rule, _)| wanted(at, *rule));
        let rows = rows.map(|(rule, row)| {
            let rule = RULES[rule].map_or("none", Behavior::as_str);
            format!("{rule:6}| {row}")
        });
        let rows: Vec<String> = rows.collect();
        if rows.is_empty() {
            continue;
        }
        match blocks
            .iter_mut()
            .find(|(m, _, same)| m == mode && *same == rows)
        {
            Some((_, names, _)) => names.push(name),
            None => blocks.push((*mode, vec![name], rows)),
        }
    }
    for (mode, names, rows) in blocks {
        let _ = writeln!(text, "\n{mode}: {}\n{}", names.join(", "), rows.join("\n"));
    }
    text
}

const HEAD: &str = "\
ask user: allow user user, deny user user, or deny user nobody_to_ask where nobody is there
open: the classifier if there is one, else as ask user; `open, …`: else that, by its rules

rule  | hook none                 | hook allow                | hook ask                  | hook deny                 | hook defer
";

#[test]
fn seed() {
    let seed = table("seed");
    let text = shown(&seed, |_, _| true);
    insta::assert_snapshot!(format!("{HEAD}{text}"));
}

/// Every other profile: the rows that differ from the one before it, and the hash of the
/// whole table. A hash that changes alone means that a reason did.
#[test]
fn every_other_profile() {
    let mut before = ("seed", table("seed"));
    let mut text = format!("{HEAD}\nseed {}\n", before.1.hash);
    let names = Profile::names().into_iter().filter(|name| *name != "seed");
    for name in names {
        let table = table(name);
        let of = &before.1.rows;
        let differs = shown(&table, |at, rule| table.rows[at].2[rule] != of[at].2[rule]);
        let differs = match differs.is_empty() {
            true => "\n(no row)\n".to_owned(),
            false => differs,
        };
        let _ = write!(
            text,
            "\n== {name} {}, other than {}\n{differs}",
            table.hash, before.0
        );
        before = (name, table);
    }
    insta::assert_snapshot!(text);
}

#[test]
fn of_several_rules_the_strictest_counts() {
    let order = [Behavior::Deny, Behavior::Ask, Behavior::Allow];
    for (mode, (_, about, rule)) in Mode::ALL
        .iter()
        .flat_map(|mode| kinds().into_iter().map(move |kind| (*mode, kind)))
    {
        for hook in HOOKS {
            for (i, strict) in order.iter().enumerate() {
                for lax in &order[i + 1..] {
                    let of = |behaviors: &[Behavior]| {
                        let mut case = Case::of(about.clone()).mode(mode);
                        for behavior in behaviors {
                            case = case.rule(*behavior, rule);
                        }
                        case.hook = hook;
                        case.line()
                    };
                    let alone = of(&[*strict]);
                    assert_eq!(alone, of(&[*lax, *strict]), "{mode} {about:?} {hook:?}");
                }
            }
        }
    }
}
