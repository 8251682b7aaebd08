//! ONNX models in another operator set.

use gradus::conversion::{ConvertOptions, Converted};
use gradus::dim::Dim;
use gradus::element::Bool;
use gradus::fold::FoldOptions;
use gradus::graph::{
    Content, Node,
    Standard::{Onnx, OpenVino},
};
use gradus::infer::{InferOptions, InputFact, Sizes};
use gradus::{DType, Model, RunOptions, Shape, Tensor};

use crate::common::sketch::{Sketch, tensor_type};

fn in_set(model: &Model, opset: i64) -> gradus::Result<Converted> {
    let mut options = ConvertOptions::default();
    options.opset = Some(opset);
    model.convert(Onnx, &options)
}

/// A branch of one node.
fn branch(operator: &str, inputs: &[&str], sizes: &[&str]) -> Content {
    let inner = Sketch::nested().node(operator, inputs, &[operator]);
    inner.output(operator, DType::F32, sizes).graph()
}

/// A branch that squeezes an axis of size 1, or not: the rank of the output is only declared.
#[test]
fn outputs_whose_rank_only_the_source_declares_keep_the_declaration() {
    let model = Sketch::of(
        "x: float32[n, 3]; zero = [0]; one = [1]; sizes = Shape(x);
         size = Gather(sizes, zero); is one = Equal(size, one)",
    )
    .with(
        "If",
        &["is one"],
        &["y"],
        vec![
            ("then_branch", branch("Squeeze", &["x", "zero"], &["3"])),
            ("else_branch", branch("Identity", &["x"], &["n", "3"])),
        ],
    )
    .text("return y: float32[n, 3]")
    .model();
    for opset in [13, 17, 21] {
        let converted = in_set(&model, opset).unwrap().model;
        let output = converted.graph().value(converted.graph().outputs()[0]);
        assert_eq!(output.declared, Some(tensor_type(DType::F32, &["n", "3"])), "{opset}");
        let x = Tensor::from_vec(Shape::new([2, 3]).unwrap(), vec![1f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let outputs = converted.run([("x", x.clone())]).unwrap();
        assert_eq!(outputs["y"].tensor().unwrap(), &x, "{opset}");
    }
}

/// Concatenated outputs of a loop of no iteration have the sizes that its body declares. No node
/// tells the shape of the body's output, and the converted model does not rest on the declared one.
#[test]
fn bodies_keep_the_sizes_that_they_declare() {
    for (node, declared) in [
        ("Concat(w, w, axis=0)", ["2", "3"]),
        ("Concat(w, w, axis=0)", ["", "3"]),
        ("Reshape(w, shape)", ["2", "3"]),
        ("Reshape(w, shape)", ["rows", "3"]),
    ] {
        let text = format!("i: int64[]; go: bool[]; on = Identity(go); each = {node}; return on: bool[]");
        let body = Sketch::nested().text(&text).output("each", DType::F32, &declared).graph();
        let model = Sketch::of("w: float32[a, 3]; shape: int64[k]; most: int64[]")
            .with("Loop", &["most", ""], &["y"], vec![("body", body)])
            .text("return y: float32[most, 2, 3]")
            .model();
        for opset in [13, 17, 21] {
            let converted = in_set(&model, opset).unwrap();
            let (report, graph) = (converted.report, converted.model.graph().nodes()[0].graphs().next());
            let body = graph.unwrap();
            let of_each = body.value(body.outputs()[1]).declared.as_ref();
            assert_eq!(of_each, Some(&tensor_type(DType::F32, &declared)), "{node} in {opset}");
            assert_eq!(report.lost, [""; 0], "{node} in {opset}");
        }
    }
}

/// Values of bodies have declared types in the file that is written, also those that the model does
/// not declare; sizes have names where the inputs of the model have them.
#[test]
fn values_of_bodies_are_declared() {
    let branch = |operator: &str| {
        let text = format!("{operator} = {operator}(u); r = Tanh({operator}); return r: float32[n, 2]");
        Sketch::nested().text(&text).graph()
    };
    let body = Sketch::nested()
        .text("i: int64[]; go: bool[]; a: float32[n, 2]; on = Identity(go); u = Add(a, x)")
        .with("If", &["go"], &["v"], vec![("then_branch", branch("Neg")), ("else_branch", branch("Abs"))])
        .text("b = Mul(v, v); return on: bool[]; return b: float32[n, 2]");
    let model = Sketch::of("x: float32[n, 2]; most: int64[]")
        .with("Loop", &["most", "", "x"], &["y"], vec![("body", body.graph())])
        .text("return y: float32[n, 2]")
        .model();
    for opset in [13, 21] {
        let written = in_set(&model, opset).unwrap().model.to_onnx().unwrap();
        let written = Model::from_bytes(&written).unwrap();
        let body = written.graph().nodes()[0].graphs().next().unwrap();
        let inner = body.nodes().iter().flat_map(Node::graphs).map(|graph| &**graph);
        let mut declared = 0;
        for graph in inner.chain([&**body]) {
            for info in graph.values().iter().filter(|info| ["u", "v", "Neg", "Abs"].contains(&&*info.name)) {
                if info.origin.is_node() {
                    let of = info.declared.as_ref();
                    assert_eq!(of, Some(&tensor_type(DType::F32, &["n", "2"])), "{} in {opset}", info.name);
                    declared += 1;
                }
            }
        }
        assert_eq!(declared, 4, "{opset}");
    }
}

/// Runtimes hold the values of bodies to the sizes that these declare: where an input is given other
/// sizes, they are those in whatever is written.
#[test]
fn bodies_declare_the_sizes_that_are_given() {
    let branch = |operator: &str| branch(operator, &["x"], &["2", "3"]);
    let model = Sketch::of("x: float32[2, 3]; q: bool[]")
        .with("If", &["q"], &["y"], vec![("then_branch", branch("Neg")), ("else_branch", branch("Abs"))])
        .text("return y: float32[2, 3]")
        .model();
    let open = tensor_type(DType::F32, &["n", "3"]);
    let mut sizes = Sizes::default();
    sizes.inputs.insert("x".to_owned(), InputFact::Type(open.clone()));
    let inferred = InferOptions::of(sizes.clone());
    let mut options = FoldOptions::default();
    options.sizes.clone_from(&sizes);
    let mut converted = ConvertOptions::default();
    (converted.opset, converted.sizes) = (Some(21), sizes);
    for (what, model) in [
        ("infer", model.declared(&model.infer(&inferred).unwrap(), &inferred).unwrap()),
        ("fold", model.fold(&options).unwrap().model),
        ("convert", model.convert(Onnx, &converted).unwrap().model.source().clone()),
    ] {
        for body in model.graph.nodes()[0].graphs() {
            assert_eq!(body.value(body.outputs()[0]).declared.as_ref(), Some(&open), "{what}");
        }
    }
}

/// ONNX counts the inputs of a Loop before those that it carries, where they have no name too.
#[test]
fn loops_without_a_condition_keep_its_place() {
    let text = "i: int64[]; go: bool[]; on = Identity(go); j = Mul(i, i)";
    let body = Sketch::nested().text(text).text("return on: bool[]; return j: int64[]").graph();
    let sketch = Sketch::of("most: int64[]").with("Loop", &["most", ""], &["y"], vec![("body", body)]);
    let model = sketch.output("y", DType::I64, &[""]).model();
    for opset in [11, 21] {
        let converted = in_set(&model, opset).unwrap().model;
        assert_eq!(converted.graph().nodes()[0].inputs.len(), 2, "{opset}");
    }
}

/// Operators of other domains, known or not, stay in another operator set of ONNX.
#[test]
fn nodes_of_other_domains_stay_as_they_are() {
    let text = "x: float32[2]; a = Abs@11(x); b = ai.onnx.ml.Binarizer@1(a, threshold=0.5);
        y = my.own.Wave@7(b, threshold=0.5); return b: float32[2]; return y: float32[2]";
    let mut source = Sketch::of(text).source(11);
    source.opsets.extend([("ai.onnx.ml".into(), 1), ("my.own".into(), 7)]);
    let converted = in_set(&Model::from_source(source), 17).unwrap().model;
    let again = Model::from_bytes(&converted.to_onnx().unwrap()).unwrap();
    let opsets: Vec<_> = again.source().opsets.iter().map(|(domain, set)| (&**domain, *set)).collect();
    assert_eq!(opsets, [("", 17), ("ai.onnx.ml", 1), ("my.own", 7)]);
    let nodes: Vec<_> = again.graph().nodes().iter().map(|node| node.operator.to_string()).collect();
    assert_eq!(nodes, ["Abs", "ai.onnx.ml.Binarizer", "my.own.Wave"]);
    assert!(again.graph().nodes()[2].attribute("threshold").is_some());
    let program = again.compile(&["b"], &RunOptions::default()).unwrap();
    let outputs = program.run([("x", Tensor::vector(&[-0.25f32, -3.0]))]).unwrap();
    assert_eq!(outputs["b"].tensor().unwrap(), &Tensor::vector(&[0f32, 1.0]));
}

/// The weights of a convolution say the rank that its input does not.
#[test]
fn convolutions_of_inputs_of_unknown_rank_have_that_of_their_weights() {
    let model = Sketch::of("x: float32[1, 2, n]; no batch: bool[]; zero = [0]")
        .constant("w", Tensor::from_vec(Shape::new([4, 2, 1]).unwrap(), vec![0.5f32; 8]).unwrap())
        .text("b = float32[4](1, 2, 3, 4)")
        .with(
            "If",
            &["no batch"],
            &["h"],
            vec![
                ("then_branch", branch("Squeeze", &["x", "zero"], &["2", "n"])),
                ("else_branch", branch("Identity", &["x"], &["1", "2", "n"])),
            ],
        )
        .text("y = Conv(h, w, b); return y: float32[1, 4, n]")
        .model();
    let facts = model.infer(&InferOptions::default()).unwrap();
    let y = facts.fact(model.graph().outputs()[0]).as_tensor().unwrap();
    assert_eq!(y.dims.as_ref().unwrap()[1], Dim::Known(4));
    let converted = model.convert(OpenVino, &ConvertOptions::default()).unwrap().model;
    let x = Tensor::from_vec(Shape::new([1, 2, 2]).unwrap(), vec![1f32, 2.0, 3.0, 4.0]).unwrap();
    let given = [("x", x), ("no batch", Tensor::scalar(Bool::from(false)))];
    let want = [3f32, 4.0, 4.0, 5.0, 5.0, 6.0, 6.0, 7.0];
    for model in [model, converted] {
        let outputs = model.run(given.clone()).unwrap();
        let want = Tensor::from_vec(Shape::new([1, 4, 2]).unwrap(), want.to_vec()).unwrap();
        assert_eq!(outputs["y"].tensor().unwrap(), &want);
    }
}
