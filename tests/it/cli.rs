//! The command line through the built program: what it prints, where, and how it ends.

use std::path::Path;
use std::process::{Command, Stdio};

/// What the program did.
struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Ran {
    /// Everything at once, for snapshots.
    fn all(&self) -> String {
        format!(
            "exit {}\n--- stdout\n{}--- stderr\n{}",
            self.code, self.stdout, self.stderr
        )
    }
}

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rehearsal"));
    command
        .current_dir(folder)
        .args(args)
        .stdin(Stdio::null())
        .env_clear();
    command
}

fn rehearsal(folder: &Path, args: &[&str]) -> Ran {
    let output = command(folder, args).output().expect("the program starts");
    Ran {
        code: output.status.code().expect("it was not killed"),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// A folder with files in it, and nothing that marks a repository above them.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        std::fs::write(path, text).expect("a file");
    }
    folder
}

const READS: &str = "rehearsal: 1
name: a read
files: {a.txt: \"one\\n\"}
model: [{calls: [{Read: {file_path: a.txt}}]}, {say: Done.}]
expect: {calls: {\"1\": {step: post_hook, class: ok}}}
";

/// A scenario whose expectation is not met.
fn fails() -> String {
    READS.replace("class: ok", "class: stale")
}

#[test]
fn help_of_every_verb() {
    let here = Path::new(".");
    for verb in [
        "", "run", "explain", "show", "diff", "accept", "new", "schema",
    ] {
        let args: Vec<&str> = [verb, "--help"]
            .into_iter()
            .filter(|a| !a.is_empty())
            .collect();
        let ran = rehearsal(here, &args);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        let name = if verb.is_empty() { "rehearsal" } else { verb };
        insta::assert_snapshot!(format!("help_{name}"), ran.stdout);
    }
}

#[test]
fn from_new_to_accepted_to_changed() {
    let folder = folder(&[]);
    let at = folder.path();
    let new = rehearsal(at, &["new", "scenarios/first.yaml"]);
    insta::assert_snapshot!(new.all(), @r"
    exit 0
    --- stdout
    scenarios/first.yaml
    --- stderr
    hint: rehearsal run scenarios/first.yaml
    ");
    let again = rehearsal(at, &["new", "scenarios/first.yaml"]);
    assert_eq!((again.code, again.stdout.as_str()), (2, ""));

    let first = rehearsal(at, &["run", "scenarios"]);
    insta::assert_snapshot!(first.all(), @r"
    exit 1
    --- stdout
    new      scenarios/first.yaml
      take the new snapshot: rehearsal accept scenarios/first.yaml
    new      scenarios/first.yaml@somebody was faster
      take the new snapshot: rehearsal accept scenarios/first.yaml
    2 scenarios: 2 new
    --- stderr
    ");
    let accepted = rehearsal(at, &["accept", "scenarios/first.yaml"]);
    assert_eq!(accepted.code, 0, "{}", accepted.all());
    assert_eq!(accepted.stdout.lines().count(), 2, "{}", accepted.all());
    let same = rehearsal(at, &["run", "scenarios"]);
    insta::assert_snapshot!(same.all(), @r"
    exit 0
    --- stdout
    same     scenarios/first.yaml
    same     scenarios/first.yaml@somebody was faster
    2 scenarios: 2 same
    --- stderr
    ");

    // Another answer of the model: the expectations are met, the snapshot is not.
    let file = at.join("scenarios/first.yaml");
    let text = std::fs::read_to_string(&file).expect("the starter");
    let changed = text.replace("else: {say: Done.}", "else: {say: All done.}");
    assert_ne!(changed, text);
    std::fs::write(&file, changed).expect("written");
    let differs = rehearsal(at, &["run", "scenarios", "--quiet"]);
    insta::assert_snapshot!(differs.all());
    // What runs in a folder below has the same snapshots.
    let below = rehearsal(&at.join("scenarios"), &["run", "first.yaml", "--json"]);
    assert_eq!(below.code, 1, "{}", below.all());
    assert!(
        below.stdout.contains("\"status\":\"same\""),
        "{}",
        below.all()
    );
}

#[test]
fn an_expectation_that_is_not_met_ends_with_the_command_that_shows_it_again() {
    let folder = folder(&[("s/a b.yaml", &fails())]);
    let ran = rehearsal(
        folder.path(),
        &["run", "s", "--seed", "7", "--policy", "serial"],
    );
    insta::assert_snapshot!(ran.all(), @r#"
    exit 1
    --- stdout
    differs  s/a b.yaml
      s/a b.yaml:5:48: call 1: class: expected stale, found ok: "1\tone\n2\t"
      again: rehearsal run 's/a b.yaml' --seed 7 --policy serial
    1 scenario: 1 other than expected
    --- stderr
    "#);
}

#[test]
fn complaints_show_the_line() {
    let folder = folder(&[(
        "bad.yaml",
        "rehearsal: 1\nname: é\nmodle:\n  - {say: Done.}\nfiles: {a: no, b: 1}\n",
    )]);
    let ran = rehearsal(folder.path(), &["run", "bad.yaml"]);
    insta::assert_snapshot!(ran.all());
    let json = rehearsal(folder.path(), &["run", "bad.yaml", "--json"]);
    assert_eq!(json.code, 2);
    let line = json.stdout.lines().next().expect("a line");
    let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
    assert_eq!(line["status"], "invalid");
    assert_eq!(line["complaints"][0]["kind"], "file");
    assert_eq!(line["complaints"][0]["line"], 3);
    assert_eq!(line["complaints"][0]["hint"], "did you mean `model`?");
}

#[test]
fn exit_codes() {
    let folder = folder(&[
        ("ok.yaml", &READS.replace("name:", "snapshot: none\nname:")),
        ("fails.yaml", &fails()),
        ("new.yaml", READS),
        ("bad.yaml", "rehearsal: 2\n"),
        ("empty/readme.md", ""),
        ("no.trace", "{\"not\": \"a trace\"}\n"),
        (
            "lacks.yaml",
            "rehearsal: 1\nname: n\nsnapshot: none\nsettings: {permissions: {allow: [Bash]}}\nmodel: [{calls: [{Bash: {command: frobnicate}}]}, {say: Done.}]\nexpect: {calls: {\"1\": {step: execute, class: exit_nonzero}}}\n",
        ),
        (
            "short.yaml",
            "rehearsal: 1\nname: n\nsnapshot: none\nfiles: {a: x}\nmodel: [{calls: [{Read: {file_path: a}}]}]\nexpect: {calls: {\"1\": {step: post_hook, class: ok}}}\n",
        ),
    ]);
    let cases: &[(&[&str], i32)] = &[
        (&["run", "ok.yaml"], 0),
        (&["run", "ok.yaml", "--check-determinism"], 0),
        (&["schema"], 0),
        (&["--version"], 0),
        (&["accept"], 0),
        (&["run", "fails.yaml"], 1),
        (&["run", "new.yaml"], 1),
        (&["run", "ok.yaml", "new.yaml"], 1),
        (&["run", "short.yaml"], 1),
        (&["run", "bad.yaml"], 2),
        (&["run", "bad.yaml", "fails.yaml"], 2),
        (&["run", "lacks.yaml"], 2),
        (&["run", "nowhere.yaml"], 2),
        (&["run", "ok.yaml@no such case"], 2),
        (&["run"], 2),
        (&["fly"], 2),
        (&["run", "ok.yaml", "--policy", "lucky"], 2),
        (&["run", "ok.yaml", "--profile", "lucky"], 2),
        (&["run", "ok.yaml", "--live"], 2),
        (&["run", "ok.yaml", "--settings", "x"], 2),
        (&["run", "ok.yaml", "--schedule", "nonsense"], 2),
        (&["run", "ok.yaml", "--schedule", "1:00000000:"], 2),
        (
            &["run", "ok.yaml", "new.yaml", "--schedule", "1:00000000:"],
            2,
        ),
        (&["show", "nowhere"], 2),
        (&["show", "no.trace"], 2),
        (&["diff", "no.trace", "no.trace"], 2),
        (&["run", "empty"], 4),
        (&["run", "ok.yaml", "--filter", "something else"], 4),
    ];
    for (args, code) in cases {
        let ran = rehearsal(folder.path(), args);
        assert_eq!(ran.code, *code, "{args:?}\n{}", ran.all());
        // What a run found is data; what kept it from running is not.
        let ran_to_its_end = ran.stdout.contains("scenario");
        if *code >= 2 && !ran_to_its_end {
            assert!(!ran.stderr.is_empty(), "{args:?}\n{}", ran.all());
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_a_fault_and_a_reader_that_left_is_none() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let status = command(Path::new("."), &["schema"])
        .stdout(full.expect("a full device"))
        .stderr(Stdio::null())
        .status()
        .expect("the program starts");
    assert_eq!(status.code(), Some(3));
    let mut child = command(Path::new("."), &["schema"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(0));
}

#[test]
fn a_line_of_json_has_the_fields_of_the_contract() {
    let folder = folder(&[("ok.yaml", READS)]);
    let ran = rehearsal(folder.path(), &["run", "ok.yaml", "--json"]);
    let lines: Vec<serde_json::Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let [line, summary] = lines.as_slice() else {
        panic!("{}", ran.all());
    };
    let fields: Vec<&str> = ran.stdout.lines().next().map_or(vec![], |line| {
        let order: Vec<(usize, &str)> = [
            "scenario",
            "name",
            "status",
            "seed",
            "schedule",
            "trace_hash",
            "outcome_hash",
            "makespan_ms",
            "turns",
            "calls",
            "stats",
            "complaints",
            "divergence",
            "reproduce",
        ]
        .iter()
        .filter_map(|field| Some((line.find(&format!("\"{field}\":"))?, *field)))
        .collect();
        assert!(order.is_sorted(), "the order of the contract: {order:?}");
        order.into_iter().map(|(_, field)| field).collect()
    });
    assert_eq!(fields.len(), line.as_object().map_or(0, |o| o.len()));
    assert_eq!(line["scenario"], "ok.yaml");
    assert_eq!(line["status"], "new");
    assert_eq!(line["stats"]["Read"]["calls"], 1);
    assert_eq!(line["turns"], 2);
    assert_eq!(line["trace_hash"].as_str().map(str::len), Some(16));
    assert_eq!(summary["summary"]["new"], 1);
}

#[test]
fn many_jobs_say_the_same_as_one() {
    let names: Vec<String> = (0..9).map(|i| format!("s/{i}.yaml")).collect();
    let failing = fails();
    let files: Vec<(&str, &str)> = names
        .iter()
        .enumerate()
        .map(|(i, name)| {
            (
                name.as_str(),
                if i % 3 == 0 { failing.as_str() } else { READS },
            )
        })
        .collect();
    let folder = folder(&files);
    let run = |jobs| rehearsal(folder.path(), &["run", "s", "--json", "--jobs", jobs]);
    let (one, many) = (run("1"), run("4"));
    assert_eq!(one.stdout, many.stdout);
    assert_eq!(one.code, many.code);
}

#[test]
fn a_trace_does_not_depend_on_where_the_scenario_lies() {
    let one = folder(&[("a/x.yaml", READS)]);
    let other = folder(&[("y.yaml", READS)]);
    let hash = |folder: &tempfile::TempDir, file: &str| {
        let ran = rehearsal(folder.path(), &["run", file, "--json"]);
        let line: serde_json::Value =
            serde_json::from_str(ran.stdout.lines().next().expect("a line")).expect("JSON");
        line["trace_hash"].as_str().map(str::to_owned)
    };
    let first = hash(&one, "a/x.yaml");
    assert!(first.is_some());
    assert_eq!(first, hash(&other, "y.yaml"));
}

#[test]
fn traces_are_written_shown_and_compared() {
    let folder = folder(&[
        ("a.yaml", READS),
        ("b.yaml", &READS.replace("\"one\\n\"", "\"two\\n\"")),
    ]);
    let at = folder.path();
    let ran = rehearsal(at, &["run", "a.yaml", "b.yaml", "--out", "traces"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    let shown = rehearsal(at, &["show", "traces/a.jsonl"]);
    insta::assert_snapshot!(shown.all());
    let call = rehearsal(
        at,
        &[
            "show",
            "traces/a.jsonl",
            "--call",
            "toolu_0001_1",
            "--level",
            "ops",
        ],
    );
    assert!(call.stdout.contains("op 0"), "{}", call.all());
    assert!(!call.stdout.contains("Turn"), "{}", call.all());
    assert_eq!(
        rehearsal(at, &["show", "traces/a.jsonl", "--call", "x"]).code,
        2
    );
    let json = rehearsal(at, &["show", "traces/a.jsonl", "--json", "--level", "ops"]);
    let written = std::fs::read_to_string(at.join("traces/a.jsonl")).expect("a trace");
    assert_eq!(json.stdout, written);

    let same = rehearsal(at, &["diff", "traces/a.jsonl", "traces/a.jsonl"]);
    assert_eq!((same.code, same.stdout.as_str()), (0, "same\n"));
    let differs = rehearsal(at, &["diff", "traces/a.jsonl", "traces/b.jsonl"]);
    insta::assert_snapshot!(differs.all());
    let json = rehearsal(at, &["diff", "traces/a.jsonl", "traces/b.jsonl", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(json["same"], false);
    assert_eq!(json["divergence"]["event"], "run_started");

    // A trace that was cut is shown as far as it goes.
    let cut = &written[..written.len() / 2];
    std::fs::write(at.join("cut.jsonl"), cut).expect("written");
    let shown = rehearsal(at, &["show", "cut.jsonl"]);
    assert_eq!(shown.code, 0, "{}", shown.all());
    assert!(
        shown.stderr.contains("the trace was cut"),
        "{}",
        shown.all()
    );
}

#[test]
fn warnings_are_told_and_do_not_stop_the_run() {
    let text = READS.replace("file_path: a.txt", "file_path: a.txt, limit: no");
    let text = text.replace("post_hook, class: ok", "parse, class: invalid_input");
    let folder = folder(&[("w.yaml", &text)]);
    let ran = rehearsal(folder.path(), &["run", "w.yaml"]);
    insta::assert_snapshot!(ran.all());
}

#[test]
fn the_schema_is_printed_as_json() {
    let pretty = rehearsal(Path::new("."), &["schema"]);
    let line = rehearsal(Path::new("."), &["schema", "--json"]);
    let of = |ran: &Ran| serde_json::from_str::<serde_json::Value>(&ran.stdout).expect("JSON");
    assert_eq!(of(&pretty), of(&line));
    assert_eq!(of(&pretty), rehearsal::scenario::schema());
    assert_eq!(line.stdout.lines().count(), 1);
}

#[test]
fn what_a_tool_leaves_to_guess_is_told_and_fails_where_asked() {
    let tools = "snapshot: none\ntools: {only: [Read, seal], custom: [{name: seal, description: Seals it., input_schema: {type: object, required: [id]}}]}\nmodel:";
    let vague = READS.replacen("model:", tools, 1);
    let folder = folder(&[("vague.yaml", &vague)]);
    let plain = rehearsal(folder.path(), &["run", "vague.yaml"]);
    insta::assert_snapshot!(plain.all(), @r#"
    exit 0
    --- stdout
    same     vague.yaml
    1 scenario: 1 same
    --- stderr
    warning: vague.yaml: the description of the tool seal has 9 characters; say what it does, when to use it and when not
    warning: vague.yaml: the input schema of the tool seal: "id" is required and not among the properties
    "#);
    let quiet = rehearsal(folder.path(), &["run", "vague.yaml", "--quiet"]);
    assert_eq!((quiet.code, &*quiet.stderr), (0, ""));
    let strict = rehearsal(
        folder.path(),
        &["run", "vague.yaml", "--strict-lint", "--json", "--quiet"],
    );
    assert_eq!(strict.code, 1, "{}", strict.all());
    let line: serde_json::Value =
        serde_json::from_str(strict.stdout.lines().next().expect("a line")).expect("JSON");
    assert_eq!(line["status"], "differs");
    let tools: Vec<_> = line["complaints"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|said| (&said["kind"], &said["tool"]))
        .collect();
    let (kind, tool) = (serde_json::json!("tool"), serde_json::json!("seal"));
    assert_eq!(tools, [(&kind, &tool), (&kind, &tool)]);
}

#[test]
fn tokens_by_turn_with_and_without_deferral() {
    let scenario = "rehearsal: 1
name: a deferred tool is loaded and called
tools:
  only: [ToolSearch, seal]
  custom: [{name: seal, description: \"Seals a parcel. Use it when it is packed; not before.\", should_defer: true, input_schema: {type: object, properties: {parcel: {type: string, description: Which parcel is to be sealed.}}}}]
settings: {permissions: {allow: [seal]}}
snapshot: none
model: [{calls: [{ToolSearch: {query: parcel}}]}, {calls: [{tool: seal, input: {parcel: \"7\"}}]}, {say: Done.}]
expect: {calls: {\"2\": {step: post_hook, class: ok}}}
";
    let folder = folder(&[("defer.yaml", scenario)]);
    let ran = rehearsal(
        folder.path(),
        &["run", "defer.yaml", "--out", "out", "--quiet"],
    );
    assert_eq!(ran.code, 0, "{}", ran.all());
    let name = std::fs::read_dir(folder.path().join("out"))
        .expect("a folder")
        .flatten();
    let name = name
        .map(|entry| entry.file_name())
        .find(|name| name.to_string_lossy().ends_with(".jsonl"));
    let trace = format!("out/{}", name.expect("a trace").to_string_lossy());
    let shown = rehearsal(folder.path(), &["show", &trace, "--tokens"]);
    insta::assert_snapshot!(shown.all(), @r#"
    exit 0
    --- stdout
    turn  with deferral  without
       1            209        -
       2            326      246
       3            369      289
     all            904      535  saved -68 %
    --- stderr
    "#);
    let json = rehearsal(folder.path(), &["show", &trace, "--tokens", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    // The turn that only searched would not have been.
    assert_eq!(
        json["turns"][0]["without_deferral"],
        serde_json::Value::Null
    );
}
