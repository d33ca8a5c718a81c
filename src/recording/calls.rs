//! Pairs the calls of a recording with their results, in whatever order they stand.

use super::line::Block;
use super::note::{Notes, RepairKind};
use super::raw::Raw;
use super::recorded::{RecordedCall, RecordedResult};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The input of a call that has none.
const NO_INPUT: Raw<'static> = Raw::new("{}");

/// What a call or a result has from the entry it stands in.
#[derive(Debug, Clone, Default)]
pub(super) struct Place<'a> {
    pub line: u32,
    pub uuid: Option<Cow<'a, str>>,
    pub message_id: Option<Cow<'a, str>>,
    pub agent: Option<Cow<'a, str>>,
    pub version: Option<Cow<'a, str>>,
    pub cwd: Option<Cow<'a, str>>,
    pub mode: Option<Cow<'a, str>>,
    /// The entry that a result says it answers.
    pub answers: Option<Cow<'a, str>>,
    pub structured: Option<Raw<'a>>,
    pub denial: Option<Cow<'a, str>>,
}

/// Calls so far, and results that wait for theirs.
#[derive(Debug, Default)]
pub(super) struct CallTable<'a> {
    calls: Vec<RecordedCall<'a>>,
    by_id: BTreeMap<Cow<'a, str>, usize>,
    /// Calls without an id, with the entry they stand in.
    without_id: Vec<(Option<Cow<'a, str>>, usize)>,
    waiting: BTreeMap<Cow<'a, str>, RecordedResult<'a>>,
    /// Of each message with calls: its batch and how many calls it has so far.
    batches: BTreeMap<Cow<'a, str>, (u32, u32)>,
    last_batch: u32,
    completed: u32,
    /// Blocks seen, repeated ones too.
    pub seen_calls: u32,
    pub seen_results: u32,
}

impl<'a> CallTable<'a> {
    /// Takes a `tool_use` block. A message without an id is the entry it stands in.
    pub fn call(&mut self, block: Block<'a>, place: &Place<'a>, notes: &mut Notes) {
        self.seen_calls += 1;
        let input = block.input.unwrap_or(NO_INPUT);
        if let Some(id) = &block.id.0
            && let Some(known) = self.by_id.get(id).and_then(|at| self.calls.get(*at))
        {
            let with = if known.input.get() == input.get() {
                "with the same input"
            } else {
                "with another input, which is left aside"
            };
            notes.repair(
                place.line,
                RepairKind::RepeatedCall,
                format!("call {} of line {} again, {with}", known.number, known.line),
            );
            return;
        }
        let (batch, order) = self.place_in_batch(place);
        let at = self.calls.len();
        let id = match block.id.0 {
            Some(id) => {
                self.by_id.insert(id.clone(), at);
                id
            }
            None => {
                self.without_id.push((place.uuid.clone(), at));
                Cow::Owned(format!("{}:{}", place.line, at + 1))
            }
        };
        let result = self.waiting.remove(&id);
        if let Some(result) = &result {
            notes.repair(
                place.line,
                RepairKind::ResultFirst,
                format!("the result of this call stands on line {}", result.line),
            );
        }
        self.calls.push(RecordedCall {
            number: at as u32 + 1,
            id,
            tool: block.name.0.unwrap_or_default(),
            input,
            line: place.line,
            batch,
            message_id: place.message_id.clone(),
            order,
            agent: place.agent.clone(),
            version: place.version.clone(),
            cwd: place.cwd.clone(),
            mode: place.mode.clone(),
            result,
        });
    }

    fn place_in_batch(&mut self, place: &Place<'a>) -> (u32, u32) {
        let key = match (&place.message_id, &place.uuid) {
            (Some(id), _) => id.clone(),
            _ => Cow::Owned(format!("line {}", place.line)),
        };
        let last = &mut self.last_batch;
        let (batch, calls) = self.batches.entry(key).or_insert_with(|| {
            *last += 1;
            (*last, 0)
        });
        *calls += 1;
        (*batch, *calls - 1)
    }

    /// Takes a `tool_result` block.
    pub fn result(&mut self, block: Block<'a>, place: &Place<'a>, notes: &mut Notes) {
        self.seen_results += 1;
        let result = RecordedResult {
            is_error: block.is_error.0,
            content: block.content,
            structured: place.structured,
            denial: place.denial.clone(),
            line: place.line,
            completed: self.completed + 1,
        };
        let at = match &block.tool_use_id.0 {
            Some(id) => match self.by_id.get(id) {
                Some(at) => *at,
                None if self.waiting.contains_key(id) => {
                    notes.repair(
                        place.line,
                        RepairKind::SecondResult,
                        "a second result for a call that has not come yet",
                    );
                    return;
                }
                None => {
                    self.completed += 1;
                    self.waiting.insert(id.clone(), result);
                    return;
                }
            },
            None => match self.by_place(place) {
                Some(at) => {
                    notes.repair(
                        place.line,
                        RepairKind::PairedByPlace,
                        format!("a result without an id, given to call {}", at + 1),
                    );
                    at
                }
                None => {
                    notes.repair(
                        place.line,
                        RepairKind::ResultWithoutCall,
                        "a result without an id, and no call it could answer",
                    );
                    return;
                }
            },
        };
        let Some(call) = self.calls.get_mut(at) else {
            return;
        };
        if let Some(first) = &call.result {
            let same = first.content.map(Raw::get) == result.content.map(Raw::get);
            notes.repair(
                place.line,
                RepairKind::SecondResult,
                format!(
                    "call {} has its result on line {}; this one, {}, is left aside",
                    call.number,
                    first.line,
                    if same { "the same" } else { "another" }
                ),
            );
            return;
        }
        self.completed += 1;
        call.result = Some(result);
    }

    /// The call without an id that a result without one can only be about: one of the
    /// entry it answers, else the last that has no result yet.
    fn by_place(&self, place: &Place<'a>) -> Option<usize> {
        let open = |at: &usize| {
            self.calls
                .get(*at)
                .is_some_and(|call| call.result.is_none())
        };
        let of_entry = |open_only: bool| {
            self.without_id
                .iter()
                .filter(|(uuid, _)| place.answers.is_some() && *uuid == place.answers)
                .map(|(_, at)| *at)
                .find(|at| !open_only || open(at))
        };
        of_entry(true).or_else(|| of_entry(false)).or_else(|| {
            let last = self.without_id.iter().rev().map(|(_, at)| *at);
            last.into_iter().find(open)
        })
    }

    /// Marks the calls that a run's closing report calls denied.
    pub fn denied(&mut self, id: &str, word: &'static str) {
        if let Some(call) = self.by_id.get(id).and_then(|at| self.calls.get_mut(*at))
            && let Some(result) = &mut call.result
            && result.denial.is_none()
        {
            result.denial = Some(Cow::Borrowed(word));
        }
    }

    /// The calls, when the file is read to its end.
    pub fn finish(self, notes: &mut Notes) -> Vec<RecordedCall<'a>> {
        for result in self.waiting.values() {
            notes.repair(
                result.line,
                RepairKind::ResultWithoutCall,
                "a result whose call is not in the file",
            );
        }
        self.calls
    }
}
