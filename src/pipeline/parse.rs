//! Step 2: what the model wrote becomes an input that the tool's schema accepts.

use super::{Carried, Desk, Finished, Found, Known, Stopped};
use crate::permission::Judged;
use crate::profile::UnloadedCall;
use crate::tools::{Entry, Outcome, Tool};
use crate::words::{Class, Flag, Step};
use serde_json::Value;
use std::sync::Arc;

/// How much of an input that does not parse is quoted back, in bytes.
const QUOTED_BYTES: usize = 200;

/// A call whose input fits its tool's schema.
pub struct Parsed {
    pub(super) carried: Box<Carried>,
    pub(super) entry: Arc<Entry>,
    pub(super) input: Value,
    /// Remarks that the outcome will bear.
    pub(super) flags: Vec<Flag>,
    _made_here: (),
}

impl Parsed {
    /// Whether the call may run beside others.
    pub fn is_safe(&self) -> bool {
        self.entry
            .tool()
            .is_concurrency_safe(&self.carried.cx, &self.input)
    }

    /// What the call touches with the input it has now.
    pub fn known(&self) -> Known {
        super::validate::known(&self.carried, &self.entry, &self.input)
    }

    /// Whether the call will be decided about without asking anybody, unless a hook has a
    /// say.
    pub async fn is_settled(&self, desk: &Desk) -> bool {
        let judged = Judged {
            cx: &self.carried.cx,
            tool: self.entry.tool(),
            input: &self.input,
            hook: None,
            deputy: None,
            granted_by_user: false,
        };
        desk.permissions.is_settled(&judged).await
    }

    pub fn tool(&self) -> &dyn Tool {
        self.entry.tool()
    }

    pub fn carried(&self) -> &Carried {
        &self.carried
    }

    pub fn input(&self) -> &Value {
        &self.input
    }

    /// Says how long the call stood in line for its slot.
    pub fn got_slot(&mut self, now_ms: u64) {
        self.carried.times.queued_ms = now_ms - self.carried.asked_ms;
    }
}

/// Parses the input's JSON and checks it against the schema, with every complaint at
/// once; a failure goes back to the model before any hook or prompt.
pub async fn step(found: Found, desk: &Desk) -> Result<Parsed, Stopped> {
    let Found { carried, entry, .. } = found;
    carried.reach(Step::Parse).await;
    let began = carried.now_ms();
    let value = match serde_json::from_str::<Value>(&carried.raw_input) {
        // Some clients begin an input as null and leave it at that (`B171`).
        Ok(Value::Null) => Value::Object(serde_json::Map::new()),
        Ok(value) => value,
        Err(error) => {
            let outcome = unparsable(&carried, &error);
            return Err(Finished::stop(carried, Step::Parse, outcome, began));
        }
    };
    let is_unloaded = entry.is_deferred() && !desk.env.session.is_loaded(entry.name());
    if is_unloaded && desk.env.profile.unloaded_call == UnloadedCall::Refuse {
        let outcome = Outcome::error(Class::InvalidInput, unloaded(entry.name()));
        return Err(Finished::stop(carried, Step::Parse, outcome, began));
    }
    match entry.check(value, &desk.env.profile) {
        Ok(checked) => {
            carried.passed(Step::Parse, began, 0);
            carried.leave(Step::Parse, desk).await;
            let flags = if checked.coerced {
                vec![Flag::Coerced]
            } else {
                Vec::new()
            };
            Ok(Parsed {
                carried,
                entry,
                input: checked.input,
                flags,
                _made_here: (),
            })
        }
        Err(complaints) => {
            let mut text = complaints.to_string();
            if is_unloaded {
                // The model has guessed, and need not do so again.
                text = format!("{text}\nThe tool was not loaded.\n{}", entry.usage());
            }
            let outcome = Outcome::error(Class::InvalidInput, text);
            Err(Finished::stop(carried, Step::Parse, outcome, began))
        }
    }
}

/// For a call of a tool of which the model has seen the name and no more.
fn unloaded(name: &str) -> String {
    format!(
        "{name} is listed by its name only, and nothing of it has been loaded since the user last \
         spoke. Load it with ToolSearch and the query \"select:{name}\", then call it."
    )
}

/// The outcome for an input that is not JSON, its first bytes quoted.
fn unparsable(carried: &Carried, error: &serde_json::Error) -> Outcome {
    let raw = &carried.raw_input;
    let mut end = raw.len().min(QUOTED_BYTES);
    while !raw.is_char_boundary(end) {
        end -= 1;
    }
    let text = format!(
        "the input of {} is not JSON ({error}). The first {end} of {} bytes received: {}. \
         Send the call again with one complete JSON object as its input.",
        carried.tool_name,
        raw.len(),
        &raw[..end],
    );
    Outcome::error(Class::UnparsableInput, text)
}
