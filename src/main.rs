//! The program; what it does is in `src/cli/`.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    rehearsal::cli::main()
}
