//! The arguments of `gradus edit`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::sizes::{LimitArgs, ShapeArgs};

/// Edit a model: cut a part out, add outputs, rename, change sizes, set inputs.
///
/// Options combine, and apply in the order of this list. All else stays as it is in the file, byte
/// for byte, and weights are not read. Prints what each edit did, and the conditions under which the
/// result runs; the output appears whole or not at all (docs/edit.md).
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  gradus edit examples/positions.onnx -o part.onnx --extract :phase --rename phase=angle\n  gradus edit examples/heads.onnx -o fixed.onnx --dim batch=1 --json"
)]
pub(crate) struct EditArgs {
    /// The model: an ONNX file.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,

    /// The file to write, or a folder.
    #[arg(short, long, value_name = "FILE|DIR")]
    pub(crate) output: PathBuf,

    /// Copy files of constants next to an output with the names that the model gives them, not with
    /// names that come from the output's.
    #[arg(long)]
    pub(crate) keep_names: bool,

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

    /// Let an input have another element type, with a Cast behind it; `scale` and `offset`, numbers,
    /// fractions or a list for the channels, make images of bytes what the model reads:
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

    /// Set an entry of the metadata; a key without a text removes the entry.
    #[arg(long = "metadata", value_name = "KEY=TEXT")]
    pub(crate) metadata: Vec<String>,

    /// Remove the texts that document parts of the model, and the properties of nodes and values in
    /// which exporters say where they come from.
    #[arg(long)]
    pub(crate) no_docs: bool,

    /// Print JSON (docs/json.md).
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) shapes: ShapeArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}
