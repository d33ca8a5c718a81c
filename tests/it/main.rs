mod profile;
mod shell;
mod sim;
mod sim_guests;
mod sim_programs;
mod trace;
mod trace_events;
mod wire;
