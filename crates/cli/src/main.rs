//! The program `gradus`.

use std::process::ExitCode;

/// Graphs are millions of small allocations, by several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    gradus_cli::main(std::env::args_os(), gradus_cli::no_runtime).into()
}
