//! Commands that run another command: what they run, and whose approval covers it.

use super::Word;

/// How a wrapper is looked through (`semantics.md §1.2`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The command as it is written.
    Whole,
    /// Without assignments that change nothing that matters, and without wrappers that
    /// add nothing of their own: a rule for what is left covers it.
    Stripped,
    /// Without any assignment and without anything that runs another command: what a
    /// deny or ask rule also looks at.
    Bared,
}

/// A command that runs the command in its operands.
struct Wrapper {
    name: &'static str,
    /// Options that take the next word as their value.
    valued: &'static [&'static str],
    /// Operands of its own before the command.
    operands: usize,
    /// Whether a rule for the wrapped command covers it.
    transparent: Transparent,
}

#[derive(PartialEq)]
enum Transparent {
    Yes,
    /// Only without options.
    Bare,
    No,
}

const fn wrapper(
    name: &'static str,
    valued: &'static [&'static str],
    operands: usize,
    transparent: Transparent,
) -> Wrapper {
    Wrapper {
        name,
        valued,
        operands,
        transparent,
    }
}

const WRAPPERS: &[Wrapper] = &[
    wrapper(
        "timeout",
        &["-s", "--signal", "-k", "--kill-after"],
        1,
        Transparent::Yes,
    ),
    wrapper("time", &["-f", "-o"], 0, Transparent::Yes),
    wrapper("nice", &["-n", "--adjustment"], 0, Transparent::Yes),
    wrapper("nohup", &[], 0, Transparent::Yes),
    wrapper("stdbuf", &["-i", "-o", "-e"], 0, Transparent::Yes),
    wrapper("command", &[], 0, Transparent::Bare),
    wrapper("builtin", &[], 0, Transparent::Bare),
    wrapper("noglob", &[], 0, Transparent::Bare),
    wrapper(
        "xargs",
        &["-n", "-I", "-P", "-L", "-d", "-s", "-E", "-a"],
        0,
        Transparent::Bare,
    ),
    wrapper("exec", &["-a"], 0, Transparent::No),
    wrapper("coproc", &[], 0, Transparent::No),
    wrapper(
        "env",
        &["-u", "--unset", "-C", "--chdir", "-S"],
        0,
        Transparent::No,
    ),
    wrapper(
        "sudo",
        &["-u", "-g", "-p", "-C", "-D", "-h", "-R", "-T", "-U"],
        0,
        Transparent::No,
    ),
    wrapper("doas", &["-u", "-C"], 0, Transparent::No),
    wrapper("watch", &["-n", "--interval"], 0, Transparent::No),
    wrapper(
        "ionice",
        &["-c", "-n", "-p", "-P", "-u"],
        0,
        Transparent::No,
    ),
    wrapper("setsid", &[], 0, Transparent::No),
    wrapper("flock", &["-w", "-E"], 1, Transparent::No),
    wrapper("parallel", &["-j", "--jobs"], 0, Transparent::No),
    wrapper("busybox", &[], 0, Transparent::No),
];

/// Variables whose assignment changes how output looks, not what is done.
const SAFE_VARIABLES: &[&str] = &[
    "CI",
    "CLICOLOR",
    "COLUMNS",
    "FORCE_COLOR",
    "LANG",
    "LC_ALL",
    "LINES",
    "NODE_ENV",
    "NO_COLOR",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
];

/// The forms under which a rule may know a command: as it is written, and with each
/// wrapper taken off in turn. `Whole` first; the innermost last.
pub fn stages<'a>(assignments: &[Word], words: &'a [Word]) -> Vec<(Stage, &'a [Word])> {
    let safe = assignments.iter().all(|word| {
        let name = word.text.split('=').next().unwrap_or_default();
        !word.dynamic && SAFE_VARIABLES.contains(&name)
    });
    let mut stage = match (assignments.is_empty(), safe) {
        (true, _) => Stage::Whole,
        (false, true) => Stage::Stripped,
        (false, false) => Stage::Bared,
    };
    let mut left = words;
    let mut stages = vec![(stage, left)];
    while let Some((inner, transparent)) = unwrap(left) {
        stage = stage.max(if transparent {
            Stage::Stripped
        } else {
            Stage::Bared
        });
        left = inner;
        stages.push((stage, left));
    }
    stages
}

/// The command that the first word runs, and whether a rule for it covers the whole.
fn unwrap(words: &[Word]) -> Option<(&[Word], bool)> {
    let (first, rest) = words.split_first()?;
    let name = base_name(&first.text);
    let wrapper = WRAPPERS.iter().find(|wrapper| wrapper.name == name)?;
    let mut left = rest;
    let mut options = false;
    while let Some((word, after)) = left.split_first() {
        let text = word.text.as_str();
        if !text.starts_with('-') || text == "-" {
            break;
        }
        options = true;
        left = after;
        if text == "--" {
            break;
        }
        if wrapper.valued.contains(&text) {
            left = left.get(1..).unwrap_or_default();
        }
    }
    left = left.get(wrapper.operands..).unwrap_or_default();
    let mut assigns = false;
    if matches!(name, "env" | "sudo") {
        while let Some(after) = left.split_first().filter(|(w, _)| w.text.contains('=')) {
            assigns = true;
            left = after.1;
        }
    }
    if left.is_empty() {
        return None;
    }
    // A path names a program of that name, which may be another than the usual one.
    let spelled = first.text == name;
    let transparent = match wrapper.transparent {
        Transparent::Yes => true,
        Transparent::Bare => !options,
        Transparent::No => false,
    };
    Some((left, transparent && spelled && !assigns))
}

/// Texts that a command hands to a shell, or commands that it is told to run.
pub(super) fn scripts(words: &[Word]) -> Vec<String> {
    let mut scripts = Vec::new();
    for (_, inner) in stages(&[], words) {
        let Some((first, rest)) = inner.split_first() else {
            continue;
        };
        match base_name(&first.text) {
            "env" => {
                let (flags, values) = (rest.iter(), rest.iter().skip(1));
                let told = flags
                    .zip(values)
                    .filter(|(flag, _)| matches!(flag.text.as_str(), "-S" | "--split-string"));
                scripts.extend(told.map(|(_, value)| value.text.clone()));
                let attached = |word: &Word| {
                    let text = word.text.strip_prefix("-S");
                    let text = text.or_else(|| word.text.strip_prefix("--split-string="));
                    text.filter(|text| !text.is_empty()).map(str::to_owned)
                };
                scripts.extend(rest.iter().find_map(attached));
            }
            name if SHELLS.contains(&name) => {
                let flag = rest.iter().position(|w| {
                    w.text.starts_with('-') && !w.text.starts_with("--") && w.text.ends_with('c')
                });
                if let Some(script) = flag.and_then(|at| rest.get(at + 1)) {
                    scripts.push(script.text.clone());
                }
            }
            "eval" => scripts.push(super::join_loose(rest)),
            "trap" => scripts.extend(rest.first().map(|word| word.text.clone())),
            "find" => {
                let runs = ["-exec", "-execdir", "-ok", "-okdir"];
                let mut left = rest;
                while let Some(at) = left.iter().position(|w| runs.contains(&w.text.as_str())) {
                    left = &left[at + 1..];
                    let end = left.iter().position(|w| w.text == ";" || w.text == "+");
                    let (command, after) = left.split_at(end.unwrap_or(left.len()));
                    let quoted: Vec<String> = command.iter().map(|w| quote(&w.text)).collect();
                    scripts.push(quoted.join(" "));
                    left = after;
                }
            }
            _ => {}
        }
    }
    scripts
}

const SHELLS: &[&str] = &["bash", "sh", "dash", "zsh", "ksh"];

/// Whether a command is a shell, which runs what it finds on its standard input.
pub(super) fn is_shell(words: &[Word]) -> bool {
    stages(&[], words).iter().any(|(_, inner)| {
        let first = inner.first();
        first.is_some_and(|first| SHELLS.contains(&base_name(&first.text)))
    })
}

/// A text as one word of a shell.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The last component of a path.
pub(super) fn base_name(text: &str) -> &str {
    text.rsplit('/').next().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell_syntax::{analyze, join_exact};

    fn shown(line: &str) -> Vec<String> {
        let line = analyze(line);
        let part = line.parts.last().unwrap();
        stages(&part.assignments, &part.words)
            .into_iter()
            .map(|(stage, words)| format!("{stage:?} {}", join_exact(words)))
            .collect()
    }

    #[test]
    fn wrappers_come_off_one_by_one() {
        let table: &[(&str, &[&str])] = &[
            ("ls", &["Whole ls"]),
            (
                "timeout 30 npm test",
                &["Whole timeout 30 npm test", "Stripped npm test"],
            ),
            (
                "timeout -k 5 30 ls",
                &["Whole timeout -k 5 30 ls", "Stripped ls"],
            ),
            (
                "nice -n 5 nohup ls",
                &[
                    "Whole nice -n 5 nohup ls",
                    "Stripped nohup ls",
                    "Stripped ls",
                ],
            ),
            ("NODE_ENV=test npm test", &["Stripped npm test"]),
            ("FOO=1 rm x", &["Bared rm x"]),
            ("xargs grep p", &["Whole xargs grep p", "Stripped grep p"]),
            (
                "xargs -n1 grep p",
                &["Whole xargs -n1 grep p", "Bared grep p"],
            ),
            (
                "xargs -n 1 grep p",
                &["Whole xargs -n 1 grep p", "Bared grep p"],
            ),
            ("command -v ls", &["Whole command -v ls", "Bared ls"]),
            ("sudo -u me rm x", &["Whole sudo -u me rm x", "Bared rm x"]),
            (
                "env A=1 B=2 rm x",
                &["Whole env A=1 B=2 rm x", "Bared rm x"],
            ),
            ("env", &["Whole env"]),
            ("./timeout 3 ls", &["Whole ./timeout 3 ls", "Bared ls"]),
            (
                "time sudo ls",
                &["Whole time sudo ls", "Stripped sudo ls", "Bared ls"],
            ),
            ("npx timeout 3 ls", &["Whole npx timeout 3 ls"]),
        ];
        for (line, expected) in table {
            assert_eq!(&shown(line), expected, "{line}");
        }
    }
}
