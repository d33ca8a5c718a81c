mod profile;
mod sim;
mod sim_guests;
mod sim_programs;
mod wire;
