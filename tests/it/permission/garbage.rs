//! Texts that nobody should write: nothing panics, hangs or allows.

use super::stage::{About, Case};
use proptest::prelude::*;
use rehearsal::rule::{Anchors, compile, host_of, parse};
use rehearsal::settings::{Layer, Source, merge};
use rehearsal::shell_syntax::{Shape, analyze, is_read_only, part_is_read_only, stages};
use rehearsal::words::Behavior;
use rehearsal::world::{MemoryFs, MemoryOptions};
use serde_json::json;

/// Texts of the characters that mean something to a shell.
fn shellish() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ \\t\\n;&|(){}<>$`'\"\\\\#*?!=~-]",
        "(rm|ls|git|x|-rf|EOF|find|-exec|bash|-c|eval|if|then|fi|A=1|\\$\\(|<<|\\$\\{)",
        "\\PC",
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Texts in which every quote is closed and every operator has its operands.
fn whole() -> impl Strategy<Value = String> {
    let word = "ls|git|-rf|x|A=1|'a b;'|\"p \\$q\"|\\\\;|\\$x|\\$\\{y\\}|\\$'\\\\x41'|\\*\\.rs|2>&1|>out|if|then|\\{|\\$\\(ls\\)|`ls`";
    let gap = "[ \t]{1,2}| ; | && | \\| |\n";
    proptest::collection::vec((word, gap), 0..12)
        .prop_map(|pairs| pairs.into_iter().map(|(word, gap)| word + &gap).collect())
}

proptest! {
    #![proptest_config(crate::fuzz::config(300, 1))]

    #[test]
    fn a_command_that_cannot_be_taken_apart_is_never_allowed_by_a_rule(text in shellish()) {
        let line = analyze(&text);
        if matches!(line.shape, Shape::Unsplittable(_)) {
            prop_assert!(!is_read_only(&line));
            let mut case = Case::of(About::Shell(text));
            for rule in ["Bash", "Bash(ls *)", "Bash(* *)", "Bash(*x*)"] {
                case = case.rule(Behavior::Allow, rule);
            }
            prop_assert_eq!(case.line(), "deny user nobody_to_ask");
        }
    }

    #[test]
    fn what_is_not_simple_is_covered_only_command_by_command(text in shellish()) {
        let line = analyze(&text);
        if matches!(line.shape, Shape::Compound(_)) && !is_read_only(&line) {
            let case = Case::of(About::Shell(text)).rule(Behavior::Allow, "Bash(l* *)").line();
            if case != "allow rule allow_rule" {
                prop_assert_eq!(case, "deny user nobody_to_ask");
                return Ok(());
            }
            for part in line.parts.iter().filter(|part| !part.words.is_empty() && !part.handed) {
                let stages = stages(&part.assignments, &part.words);
                let mut first = stages.iter().filter_map(|(_, words)| words.first());
                let covered = first.any(|word| word.text.starts_with('l'));
                prop_assert!(covered || part_is_read_only(&line, part), "{part:?} of {line:?}");
                prop_assert!(part.redirections.iter().all(|to| !to.writes), "{line:?}");
            }
        }
    }

    #[test]
    fn a_denied_word_is_found_wherever_it_stands_as_a_command(
        before in whole(),
        separator in prop::sample::select(vec!["\n", ";", "&&", "||", "|", "&", "$(", "`", "("]),
        after in shellish(),
    ) {
        let case = Case::of(About::Shell(format!("{before}{separator} zap x {after}")));
        prop_assert_eq!(case.rule(Behavior::Deny, "Bash(zap *)").line(), "deny rule deny_rule");
    }

    #[test]
    fn rules_of_any_text_compile_or_are_complained_about(rule in "\\PC{0,30}|(Read|Edit|Bash|WebFetch|Agent)\\(\\PC{0,20}\\)") {
        let _ = parse(&rule);
        let _ = host_of(&rule);
        let value = json!({"permissions": {"deny": [rule], "allow": [rule]}});
        let (settings, complaints) = merge(vec![Layer::from_value(Source::User, &value)]);
        prop_assert_eq!(complaints, []);
        let fs = MemoryFs::new(MemoryOptions::default());
        let (rules, complaints) = compile(&settings, &Anchors::new("/p", "/h"), &fs);
        let denies = rules.rules().any(|rule| rule.behavior == Behavior::Deny);
        prop_assert!(denies || !complaints.is_empty());
    }

    #[test]
    fn of_a_cut_file_every_whole_denial_is_kept(cut in 0usize..200) {
        let rules = ["Read(a)", "Bash(rm *)", "Edit(\u{e9}\u{1f600})"];
        let text = json!({"permissions": {"allow": ["Read"], "deny": rules}}).to_string();
        let end = text.char_indices().map(|(at, _)| at).take_while(|at| *at <= cut).last().unwrap_or(0);
        let cut = &text[..end];
        let (settings, complaints) = merge(vec![Layer::from_text(Source::User, "s.json", cut)]);
        prop_assert!(complaints.iter().any(|c| c.is_error()));
        let whole = rules.iter().take_while(|rule| cut.contains(&json!(rule).to_string())).count();
        let kept: Vec<&str> = settings.deny.iter().map(|d| d.text.as_str()).collect();
        prop_assert_eq!(&kept[..whole.min(kept.len())], &rules[..whole]);
        // What is torn may have been whole, so it denies; of a specifier only what is closed.
        let torn = &kept[whole..];
        prop_assert!(torn.len() <= 1 && torn.iter().all(|t| rules[whole].starts_with(t)), "{kept:?}");
    }
}
