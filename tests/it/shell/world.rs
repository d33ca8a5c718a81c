//! What a command does to the world, and what the scenario says that it does.

use super::{CWD, Stage, command};
use rehearsal::shell::{Fixture, Ran};
use rehearsal::world::Pattern;
use std::collections::BTreeMap;

fn fixture(glob: &str) -> Fixture {
    Fixture {
        command: Some(Pattern::new(glob)),
        stdout: b"answered\n".to_vec(),
        ..Fixture::default()
    }
}

/// The exit code and both streams of a command that came to its end.
fn exited(ran: &Ran) -> (i32, String, String) {
    match ran {
        Ran::Exited {
            code,
            stdout,
            stderr,
            ..
        } => (
            *code,
            String::from_utf8_lossy(stdout).into_owned(),
            String::from_utf8_lossy(stderr).into_owned(),
        ),
        other => panic!("{other:?}"),
    }
}

fn said(line: &str) -> (i32, String, String) {
    exited(&Stage::new(Vec::new()).run(line))
}

fn lacked(line: &str) -> String {
    match Stage::new(Vec::new()).run(line) {
        Ran::Lacks { what, .. } => what,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn a_program_that_nobody_provides_is_a_complaint_wherever_it_is_run() {
    for line in [
        "git status",
        "git status || true; echo after",
        "echo before; git status 2>/dev/null",
        "x=$(git status)",
        "echo | git status",
        "(git status)",
        "if git status; then :; fi",
        "f() { git status; }; f",
        "command git status",
        "command -p -- git status",
        "exec git status",
        "env git status",
        "env A=1 git status",
        "timeout 5 git status",
        "nohup git status",
        "time git status",
        "! git status",
        "A=1 git status",
        "echo status | xargs git",
        "find . -name a.txt -exec git {} \\;",
        "bash -c 'git status'",
        "sh -c 'git status || true'",
        "eval git status",
        "printf 'git status\\n' > s; source s",
        "printf 'git status\\n' > s; bash s",
        "printf '#!/bin/sh\\ngit status\\n' > s; chmod +x s; ./s",
        "git status & wait",
        "trap 'git status' EXIT",
        "while git status; do :; done",
        "g=git; $g status",
        "/usr/bin/git status",
        "cat <(git status)",
    ] {
        assert_eq!(lacked(line), program_of(line), "{line}");
    }
}

fn program_of(line: &str) -> String {
    let program = if line.starts_with('/') {
        "/usr/bin/git"
    } else {
        "git"
    };
    format!("the program {program}")
}

#[test]
fn what_cannot_run_is_named() {
    for (line, what) in [
        ("./missing.sh", "the program ./missing.sh"),
        ("/opt/tool x", "the program /opt/tool"),
        ("bash missing.sh", "the program /work/missing.sh"),
        (
            "sh -e sub/missing.sh || true",
            "the program /work/sub/missing.sh",
        ),
        ("curl https://example.com", "the program curl"),
        (
            "printf '#!/usr/bin/env python3\\n' > s; chmod +x s; ./s",
            "the program python3",
        ),
        (
            "printf '\\177ELF\\0\\0' > s; chmod +x s; ./s",
            "the program ./s",
        ),
        ("echo $SRANDOM", "$SRANDOM, which is real entropy"),
        ("bash -c 'echo $SRANDOM'", "$SRANDOM, which is real entropy"),
        (
            "printf 'echo $SRANDOM' > s; . ./s",
            "$SRANDOM, which is real entropy",
        ),
        ("coproc cat", "coprocesses"),
        ("mkfifo p", "named pipes (mkfifo /work/p)"),
        ("openssl genrsa 2048", "openssl genrsa 2048"),
        (
            "printf now > p; jq -nf p",
            "jq with a program file that asks for the time",
        ),
    ] {
        assert_eq!(lacked(line), what, "{line}");
    }
}

#[test]
fn asking_whether_a_program_is_there_is_no_complaint() {
    assert_eq!(
        said("command -v git; echo $?; type git; echo $?; which git; echo $?; hash git; echo $?").1,
        "1\n1\n1\n1\n"
    );
    let (code, stdout, _) = said(
        "command -v jq; which grep; type cat; type -t cd; test -x /usr/bin/sed && echo there; \
         grep SRANDOM a.txt; echo coproc",
    );
    assert_eq!(
        (code, stdout.as_str()),
        (
            0,
            "/usr/bin/jq\n/usr/bin/grep\ncat is /usr/bin/cat\nbuiltin\nthere\ncoproc\n"
        )
    );
}

#[test]
fn a_code_of_127_that_a_script_gives_itself_is_an_outcome() {
    assert_eq!(said("exit 127").0, 127);
    assert_eq!(said("(exit 127); echo $?").1, "127\n");
    assert_eq!(said("f() { return 127; }; f; echo $?").1, "127\n");
    assert_eq!(said("bash -c 'exit 127'; echo $?").1, "127\n");
    assert_eq!(said("echo exit 127 > s; bash s; echo $?").1, "127\n");
    let missing = Fixture {
        stdout: Vec::new(),
        stderr: b"git: command not found\n".to_vec(),
        exit: 127,
        ..fixture("git *")
    };
    let stage = Stage::new(vec![missing]);
    let ran = exited(&stage.run("git status; echo $?"));
    assert_eq!(ran.1, "127\n");
}

#[test]
fn an_answer_replaces_the_whole_line_or_a_program_within_it() {
    let stage = Stage::new(vec![
        fixture("cargo test*"),
        fixture("git status*"),
        fixture("ls -l *"),
    ]);
    assert_eq!(
        exited(&stage.run("cargo test --lib | tail")).1,
        "answered\n"
    );
    assert_eq!(
        exited(&stage.run("cd sub && git status --short | tr a-z A-Z; pwd")).1,
        "ANSWERED\n/work/sub\n"
    );
    assert_eq!(
        exited(&stage.run("/usr/bin/git status; command git status")).1,
        "answered\nanswered\n"
    );
    assert_eq!(
        exited(&stage.run("x=$(git status); echo \"<$x>\"")).1,
        "<answered>\n"
    );
    // A program of the shell's own is answered for as well, where an answer fits it.
    assert_eq!(
        exited(&stage.run("true; ls -l x; ls sub")).1,
        "answered\nc.txt\ndir\n"
    );
    // And is found where a script looks for it.
    assert_eq!(exited(&stage.run("command -v git")).1, "/usr/bin/git\n");
    match stage.run("git push") {
        Ran::Lacks { what, hint } => {
            assert_eq!(what, "the program git");
            assert!(
                hint.contains("commands:") && hint.contains("git push"),
                "{hint}"
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_answer_writes_its_files_as_the_calls_actor() {
    let written = Fixture {
        writes: BTreeMap::from([
            ("target/ok".to_owned(), b"built".to_vec()),
            ("/work/a.txt".to_owned(), b"new".to_vec()),
        ]),
        exit: 3,
        ..fixture("make build")
    };
    let stage = Stage::new(vec![written]);
    assert_eq!(
        exited(&stage.run("cd sub; make build; cat target/ok ../a.txt; exit 5")).1,
        "answered\nbuiltnew"
    );
    let stage_files = stage.files();
    assert!(stage_files.contains_key("/work/sub/target/ok"));
    assert!(
        stage
            .accesses()
            .iter()
            .all(|access| access.actor.to_string() == "c1")
    );
}

#[test]
fn the_input_environment_and_folder_are_the_commands_own() {
    let stage = Stage::new(Vec::new());
    let mut asked = command("cat; echo $FOO; pwd; cd ..; export LATER=1");
    asked.cwd = format!("{CWD}/sub");
    asked.env.push(("FOO".to_owned(), "bar".to_owned()));
    match stage.run_command(&asked) {
        Ran::Exited { stdout, cwd, .. } => {
            assert_eq!(
                String::from_utf8_lossy(&stdout),
                "in 1\nin 2\nbar\n/work/sub\n"
            );
            assert_eq!(cwd, "/work");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(exited(&stage.run("echo \"[$LATER]\"")).1, "[]\n");
}

#[test]
fn both_streams_are_also_one_in_the_order_written() {
    match Stage::new(Vec::new()).run("echo a; echo b >&2; echo c; ls missing; echo d") {
        Ran::Exited {
            stdout,
            stderr,
            merged,
            ..
        } => {
            assert_eq!(stdout, b"a\nc\nd\n");
            let missing = "ls: cannot access 'missing': No such file or directory\n";
            assert_eq!(String::from_utf8_lossy(&stderr), format!("b\n{missing}"));
            assert_eq!(
                String::from_utf8_lossy(&merged),
                format!("a\nb\nc\n{missing}d\n")
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn refusals_are_told_in_the_words_of_posix() {
    for (line, stderr) in [
        ("cat missing", "cat: missing: No such file or directory\n"),
        ("cat sub", "cat: sub: Is a directory\n"),
        (
            "mv missing x",
            "mv: cannot move 'missing': No such file or directory\n",
        ),
        (
            "echo x > missing/x",
            "bash: line 1: missing/x: No such file or directory\n",
        ),
        ("echo x > sub", "bash: line 1: sub: Is a directory\n"),
        ("cat a.txt/x", "cat: a.txt/x: Not a directory\n"),
        (
            "chmod 000 a.txt; cat a.txt",
            "cat: a.txt: Permission denied\n",
        ),
        (
            "ln -s loop loop; cat loop",
            "cat: loop: Too many levels of symbolic links\n",
        ),
        (
            "if then",
            "bash: -c: line 1: syntax error near unexpected token `then'\n",
        ),
    ] {
        let (code, _, told) = said(line);
        assert_eq!((told.as_str(), code > 0), (stderr, true), "{line}");
    }
}

#[test]
fn scripts_of_any_length_and_depth_run_on_one_thread() {
    // bashkit parses what is over 16 KiB, and every `eval`, on another thread.
    let long = format!("# {}\necho long", "x".repeat(20_000));
    assert_eq!(said(&long).1, "long\n");
    assert_eq!(
        said("for i in {1..50}; do eval \"x=$i\"; bash -c ':'; done; echo $x").1,
        "50\n"
    );
    let nested = (0..60).fold("echo deep".to_owned(), |s, _| format!("if :; then {s}; fi"));
    assert_eq!(said(&nested).1, "deep\n");
    assert_eq!(
        said("f() { [ $1 -gt 0 ] && f $(($1-1)) || echo bottom; }; f 14").1,
        "bottom\n"
    );
    assert!(lacked("f() { f; }; f").contains("maximum function depth"));
    assert!(lacked("export e='bash -c \"$e\"'; bash -c \"$e\"").contains("nesting depth"));
}

#[test]
fn awk_and_sed_write_the_world_by_operations_of_the_call() {
    let stage = Stage::new(Vec::new());
    stage.run("awk '{ print > \"out\" }' a.txt; sed -i s/one/ONE/ b.txt a.txt");
    let files = stage.files();
    assert_eq!(files["/work/out"], "644 \"one\\ntwo\\nthree\\n\"");
    assert_eq!(files["/work/a.txt"], "644 \"ONE\\ntwo\\nthree\\n\"");
    let accesses = stage.accesses();
    assert!(
        accesses
            .iter()
            .all(|access| !format!("{:?}", access.op).contains(".bashkit-"))
    );
}

#[test]
fn devices_are_there_and_nothing_of_the_machine_is() {
    let (_, stdout, stderr) = said(
        "echo gone > /dev/null; cat /dev/null; head -c 3 /dev/zero | od -An -tx1; \
         echo x > /dev/full; ls /etc /proc /usr 2>/dev/null; ls /; cat /etc/passwd 2>/dev/null; \
         whoami; hostname; id -u",
    );
    assert_eq!(stdout, " 00 00 00\ntmp\nwork\nuser\nrehearsal\n1000\n");
    assert_eq!(stderr, "bash: line 1: /dev/full: No space left on device\n");
}
