//! `--check-determinism`: determinism is checked, not hoped for.

use super::console::Console;
use super::exit::Exit;
use super::flags::RunFlags;
use super::run::{Done, Job, run_once};
use crate::report::run_line::{Said, Status};
use crate::run::RunOptions;
use crate::scenario::Scenario;
use crate::trace::{Trace, first_divergence};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};

/// Runs a scenario a second time in this process and compares the traces.
pub fn again(scenario: &Scenario, options: &RunOptions, first: &Trace, done: &mut Done) {
    let second = match run_once(scenario, options) {
        Ok(report) => report.trace,
        Err(error) => {
            return differs(done, format!("a second run failed: {error}"));
        }
    };
    if let Some(divergence) = first_divergence(first, &second) {
        differs(done, format!("a second run went otherwise: {divergence}"));
    }
}

fn differs(done: &mut Done, text: String) {
    done.line.status = done.line.status.max(Status::Differs);
    done.line.complaints.push(Said::Run { text });
}

/// Prints the hash of each trace: `TITLE<tab>HASH`.
pub fn print_hashes(jobs: &[Job], flags: &RunFlags, console: &mut Console) -> Exit {
    let options = flags.options();
    for job in jobs {
        if let Ok(scenario) = &job.what
            && let Ok(report) = run_once(scenario, &options)
        {
            console.line(&format!("{}\t{}", job.title, report.trace.trace_hash()));
        }
    }
    Exit::Same
}

/// Runs the same command line in another process and compares the hashes of its
/// traces with `own`.
pub fn in_another_process(own: &BTreeMap<String, String>, console: &mut Console) -> Exit {
    let theirs = match hashes_of_another_process() {
        Ok(theirs) => theirs,
        Err(error) => {
            console.complain(&format!(
                "error: the run in another process failed: {error}"
            ));
            return Exit::Fault;
        }
    };
    let differences = differences(own, &theirs);
    for difference in &differences {
        console.complain(&format!("error: {difference}"));
    }
    if !differences.is_empty() {
        return Exit::Differs;
    }
    console.note(&format!(
        "deterministic: {} traces, each twice here and once in another process",
        own.len()
    ));
    Exit::Same
}

/// Every trace of `own` that another process does not have, in words.
fn differences(own: &BTreeMap<String, String>, theirs: &BTreeMap<String, String>) -> Vec<String> {
    own.iter()
        .filter(|(title, hash)| theirs.get(*title) != Some(hash))
        .map(|(title, hash)| {
            let found = theirs.get(title).map_or("none", String::as_str);
            format!(
                "{title}: another process has another trace: expected hash {hash}, found {found}"
            )
        })
        .collect()
}

fn hashes_of_another_process() -> Result<BTreeMap<String, String>, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let arguments = std::env::args_os()
        .skip(1)
        .filter(|argument| argument != "--check-determinism");
    let output = Command::new(program)
        .args(arguments)
        .arg("--print-trace-hashes")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("it ended with {}", output.status));
    }
    let text = String::from_utf8(output.stdout).map_err(|error| error.to_string())?;
    Ok(text
        .lines()
        .filter_map(|line| line.rsplit_once('\t'))
        .map(|(title, hash)| (title.to_owned(), hash.to_owned()))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let owned = |(title, hash): &(&str, &str)| ((*title).to_owned(), (*hash).to_owned());
        pairs.iter().map(owned).collect()
    }

    #[test]
    fn another_hash_and_none_are_differences() {
        let own = hashes(&[("a", "1"), ("b", "2"), ("c", "3")]);
        assert_eq!(differences(&own, &own), [] as [&str; 0]);
        let theirs = hashes(&[("a", "1"), ("b", "9"), ("x", "3")]);
        assert_eq!(
            differences(&own, &theirs),
            [
                "b: another process has another trace: expected hash 2, found 9",
                "c: another process has another trace: expected hash 3, found none",
            ]
        );
    }
}
