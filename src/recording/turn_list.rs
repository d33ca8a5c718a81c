//! A viewer's export: JSONL, one turn of the user a line, with the agent's blocks and
//! each call's result inside the call.

use super::builder::Builder;
use super::calls::Place;
use super::format::Format;
use super::line::{Block, Line};
use super::lines;
use super::note::Notes;
use super::raw::{Bool, Object, Raw, Str, lenient_object};
use super::recorded::Recording;
use super::source::Source;
use std::borrow::Cow;

lenient_object! {
    /// A block of the agent's answer.
    TurnBlock {
        call: Object<TurnCall<'a>> = "tool_call",
    }
}

lenient_object! {
    /// A call with its result.
    TurnCall {
        name: Str<'a> = "name",
        input: Option<Raw<'a>> = "input",
        result: Option<Raw<'a>> = "result",
        is_error: Bool = "is_error",
    }
}

/// Reads a list of turns. Which calls shared a message is not in it: each is taken as
/// a message of its own.
pub(super) fn read<'a>(source: &'a Source<'_>) -> Recording<'a> {
    let mut builder = Builder::new(Format::TurnList);
    let mut notes = Notes::default();
    lines::each_object(
        &source.text,
        &mut notes,
        |number, line: Line, notes: &mut Notes| {
            if let Some(text) = line.user_text.and_then(Raw::as_text) {
                builder.prompt(number, text);
            }
            let blocks = line.blocks.and_then(Raw::read::<Vec<Object<TurnBlock>>>);
            let calls = blocks.unwrap_or_default().into_iter();
            let calls = calls.filter_map(|block| block.0?.call.0);
            for (order, call) in (0u32..).zip(calls) {
                let key: Cow<'_, str> = Cow::Owned(format!("turn {number} block {order}"));
                let place = Place {
                    line: number,
                    uuid: Some(key.clone()),
                    message_id: Some(key),
                    ..Place::default()
                };
                let result = call.result.map(|result| Block {
                    content: Some(result),
                    is_error: call.is_error,
                    ..Block::default()
                });
                let block = Block {
                    name: call.name,
                    input: call.input,
                    ..Block::default()
                };
                builder.call_with_result(&place, block, result, notes);
            }
        },
    );
    builder.finish(source, notes)
}
