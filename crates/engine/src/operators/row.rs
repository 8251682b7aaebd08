//! A row of the table: one operator of one standard.

mod columns;

use gradus_core::graph::{Node, Standard};
use gradus_core::{Number, Result};
use gradus_kernels::Function;

use super::allowed::{Allowed, Carries, Magnitudes};
use super::operation::Operation;
use super::rounding::Rounding;
use crate::attributes::Attributes;
use crate::conversion::Writer;
use crate::conversion::columns::{Idle, Instead, OlderForm, OlderWriter};
use crate::infer::Rule;
use crate::lowering::Lower;
use crate::numbers::{FLAGS, Numbers};
use crate::op::{Build, Compute};
use crate::operators::work::{Each, Work};
use crate::schema::{Signature, Sort, in_set, microsoft_versions, onnx_versions, openvino_versions};
use crate::words::Words;

pub use columns::{microsoft, ml, onnx, openvino, own, paddle, preview, training};

/// The domain of operators that Gradus adds to those of ONNX.
pub const OWN_DOMAIN: &str = "gradus";

/// An operator of a standard: its versions, what is known about it, and the functions that
/// infer, evaluate and convert it.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a column of its own")]
pub struct Row {
    /// The standard that defines it.
    pub standard: Standard,
    /// Its domain; empty for the standard's own.
    pub domain: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Signatures that the generated tables do not have.
    own: &'static [Signature],
    /// ONNX Runtime's signature in operator sets that lack the operator.
    early: &'static [Signature],
    /// The ONNX operator of the same meaning, by whose name the functions know it.
    meaning: Option<&'static str>,
    /// ONNX's operator of the same function of elements, by whose name folding knows it. Quotients
    /// of integers may be rounded differently.
    pub same_as: Option<&'static str>,
    /// The operation on two elements.
    pub operation: Option<Operation>,
    /// The function of one element.
    pub function: Option<fn(Number) -> Number>,
    /// The function of one real, which has no parameters.
    pub real: Option<Function>,
    pub infer: Option<Rule>,
    pub eval: Option<Eval>,
    /// True if the build leaves out its evaluation.
    left_out: bool,
    /// Builds the operator from the function body by which the standard defines it.
    pub body: Option<Build>,
    /// Writes the graph of ONNX operators that a node stands for.
    pub lower: Option<Lower>,
    /// Infers a node of which too little is known to write that graph.
    pub partial: Option<Rule>,
    pub conversion: Option<Conversion>,
    /// How it is written in older operator sets, which lack it as it is now.
    pub older: Option<OlderForm>,
    /// Writes other operators of ONNX, where the set that is written cannot say what a node does.
    pub instead: Option<Instead>,
    /// Tells whether OpenVINO may lack what a node does, for which `instead` writes others before a
    /// conversion to it.
    pub may_lack: Option<fn(&Node) -> bool>,
    /// Tells whether an attribute of a node changes nothing, so that an operator set may lack it.
    pub idle: Option<Idle>,
    /// Lack of the other standard that leaves it without a conversion.
    pub lack: Option<&'static str>,
    pub role: Role,
    /// How the number of operations follows from shapes, where other columns do not tell.
    work: Option<Work>,
    pub rounding: Rounding,
    /// How far programs may be from the exact result, where its rounding does not tell.
    allowed: Option<Allowed>,
    /// How errors of inputs carry to the results, where other columns do not tell.
    carries: Option<Carries>,
    /// True if it computes each element from those at its place, where other columns do not tell.
    elementwise: bool,
    /// True if its elements are some of those of the first input.
    pub picks: bool,
    pub zeros: ZeroSigns,
    /// True if no result has the sign bit set, but for NaN.
    pub unsigned: bool,
    /// True if applying it to its results changes nothing.
    pub idempotent: bool,
    /// The input that it adds last.
    pub bias: Option<usize>,
    /// The default of the attribute `axis`, if it works along that axis and reads no other by
    /// number.
    pub axis: Option<i64>,
    pub reduces: Reduces,
    pub chance: Chance,
    /// True if it reads or writes a variable that outlives the run.
    pub stateful: bool,
    /// True if it reads only the shapes of its inputs.
    pub shape_only: bool,
    /// True if the processor plug-in of OpenVINO runs it with strings.
    pub runs_strings: bool,
    /// The attributes that are constants of the model, as weights are; none if it has no such.
    pub learned: Option<fn(&str) -> bool>,
    /// The inputs that are weights where they are constants.
    pub weights: &'static [usize],
    /// The inputs that are sizes, counts or ends where they are integers, but for those of
    /// operations on two elements.
    pub sizes: &'static [usize],
    /// The inputs that are lists: tensors of one axis.
    pub lists: &'static [usize],
    /// The inputs that are one number: tensors of at most one axis.
    pub scalars: &'static [usize],
    /// The attributes that are one of a few texts.
    pub words: &'static [Words],
    /// The attributes of integers that have a range, or one length.
    pub numbers: &'static [Numbers],
    /// The check that tells whether results of constants are the same in every program.
    pub checked: Option<Checked>,
    /// The sequence that it makes.
    pub sequence: Option<Sequence>,
}

/// How an operator is evaluated.
#[derive(Clone, Copy, Debug)]
pub enum Eval {
    /// By a function of attributes and inputs.
    Function(Compute),
    /// By a function of attributes and inputs, which is given the types and shapes of the outputs
    /// that the rule infers.
    Inferred(Compute),
    /// By an operator that is built once from the node.
    Build(Build),
}

/// How an operator is converted to the other standard.
#[derive(Clone, Copy, Debug)]
pub struct Conversion {
    /// The operators that are written for it.
    pub becomes: &'static str,
    /// The results that are not kept bit for bit; empty if all are.
    pub caveat: &'static str,
    pub write: Writer,
}

/// The part an operator plays in a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Cast,
    Constant,
    Copy,
    /// The numbers that codes stand for.
    Dequantize,
    Expand,
    If,
    Join,
    Pad,
    /// The codes of numbers, or the numbers that have codes.
    Quantize,
    Reshape,
    Shape,
    Size,
    Slice,
    Split,
    Tile,
    Transpose,
    View,
    Other,
}

/// The results on which the signs of zeros of the inputs have an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZeroSigns {
    /// Results are the same.
    Unseen,
    /// Zeros of the results have other signs, by those of any input.
    OfAll,
    /// Zeros of the results have other signs, by those of the first input.
    OfFirst,
    /// Any result may differ.
    Any,
}

/// Kinds of reductions of the axes that an attribute or an input lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduces {
    No,
    /// A reduction of all axes is one of some axes, and then of the others; of one element it is
    /// that element.
    Nested,
    /// A reduction that is not nested.
    Once,
}

/// Kinds of results of constants, where a check decides if programs that round or order operations
/// differently return the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    /// Means of elements, or of inputs if it computes each element.
    Mean,
    /// Elements of the input that are nearest to coordinates.
    Nearest,
    Power,
    Product,
    Range,
    Remainder,
    Sum,
    SumOfSquares,
}

/// A sequence whose elements follow from a few numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequence {
    Range,
    LinSpace,
    LogSpace,
    GeomSpace,
}

/// True if results are drawn at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chance {
    No,
    InTraining,
    Yes,
}

impl Row {
    /// Checks the attributes of a node that are one of a few texts, or integers of a range.
    ///
    /// # Errors
    /// As [`Words::check`] and [`Numbers::check`].
    pub fn check_attributes(&self, attributes: &Attributes<'_>) -> Result<()> {
        // Every node is checked for all flags, of which few are given.
        if self.standard == Standard::Onnx && attributes.may_give_one_of(FLAGS.attributes) {
            FLAGS.check(attributes)?;
        }
        self.words.iter().try_for_each(|words| words.check(attributes))?;
        self.numbers.iter().try_for_each(|numbers| numbers.check(attributes))
    }

    /// The signatures of its versions, the oldest first; none if no table has the operator.
    pub fn signatures(&self) -> &'static [Signature] {
        match self.standard {
            _ if !self.own.is_empty() => self.own,
            Standard::Onnx if self.domain == "com.microsoft" => microsoft_versions(self.name),
            Standard::Onnx => onnx_versions(self.domain, self.name),
            Standard::OpenVino => openvino_versions(self.name),
            Standard::Paddle => &[],
        }
    }

    /// The signature of the version that an operator set has, if there is one.
    pub fn signature_in(&self, version: i64) -> Option<&'static Signature> {
        in_set(self.signatures(), version).or_else(|| in_set(self.early, version))
    }

    /// Returns true if the signatures state types and required inputs, which the generated table
    /// of OpenVINO does not.
    pub fn states_inputs(&self) -> bool {
        self.standard == Standard::Onnx || !self.own.is_empty()
    }

    /// Returns true if Gradus evaluates it.
    pub fn is_evaluated(&self) -> bool {
        self.eval.is_some()
    }

    /// Returns true if Gradus evaluates it, in this build or in those that run models.
    pub fn runs(&self) -> bool {
        self.is_evaluated() || self.left_out
    }

    /// Returns true if it runs by the ONNX operators that it becomes, where they give OpenVINO's
    /// shapes.
    pub fn runs_by_conversion(&self) -> bool {
        self.standard == Standard::OpenVino && !self.runs() && self.conversion.is_some()
    }

    /// Returns true if it is converted by a graph of ONNX's operators, and run by it unless it has
    /// an evaluation of its own.
    pub fn is_lowered(&self) -> bool {
        self.lower.is_some()
    }

    /// Returns true if it becomes other operators of ONNX, before it is converted to another
    /// standard.
    pub fn becomes_onnx(&self) -> bool {
        self.standard == Standard::Onnx
            && match self.domain {
                "com.microsoft" => self.lower.is_some() || self.conversion.is_some(),
                _ => self.lower.is_some() && self.conversion.is_none(),
            }
    }

    /// How far the text of the standard determines the bits of its results.
    pub fn rounding(&self) -> Rounding {
        self.rounding
    }

    /// How far programs may be from the exact result of a node.
    pub fn allowed(&self, node: &Node) -> Allowed {
        let steps = if self.steps().is_some() { Allowed::Steps } else { Allowed::Unknown };
        self.allowed.unwrap_or(match self.rounding.of_node(node) {
            Rounding::Moved | Rounding::Exact | Rounding::Ieee | Rounding::Chosen => Allowed::Rounded,
            Rounding::Quantized => Allowed::Code,
            Rounding::Order => Allowed::Sums(Magnitudes::OF_INPUTS),
            Rounding::Formula if self.real.is_some() => Allowed::FUNCTION,
            Rounding::Formula if self.operation.is_some() => Allowed::POWER,
            Rounding::Formula | Rounding::Interpolated | Rounding::Lowered => steps,
            Rounding::Open => Allowed::Unknown,
        })
    }

    /// How errors of inputs carry to the results, whose elements are computed or chosen one by one.
    pub fn carried(&self) -> Carries {
        match (self.carries, self.operation, self.real) {
            (Some(told), ..) => told,
            (_, Some(operation), _) => operation.carries(),
            (_, _, Some(function)) => Carries::As(function),
            _ if self.function.is_some() || self.role == Role::Cast => Carries::Ends,
            _ if matches!(self.rounding, Rounding::Moved | Rounding::Quantized) => Carries::Ends,
            _ => Carries::Open,
        }
    }

    /// Writes the graph of simpler operators whose steps are those of its formula.
    pub fn steps(&self) -> Option<Lower> {
        let older = self.older.filter(|older| older.is_whole).map(|older| older.write);
        self.lower.or(match older {
            Some(OlderWriter::Graph(lower)) => Some(lower),
            _ => None,
        })
    }

    /// Returns true if every implementation returns the same bits for a node of it, floats
    /// included.
    pub fn is_exact(&self, node: &Node) -> bool {
        self.rounding.is_exact() && self.rounding.of_node(node).is_exact() && self.chance == Chance::No
    }

    /// Returns true if it has numbers as attributes. These are of float32, and the text leaves open
    /// whether they are rounded to a shorter type of the inputs.
    pub fn has_float_attributes(&self) -> bool {
        let newest = self.signatures().last();
        newest.is_some_and(|newest| {
            newest.attributes.iter().any(|rule| matches!(rule.sort, Sort::Float | Sort::Floats))
        })
    }

    /// Returns true if Gradus infers it.
    pub fn is_inferred(&self) -> bool {
        self.infer.is_some()
    }

    /// How it is converted to the other standard, if it is.
    pub fn conversion(&self) -> Option<&Conversion> {
        self.conversion.as_ref()
    }

    /// How the number of operations follows from shapes: none where elements are only moved, one
    /// for each element of the output of a function of elements.
    pub fn work(&self) -> Option<Work> {
        let each = match self.operation {
            Some(operation) => Some(operation.work()),
            None if self.real.is_some() => Some(Each::TRANSCENDENTAL),
            None if self.function.is_some() || self.role == Role::Cast => Some(Each::arithmetic(1)),
            None => None,
        };
        let moves = self.rounding == Rounding::Moved || self.shape_only;
        let told = if moves { Some(Work::None) } else { each.map(Work::EachOutput) };
        self.work.or(told)
    }

    /// Returns true if each element of the first output may take the room of that at its place in
    /// an input of the same shape.
    pub fn is_elementwise(&self) -> bool {
        matches!(self.work(), Some(Work::EachOutput(_)))
    }

    /// Returns true if it computes each element of the only output from the elements at its place in
    /// inputs that are broadcast.
    pub fn is_of_elements(&self) -> bool {
        let computes = self.operation.is_some() || self.function.is_some() || self.real.is_some();
        computes || self.elementwise || self.role == Role::Cast
    }

    /// Returns true if a rule of its own says how the number of operations follows from shapes.
    pub fn has_work_rule(&self) -> bool {
        self.work.is_some()
    }

    /// The name by which the functions know it: that of the ONNX operator of the same meaning.
    pub fn known_as(&self) -> &'static str {
        self.meaning.unwrap_or(self.name)
    }

    /// Checks that lists have one axis and numbers at most one, where the ranks of inputs are
    /// known.
    ///
    /// # Errors
    /// [`Kind::Shape`](gradus_core::Kind::Shape) if one has another rank.
    pub fn check_ranks(&self, signature: &Signature, rank: impl Fn(usize) -> Option<usize>) -> Result<()> {
        let lists = self.lists.iter().map(|&input| (input, 1, "1"));
        let scalars = self.scalars.iter().map(|&input| (input, 0, "0 or 1"));
        for (input, least, wanted) in lists.chain(scalars) {
            if let Some(rank) = rank(input).filter(|rank| !(least..=1).contains(rank)) {
                return Err(super::errors::rank(signature.input_label(input), rank, wanted));
            }
        }
        Ok(())
    }
}
