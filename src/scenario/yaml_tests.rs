use super::*;

fn read(text: &str) -> (Option<Node>, Vec<String>) {
    let mut complaints = Vec::new();
    let node = parse(&"a.yaml".into(), text, &mut complaints);
    (node, complaints.iter().map(ToString::to_string).collect())
}

#[test]
fn scalars_follow_the_core_schema() {
    let text = "[1, -2, +3, 0x1F, 0o17, 1.5, 1e3, .5, true, 'true', ~, '', a b, 1.2.3, 10-20, 18446744073709551615]";
    let (node, complaints) = read(text);
    assert_eq!(complaints, Vec::<String>::new());
    assert_eq!(
        node.map(|n| n.to_json()),
        Some(serde_json::json!([
            1,
            -2,
            3,
            31,
            15,
            1.5,
            1000.0,
            0.5,
            true,
            "true",
            null,
            "",
            "a b",
            "1.2.3",
            "10-20",
            18446744073709551615u64
        ]))
    );
}

#[test]
fn places_count_from_one() {
    let (node, _) = read("a:\n  - b: \"é\"\n    c: 1\n");
    let node = node.as_ref();
    let c = node
        .and_then(|n| n.get("a"))
        .and_then(|a| match &a.data {
            Data::List(items) => items[0].get("c"),
            _ => None,
        })
        .map(|c| (c.at.line, c.at.column, c.at.bytes));
    assert_eq!(c, Some((3, 8, (22, 23))));
    let place = node.and_then(|n| n.get("a")).map(|a| a.at.clone());
    assert_eq!(
        place.and_then(|p| node.and_then(|n| n.path_of(&p))),
        Some("a".to_owned())
    );
}

#[test]
fn old_yaml_is_remarked_on() {
    let (_, complaints) = read("[012, 1_000, no, On, .inf, 'no', \"1_000\"]");
    let titles: Vec<&str> = complaints
        .iter()
        .filter_map(|c| c.lines().next()?.strip_prefix("a.yaml:1:"))
        .collect();
    insta::assert_snapshot!(titles.join("\n"), @r#"
    2: warning: found 012, which is read as 12, expected a number without leading zeros
    7: warning: found "1_000" without quotes, expected a number without `_` or a quoted text
    14: warning: found "no" without quotes, expected a boolean or a quoted text
    18: warning: found "On" without quotes, expected a boolean or a quoted text
    22: warning: found ".inf" without quotes, expected a finite number or a quoted text
    "#);
}

#[test]
fn aliases_are_values_and_bombs_are_refused() {
    let (node, _) = read("a: &x {k: 1}\nb: *x\n");
    assert_eq!(
        node.map(|n| n.to_json()),
        Some(serde_json::json!({"a": {"k": 1}, "b": {"k": 1}}))
    );
    let mut bomb = String::from("l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n");
    for i in 1..12 {
        let p = i - 1;
        bomb.push_str(&format!(
            "l{i}: &l{i} [*l{p}, *l{p}, *l{p}, *l{p}, *l{p}, *l{p}, *l{p}, *l{p}, *l{p}, *l{p}]\n"
        ));
    }
    let (node, complaints) = read(&bomb);
    assert!(node.is_none());
    assert!(
        complaints[0].contains("more than 500000 values"),
        "{complaints:?}"
    );
}

#[test]
fn depth_is_limited_also_through_aliases() {
    let deep = "[".repeat(MAX_DEPTH + 1) + &"]".repeat(MAX_DEPTH + 1);
    assert!(read(&deep).0.is_none());
    let fits = "[".repeat(MAX_DEPTH) + &"]".repeat(MAX_DEPTH);
    assert!(read(&fits).0.is_some(), "{:?}", read(&fits).1);
    let mut stacked = String::from("a0: &a0 [1]\n");
    for i in 1..=MAX_DEPTH {
        stacked.push_str(&format!("a{i}: &a{i} [*a{}]\n", i - 1));
    }
    let (node, complaints) = read(&stacked);
    assert!(node.is_none());
    assert!(complaints[0].contains("deeper than 64"), "{complaints:?}");
}

#[test]
fn what_is_no_yaml_is_said_once_with_its_place() {
    for text in [
        "a: [1",
        "a: b: c",
        "a:\n\tb: 1\n c: 2",
        "{[1]: 2}",
        "*x",
        "a: 1\n---\nb: 1",
        "!foo x",
    ] {
        let (_, complaints) = read(text);
        assert_eq!(complaints.len(), 1, "{text}: {complaints:?}");
        assert!(complaints[0].starts_with("a.yaml:"), "{complaints:?}");
    }
}
