//! Paths as recorded, and what they are in a simulated world: absolute and normal.

use crate::world::normalize;

/// The folders that recorded paths are relative to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    /// The working folder; absolute and normal.
    pub cwd: String,
    /// The folder `~` stands for; absolute and normal.
    pub home: String,
}

/// The working folder of a recording that names none.
const NO_CWD: &str = "/work";
/// The home folder where the working folder tells none.
const NO_HOME: &str = "/home/user";

impl Folders {
    /// The folders of a recording that was made in `cwd`. A home is told by the usual
    /// places of homes.
    pub fn of(cwd: Option<&str>) -> Folders {
        let cwd = absolute(NO_CWD, cwd.unwrap_or(NO_CWD));
        let mut parts = cwd.split('/').skip(1);
        let first = parts.next().unwrap_or("");
        // `/c/Users/me` is what `C:\Users\me` becomes.
        let (drive, place) = match first.len() {
            1 => (format!("/{first}"), parts.next().unwrap_or("")),
            _ => (String::new(), first),
        };
        let home = match (place, parts.next()) {
            ("Users" | "home", Some(name)) => format!("{drive}/{place}/{name}"),
            ("root", _) => "/root".to_owned(),
            _ => NO_HOME.to_owned(),
        };
        Folders { cwd, home }
    }

    /// The absolute, normal form of a recorded path. A drive becomes the first folder:
    /// `D:\a\b` is `/d/a/b` (`semantics.md §1.3`).
    pub fn resolve(&self, path: &str) -> String {
        match path.strip_prefix('~') {
            Some("") => self.home.clone(),
            Some(rest) if rest.starts_with(['/', '\\']) => {
                normalize(&self.home, &slashes(&format!(".{rest}")))
            }
            _ => absolute(&self.cwd, path),
        }
    }
}

/// Whether a path is one of a system with drives and backslashes.
pub fn has_drive(path: &str) -> bool {
    let bytes = path.as_bytes();
    matches!(bytes, [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic())
}

fn absolute(cwd: &str, path: &str) -> String {
    if has_drive(path) {
        let (drive, rest) = path.split_at(1);
        let rest = rest.strip_prefix(':').unwrap_or(rest);
        return normalize(
            "/",
            &format!("/{}{}", drive.to_ascii_lowercase(), slashes(rest)),
        );
    }
    // A backslash is a letter of a name where there are no drives.
    let drives = cwd.as_bytes().get(2) == Some(&b'/') && cwd.len() > 2;
    if drives {
        normalize(cwd, &slashes(path))
    } else {
        normalize(cwd, path)
    }
}

fn slashes(path: &str) -> String {
    path.replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cwd: &str, path: &str, resolved: &str, home: &str) {
        let folders = Folders::of(Some(cwd));
        assert_eq!(folders.resolve(path), resolved);
        assert_eq!(folders.home, home);
    }

    #[test]
    fn paths_become_absolute_and_normal() {
        check("/Users/me/x", "a/../b", "/Users/me/x/b", "/Users/me");
        check("/home/me", "~/a", "/home/me/a", "/home/me");
        check("/srv", "/a//b/.", "/a/b", "/home/user");
        check("/srv", "a\\b", "/srv/a\\b", "/home/user");
        check("D:\\x", "D:\\x\\y\\..\\z.go", "/d/x/z.go", "/home/user");
        check(
            "C:\\Users\\me\\x",
            "y\\z",
            "/c/Users/me/x/y/z",
            "/c/Users/me",
        );
        check("C:\\Users\\me\\x", "~\\z", "/c/Users/me/z", "/c/Users/me");
    }
}
