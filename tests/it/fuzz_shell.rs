//! Laws of how command lines are taken apart, on whatever can be written.

use crate::fuzz::config;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use rehearsal::rule::{Anchors, Query, RuleSet, Subject, compile};
use rehearsal::settings::{Layer, Source, merge};
use rehearsal::shell_syntax::{Shape, analyze, is_read_only, stages};
use rehearsal::world::{MemoryFs, MemoryOptions};
use serde_json::json;
use std::collections::BTreeSet;

fn rules(kind: &str, rules: &[String]) -> RuleSet {
    let value = json!({"permissions": {kind: rules}});
    let (settings, _) = merge(vec![Layer::from_value(Source::User, &value)]);
    let fs = MemoryFs::new(MemoryOptions::default());
    compile(&settings, &Anchors::new("/p", "/home/u"), &fs).0
}

/// Whether a rule denies the line, whether rules allow it and nothing stands against.
fn decided(rules: &RuleSet, line: &str) -> (bool, bool) {
    let line = analyze(line);
    let matches = rules.matches(&Query {
        tool: "Bash",
        aliases: &[],
        subject: Subject::Command {
            line: &line,
            reads: &[],
            writes: &[],
        },
        input: None,
    });
    let denied = matches.deny.is_some();
    let allowed = matches.allow.is_some() && matches.unsure.is_none();
    (denied, allowed)
}

fn rule(command: &str) -> String {
    format!("Bash({command})")
}

/// Commands that do more than read.
const COMMANDS: &[&str] = &["rm x", "git push", "npm test", "make all", "touch 'a b'"];

/// Text made of what matters to a shell.
fn shellish() -> impl Strategy<Value = String> {
    let tokens = select(vec![
        "rm",
        "ls",
        "x",
        " ",
        " ",
        "\n",
        "\t",
        ";",
        ";;",
        "&",
        "&&",
        "|",
        "||",
        "|&",
        "(",
        ")",
        "{",
        "}",
        "$(",
        "$((",
        "))",
        "`",
        "<(",
        ">(",
        "<",
        ">",
        ">>",
        "<<",
        "<<-",
        "<<<",
        "EOF",
        "<<EOF\n",
        "<<'E'\n",
        "\nE\n",
        "\nEOF\n",
        "'",
        "\"",
        "\\",
        "\\\n",
        "$",
        "$'",
        "${",
        "#",
        "!",
        "=",
        "a=",
        "[",
        "[[",
        "]]",
        "if ",
        "then ",
        "fi",
        "for ",
        "in ",
        "do ",
        "done",
        "while ",
        "case ",
        "esac",
        "function ",
        "2>&1",
        "&>",
        "*",
        "~",
        "\u{a0}",
        "é",
        "\r",
        "-c",
        "bash -c ",
        "eval ",
        "find -exec ",
        "xargs ",
        "sudo ",
        "env ",
        "\0",
        "\u{c}",
    ]);
    prop::collection::vec(tokens, 0..40).prop_map(|tokens| tokens.concat())
}

/// A line, and the commands that it would run beside readers.
fn line() -> impl Strategy<Value = (String, BTreeSet<&'static str>)> {
    let leaf = select(COMMANDS).prop_map(|command| (command.to_owned(), BTreeSet::from([command])));
    leaf.prop_recursive(4, 12, 2, |inner| {
        let forms = select(vec![
            "A && B",
            "A || B",
            "A; B",
            "A | B",
            "A |& B",
            "A & B",
            "A\nB",
            "(A; B)",
            "{ A; B; }",
            "if A; then B; fi",
            "if ls; then A; else B; fi",
            "while A; do B; done",
            "for f in a b; do A; B; done",
            "case x in a) A;; *) B;; esac",
            "! A; B",
            "echo $(A) \"$(B)\"",
            "echo $(A) $(B)",
            "echo \"${x:-$(A)}\"; B",
            "diff <(A) <(B)",
            "A; f() { B; }",
            "cat <<< \"$(A)\"; B",
            "A # c\nB",
            "A \\\n && B",
            "cat <<EOF\n$(A)\nEOF\nB",
            "cat <<'EOF'\nrm -rf /\nEOF\nA\nB",
        ]);
        (forms, inner.clone(), inner).prop_map(|(form, (a, in_a), (b, in_b))| {
            let filled = form.chars().fold(String::new(), |mut text, c| {
                match c {
                    'A' => text.push_str(&a),
                    'B' => text.push_str(&b),
                    c => text.push(c),
                }
                text
            });
            (filled, in_a.union(&in_b).copied().collect())
        })
    })
}

/// One word, written in one of the ways that mean it.
fn spelled(word: &'static str) -> impl Strategy<Value = String> {
    let characters: Vec<_> = word.chars().map(|c| (Just(c), 0..6u8)).collect();
    characters.prop_map(|characters| {
        let write = |(c, how): (char, u8)| match how {
            0 => format!("'{c}'"),
            1 => format!("\"{c}\""),
            2 => format!("\\{c}"),
            3 => format!("$'\\x{:02x}'", c as u32),
            4 => format!("\\\n{c}"),
            _ => c.to_string(),
        };
        characters.into_iter().map(write).collect()
    })
}

/// `rm -rf zap`, written in one of the ways that run just that.
fn removal() -> impl Strategy<Value = String> {
    let wrapper = select(vec![
        "",
        "timeout 30 ",
        "nice -n 5 ",
        "nohup ",
        "stdbuf -o0 ",
        "time ",
        "command ",
        "LANG=C ",
        "NO_COLOR=1 timeout 5 ",
    ]);
    let space = || select(vec![" ", "\t", "  ", " \\\n "]);
    let words = (spelled("rm"), spelled("-rf"), spelled("zap"));
    (
        wrapper,
        words,
        space(),
        space(),
        select(vec!["", " ", "\n", " # why"]),
    )
        .prop_map(|(wrapper, (a, b, c), one, two, end)| {
            format!("{wrapper}{a}{one}{b}{two}{c}{end}")
        })
}

proptest! {
    #![proptest_config(config(192, 1))]

    #[test]
    fn what_cannot_be_parsed_is_never_allowed(text in prop_oneof![shellish(), any::<String>()]) {
        let line = analyze(&text);
        if matches!(line.shape, Shape::Unsplittable(_)) {
            prop_assert!(!is_read_only(&line), "{text:?}");
            let first = text.split_whitespace().next().unwrap_or("x");
            let rules = rules("allow", &["Bash(*)x*".into(), "Bash(* *)".into(), rule(&format!("{first} *"))]);
            prop_assert!(!decided(&rules, &text).1, "{text:?}");
        }
        let _ = line.parts.iter().map(|part| stages(&part.assignments, &part.words).len()).sum::<usize>();
    }

    #[test]
    fn one_denied_command_denies_the_line((text, commands) in line()) {
        for command in commands {
            prop_assert!(decided(&rules("deny", &[rule(command)]), &text).0, "{command} in {text:?}");
        }
    }

    #[test]
    fn a_line_is_allowed_only_with_all_its_commands((text, commands) in line()) {
        prop_assume!(!matches!(analyze(&text).shape, Shape::Unsplittable(_)));
        let all: Vec<String> = commands.iter().map(|command| rule(command)).collect();
        prop_assert!(decided(&rules("allow", &all), &text).1, "{text:?}: {:?}", analyze(&text));
        for without in 0..all.len() {
            let mut some = all.clone();
            some.remove(without);
            prop_assert!(!decided(&rules("allow", &some), &text).1, "{text:?} without {}", all[without]);
        }
    }

    #[test]
    fn spelling_decides_nothing(text in removal()) {
        let pattern = [rule("rm -rf *")];
        prop_assert!(decided(&rules("deny", &pattern), &text).0, "{text:?}");
        prop_assert!(decided(&rules("allow", &pattern), &text).1, "{text:?}: {:?}", analyze(&text));
        let other = [rule("rm -r *")];
        prop_assert_eq!(decided(&rules("deny", &other), &text).0, false);
        prop_assert_eq!(decided(&rules("allow", &other), &text).1, false);
    }

    /// What the shell that runs the line sees in it is seen here. Of lines that are well
    /// formed: of others each reads what it likes.
    #[test]
    fn no_command_is_missed_that_the_shell_sees((text, _) in line()) {
        let Ok(seen) = bashkit::analysis::analyze(&text) else {
            return Ok(());
        };
        let line = analyze(&text);
        // Nothing may be relied on in what cannot be taken apart, by whoever.
        prop_assume!(!matches!(line.shape, Shape::Unsplittable(_)));
        let mut ours = BTreeSet::new();
        for part in &line.parts {
            for (_, words) in stages(&part.assignments, &part.words) {
                ours.extend(words.first().map(|word| word.text.clone()));
            }
        }
        // In the middle of a pipeline `!` is a fault for bash, and a command for that shell.
        // A backslash with nothing behind it is no name either.
        let names = seen.command_names().into_iter();
        for name in names.filter(|name| name.contains(|c: char| c.is_alphanumeric())) {
            prop_assert!(ours.contains(name), "{name:?} in {text:?}: {ours:?}");
        }
    }
}

/// The grammar's scanner once read past its tables for these.
#[test]
fn characters_outside_of_ascii_are_letters() {
    for text in [
        "{\u{e011d}",
        "{1..\u{1f600}",
        "echo {\u{11bc1}h}",
        "rm\u{3000}x",
    ] {
        let line = analyze(text);
        let mut words = line.parts.iter().flat_map(|part| &part.words);
        assert!(words.all(|word| word.text != "rm"), "{text:?}: {line:?}");
    }
}

/// The grammar once took these for one substitution.
#[test]
fn several_backticks_on_a_line_are_several_substitutions() {
    for text in [
        "ls `ls` `zap x y`",
        "ls\t`ls`\nls ` zap x ''`",
        "echo \"`ls` `zap x`\" `ls`",
    ] {
        assert!(
            decided(&rules("deny", &["Bash(zap *)".into()]), text).0,
            "{text:?}"
        );
    }
}

#[test]
fn ordinary_lines_are_parsed() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut parsed = 0;
    for _ in 0..200 {
        let (text, _) = line().new_tree(&mut runner).unwrap().current();
        parsed += usize::from(!matches!(analyze(&text).shape, Shape::Unsplittable(_)));
    }
    assert!(parsed >= 120, "only {parsed} of 200 lines");
}

#[test]
fn no_nesting_hangs() {
    let openers = [
        "$(",
        "(",
        "((",
        "{ ",
        "`",
        "\"$(",
        "<(",
        "${x:-",
        "$((",
        "if ",
        "case x in a) ",
        "[[ ( ",
        "<<EOF\n",
        "a && ",
        "! ",
        "f() ",
        "bash -c '",
        "find -exec ",
        "$'",
        "`\\",
        "sudo ",
    ];
    for opener in openers {
        for depth in [100, 10_000] {
            let text = format!("{}rm x", opener.repeat(depth));
            let line = analyze(&text);
            assert!(!is_read_only(&line), "{opener:?}");
            let closed = format!("{text}{}", ")".repeat(depth));
            assert!(!is_read_only(&analyze(&closed)), "{opener:?}");
        }
    }
}
