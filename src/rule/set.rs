//! A compiled set of rules, and which of them match a call.

use super::agent::SkillPattern;
use super::command::{Form, ToCover, forms, to_cover};
use super::name::known_as;
use super::parameter::ParameterPattern;
use super::path::PathPattern;
use super::path_set::{PathSet, PathSetBuilder};
use super::query::{Hit, Matches, Paths, Query, Subject};
use super::{CommandPattern, DomainPattern, NamePattern, Problem, Rule, Side, host_of};
use crate::shell_syntax::{CommandLine, Shape};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Rules compiled for matching.
#[derive(Debug, Clone, Default)]
pub struct RuleSet {
    pub(super) deny: Kind,
    pub(super) ask: Kind,
    pub(super) allow: Kind,
    /// Why there may have been more rules that allow, where settings could not be read whole.
    pub(super) partial: Option<Arc<str>>,
}

/// Which tools a path rule speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// Those that read files.
    Read,
    /// Those that change files.
    Edit,
}

/// All rules of one behaviour. Rules are numbered in the order of their sources; of
/// several that match, the first is named.
#[derive(Debug, Clone, Default)]
pub(super) struct Kind {
    rules: Vec<Rule>,
    names: BTreeMap<String, usize>,
    name_globs: Vec<(NamePattern, usize)>,
    reads: PathSet,
    edits: PathSet,
    commands: BTreeMap<String, Vec<usize>>,
    command_globs: Vec<usize>,
    patterns: BTreeMap<usize, CommandPattern>,
    /// Whole lines that a rule without wildcards is about.
    lines: BTreeMap<String, usize>,
    domains: BTreeMap<String, usize>,
    domain_globs: Vec<(DomainPattern, usize)>,
    agents: Vec<(NamePattern, usize)>,
    skills: Vec<(SkillPattern, usize)>,
    /// By tool.
    parameters: BTreeMap<String, Vec<(ParameterPattern, usize)>>,
}

/// Collects rules of one behaviour.
#[derive(Debug, Default)]
pub(super) struct KindBuilder {
    kind: Kind,
    reads: PathSetBuilder,
    edits: PathSetBuilder,
}

impl KindBuilder {
    fn number(&mut self, rule: &Rule) -> usize {
        self.kind.rules.push(rule.clone());
        self.kind.rules.len() - 1
    }

    pub fn tool(&mut self, rule: &Rule, pattern: NamePattern) {
        let number = self.number(rule);
        match pattern.exact() {
            Some(name) => {
                self.kind.names.entry(name.to_owned()).or_insert(number);
            }
            None => self.kind.name_globs.push((pattern, number)),
        }
    }

    pub fn path(
        &mut self,
        rule: &Rule,
        family: Family,
        pattern: &PathPattern,
        real: impl Fn(&str) -> String,
    ) {
        let number = self.number(rule);
        match family {
            Family::Read => self.reads.add(pattern, number, real),
            Family::Edit => self.edits.add(pattern, number, real),
        }
    }

    pub fn command(&mut self, rule: &Rule, pattern: CommandPattern) {
        let number = self.number(rule);
        match pattern.first_word() {
            Some(word) => {
                let word = word.to_owned();
                self.kind.commands.entry(word).or_default().push(number);
            }
            None => self.kind.command_globs.push(number),
        }
        if let Some(line) = pattern.whole_line() {
            self.kind.lines.entry(line.to_owned()).or_insert(number);
        }
        self.kind.patterns.insert(number, pattern);
    }

    pub fn domain(&mut self, rule: &Rule, pattern: DomainPattern) {
        let number = self.number(rule);
        match pattern.exact() {
            Some(host) => {
                self.kind.domains.entry(host.to_owned()).or_insert(number);
            }
            None => self.kind.domain_globs.push((pattern, number)),
        }
    }

    pub fn agent(&mut self, rule: &Rule, pattern: NamePattern) {
        let number = self.number(rule);
        self.kind.agents.push((pattern, number));
    }

    pub fn skill(&mut self, rule: &Rule, pattern: SkillPattern) {
        let number = self.number(rule);
        self.kind.skills.push((pattern, number));
    }

    pub fn parameter(&mut self, rule: &Rule, tool: &str, pattern: ParameterPattern) {
        let number = self.number(rule);
        let of_tool = self.kind.parameters.entry(tool.to_owned()).or_default();
        of_tool.push((pattern, number));
    }

    pub fn build(self, case_sensitive: bool) -> Result<Kind, Problem> {
        let mut kind = self.kind;
        kind.reads = self.reads.build(case_sensitive)?;
        kind.edits = self.edits.build(case_sensitive)?;
        Ok(kind)
    }
}

impl RuleSet {
    /// How many rules it holds.
    pub fn len(&self) -> usize {
        self.deny.rules.len() + self.ask.rules.len() + self.allow.rules.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every rule: deny, ask, allow, each in its order.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        [&self.deny, &self.ask, &self.allow]
            .into_iter()
            .flat_map(|kind| &kind.rules)
    }

    /// The rules that match a call.
    pub fn matches(&self, query: &Query<'_>) -> Matches<'_> {
        let mut matches = Matches {
            deny: self.deny.restricting(query, true),
            ask: self.ask.restricting(query, false),
            allow: self.allow.permitting(query),
            uncovered: None,
            unsure: None,
        };
        if let Subject::Command { line, .. } = query.subject {
            match line.shape {
                Shape::Simple => {}
                Shape::Compound(what) => {
                    matches.uncovered = Some(Cow::Owned(format!(
                        "it holds {what}, and allow rules do not cover every part of it"
                    )));
                }
                Shape::Unsplittable(why) => matches.unsure = Some(why),
            }
        }
        if let Some(why) = &self.partial {
            matches.uncovered = Some(Cow::Owned(why.to_string()));
        }
        if let Subject::Read(paths) | Subject::Edit(paths) = query.subject {
            match &paths.resolved {
                None => matches.uncovered = Some("where the path leads cannot be told".into()),
                Some(real) if *real != paths.spelled && matches.allow.is_none() => {
                    matches.uncovered = Some(Cow::Owned(format!(
                        "it leads to {real} through a symlink, and a link can only narrow an allow rule"
                    )));
                }
                Some(_) => {}
            }
        }
        matches
    }

    /// The deny rule that takes a tool out of the pool altogether: one about the tool
    /// as a whole.
    pub fn removes(&self, tool: &str, aliases: &[&str]) -> Option<&Rule> {
        let number = self.deny.named(tool, aliases, Side::Restricts)?;
        self.deny.rules.get(number)
    }

    /// The deny rule that hides a file from tools that list or search.
    pub fn hides(&self, paths: &Paths) -> Option<&Rule> {
        let number = self.deny.path(&self.deny.reads, paths, Side::Restricts)?;
        self.deny.rules.get(number)
    }

    /// Whether any deny or ask rule speaks of files.
    pub fn restrict_paths(&self) -> bool {
        [&self.deny, &self.ask]
            .iter()
            .any(|kind| !kind.reads.is_empty() || !kind.edits.is_empty())
    }

    /// Whether an allow rule speaks of files that are changed.
    pub fn permits_edits(&self) -> bool {
        !self.allow.edits.is_empty()
    }

    /// Whether any deny rule speaks of files that are read.
    pub fn hides_any(&self) -> bool {
        !self.deny.reads.is_empty()
    }
}

impl Kind {
    /// The first rule about the tool as a whole.
    fn named(&self, tool: &str, aliases: &[&str], side: Side) -> Option<usize> {
        if self.names.is_empty() && self.name_globs.is_empty() {
            return None;
        }
        let mut first = None::<usize>;
        let mut take = |number: usize| first = Some(first.map_or(number, |n| n.min(number)));
        for name in std::iter::once(tool).chain(aliases.iter().copied()) {
            for known in known_as(name, side) {
                if let Some(number) = self.names.get(known) {
                    take(*number);
                }
            }
            for (pattern, number) in &self.name_globs {
                if pattern.matches(name) {
                    take(*number);
                }
            }
        }
        first
    }

    /// The first rule of `set` that matches a path: for an allow, both its spelling and
    /// where it leads.
    fn path(&self, set: &PathSet, paths: &Paths, side: Side) -> Option<usize> {
        if set.is_empty() {
            return None;
        }
        let spelled = set.matching(&paths.spelled);
        let resolved = match &paths.resolved {
            Some(real) if *real == paths.spelled => return spelled.first().copied(),
            Some(real) => set.matching(real),
            None => Vec::new(),
        };
        match side {
            Side::Restricts => spelled.into_iter().chain(resolved).min(),
            Side::Permits => {
                let both = spelled.iter().find(|n| resolved.contains(n)).copied();
                both.or_else(|| spelled.first().copied().filter(|_| !resolved.is_empty()))
            }
        }
    }

    /// The first command rule for which `covers` holds of one of `forms`.
    fn command(
        &self,
        line: &CommandLine,
        forms: &[Form],
        covers: impl Fn(&CommandPattern, &Form) -> bool,
    ) -> Option<(usize, String)> {
        let mut first = None::<(usize, String)>;
        let mut try_rule = |number: usize, form: &Form| {
            let earlier = first.as_ref().is_some_and(|(n, _)| *n <= number);
            let Some(pattern) = self.patterns.get(&number).filter(|_| !earlier) else {
                return;
            };
            if covers(pattern, form) {
                first = Some((number, form.text.clone()));
            }
        };
        for form in forms {
            let word = form.text.split(' ').next().unwrap_or_default();
            for number in self.commands.get(word).into_iter().flatten() {
                try_rule(*number, form);
            }
            for number in &self.command_globs {
                try_rule(*number, form);
            }
        }
        match (&first, line.shape) {
            // A compound line is covered only by a rule that is that very line.
            (None, Shape::Compound(_)) => {
                let number = self.lines.get(line.text.trim())?;
                Some((*number, line.text.clone()))
            }
            _ => first,
        }
    }

    /// The first rule that covers a line, or of those that together cover every command of
    /// it that does more than read.
    fn covering(&self, line: &CommandLine, written: &[Paths]) -> Option<(usize, &'static str)> {
        if self.patterns.is_empty() && self.edits.is_empty() {
            return None;
        }
        let of = |forms: &[Form]| self.command(line, forms, CommandPattern::covers);
        if let Some((number, _)) = of(&forms(line, Side::Permits)) {
            return Some((number, "it covers the command"));
        }
        let mut first = None::<usize>;
        let mut covers = |number: usize| first = Some(first.map_or(number, |n| n.min(number)));
        let ToCover { commands, writes } = to_cover(line)?;
        for forms in commands {
            let (number, _) = of(&forms)?;
            covers(number);
        }
        if writes && written.is_empty() {
            return None;
        }
        for paths in written.iter().filter(|_| writes) {
            // What a redirection writes is what Edit would write.
            covers(self.path(&self.edits, paths, Side::Permits)?);
        }
        first.map(|number| (number, "with others it covers every part of the line"))
    }

    fn url(&self, url: &str) -> Option<usize> {
        if self.domains.is_empty() && self.domain_globs.is_empty() {
            return None;
        }
        let host = host_of(url)?;
        let exact = self.domains.get(&host).copied();
        let globs = self.domain_globs.iter().filter(|(p, _)| p.matches(&host));
        exact.into_iter().chain(globs.map(|(_, n)| *n)).min()
    }

    fn agent(&self, kind: &str) -> Option<usize> {
        self.agents
            .iter()
            .find(|(pattern, _)| pattern.matches(kind))
            .map(|(_, number)| *number)
    }

    fn skill(&self, call: &str, side: Side) -> Option<usize> {
        self.skills
            .iter()
            .find(|(pattern, _)| pattern.matches(call, side))
            .map(|(_, number)| *number)
    }

    /// The first rule about a field of the input.
    fn parameter(&self, query: &Query<'_>) -> Option<usize> {
        if self.parameters.is_empty() {
            return None;
        }
        let input = query.input?;
        std::iter::once(query.tool)
            .chain(query.aliases.iter().copied())
            .filter_map(|name| self.parameters.get(name))
            .filter_map(|rules| rules.iter().find(|(pattern, _)| pattern.matches(input)))
            .map(|(_, number)| *number)
            .min()
    }

    fn hit(&self, number: usize, why: impl Into<Cow<'static, str>>) -> Option<Hit<'_>> {
        let rule = self.rules.get(number)?;
        Some(Hit {
            rule,
            why: why.into(),
        })
    }

    /// The first deny or ask rule that matches any reading of the call. `deny` also
    /// takes a rule that denies reading for one that denies changing.
    fn restricting(&self, query: &Query<'_>, deny: bool) -> Option<Hit<'_>> {
        if self.rules.is_empty() {
            return None;
        }
        let side = Side::Restricts;
        let mut found = Vec::new();
        if let Some(number) = self.named(query.tool, query.aliases, side) {
            found.push((number, Cow::Borrowed("it is about the tool as a whole")));
        }
        if let Some(number) = self.parameter(query) {
            found.push((number, Cow::Borrowed("it is about a field of the input")));
        }
        let mut path = |set: &PathSet, paths: &Paths, how: &str| {
            if let Some(number) = self.path(set, paths, side) {
                let why = format!("{how} {}", shown(paths));
                found.push((number, Cow::Owned(why)));
            }
        };
        match query.subject {
            Subject::None => {}
            Subject::Read(paths) => path(&self.reads, paths, "the call reads"),
            Subject::Edit(paths) => {
                path(&self.edits, paths, "the call changes");
                if deny {
                    path(
                        &self.reads,
                        paths,
                        "what may not be read may not be changed:",
                    );
                }
            }
            Subject::Command {
                line,
                reads,
                writes,
            } => {
                for paths in writes {
                    path(&self.edits, paths, "the command writes");
                }
                for paths in reads {
                    path(&self.reads, paths, "the command reads");
                }
                if !self.patterns.is_empty() {
                    let forms = forms(line, side);
                    let covers = |p: &CommandPattern, form: &Form| p.matches(&form.text);
                    if let Some((number, part)) = self.command(line, &forms, covers) {
                        found.push((
                            number,
                            Cow::Owned(format!("it would run `{}`", readable(&part))),
                        ));
                    }
                }
            }
            Subject::Url(url) => {
                found.extend(
                    self.url(url)
                        .map(|n| (n, Cow::Borrowed("it is about the URL's host"))),
                );
            }
            Subject::Agent(kind) => {
                found.extend(
                    self.agent(kind)
                        .map(|n| (n, Cow::Borrowed("it is about this kind of agent"))),
                );
            }
            Subject::Skill(call) => {
                found.extend(
                    self.skill(call, side)
                        .map(|n| (n, Cow::Borrowed("it is about this skill"))),
                );
            }
        }
        let (number, why) = found.into_iter().min_by_key(|(number, _)| *number)?;
        self.hit(number, why)
    }

    /// The first allow rule that covers the whole call.
    fn permitting(&self, query: &Query<'_>) -> Option<Hit<'_>> {
        if self.rules.is_empty() {
            return None;
        }
        let side = Side::Permits;
        let mut found = Vec::new();
        if let Some(number) = self.named(query.tool, query.aliases, side) {
            found.push((number, "it is about the tool as a whole"));
        }
        match query.subject {
            Subject::None => {}
            Subject::Read(paths) => {
                let read = self.path(&self.reads, paths, side);
                found.extend(read.map(|n| (n, "it covers the path")));
                // What may be changed may be read.
                let edit = self.path(&self.edits, paths, side);
                found.extend(edit.map(|n| (n, "what may be changed may be read")));
            }
            Subject::Edit(paths) => {
                let edit = self.path(&self.edits, paths, side);
                found.extend(edit.map(|n| (n, "it covers the path")));
            }
            Subject::Command { line, writes, .. } => {
                found.extend(self.covering(line, writes));
            }
            Subject::Url(url) => {
                found.extend(self.url(url).map(|n| (n, "it covers the URL's host")));
            }
            Subject::Agent(kind) => {
                found.extend(
                    self.agent(kind)
                        .map(|n| (n, "it covers this kind of agent")),
                );
            }
            Subject::Skill(call) => {
                found.extend(self.skill(call, side).map(|n| (n, "it covers this skill")));
            }
        }
        let (number, why) = found.into_iter().min_by_key(|(number, _)| *number)?;
        self.hit(number, why)
    }
}

fn shown(paths: &Paths) -> String {
    match &paths.resolved {
        Some(real) if *real != paths.spelled => format!("{} (really {real})", paths.spelled),
        _ => paths.spelled.clone(),
    }
}

fn readable(part: &str) -> String {
    part.replace(crate::shell_syntax::INNER_SPACE, " ")
}
