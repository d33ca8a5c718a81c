//! What README.md shows is what a person gets: every command in a `console` block is run,
//! and what it prints must be what stands there.

use std::path::Path;
use std::process::Command;

/// One command of the README and what is shown below it.
struct Shown {
    line: usize,
    command: String,
    output: String,
}

fn shown(text: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    let mut inside = false;
    for (at, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if let (true, Some(command)) = (inside, line.strip_prefix("$ ")) {
            found.push(Shown {
                line: at + 1,
                command: command.to_owned(),
                output: String::new(),
            });
        } else if let (true, Some(last)) = (inside, found.last_mut()) {
            last.output.push_str(line);
            last.output.push('\n');
        }
    }
    found
}

/// The words of a command; single quotes hold words together.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in command.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().expect("never empty").push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether what is printed is what is shown; a line `…` stands for lines left out.
fn is_shown(printed: &str, shown: &str) -> bool {
    let (printed, shown) = (printed.trim_end(), shown.trim_end());
    match shown.split_once("\n…\n") {
        Some((begin, end)) => {
            printed.len() >= begin.len() + end.len()
                && printed.starts_with(begin)
                && printed.ends_with(end)
        }
        None => printed == shown,
    }
}

#[test]
fn every_command_prints_what_the_readme_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).expect("README.md is there");
    let room = tempfile::tempdir().expect("a folder to work in");
    for name in ["scenarios", "fixtures"] {
        std::os::unix::fs::symlink(root.join(name), room.path().join(name)).expect("links");
    }
    // Snapshots are written to, so they are a copy.
    std::fs::create_dir(room.path().join("snapshots")).expect("a folder");
    for entry in std::fs::read_dir(root.join("snapshots"))
        .expect("lists")
        .flatten()
    {
        std::fs::copy(
            entry.path(),
            room.path().join("snapshots").join(entry.file_name()),
        )
        .expect("copies");
    }
    let (mut ran, mut wrong) = (0, Vec::new());
    for Shown {
        line,
        command,
        output,
    } in shown(&readme)
    {
        let words = words(&command);
        let args: &[String] = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["cargo", "run", "--release", "--", ..] => &words[4..],
            ["rehearsal", ..] => &words[1..],
            // The tests themselves.
            ["cargo", "test"] => continue,
            _ => panic!("README.md:{line}: no test knows how to run {command:?}"),
        };
        let result = Command::new(env!("CARGO_BIN_EXE_rehearsal"))
            .args(args)
            .current_dir(room.path())
            .env("NO_COLOR", "1")
            .output()
            .expect("the binary runs");
        // What stdout has, or a terminal with the remarks of stderr.
        let mut printed = String::from_utf8_lossy(&result.stdout).into_owned();
        let data_alone = is_shown(&printed, &output);
        printed.push_str(&String::from_utf8_lossy(&result.stderr));
        ran += 1;
        if !data_alone && !is_shown(&printed, &output) {
            wrong.push(format!(
                "README.md:{line}: $ {command}\n--- shown\n{output}--- printed\n{printed}"
            ));
        }
    }
    assert!(ran >= 7, "only {ran} commands are shown");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_two_commands_that_do_all_set_up_are_shown() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md"))
        .expect("reads");
    for command in ["cargo run --release -- run scenarios", "cargo test"] {
        assert!(
            readme
                .lines()
                .any(|line| line.trim_start_matches("$ ") == command),
            "{command} is not shown"
        );
    }
}
