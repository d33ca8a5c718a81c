//! What would be decided about a call, and why, without anything being run: for one call
//! ([`explain`]), and for every call of a recording under other settings ([`over`]).
//!
//! [`court`] lets the five layers of [`crate::permission`] decide; nothing here decides
//! anything itself. What would have to change for another decision is found by changing
//! it and asking again ([`change`]).

mod change;
mod court;
mod old;
mod over;
mod question;
mod ruling;
mod table;
mod used;

pub use change::Change;
pub use old::Old;
pub use over::{CallLine, New, OverOptions, Overview, over};
pub use question::{Explanation, Question, Unanswered, UserSays, explain};
pub use ruling::{LayerLine, Ruling};
pub use table::{overview_text, text};
pub use used::RuleUse;
