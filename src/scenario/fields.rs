//! Reading a tree into types, every complaint collected on the way.

use super::complaint::{Complaint, Place};
use super::node::{Data, Entry, Node, quoted, ticked};
use super::shape::{Need, Shape, nearest};
use std::collections::{BTreeMap, BTreeSet};

/// A value and where it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed<T> {
    pub value: T,
    pub at: Place,
}

/// Collects complaints while values are read. A method that gives `None` for a
/// value that is there has complained about it.
#[derive(Default)]
pub(super) struct Reader {
    pub complaints: Vec<Complaint>,
    /// Where the answers of lists stand, by their labels.
    pub labels: BTreeMap<String, Place>,
    /// Names of calls that the script must make.
    pub calls: Vec<Placed<String>>,
}

/// The largest whole number that a JSON reader of any language keeps exactly.
pub(super) const MAX_INT: u64 = (1 << 53) - 1;

impl Reader {
    pub fn complain(&mut self, complaint: Complaint) {
        self.complaints.push(complaint);
    }

    fn mismatch(&mut self, node: &Node, expected: &str) -> Complaint {
        Complaint::error(&node.at, node.describe(), expected)
    }

    /// A text; a number or boolean is told to put itself in quotes.
    pub fn text(&mut self, node: &Node) -> Option<String> {
        self.text_as(node, "a text")
    }

    /// A text, called `what` in the complaint.
    pub fn text_as(&mut self, node: &Node, what: &str) -> Option<String> {
        if let Data::Text(text) = &node.data {
            return Some(text.clone());
        }
        let mut complaint = self.mismatch(node, what);
        if let Some(spelling) = node.scalar() {
            complaint = complaint.hint(format!("put it in quotes: \"{spelling}\""));
        }
        self.complain(complaint);
        None
    }

    /// A scalar as it is spelled.
    pub fn scalar(&mut self, node: &Node) -> Option<String> {
        if let Some(text) = node.scalar() {
            return Some(text);
        }
        let complaint = self.mismatch(node, "a text, a number or a boolean");
        self.complain(complaint);
        None
    }

    pub fn bool(&mut self, node: &Node) -> Option<bool> {
        if let Data::Bool(value) = node.data {
            return Some(value);
        }
        let mut complaint = self.mismatch(node, "true or false");
        if let Data::Text(text) = &node.data {
            match text.to_ascii_lowercase().as_str() {
                "yes" | "on" | "y" | "true" => complaint = complaint.hint("write true"),
                "no" | "off" | "n" | "false" => complaint = complaint.hint("write false"),
                _ => {}
            }
        }
        self.complain(complaint);
        None
    }

    /// A whole number within bounds.
    pub fn int(&mut self, node: &Node, least: u64, most: u64) -> Option<u64> {
        let expected = if most >= MAX_INT {
            format!("a whole number of at least {least}")
        } else {
            format!("a whole number from {least} to {most}")
        };
        if let Data::Number(number, _) = &node.data
            && let Some(value) = number.as_u64()
            && (least..=most).contains(&value)
        {
            return Some(value);
        }
        let mut complaint = self.mismatch(node, &expected);
        if let Data::Text(text) = &node.data {
            let digits = text.replace('_', "");
            if let Some(ms) = duration_ms(text) {
                complaint = complaint.hint(format!("times are whole milliseconds: write {ms}"));
            } else if digits.parse::<u64>().is_ok() {
                complaint = complaint.hint(format!("write {digits}"));
            }
        }
        self.complain(complaint);
        None
    }

    /// One word of a closed list.
    pub fn word<T>(
        &mut self,
        node: &Node,
        words: &[&'static str],
        read: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        if let Data::Text(text) = &node.data
            && let Some(value) = read(text)
        {
            return Some(value);
        }
        let mut complaint = self.mismatch(node, &one_of(words));
        if let Data::Text(text) = &node.data
            && let Some(word) = nearest(text, words.iter().copied())
        {
            complaint = complaint.hint(format!("did you mean `{word}`?"));
        }
        self.complain(complaint);
        None
    }

    pub fn list<'n>(&mut self, node: &'n Node, of: &str) -> Option<&'n [Node]> {
        if let Data::List(items) = &node.data {
            return Some(items);
        }
        let complaint = self
            .mismatch(node, &format!("a list of {of}"))
            .hint("write [ … ], or `- ` before each item");
        self.complain(complaint);
        None
    }

    /// A list, or one item for a list of it.
    pub fn one_or_many<'n>(&mut self, node: &'n Node) -> &'n [Node] {
        match &node.data {
            Data::List(items) => items,
            _ => std::slice::from_ref(node),
        }
    }

    /// A map whose keys the author chooses.
    pub fn map<'n>(&mut self, node: &'n Node, of: &str) -> Option<&'n [Entry]> {
        if let Data::Map(entries) = &node.data {
            return Some(entries);
        }
        let complaint = self.mismatch(node, &format!("a map of {of}"));
        self.complain(complaint);
        None
    }

    /// Any JSON object.
    pub fn object(&mut self, node: &Node) -> Option<serde_json::Value> {
        self.map(node, "keys and values").map(|_| node.to_json())
    }

    /// A map with the keys of `shape`: complains about unknown, missing and not yet
    /// supported ones.
    pub fn fields<'n>(&mut self, node: &'n Node, shape: &'static Shape) -> Option<Fields<'n>> {
        let Data::Map(entries) = &node.data else {
            let complaint = self.mismatch(node, shape.what).hint(format!(
                "it is a map with keys like {}",
                shape
                    .keys
                    .iter()
                    .filter(|k| k.need != Need::NotYet)
                    .take(4)
                    .map(|k| ticked(k.name))
                    .collect::<Vec<_>>()
                    .join(", ")
            ));
            self.complain(complaint);
            return None;
        };
        for entry in entries {
            match shape.key(&entry.key) {
                None => self.unknown_key(entry, shape),
                Some(known) if known.need == Need::NotYet => self.complain(
                    Complaint::error(
                        &entry.key_at,
                        format!("{}, which is not supported yet", ticked(&entry.key)),
                        "only what this version can do",
                    )
                    .hint(format!("it will mean: {}", known.doc)),
                ),
                Some(_) => {}
            }
        }
        for known in shape.keys {
            if known.need == Need::Required
                && !entries
                    .iter()
                    .any(|e| e.key == known.name && !e.value.is_null())
            {
                self.complain(
                    Complaint::error(
                        &node.at,
                        format!("{} without {}", shape.what, ticked(known.name)),
                        format!("{}: {}", known.name, known.example),
                    )
                    .hint(known.doc.to_owned()),
                );
            }
        }
        Some(Fields {
            shape,
            at: node.at.clone(),
            entries,
            asked: BTreeSet::new(),
        })
    }

    fn unknown_key(&mut self, entry: &Entry, shape: &Shape) {
        let names = || shape.keys.iter().map(|k| k.name);
        let complaint = Complaint::error(
            &entry.key_at,
            format!("the unknown key {}", ticked(&entry.key)),
            format!("a key of {}", shape.what),
        );
        let complaint = match nearest(&entry.key, names()) {
            Some(meant) => complaint.hint(format!("did you mean `{meant}`?")),
            None if entry.key == "<<" => {
                complaint.hint("merge keys are not read; use an alias, or `include`")
            }
            None => complaint.hint(format!(
                "the keys are: {}",
                names().collect::<Vec<_>>().join(", ")
            )),
        };
        self.complain(complaint);
    }
}

/// The keys of one map that is read by its shape.
pub(super) struct Fields<'n> {
    shape: &'static Shape,
    pub at: Place,
    entries: &'n [Entry],
    asked: BTreeSet<&'static str>,
}

impl<'n> Fields<'n> {
    /// The value of a key; `None` if it is absent or null.
    pub fn get(&mut self, name: &'static str) -> Option<&'n Node> {
        self.entry(name)
            .map(|e| &e.value)
            .filter(|node| !node.is_null())
    }

    /// The key and its value, null or not.
    pub fn entry(&mut self, name: &'static str) -> Option<&'n Entry> {
        debug_assert!(
            self.shape.key(name).is_some_and(|k| k.need != Need::NotYet),
            "{} has no supported key {name}",
            self.shape.name
        );
        self.asked.insert(name);
        self.entries.iter().find(|e| e.key == name)
    }

    pub fn text(&mut self, r: &mut Reader, name: &'static str) -> Option<String> {
        self.get(name).and_then(|node| r.text(node))
    }

    pub fn bool(&mut self, r: &mut Reader, name: &'static str) -> Option<bool> {
        self.get(name).and_then(|node| r.bool(node))
    }

    pub fn ms(&mut self, r: &mut Reader, name: &'static str) -> Option<u64> {
        self.get(name).and_then(|node| r.int(node, 0, MAX_INT))
    }

    /// The keys that are there, out of some that exclude each other; complains if
    /// there are several, or if there are none and one is needed.
    pub fn only_one(&mut self, r: &mut Reader, names: &[&'static str], needed: bool) {
        let mut found: Vec<&Entry> = Vec::new();
        for name in names {
            if let Some(entry) = self.entry(name)
                && !entry.value.is_null()
            {
                found.push(entry);
            }
        }
        let choice = one_of(names);
        match found.as_slice() {
            [] if needed => r.complain(Complaint::error(
                &self.at,
                format!("{} without any of these", self.shape.what),
                choice,
            )),
            [_, second, ..] => r.complain(Complaint::error(
                &second.key_at,
                format!("{} beside {}", ticked(&second.key), ticked(&found[0].key)),
                format!("only {choice}"),
            )),
            _ => {}
        }
    }

    /// Ends the reading. In a debug build this makes sure that every key of the
    /// table was asked for: a key that the schema has and the reader ignores would
    /// be silence.
    pub fn done(self) {
        #[cfg(debug_assertions)]
        for key in self.shape.keys {
            debug_assert!(
                key.need == Need::NotYet || self.asked.contains(key.name),
                "{}.{} is in the table and never read",
                self.shape.name,
                key.name
            );
        }
    }
}

/// A closed list in words: "`a`", "`a` or `b`", "one of `a`, `b`, `c`".
pub(super) fn one_of(words: &[&str]) -> String {
    let ticked: Vec<String> = words.iter().map(|w| format!("`{w}`")).collect();
    match ticked.as_slice() {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        [a, b] => format!("{a} or {b}"),
        all => format!("one of {}", all.join(", ")),
    }
}

/// The milliseconds that texts like `500ms`, `2s` or `1.5 s` mean.
fn duration_ms(text: &str) -> Option<u64> {
    let (number, factor) = if let Some(number) = text.strip_suffix("ms") {
        (number, 1)
    } else if let Some(number) = text.strip_suffix('s') {
        (number, 1000)
    } else {
        let number = text.strip_suffix("min").or(text.strip_suffix('m'))?;
        (number, 60_000)
    };
    let (whole, part) = match number.trim().split_once('.') {
        Some((whole, part)) => (whole, part),
        None => (number.trim(), ""),
    };
    let whole: u64 = whole.parse().ok()?;
    let mut ms = whole.checked_mul(factor)?;
    if !part.is_empty() {
        let digits: u64 = part.parse().ok()?;
        let scale = 10u64.checked_pow(u32::try_from(part.len()).ok()?)?;
        ms = ms.checked_add(digits.checked_mul(factor)? / scale)?;
    }
    Some(ms)
}

/// Complains that a text is not of a form that it should have.
pub(super) fn bad_form(r: &mut Reader, node: &Node, text: &str, expected: &str, hint: &str) {
    let complaint = Complaint::error(&node.at, quoted(text), expected);
    r.complain(if hint.is_empty() {
        complaint
    } else {
        complaint.hint(hint)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_understood_for_the_hint() {
        for (text, ms) in [
            ("500ms", Some(500)),
            ("2s", Some(2000)),
            ("1.5 s", Some(1500)),
            ("1m", Some(60_000)),
            ("s", None),
            ("soon", None),
            ("99999999999999999999s", None),
        ] {
            assert_eq!(duration_ms(text), ms, "{text}");
        }
    }
}
