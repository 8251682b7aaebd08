//! The chores of Gradus: `cargo xtask --help` lists them.

mod bench;
mod c;
mod chores;
mod fuzz;
mod peers;
mod python;
mod run;
mod suites;
mod tally;
mod wheel;

use clap::builder::{PossibleValue, PossibleValuesParser};
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
    /// Installs what the other chores need, so that they need no network.
    Setup,
    /// All tests: every suite runs, whatever fails, and a table says how each went.
    Test {
        /// Only these suites.
        #[arg(value_name = "SUITE", value_parser = PossibleValuesParser::new(
            suites::SUITES.iter().map(|suite| PossibleValue::new(suite.name).help(suite.about))))]
        suites: Vec<String>,
        /// Seconds for each fuzz target.
        #[arg(long, default_value_t = 10)]
        fuzz_seconds: u32,
    },
    /// Upstream's cases, from their installed packages, against the lists in `conformance/`.
    Conformance {
        /// Compare the profiles with the programs too, on random calls: those that are named (of
        /// onnx-body, onnxruntime, openvino, openvino-cpu, openvino-cpu-avx2, numpy, torch,
        /// tensorflow, paddle, jax, octave), or the first six.
        #[arg(long, value_name = "PROFILE,…", value_delimiter = ',', num_args = 0..=1, default_missing_value = peers::SMALL)]
        peers: Option<Vec<String>>,
        /// Seed of the random calls.
        #[arg(long, default_value_t = 1, requires = "peers")]
        seed: u64,
        /// Random calls of each function of each program.
        #[arg(long, default_value_t = 300, requires = "peers")]
        calls: u32,
        /// Fold the corpus and the models of the onnx package too, and run what comes out beside
        /// the originals.
        #[arg(long)]
        fold: bool,
        /// Run every command on the models that small packages of Python's registry carry, too.
        #[arg(long)]
        production: bool,
    },
    /// Fills of random sequences of every float type against arbitrary precision.
    Accuracy {
        /// Elements of each type: 100000000 for the long run.
        #[arg(long, default_value_t = chores::ELEMENTS)]
        elements: u64,
        /// Seed of the random sequences.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// The fuzz targets.
    Fuzz {
        /// Seconds for each.
        #[arg(long, default_value_t = 30)]
        seconds: u32,
        /// Afterwards, pack the smallest inputs that reach the same code into `fuzz/kept`.
        #[arg(long)]
        keep: bool,
        /// Only this one.
        target: Option<String>,
    },
    /// Builds the wheel of the Python package and prints where it lies.
    Wheel {
        /// The folder to write, which then holds nothing else.
        folder: Option<std::path::PathBuf>,
        /// Features of the native module: `cuda`, `wgpu`.
        #[arg(long, default_value = "cuda")]
        features: String,
    },
    /// Builds the C library and installs it into a folder, for `pkg-config` and CMake.
    C {
        /// The folder: `/usr/local`, say.
        prefix: std::path::PathBuf,
    },
    /// Builds the documentation site; broken links and references are errors.
    Site,
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

/// The benchmark to run.
#[derive(Debug, Subcommand)]
enum Bench {
    /// Shape inference, beside that of the `onnx` package.
    Infer {
        /// Further models to measure.
        models: Vec<std::path::PathBuf>,
    },
    /// Sequences on a GPU, beside the device's own memory fill.
    Gpu {
        /// A Python that has `gradus`, and PyTorch or CuPy: their functions are measured too.
        #[arg(long, value_name = "PROGRAM")]
        python: Option<std::path::PathBuf>,
        /// How; `--device cuda`, `--bytes 1073741824`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Sequences, beside filling memory with a constant.
    Sequences {
        /// How; `--help` says.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

fn main() -> std::process::ExitCode {
    let result = match Args::parse().chore {
        Chore::Check => chores::check(),
        Chore::Setup => chores::setup(),
        Chore::Test { suites, fuzz_seconds } => {
            suites::test_suites(&suites, &suites::Options { fuzz_seconds })
        }
        Chore::Conformance { peers, seed, calls, fold, production } => {
            suites::test_suites(suites::CONFORMANCE, &suites::Options { fuzz_seconds: 0 })
                .and_then(|()| peers.map_or(Ok(()), |profiles| peers::compare(&profiles, seed, calls)))
                .and_then(|()| if fold { peers::fold() } else { Ok(()) })
                .and_then(|()| if production { peers::production() } else { Ok(()) })
        }
        Chore::Accuracy { elements, seed } => run::run(&mut chores::accuracy(elements, seed)),
        Chore::Fuzz { seconds, keep, target } => fuzz::only(seconds, target.as_deref(), keep),
        Chore::Site => chores::site(),
        Chore::Wheel { folder, features } => {
            wheel::wheel(folder, &features).map(|path| println!("{}", path.display()))
        }
        Chore::C { prefix } => c::install(&prefix, "release"),
        Chore::Bench(Bench::Infer { models }) => bench::infer(&models),
        Chore::Bench(Bench::Gpu { python, arguments }) => bench::gpu(python.as_deref(), &arguments),
        Chore::Bench(Bench::Sequences { arguments }) => bench::sequences(&arguments),
        Chore::Docs { check } => chores::documents(check).and_then(|()| chores::tables(check, run::run)),
    };
    match result {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}
