//! Answers to commands: what a scenario says that a program does.

use crate::world::{Actor, Answers, Pattern, normalize};
use std::collections::BTreeMap;

/// What a command line, or one command of a longer line, does instead of running.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fixture {
    /// Over the whole command line, or over one command of a longer line: its program
    /// and arguments joined by single spaces. Without one it answers whole lines only.
    pub command: Option<Pattern>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub exit: i32,
    /// Virtual milliseconds that it takes.
    pub latency_ms: u64,
    /// Files that it writes, with the folders above them; relative to the command's folder.
    pub writes: BTreeMap<String, Vec<u8>>,
}

/// The answers of a run to its commands.
pub type Fixtures = Answers<Fixture>;

impl Fixture {
    /// Whether this is the answer to a whole command line. A pattern that speaks of
    /// one command does not swallow a line of several, or one with redirections:
    /// there it answers for its program alone, and the shell does the rest.
    pub(super) fn answers_line(&self, line: &str) -> bool {
        let line = line.trim();
        self.command.as_ref().is_none_or(|pattern| {
            pattern.matches(line) && (is_compound(pattern.as_str()) || !is_compound(line))
        })
    }

    /// Whether this is the answer to a program with its arguments.
    #[cfg(any(test, feature = "bash"))]
    pub(super) fn answers_program(&self, argv: &str) -> bool {
        self.command
            .as_ref()
            .is_some_and(|pattern| pattern.matches(argv))
    }

    /// The program that this is about, where the first word of the pattern is literal.
    #[cfg(any(test, feature = "bash"))]
    pub(super) fn program(&self) -> Option<&str> {
        let word = self.command.as_ref()?.as_str().split_whitespace().next()?;
        let literal = !word.contains(['*', '?', '/', '=', '$', '"', '\'', '\\']);
        literal.then_some(word)
    }

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

/// Whether a command line may be more than one command with its arguments.
fn is_compound(line: &str) -> bool {
    line.contains([';', '&', '|', '<', '>', '(', '`', '\n'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixture(command: &str) -> Fixture {
        Fixture {
            command: Some(Pattern::new(command)),
            ..Fixture::default()
        }
    }

    #[test]
    fn an_answer_without_a_pattern_is_for_whole_lines() {
        assert!(Fixture::default().answers_line("anything; at all"));
        assert!(!Fixture::default().answers_program("git status"));
    }

    #[test]
    fn a_pattern_for_one_command_does_not_swallow_a_line_of_several() {
        let git = fixture("git *");
        assert!(git.answers_line(" git status "));
        for line in [
            "git status; rm x",
            "git log > out",
            "git log $(rm x)",
            "git a\nrm x",
        ] {
            assert!(!git.answers_line(line), "{line}");
        }
        assert!(fixture("make *&& make test").answers_line("make all && make test"));
        assert!(git.answers_program("git commit -m a; b"));
    }

    #[test]
    fn a_pattern_names_its_program_only_if_its_first_word_is_literal() {
        assert_eq!(fixture("git status*").program(), Some("git"));
        assert_eq!(fixture("git*").program(), None);
        assert_eq!(fixture("./build.sh x").program(), None);
    }
}
