//! MCP without I/O: a client and a scripted server, each a state machine that takes
//! bytes and the time and gives bytes and events. Who carries the bytes and keeps the
//! time is another's business: in a simulated run the in-world pipe ([`Link`]), in the
//! conformance tests a duplex in memory with rmcp at its other end.
//!
//! The messages are small types of our own: the model types of rmcp come with schemars,
//! uuid and tokio's I/O, and they take the unknown away, which a trace wants to keep.

mod client;
mod lines;
mod link;
mod message;
mod server;
mod text;

pub use client::{Answer, CallNumber, Client, Event, Failure, Limits, State};
pub use link::{Connected, Link, Unconnected};
pub use message::{Fault, Message};
pub use server::{Change, Reply, Script, ScriptedTool, Sent, Server};

/// The newest revision of the protocol that is spoken here.
pub const PROTOCOL: &str = "2025-06-18";
/// Those that are understood as well: for what is used here they say the same.
pub const ALSO: &[&str] = &["2025-03-26", "2024-11-05"];
