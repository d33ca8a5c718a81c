//! `rehearsal explain`.

use super::console::Console;
use super::exit::Exit;
use super::flags;
use crate::explain::{
    CallLine, OverOptions, Overview, Question, Unanswered, UserSays, explain as explained, over,
    overview_text, text,
};
use crate::profile::Profile;
use crate::recording::{Source as RecordingSource, read};
use crate::replay::recording_files;
use crate::rule::{Anchors, about_unknown_tools, compile};
use crate::settings::{Settings, from_path, merge};
use crate::words::{Behavior, Mode};
use crate::world::{MemoryFs, MemoryOptions, normalize, split};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder that a call is made in if nothing says where.
const CWD: &str = "/work";
const HOME: &str = "/home/user";

#[derive(clap::Args)]
pub struct Args {
    /// Recordings, or folders of them: every call of theirs is decided about anew
    #[arg(value_name = "RECORDING", conflicts_with_all = ["tool", "input", "hook", "expect"])]
    recordings: Vec<PathBuf>,
    /// The tool that is called
    #[arg(
        long,
        value_name = "T",
        required_unless_present = "recordings",
        requires = "input"
    )]
    tool: Option<String>,
    /// The input of the call, as the model would write it
    #[arg(long, value_name = "JSON", requires = "tool")]
    input: Option<String>,
    /// A project folder with `.claude/` in it, a `.claude/` folder, or one settings file
    #[arg(long, value_name = "PATH")]
    settings: Option<PathBuf>,
    /// Decide in this mode, whatever the settings or the recording say
    #[arg(long, value_name = "M", value_parser = mode())]
    mode: Option<Mode>,
    /// The working folder, where settings are anchored [default: /work, or the recording's]
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,
    /// The folder that `~` stands for [default: /home/user, or the recording's]
    #[arg(long, value_name = "DIR")]
    home: Option<String>,
    /// A file of the world, where it matters what is there
    #[arg(long, value_name = "PATH[=CONTENT]")]
    file: Vec<String>,
    /// A symlink of the world
    #[arg(long, value_name = "LINK=TARGET")]
    symlink: Vec<String>,
    /// What the PreToolUse hooks say; none is run here
    #[arg(long, value_name = "SAYS", value_parser = behavior(&["allow", "ask", "deny", "defer"]))]
    hook: Option<Behavior>,
    /// What the user says if asked; `none` if nobody is there
    #[arg(long, value_name = "SAYS", value_parser = ["allow", "deny", "none"])]
    user: Option<String>,
    /// Fail unless this is decided
    #[arg(long, value_name = "WHAT", value_parser = behavior(&["allow", "ask", "deny"]))]
    expect: Option<Behavior>,
    /// Decide under this profile [default: seed, or what the recording's version picks]
    #[arg(long, value_name = "NAME", value_parser = flags::profile())]
    profile: Option<String>,
}

fn mode() -> impl TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.iter().map(|mode| mode.as_str()))
        .try_map(|word| Mode::from_word(&word).ok_or("no mode has this name"))
}

fn behavior(words: &'static [&'static str]) -> impl TypedValueParser<Value = Behavior> {
    PossibleValuesParser::new(words)
        .try_map(|word| Behavior::from_word(&word).ok_or("nothing is decided by this name"))
}

/// Explains a call, or every call of recordings.
pub fn explain(args: &Args, console: &mut Console) -> Exit {
    let explained = match args.recordings.is_empty() {
        true => one(args, console),
        false => many(args, console),
    };
    explained.unwrap_or_else(|error| {
        console.complain(&format!("error: {error}"));
        Exit::BadInput
    })
}

fn one(args: &Args, console: &mut Console) -> Result<Exit, String> {
    let (tool, input) = (
        args.tool.clone().unwrap_or_default(),
        args.input.clone().unwrap_or_default(),
    );
    let input = serde_json::from_str(&input)
        .map_err(|error| format!("--input: expected JSON, found {error}: {input}"))?;
    let profile = match &args.profile {
        Some(name) => Profile::by_name(name).map_err(|error| error.to_string())?,
        None => Profile::seed(),
    };
    let (cwd, home) = (args.cwd(), args.home());
    let question = Question {
        tool,
        input,
        settings: args.settings(console)?.unwrap_or_default(),
        profile: Arc::new(profile),
        mode: args.mode,
        fs: args.world(&cwd, &home)?,
        cwd,
        home,
        hook: args.hook,
        user: args.user(),
    };
    let explanation = match explained(&question) {
        Ok(explanation) => explanation,
        Err(error @ Unanswered::Fault(_)) => {
            console.complain(&format!("error: {error}"));
            return Ok(Exit::Fault);
        }
        Err(error) => return Err(error.to_string()),
    };
    if console.json {
        console.json_line(&explanation);
    } else if !console.quiet {
        console.data(&text(&explanation));
    }
    let found = explanation.ruling.behavior;
    let exit = match args.expect {
        Some(expected) if expected != found => {
            console.complain(&format!("error: expected {expected}, found {found}"));
            Exit::Differs
        }
        _ => Exit::Same,
    };
    Ok(exit.max(bad_input(&question.settings)))
}

/// The answer is by settings of which a part could not be read.
fn bad_input(settings: &Settings) -> Exit {
    match settings.broken.is_empty() {
        true => Exit::Same,
        false => Exit::BadInput,
    }
}

fn many(args: &Args, console: &mut Console) -> Result<Exit, String> {
    let profile = args.profile.as_deref().map(Profile::by_name).transpose();
    let absolute = |dir: &String| normalize("/", dir);
    let options = OverOptions {
        settings: args.settings(console)?,
        profile: profile.map_err(|error| error.to_string())?.map(Arc::new),
        mode: args.mode,
        cwd: args.cwd.as_ref().map(absolute),
        home: args.home.as_ref().map(absolute),
        fs: args.world(&args.cwd(), &args.home())?,
        user: args.user(),
    };
    assumed(&options, console);
    let mut overview = Overview::new(&options);
    let mut flips: Vec<CallLine> = Vec::new();
    let mut exit = options.settings.as_ref().map_or(Exit::Same, bad_input);
    for file in recording_files(&args.recordings)? {
        let lines = match read_and_decide(&file, &options, &mut overview) {
            Ok(lines) => lines,
            Err(Unread::File(error)) => {
                overview.unreadable += 1;
                console.complain(&format!("error: {}: {error}", file.display()));
                exit = exit.max(Exit::BadInput);
                continue;
            }
            Err(Unread::Undecided(error @ Unanswered::Fault(_))) => {
                console.complain(&format!("error: {}: {error}", file.display()));
                return Ok(Exit::Fault);
            }
            Err(Unread::Undecided(error)) => return Err(error.to_string()),
        };
        for line in lines {
            if console.json {
                console.json_line(&line);
            }
            if line.flips {
                flips.push(line);
            }
        }
    }
    overview.finish();
    if console.json {
        console.json_line(&serde_json::json!({"summary": overview}));
    } else if !console.quiet || overview.flips > 0 {
        console.data(&overview_text(&overview, &flips));
    }
    Ok(match exit {
        Exit::Same if overview.compared == 0 => {
            console.complain("error: nothing was compared: no call in these recordings can be");
            Exit::Nothing
        }
        Exit::Same if overview.flips > 0 => Exit::Differs,
        exit => exit,
    })
}

/// Says what no recording tells.
fn assumed(options: &OverOptions, console: &mut Console) {
    console.note(
        "note: recordings do not hold their settings: a call that ran counts as allowed then, by whom is unknown",
    );
    if options.user.is_none() {
        console.note(
            "note: a call that user or classifier would be asked about is taken to be answered as recorded",
        );
    }
    if options.settings.is_none() {
        console.note("note: no --settings: nothing but the modes decides now");
    }
    let settings = options.settings.as_ref();
    if settings.is_some_and(|settings| !settings.hooks.is_empty()) {
        console.note("note: the hooks of these settings are not run");
    }
}

enum Unread {
    File(String),
    Undecided(Unanswered),
}

fn read_and_decide(
    file: &Path,
    options: &OverOptions,
    overview: &mut Overview,
) -> Result<Vec<CallLine>, Unread> {
    let bytes = std::fs::read(file).map_err(|error| Unread::File(error.to_string()))?;
    let source = RecordingSource::new(bytes).map_err(|error| Unread::File(error.to_string()))?;
    let recording = read(&source);
    let name = file.display().to_string();
    over(&name, &recording, options, overview).map_err(Unread::Undecided)
}

impl Args {
    fn cwd(&self) -> String {
        normalize("/", self.cwd.as_deref().unwrap_or(CWD))
    }

    fn home(&self) -> String {
        normalize("/", self.home.as_deref().unwrap_or(HOME))
    }

    fn user(&self) -> Option<UserSays> {
        Some(match self.user.as_deref()? {
            "allow" => UserSays::Allow,
            "deny" => UserSays::Deny,
            _ => UserSays::Nobody,
        })
    }

    /// The settings to decide by; errors in them are all said before it ends.
    fn settings(&self, console: &mut Console) -> Result<Option<Settings>, String> {
        let Some(path) = &self.settings else {
            return Ok(None);
        };
        let (layers, mut complaints) = from_path(path);
        let (settings, of_layers) = merge(layers);
        complaints.extend(of_layers);
        let (cwd, home) = (self.cwd(), self.home());
        // What a rule is worth does not depend on the world.
        let nothing = MemoryFs::new(MemoryOptions::default());
        let (_, mut of_rules) = compile(&settings, &Anchors::new(&cwd, &home), &nothing);
        of_rules.extend(about_unknown_tools(&settings, &[]));
        let mut stops = false;
        for complaint in complaints.iter().chain(&of_rules) {
            stops |= settings.stops(complaint);
            match complaint.is_error() {
                true => console.complain(&complaint.to_string()),
                false => console.note(&complaint.to_string()),
            }
        }
        if !stops && !settings.broken.is_empty() {
            console.complain(flags::ONLY_RESTRICTS);
        }
        match stops {
            false => Ok(Some(settings)),
            true => Err(format!(
                "{}: nothing is decided by settings of which a part cannot be used",
                path.display()
            )),
        }
    }

    /// The world that the flags tell of.
    fn world(&self, cwd: &str, home: &str) -> Result<MemoryFs, String> {
        let fs = MemoryFs::new(MemoryOptions::default());
        let absolute = |path: &str| match path.strip_prefix("~/") {
            Some(rest) => normalize(home, rest),
            None => normalize(cwd, path),
        };
        let folder_of = |path: &str| match split(path) {
            Some((above, _)) => fs.put_dir(above, 0o755, 0),
            None => Ok(()),
        };
        for dir in [cwd, home] {
            fs.put_dir(dir, 0o755, 0).map_err(|e| e.to_string())?;
        }
        for file in &self.file {
            let (path, content) = file.split_once('=').unwrap_or((file, ""));
            let path = absolute(path);
            folder_of(&path)
                .and_then(|()| fs.put_file(&path, content.as_bytes(), 0o644, 0))
                .map_err(|error| format!("--file {file}: {error}"))?;
        }
        for symlink in &self.symlink {
            let Some((link, target)) = symlink.split_once('=') else {
                return Err(format!("--symlink: expected LINK=TARGET, found {symlink}"));
            };
            let link = absolute(link);
            folder_of(&link)
                .and_then(|()| fs.put_symlink(&link, target, 0))
                .map_err(|error| format!("--symlink {symlink}: {error}"))?;
        }
        Ok(fs)
    }
}
