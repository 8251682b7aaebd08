//! Signatures: what each version of each operator takes and gives, as its standard's text says.
//!
//! ONNX's are made from the `onnx` package (`schema/onnx.rs`), OpenVINO's from the `openvino`
//! package (`schema/openvino.rs`), ONNX Runtime's from the `onnxruntime` package
//! (`schema/microsoft.rs`); where types matter, they are with the operators. `schema/runtimes.rs`
//! has the operators and types that other programs run.

/// Types of parameters by name: a line each, however long.
macro_rules! types {
    ($($name:ident = $types:expr;)*) => {
        $(const $name: Types = $types;)*
    };
}

mod microsoft;
mod onnx;
mod openvino;
mod runtimes;

use std::fmt;
use std::sync::LazyLock;

use foldhash::HashMap;

use crate::operators::errors;
use gradus_core::{DType, DTypeSet, Error, Kind, Result, Value};

/// Types of values that a parameter admits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Types {
    /// Element types of tensors.
    pub tensor: DTypeSet,
    /// Element types of tensors in sequences.
    pub sequence: DTypeSet,
    /// Element types of optional tensors.
    pub optional: DTypeSet,
    /// Element types of tensors in optional sequences.
    pub optional_sequence: DTypeSet,
    /// True if other values are admitted too: maps, sequences of maps.
    pub other: bool,
}

impl Types {
    /// No type.
    pub const NONE: Types = Types {
        tensor: DTypeSet::EMPTY,
        sequence: DTypeSet::EMPTY,
        optional: DTypeSet::EMPTY,
        optional_sequence: DTypeSet::EMPTY,
        other: false,
    };

    /// Tensors of these element types.
    pub const fn tensors(dtypes: &[DType]) -> Types {
        Types { tensor: DTypeSet::of(dtypes), ..Types::NONE }
    }

    /// Sequences of tensors of these element types.
    pub const fn sequences(dtypes: &[DType]) -> Types {
        Types { sequence: DTypeSet::of(dtypes), ..Types::NONE }
    }

    /// The types of this set that are not in the other.
    #[must_use]
    pub const fn without(self, other: Types) -> Types {
        Types {
            tensor: self.tensor.without(other.tensor),
            sequence: self.sequence.without(other.sequence),
            optional: self.optional.without(other.optional),
            optional_sequence: self.optional_sequence.without(other.optional_sequence),
            other: self.other && !other.other,
        }
    }

    /// Returns true if a type is admitted. The unknown parts of a type are no reason against it.
    pub fn admits(&self, given: &ValueType) -> bool {
        let within = |set: DTypeSet, dtype: Option<DType>| {
            !set.is_empty() && dtype.is_none_or(|dtype| set.contains(dtype))
        };
        match given {
            ValueType::Unknown => true,
            ValueType::Tensor(dtype) => within(self.tensor, *dtype),
            // A loop may carry a sequence where it began with an optional one, as upstream's
            // test_loop16_seq_none does.
            ValueType::Sequence(dtype) => {
                within(self.sequence, *dtype) || within(self.optional_sequence, *dtype)
            }
            ValueType::Optional(None) => !self.optional.or(self.optional_sequence).is_empty(),
            ValueType::Optional(Some(inner)) => match **inner {
                ValueType::Sequence(dtype) => within(self.optional_sequence, dtype),
                ValueType::Tensor(dtype) => within(self.optional, dtype),
                _ => true,
            },
            ValueType::Map => self.other,
        }
    }
}

/// The type of a value as far as it is known, without its shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueType {
    Unknown,
    Tensor(Option<DType>),
    /// A sequence of tensors of that type.
    Sequence(Option<DType>),
    /// An optional value; `None` if it is empty.
    Optional(Option<Box<ValueType>>),
    /// A map, or a sequence of maps.
    Map,
}

impl ValueType {
    /// Returns false if two types can be one.
    fn contradicts(&self, other: &ValueType) -> bool {
        let differ = |a: &Option<DType>, b: &Option<DType>| a.zip(*b).is_some_and(|(a, b)| a != b);
        match (self, other) {
            (ValueType::Unknown, _) | (_, ValueType::Unknown) | (ValueType::Map, ValueType::Map) => false,
            (ValueType::Tensor(a), ValueType::Tensor(b))
            | (ValueType::Sequence(a), ValueType::Sequence(b)) => differ(a, b),
            (ValueType::Optional(a), ValueType::Optional(b)) => match (a, b) {
                (Some(a), Some(b)) => a.contradicts(b),
                _ => false,
            },
            _ => true,
        }
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueType::Unknown => f.write_str("of unknown type"),
            ValueType::Tensor(Some(dtype)) => dtype.fmt(f),
            ValueType::Tensor(None) => f.write_str("a tensor"),
            ValueType::Sequence(Some(dtype)) => write!(f, "a sequence of {dtype}"),
            ValueType::Sequence(None) => f.write_str("an empty sequence"),
            ValueType::Optional(None) => f.write_str("an empty optional"),
            ValueType::Optional(Some(inner)) => write!(f, "an optional {inner}"),
            ValueType::Map => f.write_str("a map"),
        }
    }
}

/// Something that has the type of a value: the value itself, or what is known about it.
pub trait Typed {
    /// The type.
    fn value_type(&self) -> ValueType;
}

impl Typed for Value {
    fn value_type(&self) -> ValueType {
        match self {
            Value::Tensor(tensor) => ValueType::Tensor(Some(tensor.dtype())),
            Value::Sequence(values) if matches!(values[..], [Value::Map(_), ..]) => ValueType::Map,
            Value::Sequence(_) => ValueType::Sequence(self.dtype()),
            Value::Map(_) => ValueType::Map,
            Value::Optional(value) => {
                ValueType::Optional(value.as_ref().map(|value| Box::new(value.value_type())))
            }
        }
    }
}

/// Element types, and then in the same words what holds tensors of them:
/// `float32, float64, sequences of float32`.
impl fmt::Display for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.tensor == ANY.tensor {
            return f.write_str("any");
        }
        let sets = [
            ("", self.tensor),
            ("sequences of ", self.sequence),
            ("optional ", self.optional),
            ("optional sequences of ", self.optional_sequence),
        ];
        let sets = sets.into_iter().filter(|(_, set)| !set.is_empty());
        let mut parts: Vec<_> = sets
            .map(|(what, set)| match set {
                _ if what.is_empty() => set.to_string(),
                _ if set == self.tensor => format!("{what}these"),
                _ => format!("{what}{set}"),
            })
            .collect();
        if self.other {
            parts.push("maps".to_owned());
        }
        f.write_str(&parts.join(", "))
    }
}

/// Every element type.
pub const ANY: Types = Types::tensors(DType::ALL);

/// How often a parameter occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// Once.
    One,
    /// Once, or not at all.
    Optional,
    /// At least `least` times; all of one type, if `alike`.
    Many {
        /// True if all are of one type.
        alike: bool,
        /// The smallest number.
        least: usize,
    },
}

/// An input or output of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name in the text.
    pub name: &'static str,
    /// The type variable that it shares with others; empty if it shares none.
    pub variable: &'static str,
    /// The types that it may have.
    pub types: Types,
    /// How often it occurs.
    pub arity: Arity,
}

/// A parameter, for tables.
pub const fn param(name: &'static str, variable: &'static str, types: Types, arity: Arity) -> Param {
    Param { name, variable, types, arity }
}

/// Describes what an attribute holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Sort {
    Float,
    Int,
    String,
    Tensor,
    Graph,
    SparseTensor,
    Type,
    Floats,
    Ints,
    Strings,
}

/// The content of an attribute that is not given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DefaultContent {
    /// An integer.
    Int(i64),
    /// A float.
    Float(f32),
    /// Text.
    Text(&'static str),
}

/// An attribute of an operator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AttributeRule {
    /// Its name in the text.
    pub name: &'static str,
    /// Its content.
    pub sort: Sort,
    /// True if it must be given.
    pub required: bool,
    /// Its content where it is not given, if the table has it and it is no list.
    pub default: Option<DefaultContent>,
}

/// An attribute, for tables.
pub const fn attribute(name: &'static str, sort: Sort, required: bool) -> AttributeRule {
    AttributeRule { name, sort, required, default: None }
}

impl AttributeRule {
    /// The attribute with a default, for tables.
    pub const fn or(self, default: DefaultContent) -> AttributeRule {
        AttributeRule { default: Some(default), ..self }
    }
}

/// The inputs, outputs and attributes of one version of an operator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Signature {
    /// The domain; empty for the standard's own.
    pub domain: &'static str,
    /// The operator's name.
    pub name: &'static str,
    /// The first version of the operator set that has it.
    pub since: i64,
    /// True if the standard deprecates it.
    pub deprecated: bool,
    /// Its inputs.
    pub inputs: &'static [Param],
    /// Its outputs.
    pub outputs: &'static [Param],
    /// Its attributes, by name.
    pub attributes: &'static [AttributeRule],
}

impl Signature {
    /// Returns true if there is an attribute of that name.
    pub fn has_attribute(&self, name: &str) -> bool {
        self.attributes.iter().any(|rule| rule.name == name)
    }

    /// Returns true if it takes any number of inputs, all alike.
    pub fn joins(&self) -> bool {
        matches!(self.inputs, [Param { arity: Arity::Many { .. }, .. }])
    }

    /// The types that tell versions apart: those of the first input with a type variable, or else
    /// of the output.
    fn main_types(&self) -> Types {
        let varies =
            |param: &&Param| !param.variable.is_empty() && param.types.tensor != DTypeSet::of(&[DType::Bool]);
        let first =
            self.inputs.iter().filter(varies).find(|param| param.types.tensor.iter().nth(1).is_some());
        first.or(self.outputs.first()).map_or(Types::NONE, |param| param.types)
    }

    /// The types that tell versions apart, in words; of a version after another, only what it adds.
    pub fn types_beside(&self, before: Option<&Signature>) -> String {
        match before.map(|before| self.main_types().without(before.main_types())) {
            None => self.main_types().to_string(),
            Some(Types::NONE) => "the same".to_owned(),
            Some(added) => format!("and {added}"),
        }
    }

    /// The parameter of that index; the last one may repeat.
    pub fn param(params: &'static [Param], index: usize) -> Option<&'static Param> {
        params.get(index).or_else(|| params.last().filter(|last| matches!(last.arity, Arity::Many { .. })))
    }

    /// The input of that index, in words: `input 2 "delta"`.
    pub fn input_label(&self, index: usize) -> String {
        match Signature::param(self.inputs, index) {
            Some(param) => format!("input {index} \"{}\"", param.name),
            None => format!("input {index}"),
        }
    }

    /// Checks the number of inputs, and that those that must be there are.
    ///
    /// # Errors
    /// [`Kind::Graph`] if there are too many or too few.
    pub fn check_present<T>(&self, inputs: &[Option<T>]) -> Result<()> {
        self.check_count(inputs.len())?;
        for (index, param) in self.inputs.iter().enumerate() {
            let least = if let Arity::Many { least, .. } = param.arity { least } else { 1 };
            let missing =
                inputs.iter().skip(index).take(least).filter(|input| input.is_some()).count() < least;
            if missing && param.arity != Arity::Optional {
                return Err(errors::missing(self.input_label(index)));
            }
        }
        Ok(())
    }

    /// Checks number and types of inputs.
    ///
    /// # Errors
    /// [`Kind::Graph`] if there are too many or too few, [`Kind::Type`] if one is of a type that is
    /// not admitted or that differs from another that must be of the same.
    pub fn check_inputs<T: Typed>(&self, inputs: &[Option<&T>]) -> Result<()> {
        self.check_present(inputs)?;
        let mut bound: Vec<(&str, usize, ValueType)> = Vec::new();
        for (index, value) in inputs.iter().enumerate() {
            let (Some(value), Some(param)) = (value, Signature::param(self.inputs, index)) else { continue };
            let given = value.value_type();
            if !param.types.admits(&given) {
                return Err(self.not_admitted(index, param, &given, Kind::Type));
            }
            if param.variable.is_empty() || matches!(param.arity, Arity::Many { alike: false, .. }) {
                continue;
            }
            let same = bound.iter().find(|(variable, ..)| *variable == param.variable);
            match same {
                None if given == ValueType::Unknown => {}
                None => bound.push((param.variable, index, given)),
                Some((_, first, other)) if other.contradicts(&given) => {
                    let (label, first) = (self.input_label(index), self.input_label(*first));
                    let wanted = format!("{other} as {first}");
                    return Err(Error::mismatch(Kind::Type, label, given, wanted));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn check_count(&self, count: usize) -> Result<()> {
        let open = self.inputs.last().is_some_and(|last| matches!(last.arity, Arity::Many { .. }));
        if count > self.inputs.len() && !open {
            let most = self.inputs.len();
            let wanted = format_args!("at most {most}");
            return Err(Error::mismatch(Kind::Graph, "number of inputs", count, wanted));
        }
        Ok(())
    }

    /// An error: the type of an input is none that the signature admits.
    #[cold]
    pub fn not_admitted(&self, index: usize, param: &Param, given: impl fmt::Display, kind: Kind) -> Error {
        let label = self.input_label(index);
        let admitted = param.types;
        let wanted = format!("one of the types of {}-{}: {admitted}", self.name, self.since);
        Error::mismatch(kind, label, given, wanted)
    }
}

/// The signatures of all versions of an ONNX operator, the oldest first; none if there is no such
/// operator.
pub fn onnx_versions(domain: &str, name: &str) -> &'static [Signature] {
    static INDEX: LazyLock<VersionIndex> = LazyLock::new(|| index(onnx::SIGNATURES));
    INDEX.get(&(domain, name)).copied().unwrap_or_default()
}

/// The signature of an operator of ONNX Runtime's domain `com.microsoft`; none if the generated
/// table has no such operator.
pub fn microsoft_versions(name: &str) -> &'static [Signature] {
    let all = microsoft::SIGNATURES;
    all.binary_search_by(|s| s.name.cmp(name)).map_or(&[], |at| std::slice::from_ref(&all[at]))
}

/// The names of the operators of OpenVINO; those of several versions are there as often.
pub fn openvino_operators() -> impl Iterator<Item = &'static str> {
    openvino::SIGNATURES.iter().map(|signature| signature.name)
}

/// The signatures of all versions of an OpenVINO operator, the oldest first; none if there is no
/// such operator.
pub fn openvino_versions(name: &str) -> &'static [Signature] {
    static INDEX: LazyLock<VersionIndex> = LazyLock::new(|| index(openvino::SIGNATURES));
    INDEX.get(&("", name)).copied().unwrap_or_default()
}

pub use runtimes::{NEWEST_OPSET as NEWEST_RUN, ONNXRUNTIME, OPENVINO};

/// An operator of ONNX as another program runs it, from a version on.
#[derive(Clone, Copy, Debug)]
pub struct RuntimeOperator {
    pub domain: &'static str,
    pub name: &'static str,
    pub since: i64,
    /// The types that are run together: those that each type variable may stand for, which is any
    /// type of its signature if it is not among them. The program runs none of the operator if this
    /// is empty.
    pub rows: &'static [&'static [(&'static str, DTypeSet)]],
}

/// An operator of another program, for tables.
const fn runtime_operator(
    domain: &'static str,
    name: &'static str,
    since: i64,
    rows: &'static [&'static [(&'static str, DTypeSet)]],
) -> RuntimeOperator {
    RuntimeOperator { domain, name, since, rows }
}

/// The versions of operators by domain and name.
type VersionIndex = HashMap<(&'static str, &'static str), &'static [Signature]>;

/// The versions of each operator in a sorted table: models ask for them node by node.
fn index(table: &'static [Signature]) -> VersionIndex {
    let key = |signature: &Signature| (signature.domain, signature.name);
    table.chunk_by(|a, b| key(a) == key(b)).map(|versions| (key(&versions[0]), versions)).collect()
}

/// Domain and name of every ONNX operator, in order.
pub fn onnx_operators() -> impl Iterator<Item = (&'static str, &'static str)> {
    let all = onnx::SIGNATURES.iter().map(|signature| (signature.domain, signature.name));
    let mut last = None;
    all.filter(move |key| last.replace(*key) != Some(*key))
}

/// The signature of exactly that version of an ONNX operator.
pub fn onnx_signature(domain: &str, name: &str, since: i64) -> Option<&'static Signature> {
    onnx_versions(domain, name).iter().find(|signature| signature.since == since)
}

/// The newest of some versions, the oldest first, that an operator set has.
pub fn in_set(versions: &'static [Signature], set: i64) -> Option<&'static Signature> {
    versions.iter().rfind(|signature| signature.since <= set)
}

#[cfg(test)]
mod tests {
    use gradus_core::Tensor;

    use super::*;

    #[test]
    fn the_table_is_sorted_so_that_operators_are_found() {
        assert!(onnx::SIGNATURES.is_sorted_by_key(|s| (s.domain, s.name, s.since)));
        for table in [ONNXRUNTIME, OPENVINO] {
            assert!(table.is_sorted_by_key(|o| (o.domain, o.name, o.since)));
        }
        let since: Vec<_> = onnx_versions("", "Shape").iter().map(|s| s.since).collect();
        assert_eq!(since, [1, 13, 15, 19, 21, 23, 24, 25]);
        assert_eq!(onnx_signature("", "Range", 27).unwrap().attributes[0].name, "stash_type");
        assert!(onnx_versions("", "NoSuch").is_empty());
    }

    #[test]
    fn inputs_are_checked_against_the_text() {
        let range = onnx_signature("", "Range", 11).unwrap();
        let (int, long, byte) = (
            Value::from(Tensor::scalar(1i32)),
            Value::from(Tensor::scalar(1i64)),
            Value::from(Tensor::scalar(1i8)),
        );
        let message =
            |inputs: &[Option<&Value>]| range.check_inputs(inputs).unwrap_err().message().to_owned();
        assert!(range.check_inputs(&[Some(&int), Some(&int), Some(&int)]).is_ok());
        assert_eq!(
            message(&[Some(&long), Some(&long), Some(&int)]),
            "input 2 \"delta\" is int32, expected int64 as input 0 \"start\"",
        );
        assert_eq!(
            message(&[Some(&byte), Some(&byte), Some(&byte)]),
            "input 0 \"start\" is int8, expected one of the types of Range-11: int16, int32, int64, float32, float64",
        );
        assert_eq!(message(&[Some(&int), Some(&int)]), "input 2 \"delta\" is missing");
        assert_eq!(message(&[Some(&int), None, Some(&int)]), "input 1 \"limit\" is missing");
        assert_eq!(message(&[Some(&int); 4]), "number of inputs is 4, expected at most 3");
    }

    #[test]
    fn repeated_inputs_may_differ_only_where_the_text_says_so() {
        let (int, float) = (Value::from(Tensor::scalar(1i32)), Value::from(Tensor::scalar(1f32)));
        let check =
            |name, since| onnx_signature("", name, since).unwrap().check_inputs(&[Some(&int), Some(&float)]);
        assert!(check("Max", 13).is_err());
        assert!(onnx_signature("", "SequenceConstruct", 11).unwrap().check_inputs::<Value>(&[]).is_err());
    }

    #[test]
    fn the_types_of_openvino_are_those_that_it_admits() {
        let values = [
            Value::from(Tensor::scalar(1f32)),
            Value::from(Tensor::scalar(1f64)),
            Value::from(Tensor::scalar(1i64)),
            Value::from(Tensor::scalar(gradus_core::element::Bool::from(true))),
        ];
        let [float, double, long, flag] = values.each_ref().map(Some);
        let check = |name, inputs: &[Option<&Value>]| {
            openvino_versions(name).last().is_some_and(|newest| newest.check_inputs(inputs).is_ok())
        };
        assert!(check("MatMul", &[double, double]) && !check("MatMul", &[float, double]));
        assert!(check("Concat", &[long, long, long]) && !check("Concat", &[long, long, float]));
        assert!(check("ReduceLogicalOr", &[flag, long]) && !check("ReduceLogicalOr", &[float, long]));
        assert!(check("Gather", &[flag, long, long]) && !check("Gather", &[flag, float, long]));
        assert!(check("Select", &[flag, float, float]) && !check("Select", &[long, float, float]));
        // Each of the three inputs of Range may have a type of its own.
        assert!(check("Range", &[float, long, double]));
    }
}
