//! Patterns of several nodes, each for one folding rule.

use gradus::graph::Content;
use gradus::{DType, Model, Tensor};

use super::patterns::{Pattern, end, floats, of, pattern, scalar, x};
use crate::common::sketch::Sketch;

fn axis(number: i64) -> Vec<(&'static str, Content)> {
    vec![("axis", Content::Int(number))]
}

/// A Loop of `trips` iterations, whose state becomes its square plus the number of the iteration.
fn looped(trips: i64) -> Model {
    let n = &["n", "4"][..];
    let body = Sketch::nested()
        .text("i: int64[]; go: bool[]")
        .input("a", DType::F32, n)
        .text(
            "step = Cast(i, to=1); square = Mul(a, a); next = Add(square, step);
             return go: bool[]",
        )
        .output("next", DType::F32, n)
        .graph();
    let sketch = x(n).constant("trips", Tensor::scalar(trips)).text("start = true").with(
        "Loop",
        &["trips", "start", "x"],
        &["t"],
        vec![("body", body)],
    );
    end(sketch, n)
}

/// A Loop whose iterations undo each other in pairs.
fn undone(trips: i64) -> Model {
    let n = &["n", "4"][..];
    let body = Sketch::nested()
        .text("i: int64[]; go: bool[]")
        .input("a", DType::F32, n)
        .text("next = Neg(a); return go: bool[]")
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
        .text(
            "a = Transpose(x, perm=[1, 2, 0]); b = Transpose(z, perm=[1, 2, 0]);
             c = Add(b, a)",
        )
        .node(function, &["c"], &["d"])
        .text(
            "e = Mul(scale, d); f = Transpose(e, perm=[2, 0, 1]);
             g = ReduceMax(b, keepdims=1); t = Mul(f, g)",
        );
    end(sketch, cube)
}

/// Ones in the shape of `x`, and what an operator makes of them.
fn filled(operator: &str, inputs: &[&str]) -> Model {
    let sizes = &["n", "4"][..];
    let ones = Content::Tensor(floats(&[1], 1.0).into());
    let sketch = scalar("half", 0.5)(x(sizes))
        .text("s = Shape(x)")
        .with("ConstantOfShape", &["s"], &["ones"], vec![("value", ones)])
        .node(operator, inputs, &["a"]);
    end(sketch.text("t = Add(x, a)"), sizes)
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
    let sketch = x(&["n", "3", "5", "2"]).text(
        "a = Transpose(x, perm=[0, 3, 1, 2]); axes = [-1, 2];
         t = ReduceMean(a, axes, keepdims=0)",
    );
    end(sketch, &["n", "2"])
}

/// Bounds by Max and Min, and that of Relu.
fn least_and_most() -> Model {
    let n = &["n", "4"][..];
    let sketch = scalar("least", -0.25)(scalar("most", 0.5)(x(n)));
    end(sketch.text("a = Max(least, x); t = Min(a, most)"), n)
}

/// A constant that is cast to the type of what programs round otherwise.
fn cast_like() -> Model {
    let n = &["n", "4"][..];
    let sketch = x(n).text("a = Sin(x); list = [1, 2, 3, 4]");
    end(sketch.text("b = CastLike(list, a); t = Mul(a, b)"), n)
}

/// The largest elements of an axis of size 1.
fn single(operator: &str) -> Model {
    let n = &["n", "1", "4"][..];
    end(x(n).text("axes = [1]").node(operator, &["x", "axes"], &["t"]), n)
}

/// Sums of one element each that is never -0.
fn sums() -> Model {
    let sketch = x(&["n", "1"]).text(
        "shape = [-1, 1, 1]; axes = [1]; a = Abs(x); b = Reshape(a, shape);
         t = ReduceSum(b, axes, keepdims=0)",
    );
    end(sketch, &["n", "1"])
}

/// A sequence of two values, and an element of it.
fn element(at: i64) -> Model {
    let n = &["n", "4"][..];
    let sketch = x(n)
        .constant("at", Tensor::scalar(at))
        .text("a = Sin(x); all = SequenceConstruct(x, a); t = SequenceAt(all, at)");
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
    end(sketch.text("t = SequenceAt(all, at)"), left)
}

/// The length of a sequence of floats that programs round otherwise, and a value within an optional
/// one.
fn optional() -> Model {
    let n = &["n", "4"][..];
    let sketch = x(n).text(
        "a = Sin(x); all = SequenceConstruct(a, x, a); length = SequenceLength(all);
         count = Cast(length, to=1); maybe = Optional(x); b = OptionalGetElement(maybe);
         c = OptionalGetElement(b); t = Mul(c, count)",
    );
    end(sketch, n)
}

/// Operators that read axes by number, of a value of another order of axes.
fn turned_axes() -> Model {
    let sketch = x(&["n", "3", "5", "2"]).text(
        "a = Transpose(x, perm=[0, 3, 1, 2]); starts = [1, -1]; ends = [3, -9];
         axes = [-1, 1]; steps = [1, -1]; b = Slice(a, starts, ends, axes, steps);
         c = Concat(a, b, axis=-1); pads = [0, 1, 2, 0, 0, 0, 0, 3]; value = 0.5;
         d = Pad(c, pads, value); e = Neg(d); t = Transpose(e, perm=[0, 2, 3, 1])",
    );
    end(sketch, &["n", "5", "10", "3"])
}

/// Quantization along an axis of another order, and the index of the largest element.
fn turned_quantization() -> Model {
    let sketch = x(&["n", "3", "5", "2"])
        .text("a = Transpose(x, perm=[0, 3, 1, 2])")
        .constant("scale", floats(&[2], 0.5))
        .text(
            "b = QuantizeLinear(a, scale); c = DequantizeLinear(b, scale);
             d = ArgMax(c, axis=-1); e = Cast(d, to=1); t = Transpose(e, perm=[0, 2, 3, 1])",
        );
    end(sketch, &["n", "3", "1", "2"])
}

/// Softmax over an axis of another order.
fn turned_softmax() -> Model {
    let sketch = x(&["n", "3", "5", "2"]).text(
        "a = Transpose(x, perm=[0, 3, 1, 2]); b = Softmax(a, axis=1); c = Neg(b);
         t = Transpose(c, perm=[0, 2, 3, 1])",
    );
    end(sketch, &["n", "3", "5", "2"])
}

/// The difference to sums over two axes, in another order of axes.
fn turned_sum() -> Model {
    let sketch = x(&["n", "3", "5", "2"]).text(
        "a = Transpose(x, perm=[0, 3, 1, 2]); axes = [2, -1]; b = ReduceSum(a, axes);
         c = Sub(a, b); t = Transpose(c, perm=[0, 2, 3, 1])",
    );
    end(sketch, &["n", "3", "5", "2"])
}

/// A Split and `TopK` along axes of another order.
fn turned_parts() -> Model {
    let sketch = x(&["n", "3", "5", "2"]).text(
        "a = Transpose(x, perm=[0, 3, 1, 2]); sizes = [1, 1]; b, c = Split(a, sizes, axis=1);
         d = Sub(b, c); count = [2]; e, f = TopK(d, count); g = Cast(f, to=1); h = Add(e, g);
         t = Transpose(h, perm=[0, 2, 3, 1])",
    );
    end(sketch, &["n", "3", "2", "1"])
}

/// The parts of a value before and after an index of an axis, exchanged.
fn exchanged(behind: i64) -> Model {
    let sketch = x(&["n", "9"]).text("zero = [0]; four = [4]").ints("behind", &[behind]).text(
        "one = [1]; end = [9223372036854775807]; a = Slice(x, behind, end, one);
         b = Slice(x, zero, four, one); t = Concat(a, b, axis=-1)",
    );
    end(sketch, &["n", "9"])
}

/// A sum with zero whose signs of zeros a sum with a bias hides.
fn unseen_zeros() -> Model {
    let n = &["n", "4"][..];
    let sketch = scalar("zero", 0.0)(x(n))
        .constant("bias", floats(&[4], -0.25))
        .text("a = Add(zero, x); b = Neg(a); t = Add(b, bias)");
    end(sketch, n)
}

#[expect(clippy::too_many_lines, reason = "a table of cases")]
pub fn exact() -> Vec<Pattern> {
    let n = &["n", "4"][..];
    let bounds = |sketch: Sketch| sketch.text("one = [1]; two = [2]; ends = [8]; less = [4]");
    let sliced = |last: &str, sizes: &[&str]| {
        end(
            bounds(x(&["n", "9"])).text("a = Slice(x, one, ends, one)").node(
                "Slice",
                &["a", "two", last, "one"],
                &["t"],
            ),
            sizes,
        )
    };
    // log2(2 * [1, 2.5, 7]) is [1, 2.32, 3.8]: the first may be rounded to 0.
    let settled = |elements: &[f32]| {
        x(&["4", "n"]).constant("elements", Tensor::vector(elements)).text(
            "two = 2.0; a = Mul(elements, two); b = Log(a); c = Log(two); d = Div(b, c);
             e = Cast(d, to=7); t = Gather(x, e)",
        )
    };
    vec![
        pattern("settled-integers", end(settled(&[2.5, 7.0]), &["2", "n"]), "Gather Relu"),
        of(
            "views-of-functions",
            "n, 4 -> n, 4",
            "first = [0]; angles = float32[4](0.5, 1, 1.5, 2); a = Cos(angles);
             b = Unsqueeze(a, first); y = Mul(x, b)",
            "Cos Mul",
        ),
        pattern("slices", sliced("less", &["n", "2"]), "Slice Relu"),
        pattern("slices", sliced("ends", &["n", "5"]), "Slice Relu"),
        of("joins", "n, 4 -> n, 12", "a = Concat(x, x, axis=-1); t = Concat(x, a, axis=1)", "Concat Relu"),
        // The other reader of the inner Concat is not needed, or found to be equal later.
        of(
            "joins",
            "n, 4 -> n, 12",
            "a = Concat(x, x, axis=1); dead = Sin(a); b = Concat(x, a, axis=1);
             c = Concat(x, a, axis=1); t = Add(b, c)",
            "Concat Add Relu",
        ),
        pattern(
            "empty-joins",
            end(x(n).constant("none", floats(&[0, 4], 0.0)).text("t = Concat(none, x, none, axis=-2)"), n),
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
        of(
            "known-sequence",
            "n, 4 -> n, 8",
            "all = SequenceConstruct(x, x); t = ConcatFromSequence(all, axis=-1)",
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
        of(
            "split-join",
            "n, 4 -> n, 4",
            "sizes = [1, 3]; a, b = Split(x, sizes, axis=1);
             t = Concat(a, b, axis=-1)",
            "Relu",
        ),
        of("repeated", "n, 4 -> n, 4", "a = Ceil(x); t = Ceil(a)", "Ceil Relu"),
        pattern("single-loop", looped(1), "Mul Relu"),
        pattern("unrolled-loops", undone(5), "Neg Relu"),
        pattern(
            "reshapes-around-functions",
            end(
                around(&["6", "4"], &["2", "3", "4"], "Sin").text("back = [6, 4]; t = Reshape(b, back)"),
                &["6", "4"],
            ),
            "Sin Relu",
        ),
        pattern(
            "reshapes-around",
            scalar("half", 0.5)(around(&["6", "4"], &["2", "3", "4"], "Neg"))
                .text(
                    "c = Mul(b, half); d = Add(b, c); back = [6, 4]; t = Reshape(d, back);
                     y = Relu(t); return y: float32[6, 4]",
                )
                .model(),
            "Neg Mul Add Relu",
        ),
        of(
            "transposes-around",
            "2, 3, 4 -> 2, 3, 4",
            "a = Transpose(x, perm=[1, 2, 0]); b = Neg(a);
             t = Transpose(b, perm=[2, 0, 1])",
            "Neg Relu",
        ),
    ]
}

/// A function of `x` in another shape.
fn around(sizes: &[&str], within: &[&str], operator: &str) -> Sketch {
    let target: Vec<i64> = within.iter().map(|size| size.parse().unwrap()).collect();
    x(sizes).ints("within", &target).text("a = Reshape(x, within)").node(operator, &["a"], &["b"])
}

fn last(sketch: Sketch) -> Sketch {
    scalar("eps", 1e-6)(scalar("two", 2.0)(sketch)).text("last = [-1]")
}

fn root(sketch: Sketch, of: &str) -> Sketch {
    sketch.node("Pow", &[of, "two"], &["p"]).text("v = ReduceMean(p, last); e = Add(v, eps); s = Sqrt(e)")
}

fn of_set(sketch: Sketch, sizes: &[&str], version: i64) -> Model {
    sketch.text("y = Relu(t)").output("y", DType::F32, sizes).model_of(version)
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
        .text("mask: float32[n, 1, s, s]");
    let sketch = scalar("half", 0.5)(sketch);
    let sketch = match order {
        Keys::Exchanged => sketch.text("kt = Transpose(k, perm=[0, 1, 3, 2])"),
        Keys::Twice => {
            sketch.text("k4 = Transpose(k, perm=[0, 2, 1, 3]); kt = Transpose(k4, perm=[0, 1, 3, 2])")
        }
        Keys::AtOnce => sketch.text("r = Relu(k); kt = Transpose(r, perm=[0, 2, 3, 1])"),
    };
    let sketch = sketch.text("qs = Mul(q, half); scores = MatMul(qs, kt); scaled = Div(scores, half)");
    let sketch = if mask { sketch.text("masked = Add(scaled, mask)") } else { sketch };
    let sketch = sketch
        .with("Softmax", &[if mask { "masked" } else { "scaled" }], &["weights"], axis(-1))
        .text("t = MatMul(weights, v)");
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
    let gemm = |sketch: Sketch| weights(sketch).text("a = Gemm(x, w, b)");
    let halves = Sketch::new().input("x", DType::F16, rows);
    let narrow = root(last(halves).constant("gain", floats(&[8], 0.5)).text("wide = Cast(x, to=1)"), "wide")
        .text(
            "q = Div(wide, s); r = Cast(q, to=10); g = Cast(gain, to=10); u = Mul(r, g);
             t = Cast(u, to=1)",
        );
    vec![
        pattern(
            "rms-normalization",
            of_set(root(gain(last(x(rows))), "x").text("q = Div(x, s); t = Mul(q, gain)"), rows, 23),
            "RMSNormalization Relu",
        ),
        pattern(
            "rms-normalization",
            of_set(
                root(gain(last(x(rows))), "x").text("r = Reciprocal(s); q = Mul(x, r); t = Mul(gain, q)"),
                rows,
                23,
            ),
            "RMSNormalization Relu",
        ),
        pattern("rms-normalization", of_set(narrow, rows, 23), "RMSNormalization Cast Relu"),
        pattern(
            "normalization-bias",
            end(gain(x(rows)).text("a = LayerNormalization(x, gain, axis=-1); t = Add(gain, a)"), rows),
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
                    .text("a = Div(x, third); b = Mul(list, a); t = Div(b, list)"),
                &["n", "4"],
            ),
            "Mul Relu",
        ),
        pattern(
            "transposes-around-function-regions",
            turned("Sin"),
            "Transpose Add Sin Mul ReduceMax Mul Relu",
        ),
        of(
            "transposes-around-functions",
            "2, 3, 4 -> 2, 3, 4",
            "a = Transpose(x, perm=[1, 2, 0]); b = Sin(a);
             t = Transpose(b, perm=[2, 0, 1])",
            "Sin Relu",
        ),
        of(
            "clips",
            "n, 4 -> n, 4",
            "low = -0.75; high = 0.5; more = 0.75; a = Clip(x, low, more);
             b = Clip(a, low, high); y = Relu(b)",
            "Clip",
        ),
        pattern("swish", of_set(x(n).text("a = Sigmoid(x); t = Mul(a, x)"), n, 24), "Swish Relu"),
        pattern("affine-into-conv", end(gemm(x(n)).text("t = Mul(a, c)"), out), "Gemm Relu"),
        pattern("affine-into-conv", end(gemm(x(n)).text("t = Sub(a, c)"), out), "Gemm Relu"),
        pattern(
            "affine-into-conv",
            end(
                gemm(x(n))
                    .constant("mean", floats(&[3], -0.5))
                    .constant("var", floats(&[3], 1.5))
                    .text("t = BatchNormalization(a, c, b, mean, var)"),
                out,
            ),
            "Gemm Relu",
        ),
        pattern(
            "transpose-into-gemm",
            end(weights(x(&["4", "n"])).text("a = Transpose(x, perm=[1, 0]); t = Gemm(a, w, b)"), out),
            "Gemm Relu",
        ),
    ]
}
