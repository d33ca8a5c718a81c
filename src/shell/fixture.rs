//! Answers to commands: what a scenario says that a program does.

use crate::world::{Actor, normalize};
use globset::{GlobBuilder, GlobMatcher};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// What a command line, or a program within one, does instead of running.
#[derive(Debug, Clone, Default)]
pub struct Fixture {
    /// A glob over the whole command line, or over one command of a longer line: its
    /// program and arguments joined by single spaces. Without one the answer goes to the next whole
    /// command line that asks, once.
    pub command: Option<CommandGlob>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub exit: i32,
    /// Virtual milliseconds that it takes.
    pub latency_ms: u64,
    /// Files that it writes, with the folders above them; relative to the command's folder.
    pub writes: BTreeMap<String, Vec<u8>>,
    /// How often it may be used; without a limit, as often as it matches.
    pub times: Option<u32>,
    /// Whether never being used is no complaint.
    pub optional: bool,
}

/// A glob over a command: `*` any characters, `?` one, `[…]` one of a set.
#[derive(Debug, Clone)]
pub struct CommandGlob {
    text: String,
    matcher: GlobMatcher,
}

impl CommandGlob {
    /// Compiles `text`; the error says what is wrong with it.
    pub fn new(text: &str) -> Result<CommandGlob, String> {
        let matcher = GlobBuilder::new(text.trim())
            .literal_separator(false)
            .backslash_escape(true)
            .build()
            .map_err(|e| e.kind().to_string())?
            .compile_matcher();
        Ok(CommandGlob {
            text: text.trim().to_owned(),
            matcher,
        })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    fn is_match(&self, command: &str) -> bool {
        self.text == command || self.matcher.is_match(command)
    }

    /// Whether this is the answer to a whole command line. A glob that speaks of one
    /// command does not swallow a line of several, or one with redirections: there it
    /// answers for its program alone, and the shell does the rest.
    fn is_match_line(&self, line: &str) -> bool {
        self.is_match(line) && (is_compound(&self.text) || !is_compound(line))
    }

    /// The program that the glob is about, where its first word is literal.
    fn program(&self) -> Option<&str> {
        let word = self.text.split_whitespace().next()?;
        let literal = !word.contains(['*', '?', '[', '{', '\\', '/', '=', '$', '"', '\'']);
        literal.then_some(word)
    }
}

/// Whether a command line may be more than one command with its arguments.
fn is_compound(line: &str) -> bool {
    line.contains([';', '&', '|', '<', '>', '(', '`', '\n'])
}

/// The answers of a run to its commands, and how often each was used.
#[derive(Debug, Default)]
pub struct Fixtures {
    entries: Vec<Fixture>,
    used: Mutex<Vec<u32>>,
}

impl Fixtures {
    pub fn new(entries: Vec<Fixture>) -> Fixtures {
        let used = Mutex::new(vec![0; entries.len()]);
        Fixtures { entries, used }
    }

    /// Takes the answer to a whole command line: the first that matches and may still be used.
    pub(super) fn take_line(&self, line: &str) -> Option<&Fixture> {
        let line = line.trim();
        self.find(|f| {
            f.command
                .as_ref()
                .is_none_or(|glob| glob.is_match_line(line))
        })
        .and_then(|at| self.take(at))
    }

    /// Where the answer to a program with its arguments is, without taking it.
    pub(super) fn find_program(&self, argv: &str) -> Option<usize> {
        self.find(|f| f.command.as_ref().is_some_and(|glob| glob.is_match(argv)))
    }

    fn find(&self, matches: impl Fn(&Fixture) -> bool) -> Option<usize> {
        let used = self.used.lock().unwrap_or_else(|e| e.into_inner());
        self.entries.iter().zip(&*used).position(|(entry, used)| {
            let limit = entry.times.or(entry.command.is_none().then_some(1));
            limit.is_none_or(|limit| *used < limit) && matches(entry)
        })
    }

    /// Takes the answer at `at`.
    pub(super) fn take(&self, at: usize) -> Option<&Fixture> {
        let mut used = self.used.lock().unwrap_or_else(|e| e.into_inner());
        *used.get_mut(at)? += 1;
        self.entries.get(at)
    }

    /// The programs that the answers are about, where that can be told.
    pub(super) fn programs(&self) -> impl Iterator<Item = &str> {
        self.entries
            .iter()
            .filter_map(|f| f.command.as_ref()?.program())
    }

    /// The answers that were never used and are not optional, as they are written.
    pub fn unused(&self) -> Vec<String> {
        let used = self.used.lock().unwrap_or_else(|e| e.into_inner());
        self.entries
            .iter()
            .zip(&*used)
            .filter(|(entry, used)| **used == 0 && !entry.optional)
            .map(|(entry, _)| match &entry.command {
                Some(glob) => glob.as_str().to_owned(),
                None => "(the next command)".to_owned(),
            })
            .collect()
    }
}

impl Fixture {
    /// Does what the answer says the command does: takes its time, writes its files.
    pub(super) async fn act(&self, actor: &Actor, cwd: &str) -> Result<(), String> {
        actor.sleep_ms(self.latency_ms).await;
        for (path, bytes) in &self.writes {
            let path = normalize(cwd, path);
            actor
                .write_with_parents(&path, bytes)
                .await
                .map_err(|e| format!("cannot write {path}: {}", e.kind.as_str()))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixture(command: &str) -> Fixture {
        Fixture {
            command: CommandGlob::new(command).ok(),
            ..Fixture::default()
        }
    }

    #[test]
    fn the_first_match_that_may_still_be_used_answers() {
        let fixtures = Fixtures::new(vec![
            Fixture {
                exit: 1,
                times: Some(1),
                ..fixture("cargo test*")
            },
            fixture("cargo *"),
        ]);
        let exits: Vec<_> = (0..3)
            .map(|_| fixtures.take_line("cargo test --lib").map(|f| f.exit))
            .collect();
        assert_eq!(exits, [Some(1), Some(0), Some(0)]);
        assert!(fixtures.take_line("make").is_none());
    }

    #[test]
    fn an_answer_without_a_glob_is_used_once_and_only_for_whole_lines() {
        let fixtures = Fixtures::new(vec![Fixture {
            command: None,
            ..Fixture::default()
        }]);
        assert_eq!(fixtures.find_program("git status"), None);
        assert!(fixtures.take_line("anything").is_some());
        assert!(fixtures.take_line("anything").is_none());
    }

    #[test]
    fn globs_cross_slashes_and_are_anchored() {
        let fixtures = Fixtures::new(vec![fixture("npm run * --prefix [ab]?")]);
        assert!(fixtures.take_line(" npm run x/y/z --prefix a1 ").is_some());
        assert!(fixtures.take_line("npm run x --prefix a12").is_none());
        assert!(fixtures.take_line("sudo npm run x --prefix a1").is_none());
    }

    #[test]
    fn a_glob_for_one_command_does_not_swallow_a_line_of_several() {
        let fixtures = Fixtures::new(vec![fixture("git *"), fixture("make *&& make test")]);
        assert!(fixtures.take_line("git status").is_some());
        for line in [
            "git status; rm x",
            "git log > out",
            "git log $(rm x)",
            "git a\nrm x",
        ] {
            assert!(fixtures.take_line(line).is_none(), "{line}");
        }
        assert!(fixtures.take_line("make all && make test").is_some());
    }

    #[test]
    fn what_was_never_used_is_told() {
        let fixtures = Fixtures::new(vec![
            fixture("a*"),
            Fixture {
                optional: true,
                ..fixture("b")
            },
            fixture("c"),
        ]);
        fixtures.take_line("abc");
        assert_eq!(fixtures.unused(), ["c"]);
    }

    #[test]
    fn a_glob_names_its_program_only_if_its_first_word_is_literal() {
        let programs = |glob: &str| CommandGlob::new(glob).ok()?.program().map(str::to_owned);
        assert_eq!(programs("git status*").as_deref(), Some("git"));
        assert_eq!(programs("git*"), None);
        assert_eq!(programs("./build.sh x"), None);
    }

    #[test]
    fn a_glob_that_is_none_says_why() {
        assert!(CommandGlob::new("a[").is_err());
    }
}
