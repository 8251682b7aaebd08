//! What can be typed. Help, completions and the manual page are made from these definitions.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use gradus::{DType, Limits, Options};

/// Exact sequences and shapes of tensor programs.
///
/// Runs ONNX models and OpenVINO IR whose operators it has, prints what models hold, and computes sequences. Exit
/// status: 0 if all went well, 1 if a model or its data is wrong, 2 if the command line is.
#[derive(Debug, Parser)]
#[command(name = "gradus", version, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(Run),
    Infer(Infer),
    Show(Show),
    Ops(Ops),
    Range(Range),
    Completions(Completions),
    Man,
}

impl Args {
    /// Whether results and errors are wanted as JSON.
    pub(crate) fn json(&self) -> bool {
        match &self.command {
            Command::Run(run) => run.json,
            Command::Infer(infer) => infer.json,
            Command::Show(show) => show.json,
            Command::Ops(ops) => ops.json,
            Command::Range(range) => range.json,
            Command::Completions(_) | Command::Man => false,
        }
    }
}

/// Run a model and print its outputs, or save them.
#[derive(Debug, ClapArgs)]
pub(crate) struct Run {
    /// The model: an ONNX file, or the .xml of an OpenVINO IR.
    pub(crate) model: PathBuf,

    /// An input: NAME=VALUE, NAME=FILE, or an .npz file with arrays by name.
    ///
    /// A VALUE is a number, text in quotes, true or false, nested lists of these ([[1, 2], [3, 4]]), or zeros and a
    /// shape (zeros[2, 3]); it becomes a tensor of the type that the model declares. A FILE is .npy, .npz or a
    /// .pb with one ONNX tensor.
    #[arg(short, long = "input", value_name = "NAME=VALUE|FILE")]
    pub(crate) inputs: Vec<String>,

    /// A value to compute; any value of the main graph. Without this, all outputs.
    #[arg(short, long = "output", value_name = "NAME")]
    pub(crate) outputs: Vec<String>,

    /// Save each output as NAME.npy in this folder instead of printing it.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Whose rules sequences follow.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) profile: Profile,

    /// Run operators that ONNX defines as functions (Range) by the bodies of these functions.
    #[arg(long)]
    pub(crate) expand_functions: bool,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// Print JSON (docs/json.md).
    #[arg(long)]
    pub(crate) json: bool,
}

/// Whose rules sequences follow.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum Profile {
    /// The standards' formulas, exactly: one rounding per element.
    #[default]
    Exact,
    /// The function body that ONNX gives for Range: a count in float32, a running sum.
    OnnxBody,
}

impl Run {
    pub(crate) fn options(&self) -> Options {
        let expand_functions = self.expand_functions || matches!(self.profile, Profile::OnnxBody);
        Options { limits: self.limits.limits(), expand_functions, steps: None }
    }
}

/// What a model may make Gradus spend.
#[derive(Debug, ClapArgs)]
pub(crate) struct LimitArgs {
    /// Bytes that values may occupy at one time.
    #[arg(long, value_name = "N", default_value_t = Limits::DEFAULT.max_bytes)]
    max_bytes: u64,

    /// Nodes that may be run, iterations of loops counted one by one.
    #[arg(long, value_name = "N", default_value_t = Limits::DEFAULT.max_steps)]
    max_steps: u64,
}

impl LimitArgs {
    pub(crate) fn limits(&self) -> Limits {
        Limits { max_bytes: self.max_bytes, max_steps: self.max_steps, ..Limits::DEFAULT }
    }
}

/// Infer the shape of every value of a model, without running it.
///
/// Shapes are numbers and expressions of the symbols of the inputs (`batch*seq`, `(h + 1)//2`). What the data decide gets a
/// symbol of its own; what is not known is said with its reason. Assumptions are what the model needs of its inputs.
#[derive(Debug, ClapArgs)]
pub(crate) struct Infer {
    /// The models: ONNX files, or the .xml of OpenVINO IR. Several are inferred in parallel.
    #[arg(required = true)]
    pub(crate) models: Vec<PathBuf>,

    /// A symbol and the number that it stands for.
    #[arg(long = "dim", value_name = "NAME=NUMBER")]
    pub(crate) dims: Vec<String>,

    /// The shape of an input: numbers, names, or ? for what is open.
    #[arg(long = "input-shape", value_name = "NAME=EXTENT,…")]
    pub(crate) input_shapes: Vec<String>,

    /// Show only values whose shape is not known in full, and why.
    #[arg(long)]
    pub(crate) only_unknown: bool,

    /// Explain the shape of one value, node by node.
    #[arg(long, value_name = "VALUE")]
    pub(crate) why: Option<String>,

    /// Do not look at the shapes that the model declares of values that its nodes compute.
    #[arg(long)]
    pub(crate) ignore_declared: bool,

    /// Print JSON (docs/json.md): a line for each model.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show what a model holds: inputs, outputs, operators, constants.
#[derive(Debug, ClapArgs)]
pub(crate) struct Show {
    /// The model: an ONNX file, or the .xml of an OpenVINO IR.
    pub(crate) model: PathBuf,

    /// Print JSON (docs/json.md).
    #[arg(long)]
    pub(crate) json: bool,
}

/// List the operators that Gradus runs, with their versions and types.
#[derive(Debug, ClapArgs)]
pub(crate) struct Ops {
    /// Only the operator of this name.
    pub(crate) name: Option<String>,

    /// Print JSON (docs/json.md).
    #[arg(long)]
    pub(crate) json: bool,
}

/// Compute a range: START, START + STEP, … while short of STOP.
///
/// Each element is the exact sum, rounded once. Numbers are read exactly as they are written.
#[derive(Debug, ClapArgs)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Range {
    /// The first element.
    pub(crate) start: String,
    /// What the elements stay short of.
    pub(crate) stop: String,
    /// The difference of neighbours; not zero.
    pub(crate) step: String,

    /// The type of the elements: float32, i64, bf16, … Without this, int64 if all numbers are whole, or else float64.
    #[arg(long, value_name = "TYPE")]
    pub(crate) dtype: Option<DType>,

    /// The type that the three numbers are read as; without this, the type of the elements.
    #[arg(long, value_name = "TYPE")]
    pub(crate) in_dtype: Option<DType>,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// Print JSON (docs/json.md).
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print a script that completes command lines in a shell.
#[derive(Debug, ClapArgs)]
pub(crate) struct Completions {
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        Args::command().debug_assert();
    }
}
