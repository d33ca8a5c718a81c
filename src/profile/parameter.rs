//! What a value of a parameter is: read from data, named in complaints, written
//! into traces.

use serde_json::Value;

/// A type that a profile's parameter can have.
pub trait Parameter: Sized {
    /// The value that `json` spells, if it is one of the allowed.
    fn read(json: &Value) -> Option<Self>;
    /// The value as it is written in a profile's file and after `name=` in a trace.
    fn write(&self) -> Value;
    /// What may be written, for a complaint.
    fn allowed() -> Vec<String>;
}

impl Parameter for bool {
    fn read(json: &Value) -> Option<bool> {
        json.as_bool()
    }
    fn write(&self) -> Value {
        Value::Bool(*self)
    }
    fn allowed() -> Vec<String> {
        vec!["true".into(), "false".into()]
    }
}

impl Parameter for u64 {
    fn read(json: &Value) -> Option<u64> {
        json.as_u64()
    }
    fn write(&self) -> Value {
        Value::from(*self)
    }
    fn allowed() -> Vec<String> {
        vec!["a whole number".into()]
    }
}

/// A limit: a number, or `none`.
impl Parameter for Option<u64> {
    fn read(json: &Value) -> Option<Option<u64>> {
        match json {
            Value::String(word) if word == "none" => Some(None),
            number => number.as_u64().map(Some),
        }
    }
    fn write(&self) -> Value {
        match self {
            Some(number) => Value::from(*number),
            None => Value::from("none"),
        }
    }
    fn allowed() -> Vec<String> {
        vec!["a whole number".into(), "none".into()]
    }
}

/// A set: a list of words, each at most once.
impl<T: Parameter + Ord> Parameter for std::collections::BTreeSet<T> {
    fn read(json: &Value) -> Option<Self> {
        let words = json.as_array()?;
        let set: Self = words.iter().map(T::read).collect::<Option<_>>()?;
        (set.len() == words.len()).then_some(set)
    }
    fn write(&self) -> Value {
        Value::Array(self.iter().map(T::write).collect())
    }
    fn allowed() -> Vec<String> {
        vec![format!("a list of: {}", T::allowed().join(", "))]
    }
}

impl Parameter for crate::words::Policy {
    fn read(json: &Value) -> Option<Self> {
        Self::from_word(json.as_str()?)
    }
    fn write(&self) -> Value {
        Value::from(self.as_str())
    }
    fn allowed() -> Vec<String> {
        Self::ALL.iter().map(|p| p.as_str().to_owned()).collect()
    }
}

/// Declares the closed set of values of one parameter.
macro_rules! choices {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[$vmeta])* $variant,)+ }

        impl $name {
            /// Every value of the set.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            /// The value as it is written in profiles and scenarios.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }
        }

        impl $crate::profile::parameter::Parameter for $name {
            fn read(json: &serde_json::Value) -> Option<Self> {
                match json.as_str()? { $($word => Some($name::$variant),)+ _ => None }
            }
            fn write(&self) -> serde_json::Value {
                serde_json::Value::from(self.as_str())
            }
            fn allowed() -> Vec<String> {
                vec![$($word.to_owned(),)+]
            }
        }
    };
}

pub(super) use choices;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeSet;

    #[test]
    fn a_limit_is_a_number_or_none() {
        assert_eq!(Option::<u64>::read(&json!("none")), Some(None));
        assert_eq!(Option::<u64>::read(&json!(7)), Some(Some(7)));
        for wrong in [json!(null), json!(-1), json!(1.5), json!("7"), json!(true)] {
            assert_eq!(Option::<u64>::read(&wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_set_refuses_what_it_holds_twice() {
        assert_eq!(BTreeSet::<bool>::read(&json!([true, true])), None);
        assert!(BTreeSet::<bool>::read(&json!([true, false])).is_some());
    }
}
