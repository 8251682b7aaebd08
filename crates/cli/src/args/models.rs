//! The arguments of the commands that open models.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use gradus::Error;
use gradus::check::CommandRuntime;
use gradus::prove::UpTo;

use super::dims::DialectArg;
use super::names::{Named, any, operator_names};
use super::sizes::{KeepNamesArg, LimitArgs, ShapeArgs, SizeArgs};

/// How several models are gone through.
#[derive(Debug, ClapArgs)]
pub(crate) struct FleetArgs {
    /// Models at a time; by default as many as there are processors.
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
}

/// The form in which sizes that the model runs with are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Emit {
    /// A module of Rust, without dependencies and without `std`.
    Rust,
    /// A header of C99.
    C,
    /// A module of Python 3.10.
    Python,
    /// Expressions as JSON (docs/json.md).
    Json,
    /// Arguments of `TensorRT`'s trtexec: smallest, middle and largest shapes.
    Trtexec,
    /// A config.pbtxt of Triton.
    Triton,
    /// Options of ONNX Runtime's `TensorRT` provider.
    Ort,
}

impl Emit {
    /// The ending of files.
    pub(crate) const fn ending(self) -> &'static str {
        match self {
            Emit::Rust => "rs",
            Emit::C => "h",
            Emit::Python => "py",
            Emit::Json => "json",
            Emit::Trtexec | Emit::Ort => "txt",
            Emit::Triton => "pbtxt",
        }
    }
}

/// The key that values are sorted by.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SortBy {
    /// Their bytes, the most first.
    Bytes,
}

/// Infer the type and shape of every value of a model, without running it.
///
/// Shapes are numbers and expressions of the symbols of the inputs (`batch*seq`, `(h + 1)//2`).
/// A dimension that depends on data has a symbol of its own; an unknown one is reported with its
/// reason. Assumptions are conditions on the inputs under which the model runs. The exit status is
/// 1 if the model contradicts itself.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  gradus infer examples/positions.onnx --why phase\n  gradus infer examples/ --only-unknown --json"
)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of the command")]
pub(crate) struct Infer {
    /// The models: ONNX files, .xml files of OpenVINO IR, or .json and .pdmodel files of Paddle
    /// programs; folders of them, patterns (models/**/*.onnx), @FILE or - for lists. Several are
    /// inferred in parallel.
    #[arg(required = true, value_name = "MODEL")]
    pub(crate) models: Vec<PathBuf>,

    /// Write the inferred shapes into the models, as declared types of their values: to a file, or
    /// into a folder, which several models need. With --emit, write the contracts there.
    #[arg(short, long, value_name = "FILE|DIR")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) names: KeepNamesArg,

    /// Write a function that checks the sizes of the inputs, and returns the shapes and bytes of
    /// the outputs and the peak of memory (docs/contracts.md).
    #[arg(
        long,
        value_name = "FORM",
        conflicts_with_all = ["keep_names", "all", "filter", "op", "sort", "depth", "strict", "only_unknown", "why", "json", "dialect"]
    )]
    pub(crate) emit: Option<Emit>,

    /// Show constants and shape arithmetic too.
    #[arg(long)]
    pub(crate) all: bool,

    /// Show only values whose name has this text.
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,

    /// Show only values that nodes with this operator compute.
    #[arg(long, value_name = "OPERATOR")]
    pub(crate) op: Option<String>,

    /// Show the largest values first, with every symbol 1000.
    #[arg(long, value_name = "BY")]
    pub(crate) sort: Option<SortBy>,

    /// Parts of the names of nodes, between slashes, that make a group with a heading. [default: 2
    /// on a terminal, otherwise 0]
    #[arg(long, value_name = "N", conflicts_with = "sort")]
    pub(crate) depth: Option<usize>,

    /// End with exit status 1 also if a shape is not fully known.
    #[arg(long)]
    pub(crate) strict: bool,

    /// Show only values whose shape is not fully known, with the reason.
    #[arg(long)]
    pub(crate) only_unknown: bool,

    /// Explain the shape of one value, node by node.
    #[arg(long, value_name = "VALUE")]
    pub(crate) why: Option<String>,

    /// Ignore the shapes that the model declares for values that its nodes compute.
    #[arg(long)]
    pub(crate) ignore_declared: bool,

    #[command(flatten)]
    pub(crate) written: DialectArg,

    #[command(flatten)]
    pub(crate) sizes: SizeArgs,

    #[command(flatten)]
    pub(crate) fleet: FleetArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Count the parameters, operations, bytes and memory of a model, as formulas of its dimensions.
///
/// MACs are multiplications with an addition; operations are all others. Each node reads its inputs
/// and writes its outputs. Only the main graph is counted; operators without a rule are listed
/// (docs/cost.md). A range of sizes of one symbol gives a table of totals: `--dim
/// seq=128..4096:x2` doubles, `--dim seq=100..500:+100` adds.
#[derive(Debug, ClapArgs)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of the command")]
#[command(
    after_help = "Examples:\n  gradus cost examples/positions.onnx --dim batch=8 --fit 1MiB\n  gradus cost examples/positions.onnx --dim batch=8 --dim seq=128..4096:x2"
)]
pub(crate) struct CostArgs {
    /// The models: ONNX files, .xml files of OpenVINO IR, or .json and .pdmodel files of Paddle
    /// programs; folders of them, patterns (models/**/*.onnx), @FILE or - for lists.
    #[arg(required = true, value_name = "MODEL")]
    pub(crate) models: Vec<PathBuf>,

    /// Draw, below their table, the MACs and the peak over the sizes of the range, or the bytes of a
    /// plan over the steps of the run.
    #[arg(long, conflicts_with = "json")]
    pub(crate) plot: bool,

    /// Print a plan of the memory in place of the cost: the offset of each value of a node in one
    /// arena, for sizes that are numbers.
    #[arg(long, group = "placed")]
    pub(crate) plan: bool,

    /// The number of which each offset of the plan is a multiple.
    #[arg(long, value_name = "BYTES", default_value_t = 64, requires = "plan")]
    pub(crate) align: u64,

    /// Print the largest value of the only symbol without a number at which constants, inputs and
    /// values take at most this number of bytes at one time: 500MB, 24GiB.
    #[arg(long, value_name = "BYTES", value_parser = bytes, group = "placed")]
    pub(crate) fit: Option<u64>,

    /// In a plan, and in what fits: let outputs of elementwise nodes take the room of an input of
    /// their size that no later node needs.
    #[arg(long, requires = "placed")]
    pub(crate) in_place: bool,

    /// Parts of the names of nodes, between slashes, that make a group.
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(crate) depth: usize,

    #[command(flatten)]
    pub(crate) sizes: SizeArgs,

    #[command(flatten)]
    pub(crate) fleet: FleetArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Write a page about a model: shapes, costs and memory as formulas that the reader evaluates.
///
/// The page is one HTML file that loads nothing: sizes of the inputs have sliders, and every shape,
/// cost and byte follows (docs/report.md). The exit status is 1 if the model contradicts itself;
/// its page is written, and says so. The output appears whole or not at all.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  gradus report examples/heads.onnx -o heads.html\n  gradus report examples/heads.onnx examples/loop.onnx -o pages/ --json"
)]
pub(crate) struct ReportArgs {
    /// The models: ONNX files, .xml files of OpenVINO IR, or .json and .pdmodel files of Paddle
    /// programs; folders of them, patterns (models/**/*.onnx), @FILE or - for lists. Several are
    /// written in parallel.
    #[arg(required = true, value_name = "MODEL")]
    pub(crate) models: Vec<PathBuf>,

    /// The page to write: a file that ends in .html, or a folder, which several models need and
    /// where index.html lists their pages.
    #[arg(short, long, value_name = "FILE|DIR")]
    pub(crate) output: PathBuf,

    /// Show another model next to the only one, as before it was folded or converted: totals, nodes
    /// by operator, and values whose shapes differ.
    #[arg(long, value_name = "MODEL")]
    pub(crate) compare: Option<PathBuf>,

    /// Show what changes the bits that these programs compute, as `gradus audit --with` finds it.
    #[arg(long, value_name = "PROGRAM,…|cmd:COMMAND", value_parser = super::audit::programs)]
    pub(crate) audit: Vec<Vec<String>>,

    #[command(flatten)]
    pub(crate) sizes: SizeArgs,

    #[command(flatten)]
    pub(crate) fleet: FleetArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// The names of programs that `check` knows, or one command line.
fn programs(text: &str) -> Result<Vec<String>, String> {
    programs_of(text, &["onnxruntime", "openvino", "paddle"])
}

/// The names of some of these programs, or one command line.
pub(super) fn programs_of(text: &str, known: &[&str]) -> Result<Vec<String>, String> {
    if text.starts_with(CommandRuntime::PREFIX) {
        return Ok(vec![text.to_owned()]);
    }
    let names: Vec<_> = text.split(',').map(str::to_owned).collect();
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(Error::unknown("program", name, known.iter().copied()).to_string()),
        None => Ok(names),
    }
}

/// A number of bytes, perhaps with a unit: of 1000, or of 1024 with an `i`.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let scale = match unit.trim_start() {
        "" | "B" => Some(1),
        "kB" | "KB" => Some(1000),
        "MB" => Some(1_000_000),
        "GB" => Some(1_000_000_000),
        "TB" => Some(1_000_000_000_000),
        "KiB" => Some(1 << 10),
        "MiB" => Some(1 << 20),
        "GiB" => Some(1 << 30),
        "TiB" => Some(1 << 40),
        _ => None,
    };
    let value = number.parse::<u64>().ok().zip(scale).and_then(|(number, scale)| number.checked_mul(scale));
    value.ok_or_else(|| format!("expected a number of bytes (500MB, 24GiB), got {text:?}"))
}

/// The form of a diagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Diagram {
    /// That of Graphviz
    Dot,
    /// A flowchart of Mermaid, as in Markdown
    Mermaid,
    /// A picture, for browsers
    Svg,
}

/// Draw the graph of a model, as an SVG or in the language of Graphviz or of Mermaid.
///
/// Inputs, nodes and outputs of the main graph, with types and shapes; constants are left out.
/// Nodes whose names begin alike are in a box. In an SVG, nodes that read only constants are left
/// out too, and boxes are closed where there would be more than 1,000.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  gradus graph examples/heads.onnx --format svg\n  gradus graph examples/heads.onnx --format mermaid --dim batch=1"
)]
pub(crate) struct GraphArgs {
    /// The model: an ONNX file, an .xml file of OpenVINO IR, or a .json or .pdmodel file of a Paddle
    /// program.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,

    /// The form.
    #[arg(long, value_enum, default_value = "dot")]
    pub(crate) format: Diagram,

    /// Parts of the names of nodes, between slashes, that make boxes within each other; of an SVG,
    /// those that are open. [default: 2; of an SVG, what leaves at most 1,000 boxes]
    #[arg(long, value_name = "N")]
    pub(crate) depth: Option<usize>,

    #[command(flatten)]
    pub(crate) sizes: SizeArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Show what a model holds: inputs, outputs, operators, constants.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  gradus show examples/positions.onnx\n  gradus show examples/ --json")]
pub(crate) struct Show {
    /// The models: ONNX files, .xml files of OpenVINO IR, or .json and .pdmodel files of Paddle
    /// programs; folders of them, patterns (models/**/*.onnx), @FILE or - for lists. Several are
    /// read in parallel.
    #[arg(required = true, value_name = "MODEL")]
    pub(crate) models: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) written: DialectArg,

    #[command(flatten)]
    pub(crate) fleet: FleetArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Show what differs between two models.
///
/// Compared are formats, operator sets, metadata, inputs, outputs, nodes, attributes, constants bit
/// for bit, declared types, functions, and the graphs within nodes. The order of nodes, how
/// elements are stored, and documentation are no differences. Exit status: 0 if nothing differs, 1
/// if something does, 2 if the models cannot be compared.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  gradus diff examples/positions.onnx examples/positions.onnx\n  gradus diff examples/heads.onnx examples/heads.onnx --format markdown"
)]
pub(crate) struct DiffArgs {
    /// The first model: an ONNX file, the .xml of an OpenVINO IR, or a Paddle program.
    pub(crate) before: PathBuf,

    /// The second model.
    pub(crate) after: PathBuf,

    /// Show all differences, however many there are.
    #[arg(long)]
    pub(crate) all: bool,

    /// The form of the answer: text, or a comment on a pull request.
    #[arg(long, value_name = "FORM", value_enum, default_value_t, conflicts_with = "json")]
    pub(crate) format: DiffForm,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// The form in which differences are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffForm {
    /// Lines for people.
    #[default]
    Text,
    /// Markdown for reviewers: whether both compute the same, nodes, parameters, MACs, memory,
    /// inputs, outputs, conditions, and the differences folded away.
    Markdown,
}

/// Compare all outputs of two models bit for bit, by a proof or in runs on the same random inputs.
///
/// A proof, which takes at most 10 seconds, says which outputs of ONNX models are the same for all
/// inputs and sizes; these are not run. In the runs of the others, open dimensions get sizes that
/// the model takes: the smallest, the largest, then random ones. Floats are from -1 to 1, and in
/// every third run zeros, ones, large and small numbers; integers are 0 and 1, in every second run
/// -8 to 8 or any of 8 bits, or what a node looks up or chooses a branch by. Where outputs differ,
/// the first value that differs is named, with its nodes in both models. Exit status: 0 if nothing
/// differs, 1 if something does, 2 if the models cannot be compared.
///
/// With --with, the second model, or the only one, runs in other programs, whose outputs are
/// compared with the exact ones; and each node's result with the exact one for the inputs that the
/// program gave the node, the worst first. A program is a command line (`--with 'cmd:./my_runtime
/// {model} {inputs} {outputs}'`), or one that the Python package runs: `python -m gradus check
/// m.onnx --with onnxruntime`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  gradus check examples/positions.onnx examples/positions.onnx\n  gradus check examples/range.xml examples/range.xml -i start=0 -i stop=9 -i step=2"
)]
pub(crate) struct CheckArgs {
    /// The first model: an ONNX file, the .xml of an OpenVINO IR, or a Paddle program.
    pub(crate) before: PathBuf,

    /// The second model.
    #[arg(required_unless_present = "with")]
    pub(crate) after: Option<PathBuf>,

    /// Programs that run the second model, or the only one: onnxruntime, openvino, paddle, or
    /// 'cmd:' and a command line.
    ///
    /// The command line has {model}, the file of the model; {inputs}, an .npz file of the inputs by
    /// name; {outputs}, the .npz file that the program writes; and perhaps {values}, a text file
    /// with the name of a wanted value on each line, for programs that can show values of nodes.
    #[arg(long, value_name = "PROGRAM,…|cmd:COMMAND", value_parser = programs)]
    pub(crate) with: Vec<Vec<String>>,

    /// List what each tensor loses in the second model, a quantized form of the first; no bits are
    /// compared.
    #[arg(long, requires = "after", conflicts_with_all = ["with", "max_ulp", "max_relative", "no_prove"])]
    pub(crate) quantized: bool,

    /// List all nodes whose results differ, or all tensors, and not only the first ten.
    #[arg(long)]
    pub(crate) all: bool,

    /// Save the first node beyond its bound in this folder: model.onnx, and its failing inputs as
    /// inputs.npz.
    #[arg(long, value_name = "DIR", requires = "with")]
    pub(crate) save_case: Option<PathBuf>,

    /// An input that is the same in all runs: NAME=VALUE, NAME=FILE, or an .npz file, as of `gradus
    /// run`.
    #[arg(short, long = "input", value_name = "NAME=VALUE|FILE")]
    pub(crate) inputs: Vec<String>,

    /// How many runs are compared.
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) runs: usize,

    /// Compare all outputs in runs, also those that a proof would spare.
    #[arg(long)]
    pub(crate) no_prove: bool,

    /// The seed of the random sizes and elements.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Accept differences of up to this many units in the last place.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) max_ulp: u64,

    /// Accept differences of up to this part of the largest magnitude of the output.
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    pub(crate) max_relative: f64,

    #[command(flatten)]
    pub(crate) shapes: ShapeArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Prove that two models return the same bits for all inputs and sizes, or find inputs that show
/// they do not.
///
/// Exit status: 0 equivalent, 1 different, 3 undecided. Outputs are compared by name, or by place
/// where neither model has the other's name; all NaNs are the same. What is proved is about the
/// inputs that both models take. With `--up-to` outputs may also differ in the order of sums, or in
/// rounding, and the answer says so.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  gradus prove examples/heads.onnx examples/heads.onnx --range seq=1..4096 --up-to rounding\n  gradus prove examples/heads.onnx examples/heads.onnx --certificate heads.jsonl"
)]
pub(crate) struct ProveArgs {
    /// The first model: a file of ONNX, OpenVINO or Paddle.
    pub(crate) first: PathBuf,

    /// The second model.
    pub(crate) second: PathBuf,

    /// Folder into which the inputs for which outputs differ are saved, as .npy files.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) witness: Option<PathBuf>,

    /// File into which the steps of a proof are written, which `gradus verify-proof` replays.
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate: Option<PathBuf>,

    /// The difference that equal outputs may have: none, the order of sums, or rounding of floats.
    #[arg(long, value_name = "WHAT", default_value = "bits")]
    pub(crate) up_to: UpToArg,

    /// Seconds of runs that look for such inputs where there is no proof.
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub(crate) seconds: u64,

    /// The seed of the random sizes and elements of these runs.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// List all pairs of values that are not proved, and not only the first ten.
    #[arg(long)]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) sizes: SizeArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// The difference that equal outputs may have.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum UpToArg {
    /// Nothing: the same bits.
    Bits,
    /// The order in which floats are added.
    Order,
    /// Rounding: equal as formulas of real numbers.
    Rounding,
}

impl From<UpToArg> for UpTo {
    fn from(arg: UpToArg) -> UpTo {
        match arg {
            UpToArg::Bits => UpTo::Bits,
            UpToArg::Order => UpTo::Order,
            UpToArg::Rounding => UpTo::Rounding,
        }
    }
}

/// Replay the certificate of a proof that two models return the same bits.
///
/// Nothing is searched: of the laws, those are applied that the certificate names. What it says
/// else is compared with what the replay finds, so that a changed certificate is refused, with its
/// line (exit status 1). Options of sizes are to be those of the proof.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  gradus verify-proof examples/heads.onnx examples/heads.onnx heads.jsonl\n  gradus verify-proof examples/heads.onnx examples/heads.onnx heads.jsonl --json"
)]
pub(crate) struct VerifyProofArgs {
    /// The first model: a file of ONNX, OpenVINO or Paddle.
    pub(crate) first: PathBuf,

    /// The second model.
    pub(crate) second: PathBuf,

    /// The certificate, which `gradus prove --certificate` writes.
    pub(crate) certificate: PathBuf,

    /// The difference that equal outputs may have, as in the proof.
    #[arg(long, value_name = "WHAT", default_value = "bits")]
    pub(crate) up_to: UpToArg,

    #[command(flatten)]
    pub(crate) sizes: SizeArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// List the operators that Gradus runs, with their versions and types.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  gradus ops Range\n  gradus ops --json")]
pub(crate) struct Ops {
    /// Only the operator of this name.
    #[arg(value_parser = Named(operator_names, any), hide_possible_values = true)]
    pub(crate) name: Option<String>,
}

/// List the devices besides the processor that make sequences, and say why there are no others.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  gradus devices\n  gradus devices --json")]
pub(crate) struct Devices {}
