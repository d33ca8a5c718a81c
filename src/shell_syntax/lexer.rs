//! One pass over a command line, from characters to parts.

use super::pieces::{balanced, is_assignment, naive};
use super::{CommandLine, Part, Redirection, Shape, Word, ansi_c, wrapper};
use std::iter::Peekable;
use std::str::Chars;

/// Nesting of substitutions and shells within shells that is looked into.
const MAX_DEPTH: u32 = 16;

/// How far ahead a brace is looked for that closes one; beyond, it counts as closed.
const MAX_BRACE_CHARS: usize = 1_000;

/// How often the length of a line may be read again for what is nested in it.
const MAX_READINGS: usize = 16;

/// Words that may stand before a command and are none themselves.
const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "while", "until", "do", "done", "esac", "!", "{", "}",
    "coproc",
];

/// Takes `line` apart.
pub(super) fn run(line: &str) -> CommandLine {
    let mut found = Found {
        bytes_left: line.len().saturating_mul(MAX_READINGS).saturating_add(1),
        ..Found::default()
    };
    scan(line, 0, &mut found);
    if let Some(Shape::Unsplittable(_)) = found.shape {
        found.parts.extend(naive(line));
    }
    CommandLine {
        text: line.to_owned(),
        parts: found.parts,
        shape: found.shape.unwrap_or(Shape::Simple),
        nested: found.nested,
    }
}

/// What was found so far, over all nesting.
#[derive(Default)]
struct Found {
    parts: Vec<Part>,
    shape: Option<Shape>,
    nested: bool,
    /// What may still be read, so that no nesting costs more than it is long.
    bytes_left: usize,
}

impl Found {
    fn compound(&mut self, what: &'static str) {
        self.shape.get_or_insert(Shape::Compound(what));
    }

    fn unsplittable(&mut self, why: &'static str) {
        if !matches!(self.shape, Some(Shape::Unsplittable(_))) {
            self.shape = Some(Shape::Unsplittable(why));
        }
    }
}

/// Scans a whole text at one level of nesting.
fn scan(text: &str, depth: u32, found: &mut Found) {
    if depth > MAX_DEPTH || text.len() > found.bytes_left {
        found.unsplittable("it is nested too deeply");
        return;
    }
    found.bytes_left -= text.len();
    let mut scanner = Scanner {
        chars: text.chars().peekable(),
        depth,
        found,
        part: Part::default(),
        word: None,
        awaiting: None,
        parens: 0,
    };
    scanner.all();
}

struct Scanner<'a, 'f> {
    chars: Peekable<Chars<'a>>,
    depth: u32,
    found: &'f mut Found,
    part: Part,
    word: Option<Word>,
    /// The redirection whose target comes next: whether it writes, whether it is one between descriptors.
    awaiting: Option<(bool, bool)>,
    parens: u32,
}

impl Scanner<'_, '_> {
    fn all(&mut self) {
        while let Some(c) = self.chars.next() {
            match c {
                '\\' => match self.chars.next() {
                    Some('\n') => {}
                    Some(c) => self.quoted(c),
                    None => self.found.unsplittable("it ends in a backslash"),
                },
                '\'' => self.single(),
                '"' => self.double(),
                '`' => self.backtick(),
                '$' => self.dollar(false),
                ' ' | '\t' | '\r' => self.end_word(),
                '\n' => self.newline(),
                '#' if self.word.is_none() => self.comment(),
                ';' => self.operator("several commands", &[';', '&']),
                '|' => self.operator("a pipe", &['|', '&']),
                '&' => self.ampersand(),
                '(' => self.open(),
                ')' => self.close(),
                '<' | '>' => self.angle(c),
                '*' | '?' | '[' => self.dynamic(c),
                '{' if self.brace_expands() => self.dynamic(c),
                c => self.plain(c),
            }
        }
        self.end_part();
        if self.parens > 0 {
            self.found.unsplittable("a parenthesis is not closed");
        }
    }

    fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_default()
    }

    fn plain(&mut self, c: char) {
        self.word().text.push(c);
    }

    fn quoted(&mut self, c: char) {
        let word = self.word();
        word.quoted = true;
        word.text.push(c);
    }

    fn dynamic(&mut self, c: char) {
        let word = self.word();
        word.dynamic = true;
        word.text.push(c);
    }

    fn single(&mut self) {
        self.word().quoted = true;
        loop {
            match self.chars.next() {
                Some('\'') => return,
                Some(c) => self.quoted(c),
                None => return self.found.unsplittable("a single quote is not closed"),
            }
        }
    }

    fn ansi(&mut self) {
        self.word().quoted = true;
        loop {
            match self.chars.next() {
                Some('\'') => return,
                Some('\\') => {
                    let word = self.word.get_or_insert_default();
                    ansi_c::escape(&mut self.chars, &mut word.text);
                }
                Some(c) => self.quoted(c),
                None => return self.found.unsplittable("a single quote is not closed"),
            }
        }
    }

    fn double(&mut self) {
        self.word().quoted = true;
        loop {
            match self.chars.next() {
                Some('"') => return,
                Some('\\') => match self.chars.next() {
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => self.quoted(c),
                    Some(c) => {
                        self.quoted('\\');
                        self.quoted(c);
                    }
                    None => return self.found.unsplittable("a double quote is not closed"),
                },
                Some('$') => self.dollar(true),
                Some('`') => self.backtick(),
                Some(c) => self.quoted(c),
                None => return self.found.unsplittable("a double quote is not closed"),
            }
        }
    }

    /// `$`: a variable, a substitution, or (outside double quotes) `$'…'` and `$"…"`.
    fn dollar(&mut self, in_quotes: bool) {
        match self.chars.peek() {
            Some('(') => {
                self.chars.next();
                self.substitution("$(…)");
            }
            Some('{') => {
                self.chars.next();
                self.parameter();
            }
            Some('\'') if !in_quotes => {
                self.chars.next();
                self.ansi();
            }
            Some('"') if !in_quotes => {
                self.chars.next();
                self.double();
            }
            Some(c) if c.is_alphanumeric() || "_?!#$*@-".contains(*c) => self.dynamic('$'),
            _ => self.plain('$'),
        }
    }

    /// `${…}`, of which the text is kept and substitutions in it are looked into.
    fn parameter(&mut self) {
        let mut inner = String::new();
        let mut open = 1u32;
        loop {
            match self.chars.next() {
                Some('}') if open == 1 => break,
                Some(c) => {
                    match c {
                        '{' => open += 1,
                        '}' => open -= 1,
                        _ => {}
                    }
                    inner.push(c);
                }
                None => return self.found.unsplittable("a `${` is not closed"),
            }
        }
        if inner.contains(['$', '`', '<', '>']) {
            self.found.compound("a substitution");
            self.found.nested = true;
            let starts = ["$(", "`", "<(", ">("];
            if let Some(start) = starts.iter().filter_map(|s| inner.find(s)).min() {
                let rest = inner[start..].trim_start_matches(['$', '(', '`', '<', '>']);
                let end = rest.rfind([')', '`']).unwrap_or(rest.len());
                scan(&rest[..end], self.depth + 1, self.found);
            }
        }
        let word = self.word();
        word.dynamic = true;
        word.text.push_str("${");
        word.text.push_str(&inner);
        word.text.push('}');
    }

    /// What stands up to the parenthesis that closes it, as commands of its own.
    fn substitution(&mut self, shown: &str) {
        self.found.compound("a substitution");
        self.found.nested = true;
        match balanced(&mut self.chars) {
            Some(inner) => scan(&inner, self.depth + 1, self.found),
            None => self.found.unsplittable("a substitution is not closed"),
        }
        let word = self.word();
        word.dynamic = true;
        word.text.push_str(shown);
    }

    fn backtick(&mut self) {
        self.found.compound("a substitution");
        self.found.nested = true;
        let mut inner = String::new();
        loop {
            match self.chars.next() {
                Some('`') => break,
                Some('\\') => match self.chars.next() {
                    Some(c @ ('`' | '\\' | '$')) => inner.push(c),
                    Some(c) => {
                        inner.push('\\');
                        inner.push(c);
                    }
                    None => return self.found.unsplittable("a backtick is not closed"),
                },
                Some(c) => inner.push(c),
                None => return self.found.unsplittable("a backtick is not closed"),
            }
        }
        scan(&inner, self.depth + 1, self.found);
        let word = self.word();
        word.dynamic = true;
        word.text.push_str("`…`");
    }

    fn newline(&mut self) {
        self.end_part();
        // A line end after the last command separates nothing.
        if self.chars.clone().any(|c| !c.is_whitespace()) && !self.found.parts.is_empty() {
            self.found.compound("several lines");
        }
    }

    fn comment(&mut self) {
        while self.chars.next_if(|c| *c != '\n').is_some() {}
    }

    /// Ends a part at an operator; `more` are the characters that may follow its first.
    fn operator(&mut self, what: &'static str, more: &[char]) {
        while self.chars.next_if(|c| more.contains(c)).is_some() {}
        self.end_part();
        self.found.compound(what);
    }

    fn ampersand(&mut self) {
        if self.chars.next_if_eq(&'>').is_some() {
            self.chars.next_if_eq(&'>');
            self.end_word();
            self.awaiting = Some((true, false));
            return;
        }
        let what = match self.chars.next_if_eq(&'&') {
            Some(_) => "several commands",
            None => "a command in the background",
        };
        self.operator(what, &[]);
    }

    fn open(&mut self) {
        self.end_part();
        self.parens += 1;
        self.found.nested = true;
        self.found.compound("a subshell or a function");
    }

    fn close(&mut self) {
        self.end_part();
        match self.parens.checked_sub(1) {
            Some(left) => self.parens = left,
            None => self.found.unsplittable("a parenthesis closes nothing"),
        }
    }

    /// `<` and `>` in all their forms.
    fn angle(&mut self, c: char) {
        if self.chars.next_if_eq(&'(').is_some() {
            return self.substitution(if c == '<' { "<(…)" } else { ">(…)" });
        }
        // Digits right before it name a descriptor and are no word.
        let descriptor = self.word.as_ref().is_some_and(|word| {
            !word.quoted && !word.dynamic && word.text.bytes().all(|b| b.is_ascii_digit())
        });
        if descriptor {
            self.word = None;
        }
        self.end_word();
        let mut writes = c == '>';
        let mut between = false;
        match (c, self.chars.peek()) {
            ('<', Some('<')) => {
                self.chars.next();
                self.chars.next_if(|c| matches!(c, '<' | '-'));
                self.found.nested = true;
                self.found.compound("a here-document");
            }
            ('<', Some('>')) => {
                self.chars.next();
                writes = true;
            }
            (_, Some('&')) => {
                self.chars.next();
                between = true;
            }
            ('>', Some('>' | '|')) => {
                self.chars.next();
            }
            _ => {}
        }
        self.awaiting = Some((writes, between));
    }

    /// Whether the `{` just read begins a brace expansion: it is closed in this word
    /// and holds a comma or two dots.
    fn brace_expands(&self) -> bool {
        let mut several = false;
        let mut last = ' ';
        for (ahead, c) in self.chars.clone().enumerate() {
            match c {
                _ if ahead > MAX_BRACE_CHARS => return true,
                '}' => return several,
                c if c.is_whitespace() => return false,
                ',' => several = true,
                '.' if last == '.' => several = true,
                _ => {}
            }
            last = c;
        }
        false
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else {
            return;
        };
        if let Some((writes, between)) = self.awaiting.take() {
            let descriptor = word.text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
            let harmless = between && descriptor || word.text == "/dev/null";
            if !harmless {
                self.found.compound("a redirection");
                self.part.redirections.push(Redirection {
                    writes,
                    target: word,
                });
            }
            return;
        }
        if self.part.words.is_empty() {
            if !word.quoted && RESERVED.contains(&word.text.as_str()) {
                self.found.compound("a reserved word");
                return;
            }
            if is_assignment(&word) {
                self.part.assignments.push(word);
                return;
            }
            if !word.quoted && matches!(word.text.as_str(), "[[" | "case" | "for" | "select") {
                self.found.compound("a reserved word");
            }
        }
        self.part.words.push(word);
    }

    fn end_part(&mut self) {
        self.end_word();
        if self.awaiting.take().is_some() {
            self.found.unsplittable("a redirection has no target");
        }
        let part = std::mem::take(&mut self.part);
        if part.is_empty() {
            return;
        }
        for script in wrapper::scripts(&part.words) {
            // It runs, whatever it is called by; the line around it stays what it is.
            let (shape, nested) = (self.found.shape, self.found.nested);
            scan(&script, self.depth + 1, self.found);
            if !matches!(self.found.shape, Some(Shape::Unsplittable(_))) {
                self.found.shape = shape;
            }
            self.found.nested = nested;
        }
        self.found.parts.push(part);
    }
}
