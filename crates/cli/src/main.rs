//! The program `gradus`.

use std::process::ExitCode;

fn main() -> ExitCode {
    gradus_cli::main(std::env::args_os(), gradus_cli::no_runtime).into()
}
