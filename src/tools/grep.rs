//! The tool Grep: files and lines by what is in them.

use super::below::{self, Base, Below};
use super::grep_lines::{Hits, Line, Query, Search};
use super::ignored::{self, Ignored};
use super::nearest::{did_you_mean, nearest};
use super::target::{Target, load, refused};
use super::{
    Footprint, Outcome, Permit, Progress, ReadOnly, Refusal, RuleSubject, Tool, ToolCx, fields,
};
use crate::sim::Resource;
use crate::words::{Class, Flag};
use async_trait::async_trait;
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};

/// How many entries one call shows unless `head_limit` says otherwise (`semantics.md §3.1`).
const HEAD_LIMIT: usize = 250;

/// Searches the contents of files.
pub struct Grep;

/// What a Grep shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Content,
    #[default]
    FilesWithMatches,
    Count,
}

#[derive(Deserialize)]
struct Input {
    pattern: String,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    glob: Option<String>,
    #[serde(default, rename = "type")]
    file_type: Option<String>,
    #[serde(default)]
    output_mode: Option<Mode>,
    #[serde(default, rename = "-A", deserialize_with = "fields::whole")]
    after: Option<i64>,
    #[serde(default, rename = "-B", deserialize_with = "fields::whole")]
    before: Option<i64>,
    #[serde(default, rename = "-C", deserialize_with = "fields::whole")]
    around: Option<i64>,
    #[serde(default, deserialize_with = "fields::whole")]
    context: Option<i64>,
    #[serde(default, rename = "-n")]
    numbers: Option<bool>,
    #[serde(default, rename = "-i")]
    ignore_case: Option<bool>,
    #[serde(default, rename = "-o")]
    only_matching: Option<bool>,
    #[serde(default, deserialize_with = "fields::whole")]
    head_limit: Option<i64>,
    #[serde(default, deserialize_with = "fields::whole")]
    offset: Option<i64>,
    #[serde(default)]
    multiline: Option<bool>,
}

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "description": "A regular expression in ripgrep's dialect: escape literal braces and dots."},
            "path": {"type": "string", "description": "The file or folder to search. Leave it out for the working folder."},
            "glob": {"type": "string", "description": "Search only files that match this, such as *.ts or src/**; with ! in front, only the others."},
            "type": {"type": "string", "description": "Search only files of this kind: rust, ts, py, …"},
            "output_mode": {"type": "string", "enum": ["content", "files_with_matches", "count"], "description": "What to show: matching lines, the files that have any (default), or how many each has."},
            "-A": {"type": "integer", "description": "Lines to show after each match, with output_mode content."},
            "-B": {"type": "integer", "description": "Lines to show before each match, with output_mode content."},
            "-C": {"type": "integer", "description": "Lines to show before and after each match, with output_mode content."},
            "context": {"type": "integer", "description": "The same as -C."},
            "-n": {"type": "boolean", "description": "Show line numbers with output_mode content (default true)."},
            "-i": {"type": "boolean", "description": "Take upper and lower case for equal."},
            "-o": {"type": "boolean", "description": "Show only the matching part of each line, with output_mode content."},
            "head_limit": {"type": "integer", "description": "How many lines or files to show (default 250, 0 for all)."},
            "offset": {"type": "integer", "description": "How many lines or files to leave out first."},
            "multiline": {"type": "boolean", "description": "Let the pattern match over line ends; the dot then matches them too."}
        },
        "required": ["pattern"],
        "additionalProperties": false
    })
});

#[async_trait]
impl Tool for Grep {
    fn name(&self) -> &str {
        "Grep"
    }

    fn search_hint(&self) -> &str {
        "search text regex contents find lines ripgrep"
    }

    fn description(&self) -> &str {
        "Searches the contents of files for a regular expression and shows the files that match, the \
         lines, or counts, ordered by path. Skips binary files and what .gitignore names. \
         Use it to find where something is written; use Glob to find files by name and Read to see a \
         whole file."
    }

    fn input_schema(&self) -> &Value {
        &SCHEMA
    }

    fn read_only(&self) -> ReadOnly {
        ReadOnly::Always
    }

    fn footprint(&self, cx: &ToolCx, input: &Value) -> Footprint {
        let Ok(input) = fields::read::<Input>(input) else {
            return Footprint::exclusive();
        };
        let path = input.path.as_deref().unwrap_or(".");
        let mut footprint = below::footprint(cx, path);
        let base = super::target::Foreseen::of(cx, path).canonical;
        let above = ignored::rule_files_above(&cx.env.cwd, &base);
        footprint
            .reads
            .extend(above.map(|path| Resource::File(path.into())));
        footprint
    }

    fn rule_subject(&self, cx: &ToolCx, input: &Value) -> RuleSubject {
        let path = input["path"].as_str().unwrap_or(".");
        RuleSubject::ReadPath(cx.absolute(path))
    }

    fn summary(&self, input: &Value) -> String {
        let pattern = input["pattern"].as_str().unwrap_or_default();
        match input["path"].as_str() {
            Some(path) => format!("{pattern} in {path}"),
            None => pattern.to_owned(),
        }
    }

    async fn validate_input(&self, input: &Value, _cx: &ToolCx) -> Result<(), Refusal> {
        let input: Input = fields::read(input)?;
        check(&input)?;
        types(&input).map(drop)?;
        rules(&input, "/").map(drop)
    }

    async fn call(
        &self,
        input: &Value,
        cx: &ToolCx,
        _permit: &dyn Permit,
        _progress: &dyn Progress,
    ) -> Outcome {
        run(input, cx).await.unwrap_or_else(Outcome::from)
    }
}

fn lines(n: Option<i64>) -> Option<usize> {
    n.map(|n| usize::try_from(n).unwrap_or(0))
}

/// Whether the pattern can be searched for.
fn check(input: &Input) -> Result<(), Refusal> {
    if query(input).surely_compiles() {
        return Ok(());
    }
    compile(input, false).map(drop)
}

fn query(input: &Input) -> Query {
    let shows_lines = input.output_mode.unwrap_or_default() == Mode::Content;
    let around = lines(input.around).or(lines(input.context));
    let context = |n: Option<i64>| match shows_lines {
        true => lines(n).or(around).unwrap_or(0),
        false => 0,
    };
    Query {
        pattern: input.pattern.clone(),
        ignore_case: input.ignore_case.unwrap_or(false),
        multiline: input.multiline.unwrap_or(false),
        before: context(input.before),
        after: context(input.after),
        only_matching: shows_lines && input.only_matching.unwrap_or(false),
    }
}

fn compile(input: &Input, as_text: bool) -> Result<Search, Refusal> {
    let query = query(input);
    Search::new(&query, as_text).map_err(|e| {
        let hint = if !query.multiline && query.pattern.contains(['\n', 'n']) && e.contains("\\n") {
            "Set multiline to match over line ends."
        } else {
            "Correct it; escape characters that are meant literally with a backslash."
        };
        Refusal::new(
            Class::InvalidInput,
            format!(
                "the pattern {} is no valid regular expression: {}. {hint}",
                Value::String(input.pattern.clone()),
                e.trim_end_matches('.')
            ),
        )
    })
}

fn types(input: &Input) -> Result<Option<Types>, Refusal> {
    let Some(name) = &input.file_type else {
        return Ok(None);
    };
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    builder.select(name);
    builder.build().map(Some).map_err(|_| {
        let mut known = TypesBuilder::new();
        known.add_defaults();
        let known = known.definitions();
        let near = nearest(name, known.iter().map(|def| def.name()));
        Refusal::new(
            Class::InvalidInput,
            format!(
                "{} is no type of files.{} Use glob for a pattern of names.",
                Value::String(name.clone()),
                did_you_mean(&near)
            ),
        )
    })
}

fn globs(input: &Input, base: &str) -> Result<Option<Override>, Refusal> {
    let Some((builder, glob)) = rules(input, base)? else {
        return Ok(None);
    };
    builder.build().map(Some).map_err(|e| unreadable(glob, &e))
}

/// The globs as they are read, not yet compiled.
fn rules<'i>(input: &'i Input, base: &str) -> Result<Option<(OverrideBuilder, &'i str)>, Refusal> {
    let Some(glob) = &input.glob else {
        return Ok(None);
    };
    let mut builder = OverrideBuilder::new(base);
    match builder.add(glob) {
        Ok(_) => Ok(Some((builder, glob))),
        Err(e) => Err(unreadable(glob, &e)),
    }
}

fn unreadable(glob: &str, error: &ignore::Error) -> Refusal {
    Refusal::new(
        Class::InvalidInput,
        format!(
            "the glob {} cannot be read: {error}. Correct it.",
            Value::String(glob.to_owned())
        ),
    )
}

/// One file that matched, under the name that it is shown by.
struct Hit {
    name: String,
    hits: Hits,
}

async fn run(input: &Value, cx: &ToolCx) -> Result<Outcome, Refusal> {
    let input: Input = fields::read(input)?;
    let raw = input.path.as_deref().unwrap_or(".");
    match below::find(cx, raw).await? {
        Base::File { target } => in_file(&input, cx, &target).await,
        Base::Folder { target, files } => in_folder(&input, cx, &target, files).await,
    }
}

/// Searches one file that was named: nothing is skipped but binary content.
async fn in_file(input: &Input, cx: &ToolCx, target: &Target) -> Result<Outcome, Refusal> {
    let loaded = load(cx, target)
        .await
        .map_err(|e| refused(&target.path, &e))?;
    let is_result = target.path.starts_with(&format!("{}/", cx.env.results_dir));
    let hits = compile(input, is_result)?
        .run(&loaded.content)
        .map_err(|e| failed(&target.path, &e))?;
    let is_binary = hits.is_binary || loaded.is_cut;
    let mut found = Vec::new();
    if hits.count > 0 {
        found.push(Hit {
            name: shown_path(cx, &target.path),
            hits,
        });
    }
    let outcome = shown(input, &found, false);
    Ok(if is_binary {
        outcome.with_note("[It is a binary file and was not searched to its end.]")
    } else {
        outcome
    })
}

async fn in_folder(
    input: &Input,
    cx: &ToolCx,
    target: &Target,
    files: Vec<Below>,
) -> Result<Outcome, Refusal> {
    let base = &*target.canonical;
    let types = types(input)?;
    let globs = globs(input, base)?;
    let mut search = compile(input, false)?;
    let mut ignored = Ignored::load(cx, base, &files).await;
    let mut found = Vec::new();
    for file in files {
        let excluded = types
            .as_ref()
            .is_some_and(|types| !types.matched(&*file.canonical, false).is_whitelist())
            || globs
                .as_ref()
                .is_some_and(|globs| is_excluded(globs, base, &file.canonical))
            || ignored.is_ignored(&file.canonical);
        if excluded {
            continue;
        }
        let target = Target {
            path: file.path,
            canonical: Arc::clone(&file.canonical),
        };
        // A file that vanished or may not be read is passed over, as ripgrep does.
        let Ok(loaded) = load(cx, &target).await else {
            continue;
        };
        if loaded.is_cut {
            continue;
        }
        let hits = search
            .run(&loaded.content)
            .map_err(|e| failed(&target.path, &e))?;
        if hits.count > 0 && !hits.is_binary {
            found.push(Hit {
                name: shown_path(cx, &target.path),
                hits,
            });
        }
    }
    Ok(shown(input, &found, true))
}

/// Whether globs keep a file out, by its own path or by a folder it is in.
fn is_excluded(globs: &Override, base: &str, path: &str) -> bool {
    let inside = base.len() + usize::from(base != "/");
    let folders = path
        .match_indices('/')
        .filter(|(at, _)| *at >= inside)
        .any(|(at, _)| globs.matched(&path[..at], true).is_ignore());
    folders || globs.matched(path, false).is_ignore()
}

fn failed(path: &str, what: &str) -> Refusal {
    Refusal::new(
        Class::ToolError,
        format!("searching {path} failed: {what}. Try a simpler pattern."),
    )
}

/// A path as results show it: relative to the working folder if it is in there.
fn shown_path(cx: &ToolCx, path: &str) -> String {
    let cwd = &cx.env.cwd;
    match path.strip_prefix(cwd.as_str()) {
        Some(rest) if rest.starts_with('/') => rest[1..].to_owned(),
        _ => path.to_owned(),
    }
}

/// The part of `entries` that the limits leave, and what to say of the rest.
fn window(input: &Input, entries: &[String]) -> (Vec<String>, Option<String>) {
    let offset = usize::try_from(input.offset.unwrap_or(0)).unwrap_or(0);
    let limit = match input.head_limit {
        None => HEAD_LIMIT,
        Some(limit) => match usize::try_from(limit) {
            Ok(0) => usize::MAX,
            Ok(limit) => limit,
            Err(_) => HEAD_LIMIT,
        },
    };
    let total = entries.len();
    if offset > 0 && offset >= total {
        let note = format!("[There are {total}, none from offset {offset} on.]");
        return (Vec::new(), Some(note));
    }
    let end = offset.saturating_add(limit).min(total);
    let note = (end < total).then(|| {
        format!(
            "[{}–{end} of {total} are shown. Go on with offset {end}, or narrow the search.]",
            offset + 1
        )
    });
    (entries[offset..end].to_vec(), note)
}

/// The outcome: `found` in the form that was asked for.
fn shown(input: &Input, found: &[Hit], with_paths: bool) -> Outcome {
    let mode = input.output_mode.unwrap_or_default();
    let names: Vec<String> = found.iter().map(|hit| hit.name.clone()).collect();
    let matches: u64 = found.iter().map(|hit| hit.hits.count).sum();
    let entries = match mode {
        Mode::FilesWithMatches => names.clone(),
        Mode::Count => found
            .iter()
            .map(|hit| format!("{}:{}", hit.name, hit.hits.count))
            .collect(),
        Mode::Content => content(found, with_paths, input.numbers.unwrap_or(true)),
    };
    let (shown, note) = window(input, &entries);
    let body = shown.join("\n");
    let (mode_name, mut text) = match mode {
        _ if entries.is_empty() => (mode_word(mode), "[Nothing matches.]".to_owned()),
        Mode::FilesWithMatches => (
            mode_word(mode),
            format!("Found {}\n{body}", counted(names.len(), "file")),
        ),
        Mode::Count => (
            mode_word(mode),
            format!(
                "{body}\n\nFound {matches} in {}.",
                counted(names.len(), "file")
            ),
        ),
        Mode::Content => (mode_word(mode), body.clone()),
    };
    let is_cut = note.is_some();
    if let Some(note) = note {
        text.push_str(if text.is_empty() { "" } else { "\n\n" });
        text.push_str(&note);
    }
    let mut data = json!({
        "mode": mode_name,
        "numFiles": names.len(),
        "filenames": if mode == Mode::Content { Vec::new() } else { names },
        "numMatches": matches,
    });
    if mode != Mode::FilesWithMatches {
        data["content"] = json!(body);
        data["numLines"] = json!(shown.len());
    }
    let outcome = Outcome::ok(text).with_data(data);
    if is_cut {
        outcome.with_flag(Flag::Truncated)
    } else {
        outcome
    }
}

fn mode_word(mode: Mode) -> &'static str {
    match mode {
        Mode::Content => "content",
        Mode::FilesWithMatches => "files_with_matches",
        Mode::Count => "count",
    }
}

fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// The lines to show: `path:12:text` for matches, `path-12-text` for context, `--`
/// between groups.
fn content(found: &[Hit], with_paths: bool, with_numbers: bool) -> Vec<String> {
    let has_context = found.iter().any(|hit| {
        hit.hits
            .lines
            .iter()
            .any(|line| !matches!(line, Line::Match(..)))
    });
    let mut out = Vec::new();
    for (index, hit) in found.iter().enumerate() {
        if has_context && index > 0 {
            out.push("--".to_owned());
        }
        for line in &hit.hits.lines {
            let (sign, number, text) = match line {
                Line::Match(number, text) => (':', number, text),
                Line::Context(number, text) => ('-', number, text),
                Line::Break => {
                    out.push("--".to_owned());
                    continue;
                }
            };
            let mut shown = String::new();
            if with_paths {
                shown.push_str(&hit.name);
                shown.push(sign);
            }
            if with_numbers {
                shown.push_str(&format!("{number}{sign}"));
            }
            shown.push_str(text);
            out.push(shown);
        }
    }
    out
}
