//! The `claimsmith` program: arguments in, exit status out.

use std::process::ExitCode;

fn main() -> ExitCode {
    claimsmith::cli::main()
}
