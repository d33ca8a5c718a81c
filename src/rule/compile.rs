//! From settings to a set of rules, with a complaint for everything that has no
//! effect.

use super::agent::SkillPattern;
use super::parameter::ParameterPattern;
use super::path::{Folders, PathPattern};
use super::set::{Family, KindBuilder, RuleSet};
use super::{CommandPattern, DomainPattern, NamePattern, Problem, ProblemKind, Rule, Side, parse};
use crate::settings::{Complaint, Origin, Placed, Settings, Severity, Source};
use crate::words::Behavior;
use crate::world::Fs;
use std::sync::Arc;

/// What the anchors of path rules stand for. Absolute and normal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchors {
    /// Where the run began.
    pub cwd: String,
    pub home: String,
    /// Where the project's settings lie; usually `cwd`.
    pub project: String,
}

impl Anchors {
    /// Anchors of a project whose root is where the run began.
    pub fn new(cwd: &str, home: &str) -> Anchors {
        Anchors {
            cwd: cwd.to_owned(),
            home: home.to_owned(),
            project: cwd.to_owned(),
        }
    }

    /// Absolute forms of `additionalDirectories`.
    pub fn working_folders(&self, settings: &Settings) -> Vec<String> {
        let absolute = |text: &str| match text.strip_prefix("~/") {
            Some(rest) => crate::world::normalize(&self.home, rest),
            None => crate::world::normalize(&self.cwd, text),
        };
        let folders = settings.additional_directories.iter();
        folders.map(|folder| absolute(&folder.text)).collect()
    }

    /// The folder that one leading slash stands for in a rule from `origin`.
    fn source(&self, origin: &Origin) -> String {
        match (&origin.anchor, origin.source) {
            (Some(folder), _) => folder.to_string(),
            (None, Source::Managed) => "/".to_owned(),
            (None, Source::Project) => self.project.clone(),
            (None, Source::User) => crate::world::normalize(&self.home, ".claude"),
            (None, Source::Cli | Source::Local | Source::Session) => self.cwd.clone(),
        }
    }
}

/// Tools of which rules with a path are accepted and never consulted.
const INERT_PATHS: &[(&str, &str)] = &[
    ("Write", "Edit"),
    ("NotebookEdit", "Edit"),
    ("MultiEdit", "Edit"),
    ("Glob", "Read"),
    ("Grep", "Read"),
    ("LS", "Read"),
    ("LSP", "Read"),
];

/// Compiles the rules of `settings`. Folders are anchored as they are written and where
/// they really are on `fs`. A complaint that is an error means that a deny or ask rule
/// would be lost: then nothing should run with this set.
pub fn compile(settings: &Settings, anchors: &Anchors, fs: &dyn Fs) -> (RuleSet, Vec<Complaint>) {
    let mut complaints = Vec::new();
    let real = |folder: &str| fs.canonical(folder).unwrap_or_else(|_| folder.to_owned());
    let mut kind = |behavior: Behavior, list: &[Placed]| {
        let mut builder = KindBuilder::default();
        for placed in list {
            let rule = Rule {
                behavior,
                text: placed.text.trim().into(),
                origin: placed.origin.clone(),
            };
            match add(&mut builder, &rule, anchors, real) {
                Ok(None) => {}
                Ok(Some(problem)) | Err(problem) => complaints.push(complaint(&rule, problem)),
            }
        }
        match builder.build(fs.case_sensitive()) {
            Ok(kind) => kind,
            Err(problem) => {
                complaints.push(Complaint {
                    severity: Severity::Error,
                    file: "permissions".into(),
                    place: None,
                    path: behavior.as_str().to_owned(),
                    found: "rules that do not compile together".to_owned(),
                    expected: problem.expected,
                    hint: problem.hint,
                });
                Default::default()
            }
        }
    };
    let set = RuleSet {
        deny: kind(Behavior::Deny, &settings.deny),
        ask: kind(Behavior::Ask, &settings.ask),
        allow: kind(Behavior::Allow, &settings.allow),
        partial: partial(settings),
    };
    (set, complaints)
}

/// Why there may have been more rules than could be read.
fn partial(settings: &Settings) -> Option<Arc<str>> {
    let mut sources: Vec<&str> = settings.broken.iter().map(|b| b.source.as_str()).collect();
    sources.dedup();
    (!sources.is_empty()).then(|| {
        format!(
            "the {} settings could not be read whole, so nothing that they allow counts",
            sources.join(" and ")
        )
        .into()
    })
}

/// Adds one rule; what is said of it if it works all the same.
fn add(
    builder: &mut KindBuilder,
    rule: &Rule,
    anchors: &Anchors,
    real: impl Fn(&str) -> String,
) -> Result<Option<Problem>, Problem> {
    let side = Side::of(rule.behavior);
    let written = parse(&rule.text)?;
    let tool = written.tool;
    let path_family = match tool {
        "Read" => Some(Family::Read),
        "Edit" => Some(Family::Edit),
        _ => None,
    };
    let specifier = match written.specifier {
        None => {
            builder.tool(rule, NamePattern::of_tool(tool, side)?);
            return Ok(None);
        }
        // The same as no specifier, except where one rule speaks of several tools.
        Some("*") if path_family.is_none() && !inert(tool) => {
            builder.tool(rule, NamePattern::of_tool(tool, side)?);
            return Ok(None);
        }
        Some(specifier) => specifier,
    };
    if let Some(parameter) = ParameterPattern::new(tool, specifier, side)? {
        builder.parameter(rule, tool, parameter);
        return Ok(None);
    }
    if let Some(family) = path_family {
        let source = anchors.source(&rule.origin);
        let folders = Folders {
            cwd: &anchors.cwd,
            home: &anchors.home,
            source: &source,
        };
        let pattern = PathPattern::new(specifier, side, &folders)?;
        builder.path(rule, family, &pattern, real);
        return Ok(pattern.remark);
    }
    if let Some((_, instead)) = INERT_PATHS.iter().find(|(name, _)| *name == tool) {
        return Err(Problem::inert(format!(
            "a rule of `Read(…)` or `Edit(…)`: `{tool}(…)` is never consulted"
        ))
        .hint(format!("write `{instead}({specifier})`")));
    }
    match tool {
        "Bash" | "Monitor" => builder.command(rule, CommandPattern::new(specifier)),
        "WebFetch" => {
            let domain = specifier.strip_prefix("domain:").ok_or_else(|| {
                Problem::unusable("`WebFetch(domain:…)`")
                    .hint(format!("write `WebFetch(domain:{specifier})`"))
            })?;
            builder.domain(rule, DomainPattern::new(domain)?);
        }
        "Agent" | "Task" => builder.agent(rule, NamePattern::new(specifier)),
        "Skill" => builder.skill(rule, SkillPattern::new(specifier)),
        other => {
            let known = ["Bash", "Read", "Edit", "WebFetch", "Agent", "Skill"];
            let meant = known.iter().find(|name| name.eq_ignore_ascii_case(other));
            let problem = Problem::unusable(format!("a specifier only for {}", known.join(", ")));
            return Err(match meant {
                Some(meant) => problem.hint(format!("write `{meant}({specifier})`")),
                None => problem.hint(format!("for every use of the tool write `{other}`")),
            });
        }
    }
    Ok(None)
}

fn inert(tool: &str) -> bool {
    INERT_PATHS.iter().any(|(name, _)| *name == tool)
}

fn complaint(rule: &Rule, problem: Problem) -> Complaint {
    let restricts = Side::of(rule.behavior) == Side::Restricts;
    let severity = match problem.kind {
        ProblemKind::Unusable if restricts => Severity::Error,
        _ => Severity::Warning,
    };
    let origin = &rule.origin;
    Complaint {
        severity,
        file: match &origin.file {
            Some(file) => file.clone(),
            None => format!("{} settings", origin.source).into(),
        },
        place: origin.line.zip(origin.column),
        path: format!("permissions.{}[{}]", rule.behavior, origin.index),
        found: format!("`{}`", rule.text),
        expected: problem.expected,
        hint: problem.hint,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Layer, merge};
    use crate::world::{MemoryFs, MemoryOptions};
    use serde_json::json;

    fn complaints(kind: &str, rule: &str) -> Vec<String> {
        let text = json!({"permissions": {kind: [rule]}}).to_string();
        let (settings, none) = merge(vec![Layer::from_text(Source::Project, "s.json", &text)]);
        assert_eq!(none, []);
        let fs = MemoryFs::new(MemoryOptions::default());
        let (_, complaints) = compile(&settings, &Anchors::new("/p", "/home/u"), &fs);
        complaints.iter().map(ToString::to_string).collect()
    }

    fn of(list: Vec<String>) -> &'static str {
        match list.as_slice() {
            [] => "fine",
            [one] if one.contains(": error: ") => "error",
            [one] if one.contains(": warning: ") => "warning",
            _ => "several",
        }
    }

    #[test]
    fn a_rule_that_is_lost_is_an_error_where_it_would_have_denied() {
        // rule, as a deny or ask rule, as an allow rule
        let table = [
            ("Bash", "fine", "fine"),
            ("Bash(*)", "fine", "fine"),
            ("Bash(npm test *)", "fine", "fine"),
            ("Read(./.env)", "fine", "fine"),
            ("Read(*)", "fine", "fine"),
            ("mcp__a", "fine", "fine"),
            ("mcp__a__*", "fine", "fine"),
            ("mcp__*", "fine", "warning"),
            ("*", "fine", "warning"),
            ("WebFetch(domain:x.com)", "fine", "fine"),
            ("WebFetch(x.com)", "error", "warning"),
            ("Agent(reviewer)", "fine", "fine"),
            ("Task(reviewer)", "fine", "fine"),
            ("bash()", "error", "warning"),
            ("bash(git push *)", "error", "warning"),
            ("Bash(x", "error", "warning"),
            ("", "error", "warning"),
            ("Edit(C:\\Users\\m\\*.json)", "error", "warning"),
            ("Read(!x)", "error", "warning"),
            ("Read([x)", "error", "warning"),
            ("Skill(x)", "fine", "fine"),
            ("Skill(x *)", "fine", "fine"),
            ("PowerShell(x)", "error", "warning"),
            // A rule about one field of the input restricts and never permits.
            ("Agent(model:opus)", "fine", "warning"),
            ("Bash(timeout:5)", "fine", "warning"),
            ("mcp__a__b(c: d*)", "fine", "warning"),
            ("Grep(output_mode:content)", "fine", "warning"),
            ("Grep(path:src)", "warning", "warning"),
            // Accepted and never consulted, as documented.
            ("Write(**/secret.txt)", "warning", "warning"),
            ("Glob(packages/x/**)", "warning", "warning"),
            ("Bash(command:rm *)", "warning", "warning"),
            // Works, but perhaps not as meant.
            ("Read(/home/me/.ssh/**)", "warning", "warning"),
        ];
        for (rule, restricts, permits) in table {
            assert_eq!(of(complaints("deny", rule)), restricts, "deny {rule}");
            assert_eq!(of(complaints("ask", rule)), restricts, "ask {rule}");
            assert_eq!(of(complaints("allow", rule)), permits, "allow {rule}");
        }
    }

    #[test]
    fn a_complaint_says_where_and_what_to_do() {
        assert_eq!(
            complaints("deny", "Write(a)"),
            [
                "s.json:1:25: warning: permissions.deny[0]: found `Write(a)`, expected a rule of \
                 `Read(…)` or `Edit(…)`: `Write(…)` is never consulted\n  hint: write `Edit(a)`"
            ]
        );
        assert_eq!(
            complaints("deny", "bash(git push *)"),
            [
                "s.json:1:25: error: permissions.deny[0]: found `bash(git push *)`, expected a \
                 specifier only for Bash, Read, Edit, WebFetch, Agent, Skill\n  hint: write `Bash(git push *)`"
            ]
        );
    }
}
