//! How a call ended, as a value: tool failures are not `Err`.

use super::Data;
use crate::wire::{Block, Content};
use crate::words::{Class, Flag};

/// What goes into the `content` of a `tool_result`.
#[derive(Debug, Clone, PartialEq)]
pub enum ResultContent {
    Text(String),
    Blocks(Vec<Block>),
}

impl From<ResultContent> for Content {
    fn from(content: ResultContent) -> Content {
        match content {
            ResultContent::Text(text) => text.into(),
            ResultContent::Blocks(blocks) => blocks.into(),
        }
    }
}

/// The text of every error result: its class first, where a script finds it.
pub fn error_text(class: Class, text: &str) -> String {
    format!("error: {class}: {text}")
}

/// The class that an error result's text states, if it states one.
pub fn stated_class(text: &str) -> Option<Class> {
    let rest = text.strip_prefix("error: ")?;
    Class::from_word(rest.split_once(": ")?.0)
}

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub class: Class,
    /// Sorted, each at most once.
    pub flags: Vec<Flag>,
    pub content: ResultContent,
    /// The structured result that post-hooks and transcripts get, if the tool has one.
    pub data: Option<Data>,
    /// What is wrong with the scenario, not with the call: a program that the virtual
    /// shell lacks. The run reports it and fails, whatever the model makes of the result.
    pub complaint: Option<String>,
}

impl Outcome {
    /// A success whose content is `text`.
    pub fn ok(text: impl Into<String>) -> Outcome {
        Outcome {
            class: Class::Ok,
            flags: Vec::new(),
            content: ResultContent::Text(text.into()),
            data: None,
            complaint: None,
        }
    }

    /// A success whose content is blocks.
    pub fn blocks(blocks: Vec<Block>) -> Outcome {
        Outcome {
            content: ResultContent::Blocks(blocks),
            ..Outcome::ok("")
        }
    }

    /// A failure of `class`; `text` says what happened and what to do about it.
    ///
    /// The content is `error: <class>: <text>`: a model, and a script in its place,
    /// reads the class there, so no failure is made in another way.
    pub fn error(class: Class, text: impl AsRef<str>) -> Outcome {
        debug_assert!(class.is_error(), "a failure has a class that is one");
        Outcome {
            class,
            content: ResultContent::Text(error_text(class, text.as_ref())),
            ..Outcome::ok("")
        }
    }

    /// A call that failed because the scenario cannot serve it.
    pub fn complaint(what: impl Into<String>) -> Outcome {
        let what = what.into();
        Outcome {
            complaint: Some(what.clone()),
            ..Outcome::error(Class::Internal, what)
        }
    }

    pub fn with_data(mut self, data: impl Into<Data>) -> Outcome {
        self.data = Some(data.into());
        self
    }

    pub fn with_flag(mut self, flag: Flag) -> Outcome {
        if let Err(at) = self.flags.binary_search(&flag) {
            self.flags.insert(at, flag);
        }
        self
    }

    pub fn is_error(&self) -> bool {
        self.class.is_error()
    }

    /// Adds a remark on a line of its own at the end.
    pub fn with_note(mut self, note: &str) -> Outcome {
        if let ResultContent::Text(text) = &mut self.content {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(note);
        }
        self
    }

    /// All text of the content, blocks that are not text left out.
    pub fn text(&self) -> String {
        match &self.content {
            ResultContent::Text(text) => text.clone(),
            ResultContent::Blocks(blocks) => blocks
                .iter()
                .filter_map(Block::as_text)
                .collect::<Vec<_>>()
                .join("\n"),
        }
    }
}

impl From<super::Refusal> for Outcome {
    fn from(refusal: super::Refusal) -> Outcome {
        Outcome::error(refusal.class, refusal.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_states_its_class() {
        for class in Class::ALL.iter().filter(|c| c.is_error()) {
            let outcome = Outcome::error(*class, "it did not work. Try again.");
            assert_eq!(stated_class(&outcome.text()), Some(*class));
        }
        assert_eq!(stated_class("error: nonsense: x"), None);
        assert_eq!(stated_class("all is well"), None);
    }

    #[test]
    fn flags_are_sorted_and_unique() {
        let outcome = Outcome::ok("")
            .with_flag(Flag::Unchanged)
            .with_flag(Flag::Truncated)
            .with_flag(Flag::Unchanged);
        assert_eq!(outcome.flags, [Flag::Truncated, Flag::Unchanged]);
    }
}
