//! Folding of loops whose number of iterations is known.

use std::collections::HashSet;

use gradus::check::VerifyOptions;
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
    Sketch::nested().text("i: int64[]; go: bool[]").input("x", DType::F32, x)
}

/// A model of a Loop of `runs` iterations, from `a` to `t`, with a body of these outputs.
fn looped(runs: i64, body: Sketch, outputs: &[&str], named: &[&str]) -> Sketch {
    let body = body.text("return go: bool[]");
    let body = outputs.iter().fold(body, |body, name| body.output(name, DType::F32, &["n", "4"]));
    Sketch::of("a: float32[n, 4]; b: float32[n, 4]").constant("runs", Tensor::scalar(runs)).with(
        "Loop",
        &["runs", "", "a"],
        named,
        vec![("body", body.graph())],
    )
}

fn end(sketch: Sketch, from: &str) -> Model {
    sketch.node("Relu", &[from], &["y"]).text("return y: float32[n, 4]").model()
}

#[test]
fn loops_are_unrolled_where_no_more_nodes_are_left() {
    let once = |runs| end(looped(runs, body(&["n", "4"]).text("u = Mul(x, b)"), &["u"], &["t"]), "t");
    assert_eq!(folded(&once(1)), "Mul Relu");
    assert_eq!(folded(&once(2)), "Mul Mul Relu");
    assert_eq!(folded(&once(3)), "Loop Relu");
    // Neg(Neg(x)) is x, across all iterations.
    let neg = |runs| end(looped(runs, body(&["n", "4"]).text("u = Neg(x)"), &["u"], &["t"]), "t");
    assert_eq!(folded(&neg(100)), "Relu");
    assert_eq!(folded(&neg(101)), "Neg Relu");
    assert_eq!(folded(&neg(257)), "Loop Relu");
}

#[test]
fn iterations_are_numbered() {
    let steps = body(&["n", "4"]).text(
        "f = Cast(i, to=1); row = Unsqueeze(f, zero); u = Identity(x); return go: bool[];
         return u: float32[n, 4]; return row: float32[1]",
    );
    let sketch = Sketch::of("a: float32[n, 4]; zero = [0]; flat = [1, 4]; runs = 4")
        .with("Loop", &["runs", "", "a"], &["t", "rows"], vec![("body", steps.graph())])
        .text("r = Reshape(rows, flat); s = Add(t, r)");
    assert_eq!(folded(&end(sketch, "s")), "Add Relu");
}

/// The number of the iteration and the condition may be tensors of one element.
#[test]
fn iterations_are_numbered_as_the_body_declares() {
    let body = || Sketch::nested().text("i: int64[1]; go: bool[1]; x: float32[n, 4]; f = Cast(i, to=1)");
    let steps =
        body().text("u = Identity(x); return go: bool[1]; return u: float32[n, 4]; return f: float32[1]");
    let rows = Sketch::of("a: float32[n, 4]; flat = [1, 4]; runs = 4")
        .with("Loop", &["runs", "", "a"], &["t", "rows"], vec![("body", steps.graph())])
        .text("r = Reshape(rows, flat); s = Add(t, r)");
    assert_eq!(folded(&end(rows, "s")), "Add Relu");
    let once = looped(1, body().text("u = Add(x, f)"), &["u"], &["t"]);
    assert_eq!(folded(&end(once, "t")), "Add Relu");
}

#[test]
fn conditions_that_are_known_end_loops() {
    let steps = body(&["n", "4"])
        .text("two = 1; on = Less(i, two); u = Neg(x); return on: bool[]; return u: float32[n, 4]");
    let sketch = Sketch::of("a: float32[n, 4]; yes = true").with(
        "Loop",
        &["", "yes", "a"],
        &["t"],
        vec![("body", steps.graph())],
    );
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
    let steps = body(&["n", "4"]).text("first = 0; is_first = Equal(i, first); s = Identity(x)").with(
        "If",
        &["is_first"],
        &["u"],
        graphs,
    );
    let sketch = looped(2, steps, &["u", "x"], &["", "ys"]);
    let sketch = sketch.text("zero = [0]; t = ReduceSum(ys, zero, keepdims=0)");
    assert_eq!(folded(&end(sketch, "t")), "Abs Unsqueeze Unsqueeze Concat ReduceSum Relu");
}

#[test]
fn scans_are_unrolled_forwards_and_backwards() {
    for (backwards, axis) in [(false, 0), (true, 1), (false, -1)] {
        let direction = || Content::Ints([i64::from(backwards)].into());
        // All but one sum of an iteration is known.
        let steps = Sketch::nested().text(
            "k: int64[]; x: float32[n]; part: float32[n]; one = 1; next = Add(k, one);
             f = Cast(k, to=1); square = Mul(f, f); both = Add(square, f);
             back = Sub(both, square); row = Add(part, back); u = Identity(part);
             return next: int64[]; return u: float32[n]; return row: float32[n]",
        );
        let attributes = vec![
            ("body", steps.graph()),
            ("num_scan_inputs", Content::Int(1)),
            ("scan_input_axes", Content::Ints([1].into())),
            ("scan_input_directions", direction()),
            ("scan_output_axes", Content::Ints([axis].into())),
            ("scan_output_directions", direction()),
        ];
        let model = Sketch::of("a: float32[n]; c: float32[n, 2]; zero = 0")
            .with("Scan", &["zero", "a", "c"], &["count", "last", "rows"], attributes)
            .text("y = Relu(last); return y: float32[n]; return rows: float32[, ]")
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
    let steps = body(&["n", "4"])
        .with("RandomNormal", &[], &["r"], vec![("shape", shape), seed])
        .text("u = Add(x, r)");
    let model = end(looped(2, steps, &["u"], &["t"]), "t");
    let after = model.edited(&model.fold(&FoldOptions::default()).unwrap().model).unwrap();
    assert_eq!(operators(&after), "Loop Relu");
    let inside: Vec<_> = after.graph().nodes()[0].graphs().flat_map(|body| body.nodes()).collect();
    assert!(inside.iter().any(|node: &&Node| &*node.operator.name == "RandomNormal"));
}
