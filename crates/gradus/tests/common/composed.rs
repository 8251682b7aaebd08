//! Patterns of several nodes, each for one folding rule.

use gradus::element::Bool;
use gradus::graph::Content;
use gradus::{DType, Model, Tensor};

use super::sketch::Sketch;
use super::{Pattern, end, floats, ints, pattern, scalar, x};

fn axis(number: i64) -> Vec<(&'static str, Content)> {
    vec![("axis", Content::Int(number))]
}

fn perm(axes: &[i64]) -> Vec<(&'static str, Content)> {
    vec![("perm", ints(axes))]
}

/// A Loop with so many iterations, whose state becomes its square plus the number of the iteration.
fn looped(trips: i64) -> Model {
    let n = &["n", "4"][..];
    let body = Sketch::nested()
        .input("i", DType::I64, &[])
        .input("go", DType::Bool, &[])
        .input("a", DType::F32, n)
        .with("Cast", &["i"], &["step"], vec![("to", Content::Int(1))])
        .node("Mul", &["a", "a"], &["square"])
        .node("Add", &["square", "step"], &["next"])
        .output("go", DType::Bool, &[])
        .output("next", DType::F32, n)
        .graph();
    let sketch = x(n)
        .constant("trips", Tensor::scalar(trips))
        .constant("start", Tensor::scalar(Bool::from(true)))
        .with("Loop", &["trips", "start", "x"], &["t"], vec![("body", body)]);
    end(sketch, n)
}

/// A Loop whose iterations undo each other in pairs.
fn undone(trips: i64) -> Model {
    let n = &["n", "4"][..];
    let body = Sketch::nested()
        .input("i", DType::I64, &[])
        .input("go", DType::Bool, &[])
        .input("a", DType::F32, n)
        .node("Neg", &["a"], &["next"])
        .output("go", DType::Bool, &[])
        .output("next", DType::F32, n)
        .graph();
    let sketch = x(n).constant("trips", Tensor::scalar(trips));
    end(sketch.with("Loop", &["trips", "", "x"], &["t"], vec![("body", body)]), n)
}

pub fn exact() -> Vec<Pattern> {
    let (n, cube) = (&["n", "4"][..], &["2", "3", "4"][..]);
    let bounds =
        |sketch: Sketch| sketch.ints("one", &[1]).ints("two", &[2]).ints("ends", &[8]).ints("less", &[4]);
    let sliced = |last: &str, sizes: &[&str]| {
        end(
            bounds(x(&["n", "9"])).node("Slice", &["x", "one", "ends", "one"], &["a"]).node(
                "Slice",
                &["a", "two", last, "one"],
                &["t"],
            ),
            sizes,
        )
    };
    vec![
        pattern("slices", sliced("less", &["n", "2"]), "Slice Relu"),
        pattern("slices", sliced("ends", &["n", "5"]), "Slice Relu"),
        pattern(
            "joins",
            end(
                x(n).with("Concat", &["x", "x"], &["a"], axis(-1)).with(
                    "Concat",
                    &["x", "a"],
                    &["t"],
                    axis(1),
                ),
                &["n", "12"],
            ),
            "Concat Relu",
        ),
        // The other reader of the inner Concat is not needed, or found to be equal later.
        pattern(
            "joins",
            end(
                x(n).with("Concat", &["x", "x"], &["a"], axis(1))
                    .node("Sin", &["a"], &["dead"])
                    .with("Concat", &["x", "a"], &["b"], axis(1))
                    .with("Concat", &["x", "a"], &["c"], axis(1))
                    .node("Add", &["b", "c"], &["t"]),
                &["n", "12"],
            ),
            "Concat Add Relu",
        ),
        pattern(
            "split-join",
            end(
                x(n).ints("sizes", &[1, 3]).with("Split", &["x", "sizes"], &["a", "b"], axis(1)).with(
                    "Concat",
                    &["a", "b"],
                    &["t"],
                    axis(-1),
                ),
                n,
            ),
            "Relu",
        ),
        pattern(
            "repeated",
            end(x(n).node("Ceil", &["x"], &["a"]).node("Ceil", &["a"], &["t"]), n),
            "Ceil Relu",
        ),
        pattern("single-loop", looped(1), "Mul Add Relu"),
        pattern("unrolled-loops", undone(5), "Neg Relu"),
        pattern(
            "reshapes-around",
            scalar("half", 0.5)(around(&["6", "4"], &["2", "3", "4"], "Neg"))
                .node("Mul", &["b", "half"], &["c"])
                .node("Add", &["b", "c"], &["d"])
                .ints("back", &[6, 4])
                .node("Reshape", &["d", "back"], &["t"])
                .node("Relu", &["t"], &["y"])
                .output("y", DType::F32, &["6", "4"])
                .model(),
            "Neg Mul Add Relu",
        ),
        pattern(
            "transposes-around",
            end(
                x(cube).with("Transpose", &["x"], &["a"], perm(&[1, 2, 0])).node("Neg", &["a"], &["b"]).with(
                    "Transpose",
                    &["b"],
                    &["t"],
                    perm(&[2, 0, 1]),
                ),
                cube,
            ),
            "Neg Relu",
        ),
    ]
}

/// A function of `x` in another shape.
fn around(sizes: &[&str], within: &[&str], operator: &str) -> Sketch {
    let target: Vec<i64> = within.iter().map(|size| size.parse().unwrap()).collect();
    x(sizes).ints("within", &target).node("Reshape", &["x", "within"], &["a"]).node(operator, &["a"], &["b"])
}

fn last(sketch: Sketch) -> Sketch {
    scalar("eps", 1e-6)(scalar("two", 2.0)(sketch)).ints("last", &[-1])
}

fn root(sketch: Sketch, of: &str) -> Sketch {
    sketch
        .node("Pow", &[of, "two"], &["p"])
        .node("ReduceMean", &["p", "last"], &["v"])
        .node("Add", &["v", "eps"], &["e"])
        .node("Sqrt", &["e"], &["s"])
}

fn of_set(sketch: Sketch, sizes: &[&str], version: i64) -> Model {
    sketch.node("Relu", &["t"], &["y"]).output("y", DType::F32, sizes).model_of(version)
}

/// The order of the axes of keys.
#[derive(Clone, Copy, PartialEq)]
enum Keys {
    /// The last two are exchanged.
    Exchanged,
    /// So they are, once the heads are in their place.
    Twice,
    /// Both are one Transpose, as exporters write it.
    AtOnce,
}

/// Softmax of a product, times values.
fn attention(mask: bool, order: Keys) -> Model {
    let heads = &["n", "2", "s", "4"][..];
    let keys = if order == Keys::Exchanged { heads } else { &["n", "s", "2", "4"][..] };
    let sketch = Sketch::new()
        .input("q", DType::F32, heads)
        .input("k", DType::F32, keys)
        .input("v", DType::F32, heads)
        .input("mask", DType::F32, &["n", "1", "s", "s"]);
    let sketch = scalar("half", 0.5)(sketch);
    let sketch = match order {
        Keys::Exchanged => sketch.with("Transpose", &["k"], &["kt"], perm(&[0, 1, 3, 2])),
        Keys::Twice => sketch.with("Transpose", &["k"], &["k4"], perm(&[0, 2, 1, 3])).with(
            "Transpose",
            &["k4"],
            &["kt"],
            perm(&[0, 1, 3, 2]),
        ),
        Keys::AtOnce => {
            sketch.node("Relu", &["k"], &["r"]).with("Transpose", &["r"], &["kt"], perm(&[0, 2, 3, 1]))
        }
    };
    let sketch = sketch.node("Mul", &["q", "half"], &["qs"]).node("MatMul", &["qs", "kt"], &["scores"]).node(
        "Div",
        &["scores", "half"],
        &["scaled"],
    );
    let sketch = if mask { sketch.node("Add", &["scaled", "mask"], &["masked"]) } else { sketch };
    let sketch = sketch
        .with("Softmax", &[if mask { "masked" } else { "scaled" }], &["weights"], axis(-1))
        .node("MatMul", &["weights", "v"], &["t"]);
    of_set(sketch, heads, 23)
}

pub fn fused() -> Vec<Pattern> {
    let rows = &["n", "s", "8"][..];
    let n = &["n", "4"][..];
    let gain = |sketch: Sketch| sketch.constant("gain", floats(&[8], 0.5));
    let weights = |sketch: Sketch| {
        sketch
            .constant("w", floats(&[4, 3], -0.5))
            .constant("b", floats(&[3], 0.5))
            .constant("c", floats(&[3], 1.5))
    };
    let out = &["n", "3"][..];
    let gemm = |sketch: Sketch| weights(sketch).node("Gemm", &["x", "w", "b"], &["a"]);
    let halves = Sketch::new().input("x", DType::F16, rows);
    let narrow = root(
        last(halves).constant("gain", floats(&[8], 0.5)).with(
            "Cast",
            &["x"],
            &["wide"],
            vec![("to", Content::Int(1))],
        ),
        "wide",
    )
    .node("Div", &["wide", "s"], &["q"])
    .with("Cast", &["q"], &["r"], vec![("to", Content::Int(10))])
    .with("Cast", &["gain"], &["g"], vec![("to", Content::Int(10))])
    .node("Mul", &["r", "g"], &["u"])
    .with("Cast", &["u"], &["t"], vec![("to", Content::Int(1))]);
    vec![
        pattern(
            "rms-normalization",
            of_set(
                root(gain(last(x(rows))), "x").node("Div", &["x", "s"], &["q"]).node(
                    "Mul",
                    &["q", "gain"],
                    &["t"],
                ),
                rows,
                23,
            ),
            "RMSNormalization Relu",
        ),
        pattern(
            "rms-normalization",
            of_set(
                root(gain(last(x(rows))), "x")
                    .node("Reciprocal", &["s"], &["r"])
                    .node("Mul", &["x", "r"], &["q"])
                    .node("Mul", &["gain", "q"], &["t"]),
                rows,
                23,
            ),
            "RMSNormalization Relu",
        ),
        pattern("rms-normalization", of_set(narrow, rows, 23), "RMSNormalization Cast Relu"),
        pattern(
            "normalization-bias",
            end(
                gain(x(rows))
                    .with("LayerNormalization", &["x", "gain"], &["a"], vec![("axis", Content::Int(-1))])
                    .node("Add", &["gain", "a"], &["t"]),
                rows,
            ),
            "LayerNormalization Relu",
        ),
        pattern("attention", attention(false, Keys::Exchanged), "Attention Relu"),
        pattern("attention", attention(true, Keys::Exchanged), "Attention Relu"),
        pattern("attention", attention(true, Keys::Twice), "Transpose Attention Relu"),
        pattern("attention", attention(true, Keys::AtOnce), "Relu Transpose Attention Relu"),
        pattern(
            "reshapes-around-functions",
            end(
                around(&["6", "4"], &["2", "3", "4"], "Sin").ints("back", &[6, 4]).node(
                    "Reshape",
                    &["b", "back"],
                    &["t"],
                ),
                &["6", "4"],
            ),
            "Sin Relu",
        ),
        pattern(
            "transposes-around-functions",
            end(
                x(&["2", "3", "4"])
                    .with("Transpose", &["x"], &["a"], perm(&[1, 2, 0]))
                    .node("Sin", &["a"], &["b"])
                    .with("Transpose", &["b"], &["t"], perm(&[2, 0, 1])),
                &["2", "3", "4"],
            ),
            "Sin Relu",
        ),
        pattern(
            "clips",
            x(n).constant("low", Tensor::scalar(-0.75f32))
                .constant("high", Tensor::scalar(0.5f32))
                .constant("more", Tensor::scalar(0.75f32))
                .node("Clip", &["x", "low", "more"], &["a"])
                .node("Clip", &["a", "low", "high"], &["b"])
                .node("Relu", &["b"], &["y"])
                .output("y", DType::F32, n)
                .model(),
            "Clip",
        ),
        pattern(
            "swish",
            of_set(x(n).node("Sigmoid", &["x"], &["a"]).node("Mul", &["a", "x"], &["t"]), n, 24),
            "Swish Relu",
        ),
        pattern("affine-into-conv", end(gemm(x(n)).node("Mul", &["a", "c"], &["t"]), out), "Gemm Relu"),
        pattern("affine-into-conv", end(gemm(x(n)).node("Sub", &["a", "c"], &["t"]), out), "Gemm Relu"),
        pattern(
            "affine-into-conv",
            end(
                gemm(x(n)).constant("mean", floats(&[3], -0.5)).constant("var", floats(&[3], 1.5)).node(
                    "BatchNormalization",
                    &["a", "c", "b", "mean", "var"],
                    &["t"],
                ),
                out,
            ),
            "Gemm Relu",
        ),
        pattern(
            "transpose-into-gemm",
            end(
                weights(x(&["4", "n"])).with("Transpose", &["x"], &["a"], perm(&[1, 0])).node(
                    "Gemm",
                    &["a", "w", "b"],
                    &["t"],
                ),
                out,
            ),
            "Gemm Relu",
        ),
    ]
}
