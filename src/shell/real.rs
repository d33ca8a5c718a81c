//! The real shell: for live runs, and the arm that the virtual one is compared with.

use super::output::Printed;
use super::{Command, Ran, Shell};
use crate::world::{Actor, normalize};
use async_trait::async_trait;
use std::io::{Read, Write};
use std::process::{Command as Process, Stdio};

/// `/bin/bash` on a real folder, which stands for the root of the world.
///
/// Live only: nothing of it is confined, its time is real, and it runs on the
/// calling thread until it ends, whatever its timeout.
pub struct RealShell {
    /// The real folder that is `/` of the commands' folders; absolute.
    root: String,
}

/// The descriptor on which the shell tells the folder that it ends in. A line that
/// sets its own trap on EXIT does not tell: the folder is then taken as unchanged.
const FOLDER_FD: u32 = 249;

impl RealShell {
    pub fn new(root: &str) -> RealShell {
        RealShell {
            root: normalize("/", root),
        }
    }

    fn run_now(&self, command: &Command) -> std::io::Result<Ran> {
        let folder = normalize(&self.root, command.cwd.trim_start_matches('/'));
        let mut folder_file = self.root.clone();
        folder_file.push_str(".cwd");
        // On the line's own first line, so that line numbers stay.
        let script = format!(
            "exec {FOLDER_FD}>'{folder_file}'; trap 'pwd >&{FOLDER_FD}' EXIT; {}",
            command.line
        );
        let mut child = Process::new("/bin/bash")
            .args(["-c", &script])
            .current_dir(&folder)
            .env_clear()
            .envs(command.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let out = Printed::default();
        let (stdout, stderr) = std::thread::scope(|scope| {
            scope.spawn(move || {
                // A command that does not read its input closes the pipe: no fault.
                stdin.map(|mut pipe| pipe.write_all(&command.stdin))
            });
            let errors = scope.spawn(move || read_all(stderr));
            (read_all(stdout), errors.join().unwrap_or_default())
        });
        out.complete(stdout, stderr);
        let status = child.wait()?;
        let cwd = std::fs::read_to_string(&folder_file).unwrap_or_default();
        let _ = std::fs::remove_file(&folder_file);
        let cwd = match cwd.trim_end().strip_prefix(&self.root) {
            Some(below) => normalize("/", below),
            None => command.cwd.clone(),
        };
        Ok(out.exited(status.code().unwrap_or(-1), cwd))
    }
}

fn read_all(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        let _ = pipe.read_to_end(&mut bytes);
    }
    bytes
}

#[async_trait]
impl Shell for RealShell {
    async fn run(&self, command: &Command, _actor: &Actor) -> Ran {
        self.run_now(command).unwrap_or_else(|e| Ran::Lacks {
            what: format!("a real bash: {e}"),
            hint: "run this where /bin/bash is".to_owned(),
        })
    }
}
