//! The chores of Gradus: `cargo xtask --help` lists them.

mod bench;
mod chores;
mod docs;
mod python;
mod run;

use clap::{Parser, Subcommand};

/// The chores of Gradus.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Formatting, lints, documentation, generated documents, licences.
    Check,
    /// All tests: the workspace's, upstream's, and the fuzz targets for a while.
    Test {
        /// Seconds for each fuzz target.
        #[arg(long, default_value_t = 30)]
        fuzz_seconds: u32,
    },
    /// Upstream's cases, from their installed packages, against the lists in `conformance/`.
    Conformance,
    /// The fuzz targets.
    Fuzz {
        /// Seconds for each.
        #[arg(long, default_value_t = 30)]
        seconds: u32,
        /// Only this one.
        target: Option<String>,
    },
    /// Measurements, beside what they are compared with.
    #[command(subcommand)]
    Bench(Bench),
    /// Writes docs/ops.md, and with Python the tables of facts and the examples.
    Docs {
        /// Fail if they differ from what is checked in, instead of writing them.
        #[arg(long)]
        check: bool,
    },
}

/// What is measured.
#[derive(Debug, Subcommand)]
enum Bench {
    /// Shape inference, beside that of the `onnx` package.
    Infer {
        /// Further models to measure.
        models: Vec<std::path::PathBuf>,
    },
}

fn main() -> std::process::ExitCode {
    let result = match Args::parse().chore {
        Chore::Check => chores::check(),
        Chore::Test { fuzz_seconds } => chores::test(fuzz_seconds),
        Chore::Conformance => chores::conformance(),
        Chore::Fuzz { seconds, target } => chores::fuzz(seconds, target.as_deref()),
        Chore::Bench(Bench::Infer { models }) => bench::infer(&models),
        Chore::Docs { check } => docs::write(check).and_then(|()| chores::tables(check)),
    };
    match result {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}
