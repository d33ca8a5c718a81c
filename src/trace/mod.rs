//! What a run leaves behind: every step of every call, in canonical order.

mod diff;
mod event;
mod file;
mod record;

pub use diff::{Divergence, first_divergence};
pub use event::*;
pub use file::{ReadTrace, TraceFileError, read_trace, write_trace};
pub use record::{Trace, TraceBuilder};
