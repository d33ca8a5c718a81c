//! `rehearsal accept`.

use super::console::Console;
use super::exit::Exit;
use super::walk;
use crate::report::snapshot_file;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Args {
    /// Scenarios, or folders of them, whose snapshots to take, or a replay's baseline; all
    /// snapshots if not given
    paths: Vec<PathBuf>,
}

/// Accepts pending snapshots.
pub fn accept(args: &Args, console: &mut Console) -> Exit {
    let (baselines, paths): (Vec<_>, Vec<_>) = args
        .paths
        .iter()
        .cloned()
        .partition(|path| pending_baseline(path).is_file());
    for baseline in &baselines {
        if let Err(error) = std::fs::rename(pending_baseline(baseline), baseline) {
            console.complain(&format!(
                "error: failed to accept {}: {error}",
                baseline.display()
            ));
            return Exit::BadInput;
        }
        match console.json {
            true => {
                console.json_line(&serde_json::json!({"accepted": baseline.display().to_string()}))
            }
            false => console.line(&baseline.display().to_string()),
        }
    }
    if paths.is_empty() && !baselines.is_empty() {
        return Exit::Same;
    }
    match pending(&paths) {
        Ok(pending) => take(&pending, console),
        Err(error) => {
            console.complain(&format!("error: {error}"));
            Exit::BadInput
        }
    }
}

/// Where the new form of a replay's baseline waits to be accepted.
pub fn pending_baseline(baseline: &Path) -> PathBuf {
    let mut name = baseline.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

fn take(pending: &BTreeSet<PathBuf>, console: &mut Console) -> Exit {
    for path in pending {
        match snapshot_file::accept(path) {
            Ok(accepted) if console.json => {
                console.json_line(&serde_json::json!({"accepted": accepted.display().to_string()}));
            }
            Ok(accepted) => {
                // As a person would name it from where they are.
                let here = walk::current_folder().unwrap_or_default();
                let named = accepted.strip_prefix(&here).unwrap_or(&accepted);
                console.line(&named.display().to_string());
            }
            Err(error) => {
                console.complain(&format!(
                    "error: failed to accept {}: {error}",
                    path.display()
                ));
                return Exit::BadInput;
            }
        }
    }
    if console.json {
        console.json_line(&serde_json::json!({"summary": {"accepted": pending.len()}}));
    } else if pending.is_empty() {
        console.note("nothing waits to be accepted");
    }
    Exit::Same
}

/// The pending snapshots of the scenarios at `paths`, or of the current folder.
fn pending(paths: &[PathBuf]) -> Result<BTreeSet<PathBuf>, String> {
    let current = walk::current_folder()?;
    let below = |root: &Path| {
        snapshot_file::all_pending(root).map_err(|error| {
            format!(
                "failed to list the snapshots of {}: {error}",
                root.display()
            )
        })
    };
    if paths.is_empty() {
        let root = snapshot_file::root_of(&current.join("scenario"), &current);
        return Ok(below(&root)?.into_iter().collect());
    }
    let mut pending = BTreeSet::new();
    for given in walk::scenario_files(paths)? {
        let file = walk::absolute(&given.path)?;
        let root = snapshot_file::root_of(&file, &current);
        let stem = snapshot_file::stem_of(&root, &file);
        let of_file = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let rest = name.strip_prefix(stem.as_str());
            rest.is_some_and(|rest| rest.starts_with('.') || rest.starts_with('@'))
        };
        pending.extend(below(&root)?.into_iter().filter(of_file));
    }
    Ok(pending)
}
