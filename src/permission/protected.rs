//! Files that configure other programs: to change one is to run code later
//! (`semantics.md §1.7`).

/// Folders of which nothing is changed without being asked about.
const FOLDERS: &[&str] = &[
    ".git",
    ".config/git",
    ".vscode",
    ".idea",
    ".husky",
    ".cargo",
    ".devcontainer",
    ".yarn",
    ".mvn",
    ".claude",
];

/// Below a protected folder, and not protected.
const EXCEPT: &[&str] = &[".claude/worktrees"];

/// Names of files that are not changed without being asked about.
const FILES: &[&str] = &[
    ".gitconfig",
    ".gitmodules",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_aliases",
    ".bash_logout",
    ".zshrc",
    ".zprofile",
    ".zshenv",
    ".zlogin",
    ".zlogout",
    ".profile",
    ".envrc",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnp.cjs",
    ".pnp.loader.mjs",
    ".pnpmfile.cjs",
    "bunfig.toml",
    ".bunfig.toml",
    ".bazelrc",
    ".bazelversion",
    ".bazeliskrc",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    "lefthook.yaml",
    ".lefthook.yml",
    ".lefthook.yaml",
    "gradle-wrapper.properties",
    "maven-wrapper.properties",
    ".devcontainer.json",
    ".ripgreprc",
    "pyrightconfig.json",
    ".mcp.json",
    ".claude.json",
];

/// Whether a path, absolute and normal, is protected. Case never counts: on some file
/// systems it does not.
pub(super) fn is_protected(path: &str) -> bool {
    let path = path.to_lowercase();
    let name = path.rsplit('/').next().unwrap_or_default();
    if FILES.contains(&name) {
        return true;
    }
    // Every one of the folders begins with a dot.
    let hidden: Vec<&str> = path
        .match_indices("/.")
        .map(|(at, _)| &path[at + 1..])
        .collect();
    let below = |folder: &str| {
        let mut behind = hidden.iter().filter_map(|rest| rest.strip_prefix(folder));
        behind.any(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    FOLDERS.iter().any(|folder| {
        let excepted = EXCEPT
            .iter()
            .any(|except| except.starts_with(folder) && below(except));
        below(folder) && !excepted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_begins_with_a_dot() {
        assert!(
            FOLDERS
                .iter()
                .chain(EXCEPT)
                .all(|folder| folder.starts_with('.'))
        );
    }

    #[test]
    fn what_is_protected() {
        let yes = [
            "/p/.git/hooks/x",
            "/p/.GIT/config",
            "/p/.claude/settings.json",
            "/p/.npmrc",
            "/p/.git",
            "/h/.config/git/config",
            "/p/.gitx/.git",
            "/p/a/.mcp.json",
        ];
        let no = [
            "/p/a.txt",
            "/p/.gitignore",
            "/p/.claude/worktrees/a/x",
            "/p/git/x",
            "/p/.gitx/y",
            "/p/a.git/x",
            "/h/.config/x",
        ];
        for path in yes {
            assert!(is_protected(path), "{path}");
        }
        for path in no {
            assert!(!is_protected(path), "{path}");
        }
    }
}
