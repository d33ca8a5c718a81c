//! Bytes become lines: a message is one.

/// Collects bytes until a line is whole.
#[derive(Debug, Default)]
pub(super) struct Lines {
    rest: Vec<u8>,
}

impl Lines {
    /// The lines that `bytes` complete, without their ends; empty ones are left out.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        let mut pieces = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            self.rest.extend_from_slice(piece);
            if pieces.peek().is_none() {
                break;
            }
            let mut line = std::mem::take(&mut self.rest);
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            if !line.is_empty() {
                lines.push(line);
            }
        }
        lines
    }
}
