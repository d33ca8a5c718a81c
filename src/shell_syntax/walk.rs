//! From a syntax tree to the commands that it holds.

use super::nodes::{between_backticks, children, is_simple, is_statement, touches, unescaped};
use super::pieces::naive;
use super::word::{Inset, InsetKind, decode, insets};
use super::{CommandLine, Part, Redirection, Shape, Word, heredoc, parse, wrapper};
use tree_sitter::Node;

/// Nesting of shells within shells that is looked into.
const MAX_DEPTH: u32 = 16;

/// Nesting within one text that is looked into.
const MAX_LEVELS: u32 = 150;

/// How often the length of a line may be read again for what is nested in it.
const MAX_READINGS: usize = 16;

/// Lines longer than this are not looked into (`semantics.md §1.2`).
const MAX_CHARS: usize = 10_000;

/// Takes `line` apart.
pub(super) fn run(line: &str) -> CommandLine {
    let mut found = Found {
        bytes_left: line.len().saturating_mul(MAX_READINGS).saturating_add(1),
        ..Found::default()
    };
    match line.chars().nth(MAX_CHARS) {
        Some(_) => found.unsplittable("it is longer than 10,000 characters"),
        None => scan(line, 0, &mut found),
    }
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

/// Words that bash takes for no command where one may stand.
pub(super) const RESERVED: &[&str] = &[
    "!", "{", "}", "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done",
    "case", "esac", "select", "function", "in",
];

/// What was found so far, over all nesting.
#[derive(Default)]
struct Found {
    parts: Vec<Part>,
    shape: Option<Shape>,
    nested: bool,
    /// Whether what is read is a text that another shell gets.
    handed: bool,
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

    fn finish(&mut self, mut part: Part, stdin: &[String], depth: u32) {
        if part.is_empty() {
            return;
        }
        part.handed = self.handed;
        let first = part.words.first().filter(|word| !word.quoted);
        if first.is_some_and(|word| RESERVED.contains(&word.text.as_str())) {
            self.unsplittable("a reserved word in it was read as a command");
        }
        let mut scripts = wrapper::scripts(&part.words);
        if wrapper::is_shell(&part.words) {
            scripts.extend_from_slice(stdin);
        }
        for script in scripts {
            // It runs, whatever it is called by; the line around it stays what it is.
            let before = (self.shape, self.nested, self.handed);
            self.handed = true;
            scan(&script, depth + 1, self);
            if !matches!(self.shape, Some(Shape::Unsplittable(_))) {
                self.shape = before.0;
            }
            (self.nested, self.handed) = (before.1, before.2);
        }
        self.parts.push(part);
    }
}

/// Reads a whole text at one level of nesting.
fn scan(text: &str, depth: u32, found: &mut Found) {
    if depth > MAX_DEPTH || text.len() > found.bytes_left {
        return found.unsplittable("it is nested too deeply");
    }
    found.bytes_left -= text.len();
    let Some(tree) = parse::parse(text) else {
        return found.unsplittable("it takes too long to parse");
    };
    let root = tree.root_node();
    if root.has_error() {
        found.unsplittable("bash would not parse it, or not surely so");
    }
    let mut walker = Walker {
        source: text,
        depth,
        levels: 0,
        found,
    };
    walker.statement(root);
}

struct Walker<'s, 'f> {
    source: &'s str,
    depth: u32,
    levels: u32,
    found: &'f mut Found,
}

/// Words of a command as they are written: where each begins and ends.
#[derive(Default)]
struct Words<'t> {
    spans: Vec<Span>,
    insets: Vec<Inset<'t>>,
    redirections: Vec<Redirection>,
    /// What stands on the line behind the start of a here-document and runs after.
    after: Vec<Node<'t>>,
    /// Texts that the command finds on its standard input.
    stdin: Vec<String>,
}

struct Span {
    start: usize,
    end: usize,
    assigns: bool,
}

impl Walker<'_, '_> {
    fn text(&self, node: Node<'_>) -> &str {
        self.source.get(node.byte_range()).unwrap_or_default()
    }

    fn statement(&mut self, node: Node<'_>) {
        if self.levels >= MAX_LEVELS {
            return self.found.unsplittable("it is nested too deeply");
        }
        self.levels += 1;
        match node.kind() {
            "comment" => {}
            "command"
            | "declaration_command"
            | "unset_command"
            | "test_command"
            | "variable_assignment"
            | "variable_assignments" => self.command(node, None, &[]),
            "redirected_statement" => self.redirected(node),
            "list" => self.list(node),
            kind => {
                if kind == "for_statement" && self.sets_environment(node) {
                    self.found
                        .unsplittable("a loop sets a variable that programs may look at");
                }
                match kind {
                    "program" | "do_group" | "case_item" | "ERROR" => {}
                    "pipeline" => self.found.compound("a pipe"),
                    "subshell" | "function_definition" => {
                        self.found.nested = true;
                        self.found.compound("a subshell or a function");
                    }
                    _ => self.found.compound("a reserved word"),
                }
                self.block(node);
            }
        }
        self.levels -= 1;
    }

    /// Whether the variable of a loop is spelled as those are that programs inherit.
    fn sets_environment(&self, node: Node<'_>) -> bool {
        let variable = node.child_by_field_name("variable");
        variable.is_some_and(|name| {
            let name = self.text(name);
            name.len() > 1 && !name.contains(|c: char| c.is_ascii_lowercase())
        })
    }

    /// Statements, and words between them.
    fn block(&mut self, node: Node<'_>) {
        let children = children(node);
        self.gaps(&children, true);
        let mut statements = 0;
        let mut found = Vec::new();
        for child in children {
            match child.kind() {
                ";" => self.found.compound("several commands"),
                "&" => self.found.compound("a command in the background"),
                "file_redirect" | "herestring_redirect" => {
                    let mut words = Words::default();
                    self.redirect(child, &mut words);
                    self.finish(words);
                }
                kind if is_statement(kind) => {
                    statements += usize::from(kind != "comment");
                    self.statement(child);
                }
                _ => insets(child, &mut found),
            }
        }
        if statements > 1 {
            self.found.compound("several commands");
        }
        self.inner(&found);
    }

    /// `a && b || c`, which leans to the left as deep as it is long.
    fn list(&mut self, node: Node<'_>) {
        self.found.compound("several commands");
        let mut waiting = vec![node];
        while let Some(node) = waiting.pop() {
            match node.kind() {
                "list" => {
                    let children = children(node);
                    self.gaps(&children, true);
                    waiting.extend(children.into_iter().rev());
                }
                kind if is_statement(kind) => self.statement(node),
                _ => {}
            }
        }
    }

    fn redirected(&mut self, node: Node<'_>) {
        let children = children(node);
        let dash = match children.as_slice() {
            [body, redirect, ..] if is_simple(body.kind()) => self.lost_dash(*body, *redirect),
            _ => None,
        };
        self.gaps(
            children
                .get(usize::from(dash.is_some())..)
                .unwrap_or_default(),
            false,
        );
        let (redirects, body): (Vec<_>, Vec<_>) = children
            .into_iter()
            .partition(|child| child.kind().ends_with("_redirect"));
        match body.as_slice() {
            [body] if is_simple(body.kind()) => return self.command(*body, dash, &redirects),
            body => body.iter().for_each(|body| self.statement(*body)),
        }
        let mut words = Words::default();
        for redirect in redirects {
            self.redirect(redirect, &mut words);
        }
        self.finish(words);
    }

    /// The place of a `-` that the grammar leaves out before a here-document.
    fn lost_dash(&self, body: Node<'_>, redirect: Node<'_>) -> Option<usize> {
        let gap = self.source.get(body.end_byte()..redirect.start_byte())?;
        let alone = gap.trim_matches([' ', '\t']) == "-" && gap.starts_with([' ', '\t']);
        let at = body.end_byte() + gap.find('-')?;
        (alone && gap.ends_with([' ', '\t'])).then_some(at)
    }

    /// A simple command with the redirections that stand around it; `dash` is where a
    /// last word `-` stands that the tree does not have.
    fn command(&mut self, node: Node<'_>, dash: Option<usize>, redirects: &[Node<'_>]) {
        let mut words = Words::default();
        match node.kind() {
            // A word of its own.
            "variable_assignment" => self.word(node, true, &mut words),
            "test_command" => {
                self.leaves(node, &mut words);
                if !self.text(node).starts_with("[ ") {
                    self.found.compound("a reserved word");
                }
            }
            _ => {
                let children = children(node);
                self.gaps(&children, false);
                for child in children {
                    match child.kind() {
                        "file_redirect" | "herestring_redirect" => self.redirect(child, &mut words),
                        "subshell" => self.statement(child),
                        "variable_assignment" => {
                            let assigns = node.kind() != "declaration_command";
                            self.word(child, assigns, &mut words);
                        }
                        _ => self.word(child, false, &mut words),
                    }
                }
            }
        }
        words.spans.extend(dash.map(|at| Span {
            start: at,
            end: at + 1,
            assigns: false,
        }));
        for redirect in redirects {
            self.redirect(*redirect, &mut words);
        }
        self.finish(words);
    }

    /// Adds a word; one that touches the word before it is part of that.
    fn word<'t>(&mut self, node: Node<'t>, assigns: bool, words: &mut Words<'t>) {
        insets(node, &mut words.insets);
        let (start, end) = (node.start_byte(), node.end_byte());
        match words.spans.last_mut() {
            Some(last) if touches(self.source, last.end, start) => last.end = end,
            _ => words.spans.push(Span {
                start,
                end,
                assigns,
            }),
        }
    }

    /// The words of a test, which the tree takes apart further than into words.
    fn leaves<'t>(&mut self, node: Node<'t>, words: &mut Words<'t>) {
        let mut waiting = vec![node];
        while let Some(node) = waiting.pop() {
            match node.kind() {
                "test_command"
                | "binary_expression"
                | "unary_expression"
                | "parenthesized_expression"
                | "negated_command"
                | "ternary_expression" => {
                    let children = children(node);
                    self.gaps(&children, true);
                    waiting.extend(children.into_iter().rev());
                }
                kind if is_statement(kind) => self.statement(node),
                _ => self.word(node, false, words),
            }
        }
    }

    fn redirect<'t>(&mut self, node: Node<'t>, words: &mut Words<'t>) {
        match node.kind() {
            "file_redirect" => self.file_redirect(node, words),
            "heredoc_redirect" => self.heredoc(node, words),
            _ => {
                self.found.nested = true;
                self.found.compound("a here-document");
                let mut found = Vec::new();
                insets(node, &mut found);
                let text = self.text(node);
                let at = node.start_byte() + text.len()
                    - text.trim_start_matches('<').trim_start().len();
                words
                    .stdin
                    .push(decode(self.source, at, node.end_byte(), &found).text);
                self.inner(&found);
            }
        }
    }

    fn heredoc<'t>(&mut self, node: Node<'t>, words: &mut Words<'t>) {
        self.found.nested = true;
        self.found.compound("a here-document");
        if let Err(why) = heredoc::check(self.source, node) {
            self.found.unsplittable(why);
        }
        for child in children(node) {
            match child.kind() {
                "heredoc_start" | "heredoc_end" | "file_descriptor" => {}
                "heredoc_body" => {
                    if heredoc::hides(self.source, node, child) {
                        self.found
                            .unsplittable("a here-document may hold a substitution");
                    }
                    let mut found = Vec::new();
                    insets(child, &mut found);
                    words.stdin.push(self.text(child).to_owned());
                    self.inner(&found);
                }
                "|" | "|&" => self.found.compound("a pipe"),
                kind if kind.ends_with("_redirect") => self.redirect(child, words),
                kind if is_statement(kind) => words.after.push(child),
                _ if child.is_named() => self.word(child, false, words),
                _ => {}
            }
        }
    }

    fn file_redirect<'t>(&mut self, node: Node<'t>, words: &mut Words<'t>) {
        let children = children(node);
        self.gaps(&children, false);
        let mut operator = "";
        let mut targets = Words::default();
        for child in children {
            match child.kind() {
                "file_descriptor" => {}
                kind if !child.is_named() && kind.contains(['<', '>']) => operator = kind,
                _ => self.word(child, false, &mut targets),
            }
        }
        let mut spans = targets.spans.into_iter();
        if let Some(first) = spans.next() {
            let target = decode(self.source, first.start, first.end, &targets.insets);
            let number = target.text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
            let harmless =
                operator.contains("&") && operator != "&>" && number || target.text == "/dev/null";
            if !harmless {
                self.found.compound("a redirection");
                words.redirections.push(Redirection {
                    writes: operator.contains('>'),
                    target,
                });
            }
        }
        // What follows the target is a word of the command, whatever the tree says.
        words.spans.extend(spans);
        words.insets.extend(targets.insets);
    }

    /// Makes a part of words.
    fn finish(&mut self, mut words: Words<'_>) {
        words.insets.sort_by_key(|inset| inset.node.start_byte());
        self.inner(&words.insets);
        let mut part = Part {
            redirections: words.redirections,
            ..Part::default()
        };
        for span in &words.spans {
            let word: Word = decode(self.source, span.start, span.end, &words.insets);
            match span.assigns && part.words.is_empty() {
                true => part.assignments.push(word),
                false => part.words.push(word),
            }
        }
        self.found.finish(part, &words.stdin, self.depth);
        for statement in words.after {
            self.statement(statement);
        }
    }

    /// What runs within words.
    fn inner(&mut self, insets: &[Inset<'_>]) {
        for inset in insets {
            match inset.kind {
                InsetKind::AnsiC => continue,
                InsetKind::Parameter => {
                    let inner = self.text(inset.node).get(2..).unwrap_or_default();
                    // `${x@P}` runs what the variable holds.
                    if !inner.contains(['$', '`', '<', '>', '@']) {
                        continue;
                    }
                }
                InsetKind::Arithmetic if self.text(inset.node).contains([';', '\n']) => {
                    // No arithmetic: two parentheses that stand together by chance.
                    self.found
                        .unsplittable("it holds an arithmetic expansion that is none");
                    let inner = self
                        .text(inset.node)
                        .trim_matches(['$', '(', ')'])
                        .to_owned();
                    scan(&inner, self.depth + 1, self.found);
                }
                InsetKind::Commands | InsetKind::Arithmetic => {}
            }
            self.found.nested = true;
            self.found.compound("a substitution");
            match inset.kind {
                InsetKind::Commands if self.text(inset.node).starts_with('`') => {
                    self.backticks(inset.node);
                }
                InsetKind::Commands => self.substitution(inset.node),
                _ => {
                    let mut found = Vec::new();
                    for child in children(inset.node) {
                        super::word::insets(child, &mut found);
                    }
                    self.hidden(inset.node, &found);
                    self.deeper(|walker| walker.inner(&found));
                }
            }
        }
    }

    /// Substitutions that the tree keeps as text, within the word of an expansion.
    fn hidden(&mut self, node: Node<'_>, found: &[Inset<'_>]) {
        let mut text = self.text(node).get(2..).unwrap_or_default().to_owned();
        for inset in found {
            text = text.replacen(self.text(inset.node), "", 1);
        }
        if !text.contains('`') && !text.contains("$(") {
            return;
        }
        self.found
            .unsplittable("an expansion holds what may run commands");
        for script in text.split('`').skip(1).step_by(2) {
            scan(script, self.depth + 1, self.found);
        }
        if let Some((_, script)) = text.split_once("$(") {
            self.found.parts.extend(naive(script));
        }
    }

    fn substitution(&mut self, node: Node<'_>) {
        self.deeper(|walker| walker.block(node));
    }

    fn deeper(&mut self, run: impl FnOnce(&mut Self)) {
        if self.levels >= MAX_LEVELS {
            return self.found.unsplittable("it is nested too deeply");
        }
        self.levels += 1;
        run(self);
        self.levels -= 1;
    }

    fn backticks(&mut self, node: Node<'_>) {
        let in_string = node.parent().is_some_and(|above| above.kind() == "string");
        let source = self.source;
        let text = source.get(node.byte_range()).unwrap_or_default();
        let inner = text.strip_prefix('`').unwrap_or(text);
        let inner = inner.strip_suffix('`').unwrap_or(inner);
        let pieces = between_backticks(inner);
        if pieces.len() > 1 {
            // The grammar takes the first and the last of several for a pair.
            self.found
                .unsplittable("its backticks may pair up in more than one way");
        }
        let scripts: Vec<String> = pieces
            .into_iter()
            .map(|piece| unescaped(piece, in_string))
            .collect();
        for script in scripts {
            scan(&script, self.depth + 1, self.found);
        }
    }

    /// Whatever lies between the pieces of a command must be what separates words for
    /// bash too; what only the grammar takes for space is nothing to rely on.
    fn gaps(&mut self, children: &[Node<'_>], lines: bool) {
        for pair in children.windows(2) {
            let [before, after] = pair else { continue };
            let gap = self.source.get(before.end_byte()..after.start_byte());
            let gap = gap.unwrap_or_default();
            // As nearly every gap is.
            if matches!(gap, "" | " ") {
                continue;
            }
            let gap = gap.replace("\\\n", "");
            let separates = |c: char| matches!(c, ' ' | '\t' | '\r') || c == '\n' && lines;
            if !gap.chars().all(separates) {
                self.found
                    .unsplittable("a space in it is none for bash, or a line end is");
            }
        }
    }
}
