//! The exit codes, all of them.

use std::process::ExitCode;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// As expected.
    Same = 0,
    /// Something differs: an expectation, a snapshot, a trace; or a snapshot is new.
    Differs = 1,
    /// A file or an argument that cannot be used.
    BadInput = 2,
    /// A fault of this program.
    Fault = 3,
    /// Nothing was compared.
    Nothing = 4,
}

impl Exit {
    pub fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
