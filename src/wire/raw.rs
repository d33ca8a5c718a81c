//! JSON that passes through as the bytes it came in.

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Gives the JSON text `null`.
pub fn null() -> Arc<RawValue> {
    Arc::from(RawValue::NULL.to_owned())
}

/// Takes `text` as JSON, byte for byte; `None` if it is not one JSON value.
///
/// Only the syntax is judged: numbers beyond any machine type and lone surrogates
/// in escapes are JSON and stay.
pub fn from_text(text: impl Into<String>) -> Option<Arc<RawValue>> {
    RawValue::from_string(text.into()).ok().map(Arc::from)
}

/// Serialises `value`, keys in the order of its fields.
///
/// Gives `null` for what JSON cannot say (a map whose keys are not strings).
pub fn of<T: Serialize + ?Sized>(value: &T) -> Arc<RawValue> {
    serde_json::value::to_raw_value(value).map_or_else(|_| null(), Arc::from)
}

/// Whether two JSON texts have the same bytes.
pub fn same(a: &RawValue, b: &RawValue) -> bool {
    a.get() == b.get()
}

/// Whether the JSON text is an object.
pub fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}

/// Whether the JSON text is `null`.
pub fn is_null(raw: &RawValue) -> bool {
    raw.get() == "null"
}

/// Reads a JSON string; each lone surrogate becomes one U+FFFD. `None` if it is no string.
pub fn string(raw: &RawValue) -> Option<String> {
    text(raw).map(Cow::into_owned)
}

/// Reads a JSON string as [`string`] does, borrowed if nothing in it is escaped.
pub fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    let body = string_body(raw)?;
    if memchr::memchr(b'\\', body.as_bytes()).is_none() {
        return Some(Cow::Borrowed(body));
    }
    if let Ok(plain) = serde_json::from_str::<String>(raw.get()) {
        return Some(Cow::Owned(plain));
    }
    let bytes: Wtf8 = serde_json::from_str(raw.get()).ok()?;
    Some(Cow::Owned(bytes.into_lossy()))
}

/// The text between the quotes of a JSON string, still escaped; `None` if it is no string.
///
/// Bodies can be concatenated: a surrogate pair whose halves came in two strings
/// is whole again in the concatenation.
pub fn string_body(raw: &RawValue) -> Option<&str> {
    raw.get().strip_prefix('"')?.strip_suffix('"')
}

/// The JSON string with the escaped text `body`; `None` if `body` is not validly escaped.
pub fn string_of_body(body: &str) -> Option<Arc<RawValue>> {
    let mut text = String::with_capacity(body.len() + 2);
    text.push('"');
    text.push_str(body);
    text.push('"');
    from_text(text).filter(|raw| string_body(raw).is_some())
}

/// Reads a JSON integer that fits in 64 bits without a sign.
pub fn integer(raw: &RawValue) -> Option<u64> {
    raw.get().parse().ok()
}

/// Reads a JSON boolean.
pub fn boolean(raw: &RawValue) -> Option<bool> {
    match raw.get() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// The same JSON on one line: line ends can only stand between tokens, and become spaces.
///
/// For files with one value a line, and for `data:` lines.
pub fn one_line(text: &str) -> Cow<'_, str> {
    if text.contains(['\n', '\r']) {
        Cow::Owned(text.replace(['\n', '\r'], " "))
    } else {
        Cow::Borrowed(text)
    }
}

/// The bytes of a JSON string in which surrogates may stand alone (WTF-8).
struct Wtf8(Vec<u8>);

impl Wtf8 {
    fn into_lossy(self) -> String {
        let mut out = String::with_capacity(self.0.len());
        let mut rest = self.0.as_slice();
        while !rest.is_empty() {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    out.push_str(text);
                    break;
                }
                Err(error) => {
                    let (good, bad) = rest.split_at(error.valid_up_to());
                    out.push_str(&String::from_utf8_lossy(good));
                    out.push(char::REPLACEMENT_CHARACTER);
                    // A surrogate is three bytes in this encoding.
                    rest = bad.get(3..).unwrap_or_default();
                }
            }
        }
        out
    }
}

impl<'de> Deserialize<'de> for Wtf8 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Wtf8, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Wtf8;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Wtf8, E> {
                Ok(Wtf8(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

/// The fields of a JSON object in their order, values as the bytes they came in.
#[derive(Clone, Default)]
pub struct Fields(Vec<(String, Arc<RawValue>)>);

impl Fields {
    /// No fields.
    pub const fn new() -> Fields {
        Fields(Vec::new())
    }

    /// Reads an object; `None` if the text is no object, or a key holds a lone surrogate.
    pub fn of(raw: &RawValue) -> Option<Fields> {
        serde_json::from_str(raw.get()).ok()
    }

    /// The value of `key`; of several, the last.
    pub fn get(&self, key: &str) -> Option<&Arc<RawValue>> {
        self.0
            .iter()
            .rev()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value)
    }

    /// Takes `key` out, if it is there; of several, the last.
    pub fn take(&mut self, key: &str) -> Option<Arc<RawValue>> {
        let at = self.0.iter().rposition(|(name, _)| name == key)?;
        Some(self.0.remove(at).1)
    }

    /// Sets `key` where it stands, or at the end.
    pub fn set(&mut self, key: &str, value: Arc<RawValue>) {
        match self.0.iter().rposition(|(name, _)| name == key) {
            Some(at) => self.0[at].1 = value,
            None => self.0.push((key.to_owned(), value)),
        }
    }

    /// The value of `key` if it is a string.
    pub fn text(&self, key: &str) -> Option<String> {
        self.get(key).and_then(|raw| string(raw))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The fields in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Arc<RawValue>)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// The object as text, without spaces between its fields.
    pub fn to_raw(&self) -> Arc<RawValue> {
        of(self)
    }

    /// Writes the fields into an object that is being written.
    pub(crate) fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        Ok(())
    }
}

impl PartialEq for Fields {
    fn eq(&self, other: &Fields) -> bool {
        self.0.len() == other.0.len()
            && self
                .iter()
                .zip(other.iter())
                .all(|(a, b)| a.0 == b.0 && same(a.1, b.1))
    }
}

impl Eq for Fields {}

impl fmt::Debug for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.iter().map(|(key, value)| (key, value.get())))
            .finish()
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.write(&mut map)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Fields, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Fields;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    fields.push((key, Arc::from(value)));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Arc<RawValue> {
        from_text(text).unwrap()
    }

    #[test]
    fn a_lone_surrogate_becomes_one_replacement() {
        assert_eq!(string(&raw(r#""a\ud83db""#)).as_deref(), Some("a\u{fffd}b"));
        assert_eq!(string(&raw(r#""\ude00""#)).as_deref(), Some("\u{fffd}"));
        assert_eq!(
            string(&raw(r#""\ud83d\ude00é\n""#)).as_deref(),
            Some("😀é\n")
        );
        assert_eq!(string(&raw("12")), None);
    }

    #[test]
    fn fields_keep_order_and_bytes() {
        let text = r#"{"z":1e400,"a":12345678901234567890.0,"m":"\u0041"}"#;
        let fields = Fields::of(&raw(text)).unwrap();
        assert_eq!(fields.to_raw().get(), text);
        assert_eq!(fields.text("m").as_deref(), Some("A"));
    }

    #[test]
    fn set_replaces_in_place() {
        let mut fields = Fields::of(&raw(r#"{"a":1,"b":2}"#)).unwrap();
        fields.set("a", raw("3"));
        fields.set("c", raw("4"));
        assert_eq!(fields.to_raw().get(), r#"{"a":3,"b":2,"c":4}"#);
        assert_eq!(fields.take("b").unwrap().get(), "2");
        assert!(fields.get("b").is_none());
    }

    #[test]
    fn halves_of_a_pair_join_as_bodies() {
        let joined = format!(
            "{}{}",
            string_body(&raw(r#""\ud83d""#)).unwrap(),
            string_body(&raw(r#""\ude00""#)).unwrap()
        );
        assert_eq!(
            string(&string_of_body(&joined).unwrap()).as_deref(),
            Some("😀")
        );
    }
}
