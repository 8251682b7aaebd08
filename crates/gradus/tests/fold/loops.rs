//! Folding of loops whose number of iterations is known.

use std::collections::HashSet;

use gradus::check::VerifyOptions;
use gradus::element::Bool;
use gradus::fold::{FoldOptions, RuleSet};
use gradus::graph::{Content, Node};
use gradus::{DType, Model, Tensor};

use crate::common::sketch::{Sketch, nodes, operators};

/// The operators that are left; results are the same bits, folding again changes no byte, and
/// there are no more nodes than before.
fn folded(model: &Model) -> String {
    let fold = model.fold(&FoldOptions::default()).unwrap();
    let after = model.edited(&fold.model).unwrap();
    // ONNX Runtime refuses two nodes of one name.
    let names: Vec<_> = after.graph().nodes().iter().map(|node| &node.name).collect();
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len(), "{names:?}");
    let (before, left) = fold.report.nodes();
    assert!(left <= before && before == nodes(model.graph()) && left == nodes(after.graph()));
    let measured = model.measure(&after, &VerifyOptions::default()).unwrap();
    assert!(measured.elements > 0 && (measured.ulps, measured.relative.to_bits()) == (0, 0), "{measured:?}");
    let again = after.edited(&after.fold(&FoldOptions::default()).unwrap().model).unwrap();
    assert!(again.bytes() == after.bytes(), "folding again changes {}", operators(&after));
    let mut options = FoldOptions::default();
    options.rules = RuleSet::default().without("unrolled-loops").unwrap();
    let kept = model.edited(&model.fold(&options).unwrap().model).unwrap();
    assert!(nodes(kept.graph()) >= nodes(after.graph()));
    operators(&after)
}

/// A body of Loop: the number of the iteration `i`, the condition `go`, and `x`.
fn body(x: &[&str]) -> Sketch {
    Sketch::nested().input("i", DType::I64, &[]).input("go", DType::Bool, &[]).input("x", DType::F32, x)
}

/// A model of a Loop of `runs` iterations, from `a` to `t`, with a body of these outputs.
fn looped(runs: i64, body: Sketch, outputs: &[&str], named: &[&str]) -> Sketch {
    let body = body.output("go", DType::Bool, &[]);
    let body = outputs.iter().fold(body, |body, name| body.output(name, DType::F32, &["n", "4"]));
    Sketch::new()
        .input("a", DType::F32, &["n", "4"])
        .input("b", DType::F32, &["n", "4"])
        .constant("runs", Tensor::scalar(runs))
        .with("Loop", &["runs", "", "a"], named, vec![("body", body.graph())])
}

fn end(sketch: Sketch, from: &str) -> Model {
    sketch.node("Relu", &[from], &["y"]).output("y", DType::F32, &["n", "4"]).model()
}

#[test]
fn loops_are_unrolled_where_no_more_nodes_are_left() {
    let once =
        |runs| end(looped(runs, body(&["n", "4"]).node("Mul", &["x", "b"], &["u"]), &["u"], &["t"]), "t");
    assert_eq!(folded(&once(1)), "Mul Relu");
    assert_eq!(folded(&once(2)), "Mul Mul Relu");
    assert_eq!(folded(&once(3)), "Loop Relu");
    // Neg(Neg(x)) is x, across all iterations.
    let neg = |runs| end(looped(runs, body(&["n", "4"]).node("Neg", &["x"], &["u"]), &["u"], &["t"]), "t");
    assert_eq!(folded(&neg(100)), "Relu");
    assert_eq!(folded(&neg(101)), "Neg Relu");
    assert_eq!(folded(&neg(257)), "Loop Relu");
}

#[test]
fn iterations_are_numbered() {
    let steps = body(&["n", "4"])
        .with("Cast", &["i"], &["f"], vec![("to", Content::Int(1))])
        .with("Unsqueeze", &["f", "zero"], &["row"], vec![])
        .node("Identity", &["x"], &["u"])
        .output("go", DType::Bool, &[])
        .output("u", DType::F32, &["n", "4"])
        .output("row", DType::F32, &["1"]);
    let sketch = Sketch::new()
        .input("a", DType::F32, &["n", "4"])
        .ints("zero", &[0])
        .ints("flat", &[1, 4])
        .constant("runs", Tensor::scalar(4i64))
        .with("Loop", &["runs", "", "a"], &["t", "rows"], vec![("body", steps.graph())])
        .node("Reshape", &["rows", "flat"], &["r"])
        .node("Add", &["t", "r"], &["s"]);
    assert_eq!(folded(&end(sketch, "s")), "Add Relu");
}

/// The number of the iteration and the condition may be tensors of one element.
#[test]
fn iterations_are_numbered_as_the_body_declares() {
    let body = || {
        Sketch::nested()
            .input("i", DType::I64, &["1"])
            .input("go", DType::Bool, &["1"])
            .input("x", DType::F32, &["n", "4"])
            .with("Cast", &["i"], &["f"], vec![("to", Content::Int(1))])
    };
    let steps = body()
        .node("Identity", &["x"], &["u"])
        .output("go", DType::Bool, &["1"])
        .output("u", DType::F32, &["n", "4"])
        .output("f", DType::F32, &["1"]);
    let rows = Sketch::new()
        .input("a", DType::F32, &["n", "4"])
        .ints("flat", &[1, 4])
        .constant("runs", Tensor::scalar(4i64))
        .with("Loop", &["runs", "", "a"], &["t", "rows"], vec![("body", steps.graph())])
        .node("Reshape", &["rows", "flat"], &["r"])
        .node("Add", &["t", "r"], &["s"]);
    assert_eq!(folded(&end(rows, "s")), "Add Relu");
    let once = looped(1, body().node("Add", &["x", "f"], &["u"]), &["u"], &["t"]);
    assert_eq!(folded(&end(once, "t")), "Add Relu");
}

#[test]
fn conditions_that_are_known_end_loops() {
    let steps = body(&["n", "4"])
        .constant("two", Tensor::scalar(1i64))
        .node("Less", &["i", "two"], &["on"])
        .node("Neg", &["x"], &["u"])
        .output("on", DType::Bool, &[])
        .output("u", DType::F32, &["n", "4"]);
    let sketch = Sketch::new()
        .input("a", DType::F32, &["n", "4"])
        .constant("yes", Tensor::scalar(Bool::from(true)))
        .with("Loop", &["", "yes", "a"], &["t"], vec![("body", steps.graph())]);
    // The loop ends after the second iteration.
    assert_eq!(folded(&end(sketch, "t")), "Relu");
}

#[test]
fn outputs_are_concatenated_and_names_stay_apart() {
    // `s` is a name around the loop as well, and the branches read what the iteration defines.
    let branch = |name: &str, operator: &str| {
        Sketch::nested().node(operator, &["s"], &[name]).output(name, DType::F32, &["n", "4"]).graph()
    };
    let graphs = vec![("then_branch", branch("p", "Abs")), ("else_branch", branch("q", "Neg"))];
    let steps = body(&["n", "4"])
        .constant("first", Tensor::scalar(0i64))
        .node("Equal", &["i", "first"], &["is_first"])
        .node("Identity", &["x"], &["s"])
        .with("If", &["is_first"], &["u"], graphs);
    let sketch = looped(2, steps, &["u", "x"], &["", "ys"]);
    let sketch = sketch.ints("zero", &[0]).with(
        "ReduceSum",
        &["ys", "zero"],
        &["t"],
        vec![("keepdims", Content::Int(0))],
    );
    assert_eq!(folded(&end(sketch, "t")), "Abs Unsqueeze Unsqueeze Concat ReduceSum Relu");
}

#[test]
fn scans_are_unrolled_forwards_and_backwards() {
    for (backwards, axis) in [(false, 0), (true, 1), (false, -1)] {
        let direction = || Content::Ints([i64::from(backwards)].into());
        // All but one sum of an iteration is known.
        let steps = Sketch::nested()
            .input("k", DType::I64, &[])
            .input("x", DType::F32, &["n"])
            .input("part", DType::F32, &["n"])
            .constant("one", Tensor::scalar(1i64))
            .node("Add", &["k", "one"], &["next"])
            .with("Cast", &["k"], &["f"], vec![("to", Content::Int(1))])
            .node("Mul", &["f", "f"], &["square"])
            .node("Add", &["square", "f"], &["both"])
            .node("Sub", &["both", "square"], &["back"])
            .node("Add", &["part", "back"], &["row"])
            .node("Identity", &["part"], &["u"])
            .output("next", DType::I64, &[])
            .output("u", DType::F32, &["n"])
            .output("row", DType::F32, &["n"]);
        let attributes = vec![
            ("body", steps.graph()),
            ("num_scan_inputs", Content::Int(1)),
            ("scan_input_axes", Content::Ints([1].into())),
            ("scan_input_directions", direction()),
            ("scan_output_axes", Content::Ints([axis].into())),
            ("scan_output_directions", direction()),
        ];
        let model = Sketch::new()
            .input("a", DType::F32, &["n"])
            .input("c", DType::F32, &["n", "2"])
            .constant("zero", Tensor::scalar(0i64))
            .with("Scan", &["zero", "a", "c"], &["count", "last", "rows"], attributes)
            .node("Relu", &["last"], &["y"])
            .output("y", DType::F32, &["n"])
            .output("rows", DType::F32, &["", ""])
            .model();
        let left = folded(&model);
        let mut left: Vec<_> = left.split(' ').collect();
        left.sort_unstable();
        assert_eq!(left, ["Add", "Add", "Concat", "Gather", "Gather", "Relu", "Unsqueeze", "Unsqueeze"]);
    }
}

#[test]
fn what_differs_each_time_stays_in_its_loop() {
    let shape = Content::Ints([1, 4].into());
    let seed = ("seed", Content::Float(1.0));
    let steps = body(&["n", "4"]).with("RandomNormal", &[], &["r"], vec![("shape", shape), seed]).node(
        "Add",
        &["x", "r"],
        &["u"],
    );
    let model = end(looped(2, steps, &["u"], &["t"]), "t");
    let after = model.edited(&model.fold(&FoldOptions::default()).unwrap().model).unwrap();
    assert_eq!(operators(&after), "Loop Relu");
    let inside: Vec<_> = after.graph().nodes()[0].graphs().flat_map(|body| body.nodes()).collect();
    assert!(inside.iter().any(|node: &&Node| &*node.operator.name == "RandomNormal"));
}
