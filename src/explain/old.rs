//! What a recording says was decided about a call.

use crate::recording::{RecordedCall, classify, tool_name};
use crate::words::{Behavior, Class, Layer};
use serde::Serialize;

/// What was decided when a call was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Old {
    /// `allow` or `deny`.
    pub behavior: Behavior,
    /// Who denied, as far as the result tells; of an allowed call nobody says.
    pub layer: Option<Layer>,
    pub class: Class,
}

impl Old {
    /// What the result of a call tells; the error says why it tells nothing.
    pub fn of(call: &RecordedCall<'_>) -> Result<Old, &'static str> {
        let Some(ending) = classify(call) else {
            return Err("no result");
        };
        let class = ending.class;
        let denied = |layer| {
            Ok(Old {
                behavior: Behavior::Deny,
                layer: Some(layer),
                class,
            })
        };
        match class {
            Class::DeniedRule => denied(Layer::Rule),
            Class::DeniedMode => denied(Layer::Mode),
            Class::DeniedHook => denied(Layer::Hook),
            Class::DeniedClassifier => denied(Layer::Classifier),
            Class::DeniedUser => denied(Layer::User),
            Class::UnknownTool | Class::UnparsableInput | Class::InvalidInput | Class::CutCall => {
                Err("ended before permission")
            }
            Class::NotRead | Class::Stale | Class::NoMatch | Class::Ambiguous | Class::NoChange => {
                Err("ended before permission")
            }
            Class::Exists | Class::NotFound if changes_files(&call.tool) => {
                Err("ended before permission")
            }
            Class::Interrupted | Class::CancelledSibling | Class::Deferred | Class::HookStopped => {
                Err("cut off, perhaps before permission")
            }
            _ => Ok(Old {
                behavior: Behavior::Allow,
                layer: None,
                class,
            }),
        }
    }
}

/// Tools that look at their file before they are permitted.
fn changes_files(tool: &str) -> bool {
    matches!(
        tool_name::canonical(tool),
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit"
    )
}
