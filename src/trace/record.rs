//! The events of a run, as they are collected and as they are kept.

use super::{Event, Level, Line, RunFinished, RunStarted, hash};

/// The events of one call (or of one turn of the agent itself), in the order in which
/// they happened.
///
/// Calls that run side by side each fill their own; the driver hands them on in the
/// order of the calls, so the order of the trace does not depend on the schedule.
#[derive(Debug, Default)]
pub struct Buffer {
    events: Vec<(u64, Event)>,
}

impl Buffer {
    pub fn new() -> Buffer {
        Buffer::default()
    }

    /// Notes what happened at `at_ms`, in virtual milliseconds.
    pub fn push(&mut self, at_ms: u64, event: Event) {
        self.events.push((at_ms, event));
    }

    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The events so far with their times.
    pub fn events(&self) -> &[(u64, Event)] {
        &self.events
    }
}

/// Collects events in canonical order and numbers them.
///
/// Nothing is serialised before a trace is written or hashed.
#[derive(Debug, Default)]
pub struct TraceBuilder {
    lines: Vec<Line>,
}

impl TraceBuilder {
    pub fn new() -> TraceBuilder {
        TraceBuilder::default()
    }

    /// Puts an event after all others.
    pub fn push(&mut self, at_ms: u64, event: Event) {
        self.lines.push(Line {
            seq: self.lines.len() as u64,
            at: at_ms,
            event,
        });
    }

    /// Puts the events of `buffer` after all others.
    pub fn append(&mut self, buffer: Buffer) {
        self.lines.reserve(buffer.events.len());
        for (at_ms, event) in buffer.events {
            self.push(at_ms, event);
        }
    }

    /// The lines so far.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The outcome hash of the lines so far and a world, for `run_finished`.
    pub fn outcome_hash(&self, world_hash: &str) -> String {
        hash::outcome_hash(&self.lines, world_hash)
    }

    pub fn finish(self) -> Trace {
        Trace { lines: self.lines }
    }
}

/// The events of one run, in canonical order.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    pub lines: Vec<Line>,
}

impl Trace {
    /// The lines that appear at `level`; they keep their `seq`.
    pub fn at_level(&self, level: Level) -> impl Iterator<Item = &Line> {
        self.lines
            .iter()
            .filter(move |line| line.event.level() <= level)
    }

    /// Every event, in canonical order.
    pub fn events(&self) -> impl DoubleEndedIterator<Item = &Event> {
        self.lines.iter().map(|line| &line.event)
    }

    /// The events of the call with this id, from its `call` to its `result`.
    pub fn of_call<'a>(&'a self, call: &'a str) -> impl Iterator<Item = &'a Event> {
        self.events()
            .filter(move |event| event.call() == Some(call))
    }

    /// How the run began, if that line is there.
    pub fn started(&self) -> Option<&RunStarted> {
        self.events().find_map(|event| match event {
            Event::RunStarted(started) => Some(&**started),
            _ => None,
        })
    }

    /// How the run ended; `None` if the trace was cut.
    pub fn finished(&self) -> Option<&RunFinished> {
        self.events().rev().find_map(|event| match event {
            Event::RunFinished(finished) => Some(finished),
            _ => None,
        })
    }

    /// The hash of all lines, without `rehearsal`, `seed` and `schedule` of `run_started`:
    /// 16 hexadecimal digits.
    pub fn trace_hash(&self) -> String {
        hash::trace_hash(&self.lines)
    }

    /// The hash of what came of every call and of the world, whenever it came:
    /// 16 hexadecimal digits.
    ///
    /// Counted are call, class, flags and content of each result, every field of each
    /// decision, and the world's hash; nothing else is.
    pub fn outcome_hash(&self) -> String {
        let world_hash = self.finished().map_or("", |finished| &finished.world_hash);
        hash::outcome_hash(&self.lines, world_hash)
    }
}
