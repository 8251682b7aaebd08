//! The arguments of the commands that compute sequences.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use gradus::{DType, profiles};

use super::models::FleetArgs;
use super::names::{Named, any, device_names, dtype, element_types, profile, profile_names};
use super::sizes::{LimitArgs, SizeArgs};

/// Compute a range: START, START + STEP, … while short of STOP.
///
/// Each element is the exact sum, rounded once. Numbers are read exactly as they are written: 0.1,
/// 1e-3, 1/3, integers of any size.
#[derive(Debug, ClapArgs)]
#[command(allow_negative_numbers = true)]
#[command(
    after_help = "Examples:\n  gradus range 0 1 0.1 --dtype f32\n  gradus range 0 1000000 1/3 -o thirds.npy"
)]
pub(crate) struct RangeArgs {
    #[command(flatten)]
    pub(crate) arguments: RangeArguments,

    #[command(flatten)]
    pub(crate) sequence: SequenceArgs,
}

/// The types, profile and output of a sequence.
#[derive(Debug, ClapArgs)]
pub(crate) struct SequenceArgs {
    #[command(flatten)]
    pub(crate) types: TypesArgs,

    /// The program whose results to predict; it is not run.
    #[arg(long, default_value_t, value_name = "PROGRAM", value_parser = Named(profile_names, profile), hide_possible_values = true)]
    pub(crate) profile: profiles::Profile,

    #[command(flatten)]
    pub(crate) out: OutArgs,
}

/// The numbers that make a range.
#[derive(Debug, ClapArgs)]
pub(crate) struct RangeArguments {
    /// The first element.
    #[arg(allow_hyphen_values = true)]
    pub(crate) start: String,
    /// The end, which is no element.
    #[arg(allow_hyphen_values = true)]
    pub(crate) stop: String,
    /// The difference of neighbours; not zero.
    #[arg(allow_hyphen_values = true)]
    pub(crate) step: String,
}

/// Compute NUM numbers at equal distances from START to STOP.
///
/// Each element is the exact number, rounded once: to the nearest float, or toward zero to an
/// integer.
#[derive(Debug, ClapArgs)]
#[command(allow_negative_numbers = true)]
#[command(
    after_help = "Examples:\n  gradus linspace 0 1/3 4\n  gradus linspace '[0, 1]' '[1, 3]' 5 --axis -1"
)]
pub(crate) struct Linspace {
    #[command(flatten)]
    pub(crate) arguments: SpaceArguments,

    #[command(flatten)]
    pub(crate) sequence: SequenceArgs,
}

/// The numbers that make a linspace or geomspace, or the exponents of a logspace.
#[derive(Debug, ClapArgs)]
pub(crate) struct SpaceArguments {
    /// The first; a complex number is written as 1+2j, an array as [1, 2].
    ///
    /// Arrays are broadcast, and there is a sequence for every element.
    #[arg(allow_hyphen_values = true)]
    pub(crate) start: String,
    /// The last.
    #[arg(allow_hyphen_values = true)]
    pub(crate) stop: String,
    /// The number of elements.
    pub(crate) num: String,
    /// STOP is not the last number, but the one after it.
    #[arg(long)]
    pub(crate) no_endpoint: bool,
    /// Between arrays: the axis of the result along which the sequences run; -1 is the last.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) axis: i64,
}

/// Compute NUM powers of a base, with exponents at equal distances from START to STOP.
///
/// Each element is the exact power, rounded once: to the nearest float, or toward zero to an
/// integer.
#[derive(Debug, ClapArgs)]
#[command(allow_negative_numbers = true)]
#[command(
    after_help = "Examples:\n  gradus logspace 0 1 4 --base 1000 --dtype i64\n  gradus logspace 0 3 50 --plot"
)]
pub(crate) struct Logspace {
    #[command(flatten)]
    pub(crate) arguments: SpaceArguments,

    #[command(flatten)]
    pub(crate) base: Base,

    #[command(flatten)]
    pub(crate) sequence: SequenceArgs,
}

/// The base of a logspace.
#[derive(Debug, ClapArgs)]
pub(crate) struct Base {
    /// The number whose powers the elements are.
    #[arg(long, value_name = "B", default_value = "10", allow_hyphen_values = true)]
    pub(crate) base: String,
}

/// Compute NUM numbers at equal ratios from START to STOP.
///
/// Each element is the exact number, rounded once: to the nearest float, or toward zero to an
/// integer. Complex numbers lie on a spiral.
#[derive(Debug, ClapArgs)]
#[command(allow_negative_numbers = true)]
#[command(after_help = "Examples:\n  gradus geomspace 1 256 9 --dtype i64\n  gradus geomspace 1 -1+1j 5")]
pub(crate) struct Geomspace {
    #[command(flatten)]
    pub(crate) arguments: SpaceArguments,

    #[command(flatten)]
    pub(crate) sequence: SequenceArgs,
}

/// The types of a sequence.
#[derive(Debug, ClapArgs)]
pub(crate) struct TypesArgs {
    /// The type of the elements: float32, i64, bf16, … Without this, float64; a range of whole
    /// numbers is int64 or uint64, and a sequence with a complex argument complex128.
    #[arg(long, value_name = "TYPE", value_parser = Named(element_types, dtype), hide_possible_values = true)]
    pub(crate) dtype: Option<DType>,

    /// The type that the numbers are rounded to when they are read; without this, they are exact.
    #[arg(long, value_name = "TYPE", value_parser = Named(element_types, dtype), hide_possible_values = true)]
    pub(crate) in_dtype: Option<DType>,
}

/// The output of a sequence.
#[derive(Debug, ClapArgs)]
pub(crate) struct OutArgs {
    /// Only the elements from LO to before HI; each may be left out.
    #[arg(long, value_name = "LO:HI")]
    pub(crate) slice: Option<String>,

    /// Write a file instead of printing: .npy, .arrow or .csv.
    #[arg(short = 'o', long = "out", value_name = "FILE", conflicts_with = "json")]
    pub(crate) file: Option<PathBuf>,

    /// Draw the elements over their indices.
    #[arg(long, conflicts_with_all = ["file", "json"])]
    pub(crate) plot: bool,

    /// Draw on a logarithmic axis, labelled with powers of 10.
    #[arg(long, requires = "plot")]
    pub(crate) log: bool,

    /// The device that computes the elements, with the same bits: cpu, gpu, cuda, vulkan, vulkan:1,
    /// …; `gradus devices` lists those of this build and machine.
    #[arg(long, value_name = "DEVICE", default_value = "cpu", value_parser = Named(device_names, any), hide_possible_values = true)]
    pub(crate) device: String,
}

/// Show where programs give different results: for a model, or for one call of a sequence.
///
/// For a model in ONNX, the nodes at which ONNX Runtime, OpenVINO and the reference of the onnx
/// package may differ, with the sizes or the data for which they do (docs/compare.md). The exit
/// status is 1 if the model contradicts itself.
///
/// For a call, what every program gives, and why it differs from the exact result. Programs that
/// take tensors (ONNX, OpenVINO, TensorFlow) get tensors of the type of the elements, the others
/// Python numbers; with --in-dtype, all get numbers of that type. Compared are the first 100,000
/// elements and the last.
#[derive(Debug, ClapArgs)]
#[command(
    subcommand_negates_reqs = true,
    arg_required_else_help = true,
    after_help = "Examples:\n  gradus compare examples/positions.onnx --json\n  gradus compare linspace 0 1 1000 --dtype f32 --plot"
)]
pub(crate) struct CompareArgs {
    #[command(subcommand)]
    pub(crate) call: Option<Call>,

    /// Draw how far each program is from the exact result of a call, over the index.
    #[arg(long, global = true, conflicts_with = "json")]
    pub(crate) plot: bool,

    #[command(flatten)]
    pub(crate) models: CompareModels,
}

/// The models whose results depend on the program.
#[derive(Debug, ClapArgs)]
pub(crate) struct CompareModels {
    /// The models: ONNX files; folders of them, patterns (models/**/*.onnx), @FILE or - for lists.
    /// A file that is named like a sequence is ./range.
    #[arg(required_unless_present = "rules", value_name = "MODEL")]
    pub(crate) models: Vec<PathBuf>,

    /// List the rules by which nodes are compared, and no model.
    #[arg(long, conflicts_with = "models")]
    pub(crate) rules: bool,

    /// List all conditions and nodes of a difference, and not only the first four.
    #[arg(long)]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) sizes: SizeArgs,

    #[command(flatten)]
    pub(crate) fleet: FleetArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// A call that programs answer differently.
#[derive(Debug, Subcommand)]
pub(crate) enum Call {
    /// START, START + STEP, … while short of STOP.
    #[command(allow_negative_numbers = true)]
    Range {
        #[command(flatten)]
        arguments: RangeArguments,
        #[command(flatten)]
        types: TypesArgs,
    },
    /// NUM numbers at equal distances.
    #[command(allow_negative_numbers = true)]
    Linspace {
        #[command(flatten)]
        arguments: SpaceArguments,
        #[command(flatten)]
        types: TypesArgs,
    },
    /// NUM powers of a base.
    #[command(allow_negative_numbers = true)]
    Logspace {
        #[command(flatten)]
        arguments: SpaceArguments,
        #[command(flatten)]
        base: Base,
        #[command(flatten)]
        types: TypesArgs,
    },
    /// NUM numbers at equal ratios.
    #[command(allow_negative_numbers = true)]
    Geomspace {
        #[command(flatten)]
        arguments: SpaceArguments,
        #[command(flatten)]
        types: TypesArgs,
    },
}
