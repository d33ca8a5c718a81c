//! Scenario files: the example of the interface, bad files, arbitrary text.

use proptest::prelude::*;
use rehearsal::scenario::{
    Content, FileContent, FileIs, Loaded, Rejected, SnapshotLevel, load, parse, schema,
};
use rehearsal::settings::Source;
use rehearsal::tools::{Returns, Scripted};
use rehearsal::words::Mode;
use rehearsal::words::{Behavior, Class, Layer, Step};
use rehearsal::world::{Change, Fs, Trigger, UserReply};
use std::path::{Path, PathBuf};

const EXAMPLE: &str = include_str!("../../scenarios/edits/outside_change.yaml");

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The complaints about a file, or its warnings, without the machine's path.
fn complaints(result: &Result<Loaded, Rejected>) -> String {
    let all = match result {
        Ok(loaded) => &loaded.warnings,
        Err(rejected) => &rejected.complaints,
    };
    let lines: Vec<String> = all.iter().map(ToString::to_string).collect();
    let text = lines.join("\n");
    let text = text.replace(&format!("{}/", root().display()), "");
    match (result, text.is_empty()) {
        (Ok(_), true) => "no complaints".to_owned(),
        (Ok(_), false) => format!("{text}\nand it can be run"),
        (Err(_), _) => text,
    }
}

#[test]
fn the_example_of_the_interface_lands_where_it_should() {
    let loaded = parse("outside_change.yaml", EXAMPLE).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(loaded.warnings, []);
    let [s, case] = loaded.scenarios.as_slice() else {
        panic!("{} scenarios", loaded.scenarios.len());
    };
    assert_eq!(s.name, "an edit is refused after an outside change");
    assert_eq!(s.title(), "outside_change.yaml");
    assert_eq!(s.profile.name, "seed");
    assert_eq!(s.profile.overridden(), ["recheck_before_write=true"]);
    assert_eq!((s.seed, s.cwd.as_str()), (0, "/work"));
    assert_eq!(s.start_unix_ms, 1_767_225_600_000);
    assert!(s.fs.options().case_sensitive);
    assert_eq!(s.fs.options().mtime_granularity_ms, 1);

    let paths: Vec<&str> = s.files.keys().map(String::as_str).collect();
    assert_eq!(
        paths,
        [
            "/work/big.log",
            "/work/empty",
            "/work/huge.bin",
            "/work/link",
            "/work/notes.txt",
            "/work/pic.png",
            "/work/tool.sh"
        ]
    );
    let content = |path: &str| &s.files[path].content;
    assert_eq!(
        *content("/work/notes.txt"),
        FileContent::File(Content::text("one\ntwo\n"))
    );
    let FileContent::File(big) = content("/work/big.log") else {
        panic!("big.log is no file");
    };
    assert_eq!(big.bytes().len(), 25_000);
    assert_eq!(
        *content("/work/huge.bin"),
        FileContent::Sparse(1_073_741_825)
    );
    assert_eq!(
        *content("/work/link"),
        FileContent::Symlink("notes.txt".into())
    );
    assert_eq!(*content("/work/empty"), FileContent::Dir);
    let FileContent::File(pic) = content("/work/pic.png") else {
        panic!("pic.png is no file");
    };
    assert_eq!(pic.bytes()[..], *b"\x89PNG\r\n\x1a\n");
    let tool = &s.files["/work/tool.sh"];
    assert_eq!(tool.mode, Some(0o755));
    assert_eq!(tool.mtime_unix_ms, Some(1_767_139_200_000));

    let read = |path: &str| s.fs.read(path).expect("a file").to_vec();
    assert_eq!(read("/work/link"), b"one\ntwo\n");
    assert_eq!(s.fs.stat("/work/tool.sh").expect("a file").mode, 0o755);
    assert_eq!(
        s.fs.stat("/work/huge.bin").expect("a file").size,
        1_073_741_825
    );

    assert_eq!(
        s.settings.default_mode,
        Some((Mode::Default, Source::Project))
    );
    let allow: Vec<&str> = s.settings.allow.iter().map(|p| p.text.as_str()).collect();
    assert_eq!(allow, ["Edit(notes.txt)"]);
    assert!(s.flags["fork_subagent"]);
    let only: Vec<&str> = s.tools.only.iter().flatten().map(|n| &*n.value).collect();
    assert_eq!(only, ["Read", "Edit", "Grep"]);
    let deploy = &s.tools.custom[0];
    assert_eq!(
        (deploy.name.as_str(), deploy.latency_ms),
        ("deploy", Some(500))
    );
    assert_eq!(deploy.exclusive, Some(true));
    assert_eq!(
        deploy.answer.fails,
        Some((Class::Timeout, "no answer".into()))
    );
    let search = &s.tools.mcp[0];
    assert_eq!(search.name, "mcp__tickets__search");
    assert!(search.read_only);
    assert_eq!(search.answer, Scripted::text("3 open"));
    assert!(s.tools.answers[0].optional);
    assert_eq!(s.tools.answers[0].label, "tools.answers[0]");
    let page = &s.tools.answers[0].value;
    assert!(page.matches("WebFetch", &serde_json::json!({})));
    assert_eq!(page.gives.returns, Returns::Text("page text".into()));
    let cargo = &s.commands[0];
    assert!(
        cargo
            .value
            .command
            .as_ref()
            .is_some_and(|g| g.matches("cargo test --lib"))
    );
    assert_eq!((cargo.value.exit, cargo.value.latency_ms), (0, 900));
    assert_eq!(cargo.value.stdout, b"1 passed\n");
    assert_eq!(cargo.value.writes["target/ok"], b"");
    assert_eq!(s.latency_ms["model"], 100);
    assert_eq!(
        s.user[0].value.reply,
        UserReply::Allow {
            always: false,
            updated_input: None,
            updated_permissions: Vec::new(),
        }
    );
    assert!(s.user[0].has_matcher && s.user[0].optional);
    assert_eq!(s.max_turns, 50);
    assert_eq!(s.prompts, ["Fix the note."]);

    assert_eq!(s.model.len(), 3);
    assert_eq!(s.model[0].say, ["I will read it first."]);
    assert_eq!(s.model[0].calls[0].tool, "Read");
    assert_eq!(
        s.model[0].calls[0].input,
        serde_json::json!({"file_path": "notes.txt"})
    );
    let batch = &s.model[1].calls;
    assert_eq!(batch[0].id.as_deref(), Some("toolu_edit"));
    assert_eq!(batch[0].input["new_string"], "1");
    assert_eq!(batch[1].tool, "Grep");
    let when = s.model[2].when.as_ref().expect("a condition");
    assert_eq!(when.class, Some(Class::Stale));
    assert_eq!(
        when.result.as_ref().map(|r| r.value.as_str()),
        Some("toolu_edit")
    );
    assert_eq!(
        s.model[2].stop.as_ref().map(|s| s.as_str()),
        Some("end_turn")
    );
    let otherwise = s.model[2].otherwise.as_ref().expect("an else");
    assert_eq!(otherwise.say, ["Done."]);

    let change = &s.outside[0].change;
    assert_eq!(
        change.trigger,
        Trigger::Before {
            call: "toolu_edit".into(),
            step: Step::Validate
        }
    );
    assert_eq!(
        change.changes,
        [Change::Write {
            path: "/work/notes.txt".into(),
            bytes: b"ONE\ntwo\n"[..].into()
        }]
    );
    assert_eq!(s.place_of("o0: before validate").map(|p| p.line), Some(44));

    let edit = &s.expect.calls[0];
    assert_eq!(edit.key.value, "toolu_edit");
    assert_eq!(edit.step.as_ref().map(|p| p.value), Some(Step::Validate));
    assert_eq!(edit.class.as_ref().map(|p| p.value), Some(Class::Stale));
    assert_eq!(edit.is_error.as_ref().map(|p| p.value), Some(true));
    let decision = s.expect.calls[1].decision.as_ref().expect("a decision");
    assert_eq!(
        decision.behavior.as_ref().map(|p| p.value),
        Some(Behavior::Allow)
    );
    assert_eq!(decision.layer.as_ref().map(|p| p.value), Some(Layer::Mode));
    assert_eq!(s.expect.files[0].path, "/work/notes.txt");
    assert!(matches!(&s.expect.files[0].is, FileIs::There(facts) if facts.len() == 1));
    let order: Vec<&str> = s.expect.order[0].iter().map(|k| k.value.as_str()).collect();
    assert_eq!(order, ["1", "toolu_edit"]);
    assert_eq!(
        s.expect.stop.as_ref().map(|p| p.value.as_str()),
        Some("end_turn")
    );
    assert_eq!(s.expect.never[0].event, "prompt");
    assert!(s.invariants_off.is_empty());
    assert_eq!(s.snapshot, SnapshotLevel::Steps);

    assert_eq!(case.case.as_deref(), Some("without the outside change"));
    assert_eq!(case.name, "without the outside change");
    assert!(case.outside.is_empty());
    assert_eq!(s.place_of("user[0]").map(|p| p.line), Some(30));
    assert_eq!(
        s.turns()[1].calls[1].input,
        r#"{"path":"tool.sh","pattern":"hi"}"#
    );
    assert_eq!(case.files, s.files);
    assert_eq!(
        case.expect.calls[0].class.as_ref().map(|p| p.value),
        Some(Class::Ok)
    );
    assert_ne!(case.hash, s.hash, "another world is another hash");
}

#[test]
fn a_hash_depends_on_the_run_and_not_on_what_is_expected_of_it() {
    let hash = |text: &str| {
        let loaded = parse("a.yaml", text).unwrap_or_else(|e| panic!("{e}"));
        loaded.scenarios[0].hash.clone()
    };
    let expected_less = EXAMPLE.replace("  stop: end_turn\n  never", "  never");
    assert_ne!(expected_less, EXAMPLE);
    assert_eq!(hash(EXAMPLE), hash(&expected_less));
    assert_ne!(hash(EXAMPLE), hash(&EXAMPLE.replace("seed: 0", "seed: 1")));
}

fn bad_files() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(root().join("fixtures/bad")).expect("fixtures/bad");
    let mut files: Vec<PathBuf> = folder.map(|e| e.expect("an entry").path()).collect();
    files.sort();
    files
}

#[test]
fn complaints_about_bad_files() {
    let mut seen = 0;
    for path in bad_files() {
        let name = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let result = load(&path);
        if name != "old_yaml" {
            assert!(result.is_err(), "{name} should be refused");
        }
        insta::assert_snapshot!(format!("bad_{name}"), complaints(&result));
        seen += 1;
    }
    assert!(seen >= 15, "only {seen} bad files");
}

#[test]
fn a_file_that_is_not_there_is_a_complaint() {
    let error = load(Path::new("no/such.yaml")).expect_err("no file");
    insta::assert_snapshot!(error, @"no/such.yaml:1:1: error: found a file that cannot be read (there is none), expected a scenario file");
}

#[test]
fn what_stands_beside_a_scenario_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        std::fs::write(path, text).expect("a file");
    };
    write("project/src/a.txt", "a\n");
    write("project/b.txt", "from the folder\n");
    write(
        "home/.claude/settings.json",
        r#"{"permissions": {"defaultMode": "acceptEdits"}}"#,
    );
    write(
        "home/.claude/settings.local.json",
        r#"{"permissions": {"defaultMode": "plan"}}"#,
    );
    write(
        "common.yaml",
        "cwd: /p\nmodel: [{calls: [{Read: {file_path: b.txt}}]}, {say: Done.}]\nseed: 3\n",
    );
    write(
        "s.yaml",
        "rehearsal: 1\nname: n\ninclude: common.yaml\nseed: 4\nfiles_from: project\nfiles: {b.txt: own}\nsettings: home\nexpect: {calls: {\"1\": {step: post_hook, class: ok}}}\n",
    );
    let loaded = load(&folder.path().join("s.yaml")).unwrap_or_else(|e| panic!("{e}"));
    let s = &loaded.scenarios[0];
    assert_eq!((s.seed, s.cwd.as_str(), s.model.len()), (4, "/p", 2));
    assert_eq!(
        s.files["/p/src/a.txt"].content,
        FileContent::File(Content::text("a\n"))
    );
    assert_eq!(
        s.files["/p/b.txt"].content,
        FileContent::File(Content::text("own"))
    );
    let modes = &s.settings.raw;
    let sources: Vec<Source> = modes.iter().map(|(source, _)| *source).collect();
    assert_eq!(sources, [Source::Local, Source::Project]);
    assert_eq!(s.settings.default_mode, Some((Mode::Plan, Source::Local)));
    assert_eq!(loaded.sources.len(), 2);
}

#[test]
fn the_schema_accepts_the_example_and_refuses_bad_files() {
    let schema = schema();
    let validator = jsonschema::draft202012::new(&schema).expect("a schema");
    let json = |text: &str| -> serde_json::Value { serde_saphyr::from_str(text).expect("YAML") };
    let errors: Vec<String> = validator
        .iter_errors(&json(EXAMPLE))
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect();
    assert_eq!(errors, Vec::<String>::new());
    // What only a check across keys can see, or a reader of YAML, no schema refuses.
    let beyond = [
        "a_list",
        "beside",
        "cases",
        "duplicate_keys",
        "empty",
        "files",
        "not_yaml",
        "old_yaml",
        "proves_nothing",
        "references",
        "semantics",
        "tabs",
        "two_documents",
    ];
    for path in bad_files() {
        let name = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        if !beyond.contains(&name.as_str()) {
            let text = std::fs::read_to_string(&path).expect("text");
            assert!(
                !validator.is_valid(&json(&text)),
                "the schema accepts {name}"
            );
        }
    }
}

/// Every complaint stands in the file that it is about.
fn well_placed(text: &str, result: &Result<Loaded, Rejected>) {
    let all = match result {
        Ok(loaded) => &loaded.warnings,
        Err(rejected) => {
            assert!(!rejected.complaints.is_empty(), "refused without a word");
            &rejected.complaints
        }
    };
    for complaint in all {
        let place = &complaint.place;
        assert!(place.line >= 1 && place.column >= 1, "{complaint}");
        let (from, to) = place.bytes;
        assert!(
            from <= to && to as usize <= text.len(),
            "{complaint} {from}..{to}"
        );
        assert!(text.is_char_boundary(from as usize), "{complaint}");
        assert!(text.is_char_boundary(to as usize), "{complaint}");
    }
}

proptest! {
    #[test]
    fn arbitrary_text_is_complained_about_and_never_panics(text in "\\PC*|[ \\n:{}\\[\\]\"'a-z0-9&*!|>#-]{0,200}") {
        let result = parse("any.yaml", &text);
        prop_assert!(result.is_err(), "arbitrary text is no scenario");
        well_placed(&text, &result);
    }

    /// The example with pieces of it cut out, doubled or replaced.
    #[test]
    fn a_damaged_example_never_panics(
        edits in prop::collection::vec((0usize..4000, 0usize..40, "[ \\n:{}\\[\\]\"'a-z0-9&*!|>~#é🦀-]{0,6}"), 1..6)
    ) {
        let mut chars: Vec<char> = EXAMPLE.chars().collect();
        for (at, cut, put) in edits {
            let from = at % (chars.len() + 1);
            let to = (from + cut).min(chars.len());
            chars.splice(from..to, put.chars());
        }
        let text: String = chars.into_iter().collect();
        let result = parse("any.yaml", &text);
        well_placed(&text, &result);
    }
}
