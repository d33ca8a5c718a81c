//! A decision as data, with where its rule stands.

use crate::permission::Decided;
use crate::settings::{Placed, Settings};
use crate::words::{Behavior, Layer};
use serde::Serialize;

/// What is decided, by whom, and what every layer says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ruling {
    /// `ask` where only the user could decide and nothing is said of them.
    pub behavior: Behavior,
    /// Who decides; for `ask` who wants the user to be asked.
    pub layer: Layer,
    pub reason: String,
    /// The deciding rule, as it is written.
    pub rule: Option<String>,
    pub source: Option<String>,
    /// Its place in its list of that source, from 0.
    pub index: Option<u32>,
    /// The list it stands in.
    pub list: Option<Behavior>,
    /// `file:line:column` of it, where it was read from a file.
    pub place: Option<String>,
    /// All five.
    pub layers: Vec<LayerLine>,
}

/// What one layer says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LayerLine {
    pub layer: Layer,
    pub verdict: String,
    pub why: String,
}

impl Ruling {
    /// A decision as it is; `open` if a denial because nobody was there means that
    /// somebody would have to be asked.
    pub fn of(decided: &Decided, open: bool, settings: &Settings) -> Ruling {
        let decision = &decided.decision;
        let asks = decided.asks.as_ref().filter(|_| open);
        let (behavior, layer, reason) = match asks {
            Some(asks) => (Behavior::Ask, asks.layer, asks.reason.to_owned()),
            None => (
                decision.behavior,
                decision.layer,
                decision.reason.to_string(),
            ),
        };
        let layers = decision.layers.iter().map(|line| LayerLine {
            layer: line.layer,
            verdict: match (asks, line.layer) {
                (Some(_), Layer::User) => "not_asked".to_owned(),
                _ => line.verdict.to_string(),
            },
            why: match (asks, line.layer) {
                (Some(_), Layer::User) => String::new(),
                _ => line.why.to_string(),
            },
        });
        // The rule of a decision that the user took is the one that asked.
        let list = match decision.layer {
            Layer::User => Behavior::Ask,
            _ => decision.behavior,
        };
        let rule = decision.rule.as_ref().map(|rule| rule.to_string());
        let source = decision.source.as_ref().map(|source| source.to_string());
        let mut ruling = Ruling {
            behavior,
            layer,
            reason,
            list: rule.as_ref().map(|_| list),
            rule,
            source,
            index: decision.index,
            place: None,
            layers: layers.collect(),
        };
        ruling.place = ruling.find(settings).and_then(place);
        ruling
    }

    /// A call whose tool is not there: no layer is asked.
    pub fn gone(layer: Layer, reason: &str, why: &str, rule: Option<&Placed>) -> Ruling {
        let layers = Layer::ALL.iter().map(|of| LayerLine {
            layer: *of,
            verdict: match *of == layer {
                true => "deny".to_owned(),
                false => "not_reached".to_owned(),
            },
            why: match *of == layer {
                true => why.to_owned(),
                false => String::new(),
            },
        });
        Ruling {
            behavior: Behavior::Deny,
            layer,
            reason: reason.to_owned(),
            rule: rule.map(|rule| rule.text.trim().to_owned()),
            source: rule.map(|rule| rule.origin.source.to_string()),
            index: rule.map(|rule| rule.origin.index),
            list: rule.map(|_| Behavior::Deny),
            place: rule.and_then(place),
            layers: layers.collect(),
        }
    }

    /// The deciding rule among those of `settings`.
    pub fn find<'s>(&self, settings: &'s Settings) -> Option<&'s Placed> {
        let list = list(settings, self.list?);
        let is_it = |placed: &&Placed| {
            Some(placed.origin.index) == self.index
                && Some(placed.origin.source.as_str()) == self.source.as_deref()
        };
        list.iter().find(is_it)
    }

    /// What a person calls the deciding rule.
    pub fn rule_shown(&self) -> Option<String> {
        let (rule, source) = (self.rule.as_ref()?, self.source.as_ref()?);
        let (list, index) = (self.list?, self.index?);
        Some(format!(
            "`{rule}`, {list}[{index}] of the {source} settings"
        ))
    }
}

/// The rules of one behaviour.
pub(super) fn list(settings: &Settings, behavior: Behavior) -> &[Placed] {
    match behavior {
        Behavior::Allow => &settings.allow,
        Behavior::Deny => &settings.deny,
        Behavior::Ask | Behavior::Defer => &settings.ask,
    }
}

/// `file:line:column`.
pub(super) fn place(placed: &Placed) -> Option<String> {
    let origin = &placed.origin;
    let (file, line, column) = (origin.file.as_ref()?, origin.line?, origin.column?);
    Some(format!("{file}:{line}:{column}"))
}
