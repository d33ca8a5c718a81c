//! What the parts of one running command share.

use super::system::{self, Special};
use crate::shell::fixture::Fixtures;
use crate::sim::Stream;
use crate::world::Actor;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::ThreadId;

/// Something that the shell cannot do: a complaint about the scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lack {
    pub what: String,
    pub hint: String,
}

/// One command while it runs.
pub(super) struct Running {
    pub actor: Actor,
    pub fixtures: Arc<Fixtures>,
    /// Milliseconds since 1970 when the command began.
    pub began_unix_ms: i64,
    /// The programs that the shell provides.
    provided: Arc<BTreeSet<String>>,
    /// How many operations of the actor the shell waits for.
    touching: AtomicUsize,
    /// How often a command began or ended.
    progress: AtomicU64,
    /// The thread that polls the shell.
    thread: Mutex<Option<ThreadId>>,
    lack: Mutex<Option<Lack>>,
    /// The command that goes through to the shell's own dispatch next.
    passing: Mutex<Option<String>>,
    /// For each nested shell, outermost first, the file that it was told to run, if
    /// that was missing.
    missing_scripts: Mutex<Vec<Option<String>>>,
    /// The files that the shell was told to run.
    scripts: Mutex<BTreeSet<String>>,
    /// The random streams in use, by what they are for.
    streams: Mutex<BTreeMap<&'static str, Stream>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

impl Running {
    pub fn new(actor: Actor, fixtures: Arc<Fixtures>, provided: Arc<BTreeSet<String>>) -> Running {
        Running {
            began_unix_ms: actor.now_unix_ms(),
            actor,
            fixtures,
            provided,
            touching: AtomicUsize::new(0),
            progress: AtomicU64::new(1),
            thread: Mutex::new(None),
            lack: Mutex::new(None),
            passing: Mutex::new(None),
            missing_scripts: Mutex::new(Vec::new()),
            scripts: Mutex::new(BTreeSet::new()),
            streams: Mutex::new(BTreeMap::new()),
        }
    }

    /// Whether the shell itself has a command of this name, program or not.
    pub fn provides(&self, name: &str) -> bool {
        self.provided.contains(name)
    }

    /// Whether a program of this name can be run by its path in a folder of programs.
    pub fn has_program(&self, name: &str) -> bool {
        (self.provides(name) && !system::SHELL_ONLY.contains(&name))
            || self
                .fixtures
                .values()
                .any(|fixture| fixture.program() == Some(name))
    }

    /// What a program's file holds, if `path` is that of one.
    pub fn stub(&self, path: &str) -> Option<String> {
        let name = system::program_at(path)?;
        self.has_program(name)
            .then(|| format!("#!/bin/sh\nexec {name} \"$@\"\n"))
    }

    /// Notes what the shell cannot do; the first such note counts.
    pub fn lacks(&self, what: &str, hint: &str) {
        locked(&self.lack).get_or_insert_with(|| Lack {
            what: what.to_owned(),
            hint: hint.to_owned(),
        });
    }

    pub fn lack(&self) -> Option<Lack> {
        locked(&self.lack).clone()
    }

    /// Notes that a program is not there.
    pub fn lacks_program(&self, program: &str, argv: &str) {
        let name = program.rsplit('/').next().unwrap_or(program);
        self.lacks(
            &format!("the program {program}"),
            &format!(
                "say under `commands:` what it does, as {{command: \"{name} *\", stdout: \"…\", \
                 exit: 0}} (exit: 127 if it shall be missing); it was run as: {argv}"
            ),
        );
    }

    /// Notes that a file is about to be run by the shell.
    pub fn runs_file(&self, file: String) {
        locked(&self.scripts).insert(file);
    }

    /// Takes a look at a file's content as the shell reads it: a script must not use
    /// what the command line must not.
    pub fn reads(&self, file: &str, content: &[u8]) {
        if locked(&self.scripts).contains(file) {
            self.reads_script(&String::from_utf8_lossy(content));
        }
    }

    /// The same for text that is known to be a script.
    pub fn reads_script(&self, script: &str) {
        if let Some(what) = super::refused(script) {
            self.lacks(what, "say under `commands:` what this command does");
        }
    }

    /// Notes that a nested shell begins, and the file that it shall run.
    pub fn shell_begins(&self, file: Option<String>) {
        // A look at the world that is nobody's operation: it only words a complaint.
        let missing = file.filter(|file| self.actor.world().fs().stat(file).is_err());
        locked(&self.missing_scripts).push(missing);
    }

    /// Notes that the nested shell that began last has ended with `code`.
    pub fn shell_ends(&self, code: i32) {
        let missing = locked(&self.missing_scripts).pop().flatten();
        if let Some(file) = missing
            && code == 127
        {
            self.lacks_program(&file, &format!("bash {file}"));
        }
    }

    /// Lets the next command of this name through to the shell itself.
    pub fn pass(&self, name: &str) {
        *locked(&self.passing) = Some(name.to_owned());
    }

    /// Whether the command of this name goes through to the shell itself; asked once.
    pub fn passes(&self, name: &str) -> bool {
        locked(&self.passing)
            .take_if(|passing| passing == name)
            .is_some()
    }

    /// Begins a wait for the world; `None` on any thread but the one that polls the shell.
    pub fn touching(&self) -> Option<Touching<'_>> {
        if *locked(&self.thread) != Some(std::thread::current().id()) {
            return None;
        }
        self.touching.fetch_add(1, Ordering::Relaxed);
        Some(Touching {
            actor: &self.actor,
            count: &self.touching,
        })
    }

    pub fn is_touching(&self) -> bool {
        self.touching.load(Ordering::Relaxed) > 0
    }

    /// Notes that a command began or ended.
    pub fn gets_on(&self) {
        self.progress.fetch_add(1, Ordering::Relaxed);
    }

    pub fn progress(&self) -> u64 {
        self.progress.load(Ordering::Relaxed)
    }

    /// Says that the calling thread polls the shell from now on.
    pub fn polled_here(&self) {
        *locked(&self.thread) = Some(std::thread::current().id());
    }

    /// The next random number for a use.
    pub fn random(&self, use_of: &'static str) -> u64 {
        self.stream(use_of, Stream::next_u64)
    }

    /// The next random number for a use, uniform in `0..bound`; 0 if `bound` is.
    pub fn below(&self, use_of: &'static str, bound: u64) -> u64 {
        if bound == 0 {
            return 0;
        }
        self.stream(use_of, |stream| stream.below(bound))
    }

    fn stream(&self, use_of: &'static str, draw: impl FnOnce(&mut Stream) -> u64) -> u64 {
        let mut streams = locked(&self.streams);
        let stream = streams
            .entry(use_of)
            .or_insert_with(|| self.actor.random(use_of));
        draw(stream)
    }

    pub fn random_bytes(&self, use_of: &'static str, len: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(len);
        while bytes.len() < len {
            let next = self.random(use_of).to_le_bytes();
            bytes.extend_from_slice(&next[..next.len().min(len - bytes.len())]);
        }
        bytes
    }

    /// What one read of a device gives; `None` where it cannot be read.
    pub fn read_special(&self, special: Special) -> Option<Vec<u8>> {
        match special {
            Special::DevDir => None,
            Special::Null => Some(Vec::new()),
            Special::Zero | Special::Full => Some(vec![0; system::DEVICE_READ_BYTES]),
            Special::Random { len } => {
                Some(self.random_bytes("shell.urandom", len.unwrap_or(system::DEVICE_READ_BYTES)))
            }
        }
    }
}

/// A wait of the shell for the world.
pub(super) struct Touching<'a> {
    pub actor: &'a Actor,
    count: &'a AtomicUsize,
}

impl Drop for Touching<'_> {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}
