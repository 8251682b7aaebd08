//! Costs of small models, against figures derived by hand.

use std::sync::atomic::{AtomicUsize, Ordering};

use gradus::cost::Cost;
use gradus::graph::Content;
use gradus::infer::{InferOptions, Reuse};
use gradus::{DType, Dim, Limits, Model};

use crate::common::sketch::{Sketch, function};

/// The costs of a model of operator set 17.
fn costs(text: &str) -> Cost {
    Sketch::of(text).unwritten(17).cost(&InferOptions::default()).unwrap()
}

fn print(cost: &Cost, dim: Option<Dim>) -> String {
    dim.map_or_else(|| "?".to_owned(), |dim| cost.inference().symbols().print(dim).to_string())
}

/// The first layer of ResNet-50 (He et al.) has 9,408 parameters and 118,013,952 MACs an image.
#[test]
fn convolution_of_resnet_costs_as_published() {
    let cost = costs(
        "x: float32[batch, 3, 224, 224]; w = float32[64, 3, 7, 7](0);
         h = Conv@17(x, w, strides=[2, 2], pads=[3, 3, 3, 3]); y = Relu@17(h); return y",
    );
    assert_eq!(cost.total.parameters, 9408);
    assert_eq!(print(&cost, cost.total.counts.macs), "118013952*batch");
    assert_eq!(print(&cost, cost.total.counts.operations), "802816*batch");
    assert_eq!(print(&cost, cost.nodes[0].counts.bytes_read), "602112*batch + 37632");
    assert_eq!(print(&cost, cost.nodes[0].counts.bytes_written), "3211264*batch");
    assert_eq!(print(&cost, cost.memory.peak.map(|peak| peak.bytes)), "6422528*batch");
    assert_eq!(print(&cost, cost.memory.in_place.map(|peak| peak.bytes)), "3211264*batch");
    assert_eq!(cost.memory.live.len(), 2);
    assert_eq!(cost.total.uncounted, 0);
}

/// The pool after it looks at windows of nine elements.
#[test]
fn pools_look_at_each_element_of_their_windows() {
    let window = "kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]";
    let cost = costs(&format!(
        "x: float32[batch, 64, 112, 112]; h = MaxPool@17(x, {window}); y = AveragePool@17(h, {window}); return y"
    ));
    assert_eq!(print(&cost, cost.nodes[0].counts.operations), format!("{}*batch", 64 * 56 * 56 * 9));
    assert_eq!(print(&cost, cost.nodes[1].counts.operations), format!("{}*batch", 64 * 28 * 28 * 9));
    assert_eq!(cost.total.uncounted, 0);
}

/// The MACs and operations of the first node, by the statements before its output.
#[test]
fn products_of_single_nodes_cost_as_derived_by_hand() {
    for (text, macs, operations) in [
        // The first depthwise layer of `MobileNetV2` has 32*9 weights and 3,612,672 MACs an image.
        (
            "x: float32[batch, 32, 112, 112]; w = float32[32, 1, 3, 3](0);
             y = Conv@17(x, w, group=32, pads=[1, 1, 1, 1])",
            "3612672*batch",
            "0",
        ),
        // Four gates, each of 10 inputs and 20 states, for 20 units and each step.
        (
            "x: float32[seq, batch, 10]; w = float32[1, 80, 10](0); r = float32[1, 80, 20](0);
             y = LSTM@17(x, w, r, hidden_size=20)",
            "2400*seq*batch",
            "0",
        ),
        // A transposed product sums over the other axis.
        ("x: float32[5, n]; w = float32[5, 7](0); y = Gemm@17(x, w, transA=1)", "35*n", "0"),
        // Each of 12 heads multiplies `seq` queries of 64 with `seq` keys, and scores with values of
        // 32.
        (
            "q: float32[1, 12, seq, 64]; k: float32[1, 12, total, 64]; v: float32[1, 12, total, 32];
             y = Attention@23(q, k, v)",
            "1152*seq*total",
            "60*seq*total",
        ),
        // Inputs of rank 3, with a past: 4 heads of 8.
        (
            "q: float32[1, 1, 32]; k: float32[1, 1, 32]; v: float32[1, 1, 32];
             pk: float32[1, 4, past, 8]; pv: float32[1, 4, past, 8];
             y, a, b = Attention@23(q, k, v, , pk, pv, q_num_heads=4, kv_num_heads=4)",
            "64*past + 64",
            "20*past + 20",
        ),
        // Einsum multiplies once for each combination of indices, and the order of three products
        // is not fixed.
        ("a: float32[n, 3, 5]; b: float32[7, 5]; y = Einsum@17(a, b, equation='bij,kj->bik')", "105*n", "0"),
        ("a: float32[2, 3]; y = Einsum@17(a, a, a, equation='ij,ik,il->jkl')", "?", "?"),
    ] {
        let cost = costs(&format!("{text}; return y"));
        let counts = &cost.nodes[0].counts;
        assert_eq!(
            [print(&cost, counts.macs), print(&cost, counts.operations)],
            [macs, operations],
            "{text}"
        );
    }
}

/// The feed-forward half of a layer of BERT-base: 768 to 3072 to 768.
fn feed_forward() -> Model {
    let mut sketch =
        Sketch::of("x: float32[batch, seq, 768]; up = float32[768, 3072](0); down = float32[3072, 768](0)");
    for (name, operator, inputs, output) in [
        ("/layer.0/ffn/up", "MatMul", &["x", "up"][..], "h"),
        ("/layer.0/ffn/relu", "Relu", &["h"], "a"),
        ("/layer.0/out/down", "MatMul", &["a", "down"], "d"),
        ("/layer.0/out/add", "Add", &["d", "x"], "y"),
    ] {
        sketch.0.apply(name, operator, 17, inputs, &[output], vec![]).unwrap();
    }
    sketch.text("return y").unwritten(17)
}

#[test]
fn feed_forward_of_bert_costs_as_published() {
    let model = feed_forward();
    let mut cost = model.cost(&InferOptions::default()).unwrap();
    assert_eq!(cost.total.parameters, 2 * 768 * 3072);
    assert_eq!(print(&cost, cost.total.counts.macs), "4718592*batch*seq");
    assert_eq!(print(&cost, cost.total.counts.operations), "3840*batch*seq");
    let operators = cost.by_operator(model.graph());
    assert_eq!((operators["MatMul"].nodes, operators["MatMul"].counts.macs), (2, cost.total.counts.macs));
    let groups = cost.by_prefix(model.graph(), 2);
    assert_eq!(groups.keys().collect::<Vec<_>>(), ["layer.0/ffn", "layer.0/out"]);
    assert_eq!(print(&cost, groups["layer.0/ffn"].counts.macs), "2359296*batch*seq");
}

#[test]
fn resize_multiplies_the_neighbours_on_the_axes_that_change() {
    for (mode, taps) in [("nearest", 0), ("linear", 4), ("cubic", 16)] {
        let cost = costs(&format!(
            "x: float32[n, 3, 8, 8]; scales = float32[4](1, 1, 2, 2); y = Resize@17(x, , scales, mode={mode}); return y"
        ));
        let macs = if taps == 0 { "0".to_owned() } else { format!("{}*n", 3 * 16 * 16 * taps) };
        assert_eq!(print(&cost, cost.nodes[0].counts.macs), macs, "{mode}");
        assert_eq!(print(&cost, cost.nodes[0].counts.operations), "0", "{mode}");
    }
}

#[test]
fn operators_without_a_rule_are_not_guessed() {
    let cost = costs("x: float32[n]; y = NoSuchOperator@17(x); return y");
    assert_eq!((cost.total.uncounted, cost.total.unsized_nodes), (1, 1));
    assert_eq!((cost.nodes[0].counts.macs, cost.nodes[0].counts.bytes_written), (None, None));
}

/// The memory of the model at one batch, from the peak with all sizes known.
fn memory_at(model: &Model, batch: i64, reuse: Reuse) -> u128 {
    let mut options = InferOptions::default();
    options.sizes.dims = [("batch".to_owned(), batch), ("seq".to_owned(), 16)].into();
    let cost = model.cost(&options).unwrap();
    let known = |dim: Option<Dim>| u128::try_from(dim.unwrap().known().unwrap()).unwrap();
    let peak = if reuse == Reuse::None { cost.memory.peak } else { cost.memory.in_place };
    cost.memory.constants + known(cost.memory.inputs) + known(peak.map(|peak| peak.bytes))
}

#[test]
fn fit_is_the_largest_of_all_sizes_tried() {
    let model = feed_forward();
    let mut options = InferOptions::default();
    options.sizes.dims = [("seq".to_owned(), 16)].into();
    let mut cost = model.cost(&options).unwrap();
    for reuse in [Reuse::None, Reuse::InPlace] {
        let memory: Vec<_> = (1..60).map(|batch| memory_at(&model, batch, reuse)).collect();
        for budget in [memory[0] - 1, memory[0], memory[6], memory[6] + 1, memory[40] - 1] {
            let fit = cost.fit(&model, budget, reuse).unwrap();
            let most = (1..60).zip(&memory).filter(|(_, needed)| **needed <= budget).last();
            assert_eq!(fit.most, most.map(|(batch, _)| batch), "{budget} bytes, {reuse:?}");
            assert_eq!(
                fit.bytes,
                *most.map_or(&memory[0], |(_, needed)| needed),
                "{budget} bytes, {reuse:?}"
            );
        }
    }
    assert!(memory_at(&model, 7, Reuse::InPlace) < memory_at(&model, 7, Reuse::None));
}

/// Errors about several sizes without a number say which numbers, or which link, leave one.
#[test]
fn fits_of_several_sizes_propose_numbers_or_a_link() {
    let caches = "p: float32[b, past, 8]; x: float32[b, seq, 8]; t = Concat(p, x, axis=1);";
    let numbers = "exactly one: give the others numbers, as --dim b=1 --dim seq=1";
    let cases = [
        // At most 64 rows together.
        (
            format!(
                "{caches} table = float32[64, 8](0.5); zero = [0]; rows = Shape(t, start=1, end=2);
                 e = Slice(table, zero, rows, zero); y = Add(t, e)"
            ),
            numbers.to_owned(),
        ),
        (format!("{caches} y = Relu(t)"), numbers.to_owned()),
        (
            "p: float32[past, 8]; m: float32[total, 8]; a = Relu(p); y = Relu(m)".to_owned(),
            "give the others numbers, as --dim total=1, or the missing link, as --assume \"total == past + 1\""
                .to_owned(),
        ),
        // A product, and a difference.
        (
            "x: float32[b, n]; flat = [64]; pad = Reshape(x, flat); y = Relu(pad)".to_owned(),
            "give the others numbers, or assume \"b*n == 64\"".to_owned(),
        ),
        (
            "x: float32[n, 8]; k: float32[m, 8]; zero = [0]; rows = Shape(x, start=0, end=1);
             cut = Slice(k, zero, rows, zero); y = Add(x, cut)"
                .to_owned(),
            "give the others numbers, as --dim m=1, or the missing link, as --assume \"n == m\"".to_owned(),
        ),
        (
            "x: float32[n]; k: float32[m]; a = Relu(x); y = Relu(k)".to_owned(),
            "give the others numbers, as --dim m=1, or the missing link, as --assume \"n == m\"".to_owned(),
        ),
    ];
    for (text, wanted) in cases {
        let model = Sketch::of(&text).text("return y: float32[]").model();
        let mut options = InferOptions::default();
        options.ignore_declared = true;
        let error = model.cost(&options).unwrap().fit(&model, 1 << 30, Reuse::None).unwrap_err();
        assert!(error.message().ends_with(&wanted), "{text}: {error}");
    }
}

#[test]
fn fit_needs_one_symbol() {
    let model = feed_forward();
    let error = model.cost(&InferOptions::default()).unwrap().fit(&model, 1 << 30, Reuse::None).unwrap_err();
    assert!(error.to_string().contains("batch, seq"), "{error}");
}

/// A product with 4 by 5 weights, or two functions of elements of 4 columns.
fn branches() -> Vec<(&'static str, Content)> {
    let product = Sketch::nested().text("w = float32[4, 5](0); p = MatMul(x, w)");
    let functions = Sketch::nested().text("a = Abs(x); f = Neg(a)");
    let product = product.text("return p: float32[n, 5]").graph();
    vec![("then_branch", product), ("else_branch", functions.text("return f: float32[n, 4]").graph())]
}

fn whole(model: &Model) -> [String; 5] {
    let cost = model.cost(&InferOptions::default()).unwrap();
    let peak = cost.memory.peak.map(|peak| peak.bytes);
    let total = &cost.total;
    [total.counts.macs, total.counts.operations, total.counts.bytes_read, total.counts.bytes_written, peak]
        .map(|dim| print(&cost, dim))
}

#[test]
fn branches_cost_the_most_that_one_of_them_does() {
    let model = Sketch::of("x: float32[n, 4]; yes: bool[]")
        .with("If", &["yes"], &["y"], branches())
        .text("return y: float32[n, m]")
        .model();
    let cost = model.cost(&InferOptions::default()).unwrap();
    assert_eq!((cost.total.parameters, cost.total.uncounted), (20, 0));
    assert_eq!(print(&cost, cost.total.counts.macs), "20*n");
    assert_eq!(print(&cost, cost.total.counts.operations), "8*n");
    assert_eq!(print(&cost, cost.total.counts.bytes_read), "16*n + 16*max(n, 5)");
    assert_eq!(print(&cost, cost.total.counts.bytes_written), "32*n");
}

#[test]
fn classes_of_branches_are_the_most_of_each() {
    let twice = Sketch::nested().text("a = Relu(x); y = Relu(a)");
    let once = Sketch::nested().text("y = Exp(x)");
    let branches = vec![
        ("then_branch", twice.text("return y: float32[n, 4]").graph()),
        ("else_branch", once.text("return y: float32[n, 4]").graph()),
    ];
    let model = Sketch::of("x: float32[n, 4]; yes: bool[]")
        .with("If", &["yes"], &["y"], branches)
        .text("return y: float32[n, 4]")
        .model();
    let cost = model.cost(&InferOptions::default()).unwrap();
    let total = &cost.total;
    let columns = [
        total.counts.operations,
        total.counts.arithmetic,
        total.counts.comparisons,
        total.counts.transcendentals,
    ];
    assert_eq!(columns.map(|dim| print(&cost, dim)), ["8*n", "0", "8*n", "4*n"]);
}

#[test]
fn branch_of_a_known_condition_costs_alone() {
    let model = Sketch::of("x: float32[n, 4]; no = false")
        .with("If", &["no"], &["y"], branches())
        .text("return y: float32[n, 4]")
        .model();
    assert_eq!(whole(&model), ["0", "8*n", "32*n", "32*n", "32*n"]);
}

/// As many iterations as `x` has elements.
fn repeated(operator: &str, attributes: Vec<(&str, Content)>) -> Model {
    let body = Sketch::nested()
        .text("i: int64[]; go: bool[]; before: float32[r, 4]; w = float32[4, 4](0); on = Identity(go)")
        .with(operator, &["before", "w"], &["after"], attributes)
        .text("return on: bool[]; return after: float32[r, 4]");
    Sketch::of("x: float32[n]; start: float32[2, 4]; trips = Size(x)")
        .with("Loop", &["trips", "", "start"], &["end"], vec![("body", body.graph())])
        .text("return end: float32[r, 4]")
        .model()
}

/// Each iteration multiplies 2 rows with 4 by 4 weights, and moves a condition of one byte.
#[test]
fn body_of_a_loop_costs_for_each_iteration() {
    let model = repeated("MatMul", vec![]);
    let [macs, operations, read, written, peak] = whole(&model);
    assert_eq!([&*macs, &*operations], ["32*n", "0"]);
    assert_eq!([&*read, &*written], ["97*n", "33*n + 8"]);
    // The number of iterations, the state at the end, the inputs of an iteration and its values.
    assert_eq!(peak, (8 + 32 + (8 + 1 + 32) + (1 + 32)).to_string());
    let cost = model.cost(&InferOptions::default()).unwrap();
    assert_eq!(cost.total.parameters, 16);
    assert_eq!(cost.memory.within, [(1, Dim::Known((8 + 1 + 32) + (1 + 32)))]);
}

/// A loop of a known number of iterations, the first of which takes another branch.
#[test]
fn branches_within_a_loop_are_not_those_of_its_last_iteration() {
    let body = Sketch::nested()
        .text(
            "i: int64[]; go: bool[]; x: float32[2, 4]; zero = 0; on = Identity(go);
             first = Equal(i, zero)",
        )
        .with("If", &["first"], &["y"], branches())
        .text("same = Identity(x); return on: bool[]; return same: float32[2, 4]");
    let model = Sketch::of("start: float32[2, 4]; trips = 3")
        .with("Loop", &["trips", "", "start"], &["end"], vec![("body", body.graph())])
        .text("return end: float32[2, 4]")
        .model();
    let [macs, operations, ..] = whole(&model);
    // The comparison, and the most that a branch does.
    assert_eq!([macs, operations], [(3 * 40).to_string(), (3 * (1 + 16)).to_string()]);
}

#[test]
fn loop_whose_sizes_change_is_not_counted() {
    let model = repeated("Concat", vec![("axis", Content::Int(0))]);
    let cost = model.cost(&InferOptions::default()).unwrap();
    assert_eq!((cost.total.uncounted, cost.total.unsized_nodes), (0, 1));
    assert_eq!(cost.memory.peak.unwrap().unknown, 1);
}

/// Each iteration looks at `n` elements, and casts the places of those that are not zero.
#[test]
fn loop_whose_sizes_change_costs_what_its_largest_sizes_do() {
    let body = Sketch::nested().text(
        "i: int64[]; go: bool[]; row: float32[r]; on = Identity(go); places = NonZero(row);
         floats = Cast(places, to=1); axes = [0, 1];
         sum = ReduceSum(floats, axes, keepdims=0); next = Add(row, sum); return on: bool[];
         return next: float32[r]",
    );
    let model = Sketch::of("x: float32[t]; start: float32[n]; trips = Size(x)")
        .with("Loop", &["trips", "", "start"], &["end"], vec![("body", body.graph())])
        .text("return end: float32[n]")
        .model();
    let [macs, operations, read, ..] = whole(&model);
    // `n` elements each are compared, cast, summed and added to.
    assert_eq!([&*macs, &*operations], ["0", "4*t*n"]);
    // The condition, the row twice, places, floats and axes, and the sum.
    assert_eq!(read, "20*t*n + 21*t");
    let cost = model.cost(&InferOptions::default()).unwrap();
    assert_eq!((cost.total.uncounted, cost.total.unsized_nodes), (0, 0));
}

#[test]
fn what_is_not_counted_has_a_reason() {
    let body = Sketch::nested().text(
        "i: int64[]; go: bool[]; x: float32[k]; on = Identity(go);
         more = Concat(x, x, axis=0); y = Relu(more); return on: bool[]; return y: float32[m]",
    );
    let model = Sketch::of("start: float32[n]; trips: int64[]")
        .with("Loop", &["trips", "", "start"], &["end"], vec![("body", body.graph())])
        .text("other = NoSuchOperator(start); return end: float32[e]")
        .model();
    let cost = model.cost(&InferOptions::default()).unwrap();
    let reasons: Vec<_> = cost.nodes.iter().map(|node| node.uncounted).collect();
    let changes = "sizes change from one iteration to the next";
    assert_eq!(reasons, [Some(changes), Some("the operator has no rule")]);
}

#[test]
fn body_of_a_scan_costs_for_each_slice() {
    let body = Sketch::nested()
        .text("sum: float32[3]; row: float32[3]; next = Add(sum, row); return next: float32[3]");
    let model = Sketch::of("start: float32[3]; rows: float32[n, 3]")
        .with(
            "Scan",
            &["start", "rows"],
            &["end"],
            vec![("body", body.graph()), ("num_scan_inputs", Content::Int(1))],
        )
        .text("return end: float32[3]")
        .model();
    assert_eq!(whole(&model), ["0", "3*n", "24*n", "12*n", "48"]);
}

/// A function of the model whose body transposes the first factor if its call says so.
#[test]
fn calls_cost_what_the_body_of_their_function_does() {
    let body = "a: ?; w = float32[4, 4](0); b = Gemm@17(a, w, transA=$flipped); return b";
    let calls = "x: float32[4, n]; y = f.F@1(x, flipped=1); z = f.F@1(y, flipped=0); return z";
    let mut source = Sketch::of(calls).source(17);
    source.functions = vec![function("F", &[("flipped", None)], body)];
    let model = Model::from_source(source);
    assert_eq!(whole(&model), ["32*n", "0", "32*n + 128", "32*n", "32*n"]);
    assert_eq!(model.cost(&InferOptions::default()).unwrap().total.parameters, 16);
}

/// Published figures of whole models (scripts/architectures.py). `parameters` are those of the
/// paper's implementation; a file holds more: running statistics of batch normalizations, and the
/// elements of shapes and scalars.
#[test]
fn architectures_cost_as_published() {
    struct Published {
        model: &'static str,
        parameters: u128,
        statistics: u128,
        shapes_and_scalars: u128,
        seq: i64,
        macs: i64,
    }
    let published = [
        // torchvision: 25.6 million parameters, 4.09 GFLOPS.
        Published {
            model: "resnet50",
            parameters: 25_557_032,
            statistics: 53_120,
            shapes_and_scalars: 0,
            seq: 0,
            macs: 4_089_184_256,
        },
        // torchvision: 3.5 million parameters, 0.30 GFLOPS.
        Published {
            model: "mobilenet_v2",
            parameters: 3_504_872,
            statistics: 34_112,
            shapes_and_scalars: 70,
            seq: 0,
            macs: 300_774_272,
        },
        // 110 million parameters; 22.5 GFLOPs at 128 tokens are twice the products and the rest.
        Published {
            model: "bert_base",
            parameters: 109_482_240,
            statistics: 0,
            shapes_and_scalars: 97,
            seq: 128,
            macs: 11_174_215_680,
        },
        // nanoGPT: 124 million parameters; 291,648,307,200 operations at 1024 tokens, two for each.
        Published {
            model: "gpt2",
            parameters: 124_439_808,
            statistics: 0,
            shapes_and_scalars: 96,
            seq: 1024,
            macs: 145_824_153_600,
        },
    ];
    for Published { model: name, parameters, statistics, shapes_and_scalars, seq, macs } in published {
        let model = Model::open(format!("tests/architectures/{name}.onnx")).unwrap();
        let mut options = InferOptions::default();
        options.sizes.dims = [("batch".to_owned(), 1)].into();
        if seq > 0 {
            options.sizes.dims.insert("seq".to_owned(), seq);
        }
        let cost = model.cost(&options).unwrap();
        assert_eq!(cost.total.counts.macs, Some(Dim::Known(macs)), "{name}");
        assert_eq!(cost.total.parameters, parameters + statistics + shapes_and_scalars, "{name}");
        assert_eq!(cost.total.uncounted, 0, "{name}");
    }
}

/// Weights may be initializers, values of `Constant` nodes, or lists in attributes of trees; within
/// branches and functions too. Each counts once, and takes no memory of a run.
#[test]
fn parameters_are_counted_wherever_the_file_has_them() {
    let totals = |model: &Model| {
        let cost = model.cost(&InferOptions::default()).unwrap();
        assert_eq!(cost.total.parameters, model.parameters());
        let peak = print(&cost, cost.memory.peak.map(|peak| peak.bytes));
        (cost.total.parameters, cost.memory.constants, peak)
    };

    let text =
        "x: float32[n, 100]; w = Constant(value=float32[100, 50](0)); u = Constant(value=float32[7](0));
         y = MatMul(x, w); z = MatMul(x, w); return y, z";
    let in_node = Sketch::of(text).unwritten(17);
    assert_eq!(totals(&in_node), (5000, 4 * 5007, "400*n".to_owned()));
    let mut cost = in_node.cost(&InferOptions::default()).unwrap();
    let of_nodes: Vec<_> = cost.nodes.iter().map(|node| node.parameters).collect();
    assert_eq!(of_nodes, [0, 0, 5000, 0]);
    assert_eq!(cost.by_operator(in_node.graph())["Constant"].counts.bytes_written, Some(Dim::ZERO));
    let names: Vec<_> = in_node.constants().into_iter().map(|constant| constant.name).collect();
    assert_eq!(names, ["w", "u"]);
    let contract = in_node.contract(&InferOptions::default()).unwrap();
    assert_eq!(contract.constant_bytes(), 4 * 5007);

    // A branch reads a constant of its own, one of a node of its own, and one from around.
    let branch = "{own = float32[3](0); held = Constant(value=float32[1, 3](0)); sum = Add(own, held);
                   out = Add(sum, w); return out}";
    let text = format!(
        "c: bool[]; w = Constant(value=float32[2, 3](0));
         y = If(c, then_branch={branch}, else_branch={branch}); return y"
    );
    let in_branches = Sketch::of(&text).unwritten(17);
    let (parameters, constants, _) = totals(&in_branches);
    assert_eq!((parameters, constants), (6 + 2 * 6, 4 * (6 + 2 * 6)));

    // Lists of a scaler are weights, and sizes in attributes of a pool are none.
    let scales = ["offset", "scale"].map(|name| (name, Content::Floats([0.5; 8].into())));
    let mut source = Sketch::of("x: float32[n, 3, 8]")
        .with("ai.onnx.ml.Scaler@3", &["x"], &["h"], scales.into())
        .text("y = MaxPool(h, kernel_shape=[2]); return y")
        .source(17);
    source.opsets.push(("ai.onnx.ml".into(), 3));
    let in_lists = Model::from_source(source);
    let (parameters, constants, _) = totals(&in_lists);
    assert_eq!((parameters, constants), (16, 64));
    let names: Vec<_> = in_lists.constants().into_iter().map(|constant| constant.name).collect();
    assert_eq!(names, ["node \"make h\".offset", "node \"make h\".scale"]);
}

/// How often the work asked whether it may go on.
static ASKED: AtomicUsize = AtomicUsize::new(0);

/// Counts stop where they are told to, in graphs within nodes too: each node asks.
#[test]
fn costs_ask_for_each_node_whether_to_go_on() {
    const NODES: usize = 3_000;
    let mut limits = Limits::DEFAULT;
    limits.stop = Some(|| {
        ASKED.fetch_add(1, Ordering::Relaxed);
        false
    });
    let mut sketch = Sketch::of("x0: float32[n]");
    for at in 0..NODES {
        sketch = sketch.node("Relu", &[&format!("x{at}")], &[&format!("x{}", at + 1)]);
    }
    let model = sketch.output(&format!("x{NODES}"), DType::F32, &["n"]).model().with_limits(limits);
    let asked = |work: &dyn Fn()| {
        ASKED.store(0, Ordering::Relaxed);
        work();
        ASKED.load(Ordering::Relaxed)
    };
    let options = InferOptions::default();
    let inferred = asked(&|| drop(model.infer(&options).unwrap()));
    let counted = asked(&|| drop(model.cost(&options).unwrap()));
    assert!(counted >= inferred + NODES, "{counted} {inferred}");
}
