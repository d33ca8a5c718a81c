//! Pieces of JSON as they stand in a recording, and string fields that never fail.

use super::skim::skim_valid;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// A JSON value as text, borrowed from the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    /// Takes text that is known to be one JSON value.
    pub(super) const fn new(json: &'a str) -> Raw<'a> {
        Raw(json)
    }

    /// The JSON text, byte for byte as recorded.
    pub const fn get(self) -> &'a str {
        self.0
    }

    /// The decoded string, or `None` if the value is not a string.
    pub fn as_text(self) -> Option<Cow<'a, str>> {
        super::text::unescaped(self.0)
    }

    /// The value as a type of the caller's, or `None` if it has another shape.
    pub fn parse<T: Deserialize<'a>>(self) -> Option<T> {
        serde_json::from_str(self.0).ok()
    }

    /// The same for a type of which little is asked for: the rest is skimmed over.
    pub(super) fn read<T: Deserialize<'a>>(self) -> Option<T> {
        skim_valid(self.0).or_else(|| self.parse())
    }

    /// Whether the value is an object.
    pub fn is_object(self) -> bool {
        self.0.starts_with('{')
    }

    /// Whether the value is an array.
    pub fn is_array(self) -> bool {
        self.0.starts_with('[')
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Raw<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(RAW, RawVisitor)
    }
}

/// By this name a reader of ours knows that a value is wanted as its text.
pub(super) const RAW: &str = "rehearsal::Raw";

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_borrowed_str<E>(self, json: &'de str) -> Result<Self::Value, E> {
        Ok(Raw(json))
    }
    /// serde_json's own reader has another name for it.
    fn visit_newtype_struct<D: Deserializer<'de>>(self, d: D) -> Result<Self::Value, D::Error> {
        <&'de RawValue>::deserialize(d).map(|raw| Raw(raw.get()))
    }
}

/// A field that ought to be a string; any other JSON value counts as absent, so
/// that one odd field never costs its line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Str<'a>(pub Option<Cow<'a, str>>);

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Raw::deserialize(deserializer).map(|raw| Str(raw.as_text()))
    }
}

/// A key of an object.
pub(super) struct Key<'a>(pub Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(KeyVisitor).map(Key)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }
    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

/// A field that ought to be a boolean; any other JSON value counts as absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Bool(pub Option<bool>);

impl<'de> Deserialize<'de> for Bool {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Bool(match Raw::deserialize(deserializer)?.get() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }))
    }
}

/// Declares a type whose fields are read leniently from a JSON object: unknown
/// keys are skipped, of a key given twice the last wins (as in other readers),
/// and anything but an object reads as `None`.
macro_rules! lenient_object {
    ($(#[$meta:meta])* $name:ident { $($(#[$fmeta:meta])* $field:ident: $type:ty = $key:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default)]
        pub(super) struct $name<'a> { $($(#[$fmeta])* pub $field: $type,)* }

        impl<'de: 'a, 'a> serde::de::Deserialize<'de> for $name<'a> {
            fn deserialize<D: serde::de::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Self, D::Error> {
                struct LenientVisitor<'a>(std::marker::PhantomData<$name<'a>>);
                impl<'de: 'a, 'a> serde::de::Visitor<'de> for LenientVisitor<'a> {
                    type Value = $name<'a>;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("a JSON object")
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        mut map: A,
                    ) -> Result<Self::Value, A::Error> {
                        let mut value = $name::default();
                        while let Some(key) = map.next_key::<$crate::recording::raw::Key<'de>>()? {
                            match &*key.0 {
                                $($key => value.$field = map.next_value()?,)*
                                _ => {
                                    map.next_value::<serde::de::IgnoredAny>()?;
                                }
                            }
                        }
                        Ok(value)
                    }
                }
                deserializer.deserialize_map(LenientVisitor(std::marker::PhantomData))
            }
        }
    };
}
pub(super) use lenient_object;

/// An object, or nothing if the JSON value is not one.
#[derive(Debug, Clone)]
pub(super) struct Object<T>(pub Option<T>);

impl<T> Default for Object<T> {
    fn default() -> Self {
        Object(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
            type Value = Option<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(serde::de::value::MapAccessDeserializer::new(map)).map(Some)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(None)
            }
            fn visit_borrowed_str<E>(self, _: &'de str) -> Result<Self::Value, E> {
                Ok(None)
            }
            fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
                Ok(None)
            }
            fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
                Ok(None)
            }
            fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
                Ok(None)
            }
            fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
                Ok(None)
            }
            fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
                Ok(None)
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(None)
            }
        }
        deserializer
            .deserialize_any(ObjectVisitor(std::marker::PhantomData))
            .map(Object)
    }
}

lenient_object! {
    /// A content block of which only text matters.
    TextBlock {
        text: Str<'a> = "text",
    }
}

/// The texts of an array of content blocks, in order; empty for anything else.
pub(super) fn block_texts(blocks: Raw<'_>) -> Vec<Cow<'_, str>> {
    let Some(blocks) = blocks.read::<Vec<Object<TextBlock>>>() else {
        return Vec::new();
    };
    blocks
        .into_iter()
        .filter_map(|block| block.0?.text.0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    lenient_object! {
        /// For the tests below.
        Sample {
            name: Str<'a> = "name",
            on: Bool = "on",
            raw: Option<Raw<'a>> = "raw",
        }
    }

    #[test]
    fn an_odd_field_is_absent_and_the_last_of_two_wins() {
        let sample: Sample = serde_json::from_str(
            r#"{"name":1,"x":[{}],"on":"yes","raw":{"a": 1},"name":"n","on":true}"#,
        )
        .unwrap();
        assert_eq!(sample.name.0.as_deref(), Some("n"));
        assert_eq!(sample.on.0, Some(true));
        assert_eq!(sample.raw.map(Raw::get), Some(r#"{"a": 1}"#));
    }

    #[test]
    fn what_is_no_object_reads_as_none() {
        for json in [
            "1", "-1", "1.5", "\"a\\n\"", "\"a\"", "[1,{}]", "null", "true",
        ] {
            let read: Object<Sample> = serde_json::from_str(json).unwrap();
            assert!(read.0.is_none(), "{json}");
        }
    }

    #[test]
    fn text_is_decoded_only_from_strings() {
        assert_eq!(Raw("\"a\\nb\"").as_text().as_deref(), Some("a\nb"));
        assert_eq!(Raw("[1]").as_text(), None);
    }
}
