//! Bash, TodoWrite, ToolSearch, scripted tools, and what each tool declares.

use super::custom::{Annotations, CustomTool, McpOrigin, Returns, Scripted};
use super::testing::{Bench, assert_class};
use super::{
    Answered, Bash, Edit, Footprint, Glob, Grep, Outcome, Pool, PoolOptions, Read, ResultContent,
    RuleSubject, TodoWrite, Tool, ToolAnswer, ToolSearch, Write, builtin, stand_in, strict,
};
use crate::profile::Profile;
use crate::shell::{Command, Ran};
use crate::sim::Resource;
use crate::words::{Class, Mode};
use crate::world::{Answer, Answers, MemoryFs, MemoryOptions, Pattern};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

fn shell(answer: impl Fn(&Command) -> Ran + Send + Sync + 'static) -> Bench {
    let fs = MemoryFs::new(MemoryOptions::default());
    Bench::with(Arc::new(fs), Profile::seed(), answer)
}

fn exits(code: i32, out: &str, err: &str, cwd: &str) -> Ran {
    Ran::Exited {
        code,
        stdout: out.as_bytes().to_vec(),
        stderr: err.as_bytes().to_vec(),
        merged: format!("{out}{err}").into_bytes(),
        cwd: cwd.to_owned(),
    }
}

fn bash(command: &str) -> Value {
    json!({"command": command})
}

#[test]
fn bash_shows_output_and_states_failure() {
    let bench = shell(|c| match c.line.as_str() {
        "quiet" => exits(0, "", "", &c.cwd),
        "fail" => exits(2, "", "", &c.cwd),
        "both" => exits(1, "out\n", "err\n\n", &c.cwd),
        "slow" => Ran::TimedOut {
            after_ms: c.timeout_ms,
            merged: b"half".to_vec(),
        },
        "lacks" => Ran::Lacks {
            what: "no cargo here".into(),
            hint: "Add it to commands:".into(),
        },
        "bytes" => Ran::Exited {
            code: 0,
            stdout: Vec::new(),
            stderr: Vec::new(),
            merged: b"\x1b[1ma\xFF\n".to_vec(),
            cwd: c.cwd.clone(),
        },
        line => exits(i32::from(line.contains("one")), "", "", &c.cwd),
    });
    let run = |line: &str| bench.one(Bash, bash(line));
    assert_eq!(run("quiet").text(), "[The command ended without output.]");
    assert_eq!(run("bytes").text(), "\u{1b}[1ma\u{FFFD}");
    let both = run("both");
    assert_class(&both, Class::ExitNonzero);
    assert_eq!(
        both.text(),
        "error: exit_nonzero: the command ended with exit code 1. Its output tells why:\nout\nerr"
    );
    assert_eq!(both.data.expect("data")["stderr"], "err");
    assert_class(&run("fail"), Class::ExitNonzero);
    let slow = bench.one(Bash, json!({"command": "slow", "timeout": 9_000_000}));
    assert_class(&slow, Class::Timeout);
    assert!(
        slow.text().contains("after 600000 ms") && slow.text().ends_with("half"),
        "{}",
        slow.text()
    );
    assert!(run("slow").text().contains("after 120000 ms"));
    let lacks = run("lacks");
    assert_class(&lacks, Class::Internal);
    assert_eq!(
        lacks.complaint.as_deref(),
        Some("no cargo here. Add it to commands:")
    );
    // Exit code 1 of these is an answer (`semantics.md §3.5`).
    for line in [
        "grep one f",
        "cat x | grep one",
        "git diff one",
        "[ one ]",
        "/bin/test one",
    ] {
        assert_class(&run(line), Class::Ok);
    }
    for line in [
        "grep one f | sort",
        "git push one",
        "one",
        "echo $(grep one f)",
    ] {
        assert_class(&run(line), Class::ExitNonzero);
    }
}

#[test]
fn bash_refuses_what_is_not_there() {
    let bench = shell(|c| exits(0, "", "", &c.cwd));
    for input in [
        json!({"command": "sleep 9", "run_in_background": true}),
        bash(" "),
        bash("a\0b"),
    ] {
        assert_class(&bench.one(Bash, input), Class::InvalidInput);
    }
    assert!(bench.ran.lock().expect("lock").is_empty());
}

#[test]
fn the_working_folder_stays_inside_and_is_reset_outside() {
    let bench = shell(|c| match c.line.strip_prefix("cd ") {
        Some(to) => exits(0, "", "", to),
        None => exits(0, &c.cwd, "", &c.cwd),
    });
    let run = |line: &str| bench.one(Bash, bash(line)).text();
    run("cd /p/sub");
    assert_eq!(run("pwd"), "/p/sub");
    run("cd /more/x");
    assert_eq!(run("pwd"), "/more/x");
    assert!(run("cd /tmp").contains("reset to /p: /tmp is outside"));
    assert_eq!(run("pwd"), "/p");
    assert!(run("cd /pp").contains("reset"));
    let ran = bench.ran.lock().expect("lock");
    let env = [("HOME", "/home/me"), ("LANG", "C.UTF-8"), ("PWD", "/p")];
    let env: Vec<(String, String)> = env.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
    assert_eq!(ran[0].env, env);
}

#[test]
fn todos_replace_each_other() {
    let bench = Bench::new(&[]);
    let todo = |content: &str, status: &str| json!({"content": content, "status": status, "activeForm": "Doing"});
    let first = bench.one(
        TodoWrite,
        json!({"todos": [todo("a", "in_progress"), todo("b", "pending")]}),
    );
    assert_eq!(
        first.text(),
        "The list is written: 0 done, 1 being done, 1 to do."
    );
    let second = bench.one(TodoWrite, json!({"todos": [todo("a", "completed")]}));
    let data = second.data.expect("data");
    assert_eq!(data["oldTodos"][1], todo("b", "pending"));
    assert_eq!(data["newTodos"], json!([todo("a", "completed")]));
    assert_class(
        &bench.one(TodoWrite, json!({"todos": [todo(" ", "pending")]})),
        Class::InvalidInput,
    );
    assert_class(
        &bench.one(TodoWrite, json!({"todos": [todo("x", "later")]})),
        Class::InvalidInput,
    );
    assert_eq!(bench.env.session.todos().len(), 1);
}

fn mcp(server: &str, tool: &str, description: &str) -> Arc<dyn Tool> {
    let origin = McpOrigin {
        server: server.to_owned(),
        tool: tool.to_owned(),
        annotations: Annotations {
            requires_user: false,
            read_only: true,
            destructive: None,
        },
    };
    let schema =
        json!({"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]});
    Arc::new(CustomTool {
        should_defer: true,
        ..CustomTool::of_server(origin, description, schema)
    })
}

fn with_pool() -> Bench {
    let bench = Bench::new(&[]);
    let flags = BTreeMap::new();
    let options = PoolOptions {
        profile: &bench.env.profile,
        mode: Mode::Default,
        flags: &flags,
        only: None,
        denied: &|_| None,
    };
    let tools = vec![
        mcp("tickets", "search", "Find tickets by text."),
        mcp("tickets", "create", "Open a new ticket."),
        mcp("wiki", "page", "Show a page."),
    ];
    let (pool, _) = Pool::build(builtin(), tools, &options);
    assert!(bench.env.pool.set(Arc::new(pool)).is_ok());
    bench
}

fn search(bench: &Bench, query: &str) -> Outcome {
    let outcome = bench.one(ToolSearch, json!({"query": query}));
    assert_class(&outcome, Class::Ok);
    outcome
}

fn matches(outcome: &Outcome) -> Value {
    outcome.data.as_ref().expect("data")["matches"].clone()
}

#[test]
fn a_search_loads_what_it_finds() {
    let bench = with_pool();
    let found = search(
        &bench,
        "select:mcp__wiki__page,mcp__tickets__serch, mcp__wiki__page,Read",
    );
    assert_eq!(matches(&found), json!(["mcp__wiki__page", "Read"]));
    let text = found.text();
    for part in [
        "mcp__wiki__page\nShow a page.\nInput schema: {",
        "Call it as mcp__wiki__page with an input like {\"q\":\"…\"}.",
        "There is no tool called mcp__tickets__serch. Did you mean mcp__tickets__search?",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(
        matches(&search(&bench, "ticket")),
        json!(["mcp__tickets__create", "mcp__tickets__search"])
    );
    assert_eq!(
        matches(&search(&bench, "+search ticket")),
        json!(["mcp__tickets__search"])
    );
    let none = search(&bench, "weather");
    assert_eq!(matches(&none), json!([]));
    assert!(none.text().contains("mcp__wiki__page"), "{}", none.text());
    assert_class(
        &bench.one(ToolSearch, json!({"query": "select:"})),
        Class::InvalidInput,
    );
    let one = bench.one(ToolSearch, json!({"query": "ticket", "max_results": 1}));
    assert_eq!(matches(&one), json!(["mcp__tickets__create"]));
    // In their order of loading, what needs no loading left out.
    let loaded = bench.env.session.loaded_tools();
    let loaded: Vec<&str> = loaded.iter().map(|name| &**name).collect();
    assert_eq!(
        loaded,
        [
            "mcp__wiki__page",
            "mcp__tickets__create",
            "mcp__tickets__search"
        ]
    );
}

#[test]
fn the_order_of_loading_is_that_of_the_calls() {
    let order = |first: usize| {
        let bench = with_pool();
        let searches = [
            "select:mcp__wiki__page",
            "select:mcp__tickets__create,mcp__wiki__page",
        ];
        bench.play(|bench| async move {
            let cxs = [bench.cx(), bench.cx()];
            for at in [first, 1 - first] {
                let input = json!({"query": searches[at]});
                let nobody = super::testing::Nobody;
                ToolSearch.call(&input, &cxs[at], &nobody, &nobody).await;
            }
            bench.env.session.loaded_tools()
        })
    };
    assert_eq!(order(0), order(1));
}

#[test]
fn scripted_tools_return_and_fail() {
    let bench = Bench::new(&[]);
    let tool = |answer: Scripted| CustomTool {
        answer,
        ..CustomTool::new("deploy", "Ship it.", json!({"type": "object"}))
    };
    let fails = Scripted {
        fails: Some((Class::Timeout, "no answer".into())),
        ..Scripted::default()
    };
    let failed = bench.one(tool(fails), json!({}));
    assert_class(&failed, Class::Timeout);
    assert_eq!(failed.text(), "error: timeout: no answer");
    let image = json!({"type": "image", "data": "aGk=", "mimeType": "image/png"});
    let blocks = Scripted {
        returns: Returns::Blocks(vec![json!({"type": "text", "text": "hi"}), image]),
        fails: None,
    };
    let outcome = bench.one(tool(blocks), json!({}));
    let ResultContent::Blocks(blocks) = &outcome.content else {
        panic!("no blocks");
    };
    assert_eq!(outcome.text(), "hi");
    assert!(
        blocks[1]
            .raw()
            .get()
            .contains(r#""media_type":"image/png""#)
    );
}

#[test]
fn answers_lie_over_tools() {
    let bench = Bench::new(&[("/p/a", "real\n")]);
    let answer = |tool: &str, input: Option<Value>, text: &str| Answer {
        value: ToolAnswer {
            latency_ms: 0,
            tool: Pattern::new(tool),
            input: input.clone(),
            answer: Scripted::text(text),
        },
        has_matcher: input.is_some(),
        times: None,
        optional: false,
        label: text.to_owned(),
    };
    let answers = Arc::new(Answers::new(vec![
        answer("WebFetch", Some(json!({"url": "https://a.*"})), "page a"),
        answer("WebFetch", None, "any page"),
        answer("Read", Some(json!({"file_path": "fake"})), "scripted"),
    ]));
    let web = || Answered::only(Arc::new(stand_in("WebFetch")), answers.clone());
    let fetch = |url: &str| bench.one(web(), json!({"url": url, "prompt": "x"}));
    assert_eq!(fetch("https://a.b").text(), "page a");
    assert_eq!(fetch("https://b.c").text(), "any page");
    let unanswered = fetch("https://b.c");
    assert_class(&unanswered, Class::Internal);
    assert!(unanswered.complaint.is_some());
    let read = || Answered::over(Arc::new(Read), answers.clone());
    assert_eq!(
        bench.one(read(), json!({"file_path": "fake"})).text(),
        "scripted"
    );
    assert_eq!(
        bench.one(read(), json!({"file_path": "a"})).text(),
        "1\treal\n2\t"
    );
    assert!(answers.left().is_empty());
    let cx = bench.cx();
    let input = json!({"url": "https://x.y", "prompt": "x"});
    assert!(!web().is_concurrency_safe(&cx, &input));
    assert_eq!(
        web().rule_subject(&cx, &input),
        RuleSubject::Url("https://x.y".into())
    );
}

#[test]
fn every_built_in_schema_is_strict_and_every_parameter_is_described() {
    for tool in builtin() {
        let schema = tool.input_schema();
        assert!(strict::in_subset(schema), "{}", tool.name());
        jsonschema::draft202012::new(schema).expect("compiles");
        assert!(tool.description().len() > 80, "{}", tool.name());
        for (name, parameter) in schema["properties"].as_object().expect("properties") {
            assert!(
                parameter["description"].is_string(),
                "{} {name}",
                tool.name()
            );
        }
    }
    let names: Vec<String> = builtin()
        .iter()
        .map(|tool| tool.name().to_owned())
        .collect();
    assert!(names.is_sorted());
}

#[test]
fn footprints_say_what_is_touched() {
    let bench = Bench::new(&[("/p/a", "x"), ("/p/sub/b", "x")]);
    let fs = bench.world.fs();
    fs.symlink("a", "/p/link", 0).expect("link");
    let cx = bench.cx();
    let file = |path: &str| Resource::File(path.into());
    let state = |path: &str| Resource::FileState(path.into());
    let read = Read.footprint(&cx, &json!({"file_path": "a"}));
    assert_eq!(read, Footprint::reads([file("/p/a"), state("/p/a")]));
    let by_link = Read.footprint(&cx, &json!({"file_path": "link"}));
    assert_eq!(
        by_link,
        Footprint::reads([file("/p/link"), file("/p/a"), state("/p/a")])
    );
    let input = json!({"file_path": "link", "old_string": "x", "new_string": "y"});
    let edit = Edit.footprint(&cx, &input);
    assert_eq!(edit.writes, [file("/p/a"), state("/p/a")]);
    assert!(!Edit.is_concurrency_safe(&cx, &input));
    let new = Write.footprint(&cx, &json!({"file_path": "new/f", "content": ""}));
    assert_eq!(
        new.writes,
        [
            file("/p/new/f"),
            Resource::Entry("/p/new".into(), "f".into()),
            Resource::Entry("/p".into(), "new".into()),
            state("/p/new/f"),
        ]
    );
    let glob = Glob.footprint(&cx, &json!({"pattern": "*", "path": "sub"}));
    assert!(glob.reads.contains(&Resource::Subtree("/p/sub".into())));
    assert!(Glob.is_concurrency_safe(&cx, &json!({"pattern": "*"})));
    assert!(Grep.is_concurrency_safe(&cx, &json!({"pattern": "x"})));
    assert!(ToolSearch.is_concurrency_safe(&cx, &json!({"query": "x"})));
    assert!(!TodoWrite.is_concurrency_safe(&cx, &json!({"todos": []})));
}

#[test]
fn only_lines_that_read_run_beside_others() {
    let bench = Bench::new(&[]);
    let cx = bench.cx();
    for line in [
        "ls -la",
        "cat a | wc -l",
        "git status",
        "grep x a && head b",
    ] {
        assert!(Bash.is_concurrency_safe(&cx, &bash(line)), "{line}");
        assert!(Bash.is_read_only(&bash(line)), "{line}");
    }
    for line in [
        "touch a",
        "cat a > b",
        "cat $(touch a)",
        "cargo test",
        "rm a; ls",
        "cd sub && ls",
    ] {
        assert!(!Bash.is_concurrency_safe(&cx, &bash(line)), "{line}");
    }
    assert!(Bash.is_destructive(&bash("ls && rm -rf a")));
    assert!(!Bash.is_destructive(&bash("echo rm")));
}

#[test]
fn annotations_decide_what_runs_beside_others() {
    let bench = Bench::new(&[]);
    let cx = bench.cx();
    let tool = |read_only, destructive| {
        let origin = McpOrigin {
            server: "s".into(),
            tool: "t".into(),
            annotations: Annotations {
                requires_user: false,
                read_only,
                destructive,
            },
        };
        CustomTool::of_server(origin, "", json!({"type": "object"}))
    };
    assert!(tool(true, None).is_concurrency_safe(&cx, &json!({})));
    assert!(!tool(true, None).is_destructive(&json!({})));
    assert!(!tool(false, None).is_concurrency_safe(&cx, &json!({})));
    assert!(tool(false, None).is_destructive(&json!({})));
    assert!(!tool(false, Some(false)).is_destructive(&json!({})));
}
