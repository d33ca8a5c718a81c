//! What the requests of a run cost in tokens, and what they would have cost if every tool
//! had been sent in full: an estimate, turn by turn.
//!
//! Without deferral there is no search: its calls and results are not in the conversation,
//! and a turn that does nothing but search does not happen.

use crate::trace::{Event, PoolTokens, Response, Trace};
use crate::wire::{Block, Message, estimate_message_tokens, estimate_tokens};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

/// The tool whose calls there are only because of deferral.
const SEARCH: &str = "ToolSearch";

/// One request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Turn {
    pub turn: u32,
    /// Estimated tokens of the request as it was.
    #[serde(rename = "with_deferral")]
    pub with: u64,
    /// Of the request as it would have been; none if there had been no need of it.
    #[serde(rename = "without_deferral")]
    pub without: Option<u64>,
}

/// All requests of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tokens {
    pub turns: Vec<Turn>,
    #[serde(rename = "with_deferral")]
    pub with: u64,
    #[serde(rename = "without_deferral")]
    pub without: u64,
    /// Of what it would have cost, in whole percent; negative if it cost more.
    pub saved_percent: i64,
}

/// The tokens of a run; `None` if its trace does not tell what its tools cost.
pub fn tokens(trace: &Trace) -> Option<Tokens> {
    let pool = trace.events().find_map(|event| match event {
        Event::Pool(pool) => pool.tokens,
        _ => None,
    })?;
    let mut ledger = Ledger {
        pool,
        searches: BTreeSet::new(),
        searched: 0,
        turns: Vec::new(),
    };
    for event in trace.events() {
        match event {
            Event::Request(request) => {
                for message in &request.appended {
                    ledger.heard(message);
                }
                let with = request.tokens_estimate;
                let more = ledger.pool.deferred;
                let less = ledger.pool.listing + request.loaded_tokens + ledger.searched;
                ledger.turns.push(Turn {
                    turn: request.turn,
                    with,
                    without: Some((with + more).saturating_sub(less)),
                });
            }
            Event::Response(response) => ledger.answered(response),
            _ => {}
        }
    }
    let with: u64 = ledger.turns.iter().map(|turn| turn.with).sum();
    let without: u64 = ledger.turns.iter().filter_map(|turn| turn.without).sum();
    let saved = i128::from(without) - i128::from(with);
    let percent = saved * 100 / i128::from(without.max(1));
    Some(Tokens {
        turns: ledger.turns,
        with,
        without,
        saved_percent: i64::try_from(percent).unwrap_or_default(),
    })
}

struct Ledger {
    pool: PoolTokens,
    /// The ids of the calls that only searched.
    searches: BTreeSet<Arc<str>>,
    /// What they and their results cost in each request since.
    searched: u64,
    turns: Vec<Turn>,
}

impl Ledger {
    /// What a response holds of searches; one that holds nothing else takes its turn with it.
    fn answered(&mut self, response: &Response) {
        let calls: Vec<_> = response
            .content
            .iter()
            .filter_map(Block::as_tool_use)
            .collect();
        let searches = calls.iter().filter(|call| &*call.name == SEARCH);
        let searches: Vec<Arc<str>> = searches.map(|call| call.id.clone()).collect();
        if !searches.is_empty()
            && searches.len() == calls.len()
            && let Some(turn) = self.turns.last_mut()
        {
            turn.without = None;
        }
        self.searches.extend(searches);
    }

    /// What a message of the conversation holds of searches: all of it, if it holds
    /// nothing else.
    fn heard(&mut self, message: &Message) {
        let of_search = |block: &&Block| {
            let id = match (block.as_tool_use(), block.as_tool_result()) {
                (Some(call), _) => &call.id,
                (_, Some(result)) => &result.tool_use_id,
                _ => return false,
            };
            self.searches.contains(id)
        };
        let of_calls =
            |block: &&Block| block.as_tool_use().is_some() || block.as_tool_result().is_some();
        let mine: u64 = message
            .content
            .iter()
            .filter(of_search)
            .map(|block| estimate_tokens(block.raw().get()))
            .sum();
        let any = message.content.iter().any(|block| of_search(&block));
        let only = message
            .content
            .iter()
            .filter(of_calls)
            .all(|block| of_search(&block));
        self.searched += match any && only {
            true => estimate_message_tokens(message),
            false => mine,
        };
    }
}

/// The table that `show --tokens` prints.
pub fn table(tokens: &Tokens) -> String {
    let mut text = String::from("turn  with deferral  without\n");
    let shown = |without: Option<u64>| without.map_or("-".to_owned(), |n| n.to_string());
    for turn in &tokens.turns {
        let _ = writeln!(
            text,
            "{:>4}  {:>13}  {:>7}",
            turn.turn,
            turn.with,
            shown(turn.without)
        );
    }
    let _ = writeln!(
        text,
        " all  {:>13}  {:>7}  saved {} %",
        tokens.with, tokens.without, tokens.saved_percent
    );
    text
}
