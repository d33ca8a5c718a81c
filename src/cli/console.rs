//! Where output goes: data to stdout, everything else to stderr.

use crate::scenario::{Complaint, SourceText};
use std::io::{self, IsTerminal, Write};

/// What was asked of the output, and where it goes.
pub struct Console {
    pub json: bool,
    pub quiet: bool,
    color: bool,
    /// A reader that went away is no fault; another failure to write is.
    failed: Option<io::Error>,
}

impl Console {
    pub fn new(json: bool, quiet: bool) -> Console {
        // https://no-color.org: set and not empty.
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Console {
            json,
            quiet,
            color: !no_color && io::stderr().is_terminal(),
            failed: None,
        }
    }

    /// Data, as it is.
    pub fn data(&mut self, text: &str) {
        let mut stdout = io::stdout().lock();
        let written = stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush());
        self.keep(written);
    }

    /// A line of data.
    pub fn line(&mut self, text: &str) {
        self.data(&format!("{text}\n"));
    }

    /// A line of JSON.
    pub fn json_line(&mut self, value: &impl serde::Serialize) {
        match serde_json::to_string(value) {
            Ok(text) => self.line(&text),
            Err(error) => self.keep(Err(error.into())),
        }
    }

    /// A remark that `--quiet` leaves out.
    pub fn note(&mut self, text: &str) {
        if !self.quiet {
            self.complain(text);
        }
    }

    /// A complaint, never left out.
    pub fn complain(&mut self, text: &str) {
        let written = writeln!(io::stderr().lock(), "{text}");
        self.keep(written);
    }

    /// Complaints about files, with the lines they are about.
    pub fn complaints(&mut self, complaints: &[Complaint], sources: &[SourceText]) {
        for complaint in complaints {
            let text = super::complaints::render(complaint, sources, self.color);
            self.complain(&text);
        }
    }

    fn keep(&mut self, written: io::Result<()>) {
        if let Err(error) = written
            && self.failed.is_none()
        {
            self.failed = Some(error);
        }
    }

    /// The failure to write, if there was one that is a fault.
    pub fn failure(&self) -> Option<&io::Error> {
        self.failed
            .as_ref()
            .filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
    }
}
