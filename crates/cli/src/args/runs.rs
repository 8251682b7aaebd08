//! The arguments of `gradus run`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use gradus::{RunOptions, Sums, profiles};

use super::sizes::{AssumeArgs, InputArgs, LimitArgs};

/// Run a model and print its outputs, or save them.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  gradus run examples/positions.onnx -i 'tokens=[[101, 102]]'\n  gradus run examples/positions.onnx --random-inputs --dim batch=2 --dim seq=128 --profile-nodes"
)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of the command")]
pub(crate) struct RunArgs {
    /// The model: an ONNX file, the .xml of an OpenVINO IR, or the .json or .pdmodel of a Paddle
    /// program.
    pub(crate) model: PathBuf,

    /// An input: NAME=VALUE, NAME=FILE, or an .npz file with arrays by name.
    ///
    /// A VALUE is a number, text in quotes, true or false, nested lists of these ([[1, 2], [3,
    /// 4]]), or a shape after zeros, ones, full:NUMBER, arange, random (floats from -1 to 1,
    /// integers 0 and 1) or random:normal, as in zeros[2, 3]. It becomes a tensor of the type that
    /// the model declares. A FILE is .npy, .npz or a .pb with one ONNX tensor.
    #[arg(short, long = "input", value_name = "NAME=VALUE|FILE")]
    pub(crate) inputs: Vec<String>,

    /// A value to compute; any value of the main graph. Without this, all outputs.
    #[arg(short = 'n', long = "output", value_name = "NAME")]
    pub(crate) outputs: Vec<String>,

    /// Save each output as NAME.npy in this folder instead of printing it, or all of them in one
    /// .npz file.
    #[arg(short, long, value_name = "DIR|FILE.npz")]
    pub(crate) out: Option<PathBuf>,

    /// Save each value of the main graph, inputs among them, as NAME.npy in this folder, in addition
    /// to what is printed.
    #[arg(long, value_name = "DIR", conflicts_with = "outputs")]
    pub(crate) save_all: Option<PathBuf>,

    /// Bound the real numbers that the outputs are by the formulas of the model: NAME.low and
    /// NAME.high, in float64, follow each output NAME, and each value of `--save-all`.
    #[arg(long, conflicts_with = "profile_nodes")]
    pub(crate) intervals: bool,

    /// Make the inputs that are not given: random tensors of the declared types and shapes;
    /// integers are 0 and 1, or rows of the table that a node looks up.
    #[arg(long)]
    pub(crate) random_inputs: bool,

    /// A symbol in the shapes of inputs, and the number that it stands for in random inputs.
    #[arg(
        long = "dim",
        value_name = "NAME=NUMBER",
        requires = "random_inputs",
        help_heading = "Sizes of inputs"
    )]
    pub(crate) dims: Vec<String>,

    /// Print the time and the memory of each node, the slowest first, after the outputs.
    #[arg(long)]
    pub(crate) profile_nodes: bool,

    /// The rules that sequences follow.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) profile: Profile,

    /// Run operators that ONNX defines as functions (Range) by the bodies of these functions.
    #[arg(long)]
    pub(crate) expand_functions: bool,

    /// How products of matrices, convolutions and reductions of floats are added
    /// (docs/numerics.md).
    #[arg(long, visible_alias = "sums", value_enum, default_value_t)]
    pub(crate) accumulate: Accumulate,

    /// Add without error, and round once: the same as --accumulate exact.
    #[arg(long, conflicts_with = "accumulate")]
    pub(crate) exact: bool,

    /// The seed of random inputs, and of operators that draw random numbers and have none of their
    /// own (docs/numerics.md).
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) given: InputArgs,

    #[command(flatten)]
    pub(crate) assume: AssumeArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// The rules that sequences follow.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum Profile {
    /// The standards' formulas, exactly: one rounding per element.
    #[default]
    Exact,
    /// The function body that ONNX gives for Range: a count in float32, a running sum.
    OnnxBody,
    /// The results of `PaddlePaddle` for `arange`, `linspace` and `logspace` of its programs.
    Paddle,
}

/// How floats are added.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum Accumulate {
    /// In float64, in the order of the elements, rounded once.
    #[default]
    Float64,
    /// In float32, each product fused with its addition, in blocks of 256 terms: faster, the same
    /// bits on every processor.
    Float32,
    /// Without error, rounded once: slower.
    Exact,
}

impl RunArgs {
    /// The options of a run that the arguments give.
    pub(crate) fn options(&self) -> RunOptions {
        let expand_functions = self.expand_functions || matches!(self.profile, Profile::OnnxBody);
        let profile = match self.profile {
            Profile::Paddle => profiles::Profile::Paddle,
            _ => profiles::Profile::Exact,
        };
        let mut options = RunOptions::default();
        (options.expand_functions, options.profile) = (expand_functions, profile);
        options.seed = self.seed;
        options.sums = match self.accumulate {
            _ if self.exact => Sums::Exact,
            Accumulate::Float64 => Sums::Float64,
            Accumulate::Float32 => Sums::Float32,
            Accumulate::Exact => Sums::Exact,
        };
        options
    }
}
