//! The limits of the virtual shell, and who and where it says that it is.

use bashkit::{ExecutionLimits, MemoryLimits, SessionLimits};
use std::time::Duration;

/// The user that `whoami` and `~` name, unless `HOME` is given.
pub(super) const USERNAME: &str = "user";

/// The machine that `hostname` names.
pub(super) const HOSTNAME: &str = "rehearsal";

/// The longest command line.
pub(super) const LINE_MAX_BYTES: usize = 1024 * 1024;

/// The most that a command may print to either stream.
pub(super) const OUTPUT_MAX_BYTES: usize = 32 * 1024 * 1024;

/// The most commands that one command line may run. A script that goes on for
/// longer counts as one that would have run until its timeout.
const COMMANDS_MAX: usize = 100_000;

/// The most rounds of all loops together.
const ROUNDS_MAX: usize = 1_000_000;

const WORK_MAX: u64 = 2_000_000_000;

/// How deep commands may be nested by their syntax. With `deep::STACK_BYTES` in mind.
const AST_MAX_DEPTH: usize = 64;

const LIVE_MAX_BYTES: u64 = 512 * 1024 * 1024;

const INPUT_MAX_BYTES: u64 = 4 * 1024 * 1024 * 1024;

const PARSER_MAX_OPERATIONS: usize = 2_000_000;

/// Longer than any run, and what the executor takes for a time that never comes: only
/// `Command::timeout_ms` shall stop a command.
const NEVER: Duration = Duration::from_secs(60 * 60 * 24 * 365 * 25);

pub(super) fn limits() -> ExecutionLimits {
    ExecutionLimits::new()
        .max_work_units(WORK_MAX)
        .max_aggregate_input_bytes(INPUT_MAX_BYTES)
        .max_live_intermediate_bytes(LIVE_MAX_BYTES)
        .max_commands(COMMANDS_MAX)
        .max_loop_iterations(ROUNDS_MAX)
        .max_total_loop_iterations(ROUNDS_MAX)
        .timeout(NEVER)
        .parser_timeout(NEVER)
        .max_ast_depth(AST_MAX_DEPTH)
        .max_input_bytes(LINE_MAX_BYTES)
        .max_parser_operations(PARSER_MAX_OPERATIONS)
        .max_stdout_bytes(OUTPUT_MAX_BYTES)
        .max_stderr_bytes(OUTPUT_MAX_BYTES)
        // A coprocess would run beside the script and unseen by the dispatch.
        .max_background_jobs(0)
}

pub(super) fn session_limits() -> SessionLimits {
    SessionLimits::unlimited()
}

pub(super) fn memory_limits() -> MemoryLimits {
    MemoryLimits::unlimited()
}
