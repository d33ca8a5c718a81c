//! A word as it is written, without its quotes and escapes.

use super::{Word, ansi_c};
use tree_sitter::Node;

/// How far ahead a brace is looked for that closes one; beyond, it counts as closed.
const MAX_BRACE_CHARS: usize = 1_000;

/// A place in a word that is not read character by character.
pub(super) struct Inset<'t> {
    pub node: Node<'t>,
    pub kind: InsetKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum InsetKind {
    /// Commands whose output or file name is put there.
    Commands,
    /// `${…}`.
    Parameter,
    /// `$((…))`.
    Arithmetic,
    /// `$'…'`.
    AnsiC,
}

/// The insets of what lies below `node`, in order, without those within others.
pub(super) fn insets<'t>(node: Node<'t>, into: &mut Vec<Inset<'t>>) {
    let mut waiting = vec![node];
    while let Some(node) = waiting.pop() {
        let kind = match node.kind() {
            "command_substitution" | "process_substitution" => InsetKind::Commands,
            "expansion" => InsetKind::Parameter,
            "arithmetic_expansion" => InsetKind::Arithmetic,
            "ansi_c_string" => InsetKind::AnsiC,
            _ if node.child_count() == 0 => continue,
            _ => {
                let mut cursor = node.walk();
                let children: Vec<Node<'t>> = node.children(&mut cursor).collect();
                waiting.extend(children.into_iter().rev());
                continue;
            }
        };
        into.push(Inset { node, kind });
    }
}

/// The word that stands in `source` from `start` to `end`.
pub(super) fn decode(source: &str, start: usize, end: usize, insets: &[Inset<'_>]) -> Word {
    let mut reader = Reader {
        source,
        at: start,
        end,
        word: Word::default(),
        in_double: false,
    };
    let mut insets = insets.iter().filter(|i| i.node.start_byte() >= start);
    let mut next = insets.next();
    while let Some(c) = reader.peek() {
        match next {
            Some(inset) if inset.node.start_byte() <= reader.at => {
                reader.inset(inset);
                next = insets.next();
            }
            _ => reader.character(c),
        }
    }
    reader.word
}

struct Reader<'s> {
    source: &'s str,
    at: usize,
    end: usize,
    word: Word,
    in_double: bool,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.source.get(self.at..self.end).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn inset(&mut self, inset: &Inset<'_>) {
        let text = self.source.get(inset.node.byte_range()).unwrap_or_default();
        self.at = inset.node.end_byte();
        self.word.dynamic |= inset.kind != InsetKind::AnsiC;
        match inset.kind {
            InsetKind::Commands if text.starts_with('<') => self.word.text.push_str("<(…)"),
            InsetKind::Commands if text.starts_with('>') => self.word.text.push_str(">(…)"),
            InsetKind::Commands if text.starts_with('`') => self.word.text.push_str("`…`"),
            InsetKind::Commands | InsetKind::Arithmetic => self.word.text.push_str("$(…)"),
            InsetKind::Parameter => self.word.text.push_str(text),
            InsetKind::AnsiC => {
                let inner = text.strip_prefix("$'").and_then(|t| t.strip_suffix('\''));
                self.word.quoted = true;
                ansi_c::decode(inner.unwrap_or(text), &mut self.word.text);
            }
        }
    }

    fn character(&mut self, c: char) {
        self.at += c.len_utf8();
        match (self.in_double, c) {
            (_, '"') => {
                self.in_double = !self.in_double;
                self.word.quoted = true;
            }
            (false, '\'') => self.single(),
            (false, '\\') => match self.next() {
                Some('\n') | None => {}
                Some(c) => self.quoted(c),
            },
            (true, '\\') => match self.next() {
                Some('\n') | None => {}
                Some(c @ ('$' | '`' | '"' | '\\')) => self.quoted(c),
                Some(c) => {
                    self.quoted('\\');
                    self.quoted(c);
                }
            },
            (in_double, '$') => self.dollar(in_double),
            (true, c) => self.quoted(c),
            (false, '*' | '?' | '[') => self.dynamic(c),
            (false, '{') if self.brace_expands() => self.dynamic(c),
            (false, c) => self.word.text.push(c),
        }
    }

    fn dollar(&mut self, in_double: bool) {
        match self.peek() {
            // A translated string is a string.
            Some('"') if !in_double => {}
            Some(c) if c.is_alphanumeric() || "_?!#$*@-{(".contains(c) => self.dynamic('$'),
            _ => self.word.text.push('$'),
        }
    }

    fn single(&mut self) {
        self.word.quoted = true;
        while let Some(c) = self.next().filter(|c| *c != '\'') {
            self.word.text.push(c);
        }
    }

    fn quoted(&mut self, c: char) {
        self.word.quoted = true;
        self.word.text.push(c);
    }

    fn dynamic(&mut self, c: char) {
        self.word.dynamic = true;
        self.word.text.push(c);
    }

    /// Whether the `{` just read begins a brace expansion: it is closed in this word
    /// and holds a comma or two dots.
    fn brace_expands(&self) -> bool {
        let mut several = false;
        let mut last = ' ';
        for (ahead, c) in self.rest().chars().enumerate() {
            match c {
                _ if ahead > MAX_BRACE_CHARS => return true,
                '}' => return several,
                ',' => several = true,
                '.' if last == '.' => several = true,
                _ => {}
            }
            last = c;
        }
        false
    }
}
