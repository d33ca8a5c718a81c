//! Permission decisions: the table of all combinations, the laws, and the ways of
//! writing one call that must not matter.

mod garbage;
mod laws;
mod stage;
mod table;
mod ways;
