//! The replay of real recordings, and what it must not claim.

use super::recording::sessions;
use rehearsal::recording::read;
use rehearsal::replay::{ReplayOptions, Tally, replay};

#[test]
fn explore() {
    let Some(sessions) = sessions() else { return };
    let mut all = Tally::default();
    for session in &sessions {
        let source = session.source();
        let recording = read(&source);
        let replayed = replay(&recording, &ReplayOptions::default()).unwrap();
        all.add_all(&replayed.tally);
        for d in &replayed.divergences {
            println!(
                "{} {}: {} {:?} {}->{} {} [{}] [{}] {}",
                session.name,
                d.line,
                d.tool,
                d.step,
                d.class_recorded,
                d.class_replayed,
                d.path,
                d.recorded,
                d.replayed,
                d.cause.as_str()
            );
        }
        for a in &replayed.assumed {
            println!("ASSUMED {} {a}", session.name);
        }
    }
    println!("{}", serde_json::to_string_pretty(&all).unwrap());
}
