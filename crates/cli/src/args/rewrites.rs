//! The arguments of the commands that write another model: `fold` and `convert`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use gradus::conversion::Runtime;
use gradus::fold::Level;

use super::models::FleetArgs;
use super::names::{Named, level, levels};
use super::sizes::{KeepNamesArg, LimitArgs, SizeArgs};

/// The standard to convert to.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Target {
    /// ONNX: .onnx files.
    Onnx,
    /// OpenVINO's IR: .xml files, with constants in .bin files.
    Openvino,
}

/// A program that runs converted models.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum RuntimeName {
    /// ONNX Runtime, on the processor.
    Onnxruntime,
    /// OpenVINO.
    Openvino,
}

impl RuntimeName {
    /// The program of that name.
    pub(crate) const fn runtime(self) -> Runtime {
        match self {
            RuntimeName::Onnxruntime => Runtime::OnnxRuntime,
            RuntimeName::Openvino => Runtime::OpenVino,
        }
    }
}

/// Fold a model: what can be computed before a run becomes constants, and the nodes that computed
/// it go.
///
/// The folded model gives the same bits for whatever inputs the model took, unless `--level fuse`
/// allows other last bits of floats (docs/fold.md). The bits are the same in every program that
/// computes each operator as its standard says and rounds floats as IEEE 754 does; which NaN a
/// result is may differ. A runtime may choose another kernel for a weight that is a constant now:
/// the report names the nodes that read one. What is not touched is copied as it stands; the
/// output appears whole or not at all.
#[derive(Debug, ClapArgs)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[command(
    after_help = "Examples:\n  gradus fold examples/heads.onnx -o heads.onnx --verify\n  gradus fold examples/heads.onnx examples/loop.onnx -o out/ --json"
)]
pub(crate) struct FoldArgs {
    /// The models: ONNX files, or the .xml of OpenVINO IR; folders of them, patterns
    /// (models/**/*.onnx), @FILE or - for lists. Several are folded in parallel.
    #[arg(required_unless_present = "list_rules", value_name = "MODEL")]
    pub(crate) models: Vec<PathBuf>,

    /// Where the folded model goes: a file, or a folder, which several models need. An OpenVINO
    /// model is a .xml file, and a .bin file next to it.
    #[arg(short, long, value_name = "FILE|DIR", required_unless_present = "list_rules")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) names: KeepNamesArg,

    /// The rules to apply: of shape arithmetic alone, those that keep every bit, or also those that
    /// may change the last bits of floats.
    #[arg(long, value_name = "LEVEL", default_value = "exact", value_parser = Named(levels, level))]
    pub(crate) level: Level,

    /// Apply a rule of a higher level.
    #[arg(long = "rule", value_name = "RULE")]
    pub(crate) rules: Vec<String>,

    /// Do not apply a rule.
    #[arg(long = "no-rule", value_name = "RULE")]
    pub(crate) no_rules: Vec<String>,

    /// Leave weights computed: runtimes may pack those that are constants, and choose another
    /// kernel, whose results have other last bits.
    #[arg(long)]
    pub(crate) keep_weights: bool,

    /// List the rules with their levels and patterns.
    #[arg(long, exclusive = true)]
    pub(crate) list_rules: bool,

    /// Add no constant of more bytes than this.
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 20)]
    pub(crate) max_constant: u64,

    /// Do not write the inferred types of values into the model.
    #[arg(long)]
    pub(crate) no_declare: bool,

    /// Take up to 30 seconds to compare both models in runs, proved or not, and write nothing if
    /// outputs could not be compared. Without this, outputs are proved to be the same, and those
    /// that are not are compared, each in the time that folding took and half a second.
    ///
    /// Shapes are evaluated under random bindings, and both models run on random inputs, whose open
    /// sizes are 1, unequal, equal, 0 one at a time, and random. Bits of outputs must be the same
    /// at levels up to `exact`, types and shapes above.
    #[arg(long)]
    pub(crate) verify: bool,

    /// Take whatever time it needs to prove that outputs are the same for all inputs and sizes, at
    /// levels up to `exact` (docs/prove.md).
    #[arg(long)]
    pub(crate) prove: bool,

    /// Neither prove nor compare the models.
    #[arg(long, conflicts_with_all = ["verify", "prove"])]
    pub(crate) no_verify: bool,

    /// An input of the runs that are compared: NAME=VALUE, NAME=FILE, or an .npz file, as `gradus
    /// run` takes it. Other inputs are random.
    #[arg(short, long = "input", value_name = "NAME=VALUE|FILE")]
    pub(crate) inputs: Vec<String>,

    /// List all nodes that could not be folded or read computed weights, and all outputs that were
    /// measured.
    #[arg(long)]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) sizes: SizeArgs,

    #[command(flatten)]
    pub(crate) fleet: FleetArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Convert a model of ONNX, OpenVINO or Paddle to ONNX or OpenVINO.
///
/// Reads ONNX, OpenVINO's IR and Paddle programs, and writes ONNX or IR: ONNX as IR or, with
/// `--opset`, in another operator set; IR as ONNX; Paddle as either. Nodes whose meaning is not
/// kept bit for bit are listed, those that say the same together; docs/convert.md has the list of
/// operators. The output appears whole or not at all.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  gradus convert examples/positions.onnx positions.xml\n  gradus convert examples/positions.onnx examples/heads.onnx -o ir/ --to openvino"
)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct ConvertArgs {
    /// The models: ONNX files, .xml files of OpenVINO IR, or .json and .pdmodel files of Paddle
    /// programs; folders of them, patterns (models/**/*.onnx), @FILE or - for lists. Several are
    /// converted in parallel.
    #[arg(required = true, value_name = "MODEL")]
    pub(crate) models: Vec<PathBuf>,

    /// The file to write, whose ending selects the format: .onnx, or .xml with constants in a .bin
    /// file; or a folder, which several models need. `convert MODEL FILE` is `convert MODEL -o
    /// FILE`.
    #[arg(short, long, value_name = "FILE|DIR")]
    pub(crate) output: Option<PathBuf>,

    /// The standard to convert to; without it, that of the ending.
    #[arg(long, value_name = "STANDARD")]
    pub(crate) to: Option<Target>,

    /// Write nothing unless every node is exact.
    #[arg(long)]
    pub(crate) strict: bool,

    /// Write nothing unless both models give the same bits on random inputs, as `gradus check`
    /// compares them; where a node is not exact, floats may differ by 1e-4 of the largest, by 4e-3
    /// in models of float16, and by 3e-2 in those of shorter floats and of quantized tensors.
    #[arg(long)]
    pub(crate) check: bool,

    /// Do not compare the models. Without this, outputs are proved to be the same, from ONNX to
    /// ONNX, and those that are not are compared in runs on random inputs, each for the time that
    /// the conversion took and half a second; nothing is written if outputs of exact nodes differ.
    #[arg(long, conflicts_with = "check")]
    pub(crate) no_verify: bool,

    /// The ONNX operator set; by default 21, or where it lacks what a node needs, the newest that
    /// released runtimes load.
    #[arg(long, value_name = "N")]
    pub(crate) opset: Option<i64>,

    /// The program that will run the model: unless `--opset` is given, the newest operator set in
    /// which it runs every node; types that it lacks are avoided, and nodes that it does not run
    /// are listed.
    #[arg(long = "for", value_name = "RUNTIME")]
    pub(crate) runtime: Option<RuntimeName>,

    /// To OpenVINO: make variables (`ReadValue`, `Assign`) of the inputs `past_key_values.*` and of
    /// the outputs `present.*`.
    #[arg(long)]
    pub(crate) stateful: bool,

    /// To OpenVINO: make a variable of an input, whose next value is an output.
    #[arg(long = "state", value_name = "INPUT=OUTPUT")]
    pub(crate) states: Vec<String>,

    /// List everything that is not kept, a line each, however long.
    #[arg(long)]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) sizes: SizeArgs,

    #[command(flatten)]
    pub(crate) fleet: FleetArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}
