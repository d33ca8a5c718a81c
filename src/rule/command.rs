//! `Bash(…)`: command lines, exact, as a prefix, or with `*` (`semantics.md §1.2`).

use super::Side;
use super::name::wildcard;
use crate::shell_syntax::{
    CommandLine, Part, Shape, Stage, Word, collapse, join_exact, join_loose, part_is_read_only,
    rule_text, stages,
};

/// What a command rule stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPattern {
    /// The rule as it is written.
    raw: String,
    /// What stands between the `*`.
    pieces: Vec<String>,
    /// The same, if a space and anything may follow: for a rule that ends in ` *` or `:*`.
    followed: Option<Vec<String>>,
}

/// Commands that no prefix rule approves: what they do is in their operands.
const EXACT_ONLY: &[&str] = &["watch", "setsid", "ionice", "flock"];

impl CommandPattern {
    /// Reads a specifier. ` *` at the end demands the end of a word before it, `:*` at
    /// the end is the same; `*` elsewhere is anything, a colon elsewhere is a colon.
    pub fn new(specifier: &str) -> CommandPattern {
        let (head, bounded) = match specifier
            .strip_suffix(":*")
            .or_else(|| specifier.strip_suffix(" *"))
        {
            Some(head) => (head, true),
            None => (specifier, false),
        };
        let pieces: Vec<String> = rule_text(head).split('*').map(str::to_owned).collect();
        let followed = bounded.then(|| {
            let mut pieces = pieces.clone();
            if let Some(last) = pieces.last_mut() {
                last.push(' ');
            }
            pieces.push(String::new());
            pieces
        });
        CommandPattern {
            raw: specifier.to_owned(),
            pieces,
            followed,
        }
    }

    /// The word with which every command that it matches begins, if it is certain.
    pub fn first_word(&self) -> Option<&str> {
        let first = self.pieces.first()?;
        match first.split_once(' ') {
            Some((word, _)) => Some(word),
            None if self.pieces.len() == 1 => Some(first),
            None => None,
        }
    }

    /// Whether it stands for the command `text`, written as [`rule_text`] writes.
    pub fn matches(&self, text: &str) -> bool {
        let fits = |pieces: &[String]| {
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            wildcard(&pieces, text)
        };
        fits(&self.pieces) || self.followed.as_deref().is_some_and(fits)
    }

    fn is_exact(&self) -> bool {
        self.pieces.len() == 1 && self.followed.is_none()
    }

    /// The line that it is about, character for character, if it holds no wildcard.
    pub fn whole_line(&self) -> Option<&str> {
        self.is_exact().then(|| self.raw.trim())
    }

    /// Whether an allow rule of this pattern covers what `form` is a form of.
    pub fn covers(&self, form: &Form) -> bool {
        (self.is_exact() || !form.exact_only) && self.matches(&form.text)
    }
}

/// One way to write a command, for a rule to be compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    pub text: String,
    /// Only a rule without wildcards may approve it.
    pub exact_only: bool,
}

/// The forms under which rules may know a line. Those for an allow rule are few and
/// each covers all that the line does; those for a deny or ask rule are all that any
/// part of it can be read as.
pub fn forms(line: &CommandLine, side: Side) -> Vec<Form> {
    match side {
        Side::Permits => match (line.shape, line.parts.last()) {
            (Shape::Simple, Some(part)) => permitting(part),
            _ => Vec::new(),
        },
        Side::Restricts => {
            let mut texts = vec![collapse(&line.text)];
            for part in &line.parts {
                restricting(part, &mut texts);
            }
            texts.sort();
            texts.dedup();
            texts
                .into_iter()
                .map(|text| Form {
                    text,
                    exact_only: false,
                })
                .collect()
        }
    }
}

/// What allow rules must cover of a line that is more than one plain command.
pub struct ToCover {
    /// Its commands, each with its forms: all but those that only read.
    pub commands: Vec<Vec<Form>>,
    /// It writes files by redirection, and rules about editing must cover those.
    pub writes: bool,
}

/// What allow rules must cover of a line. `None` where it does more than they can: it
/// cannot be taken apart, or writes to what only the shell knows.
pub fn to_cover(line: &CommandLine) -> Option<ToCover> {
    if !matches!(line.shape, Shape::Compound(_)) {
        return None;
    }
    let redirections = line.parts.iter().flat_map(|part| &part.redirections);
    let mut writes = redirections.filter(|to| to.writes && to.target.text != "/dev/null");
    if writes.clone().any(|to| to.target.dynamic) {
        return None;
    }
    let writes = writes.next().is_some();
    let counts = |part: &&Part| {
        let runs = !part.words.is_empty() || !part.assignments.is_empty();
        runs && !part.handed && !part_is_read_only(line, part)
    };
    Some(ToCover {
        commands: line.parts.iter().filter(counts).map(permitting).collect(),
        writes,
    })
}

fn permitting(part: &Part) -> Vec<Form> {
    let mut forms = vec![Form {
        text: part.exact_text(),
        exact_only: exact_only(&part.words),
    }];
    for (stage, words) in stages(&part.assignments, &part.words) {
        if stage == Stage::Bared {
            break;
        }
        if words.is_empty() {
            break;
        }
        let exact_only = exact_only(words);
        let mut push = |text: String| forms.push(Form { text, exact_only });
        push(join_exact(words));
        if let Some(rest) = git_command(words, Side::Permits) {
            push(join_exact(words.iter().take(1).chain(rest)));
        }
    }
    forms
}

fn restricting(part: &Part, texts: &mut Vec<String>) {
    texts.push(part.exact_text());
    for (_, words) in stages(&part.assignments, &part.words) {
        let Some((first, rest)) = words.split_first() else {
            continue;
        };
        let named = Word {
            text: base_name(&first.text).to_owned(),
            ..first.clone()
        };
        for first in [first, &named] {
            texts.push(join_exact([first].into_iter().chain(rest)));
            texts.push(join_loose([first].into_iter().chain(rest)));
        }
        if let Some(rest) = git_command(words, Side::Restricts) {
            texts.push(join_exact([&named].into_iter().chain(rest)));
        }
    }
}

/// Whether only a rule without wildcards may approve a command.
fn exact_only(words: &[Word]) -> bool {
    let Some((first, rest)) = words.split_first() else {
        return false;
    };
    let finds = || {
        rest.iter().any(|w| {
            w.text.starts_with("-exec") || w.text.starts_with("-ok") || w.text == "-delete"
        })
    };
    let name = base_name(&first.text);
    EXACT_ONLY.contains(&name) || name == "find" && finds()
}

/// The words of a `git` command from its own name on, past options of `git` itself.
fn git_command(words: &[Word], side: Side) -> Option<&[Word]> {
    let (first, mut left) = words.split_first()?;
    let is_git = match side {
        Side::Permits => first.text == "git",
        Side::Restricts => base_name(&first.text) == "git",
    };
    if !is_git {
        return None;
    }
    while let Some((option, after)) = left.split_first().filter(|(w, _)| w.text.starts_with('-')) {
        let harmless = matches!(option.text.as_str(), "-C" | "--no-pager");
        if side == Side::Permits && !harmless {
            return None;
        }
        let valued = [
            "-C",
            "-c",
            "--git-dir",
            "--work-tree",
            "--namespace",
            "--exec-path",
        ];
        left = match valued.contains(&option.text.as_str()) {
            true => after.get(1..).unwrap_or_default(),
            false => after,
        };
    }
    (!left.is_empty()).then_some(left)
}

fn base_name(text: &str) -> &str {
    text.rsplit('/').next().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell_syntax::analyze;

    fn allows(rule: &str, line: &str) -> bool {
        let (pattern, line) = (CommandPattern::new(rule), analyze(line));
        pattern.whole_line() == Some(line.text.trim())
            || forms(&line, Side::Permits)
                .iter()
                .any(|form| pattern.covers(form))
    }

    fn denies(rule: &str, line: &str) -> bool {
        let pattern = CommandPattern::new(rule);
        forms(&analyze(line), Side::Restricts)
            .iter()
            .any(|form| pattern.matches(&form.text))
    }

    /// The vectors of `semantics.md §1.2`, and what `observed.md §4.6` adds.
    #[test]
    fn documented_vectors() {
        let allowed = [
            ("ls *", "ls -la", true),
            ("ls *", "ls", true),
            ("ls *", "lsof", false),
            ("ls*", "lsof", true),
            ("git * main", "git push origin main", true),
            ("git:* push", "git push", false),
            ("git:* push", "git -C x push", false),
            ("npm test *", "timeout 30 npm test", true),
            ("npm test *", "NODE_ENV=test npm test", true),
            ("npm test *", "EVIL=1 npm test", false),
            ("npm test:*", "npm test -- --watch", true),
            ("npm test:*", "npm testing", false),
            ("npm test", "npm test", true),
            ("npm test", "npm testing", false),
            ("npm test", "npm test --all", false),
            ("grep *", "xargs grep p", true),
            ("grep *", "xargs -n1 grep p", false),
            ("safe *", "safe && other", false),
            ("git log:*", "git -C /p log", true),
            ("git log:*", "git -c core.pager=x log", false),
            ("npm  test", "npm\ttest", true),
            ("rm *", "npx rm x", false),
            ("ls *", "nocorrect ls", false),
            ("watch *", "watch ls", false),
            ("watch ls", "watch ls", true),
            ("find *", "find . -name x", true),
            ("find *", "find . -exec rm {} +", false),
            ("find *", "find . -delete", false),
            ("command *", "command -v ls", true),
            ("ls *", "command -v ls", false),
        ];
        for (rule, line, expected) in allowed {
            assert_eq!(allows(rule, line), expected, "allow {rule}: {line}");
        }
        let denied = [
            ("rm *", "FOO=bar rm -rf tmp/", true),
            ("rm:*", "echo ok && rm -f x", true),
            ("rm:*", "echo $(rm -f x)", true),
            ("rm *", "sudo rm x", true),
            ("rm *", "env A=1 rm x", true),
            ("rm *", "watch rm x", true),
            ("rm *", "ionice -c 3 rm x", true),
            ("rm *", "setsid rm x", true),
            ("rm *", "/bin/rm x", true),
            ("rm *", "xargs -n1 rm", true),
            ("rm *", "bash -c 'rm x'", true),
            ("rm *", "echo rm x", false),
            ("rm *", "ls | grep rm", false),
            ("git push *", "git -c a=b push origin", true),
            ("git push *", " git  push origin main", true),
            ("git push *", "/usr/bin/git push origin main", true),
            ("git push *", "git status && git push", true),
            ("rm -rf *", r#"r"m" -r'f' /tmp/z"#, true),
            ("rm -rf *", r"rm -$'\u0072f' /tmp/z", true),
            ("rm -rf *", r"\rm -rf /tmp/z", true),
            ("cat *", "cat <<EOF\nx\nEOF", true),
            ("* && rm *", "ls && rm x", true),
            ("safe *", "safe && other", true),
        ];
        for (rule, line, expected) in denied {
            assert_eq!(denies(rule, line), expected, "deny {rule}: {line}");
        }
    }

    #[test]
    fn a_space_in_a_word_is_no_space_between_words() {
        assert!(!allows("cat a b", "cat 'a b'"));
        assert!(allows("cat 'a b'", "cat \"a b\""));
        assert!(denies("cat a b", "cat 'a b'"));
        assert!(allows("echo *", "echo 'a && b'"));
        assert!(!allows("a*", "'a b' c && d"));
    }

    #[test]
    fn an_exact_line_is_itself_even_if_it_is_compound() {
        assert!(allows("make && make install", "make && make install"));
        assert!(!allows("make && *", "make && make install"));
    }

    #[test]
    fn the_first_word_is_known_where_it_is_certain() {
        let first = |rule: &str| CommandPattern::new(rule).first_word().map(str::to_owned);
        assert_eq!(first("npm test *").as_deref(), Some("npm"));
        assert_eq!(first("npm:*").as_deref(), Some("npm"));
        assert_eq!(first("npm").as_deref(), Some("npm"));
        assert_eq!(first("git * main").as_deref(), Some("git"));
        assert_eq!(first("npm*"), None);
        assert_eq!(first("* x"), None);
    }
}
