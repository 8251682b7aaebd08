//! Patterns of several nodes, each for one folding rule.

use gradus::element::Bool;
use gradus::graph::Content;
use gradus::{DType, Model, Tensor};

use super::{Pattern, end, floats, ints, pattern, scalar, x};
use crate::common::sketch::Sketch;

fn axis(number: i64) -> Vec<(&'static str, Content)> {
    vec![("axis", Content::Int(number))]
}

fn perm(axes: &[i64]) -> Vec<(&'static str, Content)> {
    vec![("perm", ints(axes))]
}

/// A Loop of `trips` iterations, whose state becomes its square plus the number of the iteration.
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

/// A sum of two values of other orders of axes, and the function that reads it, by a scale of its
/// last axis.
fn turned(function: &str) -> Model {
    let cube = &["2", "n", "4"][..];
    let sketch = x(cube)
        .input("z", DType::F32, cube)
        .constant("scale", floats(&[2], 0.5))
        .with("Transpose", &["x"], &["a"], perm(&[1, 2, 0]))
        .with("Transpose", &["z"], &["b"], perm(&[1, 2, 0]))
        .node("Add", &["b", "a"], &["c"])
        .node(function, &["c"], &["d"])
        .node("Mul", &["scale", "d"], &["e"])
        .with("Transpose", &["e"], &["f"], perm(&[2, 0, 1]))
        .with("ReduceMax", &["b"], &["g"], vec![("keepdims", Content::Int(1))])
        .node("Mul", &["f", "g"], &["t"]);
    end(sketch, cube)
}

/// Ones in the shape of `x`, and what an operator makes of them.
fn filled(operator: &str, inputs: &[&str]) -> Model {
    let sizes = &["n", "4"][..];
    let ones = Content::Tensor(floats(&[1], 1.0).into());
    let sketch = scalar("half", 0.5)(x(sizes))
        .node("Shape", &["x"], &["s"])
        .with("ConstantOfShape", &["s"], &["ones"], vec![("value", ones)])
        .node(operator, inputs, &["a"]);
    end(sketch.node("Add", &["x", "a"], &["t"]), sizes)
}

/// A reduction, and the reader of it.
fn reduced(operator: &str, keepdims: i64, reader: &str, axes: [i64; 2], left: &[&str]) -> Model {
    let sketch = x(&["n", "3", "4"]).ints("first", &[axes[0]]).ints("second", &[axes[1]]);
    let sketch = sketch.with(operator, &["x", "first"], &["a"], vec![("keepdims", Content::Int(keepdims))]);
    let keepdims = vec![("keepdims", Content::Int(keepdims))];
    let attributes = if reader.starts_with("Reduce") { keepdims } else { Vec::new() };
    end(sketch.with(reader, &["a", "second"], &["t"], attributes), left)
}

/// Means of the rows and columns of images whose channels are last.
fn means() -> Model {
    let sketch = x(&["n", "3", "5", "2"])
        .with("Transpose", &["x"], &["a"], perm(&[0, 3, 1, 2]))
        .ints("axes", &[-1, 2])
        .with("ReduceMean", &["a", "axes"], &["t"], vec![("keepdims", Content::Int(0))]);
    end(sketch, &["n", "2"])
}

/// Bounds by Max and Min, and that of Relu.
fn least_and_most() -> Model {
    let n = &["n", "4"][..];
    let sketch = scalar("least", -0.25)(scalar("most", 0.5)(x(n)));
    end(sketch.node("Max", &["least", "x"], &["a"]).node("Min", &["a", "most"], &["t"]), n)
}

/// A constant that is cast to the type of what programs round otherwise.
fn cast_like() -> Model {
    let n = &["n", "4"][..];
    let sketch = x(n).node("Sin", &["x"], &["a"]).ints("list", &[1, 2, 3, 4]);
    end(sketch.node("CastLike", &["list", "a"], &["b"]).node("Mul", &["a", "b"], &["t"]), n)
}

/// The largest elements of an axis of size 1.
fn single(operator: &str) -> Model {
    let n = &["n", "1", "4"][..];
    end(x(n).ints("axes", &[1]).node(operator, &["x", "axes"], &["t"]), n)
}

/// Sums of one element each that is never -0.
fn sums() -> Model {
    let sketch = x(&["n", "1"])
        .ints("shape", &[-1, 1, 1])
        .ints("axes", &[1])
        .node("Abs", &["x"], &["a"])
        .node("Reshape", &["a", "shape"], &["b"])
        .with("ReduceSum", &["b", "axes"], &["t"], vec![("keepdims", Content::Int(0))]);
    end(sketch, &["n", "1"])
}

/// A sequence of two values, and an element of it.
fn element(at: i64) -> Model {
    let n = &["n", "4"][..];
    let sketch = x(n)
        .constant("at", Tensor::scalar(at))
        .node("Sin", &["x"], &["a"])
        .node("SequenceConstruct", &["x", "a"], &["all"])
        .node("SequenceAt", &["all", "at"], &["t"]);
    end(sketch, n)
}

/// An element of what a value is split to.
fn split_element(sizes: Option<Tensor>, at: i64, keepdims: i64, left: &[&str]) -> Model {
    let mut sketch = x(&["n", "7"]).constant("at", Tensor::scalar(at));
    let mut inputs = vec!["x"];
    if let Some(sizes) = sizes {
        sketch = sketch.constant("sizes", sizes);
        inputs.push("sizes");
    }
    let attributes = vec![("axis", Content::Int(-1)), ("keepdims", Content::Int(keepdims))];
    let sketch = sketch.with("SplitToSequence", &inputs, &["all"], attributes);
    end(sketch.node("SequenceAt", &["all", "at"], &["t"]), left)
}

/// The length of a sequence of floats that programs round otherwise, and a value within an optional
/// one.
fn optional() -> Model {
    let n = &["n", "4"][..];
    let sketch = x(n)
        .node("Sin", &["x"], &["a"])
        .node("SequenceConstruct", &["a", "x", "a"], &["all"])
        .node("SequenceLength", &["all"], &["length"])
        .with("Cast", &["length"], &["count"], vec![("to", Content::Int(1))])
        .node("Optional", &["x"], &["maybe"])
        .node("OptionalGetElement", &["maybe"], &["b"])
        .node("OptionalGetElement", &["b"], &["c"])
        .node("Mul", &["c", "count"], &["t"]);
    end(sketch, n)
}

/// Operators that read axes by number, of a value of another order of axes.
fn turned_axes() -> Model {
    let sketch = x(&["n", "3", "5", "2"])
        .with("Transpose", &["x"], &["a"], perm(&[0, 3, 1, 2]))
        .ints("starts", &[1, -1])
        .ints("ends", &[3, -9])
        .ints("axes", &[-1, 1])
        .ints("steps", &[1, -1])
        .node("Slice", &["a", "starts", "ends", "axes", "steps"], &["b"])
        .with("Concat", &["a", "b"], &["c"], axis(-1))
        .ints("pads", &[0, 1, 2, 0, 0, 0, 0, 3])
        .constant("value", Tensor::scalar(0.5f32))
        .node("Pad", &["c", "pads", "value"], &["d"])
        .node("Neg", &["d"], &["e"])
        .with("Transpose", &["e"], &["t"], perm(&[0, 2, 3, 1]));
    end(sketch, &["n", "5", "10", "3"])
}

/// Quantization along an axis of another order, and the index of the largest element.
fn turned_quantization() -> Model {
    let sketch = x(&["n", "3", "5", "2"])
        .with("Transpose", &["x"], &["a"], perm(&[0, 3, 1, 2]))
        .constant("scale", floats(&[2], 0.5))
        .node("QuantizeLinear", &["a", "scale"], &["b"])
        .node("DequantizeLinear", &["b", "scale"], &["c"])
        .with("ArgMax", &["c"], &["d"], axis(-1))
        .with("Cast", &["d"], &["e"], vec![("to", Content::Int(1))])
        .with("Transpose", &["e"], &["t"], perm(&[0, 2, 3, 1]));
    end(sketch, &["n", "3", "1", "2"])
}

/// Softmax over an axis of another order.
fn turned_softmax() -> Model {
    let sketch = x(&["n", "3", "5", "2"])
        .with("Transpose", &["x"], &["a"], perm(&[0, 3, 1, 2]))
        .with("Softmax", &["a"], &["b"], axis(1))
        .node("Neg", &["b"], &["c"])
        .with("Transpose", &["c"], &["t"], perm(&[0, 2, 3, 1]));
    end(sketch, &["n", "3", "5", "2"])
}

/// The difference to sums over two axes, in another order of axes.
fn turned_sum() -> Model {
    let sketch = x(&["n", "3", "5", "2"])
        .with("Transpose", &["x"], &["a"], perm(&[0, 3, 1, 2]))
        .ints("axes", &[2, -1])
        .node("ReduceSum", &["a", "axes"], &["b"])
        .node("Sub", &["a", "b"], &["c"])
        .with("Transpose", &["c"], &["t"], perm(&[0, 2, 3, 1]));
    end(sketch, &["n", "3", "5", "2"])
}

/// A Split and `TopK` along axes of another order.
fn turned_parts() -> Model {
    let sketch = x(&["n", "3", "5", "2"])
        .with("Transpose", &["x"], &["a"], perm(&[0, 3, 1, 2]))
        .ints("sizes", &[1, 1])
        .with("Split", &["a", "sizes"], &["b", "c"], axis(1))
        .node("Sub", &["b", "c"], &["d"])
        .ints("count", &[2])
        .node("TopK", &["d", "count"], &["e", "f"])
        .with("Cast", &["f"], &["g"], vec![("to", Content::Int(1))])
        .node("Add", &["e", "g"], &["h"])
        .with("Transpose", &["h"], &["t"], perm(&[0, 2, 3, 1]));
    end(sketch, &["n", "3", "2", "1"])
}

/// The parts of a value before and after an index of an axis, exchanged.
fn exchanged(behind: i64) -> Model {
    let sketch = x(&["n", "9"])
        .ints("zero", &[0])
        .ints("four", &[4])
        .ints("behind", &[behind])
        .ints("one", &[1])
        .ints("end", &[i64::MAX])
        .node("Slice", &["x", "behind", "end", "one"], &["a"])
        .node("Slice", &["x", "zero", "four", "one"], &["b"])
        .with("Concat", &["a", "b"], &["t"], axis(-1));
    end(sketch, &["n", "9"])
}

/// A sum with zero whose signs of zeros a sum with a bias hides.
fn unseen_zeros() -> Model {
    let n = &["n", "4"][..];
    let sketch = scalar("zero", 0.0)(x(n))
        .constant("bias", floats(&[4], -0.25))
        .node("Add", &["zero", "x"], &["a"])
        .node("Neg", &["a"], &["b"])
        .node("Add", &["b", "bias"], &["t"]);
    end(sketch, n)
}

#[expect(clippy::too_many_lines, reason = "a table of cases")]
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
    // log2(2 * [1, 2.5, 7]) is [1, 2.32, 3.8]: the first may be rounded to 0.
    let settled = |elements: &[f32]| {
        x(&["4", "n"])
            .constant("elements", Tensor::vector(elements))
            .constant("two", Tensor::scalar(2f32))
            .node("Mul", &["elements", "two"], &["a"])
            .node("Log", &["a"], &["b"])
            .node("Log", &["two"], &["c"])
            .node("Div", &["b", "c"], &["d"])
            .with("Cast", &["d"], &["e"], vec![("to", Content::Int(7))])
            .node("Gather", &["x", "e"], &["t"])
    };
    vec![
        pattern("settled-integers", end(settled(&[2.5, 7.0]), &["2", "n"]), "Gather Relu"),
        pattern(
            "views-of-functions",
            x(n).ints("first", &[0])
                .constant("angles", Tensor::vector(&[0.5f32, 1.0, 1.5, 2.0]))
                .node("Cos", &["angles"], &["a"])
                .node("Unsqueeze", &["a", "first"], &["b"])
                .node("Mul", &["x", "b"], &["y"])
                .output("y", DType::F32, n)
                .model(),
            "Cos Mul",
        ),
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
            "empty-joins",
            end(
                x(n).constant("none", floats(&[0, 4], 0.0)).with(
                    "Concat",
                    &["none", "x", "none"],
                    &["t"],
                    axis(-2),
                ),
                n,
            ),
            "Relu",
        ),
        pattern("known-floats", cast_like(), "Sin Mul Relu"),
        pattern("single-reduction", single("ReduceMax"), "Relu"),
        pattern("single-reduction", sums(), "Abs Relu"),
        pattern("kept-axes", reduced("ReduceMax", 1, "Squeeze", [-1, 2], &["n", "3"]), "ReduceMax Relu"),
        pattern(
            "kept-axes",
            reduced("ReduceSum", 0, "Unsqueeze", [1, -2], &["n", "1", "4"]),
            "ReduceSum Relu",
        ),
        pattern("known-element", element(0), "Relu"),
        pattern("known-element", element(-1), "Sin Relu"),
        pattern("known-element", split_element(None, 3, 1, &["n", "1"]), "Slice Relu"),
        pattern("known-element", split_element(None, 3, 0, &["n"]), "Gather Relu"),
        pattern("known-element", split_element(Some(Tensor::scalar(3i64)), 2, 0, &["n", "1"]), "Slice Relu"),
        pattern(
            "known-element",
            split_element(Some(Tensor::vector(&[2i64, 4, 1])), -2, 0, &["n", "4"]),
            "Slice Relu",
        ),
        pattern("known-element", optional(), "Mul Relu"),
        pattern(
            "known-sequence",
            end(
                x(n).node("SequenceConstruct", &["x", "x"], &["all"]).with(
                    "ConcatFromSequence",
                    &["all"],
                    &["t"],
                    axis(-1),
                ),
                &["n", "8"],
            ),
            "Concat Relu",
        ),
        pattern("transposes-around-regions", turned_axes(), "Slice Concat Pad Neg Relu"),
        pattern(
            "transposes-around-regions",
            turned_quantization(),
            "QuantizeLinear DequantizeLinear ArgMax Cast Relu",
        ),
        pattern("transposes-around-regions", turned_parts(), "Split Sub TopK Cast Add Relu"),
        pattern("slices-as-split", exchanged(4), "Split Concat Relu"),
        pattern("slices-as-split", exchanged(-5), "Split Concat Relu"),
        pattern("unseen-zeros", unseen_zeros(), "Neg Add Relu"),
        pattern("filled-operand", filled("Mul", &["ones", "half"]), "Shape ConstantOfShape Add Relu"),
        pattern("filled-operand", filled("Sub", &["half", "ones"]), "Shape ConstantOfShape Add Relu"),
        pattern("filled-operand", filled("Neg", &["ones"]), "Shape ConstantOfShape Add Relu"),
        pattern("transposes-around-regions", turned("Sqrt"), "Transpose Add Sqrt Mul ReduceMax Mul Relu"),
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
        pattern("single-loop", looped(1), "Mul Relu"),
        pattern("unrolled-loops", undone(5), "Neg Relu"),
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

#[expect(clippy::too_many_lines, reason = "a table of cases")]
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
        pattern("transposes-around-function-regions", turned_softmax(), "Softmax Neg Relu"),
        pattern("transposes-around-function-regions", turned_sum(), "ReduceSum Sub Relu"),
        pattern("transpose-into-reduction", means(), "ReduceMean Relu"),
        pattern("clips", least_and_most(), "Clip"),
        pattern("reductions", single("ReduceSum"), "Relu"),
        pattern("reductions", reduced("ReduceSum", 0, "ReduceSum", [1, -1], &["n"]), "ReduceSum Relu"),
        pattern(
            "reductions",
            reduced("ReduceMean", 1, "ReduceMean", [0, 2], &["1", "3", "1"]),
            "ReduceMean Relu",
        ),
        pattern("reductions", reduced("ReduceMin", 0, "ReduceMin", [0, 0], &["4"]), "ReduceMin Relu"),
        pattern(
            "scales",
            end(
                scalar("third", 3.0)(x(&["n", "4"]))
                    .constant("list", floats(&[1], 0.7))
                    .node("Div", &["x", "third"], &["a"])
                    .node("Mul", &["list", "a"], &["b"])
                    .node("Div", &["b", "list"], &["t"]),
                &["n", "4"],
            ),
            "Mul Relu",
        ),
        pattern(
            "transposes-around-function-regions",
            turned("Sin"),
            "Transpose Add Sin Mul ReduceMax Mul Relu",
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
