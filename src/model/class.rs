//! The outcome class that a result states, read as a model would read it.

use crate::wire::ToolResult;
use crate::words::Class;

/// What stands before the class in the text of every error result.
pub const ERROR_PREFIX: &str = "error: ";

/// The class that a result states: `ok` if it is no error, else the word after
/// [`ERROR_PREFIX`]; `None` if an error states none.
pub fn class_of_result(result: &ToolResult) -> Option<Class> {
    if !result.is_error {
        return Some(Class::Ok);
    }
    let text = result.content.text();
    // A saved result states its class after the notice about where it is.
    let at = if text.starts_with(ERROR_PREFIX) {
        0
    } else {
        text.find(&format!("\n{ERROR_PREFIX}"))? + 1
    };
    let word = text[at..].strip_prefix(ERROR_PREFIX)?.split(':').next()?;
    Class::from_word(word)
}
