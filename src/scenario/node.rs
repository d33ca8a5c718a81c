//! A YAML document as a tree in which everything knows where it stands.

use super::complaint::Place;
use serde_json::{Map, Number, Value};

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub at: Place,
    pub data: Data,
}

/// What a node holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Data {
    Null,
    Bool(bool),
    /// A number and its spelling in the file.
    Number(Number, String),
    Text(String),
    List(Vec<Node>),
    /// In the order of the file; no key twice.
    Map(Vec<Entry>),
}

/// One key of a map and its value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub key: String,
    pub key_at: Place,
    pub value: Node,
}

impl Node {
    /// The value of a key, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.data {
            Data::Map(entries) => entries.iter().find(|e| e.key == key).map(|e| &e.value),
            _ => None,
        }
    }

    /// Whether this is nothing: `null`, `~` or an empty value.
    pub fn is_null(&self) -> bool {
        self.data == Data::Null
    }

    /// The text of a scalar as it is spelled, except for null.
    pub fn scalar(&self) -> Option<String> {
        match &self.data {
            Data::Bool(value) => Some(value.to_string()),
            Data::Number(_, spelling) => Some(spelling.clone()),
            Data::Text(text) => Some(text.clone()),
            Data::Null | Data::List(_) | Data::Map(_) => None,
        }
    }

    /// What the node holds, in words that fit after "found".
    pub fn describe(&self) -> String {
        match &self.data {
            Data::Null => "nothing".to_owned(),
            Data::Bool(value) => format!("the boolean {value}"),
            Data::Number(_, spelling) => format!("the number {spelling}"),
            Data::Text(text) => quoted(text),
            Data::List(items) => match items.len() {
                0 => "an empty list".to_owned(),
                1 => "a list of 1 item".to_owned(),
                n => format!("a list of {n} items"),
            },
            Data::Map(entries) => match entries.as_slice() {
                [] => "an empty map".to_owned(),
                [first, ..] => format!("a map with {}", ticked(&first.key)),
            },
        }
    }

    /// The same value as JSON.
    pub fn to_json(&self) -> Value {
        match &self.data {
            Data::Null => Value::Null,
            Data::Bool(value) => Value::Bool(*value),
            Data::Number(number, _) => Value::Number(number.clone()),
            Data::Text(text) => Value::String(text.clone()),
            Data::List(items) => Value::Array(items.iter().map(Node::to_json).collect()),
            Data::Map(entries) => Value::Object(
                entries
                    .iter()
                    .map(|e| (e.key.clone(), e.value.to_json()))
                    .collect::<Map<_, _>>(),
            ),
        }
    }

    /// The node at a key path from here, as in `permissions.deny[2]`, or the last one
    /// on the way that is there.
    pub fn at_path(&self, path: &str) -> &Node {
        let mut node = self;
        for part in path.split(['.', '[']).filter(|part| !part.is_empty()) {
            let next = match part.strip_suffix(']') {
                Some(index) => match (&node.data, index.parse::<usize>()) {
                    (Data::List(items), Ok(index)) => items.get(index),
                    _ => None,
                },
                None => node.get(part),
            };
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        node
    }

    /// The key path from here to the node or key that stands at `place`.
    pub fn path_of(&self, place: &Place) -> Option<String> {
        let mut path = String::new();
        self.find(place, &mut path).then_some(path)
    }

    fn find(&self, place: &Place, path: &mut String) -> bool {
        let length = path.len();
        match &self.data {
            Data::List(items) => {
                for (i, item) in items.iter().enumerate() {
                    path.push_str(&format!("[{i}]"));
                    if item.find(place, path) {
                        return true;
                    }
                    path.truncate(length);
                }
            }
            Data::Map(entries) => {
                for entry in entries {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(&entry.key);
                    if entry.key_at == *place || entry.value.find(place, path) {
                        return true;
                    }
                    path.truncate(length);
                }
            }
            _ => {}
        }
        self.at == *place
    }
}

/// How many characters of a text a complaint shows.
const SHOWN_CHARS: usize = 40;

/// A text in quotes, on one line, cut if it is long.
pub(super) fn quoted(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}

/// A name in backticks, on one line, cut if it is long.
pub(super) fn ticked(name: &str) -> String {
    let shown = quoted(name);
    format!("`{}`", &shown[1..shown.len() - 1])
}
