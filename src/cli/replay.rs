//! `rehearsal replay`.

use super::console::Console;
use super::exit::Exit;
use super::flags;
use crate::profile::Profile;
use crate::replay::{
    Counts, Divergence, RecordingReport, ReplayOptions, Summary, Unreadable, recording_files,
    replay_file,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Args {
    /// Recordings, or folders of them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Replay under this profile, whatever version made the recording
    #[arg(long, value_name = "NAME", value_parser = flags::profile())]
    profile: Option<String>,
    /// Judge the calls by these settings: a project folder with `.claude/` in it, a `.claude/`
    /// folder, or one settings file
    #[arg(long, value_name = "PATH", value_parser = flags::given_settings)]
    settings: Option<flags::Given>,
    /// Divergences that are known; only others fail
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Replay only recordings that have this in their path
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
}

/// A divergence as a baseline knows it: by what it is, not by its words.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Known {
    /// The recording's file name, without its folder.
    recording: String,
    call: String,
    tool: String,
    class_recorded: String,
    class_replayed: String,
    path: String,
    cause: String,
}

impl Known {
    fn of(recording: &str, divergence: &Divergence) -> Known {
        let name = Path::new(recording)
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        Known {
            recording: name.unwrap_or_else(|| recording.to_owned()),
            call: divergence.call.clone(),
            tool: divergence.tool.clone(),
            class_recorded: divergence.class_recorded.to_string(),
            class_replayed: divergence.class_replayed.to_string(),
            path: divergence.path.clone(),
            cause: divergence.cause.as_str().to_owned(),
        }
    }
}

/// Replays recordings.
pub fn replay(args: &Args, console: &mut Console) -> Exit {
    let mut exit = Exit::Same;
    if let Some(given) = &args.settings {
        exit = exit.max(given.tell(console));
    }
    let (options, known, files) = match prepare(args) {
        Ok(prepared) => prepared,
        Err(error) => {
            console.complain(&format!("error: {error}"));
            return Exit::BadInput;
        }
    };
    let mut summary = Summary::default();
    let mut met = BTreeSet::new();
    for file in &files {
        match replay_file(file, &options) {
            Ok(report) => {
                summary.add(&report);
                let new = report
                    .divergences
                    .iter()
                    .map(|d| Known::of(&report.recording, d));
                let new: BTreeSet<Known> = new.collect();
                if new.iter().any(|divergence| !known.contains(divergence)) {
                    exit = exit.max(Exit::Differs);
                }
                print(&report, &known, console);
                met.extend(new);
            }
            Err(error) => {
                summary.unreadable += 1;
                exit = exit.max(if matches!(error, Unreadable::Fault(_)) {
                    Exit::Fault
                } else {
                    Exit::BadInput
                });
                if console.json {
                    let name = file.display().to_string();
                    console.json_line(
                        &serde_json::json!({"recording": name, "error": error.to_string()}),
                    );
                }
                console.complain(&format!("error: {}: {error}", file.display()));
            }
        }
    }
    if console.json {
        console.json_line(&serde_json::json!({"summary": summary}));
    } else if !console.quiet {
        table(&summary, console);
    }
    if let Some(baseline) = &args.baseline
        && let Err(error) = pend(baseline, &known, &met, console)
    {
        console.complain(&format!("error: {error}"));
        return Exit::BadInput;
    }
    match exit {
        Exit::Same if !summary.has_compared() => {
            console.complain("error: nothing was compared: no call in these recordings can be");
            Exit::Nothing
        }
        exit => exit,
    }
}

type Prepared = (ReplayOptions, BTreeSet<Known>, Vec<PathBuf>);

fn prepare(args: &Args) -> Result<Prepared, String> {
    let profile = args.profile.as_deref().map(Profile::by_name).transpose();
    let options = ReplayOptions {
        profile: profile.map_err(|error| error.to_string())?,
        settings: args
            .settings
            .as_ref()
            .map(|given| given.settings.clone())
            .unwrap_or_default(),
    };
    let known = match &args.baseline {
        Some(file) => baseline(file)?,
        None => BTreeSet::new(),
    };
    let mut files = recording_files(&args.paths)?;
    if let Some(filter) = &args.filter {
        files.retain(|file| file.to_string_lossy().contains(filter.as_str()));
    }
    Ok((options, known, files))
}

/// Reads a baseline; one that is not there yet is empty.
fn baseline(file: &Path) -> Result<BTreeSet<Known>, String> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        Err(error) => return Err(format!("failed to read {}: {error}", file.display())),
    };
    let lines = (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            serde_json::from_str(line).map_err(|error| {
                format!(
                    "{}:{number}:{}: expected a known divergence as `--baseline` writes it, found {error}",
                    file.display(),
                    error.column(),
                )
            })
        })
        .collect()
}

/// Writes the new baseline beside the old one if they differ.
fn pend(
    file: &Path,
    known: &BTreeSet<Known>,
    met: &BTreeSet<Known>,
    console: &mut Console,
) -> Result<(), String> {
    if known == met {
        return Ok(());
    }
    let pending = super::accept::pending_baseline(file);
    let mut text = String::new();
    for divergence in met {
        text.push_str(&serde_json::to_string(divergence).map_err(|error| error.to_string())?);
        text.push('\n');
    }
    std::fs::write(&pending, text)
        .map_err(|error| format!("failed to write {}: {error}", pending.display()))?;
    let (new, gone) = (met.difference(known).count(), known.difference(met).count());
    console.complain(&format!(
        "the baseline has {new} divergences less and {gone} more than there are now"
    ));
    console.complain(&format!(
        "take the new one: rehearsal accept {}",
        file.display()
    ));
    Ok(())
}

fn print(report: &RecordingReport, known: &BTreeSet<Known>, console: &mut Console) {
    if console.json {
        console.json_line(report);
        return;
    }
    let any_new = report
        .divergences
        .iter()
        .any(|d| !known.contains(&Known::of(&report.recording, d)));
    if console.quiet && !any_new {
        return;
    }
    console.line(&format!(
        "{}  ({}, profile {})",
        report.recording, report.format, report.profile
    ));
    console.line(&format!(
        "  {} calls: {} predicted, {} seeded, {} recorded, {} diverged, {} not comparable",
        report.calls,
        report.predicted,
        report.seeded,
        report.recorded,
        report.diverged,
        report.not_comparable
    ));
    for divergence in &report.divergences {
        let mark = if known.contains(&Known::of(&report.recording, divergence)) {
            "known"
        } else {
            "diverged"
        };
        console.line(&format!(
            "  {mark}: line {}, call {} {}: {} at {} ({})",
            divergence.line,
            divergence.number,
            divergence.tool,
            divergence.path,
            divergence.step,
            divergence.cause.as_str()
        ));
        console.line(&format!(
            "    recorded {}: {}",
            divergence.class_recorded, divergence.recorded
        ));
        console.line(&format!(
            "    replayed {}: {}",
            divergence.class_replayed, divergence.replayed
        ));
    }
    for complaint in &report.line_complaints {
        console.line(&format!(
            "  line {}:{}: expected {}, found {}",
            complaint.line, complaint.column, complaint.expected, complaint.found
        ));
    }
    if any_new {
        console.line(&format!("  again: rehearsal replay {}", report.recording));
    }
}

/// The five counts by tool.
fn table(summary: &Summary, console: &mut Console) {
    let names = summary
        .tally
        .by_tool
        .keys()
        .map(|name| name.chars().count());
    let width = names.max().unwrap_or(0).max("tool".len());
    let head = [
        "tool",
        "calls",
        "predicted",
        "seeded",
        "recorded",
        "diverged",
        "not comparable",
    ];
    let row = |name: &str, counts: &Counts| {
        let cells = [
            counts.calls,
            counts.predicted,
            counts.seeded,
            counts.recorded,
            counts.diverged,
            counts.not_comparable,
        ];
        let cells: Vec<String> = cells
            .iter()
            .zip(&head[1..])
            .map(|(n, head)| format!("{n:>0$}", head.len()))
            .collect();
        format!("{name:<width$}  {}", cells.join("  "))
    };
    console.line("");
    console.line(&format!("{:<width$}  {}", head[0], head[1..].join("  ")));
    for (tool, counts) in &summary.tally.by_tool {
        console.line(&row(tool, counts));
    }
    console.line(&row("all", &summary.tally.all));
    console.line(&format!(
        "{} recording{}, {} unreadable; {} line complaints, {} repairs, {} outside changes",
        summary.recordings,
        if summary.recordings == 1 { "" } else { "s" },
        summary.unreadable,
        summary.line_complaints,
        summary.repairs,
        summary.outside_changes
    ));
}
