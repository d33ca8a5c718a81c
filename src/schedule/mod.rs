//! From a batch of calls to a batch of results: what may run together, and who owes
//! what to whom.

mod facts;
mod owed;
mod plan;
mod run;

pub use owed::{Owed, Paid};
pub use plan::{Facts, Plan};
pub use run::{Asked, Batch, Done, DoneCall, result_event};
