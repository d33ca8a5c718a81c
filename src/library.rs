//! The runtime in somebody's own `cargo test`.
//!
//! ```
//! use rehearsal::Rehearsal;
//! use serde_json::json;
//!
//! let trace = Rehearsal::new()
//!     .file("notes.txt", "one\ntwo\n")
//!     .settings(json!({"permissions": {"allow": ["Edit"]}}))
//!     .turn([("Read", json!({"file_path": "notes.txt"}))])
//!     .turn([("Edit", json!({"file_path": "notes.txt", "old_string": "one", "new_string": "1"}))])
//!     .say("Done.")
//!     .run();
//! assert_eq!(trace.stop(), "end_turn");
//! assert_eq!(trace.classes(), ["ok", "ok"]);
//! assert_eq!(trace.file("notes.txt").as_deref(), Some("1\ntwo\n"));
//! ```

use crate::model::{ScriptedCall, Turn};
use crate::run::{Order, RunOptions, RunReport, Setup, run};
use crate::scenario::{Outcome, judge, load};
use crate::settings::{Layer, Source, merge};
use crate::tools::Tool;
use crate::trace::{Event, Trace};
use crate::words::Class;
use crate::world::{Fs, normalize};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A session in the making.
#[derive(Debug, Clone, Default)]
pub struct Rehearsal {
    setup: Setup,
    layers: Vec<(Source, Value)>,
}

/// What a session left behind.
#[derive(Debug)]
pub struct Rehearsed(RunReport, String);

impl Rehearsal {
    /// An empty world at `/work`, where nobody can be asked.
    pub fn new() -> Rehearsal {
        Rehearsal::default()
    }

    /// Draws everything random, the schedule too, from `seed`; 0 is the order of the actors.
    pub fn seed(mut self, seed: u64) -> Rehearsal {
        self.setup.seed = seed;
        self.setup.order = if seed == 0 {
            Order::InOrder
        } else {
            Order::Random
        };
        self
    }

    /// Puts a file into the world; `path` is relative to `/work` unless absolute.
    ///
    /// # Panics
    /// If the path cannot be a file, as when one above it is no folder.
    pub fn file(self, path: &str, content: impl AsRef<[u8]>) -> Rehearsal {
        const FILE_MODE: u32 = 0o644;
        let path = normalize(&self.setup.cwd, path);
        let made =
            self.setup
                .fs
                .put_file(&path, content.as_ref(), FILE_MODE, self.setup.start_unix_ms);
        if let Err(error) = made {
            panic!("{path} cannot be a file: {error}");
        }
        self
    }

    /// Adds a tool of one's own.
    pub fn tool(mut self, tool: impl Tool + 'static) -> Rehearsal {
        self.setup.tools.push(Arc::new(tool));
        self
    }

    /// The project's `settings.json`.
    pub fn settings(mut self, settings: Value) -> Rehearsal {
        self.layers.push((Source::Project, settings));
        self
    }

    /// What the user says first.
    pub fn prompt(mut self, prompt: &str) -> Rehearsal {
        self.setup.prompts = vec![prompt.to_owned()];
        self
    }

    /// The model's next response: calls, by tool and input.
    pub fn turn<'a>(mut self, calls: impl IntoIterator<Item = (&'a str, Value)>) -> Rehearsal {
        let call = |(tool, input): (&str, Value)| ScriptedCall {
            tool: tool.to_owned(),
            id: None,
            input: input.to_string(),
        };
        let calls = calls.into_iter().map(call).collect();
        self.setup.turns.push(Turn {
            calls,
            ..Turn::default()
        });
        self
    }

    /// The model's next response: a text, after which it stops.
    pub fn say(mut self, text: &str) -> Rehearsal {
        self.setup.turns.push(Turn {
            say: vec![text.to_owned()],
            ..Turn::default()
        });
        self
    }

    /// Turns with everything that a scenario's may have.
    pub fn script(mut self, turns: impl IntoIterator<Item = Turn>) -> Rehearsal {
        self.setup.turns.extend(turns);
        self
    }

    /// Everything else.
    pub fn setup(mut self, change: impl FnOnce(&mut Setup)) -> Rehearsal {
        change(&mut self.setup);
        self
    }

    /// Runs the session.
    ///
    /// # Panics
    /// If the settings are wrong, the script does not fit, or the run cannot begin: all
    /// that makes a test worthless rather than failed.
    pub fn run(mut self) -> Rehearsed {
        let layers = self
            .layers
            .iter()
            .map(|(source, value)| Layer::from_value(*source, value));
        let (settings, complaints) = merge(layers.collect());
        let errors: Vec<String> = complaints
            .iter()
            .filter(|c| c.is_error())
            .map(ToString::to_string)
            .collect();
        assert!(errors.is_empty(), "settings: {}", errors.join("; "));
        self.setup.settings = settings;
        let cwd = self.setup.cwd.clone();
        match run(self.setup) {
            Ok(report) => {
                let complaints = report.complaints.join("; ");
                assert!(complaints.is_empty(), "{complaints}");
                Rehearsed(report, cwd)
            }
            Err(error) => panic!("{error}"),
        }
    }
}

impl Rehearsed {
    /// Every event of the run.
    pub fn trace(&self) -> &Trace {
        &self.0.trace
    }

    /// Why the run ended.
    pub fn stop(&self) -> &str {
        &self.0.stop
    }

    /// The classes of the results, in the order of the calls.
    pub fn classes(&self) -> Vec<&'static str> {
        let class = |event: &Event| match event {
            Event::Result(result) => Some(Class::as_str(result.class)),
            _ => None,
        };
        self.0
            .trace
            .lines
            .iter()
            .filter_map(|line| class(&line.event))
            .collect()
    }

    /// The text of a file at the end; none if it is not there.
    pub fn file(&self, path: &str) -> Option<String> {
        let bytes = self.0.fs.read(&normalize(&self.1, path)).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Everything else.
    pub fn report(&self) -> &RunReport {
        &self.0
    }
}

/// A scenario file to be checked.
pub fn scenario(path: impl AsRef<Path>) -> ScenarioCheck {
    ScenarioCheck {
        path: path.as_ref().to_owned(),
        tools: Vec::new(),
        options: RunOptions::default(),
    }
}

/// A scenario file with what a test adds to it.
pub struct ScenarioCheck {
    path: PathBuf,
    tools: Vec<Arc<dyn Tool>>,
    options: RunOptions,
}

impl ScenarioCheck {
    /// Adds a tool of one's own.
    pub fn tool(mut self, tool: impl Tool + 'static) -> ScenarioCheck {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Runs under another seed.
    pub fn seed(mut self, seed: u64) -> ScenarioCheck {
        self.options.seed = Some(seed);
        self
    }

    /// Runs the scenario and its cases.
    ///
    /// # Panics
    /// With everything that is not as the scenario expects, or is wrong with the file.
    pub fn check(self) {
        let wrong = self.failures();
        assert!(
            wrong.is_empty(),
            "{}:\n{}",
            self.path.display(),
            wrong.join("\n")
        );
    }

    /// Everything that is not as the scenario expects, or is wrong with the file.
    pub fn failures(&self) -> Vec<String> {
        let loaded = match load(&self.path) {
            Ok(loaded) => loaded,
            Err(rejected) => {
                return rejected
                    .complaints
                    .iter()
                    .map(ToString::to_string)
                    .collect();
            }
        };
        let mut wrong = Vec::new();
        for scenario in &loaded.scenarios {
            let ran = Setup::from_scenario(scenario, &self.options)
                .map_err(|error| error.to_string())
                .and_then(|mut setup| {
                    setup.tools.extend(self.tools.iter().cloned());
                    run(setup).map_err(|error| error.to_string())
                });
            let report = match ran {
                Ok(report) => report,
                Err(error) => {
                    wrong.push(error);
                    continue;
                }
            };
            wrong.extend(report.complaints.iter().cloned());
            let outcome = Outcome {
                trace: &report.trace,
                profile: &scenario.profile,
                fs: &report.fs,
                unused: &report.leftover,
            };
            wrong.extend(judge(scenario, &outcome).iter().map(ToString::to_string));
        }
        wrong
    }
}

/// Checks every scenario file below a folder of the package: one test, which names each
/// file that fails and why.
#[macro_export]
macro_rules! scenarios {
    ($folder:literal) => {
        #[test]
        fn scenarios() {
            $crate::check_folder(concat!(env!("CARGO_MANIFEST_DIR"), "/", $folder));
        }
    };
}

/// Checks every scenario file (`.yaml`, `.yml`) below `folder`.
///
/// # Panics
/// With everything that is wrong, and if there is no scenario at all.
pub fn check_folder(folder: impl AsRef<Path>) {
    let files = scenario_files(folder.as_ref());
    assert!(
        !files.is_empty(),
        "{} holds no scenario",
        folder.as_ref().display()
    );
    let wrong: Vec<String> = files
        .iter()
        .flat_map(|file| scenario(file).failures())
        .collect();
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The scenario files below a folder, sorted by path.
fn scenario_files(below: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(below).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(scenario_files(&path));
        } else if path
            .extension()
            .is_some_and(|extension| extension == "yaml" || extension == "yml")
        {
            found.push(path);
        }
    }
    found.sort();
    found
}
