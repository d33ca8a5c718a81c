//! Recordings through the runtime: every recorded call goes through all seven steps on
//! a world made from the lines before it, and what comes of it is held against what
//! the recording says.
//!
//! The file tools run; every other tool is served from the recording at step 6. After
//! each call the world is as the recording says, whatever the replay made of it. No
//! change of the world is inferred from the call that is being judged.

mod canvas;
mod ground;
mod judge;
mod report;
mod seen;
mod served;
mod session;
mod stage;
mod verdict;

pub use report::{RecordingReport, Summary, Unreadable, recording_files, replay_file};
pub use session::{Assumed, ReplayOptions, Replayed, mode_of, replay, world_input};
pub use verdict::{Cause, Count, Counts, Divergence, Tally, Verdict};
