//! The functions that write a row, one for each column.

use gradus_core::Number;
use gradus_core::graph::Standard;
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

    /// Signatures of the operator, where the generated tables have none.
    pub const fn signatures_are(self, own: &'static [Signature]) -> Row {
        Row { own, ..self }
    }

    /// ONNX Runtime had the operator in ONNX's domain before ONNX had it.
    pub const fn early_signatures_are(self, early: &'static [Signature]) -> Row {
        Row { early, ..self }
    }

    /// The ONNX operator of the same meaning, by whose name the functions know it.
    pub const fn meaning(self, name: &'static str) -> Row {
        Row { meaning: Some(name), ..self }
    }

    /// ONNX's operator of the same function of elements, by whose name folding knows it.
    pub const fn same_as(self, name: &'static str) -> Row {
        Row { same_as: Some(name), ..self }
    }

    /// The operation on two elements.
    pub const fn operation(self, operation: Operation) -> Row {
        Row { operation: Some(operation), ..self }
    }

    /// The function of one element, in the numbers of its type.
    pub const fn map(self, function: fn(Number) -> Number) -> Row {
        Row { function: Some(function), ..self }
    }

    /// The function of one real, rounded to the type.
    pub const fn real(self, function: Function) -> Row {
        Row { real: Some(function), ..self }
    }

    /// The rule that infers the outputs of a node.
    pub const fn infer(self, rule: Rule) -> Row {
        Row { infer: Some(rule), ..self }
    }

    /// Evaluated by a function of attributes and inputs.
    pub const fn eval(self, function: Compute) -> Row {
        Row { eval: Some(Eval::Function(function)), ..self }
    }

    /// Evaluated by a function that is given the types and shapes that the rule infers.
    pub const fn computes(self, function: Compute) -> Row {
        Row { eval: Some(Eval::Inferred(function)), ..self }
    }

    /// Evaluated by an operator that is built once from the node.
    pub const fn build(self, build: Build) -> Row {
        Row { eval: Some(Eval::Build(build)), ..self }
    }

    /// Evaluated in builds that run models, of which this is none.
    pub const fn left_out(self) -> Row {
        Row { left_out: true, ..self }
    }

    /// Built from the function body by which the standard defines the operator, where a run asks
    /// for bodies.
    pub const fn body(self, build: Build) -> Row {
        Row { body: Some(build), ..self }
    }

    /// Converted by the graph that a function writes.
    pub const fn lower(self, lower: Lower) -> Row {
        Row { lower: Some(lower), ..self }
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

    /// Converted to the other standard by a function; what it writes, and what is not kept.
    pub const fn converts(self, becomes: &'static str, caveat: &'static str, write: ConvertRule) -> Row {
        Row { conversion: Some(Conversion { becomes, caveat, write: Writer::Context(write) }), ..self }
    }

    /// Converted to ONNX by the graph that a function writes, and run by it unless the row has an
    /// evaluation.
    pub const fn becomes(self, becomes: &'static str, caveat: &'static str, lower: Lower) -> Row {
        Row { conversion: Some(Conversion { becomes, caveat, write: Writer::Graph(lower) }), ..self }
    }

    /// Written by a graph in operator sets before one.
    pub const fn before(self, since: i64, lower: Lower) -> Row {
        Row { older: Some(OlderForm { since, is_whole: false, write: OlderWriter::Graph(lower) }), ..self }
    }

    /// Written by a graph of other operators in operator sets before one, which rounds floats in
    /// several steps.
    pub const fn composed_before(self, since: i64, lower: Lower) -> Row {
        Row { older: Some(OlderForm { since, is_whole: true, write: OlderWriter::Graph(lower) }), ..self }
    }

    /// Written by a function in operator sets before one.
    pub const fn sampled_before(self, since: i64, write: OlderRule) -> Row {
        Row { older: Some(OlderForm { since, is_whole: false, write: OlderWriter::Context(write) }), ..self }
    }

    /// The function that writes other operators where an operator set cannot express a node.
    pub const fn instead(self, instead: Instead) -> Row {
        Row { instead: Some(instead), ..self }
    }

    /// The function that tells which attributes of a node change nothing.
    pub const fn idle(self, idle: Idle) -> Row {
        Row { idle: Some(idle), ..self }
    }

    /// Not converted, as the other standard lacks something.
    pub const fn lacks(self, lack: &'static str) -> Row {
        Row { lack: Some(lack), ..self }
    }

    /// The part that the operator plays in folding.
    pub const fn role(self, role: Role) -> Row {
        Row { role, ..self }
    }

    /// How the number of operations follows from shapes, where other columns do not tell.
    pub const fn works(self, work: Work) -> Row {
        Row { work: Some(work), ..self }
    }

    /// How far programs may be from the exact result, where the rounding does not tell.
    pub const fn allows(self, allowed: Allowed) -> Row {
        Row { allowed: Some(allowed), ..self }
    }

    /// How errors of inputs carry to the results, where other columns do not tell.
    pub const fn carries(self, carries: Carries) -> Row {
        Row { carries: Some(carries), ..self }
    }

    /// Computes each element from those at its place, where other columns do not tell.
    pub const fn elementwise(self) -> Row {
        Row { elementwise: true, ..self }
    }

    /// Computes each element from those at its place, by these operations.
    pub const fn each_output(self, each: Each) -> Row {
        Row { elementwise: true, work: Some(Work::EachOutput(each)), ..self }
    }

    /// Returns only elements of the first input, zeros with their signs.
    pub const fn picks(self) -> Row {
        Row { picks: true, zeros: ZeroSigns::OfFirst, ..self }
    }

    /// The results on which the signs of zeros of the inputs have an effect.
    pub const fn zeros(self, zeros: ZeroSigns) -> Row {
        Row { zeros, ..self }
    }

    /// Sets the sign bit of no result, but for NaN.
    pub const fn unsigned(self) -> Row {
        Row { unsigned: true, ..self }
    }

    /// Returns its own results unchanged.
    pub const fn idempotent(self) -> Row {
        Row { idempotent: true, ..self }
    }

    /// The input that is added last.
    pub const fn bias(self, input: usize) -> Row {
        Row { bias: Some(input), ..self }
    }

    /// The default of the attribute `axis`, along which it works.
    pub const fn axis(self, default: i64) -> Row {
        Row { axis: Some(default), ..self }
    }

    /// Reduces the axes that an attribute or an input lists.
    pub const fn reduces(self, reduces: Reduces) -> Row {
        Row { reduces, ..self }
    }

    /// Draws its results at random.
    pub const fn random(self) -> Row {
        Row { chance: Chance::Yes, ..self }
    }

    /// Draws its results at random in training.
    pub const fn random_in_training(self) -> Row {
        Row { chance: Chance::InTraining, ..self }
    }

    /// Reads or writes a variable that outlives the run.
    pub const fn stateful(self) -> Row {
        Row { stateful: true, ..self }
    }

    /// Reads only the shapes of its inputs.
    pub const fn shape_only(self) -> Row {
        Row { shape_only: true, ..self }
    }

    /// The inputs that are weights where they are constants.
    pub const fn weights(self, weights: &'static [usize]) -> Row {
        Row { weights, ..self }
    }

    /// The inputs that are sizes, counts or ends where they are integers.
    pub const fn sizes(self, sizes: &'static [usize]) -> Row {
        Row { sizes, ..self }
    }

    /// The inputs that are lists: tensors of one axis.
    pub const fn lists(self, lists: &'static [usize]) -> Row {
        Row { lists, ..self }
    }

    /// The inputs that are one number: tensors of at most one axis.
    pub const fn scalars(self, scalars: &'static [usize]) -> Row {
        Row { scalars, ..self }
    }

    /// The operator has attributes that are one of a few texts each.
    pub const fn words(self, words: &'static [Words]) -> Row {
        Row { words, ..self }
    }

    /// The operator has attributes of integers that have a range, or one length.
    pub const fn numbers(self, numbers: &'static [Numbers]) -> Row {
        Row { numbers, ..self }
    }

    /// The check that tells whether results of constants are the same in every program.
    pub const fn checked(self, checked: Checked) -> Row {
        Row { checked: Some(checked), ..self }
    }

    /// The sequence that the operator computes.
    pub const fn sequence(self, sequence: Sequence) -> Row {
        Row { sequence: Some(sequence), ..self }
    }

    /// Lists and tensors in its attributes are constants of the model.
    pub const fn learned(self) -> Row {
        Row { learned: Some(|_| true), ..self }
    }

    /// Its attribute `values` is a constant of the model.
    pub const fn holds_values(self) -> Row {
        Row { learned: Some(|name| name == "values"), ..self }
    }
}
