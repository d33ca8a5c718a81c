//! Step 1: which tool is meant.

use super::{Carried, Desk, Finished, Stopped};
use crate::tools::{Entry, Outcome};
use crate::words::{Class, Step};
use std::sync::Arc;

/// A call as the model asked for it.
pub struct Requested {
    carried: Box<Carried>,
}

/// A call whose tool is known.
pub struct Found {
    pub(super) carried: Box<Carried>,
    pub(super) entry: Arc<Entry>,
    _made_here: (),
}

impl Requested {
    pub fn new(carried: Carried) -> Requested {
        // It is handed from step to step: in a box, that copies nothing.
        Requested {
            carried: Box::new(carried),
        }
    }
}

impl Found {
    /// The same call with another input, back before step 2.
    pub(super) fn rewritten(carried: Box<Carried>, entry: Arc<Entry>) -> Found {
        Found {
            carried,
            entry,
            _made_here: (),
        }
    }
}

/// Finds the tool by its exact name, by an alias, or by its name as an MCP tool of a
/// connected server; otherwise the call ends as `unknown_tool`.
pub async fn step(requested: Requested, desk: &Desk) -> Result<Found, Stopped> {
    let carried = requested.carried;
    carried.reach(Step::Lookup).await;
    let began = carried.now_ms();
    match desk.pool.lookup(&carried.tool_name) {
        Ok(entry) => {
            carried.passed(Step::Lookup, began, 0);
            carried.leave(Step::Lookup, desk).await;
            Ok(Found {
                carried,
                entry,
                _made_here: (),
            })
        }
        Err(unknown) => {
            let outcome = Outcome::error(Class::UnknownTool, unknown.to_string());
            Err(Finished::stop(carried, Step::Lookup, outcome, began))
        }
    }
}
