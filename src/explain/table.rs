//! The answers as text that a person reads at a glance.

use super::over::{CallLine, Overview};
use super::question::Explanation;
use super::ruling::LayerLine;
use super::used::RuleUse;
use crate::words::{Behavior, Layer};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Flips of one cause that are shown.
const EXAMPLES_MAX: usize = 3;
/// Who decided in place of a shadowed rule: so many are named.
const PREEMPTED_BY_MAX: usize = 3;
/// Longer conditions do not move the column behind them.
const CONDITION_CHARS: usize = 44;

/// The answer for one call: the decision, what each layer says, what would change it.
pub fn text(explanation: &Explanation) -> String {
    let ruling = &explanation.ruling;
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{}  {}  {}",
        ruling.behavior, explanation.tool, explanation.input
    );
    let by = match (ruling.behavior, ruling.layer) {
        (Behavior::Ask, Layer::User) => "nobody before the user decides".to_owned(),
        (_, layer) => format!("by layer {layer}, {}", ruling.reason),
    };
    let _ = writeln!(out, "      {by}");
    if let Some(rule) = ruling.rule_shown() {
        let place = ruling.place.as_ref().map(|place| format!(" ({place})"));
        let _ = writeln!(out, "      {rule}{}", place.unwrap_or_default());
    }
    let _ = writeln!(
        out,
        "      in {}, mode {}, profile {}, {}",
        explanation.cwd,
        explanation.mode,
        explanation.profile,
        counted(explanation.rules, "rule")
    );
    let _ = writeln!(out, "\n  {:12}{:13}why", "layer", "says");
    for line in &ruling.layers {
        let row = format!(
            "{} {:12}{:13}{}",
            match line.layer == ruling.layer {
                true => ">",
                false => " ",
            },
            line.layer,
            says(line),
            why(line, explanation)
        );
        let _ = writeln!(out, "{}", row.trim_end());
    }
    if !explanation.changes.is_empty() {
        let _ = writeln!(out, "\n  another decision");
        let widths = explanation.changes.iter().map(|c| c.change.chars().count());
        let width = widths.filter(|n| *n <= CONDITION_CHARS).max().unwrap_or(0);
        for change in &explanation.changes {
            let by = match (&change.rule, change.layer) {
                (None, Layer::User) if change.behavior == Behavior::Ask => {
                    "nobody before the user decides".to_owned()
                }
                (Some(rule), Layer::Rule) => format!("by `{rule}`"),
                (_, layer) => format!("by layer {layer}, {}", change.reason),
            };
            let _ = writeln!(
                out,
                "  {:width$}  {:5}  {by}",
                change.change,
                change.behavior.as_str()
            );
        }
    }
    out
}

fn says(line: &LayerLine) -> String {
    match line.verdict.as_str() {
        "none" => "-".to_owned(),
        word => word.replace('_', " "),
    }
}

fn why(line: &LayerLine, explanation: &Explanation) -> String {
    let hooks = &explanation.hooks;
    if line.layer == Layer::Hook && line.verdict == "none" && !hooks.is_empty() {
        return format!("not run here: {}", hooks.join("; "));
    }
    line.why.clone()
}

/// `1 rule`, `2 rules`.
fn counted(n: u32, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

/// The overview over recordings: then and now, the flips by who brings them about, and
/// the rules that are of no use.
pub fn overview_text(overview: &Overview, flips: &[CallLine]) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{}, {}: {} compared, {}",
        counted(overview.recordings, "recording"),
        counted(overview.calls, "call"),
        overview.compared,
        counted(overview.flips, "flip")
    );
    table(&mut out, "then → now", &overview.decisions);
    table(&mut out, "decided now by", &overview.decided_by);
    table(&mut out, "not compared", &overview.not_compared);
    flipped(&mut out, overview, flips);
    let (never, rest): (Vec<&RuleUse>, Vec<&RuleUse>) =
        overview.rules.iter().partition(|rule| rule.never_fired());
    let shadowed: Vec<&&RuleUse> = rest.iter().filter(|rule| rule.is_shadowed()).collect();
    if !shadowed.is_empty() {
        let _ = writeln!(out, "\nshadowed: another always decides");
        for rule in shadowed {
            let _ = writeln!(
                out,
                "  {}: {}, {}",
                named(rule),
                counted(rule.matched, "call"),
                preempted(rule)
            );
        }
    }
    if !never.is_empty() {
        let _ = writeln!(out, "\nnever fired: no call is theirs");
        for rule in never {
            let _ = writeln!(out, "  {}", named(rule));
        }
    }
    out
}

fn flipped(out: &mut String, overview: &Overview, flips: &[CallLine]) {
    if overview.flips == 0 {
        return;
    }
    let mut causes: BTreeMap<String, Vec<&CallLine>> = BTreeMap::new();
    for line in flips {
        let Some(new) = &line.new else { continue };
        let by = match &new.rule {
            Some(rule) => format!("`{rule}`"),
            None => format!("{} ({})", new.layer, new.reason),
        };
        causes.entry(by).or_default().push(line);
    }
    let _ = writeln!(out, "\nflips");
    for (by, lines) in causes {
        let _ = writeln!(
            out,
            "  by {by}: {}",
            counted(u32::try_from(lines.len()).unwrap_or(u32::MAX), "call")
        );
        for line in lines.iter().take(EXAMPLES_MAX) {
            let (Some(old), Some(new)) = (&line.old, &line.new) else {
                continue;
            };
            let _ = writeln!(
                out,
                "    {} → {}  {}:{}  {} {}",
                old.behavior, new.behavior, line.recording, line.line, line.tool, line.input
            );
        }
        if lines.len() > EXAMPLES_MAX {
            let _ = writeln!(out, "    and {} more", lines.len() - EXAMPLES_MAX);
        }
    }
}

fn table(out: &mut String, head: &str, rows: &BTreeMap<String, u32>) {
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{head}");
    let mut rows: Vec<(&String, &u32)> = rows.iter().collect();
    rows.sort_by_key(|(name, n)| (std::cmp::Reverse(**n), *name));
    for (name, n) in rows {
        let _ = writeln!(out, "  {n:>7}  {name}");
    }
}

fn named(rule: &RuleUse) -> String {
    let place = rule.place.as_ref().map(|place| format!(" ({place})"));
    format!(
        "`{}`, {}[{}] of the {} settings{}",
        rule.rule,
        rule.list,
        rule.index,
        rule.source,
        place.unwrap_or_default()
    )
}

fn preempted(rule: &RuleUse) -> String {
    let mut by: Vec<(&String, &u32)> = rule.preempted_by.iter().collect();
    by.sort_by_key(|(name, n)| (std::cmp::Reverse(**n), *name));
    let named = by.iter().take(PREEMPTED_BY_MAX);
    let named: Vec<String> = named.map(|(name, n)| format!("{name} {n}")).collect();
    format!("decided by {}", named.join(", "))
}
