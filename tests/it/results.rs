//! Results at and over their limit: what stays in the conversation is bounded, what was
//! saved is whole, and a model that does what the notices say sees every byte of it.

use async_trait::async_trait;
use proptest::collection::vec;
use proptest::prelude::*;
use rehearsal::hooks::ScriptedHook;
use rehearsal::model::{Model, ModelError, Request};
use rehearsal::run::{RunReport, Setup, run_with};
use rehearsal::settings::{Layer, Source, merge};
use rehearsal::tools::{
    Footprint, Outcome, Permit, Progress, ReadOnly, ResultContent, Tool, ToolCx,
};
use rehearsal::trace::{CallResult, Event};
use rehearsal::wire::{Block, Message, Response, StopReason};
use rehearsal::words::Class;
use rehearsal::world::{Answer, Fs, MemoryFs};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Arc;

/// What our own words around a preview, a cut or a page may take, in UTF-16 units.
const NOTICE_UNITS: usize = 500;
/// A picture of one dot, to stand beside text.
const IMAGE: &str = r#"{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"R0lGODlhAQABAAAAACwAAAAAAQABAAAC"}}"#;

/// The length of a text as its limits count it.
fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Answers its `n`-th question with the `n`-th outcome.
struct Says {
    outcomes: Vec<Outcome>,
    schema: Value,
}

#[async_trait]
impl Tool for Says {
    fn name(&self) -> &str {
        "says"
    }
    fn description(&self) -> &str {
        "Gives back one of the texts that it was made with."
    }
    fn input_schema(&self) -> &Value {
        &self.schema
    }
    fn read_only(&self) -> ReadOnly {
        ReadOnly::Always
    }
    fn footprint(&self, _cx: &ToolCx, _input: &Value) -> Footprint {
        Footprint::nothing()
    }
    async fn call(
        &self,
        input: &Value,
        _cx: &ToolCx,
        _permit: &dyn Permit,
        _progress: &dyn Progress,
    ) -> Outcome {
        let n = input["n"].as_u64().unwrap_or_default();
        self.outcomes[n as usize].clone()
    }
}

/// A file as the model gets to know it, page by page.
#[derive(Debug, Default)]
struct Known {
    /// The number and text of each line, so far.
    lines: Vec<(u64, String)>,
    crlf: bool,
    bom: bool,
    reads: usize,
}

impl Known {
    /// Takes one page, as a result shows it; gives the input of the next Read, as far as
    /// the notice names it, or none if this was the last.
    fn take(&mut self, page: &str) -> Option<Value> {
        self.reads += 1;
        let mut shown = page.split('\n').peekable();
        let mut is_first = true;
        while let Some(line) = shown.peek() {
            let Some((number, text)) = line
                .split_once('\t')
                .and_then(|(number, text)| Some((number.parse::<u64>().ok()?, text)))
            else {
                break;
            };
            match self.lines.last_mut() {
                // A page may begin in the middle of the line that the one before ended in.
                Some((last, before)) if is_first && *last == number => before.push_str(text),
                last => {
                    let expected = last.map_or(1, |(last, _)| *last + 1);
                    assert_eq!(number, expected, "a line is left out or shown twice");
                    self.lines.push((number, text.to_owned()));
                }
            }
            is_first = false;
            shown.next();
        }
        assert!(!is_first, "a page without a line: {page}");
        let notices: Vec<&str> = shown.collect();
        self.crlf |= notices
            .iter()
            .any(|notice| notice.contains("end in CRLF; the CR is not shown"));
        self.bom |= notices
            .iter()
            .any(|notice| notice.contains("byte order mark"));
        let (_, call) = notices
            .iter()
            .find_map(|notice| notice.split_once("The next page: Read this file again with "))?;
        let mut input = json!({});
        for part in call.trim_end_matches(".]").split(", ") {
            let (field, number) = part.split_once(' ').expect("a field and a number");
            input[field] = json!(number.parse::<u64>().expect("a number"));
        }
        Some(input)
    }

    fn text(&self) -> String {
        let lines: Vec<&str> = self.lines.iter().map(|(_, text)| text.as_str()).collect();
        let bom = if self.bom { "\u{feff}" } else { "" };
        format!("{bom}{}", lines.join(if self.crlf { "\r\n" } else { "\n" }))
    }
}

/// Asks for every outcome in one message, then follows each notice to its end.
#[derive(Default)]
struct Follower {
    asks: u64,
    /// What the conversation holds of each outcome.
    got: Vec<(Vec<Block>, bool)>,
    to_read: VecDeque<(usize, String)>,
    /// By outcome; none for one that nothing was saved of.
    known: Vec<Option<Known>>,
    /// The longest result of a Read.
    longest_page: usize,
}

impl Follower {
    fn take(&mut self, results: &Message) -> Option<Value> {
        let mut blocks = results.content.iter().filter_map(Block::as_tool_result);
        if self.got.is_empty() {
            for (index, result) in blocks.enumerate() {
                let text = result.content.text();
                let saved = text
                    .split_once("The whole of it is in ")
                    .and_then(|(said, rest)| said.starts_with("[The result has ").then_some(rest));
                let path = saved.and_then(|rest| rest.split_once(": Read that file for the rest."));
                self.known.push(path.map(|_| Known::default()));
                self.to_read
                    .extend(path.map(|(path, _)| (index, path.to_owned())));
                self.got.push((result.content.to_vec(), result.is_error));
            }
            return self.open();
        }
        let result = blocks.next().expect("a result for the one Read");
        let page = result.content.text();
        assert!(!result.is_error, "{page}");
        assert_eq!(
            result.content.len(),
            1,
            "a page is text: {:?}",
            result.content
        );
        self.longest_page = self.longest_page.max(units(&page));
        let (index, path) = self.to_read.front().expect("something is being read");
        let known = self.known[*index].as_mut().expect("it was saved");
        match known.take(&page) {
            Some(mut input) => {
                input["file_path"] = json!(path);
                Some(input)
            }
            None => {
                self.to_read.pop_front();
                self.open()
            }
        }
    }

    fn open(&self) -> Option<Value> {
        let (_, path) = self.to_read.front()?;
        Some(json!({"file_path": path}))
    }
}

#[async_trait]
impl Model for Follower {
    async fn respond(&mut self, request: &Request<'_>) -> Result<Response, ModelError> {
        let number = request.messages.len();
        let content = if number == 1 {
            let ask =
                |n| Block::tool_use(format!("toolu_{n}"), "says", json!({"n": n}).to_string());
            (0..self.asks).map(ask).collect()
        } else {
            let last = request.messages.last().expect("a message");
            match self.take(last) {
                Some(input) => vec![Block::tool_use(
                    format!("toolu_read_{number}"),
                    "Read",
                    input.to_string(),
                )],
                None => vec![Block::text("Seen.")],
            }
        };
        let is_call = content.iter().any(|block| block.as_tool_use().is_some());
        Ok(Response {
            id: format!("msg_{number}"),
            content,
            stop_reason: if is_call {
                StopReason::ToolUse
            } else {
                StopReason::EndTurn
            },
            ..Response::default()
        })
    }
}

/// A session in which the tool says `outcomes`, under limits in UTF-16 units.
fn saying(outcomes: Vec<Outcome>, limits: &[(&str, Value)]) -> Setup {
    let mut setup = Setup {
        tools: vec![Arc::new(Says {
            outcomes,
            schema: json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}),
        })],
        max_turns: u32::MAX,
        ..Setup::default()
    };
    for (id, value) in limits {
        setup
            .profile
            .override_parameter(id, value)
            .expect("a parameter");
    }
    setup
}

fn followed(setup: Setup, asks: usize) -> (RunReport, Follower) {
    let mut model = Follower {
        asks: asks as u64,
        ..Follower::default()
    };
    let report = run_with(setup, &mut model).expect("runs");
    assert_eq!(report.stop, "end_turn");
    assert!(report.complaints.is_empty(), "{:?}", report.complaints);
    assert_eq!(model.got.len(), asks);
    (report, model)
}

fn results(report: &RunReport) -> Vec<&CallResult> {
    let lines = report.trace.lines.iter();
    lines
        .filter_map(|line| match &line.event {
            Event::Result(result) => Some(result),
            _ => None,
        })
        .collect()
}

/// The text of blocks, and the blocks that are none.
fn apart(blocks: &[Block]) -> (String, Vec<&Block>) {
    let texts: Vec<&str> = blocks.iter().filter_map(Block::as_text).collect();
    let others = blocks.iter().filter(|block| block.as_text().is_none());
    (texts.join("\n"), others.collect())
}

/// What the conversation has of a saved result: its notice and the preview.
fn notice_and_preview(text: &str) -> (&str, &str) {
    let end = " characters:]\n";
    let at = text.find(end).expect("a notice that ends") + end.len();
    text.split_at(at)
}

/// Everything that holds for each result, saved or not.
fn check(outcomes: Vec<Outcome>, limit: usize, preview_units: usize) {
    let setup = saying(
        outcomes.clone(),
        &[
            ("result_limit", json!(limit)),
            ("preview_chars", json!(preview_units)),
        ],
    );
    let (report, model) = followed(setup, outcomes.len());
    let traced = results(&report);
    // Of a limit this small Read keeps half for text.
    let page_units = limit.saturating_sub(NOTICE_UNITS).max(limit / 2);
    assert!(model.longest_page <= page_units + NOTICE_UNITS);
    for (index, outcome) in outcomes.iter().enumerate() {
        let full = outcome.text();
        let (blocks, is_error) = &model.got[index];
        let (text, others) = apart(blocks);
        assert_eq!(*is_error, outcome.is_error());
        assert_eq!(traced[index].class, outcome.class);
        assert_eq!(traced[index].full_chars, units(&full) as u64);
        if let ResultContent::Blocks(said) = &outcome.content {
            assert_eq!(others, apart(said).1, "what is not text stays as it is");
        }
        let Some(known) = &model.known[index] else {
            assert!(units(&full) <= limit, "{} units stayed", units(&full));
            assert_eq!((text, traced[index].saved_to.as_deref()), (full, None));
            continue;
        };
        assert!(units(&full) > limit, "{} units were saved", units(&full));
        let (notice, preview) = notice_and_preview(&text);
        assert!(units(notice) <= NOTICE_UNITS, "{notice}");
        assert!(notice.contains(&format!(
            "has {} characters, over the limit of {limit}.",
            units(&full)
        )));
        assert!(notice.contains(&format!("Its first {} characters:", units(preview))));
        assert!(
            full.starts_with(preview),
            "{preview:?} does not begin {full:?}"
        );
        let next = full[preview.len()..]
            .chars()
            .next()
            .expect("more than the preview");
        assert!(
            units(preview) <= preview_units && units(preview) + next.len_utf16() > preview_units,
            "a preview of {} units, where {preview_units} fit",
            units(preview)
        );
        let path = traced[index].saved_to.as_deref().expect("it says where");
        assert!(notice.contains(path));
        let bytes = report.fs.read(path).expect("it is there");
        assert_eq!(&*bytes, full.as_bytes(), "{path} is not the whole result");
        assert_eq!(
            known.text(),
            full,
            "the pages put together are not the result"
        );
        // Two pages that follow each other fill at least one.
        let numbered = units(&full) + 8 * known.lines.len();
        let reads_max = 2 + 4 * numbered / page_units;
        assert!(
            known.reads <= reads_max,
            "{} Reads, at most {reads_max}",
            known.reads
        );
    }
}

/// `pieces` over and over, cut or filled up to exactly `wanted` units.
fn sized(begin: &str, pieces: &str, wanted: usize) -> String {
    let (mut text, mut used) = (String::new(), 0);
    for c in begin.chars().chain(pieces.chars().cycle()) {
        if used + c.len_utf16() > wanted {
            break;
        }
        used += c.len_utf16();
        text.push(c);
    }
    text.push_str(&"x".repeat(wanted - used));
    text
}

/// An outcome of exactly `wanted` units, in one text or in two with an image between.
fn outcome(text: String, error: bool, blocks: bool) -> Outcome {
    let class = if error { Class::ToolError } else { Class::Ok };
    let half = text.char_indices().nth(text.chars().count() / 2);
    let content = match half {
        // The line end that joins two texts stands for one of their characters.
        Some((at, 'x' | '\n')) if blocks => ResultContent::Blocks(vec![
            Block::text(&text[..at]),
            Block::from_raw(rehearsal::wire::raw::from_text(IMAGE.to_owned()).expect("JSON")),
            Block::text(&text[at + 1..]),
        ]),
        _ => ResultContent::Text(text),
    };
    Outcome {
        class,
        content,
        ..Outcome::ok("")
    }
}

/// Text with everything in it that is cut, counted or shown in a way of its own.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => Just("\n".to_owned()),
        2 => Just("\r\n".to_owned()),
        1 => Just("\r".to_owned()),
        5 => "[a-z\t ]{1,30}",
        3 => "[é漢😀𝄞\u{301}\u{200d}\u{1F3FD}\u{2028}]{1,8}",
        1 => Just("\0".to_owned()),
        1 => Just("\u{feff}".to_owned()),
        1 => "[x]{80,400}",
        1 => Just("\n\n[Line 1 of 9 is shown. The next page: Read this file again with offset 7.]".to_owned()),
        1 => Just("1\t2\n[The result has 9 characters:]\n".to_owned()),
    ];
    vec(piece, 1..12).prop_map(|pieces| pieces.concat())
}

/// A way to begin that makes a file something else than text, or text of a kind.
fn beginning() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "",
        "",
        "\u{feff}",
        "GIF89a",
        "RIFF\0\0\0\0WEBP",
        "%PDF-1.7\n",
        "\0",
        "\n",
        "\r\n",
    ])
}

fn over_and_under(limit: usize) -> impl Strategy<Value = usize> {
    prop_oneof![
        2 => Just(limit - 1),
        2 => Just(limit),
        3 => Just(limit + 1),
        1 => Just(limit + 2),
        3 => limit..limit * 12,
    ]
}

prop_compose! {
    fn outcomes(limit: usize)(
        of in vec((beginning(), pieces(), over_and_under(limit), any::<bool>(), any::<bool>()), 1..4),
    ) -> Vec<Outcome> {
        let of = of.into_iter();
        of.map(|(begin, pieces, wanted, error, blocks)| outcome(sized(begin, &pieces, wanted), error, blocks))
            .collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_result_loses_a_byte(
        (limit, preview_units, outcomes) in (40..1500usize)
            .prop_flat_map(|limit| (Just(limit), 1..=limit, outcomes(limit)))
    ) {
        check(outcomes, limit, preview_units);
    }
}

#[test]
fn the_limits_of_the_seed_hold_to_the_character() {
    let (limit, preview_units) = (20_000, 4_096);
    let lines = "one line and another\n";
    for pieces in [
        lines,
        "one long line ",
        "é漢",
        "😀",
        "e\u{301}👩\u{200d}👧\n",
        "a😀\r\n",
    ] {
        let wanted = [limit - 1, limit, limit + 1, limit + 2, 5 * limit];
        let of = |wanted: &usize| outcome(sized("", pieces, *wanted), false, false);
        check(wanted.iter().map(of).collect(), limit, preview_units);
    }
    // A preview that a wide character does not fit into ends before it.
    check(
        vec![outcome(sized("x", "😀", limit + 1), true, false)],
        limit,
        preview_units,
    );
}

#[test]
fn a_saved_result_is_read_as_text_whatever_it_begins_with() {
    for begin in ["GIF89a", "RIFF\0\0\0\0WEBP", "%PDF-1.7\n", "\0", "\u{feff}"] {
        let text = sized(begin, "abc\n", 500);
        check(vec![outcome(text, false, false)], 200, 50);
    }
}

#[test]
fn a_tools_own_limit_goes_before_the_profiles() {
    struct Short(Says);
    #[async_trait]
    impl Tool for Short {
        fn name(&self) -> &str {
            self.0.name()
        }
        fn description(&self) -> &str {
            self.0.description()
        }
        fn input_schema(&self) -> &Value {
            self.0.input_schema()
        }
        fn read_only(&self) -> ReadOnly {
            ReadOnly::Always
        }
        fn max_result_chars(&self) -> Option<u64> {
            Some(10)
        }
        async fn call(&self, i: &Value, c: &ToolCx, p: &dyn Permit, r: &dyn Progress) -> Outcome {
            self.0.call(i, c, p, r).await
        }
    }
    let outcomes = vec![Outcome::ok("0123456789"), Outcome::ok("0123456789a")];
    let says = Says {
        outcomes,
        schema: json!({"type": "object"}),
    };
    let setup = Setup {
        tools: vec![Arc::new(Short(says))],
        ..saying(Vec::new(), &[])
    };
    let (report, model) = followed(setup, 2);
    let saved: Vec<bool> = results(&report)[..2]
        .iter()
        .map(|r| r.saved_to.is_some())
        .collect();
    assert_eq!(saved, [false, true]);
    assert_eq!(
        model.known[1].as_ref().map(Known::text).as_deref(),
        Some("0123456789a")
    );
}

#[test]
fn what_a_hook_puts_in_place_of_a_result_is_brought_to_size_as_well() {
    let long = sized("", "put in place 漢\n", 3_000);
    let output =
        json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": long}});
    let hooks = json!({"hooks": {
        "PostToolUse": [{"matcher": "says", "hooks": [{"type": "command", "command": "replace"}]}],
    }});
    let setup = Setup {
        settings: merge(vec![Layer::from_value(Source::Project, &hooks)]).0,
        scripted_hooks: vec![Answer {
            value: ScriptedHook {
                event: None,
                tool: None,
                command: None,
                exit: 0,
                status: None,
                stdout: output.to_string(),
                stderr: String::new(),
                delay_ms: 0,
            },
            has_matcher: true,
            times: None,
            optional: false,
            label: "replace".to_owned(),
        }],
        ..saying(
            vec![Outcome::ok("short")],
            &[
                ("result_limit", json!(1_000)),
                ("preview_chars", json!(100)),
            ],
        )
    };
    let (report, model) = followed(setup, 1);
    assert_eq!(model.known[0].as_ref().map(Known::text), Some(long.clone()));
    let (_, preview) = notice_and_preview(model.got[0].0[0].as_text().expect("text"));
    assert_eq!((units(preview), long.starts_with(preview)), (100, true));
    assert_eq!(results(&report)[0].full_chars, 3_000);
}

#[test]
fn what_cannot_be_saved_is_cut_and_says_so() {
    let setup = saying(
        vec![outcome(
            sized("begin ", "漢😀 ", 5_000) + " end",
            true,
            false,
        )],
        &[("result_limit", json!(1_000))],
    );
    // Where the folder of results should be, there is a file.
    put(&setup.fs, "/.rehearsal", b"in the way");
    let (report, model) = followed(setup, 1);
    let (blocks, is_error) = &model.got[0];
    let text = blocks[0].as_text().expect("text");
    assert!(*is_error && units(text) <= 1_000 + NOTICE_UNITS);
    assert!(text.contains("could not be saved") && text.contains("characters left out here"));
    assert!(text.contains("\nbegin ") && text.ends_with(" end"));
    assert_eq!(results(&report)[0].saved_to, None);
    assert_eq!(results(&report)[0].full_chars, 5_004);
}

#[test]
fn a_profile_may_cut_or_refuse_and_the_conversation_stays_small() {
    let long = sized("begin ", "a😀", 7_000) + " end";
    for (action, class) in [("cut", Class::Ok), ("error", Class::TooLarge)] {
        let setup = saying(
            vec![Outcome::ok(long.clone())],
            &[
                ("result_limit", json!(999)),
                ("result_action", json!(action)),
            ],
        );
        let (report, model) = followed(setup, 1);
        let text = model.got[0].0[0].as_text().expect("text");
        assert!(units(text) <= 999 + NOTICE_UNITS, "{} units", units(text));
        assert_eq!(results(&report)[0].class, class);
        assert_eq!(results(&report)[0].full_chars, 7_004);
        if action == "cut" {
            assert!(text.starts_with("begin a😀") && text.ends_with(" end"));
            // Both ends and what is missing between them make up the whole.
            let (head, rest) = text.split_once("\n[").expect("a notice");
            let (missing, rest) = rest
                .split_once(" characters left out here]\n")
                .expect("a number");
            let missing: usize = missing.parse().expect("a number");
            assert_eq!(units(head) + missing + units(rest), 7_004);
            assert!(long.starts_with(head) && long.ends_with(rest));
        }
    }
}

fn put(fs: &MemoryFs, path: &str, content: &[u8]) {
    fs.put_file(path, content, 0o644, 0)
        .expect("a fresh world takes files");
}
