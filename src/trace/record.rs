//! Skeleton.
use super::{Event, Line};
/// The events of one run, in canonical order.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    pub lines: Vec<Line>,
}
/// Collects events in canonical order and numbers them.
#[derive(Debug, Default)]
pub struct TraceBuilder {
    lines: Vec<Line>,
}
impl TraceBuilder {
    pub fn push(&mut self, at_ms: u64, event: Event) {
        self.lines.push(Line {
            seq: self.lines.len() as u64,
            at: at_ms,
            event,
        });
    }
    pub fn finish(self) -> Trace {
        Trace { lines: self.lines }
    }
}
