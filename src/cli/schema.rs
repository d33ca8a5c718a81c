//! `rehearsal schema`.

use super::console::Console;
use super::exit::Exit;
use crate::scenario;

/// Prints the schema.
pub fn schema(console: &mut Console) -> Exit {
    let schema = scenario::schema();
    match serde_json::to_string_pretty(&schema) {
        Ok(text) if !console.json => console.line(&text),
        _ => console.json_line(&schema),
    }
    Exit::Same
}
