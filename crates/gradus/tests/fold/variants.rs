//! Faults that a hand makes: graphs that differ in one thing, of which none is proved to be another.

use std::time::Duration;

use fastrand::Rng;
use gradus::Model;
use gradus::prove::{ProveOptions, UpTo, Verdict};

use super::laws::random;
use super::prove::{differ, outputs, written};
use crate::common::sketch::Sketch;

/// Inputs, a graph with `@` in it, and the texts to put there: each makes a graph of its own.
const FAMILIES: &[(&str, &str, &[&str])] = &[
    (
        "x: float32[3, 3, 3]",
        "y = Transpose(x, perm=@)",
        &["[0, 1, 2]", "[0, 2, 1]", "[1, 0, 2]", "[1, 2, 0]", "[2, 0, 1]", "[2, 1, 0]"],
    ),
    (
        "x: float32[2, 2, 2, 2]",
        "t = Transpose(x, perm=@); s = [2, 8]; y = Reshape(t, s)",
        &["[0, 2, 1, 3]", "[1, 0, 2, 3]", "[3, 1, 2, 0]", "[2, 3, 0, 1]", "[1, 2, 3, 0]", "[3, 0, 1, 2]"],
    ),
    (
        "x: float32[4, 4]; w: float32[4, 4]",
        "y = @",
        &[
            "Sub(x, w)",
            "Sub(w, x)",
            "Add(x, w)",
            "Add(x, x)",
            "Mul(x, w)",
            "Div(x, w)",
            "Div(w, x)",
            "MatMul(x, w)",
            "MatMul(w, x)",
            "Max(x, w)",
            "Min(x, w)",
            "Pow(x, w)",
            "Pow(w, x)",
            "PRelu(x, w)",
            "Mod(x, w, fmod=1)",
            "Mean(x, w)",
            "Gemm(x, w, alpha=2.0)",
            "Gemm(x, w, transA=1)",
            "Gemm(x, w, transB=1)",
            "Gemm(w, x, transB=1)",
            "Gemm(x, w, w)",
            "Gemm(x, w, w, beta=2.0)",
            "Gemm(x, w, x)",
        ],
    ),
    (
        "x: float32[4, 4]; w: float32[4, 4]",
        "y = @",
        &["Less(x, w)", "Less(w, x)", "LessOrEqual(x, w)", "LessOrEqual(w, x)", "Equal(x, w)"],
    ),
    (
        "x: float32[3, 3]; w: float32[3, 3]; c: bool[3, 3]; d: bool[3, 3]",
        "n = Not(c); m = Not(d); y = Where(@)",
        &["c, x, w", "n, x, w", "d, x, w", "m, x, w", "c, x, x", "c, w, w"],
    ),
    (
        "c: bool[3, 3]; d: bool[3, 3]",
        "n = Not(c); m = Not(d); y = @",
        &[
            "And(c, d)",
            "And(n, d)",
            "And(c, m)",
            "And(n, m)",
            "Or(c, d)",
            "Or(n, d)",
            "Xor(c, d)",
            "Xor(n, d)",
            "Not(c)",
            "Identity(c)",
        ],
    ),
    (
        "x: float32[4, 4]",
        "p = [1, 2, 1, 0]; q = [2, 1, 0, 1]; e = 0.5; y = Pad(@)",
        &[
            "x, p",
            "x, p, e",
            "x, p, mode=reflect",
            "x, p, mode=edge",
            "x, p, mode=wrap",
            "x, q",
            "x, q, mode=reflect",
            "x, q, mode=edge",
        ],
    ),
    (
        "x: float32[8, 8]",
        "a = [0]; b = [1]; z = [0]; o = [1]; f = [4]; g = [5]; h = [-3]; i = [-4]; t = [2]; v = [-1]; y = Slice(@)",
        &[
            "x, z, f, a",
            "x, z, f, b",
            "x, o, g, a",
            "x, o, g, b",
            "x, h, i, a, v",
            "x, z, g, a",
            "x, z, g, a, t",
            "x, z, g, b, t",
            "x, o, f, a",
            "x, i, i, a",
        ],
    ),
    (
        "x: float32[6, 6]",
        "z = [0]; t = [6]; f = [3]; a = [0]; s = Slice(x, z, f, a); u = Slice(x, f, t, a); y = @",
        &[
            "Concat(s, u, axis=0)",
            "Concat(u, s, axis=0)",
            "Concat(s, u, axis=1)",
            "Concat(s, s, axis=0)",
            "Concat(u, u, axis=0)",
            "Identity(s)",
            "Identity(u)",
        ],
    ),
    (
        "x: float32[4, 4]",
        "k = @; y = Mul(x, k)",
        &["0.5", "0.50000006", "-0.5", "0.25", "0.0", "2.0", "3.0", "1.0", "-1.0"],
    ),
    ("x: float32[4, 4]", "y = Cast(x, to=@)", &["1", "6", "7", "9", "10", "11", "16"]),
    (
        "x: float32[8]",
        "k = 100.0; m = Mul(x, k); t = Cast(m, to=@); y = Cast(t, to=7)",
        &["1", "2", "3", "9"],
    ),
    (
        "x: float32[3, 3, 3]",
        "a = [0]; b = [1]; c = [-1]; d = [0, 1]; y = @",
        &[
            "ReduceSum(x, a)",
            "ReduceSum(x, b)",
            "ReduceSum(x, c)",
            "ReduceSum(x, a, keepdims=0)",
            "ReduceSum(x, b, keepdims=0)",
            "ReduceSum(x, c, keepdims=0)",
            "ReduceSum(x, d)",
            "ReduceSum(x)",
            "ReduceSum(x, keepdims=0)",
            "ReduceMean(x, a)",
            "ReduceMax(x, a)",
            "ReduceMax(x, b)",
            "ReduceMin(x, a)",
            "ReduceMin(x, c)",
            "ReduceProd(x, a)",
            "ReduceL1(x, a)",
            "ReduceL2(x, a)",
            "ReduceSumSquare(x, a)",
            "ReduceLogSumExp(x, a)",
        ],
    ),
    (
        "x: float32[3, 3]",
        "y = @",
        &[
            "ArgMax(x)",
            "ArgMax(x, axis=1)",
            "ArgMax(x, keepdims=0)",
            "ArgMin(x)",
            "ArgMin(x, axis=-1)",
            "ArgMin(x, keepdims=0)",
            "ArgMax(x, axis=1, keepdims=0)",
        ],
    ),
    (
        "x: float32[3, 3, 3]",
        "y = @",
        &[
            "Softmax(x, axis=0)",
            "Softmax(x, axis=1)",
            "Softmax(x, axis=-1)",
            "LogSoftmax(x, axis=0)",
            "LogSoftmax(x)",
            "Hardmax(x, axis=0)",
            "Hardmax(x, axis=-2)",
            "Hardmax(x, axis=-1)",
            "Relu(x)",
            "Neg(x)",
            "Abs(x)",
            "Sign(x)",
            "Ceil(x)",
            "Floor(x)",
            "Round(x)",
            "Sqrt(x)",
            "Exp(x)",
            "Sigmoid(x)",
            "Tanh(x)",
            "Gelu(x)",
            "Gelu(x, approximate=tanh)",
            "Elu(x)",
            "Elu(x, alpha=2.0)",
            "LeakyRelu(x)",
            "LeakyRelu(x, alpha=0.5)",
            "Selu(x)",
            "HardSigmoid(x)",
            "HardSwish(x)",
            "ThresholdedRelu(x)",
            "Identity(x)",
            "Reciprocal(x)",
        ],
    ),
    ("x: float32[5, 5]", "k = @; y = CumSum(x, k)", &["0", "1"]),
    (
        "x: float32[5, 5]",
        "k = 0; y = CumSum(x, k, @)",
        &["exclusive=0", "exclusive=1", "reverse=1", "exclusive=1, reverse=1"],
    ),
    (
        "x: float32[1, 2, 6, 6]",
        "y = @",
        &[
            "MaxPool(x, kernel_shape=[2, 2])",
            "MaxPool(x, kernel_shape=[2, 2], strides=[2, 2])",
            "MaxPool(x, kernel_shape=[3, 3], strides=[2, 2])",
            "MaxPool(x, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)",
            "MaxPool(x, kernel_shape=[2, 2], dilations=[2, 2])",
            "MaxPool(x, kernel_shape=[2, 2], auto_pad=SAME_UPPER)",
            "MaxPool(x, kernel_shape=[2, 2], auto_pad=SAME_LOWER)",
            "MaxPool(x, kernel_shape=[3, 3], pads=[1, 1, 1, 1])",
            "AveragePool(x, kernel_shape=[3, 3], pads=[1, 1, 1, 1])",
            "AveragePool(x, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)",
            "AveragePool(x, kernel_shape=[2, 2])",
            "LpPool(x, kernel_shape=[2, 2], p=1)",
            "LpPool(x, kernel_shape=[2, 2])",
            "GlobalAveragePool(x)",
            "GlobalMaxPool(x)",
        ],
    ),
    (
        "x: float32[1, 2, 6, 6]; w: float32[2, 2, 3, 3]; b: float32[2]",
        "y = @",
        &[
            "Conv(x, w)",
            "Conv(x, w, b)",
            "Conv(x, w, pads=[1, 1, 1, 1])",
            "Conv(x, w, pads=[2, 0, 0, 2])",
            "Conv(x, w, strides=[2, 2])",
            "Conv(x, w, strides=[1, 2])",
            "Conv(x, w, strides=[2, 1])",
            "Conv(x, w, dilations=[2, 2])",
            "Conv(x, w, auto_pad=SAME_LOWER, strides=[2, 2])",
            "Conv(x, w, auto_pad=SAME_UPPER, strides=[2, 2])",
            "ConvTranspose(x, w)",
            "ConvTranspose(x, w, output_padding=[1, 1], strides=[2, 2])",
            "ConvTranspose(x, w, b)",
        ],
    ),
    (
        "x: float32[1, 1, 4, 4]",
        "s = [1, 1, 7, 7]; y = Resize(x, , , s, @)",
        &[
            "mode=nearest",
            "mode=nearest, nearest_mode=ceil",
            "mode=nearest, nearest_mode=floor",
            "mode=linear",
            "mode=cubic",
            "mode=linear, coordinate_transformation_mode=asymmetric",
            "mode=linear, coordinate_transformation_mode=align_corners",
            "mode=cubic, cubic_coeff_a=-0.5",
            "mode=nearest, coordinate_transformation_mode=align_corners",
        ],
    ),
    (
        "x: float32[1, 8, 4, 4]",
        "y = @",
        &[
            "DepthToSpace(x, blocksize=2)",
            "DepthToSpace(x, blocksize=2, mode=CRD)",
            "SpaceToDepth(x, blocksize=2)",
            "SpaceToDepth(x, blocksize=4)",
        ],
    ),
    (
        "x: float32[4, 4]; i: int64[4, 4]; u: float32[4, 4]",
        "y = ScatterElements(@)",
        &[
            "x, i, u",
            "x, i, u, axis=1",
            "x, i, u, reduction=add",
            "x, i, u, reduction=mul",
            "x, i, u, reduction=max",
            "u, i, x",
            "x, i, x",
            "x, i, u, axis=1, reduction=add",
        ],
    ),
    (
        "x: float32[4, 4]; i: int64[3]",
        "m = [0, 1]; k = [1, 0]; n = [1]; o = [-1]; y = @",
        &[
            "Gather(x, i)",
            "Gather(x, i, axis=1)",
            "Gather(x, m)",
            "Gather(x, k)",
            "Gather(x, n)",
            "Gather(x, o)",
            "Gather(x, n, axis=-1)",
            "Gather(x, m, axis=1)",
        ],
    ),
    ("x: float32[4, 4]", "k = @; y = Trilu(x, k)", &["0", "1", "-1", "2"]),
    ("x: float32[4, 4]", "k = 1; y = Trilu(x, k, upper=@)", &["0", "1"]),
    (
        "x: float32[3, 4]; w: float32[4]; b: float32[4]",
        "y = LayerNormalization(@)",
        &["x, w, b", "x, w", "x, b", "x, b, w", "x, w, b, epsilon=0.1", "x, w, b, epsilon=0.2"],
    ),
    (
        "x: float32[6]",
        "s = [2, 4]; t = [4, 2]; a, b = Split(x, s); c, d = Split(x, t); y = @",
        &[
            "Identity(a)",
            "Identity(b)",
            "Identity(c)",
            "Identity(d)",
            "Concat(b, a, axis=0)",
            "Concat(d, c, axis=0)",
            "Concat(a, d, axis=0)",
        ],
    ),
    (
        "x: float32[9]",
        "k = [3]; a, i = TopK(x, k); b, j = TopK(x, k, largest=0); y = @",
        &["Identity(a)", "Identity(b)", "Identity(i)", "Identity(j)"],
    ),
    (
        "x: float32[2, 3]",
        "s = [3, 2]; u = [6]; v = [2, 3, 1]; r = [2, 1]; q = [1, 2]; e = [2, 2, 3]; y = @",
        &[
            "Reshape(x, s)",
            "Transpose(x)",
            "Reshape(x, u)",
            "Reshape(x, v)",
            "Flatten(x, axis=0)",
            "Tile(x, r)",
            "Tile(x, q)",
            "Expand(x, e)",
            "Shape(x)",
            "Size(x)",
            "Shape(x, start=1)",
            "Shape(x, end=1)",
        ],
    ),
    ("x: float32[3, 3]", "l = @; y = Clip(x, l)", &["0.0", "-1.0", "0.5"]),
    ("x: float32[3, 3]", "l = 0.5; y = Clip(@)", &["x, l", "x, , l", "x"]),
    ("x: float32[8]", "y = IsInf(x, @)", &["detect_positive=0", "detect_negative=0", "detect_negative=1"]),
    (
        "x: int64[4]; w: int64[4]",
        "o = 5; u = Add(x, o); y = @",
        &[
            "Div(w, u)",
            "Mod(w, u)",
            "Mul(w, u)",
            "Sub(w, u)",
            "Sub(u, w)",
            "Max(w, u)",
            "BitwiseAnd(w, u)",
            "BitwiseOr(w, u)",
            "BitwiseXor(w, u)",
        ],
    ),
];

/// Random runs that are to show a difference.
const RUNS: usize = 200;

/// Pairs that were tried, and those of them with a witness.
#[derive(Default)]
struct Tried {
    pairs: usize,
    shown: usize,
}

impl Tried {
    /// Each pair of models differs in a run, and is equivalent up to nothing.
    fn family(&mut self, inputs: &str, models: &[(String, Model)]) {
        let mut rng = Rng::with_seed(11);
        let pairs = models.iter().enumerate().flat_map(|(i, a)| models[i + 1..].iter().map(move |b| (a, b)));
        for ((first, a), (second, b)) in pairs {
            let differs = (0..RUNS).any(|_| {
                let given = random(&mut rng, inputs);
                let runs = outputs(a, &given).zip(outputs(b, &given));
                let (a, b) = runs.unwrap_or_else(|| panic!("{first} or {second} does not run"));
                differ(&a, &b)
            });
            assert!(differs, "no run shows that {first} and {second} differ");
            for up_to in UpTo::ALL {
                let mut options = ProveOptions::default();
                options.up_to = up_to;
                let is_tried = up_to == UpTo::Bits;
                options.time = if is_tried { Duration::from_secs(2) } else { Duration::ZERO };
                let verdict = a.prove(b, &options).unwrap().verdict;
                assert!(!matches!(verdict, Verdict::Equivalent), "{first} and {second} up to {up_to:?}");
                self.shown += usize::from(is_tried && matches!(verdict, Verdict::Different(_)));
            }
            self.pairs += 1;
        }
    }
}

#[test]
fn no_graph_is_proved_to_be_a_variant_of_it() {
    let mut tried = Tried::default();
    for (inputs, graph, variants) in FAMILIES {
        let text = |variant: &&str| graph.replacen('@', variant, 1);
        let models: Vec<_> = variants.iter().map(text).collect();
        let models = models.into_iter().map(|text| (text.clone(), written(&format!("{inputs}; {text}"))));
        tried.family(inputs, &models.collect::<Vec<_>>());
    }
    eprintln!("{} pairs, {} with a witness", tried.pairs, tried.shown);
    assert!(tried.shown * 100 >= tried.pairs * 95, "{} of {} with a witness", tried.shown, tried.pairs);
}

/// An If of a condition and two operators, and a Loop of a number of iterations and an operator.
#[test]
fn no_branch_or_loop_is_proved_to_be_a_variant_of_it() {
    const INPUTS: &str = "x: float32[4]; c: bool[1]; d: bool[1]";
    let branch = |name: &str, operator: &str| {
        Sketch::nested().node(operator, &["x"], &[name]).text(&format!("return {name}: float32[4]"))
    };
    let choice = |condition: &str, operators: [&str; 2]| {
        let graphs = [("then_branch", "t"), ("else_branch", "e")];
        let graphs = graphs.into_iter().zip(operators);
        let graphs = graphs.map(|((side, name), operator)| (side, branch(name, operator).graph())).collect();
        let sketch = Sketch::of(&format!("{INPUTS}; n = Not(c)")).with("If", &[condition], &["y"], graphs);
        (format!("If({condition}) {operators:?}"), end(sketch))
    };
    let iterate = |count: &str, step: &str| {
        let body = Sketch::nested().text("i: int64[]; go: bool[]; a: float32[4]; on = Identity(go)");
        let body = body.text(step).text("return on: bool[]; return u: float32[4]");
        let sketch = Sketch::of(&format!("{INPUTS}; k = {count}")).with(
            "Loop",
            &["k", "", "x"],
            &["y"],
            vec![("body", body.graph())],
        );
        (format!("Loop({count}) {step}"), end(sketch))
    };
    let mut models = Vec::new();
    for condition in ["c", "n", "d"] {
        models.push(choice(condition, ["Neg", "Exp"]));
        models.push(choice(condition, ["Abs", "Floor"]));
    }
    models.push(choice("c", ["Neg", "Neg"]));
    for count in ["2", "3"] {
        for step in [
            "u = Add(a, x)",
            "u = Mul(a, x)",
            "u = Sub(a, x)",
            "u = Sub(x, a)",
            "f = Cast(i, to=1); u = Add(a, f)",
        ] {
            models.push(iterate(count, step));
        }
    }
    let mut tried = Tried::default();
    tried.family(INPUTS, &models);
    assert!(tried.shown * 100 >= tried.pairs * 95, "{} of {} with a witness", tried.shown, tried.pairs);
}

fn end(mut sketch: Sketch) -> Model {
    sketch.0.output("y");
    sketch.model()
}
