//! Attributes without effect, defaults of inputs, and what else must keep no model from being
//! written.

use bytes::Bytes;
use gradus::conversion::{ConvertOptions, Exactness};
use gradus::graph::{Builder, Content, Standard, Type};
use gradus::infer::InferOptions;
use gradus::{DType, Model, Tensor};

use crate::common::converted::{compare, convert, floats, openvino, run};
use crate::common::one::One;
use crate::common::sketch::Sketch;
use crate::common::tensors::{counted, tensor};

fn int(name: &'static str, value: i64) -> (&'static str, Content) {
    (name, Content::Int(value))
}

fn ints(name: &'static str, values: &[i64]) -> (&'static str, Content) {
    (name, Content::Ints(values.into()))
}

fn text(name: &'static str, value: &'static str) -> (&'static str, Content) {
    (name, Content::Bytes(Bytes::from_static(value.as_bytes())))
}

fn in_set(model: &Model, opset: i64) -> gradus::Result<gradus::conversion::Converted> {
    let mut options = ConvertOptions::default();
    options.opset = Some(opset);
    model.convert(Standard::Onnx, &options)
}

/// A node, the operator set of the model and the oldest one that it is written in.
type Case = (&'static str, i64, i64, Vec<Tensor>, Vec<Tensor>, Vec<(&'static str, Content)>);

/// Nodes with attributes that some operator set lacks, at the value that says what it does.
fn without_effect() -> Vec<Case> {
    let image = || vec![floats(&[1, 4, 4, 4])];
    let pool = || ints("kernel_shape", &[2, 2]);
    let dilated = || ints("dilations", &[1, 1]);
    let (scale, zero) = (|| Tensor::scalar(0.5f32), || Tensor::scalar(3u8));
    let channels = |count| vec![floats(&[count]), floats(&[count]), floats(&[count]), counted(&[count])];
    let channels = |count| {
        let mut all: Vec<Tensor> = channels(count);
        all[3] = Tensor::vector(&vec![1f32; count]);
        all
    };
    let scales = || vec![Tensor::vector::<f32>(&[]), Tensor::vector(&[1f32, 1.0, 2.0, 1.5])];
    let down = || vec![text("coordinate_transformation_mode", "asymmetric"), text("nearest_mode", "floor")];
    let mode = |mode| [down(), vec![text("mode", mode)]].concat();
    let attended = || vec![floats(&[1, 1, 2, 2]), floats(&[1, 1, 2, 2]), floats(&[1, 1, 2, 2])];
    let codes = || vec![tensor(&[2, 3], &[0u8, 7, 255, 3, 4, 5])];
    vec![
        (
            "Attention",
            25,
            23,
            attended(),
            vec![],
            vec![int("left_window_size", -1), int("right_window_size", -1)],
        ),
        ("AveragePool", 22, 7, image(), vec![], vec![pool(), dilated(), int("ceil_mode", 0)]),
        ("BatchNormalization", 7, 7, image(), channels(4), vec![int("spatial", 1)]),
        ("BatchNormalization", 7, 9, vec![floats(&[2, 3])], channels(3), vec![int("spatial", 0)]),
        ("Cast", 24, 9, image(), vec![], vec![int("to", 7), int("saturate", 1), text("round_mode", "up")]),
        (
            "CastLike",
            24,
            9,
            image(),
            vec![Tensor::scalar(1i64)],
            vec![int("saturate", 1), text("round_mode", "up")],
        ),
        ("DepthToSpace", 13, 7, image(), vec![], vec![int("blocksize", 2), text("mode", "DCR")]),
        (
            "DequantizeLinear",
            23,
            10,
            codes(),
            vec![scale(), zero()],
            vec![int("axis", 0), int("block_size", 0), int("output_dtype", 0)],
        ),
        ("DequantizeLinear", 23, 10, codes(), vec![scale(), zero()], vec![int("output_dtype", 1)]),
        ("Dropout", 13, 7, image(), vec![], vec![int("seed", 7)]),
        ("Gemm", 13, 7, vec![floats(&[2, 3]), floats(&[3, 2])], vec![], vec![("beta", Content::Float(-2.0))]),
        ("Gemm", 13, 9, vec![tensor(&[1, 2], &[3i32, -4]), tensor(&[2, 1], &[1i32, 9])], vec![], vec![]),
        ("LpPool", 22, 7, image(), vec![], vec![pool(), dilated(), int("ceil_mode", 0)]),
        (
            "MaxPool",
            12,
            7,
            image(),
            vec![],
            vec![pool(), dilated(), int("ceil_mode", 0), int("storage_order", 1)],
        ),
        (
            "QuantizeLinear",
            25,
            10,
            image(),
            vec![scale(), zero()],
            vec![int("saturate", 1), int("output_dtype", 0), int("precision", 0), int("block_size", 0)],
        ),
        (
            "QuantizeLinear",
            25,
            10,
            image(),
            vec![scale(), zero()],
            vec![int("output_dtype", 2), int("precision", 1), int("axis", -1)],
        ),
        ("Resize", 19, 10, image(), scales(), [mode("nearest"), vec![int("antialias", 0)]].concat()),
        ("Resize", 11, 10, image(), scales(), mode("linear")),
        ("Resize", 10, 10, image(), scales().split_off(1), vec![text("mode", "nearest")]),
        ("Resize", 10, 10, image(), scales().split_off(1), vec![text("mode", "linear")]),
        ("Shape", 21, 7, image(), vec![], vec![int("start", 0)]),
        ("SpaceToDepth", 28, 7, image(), vec![], vec![int("blocksize", 2), text("mode", "DCR")]),
        ("TopK", 11, 7, image(), vec![Tensor::vector(&[2i64])], vec![int("largest", 1), int("sorted", 1)]),
    ]
}

#[test]
fn attributes_without_effect_keep_no_node_from_an_operator_set() {
    for (operator, version, oldest, inputs, constants, attributes) in without_effect() {
        let outputs = if operator == "TopK" { 2 } else { 1 };
        let one = One::of(Standard::Onnx, operator, version).inputs(&inputs).constants(&constants).known();
        let one = attributes
            .into_iter()
            .fold(one.outputs(outputs), |one, (name, content)| one.attribute(name, content));
        let (model, given) = one.model();
        let want = run(&model, &given);
        for opset in oldest..=28 {
            let what = format!("{operator}-{version} in set {opset}");
            let converted = in_set(&model, opset).unwrap_or_else(|error| panic!("{what}: {error}"));
            let exact = converted.report.is_exact();
            assert!(exact || operator == "CastLike", "{what}: {:?}", converted.report.notes);
            compare(&what, &want, &converted.model, &given, Exactness::Exact);
            let written = Model::from_bytes(&converted.model.to_onnx().unwrap()).unwrap();
            assert!(written.infer(&InferOptions::default()).unwrap().problems().is_empty(), "{what}");
        }
    }
}

type Attributes = Vec<(&'static str, Content)>;

#[test]
fn attributes_with_an_effect_stay_or_refuse() {
    let image = || vec![floats(&[1, 2, 4, 4])];
    let cases: [(&str, i64, i64, Vec<Tensor>, Attributes); 4] = [
        ("AveragePool", 19, 18, vec![], vec![ints("kernel_shape", &[2, 2]), ints("dilations", &[2, 1])]),
        ("MaxPool", 10, 9, vec![], vec![ints("kernel_shape", &[2, 2]), int("ceil_mode", 1)]),
        ("DepthToSpace", 13, 10, vec![], vec![int("blocksize", 1), text("mode", "CRD")]),
        ("BatchNormalization", 7, 9, vec![floats(&[2]); 4], vec![int("spatial", 0)]),
    ];
    for (operator, version, opset, constants, attributes) in cases {
        let one = One::of(Standard::Onnx, operator, version).inputs(&image()).constants(&constants).known();
        let (model, _) =
            attributes.into_iter().fold(one, |one, (name, content)| one.attribute(name, content)).model();
        assert!(in_set(&model, opset).is_err(), "{operator}");
    }
}

#[test]
fn values_of_unknown_rank_are_written_without_a_shape() {
    let x = counted(&[1, 3, 1]);
    let (model, given) = One::of(Standard::Onnx, "Squeeze", 13).inputs(&[x]).declared(0, None).model();
    let converted = in_set(&model, 21).unwrap();
    let written = Model::from_bytes(&converted.model.to_onnx().unwrap()).unwrap();
    for id in [written.graph().inputs()[0], written.graph().outputs()[0]] {
        let declared = written.graph().value(id).declared.clone();
        assert_eq!(declared, Some(Type::Tensor(Some(DType::I64), None)));
    }
    compare("squeezed", &run(&model, &given), &written, &given, Exactness::Exact);
}

#[test]
fn the_operator_set_by_default_is_one_that_runtimes_load() {
    let (of_ir, given) = openvino("Swish", 4, &[floats(&[4])], &[], &[], 1);
    let (of_paddle, _) = One::of(Standard::Paddle, "swish", 3).inputs(&[floats(&[4])]).model();
    for model in [of_ir, of_paddle] {
        let converted = convert(&model, Standard::Onnx).unwrap();
        assert_eq!(converted.model.source().opsets[0].1, 21);
        compare("swish", &run(&model, &given), &converted.model, &given, Exactness::Rounding);
    }
}

/// A normalization of Paddle, of which only the first output is read.
#[test]
fn nodes_that_nothing_reads_are_not_written_and_leave_no_notes() {
    let text = "x: float32[1, 2, 3]; mean = float32[2](1, 2); variance = float32[2](1, 2);
        scale = float32[2](1, 2); bias = float32[2](1, 2);
        y, a, b, c, d, reserve = batch_norm@3(x, mean, variance, scale, bias, is_test=true); return y";
    let model = Sketch(Builder::new("one"), Standard::Paddle).text(text).unwritten(0);
    let converted = convert(&model, Standard::Onnx).unwrap();
    let operators: Vec<_> = converted.model.graph().nodes().iter().map(|node| &*node.operator.name).collect();
    assert_eq!(operators, ["BatchNormalization"]);
    let why: Vec<_> = converted.report.notes.iter().map(|note| &*note.why).collect();
    assert_eq!(why, ["neither specification defines the rounding of the function"]);
}

/// Paddle becomes IR by way of ONNX; the nodes in between are nobody's.
#[test]
fn notes_of_two_steps_name_the_nodes_of_the_source() {
    let (model, _) = One::of(Standard::Paddle, "softplus", 3).inputs(&[floats(&[4])]).known().model();
    let report = convert(&model, Standard::OpenVino).unwrap().report;
    assert!(report.nodes == 1 && !report.is_exact());
    for note in &report.notes {
        assert_eq!((note.node, &*note.place, &*note.operator), (0, "node \"node\"", "paddle softplus"));
    }
}

/// A sum with a default that may be overridden, next to one that nothing reads.
fn with_defaults() -> Model {
    let text = "x: float32[4]; w: float32[4]; unread: float32[4]; w = float32[4](1); unread = float32[4](1);
                y = Add@14(x, w); return y";
    Sketch::of(text).unwritten(14)
}

#[test]
fn defaults_of_inputs_stay_where_the_target_holds_them() {
    let model = with_defaults();
    let inference = model.infer(&InferOptions::default()).unwrap();
    let texts: Vec<_> = inference.conditions().iter().map(|assumed| &*assumed.text).collect();
    assert_eq!(texts, ["input \"w\" has its default"]);

    let converted = in_set(&model, 13).unwrap();
    assert!(converted.report.lost.is_empty(), "{:?}", converted.report.lost);
    let written = Model::from_bytes(&converted.model.to_onnx().unwrap()).unwrap();
    let graph = written.graph();
    let defaults = graph.inputs().iter().filter(|id| graph.constant(**id).is_some()).count();
    assert_eq!((graph.inputs().len(), defaults), (3, 2));
    for (w, want) in [(None, 3f32), (Some(10f32), 12.0)] {
        let mut given = vec![("x", Tensor::vector(&[2f32; 4]))];
        given.extend(w.map(|w| ("w", Tensor::vector(&[w; 4]))));
        let outputs = written.run(given).unwrap();
        assert_eq!(outputs["y"].tensor().unwrap().elements::<f32>().unwrap()[..], [want; 4]);
    }

    let converted = convert(&model, Standard::OpenVino).unwrap();
    let lost = "input \"w\" has a default: it is a constant, and no input any more";
    assert_eq!(converted.report.lost, [lost]);
}
