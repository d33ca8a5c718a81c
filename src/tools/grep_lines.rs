//! Searches one content for a pattern and gives the lines to show. Pure.

use grep_matcher::{LineTerminator, Matcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch,
};
use std::io;

/// What to look for and what to show of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Query {
    pub pattern: String,
    pub ignore_case: bool,
    pub multiline: bool,
    pub before: usize,
    pub after: usize,
    /// Shows the matching parts alone.
    pub only_matching: bool,
}

/// One line to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    Match(u64, String),
    Context(u64, String),
    /// Lines were left out between two groups.
    Break,
}

/// What a content holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Hits {
    pub lines: Vec<Line>,
    /// Lines with a match; in a multi-line search, matches.
    pub count: u64,
    /// It was not searched to its end because it is no text.
    pub is_binary: bool,
}

/// A compiled query.
pub(super) struct Search {
    matcher: RegexMatcher,
    searcher: Searcher,
    only_matching: bool,
}

/// A pattern of so many bytes, without counted repetitions, compiles within every limit.
const SURELY_FITS_BYTES: usize = 1_000;

impl Query {
    /// Whether the pattern is certain to compile, told without compiling it: what is not
    /// certain must be tried.
    pub fn surely_compiles(&self) -> bool {
        // A line end in a pattern is refused unless matches may go over lines, and may
        // be written in many ways.
        let bytes = self.pattern.as_bytes();
        let letter_escaped = |pair: &[u8]| {
            pair[0] == b'\\' && pair[1].is_ascii_alphanumeric() && !b"wWdDsSbB".contains(&pair[1])
        };
        if bytes.len() > SURELY_FITS_BYTES
            || bytes.iter().any(|b| matches!(b, b'{' | b'\n' | b'\r'))
            || bytes.windows(2).any(letter_escaped)
        {
            return false;
        }
        regex_syntax::ParserBuilder::new()
            .utf8(false)
            .unicode(true)
            .multi_line(true)
            .case_insensitive(self.ignore_case)
            .dot_matches_new_line(self.multiline)
            .crlf(!self.multiline)
            .build()
            .parse(&self.pattern)
            .is_ok()
    }
}

impl Search {
    /// Compiles a query; the error says what is wrong with the pattern. With `as_text`,
    /// contents with NULs in them are searched as well.
    pub fn new(query: &Query, as_text: bool) -> Result<Search, String> {
        let mut builder = RegexMatcherBuilder::new();
        builder
            .case_insensitive(query.ignore_case)
            .multi_line(true)
            .unicode(true);
        if query.multiline {
            builder.dot_matches_new_line(true);
        } else {
            builder.crlf(true);
        }
        let matcher = builder.build(&query.pattern).map_err(|e| e.to_string())?;
        let binary = if as_text {
            BinaryDetection::none()
        } else {
            BinaryDetection::quit(0)
        };
        let mut searcher = SearcherBuilder::new();
        searcher
            .line_number(true)
            .multi_line(query.multiline)
            .before_context(query.before)
            .after_context(query.after)
            .binary_detection(binary);
        if !query.multiline {
            searcher.line_terminator(LineTerminator::crlf());
        }
        Ok(Search {
            matcher,
            searcher: searcher.build(),
            only_matching: query.only_matching,
        })
    }

    /// Searches one content.
    pub fn run(&mut self, content: &[u8]) -> Result<Hits, String> {
        let mut collector = Collector {
            hits: Hits::default(),
            matcher: &self.matcher,
            only_matching: self.only_matching,
        };
        self.searcher
            .search_slice(&self.matcher, content, &mut collector)
            .map_err(|e| e.to_string())?;
        Ok(collector.hits)
    }
}

struct Collector<'a> {
    hits: Hits,
    matcher: &'a RegexMatcher,
    only_matching: bool,
}

impl Collector<'_> {
    /// Splits what may be several lines into numbered ones.
    fn push(&mut self, bytes: &[u8], first: u64, line: fn(u64, String) -> Line) {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        for (index, part) in bytes.split(|b| *b == b'\n').enumerate() {
            let part = part.strip_suffix(b"\r").unwrap_or(part);
            let text = String::from_utf8_lossy(part).into_owned();
            self.hits.lines.push(line(first + index as u64, text));
        }
    }
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.hits.count += 1;
        let first = found.line_number().unwrap_or(1);
        if !self.only_matching {
            self.push(found.bytes(), first, Line::Match);
            return Ok(true);
        }
        let mut parts = Vec::new();
        self.matcher
            .find_iter(found.bytes(), |part| {
                parts.push(part);
                true
            })
            .map_err(io::Error::other)?;
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            let before = memchr::memchr_iter(b'\n', &found.bytes()[..part.start()]).count();
            self.push(&found.bytes()[part], first + before as u64, Line::Match);
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> Result<bool, io::Error> {
        if !self.only_matching {
            self.push(
                found.bytes(),
                found.line_number().unwrap_or(1),
                Line::Context,
            );
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        if !self.only_matching {
            self.hits.lines.push(Line::Break);
        }
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> Result<(), io::Error> {
        self.hits.is_binary = finish.binary_byte_offset().is_some();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(query: Query, content: &[u8]) -> Hits {
        let mut search = Search::new(&query, false).expect("pattern");
        search.run(content).expect("search")
    }

    fn query(pattern: &str) -> Query {
        Query {
            pattern: pattern.to_owned(),
            ..Query::default()
        }
    }

    #[test]
    fn lines_with_context_and_breaks() {
        let found = hits(
            Query {
                after: 1,
                ..query("^x")
            },
            b"x1\na\nb\nc\r\nx2\r\nd",
        );
        let m = |n, s: &str| Line::Match(n, s.to_owned());
        let c = |n, s: &str| Line::Context(n, s.to_owned());
        assert_eq!(
            found.lines,
            [m(1, "x1"), c(2, "a"), Line::Break, m(5, "x2"), c(6, "d")]
        );
        assert_eq!(found.count, 2);
        assert_eq!(hits(query("2$"), b"x2\r\n").count, 1);
    }

    #[test]
    fn matches_over_lines_and_parts_of_lines() {
        let over = Query {
            multiline: true,
            ..query("a.b")
        };
        assert_eq!(
            hits(over, b"x\na\nb\n").lines,
            [Line::Match(2, "a".into()), Line::Match(3, "b".into())]
        );
        let parts = Query {
            only_matching: true,
            ignore_case: true,
            ..query("o+")
        };
        assert_eq!(
            hits(parts, b"foO boo\n").lines,
            [Line::Match(1, "oO".into()), Line::Match(1, "oo".into())]
        );
    }

    #[test]
    fn what_surely_compiles_does() {
        let pieces = [
            "a", "(", ")", "[", "]", "|", "*", "+", "?", "^", "$", ".", "\\w", "\\s", "\\n", "\\b",
            "\\.", "\\", "{2}", "{", "-", "é", "(?i)", "(?P<n>", "[^a]", "\n", "\\p{L}", "&&", "#",
            " ",
        ];
        let mut sure = 0;
        for (at, a) in pieces.iter().enumerate() {
            for (by, b) in pieces.iter().enumerate() {
                let query = Query {
                    multiline: (at + by) % 2 == 0,
                    ..query(&format!("{a}{b}{a}"))
                };
                if query.surely_compiles() {
                    sure += 1;
                    assert!(Search::new(&query, false).is_ok(), "{}", query.pattern);
                }
            }
        }
        assert!(sure > 200, "{sure}");
    }

    #[test]
    fn what_is_no_text_is_told() {
        let found = hits(query("x"), b"x\0x");
        assert!(found.is_binary);
        assert!(Search::new(&query("("), false).is_err());
        assert!(Search::new(&query("a\nb"), false).is_err());
    }
}
