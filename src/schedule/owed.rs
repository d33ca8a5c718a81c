//! One promise a `tool_use`: a result goes back, whatever becomes of the call.

use crate::pipeline::Finished;
use crate::words::CallId;

/// The promise of one result. The driver holds it from the moment the model asked;
/// only [`Owed::pay`] ends it, and that takes the result.
#[must_use = "every tool_use is owed exactly one result"]
#[derive(Debug)]
pub struct Owed(CallId);

/// A result that was owed, paid.
#[derive(Debug)]
pub struct Paid {
    pub call: CallId,
    pub finished: Finished,
}

impl Owed {
    pub fn new(call: CallId) -> Owed {
        Owed(call)
    }

    pub fn call(&self) -> &CallId {
        &self.0
    }

    /// Pays with `finished`.
    pub fn pay(self, finished: Finished) -> Paid {
        Paid {
            call: self.0,
            finished,
        }
    }
}
