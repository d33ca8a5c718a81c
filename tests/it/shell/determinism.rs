//! Nothing of the machine, the moment or the process reaches what a command does.

use super::{Stage, command};
use rehearsal::shell::VirtualShell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::Command as Process;
use std::sync::Arc;

/// The variable by which this test, run again as a child, learns where to write.
const TELL_IN: &str = "REHEARSAL_TEST_TELL_IN";

/// Arguments that every command of the shell is run with.
const ARGUMENTS: &[&str] = &["", "a.txt", "-l a.txt sub", "--help", "3 words"];

/// Command lines that could show a clock, entropy, an order of hashing or a process.
const LINES: &[&str] = &[
    "date; date +%s%N; date -d yesterday +%F; date -r a.txt; sleep 3; date +%s.%3N",
    "printf '%(%c)T\\n' -1; echo $SECONDS $EPOCHSECONDS $EPOCHREALTIME; TIMEFORMAT='%R'; time true",
    "echo $RANDOM $RANDOM; bash -c 'echo $RANDOM'; (echo $RANDOM); echo $(echo $RANDOM)",
    "echo $$ $PPID $BASHPID $(echo $BASHPID) $!; ps; jobs -p; echo a & echo $!; wait",
    "od -An -N16 -tx1 /dev/urandom; head -c 8 /dev/random | xxd; cat /dev/urandom | wc -c",
    "dd if=/dev/urandom bs=8 count=2 2>/dev/null | od -An -tx1; dd bs=4 count=1 < /dev/urandom | xxd",
    "mktemp; mktemp -d; mktemp -u /tmp/XXXX; mktemp -t aXXX.c; ls /tmp; stat /tmp/*",
    "shuf a.txt words; shuf -i 1-20 -n 5; shuf -e a b c d e; shuf -r -n 4 a.txt",
    "sort -R words; sort --random-sort words table.csv; sort -R -u words words",
    "uuidgen; uuidgen -r; openssl rand -hex 8; openssl rand -base64 100; openssl rand 3 | xxd",
    "touch new; touch -d '1 hour ago' old; touch -t 01020304 year; ls -l; stat *; find . -mmin -5",
    "sed -i s/one/ONE/ a.txt; sort -o b.txt b.txt; cp a.txt copy; mv copy moved; ls -la --full-time",
    "tar cf t.tar a.txt sub; md5sum t.tar; gzip -k a.txt; md5sum a.txt.gz; tar tvf t.tar; zip z a.txt; md5sum z.zip; unzip -l z.zip",
    "jq -n 'now, (now|localtime), (now|todate), (0|strflocaltime(\"%c %Z\")), env, $ENV'",
    "declare -A m; for i in {1..40}; do m[k$i]=$i; done; echo ${!m[@]}; echo ${m[@]}; declare -p m",
    "for i in {1..40}; do eval v$i=$i; done; set; declare -p; export A=1 B=2 C=3; export -p; env; printenv",
    "for i in {1..30}; do eval \"f$i() { :; }\"; alias a$i=x; done; declare -F; declare -f | head -9; alias; compgen -v; compgen -A function; compgen -b",
    "awk 'BEGIN { for (i = 0; i < 40; i++) a[\"k\" i] = i; for (k in a) print k; srand(); print rand(), srand(), systime(), strftime() }'",
    "awk 'BEGIN { print rand(); for (k in ENVIRON) print k, ENVIRON[k]; print PROCINFO[\"pid\"] }'",
    "trap 'echo a' INT TERM EXIT HUP; trap -p; trap; hash ls cat; hash; enable; shopt; set -o; bind -p | head -3",
    "echo ${!B*}; for i in {1..30}; do eval pre$i=1; done; echo ${!pre*}; unset pre5; echo ${!pre@}",
    "uptime; whoami; id; groups; hostname; uname -a; nproc; tty; who; users; logname; arch; free; df; du; locale; getconf -a",
    "pr a.txt; ls -l /dev/null /dev/urandom; stat /dev/null; ls -lR; tree; echo <(echo a); ls -l <(echo a)",
    "stat /dev/stdin; ls -l /dev/stdout /dev/fd; readlink /dev/fd/0; cat /dev/stdin",
    "find . -printf '%p %t %T+ %C+ %A+ %i\\n'; find . -newermt yesterday; stat -c '%X %Y %Z %W %i %h' a.txt; ls -i a.txt; ls -t; rg one; rg --files --sort modified",
    "printf 'all: b\\n\\t@date +%%s\\nb:\\n\\t@echo $$RANDOM\\n' > Makefile; make; make -d | head -20; make",
    "set -o history; HISTTIMEFORMAT='%s '; caller; times; ulimit -a; umask; dirs; echo ${PS1@P} $LINENO $BASH_VERSINFO $HOSTNAME $HOME $OSTYPE $_",
    "x='\\t \\d \\D{%s} \\A \\u@\\h'; echo \"${x@P}\"; PS4='+ $SECONDS '; set -x; echo x",
    "timeout 2 sleep 1; echo $?; timeout 1 sleep 5; echo $?; time sleep 1",
    "split -l 1 a.txt; ls; nl a.txt | tee copy; diff -u a.txt b.txt; patch --version; column --version",
    "eval 'eval \"echo $RANDOM\"'; source lib.sh; ./run.sh; bash -c 'bash -c \"echo \\$RANDOM\"'; echo 'echo $RANDOM' | bash",
];

/// Everything that every command says, does and touches.
fn everything() -> BTreeMap<String, String> {
    let shell = VirtualShell::new(Arc::default());
    let names: Vec<String> = shell.provided().map(str::to_owned).collect();
    assert!(names.len() > 100, "only {} commands", names.len());
    let each = names.iter().flat_map(|name| {
        let lines = ARGUMENTS.iter().map(move |args| format!("{name} {args}"));
        lines.filter(|line| line.trim() != "yes" && !line.starts_with("yes "))
    });
    let mut all = BTreeMap::new();
    for line in each.chain(LINES.iter().map(|&line| line.to_owned())) {
        let stage = Stage::new(Vec::new());
        let mut asked = command(&line);
        asked
            .env
            .extend((0..20).map(|n| (format!("VAR{n}"), n.to_string())));
        asked.env.sort();
        let mut said = format!("{:?}\n", stage.run_command(&asked));
        for (path, what) in stage.files() {
            let mtime_ms = stage.world.fs().lstat(&path).map(|meta| meta.mtime_ms);
            let _ = writeln!(said, "{path} {what} {mtime_ms:?}");
        }
        for access in stage.accesses() {
            let _ = writeln!(said, "{access:?}");
        }
        all.insert(line, said);
    }
    all
}

fn as_text(all: &BTreeMap<String, String>) -> String {
    all.iter()
        .map(|(line, said)| format!("$ {line}\n{said}\n"))
        .collect()
}

/// Where the first difference is, in words for a person.
fn first_difference(a: &BTreeMap<String, String>, b: &BTreeMap<String, String>) -> Option<String> {
    a.iter()
        .find(|(line, said)| b.get(*line) != Some(said))
        .map(|(line, said)| {
            let other = b.get(line).cloned().unwrap_or_default();
            let diff = similar::TextDiff::from_lines(said, &other);
            format!("$ {line}\n{}", diff.unified_diff())
        })
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "how the child learns that it is one"
)]
fn every_command_says_the_same_again_and_in_another_process() {
    let first = everything();
    if let Ok(path) = std::env::var(TELL_IN) {
        std::fs::write(path, as_text(&first)).expect("the file the parent reads");
        return;
    }
    no_real_time(&first);
    assert_eq!(first_difference(&first, &everything()), None);

    let folder = tempfile::tempdir().expect("a folder");
    let told = folder.path().join("told");
    let test = "shell::determinism::every_command_says_the_same_again_and_in_another_process";
    let child = Process::new(std::env::current_exe().expect("this test"))
        .args(["--exact", test, "--test-threads=1"])
        .env(TELL_IN, &told)
        .env("TZ", "Asia/Tokyo")
        .env("HOME", "/elsewhere")
        .env("LC_ALL", "C")
        .current_dir(folder.path())
        .output()
        .expect("a child");
    assert!(child.status.success(), "{child:?}");
    let told = std::fs::read_to_string(told).expect("what the child told");
    let here = as_text(&first);
    let difference = similar::TextDiff::from_lines(&here, &told)
        .unified_diff()
        .to_string();
    assert!(
        here == told,
        "another process says otherwise:\n{difference}"
    );
}

/// Looks for the real clock in what the commands said.
#[expect(clippy::disallowed_methods, reason = "what must not be found")]
fn no_real_time(all: &BTreeMap<String, String>) {
    let now = std::time::SystemTime::now();
    let since = now
        .duration_since(std::time::UNIX_EPOCH)
        .expect("after 1970");
    let seconds = since.as_secs().to_string();
    let today = time::OffsetDateTime::from(now);
    let forbidden = [
        // Ten thousand seconds of the real clock, and its day as programs write it.
        seconds[..6].to_owned(),
        today.date().to_string(),
        format!("{} {:2}", &today.month().to_string()[..3], today.day()),
    ];
    let real_year = today.year().to_string();
    assert_ne!(
        real_year, "2031",
        "the world is meant to be in another year"
    );
    for (line, said) in all {
        for real in forbidden.iter().chain([&real_year]) {
            assert!(!said.contains(real), "{line} tells {real}:\n{said}");
        }
    }
}
