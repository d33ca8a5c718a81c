//! The life of one call: seven steps, in this order and no other.
//!
//! ```text
//! Requested ─lookup→ Found ─parse→ Parsed ─validate→ Valid ─pre_hook→ Hooked
//!           ─permission→ Permitted ─execute→ Executed ─post_hook→ Finished
//! ```
//!
//! The order is in the types: a step takes what only the step before it can make.
//! Input that is not valid therefore fires no hook and asks nobody, hooks see a call
//! before permission judges it, and nothing runs that was not permitted:
//!
//! ```
//! use rehearsal::pipeline::{Desk, Finished, Parsed, Stopped, pre_hook, validate};
//! async fn in_order(parsed: Parsed, desk: &Desk) -> Result<(), Stopped> {
//!     let valid = validate::step(parsed, desk).await?;
//!     pre_hook::step(valid, desk).await?;
//!     Ok(())
//! }
//! ```
//!
//! Its twin skips validation, and does not compile:
//!
//! ```compile_fail
//! use rehearsal::pipeline::{Desk, Finished, Parsed, Stopped, pre_hook, validate};
//! async fn in_order(parsed: Parsed, desk: &Desk) -> Result<(), Stopped> {
//!     let valid = parsed;
//!     pre_hook::step(valid, desk).await?;
//!     Ok(())
//! }
//! ```
//!
//! A step that stops a call makes a [`Finished`] with an error result. A panic, an
//! interrupt or a dropped future is not the pipeline's: the driver in
//! [`schedule`](crate::schedule) owes the result and pays it.

mod carried;
mod desk;
pub mod execute;
mod finished;
mod hook_desk;
pub mod lookup;
pub mod parse;
pub mod permission;
pub mod post_hook;
pub mod pre_hook;
mod result;
mod touch;
mod turnstile;
pub mod validate;

pub use carried::{CallLog, Carried, Times};
pub use desk::{Desk, Interrupt, outside_event};
pub use execute::Executed;
pub use finished::{Finished, Stopped};
pub use hook_desk::{HookDesk, HookEvents, batch_fact};
pub use lookup::{Found, Requested};
pub use parse::Parsed;
pub use permission::Permitted;
pub use pre_hook::Hooked;
pub use result::{Kept, keep};
pub use turnstile::{Known, Turnstile, Word};
pub use validate::Valid;

/// Steps 1 and 2: what the scheduler must know before it can place the call.
pub async fn prepare(requested: Requested, desk: &Desk) -> Result<Parsed, Stopped> {
    let found = lookup::step(requested, desk).await?;
    parse::step(found, desk).await
}

/// Steps 3 to 7.
pub async fn perform(parsed: Parsed, desk: &Desk) -> Finished {
    match steps(parsed, desk).await {
        Ok(finished) => finished,
        Err(stopped) => *stopped,
    }
}

async fn steps(parsed: Parsed, desk: &Desk) -> Result<Finished, Stopped> {
    let valid = validate::step(parsed, desk).await?;
    let hooked = pre_hook::step(valid, desk).await?;
    let permitted = permission::step(hooked, desk).await?;
    let executed = execute::step(permitted, desk).await?;
    Ok(post_hook::step(executed, desk).await)
}
