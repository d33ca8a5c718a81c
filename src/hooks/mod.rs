//! Hooks: what of the user's own runs when something happens to a call or to the session.
//!
//! Configuration as users have it in `settings.json` becomes [`Hooks`]; [`run`] starts
//! every handler that it is given as an actor of its own; [`combine_pre`] and its like
//! make one outcome of what they said, whatever the order in which they ended.

mod combine;
mod condition;
mod config;
mod event;
mod handler;
mod input;
mod judge;
mod matcher;
mod output;
mod run;

pub use combine::{
    PermissionRequestOutcome, PostOutcome, PreOutcome, SessionOutcome, combine_post, combine_pre,
    combine_request, combine_session,
};
pub use condition::Condition;
pub use config::Hooks;
pub use event::HookEvent;
pub use handler::{Handler, What};
pub use input::{HookInput, ToolFacts, result_facts, stdin};
pub use judge::{HookRun, Verdict};
pub use matcher::Matcher;
pub use output::Output;
pub use run::{HookCx, LacksProgram, Occasion, ScriptedHook, run};
