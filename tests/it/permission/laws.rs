//! What holds of every decision.

use super::stage::{About, Case, HOME, line, no, yes};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use rehearsal::settings::Source;
use rehearsal::words::{Behavior, Mode};

/// Rules that match some of the calls below and not others. None is anchored at its source.
const RULES: &[&str] = &[
    "Read",
    "Edit",
    "Bash",
    "mcp__a",
    "mcp__a__b",
    "WebFetch",
    "Look",
    "Read(*)",
    "Edit(*)",
    "Read(src/**)",
    "Edit(src/**)",
    "Read(.env)",
    "Edit(.env)",
    "Read(~/.ssh/**)",
    "Read(//etc/**)",
    "Edit(//etc/**)",
    "Edit(src/*.rs)",
    "Bash(make *)",
    "Bash(make)",
    "Bash(rm *)",
    "Bash(ls*)",
    "Bash(git * main)",
    "Bash(git push:*)",
    "WebFetch(domain:*.org)",
    "WebFetch(domain:a.com)",
];

fn abouts() -> impl Strategy<Value = About> {
    let path = || {
        select(vec![
            "src/a.rs",
            ".env",
            "src/.env",
            "~/.ssh/id",
            "/etc/x",
            "notes",
            "../q",
        ])
    };
    let line = select(vec![
        "make",
        "make all",
        "rm -rf src",
        "ls",
        "ls && rm x",
        "git push origin main",
        "FOO=1 rm x",
        "echo $(rm x)",
        "echo 'x",
        "cat .env",
        "echo x > src/a.rs",
        "timeout 5 make",
        "bash -c 'rm x'",
        "sudo git push",
        "touch src/a.rs",
    ]);
    let url = select(vec!["https://x.org/a", "http://a.com", "https://b.net"]);
    prop_oneof![
        Just(About::ReadOnly),
        path().prop_map(|p| About::Read(p.to_owned())),
        path().prop_map(|p| About::Edit(p.to_owned())),
        line.prop_map(|l| About::Shell(l.to_owned())),
        select(vec!["mcp__a__b", "mcp__a__c", "mcp__z__b"]).prop_map(|n| About::Mcp(n.to_owned())),
        url.prop_map(|u| About::Fetch(u.to_owned())),
    ]
}

fn rules() -> impl Strategy<Value = Vec<(Source, Behavior, String)>> {
    let behavior = select(vec![Behavior::Allow, Behavior::Ask, Behavior::Deny]);
    let rule = (
        select(Source::ALL.to_vec()),
        behavior,
        select(RULES.to_vec()),
    );
    proptest::collection::vec(rule.prop_map(|(s, b, r)| (s, b, r.to_owned())), 0..6)
}

fn cases() -> impl Strategy<Value = Case> {
    let verdict = |of: &[Behavior]| proptest::option::of(select(of.to_vec()));
    (
        abouts(),
        rules(),
        select(Mode::ALL.to_vec()),
        verdict(&[
            Behavior::Allow,
            Behavior::Ask,
            Behavior::Deny,
            Behavior::Defer,
        ]),
        verdict(&[Behavior::Allow, Behavior::Deny, Behavior::Ask]),
        proptest::option::of(select(vec![yes(), no()])),
    )
        .prop_map(|(about, rules, mode, hook, classifier, user)| Case {
            rules,
            mode,
            hook,
            classifier,
            user,
            ..Case::of(about)
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_more_deny_rule_never_allows_more(case in cases(), rule in select(RULES.to_vec())) {
        let before = case.decide().decision.behavior;
        let after = case.rule(Behavior::Deny, rule).decide().decision.behavior;
        prop_assert!(before == Behavior::Allow || after != Behavior::Allow);
    }

    #[test]
    fn one_more_allow_rule_changes_nothing_that_a_deny_or_ask_rule_decided(
        case in cases(),
        rule in select(RULES.to_vec()),
    ) {
        let before = case.decide();
        let by_rule = ["deny", "ask"].contains(&before.decision.layers[0].verdict.as_ref());
        let after = case.rule(Behavior::Allow, rule).decide();
        if by_rule {
            prop_assert_eq!(before, after);
        } else if before.decision.behavior == Behavior::Allow {
            prop_assert_eq!(after.decision.behavior, Behavior::Allow);
        }
    }

    #[test]
    fn the_order_of_rules_and_of_sources_does_not_matter(
        case in cases(),
        order in proptest::collection::vec(any::<Index>(), 6),
        sources in proptest::collection::vec(select(Source::ALL.to_vec()), 6),
    ) {
        let mut other = case.clone();
        for (i, with) in order.iter().enumerate().take(other.rules.len()) {
            let with = with.index(other.rules.len());
            other.rules.swap(i, with);
        }
        for (rule, source) in other.rules.iter_mut().zip(sources) {
            rule.0 = source;
        }
        prop_assert_eq!(case.line(), other.line());
    }

    #[test]
    fn nothing_allows_what_a_deny_rule_matches(case in cases(), rule in select(RULES.to_vec())) {
        // Whether the rule matches is told by the same call with nothing else around it.
        let alone = Case::of(case.about.clone()).rule(Behavior::Deny, rule).mode(Mode::BypassPermissions);
        let matches = alone.line() == "deny rule deny_rule";
        let decided = case.rule(Behavior::Deny, rule).decide();
        if matches {
            prop_assert_eq!(line(&decided), "deny rule deny_rule");
            prop_assert!(decided.prompts.is_empty());
        }
    }

    #[test]
    fn every_decision_has_a_layer_a_reason_and_five_verdicts(case in cases()) {
        let decided = case.decide();
        let decision = &decided.decision;
        prop_assert!(!decision.reason.is_empty());
        prop_assert_eq!(decision.layers.len(), 5);
        prop_assert_ne!(decision.behavior, Behavior::Ask);
        let said = decision.layers.iter().find(|verdict| verdict.layer == decision.layer);
        prop_assert_eq!(&said.unwrap().verdict, decision.behavior.as_str());
        prop_assert_eq!(decided.text.is_empty(), decision.behavior == Behavior::Allow);
    }

    #[test]
    fn the_spelling_of_a_path_does_not_matter(
        case in cases(),
        parts in proptest::collection::vec(select(vec!["src", "a.rs", ".env", ".ssh", "x"]), 1..4),
        dots in proptest::collection::vec(select(vec!["", "./", "x/../", "/"]), 4),
        edits: bool,
        insensitive: bool,
    ) {
        let plain = format!("{HOME}/p/{}", parts.join("/"));
        let spelled: Vec<String> = parts.iter().zip(&dots).map(|(p, d)| format!("{d}{p}")).collect();
        let spelled = spelled.join("/");
        let relative = spelled.trim_start_matches('/').to_owned();
        let mut ways = vec![
            format!("{HOME}/p/{spelled}"),
            format!("~/p/{spelled}"),
            format!("../p/./{spelled}/"),
            relative,
        ];
        if insensitive {
            ways.push(plain.to_uppercase());
        }
        let with = |path: &str| {
            let path = path.to_owned();
            let mut case = case.clone();
            case.about = if edits { About::Edit(path) } else { About::Read(path) };
            case.case_sensitive = !insensitive;
            let decision = case.decide().decision;
            (decision.behavior, decision.layer, decision.reason, decision.rule)
        };
        let expected = with(&plain);
        for way in ways {
            prop_assert_eq!(&with(&way), &expected, "{}", way);
        }
    }

    #[test]
    fn the_quoting_of_a_command_does_not_matter(
        case in cases(),
        words in proptest::collection::vec(select(vec!["make", "all", "rm", "-rf", "src", "git", "push", "main"]), 1..4),
        quotes in proptest::collection::vec(0..5usize, 4),
        wrapped: bool,
    ) {
        let quote = |(word, how): (&&str, &usize)| match how {
            0 => format!("'{word}'"),
            1 => format!("\"{word}\""),
            2 => format!("\\{word}"),
            3 => format!("$'{word}'"),
            _ => format!("  {word}\t"),
        };
        let quoted: Vec<String> = words.iter().zip(&quotes).map(quote).collect();
        let mut line = quoted.join(" ");
        if wrapped {
            line = format!("NO_COLOR=1 timeout 5 {line}");
        }
        let with = |line: String| {
            let mut case = case.clone();
            case.about = About::Shell(line);
            case.line()
        };
        prop_assert_eq!(with(line), with(words.join(" ")));
    }
}
