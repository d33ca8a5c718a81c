//! Every scenario in `scenarios/` does what it says.

rehearsal::scenarios!("scenarios");
