//! The working folders: what may be read without being asked about, and where edits
//! follow the mode (`semantics.md §1.6`).

use crate::rule::{Paths, below};
use crate::world::Fs;

/// The working folders of a run, as they are written and where they really are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Working {
    folders: Vec<String>,
    /// May be read though it is no working folder: where large results are saved.
    readable: Vec<String>,
    case_sensitive: bool,
}

impl Working {
    /// `cwd` and `additional` are the working folders; what is saved in `results_dir`
    /// can be read back. Absolute and normal, all.
    pub fn new(cwd: &str, additional: &[String], results_dir: &str, fs: &dyn Fs) -> Working {
        let both = |folder: &str| {
            let mut both = vec![folder.to_owned()];
            both.extend(fs.canonical(folder).ok().filter(|real| real != folder));
            both
        };
        let written = std::iter::once(cwd).chain(additional.iter().map(String::as_str));
        Working {
            folders: written.flat_map(both).collect(),
            readable: both(results_dir),
            case_sensitive: fs.case_sensitive(),
        }
    }

    /// Whether a path lies inside, as it is written and where it leads.
    pub(super) fn holds(&self, paths: &Paths) -> bool {
        self.all_in(paths, |folder| self.folders.contains(folder))
    }

    /// The same for reading.
    pub(super) fn shows(&self, paths: &Paths) -> bool {
        self.all_in(paths, |_| true)
    }

    /// Whether a path is a working folder itself, or leads to one.
    pub(super) fn is_one(&self, paths: &Paths) -> bool {
        let is_one = |path: &str| {
            let mut folders = self.folders.iter();
            folders.any(|folder| below(folder, path, self.case_sensitive) == Some(""))
        };
        is_one(&paths.spelled) || paths.resolved.as_deref().is_some_and(is_one)
    }

    fn all_in(&self, paths: &Paths, counts: impl Fn(&String) -> bool) -> bool {
        let folders = || {
            self.folders
                .iter()
                .chain(&self.readable)
                .filter(|f| counts(f))
        };
        let inside = |path: &str| folders().any(|f| below(f, path, self.case_sensitive).is_some());
        inside(&paths.spelled) && paths.resolved.as_deref().is_some_and(inside)
    }
}
