//! Arguments about sizes of inputs, limits and files next to an output, which many commands share.

use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args as ClapArgs;
use gradus::{Error, Limits, Model, OpenOptions};

/// Symbols in the shapes of inputs.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "Sizes of inputs")]
pub(crate) struct DimArgs {
    /// A symbol in the shapes of inputs, and the number that it stands for, in what is written too.
    #[arg(long = "dim", value_name = "NAME=NUMBER")]
    pub(crate) dims: Vec<String>,
}

/// Shapes of inputs.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "Sizes of inputs")]
pub(crate) struct ShapeArgs {
    #[command(flatten)]
    pub(crate) dims: DimArgs,

    #[command(flatten)]
    pub(crate) inputs: InputArgs,
}

/// Inputs that have other shapes than the model declares, or are constants.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "Sizes of inputs")]
pub(crate) struct InputArgs {
    /// The shape of an input in place of the one that the model declares: numbers, names, or ? for
    /// what is open.
    #[arg(long = "input-shape", value_name = "NAME=DIM,…")]
    pub(crate) input_shapes: Vec<String>,

    /// A constant in the place of an input: NAME=VALUE or NAME=FILE, as `gradus run` takes an
    /// input. The model is then one that was written with it, also where it is saved.
    #[arg(long = "set", value_name = "NAME=VALUE|FILE")]
    pub(crate) set: Vec<String>,
}

/// Shapes of inputs, and facts about their sizes that are assumed.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "Sizes of inputs")]
pub(crate) struct SizeArgs {
    #[command(flatten)]
    pub(crate) shapes: ShapeArgs,

    #[command(flatten)]
    pub(crate) assume: AssumeArgs,
}

/// Facts about sizes of inputs that are assumed; `run` checks them.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "Sizes of inputs")]
pub(crate) struct AssumeArgs {
    /// Assume that a symbol is at least a number.
    #[arg(long = "min", value_name = "NAME=NUMBER")]
    pub(crate) least: Vec<String>,

    /// Assume that a symbol is a number from the first to the last: `--range seq=1..4096`.
    #[arg(long = "range", value_name = "NAME=FIRST..LAST")]
    pub(crate) ranges: Vec<String>,

    /// Assume a condition on sizes of inputs: `--assume 'h % 32 == 0'`, `--assume 'n in {1, 8}'`,
    /// `--assume a=b`, `--assume '1 <= n <= 64 and m >= 2'`.
    #[arg(long = "assume", value_name = "CONDITION")]
    pub(crate) conditions: Vec<String>,

    /// Assume that each size of an input is at least 1.
    #[arg(long)]
    pub(crate) nonempty: bool,
}

/// Names of files next to an output.
#[derive(Clone, Copy, Debug, ClapArgs)]
pub(crate) struct KeepNamesArg {
    /// Copy files of constants next to an output with the names that the model gives them, not with
    /// names that come from the output's.
    #[arg(long, requires = "output")]
    pub(crate) keep_names: bool,
}

/// Limits on the memory and time that a model may take.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Bytes that values may occupy at one time.
    #[arg(long, value_name = "N", default_value_t = Limits::DEFAULT.max_bytes)]
    max_bytes: u64,

    /// Nodes that may be run, iterations of loops counted one by one.
    #[arg(long, value_name = "N", default_value_t = Limits::DEFAULT.max_steps)]
    max_steps: u64,

    /// Elements that nodes may read and write, and multiplications of matrices.
    #[arg(long, value_name = "N", default_value_t = Limits::DEFAULT.max_work)]
    max_work: u64,

    /// Seconds after which the command fails.
    #[arg(long, value_name = "SECONDS", value_parser = deadline)]
    timeout: Option<Instant>,
}

impl LimitArgs {
    /// The limits that the arguments give.
    pub(crate) fn limits(&self) -> Limits {
        let mut limits = Limits::DEFAULT;
        (limits.max_bytes, limits.max_steps) = (self.max_bytes, self.max_steps);
        (limits.max_work, limits.deadline) = (self.max_work, self.timeout);
        limits
    }

    /// Opens a model, which keeps the limits.
    pub(crate) fn open(&self, path: &Path) -> Result<Model, Error> {
        OpenOptions::new().limits(self.limits()).open(path)
    }
}

/// The time `seconds` seconds from now.
fn deadline(seconds: &str) -> Result<Instant, String> {
    let duration = seconds.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let deadline = duration.and_then(|duration| Instant::now().checked_add(duration));
    deadline.ok_or_else(|| format!("expected seconds, got {seconds:?}"))
}
