//! Cutting text at a number of units.

use proptest::prelude::*;
use rehearsal::profile::CharUnit;
use rehearsal::tools::units::{count, head, tail};

/// Letters of one, two, three and four bytes, and marks that combine with them.
fn text() -> impl Strategy<Value = String> {
    let chars = prop::sample::select(vec![
        'a',
        '\n',
        'é',
        'ß',
        '漢',
        '\u{301}',
        '\u{200d}',
        '\u{feff}',
        '😀',
        '👩',
        '\u{1f3fd}',
        '𝄞',
    ]);
    prop::collection::vec(chars, 0..40).prop_map(|chars| chars.into_iter().collect())
}

proptest! {
    #[test]
    fn a_cut_is_the_longest_that_fits(text in text(), scalar in any::<bool>()) {
        let unit = if scalar { CharUnit::Scalar } else { CharUnit::Utf16 };
        let all = count(unit, &text);
        let by_hand = if scalar { text.chars().count() } else { text.encode_utf16().count() };
        prop_assert_eq!(all, by_hand as u64);
        for units in 0..=all + 1 {
            let (first, last) = (head(unit, &text, units), tail(unit, &text, units));
            prop_assert!(text.starts_with(first) && text.ends_with(last));
            prop_assert!(count(unit, first) <= units && count(unit, last) <= units);
            // One character more would not fit.
            let next = text[first.len()..].chars().next();
            let before = text[..text.len() - last.len()].chars().next_back();
            for (cut, more) in [(first, next), (last, before)] {
                if let Some(more) = more {
                    let more = count(unit, &more.to_string());
                    prop_assert!(count(unit, cut) + more > units);
                }
            }
            // Nothing is lost between the two.
            prop_assert_eq!(format!("{first}{}", &text[first.len()..]), text.as_str());
        }
        // At the exact size nothing is cut; at one less the last character is.
        prop_assert_eq!(head(unit, &text, all), text.as_str());
        if let Some(last) = text.chars().next_back() {
            prop_assert_eq!(head(unit, &text, all - 1), &text[..text.len() - last.len_utf8()]);
        }
    }
}
