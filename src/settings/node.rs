//! JSON with places: where each value stands, what of a broken text could be read,
//! and which keys stand twice.

use serde_json::{Map, Number, Value};

/// Nesting that is read.
const MAX_DEPTH: u32 = 100;

/// A place in a text: line and column from 1, columns in characters.
pub(super) type Place = (u32, u32);

/// A value and where it stands; nowhere if it was not read from a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub at: Option<Place>,
    pub data: Data,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Data {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

/// Where a text stops being JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Broken {
    pub at: Place,
    pub found: String,
    pub expected: &'static str,
}

impl Broken {
    /// What to do about the breaks that people make most.
    pub fn hint(&self) -> Option<String> {
        let hint = match (self.found.as_str(), self.expected) {
            ("'/'" | "'#'", _) => "JSON has no comments",
            ("'\\''", _) => "write double quotes",
            ("']'", "a value") | ("'}'", "a key in double quotes") => {
                "leave the comma before it away"
            }
            (_, "a `\"` that closes the string") => "a quote is missing, or the file was cut off",
            ("the end of the file", _) => "the file was cut off, or a bracket is not closed",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

impl Node {
    pub fn from_value(value: &Value) -> Node {
        let data = match value {
            Value::Null => Data::Null,
            Value::Bool(b) => Data::Bool(*b),
            Value::Number(n) => Data::Number(n.clone()),
            Value::String(s) => Data::Text(s.clone()),
            Value::Array(list) => Data::List(list.iter().map(Node::from_value).collect()),
            Value::Object(map) => Data::Map(
                map.iter()
                    .map(|(key, value)| (key.clone(), Node::from_value(value)))
                    .collect(),
            ),
        };
        Node { at: None, data }
    }

    /// The value without its places; of a key that stands twice, the last.
    pub fn to_value(&self) -> Value {
        match &self.data {
            Data::Null => Value::Null,
            Data::Bool(b) => Value::Bool(*b),
            Data::Number(n) => Value::Number(n.clone()),
            Data::Text(s) => Value::String(s.clone()),
            Data::List(list) => Value::Array(list.iter().map(Node::to_value).collect()),
            Data::Map(entries) => {
                let entries = entries.iter().map(|(k, v)| (k.clone(), v.to_value()));
                Value::Object(entries.collect::<Map<_, _>>())
            }
        }
    }

    /// What it is, in words that fit after "found".
    pub fn describe(&self) -> String {
        match &self.data {
            Data::Null => "null".to_owned(),
            Data::Bool(b) => b.to_string(),
            Data::Number(n) => n.to_string(),
            Data::Text(s) => format!("{s:?}"),
            Data::List(_) => "a list".to_owned(),
            Data::Map(_) => "an object".to_owned(),
        }
    }
}

/// Reads a text; of a broken one, what stands before the break.
pub(super) fn read(text: &str) -> (Node, Option<Broken>) {
    let mut reader = Reader {
        text: text.strip_prefix('\u{feff}').unwrap_or(text),
        pos: 0,
        line: 1,
        column: 1,
        broken: None,
    };
    reader.space();
    let node = reader.value(0);
    reader.space();
    if reader.broken.is_none() && reader.peek().is_some() {
        reader.fail("the end of the file");
    }
    (node, reader.broken)
}

struct Reader<'a> {
    text: &'a str,
    pos: usize,
    line: u32,
    column: u32,
    broken: Option<Broken>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.pos..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.pos += c.len_utf8();
        if c == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(c)
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t' | '\r' | '\n')) {
            self.next();
        }
    }

    fn fail(&mut self, expected: &'static str) {
        if self.broken.is_none() {
            let found = match self.peek() {
                Some(c) => format!("{c:?}"),
                None => "the end of the file".to_owned(),
            };
            self.broken = Some(Broken {
                at: (self.line, self.column),
                found,
                expected,
            });
        }
    }

    fn value(&mut self, depth: u32) -> Node {
        let at = Some((self.line, self.column));
        let data = match self.peek() {
            _ if depth > MAX_DEPTH => {
                self.fail("at most 100 levels of nesting");
                Data::Null
            }
            Some('{') => self.map(depth),
            Some('[') => self.list(depth),
            Some('"') => Data::Text(self.string().unwrap_or_default()),
            Some(c) if c == '-' || c.is_ascii_alphanumeric() => self.scalar(),
            _ => {
                self.fail("a value");
                Data::Null
            }
        };
        Node { at, data }
    }

    /// A string, without what follows a break in it.
    fn string(&mut self) -> Option<String> {
        let start = self.pos;
        self.next();
        loop {
            match self.peek() {
                Some('"') => {
                    self.next();
                    break;
                }
                Some('\\') => {
                    self.next();
                    self.next();
                }
                Some(c) if c >= ' ' => {
                    self.next();
                }
                _ => {
                    self.fail("a `\"` that closes the string");
                    return None;
                }
            }
        }
        match serde_json::from_str(&self.text[start..self.pos]) {
            Ok(text) => Some(text),
            Err(_) => {
                self.fail("a string whose escapes are right");
                None
            }
        }
    }

    fn scalar(&mut self) -> Data {
        let start = self.pos;
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.');
        let (line, column) = (self.line, self.column);
        while self.peek().is_some_and(word) {
            self.next();
        }
        let word = &self.text[start..self.pos];
        match serde_json::from_str::<Value>(word) {
            Ok(Value::Null) => Data::Null,
            Ok(Value::Bool(b)) => Data::Bool(b),
            Ok(Value::Number(n)) => Data::Number(n),
            _ => {
                let found = format!("`{word}`");
                self.broken.get_or_insert(Broken {
                    at: (line, column),
                    found,
                    expected: "a value",
                });
                Data::Null
            }
        }
    }

    fn list(&mut self, depth: u32) -> Data {
        self.next();
        let mut list = Vec::new();
        self.space();
        if self.peek() == Some(']') {
            self.next();
            return Data::List(list);
        }
        loop {
            self.space();
            let node = self.value(depth + 1);
            // A container that broke off still holds what came before.
            let whole = self.broken.is_none();
            if whole || matches!(node.data, Data::List(_) | Data::Map(_)) {
                list.push(node);
            }
            if !whole {
                return Data::List(list);
            }
            self.space();
            match self.peek() {
                Some(',') => {
                    self.next();
                }
                Some(']') => {
                    self.next();
                    return Data::List(list);
                }
                _ => {
                    self.fail("`,` or `]`");
                    return Data::List(list);
                }
            }
        }
    }

    fn map(&mut self, depth: u32) -> Data {
        self.next();
        let mut map = Vec::new();
        self.space();
        if self.peek() == Some('}') {
            self.next();
            return Data::Map(map);
        }
        loop {
            self.space();
            if self.peek() != Some('"') {
                self.fail("a key in double quotes");
                return Data::Map(map);
            }
            let Some(key) = self.string() else {
                return Data::Map(map);
            };
            self.space();
            if self.peek() != Some(':') {
                self.fail("`:`");
                return Data::Map(map);
            }
            self.next();
            self.space();
            let node = self.value(depth + 1);
            let whole = self.broken.is_none();
            if whole || matches!(node.data, Data::List(_) | Data::Map(_)) {
                map.push((key, node));
            }
            if !whole {
                return Data::Map(map);
            }
            self.space();
            match self.peek() {
                Some(',') => {
                    self.next();
                }
                Some('}') => {
                    self.next();
                    return Data::Map(map);
                }
                _ => {
                    self.fail("`,` or `}`");
                    return Data::Map(map);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_whole_text_reads_as_serde_json_reads_it() {
        let texts = [
            r#"{"a": [1, -2.5e3, true, null, "x\nA\u0041"], "b": {}, "c": []}"#,
            "[]",
            "\"x\"",
            " 7 ",
            "{\"é\": \"日本\"}",
        ];
        for text in texts {
            let (node, broken) = read(text);
            assert_eq!(broken, None, "{text}");
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(node.to_value(), value, "{text}");
            assert_eq!(Node::from_value(&value).to_value(), value);
        }
    }

    #[test]
    fn of_a_broken_text_what_came_before_is_kept() {
        let text =
            "{\"permissions\": {\"deny\": [\"Read(a)\", \"Read(b)\",\n  oops, \"Read(c)\"]}}";
        let (node, broken) = read(text);
        let broken = broken.unwrap();
        assert_eq!((broken.at, broken.found.as_str()), ((2, 3), "`oops`"));
        assert_eq!(
            node.to_value(),
            json!({"permissions": {"deny": ["Read(a)", "Read(b)"]}})
        );
        for text in ["{\"a\": [1, 2", "{\"a\": [1, 2,]}", "{\"a\": [1, 2 3]}"] {
            let (node, broken) = read(text);
            assert!(broken.is_some(), "{text}");
            assert_eq!(node.to_value(), json!({"a": [1, 2]}), "{text}");
        }
        for text in [
            "",
            "{",
            "{\"a\"",
            "{\"a\": }",
            "{a: 1}",
            "nul",
            "\"a",
            "{} {}",
            "\"\\x\"",
        ] {
            assert!(read(text).1.is_some(), "{text}");
        }
        assert!(read(&"[".repeat(100_000)).1.is_some());
    }
}
