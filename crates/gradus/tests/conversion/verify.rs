//! Verification of what a model was converted to.

use std::time::Duration;

use gradus::check::{CheckOptions, VerifyOptions};
use gradus::conversion::{ConvertOptions, Converted};
use gradus::graph::{Content, Standard};
use gradus::infer::InputFact;
use gradus::{DType, Kind, Model, Tensor};

use crate::common::sketch::{Sketch, tensor_type};

/// A product, and a function that programs round otherwise of another.
fn model(exact: f32, rounded: f32) -> Model {
    Sketch::of("x: float32[n, 4]")
        .constant("a", Tensor::scalar(exact))
        .constant("b", Tensor::scalar(rounded))
        .text(
            "y = Mul(x, a); c = Mul(x, b); z = Exp(c); return y: float32[n, 4];
             return z: float32[n, 4]",
        )
        .model()
}

fn converted(model: &Model) -> Converted {
    model.convert(Standard::OpenVino, &ConvertOptions::default()).unwrap()
}

/// Names that inputs declare in expressions alone are drawn too, as `past` of `past + 1`.
#[test]
fn sizes_of_expressions_are_drawn() {
    for size in ["past + 1", "2*half", "seq - len", "n % 2"] {
        let sketch = Sketch::new().input("x", DType::F32, &[size, "3"]).text("y = Exp(x)");
        let model = sketch.output("y", DType::F32, &[size, "3"]).model();
        let mut options = CheckOptions::default();
        options.proof = Duration::ZERO;
        let check = model.check(&model, &options).unwrap_or_else(|error| panic!("{size}: {error}"));
        assert!(check.runs > 0 && check.is_same(), "{size}");
        let verified = model.verify_converted(&converted(&model), &VerifyOptions::default()).unwrap();
        assert!(verified.runs > 2, "{size}: {verified:?}");
    }
}

#[test]
fn outputs_of_exact_nodes_must_be_the_same_bits() {
    let first = model(0.5, 0.25);
    let verify = |other: &Model| first.verify_converted(&converted(other), &VerifyOptions::default());
    let same = verify(&first).unwrap();
    assert_eq!((same.runs, same.inexact, same.refused), (6, 1, None));
    assert_eq!(same.sizes, ["1", "unequal", "equal", "n = 0", "1 to 39"]);
    assert!(same.elements > 50);
    // A function that is rounded may be anything, as far as the report says.
    assert_eq!(verify(&model(0.5, 0.75)).unwrap().inexact, 1);
    let error = verify(&model(0.75, 0.25)).unwrap_err().to_string();
    assert!(error.starts_with("converted output \"y\" at element 0 is "), "{error}");
}

#[test]
fn shapes_that_sizes_decide_are_compared_of_rounded_outputs() {
    let joined = |count: usize| {
        let sketch = Sketch::of("x: float32[n, 4]; a = Exp(x)");
        let axis = vec![("axis", Content::Int(0))];
        let sketch = sketch.with("Concat", &vec!["a"; count], &["y"], axis);
        sketch.text("return y: float32[, 4]").model()
    };
    let verify = |count| joined(2).verify_converted(&converted(&joined(count)), &VerifyOptions::default());
    assert_eq!(verify(2).unwrap().inexact, 1);
    let error = verify(3).unwrap_err().to_string();
    assert!(error.contains("output \"y\" is float32[3, 4], expected float32[2, 4]"), "{error}");
}

/// The condition of the loop depends on no size, and its outputs may have other shapes if it does
/// not run.
#[test]
fn edge_cases_are_no_differences() {
    let body = Sketch::nested()
        .text(
            "i: int64[]; c: bool[]; c2 = Identity(c); each = Identity(x); return c2: bool[];
             return each: float32[n, 4]",
        )
        .graph();
    let model = Sketch::of("x: float32[n, 4]; first = [0]; s = Shape(x); length = Gather(s, first)")
        .with("Loop", &["length", ""], &["y"], vec![("body", body)])
        .text("return y: float32[n, n, 4]")
        .model();
    let found = model.verify_converted(&converted(&model), &VerifyOptions::default()).unwrap();
    assert!(found.runs > 0 && found.inexact == 1 && found.refused.is_none(), "{found:?}");
}

#[test]
fn a_model_that_does_not_run_is_not_compared() {
    let drawn = Sketch::of("y = RandomUniform(shape=[2]); return y: float32[2]").model();
    let found = drawn.verify_converted(&converted(&drawn), &VerifyOptions::default()).unwrap();
    assert_eq!(found.refused.as_deref(), Some("the model draws numbers at random"));
    let refused =
        Sketch::of("x: float32[n, 4]; at = [9]; y = Gather(x, at); return y: float32[1, 4]").model();
    let mut options = VerifyOptions::default();
    options.sizes.dims.insert("n".to_owned(), 3);
    let found = refused.verify_converted(&converted(&refused), &options).unwrap();
    assert!(found.runs == 0 && found.refused.is_some(), "{found:?}");
}

/// Shapes that are given take the place of those that the model declares, in the converted model
/// and in the runs that verify it.
#[test]
fn given_shapes_are_converted_and_verified() {
    let model = Sketch::of("x: float32[1, 3, 4]; y = Relu(x)");
    let model = model.text("return y: float32[1, 3, 4]").model();
    let mut options = ConvertOptions::default();
    options.sizes.inputs.insert("x".to_owned(), InputFact::Type(tensor_type(DType::F32, &["2", "3", "7"])));
    let converted = model.convert(Standard::OpenVino, &options).unwrap();
    for value in ["x", "y"] {
        let id = converted.model.value(value).unwrap();
        let declared = converted.model.graph().value(id).declared.as_ref().map(ToString::to_string);
        assert_eq!(declared.as_deref(), Some("float32[2, 3, 7]"));
    }
    let mut given = VerifyOptions::default();
    given.sizes.clone_from(&options.sizes);
    let found = model.verify_converted(&converted, &given).unwrap();
    assert!(found.runs == 2 && found.refused.is_none(), "{found:?}");
    let mut check = CheckOptions::default();
    check.sizes.clone_from(&options.sizes);
    assert!(model.check(&converted.model, &check).unwrap().is_same());

    let value = Tensor::vector(&[1f32]).into();
    options.sizes.inputs.insert("x".to_owned(), InputFact::Value(value));
    let error = model.convert(Standard::OpenVino, &options).unwrap_err();
    assert_eq!(error.kind(), Kind::Usage);
    assert_eq!(error.to_string(), "cannot convert: input \"x\" is a value, expected a type");
}

/// Sizes of 0 are no runs where a range excludes them.
#[test]
fn empty_sizes_are_not_verified_outside_a_range() {
    let model = model(2.0, 0.1);
    let sizes = |range| {
        let mut given = VerifyOptions::default();
        given.sizes.assume.ranges.insert("n".to_owned(), range);
        model.verify_converted(&converted(&model), &given).unwrap().sizes
    };
    assert!(sizes((0, Some(4))).contains(&"n = 0".to_owned()));
    assert!(!sizes((1, Some(4))).contains(&"n = 0".to_owned()));
}

/// Conditions decide sizes after they were drawn: what is reported are the sizes of the runs.
#[test]
fn sizes_that_conditions_change_are_reported_as_they_were_run() {
    let sizes = |conditions: &[&str]| {
        let model = Sketch::of(
            "x: float32[n, 4]; z: float32[s, 4]; y = Neg(x); w = Neg(z);
             return y: float32[n, 4]; return w: float32[s, 4]",
        )
        .model();
        let mut given = VerifyOptions::default();
        given.sizes.assume.conditions = conditions.iter().map(|text| (*text).to_owned()).collect();
        model.verify_converted(&converted(&model), &given).unwrap().sizes
    };
    assert_eq!(sizes(&[]), ["1", "unequal", "equal", "n = 0", "s = 0", "n = 1", "s = 1", "1 to 39"]);
    let tied = sizes(&["s == n + 1"]);
    for absent in ["1", "equal", "s = 0"] {
        assert!(!tied.iter().any(|size| size == absent), "{tied:?}");
    }
    assert!(tied.contains(&"n = 1, s = 2".to_owned()), "{tied:?}");
}

/// Sizes and elements of random inputs meet the conditions of the model: multiples, sizes of two
/// inputs that must go together, rows of a table, a number that chooses a branch.
#[test]
fn random_inputs_meet_the_conditions_of_the_model() {
    let squeezed = |axis: i64| {
        let ints = Sketch::nested().ints("axes", &[axis]);
        ints.node("Unsqueeze", &["x", "axes"], &["z"]).output("z", DType::F32, &[""]).graph()
    };
    let rates = |number: i64, otherwise: Content| {
        let sketch = Sketch::nested().constant("rate", Tensor::scalar(number));
        let branches = vec![("then_branch", squeezed(0)), ("else_branch", otherwise)];
        let sketch = sketch.node("Equal", &["sr", "rate"], &["is"]).with("If", &["is"], &["w"], branches);
        sketch.output("w", DType::F32, &[""]).graph()
    };
    let shape = gradus::Shape::new([40, 2]).unwrap();
    let branches = vec![("then_branch", squeezed(0)), ("else_branch", rates(8000, squeezed(9)))];
    let model = Sketch::of(
        "x: float32[h, w]; a: float32[n, k]; b: float32[l, m]; past: float32[past, 4];
         mask: float32[total, 4]; ids: int64[seq]; sr: int64[]",
    )
    .constant("table", Tensor::zeros(DType::F32, shape).unwrap())
    .text("rate = 16000")
    .constant("row", Tensor::zeros(DType::F32, gradus::Shape::new([1, 4]).unwrap()).unwrap())
    .text(
        "blocks = [-1, 32, 7]; v = Reshape(x, blocks); p = MatMul(a, b);
         all = Concat(past, row, axis=0); q = Mul(all, mask); e = Gather(table, ids);
         is = Equal(sr, rate)",
    )
    .with("If", &["is"], &["c"], branches)
    .text(
        "return v: float32[?, ?, ?]; return p: float32[?, ?]; return q: float32[?, ?];
         return e: float32[?, ?]; return c: float32[?, ?, ?]",
    )
    .model();
    let mut options = CheckOptions::default();
    (options.runs, options.proof) = (12, Duration::ZERO);
    let check = model.check(&model, &options).unwrap();
    assert_eq!((check.runs, check.is_same()), (12, true));
}
