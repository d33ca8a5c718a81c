//! Rules and settings of any form: no panic, no rule that is lost in silence, and what is
//! read is what was written.

use proptest::prelude::*;
use proptest::string::string_regex;
use rehearsal::rule::{Anchors, Paths, Query, Subject, compile, parse};
use rehearsal::settings::{Layer, Source, merge};
use rehearsal::world::{MemoryFs, MemoryOptions};
use serde_json::json;

/// Texts that are rules, nearly rules, or nothing like one.
fn rules() -> impl Strategy<Value = String> {
    let tool = "(Bash|Read|Edit|Write|WebFetch|Agent|Skill|Task|Grep|mcp__a__b|mcp__a|\\*|B\\*|[a-zA-Z_*]{0,6})";
    let inner = "([a-z./*?\\[\\]{}!~:\\\\ é-]{0,12}|domain:[a-z.*]{0,8}|[a-z]{1,5}:[a-z*]{0,5}|//.{0,8}|~/.{0,8})";
    let of_form = |form: &str| string_regex(form).expect("a regular expression");
    prop_oneof![
        6 => of_form(&format!("{tool}\\({inner}\\)")),
        2 => of_form(tool),
        1 => "\\PC{0,16}",
    ]
}

fn compiled(kind: &str, rule: &str) -> (rehearsal::rule::RuleSet, Vec<bool>) {
    let value = json!({"permissions": {kind: [rule]}});
    let (settings, none) = merge(vec![Layer::from_value(Source::Project, &value)]);
    assert_eq!(none, []);
    let fs = MemoryFs::new(MemoryOptions::default());
    let (rules, complaints) = compile(&settings, &Anchors::new("/p", "/home/u"), &fs);
    (rules, complaints.iter().map(|c| c.is_error()).collect())
}

proptest! {
    #![proptest_config(crate::fuzz::config(256, 1))]

    #[test]
    fn a_rule_reads_back_as_it_was_written(text in rules()) {
        if let Ok(written) = parse(&text) {
            let again = match written.specifier {
                Some(specifier) => format!("{}({specifier})", written.tool),
                None => written.tool.to_owned(),
            };
            prop_assert_eq!(parse(&again), Ok(written), "{}", again);
        }
    }

    #[test]
    fn no_rule_is_lost_without_a_word(text in rules()) {
        for kind in ["deny", "ask", "allow"] {
            let (rules, complaints) = compiled(kind, &text);
            prop_assert!(rules.len() == 1 || !complaints.is_empty(), "{kind} {text}");
            // A rule that would have permitted can be missed; one that would have denied cannot.
            prop_assert!(kind != "allow" || !complaints.contains(&true), "{kind} {text}");
        }
    }

    #[test]
    fn any_rule_meets_any_path(text in rules(), path in "(/[a-z.é]{1,4}){1,4}") {
        let paths = Paths::plain(path);
        let (denies, _) = compiled("deny", &text);
        let (allows, _) = compiled("allow", &text);
        for subject in [Subject::Read(&paths), Subject::Edit(&paths)] {
            let tool = match subject {
                Subject::Read(_) => "Read",
                _ => "Edit",
            };
            let query = Query { tool, aliases: &[], subject, input: None };
            let (denied, allowed) = (denies.matches(&query), allows.matches(&query));
            // An allow is never wider than the same text as a deny, but that what may be
            // changed may also be read.
            if allowed.allow.is_some() && !(tool == "Read" && text.trim().starts_with("Edit")) {
                prop_assert!(denied.deny.is_some(), "{text} {}", paths.spelled);
            }
        }
    }

    #[test]
    fn settings_of_any_text_are_read(text in "\\PC{0,200}", cut in 0usize..200) {
        let whole = json!({"permissions": {"deny": ["Read(a)", "Read(b)"], "allow": [text]}}).to_string();
        let mut end = cut.min(whole.len());
        while !whole.is_char_boundary(end) {
            end -= 1;
        }
        for given in [text.as_str(), &whole[..end], whole.as_str()] {
            let (settings, complaints) = merge(vec![Layer::from_text(Source::Project, "s.json", given)]);
            // The beginning of settings is no JSON, and what it denied until there is kept.
            if given.len() < whole.len() && whole.starts_with(given) {
                prop_assert!(complaints.iter().any(|c| c.is_error()), "{given}");
                let denied = given.matches("\"Read(").count();
                prop_assert!(given.contains("\"allow\"") || settings.deny.len() + 1 >= denied, "{given}");
            }
        }
    }
}
