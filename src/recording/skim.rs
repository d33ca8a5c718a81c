//! A reader of JSON that passes over what nobody asks for.
//!
//! Recordings are mostly long strings full of escapes, and only a few fields of each
//! object matter. Where serde_json looks at every byte, this looks for the next quote or
//! backslash. It is for the usual case alone: what it doubts it gives up, and whoever
//! called it asks serde_json, whose word then counts. What it takes, serde_json takes
//! too, and to the same effect (a property test holds the two against each other).

use super::raw::RAW;
use super::text::{next_of, unescaped};
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use std::borrow::Cow;
use std::fmt;

/// Reads one JSON value as `T`, if it is a plain one.
pub(super) fn skim<'a, T: de::Deserialize<'a>>(json: &'a str) -> Option<T> {
    let json = json.trim_end_matches(['\r', ' ']);
    // Between tokens there are only spaces, and in strings no control characters.
    let is_control = |byte: u8| byte < b' ';
    // Of two backslashes the second may look as if it began an escape. Escapes that are
    // rare are looked at where they stand.
    let is_usual = |next| (next == b'n') | (next == b'"') | (next == b'\\') | (next == b't');
    let is_odd = |byte, next| is_control(byte) | ((byte == b'\\') & !is_usual(next));
    match any_byte(json, is_odd) {
        false => whole(json, true),
        true if any_byte(json, |byte, _| is_control(byte)) => None,
        true => whole(json, false),
    }
}

/// The same for text that is known to be one JSON value.
pub(super) fn skim_valid<'a, T: de::Deserialize<'a>>(json: &'a str) -> Option<T> {
    whole(json, true)
}

/// Whether something is so of any byte and the one after it. It looks at all of them:
/// without a way out, many are looked at at once.
fn any_byte(text: &str, is: impl Fn(u8, u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    let pairs = bytes.iter().zip(bytes.get(1..).unwrap_or_default());
    pairs.fold(false, |any, (byte, next)| any | is(*byte, *next))
}

fn whole<'a, T: de::Deserialize<'a>>(json: &'a str, escapes_fit: bool) -> Option<T> {
    let mut skimmer = Skimmer {
        json,
        at: 0,
        escapes_fit,
    };
    let value = T::deserialize(&mut skimmer).ok()?;
    skimmer.spaces();
    (skimmer.at == json.len()).then_some(value)
}

/// A place in a JSON text.
struct Skimmer<'a> {
    json: &'a str,
    at: usize,
    /// Whether every escape is known to be one.
    escapes_fit: bool,
}

/// Not read: it may be no JSON, or only nothing usual.
#[derive(Debug)]
struct Doubt;

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not plain JSON of this type")
    }
}

impl std::error::Error for Doubt {}

impl de::Error for Doubt {
    fn custom<T: fmt::Display>(_: T) -> Doubt {
        Doubt
    }
}

impl<'a> Skimmer<'a> {
    fn peek(&self) -> Option<u8> {
        self.json.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'a [u8] {
        self.json.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    /// The next byte that is no space.
    fn next_token(&mut self) -> Option<u8> {
        self.spaces();
        self.peek()
    }

    fn take(&mut self, byte: u8) -> Result<(), Doubt> {
        match self.next_token() {
            Some(found) if found == byte => {
                self.at += 1;
                Ok(())
            }
            _ => Err(Doubt),
        }
    }

    /// Passes over a value; gives its text.
    fn value(&mut self) -> Result<&'a str, Doubt> {
        self.spaces();
        let start = self.at;
        let mut open = Open::default();
        loop {
            let mut begun = false;
            match self.next_token().ok_or(Doubt)? {
                b'"' => self.string()?,
                bracket @ (b'{' | b'[') => {
                    self.at += 1;
                    open.push(bracket == b'{')?;
                    begun = true;
                }
                _ => self.scalar()?,
            }
            // After a value: what it closes, then a comma and, in an object, a key.
            loop {
                let Some(in_object) = open.is_object() else {
                    return self.json.get(start..self.at).ok_or(Doubt);
                };
                let closing = if in_object { b'}' } else { b']' };
                match self.next_token() {
                    Some(byte) if byte == closing => {
                        self.at += 1;
                        open.pop();
                        begun = false;
                        continue;
                    }
                    Some(b',') if !begun => self.at += 1,
                    Some(_) if begun => {}
                    _ => return Err(Doubt),
                }
                if in_object {
                    match self.next_token() {
                        Some(b'"') => self.string()?,
                        _ => return Err(Doubt),
                    }
                    self.take(b':')?;
                }
                break;
            }
        }
    }

    /// Passes over a string, whose first quote is next.
    fn string(&mut self) -> Result<(), Doubt> {
        self.at += 1;
        if self.escapes_fit {
            return self.behind_closing_quote();
        }
        loop {
            let found = next_of([b'"', b'\\'], self.rest()).ok_or(Doubt)?;
            self.at += found + 1;
            if self.json.as_bytes().get(self.at - 1) == Some(&b'"') {
                return Ok(());
            }
            self.at += match self.rest() {
                [b'u', a, b, c, d, ..] if [a, b, c, d].iter().all(|d| d.is_ascii_hexdigit()) => 5,
                [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 1,
                _ => return Err(Doubt),
            };
        }
    }

    /// Goes behind the quote that ends the string: one with an even number of
    /// backslashes before it.
    fn behind_closing_quote(&mut self) -> Result<(), Doubt> {
        let from = self.at;
        loop {
            self.at += next_of([b'"'], self.rest()).ok_or(Doubt)? + 1;
            let body = self.json.as_bytes().get(from..self.at - 1).ok_or(Doubt)?;
            let backslashes = body.iter().rev().take_while(|byte| **byte == b'\\');
            if backslashes.count() % 2 == 0 {
                return Ok(());
            }
        }
    }

    /// Passes over a number, `true`, `false` or `null`.
    fn scalar(&mut self) -> Result<(), Doubt> {
        let rest = self.rest();
        let end = rest
            .iter()
            .position(|byte| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\t' | b'\r'))
            .unwrap_or(rest.len());
        let (scalar, _) = rest.split_at(end);
        if !matches!(scalar, b"true" | b"false" | b"null") && !is_number(scalar) {
            return Err(Doubt);
        }
        self.at += end;
        Ok(())
    }
}

/// What is open, innermost last: whether each is an object.
#[derive(Default)]
struct Open {
    depth: u32,
    objects: u64,
}

impl Open {
    fn push(&mut self, is_object: bool) -> Result<(), Doubt> {
        if self.depth == u64::BITS {
            return Err(Doubt);
        }
        self.depth += 1;
        self.objects = (self.objects << 1) | u64::from(is_object);
        Ok(())
    }

    fn pop(&mut self) {
        self.depth -= 1;
        self.objects >>= 1;
    }

    fn is_object(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.objects & 1 == 1)
    }
}

/// Whether `text` is a number as JSON writes them.
fn is_number(text: &[u8]) -> bool {
    fn digits(text: &[u8]) -> Option<&[u8]> {
        let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        text.get(len..).filter(|_| len > 0)
    }
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let rest = match text {
        [b'0', rest @ ..] => Some(rest),
        _ => digits(text),
    };
    let rest = rest.and_then(|rest| match rest {
        [b'.', rest @ ..] => digits(rest),
        _ => Some(rest),
    });
    let rest = rest.and_then(|rest| match rest {
        [b'e' | b'E', b'+' | b'-', rest @ ..] | [b'e' | b'E', rest @ ..] => digits(rest),
        _ => Some(rest),
    });
    rest.is_some_and(<[u8]>::is_empty)
}

impl<'de> Deserializer<'de> for &mut Skimmer<'de> {
    type Error = Doubt;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Doubt> {
        match self.next_token() {
            Some(b'{') => self.deserialize_map(visitor),
            Some(b'[') => {
                self.at += 1;
                visitor.visit_seq(Members {
                    skimmer: self,
                    first: true,
                })
            }
            Some(b'"') => match unescaped(self.value()?) {
                Some(Cow::Borrowed(text)) => visitor.visit_borrowed_str(text),
                // It may stand for half of a surrogate pair, which serde_json refuses.
                Some(Cow::Owned(text)) if !text.contains('\u{fffd}') => visitor.visit_string(text),
                _ => Err(Doubt),
            },
            Some(_) => match self.value()? {
                "null" => visitor.visit_unit(),
                "true" => visitor.visit_bool(true),
                "false" => visitor.visit_bool(false),
                _ => Err(Doubt),
            },
            None => Err(Doubt),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Doubt> {
        self.take(b'{')?;
        visitor.visit_map(Members {
            skimmer: self,
            first: true,
        })
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Doubt> {
        if self.next_token() != Some(b'"') {
            return Err(Doubt);
        }
        let body = self.json.get(self.at + 1..).ok_or(Doubt)?;
        let len = next_of([b'"', b'\\'], body.as_bytes()).ok_or(Doubt)?;
        match body.split_at(len) {
            // A key without escapes, as nearly every one is.
            (key, rest) if rest.starts_with('"') => {
                self.at += 1 + len + 1;
                visitor.visit_borrowed_str(key)
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Doubt> {
        match self.next_token() {
            Some(b'n') => {
                self.value()?;
                visitor.visit_none()
            }
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Doubt> {
        match name {
            RAW => visitor.visit_borrowed_str(self.value()?),
            _ => Err(Doubt),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Doubt> {
        self.value()?;
        visitor.visit_unit()
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Doubt> {
        match self.next_token() {
            Some(b'[') => self.deserialize_any(visitor),
            _ => Err(Doubt),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char string bytes byte_buf unit
        unit_struct tuple tuple_struct struct enum identifier
    }
}

/// What an object or an array holds, from the place behind its bracket on.
struct Members<'s, 'a> {
    skimmer: &'s mut Skimmer<'a>,
    first: bool,
}

impl Members<'_, '_> {
    /// Goes to the next member; `false` at the end, behind the bracket.
    fn go_on(&mut self, closing: u8) -> Result<bool, Doubt> {
        let first = std::mem::replace(&mut self.first, false);
        match self.skimmer.next_token() {
            Some(byte) if byte == closing => {
                self.skimmer.at += 1;
                Ok(false)
            }
            Some(b',') if !first => {
                self.skimmer.at += 1;
                match self.skimmer.next_token() {
                    Some(byte) if byte != closing => Ok(true),
                    _ => Err(Doubt),
                }
            }
            Some(_) if first => Ok(true),
            _ => Err(Doubt),
        }
    }
}

impl<'a> MapAccess<'a> for Members<'_, 'a> {
    type Error = Doubt;

    fn next_key_seed<K: DeserializeSeed<'a>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Doubt> {
        match self.go_on(b'}')? {
            true => seed.deserialize(&mut *self.skimmer).map(Some),
            false => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, Doubt> {
        self.skimmer.take(b':')?;
        seed.deserialize(&mut *self.skimmer)
    }
}

impl<'a> SeqAccess<'a> for Members<'_, 'a> {
    type Error = Doubt;

    fn next_element_seed<T: DeserializeSeed<'a>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Doubt> {
        match self.go_on(b']')? {
            true => seed.deserialize(&mut *self.skimmer).map(Some),
            false => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::Line;
    use super::super::raw::{Object, Raw};
    use super::*;
    use proptest::prelude::*;
    use serde::de::{DeserializeOwned, IgnoredAny};
    use serde_json::Value;

    /// What is read, as text, with and without doubt.
    fn both<'a, T: de::Deserialize<'a> + fmt::Debug>(
        json: &'a str,
    ) -> (Option<String>, Option<String>) {
        let shown = |value: T| format!("{value:?}");
        (
            skim(json).map(shown),
            serde_json::from_str(json).ok().map(shown),
        )
    }

    fn agrees<'a, T: de::Deserialize<'a> + fmt::Debug>(json: &'a str) {
        let (skimmed, read) = both::<T>(json);
        assert!(
            skimmed.is_none() || skimmed == read,
            "{json:?}: {skimmed:?} and {read:?}"
        );
        if read.is_some() {
            let skimmed = skim_valid::<T>(json).map(|value| format!("{value:?}"));
            assert!(
                skimmed.is_none() || skimmed == read,
                "{json:?}: {skimmed:?}"
            );
        }
    }

    fn skims<T: DeserializeOwned>(json: &str) -> bool {
        skim::<T>(json).is_some()
    }

    #[test]
    fn plain_values_are_read() {
        for json in [
            r#"{"a":[1,-0.5e+3,{"b":null},[],{}],"c":"d\"\\\u00e9"} "#,
            "[ ]",
            "true",
            "-12",
            "\"\"",
        ] {
            assert!(skims::<IgnoredAny>(json), "{json}");
        }
    }

    #[test]
    fn what_is_no_json_is_not_read() {
        for json in [
            "",
            "{",
            "[1,]",
            "[,1]",
            "{,}",
            r#"{"a"}"#,
            r#"{"a":1,}"#,
            r#"{"a":1 "b":2}"#,
            r#"{1:2}"#,
            "[1}",
            "01",
            "1.",
            "-",
            "1e",
            ".5",
            "nul",
            "\"a",
            r#""\x""#,
            r#""\u12g4""#,
            "\"\t\"",
            "1 2",
            "\\n",
            "[1]\\n",
        ] {
            assert!(!skims::<IgnoredAny>(json), "{json}");
            assert!(serde_json::from_str::<IgnoredAny>(json).is_err(), "{json}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_read_that_serde_json_reads_differently(
            json in r#"([\[\]{},: ]|"(type|uuid|message|content|a|\\\\|\\"|\\n|\\u00[e2]9|\\ud83d|😀)*"|-?[0-9]{1,2}|[.eE]|null|true|false){0,20}"#,
        ) {
            agrees::<IgnoredAny>(&json);
            agrees::<Raw<'_>>(&json);
            agrees::<Object<Line<'_>>>(&json);
            agrees::<Vec<Object<Line<'_>>>>(&json);
        }

        #[test]
        fn entries_are_read_as_serde_json_reads_them(
            kind in ".{0,8}",
            text in "[a\"\\\n\u{1}é😀]{0,20}",
            meta: bool,
            odd in 0..4_usize,
        ) {
            let odd = ["null", "true", "[{}]", "{\"x\":[1]}"][odd];
            let (kind, text) = (Value::from(kind), Value::from(text));
            let json = format!(
                r#"{{"type":{kind},"isMeta":{meta},"x":{odd},"message":{{"id":{odd},"content":[{odd},{{"type":"text","text":{text}}}]}},"toolUseResult":{odd},"uuid":{text}}}"#,
            );
            let (skimmed, read) = both::<Line<'_>>(&json);
            prop_assert!(skimmed.is_some());
            prop_assert_eq!(skimmed, read);
            let text = format!(r#"{{"type":"user","message":{{"content":{text}}}}}"#);
            let (skimmed, read) = both::<Line<'_>>(&text);
            prop_assert!(skimmed.is_some());
            prop_assert_eq!(skimmed, read);
        }
    }
}
