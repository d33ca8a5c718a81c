//! Anything below as text for people and machines: pure functions.

mod describe;
pub mod run_line;
pub mod snapshot;
pub mod snapshot_file;
pub mod terminal;
pub mod tokens;
