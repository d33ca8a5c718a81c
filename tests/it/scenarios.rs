//! Every scenario in `scenarios/` does what it says.

use rehearsal::run::{RunOptions, Setup, run};
use rehearsal::scenario::{Outcome, judge, load};
use std::path::{Path, PathBuf};

fn files(below: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(below)
        .expect("the folder is there")
        .flatten()
    {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path
            .extension()
            .is_some_and(|extension| extension == "yaml")
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn every_scenario_does_what_it_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut wrong = Vec::new();
    let (mut count, filter) = (0, option_env!("SCENARIO"));
    for file in files(&root) {
        let name = file
            .strip_prefix(&root)
            .expect("below the root")
            .display()
            .to_string();
        if filter.is_some_and(|filter| !name.contains(filter)) {
            continue;
        }
        let loaded = match load(&file) {
            Ok(loaded) => loaded,
            Err(rejected) => {
                wrong.extend(rejected.complaints.iter().map(|c| format!("{name}: {c}")));
                continue;
            }
        };
        wrong.extend(loaded.warnings.iter().map(|c| format!("{name}: {c}")));
        for scenario in &loaded.scenarios {
            count += 1;
            let title = format!("{name}@{}", scenario.case.as_deref().unwrap_or(""));
            let setup = match Setup::from_scenario(scenario, &RunOptions::default()) {
                Ok(setup) => setup,
                Err(error) => {
                    wrong.push(format!("{title}: {error}"));
                    continue;
                }
            };
            match run(setup) {
                Ok(report) => {
                    wrong.extend(report.complaints.iter().map(|c| format!("{title}: {c}")));
                    let outcome = Outcome {
                        trace: &report.trace,
                        profile: &scenario.profile,
                        fs: &report.fs,
                        unused: &report.leftover,
                    };
                    wrong.extend(
                        judge(scenario, &outcome)
                            .iter()
                            .map(|f| format!("{title}: {f}")),
                    );
                }
                Err(error) => wrong.push(format!("{title}: {error}")),
            }
        }
    }
    println!("{count} scenarios and cases");
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
