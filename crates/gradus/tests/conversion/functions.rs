//! Models whose nodes call functions of the model, in OpenVINO's operators and in other operator
//! sets: the same results.

use std::path::Path;

use gradus::conversion::ConvertOptions;
use gradus::graph::{self, Content, Function, OperatorId, Standard};
use gradus::{Kind, Limits, Model, Shape, Tensor};

use crate::common::sketch::{Sketch, function};

/// A model of float32 inputs of three rows and any number of columns.
fn model(functions: Vec<Function>, inputs: &[&str], text: &str) -> Model {
    let declare = |sketch: Sketch, input: &&str| sketch.text(&format!("{input}: float32[3, n]"));
    let mut source = inputs.iter().fold(Sketch::new(), declare).text(text).source(20);
    source.functions = functions;
    Model::from_source(source)
}

fn matrix(values: [f32; 6]) -> Tensor {
    Tensor::from_vec(Shape::new([3, 2]).unwrap(), values.to_vec()).unwrap()
}

/// Converts a model to OpenVINO and to operator sets of ONNX; all give what it gives.
fn same_everywhere(model: &Model) {
    let values = [matrix([1.0, -2.0, 3.5, 0.0, -0.25, 8.0]), matrix([2.0, 5.0, -1.0, 0.5, 4.0, -8.0])];
    let names = model.graph().inputs().iter().map(|id| model.graph().value(*id).name.to_string());
    let inputs: Vec<_> = names.zip(values).collect();
    let want = model.run(inputs.clone()).unwrap();
    for (to, opset) in [(Standard::OpenVino, None), (Standard::Onnx, Some(13)), (Standard::Onnx, Some(21))] {
        let mut options = ConvertOptions::default();
        options.opset = opset;
        let converted = model.convert(to, &options).unwrap().model;
        assert!(converted.source().functions.is_empty());
        let got = converted.run(inputs.clone()).unwrap();
        for ((name, want), (other, got)) in want.iter().zip(&got) {
            assert_eq!((name, want), (other, got), "{to} {opset:?}");
        }
    }
}

fn negated() -> Function {
    function("g", &[], "x: ?; y = Neg@13(x); return y")
}

#[test]
fn the_example_with_a_function_is_converted() {
    let model =
        Model::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/function.onnx")).unwrap();
    assert_eq!(model.source().functions.len(), 1);
    for (to, opset) in [(Standard::OpenVino, None), (Standard::Onnx, Some(13))] {
        let mut options = ConvertOptions::default();
        options.opset = opset;
        let converted = model.convert(to, &options).unwrap();
        assert!(converted.model.source().functions.is_empty());
    }
}

#[test]
fn calls_within_calls_keep_their_values_apart() {
    // g negates; f(x) = g(g(x) + x). Both have values of the names of the main graph.
    let f = function("f", &[], "x: ?; y = f.g@1(x); z = Add@14(y, x); w = f.g@1(z); return w");
    let main = "z = f.f@1(x); w = Mul@14(z, y); v = f.f@1(w); f/y = f.g@1(v); return z, v, f/y";
    same_everywhere(&model(vec![f, negated()], &["x", "y"], main));
}

#[test]
fn a_body_of_another_operator_set_means_what_its_set_says() {
    // ReduceSum-8 has its axes as an attribute, Clip-6 its bounds.
    let f = "x: ?; s = ReduceSum@8(x, axes=[0]); y = Clip@8(s, min=0.5, max=4.0); return y";
    let main = "a = Abs@13(x); y = f.f@1(a); z = Relu@14(y); return z";
    same_everywhere(&model(vec![function("f", &[], f)], &["x"], main));
}

#[test]
fn attributes_of_a_call_or_their_defaults_are_those_of_the_body() {
    // f(x, axis = 0, keepdims) reduces; h hands its own attribute on, and leaves the other.
    let reduce = |operator: &str, name: &str| {
        let body = format!("x: ?; y = {operator}@13(x, axis=$axis, keepdims=$keepdims); return y");
        function(name, &[("axis", Some(Content::Int(0))), ("keepdims", None)], &body)
    };
    let h = function("h", &[("keep", None)], "x: ?; y = f.f@1(x, keepdims=$keep); return y");
    let main = "a = f.f@1(x); b = f.f@1(x, axis=1, keepdims=0); c = f.h@1(x, keep=0);
                d = f.f:least@1(x); return a, b, c, d";
    let functions = vec![reduce("ArgMax", "f"), h, reduce("ArgMin", "f:least")];
    same_everywhere(&model(functions, &["x"], main));
}

#[test]
fn outputs_may_be_inputs_and_inputs_may_be_missing() {
    // f(x, low) gives x twice, x clipped, and clipped again under another name of the call.
    let f = function("f", &[], "x: ?; low: ?; y = Clip@13(x, low); return x, y, x, y");
    let main = "zero = 0.0; a, b, c, d = f.f@1(x, zero); , e, g = f.f@1(x); return a, b, c, d, e, g";
    same_everywhere(&model(vec![f], &["x"], main));
}

/// The branches of an If that read the value `z` from outside, and name their own value `y`.
const BRANCHES: &str = "then_branch={y = f.g@1(z); return y}, else_branch={y = Abs@13(z); return y}";

#[test]
fn graphs_within_bodies_read_the_values_of_their_call() {
    let f = format!(
        "y: ?; up: ?; z = Add@14(y, y); chosen = If@16(up, {BRANCHES}); w = Sub@14(chosen, y); return w"
    );
    let main = format!(
        "true = true; down = false; a = f.f@1(x, true); z = f.f@1(a, down);
         chosen = If@16(down, {BRANCHES}); return a, z, chosen"
    );
    same_everywhere(&model(vec![function("f", &[], &f), negated()], &["x"], &main));
}

/// The branches of an If whose outputs are its own value, a value of the graph around, and a
/// constant; with nodes that compute its own value another way.
fn choice(inner: Option<&str>) -> String {
    let branch = |operator: &str| {
        let (inner, own) = inner.map_or((String::new(), "y"), |inner| (format!("{inner};"), "inner"));
        format!("{{c = 3.0; y = {operator}@13(x); {inner} return {own}, x, c}}")
    };
    format!("then_branch={}, else_branch={}", branch("Neg"), branch("Abs"))
}

#[test]
fn the_branch_that_always_runs_takes_the_place_of_its_node() {
    let within = format!("inner, ,  = If@16(no, {})", choice(None));
    let main = format!(
        "yes = true; no = false; a, b, c = If@16(yes, {}); d, e,  = If@16(no, {}); sum = Add@14(a, d);
         return sum, b, c, e",
        choice(Some(&within)),
        choice(None)
    );
    let model = model(vec![], &["x"], &main);
    same_everywhere(&model);
    let converted = model.convert(Standard::OpenVino, &ConvertOptions::default()).unwrap().model;
    let operators: Vec<_> = converted.graph().nodes().iter().map(|node| &*node.operator.name).collect();
    assert!(!operators.contains(&"If") && operators.contains(&"Abs"), "{operators:?}");
    assert_eq!(operators.iter().filter(|name| **name == "Abs").count(), 2);
}

#[test]
fn bodies_that_take_too_much_are_refused() {
    // Each function calls the one before twice; the first calls itself.
    let doubled = |name: &str, before: &str| {
        function(name, &[], &format!("x: ?; y = f.{before}@1(x); z = f.{before}@1(y); return z"))
    };
    let names: Vec<_> = (0..30).map(|level| format!("f{level}")).collect();
    let mut functions: Vec<_> = names.windows(2).map(|pair| doubled(&pair[1], &pair[0])).collect();
    functions.push(Function { id: OperatorId { name: "f0".into(), ..negated().id }, ..negated() });
    let refused = |functions: &[Function]| {
        let mut limits = Limits::DEFAULT;
        limits.max_bytes = 64 << 20;
        let model = model(functions.to_vec(), &["x"], "y = f.f29@1(x); return y").with_limits(limits);
        model.convert(Standard::OpenVino, &ConvertOptions::default()).unwrap_err()
    };
    assert_eq!(refused(&functions).kind(), Kind::Limit);
    functions.push(doubled("f0", "f0"));
    functions.remove(29);
    let error = refused(&functions);
    assert_eq!(
        (error.kind(), error.message()),
        (Kind::Limit, "graphs and functions are nested more than 32 deep")
    );
}

#[test]
fn one_model_does_not_hold_two_versions_of_another_domain() {
    let f = function("f", &[], "x: ?; y = own.Wave@1(x); return y");
    let main = "y = own.Wave@2(x); z = f.f@1(y); return z";
    let mut options = ConvertOptions::default();
    options.opset = Some(13);
    let error = model(vec![f], &["x"], main).convert(Standard::Onnx, &options).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (
            Kind::Unsupported,
            "cannot convert: operator set of own of the node is 1, expected 2, as of the nodes before"
        )
    );
}

/// ONNX Runtime runs no loop whose count or condition has an unknown rank.
#[test]
fn values_of_graphs_within_bodies_keep_their_declared_sizes() {
    let body = "{i: int64[]; c: bool[]; s: float32[m, 2]; d = Identity(c); t = Neg(s); return d, t}";
    let f = format!("x: ?; most: ?; y = Loop@16(most, , x, body={body}); return y");
    let source = model(vec![function("f", &[], &f)], &["x"], "n = 3; z = f.f@1(x, n); return z");
    let mut options = ConvertOptions::default();
    options.opset = Some(16);
    let converted = source.convert(Standard::Onnx, &options).unwrap().model;
    let inner: Vec<_> = converted.graph().nodes().iter().flat_map(graph::Node::graphs).collect();
    let [inner] = inner[..] else { panic!("{} graphs", inner.len()) };
    let declared = |id: &_| inner.value(*id).declared.as_ref().map(ToString::to_string);
    let declared: Vec<_> = inner.inputs().iter().map(declared).collect();
    let expected = ["int64[]", "bool[]", "float32[?, 2]"].map(|text| Some(text.to_owned()));
    assert_eq!(declared, expected);
}
