//! The end of a call.

use super::{Carried, Times};
use crate::tools::{Outcome, ResultContent};
use crate::trace::Verdict;
use crate::wire::Content;
use crate::words::{Class, Step};

/// How a call ended, whichever step it was in.
#[derive(Debug, Clone)]
pub struct Finished {
    pub outcome: Outcome,
    /// Where it ended; `post_hook` for one that passed all seven.
    pub step: Step,
    /// Size of the full content, in the profile's unit.
    pub full_chars: u64,
    /// Where the full content lies, if the conversation has only its beginning.
    pub saved_to: Option<String>,
    pub times: Times,
    /// What hooks add for the model beside the result.
    pub contexts: Vec<String>,
    /// A hook said that the agent must stop, and why.
    pub stop_agent: Option<String>,
    /// The scenario lacks something without which this outcome means nothing.
    pub complaint: Option<String>,
}

/// A call that a step stopped.
pub type Stopped = Box<Finished>;

impl Finished {
    /// The end of a call that never came so far, or was cut off: `class` and a text for
    /// the model.
    pub fn cut_off(step: Step, class: Class, text: &str, times: Times) -> Finished {
        Finished {
            outcome: Outcome::error(class, text),
            step,
            full_chars: 0,
            saved_to: None,
            times,
            contexts: Vec::new(),
            stop_agent: None,
            complaint: None,
        }
    }

    /// Takes the content out, as it goes to the model.
    pub fn take_content(&mut self) -> Content {
        let taken = ResultContent::Text(String::new());
        std::mem::replace(&mut self.outcome.content, taken).into()
    }

    /// Stops a call in `step`, begun at `began_ms`, and logs why.
    pub(super) fn stop(
        carried: Box<Carried>,
        step: Step,
        outcome: Outcome,
        began_ms: u64,
    ) -> Stopped {
        let detail = first_line(&outcome.text());
        carried.step(
            step,
            Verdict::Stop,
            Some(outcome.class),
            Some(detail),
            began_ms,
            0,
        );
        let Carried {
            times,
            contexts,
            stop_agent,
            ..
        } = *carried;
        Box::new(Finished {
            complaint: outcome.complaint.clone(),
            outcome,
            step,
            full_chars: 0,
            saved_to: None,
            times,
            contexts,
            stop_agent,
        })
    }
}

/// The first line of `text`, for a detail: at most 160 characters.
pub(super) fn first_line(text: &str) -> String {
    const DETAIL_CHARS: usize = 160;
    text.lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(DETAIL_CHARS)
        .collect()
}
