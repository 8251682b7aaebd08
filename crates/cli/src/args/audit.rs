//! The arguments of `gradus audit`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use gradus::Error;
use gradus::audit::Invariance;
use gradus::check::GradusRuntime;

use super::models::programs_of;
use super::sizes::{LimitArgs, ShapeArgs};

/// Find what changes the bits that a runtime computes: other rows, threads, a repeated run, …
///
/// Each invariance compares pairs of runs that should have the same bits: `runs`, a run that is
/// repeated; `session`, a run after others in its session; `rows`, a row beside other rows of the
/// batch; `place`, equal rows at other indices; `batch`, a row in a batch of another size;
/// `padding`, a sequence with and without padding that the mask leaves out; `chunks`, a sequence in
/// one piece or after its past values; `threads`, their number; `optimization`, the model as it is
/// written; `processor`, other sets of instructions. Where a pair differs, its exact results say
/// whether the model itself depends on it. The pair is made smaller while it differs, and the first
/// node that differs is named. Exit status: 0 if nothing differs, 1 if something does, 2 if the
/// model cannot be audited.
///
/// `gradus` and command lines run from this program; the others with the Python package: `python -m
/// gradus audit m.onnx --with onnxruntime`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  gradus audit examples/heads.onnx --with gradus\n  gradus audit examples/positions.onnx --with gradus --only threads,batch"
)]
pub(crate) struct AuditArgs {
    /// The model: an ONNX file, the .xml of an OpenVINO IR, or a Paddle program.
    pub(crate) model: PathBuf,

    /// Programs that run the model: gradus, onnxruntime, openvino, paddle, or 'cmd:' and a command
    /// line.
    ///
    /// The command line is that of `gradus check --with`, and may have {threads}, a number, 0 for
    /// the program's own choice, and {optimizations}, on or off.
    #[arg(long, required = true, value_name = "PROGRAM,…|cmd:COMMAND", value_parser = programs)]
    pub(crate) with: Vec<Vec<String>>,

    /// The invariances to audit. [default: all]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = invariance)]
    pub(crate) only: Vec<Invariance>,

    /// The dimension that counts rows. [default: one that inputs and outputs share]
    #[arg(long, value_name = "DIM")]
    pub(crate) batch: Option<String>,

    /// The input that is 1 for elements and 0 for padding. [default: one whose name has "mask"]
    #[arg(long, value_name = "INPUT")]
    pub(crate) mask: Option<String>,

    /// The largest number of rows of a batch.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = at_least_one)]
    pub(crate) rows: usize,

    /// An input that is the same in all runs, as of `gradus check`.
    #[arg(short, long = "input", value_name = "NAME=VALUE|FILE")]
    pub(crate) inputs: Vec<String>,

    /// The number of draws of random inputs.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = at_least_one)]
    pub(crate) runs: usize,

    /// The seed of the random sizes and elements.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Save the smallest pair of each invariance that differs in a folder PROGRAM/NAME of this
    /// folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) save_case: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) shapes: ShapeArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// The names of programs that `audit` knows, or one command line.
pub(super) fn programs(text: &str) -> Result<Vec<String>, String> {
    programs_of(text, &[GradusRuntime::NAME, "onnxruntime", "openvino", "paddle"])
}

fn invariance(name: &str) -> Result<Invariance, String> {
    name.parse().map_err(|error: Error| error.to_string())
}

fn at_least_one(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|&number| number > 0);
    number.ok_or_else(|| format!("expected a number from 1 on, got {text:?}"))
}
