//! Reads an input that its schema accepted into the type that a tool works with.

use super::Refusal;
use crate::words::Class;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The input as `T`. What fails here passed the schema and still makes no sense.
pub(super) fn read<T: DeserializeOwned>(input: &Value) -> Result<T, Refusal> {
    T::deserialize(input).map_err(|e| {
        Refusal::new(
            Class::InvalidInput,
            format!("the input does not fit the tool: {e}. Correct it and call again."),
        )
    })
}

/// A whole number that JSON may write as `2` or as `2.0`; cut to 64 bits.
pub(super) fn whole<'de, D: Deserializer<'de>>(input: D) -> Result<Option<i64>, D::Error> {
    let number = Option::<serde_json::Number>::deserialize(input)?;
    Ok(number.map(|n| {
        n.as_i64().unwrap_or_else(|| match n.as_f64() {
            Some(float) if float < 0.0 => float as i64,
            Some(float) => (float.min(i64::MAX as f64)) as i64,
            None => i64::MAX,
        })
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Deserialize)]
    struct In {
        #[serde(default, deserialize_with = "whole")]
        n: Option<i64>,
    }

    #[test]
    fn whole_numbers_in_any_spelling() {
        let n = |v: Value| read::<In>(&json!({ "n": v })).map(|i| i.n);
        assert_eq!(n(json!(2)), Ok(Some(2)));
        assert_eq!(n(json!(2.0)), Ok(Some(2)));
        assert_eq!(n(json!(-1)), Ok(Some(-1)));
        assert_eq!(n(json!(u64::MAX)), Ok(Some(i64::MAX)));
        assert_eq!(n(json!(null)), Ok(None));
        assert_eq!(read::<In>(&json!({})).map(|i| i.n), Ok(None));
        assert_eq!(n(json!("2")).unwrap_err().class, Class::InvalidInput);
    }
}
