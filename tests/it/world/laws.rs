//! Laws of the file system in memory, and of what scenarios match with.

use super::*;
use proptest::collection::vec;
use rehearsal::world::{Difference, Differs, Held, Kept, Pattern, diff};

fn prepared(case_sensitive: bool) -> MemoryFs {
    let fs = MemoryFs::new(MemoryOptions {
        case_sensitive,
        superuser: true,
        ..MemoryOptions::default()
    });
    fs.put_dir(&base(), 0o755, 0).expect("an empty file system");
    fs
}

fn perform_all(fs: &MemoryFs, actions: &[Action]) -> Vec<Gave> {
    let steps = actions.iter().enumerate();
    steps
        .map(|(i, action)| perform(fs, action, i as i64))
        .collect()
}

/// What differs between two entries of one path, as [`diff`] would name it.
fn differs(a: &Kept, b: &Kept) -> Option<Differs> {
    if a.meta.kind != b.meta.kind {
        Some(Differs::Kind)
    } else if a.held != b.held {
        Some(Differs::Content)
    } else if a.meta.mode != b.meta.mode {
        Some(Differs::Mode)
    } else {
        None
    }
}

/// The difference of two lists of entries, path by path.
fn compared(a: &[Kept], b: &[Kept]) -> Vec<Difference> {
    let find = |list: &[Kept], path: &str| list.iter().find(|kept| kept.path == path).cloned();
    let paths: std::collections::BTreeSet<&str> =
        a.iter().chain(b).map(|kept| kept.path.as_str()).collect();
    let found = paths.into_iter().filter_map(|path| {
        let differs = match (find(a, path), find(b, path)) {
            (Some(a), Some(b)) => differs(&a, &b),
            (Some(_), None) => Some(Differs::Removed),
            (None, _) => Some(Differs::Added),
        };
        differs.map(|differs| Difference {
            path: path.to_owned(),
            differs,
        })
    });
    found.collect()
}

/// The same action with every name in lower case.
fn lowered(action: &Action) -> Action {
    let low = |text: &String| text.to_lowercase();
    match action.clone() {
        Action::Write(p, c) => Action::Write(low(&p), c),
        Action::Append(p, c) => Action::Append(low(&p), c),
        Action::ReplaceIf(p, o, n) => Action::ReplaceIf(low(&p), o, n),
        Action::Read(p) => Action::Read(low(&p)),
        Action::ReadRange(p, o, l) => Action::ReadRange(low(&p), o, l),
        Action::Stat(p) => Action::Stat(low(&p)),
        Action::Lstat(p) => Action::Lstat(low(&p)),
        Action::List(p) => Action::List(low(&p)),
        Action::Walk(p) => Action::Walk(low(&p)),
        Action::Mkdir(p, r) => Action::Mkdir(low(&p), r),
        Action::Remove(p, r) => Action::Remove(low(&p), r),
        Action::Rename(f, t) => Action::Rename(low(&f), low(&t)),
        Action::Symlink(t, l) => Action::Symlink(low(&t), low(&l)),
        Action::ReadLink(p) => Action::ReadLink(low(&p)),
        Action::Chmod(p, m) => Action::Chmod(low(&p), m),
        Action::SetMtime(p, ms) => Action::SetMtime(low(&p), ms),
        Action::Canonical(p) => Action::Canonical(low(&p)),
    }
}

/// What was given with every name in lower case, lists sorted again.
fn lowered_gave(gave: Gave) -> Gave {
    match gave {
        Gave::Text(text) => Gave::Text(text.to_lowercase()),
        Gave::Entries(mut entries) => {
            entries
                .iter_mut()
                .for_each(|(name, _)| *name = name.to_lowercase());
            entries.sort();
            Gave::Entries(entries)
        }
        Gave::Found(mut found) => {
            found
                .iter_mut()
                .for_each(|(path, _)| *path = path.to_lowercase());
            found.sort_by(|a, b| a.0.cmp(&b.0));
            Gave::Found(found)
        }
        other => other,
    }
}

/// Matches by trying everything.
fn slow_match(pattern: &[char], text: &[char]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some(('*', rest)) => (0..=text.len()).any(|i| slow_match(rest, &text[i..])),
        Some((wanted, rest)) => text.split_first().is_some_and(|(given, text)| {
            (*wanted == '?' || wanted == given) && slow_match(rest, text)
        }),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_copy_knows_nothing_of_its_original(
        before in vec(action(), 0..40),
        ours in vec(action(), 0..20),
        theirs in vec(action(), 0..20),
    ) {
        let a = prepared(true);
        perform_all(&a, &before);
        let (b, untouched) = (a.snapshot(), a.entries());
        let again = prepared(true);
        perform_all(&again, &before);
        perform_all(&b, &theirs);
        prop_assert_eq!(a.entries(), untouched);
        prop_assert_eq!(a.world_hash(), again.world_hash());
        let gave = perform_all(&a, &ours);
        prop_assert_eq!(gave, perform_all(&again, &ours));
        prop_assert_eq!(a.entries(), again.entries());
        prop_assert_eq!(a.world_hash(), again.world_hash());
        // What differs is what a comparison entry by entry finds, and the hashes agree.
        let found = diff(&a, &b);
        prop_assert_eq!(&found, &compared(&a.entries(), &b.entries()));
        prop_assert_eq!(found.is_empty(), a.world_hash() == b.world_hash());
        for fs in [&a, &b] {
            let sizes = fs.entries().into_iter().map(|kept| match kept.held {
                Held::File { bytes, .. } => bytes.map_or(0, |bytes| bytes.len() as u64),
                Held::Folder | Held::Link { .. } => 0,
            });
            prop_assert_eq!(fs.stored_bytes(), sizes.sum::<u64>());
        }
    }

    #[test]
    fn without_case_every_name_is_as_in_lower_case(actions in vec(action(), 1..60)) {
        let (folding, lower) = (prepared(false), prepared(true));
        for (i, action) in actions.iter().enumerate() {
            let ours = lowered_gave(perform(&folding, action, i as i64));
            let theirs = perform(&lower, &lowered(action), i as i64);
            prop_assert_eq!(ours, theirs, "{:?}", action);
        }
    }

    #[test]
    fn a_pattern_matches_what_trying_everything_finds(
        pattern in "[ab*?é]{0,8}",
        text in "[abé/ ]{0,10}",
    ) {
        let chars = |text: &str| text.chars().collect::<Vec<char>>();
        let slow = slow_match(&chars(&pattern), &chars(&text));
        prop_assert_eq!(Pattern::new(&pattern).matches(&text), slow);
    }
}
