//! What a command line would run, as far as reading it can tell.
//!
//! The structure is that of a grammar of bash (tree-sitter-bash); what stands in a word
//! is read here, because the grammar has no say in quotes. It may see more commands than
//! the shell would run, and never fewer where it calls a line [`Shape::Simple`] or
//! [`Shape::Compound`]: where the grammar is known to be laxer than bash (spaces, here-
//! documents), what it says is checked. It does not know what an expansion (`$x`,
//! `{a,b}`, `*`) becomes: such words are marked [`Word::dynamic`]. What it cannot take
//! apart is [`Shape::Unsplittable`], and nothing that stands in such a line may be relied
//! on (`semantics.md §1.2`); its parts are whatever looks like a command.

mod ansi_c;
mod heredoc;
mod nodes;
mod parse;
mod pieces;
mod read_only;
mod walk;
mod word;
mod wrapper;

pub use read_only::{is_read_only, part_is_read_only};
pub use wrapper::{Stage, stages};

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;

/// A command line taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// The line as it was given.
    pub text: String,
    /// Every command that stands in it, also those in substitutions and in strings
    /// handed to another shell; in the order of their ends.
    pub parts: Vec<Part>,
    pub shape: Shape,
    /// Whether one command's text can become another's words: a substitution, a
    /// here-document, a subshell, a function.
    pub nested: bool,
}

/// How much can be said of a line as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One command with its words; redirections only to `/dev/null` or between descriptors.
    Simple,
    /// More than that; what makes it so, in words that fit after "it holds".
    Compound(&'static str),
    /// It cannot be taken apart; why.
    Unsplittable(&'static str),
}

/// One command: its assignments, its words, its redirections.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    /// Leading assignments, as they are written.
    pub assignments: Vec<Word>,
    pub words: Vec<Word>,
    /// Those to files, without `/dev/null`.
    pub redirections: Vec<Redirection>,
    /// Whether it stands in a text that another command runs (`bash -c`, `eval`,
    /// `find -exec`): what approves that command approves it, too.
    pub handed: bool,
}

/// A word after quotes and escapes are removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    pub text: String,
    /// Whether the shell puts something else in its place: a variable, a glob, a brace expansion.
    pub dynamic: bool,
    /// Whether any of it was quoted or escaped: then it is no reserved word and no `~`.
    pub quoted: bool,
}

/// A redirection from or to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    pub writes: bool,
    pub target: Word,
}

/// Stands for white space that is part of a word where words are joined by spaces.
pub const INNER_SPACE: char = '\u{1f}';

/// Takes a command line apart.
///
/// A call's command is looked at several times on its way, so the last few are kept.
pub fn analyze(line: &str) -> Arc<CommandLine> {
    const KEPT: usize = 4;
    thread_local! {
        static LAST: RefCell<VecDeque<Arc<CommandLine>>> = const { RefCell::new(VecDeque::new()) };
    }
    let known = LAST.with_borrow(|last| last.iter().find(|known| known.text == line).cloned());
    if let Some(known) = known {
        return known;
    }
    let read = Arc::new(walk::run(line));
    LAST.with_borrow_mut(|last| {
        last.truncate(KEPT - 1);
        last.push_front(read.clone());
    });
    read
}

/// The words of a rule's text as [`Part::exact_text`] would join them, wildcards kept.
/// A text that is no list of words is only stripped of repeated spaces.
pub fn rule_text(text: &str) -> String {
    let line = walk::run(text);
    match (&line.shape, line.parts.as_slice()) {
        (Shape::Simple, [part]) if !line.nested && part.redirections.is_empty() => {
            part.exact_text()
        }
        _ => collapse(text),
    }
}

/// Every run of white space as one space, none at the ends.
pub fn collapse(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Words joined by spaces, so that a space within a word differs from one between two.
pub fn join_exact<'a>(words: impl IntoIterator<Item = &'a Word>) -> String {
    let mut text = String::new();
    for word in words {
        if !text.is_empty() {
            text.push(' ');
        }
        let inner = |c: char| if c.is_whitespace() { INNER_SPACE } else { c };
        text.extend(word.text.chars().map(inner));
    }
    text
}

/// Words joined by spaces, white space within words made single spaces.
pub fn join_loose<'a>(words: impl IntoIterator<Item = &'a Word>) -> String {
    let words: Vec<&str> = words.into_iter().map(|w| w.text.as_str()).collect();
    collapse(&words.join(" "))
}

impl Part {
    /// Assignments and words, as [`join_exact`] has them.
    pub fn exact_text(&self) -> String {
        join_exact(self.assignments.iter().chain(&self.words))
    }

    fn is_empty(&self) -> bool {
        self.assignments.is_empty() && self.words.is_empty() && self.redirections.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(line: &str) -> Vec<String> {
        analyze(line).parts.iter().map(Part::exact_text).collect()
    }

    #[test]
    fn what_runs_is_seen_through_quoting_and_nesting() {
        let table: &[(&str, &[&str])] = &[
            ("git status", &["git status"]),
            ("  git \t status  ", &["git status"]),
            (
                "a && b || c; d | e |& f & g\nh",
                &["a", "b", "c", "d", "e", "f", "g", "h"],
            ),
            ("echo 'a && b'", &["echo a\u{1f}&&\u{1f}b"]),
            (r#"r"m" -r'f' /tmp/z"#, &["rm -rf /tmp/z"]),
            (r"rm -$'\u0072f' /tmp/z", &["rm -rf /tmp/z"]),
            (r"\rm -rf z", &["rm -rf z"]),
            ("r\\\nm z", &["rm z"]),
            ("echo $(rm -f x)", &["rm -f x", "echo $(…)"]),
            ("echo `rm -f x`", &["rm -f x", "echo `…`"]),
            ("echo \"a $(rm x) b\"", &["rm x", "echo a\u{1f}$(…)\u{1f}b"]),
            ("diff <(ls a) <(ls b)", &["ls a", "ls b", "diff <(…) <(…)"]),
            ("(cd x; rm y)", &["cd x", "rm y"]),
            ("{ rm y; }", &["rm y"]),
            ("if true; then rm y; else ls; fi", &["true", "rm y", "ls"]),
            ("for f in a b; do rm $f; done", &["rm $f"]),
            (
                "case $(ls) in a) rm x;; *) rm y;; esac",
                &["rm x", "rm y", "ls"],
            ),
            ("while read x; do rm $x; done < f", &["read x", "rm $x", ""]),
            ("f() { rm y; }; f", &["rm y", "f"]),
            ("cat <<EOF\nrm x\nEOF", &["cat"]),
            ("cat <<'EOF' | sh\n$(rm x)\nEOF", &["cat", "sh"]),
            ("cat <<EOF\n$(rm x)\nEOF\nrm y", &["rm x", "cat", "rm y"]),
            ("cat <<< $(rm x)", &["rm x", "cat"]),
            ("echo \"`rm \\`ls\\``\"", &["ls", "rm `…`", "echo `…`"]),
            ("r\\\nm -r\\\nf x", &["rm -rf x"]),
            ("export A=$(rm x)", &["rm x", "export A=$(…)"]),
            ("> out rm x", &["rm x"]),
            ("ls > out -la", &["ls -la"]),
            ("! rm y", &["rm y"]),
            ("FOO=1 BAR='a b' rm x", &["FOO=1 BAR=a\u{1f}b rm x"]),
            (
                "x=$((1<<EOF))\nrm -rf /tmp/z\nEOF",
                &["x=$(…)", "rm -rf /tmp/z", "EOF"],
            ),
            ("ls # && rm x", &["ls"]),
            ("echo a#b", &["echo a#b"]),
            (
                "bash -c 'rm x && ls'",
                &["rm x", "ls", "bash -c rm\u{1f}x\u{1f}&&\u{1f}ls"],
            ),
            ("eval rm x", &["rm x", "eval rm x"]),
            ("trap 'rm x' EXIT", &["rm x", "trap rm\u{1f}x EXIT"]),
            ("find . -exec rm {} ;", &["rm {}", "find . -exec rm {}"]),
            (r"find . -exec rm {} \;", &["rm {}", "find . -exec rm {} ;"]),
            ("echo ${x:-$(rm y)}", &["rm y", "echo ${x:-$(rm\u{1f}y)}"]),
        ];
        for (line, expected) in table {
            assert_eq!(&parts(line), expected, "{line}");
        }
    }

    #[test]
    fn redirections_are_no_words() {
        let line = analyze("cat < in > out 2>&1 2>/dev/null &> /dev/null >> more");
        let part = &line.parts[0];
        assert_eq!(part.exact_text(), "cat");
        let targets: Vec<(bool, &str)> = part
            .redirections
            .iter()
            .map(|r| (r.writes, r.target.text.as_str()))
            .collect();
        assert_eq!(targets, [(false, "in"), (true, "out"), (true, "more")]);
        assert_eq!(analyze("npm test 2>&1").shape, Shape::Simple);
        assert_eq!(analyze("npm test >/dev/null 2>&1").shape, Shape::Simple);
        assert_eq!(analyze("echo 2 > x").parts[0].exact_text(), "echo 2");
        assert_eq!(analyze("echo 2> x").parts[0].exact_text(), "echo");
    }

    #[test]
    fn a_line_says_what_makes_it_more_than_simple() {
        let simple = [
            "ls -la",
            "npm test",
            "echo $HOME",
            "ls *.rs",
            "A=1 ls",
            "echo 'a;b'",
            "ls;",
        ];
        for line in &simple[..6] {
            assert_eq!(analyze(line).shape, Shape::Simple, "{line}");
        }
        let compound = [
            "a && b",
            "a;b",
            "a | b",
            "a &",
            "a\nb",
            "echo $(b)",
            "echo `b`",
            "a > b",
            "a < b",
            "cat <<X\nX",
            "cat <<< x",
            "(a)",
            "{ a; }",
            "if a; then b; fi",
            "f() { a; }",
            "! a",
            "ls;",
            "[[ a && b ]]",
        ];
        for line in compound {
            assert!(matches!(analyze(line).shape, Shape::Compound(_)), "{line}");
        }
        let unsplittable = [
            "echo 'a", "echo \"a", "echo `a", "echo $(a", "a \\", "echo $'a", "echo ${a", "a)",
        ];
        for line in unsplittable {
            assert!(
                matches!(analyze(line).shape, Shape::Unsplittable(_)),
                "{line}"
            );
        }
        assert_eq!(analyze("ls\n").shape, Shape::Simple);
        assert_eq!(analyze("").parts, []);
    }

    #[test]
    fn what_cannot_be_split_still_shows_its_naive_parts() {
        assert!(
            parts("echo 'a && rm -rf x")
                .iter()
                .any(|p| p.starts_with("rm -rf x"))
        );
        assert!(
            parts("echo \"a; rm x")
                .iter()
                .any(|p| p.starts_with("rm x"))
        );
    }

    #[test]
    fn expansions_are_marked() {
        let words = |line: &str| analyze(line).parts[0].words.clone();
        for word in [
            "$x", "a*", "a?", "[a]", "{a,b}", "\"$x\"", "${x}", "$(a)", "a{1..3}",
        ] {
            let line = analyze(&format!("echo {word}"));
            assert!(line.parts.last().unwrap().words[1].dynamic, "{word}");
        }
        for line in ["'$x'", "a\\*", "\"a*\"", "a", "~/x"] {
            assert!(!words(line)[0].dynamic, "{line}");
        }
    }

    #[test]
    fn a_rule_is_read_as_a_command_is() {
        assert_eq!(rule_text("npm  test *"), "npm test *");
        assert_eq!(rule_text("git commit -m 'a b'"), "git commit -m a\u{1f}b");
        assert_eq!(rule_text("a && b"), "a && b");
        assert_eq!(rule_text("it's"), "it's");
    }

    #[test]
    fn nesting_has_an_end() {
        let deep = "$(".repeat(50_000);
        assert!(matches!(analyze(&deep).shape, Shape::Unsplittable(_)));
        let finds = "find -exec ".repeat(2_000);
        assert!(matches!(analyze(&finds).shape, Shape::Unsplittable(_)));
        let ticks = "`\\".repeat(20_000);
        assert!(matches!(analyze(&ticks).shape, Shape::Unsplittable(_)));
    }
}
