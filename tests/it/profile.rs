//! The profiles as one table, so that a change of any value shows.

use rehearsal::profile::Profile;
use std::fmt::Write;

#[test]
fn the_table_of_all_profiles() {
    let profiles: Vec<Profile> = Profile::names()
        .into_iter()
        .map(|name| Profile::by_name(name).unwrap())
        .collect();
    let mut table = format!("parameter | {}\n", Profile::names().join(" | "));
    for id in Profile::PARAMETERS {
        let _ = write!(table, "{id}");
        let mut left = None;
        for profile in &profiles {
            let value = profile.value_of(id);
            if value == left {
                table.push_str(" | =");
            } else {
                let shown = value.as_ref().map(|v| v.to_string().replace('"', ""));
                let _ = write!(table, " | {}", shown.unwrap_or_default());
            }
            left = value;
        }
        table.push('\n');
    }
    insta::assert_snapshot!(table);
}

#[test]
fn every_assumed_value_says_why() {
    for name in Profile::names() {
        let profile = Profile::by_name(name).unwrap();
        for id in Profile::PARAMETERS {
            let source = profile.source_of(id).unwrap();
            if let Some(why) = source.strip_prefix("assumed") {
                assert!(why.len() > 10, "{name}: {id}: {source}");
            }
        }
    }
}
