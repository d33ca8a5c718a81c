//! The structured result of a call, made when somebody looks at it.

use serde_json::Value;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

/// What hooks and transcripts get of a result besides its text. Most are never looked
/// at, and a patch takes longer to make than the edit.
#[derive(Clone)]
pub struct Data(Kind);

#[derive(Clone)]
enum Kind {
    Made(Value),
    Later(Arc<Later>),
}

type Later = LazyLock<Value, Box<dyn FnOnce() -> Value + Send>>;

impl Data {
    /// What `make` gives, which is asked once and only if somebody looks.
    pub fn later(make: impl FnOnce() -> Value + Send + 'static) -> Data {
        Data(Kind::Later(Arc::new(LazyLock::new(Box::new(make)))))
    }
}

impl From<Value> for Data {
    fn from(value: Value) -> Data {
        Data(Kind::Made(value))
    }
}

impl From<Data> for Value {
    fn from(data: Data) -> Value {
        match data.0 {
            Kind::Made(value) => value,
            Kind::Later(later) => Value::clone(&later),
        }
    }
}

impl Deref for Data {
    type Target = Value;

    fn deref(&self) -> &Value {
        match &self.0 {
            Kind::Made(value) => value,
            Kind::Later(later) => later,
        }
    }
}

impl PartialEq for Data {
    fn eq(&self, other: &Data) -> bool {
        **self == **other
    }
}

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn it_is_made_once_and_only_for_who_looks() {
        let asked = Arc::new(AtomicU32::new(0));
        let times = asked.clone();
        let data = Data::later(move || {
            times.fetch_add(1, Ordering::Relaxed);
            json!({"a": 1})
        });
        let copy = data.clone();
        assert_eq!(asked.load(Ordering::Relaxed), 0);
        assert_eq!(data["a"], 1);
        assert_eq!(copy, Data::from(json!({"a": 1})));
        assert_eq!(Value::from(copy), json!({"a": 1}));
        assert_eq!(asked.load(Ordering::Relaxed), 1);
    }
}
