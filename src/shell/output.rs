//! What a command has printed, while it runs and at its end.

use super::Ran;
use std::sync::{Arc, Mutex};

/// Both streams of a command and their common order. A clone is the same streams.
#[derive(Clone, Default)]
pub(super) struct Printed(Arc<Mutex<Streams>>);

#[derive(Default)]
struct Streams {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    merged: Vec<u8>,
}

impl Printed {
    fn locked(&self) -> std::sync::MutexGuard<'_, Streams> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Adds what was printed next.
    pub fn print(&self, stdout: &[u8], stderr: &[u8]) {
        let mut streams = self.locked();
        streams.stdout.extend_from_slice(stdout);
        streams.stderr.extend_from_slice(stderr);
        streams.merged.extend_from_slice(stdout);
        streams.merged.extend_from_slice(stderr);
    }

    /// Says what both streams hold at the end. Where that is not what was printed
    /// bit by bit, the order of the whole is not known: stdout comes first.
    pub fn complete(&self, stdout: Vec<u8>, stderr: Vec<u8>) {
        let mut streams = self.locked();
        if streams.stdout != stdout || streams.stderr != stderr {
            streams.merged = [stdout.as_slice(), stderr.as_slice()].concat();
            streams.stdout = stdout;
            streams.stderr = stderr;
        }
    }

    /// Both streams as one, so far.
    pub fn so_far(&self) -> Vec<u8> {
        self.locked().merged.clone()
    }

    /// The end of a command that printed this.
    pub fn exited(&self, code: i32, cwd: String) -> Ran {
        let streams = std::mem::take(&mut *self.locked());
        Ran::Exited {
            code,
            stdout: streams.stdout,
            stderr: streams.stderr,
            merged: streams.merged,
            cwd,
        }
    }
}
