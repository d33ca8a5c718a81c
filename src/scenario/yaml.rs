//! YAML text to a tree with places. YAML 1.2 core schema: only `true` and `false`
//! are booleans. What YAML 1.1 would have read otherwise is remarked on.
//!
//! The parser is the one below serde-saphyr, event by event: complaints need the
//! place, the style and the spelling of every scalar, and every complaint at once.

use super::complaint::{Complaint, Place};
use super::node::{Data, Entry, Node, quoted, ticked};
use serde_json::Number;
use serde_saphyr::granit_parser::{self, Event, Marker, Parser, ScalarStyle, Span, Tag};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The largest scenario file.
pub const MAX_FILE_BYTES: usize = 8 * 1024 * 1024;
/// The deepest nesting of lists and maps.
pub const MAX_DEPTH: usize = 64;
/// The most values in one file, aliases expanded.
pub const MAX_VALUES: usize = 500_000;

/// Reads one YAML document. `None` if there is no tree to speak of; complaints are
/// added either way.
pub(super) fn parse(file: &Arc<str>, text: &str, complaints: &mut Vec<Complaint>) -> Option<Node> {
    let top = Place::top_of(file.clone());
    if text.len() > MAX_FILE_BYTES {
        complaints.push(Complaint::error(
            &top,
            format!("a file of {} bytes", text.len()),
            format!("at most {MAX_FILE_BYTES}"),
        ));
        return None;
    }
    let mut options = granit_parser::options! {
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    options.set_emit_comments(false);
    let mut builder = Builder {
        file: file.clone(),
        text,
        complaints,
        stack: Vec::new(),
        root: None,
        anchors: BTreeMap::new(),
        values: 0,
        documents: 0,
    };
    for next in Parser::new_from_str_with_options(text, options) {
        match next {
            Ok((event, span)) => {
                if !builder.take(event, span) {
                    return None;
                }
            }
            Err(error) => {
                let at = builder.place(*error.marker(), *error.marker());
                let found = format!("text that is not YAML ({})", error.info());
                let mut complaint = Complaint::error(&at, found, "YAML 1.2");
                if text.contains('\t') {
                    complaint = complaint.hint("indent with spaces: YAML takes no tabs there");
                }
                builder.complaints.push(complaint);
                return None;
            }
        }
    }
    let root = builder.root.take();
    if root.is_none() {
        complaints.push(
            Complaint::error(&top, "an empty file", "a scenario")
                .hint("`rehearsal new PATH` writes one to start from"),
        );
    }
    root
}

/// A list or a map that is still open.
struct Open {
    at: Place,
    anchor: usize,
    depth: usize,
    items: Items,
}

enum Items {
    List(Vec<Node>),
    Map {
        entries: Vec<Entry>,
        index: BTreeMap<String, u32>,
        key: Option<(String, Place)>,
    },
}

struct Builder<'a> {
    file: Arc<str>,
    text: &'a str,
    complaints: &'a mut Vec<Complaint>,
    stack: Vec<Open>,
    root: Option<Node>,
    /// Finished nodes by anchor, with the number of values and the depth they hold.
    anchors: BTreeMap<usize, (Node, usize, usize)>,
    values: usize,
    documents: usize,
}

impl Builder<'_> {
    /// Takes one event; false if it is no use to go on.
    fn take(&mut self, event: Event<'_>, span: Span) -> bool {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents == 2 {
                    let at = self.place(span.start, span.end);
                    self.complain(
                        Complaint::error(&at, "a second document", "one document a file")
                            .hint("put it into a file of its own, or use `cases`"),
                    );
                    return false;
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let at = self.place(span.start, span.end);
                if let Some(Open {
                    items: Items::Map { key, .. },
                    ..
                }) = self.stack.last_mut()
                    && key.is_none()
                {
                    *key = Some((text.into_owned(), at));
                    return self.count(1);
                }
                let data = self.scalar(&text, style, tag.as_deref(), &at);
                return self.count(1) && self.add(Node { at, data }, anchor, 1, 0);
            }
            Event::SequenceStart(_, anchor, tag) | Event::MappingStart(_, anchor, tag)
                if self.stack.len() >= MAX_DEPTH =>
            {
                let _ = (anchor, tag);
                let at = self.place(span.start, span.start);
                self.too_deep(&at);
                return false;
            }
            Event::SequenceStart(_, anchor, tag) => {
                return self.open(span, anchor, tag.as_deref(), Items::List(Vec::new()));
            }
            Event::MappingStart(_, anchor, tag) => {
                let items = Items::Map {
                    entries: Vec::new(),
                    index: BTreeMap::new(),
                    key: None,
                };
                return self.open(span, anchor, tag.as_deref(), items);
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(open) = self.stack.pop() {
                    let data = match open.items {
                        Items::List(items) => Data::List(items),
                        Items::Map { entries, .. } => Data::Map(entries),
                    };
                    let node = Node { at: open.at, data };
                    let size = if open.anchor > 0 { size_of(&node) } else { 1 };
                    return self.add(node, open.anchor, size, open.depth);
                }
            }
            Event::Alias(id) => {
                let at = self.place(span.start, span.end);
                match self.anchors.get(&id).cloned() {
                    Some((node, size, depth)) => {
                        if self.stack.len() + depth > MAX_DEPTH {
                            self.too_deep(&at);
                            return false;
                        }
                        if !self.count(size) {
                            return false;
                        }
                        if self.wants_key() {
                            self.odd_key(&at, "an alias");
                            return false;
                        }
                        return self.add(node, 0, size, depth);
                    }
                    None => {
                        self.complain(Complaint::error(
                            &at,
                            "an alias inside its own anchor",
                            "a value that ends",
                        ));
                        return false;
                    }
                }
            }
            _ => {}
        }
        true
    }

    fn open(&mut self, span: Span, anchor: usize, tag: Option<&Tag>, items: Items) -> bool {
        let at = self.place(span.start, span.start);
        if self.wants_key() {
            self.odd_key(&at, "a list or a map");
            return false;
        }
        let core = if matches!(items, Items::List(_)) {
            "seq"
        } else {
            "map"
        };
        if let Some(tag) = tag
            && !tag.is_yaml_core_schema_tag(core)
        {
            self.odd_tag(&at, tag);
        }
        self.stack.push(Open {
            at,
            anchor,
            depth: 1,
            items,
        });
        self.count(1)
    }

    /// Puts a finished node where it belongs.
    fn add(&mut self, node: Node, anchor: usize, size: usize, depth: usize) -> bool {
        if anchor > 0 {
            self.anchors.insert(anchor, (node.clone(), size, depth));
        }
        let Some(open) = self.stack.last_mut() else {
            self.root = Some(node);
            return true;
        };
        open.depth = open.depth.max(depth + 1);
        match &mut open.items {
            Items::List(items) => items.push(node),
            Items::Map {
                entries,
                index,
                key,
            } => {
                if let Some((key, key_at)) = key.take() {
                    if let Some(line) = index.get(&key) {
                        self.complaints.push(
                            Complaint::error(
                                &key_at,
                                format!("{} a second time", ticked(&key)),
                                "every key once",
                            )
                            .hint(format!("the first is in line {line}")),
                        );
                        return true;
                    }
                    index.insert(key.clone(), key_at.line);
                    entries.push(Entry {
                        key,
                        key_at,
                        value: node,
                    });
                }
            }
        }
        true
    }

    fn wants_key(&self) -> bool {
        matches!(
            self.stack.last(),
            Some(Open {
                items: Items::Map { key: None, .. },
                ..
            })
        )
    }

    fn count(&mut self, values: usize) -> bool {
        self.values += values;
        if self.values <= MAX_VALUES {
            return true;
        }
        let at = Place::top_of(self.file.clone());
        self.complain(Complaint::error(
            &at,
            format!("more than {MAX_VALUES} values, aliases expanded"),
            "fewer",
        ));
        false
    }

    fn too_deep(&mut self, at: &Place) {
        self.complain(Complaint::error(
            at,
            format!("lists and maps nested deeper than {MAX_DEPTH}"),
            "less nesting",
        ));
    }

    fn odd_key(&mut self, at: &Place, what: &str) {
        self.complain(Complaint::error(
            at,
            format!("{what} as a key"),
            "a text as a key",
        ));
    }

    fn odd_tag(&mut self, at: &Place, tag: &Tag) {
        self.complain(Complaint::error(
            at,
            format!("the tag {}", ticked(&tag.original())),
            "no tag",
        ));
    }

    fn complain(&mut self, complaint: Complaint) {
        self.complaints.push(complaint);
    }

    fn place(&self, start: Marker, end: Marker) -> Place {
        let byte =
            |mark: Marker| u32::try_from(mark.byte_offset().unwrap_or(0)).unwrap_or(u32::MAX);
        let (from, mut to) = (byte(start), byte(end));
        // A block scalar ends where the next thing begins: show its first line only.
        if let Some(text) = self.text.get(from as usize..to as usize)
            && let Some(line) = text.find('\n')
        {
            to = from + line as u32;
        }
        Place {
            file: self.file.clone(),
            line: u32::try_from(start.line()).unwrap_or(u32::MAX),
            column: u32::try_from(start.col() + 1).unwrap_or(u32::MAX),
            bytes: (from, to.max(from)),
        }
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, tag: Option<&Tag>, at: &Place) -> Data {
        let mut plain = style == ScalarStyle::Plain;
        if let Some(tag) = tag {
            match tag.core_suffix() {
                Some("str") => plain = false,
                Some("int" | "float" | "bool" | "null") => plain = true,
                _ if tag.original() == "!" => plain = false,
                _ => self.odd_tag(at, tag),
            }
        }
        if !plain {
            return Data::Text(text.to_owned());
        }
        match text {
            "" | "~" | "null" | "Null" | "NULL" => return Data::Null,
            "true" | "True" | "TRUE" => return Data::Bool(true),
            "false" | "False" | "FALSE" => return Data::Bool(false),
            _ => {}
        }
        if let Some(number) = number(text) {
            let digits = text.trim_start_matches(['-', '+']);
            if digits.len() > 1
                && digits.starts_with('0')
                && digits.bytes().all(|b| b.is_ascii_digit())
            {
                self.complain(
                    Complaint::warning(
                        at,
                        format!("{text}, which is read as {number}"),
                        "a number without leading zeros",
                    )
                    .hint(format!(
                        "write {number}, 0o{digits} for octal, or \"{text}\" for text"
                    )),
                );
            }
            return Data::Number(number, text.to_owned());
        }
        self.remark_on_text(text, at);
        Data::Text(text.to_owned())
    }

    /// Warns of plain texts that other YAML readers, or people, take for something else.
    fn remark_on_text(&mut self, text: &str, at: &Place) {
        let lower = text.to_ascii_lowercase();
        let (meant, hint) = match lower.as_str() {
            "yes" | "on" => ("a boolean or a quoted text", "true"),
            "no" | "off" => ("a boolean or a quoted text", "false"),
            ".inf" | "+.inf" | "-.inf" | ".nan" => ("a finite number or a quoted text", "a number"),
            _ if text.contains('_')
                && text.starts_with(|c: char| c.is_ascii_digit())
                && text.bytes().all(|b| b.is_ascii_digit() || b == b'_') =>
            {
                ("a number without `_` or a quoted text", "the digits alone")
            }
            _ => return,
        };
        self.complain(
            Complaint::warning(at, format!("{} without quotes", quoted(text)), meant).hint(
                format!("it is read as text: write {hint}, or \"{text}\" if text is meant"),
            ),
        );
    }
}

/// The number that a plain scalar spells under the core schema, if it is one that
/// JSON can hold.
fn number(text: &str) -> Option<Number> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if let Some(octal) = text.strip_prefix("0o") {
        return u64::from_str_radix(octal, 8).ok().map(Number::from);
    }
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok().map(Number::from);
    }
    let first = digits.as_bytes().first()?;
    if !(first.is_ascii_digit() || *first == b'.') || !digits.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    if digits.bytes().all(|b| b.is_ascii_digit()) {
        if let Ok(number) = text.parse::<i64>() {
            return Some(Number::from(number));
        }
        if let Ok(number) = text.strip_prefix('+').unwrap_or(text).parse::<u64>() {
            return Some(Number::from(number));
        }
    }
    let float_like = digits
        .bytes()
        .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'-' | b'+'));
    if !float_like {
        return None;
    }
    text.parse::<f64>().ok().and_then(Number::from_f64)
}

/// How many values a node holds, itself counted.
fn size_of(node: &Node) -> usize {
    1 + match &node.data {
        Data::List(items) => items.iter().map(size_of).sum(),
        Data::Map(entries) => entries.iter().map(|e| 1 + size_of(&e.value)).sum(),
        _ => 0,
    }
}

#[cfg(test)]
#[path = "yaml_tests.rs"]
mod tests;
