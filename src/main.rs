//! The `claimsmith` program: arguments in, exit status out.

use std::process::ExitCode;

/// A quarter of a run's instructions are the system's allocator otherwise.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    claimsmith::cli::main()
}
