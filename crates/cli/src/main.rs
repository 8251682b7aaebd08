//! The program `gradus`.

use std::process::ExitCode;

/// Graphs are millions of small allocations, by several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The option `mi_option_purge_delay` of mimalloc 2, which its crate does not name.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

fn main() -> ExitCode {
    #[allow(unsafe_code, reason = "the allocator is told an option")]
    // SAFETY: the option is a number, and nothing else runs yet.
    unsafe {
        // The system clears pages that were given back to it when they are used again: a tenth of
        // the time of a report.
        libmimalloc_sys::mi_option_set(PURGE_DELAY, -1);
    }
    gradus_cli::main(std::env::args_os(), gradus_cli::Host::ALONE).into()
}
