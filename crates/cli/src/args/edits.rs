//! The arguments of `gradus edit`, `gradus generalize`, `gradus join` and `gradus split`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::sizes::{KeepNamesArg, LimitArgs, ShapeArgs};

/// Edit a model: cut a part out, add outputs, rename, change sizes, set inputs.
///
/// Options combine, and apply in the order of this list. All else stays as it is in the file, byte
/// for byte, and weights are not read. Prints what each edit did, and the conditions under which
/// the result runs; the output appears whole or not at all (docs/edit.md).
#[derive(Debug, ClapArgs)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[command(
    after_help = "Examples:\n  gradus edit examples/positions.onnx -o part.onnx --extract :phase --rename phase=angle\n  gradus edit examples/heads.onnx -o fixed.onnx --dim batch=1 --json"
)]
pub(crate) struct EditArgs {
    /// The model: an ONNX file, or OpenVINO's IR, of which inputs, outputs, names and sizes change.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,

    /// The file to write, or a folder.
    #[arg(short, long, value_name = "FILE|DIR")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) names: KeepNamesArg,

    /// Keep the part from some values to others. Values before the colon become inputs, with their
    /// inferred types; those after it the outputs. An empty side is that of the model.
    #[arg(long, value_name = "IN,…:OUT,…", allow_hyphen_values = true)]
    pub(crate) extract: Option<String>,

    /// Make a value an output too.
    #[arg(long = "add-output", value_name = "VALUE")]
    pub(crate) add_outputs: Vec<String>,

    /// Make an output none, and drop what only it needs.
    #[arg(long = "remove-output", value_name = "OUTPUT")]
    pub(crate) remove_outputs: Vec<String>,

    /// Rename an input, an output or a value; subgraphs, annotations and metadata follow.
    #[arg(long = "rename", value_name = "OLD=NEW")]
    pub(crate) renames: Vec<String>,

    /// Rename a symbol of sizes.
    #[arg(long = "rename-dim", value_name = "OLD=NEW")]
    pub(crate) rename_dims: Vec<String>,

    /// Give an input a default: NAME=VALUE or NAME=FILE, as `gradus run` takes an input.
    #[arg(long = "default", value_name = "NAME=VALUE|FILE")]
    pub(crate) defaults: Vec<String>,

    /// Take the default of an input.
    #[arg(long = "no-default", value_name = "NAME")]
    pub(crate) no_defaults: Vec<String>,

    /// Open sizes of an input, and of all that depends on them: numbers stay, names are open.
    /// Constants that were sizes become expressions of them (docs/how-to/make-dynamic.md).
    #[arg(long = "dynamic", value_name = "NAME=DIM,…")]
    pub(crate) dynamic: Vec<String>,

    /// With --dynamic, say what a number of a node is, where several sizes fit: NODE=h//8.
    #[arg(long = "size", value_name = "NODE=SIZE", requires = "dynamic")]
    pub(crate) sizes: Vec<String>,

    /// Let an input have another element type, with a Cast after it; `scale` and `offset`,
    /// numbers, fractions or a list for the channels, make images of bytes what the model reads:
    /// `x=uint8,scale=1/255`.
    #[arg(long = "input-type", value_name = "NAME=TYPE[,scale=…][,offset=…]")]
    pub(crate) input_types: Vec<String>,

    /// Let an output have another element type, with a Cast before it.
    #[arg(long = "output-type", value_name = "NAME=TYPE")]
    pub(crate) output_types: Vec<String>,

    /// Let an input or an output have its axes in another order, with a Transpose: `x=NHWC` where
    /// the model has N and C first, else `x=HW->WH`.
    #[arg(long = "layout", value_name = "NAME=AXES")]
    pub(crate) layouts: Vec<String>,

    /// Compute in float16 where the operators take it, with weights of that type; inputs and outputs
    /// keep their types. Runs on given or random inputs measure what that loses: without
    /// --max-error, nodes that overflow stay in float32.
    #[arg(long, group = "shorter")]
    pub(crate) float16: bool,

    /// Compute in bfloat16, as --float16 does in float16.
    #[arg(long, group = "shorter")]
    pub(crate) bfloat16: bool,

    /// With --float16, keep a node in float32, by its name or that of a value that it computes.
    #[arg(long, value_name = "NODE", requires = "shorter")]
    pub(crate) keep: Vec<String>,

    /// With --float16, keep few nodes in float32 with which no output differs by more than this part
    /// of its largest magnitude.
    #[arg(long, value_name = "NUMBER", requires = "shorter")]
    pub(crate) max_error: Option<f64>,

    /// With --float16, an input of the run: NAME=VALUE or NAME=FILE, as `gradus run` takes it.
    #[arg(short, long = "input", value_name = "NAME=VALUE|FILE", requires = "shorter")]
    pub(crate) inputs: Vec<String>,

    /// Put all weights into the model.
    #[arg(long, group = "weights_to")]
    pub(crate) embed: bool,

    /// Put weights of at least 1,024 bytes into one file of this name next to the output, at
    /// multiples of 64 bytes, from 64 KiB on of 4,096.
    #[arg(long, value_name = "FILE", group = "weights_to")]
    pub(crate) external: Option<String>,

    /// Leave out weights of at least 1,024 bytes, and write their types, shapes and digests.
    #[arg(long, group = "weights_to")]
    pub(crate) strip_weights: bool,

    /// Take the weights that were left out from a model that has them, by name; their digests must
    /// be the same.
    #[arg(long, value_name = "MODEL")]
    pub(crate) weights: Option<PathBuf>,

    /// Keep equal weights once.
    #[arg(long)]
    pub(crate) share_weights: bool,

    /// Set an entry of the metadata; a key without a text removes the entry.
    #[arg(long = "metadata", value_name = "KEY=TEXT")]
    pub(crate) metadata: Vec<String>,

    /// Remove the texts that document parts of the model, and the properties of nodes and values in
    /// which exporters say where they come from.
    #[arg(long)]
    pub(crate) no_docs: bool,

    #[command(flatten)]
    pub(crate) shapes: ShapeArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Make a model for all sizes of exports of one network that differ in sizes.
///
/// The models are aligned node by node. Constants that differ become expressions of the sizes of
/// inputs, tables become formulas. The result is proved, or compared by runs, to be each model at
/// its sizes; otherwise nothing is written. Sizes that differ in the same way are one size.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gradus generalize examples/fixed_1x4.onnx examples/fixed_2x6.onnx -o open.onnx
  gradus generalize examples/fixed_1x4.onnx examples/fixed_2x6.onnx -o open.onnx --json")]
pub(crate) struct GeneralizeArgs {
    /// The models: ONNX files, two or more.
    #[arg(value_name = "MODEL", num_args = 2.., required = true)]
    pub(crate) models: Vec<PathBuf>,

    /// The file to write, or a folder.
    #[arg(short, long, value_name = "FILE|DIR")]
    pub(crate) output: PathBuf,

    /// Name the sizes of an input: numbers stay, names are open.
    #[arg(long = "dynamic", value_name = "NAME=DIM,…")]
    pub(crate) dynamic: Vec<String>,

    /// Say what a number of a node is, where several sizes fit: NODE=h//8.
    #[arg(long = "size", value_name = "NODE=SIZE")]
    pub(crate) sizes: Vec<String>,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Join two models: outputs of the first become inputs of the second.
///
/// Inputs of one name are one input. Other names that both models have get a prefix in the second.
/// Linked outputs are none any more, unless --keep says otherwise.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  gradus join examples/positions.onnx examples/function.onnx -o both.onnx --link phase=x\n  gradus join examples/positions.onnx examples/function.onnx -o both.onnx --link phase=x --json"
)]
pub(crate) struct JoinArgs {
    /// The model that runs first: an ONNX file.
    #[arg(value_name = "FIRST")]
    pub(crate) first: PathBuf,

    /// The model that goes on from its outputs.
    #[arg(value_name = "SECOND")]
    pub(crate) second: PathBuf,

    /// The file to write, or a folder.
    #[arg(short, long, value_name = "FILE|DIR")]
    pub(crate) output: PathBuf,

    /// An output of the first model, and the input of the second that it is.
    #[arg(long = "link", value_name = "OUTPUT=INPUT", required = true)]
    pub(crate) links: Vec<String>,

    /// A linked output that stays an output.
    #[arg(long = "keep", value_name = "OUTPUT")]
    pub(crate) keep: Vec<String>,

    /// The beginning of new names in the second model.
    #[arg(long, value_name = "TEXT", default_value = "second/")]
    pub(crate) prefix: String,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Split a model in parts, which joined again are the whole.
///
/// The first part returns the values of the cut, and the second goes on from them; what else it
/// reads of the first passes too. The parts are m.1.onnx, m.2.onnx, … of a model m.onnx. Unless
/// --no-prove is given, they are joined again and proved to be the same as the model, and nothing
/// is written if they are not.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  gradus split examples/positions.onnx --at positions -o parts/\n  gradus split examples/heads.onnx --at split -o parts/ --no-prove --json"
)]
pub(crate) struct SplitArgs {
    /// The model: an ONNX file.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,

    /// Values where the model is cut. Given several times, each cuts the rest.
    #[arg(long = "at", value_name = "VALUE,…", required = true)]
    pub(crate) at: Vec<String>,

    /// The folder of the parts.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,

    /// Do not prove that the parts are the model.
    #[arg(long)]
    pub(crate) no_prove: bool,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}
