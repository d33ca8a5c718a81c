//! Tools whose schema the vendor publishes and the user runs (`protocol.md §7`): a
//! request names their type, the model knows their input by heart, and what they do is
//! done here.

mod bash;
mod file;
mod memory;
mod shown;
mod text_editor;

use super::Tool;
use std::sync::Arc;

/// The types that can be offered, each with what may be set of it.
pub const TYPES: [&str; 4] = [
    bash::TYPE,
    text_editor::TYPE_LATEST,
    text_editor::TYPE_BEFORE,
    memory::TYPE,
];

/// The tool of a type. `max_characters` is of `text_editor_20250728` alone: how much of a
/// file one view shows, in characters.
pub fn published(kind: &str, max_characters: Option<u64>) -> Option<Arc<dyn Tool>> {
    Some(match kind {
        bash::TYPE => Arc::new(bash::Bash),
        text_editor::TYPE_LATEST | text_editor::TYPE_BEFORE => {
            Arc::new(text_editor::TextEditor::new(kind, max_characters)?)
        }
        memory::TYPE => Arc::new(memory::Memory),
        _ => return None,
    })
}

/// Whether a type has a limit of characters.
pub fn has_max_characters(kind: &str) -> bool {
    kind == text_editor::TYPE_LATEST
}
