//! What came of a run against what was expected of it.

use super::complaint::Place;
use super::definition::Scenario;
use super::expectation::{ExpectedCall, ExpectedDecision, ExpectedEvent};
use super::fields::Placed;
use super::judge_file::{judge_file, shown};
use super::node::quoted;
use crate::profile::Profile;
use crate::trace::{self, Event, Trace, Verdict};
use crate::words::{Lane, Step};
use crate::world::Fs;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// One expectation that was not met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What was looked at, as in `call toolu_edit: class`.
    pub what: String,
    pub expected: String,
    pub found: String,
    /// Where the expectation stands, if it stands in the scenario.
    pub at: Option<Place>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = &self.at {
            write!(f, "{at}: ")?;
        }
        let Failure {
            what,
            expected,
            found,
            ..
        } = self;
        write!(f, "{what}: expected {expected}, found {found}")
    }
}

/// What a run left behind.
pub struct Outcome<'a> {
    pub trace: &'a Trace,
    /// What the run ran under.
    pub profile: &'a Profile,
    /// The world's files at the end.
    pub fs: &'a dyn Fs,
    /// The labels of answers, turns and outside changes that were never used and
    /// are not optional.
    pub unused: &'a [String],
}

/// Every expectation that was not met, in the order of the file; then what no
/// scenario expects: broken invariants and unused answers.
pub fn judge(scenario: &Scenario, outcome: &Outcome<'_>) -> Vec<Failure> {
    let mut judge = Judge {
        calls: Calls::of(outcome.trace),
        outcome,
        failures: Vec::new(),
    };
    let expect = &scenario.expect;
    expect.calls.iter().for_each(|call| judge.call(call));
    for file in &expect.files {
        let wrong = judge_file(scenario, outcome.fs, file);
        judge.failures.extend(wrong);
    }
    expect.order.iter().for_each(|chain| judge.order(chain));
    judge.run(scenario);
    judge.broken_settings(scenario);
    for event in &expect.never {
        judge.event(event, false);
    }
    for event in &expect.events {
        judge.event(event, true);
    }
    judge.invariants(scenario);
    for label in outcome.unused {
        let at = scenario.place_of(label).cloned();
        judge.fail(
            at.as_ref(),
            label,
            "to be used, or `optional: true`",
            "never used",
        );
    }
    judge.failures
}

/// What is wrong with settings files that a scenario does not expect.
pub fn unexpected_breaks<'t>(
    scenario: &'t Scenario,
    trace: &'t Trace,
) -> impl Iterator<Item = &'t str> {
    let expected = &scenario.expect.broken_settings;
    let found = broken_settings(trace).iter().map(String::as_str);
    found.filter(|what| !expected.iter().any(|glob| glob.value.matches(what)))
}

fn broken_settings(trace: &Trace) -> &[String] {
    match trace.lines.first().map(|line| &line.event) {
        Some(Event::RunStarted(started)) => &started.broken_settings,
        _ => &[],
    }
}

/// The calls of a trace by number, with what the trace says of each.
struct Calls<'t> {
    all: Vec<CallSeen<'t>>,
}

struct CallSeen<'t> {
    call: &'t trace::Call,
    /// Where it ended: the step that stopped it, or the last it reached.
    step: Option<Step>,
    stopped: bool,
    /// The last one, if it was decided several times.
    decision: Option<&'t trace::Decision>,
    result: Option<&'t trace::CallResult>,
}

impl<'t> Calls<'t> {
    fn of(trace: &'t Trace) -> Calls<'t> {
        let mut all: Vec<CallSeen<'t>> = Vec::new();
        // An id that is given twice means the call that came last: lines are in the
        // order of the calls.
        let mut by_id: BTreeMap<&str, usize> = BTreeMap::new();
        for line in &trace.lines {
            match &line.event {
                Event::Call(call) => {
                    by_id.insert(&call.call, all.len());
                    all.push(CallSeen {
                        call,
                        step: None,
                        stopped: false,
                        decision: None,
                        result: None,
                    });
                }
                Event::Step(event) => {
                    if let Some(seen) = by_id.get(&*event.call).map(|at| &mut all[*at])
                        && !seen.stopped
                    {
                        seen.step = Some(event.step);
                        seen.stopped = event.verdict == Verdict::Stop;
                    }
                }
                Event::Decision(decision) => {
                    if let Some(seen) = by_id.get(&*decision.call).map(|at| &mut all[*at]) {
                        seen.decision = Some(decision);
                    }
                }
                Event::Result(result) => {
                    if let Some(seen) = by_id.get(&*result.call).map(|at| &mut all[*at]) {
                        seen.result = Some(result);
                    }
                }
                _ => {}
            }
        }
        Calls { all }
    }

    /// The call of an id, the first if there are several, or of a number.
    fn get(&self, key: &str) -> Option<&CallSeen<'t>> {
        if let Ok(number) = key.parse::<usize>() {
            // What the vendor's side ran is no call of the agent's, and has no number.
            let mut own = self
                .all
                .iter()
                .filter(|seen| seen.call.lane != Lane::Hosted);
            return own.nth(number.checked_sub(1)?);
        }
        self.all.iter().find(|seen| *seen.call.call == *key)
    }
}

struct Judge<'a> {
    calls: Calls<'a>,
    outcome: &'a Outcome<'a>,
    failures: Vec<Failure>,
}

impl Judge<'_> {
    fn fail(
        &mut self,
        at: Option<&Place>,
        what: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) {
        self.failures.push(Failure {
            what: what.into(),
            expected: expected.into(),
            found: found.into(),
            at: at.cloned(),
        });
    }

    /// Fails if a value is expected and another is found; `None` is nothing.
    fn same<T: fmt::Display + PartialEq>(
        &mut self,
        what: impl Into<String>,
        expected: Option<&Placed<T>>,
        found: Option<T>,
    ) {
        if let Some(expected) = expected
            && found.as_ref() != Some(&expected.value)
        {
            let found = found.map_or("nothing".to_owned(), |found| found.to_string());
            self.fail(Some(&expected.at), what, expected.value.to_string(), found);
        }
    }

    fn call(&mut self, expected: &ExpectedCall) {
        let key = &expected.key.value;
        let Some(seen) = self.calls.get(key) else {
            let made = self.calls.all.len();
            self.fail(
                Some(&expected.key.at),
                format!("call {key}"),
                "a call",
                format!("none; the run made {made}"),
            );
            return;
        };
        let (tool, step) = (seen.call.tool.to_string(), seen.step);
        let (decision, result, lane) = (seen.decision, seen.result, seen.call.lane);
        let what = |of: &str| format!("call {key}: {of}");
        self.same(what("tool"), expected.tool.as_ref(), Some(tool));
        self.same(what("step"), expected.step.as_ref(), step);
        let text = result
            .map(|r| match lane {
                // The hits of a hosted search are blocks without text.
                Lane::Hosted => r.content.get().to_owned(),
                _ => result_text(r.content.get()),
            })
            .unwrap_or_default();
        if let Some(class) = &expected.class
            && result.map(|r| r.class) != Some(class.value)
        {
            // The class alone does not say what went wrong.
            let found = match result {
                Some(result) => format!("{}: {}", result.class, shown(&text)),
                None => "no result".to_owned(),
            };
            let wanted = class.value.to_string();
            self.fail(Some(&class.at), what("class"), wanted, found);
        }
        self.same(
            what("is_error"),
            expected.is_error.as_ref(),
            result.map(|r| r.is_error),
        );
        if let Some(flags) = &expected.flags {
            let mut found = result.map(|r| r.flags.clone()).unwrap_or_default();
            found.sort();
            if found != flags.value {
                self.fail(
                    Some(&flags.at),
                    what("flags"),
                    words(&flags.value),
                    words(&found),
                );
            }
        }
        if let Some(expected) = &expected.decision {
            self.decision(key, expected, decision);
        }
        for part in &expected.contains {
            if !text.contains(&part.value) {
                self.fail(
                    Some(&part.at),
                    what("result"),
                    format!("it to hold {}", quoted(&part.value)),
                    shown(&text),
                );
            }
        }
        for part in &expected.lacks {
            if text.contains(&part.value) {
                self.fail(
                    Some(&part.at),
                    what("result"),
                    format!("it not to hold {}", quoted(&part.value)),
                    shown(&text),
                );
            }
        }
    }

    fn decision(
        &mut self,
        key: &str,
        expected: &ExpectedDecision,
        found: Option<&trace::Decision>,
    ) {
        let Some(found) = found else {
            self.fail(
                Some(&expected.at),
                format!("call {key}: decision"),
                "a decision",
                "none: the call ended before it",
            );
            return;
        };
        let what = |of: &str| format!("call {key}: decision.{of}");
        self.same(
            what("behavior"),
            expected.behavior.as_ref(),
            Some(found.behavior),
        );
        self.same(what("layer"), expected.layer.as_ref(), Some(found.layer));
        self.same(what("rule"), expected.rule.as_ref(), found.rule.clone());
        self.same(
            what("source"),
            expected.source.as_ref(),
            found.source.clone(),
        );
        self.same(
            what("index"),
            expected.index.as_ref(),
            found.index.map(u64::from),
        );
        if let Some(reason) = &expected.reason
            && !reason.value.matches(&found.reason)
        {
            self.fail(
                Some(&reason.at),
                what("reason"),
                format!("one like {}", quoted(reason.value.as_str())),
                quoted(&found.reason),
            );
        }
    }

    fn order(&mut self, chain: &[Placed<String>]) {
        let rank = |key: &str| {
            let seen = self.calls.get(key)?;
            seen.result.map(|result| result.completed)
        };
        let ranks: Vec<_> = chain.iter().map(|key| rank(&key.value)).collect();
        for (keys, ranks) in chain.windows(2).zip(ranks.windows(2)) {
            let ([first, second], [a, b]) = (keys, ranks) else {
                continue;
            };
            let found = match (a, b) {
                (Some(a), Some(b)) if a < b => continue,
                (Some(a), Some(b)) => format!("completions {a} and {b}"),
                (None, _) => format!("no result of {}", first.value),
                (_, None) => format!("no result of {}", second.value),
            };
            self.fail(
                Some(&second.at),
                "order",
                format!("{} to complete before {}", first.value, second.value),
                found,
            );
        }
    }

    fn run(&mut self, scenario: &Scenario) {
        let expect = &scenario.expect;
        let lines = &self.outcome.trace.lines;
        let finished = lines.iter().rev().find_map(|line| match &line.event {
            Event::RunFinished(finished) => Some(finished),
            _ => None,
        });
        let count = |name: &str| {
            let count = lines.iter().filter(|l| l.event.name() == name).count();
            u64::try_from(count).unwrap_or(u64::MAX)
        };
        let prompts = count("prompt");
        let stop = finished.map(|f| f.stop.clone());
        let turns = finished.map(|f| u64::from(f.turns));
        self.same("stop", expect.stop.as_ref(), stop);
        self.same("turns", expect.turns.as_ref(), turns);
        self.same("prompts", expect.prompts.as_ref(), Some(prompts));
    }

    /// Every break in a settings file must be expected, and every expected one be there.
    fn broken_settings(&mut self, scenario: &Scenario) {
        let expected = &scenario.expect.broken_settings;
        let found = broken_settings(self.outcome.trace);
        for glob in expected {
            if !found.iter().any(|what| glob.value.matches(what)) {
                self.fail(
                    Some(&glob.at),
                    "settings",
                    format!("a file that is broken like {}", quoted(glob.value.as_str())),
                    words(found),
                );
            }
        }
        for what in unexpected_breaks(scenario, self.outcome.trace) {
            self.fail(
                None,
                "settings",
                "files that can be read whole, or `expect: {broken_settings: …}`",
                what,
            );
        }
    }

    fn event(&mut self, expected: &ExpectedEvent, must: bool) {
        let id = expected
            .call
            .as_ref()
            .map(|key| (key.value.clone(), self.calls.get(&key.value)));
        let id = id.map(|(key, seen)| seen.map_or(key, |seen| seen.call.call.to_string()));
        let lines = &self.outcome.trace.lines;
        let found: Vec<String> = lines
            .iter()
            .filter(|line| line.event.name() == expected.event)
            .filter(|line| is_so(&line.event, id.as_deref(), expected))
            .map(|line| line.seq.to_string())
            .collect();
        let mut what = format!("event {}", expected.event);
        if let Some(key) = &expected.call {
            what.push_str(&format!(" of {}", key.value));
        }
        for (field, glob) in &expected.with {
            let glob = glob.as_ref().map_or("null", |glob| glob.as_str());
            what.push_str(&format!(", {field}: {glob}"));
        }
        let wrong = match (must, expected.times) {
            (false, _) if !found.is_empty() => "never".to_owned(),
            (true, None) if found.is_empty() => "at least once".to_owned(),
            (true, Some(times)) if found.len() as u64 != times => format!("{times} times"),
            _ => return,
        };
        let found = match found.as_slice() {
            [] => "it nowhere in the trace".to_owned(),
            all => format!("it as event {} of the trace", all.join(", ")),
        };
        self.fail(Some(&expected.at), what, wrong, found);
    }

    fn invariants(&mut self, scenario: &Scenario) {
        for line in &self.outcome.trace.lines {
            let Event::Invariant(broken) = &line.event else {
                continue;
            };
            let off = scenario.invariants_off.iter();
            let known = self.outcome.profile.broken_invariants.iter();
            if off.chain(known).any(|name| name.as_str() == broken.name) {
                continue;
            }
            let of = broken.call.as_ref().map(|call| format!(" (call {call})"));
            self.fail(
                None,
                format!("invariant {}{}", broken.name, of.unwrap_or_default()),
                "it to hold",
                broken.what.clone(),
            );
        }
    }
}

fn words<T: fmt::Display>(all: &[T]) -> String {
    let all: Vec<String> = all.iter().map(ToString::to_string).collect();
    format!("[{}]", all.join(", "))
}

/// The text of a result's content: a string, or the text blocks of an array.
fn result_text(content: &str) -> String {
    match serde_json::from_str::<Value>(content) {
        Ok(Value::String(text)) => text,
        Ok(Value::Array(blocks)) => blocks
            .iter()
            .filter_map(|block| block.get("text").and_then(Value::as_str))
            .collect::<Vec<_>>()
            .join("\n"),
        _ => content.to_owned(),
    }
}

/// Whether an event is about the call and has the fields that are expected.
fn is_so(event: &Event, call: Option<&str>, expected: &ExpectedEvent) -> bool {
    let Ok(json) = serde_json::to_value(event) else {
        return false;
    };
    let about = |key: &str| json.get(key).and_then(Value::as_str) == call;
    if call.is_some() && !about("call") && !about("by") {
        return false;
    }
    expected.with.iter().all(|(field, glob)| {
        let value = json.get(field).filter(|value| !value.is_null());
        match (glob, value) {
            (None, value) => value.is_none(),
            (Some(glob), Some(Value::String(text))) => glob.matches(text),
            (Some(glob), Some(other)) => glob.matches(&other.to_string()),
            (Some(_), None) => false,
        }
    })
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
