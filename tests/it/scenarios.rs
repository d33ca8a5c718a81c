//! Every scenario in `scenarios/` does what it says, under any seed that leaves nobody to race.

rehearsal::scenarios!("scenarios");
