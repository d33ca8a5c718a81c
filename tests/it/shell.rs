//! The virtual shell: it does what a real bash does, on the world, and the same
//! thing every time.

mod clock;
mod conformance;
mod determinism;
mod world;

use rehearsal::shell::{Command, Fixture, Fixtures, Ran, Shell, VirtualShell};
use rehearsal::sim::{ActorId, InOrder, Sim, SimConfig};
use rehearsal::world::{Access, Answer, FileKind, Fs, MemoryFs, World};
use std::collections::BTreeMap;
use std::sync::Arc;

/// 2031-05-05T12:00:00.042Z: a year that no machine is in yet, so that a real time is seen.
const START_UNIX_MS: i64 = 1_935_748_800_042;

const CWD: &str = "/work";

/// The files that every command meets, by their path below `/work`, with their modes.
const FILES: &[(&str, &str, u32)] = &[
    ("a.txt", "one\ntwo\nthree\n", 0o644),
    ("b.txt", "two\nfour\n", 0o644),
    ("sub/c.txt", "deep\n", 0o644),
    ("sub/dir/d.md", "# title\n", 0o644),
    ("table.csv", "name,age\nann,31\nbob,25\ncy,47\n", 0o644),
    (
        "data.json",
        "{\"a\": [1, 2, {\"b\": \"x\"}], \"n\": null}\n",
        0o644,
    ),
    ("words", "the cat\nthe dog\na cat\n", 0o644),
    (
        "run.sh",
        "#!/bin/bash\necho \"run $0 $# $1\"\ncd sub\nX=inner\nexit 4\n",
        0o755,
    ),
    (
        "lib.sh",
        "greet() { echo \"hello $1\"; }\nLIB=loaded\n",
        0o644,
    ),
    ("plain.sh", "echo plain\n", 0o644),
    ("with space.txt", "s p a c e\n", 0o644),
    (".hidden", "h\n", 0o644),
];

/// A world of [`FILES`] and the executor it runs on.
struct Stage {
    sim: Sim,
    world: World,
    shell: Arc<VirtualShell>,
}

impl Stage {
    /// Answers with a pattern, each as often as it fits.
    fn new(fixtures: Vec<Fixture>) -> Stage {
        Stage::answering(
            fixtures
                .into_iter()
                .map(|value| Answer {
                    has_matcher: value.command.is_some(),
                    value,
                    times: None,
                    optional: true,
                    label: String::new(),
                })
                .collect(),
        )
    }

    fn answering(fixtures: Vec<Answer<Fixture>>) -> Stage {
        Stage::on(Sim::new(SimConfig::new(InOrder)), fixtures)
    }

    fn on(sim: Sim, fixtures: Vec<Answer<Fixture>>) -> Stage {
        let fs = MemoryFs::new(Default::default());
        fs.put_dir("/tmp", 0o777, START_UNIX_MS).expect("a folder");
        for (path, content, mode) in FILES {
            let path = format!("{CWD}/{path}");
            fs.put_file(&path, content.as_bytes().to_vec(), *mode, START_UNIX_MS)
                .expect("a file");
        }
        let world = World::new(sim.clone(), Arc::new(fs), START_UNIX_MS, 7, Vec::new());
        let shell = Arc::new(VirtualShell::new(Arc::new(Fixtures::new(fixtures))));
        Stage { sim, world, shell }
    }

    /// Runs a command line as call 1.
    fn run(&self, line: &str) -> Ran {
        self.run_command(&command(line))
    }

    fn run_command(&self, command: &Command) -> Ran {
        let (world, shell, command) = (self.world.clone(), self.shell.clone(), command.clone());
        let ran = self.sim.run(async {
            let id = ActorId::call(1);
            let call = async move { shell.run(&command, &world.actor(id)).await };
            self.sim.spawn(id, call).await
        });
        ran.expect("a run").expect("a call")
    }

    /// Every entry below `/work`, with its kind, mode and content.
    fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        gather(&**self.world.fs(), CWD, &mut files);
        files
    }

    fn accesses(&self) -> Vec<Access> {
        self.world.take_accesses()
    }
}

fn gather(fs: &dyn Fs, folder: &str, files: &mut BTreeMap<String, String>) {
    for entry in fs.list(folder).expect("a folder") {
        let path = format!("{folder}/{}", entry.name);
        let meta = fs.lstat(&path).expect("an entry");
        let what = match meta.kind {
            FileKind::Dir => {
                gather(fs, &path, files);
                "folder".to_owned()
            }
            FileKind::Symlink => format!("link to {}", fs.read_link(&path).expect("a link")),
            FileKind::File => {
                // A file whose mode forbids it is told without its content.
                let bytes = fs.read(&path).unwrap_or_default();
                format!("{:o} {:?}", meta.mode, String::from_utf8_lossy(&bytes))
            }
        };
        files.insert(path, what);
    }
}

fn command(line: &str) -> Command {
    let env = [
        ("HOME", CWD),
        ("LC_ALL", "C.UTF-8"),
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ];
    Command {
        line: line.to_owned(),
        cwd: CWD.to_owned(),
        env: env
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
        stdin: b"in 1\nin 2\n".to_vec(),
        timeout_ms: 60_000,
        memory: None,
    }
}
