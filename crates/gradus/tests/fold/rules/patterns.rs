//! A model of each pattern that a rule simplifies, and the operators that are left of it.

use gradus::fold::{Level, RULES};
use gradus::graph::Content;
use gradus::{DType, Model, Shape, Tensor};

use super::composed;
use crate::common::sketch::Sketch;

/// A pattern: its rule, the model, and the operators that are left.
pub struct Pattern {
    pub rule: &'static str,
    pub level: Level,
    pub model: Model,
    pub left: &'static str,
}

pub fn pattern(rule: &'static str, model: Model, left: &'static str) -> Pattern {
    let level = RULES.iter().find(|each| each.name == rule).unwrap().level;
    Pattern { rule, level, model, left }
}

/// A pattern of these statements of `x`, by the sizes of `x` and of the result: of `t`, which Relu
/// reads, or of `y`.
pub fn of(rule: &'static str, sizes: &str, nodes: &str, left: &'static str) -> Pattern {
    let (from, to) = sizes.split_once(" -> ").unwrap();
    let end = if nodes.contains("y = ") { "" } else { "y = Relu(t);" };
    let text = format!("x: float32[{from}]; {nodes}; {end} return y: float32[{to}]");
    pattern(rule, Sketch::of(&text).model(), left)
}

pub fn x(sizes: &[&str]) -> Sketch {
    Sketch::new().input("x", DType::F32, sizes)
}

pub fn scalar(name: &'static str, value: f32) -> impl Fn(Sketch) -> Sketch {
    move |sketch| sketch.constant(name, Tensor::scalar(value))
}

pub fn floats(dims: &[usize], from: f32) -> Tensor {
    let shape = Shape::new(dims.to_vec()).unwrap();
    let elements: Vec<_> = (0u16..).take(shape.len()).map(|i| from + f32::from(i % 7) / 8.0).collect();
    Tensor::from_vec(shape, elements).unwrap()
}

pub fn end(sketch: Sketch, sizes: &[&str]) -> Model {
    sketch.text("y = Relu(t)").output("y", DType::F32, sizes).model()
}

pub fn ints(values: &[i64]) -> Content {
    Content::Ints(values.to_vec().into())
}

/// A scalar operand of a binary operator between x and Relu.
pub fn binary(operator: &str, value: f32) -> Model {
    let n = &["n", "3"];
    end(scalar("c", value)(x(n)).node(operator, &["x", "c"], &["t"]), n)
}

pub fn moves() -> Vec<Pattern> {
    vec![
        of("identity", "n, 3 -> n, 3", "a = Identity(x); t = Identity(a)", "Relu"),
        of("same-cast", "n, 3 -> n, 3", "t = Cast(x, to=1)", "Relu"),
        of("lossless-casts", "n, 3 -> n, 3", "a = Cast(x, to=11); t = Cast(a, to=1)", "Relu"),
        of(
            "whole-slice",
            "n, 3 -> n, 3",
            "from = [0]; to = [9223372036854775807]; t = Slice(x, from, to)",
            "Relu",
        ),
        of("single-join", "n, 3 -> n, 3", "t = Concat(x, axis=0)", "Relu"),
        of("zero-pad", "n, 3 -> n, 3", "pads = [0, 0, 0, 0]; t = Pad(x, pads)", "Relu"),
        of("same-transpose", "n, 3 -> n, 3", "t = Transpose(x, perm=[0, 1])", "Relu"),
        of(
            "transposes",
            "2, 3, 4 -> 2, 3, 4",
            "a = Transpose(x, perm=[1, 2, 0]); t = Transpose(a, perm=[2, 0, 1])",
            "Relu",
        ),
        of(
            "transposes",
            "2, 3, 4 -> 4, 2, 3",
            "a = Transpose(x, perm=[1, 2, 0]); t = Transpose(a, perm=[1, 2, 0])",
            "Transpose Relu",
        ),
        of(
            "reshapes",
            "n, 6 -> n, 3, 2",
            "a_shape = [-1, 2, 3]; b_shape = [-1, 3, 2]; a = Reshape(x, a_shape);
             t = Reshape(a, b_shape)",
            "Reshape Relu",
        ),
        of(
            "reshapes",
            "n, 6 -> m, 1, 4, 6",
            "heads = [-1, 4, 1, 6]; a = Reshape(x, heads);
             t = Transpose(a, perm=[0, 2, 1, 3])",
            "Reshape Relu",
        ),
        of(
            "unit-axes",
            "n, m -> n, 1, m, 1",
            "both = [1, 2]; third = [2]; last = [-1]; a = Unsqueeze(x, both);
             b = Squeeze(a, third); t = Unsqueeze(b, last)",
            "Unsqueeze Relu",
        ),
        of(
            "unit-axes",
            "n, 1, 1, m -> n, m",
            "second = [1]; a = Squeeze(x, second); t = Squeeze(a, second)",
            "Squeeze Relu",
        ),
        of(
            "slices",
            "n, 5, 6 -> n, 2, 2",
            "one = [1]; three = [3]; last = [-1]; a = Slice(x, one, three, one);
             t = Slice(a, one, three, last)",
            "Slice Relu",
        ),
        of("equal-views", "n, 3 -> n, 3", "axis = [0]; a = Unsqueeze(x, axis); t = Squeeze(a, axis)", "Relu"),
    ]
}

pub fn values() -> Vec<Pattern> {
    let n = &["n", "3"][..];
    let bools = || Sketch::new().input("x", DType::Bool, n);
    let not = |sketch: Sketch| sketch.text("y = Not(t)").output("y", DType::Bool, n).model();
    vec![
        of(
            "known-floats",
            "3 -> 3",
            "start = 0.25; limit = 1.0; step = 0.25; a = Range(start, limit, step);
             t = Add(x, a)",
            "Add Relu",
        ),
        of("dropout", "n, 3 -> n, 3", "t = Dropout(x)", "Relu"),
        pattern("neutral-operand", binary("Mul", 1.0), "Relu"),
        pattern("neutral-operand", binary("Div", 1.0), "Relu"),
        pattern("neutral-operand", binary("Sub", 0.0), "Relu"),
        pattern("neutral-operand", binary("Add", -0.0), "Relu"),
        pattern("neutral-operand", binary("Pow", 1.0), "Relu"),
        pattern("neutral-operand", not(bools().text("c = true; t = And(x, c)")), "Not"),
        of(
            "known-floats",
            "n, 3 -> n, 3",
            "zero = 0.0; half = 0.5; c = 16.0; four = Pow(c, half); one = Exp(zero);
             factor = Mul(four, one); t = Mul(x, factor)",
            "Mul Relu",
        ),
        pattern(
            "open-clip",
            Sketch::new()
                .input("x", DType::I64, n)
                .text("t = Clip(x); y = Neg(t)")
                .output("y", DType::I64, n)
                .model(),
            "Neg",
        ),
        pattern("double-inverse", not(bools().text("a = Not(x); t = Not(a)")), "Not"),
        of("double-inverse", "n, 3 -> n, 3", "c = -1.0; a = Mul(c, x); t = Mul(a, c)", "Relu"),
        of("known-where", "n, 3 -> n, 3", "c = true; other = 5.0; t = Where(c, x, other)", "Relu"),
        of(
            "negated-where",
            "n, 3 -> n, 3",
            "zero = 0.0; below = Less(x, zero); c = Not(below); t = Where(c, x, zero)",
            "Less Where Relu",
        ),
        of(
            "equal-nodes",
            "n, 3 -> n, 3",
            "a = 2.0; b = 2.0; p = Div(x, a); q = Div(x, b); y = Mul(p, q)",
            "Div Mul",
        ),
        // Nodes that read constants of more bytes are told apart by them.
        pattern(
            "equal-constants",
            x(&["n", "16500"])
                .constant("a", floats(&[16500], 1.0))
                .constant("b", floats(&[16500], 1.0))
                .text("p = Div(x, a); q = Div(x, b); y = Mul(p, q); return y: float32[n, 16500]")
                .model(),
            "Div Mul",
        ),
        pattern("undone-axes", undone_axes(), "ArgMax ReduceMax ConstantOfShape Concat Reshape ReduceMax"),
        pattern(
            "equal-nodes",
            x(n).text("s = Shape(x)")
                .with("ConstantOfShape", &["s"], &["a"], vec![("value", one())])
                .with("ConstantOfShape", &["s"], &["b"], vec![("value", one())])
                .text("p = Sub(a, b); y = Mul(p, x)")
                .output("y", DType::F32, n)
                .model(),
            "Shape ConstantOfShape Sub Mul",
        ),
        of("output-names", "n, 3 -> n, 3", "a = Relu(x); y = Identity(a)", "Relu"),
        of("known-floats", "n, 3 -> n, 3", "c = 4.0; r = Sqrt(c); t = Mul(x, r)", "Mul Relu"),
    ]
}

/// A value whose rank depends on numbers gets an axis and loses it.
fn undone_axes() -> Model {
    x(&["2", "3"])
        .text("first = [0]; rest = [-1]; at = ArgMax(x, keepdims=0); count = ReduceMax(at)")
        .with(
            "ConstantOfShape",
            &["count"],
            &["ones"],
            vec![("value", Content::Tensor(Tensor::vector(&[1i64]).into()))],
        )
        .text(
            "shape = Concat(rest, ones, axis=0); a = Reshape(x, shape);
             b = Unsqueeze(a, first); c = Squeeze(b, first); y = ReduceMax(c, keepdims=0);
             return y: float32[]",
        )
        .model()
}

pub fn one() -> Content {
    Content::Tensor(Tensor::vector(&[1.5f32]).into())
}

fn default_state() -> Pattern {
    let model = Sketch::of("x: float32[5, n, 2]")
        .constant("w", floats(&[1, 12, 2], -0.3))
        .constant("r", floats(&[1, 12, 3], -0.4))
        .text(
            "one = [1]; size = [3]; all = Shape(x); n = Gather(all, one);
             state = Concat(one, n, size, axis=0); zeros = ConstantOfShape(state);
             y = LSTM(x, w, r, , , zeros, zeros, hidden_size=3);
             return y: float32[5, 1, n, 3]",
        )
        .model();
    pattern("default-inputs", model, "LSTM")
}

/// Averages of what zeros are put around.
fn averages() -> Model {
    let window = vec![("kernel_shape", ints(&[3, 2])), ("strides", ints(&[2, 1]))];
    end(
        x(&["n", "2", "6", "6"]).text("pads = [0, 0, 1, 0, 0, 0, 2, 1]; a = Pad(x, pads)").with(
            "AveragePool",
            &["a"],
            &["t"],
            window,
        ),
        &["n", "2", "4", "6"],
    )
}

fn fused() -> Vec<Pattern> {
    let image = || {
        Sketch::of("x: float32[n, 2, 5, 5]")
            .constant("w", floats(&[3, 2, 3, 3], -0.5))
            .constant("b", floats(&[3], 0.5))
    };
    let out = &["n", "3", "3", "3"];
    let conv = |sketch: Sketch| sketch.text("a = Conv(x, w, b)");
    let channels = |sketch: Sketch| sketch.constant("c", floats(&[3, 1, 1], 0.5));
    let rows = &["n", "4"][..];
    let gelu = scalar("root", std::f32::consts::SQRT_2)(scalar("one", 1.0)(scalar("half", 0.5)(x(rows))))
        .text("a = Div(x, root); b = Erf(a); c = Add(b, one); d = Mul(x, c); t = Mul(d, half)");
    let mean = || vec![("keepdims", Content::Int(1))];
    let norm = scalar("eps", 1e-5)(scalar("two", 2.0)(x(rows)))
        .text("last = [-1]")
        .constant("gain", floats(&[4], 0.5))
        .constant("bias", floats(&[4], 0.1))
        .with("ReduceMean", &["x", "last"], &["m"], mean())
        .text("d = Sub(x, m); p = Pow(d, two)")
        .with("ReduceMean", &["p", "last"], &["v"], mean())
        .text("e = Add(v, eps); s = Sqrt(e); q = Div(d, s); g = Mul(q, gain); t = Add(g, bias)");
    vec![
        pattern(
            "affine-into-conv",
            end(
                conv(image())
                    .constant("gain", floats(&[3], 0.5))
                    .constant("mean", floats(&[3], -0.5))
                    .constant("var", floats(&[3], 1.5))
                    .text("t = BatchNormalization(a, gain, b, mean, var)"),
                out,
            ),
            "Conv Relu",
        ),
        pattern("affine-into-conv", end(channels(conv(image())).text("t = Mul(c, a)"), out), "Conv Relu"),
        pattern("affine-into-conv", end(channels(conv(image())).text("t = Add(a, c)"), out), "Conv Relu"),
        pattern(
            "pad-into-conv",
            end(
                image().text("pads = [0, 0, 1, 0, 0, 0, 1, 2]; a = Pad(x, pads); t = Conv(a, w, b)"),
                &["n", "3", "5", "5"],
            ),
            "Conv Relu",
        ),
        pattern("pad-into-conv", averages(), "AveragePool Relu"),
        pattern(
            "matmul-add",
            end(
                x(rows)
                    .constant("w", floats(&[4, 3], -0.5))
                    .constant("b", floats(&[3], 0.5))
                    .text("a = MatMul(x, w); t = Add(a, b)"),
                &["n", "3"],
            ),
            "Gemm Relu",
        ),
        pattern(
            "joined-products",
            x(rows)
                .constant("q", floats(&[4, 2], 0.5))
                .constant("k", floats(&[4, 3], -0.5))
                .constant("v", floats(&[4, 2], 0.1))
                .text(
                    "y = MatMul(x, q); z = MatMul(x, k); w = MatMul(x, v);
                     return y: float32[n, 2]; return z: float32[n, 3];
                     return w: float32[n, 2]",
                )
                .model(),
            "MatMul Split",
        ),
        pattern("zero-sum", binary("Add", 0.0), "Relu"),
        pattern("gelu", end(gelu, rows), "Gelu Relu"),
        pattern("layer-normalization", end(norm, rows), "LayerNormalization Relu"),
        of("float-arithmetic", "n, 4 -> n, 4", "c = 0.5; r = Exp(c); t = Mul(x, r)", "Mul Relu"),
    ]
}

pub fn patterns() -> Vec<Pattern> {
    let mut all = moves();
    all.extend(values());
    all.push(default_state());
    all.extend(fused());
    all.extend(composed::exact());
    all.extend(composed::fused());
    all
}
