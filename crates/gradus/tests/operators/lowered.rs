//! Operators of OpenVINO and Paddle of which no models are recorded, or not all that matters:
//! element types, products by group, statistics, thresholds, and what is refused.

use gradus::conversion::ConvertOptions;
use gradus::convert::nearest_f64;
use gradus::graph::{Content, Standard};
use gradus::infer::InferOptions;
use gradus::{DType, Shape, Tensor, Value};

use crate::common::one::One;

const PROMOTIONS: &str = include_str!("../../../../conformance/recorded/openvino_promotions.txt");

fn openvino(operator: &str, version: i64) -> One<'_> {
    One::of(Standard::OpenVino, operator, version)
}

fn tensor<const N: usize>(dims: [usize; N], elements: &[f32]) -> Tensor {
    Tensor::from_vec(Shape::new(dims).unwrap(), elements.to_vec()).unwrap()
}

fn zeros<const N: usize>(dtype: DType, dims: [usize; N]) -> Tensor {
    Tensor::zeros(dtype, Shape::new(dims).unwrap()).unwrap()
}

/// The output of a node, or the error.
fn run(node: One<'_>) -> Result<Value, String> {
    let (model, given) = node.model();
    let outputs = model.run(given).map_err(|error| error.to_string())?;
    Ok(outputs[0].clone())
}

/// Both inputs get the type that OpenVINO gives them, or are refused as it refuses them.
#[test]
fn types_are_promoted_as_openvino_promotes_them() {
    let mut lines = PROMOTIONS.lines();
    let types: Vec<&str> = lines.next().unwrap().split(' ').collect();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        for (second, &want) in types.iter().zip(&words[3..]) {
            count += 1;
            let given = |name: &str, scalar: bool| {
                let dtype: DType = name.parse().unwrap();
                if scalar { zeros(dtype, []) } else { zeros(dtype, [2]) }
            };
            let inputs = [given(words[2], words[1] == "first"), given(second, words[1] == "second")];
            let node = openvino("ConvertPromoteTypes", 14)
                .inputs(&inputs)
                .text("promote_unsafe", if words[0] == "unsafe" { "true" } else { "false" })
                .text("pytorch_scalar_promotion", "true")
                .text("u64_integer_promotion_target", "i32")
                .outputs(2);
            let (model, _) = node.model();
            let inference = model.infer(&InferOptions::default()).unwrap();
            let outputs = model.graph().outputs();
            let got = [outputs[0], outputs[1]].map(|id| inference.fact(id).dtype());
            let refused =
                inference.problems().iter().any(|problem| problem.message.contains("promote_unsafe"));
            let right = match want {
                "-" => refused,
                _ => !refused && got == [Some(want.parse().unwrap()); 2],
            };
            if !right {
                wrong.push(format!("{line} with {second}: {got:?}"));
            }
        }
    }
    assert_eq!(count, 2 * 3 * types.len() * types.len());
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Types that OpenVINO does not promote are refused by name, also next to themselves.
#[test]
fn other_types_are_not_promoted() {
    use DType::{F4E2M1, F6E2M3, F6E3M2, F8E4M3FNUZ, F8E5M2FNUZ, F8E8M0, I2, NF4, U2, U3, U6};
    for other in [F4E2M1, F6E2M3, F6E3M2, F8E4M3FNUZ, F8E5M2FNUZ, F8E8M0, I2, NF4, U2, U3, U6] {
        for first in [DType::F32, DType::I8, other] {
            let inputs = [zeros(first, [2]), zeros(other, [2])];
            let node = openvino("ConvertPromoteTypes", 14).inputs(&inputs).text("promote_unsafe", "true");
            let (model, given) = node.outputs(2).model();
            let inference = model.infer(&InferOptions::default()).unwrap();
            let problems: Vec<_> = inference.problems().iter().map(|of| of.error().to_string()).collect();
            let name = other.name();
            assert!(problems.iter().any(|of| of.contains(name)), "{first} {other}: {problems:?}");
            let error = model.run(given).unwrap_err().to_string();
            assert!(error.contains(name), "{first} {other}: {error}");
        }
    }
}

fn paddle(operator: &str) -> One<'_> {
    One::of(Standard::Paddle, operator, 3)
}

/// Overlaps are compared with any number, of which those below 0 keep one box and those above 1 all.
#[test]
fn thresholds_of_paddle_may_be_any_numbers() {
    let boxes =
        tensor([4, 4], &[0.0, 0.0, 2.0, 2.0, 0.0, 0.0, 2.0, 2.0, 1.0, 0.0, 3.0, 2.0, 9.0, 9.0, 10.0, 10.0]);
    let kept: [(f32, &[i64]); 5] =
        [(-0.5, &[0]), (0.0, &[0, 3]), (0.5, &[0, 2, 3]), (1.0, &[0, 1, 2, 3]), (1.5, &[0, 1, 2, 3])];
    for (threshold, want) in kept {
        let node = paddle("nms")
            .inputs(std::slice::from_ref(&boxes))
            .attribute("threshold", Content::Float(threshold));
        let got = run(node).unwrap();
        assert_eq!(got.tensor().unwrap().elements::<i64>().unwrap(), want, "{threshold}");
    }
}

/// `batch_norm` takes the given statistics if it is told to, or tests and does not train them.
#[test]
fn statistics_of_paddle_are_those_that_flags_say() {
    let x = tensor([1, 2, 2], &[1.0, 3.0, -2.0, 0.5]);
    let each = [[1.0f32, 0.5], [4.0, 0.25], [2.0, 3.0], [-1.0, 0.25]];
    let [mean, variance, scale, bias] = each.map(|each| Tensor::vector(&each));
    let flags = ["is_test", "use_global_stats", "trainable_statistics"];
    for bits in 0..8 {
        let [test, given, trained] = [0, 1, 2].map(|bit| bits >> bit & 1 == 1);
        let inputs = [&x, &mean, &variance, &scale, &bias].map(Clone::clone);
        let mut node = paddle("batch_norm").inputs(&inputs).known().outputs(6);
        node = node.attribute("epsilon", Content::Float(0.5));
        for (name, flag) in flags.into_iter().zip([test, given, trained]) {
            node = node.text(name, if flag { "true" } else { "false" });
        }
        let result = run(node);
        if !given && (!test || trained) {
            let error = result.unwrap_err();
            assert!(error.contains("batch_norm by the statistics of the batch"), "{error}");
            continue;
        }
        let result = result.unwrap();
        let got = result.tensor().unwrap().elements::<f32>().unwrap().into_owned();
        for (place, (&got, &x)) in got.iter().zip(&[1.0f32, 3.0, -2.0, 0.5]).enumerate() {
            let [mean, variance, scale, bias] = each.map(|each| each[place / 2]);
            let want = (x - mean) / (variance + 0.5).sqrt() * scale + bias;
            assert!((got - want).abs() <= 1e-6, "{test} {given} {trained}: {got} is not {want}");
        }
    }
}

/// `mish` is `x * tanh(softplus(x))`, and above the threshold `x * tanh(x)`.
#[test]
fn mish_of_paddle_has_a_threshold() {
    let points = [-3.0f32, -0.5, 0.25, 0.5, 0.75, 2.0, 19.0, 21.0];
    for threshold in [None, Some(0.5f32), Some(-1.0), Some(20.0), Some(25.0)] {
        let mut node = paddle("mish").inputs(&[Tensor::vector(&points)]).known();
        if let Some(threshold) = threshold {
            node = node.attribute("lambda", Content::Float(threshold));
        }
        let result = run(node).unwrap();
        let got = result.tensor().unwrap().elements::<f32>().unwrap().into_owned();
        for (&got, x) in got.iter().zip(points.map(f64::from)) {
            let soft = if x > f64::from(threshold.unwrap_or(20.0)) { x } else { x.exp().ln_1p() };
            let want = x * soft.tanh();
            let apart = (f64::from(got) - want).abs();
            assert!(apart <= 3e-7 * want.abs().max(1.0), "{threshold:?} {x}: {got} is not {want}");
        }
    }
}

/// ONNX has no output padding of a stride or more: it takes from the pads at the end, and the rest
/// is zeros. The values are those of OpenVINO 2026.4.
#[test]
fn output_paddings_of_any_size() {
    let all = [1.0, 1.0, 3.0, 2.0, 5.0, 3.0, 7.0, 4.0, 4.0, 0.0, 0.0, 0.0f32];
    let inputs = [tensor([1, 1, 4], &[1.0, 2.0, 3.0, 4.0]), tensor([1, 1, 3], &[1.0; 3])];
    for (more, ends, count) in [("0", "0", 9), ("1", "0", 10), ("3", "0", 12), ("5", "2", 12), ("1", "2", 8)]
    {
        let node = openvino("ConvolutionBackpropData", 1).inputs(&inputs).known();
        let node = node.text("strides", "2").text("dilations", "1").text("pads_begin", "0");
        let got = run(node.text("pads_end", ends).text("output_padding", more)).unwrap();
        assert_eq!(got, tensor([1, 1, count], &all[..count]).into(), "{more} {ends}");
    }
}

/// Rows of groups are multiplied by the matrix of their group; rows after the last are zeros.
#[test]
fn products_by_group() {
    let a = tensor([5, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]);
    // Two groups of matrices whose rows are those of the result's columns.
    let b = tensor([2, 3, 2], &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 0.0, 0.0, 2.0, -1.0, 1.0]);
    let ends = Tensor::vector(&[1i32, 4]);
    let node = openvino("GroupedMatMul", 17).inputs(&[a, b.clone(), ends]);
    let want = [1.0, 2.0, 3.0, 6.0, 8.0, 1.0, 10.0, 12.0, 1.0, 14.0, 16.0, 1.0, 0.0, 0.0, 0.0f32];
    assert_eq!(run(node).unwrap(), tensor([5, 3], &want).into());
    let a = tensor([2, 1, 2], &[1.0, 2.0, 3.0, 4.0]);
    let node = openvino("GroupedMatMul", 17).inputs(&[a, b]);
    assert_eq!(run(node).unwrap(), tensor([2, 1, 3], &[1.0, 2.0, 3.0, 6.0, 8.0, 1.0]).into());
}

/// Scores decay with the overlap with better boxes, whatever the threshold is; those of a class
/// that fall below the least score are left out. As OpenVINO 2026.4 gives them.
#[test]
fn scores_decay_with_the_overlap() {
    let boxes = [
        [0.0f32, 0.0, 1.0, 1.0],
        [0.0, 0.2, 1.0, 1.2],
        [0.0, 0.5, 1.0, 1.5],
        [2.0, 2.0, 3.0, 3.0],
        [2.0, 2.1, 3.0, 3.1],
    ];
    let scores = [0.9f32, 0.8, 0.7, 0.3, 0.6, 0.1, 0.4, 0.9, 0.85, 0.2];
    for version in [5, 9] {
        let node = openvino("NonMaxSuppression", version)
            .inputs(&[tensor([1, 5, 4], &boxes.concat()), tensor([1, 2, 5], &scores), Tensor::scalar(4i64)])
            .inputs(&[0.5f32, 0.15, 0.5].map(Tensor::scalar))
            .text("sort_result_descending", "false")
            .outputs(3);
        let (model, given) = node.model();
        let outputs = model.run(given).unwrap();
        let places = outputs[0].tensor().unwrap().to_i64().unwrap();
        let wanted = [[0, 0, 0], [0, 0, 2], [0, 0, 4], [0, 0, 1], [0, 1, 2], [0, 1, 3], [0, 1, 1]];
        assert_eq!(places, wanted.concat());
        let rows = outputs[1].tensor().unwrap().elements::<f32>().unwrap().into_owned();
        let wanted = [0.9, 0.626_387_5, 0.6, 0.383_840_35, 0.9, 0.85, 0.299_323_17f32];
        for (row, want) in rows.chunks(3).zip(wanted) {
            assert!((row[2] - want).abs() < 2e-7, "{rows:?}");
        }
        assert_eq!(outputs[2].tensor().unwrap().to_i64().unwrap(), [7]);
    }
}

/// Checks that each node is refused by what its sentence contains.
fn refused<'a>(cases: impl IntoIterator<Item = (One<'a>, &'a str)>) {
    let mut wrong = Vec::new();
    for (case, (node, want)) in cases.into_iter().enumerate() {
        match run(node) {
            Err(error) if error.contains(want) => {}
            other => wrong.push(format!("case {case}, {want:?}: {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Sizes of inputs that do not fit, attributes that a node must have, and those that OpenVINO does
/// not take.
#[test]
fn inputs_of_other_sizes_are_refused() {
    let f32s = |dims: &[usize]| Tensor::zeros(DType::F32, Shape::new(dims).unwrap()).unwrap();
    let best = |sides: usize, scores: usize| {
        let inputs = [f32s(&[4, sides]), f32s(&[scores])];
        openvino("ExperimentalDetectronTopKROIs", 6).inputs(&inputs).text("max_rois", "2")
    };
    let pooled = |end: &'static str| {
        openvino("MaxPool", 1)
            .inputs(&[f32s(&[1, 1, 5])])
            .text("kernel", "2")
            .text("strides", "2")
            .text("pads_begin", "0")
            .text("pads_end", end)
            .text("rounding_type", "ceil_torch")
    };
    let turned = |rows: usize, scale: &'static str| {
        openvino("ROIAlignRotated", 15)
            .inputs(&[f32s(&[1, 1, 4, 4]), f32s(&[3, 5]), Tensor::vector(&vec![0i32; rows])])
            .text("pooled_h", "1")
            .text("pooled_w", "1")
            .text("spatial_scale", scale)
            .text("sampling_ratio", "1")
            .text("clockwise_mode", "false")
    };
    let colored = |channels: usize| {
        let inputs = [f32s(&[1, 2, 2, 1]), f32s(&[1, 1, 1, channels])];
        openvino("NV12toRGB", 8).inputs(&inputs)
    };
    let prior = |sizes: &'static str| {
        openvino("PriorBox", 8)
            .inputs(&[Tensor::vector(&[1i64, 1]), Tensor::vector(&[8i64, 8])])
            .text("min_size", "2,3")
            .text("max_size", sizes)
            .text("offset", "0")
    };
    let hot = openvino("OneHot", 1).inputs(&[Tensor::vector(&[0i64])]).constants(&[
        Tensor::scalar(2i64),
        Tensor::scalar(1f32),
        Tensor::scalar(0f32),
    ]);
    let eye = openvino("Eye", 9).inputs(&[Tensor::scalar(2i64), Tensor::scalar(2i64), Tensor::scalar(0i64)]);
    let top = openvino("TopK", 11).inputs(&[f32s(&[2, 3])]).constants(&[Tensor::scalar(1i64)]).outputs(2);
    refused([
        (top.text("mode", "max").text("sort", "value"), "attribute \"axis\" is missing"),
        (hot, "attribute \"axis\" is missing"),
        (eye, "attribute \"output_type\" is missing"),
        (best(3, 4), "size of axis 1 of input 0 is 3, expected 4"),
        (best(4, 3), "size of axis 0 of input 1 is 3, expected 4"),
        // OpenVINO drops one window that starts after the data, and keeps another.
        (pooled("3"), "pads_end of axis 2 is 3, expected at most 2, the window"),
        (turned(3, "-1"), "attribute \"spatial_scale\" is -1, expected a finite number above 0"),
        (turned(3, "inf"), "attribute \"spatial_scale\" is inf, expected a finite number above 0"),
        (turned(2, "1"), "size of axis 0 of input 2 is 2, expected 3"),
        (colored(3), "size of axis 3 of input 1 is 3, expected 2"),
        (prior("4,5,6"), "number of elements of attribute \"max_size\" is 3, expected at most 2"),
    ]);
}

/// Sizes, attributes and elements that no run takes are refused in one sentence.
#[test]
fn wrong_inputs_are_refused() {
    let f32s = |dims: &[usize]| Tensor::zeros(DType::F32, Shape::new(dims).unwrap()).unwrap();
    let deformable = |channels: usize, pairs: usize| {
        openvino("DeformablePSROIPooling", 1)
            .inputs(&[f32s(&[1, channels, 4, 4]), f32s(&[1, 5]), f32s(&[1, pairs, 1, 1])])
            .text("output_dim", "2")
            .text("group_size", "1")
            .text("spatial_scale", "1")
            .text("trans_std", "1")
            .text("part_size", "1")
    };
    let ctc = |lengths: i32, label: i32, labels: i32| {
        let inputs = [
            f32s(&[1, 3, 2]),
            Tensor::vector(&[lengths]),
            Tensor::from_vec(Shape::new([1, 2]).unwrap(), vec![label, 0]).unwrap(),
            Tensor::vector(&[labels]),
        ];
        openvino("CTCLoss", 4).inputs(&inputs)
    };
    let pack = |begin: i32, end: i32, bytes: &[u8]| {
        let inputs = [Tensor::vector(&[begin]), Tensor::vector(&[end]), Tensor::vector(bytes)];
        openvino("StringTensorPack", 15).inputs(&inputs)
    };
    let signal = |bins: usize, size: i64, step: i64| {
        openvino("ISTFT", 16)
            .inputs(&[f32s(&[bins, 2, 2]), f32s(&[2])])
            .constants(&[Tensor::scalar(size), Tensor::scalar(step)])
            .text("center", "false")
            .text("normalized", "false")
    };
    let tree = |rank: usize, lengths: usize, parent: f32| {
        let parents = tensor([2, 2, 3], &[parent; 12]);
        let parents = if rank == 3 { parents } else { f32s(&[1, 2, 3][..rank]) };
        let lengths = Tensor::from_vec(Shape::new([lengths]).unwrap(), vec![2f32; lengths]).unwrap();
        openvino("GatherTree", 1).inputs(&[f32s(&[2, 2, 3]), parents, lengths, f32s(&[])])
    };
    let sparse = |values: usize, row: i64| {
        let at = Tensor::from_vec(Shape::new([1, 2]).unwrap(), vec![row, 0]).unwrap();
        openvino("SparseFillEmptyRows", 16)
            .inputs(&[f32s(&[values]), Tensor::vector(&[3i64, 3]), at, f32s(&[])])
            .outputs(3)
    };
    let filled = |row: i64| sparse(1, row);
    let detected = |background: &str| {
        openvino("DetectionOutput", 8)
            .inputs(&[f32s(&[1, 4]), f32s(&[1, 2]), f32s(&[1, 2, 4])])
            .attribute("keep_top_k", Content::Ints([1].into()))
            .text("nms_threshold", "0.5")
            .text("normalized", "true")
            .text("decrease_label_id", "true")
            .text("background_label_id", background)
    };
    let reorganised =
        |channels: usize| openvino("ReorgYolo", 2).inputs(&[f32s(&[1, channels, 2, 2])]).text("stride", "2");
    let cases = [
        (deformable(3, 2), "dimension 1 of input 0 is 3, expected 2"),
        (deformable(2, 3), "dimension 1 of input 2 is 3, expected twice a divisor of 2"),
        (deformable(2, 2).text("mode", "average"), "attribute \"mode\" is \"average\""),
        (deformable(2, 2).text("spatial_bins_x", "100000"), "is 100000, expected from 1 to 256"),
        (ctc(4, 0, 1), "length of a sequence is 4, expected from 0 to 3"),
        (ctc(3, 2, 1), "label 2 is out of range for size 2"),
        (ctc(3, 0, 3), "number of labels is 3, expected from 0 to 2"),
        (pack(1, 9, b"abc"), "string is 1 to 9, expected a part of 3 bytes"),
        (pack(2, 1, b"abc"), "string is 2 to 1, expected a part of 3 bytes"),
        (pack(1, 3, &[97, 98, 255]), "byte 2 of input 2 is another encoding, expected UTF-8"),
        (signal(2, 4, 1), "dimension 0 of input 0 is 2, expected 3"),
        (signal(1, 1, 1), "size of input 1 is 2, expected at most 1"),
        (signal(3, 4, 0), "input 3 is 0, expected at least 1"),
        (tree(2, 2, 0.0), "rank of input 1 is 2, expected 3"),
        // OpenVINO has a length for each sequence, and counts no beam from the last.
        (tree(3, 1, 0.0), "size of axis 0 of input 2 is 1, expected 2"),
        (tree(3, 2, -1.0), "out of range for size 3"),
        // OpenVINO writes out of bounds.
        (sparse(2, 0), "size of axis 0 of input 2 is 1, expected 2"),
        (filled(-1), "out of range for size 3"),
        (filled(3), "index 3 is out of range for size 3"),
        // Class 0 is none, so another background means nothing; OpenVINO refuses it.
        (detected("1"), "DetectionOutput with decrease_label_id"),
        // The text wants as many channels as a block has pixels.
        (reorganised(0), "size of axis 1 is 0, expected a positive multiple of 4"),
        (
            openvino("BinaryConvolution", 1)
                .inputs(&[f32s(&[1, 1, 2, 2]), f32s(&[1, 1, 1, 1])])
                .text("mode", "and"),
            "expected xnor-popcount",
        ),
    ];
    refused(cases);
}

/// `iou_threshold` is any number: no overlap exceeds one above 1, and each exceeds one below 0.
#[test]
fn thresholds_of_overlaps_are_any_number() {
    let boxes = tensor([1, 3, 4], &[0., 0., 1., 1., 0., 0., 1., 1., 5., 5., 6., 6.]);
    let scores = tensor([1, 1, 3], &[0.9, 0.8, 0.7]);
    for (threshold, places) in [("2", &[0, 1, 2][..]), ("1", &[0, 1, 2]), ("0", &[0, 2]), ("-1", &[0])] {
        let node = openvino("MulticlassNms", 9)
            .inputs(&[boxes.clone(), scores.clone()])
            .outputs(3)
            .text("sort_result_type", "score")
            .text("iou_threshold", threshold);
        let (model, given) = node.model();
        let outputs = model.run(given).unwrap();
        assert_eq!(outputs[1].tensor().unwrap().to_i64().unwrap(), places, "{threshold}");
        // ONNX has thresholds from 0 to 1 alone, as its text says.
        let threshold: f32 = threshold.parse().unwrap();
        let given = [Tensor::scalar(9i64), Tensor::scalar(threshold)];
        let node = One::of(Standard::Onnx, "NonMaxSuppression", 11);
        let in_onnx = run(node.inputs(&[boxes.clone(), scores.clone()]).constants(&given));
        assert_eq!(in_onnx.is_ok(), (0.0..=1.0).contains(&threshold), "{threshold}: {in_onnx:?}");
        let given = given.into_iter().chain([Tensor::scalar(0f32)]).collect::<Vec<_>>();
        let node =
            openvino("NonMaxSuppression", 9).inputs(&[boxes.clone(), scores.clone()]).constants(&given);
        let (model, given) = node.outputs(3).model();
        let converted = model.convert(Standard::Onnx, &ConvertOptions::default()).unwrap().model;
        for (model, what) in [(model, "OpenVINO"), (converted, "converted")] {
            let outputs = model.run(given.clone()).unwrap();
            let rows = outputs[0].tensor().unwrap().to_i64().unwrap();
            assert_eq!(rows.chunks(3).map(|row| row[2]).collect::<Vec<_>>(), places, "{what}: {threshold}");
        }
    }
}

/// `Compress` selects along axes, of which a scalar has none.
#[test]
fn scalars_are_not_compressed() {
    let inputs = [Tensor::scalar(1f32), zeros(DType::Bool, [1])];
    let node = || One::of(Standard::Onnx, "Compress", 11).inputs(&inputs);
    assert!(run(node()).is_err_and(|error| error.contains("is 0, expected at least 1")));
    let (model, _) = node().model();
    assert!(!model.infer(&InferOptions::default()).is_ok_and(|found| found.problems().is_empty()));
}

/// Where the aspect ratio is kept, axes without elements that are to have none count as kept, as in
/// ONNX Runtime 1.32.
#[test]
fn ratios_of_no_elements_are_kept() {
    let image = zeros(DType::F32, [0, 3]);
    let cases = [
        ("not_larger", 1, [0, 1]),
        ("not_larger", 5, [0, 3]),
        ("not_smaller", 1, [0, 3]),
        ("not_smaller", 5, [0, 5]),
    ];
    for (policy, size, want) in cases {
        let none = || Some(Tensor::vector::<f32>(&[]));
        let constants = [none(), none(), Some(Tensor::vector(&[0i64, size]))];
        let node = One::of(Standard::Onnx, "Resize", 19).inputs(std::slice::from_ref(&image));
        let policy = ("keep_aspect_ratio_policy", Content::Bytes(policy.as_bytes().to_vec().into()));
        let node = node.optional_constants(constants).attribute(policy.0, policy.1);
        assert_eq!(run(node).unwrap().tensor().unwrap().shape().dims(), want);
    }
}

/// Rows of class and score, places, and how many rows each image has: what OpenVINO 2026.4.1 gives.
type Detections = (&'static [(f32, f32)], &'static [i64], &'static [i64]);

/// Attributes, counts of boxes by image, and what is detected.
type DetectionCase<'a> = (&'a [(&'a str, &'a str)], &'a [i32], Detections);

/// Boxes of several images in one list.
#[test]
fn boxes_of_several_images_are_chosen_from_one_list() {
    let boxes: [[f32; 4]; 5] =
        [[0., 0., 4., 4.], [1., 0., 5., 4.], [8., 8., 9., 9.], [0., 0., 3., 3.], [8., 8., 9.5, 9.]];
    let mut turned = boxes;
    turned.reverse();
    let boxes = tensor([2, 5, 4], &[boxes, turned].concat().concat());
    let scores = tensor([2, 5], &[0.9, 0.8, 0.3, 0.6, 0.7, 0.5, 0.4, 0.95, 0.2, 0.65]);
    let by_score = &[("sort_result_type", "score")][..];
    let best = &[
        ("sort_result_type", "score"),
        ("keep_top_k", "3"),
        ("sort_result_across_batch", "true"),
        ("nms_top_k", "2"),
    ][..];
    let by_class = &[("sort_result_type", "classid"), ("keep_top_k", "2")][..];
    let without_first = &[
        ("sort_result_type", "classid"),
        ("background_class", "0"),
        ("sort_result_across_batch", "true"),
    ][..];
    let cases: &[DetectionCase<'_>] = &[
        (
            by_score,
            &[2, 3],
            (
                &[(0., 0.9), (1., 0.5), (1., 0.4), (1., 0.95), (0., 0.7), (1., 0.65), (0., 0.6)],
                &[0, 1, 3, 5, 8, 9, 6],
                &[3, 4],
            ),
        ),
        (by_score, &[0, 5], (&[(1., 0.95), (0., 0.9), (0., 0.7), (1., 0.65)], &[5, 0, 8, 9], &[0, 4])),
        (
            best,
            &[2, 3],
            (
                &[(1., 0.95), (0., 0.9), (0., 0.7), (1., 0.65), (1., 0.5), (1., 0.4)],
                &[5, 0, 8, 9, 1, 3],
                &[3, 3],
            ),
        ),
        (best, &[0, 5], (&[(1., 0.95), (0., 0.9), (1., 0.65)], &[5, 0, 9], &[0, 3])),
        (without_first, &[2, 3], (&[(1., 0.5), (1., 0.4), (1., 0.95), (1., 0.65)], &[1, 3, 5, 9], &[2, 2])),
        (without_first, &[3, 1, 1], (&[(1., 0.95), (1., 0.4), (1., 0.65)], &[5, 3, 9], &[2, 0, 1])),
        (by_class, &[2, 3], (&[(0., 0.9), (1., 0.5), (0., 0.7), (1., 0.95)], &[0, 1, 8, 5], &[2, 2])),
        (
            by_class,
            &[3, 1, 1],
            (&[(0., 0.9), (1., 0.95), (0., 0.6), (0., 0.7), (1., 0.65)], &[0, 5, 6, 8, 9], &[2, 1, 2]),
        ),
    ];
    for &(attributes, counts, (rows, places, found)) in cases {
        let what = format!("{attributes:?} {counts:?}");
        let one = openvino("MulticlassNms", 9)
            .inputs(&[boxes.clone(), scores.clone(), Tensor::vector(counts)])
            .outputs(3)
            .text("iou_threshold", "0.5")
            .text("score_threshold", "0.25");
        let (model, given) = attributes.iter().fold(one, |one, (name, text)| one.text(name, text)).model();
        let outputs = model.run(given).unwrap_or_else(|error| panic!("{what}: {error}"));
        let numbers = outputs[0].tensor().unwrap().elements::<f32>().unwrap().into_owned();
        let got: Vec<_> = numbers.chunks(6).map(|row| (row[0], row[1])).collect();
        assert_eq!(got, rows, "{what}");
        assert_eq!(outputs[1].tensor().unwrap().to_i64().unwrap(), places, "{what}");
        assert_eq!(outputs[2].tensor().unwrap().to_i64().unwrap(), found, "{what}");
    }
}

/// Steps of `PriorBoxClustered` that are zero are those of both axes, and the sides of a cell where
/// that is zero as well.
#[test]
fn steps_of_clustered_boxes_are_those_of_each_axis() {
    let centers = |steps: [&'static str; 3]| {
        let [both, across, down] = steps;
        let node = openvino("PriorBoxClustered", 1)
            .inputs(&[Tensor::vector(&[1i64, 1]), Tensor::vector(&[8i64, 16])])
            .text("width", "0")
            .text("height", "0")
            .text("offset", "0.5")
            .text("clip", "false")
            .text("step", both)
            .text("step_w", across)
            .text("step_h", down);
        let Value::Tensor(row) = run(node).unwrap() else { panic!("a tensor") };
        let row: Vec<_> = row.numbers().unwrap().map(nearest_f64).collect();
        [row[0] * 16.0, row[1] * 8.0]
    };
    assert_eq!(centers(["0", "0", "0"]), [8.0, 4.0]);
    assert_eq!(centers(["2", "0", "0"]), [1.0, 1.0]);
    assert_eq!(centers(["2", "4", "0"]), [2.0, 1.0]);
    assert_eq!(centers(["0", "4", "6"]), [2.0, 3.0]);
}

/// `aligned_mode=half_pixel` moves boxes by half a pixel of the scaled image, and back by half a
/// pixel of this one; OpenVINO returned these.
#[test]
fn regions_are_aligned_to_pixels_of_both_images() {
    let image: Vec<_> = (0u8..16).map(f32::from).collect();
    let node = |mode: &'static str| {
        openvino("ROIAlign", 9)
            .inputs(&[
                tensor([1, 1, 4, 4], &image),
                tensor([1, 4], &[0., 0., 4., 4.]),
                Tensor::vector(&[0i64]),
            ])
            .text("pooled_h", "1")
            .text("pooled_w", "1")
            .text("sampling_ratio", "1")
            .text("spatial_scale", "0.5")
            .text("mode", "avg")
            .text("aligned_mode", mode)
    };
    for (mode, want) in [("asymmetric", 5.0), ("half_pixel_for_nn", 2.5), ("half_pixel", 3.75)] {
        assert_eq!(run(node(mode)).unwrap(), Value::Tensor(tensor([1, 1, 1, 1], &[want])), "{mode}");
    }
}

/// Scores of chosen boxes are float32, whatever the type of the scores, as OpenVINO declares them.
#[test]
fn scores_of_chosen_boxes_are_float32() {
    let half = |dims: &[usize]| Tensor::zeros(DType::F16, Shape::new(dims).unwrap()).unwrap();
    let numbers = |count: i64| [Tensor::scalar(count), Tensor::scalar(0.5f32), Tensor::scalar(-1f32)];
    for (operator, version, sides) in
        [("NonMaxSuppression", 5, 4), ("NonMaxSuppression", 9, 4), ("NMSRotated", 13, 5)]
    {
        let node = openvino(operator, version)
            .inputs(&[half(&[1, 2, sides]), half(&[1, 1, 2])])
            .constants(&numbers(2))
            .outputs(3);
        let (model, given) = node.model();
        let converted = model.convert(Standard::Onnx, &ConvertOptions::default()).unwrap().model;
        for model in [model, converted] {
            let outputs = model.run(given.clone()).unwrap();
            assert_eq!(outputs[1].tensor().unwrap().dtype(), DType::F32, "{operator}-{version}");
        }
    }
}
