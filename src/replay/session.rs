//! The replay of one recording: call by call, in the order in which they ended.

use super::ground::{Content, Ground, ground};
use super::judge::Case;
use super::seen::{SeenFiles, Whose};
use super::served::{Serve, recorded_outcome};
use super::stage::{Cue, Performed, Stage};
use super::verdict::{Divergence, Tally, Verdict};
use crate::profile::Profile;
use crate::recording::edit_effect::replacements;
use crate::recording::{
    Evidence, Folders, Happening, InferredChange, Knowledge, Known, RecordedCall, RecordedEnding,
    Recording, Told, conclude, file_of, happenings, has_drive, tool_name,
};
use crate::settings::Settings;
use crate::sim::SimError;
use crate::tools::View;
use crate::words::{Class, Mode, Step};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// What a replay found.
#[derive(Debug, Clone, Default)]
pub struct Replayed {
    /// The profiles used, each with the reason, in the order in which they were.
    pub profiles: Vec<(String, String)>,
    pub tally: Tally,
    pub divergences: Vec<Divergence>,
    /// Calls of which only their own result tells whether the agent had read the file.
    pub assumed: Vec<Assumed>,
    pub outside_changes: Vec<InferredChange>,
    /// What became of each call, in the order of the file.
    pub verdicts: Vec<Verdict>,
}

/// Something taken from a call's own result, because no earlier line can tell it. Such
/// a call is never predicted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assumed {
    /// The line of the call.
    pub line: u32,
    pub what: String,
}

/// How a replay is done.
#[derive(Debug, Clone, Default)]
pub struct ReplayOptions {
    /// In place of the profile that the recording's version picks.
    pub profile: Option<Profile>,
    /// Rules and folders by which the calls are judged; without them there are none.
    pub settings: Settings,
}

/// Replays every call of a recording.
///
/// # Errors
///
/// A fault of the runtime itself: a deadlock, a panic outside of any call.
pub fn replay(recording: &Recording<'_>, options: &ReplayOptions) -> Result<Replayed, SimError> {
    let folders = Folders::of(recording.cwd.as_deref());
    let stage = Stage::new(recording, &folders, &options.settings);
    let sim = stage.sim();
    let session = Session {
        recording,
        options,
        stage,
        folders,
        profile: None,
        knowledge: Knowledge::default(),
        seen: SeenFiles::default(),
        replayed: Replayed {
            verdicts: vec![Verdict::NotComparable(NOT_REACHED); recording.calls.len()],
            ..Replayed::default()
        },
    };
    sim.run(session.play())
}

/// Leaves out old results and nothing else.
const MICRO: &str = "microcompact_boundary";
const NO_RESULT: &str = "no result";
const NOT_REACHED: &str = "not reached";
const USER_MODIFIED: &str = "the user changed what was written";
const NOT_PERFORMED: &str = "not performed";

/// A replay under way.
struct Session<'r, 'a> {
    recording: &'r Recording<'a>,
    options: &'r ReplayOptions,
    stage: Stage,
    folders: Folders,
    /// The profile and the version that it was picked for.
    profile: Option<(String, Arc<Profile>)>,
    knowledge: Knowledge,
    seen: SeenFiles,
    replayed: Replayed,
}

impl<'r, 'a> Session<'r, 'a> {
    async fn play(mut self) -> Replayed {
        for happening in happenings(self.recording) {
            match happening {
                Happening::Ended(call) => {
                    let folders = self.folders_of(call);
                    self.ended(call, &folders).await;
                }
                Happening::Unanswered(call) => {
                    self.settle(call, Verdict::NotComparable(NO_RESULT));
                    self.learn(happening);
                }
                Happening::Told(hint) => {
                    self.learn(happening);
                    self.told(&hint.told);
                }
                Happening::NestedEnded(_) => self.learn(happening),
                Happening::Compacted(compaction) if compaction.kind == MICRO => {}
                Happening::Compacted(_) | Happening::Restarted => self.seen.doubt(),
            }
        }
        self.replayed
    }

    fn folders_of(&self, call: &RecordedCall<'_>) -> Folders {
        match &call.cwd {
            Some(cwd) => Folders {
                cwd: self.folders.resolve(cwd),
                home: self.folders.home.clone(),
            },
            None => self.folders.clone(),
        }
    }

    fn learn(&mut self, happening: Happening<'_, '_>) {
        let change = self.knowledge.after(happening, &self.folders);
        self.replayed.outside_changes.extend(change);
    }

    fn settle(&mut self, call: &RecordedCall<'_>, verdict: Verdict) {
        let tool = tool_name::canonical(&call.tool);
        self.replayed.tally.add(tool, &verdict);
        if let Verdict::Diverged(divergence) = &verdict {
            self.replayed.divergences.push((**divergence).clone());
        }
        if let Some(place) = self.replayed.verdicts.get_mut(call.number as usize - 1) {
            *place = verdict;
        }
    }

    /// What the runtime told an agent of a file, the agent has seen.
    fn told(&mut self, told: &Told<'_>) {
        let (path, full) = match told {
            Told::Edited { path, .. } => (path, false),
            Told::Shown { path, .. } | Told::Mentioned { path } => (path, true),
            // A file of the runtime's own: whether that counts as read, nobody says.
            Told::Whole { .. } => return,
        };
        let path = self.folders.resolve(path);
        let whose = Whose {
            agent: None,
            path: &path,
        };
        // The notice of an edit is about a file that was read.
        if full || self.seen.has(whose) {
            self.seen.told(whose, full, &self.knowledge);
        }
    }

    async fn ended(&mut self, call: &'r RecordedCall<'a>, folders: &Folders) {
        let Some((ending, evidence)) = conclude(call, folders) else {
            return;
        };
        let path = file_of(call, folders);
        let (verdict, text) = self
            .verdict(call, &ending, &evidence, path.as_deref(), folders)
            .await;
        self.settle(call, verdict);
        // Whatever the replay made of it, the call has its recorded effect.
        let change = self.knowledge.after_call(call, &evidence);
        self.replayed.outside_changes.extend(change);
        if let Some(path) = &path {
            let whose = Whose {
                agent: call.agent.as_deref(),
                path,
            };
            let text = match self.knowledge.of(path).map(|file| &file.known) {
                Some(Known::Whole(text)) => Some(text.clone()),
                _ => text,
            };
            let view = view_of(call);
            self.seen
                .after(whose, call.number, &evidence, view, text, &self.knowledge);
        }
    }

    /// Performs a call and judges it. Also gives the text that its file was given.
    async fn verdict(
        &mut self,
        call: &'r RecordedCall<'a>,
        ending: &RecordedEnding,
        evidence: &Evidence<'a>,
        path: Option<&str>,
        folders: &Folders,
    ) -> (Verdict, Option<Arc<str>>) {
        if matches!(
            evidence,
            Evidence::Edited {
                user_modified: true,
                ..
            }
        ) {
            return (Verdict::NotComparable(USER_MODIFIED), None);
        }
        let profile = self.profile_at(call);
        self.stage.set(&profile, folders);
        let file = path.and_then(|path| self.knowledge.of(path));
        let opaque = file.map(|file| self.knowledge.is_opaque_since(file));
        let known = file.map(|file| file.known.clone());
        let executes = matches!(
            tool_name::canonical(&call.tool),
            "Read" | "Write" | "Edit" | "MultiEdit"
        );
        let ground = match path {
            Some(_) if executes => {
                let replacements = match evidence {
                    Evidence::Edited { replacements, .. } => Cow::Borrowed(&**replacements),
                    _ => Cow::Owned(replacements(call.input).unwrap_or_default()),
                };
                ground(&call.tool, ending, known.as_ref(), evidence, &replacements)
            }
            _ => Ground::Served(None),
        };
        let (content, serve, supplied) = match ground {
            Ground::Known(content) => (Some(content), Serve::Nothing, false),
            Ground::Supplied(content) => (Some(content), Serve::Nothing, true),
            Ground::Unknown => {
                let outcome = recorded_outcome(call, ending);
                (None, Serve::FromValidation(outcome), true)
            }
            Ground::Served(content) => {
                let outcome = recorded_outcome(call, ending);
                (content, Serve::Execution(outcome), true)
            }
        };
        let serves = !matches!(serve, Serve::Nothing);
        let text = match &content {
            Some(Content::Text(text)) => Some(text.clone()),
            _ => None,
        };
        let file = path.zip(content.clone());
        let (state, assumed) = self.state(call, ending, path, text.as_ref());
        let cue = Cue {
            number: call.number,
            turn: call.batch,
            id: Arc::from(&*call.id),
            tool: Arc::from(&*call.tool),
            input: world_input(call, folders),
            mode: mode_of(call),
            allow: ending.class != Class::DeniedUser,
            refused: ending.class == Class::DeniedClassifier,
            file: file.map(|(path, content)| (path.to_owned(), content)),
            state,
            serve,
        };
        let Some(performed) = self.stage.perform(cue).await else {
            return (Verdict::NotComparable(NOT_PERFORMED), text);
        };
        self.replayed.tally.asked +=
            u32::from(performed.asked && ending.class != Class::DeniedUser);
        let case = Case {
            call,
            ending,
            evidence,
            performed: &performed,
            before: content,
            executes: !serves,
            known: known.as_ref(),
            opaque,
        };
        if let Some(difference) = case.difference() {
            let cause = case.cause(&difference);
            let divergence = Divergence {
                call: call.id.to_string(),
                number: call.number,
                line: call.result.as_ref().map_or(0, |result| result.line),
                tool: call.tool.to_string(),
                step: performed.finished.step,
                class_recorded: ending.class,
                class_replayed: performed.finished.outcome.class,
                path: difference.path.to_owned(),
                recorded: difference.recorded,
                replayed: difference.replayed,
                cause,
            };
            return (Verdict::Diverged(Box::new(divergence)), text);
        }
        if assumed {
            let what = match ending.class {
                Class::NotRead => "no longer counts as read",
                _ => "counts as read",
            };
            self.replayed.assumed.push(Assumed {
                line: call.line,
                what: format!("{} {what}", path.unwrap_or("")),
            });
        }
        let verdict = verdict_of(&performed, serves, supplied || assumed);
        if verdict == Verdict::Predicted && opaque == Some(true) {
            self.replayed.tally.predicted_over_opaque += 1;
        }
        (verdict, text)
    }

    /// What the agent knows of the file of a call, and whether the call's own result told
    /// that. It does where no earlier line can: no call of the agent was about the file
    /// before, or those that were came before a compaction or a restart.
    fn state(
        &self,
        call: &RecordedCall<'_>,
        ending: &RecordedEnding,
        path: Option<&str>,
        text: Option<&Arc<str>>,
    ) -> (Option<crate::tools::FileState>, bool) {
        let (Some(path), Some(text)) = (path, text) else {
            return (None, false);
        };
        let whose = Whose {
            agent: call.agent.as_deref(),
            path,
        };
        let mtime_ms = self.stage.mtime_ms();
        if let Some(state) = self.seen.state(whose, &self.knowledge, text, mtime_ms) {
            return (Some(state), false);
        }
        let demands = tool_name::canonical(&call.tool) != "Read";
        let was_read = matches!(
            ending.class,
            Class::Ok | Class::NoMatch | Class::Ambiguous | Class::Stale
        );
        if !demands {
            return (None, false);
        }
        if self.seen.is_unsure(whose) {
            let state = was_read.then(|| SeenFiles::assumed(text, mtime_ms));
            return (state, was_read || ending.class == Class::NotRead);
        }
        if was_read && !self.seen.is_touched(whose) {
            return (Some(SeenFiles::assumed(text, mtime_ms)), true);
        }
        (None, false)
    }

    /// The profile for the version that made a call.
    fn profile_at(&mut self, call: &RecordedCall<'_>) -> Arc<Profile> {
        let version = call.version.as_deref().unwrap_or("");
        if let Some((of, profile)) = &self.profile
            && (of == version || self.options.profile.is_some())
        {
            return profile.clone();
        }
        let (picked, said) = match &self.options.profile {
            Some(profile) => (profile.clone(), "as asked for".to_owned()),
            None => Profile::for_version(version),
        };
        // Two versions of one profile are no switch.
        let profile = match &self.profile {
            Some((_, now)) if now.name == picked.name => now.clone(),
            _ => {
                self.replayed.profiles.push((picked.name.clone(), said));
                Arc::new(picked)
            }
        };
        self.profile = Some((version.to_owned(), profile.clone()));
        profile
    }
}

/// The count of a call in which nothing differed.
fn verdict_of(performed: &Performed, serves: bool, supplied: bool) -> Verdict {
    let finished = &performed.finished;
    let denied_outside = matches!(
        finished.outcome.class,
        Class::DeniedUser | Class::DeniedClassifier
    );
    if denied_outside {
        return Verdict::Recorded;
    }
    // What ended before the tool was to run, nobody served.
    if serves && finished.step >= Step::Execute {
        return Verdict::Recorded;
    }
    if serves {
        return Verdict::Predicted;
    }
    match supplied {
        true => Verdict::Seeded,
        false => Verdict::Predicted,
    }
}

/// The mode that a call was made in; the default one where the recording has none, or
/// one that is not known here.
pub fn mode_of(call: &RecordedCall<'_>) -> Mode {
    call.mode
        .as_deref()
        .and_then(Mode::from_word)
        .unwrap_or(Mode::Default)
}

#[derive(serde::Deserialize)]
struct ViewFields {
    offset: Option<Value>,
    limit: Option<Value>,
}

/// What a Read asked for, as the tool understands it.
fn view_of(call: &RecordedCall<'_>) -> View {
    let fields = call.input.parse::<ViewFields>();
    let number = |value: Option<&Value>| match value {
        Some(Value::Number(number)) => number.as_u64(),
        Some(Value::String(text)) => text.trim().parse().ok(),
        _ => None,
    };
    let offset = fields
        .as_ref()
        .and_then(|fields| number(fields.offset.as_ref()));
    let limit = fields
        .as_ref()
        .and_then(|fields| number(fields.limit.as_ref()));
    (
        offset.filter(|n| *n > 0).unwrap_or(1),
        limit.unwrap_or(0),
        0,
    )
}

/// The input of a call with the paths of the world in place of those with drives; what
/// the runtime could not parse, as the model had sent it.
pub fn world_input(call: &RecordedCall<'_>, folders: &Folders) -> Arc<str> {
    const PATHS: [&str; 3] = ["file_path", "notebook_path", "path"];
    let text = call.input.get();
    if text.contains("__unparsedToolInput")
        && let Some(value) = call.input.parse::<Value>()
        && let Some(raw) = value["__unparsedToolInput"]["raw"].as_str()
    {
        return raw.into();
    }
    // A drive's colon, in a path or anywhere else.
    if !text.contains(":\\") && !text.contains(":/") {
        return text.into();
    }
    let Some(mut value) = call.input.parse::<Value>() else {
        return text.into();
    };
    let mut changed = false;
    for key in PATHS {
        if let Some(Value::String(path)) = value.get_mut(key)
            && has_drive(path)
        {
            *path = folders.resolve(path);
            changed = true;
        }
    }
    if changed {
        value.to_string().into()
    } else {
        text.into()
    }
}
