//! Models in the operators of another standard: random graphs there and back again, run on all
//! sides; and operators of OpenVINO one by one. Where the report says exact, the bits are the same.
//!
//! `GRADUS_CONVERSION=FOLDER` writes the random models there, with their inputs and results, for
//! the programs that run them (`conformance/convert.py`); `GRADUS_CONVERSION_COUNT` says how
//! many, and `GRADUS_CONVERSION_FIRST` the seed of the first.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use gradus::conversion::{ConvertOptions, Exactness, Obstacles};
use gradus::graph::{Content, Port, Ports, Slices, Standard};
use gradus::{Kind, Model, Outputs, Tensor, Value};

use crate::common::converted::{compare, convert, floats, kept, openvino, run};
use crate::common::random::graph;
use crate::common::sketch::Sketch;
use crate::common::tensors::{counted, tensor};

#[test]
fn random_graphs_are_the_same_there_and_back_again() {
    let count = std::env::var("GRADUS_CONVERSION_COUNT").map_or(300, |count| count.parse().unwrap());
    let folder = std::env::var_os("GRADUS_CONVERSION");
    let (mut converted, mut exact, mut refused) = (0, 0, HashMap::<String, u32>::new());
    let first = std::env::var("GRADUS_CONVERSION_FIRST").map_or(0, |seed| seed.parse().unwrap());
    for seed in first..first + count {
        let (model, inputs) = graph(seed);
        let want = run(&model, &inputs);
        let there = match convert(&model, Standard::OpenVino) {
            Ok(there) => there,
            Err(error) if error.kind() == Kind::Unsupported => {
                *refused.entry(error.message().to_owned()).or_default() += 1;
                continue;
            }
            Err(error) => panic!("seed {seed}: {error}"),
        };
        converted += 1;
        exact += u64::from(there.report.is_exact());
        compare(&format!("seed {seed} in OpenVINO"), &want, &there.model, &inputs, kept(&[&there.report]));
        // The set that the graphs are of, which ONNX Runtime runs.
        let mut options = ConvertOptions::default();
        options.opset = Some(20);
        let back = match there.model.convert(Standard::Onnx, &options) {
            Ok(back) => back,
            Err(error) if error.kind() == Kind::Unsupported => {
                *refused.entry(format!("back: {}", error.message())).or_default() += 1;
                continue;
            }
            Err(error) => panic!("seed {seed} back: {error}"),
        };
        let both = kept(&[&there.report, &back.report]);
        compare(&format!("seed {seed} in ONNX again"), &want, &back.model, &inputs, both);
        if let Some(folder) = &folder {
            written(
                Path::new(folder),
                seed,
                &[("a", &model), ("b", &there.model), ("c", &back.model)],
                &inputs,
                &want,
                both == Exactness::Exact,
            );
        }
    }
    let why = format!("{converted} of {count} are converted, {exact} exactly; refused: {refused:#?}");
    assert!(converted * 10 >= count * 7 && exact * 4 >= converted, "{why}");
    eprintln!("{why}");
}

/// Writes models, and what goes in and comes out.
fn written(
    folder: &Path,
    seed: u64,
    models: &[(&str, &Model)],
    inputs: &HashMap<String, Value>,
    outputs: &Outputs,
    exact: bool,
) {
    let folder = folder.join(format!("random-{seed}"));
    std::fs::create_dir_all(&folder).unwrap();
    for (name, model) in models {
        let ending = if model.source().standard == Standard::Onnx { "onnx" } else { "xml" };
        // ONNX wants the ranks of outputs said; those that are not known keep a model from being
        // written.
        if model.save(folder.join(format!("{name}.{ending}"))).is_err() {
            std::fs::remove_dir_all(&folder).unwrap();
            return;
        }
    }
    let save = |name: &str, value: &Value| {
        let mut bytes = Vec::new();
        gradus::formats::numpy::write_npy(value.tensor().unwrap(), &mut bytes).unwrap();
        std::fs::write(folder.join(format!("{name}.npy")), bytes).unwrap();
    };
    for (name, value) in inputs {
        save(&format!("in.{name}"), value);
    }
    for (name, value) in outputs {
        save(&format!("out.{name}"), value);
    }
    std::fs::write(folder.join("case.json"), format!("{{\"exact\": {exact}}}\n")).unwrap();
}

/// An operator of OpenVINO, and whether it is exact in ONNX.
struct Case {
    /// Name, version and, where there are several, the number of outputs: `Split-1 3`.
    operator: &'static str,
    inputs: Vec<Tensor>,
    constants: Vec<Tensor>,
    /// `name=value`, separated by spaces.
    attributes: &'static str,
    exact: bool,
}

fn exact(operator: &'static str, inputs: &[Tensor], constants: &[Tensor], attributes: &'static str) -> Case {
    Case { operator, inputs: inputs.to_vec(), constants: constants.to_vec(), attributes, exact: true }
}

fn near(operator: &'static str, inputs: &[Tensor], constants: &[Tensor], attributes: &'static str) -> Case {
    Case { exact: false, ..exact(operator, inputs, constants, attributes) }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn operators_of_openvino_are_the_same_in_onnx() {
    let s = |value: i64| Tensor::scalar(value);
    let l = |values: &[i64]| Tensor::vector(values);
    let f = |values: &[f32]| Tensor::vector(values);
    let edge = l(&[i64::MIN, i64::MIN + 1, -7, -1, 0, 1, 7, i64::MAX]);
    let cases = [
        exact("BatchToSpace-2", &[counted(&[8, 2, 3])], &[l(&[1, 2, 2]), l(&[0, 1, 0]), l(&[0, 0, 2])], ""),
        exact("SpaceToBatch-2", &[counted(&[2, 3, 4])], &[l(&[1, 2, 2]), l(&[0, 1, 0]), l(&[0, 0, 2])], ""),
        near("DFT-7", &[floats(&[2, 3, 4, 2])], &[l(&[1, -1]), l(&[-1, 5])], ""),
        near("IDFT-7", &[floats(&[2, 3, 4, 2])], &[l(&[0, 2])], ""),
        near("RDFT-9", &[floats(&[2, 3, 5])], &[l(&[1, -1])], ""),
        near("IRDFT-9", &[floats(&[2, 3, 4, 2])], &[l(&[1, 2]), l(&[3, -1])], ""),
        near("STFT-15", &[floats(&[16])], &[floats(&[4]), s(5), s(3)], "transpose_frames=true"),
        exact("Divide-1", &[edge.clone(), l(&[3, -3, 2, 2, -5, 4, -2, 3])], &[], ""),
        exact("Divide-1", &[edge.clone(), l(&[3, -3, 2, 2, -5, 4, -2, 3])], &[], "m_pythondiv=false"),
        exact("FloorMod-1", &[edge.clone(), l(&[3, -3, 2, 2, -5, 4, -2, 3])], &[], ""),
        exact("Mod-1", &[edge.clone(), l(&[3, -3, 2, 2, -5, 4, -2, 3])], &[], ""),
        near("FloorMod-1", &[f(&[7.5, -7.5, 7.5, -0.0]), f(&[2.0, 2.0, -2.0, 3.0])], &[], ""),
        exact(
            "Round-5",
            &[f(&[0.49999997, 0.5, 1.5, 2.5, -0.5, -1.5, -0.0, f32::INFINITY, f32::NAN, 8388609.0])],
            &[],
            "mode=half_away_from_zero",
        ),
        exact("Round-5", &[f(&[0.49999997, 0.5, 1.5, 2.5, -0.5, -1.5, -0.0])], &[], "mode=half_to_even"),
        exact(
            "Add-1",
            &[counted(&[2, 3, 4]), counted(&[3])],
            &[],
            "auto_broadcast=pdpd auto_broadcast_axis=1",
        ),
        exact("SquaredDifference-1", &[l(&[1, 5]), l(&[4, 2])], &[], ""),
        exact("IsFinite-10", &[f(&[1.0, f32::INFINITY, f32::NAN])], &[], ""),
        exact("Clamp-1", &[l(&[-5, 0, 1, 9])], &[], "min=-1.5 max=2.5"),
        near(
            "Range-4",
            &[Tensor::scalar(1.2f32), Tensor::scalar(11.3f32), Tensor::scalar(1.6f32)],
            &[],
            "output_type=i32",
        ),
        exact(
            "Range-4",
            &[Tensor::scalar(1u8), Tensor::scalar(9i32), Tensor::scalar(3i64)],
            &[],
            "output_type=u8",
        ),
        near(
            "Range-4",
            &[Tensor::scalar(1i32), Tensor::scalar(9i32), Tensor::scalar(3i32)],
            &[],
            "output_type=f16",
        ),
        exact("Range-4", &[s(9), s(-9), s(-4)], &[], "output_type=i64"),
        exact("Range-1", &[Tensor::scalar(1i8), Tensor::scalar(9i8), Tensor::scalar(3i8)], &[], ""),
        exact("ShapeOf-1", &[counted(&[2, 0, 3])], &[], ""),
        near("ShapeOf-3", &[counted(&[2, 0, 3])], &[], "output_type=i32"),
        // Dimensions that are not known leave open whether the indices are within them.
        near("Gather-8", &[counted(&[3, 4])], &[l(&[-1, 0]), s(1)], "batch_dims=0"),
        exact("Gather-7", &[counted(&[2, 3, 4]), tensor(&[2, 2], &[0i64, 2, 1, 1])], &[s(1)], "batch_dims=1"),
        near(
            "Gather-8",
            &[counted(&[2, 3, 4, 5]), tensor(&[2, 3], &[0i64, 3, -1, 1, 1, 2])],
            &[s(2)],
            "batch_dims=1",
        ),
        near(
            "Gather-8",
            &[counted(&[2, 3, 4]), tensor(&[2, 3], &[0i64, 3, -1, 1, 1, 2])],
            &[s(2)],
            "batch_dims=-1",
        ),
        exact(
            "GatherND-5",
            &[counted(&[2, 2, 3]), tensor(&[2, 2, 1], &[0i64, 2, 1, 1])],
            &[],
            "batch_dims=2",
        ),
        exact(
            "GatherND-8",
            &[counted(&[2, 2, 3]), tensor(&[2, 2, 1], &[0i64, 2, 1, 1])],
            &[],
            "batch_dims=2",
        ),
        exact("Slice-8", &[counted(&[5, 4])], &[l(&[-1, 0]), l(&[i64::MIN, 3]), l(&[-2, 1]), l(&[0, 1])], ""),
        exact("Slice-8", &[counted(&[5, 4]), Tensor::vector(&[1i32])], &[l(&[9]), l(&[2])], ""),
        exact(
            "StridedSlice-1",
            &[counted(&[3, 4, 5])],
            &[l(&[0, 1, -1]), l(&[2, 0, 0]), l(&[1, 1, -2])],
            "begin_mask=1,0,0 end_mask=0,1,1 new_axis_mask= shrink_axis_mask= ellipsis_mask=",
        ),
        exact(
            "StridedSlice-1",
            &[counted(&[3, 4, 5])],
            &[l(&[1, 0, -1]), l(&[0, 0, 0]), l(&[1, 1, 1])],
            "begin_mask= end_mask= new_axis_mask= shrink_axis_mask=1,0,1 ellipsis_mask=0,1,0",
        ),
        exact(
            "StridedSlice-1",
            &[counted(&[3, 4]), l(&[1, 0, 1]), l(&[3, 0, 3])],
            &[l(&[1, 1, 1])],
            "begin_mask=0,0,1 end_mask= new_axis_mask=0,1,0 shrink_axis_mask= ellipsis_mask=",
        ),
        exact(
            "StridedSlice-1",
            &[counted(&[3, 4]), l(&[-1, 1])],
            &[l(&[0, 3]), l(&[1, 1])],
            "begin_mask= end_mask= new_axis_mask= shrink_axis_mask=1 ellipsis_mask=",
        ),
        exact("Split-1 3", &[counted(&[2, 6])], &[s(-1)], "num_splits=3"),
        exact("VariadicSplit-1 3", &[counted(&[2, 6])], &[s(1), l(&[1, -1, 2])], ""),
        exact("VariadicSplit-1 2", &[counted(&[6, 2])], &[s(0), l(&[1, 5])], ""),
        exact("Reshape-1", &[counted(&[2, 3])], &[Tensor::vector(&[0i32, -1])], "special_zero=true"),
        exact("Reshape-1", &[counted(&[0, 3])], &[l(&[3, 0])], "special_zero=false"),
        near("Squeeze-1", &[counted(&[1, 3, 1])], &[l(&[0, -1])], ""),
        exact("Squeeze-15", &[counted(&[1, 3, 1])], &[], ""),
        exact("Unsqueeze-1", &[counted(&[3])], &[s(-1)], ""),
        exact("Broadcast-3", &[counted(&[2])], &[l(&[2, 3]), l(&[0])], "mode=explicit"),
        exact("Broadcast-3", &[counted(&[3, 1])], &[l(&[2, 1, 4])], "mode=bidirectional"),
        exact("Broadcast-3", &[counted(&[3, 1])], &[l(&[2, 3, 4])], "mode=numpy"),
        exact("Broadcast-1", &[counted(&[3])], &[l(&[2, 3, 4])], "mode=pdpd axis=1"),
        exact("Tile-1", &[counted(&[2, 3])], &[l(&[2])], ""),
        exact("Tile-1", &[counted(&[2])], &[l(&[2, 1, 3])], ""),
        exact("Transpose-1", &[counted(&[2, 3, 4])], &[l(&[])], ""),
        exact("Transpose-1", &[counted(&[2, 3, 4])], &[l(&[1, 2, 0])], ""),
        exact("Pad-12", &[counted(&[2, 3])], &[l(&[1, -1]), l(&[0, 2]), s(7)], "pad_mode=constant"),
        exact("Pad-1", &[counted(&[3, 3])], &[l(&[1, 2]), l(&[2, 1])], "pad_mode=reflect"),
        exact("NonZero-3", &[counted(&[2, 2])], &[], "output_type=i64"),
        exact("OneHot-1", &[l(&[-1, 0, 2, 5])], &[s(3), s(1), s(0)], "axis=0"),
        exact(
            "OneHot-16",
            &[l(&[-1, 0, 2, 5])],
            &[s(3), s(1), s(0)],
            "axis=-1 negative_indices_mode=normalize",
        ),
        exact("ReduceSum-1", &[counted(&[2, 3])], &[l(&[1, -1])], "keep_dims=true"),
        near("ReduceSum-1", &[counted(&[2, 3]), l(&[])], &[], "keep_dims=false"),
        near("ReduceMax-1", &[counted(&[2, 3])], &[l(&[0])], "keep_dims=false"),
        near(
            "ReduceLogicalAnd-1",
            &[tensor(&[2], &[gradus::element::Bool::from(true), gradus::element::Bool::from(false)])],
            &[l(&[0])],
            "keep_dims=false",
        ),
        exact(
            "TopK-11 2",
            &[l(&[3, 9, 9, 1])],
            &[s(3)],
            "axis=0 mode=max sort=value stable=true index_element_type=i32",
        ),
        exact(
            "TopK-11 2",
            &[tensor(&[2, 4], &[3i64, 9, 9, 10, 1, 7, 2, 8])],
            &[s(3)],
            "axis=1 mode=max sort=index stable=true",
        ),
        exact("CumSum-3", &[counted(&[2, 3])], &[s(-1)], "exclusive=true reverse=true"),
        exact("MatMul-1", &[counted(&[3, 2]), counted(&[4, 3])], &[], "transpose_a=true transpose_b=true"),
        near("ScatterUpdate-3", &[counted(&[3, 4]), tensor(&[3, 2], &[-1i64; 6])], &[l(&[2, 0]), s(1)], ""),
        exact(
            "ScatterElementsUpdate-12",
            &[counted(&[4]), l(&[3, 3]), l(&[10, 20])],
            &[s(0)],
            "reduction=sum use_init_val=true",
        ),
        exact(
            "ScatterNDUpdate-15",
            &[counted(&[4]), tensor(&[2, 1], &[1i64, 3]), l(&[10, 20])],
            &[],
            "reduction=max",
        ),
        exact(
            "ScatterNDUpdate-15",
            &[counted(&[4]), tensor(&[3, 1], &[1i64, 3, 1]), l(&[10, 20, 30])],
            &[],
            "reduction=sub",
        ),
        exact(
            "ScatterNDUpdate-15",
            &[tensor(&[3], &[7u8, 2, 200]), tensor(&[2, 1], &[1i64, 2]), tensor(&[2], &[3u8, 5])],
            &[],
            "reduction=sub",
        ),
        near(
            "ScatterNDUpdate-15",
            &[f(&[1.5, 2.5]), tensor(&[1, 1], &[1i64]), f(&[0.25])],
            &[],
            "reduction=sub",
        ),
        exact("Reverse-1", &[counted(&[2, 3])], &[l(&[1])], "mode=index"),
        near("Convert-1", &[f(&[1.5, -2.5, 300.0])], &[], "destination_type=i32"),
        exact("Convert-1", &[f(&[1.5, 0.0, f32::NAN])], &[], "destination_type=boolean"),
        exact(
            "Select-1",
            &[
                tensor(&[2], &[gradus::element::Bool::from(true), gradus::element::Bool::from(false)]),
                l(&[1, 2]),
                s(9),
            ],
            &[],
            "",
        ),
        exact("Floor-1", &[l(&[1, 2])], &[], ""),
        exact(
            "StridedSlice-1",
            &[counted(&[3, 4])],
            &[l(&[2, 1]), l(&[3, 3]), l(&[1, 1])],
            "begin_mask=1,0 end_mask= new_axis_mask= shrink_axis_mask=1,0 ellipsis_mask=",
        ),
        near(
            "Range-4",
            &[Tensor::scalar(1u64), Tensor::scalar(9u64), Tensor::scalar(3u64)],
            &[],
            "output_type=u64",
        ),
    ];
    for Case { operator, inputs, constants, attributes, exact } in cases {
        let what = format!("{operator} {attributes}");
        let (operator, outputs) = operator.split_once(' ').unwrap_or((operator, "1"));
        let (operator, version) = operator.split_once('-').unwrap();
        let attributes: Vec<_> =
            attributes.split_ascii_whitespace().map(|word| word.split_once('=').unwrap()).collect();
        // Slots: a list of constants that stands before a later input is written in that order by
        // hand.
        let (inputs, constants) = ordered(operator, inputs, constants);
        let (version, outputs) = (version.parse().unwrap(), outputs.parse().unwrap());
        let (model, given) = openvino(operator, version, &inputs, &constants, &attributes, outputs);
        let want = run(&model, &given);
        let converted = convert(&model, Standard::Onnx).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(converted.report.is_exact(), exact, "{what}: {:?}", converted.report.notes);
        compare(&what, &want, &converted.model, &given, kept(&[&converted.report]));
    }
}

/// Inputs before constants, in the order of the operator's inputs.
fn ordered(operator: &str, mut inputs: Vec<Tensor>, constants: Vec<Tensor>) -> (Vec<Tensor>, Vec<Tensor>) {
    // ScatterUpdate takes the updates between the indices and the axis.
    if operator == "ScatterUpdate" {
        let updates = inputs.remove(1);
        inputs.extend([constants[0].clone(), updates]);
        return (inputs, vec![constants[1].clone()]);
    }
    (inputs, constants)
}

/// A loop of OpenVINO over slices of a list, with a carried sum: what it carries, and parts from
/// each run.
fn iterated(
    operator: &str,
    slices: Slices,
    joined: Slices,
    constant: bool,
) -> (Model, HashMap<String, Value>) {
    let body = format!(
        "part: int64[2, {}]; sum: int64[2, 1]; by: int64[]; axis = [1];
         more = ReduceSum(part, axis, keep_dims=true); next = Add(sum, more); scaled = Multiply(part, by);
         return next, scaled",
        slices.part_size
    );
    let mut ports = Ports::default();
    let lead = if operator == "Loop" { 2 } else { 0 };
    ports.inputs.push(Port { outer: lead, inner: 0, slices: Some(slices) });
    ports.inputs.push(Port { outer: lead + 1, inner: 1, slices: None });
    ports.inputs.push(Port { outer: lead + 2, inner: 2, slices: None });
    ports.back_edges.push((0, 1));
    ports.outputs.push(Port { outer: 0, inner: 0, slices: None });
    ports.outputs.push(Port { outer: 1, inner: 1, slices: Some(joined) });
    let mut sketch = Sketch::openvino("runs = -1; goes = true; first: int64[?, ?]; by: int64[]");
    let x = counted(&[2, 6]);
    let mut given = HashMap::from([
        ("first".to_owned(), tensor(&[2, 1], &[100i64, 200]).into()),
        ("by".to_owned(), Tensor::scalar(3i64).into()),
    ]);
    if constant {
        sketch = sketch.constant("x", x);
    } else {
        sketch = sketch.text("x: int64[?, ?]");
        given.insert("x".to_owned(), x.into());
    }
    let attributes =
        vec![("port_map", Content::Ports(Arc::new(ports))), ("body", Sketch::openvino(&body).graph())];
    let inputs = &["runs", "goes", "x", "first", "by"][2 - lead..];
    let sketch = sketch.with(&format!("{operator}@5"), inputs, &["total", "all"], attributes);
    (sketch.text("return total, all").unwritten(0), given)
}

#[test]
fn loops_over_slices_are_the_same_in_onnx() {
    let forth = |size: i64| Slices { axis: 1, start: 0, end: -1, stride: size, part_size: size };
    let back = |size: i64| Slices { axis: -1, start: -1, end: 0, stride: -size, part_size: size };
    for operator in ["TensorIterator", "Loop"] {
        for (slices, joined, constant) in [
            (forth(1), forth(1), false),
            (forth(2), forth(2), true),
            (back(1), forth(1), false),
            (forth(3), back(3), false),
            (back(2), back(2), true),
        ] {
            let what = format!("{operator} {slices:?} {joined:?} {constant}");
            let (model, given) = iterated(operator, slices, joined, constant);
            let want = run(&model, &given);
            let there = convert(&model, Standard::Onnx).unwrap_or_else(|error| panic!("{what}: {error}"));
            compare(&what, &want, &there.model, &given, Exactness::Exact);
            // OpenVINO finds wrong bounds for sizes after an Abs.
            assert!(there.model.graph().nodes().iter().all(|node| &*node.operator.name != "Abs"), "{what}");
            let again =
                convert(&there.model, Standard::OpenVino).unwrap_or_else(|error| panic!("{what}: {error}"));
            compare(&what, &want, &again.model, &given, Exactness::Exact);
        }
    }
}

#[test]
fn what_cannot_be_said_is_refused_with_its_node() {
    let refusal = |model: &Model, to| convert(model, to).unwrap_err().to_string();
    let (model, _) =
        openvino("Gather", 8, &[counted(&[3]), Tensor::vector(&[0i64]), Tensor::scalar(0i64)], &[], &[], 1);
    assert_eq!(
        refusal(&model, Standard::Onnx),
        "node \"node\" (openvino Gather-8): cannot convert: value of input 2 is unknown, expected known before the run"
    );
    let places = Tensor::vector(&[0i32]);
    let (pack, _) =
        openvino("StringTensorPack", 15, &[places.clone(), places, Tensor::vector(&[1u8])], &[], &[], 1);
    assert_eq!(
        refusal(&pack, Standard::Onnx),
        "node \"node\" (openvino StringTensorPack-15): cannot convert operator StringTensorPack from openvino to \
         onnx: onnx has no operator that makes strings of bytes"
    );
    assert_eq!(refusal(&model, Standard::OpenVino), "cannot convert: target is openvino, expected onnx");
}

#[test]
fn all_nodes_that_have_no_equivalent_are_listed() {
    let text = "count: int64[]; go: bool[]; x: string[4]; f: float32[4];
        y = Loop(count, go, x, body={i: ?; go: ?; v: ?; s = StringNormalizer(v); w = StringConcat(s, s);
                 return go, w});
        p = StringNormalizer(y); a = Abs(f); z = StringConcat(p, p); return a, z";
    let error = convert(&Sketch::of(text).unwritten(20), Standard::OpenVino).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot convert 4 of 6 nodes to openvino: 2 onnx StringNormalizer-10, 2 onnx StringConcat-20"
    );
    let obstacles = Obstacles::of(&error).unwrap();
    let places: Vec<_> =
        obstacles.0.iter().map(|obstacle| obstacle.error.location().nodes.join(" / ")).collect();
    assert_eq!(
        places,
        [
            "node \"make y\" / node \"make s\" (onnx StringNormalizer-10)",
            "node \"make y\" / node \"make w\" (onnx StringConcat-20)",
            "node \"make p\" (onnx StringNormalizer-10)",
            "node \"make z\" (onnx StringConcat-20)",
        ]
    );
    assert_eq!(obstacles.groups().iter().map(|(count, _)| *count).collect::<Vec<_>>(), [2, 2]);
}

/// Nodes that are lowered to ONNX first, and others, which only the target lacks.
#[test]
fn obstacles_of_both_steps_are_listed() {
    let model = Sketch::of("x: float32[40, 40]; y = Celu@12(x, alpha=-1.0); z = Det@11(y); return z");
    let error = convert(&model.unwritten(17), Standard::OpenVino).unwrap_err();
    assert_eq!(error.to_string(), "cannot convert 2 of 2 nodes to openvino: 1 onnx Celu-12, 1 onnx Det-11");
}
