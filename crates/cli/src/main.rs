//! The command line of Gradus: what was typed, turned into calls of the library, and results turned
//! into text.

mod args;
mod commands;
mod diagnostics;
mod json;
mod literal;
mod output;
mod stream;

use std::process::ExitCode;

use clap::Parser;
use gradus::error;

fn main() -> ExitCode {
    diagnostics::remember_panics();
    #[cfg(unix)]
    clean_up_on_signals();
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) => return diagnostics::report_usage(&error),
    };
    match error::guarded(|| commands::run(&args)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => diagnostics::report(failure, args.json()),
    }
}

/// Removes unfinished files when a signal ends the process.
#[cfg(unix)]
fn clean_up_on_signals() {
    use signal_hook::consts::{SIGINT, SIGTERM};
    // Without this, the next writer removes them.
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]) else { return };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            gradus::files::abandon_unfinished(|| {
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            });
        }
    });
}
