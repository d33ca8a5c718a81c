//! From text to a syntax tree, within a bound.

use std::cell::RefCell;
use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

/// Steps of a parse after which it is given up: what recovers from error after error takes
/// time by the square of its length. Steps, not time: the outcome must be the same anywhere.
const MAX_STEPS: u32 = 5_000;

thread_local! {
    /// A parser is costlier to make than most lines are to parse.
    static PARSER: RefCell<Option<Parser>> = const { RefCell::new(None) };
}

/// The tree of `text`; `None` if it takes too long.
pub(super) fn parse(text: &str) -> Option<Tree> {
    PARSER.with_borrow_mut(|slot| {
        let parser = match slot {
            Some(parser) => parser,
            None => {
                let mut parser = Parser::new();
                parser
                    .set_language(&tree_sitter_bash::LANGUAGE.into())
                    .ok()?;
                slot.insert(parser)
            }
        };
        let mut steps = 0u32;
        let mut progress = |_: &ParseState| {
            steps += 1;
            steps > MAX_STEPS
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        // The grammar's scanner looks characters up in tables of bytes, which ends the
        // program for one outside of ASCII, and takes some of them for spaces, which bash
        // does not. For bash each is a letter like any other; places stay what they are.
        let bytes: Vec<u8> = text
            .bytes()
            .map(|byte| if byte.is_ascii() { byte } else { b'x' })
            .collect();
        let mut read = |at: usize, _| bytes.get(at..).unwrap_or_default();
        let tree = parser.parse_with_options(&mut read, None, Some(options));
        // What a parse that was given up has left must not go into the next.
        parser.reset();
        tree
    })
}
