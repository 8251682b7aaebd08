//! Every row of the table, run: inference and evaluation agree, and types are what the text says.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use gradus::convert::{FromNumber, Rules};
use gradus::element::Bool;
use gradus::graph::{self, Builder, Content, DeclaredDim, Graph, Origin, Standard, Type};
use gradus::infer::{InferOptions, Inference, InputFact};
use gradus::operators::{self, Row};
use gradus::schema::{Param, Signature};
use gradus::{
    DType, Dim, Error, Fact, Kind, Limits, Model, Number, OpenOptions, Outputs, Result, RunOptions, Shape,
    Tensor, Value,
};
use proptest::prelude::*;

use crate::common::one::One;

/// A model of one node.
struct OneNode {
    standard: Standard,
    operator: &'static str,
    version: i64,
    inputs: Vec<Option<Value>>,
    attributes: Vec<(&'static str, Content)>,
}

impl OneNode {
    fn model(&self) -> Model {
        self.built().0
    }

    fn given(&self) -> HashMap<String, Value> {
        self.built().1
    }

    fn built(&self) -> (Model, HashMap<String, Value>) {
        let one = One::of(self.standard, self.operator, self.version).undeclared();
        let one = one.values(self.inputs.iter().cloned());
        let attributes = self.attributes.iter().cloned();
        attributes.fold(one, |one, (name, content)| one.attribute(name, content)).model()
    }

    fn run(&self) -> Result<Value> {
        self.run_with(&RunOptions::default())
    }

    fn run_with(&self, options: &RunOptions) -> Result<Value> {
        Ok(self.model().compile(&[], options)?.run(self.given())?[0].clone())
    }

    /// Infers the output from what is given of the inputs.
    fn inferred(&self, given: BTreeMap<String, InputFact>) -> (Inference, Fact) {
        let mut options = InferOptions::default();
        options.sizes.inputs = given;
        let model = self.model();
        let inference = model.infer(&options).unwrap();
        let fact = inference.fact(model.graph().outputs()[0]).clone();
        (inference, fact)
    }

    /// Runs, and checks that what can be inferred holds, from facts that say all and from facts
    /// that say less.
    fn check(&self) -> Result<Value> {
        let value = self.run()?;
        let given = self.given();
        let less = |keep: fn(&Shape) -> Option<Vec<DeclaredDim>>| {
            let forget = |value: &Value| match value {
                Value::Tensor(tensor) => {
                    InputFact::Type(Type::Tensor(Some(tensor.dtype()), keep(tensor.shape())))
                }
                other => InputFact::Value(other.clone()),
            };
            given.iter().map(|(name, value)| (name.clone(), forget(value))).collect::<BTreeMap<_, _>>()
        };
        let everything = given.iter().map(|(name, value)| (name.clone(), InputFact::Value(value.clone())));
        let shapes = || less(|shape| Some(shape.dims().iter().map(|&len| DeclaredDim::Known(len)).collect()));
        let ranks = less(|shape| Some(vec![DeclaredDim::Unknown; shape.rank()]));
        let types = less(|_| None);
        for given in [everything.collect(), shapes(), ranks, types] {
            let from = format!("{given:?}");
            let (inference, fact) = self.inferred(given);
            assert_eq!(inference.problems(), [], "{} {}: from {from}", self.operator, self.version);
            assert!(
                self.holds(&inference, &fact, &value),
                "{} {}: inferred {fact:?} from {from}, but it is {value:?}",
                self.operator,
                self.version
            );
        }
        let (_, fact) = self.inferred(shapes());
        if !matches!(self.operator, "Range" | "Loop")
            && let (Value::Tensor(tensor), Fact::Tensor(fact)) = (&value, &fact)
        {
            assert_eq!(
                fact.shape().as_ref(),
                Some(tensor.shape()),
                "{}: shapes give the shape",
                self.operator
            );
        }
        Ok(value)
    }

    /// Returns true if a value is as the fact says, where dimensions of inputs that were left open
    /// are what they are.
    fn holds(&self, inference: &Inference, fact: &Fact, value: &Value) -> bool {
        let size = |name: &str| {
            let (input, axis) = name.rsplit_once('_')?;
            let given = self.given();
            let Value::Tensor(tensor) = given.get(input)? else { return None };
            i64::try_from(*tensor.shape().dims().get(axis.parse::<usize>().ok()?)?).ok()
        };
        match (fact, value) {
            (Fact::Tensor(fact), Value::Tensor(tensor)) => {
                let is = |dim: Dim, len: usize| {
                    inference
                        .symbols()
                        .evaluate(dim, &size)
                        .is_none_or(|known| usize::try_from(known) == Ok(len))
                };
                fact.dtype.is_none_or(|dtype| dtype == tensor.dtype())
                    && fact.tensor().is_none_or(|elements| elements == *tensor)
                    && fact.dims.as_ref().is_none_or(|dims| {
                        dims.len() == tensor.shape().rank()
                            && dims.iter().zip(tensor.shape().dims()).all(|(dim, len)| is(*dim, *len))
                    })
            }
            (Fact::Sequence(list), Value::Sequence(values)) => {
                values.iter().all(|value| self.holds(inference, &list.each, value))
            }
            (Fact::Optional(optional), Value::Optional(value)) => {
                value.as_ref().is_none_or(|value| self.holds(inference, &optional.value, value))
            }
            (Fact::Unknown, _) => true,
            _ => false,
        }
    }
}

fn tensor(dtype: DType, dims: &[usize], seed: i128) -> Tensor {
    let shape = Shape::new(dims).unwrap();
    if dtype == DType::String {
        let texts = (0..shape.len()).map(|i| i.to_string().into()).collect();
        return Tensor::from_text(shape, texts).unwrap();
    }
    // Small, and not zero in any type: also what is divided by.
    let numbers = (0..shape.len()).map(|i| Number::Int((seed + i128::try_from(i).unwrap()) % 2 * 2 + 1));
    Tensor::from_numbers(dtype, shape, numbers, Rules::IEEE).unwrap()
}

fn scalar(dtype: DType, number: i128) -> Value {
    Tensor::from_numbers(dtype, Shape::SCALAR, [Number::Int(number)], Rules::IEEE).unwrap().into()
}

/// Cases that run a version of an operator with each type that it takes. Operators whose inputs and
/// attributes differ too much for one table have none here: upstream's node tests hold them
/// (conformance/), their evaluation against the references and their inference against both.
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn cases(standard: Standard, signature: &'static Signature) -> Vec<OneNode> {
    let (operator, version) = (signature.name, signature.since);
    let one = |inputs: Vec<Value>, attributes| OneNode {
        standard,
        operator,
        version,
        inputs: inputs.into_iter().map(Some).collect(),
        attributes,
    };
    let first = |signature: &'static Signature| {
        signature.inputs.first().into_iter().flat_map(|p: &Param| p.types.tensor.iter())
    };
    let dims: &[&[usize]] = &[&[2, 3], &[0, 2], &[]];
    let each = |make: &dyn Fn(DType, &[usize]) -> OneNode| {
        first(signature)
            .flat_map(|dtype| dims.iter().map(move |dims| (dtype, *dims)))
            .map(|(dtype, dims)| make(dtype, dims))
            .collect()
    };
    match operator {
        "BitShift" => each(&|dtype, dims| {
            let both = vec![tensor(dtype, dims, 0).into(), tensor(dtype, dims, 1).into()];
            one(both, vec![("direction", Content::Bytes("LEFT".into()))])
        }),
        "Add" | "Sub" | "Mul" | "Div" | "Pow" | "Mod" | "BitwiseAnd" | "BitwiseOr" | "BitwiseXor" | "And"
        | "Or" | "Xor" | "Equal" | "Less" | "LessOrEqual" | "Greater" | "GreaterOrEqual" | "Min" | "Max"
        | "Sum" => each(&|dtype, dims| {
            // An exponent may be of another type.
            let types = signature.inputs.get(1).map_or(signature.inputs[0].types, |input| input.types).tensor;
            let second = if types.contains(dtype) { dtype } else { DType::F32 };
            // Floats have the remainders of truncated quotients alone before set 28.
            let truncates = operator == "Mod" && dtype.is_float();
            let attributes = if truncates { vec![("fmod", Content::Int(1))] } else { vec![] };
            one(vec![tensor(dtype, dims, 0).into(), tensor(second, dims, 1).into()], attributes)
        }),
        "Abs" | "Acos" | "Acosh" | "Asin" | "Asinh" | "Atan" | "Atanh" | "BitwiseNot" | "Cos" | "Cosh"
        | "Erf" | "Exp" | "Floor" | "IsInf" | "IsNaN" | "Log" | "Neg" | "Not" | "Reciprocal" | "Round"
        | "Celu" | "Elu" | "Gelu" | "HardSigmoid" | "HardSwish" | "LeakyRelu" | "Mish" | "Selu"
        | "Shrink" | "Softsign" | "Swish" | "ThresholdedRelu" | "Sigmoid" | "Sign" | "Sin" | "Sinh"
        | "Softplus" | "Sqrt" | "Tan" | "Tanh" | "Ceil" | "Relu" | "Identity" | "Shape" | "ShapeOf"
        | "Size" => each(&|dtype, dims| one(vec![tensor(dtype, dims, 0).into()], vec![])),
        "Cast" => {
            let targets: Vec<_> = signature.outputs[0].types.tensor.iter().collect();
            let to = |dtype: DType| {
                let number = gradus::formats::onnx::number_of(dtype).unwrap();
                if version == 1 {
                    Content::Bytes(dtype.name().to_uppercase().into())
                } else {
                    Content::Int(number)
                }
            };
            let pairs = first(signature).flat_map(|from| targets.iter().map(move |&to| (from, to)));
            pairs
                .map(|(from, target)| one(vec![tensor(from, &[2, 2], 0).into()], vec![("to", to(target))]))
                .collect()
        }
        "Constant" => {
            let mut all: Vec<_> = signature.outputs[0]
                .types
                .tensor
                .iter()
                .map(|dtype| one(vec![], vec![("value", Content::Tensor(tensor(dtype, &[2], 0).into()))]))
                .collect();
            if version >= 12 {
                let more = [
                    ("value_int", Content::Int(7)),
                    ("value_ints", Content::Ints([1, 2].into())),
                    ("value_float", Content::Float(1.5)),
                    ("value_floats", Content::Floats([1.5].into())),
                    ("value_string", Content::Bytes("a".into())),
                    ("value_strings", Content::Strings(["a".into(), "b".into()].into())),
                ];
                all.extend(more.into_iter().map(|attribute| one(vec![], vec![attribute])));
            }
            all
        }
        "Range" => {
            let output = |dtype: DType| {
                if version == 4 && standard == Standard::OpenVino {
                    vec![("output_type", Content::Text(dtype.short_name().into()))]
                } else {
                    vec![]
                }
            };
            let of = |dtype| one([0, 2, 1].map(|n| scalar(dtype, n)).to_vec(), output(dtype));
            // Types that cannot hold 0, 1 and 2 have no such range.
            let holds = |dtype: &DType| {
                [0, 1, 2].iter().all(|&n| {
                    scalar(*dtype, n).tensor().unwrap().only_number().is_ok_and(|x| {
                        gradus::convert::nearest_f64(x) == gradus::convert::nearest_f64(Number::Int(n))
                    })
                })
            };
            first(signature).filter(holds).map(of).collect()
        }
        "Loop" => first(signature)
            .map(|dtype| {
                let mut body = Builder::nested("body");
                for key in ["i", "condition", "x"] {
                    body.define(key, Origin::Input).unwrap();
                }
                body.apply("", "Identity", version, &["condition"], &["condition_out"], vec![]).unwrap();
                body.apply("", "Identity", version, &["x"], &["x_out"], vec![]).unwrap();
                body.apply("", "Identity", version, &["x"], &["scan"], vec![]).unwrap();
                for key in ["condition_out", "x_out", "scan"] {
                    body.output(key);
                }
                let body = Content::Graph(Arc::new(body.finish().unwrap()));
                one(
                    vec![
                        scalar(DType::I64, 3),
                        Value::from(Tensor::scalar(Bool::from(true))),
                        tensor(dtype, &[2], 0).into(),
                    ],
                    vec![("body", body)],
                )
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// The rows that have cases here. Those that the table of OpenVINO's operators makes are held by
/// recorded models (tests/conformance/), those of Paddle by recorded programs
/// (tests/models/paddle.rs).
fn rows() -> impl Iterator<Item = &'static Row> {
    let here = |row: &&Row| match row.standard {
        // Operators of ONNX Runtime are run by models of its optimiser.
        Standard::Onnx => row.domain != "com.microsoft",
        Standard::OpenVino => ["Range", "ShapeOf"].contains(&row.name),
        Standard::Paddle => false,
    };
    operators::all().filter(|row| row.is_evaluated()).filter(here)
}

#[test]
fn inference_and_evaluation_agree_for_every_row_and_type() {
    let mut run = 0;
    for row in rows() {
        for signature in row.signatures() {
            for case in cases(row.standard, signature) {
                case.check().unwrap_or_else(|error| {
                    panic!("{} {} of {:?}: {error}", case.operator, case.version, case.inputs)
                });
                run += 1;
            }
        }
    }
    assert!(run > 3000, "{run} cases");
}

#[test]
fn types_that_the_text_does_not_list_are_refused() {
    for row in rows() {
        for signature in row.signatures() {
            let cases = cases(row.standard, signature);
            let Some(case) = cases.first().filter(|case| !matches!(case.operator, "Constant" | "Loop"))
            else {
                continue;
            };
            let admitted = signature.inputs[0].types.tensor;
            for &dtype in DType::ALL.iter().filter(|&&dtype| !admitted.contains(dtype)) {
                let inputs = signature.inputs.iter().map(|_| Some(Value::from(tensor(dtype, &[], 0))));
                let attributes = case.attributes.clone();
                let case = OneNode {
                    standard: row.standard,
                    operator: signature.name,
                    version: signature.since,
                    inputs: inputs.collect(),
                    attributes,
                };
                let error = case.run().unwrap_err();
                assert_eq!(
                    error.kind(),
                    Kind::Type,
                    "{} {} {dtype}: {error}",
                    signature.name,
                    signature.since
                );
                let wanted = format!(
                    "is {dtype}, expected one of the types of {}-{}: ",
                    signature.name, signature.since
                );
                assert!(error.message().contains(&wanted), "{error}");
            }
        }
    }
}

fn onnx(operator: &'static str, version: i64, inputs: Vec<Value>) -> OneNode {
    OneNode {
        standard: Standard::Onnx,
        operator,
        version,
        inputs: inputs.into_iter().map(Some).collect(),
        attributes: vec![],
    }
}

fn elements<T: FromNumber>(value: &Value) -> Vec<T> {
    value.tensor().unwrap().elements::<T>().unwrap().to_vec()
}

fn openvino_range(inputs: [Value; 3], output_type: &str) -> OneNode {
    let attributes = vec![("output_type", Content::Text(output_type.into()))];
    OneNode {
        standard: Standard::OpenVino,
        operator: "Range",
        version: 4,
        inputs: inputs.map(Some).to_vec(),
        attributes,
    }
}

/// The examples of the five texts. The Japanese text of Range-4 gives 3 as the step of its second
/// example, where its result (and the English text) has -3; by its own rules a step of 3 gives
/// nothing.
#[test]
fn examples_of_the_texts() {
    let ints = |numbers: [i128; 3]| numbers.map(|n| scalar(DType::I32, n)).to_vec();
    assert_eq!(elements::<i32>(&onnx("Range", 11, ints([3, 9, 3])).check().unwrap()), [3, 6]);
    assert_eq!(elements::<i32>(&onnx("Range", 11, ints([10, 4, -2])).check().unwrap()), [10, 8, 6]);

    let openvino =
        |numbers: [i128; 3]| openvino_range(numbers.map(|n| scalar(DType::I32, n)), "i32").check().unwrap();
    assert_eq!(elements::<i32>(&openvino([2, 23, 3])), [2, 5, 8, 11, 14, 17, 20]);
    assert_eq!(elements::<i32>(&openvino([23, 2, -3])), [23, 20, 17, 14, 11, 8, 5]);
    assert_eq!(elements::<i32>(&openvino([23, 2, 3])), [0; 0]);
    let floats =
        openvino_range([1.0, 2.5, 0.5].map(|x: f32| Tensor::scalar(x).into()), "f32").check().unwrap();
    assert_eq!(elements::<f32>(&floats), [1.0, 1.5, 2.0]);

    let shape = |attributes: Vec<(&'static str, i64)>, version| {
        let attributes = attributes.into_iter().map(|(name, value)| (name, Content::Int(value))).collect();
        let case =
            OneNode { attributes, ..onnx("Shape", version, vec![tensor(DType::F32, &[2, 3, 4], 0).into()]) };
        elements::<i64>(&case.check().unwrap())
    };
    for version in [1, 13, 15, 19, 21, 23, 24, 25] {
        assert_eq!(shape(vec![], version), [2, 3, 4]);
    }
    for version in [15, 19, 21, 23, 24, 25] {
        assert_eq!(shape(vec![("start", -1)], version), [4]);
        assert_eq!(shape(vec![("end", -1)], version), [2, 3]);
        assert_eq!(shape(vec![("start", 1), ("end", 2)], version), [3]);
        assert_eq!(shape(vec![("start", 2), ("end", 1)], version), [0i64; 0]);
        assert_eq!(shape(vec![("start", i64::MIN), ("end", i64::MAX)], version), [2, 3, 4]);
    }
}

#[test]
fn rolls_of_an_axis_that_is_named_again_add_up() {
    let list = |numbers: &[i64]| Value::from(Tensor::vector(numbers));
    let inputs = [list(&[0, 1, 2, 3]), list(&[1, 2]), list(&[0, -1])].map(Some).to_vec();
    let (standard, operator, version) = (Standard::OpenVino, "Roll", 7);
    let node = OneNode { standard, operator, version, inputs, attributes: vec![] };
    assert_eq!(elements::<i64>(&node.check().unwrap()), [1, 2, 3, 0]);
}

#[test]
fn openvino_range_casts_to_the_output_type_first() {
    let floats = |numbers: [f32; 3]| numbers.map(|x| Value::from(Tensor::scalar(x)));
    let run = |inputs, output_type| openvino_range(inputs, output_type).check();
    assert_eq!(elements::<i32>(&run(floats([1.2, 11.3, 1.6]), "i32").unwrap()), (1..11).collect::<Vec<_>>());
    assert_eq!(elements::<i64>(&run(floats([-1.9, 3.9, 1.5]), "i64").unwrap()), [-1, 0, 1, 2]);
    let message = |inputs, output_type| run(inputs, output_type).unwrap_err().message().to_owned();
    assert_eq!(
        message(floats([0.0, 5.0, 0.5]), "i32"),
        "input 2 \"step\" is 0.5, expected a step that is not 0 after the cast to int32"
    );
    assert_eq!(
        message(floats([0.0, 1.0, 1e-8]), "f16"),
        "input 2 \"step\" is 1e-08, expected a step that is not 0 after the cast to float16"
    );
    assert_eq!(
        message(floats([0.0, 5.0, 0.0]), "f32"),
        "input 2 \"step\" is zero, expected a nonzero number"
    );
    assert_eq!(
        message(floats([f32::NAN, 5.0, 1.0]), "i32"),
        "input 0 \"start\" is nan, expected a finite number"
    );
    assert_eq!(
        message(floats([1e30, 2e30, 1.0]), "i32"),
        "input 0 \"start\" is 1.0000000150474662e+30, expected a number in the range of an integer type"
    );
    assert_eq!(
        message(floats([0.0, 5.0, 1.0]), "string"),
        "attribute \"output_type\" is string, expected a numeric type"
    );
    // The three types may differ, and int64 is not rounded on its way to float64.
    let mixed = [
        Value::from(Tensor::scalar((1i64 << 53) + 1)),
        Value::from(Tensor::scalar((1u64 << 53) + 4)),
        Value::from(Tensor::scalar(1i8)),
    ];
    let next = 9_007_199_254_740_992.0;
    assert_eq!(elements::<f64>(&run(mixed.clone(), "f64").unwrap()), [next, next + 2.0, next + 4.0]);
    assert_eq!(elements::<u8>(&run(mixed, "u8").unwrap()), [1, 2, 3]);
    let halves = run(floats([0.0, 1.0, 0.1]), "bf16").unwrap();
    assert_eq!(
        format!("{halves:?}"),
        "Tensor(bfloat16[10] [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])"
    );
}

/// No element is short of the limit by an infinite step.
#[test]
fn ranges_with_an_infinite_step_are_empty() {
    let floats = |of: [f32; 3]| of.map(|x| Value::from(Tensor::scalar(x)));
    for of in [[0.0, 1.0, f32::INFINITY], [1.0, 0.0, f32::INFINITY], [0.0, 1.0, f32::NEG_INFINITY]] {
        assert_eq!(elements::<f32>(&onnx("Range", 11, floats(of).to_vec()).check().unwrap()), [0f32; 0]);
        assert_eq!(elements::<f32>(&openvino_range(floats(of), "f32").run().unwrap()), [0f32; 0]);
        assert!(openvino_range(floats(of), "i32").run().is_err());
    }
    for of in [[0.0, f32::INFINITY, f32::INFINITY], [f32::NAN, 1.0, f32::INFINITY], [0.0, 1.0, f32::NAN]] {
        assert!(onnx("Range", 11, floats(of).to_vec()).run().is_err(), "{of:?}");
    }
}

#[test]
fn scalars_are_of_the_shapes_that_each_standard_takes() {
    let of = |dims: &[usize]| {
        [0, 3, 1].map(|n| {
            let shape = Shape::new(dims).unwrap();
            Value::from(Tensor::from_numbers(DType::I32, shape, [Number::Int(n)], Rules::IEEE).unwrap())
        })
    };
    assert_eq!(elements::<i32>(&onnx("Range", 11, of(&[]).to_vec()).check().unwrap()), [0, 1, 2]);
    assert_eq!(elements::<i32>(&onnx("Range", 11, of(&[1]).to_vec()).check().unwrap()), [0, 1, 2]);
    let error = onnx("Range", 11, of(&[1, 1]).to_vec()).run().unwrap_err();
    assert_eq!(error.message(), "shape of input 0 \"start\" is [1, 1], expected a scalar");
    let error = openvino_range(of(&[1]), "i32").run().unwrap_err();
    assert_eq!(error.message(), "shape of input 0 \"start\" is [1], expected a scalar");
}

#[test]
fn range_by_its_body_counts_in_float32_and_sums_up() {
    let mut expanded = RunOptions::default();
    expanded.expand_functions = true;
    let both = |version, numbers: Vec<Value>| {
        let node = onnx("Range", version, numbers);
        (node.check().unwrap(), node.run_with(&expanded).unwrap())
    };
    // The quotient is 3.0000001 in float64, but 3 in float32.
    let (exact, body) = both(11, [1.0, 1.3, 0.1].map(|x: f64| Tensor::scalar(x).into()).to_vec());
    assert_eq!((elements::<f64>(&exact).len(), elements::<f64>(&body).len()), (4, 3));
    let (exact, body) = both(11, [0, 16_777_217, 16_777_216].map(|n: i32| Tensor::scalar(n).into()).to_vec());
    assert_eq!((elements::<i32>(&exact).len(), elements::<i32>(&body).len()), (2, 1));
    // A running sum stalls where the step is below half an ulp.
    let (exact, body) =
        both(11, [16_777_216.0, 16_777_226.0, 1.0].map(|x: f32| Tensor::scalar(x).into()).to_vec());
    assert_eq!(elements::<f32>(&exact)[2..4], [16_777_218.0, 16_777_220.0]);
    assert_eq!(elements::<f32>(&body), [16_777_216.0; 10]);
    // Version 27 sums float16 in float32, and casts at the end.
    let halves = [0.0, 10.0, 0.1].map(|x: f64| scalar_half(x)).to_vec();
    let (exact, body) = both(27, halves);
    assert_eq!(body.tensor().unwrap().dtype(), DType::F16);
    assert_eq!((exact.tensor().unwrap().len(), body.tensor().unwrap().len()), (101, 101));
    // Zero steps have no elements by the body: the quotient is infinite or NaN, which no integer
    // is.
    let zero = onnx("Range", 11, [0.0, 5.0, 0.0].map(|x: f32| Tensor::scalar(x).into()).to_vec());
    assert!(zero.run().is_err());
    assert_eq!(elements::<f32>(&zero.run_with(&expanded).unwrap()), [0f32; 0]);
}

fn scalar_half(x: f64) -> Value {
    Tensor::from_numbers(DType::F16, Shape::SCALAR, [Number::Float(x)], Rules::IEEE).unwrap().into()
}

#[test]
fn the_body_of_range_11_is_not_valid_for_int16() {
    let node = onnx("Range", 11, [0, 5, 2].map(|n: i16| Tensor::scalar(n).into()).to_vec());
    assert_eq!(elements::<i16>(&node.run().unwrap()), [0, 2, 4]);
    let mut expanded = RunOptions::default();
    expanded.expand_functions = true;
    let error = node.run_with(&expanded).unwrap_err();
    assert!(
        error.to_string().contains("input 0 \"A\" is int16, expected one of the types of Sub-7"),
        "{error}"
    );
}

#[test]
fn a_stash_type_is_checked_by_the_body() {
    let halves = [0.0, 1.0, 0.5].map(scalar_half).to_vec();
    let node = |stash: i64| OneNode {
        attributes: vec![("stash_type", Content::Int(stash))],
        ..onnx("Range", 27, halves.clone())
    };
    let mut expanded = RunOptions::default();
    expanded.expand_functions = true;
    for stash in [1, 11] {
        assert_eq!(node(stash).run_with(&expanded).unwrap().tensor().unwrap().len(), 2);
    }
    let error = node(10).run_with(&expanded).unwrap_err();
    assert_eq!(error.message(), "attribute \"stash_type\" is float16, expected float32 or float64");
}

#[test]
fn attributes_that_the_text_does_not_know_are_refused() {
    let of = |attribute: (&'static str, Content)| OneNode {
        attributes: vec![attribute],
        ..onnx("Shape", 13, vec![scalar(DType::I32, 0)])
    };
    let error = of(("start", Content::Int(1))).run().unwrap_err();
    assert_eq!(error.message(), "unknown attribute \"start\"; Shape has no attributes");
    let wrong = OneNode { version: 15, ..of(("start", Content::Float(1.0))) };
    assert_eq!(wrong.run().unwrap_err().message(), "attribute \"start\" is a float, expected int");
    let missing = onnx("Cast", 13, vec![scalar(DType::I32, 0)]);
    assert_eq!(missing.run().unwrap_err().message(), "attribute \"to\" is missing");
}

#[test]
fn versions_that_do_not_exist_are_refused() {
    let error = onnx("Range", 10, vec![]).run().unwrap_err();
    assert_eq!(error.message(), "cannot use Range: operator set is 10, expected at least 11");
    let error = onnx("ImageDecoder", 20, vec![]).run().unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported);
    assert_eq!(error.message(), "cannot evaluate operator ImageDecoder of onnx");
    let error = onnx("Frobnicate", 11, vec![]).run().unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (Kind::Unsupported, "cannot evaluate operator Frobnicate of onnx")
    );
}

/// A loop whose body adds to `x` what is captured from around, gives `x` as a scan, and goes on
/// while `x` is below 40.
fn loop_model(trips: Option<i64>, condition: Option<bool>) -> Result<Outputs> {
    let mut body = Builder::nested("body");
    for key in ["i", "condition", "x"] {
        body.define(key, Origin::Input)?;
    }
    body.apply("", "Add", 14, &["x", "step"], &["next"], vec![])?;
    // 40 - x, at least 0, as a boolean.
    body.apply("", "Sub", 14, &["forty", "next"], &["left"], vec![])?;
    body.apply("", "Relu", 14, &["left"], &["positive"], vec![])?;
    body.apply("", "Cast", 13, &["positive"], &["go_on"], vec![("to", Content::Int(9))])?;
    body.apply("", "Identity", 16, &["x"], &["scan"], vec![])?;
    for key in ["go_on", "next", "scan"] {
        body.output(key);
    }
    let body = Content::Graph(Arc::new(body.finish()?));
    let mut outer = Builder::new("outer");
    let mut constant = |key: &str, tensor: Tensor| outer.constant(key, tensor.into()).map(|_| ());
    constant("step", Tensor::scalar(10i32))?;
    constant("forty", Tensor::scalar(40i32))?;
    constant("x0", Tensor::scalar(5i32))?;
    if let Some(trips) = trips {
        constant("trips", Tensor::scalar(trips))?;
    }
    if let Some(condition) = condition {
        constant("start", Tensor::scalar(Bool::from(condition)))?;
    }
    let inputs =
        [if trips.is_some() { "trips" } else { "" }, if condition.is_some() { "start" } else { "" }, "x0"];
    outer.apply("loop", "Loop", 16, &inputs, &["x", "scan"], vec![("body", body)])?;
    outer.output("x");
    outer.output("scan");
    let mut model = graph::Model::new(Standard::Onnx);
    model.graph = outer.finish()?;
    let mut limits = Limits::DEFAULT;
    limits.max_steps = 1000;
    OpenOptions::new().limits(limits).from_source(model).run::<&str, Tensor>([])
}

#[test]
fn loops_end_by_trip_count_or_condition() {
    let run = |trips, condition| {
        let outputs = loop_model(trips, condition).unwrap();
        (elements::<i32>(&outputs[0])[0], elements::<i32>(&outputs[1]))
    };
    assert_eq!(run(Some(2), None), (25, vec![5, 15]), "a for loop");
    assert_eq!(run(Some(6), None), (45, vec![5, 15, 25, 35]), "a for loop that the body breaks");
    assert_eq!(run(None, None), (45, vec![5, 15, 25, 35]), "a loop that the body breaks");
    assert_eq!(run(None, Some(true)), (45, vec![5, 15, 25, 35]), "a while loop ends by its condition");
    assert_eq!(run(Some(2), Some(true)), (25, vec![5, 15]), "whichever comes first");
    assert_eq!(run(Some(i64::MAX), Some(true)), (45, vec![5, 15, 25, 35]), "whichever comes first");
    assert_eq!(run(Some(0), Some(true)), (5, vec![]), "no iteration");
    assert_eq!(run(Some(-1), None), (5, vec![]), "no iteration");
    assert_eq!(run(Some(3), Some(false)), (5, vec![]), "no iteration");
}

#[test]
fn sequences_and_optionals_pass_through_identity_since_their_versions() {
    let sequence = Value::Sequence(vec![scalar(DType::F32, 1), scalar(DType::F32, 2)]);
    assert_eq!(onnx("Identity", 14, vec![sequence.clone()]).check().unwrap(), sequence);
    assert!(onnx("Identity", 13, vec![sequence]).run().is_err());
    let optional = Value::Optional(Some(Box::new(scalar(DType::F32, 1))));
    assert_eq!(onnx("Identity", 16, vec![optional.clone()]).check().unwrap(), optional);
    assert!(onnx("Identity", 14, vec![optional]).run().is_err());
}

fn any_dims() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..4usize, 0..4)
}

proptest! {
    #[test]
    fn shapes_are_inferred_as_they_are_computed(a in any_dims(), b in any_dims(), start in -5..5i64, end in prop::option::of(-5..5i64)) {
        let data = Value::from(tensor(DType::I32, &a, 0));
        let mut attributes = vec![("start", Content::Int(start))];
        attributes.extend(end.map(|end| ("end", Content::Int(end))));
        OneNode { attributes, ..onnx("Shape", 15, vec![data.clone()]) }.check().unwrap();
        let sum = onnx("Add", 14, vec![data, Value::from(tensor(DType::I32, &b, 1))]);
        match sum.run() {
            Ok(_) => { sum.check().unwrap(); }
            Err(error) => prop_assert_eq!(error.kind(), Kind::Shape),
        }
    }

    #[test]
    fn what_a_reshape_refuses_is_refused_before_the_run(
        dims in prop::collection::vec(0..5usize, 1..4),
        target in prop::collection::vec(-1..7i64, 1..4),
    ) {
        let case = onnx("Reshape", 14, vec![tensor(DType::F32, &dims, 0).into(), Tensor::vector(&target).into()]);
        let mut given: BTreeMap<_, _> =
            case.given().into_iter().map(|(name, value)| (name, InputFact::Value(value))).collect();
        let sizes = dims.iter().map(|&len| DeclaredDim::Known(len)).collect();
        given.insert("x0".into(), InputFact::Type(Type::Tensor(Some(DType::F32), Some(sizes))));
        let (inference, fact) = case.inferred(given);
        match case.run() {
            Ok(value) => {
                prop_assert_eq!(inference.problems(), []);
                prop_assert_eq!(&fact.as_tensor().unwrap().shape().unwrap(), value.tensor().unwrap().shape());
            }
            Err(error) => {
                prop_assert_eq!(error.kind(), Kind::Shape);
                prop_assert!(!inference.problems().is_empty(), "{}, but inferred {:?}", error, fact);
            }
        }
    }

    #[test]
    fn ranges_are_inferred_as_they_are_computed(numbers in [-100..100i32, -100..100i32, -5..5i32]) {
        let case = onnx("Range", 11, numbers.map(|n| Tensor::scalar(n).into()).to_vec());
        let ran: std::result::Result<Value, Error> = case.run();
        match ran {
            Ok(value) => { prop_assert_eq!(case.check().unwrap(), value); }
            Err(error) => prop_assert!(numbers[2] == 0, "{}", error),
        }
    }
}

#[test]
fn inputs_are_checked_against_what_the_model_declares() {
    let mut builder = Builder::new("declared");
    for (key, sizes) in [("a", vec!["n", "m"]), ("b", vec!["n"])] {
        let id = builder.define(key, Origin::Input).unwrap();
        let sizes = sizes.into_iter().map(|name| DeclaredDim::Symbol(name.into())).collect();
        builder.info(id).declared = Some(Type::Tensor(Some(DType::F32), Some(sizes)));
    }
    builder.apply("add", "Identity", 13, &["a"], &["y"], vec![]).unwrap();
    builder.output("y");
    let graph: Graph = builder.finish().unwrap();
    let mut source = graph::Model::new(Standard::Onnx);
    source.graph = graph;
    let model = Model::from_source(source);
    let run = |inputs: &[(&str, Tensor)]| {
        model.run(inputs.iter().cloned()).map_err(|error| (error.kind(), error.message().to_owned()))
    };
    let f32s = |dims: &[usize]| tensor(DType::F32, dims, 0);
    assert!(run(&[("a", f32s(&[2, 3])), ("b", f32s(&[2]))]).is_ok());
    assert!(run(&[("a", f32s(&[2, 3]))]).is_ok(), "an input that nothing needs may be missing");
    let wrong = |inputs: &[(&str, Tensor)], kind, message: &str| {
        assert_eq!(run(inputs).unwrap_err(), (kind, message.to_owned()));
    };
    wrong(
        &[("a", tensor(DType::I32, &[2, 3], 0))],
        Kind::Type,
        "input \"a\" is int32[2, 3], expected float32[n, m]",
    );
    wrong(&[("a", f32s(&[2]))], Kind::Shape, "input \"a\" is float32[2], expected float32[n, m]");
    // No program holds inputs to the names of their sizes.
    let unequal = HashMap::from([("a", Value::from(f32s(&[2, 3]))), ("b", f32s(&[3]).into())]);
    assert!(model.run(&unequal).is_ok());
    let told = ["size of axis 0 of input \"b\" is 3, expected 2, the size of \"n\" by input \"a\""];
    assert_eq!(model.unequal_sizes(|name| unequal.get(name)), told);
    wrong(&[("c", f32s(&[2]))], Kind::Usage, "unknown input \"c\"; known: \"a\", \"b\"");
    wrong(&[("b", f32s(&[2]))], Kind::Usage, "input \"a\" (float32[n, m]) is missing");
}

/// The results are those of ONNX Runtime, which has RE2.
#[test]
fn regular_expressions_are_those_of_re2() {
    let texts =
        ["über", "a1", "٣", "3", "a b", "a\u{a0}b", "\u{b}", "\t", "a_b", "&", "[b]", "<b>", "a{", "+-"];
    let tensor =
        Tensor::from_text(Shape::vector(texts.len()), texts.iter().map(|&text| text.into()).collect());
    let given = Value::from(tensor.unwrap());
    for (pattern, matched) in [
        (r"\w+", &["a1", "3", "a_b"][..]),
        (r"\W+", &["٣", "\u{b}", "\t", "&", "+-"]),
        (r"\d", &["3"]),
        (r"[^\d]", &["٣", "\u{b}", "\t", "&"]),
        (r"a\sb", &["a b"]),
        (r"[\s\d]", &["3", "\t"]),
        (r"\S+", &["über", "a1", "٣", "3", "a\u{a0}b", "\u{b}", "a_b", "&", "[b]", "<b>", "a{", "+-"]),
        (r"\ba\d\b", &["a1"]),
        (r"\pL+", &["über"]),
        (r"\p{^L}", &["٣", "3", "\u{b}", "\t", "&"]),
        (r"\<b\>", &["<b>"]),
        (r"a{", &["a{"]),
        (r".{,2}|a{,?", &["a{"]),
        (r"\Q[b]\E|\Qa{", &["[b]", "a{"]),
        (r"\13|\46|a\0611?|\x{61}{1}_b", &["a1", "\u{b}", "a_b", "&"]),
        (r"[+--]+", &["+-"]),
        (r"[-&]|[%-&]|[\d-]", &["3", "&"]),
        (r"[[:alpha:][b]+\]", &["[b]"]),
        (r"[a&&b]", &["&"]),
        (r"[]&]", &["&"]),
    ] {
        let attributes = vec![("pattern", Content::Bytes(pattern.to_owned().into()))];
        let (operator, inputs) = ("RegexFullMatch", vec![Some(given.clone())]);
        let node = OneNode { standard: Standard::Onnx, operator, version: 20, inputs, attributes };
        let output = node.run().unwrap();
        let found = output.tensor().unwrap().elements::<Bool>().unwrap();
        let found = texts.iter().zip(found.iter()).filter(|(_, found)| found.is_true());
        let found: Vec<_> = found.map(|(text, _)| *text).collect();
        assert_eq!(found, matched, "{pattern}");
    }
}
