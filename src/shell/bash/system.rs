//! What a machine has and the world's files do not: devices, and the programs
//! that the shell itself provides.

/// A path that is not a file of the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Special {
    DevDir,
    Null,
    Zero,
    Full,
    /// Random bytes; `len` of them are asked for, or as many as one read gives.
    Random {
        len: Option<usize>,
    },
}

/// Bytes that one read of an endless device gives.
pub(super) const DEVICE_READ_BYTES: usize = 8 * 1024;

/// Bytes that `dd` may take of a random device at once.
pub(super) const DEVICE_MAX_BYTES: usize = 16 * 1024 * 1024;

/// Where `dd` is sent for `n` random bytes: a path that only it is given.
pub(super) fn random_path(n: usize) -> String {
    format!("/dev/.random.{n}")
}

/// The device that an absolute, normal path names.
pub(super) fn special(path: &str) -> Option<Special> {
    if path == "/dev" {
        return Some(Special::DevDir);
    }
    match path.strip_prefix("/dev/")? {
        "null" => Some(Special::Null),
        "zero" => Some(Special::Zero),
        "full" => Some(Special::Full),
        "random" | "urandom" => Some(Special::Random { len: None }),
        name => {
            let n: usize = name.strip_prefix(".random.")?.parse().ok()?;
            Some(Special::Random {
                len: Some(n.min(DEVICE_MAX_BYTES)),
            })
        }
    }
}

/// Folders in which a machine keeps its programs.
const PROGRAM_DIRS: &[&str] = &["/bin", "/usr/bin"];

/// The name of the program at `path`, if that is in a folder of programs.
pub(super) fn program_at(path: &str) -> Option<&str> {
    let (dir, name) = path.rsplit_once('/')?;
    (PROGRAM_DIRS.contains(&dir) && !name.is_empty()).then_some(name)
}

/// Names that a shell has itself and no machine has as a program.
pub(super) const SHELL_ONLY: &[&str] = &[
    ".",
    ":",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "cd",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "declare",
    "dirs",
    "disown",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "fc",
    "fg",
    "getopts",
    "hash",
    "help",
    "history",
    "jobs",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "times",
    "trap",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
];

/// Commands that bashkit has and this shell does not offer: using one is a
/// complaint, as for any program that is not there.
///
/// They need a network, a terminal or privileges, keep real times, or exist on no
/// ordinary machine, where a hook that uses them could not start.
pub(super) const NOT_OFFERED: &[&str] = &[
    // A network.
    "curl", "wget", "http", "ssh", "scp", "sftp", "git", // A terminal, or no end.
    "vi", "vim", "nano", "man", "watch", // Privileges.
    "sudo", "su", "doas", "runuser", // Real times.
    "history", "fc", // Commands of bashkit's own.
    "assert", "csv", "dotenv", "glob", "json", "log", "parallel", "retry", "semver", "template",
    "tomlq", "verify", "yq",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_known_by_their_paths() {
        assert_eq!(special("/dev/null"), Some(Special::Null));
        assert_eq!(special("/dev/sda"), None);
        assert_eq!(special("/device/null"), None);
        assert_eq!(
            special(&random_path(7)),
            Some(Special::Random { len: Some(7) })
        );
        assert_eq!(
            special(&random_path(usize::MAX)),
            Some(Special::Random {
                len: Some(DEVICE_MAX_BYTES)
            })
        );
    }

    #[test]
    fn programs_are_known_by_their_folders() {
        assert_eq!(program_at("/usr/bin/env"), Some("env"));
        assert_eq!(program_at("/work/env"), None);
        assert_eq!(program_at("/usr/bin/"), None);
    }
}
