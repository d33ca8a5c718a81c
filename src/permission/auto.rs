//! Mode `auto`: which allow rules it sets aside, and when it pauses
//! (`semantics.md §1.8`, auto mode).

/// Refusals of the classifier in a row after which the user is asked.
const IN_A_ROW_MAX: u32 = 3;
/// Refusals in all after which the user is asked.
const IN_ALL_MAX: u32 = 20;

/// Programs that run whatever they are given.
const INTERPRETERS: &[&str] = &[
    "bash", "bun", "bunx", "deno", "env", "fish", "lua", "node", "npx", "perl", "php", "pnpx",
    "python", "python2", "python3", "ruby", "sh", "ssh", "sudo", "tsx", "uv", "uvx", "xargs",
    "zsh",
];

/// Package managers, of which `run` and its like run whatever the project says.
const MANAGERS: &[&str] = &["npm", "pnpm", "yarn", "bun", "poetry"];

/// Rules that let anything run without being told what.
const WHOLE: &[&str] = &["Bash", "PowerShell", "Monitor", "Agent", "Task"];

/// Whether an allow rule would let anything run, so that mode `auto` sets it aside.
pub(super) fn is_broad(rule: &str) -> bool {
    let (tool, specifier) = match rule.trim().split_once('(') {
        None => (rule.trim(), "*"),
        Some((tool, rest)) => (tool, rest.strip_suffix(')').unwrap_or(rest).trim()),
    };
    if !WHOLE.contains(&tool) {
        return false;
    }
    if matches!(tool, "Agent" | "Task") || matches!(specifier, "*" | ":*" | "**") {
        return true;
    }
    let mut words = specifier.split([' ', ':']).filter(|word| !word.is_empty());
    let program = words.next().unwrap_or_default();
    let name = program.trim_end_matches('*');
    let has_wildcard = specifier.contains('*');
    if INTERPRETERS.contains(&name) {
        return has_wildcard;
    }
    let runs = words
        .next()
        .is_some_and(|word| matches!(word, "run" | "exec" | "*"));
    MANAGERS.contains(&name) && runs && has_wildcard
}

/// How often the classifier has refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Refusals {
    in_a_row: u32,
    in_all: u32,
}

impl Refusals {
    /// Counts a refusal of the classifier.
    pub fn refused(&mut self) {
        self.in_a_row += 1;
        self.in_all += 1;
    }

    /// A call may run: the row ends.
    pub fn allowed(&mut self) {
        self.in_a_row = 0;
    }

    /// Why the classifier is not asked any more, if it is not. The count of all begins
    /// anew when it has led to that.
    pub fn pause(&mut self) -> Option<String> {
        if self.in_a_row >= IN_A_ROW_MAX {
            return Some(format!(
                "paused: it refused {} calls in a row",
                self.in_a_row
            ));
        }
        if self.in_all >= IN_ALL_MAX {
            let why = format!("paused: it refused {} calls", self.in_all);
            self.in_all = 0;
            return Some(why);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_let_anything_run_are_told_from_others() {
        let broad = [
            "Bash",
            "Bash(*)",
            "Bash(python*)",
            "Bash(python3 *)",
            "Bash(node:*)",
            "Bash(npm run *)",
            "Bash(sudo *)",
            "PowerShell(*)",
            "Agent",
            "Agent(reviewer)",
            "Monitor",
        ];
        let narrow = [
            "Read",
            "Edit(**)",
            "Bash(python3 build.py)",
            "Bash(npm test *)",
            "Bash(git *)",
            "Bash(npm run lint)",
            "Bash(make *)",
            "mcp__a",
            "WebFetch",
        ];
        for rule in broad {
            assert!(is_broad(rule), "{rule}");
        }
        for rule in narrow {
            assert!(!is_broad(rule), "{rule}");
        }
    }

    #[test]
    fn three_in_a_row_or_twenty_in_all_pause_it() {
        let mut refusals = Refusals::default();
        for _ in 0..2 {
            refusals.refused();
        }
        assert_eq!(refusals.pause(), None);
        refusals.refused();
        assert!(refusals.pause().is_some());
        refusals.allowed();
        assert_eq!(refusals.pause(), None);
        for _ in 3..20 {
            assert_eq!(refusals.pause(), None);
            refusals.refused();
            refusals.allowed();
        }
        assert!(refusals.pause().is_some());
        assert_eq!(refusals.pause(), None, "the count of all has begun anew");
    }
}
