//! Operators of OpenVINO that Gradus evaluates itself, and that become graphs of ONNX: both give
//! the same.

use gradus::conversion::{ConvertOptions, Exactness};
use gradus::convert::{Rules, nearest_f64};
use gradus::graph::{Content, Standard};
use gradus::infer::InferOptions;
use gradus::{DType, Number, Shape, Tensor};

use crate::common::compare::difference;
use crate::common::one::One;
use crate::common::sketch::Sketch;

fn openvino(operator: &str, version: i64) -> One<'_> {
    One::of(Standard::OpenVino, operator, version)
}

fn tensor(dtype: DType, dims: &[usize], number: impl FnMut(usize) -> Number) -> Tensor {
    let count: usize = dims.iter().product();
    Tensor::from_numbers(
        dtype,
        Shape::new(dims).unwrap(),
        (0..count).map(number).collect::<Vec<_>>(),
        Rules::IEEE,
    )
    .unwrap()
}

fn floats(random: &mut fastrand::Rng, dims: &[usize], low: f64, high: f64) -> Tensor {
    tensor(DType::F32, dims, |_| Number::Float(low + (high - low) * random.f64()))
}

fn integers(random: &mut fastrand::Rng, dims: &[usize], most: i128) -> Tensor {
    tensor(DType::I32, dims, |_| Number::Int(random.i128(0..=most)))
}

/// Compares a model of a node with the model of ONNX that it becomes.
fn same(what: &str, one: One<'_>) {
    compared(what, one, |want, got| difference(want, got, false));
}

/// Compares them where rounding errors grow.
fn close(what: &str, one: One<'_>) {
    compared(what, one, |want, got| {
        let all = |tensor: &Tensor| tensor.numbers().unwrap().map(nearest_f64).collect::<Vec<_>>();
        let (wanted, found) = (all(want), all(got));
        let largest = wanted.iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
        let far = wanted.iter().zip(&found).find(|(a, b)| (**a - **b).abs() > 1e-4 * largest || b.is_nan());
        if want.shape() == got.shape() && want.dtype() == got.dtype() && far.is_none() {
            return None;
        }
        Some(format!("{}{} is {found:?}, not {wanted:?}", got.dtype(), got.shape()))
    });
}

fn compared(what: &str, one: One<'_>, difference: impl Fn(&Tensor, &Tensor) -> Option<String>) {
    let (model, given) = one.model();
    let want = model.run(given.clone()).unwrap_or_else(|error| panic!("{what}: {error}"));
    let converted = model.convert(Standard::Onnx, &ConvertOptions::default());
    let converted = converted.unwrap_or_else(|error| panic!("{what}: {error}")).model;
    let got = converted.run(given).unwrap_or_else(|error| panic!("{what}, converted: {error}"));
    for ((name, want), (_, got)) in want.iter().zip(&got) {
        if let Some(how) = difference(want.tensor().unwrap(), got.tensor().unwrap()) {
            panic!("{what}: {name}: {how}");
        }
    }
    let inference = converted.infer(&InferOptions::default()).unwrap();
    assert_eq!(inference.problems().len(), 0, "{what}");
}

#[test]
fn classes_of_steps_are_decoded() {
    let mut random = fastrand::Rng::with_seed(7);
    for round in 0..24 {
        let (batch, steps, classes) = (random.usize(1..4), random.usize(1..7), random.usize(2..5));
        let logits = floats(&mut random, &[batch, steps, classes], -1.0, 1.0);
        let lengths = integers(&mut random, &[batch], i128::try_from(steps).unwrap());
        let merges = if random.bool() { "true" } else { "false" };
        let one = openvino("CTCGreedyDecoderSeqLen", 6).outputs(2).text("merge_repeated", merges);
        let one = if random.bool() { one.text("classes_index_type", "i64") } else { one };
        let one = one.inputs(&[logits, lengths]);
        let one = if random.bool() { one.constants(&[Tensor::scalar(0i32)]) } else { one };
        same(&format!("by length, round {round}"), if random.bool() { one.known() } else { one });

        let logits = floats(&mut random, &[steps, batch, classes], -1.0, 1.0);
        let mask = tensor(DType::F32, &[steps, batch], |_| Number::Int(random.i128(0..4).min(1)));
        let one = openvino("CTCGreedyDecoder", 1).text("merge_repeated", merges).inputs(&[logits, mask]);
        same(&format!("by mask, round {round}"), if random.bool() { one.known() } else { one });
    }
}

#[test]
fn losses_of_spelled_labels() {
    let mut random = fastrand::Rng::with_seed(11);
    for round in 0..40 {
        let (batch, steps, classes) = (random.usize(1..4), random.usize(1..7), random.usize(2..5));
        let longest = random.usize(1..=steps);
        let [most, labels, last] = [steps, longest, classes - 1].map(|n| i128::try_from(n).unwrap());
        let one = openvino("CTCLoss", 4).inputs(&[
            floats(&mut random, &[batch, steps, classes], -3.0, 3.0),
            integers(&mut random, &[batch], most),
            integers(&mut random, &[batch, longest], last),
            integers(&mut random, &[batch], labels),
        ]);
        let mut one = if random.bool() { one.constants(&[Tensor::scalar(0i32)]) } else { one };
        for name in ["preprocess_collapse_repeated", "ctc_merge_repeated", "unique"] {
            one = one.text(name, if random.bool() { "true" } else { "false" });
        }
        same(&format!("round {round}"), if random.bool() { one.known() } else { one });
    }
}

fn scalars(most: i32, overlap: f32, least: f32) -> [Tensor; 3] {
    [Tensor::scalar(most), Tensor::scalar(overlap), Tensor::scalar(least)]
}

#[test]
fn boxes_decay_and_turn() {
    let mut random = fastrand::Rng::with_seed(5);
    for round in 0..10 {
        let (images, classes, count) = (random.usize(1..3), random.usize(1..3), random.usize(1..9));
        let sort = if random.bool() { "true" } else { "false" };
        let most = random.i32(0..8);
        let scores = floats(&mut random, &[images, classes, count], 0.0, 1.0);

        let boxes = floats(&mut random, &[images, count, 4], 0.0, 4.0);
        let sigma = Tensor::scalar(if random.bool() { 0.5f32 } else { 0.1 });
        let one = openvino("NonMaxSuppression", 9).inputs(&[boxes, scores.clone()]).outputs(3);
        let one = one.constants(&scalars(most, 0.4, 0.1)).constants(&[sigma]);
        let one = one.text("box_encoding", if random.bool() { "corner" } else { "center" });
        same(&format!("decayed, round {round}"), one.text("sort_result_descending", sort));

        let turned = tensor(DType::F32, &[images, count, 5], |at| {
            let [low, high] = [[0.0, 4.0], [0.0, 4.0], [0.5, 4.0], [0.5, 4.0], [-3.0, 3.0]][at % 5];
            Number::Float(low + (high - low) * random.f64())
        });
        let one = openvino("NMSRotated", 13).inputs(&[turned, scores]).constants(&scalars(most, 0.3, 0.1));
        let one = one.text("clockwise", if random.bool() { "true" } else { "false" });
        same(&format!("turned, round {round}"), one.outputs(3).text("sort_result_descending", sort));
    }
    // A box on itself, one with a common side, and one within another.
    let boxes = [
        [2.0, 2.0, 2.0, 2.0, 0.0],
        [2.0, 2.0, 2.0, 2.0, 0.0],
        [4.0, 2.0, 2.0, 2.0, 0.0],
        [2.0, 2.0, 1.0, 1.0, 0.5f32],
    ];
    let boxes = Tensor::from_vec(Shape::new([1, 4, 5]).unwrap(), boxes.concat()).unwrap();
    let scores = Tensor::from_vec(Shape::new([1, 1, 4]).unwrap(), vec![0.9f32, 0.8, 0.7, 0.6]).unwrap();
    for overlap in [0.0, 0.1, 0.24, 0.26, 0.99] {
        let one = openvino("NMSRotated", 13).inputs(&[boxes.clone(), scores.clone()]);
        same(&format!("overlap {overlap}"), one.constants(&scalars(4, overlap, 0.0)).outputs(3));
    }
}

#[test]
fn the_inverse_of_the_error_function() {
    let x = tensor(DType::F32, &[41], |at| Number::Float(f64::from(u32::try_from(at).unwrap()) / 20.0 - 1.0));
    same("ErfInv", openvino("ErfInv", 17).inputs(&[x]));
}

/// Filters of floats are signs, as those of bits.
#[test]
fn filters_of_floats_are_signs() {
    let x = tensor(DType::F32, &[1, 1, 1, 4], |at| Number::Float([2.5, -0.25, 2.75, 0.75][at]));
    let filter = tensor(DType::F32, &[1, 1, 1, 2], |at| Number::Float([1.5, -0.5][at]));
    let mut one = openvino("BinaryConvolution", 1).inputs(&[x]).constants(&[filter]);
    for (name, text) in [
        ("mode", "xnor-popcount"),
        ("strides", "1,1"),
        ("dilations", "1,1"),
        ("pads_begin", "0,0"),
        ("pads_end", "0,0"),
        ("pad_value", "0"),
    ] {
        one = one.text(name, text);
    }
    same("BinaryConvolution", one);
}

/// Shapes that OpenVINO 2026.4.1 infers, and has in a run.
#[test]
fn axes_that_are_named_twice_are_added_once() {
    let x = tensor(DType::F32, &[2, 3], |_| Number::Int(1));
    for (axes, want) in [
        (&[0, 0][..], &[1, 2, 3][..]),
        (&[0, -1], &[1, 2, 3, 1]),
        (&[0, -3], &[1, 1, 2, 3]),
        (&[0, -4], &[1, 2, 3]),
        (&[1, 1, 1], &[2, 1, 3]),
        (&[2, 2, 0], &[1, 2, 1, 3]),
        (&[2, -1], &[2, 3, 1, 1]),
        (&[3, -1], &[2, 3, 1]),
        (&[-2, 2], &[2, 3, 1]),
        (&[0, 0, -3], &[1, 1, 2, 3]),
        (&[0, 0, -4], &[1, 2, 3]),
        (&[3, 2, 3], &[2, 3, 1, 1]),
        (&[0, 2, 2, -1], &[1, 2, 1, 3, 1]),
    ] {
        let one =
            || openvino("Unsqueeze", 1).inputs(std::slice::from_ref(&x)).constants(&[Tensor::vector(axes)]);
        let (model, given) = one().known().model();
        assert_eq!(model.run(given).unwrap()[0].tensor().unwrap().shape().dims(), want, "{axes:?}");
        let inference = model.infer(&InferOptions::default()).unwrap();
        let shape = inference.fact(model.graph().outputs()[0]).as_tensor().unwrap().shape().unwrap();
        assert_eq!(shape.dims(), want, "{axes:?}");
        same(&format!("{axes:?}"), one());
    }
    // A run may name one twice, which ONNX refuses.
    let computed = openvino("Unsqueeze", 1).inputs(&[x.clone(), Tensor::vector(&[0i64, 1])]);
    let converted = computed.model().0.convert(Standard::Onnx, &ConvertOptions::default()).unwrap();
    assert!(converted.report.notes.iter().any(|note| note.exactness == Exactness::EdgeCases));
    for axes in [&[3, 3][..], &[4, 4], &[0, 0, -5]] {
        let one =
            openvino("Unsqueeze", 1).inputs(std::slice::from_ref(&x)).constants(&[Tensor::vector(axes)]);
        let (model, given) = one.known().model();
        assert!(model.run(given).unwrap_err().to_string().contains("out of range"), "{axes:?}");
    }
}

#[test]
fn means_and_updates_without_initial_values_are_scattered() {
    let mut random = fastrand::Rng::with_seed(11);
    for how in ["sum", "prod", "min", "max", "mean"] {
        for starts in ["false", "true"] {
            for dtype in [DType::F32, DType::I32, DType::I64] {
                let indices = integers(&mut random, &[3, 6], 3);
                let mut numbers = |dims: &[usize]| tensor(dtype, dims, |_| Number::Int(random.i128(-9..=9)));
                let one = openvino("ScatterElementsUpdate", 12)
                    .inputs(&[numbers(&[3, 4]), indices, numbers(&[3, 6])])
                    .constants(&[Tensor::scalar(1i64)])
                    .text("reduction", how)
                    .text("use_init_val", starts);
                same(&format!("{how} of {dtype}, use_init_val {starts}"), one);
            }
        }
    }
}

/// Results of OpenVINO 2026.4: means of integers are cut toward zero.
#[test]
fn scattered_means_are_those_of_openvino() {
    let floats = |all: &[f32]| Tensor::vector(all);
    let integers = |all: &[i64]| Tensor::vector(all);
    let data = ([-2.0, 7.0, 4.0, 1.0], [3.0, -4.0, -5.0, 0.0]);
    let cases = [
        ("mean", "true", [-1.0, 7.0, -1.0 / 3.0, 1.0], [-1, 7, 0, 1]),
        ("mean", "false", [-0.5, 7.0, -2.5, 1.0], [0, 7, -2, 1]),
        ("sum", "false", [-1.0, 7.0, -5.0, 1.0], [-1, 7, -5, 1]),
        ("min", "false", [-4.0, 7.0, -5.0, 1.0], [-4, 7, -5, 1]),
    ];
    for (how, starts, of_floats, of_integers) in cases {
        let run = |data: Tensor, updates: Tensor| {
            let (model, given) = openvino("ScatterElementsUpdate", 12)
                .inputs(&[data, Tensor::vector(&[0i64, 0, 2, 2]), updates])
                .constants(&[Tensor::scalar(0i64)])
                .text("reduction", how)
                .text("use_init_val", starts)
                .model();
            model.run(given).unwrap().into_iter().next().unwrap().1
        };
        let got = run(floats(&data.0), floats(&data.1));
        let difference = difference(&floats(&of_floats), got.tensor().unwrap(), false);
        assert_eq!(difference, None, "{how}, use_init_val {starts}");
        let got = run(integers(&[-2, 7, 4, 1]), integers(&[3, -4, -5, 0]));
        assert_eq!(got.tensor().unwrap().to_i64().unwrap(), of_integers, "{how}, use_init_val {starts}");
    }
}

/// The number of frequencies is not declared, but follows from the size of a frame.
#[test]
fn spectra_with_open_sizes_become_signals() {
    let mut random = fastrand::Rng::with_seed(29);
    for (len, center) in [(8i64, "false"), (8, "true"), (7, "false")] {
        let bins = usize::try_from(len / 2 + 1).unwrap();
        let spectra = floats(&mut random, &[2, bins, 5, 2], -1.0, 1.0);
        let window = floats(&mut random, &[usize::try_from(len).unwrap()], 0.5, 1.0);
        let one = openvino("ISTFT", 16)
            .inputs(&[spectra, window])
            .constants(&[Tensor::scalar(len), Tensor::scalar(2i64)])
            .text("center", center)
            .text("normalized", "false");
        close(&format!("{len} {center}"), one);
    }
}

#[test]
fn matrices_are_inverted_and_systems_solved_by_elimination() {
    let mut random = fastrand::Rng::with_seed(13);
    for dims in [&[3usize, 3][..], &[2, 5, 5], &[2, 1, 4, 4], &[1, 1], &[0, 3, 3], &[2, 0, 0]] {
        for adjoint in ["false", "true"] {
            // Rows are exchanged, as the diagonal is small.
            let size = dims[dims.len() - 1];
            let matrices = tensor(DType::F32, dims, |at| {
                let (row, column) = (at / size % size, at % size);
                let far = if (row + 1) % size == column { 4.0 } else { 0.0 };
                let own = if row == column && size > 1 { 0.0 } else { random.f64() };
                Number::Float(far + own)
            });
            let one = openvino("Inverse", 14).inputs(&[matrices]).text("adjoint", adjoint);
            close(&format!("inverse of {dims:?}, adjoint {adjoint}"), one);
        }
    }
    let one = openvino("Inverse", 14).inputs(&[floats(&mut random, &[3, 3], 1.0, 9.0)]);
    let converted = one.model().0.convert(Standard::Onnx, &ConvertOptions::default()).unwrap();
    assert!(!converted.report.is_exact());
    let cases: [(&[usize], &[usize]); 5] = [
        (&[3, 3], &[3, 2]),
        (&[3, 3], &[3]),
        (&[2, 3, 3], &[2, 3]),
        (&[2, 3, 3], &[3, 2]),
        (&[1, 4, 3, 3], &[5, 1, 3, 2]),
    ];
    for (a, b) in cases {
        let a = floats(&mut random, a, 1.0, 9.0);
        let b = floats(&mut random, b, -5.0, 5.0);
        let one = One::of(Standard::Paddle, "solve", 3).inputs(&[a, b]).known();
        close("solve", one);
    }
}

/// Results of OpenVINO 2026.4: sizes alone scale, and the coefficient is Pillow's.
#[test]
fn modes_of_pillow_scale_by_sizes() {
    let x = tensor(DType::F32, &[1, 1, 1, 6], |at| Number::Float([1.0, -2.0, 4.0, 0.5, -1.0, 3.0][at]));
    let wide = [1.197_367_7, -0.764_705_9, -1.410_879_6, 3.445_602_2, 2.71875, 0.070_601_11, -1.091_435_2];
    let cases: [(&str, f32, Vec<f64>); 3] = [
        ("bicubic_pillow", 1.5, [&wide[..], &[1.029_411_8, 3.263_157_8]].concat()),
        ("bicubic_pillow", 0.6, vec![0.014_644_335, 1.437_022_8, 0.864_016_8]),
        ("bilinear_pillow", 1.5, vec![1.0, -0.5, -1.0, 3.0, 2.25, 0.25, -0.75, 1.0, 3.0]),
    ];
    for (mode, scale, want) in cases {
        let node = || {
            openvino("Interpolate", 11)
                .inputs(std::slice::from_ref(&x))
                .constants(&[Tensor::vector(&[scale]), Tensor::vector(&[3i64])])
                .text("mode", mode)
                .text("shape_calculation_mode", "scales")
                .text("cube_coeff", "-0.75")
        };
        let (model, given) = node().model();
        let got = model.run(given).unwrap().into_iter().next().unwrap().1;
        let got: Vec<_> = got.tensor().unwrap().numbers().unwrap().map(nearest_f64).collect();
        assert_eq!(got.len(), want.len(), "{mode} {scale}");
        let far = want.iter().zip(&got).find(|(a, b)| (**a - **b).abs() > 1e-5);
        assert_eq!(far, None, "{mode} {scale}");
        same(mode, node());
    }
}

/// ONNX Runtime 1.31 loads no range of int32 whose end it computes from a shape that it knows.
#[test]
fn known_ends_of_ranges_become_constants() {
    let text = "x: float32[21, 4]; zero = int32[](0); one = int32[](1); s = ShapeOf@3(x, output_type=i32);
        n = Gather@8(s, one, zero); y = Range@4(zero, n, one, output_type=i32); return y";
    let model = Sketch::openvino(text).unwritten(0);
    let converted = model.convert(Standard::Onnx, &ConvertOptions::default()).unwrap();
    let graph = converted.model.graph();
    let range = graph.nodes().iter().find(|node| &*node.operator.name == "Range").unwrap();
    let end = range.inputs[1].unwrap();
    let (_, end) = graph.constants().iter().find(|(id, _)| *id == end).unwrap();
    assert_eq!(end.tensor().unwrap().to_i64().unwrap(), [4]);
    assert_eq!(end.dtype(), DType::I32);
}

/// Operators within the graph of a node are written by what is inferred of their own operands:
/// scores of four axes, of which the queries have three.
#[test]
fn operands_within_a_graph_have_ranks_of_their_own() {
    let mut random = fastrand::Rng::with_seed(19);
    for opset in [11, 12, 13] {
        for causal in ["true", "false"] {
            let query = floats(&mut random, &[3, 4, 5], -1.0, 1.0);
            let [key, value] = [(); 2].map(|()| floats(&mut random, &[2, 1, 6, 5], -1.0, 1.0));
            let one = openvino("ScaledDotProductAttention", 13).text("causal", causal);
            let (model, given) = one.inputs(&[query, key, value]).model();
            let want = model.run(given.clone()).unwrap();
            let mut options = ConvertOptions::default();
            options.opset = Some(opset);
            let converted = model.convert(Standard::Onnx, &options).unwrap().model;
            let nodes = converted.graph().nodes();
            assert!(nodes.iter().all(|node| node.version == Some(opset)), "set {opset}");
            let got = converted.run(given).unwrap();
            for ((_, want), (_, got)) in want.iter().zip(&got) {
                let how = difference(want.tensor().unwrap(), got.tensor().unwrap(), false);
                assert_eq!(how, None, "set {opset}, causal={causal}");
            }
        }
    }
}

/// Results of OpenVINO that its text does not have, and of modes that programs read differently, are
/// told in the report of a conversion.
#[test]
fn nodes_that_programs_read_differently_are_not_kept() {
    let grid = |padding: &'static str| {
        let inputs = [
            floats(&mut fastrand::Rng::with_seed(1), &[1, 1, 3, 3], -1.0, 1.0),
            floats(&mut fastrand::Rng::with_seed(2), &[1, 2, 2, 2], -2.0, 2.0),
        ];
        openvino("GridSample", 9).inputs(&inputs).text("mode", "bicubic").text("padding_mode", padding)
    };
    let prior = |scales: &'static str| {
        openvino("PriorBox", 8)
            .inputs(&[Tensor::vector(&[1i64, 1]), Tensor::vector(&[8i64, 8])])
            .text("min_size", "2")
            .text("max_size", "4")
            .text("offset", "0")
            .text("scale_all_sizes", scales)
    };
    let reduced = |keep: i64| {
        let inputs = [floats(&mut fastrand::Rng::with_seed(3), &[2, 3], -1.0, 1.0), Tensor::vector(&[1i64])];
        let node = One::of(Standard::Onnx, "ReduceMax", 20).inputs(&inputs);
        node.attribute("keepdims", Content::Int(keep)).declared(1, Some(&[Some(1)]))
    };
    let rank = "a result whose rank depends on axes that are not constant";
    let boxes = "OpenVINO adds boxes of max_size, which its text ignores";
    let border = "whether mode=cubic with padding_mode=border moves a point";
    for (node, why, told) in [
        (prior("false"), boxes, true),
        (prior("true"), boxes, false),
        (grid("border"), border, true),
        (grid("zeros"), border, false),
    ] {
        let converted = node.model().0.convert(Standard::Onnx, &ConvertOptions::default()).unwrap();
        let report = format!("{:?}", converted.report);
        assert_eq!(report.contains(why), told, "{why}: {report}");
    }
    for (keep, told) in [(0, true), (1, false)] {
        let converted =
            reduced(keep).model().0.convert(Standard::OpenVino, &ConvertOptions::default()).unwrap();
        assert_eq!(format!("{:?}", converted.report).contains(rank), told, "keepdims={keep}");
    }
}
