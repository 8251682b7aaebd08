//! Benchmarks of Gradus: ratios, measured side by side in one run, as tables.

mod memory;
mod sequences;
mod timing;

use clap::{Parser, Subcommand};

/// Benchmarks of Gradus.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench")]
struct Args {
    #[command(subcommand)]
    subject: Subject,
}

#[derive(Debug, Subcommand)]
enum Subject {
    /// Sequences against filling memory with a constant.
    Sequences {
        /// The bytes of the largest buffer.
        #[arg(long, default_value_t = 1 << 28)]
        bytes: usize,
        /// How often each is timed; the median counts.
        #[arg(long, default_value_t = 9)]
        rounds: usize,
    },
}

fn main() {
    match Args::parse().subject {
        Subject::Sequences { bytes, rounds } => sequences::run(bytes, rounds),
    }
}
