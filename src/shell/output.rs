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

    /// Says what both streams hold at the end. Of either, what is longer counts: some
    /// output is told only at the end, and what a command had printed when a
    /// `timeout` within the script stopped it only before. If it was not all told bit by
    /// bit, the order of the whole is not known: stdout comes first.
    pub fn complete(&self, stdout: Vec<u8>, stderr: Vec<u8>) {
        let mut streams = self.locked();
        let mut in_order = true;
        let streams = &mut *streams;
        for (told, at_end) in [(&mut streams.stdout, stdout), (&mut streams.stderr, stderr)] {
            if *told != at_end && told.len() <= at_end.len() {
                *told = at_end;
                in_order = false;
            }
        }
        if !in_order {
            streams.merged = [streams.stdout.as_slice(), &streams.stderr].concat();
        }
    }

    /// Both streams as one, so far.
    #[cfg(any(test, feature = "bash"))]
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

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(told: &[(&str, &str)], stdout: &str, stderr: &str) -> String {
        let out = Printed::default();
        for (stdout, stderr) in told {
            out.print(stdout.as_bytes(), stderr.as_bytes());
        }
        out.complete(stdout.into(), stderr.into());
        String::from_utf8_lossy(&out.so_far()).into_owned()
    }

    #[test]
    fn the_order_is_kept_where_it_is_known() {
        assert_eq!(merged(&[("a", ""), ("", "b"), ("c", "")], "ac", "b"), "abc");
        // Told only at the end.
        assert_eq!(merged(&[("a", ""), ("", "b")], "ac", "b"), "acb");
        assert_eq!(merged(&[], "a", "b"), "ab");
        // Told only before the end.
        assert_eq!(merged(&[("a", "b"), ("c", "")], "c", "b"), "abc");
    }
}
