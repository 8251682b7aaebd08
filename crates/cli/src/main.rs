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

fn main() -> ExitCode {
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) => return diagnostics::report_usage(&error),
    };
    match commands::run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => diagnostics::report(failure, args.json()),
    }
}
