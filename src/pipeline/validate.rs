//! Step 3: what the tool itself demands of an input, beyond its schema.

use super::{Carried, Desk, Finished, Known, Parsed, Stopped};
use crate::tools::{Entry, Outcome};
use crate::words::{Flag, Step};
use serde_json::Value;
use std::sync::Arc;

/// A call whose input its tool accepts.
pub struct Valid {
    pub(super) carried: Box<Carried>,
    pub(super) entry: Arc<Entry>,
    pub(super) input: Value,
    pub(super) flags: Vec<Flag>,
    _made_here: (),
}

impl Valid {
    /// A call that has been valid and is about to be checked again.
    pub(super) fn back(
        carried: Box<Carried>,
        entry: Arc<Entry>,
        input: Value,
        flags: Vec<Flag>,
    ) -> Valid {
        Valid {
            carried,
            entry,
            input,
            flags,
            _made_here: (),
        }
    }
}

/// Asks the tool; a refusal goes back to the model before any hook or prompt.
pub async fn step(parsed: Parsed, desk: &Desk) -> Result<Valid, Stopped> {
    let Parsed {
        mut carried,
        entry,
        input,
        flags,
        ..
    } = parsed;
    carried.footprint = Some(entry.tool().footprint(&carried.cx, &input));
    carried.reach(Step::Validate).await;
    let began = carried.now_ms();
    if let Err(refusal) = entry.tool().validate_input(&input, &carried.cx).await {
        let outcome = Outcome::error(refusal.class, refusal.text);
        return Err(Finished::stop(carried, Step::Validate, outcome, began));
    }
    carried.passed(Step::Validate, began, carried.times.queued_ms);
    carried.leave(Step::Validate, desk).await;
    Ok(Valid {
        carried,
        entry,
        input,
        flags,
        _made_here: (),
    })
}

/// Steps 2 and 3 again, for an input that somebody rewrote after them.
pub(super) async fn again(valid: Valid, input: &Value, desk: &Desk) -> Result<Valid, Stopped> {
    let Valid {
        mut carried, entry, ..
    } = valid;
    carried.raw_input = input.to_string().into();
    let parsed = super::parse::step(super::Found::rewritten(carried, entry), desk).await?;
    wait_for_others(&parsed.carried, &parsed.entry, &parsed.input).await;
    step(parsed, desk).await
}

/// What a call with this input touches.
pub(super) fn known(carried: &Carried, entry: &Entry, input: &Value) -> Known {
    let tool = entry.tool();
    Known {
        safe: tool.is_concurrency_safe(&carried.cx, input),
        footprint: tool.footprint(&carried.cx, input),
    }
}

/// A call with an input that somebody rewrote, where nothing looks at that again.
pub(super) async fn unchecked(valid: Valid, input: Value) -> Valid {
    let Valid {
        mut carried,
        entry,
        flags,
        ..
    } = valid;
    carried.raw_input = input.to_string().into();
    wait_for_others(&carried, &entry, &input).await;
    carried.footprint = Some(entry.tool().footprint(&carried.cx, &input));
    Valid::back(carried, entry, input, flags)
}

/// What a rewritten call touches may conflict with what is in flight: it waits for that.
async fn wait_for_others(carried: &Carried, entry: &Entry, input: &Value) {
    if carried.turnstile.is_watched(carried.place) {
        let known = known(carried, entry, input);
        carried.turnstile.rewritten(carried.place, known).await;
    }
}
