//! Models with graphs in their nodes, each of which has a Squeeze that wants `k == 1`.

use gradus::graph::Content;
use gradus::{DType, Model, Tensor};

use crate::common::sketch::Sketch;

/// If `k == 1` is a condition of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// The node runs whenever the model does, or another that needs as much.
    Always,
    /// The node may not run: the condition is listed as unchecked.
    Perhaps,
    /// The node never runs.
    Never,
}

/// A branch, or part of a body, that squeezes axis 1 of `x`.
fn squeezing(sketch: Sketch, to: &str) -> Sketch {
    let axes = format!("{to}_axes");
    sketch.ints(&axes, &[1]).node("Squeeze", &["x", &axes], &[to])
}

fn squeezed(name: &str) -> Content {
    squeezing(Sketch::nested(), name).output(name, DType::F32, &["n"]).graph()
}

/// A branch that sums over axis 1 of `x`, whatever its size.
fn summed(name: &str) -> Content {
    let axes = format!("{name}_axes");
    let keep = vec![("keepdims", Content::Int(0))];
    let sketch = Sketch::nested().ints(&axes, &[1]).with("ReduceSum", &["x", &axes], &[name], keep);
    sketch.output(name, DType::F32, &["n"]).graph()
}

fn model() -> Sketch {
    Sketch::of("x: float32[n, k]")
}

/// An If whose condition is an input, or known, with those branches.
fn choice(known: Option<bool>, branches: [Content; 2]) -> Sketch {
    let sketch = match known {
        None => model().text("c: bool[]"),
        Some(holds) => {
            let of = |number: i64| Tensor::scalar(number);
            let sketch = model().constant("a", of(i64::from(holds))).constant("b", of(1));
            sketch.text("c = Equal(a, b)")
        }
    };
    let [yes, no] = branches;
    sketch.with("If", &["c"], &["y"], vec![("then_branch", yes), ("else_branch", no)])
}

/// A Loop of that many iterations, or of a number that is an input.
fn looped(runs: Option<i64>) -> Sketch {
    let body = Sketch::nested().text("i: int64[]; go: bool[]");
    let body = squeezing(body, "row").text("return go: bool[]; return row: float32[n]");
    let sketch = match runs {
        None => model().text("runs: int64[]"),
        Some(runs) => model().constant("runs", Tensor::scalar(runs)),
    };
    sketch.with("Loop", &["runs", ""], &["y"], vec![("body", body.graph())])
}

/// A Scan over the rows of `s`.
fn scanned(rows: &str) -> Sketch {
    let body = squeezing(Sketch::nested().text("item: float32[4]"), "row");
    let body = body.text("same = Identity(item)");
    let body = body.text("return same: float32[4]; return row: float32[n]").graph();
    let attributes = vec![("body", body), ("num_scan_inputs", Content::Int(1))];
    model().input("s", DType::F32, &[rows, "4"]).with("Scan", &["s"], &["same", "y"], attributes)
}

pub fn graphs() -> Vec<(&'static str, Model, Needs)> {
    let inner = |branches: [Content; 2]| {
        let [yes, no] = branches;
        let branches = vec![("then_branch", yes), ("else_branch", no)];
        Sketch::nested().with("If", &["c"], &["inner"], branches).text("return inner: float32[n]").graph()
    };
    let also_outside = squeezing(choice(None, [squeezed("p"), summed("q")]), "z");
    let all: Vec<(&str, Sketch, Needs)> = vec![
        ("one branch", choice(None, [squeezed("p"), summed("q")]), Needs::Perhaps),
        ("the other branch", choice(None, [summed("p"), squeezed("q")]), Needs::Perhaps),
        ("both branches", choice(None, [squeezed("p"), squeezed("q")]), Needs::Always),
        ("the branch that is taken", choice(Some(true), [squeezed("p"), summed("q")]), Needs::Always),
        ("the branch that is not", choice(Some(false), [squeezed("p"), summed("q")]), Needs::Never),
        (
            "a branch in a branch",
            choice(None, [inner([squeezed("p"), summed("q")]), summed("r")]),
            Needs::Perhaps,
        ),
        ("a branch and a node after it", also_outside, Needs::Always),
        ("a loop of an unknown number", looped(None), Needs::Perhaps),
        ("a loop that does not run", looped(Some(0)), Needs::Never),
        ("a loop that runs", looped(Some(3)), Needs::Always),
        ("a long loop", looped(Some(1000)), Needs::Always),
        // Without a row, it fails.
        ("a scan of any length", scanned("rows"), Needs::Always),
        ("a scan that runs", scanned("5"), Needs::Always),
    ];
    let whole = |(name, sketch, needs): (&'static str, Sketch, Needs)| {
        (name, sketch.output("y", DType::F32, &[""]).model(), needs)
    };
    all.into_iter().map(whole).collect()
}
