//! What a run leaves behind: every step of every call, in canonical order.

mod blob;
mod diff;
mod event;
mod file;
mod hash;
mod line;
mod pen;
mod record;

pub use blob::Blobs;
pub use diff::{Divergence, first_divergence};
pub use event::*;
pub use file::{
    BLOB_FOLDER, FORMAT, ReadTrace, TraceFileError, Written, load_trace, read_trace, save_trace,
    write_trace,
};
pub use record::{Buffer, Trace, TraceBuilder};
