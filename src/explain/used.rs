//! Which rules are ever of use: what each matches, what it decides, and who decides in
//! its place.

use super::court::{Call, Court};
use super::ruling::{Ruling, list, place};
use crate::rule::{Anchors, RuleSet};
use crate::settings::{Placed, Settings};
use crate::words::Behavior;
use crate::world::Fs;
use serde::Serialize;
use std::collections::BTreeMap;

/// What came of one rule over all calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleUse {
    pub rule: String,
    pub list: Behavior,
    pub source: String,
    pub index: u32,
    pub place: Option<String>,
    /// Calls that it speaks of.
    pub matched: u32,
    /// Calls that it decided, or asked about.
    pub decided: u32,
    /// Calls whose recorded decision it turns round.
    pub flips: u32,
    /// Who decided those that it speaks of and did not decide.
    pub preempted_by: BTreeMap<String, u32>,
}

impl RuleUse {
    /// It speaks of no call at all.
    pub fn never_fired(&self) -> bool {
        self.matched == 0
    }

    /// It speaks of calls, and another always decides.
    pub fn is_shadowed(&self) -> bool {
        self.matched > 0 && self.decided == 0
    }

    fn is(&self, ruling: &Ruling) -> bool {
        ruling.list == Some(self.list)
            && ruling.index == Some(self.index)
            && ruling.source.as_deref() == Some(&self.source)
    }
}

/// The use of every rule of some settings: deny, ask, allow, each in its order.
pub(super) fn uses(settings: &Settings) -> Vec<RuleUse> {
    rules(settings)
        .map(|(list, placed)| RuleUse {
            rule: placed.text.trim().to_owned(),
            list,
            source: placed.origin.source.to_string(),
            index: placed.origin.index,
            place: place(placed),
            matched: 0,
            decided: 0,
            flips: 0,
            preempted_by: BTreeMap::new(),
        })
        .collect()
}

/// Every rule as a set of its own, in the order of [`uses`].
pub(super) fn sets(settings: &Settings, cwd: &str, home: &str, fs: &dyn Fs) -> Vec<RuleSet> {
    let anchors = Anchors::new(cwd, home);
    let alone = |(behavior, placed): (Behavior, &Placed)| {
        let mut alone = Settings::default();
        let list = match behavior {
            Behavior::Allow => &mut alone.allow,
            Behavior::Deny => &mut alone.deny,
            _ => &mut alone.ask,
        };
        list.push(placed.clone());
        // What is wrong with a rule was said when all were compiled together.
        crate::rule::compile(&alone, &anchors, fs).0
    };
    rules(settings).map(alone).collect()
}

fn rules(settings: &Settings) -> impl Iterator<Item = (Behavior, &Placed)> {
    let lists = [Behavior::Deny, Behavior::Ask, Behavior::Allow];
    let of = |behavior| list(settings, behavior).iter().map(move |p| (behavior, p));
    lists.into_iter().flat_map(of)
}

/// Counts one call that was decided as `ruling` says.
pub(super) async fn count(
    uses: &mut [RuleUse],
    sets: &[RuleSet],
    court: &Court,
    call: &Call<'_>,
    ruling: &Ruling,
    flips: bool,
) {
    let matching = court.matching(call, sets).await;
    for (used, matches) in uses.iter_mut().zip(matching) {
        let decides = used.is(ruling);
        if !matches && !decides {
            continue;
        }
        used.matched += 1;
        if decides {
            used.decided += 1;
            used.flips += u32::from(flips);
            continue;
        }
        let by = match &ruling.rule {
            Some(rule) => format!("`{rule}`"),
            None => format!("{} ({})", ruling.layer, ruling.reason),
        };
        *used.preempted_by.entry(by).or_default() += 1;
    }
}
