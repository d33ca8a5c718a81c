//! Hooks: commands of the user's that see a call before it is judged and after it ran.
//!
//! Configuration as users have it in `settings.json` becomes [`Hooks`]; [`run`] starts
//! every matching handler as an actor of its own; [`combine_pre`] and [`combine_post`]
//! make one outcome of what they said, whatever the order in which they ended.

mod combine;
mod config;
mod input;
mod matcher;
mod output;
mod run;

pub use combine::{PostOutcome, PreOutcome, combine_post, combine_pre};
pub use config::{Handler, HookEvent, Hooks};
pub use input::{HookInput, stdin};
pub use matcher::Matcher;
pub use output::Output;
pub use run::{HookCx, HookRun, LacksProgram, POST_SUB, ScriptedHook, Verdict, run};
