//! Benchmarks of Gradus: ratios, measured side by side in one run, as tables; and fills against
//! arbitrary precision.

mod accuracy;
mod gpu;
mod memory;
mod peers;
mod sequences;
mod timing;

use std::process::ExitCode;

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
        /// The instructions; by default the widest that there are.
        #[arg(long)]
        level: Option<sequences::Instructions>,
        /// How elements of long buffers go to memory.
        #[arg(long, default_value = "auto")]
        stores: sequences::Storing,
    },
    /// Sequences on a GPU against the device's own memory fill (features `cuda`, `wgpu`).
    Gpu {
        /// The device, as `gradus devices` names it.
        #[arg(long, default_value = "gpu")]
        device: String,
        /// Bytes of the arrays.
        #[arg(long, value_delimiter = ',', default_value = "1073741824,4294967296")]
        bytes: Vec<u64>,
        /// How often each is timed; the median counts.
        #[arg(long, default_value_t = 15)]
        rounds: usize,
    },
    /// The times of sequences as JSON, which bench/peers.py holds against other programs.
    Peers {
        /// Numbers of elements.
        #[arg(long, value_delimiter = ',', default_value = "10,1000,100000,16777216")]
        sizes: Vec<usize>,
        /// Threads; 0 stands for as many as there are, where they pay.
        #[arg(long, default_value_t = 0)]
        threads: usize,
        /// How often each is timed; the median counts.
        #[arg(long, default_value_t = 1)]
        rounds: usize,
    },
    /// Fills of random sequences against arbitrary precision.
    Accuracy {
        /// Elements of each float type.
        #[arg(long, default_value_t = 4_000_000)]
        elements: u64,
        /// Seed of the random sequences.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
}

fn main() -> ExitCode {
    match Args::parse().subject {
        Subject::Sequences { bytes, rounds, level, stores } => {
            sequences::run(bytes, rounds, sequences::options(level, stores));
        }
        Subject::Gpu { device, bytes, rounds } => {
            if let Err(error) = gpu::run(&device, &bytes, rounds) {
                eprintln!("error: {error}");
                return ExitCode::FAILURE;
            }
        }
        Subject::Peers { sizes, threads, rounds } => peers::run(&sizes, threads, rounds),
        Subject::Accuracy { elements, seed } => {
            if !accuracy::run(elements, seed) {
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
