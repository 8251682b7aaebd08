//! The functions that write a row, one for each column.

use gradus_core::Number;
use gradus_core::graph::{Node, Standard};
use gradus_kernels::Function;

use super::{Chance, Checked, Conversion, Eval, OWN_DOMAIN, Reduces, Role, Row, Sequence, ZeroSigns};
use crate::conversion::columns::{Idle, Instead, OlderForm, OlderRule, OlderWriter};
use crate::conversion::{ConvertRule, Writer};
use crate::infer::Rule;
use crate::lowering::{self, Lower};
use crate::numbers::Numbers;
use crate::op::{Build, Compute};
use crate::operators::allowed::{Allowed, Carries};
use crate::operators::operation::Operation;
use crate::operators::rounding::Rounding;
use crate::operators::work::{Each, Work};
use crate::schema::Signature;
use crate::words::Words;

/// A row of ONNX's own domain.
pub const fn onnx(name: &'static str, rounding: Rounding) -> Row {
    Row::new(Standard::Onnx, "", name, rounding)
}

/// A row of ONNX's domain for classical machine learning.
pub const fn ml(name: &'static str, rounding: Rounding) -> Row {
    Row::new(Standard::Onnx, "ai.onnx.ml", name, rounding)
}

/// A row of ONNX's domain of operators that may change.
pub const fn preview(name: &'static str, rounding: Rounding) -> Row {
    Row::new(Standard::Onnx, "ai.onnx.preview", name, rounding)
}

/// A row of ONNX's domain for training.
pub const fn training(name: &'static str, rounding: Rounding) -> Row {
    Row::new(Standard::Onnx, "ai.onnx.preview.training", name, rounding)
}

/// A row of the domain of ONNX Runtime.
pub const fn microsoft(name: &'static str, rounding: Rounding) -> Row {
    Row::new(Standard::Onnx, "com.microsoft", name, rounding)
}

/// A row of an operator that Gradus adds to those of ONNX.
pub const fn own(name: &'static str, rounding: Rounding, signatures: &'static [Signature]) -> Row {
    Row { own: signatures, ..Row::new(Standard::Onnx, OWN_DOMAIN, name, rounding) }
}

/// A row of OpenVINO.
pub const fn openvino(name: &'static str, rounding: Rounding) -> Row {
    Row::new(Standard::OpenVino, "", name, rounding)
}

/// A row of Paddle.
pub const fn paddle(rounding: Rounding, signatures: &'static [Signature]) -> Row {
    Row { own: signatures, ..Row::new(Standard::Paddle, "", signatures[0].name, rounding) }
}

impl Row {
    const fn new(standard: Standard, domain: &'static str, name: &'static str, rounding: Rounding) -> Row {
        Row {
            standard,
            domain,
            name,
            own: &[],
            early: &[],
            meaning: None,
            same_as: None,
            operation: None,
            function: None,
            real: None,
            infer: None,
            eval: None,
            left_out: false,
            body: None,
            lower: None,
            partial: None,
            conversion: None,
            older: None,
            instead: None,
            may_lack: None,
            idle: None,
            lack: None,
            role: Role::Other,
            work: None,
            rounding,
            allowed: None,
            carries: None,
            elementwise: false,
            picks: false,
            zeros: ZeroSigns::Any,
            unsigned: false,
            idempotent: false,
            bias: None,
            axis: None,
            reduces: Reduces::No,
            chance: Chance::No,
            stateful: false,
            shape_only: false,
            runs_strings: false,
            learned: None,
            weights: &[],
            sizes: &[],
            lists: &[],
            scalars: &[],
            words: &[],
            numbers: &[],
            checked: None,
            sequence: None,
        }
    }

    /// Evaluated and inferred by the graph that a function writes; a rule that the row has infers
    /// nodes of which too little is known to write it.
    pub const fn lowers(self, lower: Lower) -> Row {
        Row {
            lower: Some(lower),
            eval: Some(Eval::Build(lowering::build)),
            infer: Some(lowering::infer),
            partial: self.infer,
            ..self
        }
    }
}

/// Columns, each with the fields of the row that it sets.
macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident($($given:ident: $type:ty),*) => { $($fields:tt)* };)*) => {
        impl Row {
            $($(#[$doc])* pub const fn $name(self $(, $given: $type)*) -> Row {
                Row { $($fields)*, ..self }
            })*
        }
    };
}

columns! {
    /// Signatures of the operator, where the generated tables have none.
    signatures_are(own: &'static [Signature]) => { own };
    /// ONNX Runtime had the operator in ONNX's domain before ONNX had it.
    early_signatures_are(early: &'static [Signature]) => { early };
    /// The ONNX operator of the same meaning, by whose name the functions know it.
    meaning(name: &'static str) => { meaning: Some(name) };
    /// ONNX's operator of the same function of elements, by whose name folding knows it.
    same_as(name: &'static str) => { same_as: Some(name) };
    /// The operation on two elements.
    operation(operation: Operation) => { operation: Some(operation) };
    /// The function of one element, in the numbers of its type.
    map(function: fn(Number) -> Number) => { function: Some(function) };
    /// The function of one real, rounded to the type.
    real(function: Function) => { real: Some(function) };
    /// The rule that infers the outputs of a node.
    infer(rule: Rule) => { infer: Some(rule) };
    /// Evaluated by a function of attributes and inputs.
    eval(function: Compute) => { eval: Some(Eval::Function(function)) };
    /// Evaluated by a function that is given the types and shapes that the rule infers.
    computes(function: Compute) => { eval: Some(Eval::Inferred(function)) };
    /// Evaluated by an operator that is built once from the node.
    build(build: Build) => { eval: Some(Eval::Build(build)) };
    /// Evaluated in builds that run models, of which this is none.
    left_out() => { left_out: true };
    /// Built from the function body by which the standard defines the operator, where a run asks
    /// for bodies.
    body(build: Build) => { body: Some(build) };
    /// Converted by the graph that a function writes.
    lower(lower: Lower) => { lower: Some(lower) };
    /// Converted to the other standard by a function; what it writes, and what is not kept.
    converts(becomes: &'static str, caveat: &'static str, write: ConvertRule) => { conversion: Some(Conversion { becomes, caveat, write: Writer::Context(write) }) };
    /// Converted to ONNX by the graph that a function writes, and run by it unless the row has an
    /// evaluation.
    becomes(becomes: &'static str, caveat: &'static str, lower: Lower) => { conversion: Some(Conversion { becomes, caveat, write: Writer::Graph(lower) }) };
    /// Written by a graph in operator sets before one.
    before(since: i64, lower: Lower) => { older: Some(OlderForm { since, is_whole: false, write: OlderWriter::Graph(lower) }) };
    /// Written by a graph of other operators in operator sets before one, which rounds floats in
    /// several steps.
    composed_before(since: i64, lower: Lower) => { older: Some(OlderForm { since, is_whole: true, write: OlderWriter::Graph(lower) }) };
    /// Written by a function in operator sets before one.
    sampled_before(since: i64, write: OlderRule) => { older: Some(OlderForm { since, is_whole: false, write: OlderWriter::Context(write) }) };
    /// The function that writes other operators where an operator set cannot express a node.
    instead(instead: Instead) => { instead: Some(instead) };
    /// The function that tells whether OpenVINO may lack what a node does, and the one that writes
    /// other operators then.
    instead_of(may_lack: fn(&Node) -> bool, instead: Instead) => { may_lack: Some(may_lack), instead: Some(instead) };
    /// The function that tells which attributes of a node change nothing.
    idle(idle: Idle) => { idle: Some(idle) };
    /// Not converted, as the other standard lacks something.
    lacks(lack: &'static str) => { lack: Some(lack) };
    /// The part that the operator plays in folding.
    role(role: Role) => { role };
    /// How the number of operations follows from shapes, where other columns do not tell.
    works(work: Work) => { work: Some(work) };
    /// How far programs may be from the exact result, where the rounding does not tell.
    allows(allowed: Allowed) => { allowed: Some(allowed) };
    /// How errors of inputs carry to the results, where other columns do not tell.
    carries(carries: Carries) => { carries: Some(carries) };
    /// Computes each element from those at its place, where other columns do not tell.
    elementwise() => { elementwise: true };
    /// Computes each element from those at its place, by these operations.
    each_output(each: Each) => { elementwise: true, work: Some(Work::EachOutput(each)) };
    /// Returns only elements of the first input, zeros with their signs.
    picks() => { picks: true, zeros: ZeroSigns::OfFirst };
    /// The results on which the signs of zeros of the inputs have an effect.
    zeros(zeros: ZeroSigns) => { zeros };
    /// Sets the sign bit of no result, but for NaN.
    unsigned() => { unsigned: true };
    /// Returns its own results unchanged.
    idempotent() => { idempotent: true };
    /// The input that is added last.
    bias(input: usize) => { bias: Some(input) };
    /// The default of the attribute `axis`, along which it works.
    axis(default: i64) => { axis: Some(default) };
    /// Reduces the axes that an attribute or an input lists.
    reduces(reduces: Reduces) => { reduces };
    /// Draws its results at random.
    random() => { chance: Chance::Yes };
    /// Draws its results at random in training.
    random_in_training() => { chance: Chance::InTraining };
    /// Reads or writes a variable that outlives the run.
    stateful() => { stateful: true };
    /// Reads only the shapes of its inputs.
    shape_only() => { shape_only: true };
    /// Runs with strings in the processor plug-in of OpenVINO.
    runs_strings() => { runs_strings: true };
    /// The inputs that are weights where they are constants.
    weights(weights: &'static [usize]) => { weights };
    /// The inputs that are sizes, counts or ends where they are integers.
    sizes(sizes: &'static [usize]) => { sizes };
    /// The inputs that are lists: tensors of one axis.
    lists(lists: &'static [usize]) => { lists };
    /// The inputs that are one number: tensors of at most one axis.
    scalars(scalars: &'static [usize]) => { scalars };
    /// The operator has attributes that are one of a few texts each.
    words(words: &'static [Words]) => { words };
    /// The operator has attributes of integers that have a range, or one length.
    numbers(numbers: &'static [Numbers]) => { numbers };
    /// The check that tells whether results of constants are the same in every program.
    checked(checked: Checked) => { checked: Some(checked) };
    /// The sequence that the operator computes.
    sequence(sequence: Sequence) => { sequence: Some(sequence) };
    /// Lists and tensors in its attributes are constants of the model.
    learned() => { learned: Some(|_| true) };
    /// Its attribute `values` is a constant of the model.
    holds_values() => { learned: Some(|name| name == "values") };
}
