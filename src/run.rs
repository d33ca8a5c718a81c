//! One run: a scenario becomes a world, an agent and a trace.
