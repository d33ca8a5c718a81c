//! What is wrong with a scenario although each of its keys is right: names that
//! name nothing, and expectations that prove nothing.

use super::complaint::{Complaint, Place};
use super::definition::Scenario;
use super::fields::Reader;
use super::node::{Node, ticked};
use super::script::{ScriptedCall, Turn};
use super::shape::nearest;
use crate::words::Class;
use std::collections::BTreeSet;

/// How many different numbers of calls a script may have made at one point before
/// numbers are no longer checked.
const MAX_COUNTS: usize = 256;

/// The calls that a script may make.
struct Calls<'s> {
    all: Vec<Known<'s>>,
    /// The ids of the uses of hosted tools, which have no numbers.
    hosted: Vec<&'s str>,
    /// The most calls that one path through the script makes; `None` if there are
    /// too many paths to tell.
    most: Option<u32>,
}

struct Known<'s> {
    call: &'s ScriptedCall,
    /// The numbers that it may have in a run.
    numbers: BTreeSet<u32>,
}

/// Complains about what the keys do not show one by one.
pub(super) fn lint(r: &mut Reader, node: &Node, scenario: &Scenario) {
    let top = &node.at;
    if scenario.model.is_empty() {
        r.complain(
            Complaint::error(
                top,
                "a scenario without turns",
                "at least one turn in `model`",
            )
            .hint("as in `model: [{say: Done.}]`"),
        );
        return;
    }
    let calls = calls_of(scenario);
    proves_something(r, node, scenario);
    references(r, &calls);
    tools(r, scenario, &calls);
}

fn proves_something(r: &mut Reader, node: &Node, scenario: &Scenario) {
    let proves = scenario
        .expect
        .calls
        .iter()
        .any(|call| call.step.is_some() && call.class.is_some());
    if !proves {
        let at = node.get("expect").map_or(&node.at, |n| &n.at);
        r.complain(
            Complaint::error(
                at,
                "no expectation of the step and the class of a call",
                "`expect.calls` with `step` and `class` of at least one call",
            )
            .hint("a snapshot alone proves nothing: write {calls: {\"1\": {step: post_hook, class: ok}}}"),
        );
    }
    for chain in &scenario.expect.order {
        if let [only] = chain.as_slice() {
            r.complain(Complaint::error(
                &only.at,
                "an order of one call",
                "two calls or more",
            ));
        }
    }
}

/// Everything that names a call must name one that the script may make.
fn references(r: &mut Reader, calls: &Calls<'_>) {
    for named in std::mem::take(&mut r.calls) {
        calls.check(r, &named.value, &named.at);
    }
}

/// Names of tools that no tool has.
fn tools(r: &mut Reader, scenario: &Scenario, calls: &Calls<'_>) {
    let known = known_tools(scenario);
    let unknown = |name: &str| !known.contains(name) && !answered(scenario, name);
    for known_call in &calls.all {
        let call = known_call.call;
        if unknown(&call.tool) && !expected_unknown(scenario, known_call) {
            let complaint = Complaint::warning(
                &call.at,
                format!("a call of {}, which no tool is called", ticked(&call.tool)),
                "a tool of this scenario, or `class: unknown_tool` expected of the call",
            );
            let names = known.iter().map(String::as_str);
            r.complain(match nearest(&call.tool, names) {
                Some(meant) => complaint.hint(format!("did you mean `{meant}`?")),
                None => complaint,
            });
        }
    }
    let built_in = crate::tools::builtin();
    let own = scenario.tools.custom.iter().map(|tool| tool.name.as_str());
    let published: Vec<_> = scenario
        .published
        .iter()
        .filter_map(|spec| crate::tools::published::published(&spec.kind, None))
        .collect();
    let described = built_in.iter().chain(&published);
    let names: Vec<&str> = described.map(|tool| tool.name()).chain(own).collect();
    for only in scenario.tools.only.iter().flatten() {
        if !names.contains(&only.value.as_str()) {
            let complaint = Complaint::warning(
                &only.at,
                format!("{}, which no built-in tool is called", ticked(&only.value)),
                "the name of a built-in tool",
            );
            r.complain(match nearest(&only.value, names.iter().copied()) {
                Some(meant) => complaint.hint(format!("did you mean `{meant}`?")),
                None => complaint,
            });
        }
    }
}

/// Every name that a call may use.
fn known_tools(scenario: &Scenario) -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    for tool in crate::tools::builtin() {
        known.insert(tool.name().to_owned());
        known.extend(tool.aliases().iter().map(|alias| (*alias).to_owned()));
    }
    let published = scenario.published.iter();
    known.extend(
        published
            .filter_map(|spec| crate::tools::published::published(&spec.kind, None))
            .map(|tool| tool.name().to_owned()),
    );
    for tool in scenario.tools.custom.iter().chain(&scenario.tools.mcp) {
        known.insert(tool.name.clone());
        known.extend(tool.aliases.iter().cloned());
        if let Some(origin) = &tool.mcp {
            known.insert(origin.tool.clone());
            known.insert(format!("mcp__{}__{}", origin.server, origin.tool));
        }
    }
    known
}

/// Whether an answer under `tools` stands for a tool of this name.
fn answered(scenario: &Scenario, name: &str) -> bool {
    scenario.tools.answers.iter().any(|answer| {
        let tool = answer.value.tool.as_ref();
        tool.is_some_and(|pattern| pattern.as_str() == name)
    })
}

fn expected_unknown(scenario: &Scenario, known: &Known<'_>) -> bool {
    scenario.expect.calls.iter().any(|expected| {
        let class = expected.class.as_ref().map(|c| c.value);
        class == Some(Class::UnknownTool) && known.is_called(&expected.key.value)
    })
}

impl Known<'_> {
    fn is_called(&self, key: &str) -> bool {
        self.call.id.as_deref() == Some(key)
            || key
                .parse()
                .is_ok_and(|number| self.numbers.contains(&number))
    }
}

impl Calls<'_> {
    fn check(&self, r: &mut Reader, key: &str, at: &Place) {
        if let Ok(number) = key.parse::<u32>() {
            if let Some(most) = self.most
                && !(1..=most).contains(&number)
            {
                let expected = match most {
                    0 => "no number: the script makes no calls".to_owned(),
                    1 => "1: the script makes one call".to_owned(),
                    most => format!("a number from 1 to {most}"),
                };
                r.complain(Complaint::error(
                    at,
                    format!("call number {number}"),
                    expected,
                ));
            }
            return;
        }
        let ids = || {
            let own = self.all.iter().filter_map(|k| k.call.id.as_deref());
            own.chain(self.hosted.iter().copied())
        };
        if ids().any(|id| id == key) {
            return;
        }
        let complaint = Complaint::error(
            at,
            format!("{}, which no call of the script is", ticked(key)),
            "the `id` of a call, or its number in quotes",
        );
        r.complain(match nearest(key, ids()) {
            Some(meant) => complaint.hint(format!("did you mean `{meant}`?")),
            None => complaint,
        });
    }
}

/// A turn and those that stand for it if its condition is not so.
fn alternatives(turn: &Turn) -> impl Iterator<Item = &Turn> {
    std::iter::successors(Some(turn), |turn| turn.otherwise.as_deref())
}

fn calls_of(scenario: &Scenario) -> Calls<'_> {
    let mut all = Vec::new();
    let mut hosted = Vec::new();
    let mut counts: BTreeSet<u32> = BTreeSet::from([0]);
    let mut countable = true;
    for turn in &scenario.model {
        let mut after = BTreeSet::new();
        let mut ends_open = false;
        for alternative in alternatives(turn) {
            ends_open = alternative.when.is_some();
            hosted.extend(
                alternative
                    .hosted
                    .iter()
                    .filter_map(|use_of| use_of.id.as_deref()),
            );
            let made = u32::try_from(alternative.calls.len()).unwrap_or(u32::MAX);
            after.extend(counts.iter().map(|count| count.saturating_add(made)));
            for (i, call) in (1u32..).zip(&alternative.calls) {
                let numbers = counts.iter().map(|count| count.saturating_add(i)).collect();
                all.push(Known { call, numbers });
            }
        }
        if ends_open {
            after.extend(counts.iter().copied());
        }
        counts = after;
        if counts.len() > MAX_COUNTS {
            countable = false;
            counts = counts.into_iter().rev().take(1).collect();
        }
    }
    Calls {
        all,
        hosted,
        most: counts.last().copied().filter(|_| countable),
    }
}
