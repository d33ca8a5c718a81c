//! Everything that is tested from outside, in one binary.

mod cli;
mod determinism;
mod generated;
mod hooks;
mod laws;
mod model;
mod permission;
mod pipeline;
mod profile;
mod readme;
mod recording;
mod replay;
mod results;
mod scenario;
mod scenarios;
mod shell;
mod sim;
mod sim_guests;
mod sim_programs;
mod tidy;
mod tools;
mod trace;
mod trace_events;
mod wire;
mod wire_rules;
mod world;
