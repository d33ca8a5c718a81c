//! Which command lines change nothing.

use super::wrapper::base_name;
use super::{CommandLine, Part, Shape, Stage, Word, stages};

/// Commands that write nothing, whatever their options.
const READERS: &[&str] = &[
    "ls",
    "cat",
    "echo",
    "pwd",
    "head",
    "tail",
    "grep",
    "egrep",
    "fgrep",
    "wc",
    "which",
    "diff",
    "stat",
    "du",
    "cd",
    "true",
    "false",
    "cut",
    "tr",
    "nl",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "cmp",
    "comm",
    "md5sum",
    "sha256sum",
    "type",
    "jq",
];

/// Actions of `find` that run a command or change a file.
const FIND_ACTIONS: &[&str] = &[
    "-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls",
];

/// Commands of `git` that only show.
const GIT_READERS: &[&str] = &[
    "status",
    "log",
    "diff",
    "show",
    "rev-parse",
    "ls-files",
    "blame",
    "describe",
    "shortlog",
];

/// Whether a line changes nothing: every command in it is a known reader, and none of
/// its output goes to a file. Unknown is no (`semantics.md §1.2`).
pub fn is_read_only(line: &CommandLine) -> bool {
    if line.nested || line.parts.is_empty() || matches!(line.shape, Shape::Unsplittable(_)) {
        return false;
    }
    line.parts.iter().all(|part| part_is_read_only(line, part))
}

/// Whether a command of `line` changes nothing.
pub fn part_is_read_only(line: &CommandLine, part: &Part) -> bool {
    let names = || line.parts.iter().filter_map(|part| part.words.first());
    let is_git = |part: &Part| {
        let stages = stages(&part.assignments, &part.words);
        let innermost = stages.last().and_then(|(_, words)| words.first());
        innermost.is_some_and(|word| base_name(&word.text) == "git")
    };
    // What `git` finds in another folder may run programs.
    let moves = names().any(|word| matches!(word.text.as_str(), "cd" | "pushd" | "popd"));
    reads(part) && !(moves && is_git(part))
}

fn reads(part: &Part) -> bool {
    if part.redirections.iter().any(|r| r.writes) {
        return false;
    }
    let stages = stages(&part.assignments, &part.words);
    let Some((Stage::Whole | Stage::Stripped, words)) = stages.last() else {
        return false;
    };
    let Some((first, rest)) = words.split_first() else {
        return false;
    };
    if first.dynamic {
        return false;
    }
    let runs = |(_, words): &(Stage, &[Word]), name: &str| {
        words.first().is_some_and(|word| word.text == name)
    };
    // As a program and not as a reserved word, `time` writes to a file that it is told.
    let times = |words: &[Word]| {
        words
            .get(1)
            .is_some_and(|word| word.text.starts_with('-') && word.text != "-p")
    };
    if stages
        .iter()
        .any(|stage| runs(stage, "time") && times(stage.1))
    {
        return false;
    }
    if READERS.contains(&first.text.as_str()) {
        return true;
    }
    // What `xargs` adds to the words may be an option that writes.
    if stages.iter().any(|stage| runs(stage, "xargs")) {
        return false;
    }
    match first.text.as_str() {
        // Both run what stands in a subscript after `-v`; `printf` also assigns.
        "test" | "[" => !rest.iter().any(|word| word.text == "-v"),
        "printf" => !rest
            .first()
            .is_some_and(|word| word.text.starts_with("-v") || word.dynamic && !word.quoted),
        "find" => plain(rest) && !rest.iter().any(|w| FIND_ACTIONS.contains(&w.text.as_str())),
        "sort" => {
            plain(rest)
                && !rest.iter().any(|w| {
                    w.text.starts_with("-o")
                        || w.text.starts_with("--o")
                        || w.text.starts_with("--c")
                        || w.text.starts_with('-')
                            && !w.text.starts_with("--")
                            && w.text.contains('o')
                })
        }
        "rg" => {
            let runs =
                |w: &Word| w.text.starts_with("--pre") || w.text.starts_with("--hostname-bin");
            plain(rest) && !rest.iter().any(runs)
        }
        "date" => rest
            .iter()
            .all(|w| w.text.starts_with('+') || w.text == "-u"),
        "git" => git(rest),
        _ => false,
    }
}

/// Whether the shell puts nothing else in the place of any word.
fn plain(words: &[Word]) -> bool {
    words.iter().all(|word| !word.dynamic)
}

fn git(words: &[Word]) -> bool {
    let words = match words.first() {
        Some(word) if word.text == "--no-pager" => &words[1..],
        _ => words,
    };
    let Some((command, rest)) = words.split_first() else {
        return false;
    };
    let writes = [
        "--output",
        "--ext-diff",
        "--textconv",
        "--open-files-in-pager",
        "-O",
    ];
    plain(rest)
        && GIT_READERS.contains(&command.text.as_str())
        && !rest
            .iter()
            .any(|word| writes.iter().any(|option| word.text.starts_with(option)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell_syntax::analyze;

    #[test]
    fn readers_read() {
        let yes = [
            "ls -la",
            "cat a b",
            "grep -r x .",
            "ls | wc -l",
            "git status && git diff",
            "cd src && ls",
            "find . -name '*.rs'",
            "ls 2>/dev/null",
            "echo $HOME",
            "ls *.rs",
            "timeout 5 ls",
            "NO_COLOR=1 ls",
            "git --no-pager log -3",
            "cat < notes.txt",
            "date +%s",
            "wc -l a; pwd",
            "ls | xargs cat",
            "test -f x",
            "printf '%s' \"$x\"",
            "time -p ls",
        ];
        for line in yes {
            assert!(is_read_only(&analyze(line)), "{line}");
        }
        let no = [
            "rm x",
            "ls > out",
            "ls $(rm x)",
            "echo `rm x`",
            "find . -delete",
            "find . -exec rm {} +",
            "find $x",
            "sort -o a b",
            "sort -uo a b",
            "git push",
            "git diff --output=x",
            "git -c a=b log",
            "FOO=1 ls",
            "cd /tmp && git status",
            "sudo ls",
            "$x",
            "ls 'a",
            "xargs rm",
            "",
            "rg --pre x y",
            "date -s now",
            "./ls",
            "cat <<X\nX",
            "find *",
            "bash -c 'rm x'",
            "command -v ls",
            "echo -delete | xargs find .",
            "echo -oX | xargs sort",
            "echo --output=x | xargs git log",
            "printf -v PATH /x; ls",
            "printf -v 'a[$(rm x)]' y",
            "printf $x y",
            "test -v 'a[$(rm x)]'",
            "[ -v 'a[$(rm x)]' ]",
            "rg --hostname-bin=./x y",
            "\\time -o out ls",
            "command time -o out ls",
        ];
        for line in no {
            assert!(!is_read_only(&analyze(line)), "{line}");
        }
        assert!(!is_read_only(&analyze(&format!(
            "echo {}",
            "a".repeat(10_000)
        ))));
    }
}
