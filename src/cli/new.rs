//! `rehearsal new`.

use super::console::Console;
use super::exit::Exit;
use crate::scenario::STARTER;
use std::io::Write;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Args {
    /// The file to write; it must not be there yet
    path: PathBuf,
}

/// Writes the starter.
pub fn new(args: &Args, console: &mut Console) -> Exit {
    let path = args.path.display();
    let folder = args.path.parent().filter(|p| !p.as_os_str().is_empty());
    let written = folder
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| std::fs::File::create_new(&args.path))
        .and_then(|mut file| file.write_all(STARTER.as_bytes()));
    if let Err(error) = written {
        console.complain(&format!("error: failed to write {path}: {error}"));
        return Exit::BadInput;
    }
    if console.json {
        console.json_line(&serde_json::json!({"written": path.to_string()}));
    } else {
        console.line(&path.to_string());
    }
    let quoted = super::run::shell_quoted(&path.to_string());
    console.note(&format!("hint: rehearsal run {quoted}"));
    Exit::Same
}
