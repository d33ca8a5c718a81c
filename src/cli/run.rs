//! `rehearsal run`.

use super::console::Console;
use super::determinism;
use super::exit::Exit;
use super::flags::RunFlags;
use super::walk;
use crate::report::run_line::{RunLine, Said, SnapshotDivergence, Status, Summary};
use crate::report::snapshot;
use crate::report::snapshot_file::{self, Compared};
use crate::run::{self, RunError, RunOptions, RunReport, Setup, SetupError};
use crate::scenario::{
    Complaint, Outcome, Rejected, Scenario, SnapshotLevel, SourceText, judge, load,
    unexpected_breaks,
};
use crate::tools::lint::lint;
use crate::trace::{Level, Trace, save_trace};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

#[derive(clap::Args)]
pub struct Args {
    /// Scenario files, folders of them, or one case as FILE@CASE
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    flags: RunFlags,
    /// Print the hash of each trace and nothing else; what --check-determinism runs
    #[arg(long, hide = true)]
    print_trace_hashes: bool,
}

/// Runs scenarios.
pub fn run(args: &Args, console: &mut Console) -> Exit {
    if let [flag, ..] = args.flags.not_supported().as_slice() {
        console.complain(&format!("error: {flag} is not supported yet"));
        return Exit::BadInput;
    }
    if let Some(given) = &args.flags.settings {
        // The scenarios say how it ends: one may expect it.
        given.tell(console);
    }
    let jobs = match jobs(args) {
        Ok(jobs) => jobs,
        Err(error) => {
            console.complain(&format!("error: {error}"));
            return Exit::BadInput;
        }
    };
    if args.flags.schedule.is_some() && jobs.len() > 1 {
        let error = "error: --schedule is of one scenario, and these paths hold several";
        console.complain(error);
        console.complain("hint: name one case as FILE@CASE, or use --filter");
        return Exit::BadInput;
    }
    if let Some(folder) = &args.flags.out
        && let Err(error) = std::fs::create_dir_all(folder)
    {
        console.complain(&format!(
            "error: failed to make {}: {error}",
            folder.display()
        ));
        return Exit::BadInput;
    }
    if args.print_trace_hashes {
        return determinism::print_hashes(&jobs, &args.flags, console);
    }
    let mut summary = Summary::default();
    let mut exit = Exit::Nothing;
    let mut hashes = BTreeMap::new();
    let mut told = BTreeSet::new();
    each(&jobs, &args.flags, &mut |job, done| {
        summary.count(done.line.status);
        let own = exit_of(&done);
        exit = if exit == Exit::Nothing {
            own
        } else {
            exit.max(own)
        };
        if let Some(hash) = &done.line.trace_hash {
            hashes.insert(done.line.scenario.clone(), hash.clone());
        }
        print(job, &done, &mut told, console);
    });
    if args.flags.check_determinism && !hashes.is_empty() {
        exit = exit.max(determinism::in_another_process(&hashes, console));
    }
    if exit == Exit::Nothing {
        console.complain("error: nothing was compared: no scenario fits");
        return exit;
    }
    if console.json {
        console.json_line(&serde_json::json!({"summary": summary}));
    } else if !console.quiet {
        console.line(&summary.in_words());
    }
    exit
}

/// One scenario to be run, or the reasons why it cannot be.
pub struct Job {
    pub title: String,
    pub what: Result<Box<Scenario>, Rejected>,
    /// Of the file; with its first scenario only.
    warnings: Vec<Complaint>,
    sources: Vec<SourceText>,
    root: PathBuf,
    /// The name of the snapshot and of the trace.
    slug: String,
}

/// What became of a job.
pub struct Done {
    pub line: RunLine,
    pub trace: Option<Trace>,
    /// The lines in which the snapshot differs.
    snapshot_diff: Option<String>,
    /// The run could not begin because of what was typed.
    bad_input: bool,
}

fn jobs(args: &Args) -> Result<Vec<Job>, String> {
    let current = walk::current_folder()?;
    let filter = args.flags.filter.as_deref();
    let fits = |texts: [&str; 2]| filter.is_none_or(|f| texts.iter().any(|t| t.contains(f)));
    let mut jobs = Vec::new();
    for given in walk::scenario_files(&args.paths)? {
        let file = walk::absolute(&given.path)?;
        let root = snapshot_file::root_of(&file, &current);
        let job = |title: String, slug, what| Job {
            title,
            what,
            warnings: Vec::new(),
            sources: Vec::new(),
            root: root.clone(),
            slug,
        };
        let loaded = match load(&given.path) {
            Ok(loaded) => loaded,
            Err(rejected) => {
                let title = given.path.display().to_string();
                if fits([&title, ""]) {
                    jobs.push(job(
                        title,
                        snapshot_file::stem_of(&root, &file),
                        Err(rejected),
                    ));
                }
                continue;
            }
        };
        let (mut warnings, mut sources) = (loaded.warnings, loaded.sources);
        let mut found = given.case.is_none();
        for scenario in loaded.scenarios {
            let asked = given.case.is_none() || given.case == scenario.case;
            found |= asked;
            if !asked || !fits([&scenario.title(), &scenario.name]) {
                continue;
            }
            let slug = snapshot_file::name_of(&root, &file, &scenario);
            jobs.push(Job {
                warnings: std::mem::take(&mut warnings),
                sources: std::mem::take(&mut sources),
                ..job(scenario.title(), slug, Ok(Box::new(scenario)))
            });
        }
        if !found {
            let case = given.case.unwrap_or_default();
            return Err(format!("{} has no case {case:?}", given.path.display()));
        }
    }
    Ok(jobs)
}

/// Does every job, as many at once as was asked for, and hands the results on in the
/// order of the jobs.
fn each(jobs: &[Job], flags: &RunFlags, take: &mut dyn FnMut(&Job, Done)) {
    let workers = usize::from(flags.jobs).min(jobs.len());
    if workers <= 1 {
        jobs.iter().for_each(|job| take(job, do_job(job, flags)));
        return;
    }
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let (next, sender) = (&next, sender.clone());
            scope.spawn(move || {
                while let Some((at, job)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    jobs.get(at).map(|job| (at, job))
                } {
                    // Nobody listens any more only if the main thread panicked.
                    let _ = sender.send((at, do_job(job, flags)));
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut due = 0;
        for (at, done) in receiver {
            waiting.insert(at, done);
            while let Some(done) = waiting.remove(&due) {
                take(&jobs[due], done);
                due += 1;
            }
        }
    });
}

fn do_job(job: &Job, flags: &RunFlags) -> Done {
    let mut line = RunLine {
        scenario: job.title.clone(),
        name: String::new(),
        status: Status::Invalid,
        seed: flags.seed.unwrap_or(0),
        schedule: None,
        trace_hash: None,
        outcome_hash: None,
        makespan_ms: 0,
        turns: 0,
        calls: 0,
        stats: BTreeMap::new(),
        complaints: Vec::new(),
        divergence: None,
        reproduce: format!(
            "rehearsal run {}{}",
            shell_quoted(&job.title),
            flags.typed()
        ),
    };
    let scenario = match &job.what {
        Ok(scenario) => scenario,
        Err(rejected) => {
            line.complaints = rejected.complaints.iter().map(Said::from).collect();
            return Done {
                line,
                trace: None,
                snapshot_diff: None,
                bad_input: true,
            };
        }
    };
    line.name.clone_from(&scenario.name);
    line.seed = flags.seed.unwrap_or(scenario.seed);
    line.complaints = job.warnings.iter().map(Said::from).collect();
    let given = flags.settings.iter().map(|given| &given.settings);
    for settings in std::iter::once(&scenario.settings).chain(given) {
        let broken = settings.broken.iter();
        line.complaints
            .extend(broken.map(|b| Said::from(&b.complaint)));
    }
    match run_once(scenario, &flags.options()) {
        Ok(report) => compare(job, scenario, flags, line, report),
        Err(error) => {
            line.status = Status::Error;
            let text = error.to_string();
            line.complaints.push(Said::Run { text });
            Done {
                line,
                trace: None,
                snapshot_diff: None,
                bad_input: is_bad_input(&error),
            }
        }
    }
}

/// Runs a scenario once.
pub fn run_once(scenario: &Scenario, options: &RunOptions) -> Result<RunReport, RunError> {
    // The name of the profile was checked when it was typed.
    let setup = Setup::from_scenario(scenario, options)
        .map_err(|error| RunError::Setup(SetupError::Permissions(vec![error.to_string()])))?;
    run::run(setup)
}

fn is_bad_input(error: &RunError) -> bool {
    match error {
        RunError::Setup(_) => true,
        RunError::Sim(error) => matches!(error, crate::sim::SimError::Schedule(_)),
    }
}

/// Compares what came of a run with what was expected and with the snapshot.
fn compare(
    job: &Job,
    scenario: &Scenario,
    flags: &RunFlags,
    mut line: RunLine,
    report: RunReport,
) -> Done {
    let trace = report.trace;
    line.schedule = Some(report.schedule.clone());
    line.trace_hash = Some(trace.trace_hash());
    line.makespan_ms = report.makespan_ms;
    if let Some(finished) = trace.finished() {
        line.outcome_hash = Some(finished.outcome_hash.clone());
        line.turns = finished.turns;
        line.calls = finished.calls;
        line.stats.clone_from(&finished.stats);
    }
    let profile = match &flags.profile {
        Some(name) => scenario.profile_called(name).ok(),
        None => None,
    };
    let failures = judge(
        scenario,
        &Outcome {
            trace: &trace,
            profile: profile.as_ref().unwrap_or(&scenario.profile),
            fs: &report.fs,
            unused: &report.leftover,
        },
    );
    line.complaints.extend(failures.iter().map(Said::from));
    // A script that does not fit its run is a failure of the run; whatever else a run
    // complains about, its scenario lacks.
    let script_fits = report.stop != "model_error";
    let complained = !report.complaints.is_empty();
    // Settings that are broken are bad input; the run goes on by what of them restricts.
    let broken = unexpected_breaks(scenario, &trace).next().is_some();
    let invalid = (complained && script_fits) || broken;
    line.status = if invalid {
        Status::Invalid
    } else if complained || !failures.is_empty() {
        Status::Differs
    } else {
        Status::Same
    };
    let lints = lint(report.pool.entries().iter().map(|entry| &**entry));
    if flags.strict_lint && !lints.is_empty() && line.status < Status::Differs {
        line.status = Status::Differs;
    }
    line.complaints.extend(lints.iter().map(Said::from));
    let runs = report.complaints.into_iter();
    line.complaints.extend(runs.map(|text| Said::Run { text }));
    let mut done = Done {
        line,
        trace: None,
        snapshot_diff: None,
        bad_input: false,
    };
    if let Some(folder) = &flags.out
        && let Err(error) = save_trace(
            &trace,
            Level::Ops,
            &folder.join(format!("{}.jsonl", job.slug)),
        )
    {
        done.fault(Said::Run {
            text: error.to_string(),
        });
    }
    // Under other options than the scenario's the trace is another.
    if flags.options() == RunOptions::default() && !invalid {
        compare_snapshot(job, scenario, &trace, &mut done);
    }
    if flags.check_determinism {
        determinism::again(scenario, &flags.options(), &trace, &mut done);
    }
    done.trace = Some(trace);
    done
}

fn compare_snapshot(job: &Job, scenario: &Scenario, trace: &Trace, done: &mut Done) {
    if scenario.snapshot == SnapshotLevel::None {
        return;
    }
    let text = snapshot::text(trace, scenario.snapshot);
    let path = relative(&snapshot_file::accepted(&job.root, &job.slug));
    let compared =
        snapshot_file::compare(&job.root, &job.slug, &source_of(job), &scenario.name, &text);
    match compared {
        Ok(Compared::Same) => {}
        Ok(Compared::New) => done.line.status = done.line.status.max(Status::New),
        Ok(Compared::Differs { expected }) => {
            done.line.status = done.line.status.max(Status::Differs);
            done.line.divergence = Some(SnapshotDivergence::between(path, &expected, &text));
            let diff = similar::TextDiff::from_lines(expected.as_str(), text.as_str());
            done.snapshot_diff = Some(diff.unified_diff().context_radius(2).to_string());
        }
        Err(error) => done.fault(Said::Run {
            text: format!("failed to compare {path}: {error}"),
        }),
    }
}

/// The path of the scenario from the root of its snapshots, for their headers.
fn source_of(job: &Job) -> String {
    let file = job
        .title
        .split_once('@')
        .map_or(&*job.title, |(file, _)| file);
    let absolute = walk::absolute(Path::new(file)).unwrap_or_default();
    let inside = absolute.strip_prefix(&job.root).unwrap_or(&absolute);
    inside.to_string_lossy().replace('\\', "/")
}

/// A path as it is typed here.
fn relative(path: &Path) -> String {
    let current = walk::current_folder().unwrap_or_default();
    let inside = path.strip_prefix(&current).unwrap_or(path);
    inside.display().to_string()
}

impl Done {
    /// Something that is not the scenario's fault.
    pub fn fault(&mut self, said: Said) {
        self.line.status = Status::Error;
        self.line.complaints.push(said);
    }
}

fn exit_of(done: &Done) -> Exit {
    match done.line.status {
        Status::Same => Exit::Same,
        Status::New | Status::Differs => Exit::Differs,
        Status::Invalid => Exit::BadInput,
        Status::Error if done.bad_input => Exit::BadInput,
        Status::Error => Exit::Fault,
    }
}

/// Prints one result; of what is wrong with tools, what was not `told` before.
fn print(job: &Job, done: &Done, told: &mut BTreeSet<String>, console: &mut Console) {
    let line = &done.line;
    match &job.what {
        Err(rejected) => console.complaints(&rejected.complaints, &rejected.sources),
        Ok(scenario) => {
            console.complaints(&job.warnings, &job.sources);
            for broken in &scenario.settings.broken {
                console.complain(&broken.complaint.to_string());
            }
        }
    }
    for said in &line.complaints {
        if let Said::Tool { text, .. } = said
            && told.insert(text.clone())
        {
            console.note(&format!("warning: {}: {text}", line.scenario));
        }
    }
    if console.json {
        return console.json_line(line);
    }
    if line.status == Status::Same && console.quiet {
        return;
    }
    let mut text = format!("{:8} {}\n", line.status.as_str(), line.scenario);
    for said in &line.complaints {
        match said {
            // Said on stderr.
            Said::File { .. } | Said::Tool { .. } => {}
            Said::Failure {
                what,
                expected,
                found,
                file,
                line,
                column,
            } => {
                let place = match (file, line, column) {
                    (Some(file), Some(line), Some(column)) => format!("{file}:{line}:{column}: "),
                    _ => String::new(),
                };
                text.push_str(&format!(
                    "  {place}{what}: expected {expected}, found {found}\n"
                ));
            }
            Said::Run { text: said } => text.push_str(&format!("  {said}\n")),
        }
    }
    if let (Some(divergence), Some(diff)) = (&line.divergence, &done.snapshot_diff) {
        text.push_str(&format!("  {} differs:\n", divergence.snapshot));
        for line in diff.lines() {
            text.push_str(&format!("    {line}\n"));
        }
    }
    if !matches!(line.status, Status::Same | Status::New) {
        text.push_str(&format!("  again: {}\n", line.reproduce));
    }
    if line.status == Status::New || line.divergence.is_some() {
        let file = job
            .title
            .split_once('@')
            .map_or(&*job.title, |(file, _)| file);
        text.push_str(&format!(
            "  take the new snapshot: rehearsal accept {}\n",
            shell_quoted(file)
        ));
    }
    console.data(&text);
}

/// A word as a POSIX shell takes it.
pub fn shell_quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@,+=%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
