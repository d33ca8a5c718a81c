//! The same command lines on the virtual shell and on a real bash.

use super::{CWD, FILES, START_UNIX_MS, Stage, command};
use rehearsal::shell::{Ran, RealShell, Shell};
use rehearsal::sim::ActorId;
use std::collections::BTreeMap;
use std::path::Path;

/// Programs that not every machine has; a case that uses one is skipped without it.
const OPTIONAL: &[&str] = &[
    "jq", "bc", "xxd", "column", "patch", "make", "gzip", "factor", "awk",
];

/// What a command line came to: its code, folder and stdout, and the files it left.
#[derive(PartialEq)]
struct Outcome {
    ran: String,
    files: BTreeMap<String, String>,
}

impl Outcome {
    fn new(ran: &Ran, files: BTreeMap<String, String>) -> Outcome {
        let ran = match ran {
            Ran::Exited {
                code, stdout, cwd, ..
            } => {
                format!("exit {code} in {cwd}\n{}", String::from_utf8_lossy(stdout))
            }
            other => format!("{other:?}"),
        };
        Outcome { ran, files }
    }

    fn text(&self) -> String {
        let files: Vec<_> = self
            .files
            .iter()
            .map(|(k, v)| format!("{k}: {v}"))
            .collect();
        format!("{}\n{}\n", self.ran, files.join("\n"))
    }
}

fn on_the_world(line: &str) -> Outcome {
    let stage = Stage::new(Vec::new());
    let ran = stage.run(line);
    Outcome::new(&ran, stage.files())
}

/// The same on a real folder, which is removed afterwards.
fn for_real(line: &str) -> Outcome {
    let parent = tempfile::tempdir().expect("a folder");
    let root = parent.path().canonicalize().expect("a path").join("root");
    for (path, content, mode) in FILES {
        put(&root.join(&CWD[1..]).join(path), content, *mode);
    }
    let root_text = root.to_str().expect("a text");
    let stage = Stage::new(Vec::new());
    let mut command = command(line);
    for (_, value) in command.env.iter_mut().filter(|(name, _)| name == "HOME") {
        *value = format!("{root_text}{CWD}");
    }
    let actor = stage.world.actor(ActorId::call(1));
    let ran = stage
        .sim
        .run(async { RealShell::new(root_text).run(&command, &actor).await })
        .expect("a run");
    let mut files = BTreeMap::new();
    gather(&root, CWD, &mut files);
    let mut outcome = Outcome::new(&ran, files);
    outcome.ran = outcome.ran.replace(root_text, "");
    outcome
}

fn put(file: &Path, content: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::create_dir_all(file.parent().expect("a parent")).expect("a folder");
    std::fs::write(file, content).expect("a file");
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).expect("a mode");
    let since_1970 = std::time::Duration::from_millis(START_UNIX_MS.unsigned_abs());
    let opened = std::fs::File::open(file).expect("a file");
    opened
        .set_modified(std::time::UNIX_EPOCH + since_1970)
        .expect("an mtime");
}

fn gather(root: &Path, folder: &str, files: &mut BTreeMap<String, String>) {
    use std::os::unix::fs::PermissionsExt;
    for entry in std::fs::read_dir(root.join(&folder[1..])).expect("a folder") {
        let entry = entry.expect("an entry");
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        let meta = entry.path().symlink_metadata().expect("an entry");
        let what = if meta.is_dir() {
            gather(root, &path, files);
            "folder".to_owned()
        } else if meta.is_symlink() {
            let target = std::fs::read_link(entry.path()).expect("a link");
            format!("link to {}", target.display())
        } else {
            let bytes = std::fs::read(entry.path()).expect("a file");
            let mode = meta.permissions().mode() & 0o7777;
            format!("{mode:o} {:?}", String::from_utf8_lossy(&bytes))
        };
        files.insert(path, what);
    }
}

fn machine_has(program: &str) -> bool {
    let dirs = ["/usr/local/bin", "/usr/bin", "/bin"];
    dirs.iter().any(|dir| Path::new(dir).join(program).exists())
}

/// The program that a case needs and this machine lacks.
fn missing(line: &str) -> Option<&'static str> {
    let uses = |program: &str| {
        line.split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .any(|word| word == program)
    };
    let mut optional = OPTIONAL.iter().copied();
    optional.find(|program| uses(program) && !machine_has(program))
}

#[test]
fn both_shells_agree_but_for_what_is_known() {
    if !machine_has("bash") {
        println!("skipped: this machine has no bash to compare with");
        return;
    }
    let (mut same, mut known, mut wrong) = (0, 0, Vec::new());
    for case in include_str!("conformance.txt").trim_end().split("\n===\n") {
        let (reason, line) = match case.strip_prefix("# differs: ") {
            Some(rest) => {
                let (reason, line) = rest.split_once('\n').expect("a case below its reason");
                (Some(reason), line)
            }
            None => (None, case),
        };
        if let Some(program) = missing(line) {
            println!("skipped without {program}: {line}");
            continue;
        }
        let (virtually, really) = (on_the_world(line), for_real(line));
        match (reason, virtually == really) {
            (None, true) => same += 1,
            (Some(_), false) => known += 1,
            (Some(reason), true) => {
                wrong.push(format!("no longer true: {reason}\nof: {line}"));
            }
            (None, false) => {
                let (real, virtual_) = (really.text(), virtually.text());
                let diff = similar::TextDiff::from_lines(&real, &virtual_);
                wrong.push(format!(
                    "{line}\n{}",
                    diff.unified_diff().header("real bash", "virtual bash")
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(
        same >= 60 && known >= 5,
        "{same} cases agree, {known} differ as known"
    );
}
