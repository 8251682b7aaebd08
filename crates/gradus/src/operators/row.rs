//! A row of the table: one operator of one standard.

use gradus_core::Number;
use gradus_core::graph::Standard;
use gradus_kernels::Function;

use super::operation::Operation;
use crate::conversion::ConvertRule;
use crate::cost::{Each, Work};
use crate::infer::Rule;
use crate::lowering::{self, Lower};
use crate::op::{Build, Compute};
use crate::schema::{Signature, in_set, microsoft_versions, onnx_versions, openvino_versions};

/// An operator of a standard: its versions, what is known about it, and the functions that
/// infer, evaluate and convert it.
#[derive(Debug)]
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
    /// The operation on two elements.
    pub(crate) operation: Option<Operation>,
    /// The function of one element.
    pub(crate) function: Option<fn(Number) -> Number>,
    /// The function of one real.
    pub(crate) real: Option<Function>,
    pub(crate) infer: Option<Rule>,
    pub(crate) eval: Option<Eval>,
    /// Builds the operator from the function body by which the standard defines it.
    pub(crate) body: Option<Build>,
    /// Writes the graph of ONNX operators that a node stands for.
    pub(crate) lower: Option<Lower>,
    /// Infers a node of which too little is known to write that graph.
    pub(crate) partial: Option<Rule>,
    pub(crate) conversion: Option<Conversion>,
    /// Lack of the other standard that leaves it without a conversion.
    pub(crate) lack: Option<&'static str>,
    pub(crate) role: Role,
    /// How the number of operations follows from shapes, where other columns do not tell.
    work: Option<Work>,
    pub(crate) bits: Bits,
    pub(crate) chance: Chance,
    /// True if it reads or writes a variable that outlives the run.
    pub(crate) stateful: bool,
    /// True if it reads only the shapes of its inputs.
    pub(crate) shape_only: bool,
    /// The attributes that are constants of the model, as weights are; none if it has no such.
    pub(crate) learned: Option<fn(&str) -> bool>,
}

/// How an operator is evaluated.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Eval {
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
#[non_exhaustive]
pub struct Conversion {
    /// The operators that are written for it.
    pub becomes: &'static str,
    /// The results that are not kept bit for bit; empty if all are.
    pub caveat: &'static str,
    pub(crate) write: ConvertRule,
}

/// The part an operator plays in folding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Cast,
    Constant,
    Copy,
    Expand,
    If,
    Join,
    Pad,
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

/// How far every implementation of an operator returns the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bits {
    /// It only moves elements, or reads shapes.
    Moved,
    /// IEEE 754 rounds each element in one way.
    Rounded,
    /// Only integers are the same everywhere.
    Integers,
}

/// True if results are drawn at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chance {
    No,
    InTraining,
    Yes,
}

impl Row {
    const fn new(standard: Standard, domain: &'static str, name: &'static str) -> Row {
        Row {
            standard,
            domain,
            name,
            own: &[],
            early: &[],
            meaning: None,
            operation: None,
            function: None,
            real: None,
            infer: None,
            eval: None,
            body: None,
            lower: None,
            partial: None,
            conversion: None,
            lack: None,
            role: Role::Other,
            work: None,
            bits: Bits::Integers,
            chance: Chance::No,
            stateful: false,
            shape_only: false,
            learned: None,
        }
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
    pub(crate) fn signature_in(&self, version: i64) -> Option<&'static Signature> {
        in_set(self.signatures(), version).or_else(|| in_set(self.early, version))
    }

    /// Returns true if the signatures state types and required inputs, which the generated table
    /// of OpenVINO does not.
    pub(crate) fn states_inputs(&self) -> bool {
        self.standard == Standard::Onnx || !self.own.is_empty()
    }

    /// Returns true if Gradus evaluates it.
    pub fn is_evaluated(&self) -> bool {
        self.eval.is_some()
    }

    /// Returns true if it runs by the ONNX operators that it becomes, where they give OpenVINO's
    /// shapes.
    pub fn runs_by_conversion(&self) -> bool {
        self.standard == Standard::OpenVino && !self.is_evaluated() && self.conversion.is_some()
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
    pub(crate) fn work(&self) -> Option<Work> {
        let each = match self.operation {
            Some(operation) => Some(operation.work()),
            None if self.real.is_some() => Some(Each::TRANSCENDENTAL),
            None if self.function.is_some() || self.role == Role::Cast => Some(Each::arithmetic(1)),
            None => None,
        };
        let moves = self.bits == Bits::Moved || self.shape_only;
        let told = if moves { Some(Work::None) } else { each.map(Work::EachOutput) };
        self.work.or(told)
    }

    /// Returns true if each element of the first output may take the room of that at its place in
    /// an input of the same shape.
    pub(crate) fn is_elementwise(&self) -> bool {
        matches!(self.work(), Some(Work::EachOutput(_)))
    }

    /// Returns true if a rule of its own says how the number of operations follows from shapes.
    pub fn has_work_rule(&self) -> bool {
        self.work.is_some()
    }

    /// The name by which the functions know it: that of the ONNX operator of the same meaning.
    pub(crate) fn known_as(&self) -> &'static str {
        self.meaning.unwrap_or(self.name)
    }
}

/// A row of ONNX's own domain.
pub(super) const fn onnx(name: &'static str) -> Row {
    Row::new(Standard::Onnx, "", name)
}

/// A row of ONNX's domain for classical machine learning.
pub(super) const fn ml(name: &'static str) -> Row {
    Row::new(Standard::Onnx, "ai.onnx.ml", name)
}

/// A row of ONNX's domain of operators that may change.
pub(super) const fn preview(name: &'static str) -> Row {
    Row::new(Standard::Onnx, "ai.onnx.preview", name)
}

/// A row of ONNX's domain for training.
pub(super) const fn training(name: &'static str) -> Row {
    Row::new(Standard::Onnx, "ai.onnx.preview.training", name)
}

/// A row of the domain of ONNX Runtime.
pub(super) const fn microsoft(name: &'static str) -> Row {
    Row::new(Standard::Onnx, "com.microsoft", name)
}

/// A row of an operator that Gradus adds to those of ONNX.
pub(super) const fn own(name: &'static str, signatures: &'static [Signature]) -> Row {
    Row { own: signatures, ..Row::new(Standard::Onnx, super::OWN_DOMAIN, name) }
}

/// A row of OpenVINO.
pub(super) const fn openvino(name: &'static str) -> Row {
    Row::new(Standard::OpenVino, "", name)
}

/// A row of Paddle.
pub(super) const fn paddle(signatures: &'static [Signature]) -> Row {
    Row { own: signatures, ..Row::new(Standard::Paddle, "", signatures[0].name) }
}

/// Columns.
impl Row {
    pub(super) const fn signatures_are(self, own: &'static [Signature]) -> Row {
        Row { own, ..self }
    }

    /// ONNX Runtime had the operator in ONNX's domain before ONNX had it.
    pub(super) const fn early_signatures_are(self, early: &'static [Signature]) -> Row {
        Row { early, ..self }
    }

    pub(super) const fn meaning(self, name: &'static str) -> Row {
        Row { meaning: Some(name), ..self }
    }

    pub(super) const fn operation(self, operation: Operation) -> Row {
        Row { operation: Some(operation), ..self }
    }

    pub(super) const fn map(self, function: fn(Number) -> Number) -> Row {
        Row { function: Some(function), ..self }
    }

    pub(super) const fn real(self, function: Function) -> Row {
        Row { real: Some(function), ..self }
    }

    pub(super) const fn infer(self, rule: Rule) -> Row {
        Row { infer: Some(rule), ..self }
    }

    pub(super) const fn eval(self, function: Compute) -> Row {
        Row { eval: Some(Eval::Function(function)), ..self }
    }

    pub(super) const fn computes(self, function: Compute) -> Row {
        Row { eval: Some(Eval::Inferred(function)), ..self }
    }

    pub(super) const fn build(self, build: Build) -> Row {
        Row { eval: Some(Eval::Build(build)), ..self }
    }

    pub(super) const fn body(self, build: Build) -> Row {
        Row { body: Some(build), ..self }
    }

    /// Converted by the graph that a function writes.
    pub(super) const fn lower(self, lower: Lower) -> Row {
        Row { lower: Some(lower), ..self }
    }

    /// Evaluated and inferred by the graph that a function writes; a rule that the row has infers
    /// nodes of which too little is known to write it.
    pub(super) const fn lowers(self, lower: Lower) -> Row {
        Row {
            lower: Some(lower),
            eval: Some(Eval::Build(lowering::build)),
            infer: Some(lowering::infer),
            partial: self.infer,
            ..self
        }
    }

    pub(super) const fn converts(
        self,
        becomes: &'static str,
        caveat: &'static str,
        write: ConvertRule,
    ) -> Row {
        Row { conversion: Some(Conversion { becomes, caveat, write }), ..self }
    }

    /// Not converted, as the other standard lacks something.
    pub(super) const fn lacks(self, lack: &'static str) -> Row {
        Row { lack: Some(lack), ..self }
    }

    pub(super) const fn role(self, role: Role) -> Row {
        Row { role, ..self }
    }

    pub(super) const fn works(self, work: Work) -> Row {
        Row { work: Some(work), ..self }
    }

    pub(super) const fn moves(self) -> Row {
        Row { bits: Bits::Moved, ..self }
    }

    pub(super) const fn rounded(self) -> Row {
        Row { bits: Bits::Rounded, ..self }
    }

    pub(super) const fn random(self) -> Row {
        Row { chance: Chance::Yes, ..self }
    }

    pub(super) const fn random_in_training(self) -> Row {
        Row { chance: Chance::InTraining, ..self }
    }

    pub(super) const fn stateful(self) -> Row {
        Row { stateful: true, ..self }
    }

    pub(super) const fn shape_only(self) -> Row {
        Row { shape_only: true, ..self }
    }

    /// Lists and tensors in its attributes are constants of the model.
    pub(super) const fn learned(self) -> Row {
        Row { learned: Some(|_| true), ..self }
    }

    /// Its attribute `values` is a constant of the model.
    pub(super) const fn holds_values(self) -> Row {
        Row { learned: Some(|name| name == "values"), ..self }
    }
}
