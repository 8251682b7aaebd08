//! Models in other operator sets of ONNX, and operators that become others where a set or OpenVINO
//! lacks them.

use std::collections::HashMap;

use bytes::Bytes;
use gradus::conversion::{ConvertOptions, Exactness};
use gradus::element::Bool;
use gradus::graph::{Content, Standard};
use gradus::infer::InferOptions;
use gradus::{DType, Dim, Model, Shape, Tensor, Value};

use crate::common::converted::{compare, convert, floats, kept, openvino, run};
use crate::common::one::One;
use crate::common::sketch::Sketch;
use crate::common::tensors::{counted, tensor};

#[test]
fn older_operator_sets_have_attributes_where_newer_ones_have_inputs() {
    let (model, given) = openvino("Squeeze", 1, &[counted(&[1, 3])], &[Tensor::vector(&[0i64])], &[], 1);
    let want = run(&model, &given);
    for opset in [11, 13, 28] {
        let mut options = ConvertOptions::default();
        options.opset = Some(opset);
        let converted = model.convert(Standard::Onnx, &options).unwrap();
        let node = &converted.model.graph().nodes()[0];
        assert_eq!(node.attribute("axes").is_some(), opset < 13, "{opset}");
        compare(&format!("{opset}"), &want, &converted.model, &given, Exactness::Exact);
    }
    let (model, _) = openvino(
        "Range",
        4,
        &[Tensor::scalar(1i64), Tensor::scalar(1i64), Tensor::scalar(1i64)],
        &[],
        &[("output_type", "i64")],
        1,
    );
    let mut old = ConvertOptions::default();
    old.opset = Some(10);
    let error = model.convert(Standard::Onnx, &old);
    assert_eq!(
        error.unwrap_err().to_string(),
        "node \"node\" (openvino Range-4): cannot write Range: operator set is 10, expected at least 11"
    );
}

#[test]
fn older_operator_sets_have_others_that_compute_the_same() {
    let (x, scale, bias) = (counted(&[2, 4, 3]), counted(&[3]), counted(&[3]));
    let (by_channel, shift) = (counted(&[4]), counted(&[4]));
    let tanh = || ("approximate", Content::Bytes(Bytes::from_static(b"tanh")));
    let groups = || ("num_groups", Content::Int(2));
    let nodes = [
        ("Gelu", 20, vec![x.clone()], vec![], 1),
        ("Gelu", 20, vec![x.clone()], vec![tanh()], 1),
        ("GroupNormalization", 21, vec![x.clone(), by_channel, shift], vec![groups()], 1),
        ("HardSwish", 14, vec![x.clone()], vec![], 1),
        ("LayerNormalization", 17, vec![x.clone(), scale.clone(), bias.clone()], vec![], 3),
        ("LayerNormalization", 17, vec![x.clone(), scale.clone()], vec![("axis", Content::Int(-1))], 1),
        ("Mish", 18, vec![x.clone()], vec![], 1),
        ("RMSNormalization", 23, vec![x.clone(), scale], vec![], 1),
        ("Swish", 24, vec![x.clone()], vec![], 1),
        ("Swish", 24, vec![x], vec![("alpha", Content::Float(0.5))], 1),
    ];
    for (operator, since, inputs, attributes, outputs) in nodes {
        for dtype in [DType::F32, DType::F16, DType::F64] {
            let short = |x: &Tensor| gradus::convert::cast(x, dtype, gradus::convert::Rules::IEEE).unwrap();
            let inputs: Vec<_> = inputs.iter().map(short).collect();
            let one = One::of(Standard::Onnx, operator, 28).inputs(&inputs).outputs(outputs);
            let (model, given) = attributes
                .iter()
                .fold(one, |one, (name, content)| one.attribute(name, content.clone()))
                .model();
            let want = run(&model, &given);
            for opset in [since, since - 1, 13] {
                let mut options = ConvertOptions::default();
                options.opset = Some(opset);
                let converted = model.convert(Standard::Onnx, &options).unwrap();
                let nodes = converted.model.graph().nodes();
                let names_it = nodes.iter().any(|node| &*node.operator.name == operator);
                assert_eq!(names_it, opset >= since, "{operator} {opset}");
                assert_eq!(converted.report.is_exact(), names_it);
                let what = format!("{operator} of {dtype} in set {opset}");
                compare(&what, &want, &converted.model, &given, kept(&[&converted.report]));
            }
        }
    }
}

/// Pads are an attribute before operator set 11, and of all axes before 18.
#[test]
fn known_pads_of_some_axes_become_known_pads_of_all() {
    let model = Sketch::of("x: float32[n, 4]; pads = [1, 2]; axes = [1]; y = Pad(x, pads, , axes)")
        .text("return y: float32[n, 7]")
        .model_of(18);
    let given = HashMap::from([("x".to_owned(), Value::from(floats(&[2, 4])))]);
    let want = run(&model, &given);
    for opset in [17, 10, 7] {
        let mut options = ConvertOptions::default();
        options.opset = Some(opset);
        let converted = model.convert(Standard::Onnx, &options).unwrap();
        assert_eq!(converted.model.graph().nodes().len(), 1, "{opset}");
        compare(&format!("{opset}"), &want, &converted.model, &given, Exactness::Exact);
    }
}

#[test]
fn powers_of_two_types_become_powers_of_one() {
    let nodes = [
        (floats(&[3]), tensor(&[3], &[2i64, 0, -3])),
        (tensor(&[2, 3], &[3i32, -9, 77, 0, 1, -1]), tensor(&[3], &[2i64, 3, 0])),
        (tensor(&[3], &[3i64, -9, 77]), tensor(&[3], &[2f32, 3.0, 0.0])),
    ];
    for (base, exponent) in nodes {
        let what = format!("{} {}", base.dtype(), exponent.dtype());
        let (model, given) = One::of(Standard::Onnx, "Pow", 17).inputs(&[base, exponent]).model();
        let want = run(&model, &given);
        let mut options = ConvertOptions::default();
        options.opset = Some(11);
        let converted = model.convert(Standard::Onnx, &options).unwrap();
        compare(&what, &want, &converted.model, &given, kept(&[&converted.report]));
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn older_operator_sets_give_the_same_bits() {
    let (x, empty) = (floats(&[2, 3, 4]), Tensor::zeros(DType::F32, Shape::new([0, 3]).unwrap()).unwrap());
    let (list, axes) = (|list: &[i64]| Tensor::vector(list), || vec![Tensor::vector(&[1i64])]);
    let (one, bytes) = (|name| (name, Content::Int(1)), |text: &'static str| Content::Bytes(text.into()));
    let channels = || vec![floats(&[3]), floats(&[3]), floats(&[3]), floats(&[3])];
    let zero = |name| (name, Content::Int(0));
    let flag = Tensor::scalar(Bool::from(false));
    let nodes = [
        ("BatchNormalization", 14, vec![x.clone()], channels(), vec![zero("training_mode")]),
        ("BitwiseAnd", 18, vec![tensor(&[4], &[-1i8, 77, -128, 5]), tensor(&[], &[-42i8])], vec![], vec![]),
        (
            "BitwiseAnd",
            18,
            vec![tensor(&[3], &[u64::MAX, 1 << 63, 77]), tensor(&[], &[(1u64 << 63) + 5])],
            vec![],
            vec![],
        ),
        ("BitwiseNot", 18, vec![tensor(&[3], &[0u8, 77, 255])], vec![], vec![]),
        ("BitwiseNot", 18, vec![tensor(&[3], &[0u64, 77, u64::MAX])], vec![], vec![]),
        ("BitwiseNot", 18, vec![tensor(&[3], &[0i64, 77, i64::MIN])], vec![], vec![]),
        ("BitwiseOr", 18, vec![tensor(&[3], &[1u16, 77, 65535]), tensor(&[], &[40_000u16])], vec![], vec![]),
        (
            "BitwiseOr",
            18,
            vec![tensor(&[3], &[i64::MIN, -77, i64::MAX]), tensor(&[], &[-4_000_000_000i64])],
            vec![],
            vec![],
        ),
        (
            "BitwiseXor",
            18,
            vec![tensor(&[3], &[i32::MIN, -77, i32::MAX]), tensor(&[], &[-1_000_000i32])],
            vec![],
            vec![],
        ),
        (
            "BitwiseXor",
            18,
            vec![tensor(&[3], &[i64::MIN, -77, i64::MAX]), tensor(&[2, 1], &[-1i64, 1 << 40])],
            vec![],
            vec![],
        ),
        ("CastLike", 15, vec![x.clone(), list(&[1])], vec![], vec![]),
        (
            "GatherND",
            12,
            vec![x.clone(), tensor(&[2, 4, 1], &[0i64, 2, -1, 1, 1, 0, 2, 2])],
            vec![],
            vec![one("batch_dims")],
        ),
        (
            "GatherND",
            12,
            vec![x.clone(), tensor(&[2, 3, 2, 1], &[3i64, 0, -1, 1, 1, 0, 2, 2, 0, 1, 2, 3])],
            vec![],
            vec![("batch_dims", Content::Int(2))],
        ),
        ("Pow", 12, vec![tensor(&[3], &[3i64, -1 << 40, 77])], vec![tensor(&[1], &[5i32])], vec![]),
        ("Pow", 12, vec![tensor(&[3], &[3i32, -9, i32::MAX])], vec![tensor(&[], &[1f32])], vec![]),
        (
            "Pad",
            18,
            vec![x.clone(), list(&[1, -1, 2, 0])],
            vec![tensor(&[], &[7f32]), list(&[-1, 0])],
            vec![],
        ),
        ("ReduceMax", 18, vec![x.clone()], axes(), vec![one("noop_with_empty_axes")]),
        ("ReduceMin", 18, vec![x.clone()], axes(), vec![zero("noop_with_empty_axes")]),
        // Sizes of 0, and of the input that may be 0.
        ("Reshape", 14, vec![empty.clone(), list(&[3, 0])], vec![], vec![one("allowzero")]),
        ("Reshape", 14, vec![empty.clone(), list(&[4, 0, 2])], vec![], vec![one("allowzero")]),
        ("Reshape", 14, vec![empty, list(&[-1, 5])], vec![], vec![one("allowzero")]),
        ("Reshape", 14, vec![x.clone(), list(&[-1, 6])], vec![], vec![one("allowzero")]),
        ("Reshape", 14, vec![tensor(&[1, 1], &[7f32]), list(&[])], vec![], vec![one("allowzero")]),
        (
            "Resize",
            18,
            vec![x.clone()],
            vec![Tensor::vector::<f32>(&[]), Tensor::vector(&[1f32, 2.0, 1.0])],
            vec![zero("antialias"), ("keep_aspect_ratio_policy", bytes("stretch"))],
        ),
        // An index that occurs twice is reduced twice.
        (
            "ScatterElements",
            16,
            vec![counted(&[3, 3]), tensor(&[2, 3], &[0i64, 2, 1, 0, 1, -2]), counted(&[2, 3])],
            vec![],
            vec![("reduction", bytes("add"))],
        ),
        (
            "ScatterElements",
            16,
            vec![counted(&[2, 3]), tensor(&[2, 3], &[0i64, 0, 2, 1, 1, 1]), counted(&[2, 3])],
            vec![],
            vec![one("axis"), ("reduction", bytes("mul"))],
        ),
        (
            "ScatterElements",
            18,
            vec![floats(&[3, 3]), tensor(&[2, 2], &[0i64, 2, 0, 2]), floats(&[2, 2])],
            vec![],
            vec![("reduction", bytes("max"))],
        ),
        (
            "ScatterND",
            16,
            vec![counted(&[4, 2]), tensor(&[3, 1], &[0i64, 2, 0]), counted(&[3, 2])],
            vec![],
            vec![("reduction", bytes("add"))],
        ),
        (
            "ScatterND",
            18,
            vec![floats(&[2, 3]), tensor(&[2, 1, 2], &[1i64, 2, 1, 2]), floats(&[2, 1])],
            vec![],
            vec![("reduction", bytes("min"))],
        ),
        ("Shape", 15, vec![x.clone()], vec![], vec![one("start"), ("end", Content::Int(-1))]),
        ("Trilu", 14, vec![x.clone()], vec![], vec![]),
        ("Trilu", 14, vec![tensor(&[3, 3], &[Bool::from(true); 9])], vec![], vec![]),
        (
            "Trilu",
            14,
            vec![tensor(&[2, 4], &[Bool::from(true); 8])],
            vec![Tensor::scalar(1i64)],
            vec![zero("upper")],
        ),
        ("Dropout", 12, vec![floats(&[2, 3])], vec![Tensor::scalar(0.25f32), flag], vec![one("seed")]),
        // The node takes floats alone in older sets.
        ("Constant", 9, vec![], vec![], vec![("value", Content::Tensor(list(&[3, -1]).into()))]),
        ("Constant", 12, vec![], vec![], vec![("value_float", Content::Float(0.5))]),
        ("Constant", 12, vec![], vec![], vec![("value_floats", Content::Floats([0.5, -1.0].into()))]),
        ("Constant", 12, vec![], vec![], vec![("value_int", Content::Int(7))]),
        ("Constant", 12, vec![], vec![], vec![("value_ints", Content::Ints([3, -1].into()))]),
        ("Trilu", 14, vec![x, Tensor::scalar(-1i64)], vec![], vec![zero("upper")]),
    ];
    for (operator, since, inputs, constants, attributes) in nodes {
        let one = One::of(Standard::Onnx, operator, 28).inputs(&inputs).constants(&constants);
        let (model, given) =
            attributes.iter().fold(one, |one, (name, content)| one.attribute(name, content.clone())).model();
        let want = run(&model, &given);
        for opset in [since, since - 1, 11] {
            let mut options = ConvertOptions::default();
            options.opset = Some(opset);
            let converted = model.convert(Standard::Onnx, &options).unwrap();
            assert!(converted.report.is_exact(), "{operator}: {:?}", converted.report.notes);
            let what = format!("{operator} in set {opset}");
            compare(&what, &want, &converted.model, &given, Exactness::Exact);
        }
    }
}

/// ONNX Runtime has no `Where` of booleans: `And` joins a mask where `Trilu` is missing.
#[test]
fn triangles_of_masks_are_joined_by_and() {
    let (model, _) =
        One::of(Standard::Onnx, "Trilu", 14).inputs(&[tensor(&[3, 3], &[Bool::from(true); 9])]).model();
    let names: Vec<_> = in_other_set(&model, 13)
        .model
        .graph()
        .nodes()
        .iter()
        .map(|node| node.operator.name.to_string())
        .collect();
    assert!(names.iter().any(|name| name == "And") && names.iter().all(|name| name != "Where"), "{names:?}");
}

/// Operators that OpenVINO and older sets lack, and others compute.
#[test]
fn decomposed_operators_compute_the_same() {
    let (x, list) = (floats(&[2, 3, 4]), |list: &[i64]| Tensor::vector(list));
    let int = |name: &'static str, value| (name, Content::Int(value));
    let ints = |name: &'static str, list: &[i64]| (name, Content::Ints(list.to_vec().into()));
    let text = |name: &'static str, text: &'static str| (name, Content::Bytes(text.into()));
    let whole = tensor(&[2, 3], &[3i32, -2, 5, 7, 0, 4]);
    let theta = tensor(&[1, 2, 3], &[1f32, 0.25, -0.5, 0.5, -1.0, 2.0]);
    let volume = tensor(&[1, 3, 4], &[1f32, 0.0, 0.5, 0.0, 0.25, -1.0, 0.5, 0.0, 1.0, 0.5, -0.5, 2.0]);
    let (columns, image) = (floats(&[2, 12, 6]), vec![list(&[5, 6]), list(&[2, 2])]);
    let labels = || tensor(&[2, 4], &[2i64, 0, 1, 1, 0, 2, 2, 1]);
    let weights = || tensor(&[3], &[0.5f32, 2.0, 1.0]);
    let scores = [x.clone(), labels()].to_vec();
    let mut weighed = scores.clone();
    weighed.push(weights());
    let planes = floats(&[1, 2, 5, 6]);
    let axis = |axis: i64| vec![Tensor::scalar(axis)];
    let dims = |dims: &[i64]| vec![Tensor::vector(dims)];
    let nodes = [
        ("AffineGrid", vec![theta.clone()], dims(&[1, 2, 3, 4]), vec![], 1),
        ("AffineGrid", vec![theta], dims(&[1, 2, 1, 4]), vec![int("align_corners", 0)], 1),
        ("AffineGrid", vec![volume], dims(&[1, 2, 3, 4, 2]), vec![int("align_corners", 1)], 1),
        ("CenterCropPad", vec![x.clone()], dims(&[1, 6, 7]), vec![], 1),
        ("CenterCropPad", vec![whole.clone()], dims(&[4]), vec![ints("axes", &[-2])], 1),
        (
            "Col2Im",
            vec![columns.clone()],
            image.clone(),
            vec![ints("strides", &[2, 2]), ints("pads", &[0, 0, 0, 1])],
            1,
        ),
        ("Col2Im", vec![floats(&[1, 4, 12])], image, vec![ints("dilations", &[2, 2])], 1),
        ("CumProd", vec![whole.clone()], axis(1), vec![], 1),
        ("CumProd", vec![whole.clone()], axis(0), vec![int("exclusive", 1)], 1),
        ("CumProd", vec![whole.clone()], axis(-1), vec![int("reverse", 1)], 1),
        ("CumProd", vec![x.clone()], axis(1), vec![int("reverse", 1), int("exclusive", 1)], 1),
        ("DFT", vec![floats(&[2, 5, 1])], vec![], vec![], 1),
        ("DFT", vec![floats(&[2, 5, 1])], vec![], vec![int("onesided", 1)], 1),
        ("DFT", vec![floats(&[2, 5, 2])], vec![Tensor::scalar(4i64), Tensor::scalar(0i64)], vec![], 1),
        ("DFT", vec![floats(&[2, 5, 2])], vec![], vec![int("inverse", 1)], 1),
        ("DFT", vec![floats(&[2, 5, 2])], vec![], vec![int("inverse", 1), int("onesided", 1)], 1),
        ("STFT", vec![floats(&[2, 16])], vec![Tensor::scalar(4i64), floats(&[6])], vec![], 1),
        ("STFT", vec![floats(&[2, 16, 1])], vec![Tensor::scalar(3i64)], vec![], 1),
        ("HannWindow", vec![Tensor::scalar(9i64)], vec![], vec![], 1),
        ("HammingWindow", vec![Tensor::scalar(8i32)], vec![], vec![int("periodic", 0)], 1),
        ("BlackmanWindow", vec![Tensor::scalar(9i64)], vec![], vec![int("output_datatype", 11)], 1),
        ("BlackmanWindow", vec![Tensor::scalar(100i64)], vec![], vec![int("output_datatype", 6)], 1),
        ("GlobalLpPool", vec![planes.clone()], vec![], vec![], 1),
        ("LpPool", vec![planes.clone()], vec![], vec![ints("kernel_shape", &[2, 3]), int("p", 1)], 1),
        (
            "LpPool",
            vec![planes.clone()],
            vec![],
            vec![ints("kernel_shape", &[3, 2]), ints("strides", &[2, 1]), ints("pads", &[1, 0, 1, 1])],
            1,
        ),
        ("LpPool", vec![planes], vec![], vec![ints("kernel_shape", &[2, 2]), int("p", 3)], 1),
        ("NegativeLogLikelihoodLoss", scores.clone(), vec![], vec![text("reduction", "none")], 1),
        ("NegativeLogLikelihoodLoss", weighed.clone(), vec![], vec![int("ignore_index", 2)], 1),
        ("SoftmaxCrossEntropyLoss", scores.clone(), vec![], vec![int("ignore_index", -1)], 1),
        ("SoftmaxCrossEntropyLoss", scores, vec![], vec![], 2),
        ("SoftmaxCrossEntropyLoss", weighed, vec![], vec![text("reduction", "sum")], 2),
    ];
    for (operator, inputs, constants, attributes, outputs) in nodes {
        let one = One::of(Standard::Onnx, operator, 28).inputs(&inputs).constants(&constants);
        let one = one.outputs(outputs).known();
        let (model, given) =
            attributes.iter().fold(one, |one, (name, content)| one.attribute(name, content.clone())).model();
        let want = run(&model, &given);
        let there = convert(&model, Standard::OpenVino).unwrap_or_else(|error| panic!("{operator}: {error}"));
        compare(&format!("{operator} in OpenVINO"), &want, &there.model, &given, kept(&[&there.report]));
        let mut options = ConvertOptions::default();
        options.opset = Some(if matches!(operator, "DFT" | "STFT") { 17 } else { 13 });
        let old =
            model.convert(Standard::Onnx, &options).unwrap_or_else(|error| panic!("{operator}: {error}"));
        compare(&format!("{operator} in an older set"), &want, &old.model, &given, kept(&[&old.report]));
    }
}

/// A model of ONNX in another operator set.
pub(super) fn in_other_set(model: &Model, opset: i64) -> gradus::conversion::Converted {
    let mut options = ConvertOptions::default();
    options.opset = Some(opset);
    model.convert(Standard::Onnx, &options).unwrap()
}

#[test]
fn binary_convolutions_become_convolutions() {
    let codes: Vec<u8> = (0..72u8).map(|bit| u8::from(bit % 3 == 0 || bit % 7 == 2)).collect();
    let weights = Tensor::from_codes(DType::U1, Shape::new(vec![3, 4, 2, 3]).unwrap(), &codes).unwrap();
    for (pad, auto, dtype) in [
        ("0", "explicit", DType::F32),
        ("1", "explicit", DType::F64),
        ("-1", "same_upper", DType::F32),
        ("0.3", "explicit", DType::F32),
        ("1", "explicit", DType::F16),
    ] {
        let x = gradus::convert::cast(&floats(&[2, 4, 5, 6]), dtype, gradus::convert::Rules::IEEE).unwrap();
        let attributes = [
            ("mode", "xnor-popcount"),
            ("pad_value", pad),
            ("auto_pad", auto),
            ("strides", "2,1"),
            ("dilations", "1,2"),
            ("pads_begin", "1,0"),
            ("pads_end", "0,2"),
        ];
        let weights = std::slice::from_ref(&weights);
        let (model, given) = openvino("BinaryConvolution", 1, &[x], weights, &attributes, 1);
        let there = convert(&model, Standard::Onnx).unwrap();
        assert_eq!(there.report.is_exact(), pad != "0.3" && dtype != DType::F16, "{pad} {dtype}");
        let what = format!("pads of {pad}, {dtype}");
        compare(&what, &run(&model, &given), &there.model, &given, kept(&[&there.report]));
    }
}

#[test]
fn the_last_part_of_a_split_is_smaller_in_older_sets() {
    for (opset, len) in
        [17, 13, 12, 10].into_iter().flat_map(|opset| [0, 3, 4, 5, 8, 9].map(|len| (opset, len)))
    {
        for known in [false, true] {
            let one = One::of(Standard::Onnx, "Split", 18).inputs(&[counted(&[2, len])]).outputs(4);
            let one = one.attribute("num_outputs", Content::Int(4)).attribute("axis", Content::Int(-1));
            let (model, given) = if known { one.known() } else { one }.model();
            let converted = in_other_set(&model, opset);
            let what = format!("{len} in set {opset}, known={known}");
            compare(&what, &run(&model, &given), &converted.model, &given, Exactness::Exact);
        }
    }
}

#[test]
fn ranges_of_short_floats_are_those_of_version_27_or_of_float32() {
    let half = |value: f64| {
        gradus::convert::cast(&Tensor::scalar(value), DType::F16, gradus::convert::Rules::IEEE).unwrap()
    };
    let (model, given) =
        openvino("Range", 4, &[half(0.0), half(1.0), half(0.25)], &[], &[("output_type", "f16")], 1);
    let want = run(&model, &given);
    for (opset, operators) in [(28, &["Range"][..]), (20, &["Cast", "Cast", "Cast", "Range", "Cast"])] {
        let mut options = ConvertOptions::default();
        options.opset = Some(opset);
        let converted = model.convert(Standard::Onnx, &options).unwrap();
        let found: Vec<_> = converted.model.graph().nodes().iter().map(|node| &*node.operator.name).collect();
        assert_eq!(found, operators);
        assert!(!converted.report.is_exact());
        compare(&format!("{opset}"), &want, &converted.model, &given, Exactness::Exact);
    }
    // Neither keeps all of the meaning, so that the usual one is written if nothing is said.
    let usual = convert(&model, Standard::Onnx).unwrap();
    assert_eq!(usual.model.source().opsets, [("".into(), 21)]);
    let mut options = ConvertOptions::default();
    options.opset = Some(28);
    let newest = model.convert(Standard::Onnx, &options).unwrap();
    let stash = newest.model.graph().nodes()[0].attribute("stash_type").cloned();
    assert!(matches!(stash, Some(Content::Int(11))), "{stash:?}");
    let bytes: Bytes = newest.model.to_onnx().unwrap();
    assert!(Model::from_bytes(&bytes).is_ok());
}

#[test]
fn comparisons_with_equality_become_others_before_operator_set_12() {
    let nan = f32::NAN;
    let floats =
        [tensor(&[6], &[1.0f32, 2.0, 3.0, nan, 0.0, nan]), tensor(&[6], &[2.0f32, 2.0, 2.0, 1.0, nan, nan])];
    let integers = [tensor(&[3], &[1i64, 2, 3]), tensor(&[3], &[2i64, 2, 2])];
    for inputs in [&floats, &integers] {
        for operator in ["GreaterOrEqual", "LessOrEqual"] {
            let (model, given) = One::of(Standard::Onnx, operator, 16).inputs(inputs).model();
            let want = run(&model, &given);
            for opset in [9, 11, 12] {
                let mut options = ConvertOptions::default();
                options.opset = Some(opset);
                let converted = model.convert(Standard::Onnx, &options).unwrap();
                compare(operator, &want, &converted.model, &given, Exactness::Exact);
            }
        }
    }
}

/// ONNX Runtime has it in ONNX's domain since the first set, and its optimizer writes it there.
#[test]
fn layer_normalization_stands_in_operator_sets_that_lack_it() {
    let inputs = [floats(&[2, 3, 4]), floats(&[4]), floats(&[4])];
    let one =
        |version| One::of(Standard::Onnx, "LayerNormalization", version).inputs(&inputs).known().model();
    let ((model, given), (newer, _)) = (one(11), one(17));
    let want = run(&newer, &given);
    compare("run", &want, &model, &given, Exactness::Exact);
    let inference = model.infer(&InferOptions::default()).unwrap();
    assert!(inference.problems().is_empty());
    let output = inference.fact(model.graph().outputs()[0]).as_tensor();
    assert_eq!(output.and_then(|tensor| tensor.dims.as_deref()), Some(&[2, 3, 4].map(Dim::Known)[..]));
    for opset in [13, 17, 21] {
        let mut options = ConvertOptions::default();
        options.opset = Some(opset);
        let converted = model.convert(Standard::Onnx, &options).unwrap_or_else(|error| panic!("{error}"));
        compare(&format!("{opset}"), &want, &converted.model, &given, kept(&[&converted.report]));
    }
    let converted = convert(&model, Standard::OpenVino).unwrap_or_else(|error| panic!("{error}"));
    compare("OpenVINO", &want, &converted.model, &given, Exactness::Rounding);
}

#[test]
fn extremes_of_integers_are_chosen_before_operator_set_12() {
    let inputs = [tensor(&[3], &[1i32, 5, -3]), tensor(&[1], &[2i32]), tensor(&[3], &[0i32, 9, 0])];
    for operator in ["Max", "Min"] {
        let (model, given) = One::of(Standard::Onnx, operator, 13).inputs(&inputs).model();
        let mut options = ConvertOptions::default();
        options.opset = Some(11);
        let converted = model.convert(Standard::Onnx, &options).unwrap_or_else(|error| panic!("{error}"));
        compare(operator, &run(&model, &given), &converted.model, &given, Exactness::Exact);
    }
}

/// Versions before 8 take equal shapes alone, which no attribute says.
#[test]
fn operators_of_equal_shapes_leave_operator_set_7() {
    for operator in ["Max", "Mean", "Min", "Sum"] {
        for opset in [7, 8, 13, 21] {
            let one = One::of(Standard::Onnx, operator, 7).inputs(&[floats(&[2, 3]), floats(&[2, 3])]);
            in_set(operator, one.model(), opset);
        }
    }
}

#[test]
fn values_and_bounds_of_different_types_are_compared_as_float64() {
    let bounds = [Tensor::vector(&[0.5f32, 2.0, 1.0e9]), Tensor::vector(&[-3i64, 2, 4])];
    let values = [Tensor::vector(&[0i32, 1, 2, 3, i32::MAX]), Tensor::vector(&[2.0f64, 2.5, -4.0])];
    for (bounds, values) in bounds.iter().flat_map(|bounds| values.iter().map(move |x| (bounds, x))) {
        for right in ["true", "false"] {
            let attributes = [("with_right_bound", right), ("output_type", "i64")];
            let inputs = [values.clone(), bounds.clone()];
            let (model, given) = openvino("Bucketize", 3, &inputs, &[], &attributes, 1);
            let number = |tensor: &Tensor| {
                let wide = gradus::convert::cast(tensor, DType::F64, gradus::convert::Rules::IEEE).unwrap();
                wide.elements::<f64>().unwrap().to_vec()
            };
            let before =
                |x: f64| number(bounds).iter().filter(|&&y| y < x || (right == "false" && y == x)).count();
            let want: Vec<_> =
                number(values).into_iter().map(|x| i64::try_from(before(x)).unwrap()).collect();
            let got = run(&model, &given)[0].tensor().unwrap().elements::<i64>().unwrap().to_vec();
            assert_eq!(got, want, "{values:?} {bounds:?} {right}");
            in_set(right, (model, given), 13);
        }
    }
}

/// Converts a model to an operator set, and compares what it gives.
pub(super) fn in_set(what: &str, (model, given): (Model, HashMap<String, Value>), opset: i64) {
    let want = run(&model, &given);
    let mut options = ConvertOptions::default();
    options.opset = Some(opset);
    let converted = model.convert(Standard::Onnx, &options).unwrap_or_else(|error| panic!("{what}: {error}"));
    compare(what, &want, &converted.model, &given, kept(&[&converted.report]));
}

#[test]
fn normalization_in_training_has_the_same_statistics_in_older_sets() {
    for dims in [&[4, 3][..], &[2, 3, 4], &[2, 3, 2, 2]] {
        let vectors = vec![floats(&[3]); 4];
        let one = One::of(Standard::Onnx, "BatchNormalization", 15).inputs(&[floats(dims)]).inputs(&vectors);
        let one = one.attribute("training_mode", Content::Int(1)).attribute("momentum", Content::Float(0.75));
        in_set(&format!("{dims:?}"), one.outputs(3).model(), 13);
    }
}

/// TensorFlow's layers of 4 and 8 bits unpack codes by shifts, and multiply them.
#[test]
fn integers_of_8_bits_are_shifted_and_multiplied_in_older_sets() {
    let (a, b) = (tensor(&[2, 3], &[100i8, 3, -5, 1, -128, 127]), tensor(&[3, 2], &[1i8, 2, 7, -2, 3, 127]));
    for opset in [13, 17, 21] {
        let count = tensor(&[2, 3], &[4i8, 1, 2, 0, 3, 7]);
        for operator in ["BitwiseLeftShift", "BitwiseRightShift"] {
            in_set(operator, openvino(operator, 15, &[a.clone(), count.clone()], &[], &[], 1), opset);
        }
        in_set("product", openvino("MatMul", 1, &[a.clone(), b.clone()], &[], &[], 1), opset);
        let turned = [("transpose_a", "true"), ("transpose_b", "true")];
        in_set("product", openvino("MatMul", 1, &[a.clone(), b.clone()], &[], &turned, 1), opset);
    }
}

/// ONNX Runtime has no Where of unsigned integers.
#[test]
fn signed_integers_are_shifted_without_where_of_unsigned_ones() {
    let (a, count) = (tensor(&[4], &[-5i64, 7, i64::MIN, -1]), tensor(&[4], &[1i64, 2, 62, 63]));
    for opset in [13, 17, 21] {
        let shift = || openvino("BitwiseRightShift", 15, &[a.clone(), count.clone()], &[], &[], 1);
        in_set("shift", shift(), opset);
        let mut options = ConvertOptions::default();
        options.opset = Some(opset);
        let model = shift().0.convert(Standard::Onnx, &options).unwrap().model;
        let inference = model.infer(&InferOptions::default()).unwrap();
        for node in model.graph().nodes().iter().filter(|node| &*node.operator.name == "Where") {
            let dtype = node.outputs[0].and_then(|id| inference.fact(id).dtype());
            assert_eq!(dtype, Some(DType::I64), "set {opset}");
        }
    }
}
