//! Operators of ONNX Runtime (`com.microsoft`), against what it gives for random nodes.
//!
//! `conformance/contrib.py` makes the nodes, and says how far outputs may be away, and why. A few
//! are checked in; `cargo xtask test contrib` makes many more, in the file that `GRADUS_CONTRIB`
//! names.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use gradus::conversion::ConvertOptions;
use gradus::convert::nearest_f64;
use gradus::fact::Elements;
use gradus::formats::onnx::NEWEST_OPSET;
use gradus::graph::{self, Content, Standard};
use gradus::infer::{InferOptions, InputFact};
use gradus::{DType, Fact, Kind, Limits, Model, Number, Rules, RunOptions, Shape, Tensor, Value, convert};
use serde_json::Value as Json;

use crate::common::one::One;

/// A node, its inputs, and its outputs with the errors that they may have.
struct Case {
    operator: String,
    attributes: Vec<graph::Attribute>,
    inputs: Vec<Option<Tensor>>,
    outputs: Vec<Tensor>,
    /// Codes that quantized outputs may be away.
    steps: i64,
    /// Units in the last place of the largest element that floats may be away.
    ulps: f64,
}

#[derive(serde::Deserialize)]
struct Recorded {
    cases: Vec<Json>,
}

fn cases(path: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(path).unwrap();
    let recorded: Recorded = serde_json::from_str(&text).unwrap();
    recorded.cases.iter().map(case).collect()
}

fn case(json: &Json) -> Case {
    let all = |key: &str| json[key].as_array().unwrap().iter();
    let attributes = json["attributes"].as_object().unwrap().iter();
    Case {
        operator: json["operator"].as_str().unwrap().to_owned(),
        attributes: attributes
            .map(|(name, json)| graph::Attribute { name: name.as_str().into(), content: content(json) })
            .collect(),
        inputs: all("inputs").map(|json| (!json.is_null()).then(|| tensor(json))).collect(),
        outputs: all("outputs").map(tensor).collect(),
        steps: json["steps"].as_i64().unwrap_or(0),
        ulps: json["ulps"].as_f64().unwrap_or(0.0),
    }
}

fn content(json: &Json) -> Content {
    let float = |json: &Json| {
        let plain = Tensor::scalar(json.as_f64().unwrap());
        convert::cast(&plain, DType::F32, Rules::IEEE).unwrap().elements::<f32>().unwrap()[0]
    };
    match json {
        Json::String(text) => Content::Bytes(text.clone().into()),
        Json::Array(all) if all.iter().all(Json::is_i64) => {
            Content::Ints(all.iter().map(|json| json.as_i64().unwrap()).collect())
        }
        Json::Array(all) if all.iter().all(Json::is_string) => {
            Content::Strings(all.iter().map(|json| json.as_str().unwrap().to_owned().into()).collect())
        }
        Json::Array(all) => Content::Floats(all.iter().map(float).collect()),
        Json::Number(number) if number.is_i64() => Content::Int(number.as_i64().unwrap()),
        _ => Content::Float(float(json)),
    }
}

fn tensor(json: &Json) -> Tensor {
    let dims = json["dims"].as_array().unwrap().iter();
    let dims: Vec<_> = dims.map(|dim| usize::try_from(dim.as_u64().unwrap()).unwrap()).collect();
    let shape = Shape::new(dims).unwrap();
    let data = json["data"].as_array().unwrap();
    let name = json["type"].as_str().unwrap();
    if name == "string" {
        return Tensor::from_text(shape, data.iter().map(|text| text.as_str().unwrap().into()).collect())
            .unwrap();
    }
    let dtype: DType = name.parse().unwrap();
    let plain = if dtype.is_float() {
        let float = |json: &Json| json.as_f64().unwrap_or_else(|| json.as_str().unwrap().parse().unwrap());
        Tensor::from_vec(shape, data.iter().map(float).collect::<Vec<f64>>())
    } else {
        Tensor::from_vec(shape, data.iter().map(|json| json.as_i64().unwrap()).collect::<Vec<i64>>())
    };
    convert::cast(&plain.unwrap(), dtype, Rules::IEEE).unwrap()
}

/// The model of one node.
fn model(case: &Case, inputs: &[Option<Tensor>]) -> Model {
    model_of(case, inputs, usize::MAX)
}

/// The model of one node, whose inputs from one on are constants.
fn model_of(case: &Case, inputs: &[Option<Tensor>], constants: usize) -> Model {
    let (inputs, constants) = inputs.split_at(constants.min(inputs.len()));
    let one = One::of(Standard::Onnx, &case.operator, 1).domain("com.microsoft").known();
    let one = one.values(inputs.iter().map(|tensor| tensor.clone().map(Value::from)));
    let one = one.optional_constants(constants.iter().cloned()).outputs(case.outputs.len());
    let attributes = case.attributes.iter();
    attributes.fold(one, |one, it| one.attribute(&it.name, it.content.clone())).model().0
}

fn values(inputs: &[Option<Tensor>]) -> HashMap<String, Value> {
    let given = inputs.iter().enumerate();
    given.filter_map(|(i, tensor)| Some((format!("x{i}"), Value::from(tensor.clone()?)))).collect()
}

/// The largest difference of two tensors, in the unit of their bound: codes, or units in the last
/// place of the largest element.
fn distance(got: &Tensor, want: &Tensor) -> Result<f64, String> {
    if (got.dtype(), got.shape()) != (want.dtype(), want.shape()) {
        return Err(format!("{}{}, expected {}{}", got.dtype(), got.shape(), want.dtype(), want.shape()));
    }
    if want.dtype() == DType::String {
        let same = got.texts().unwrap() == want.texts().unwrap();
        return Ok(if same { 0.0 } else { f64::INFINITY });
    }
    let all = |tensor: &Tensor| tensor.numbers().unwrap().map(nearest_f64).collect::<Vec<_>>();
    let (got, numbers) = (all(got), all(want));
    let largest = numbers.iter().map(|x| x.abs()).filter(|x| x.is_finite()).fold(0.0, f64::max);
    let unit = match want.dtype() {
        DType::F16 => largest * 2f64.powi(-10),
        DType::F32 => largest * f64::from(f32::EPSILON),
        DType::F64 => largest * f64::EPSILON,
        _ => 1.0,
    };
    let away = got
        .iter()
        .zip(&numbers)
        .map(|(a, b)| if a == b || (a.is_nan() && b.is_nan()) { 0.0 } else { (a - b).abs() / unit });
    Ok(away.fold(0.0, |most, x| if x.is_nan() || x > most { x } else { most }))
}

/// Differences between inferred facts and the results.
fn inferred(case: &Case, model: &Model) -> Option<String> {
    let mut options = InferOptions::default();
    for (index, input) in case.inputs.iter().enumerate() {
        let Some(tensor) = input else { continue };
        let key = format!("x{index}");
        let integers = matches!(tensor.dtype(), DType::I32 | DType::I64);
        let fact = if integers {
            InputFact::Value(tensor.clone().into())
        } else {
            InputFact::Type(graph::Type::tensor(tensor.dtype(), tensor.shape()))
        };
        options.sizes.inputs.insert(key, fact);
    }
    let inference = model.infer(&options).unwrap();
    if let Some(problem) = inference.problems().first() {
        return Some(format!("{}: {}", problem.place, problem.message));
    }
    for (i, (&id, want)) in model.graph().outputs().iter().zip(&case.outputs).enumerate() {
        let fact = inference.fact(id);
        let wrong = || {
            let said = inference.describe(fact);
            Some(format!("output {i} is inferred as {said}, and is {}{}", want.dtype(), want.shape()))
        };
        let Fact::Tensor(tensor) = fact else { return wrong() };
        let dims = tensor.dims.as_ref().map(|dims| dims.iter().map(|dim| dim.known()).collect::<Vec<_>>());
        let wanted = want.shape().to_i64();
        let fits = dims.as_ref().is_some_and(|dims| {
            dims.len() == wanted.len()
                && dims.iter().zip(&wanted).all(|(dim, &len)| dim.is_none_or(|dim| dim == len))
        });
        if tensor.dtype != Some(want.dtype()) || !fits {
            return wrong();
        }
    }
    None
}

/// Compares all cases; prints the largest distance of each operator.
fn compare(cases: &[Case]) {
    let (mut wrong, mut largest) = (Vec::new(), BTreeMap::<&str, (usize, f64)>::new());
    for (index, case) in cases.iter().enumerate() {
        let name = case.operator.as_str();
        let mut fail = |how: String| wrong.push(format!("{index} {name}: {how}"));
        let model = model(case, &case.inputs);
        if let Some(how) = inferred(case, &model) {
            fail(how);
        }
        let outputs = match model.run(values(&case.inputs)) {
            Ok(outputs) => outputs,
            Err(error) => {
                fail(error.to_string());
                continue;
            }
        };
        for (output, ((_, got), want)) in outputs.iter().zip(&case.outputs).enumerate() {
            let bound =
                if want.dtype().is_float() { case.ulps } else { nearest_f64(Number::Int(case.steps.into())) };
            match distance(got.tensor().unwrap(), want) {
                Ok(distance) => {
                    let (count, most) = largest.entry(name).or_default();
                    *count += usize::from(output == 0);
                    *most = most.max(distance);
                    if distance > bound || distance.is_nan() {
                        fail(format!("output {output} is {distance} away, at most {bound} is allowed"));
                    }
                }
                Err(how) => fail(format!("output {output} is {how}")),
            }
        }
    }
    for (name, (count, most)) in &largest {
        println!("{name}: {count} cases, at most {most} away");
    }
    let few: Vec<_> = wrong.iter().take(60).cloned().collect();
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), few.join("\n"));
}

fn recorded() -> Vec<Case> {
    cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/recorded/contrib.json"))
}

#[test]
fn recorded_nodes_give_what_onnx_runtime_gives() {
    compare(&recorded());
}

#[test]
#[ignore = "needs GRADUS_CONTRIB, which `cargo xtask test contrib` sets"]
fn made_nodes_give_what_onnx_runtime_gives() {
    let cases = cases(Path::new(&std::env::var("GRADUS_CONTRIB").unwrap()));
    compare(&cases);
    convert_all(&cases);
}

/// Operators that are lowered convert to ONNX and OpenVINO: quantized ones to the same codes,
/// others within a few roundings, or in OpenVINO within the bounds that hold for ONNX Runtime.
fn convert_all(cases: &[Case]) {
    let (mut wrong, mut refused) = (Vec::new(), BTreeMap::new());
    for case in cases {
        let name = case.operator.as_str();
        let row = gradus::operators::all().find(|row| row.domain == "com.microsoft" && row.name == name);
        if !row.unwrap().is_lowered() {
            continue;
        }
        let model = model(case, &case.inputs);
        let own = model.run(values(&case.inputs)).unwrap();
        for standard in [Standard::Onnx, Standard::OpenVino] {
            let mut options = ConvertOptions::default();
            if standard == Standard::Onnx {
                options.opset = Some(NEWEST_OPSET);
            }
            let converted = match model.convert(standard, &options) {
                Ok(converted) => converted.model,
                Err(error) => {
                    refused.entry((standard.to_string(), name.to_owned())).or_insert(error.to_string());
                    continue;
                }
            };
            let outputs = match converted.run(values(&case.inputs)) {
                Ok(outputs) => outputs,
                Err(error) => {
                    wrong.push(format!("{standard} {name}: {error}"));
                    continue;
                }
            };
            for ((_, got), (_, own)) in outputs.iter().zip(own.iter()) {
                let (got, own) = (got.tensor().unwrap(), own.tensor().unwrap());
                let bound = match (own.dtype().is_float(), standard) {
                    (false, _) => 0.0,
                    // A few steps are float32, for which runtimes have kernels; all of an
                    // elimination.
                    (true, Standard::Onnx) if name != "Inverse" => 4.0,
                    (true, _) => case.ulps.max(4.0),
                };
                match distance(got, own) {
                    Ok(distance) if distance <= bound => {}
                    Ok(distance) => wrong.push(format!("{standard} {name}: {distance} away")),
                    Err(how) => wrong.push(format!("{standard} {name}: {how}")),
                }
            }
        }
    }
    let listed = |(standard, name): &(String, String)| {
        standard == "openvino" && NOT_OF_OPENVINO.contains(&name.as_str())
    };
    wrong.extend(refused.iter().filter(|(key, _)| !listed(key)).map(|(key, why)| format!("{key:?}: {why}")));
    wrong.truncate(60);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn activations_after_products_are_converted() {
    let numbers = |dims: [usize; 2], numbers: &[f32]| {
        Some(Tensor::from_vec(Shape::new(dims.to_vec()).unwrap(), numbers.to_vec()).unwrap())
    };
    let activations = [
        "Elu",
        "HardSigmoid",
        "HardSwish",
        "LeakyRelu",
        "Mish",
        "Relu",
        "Selu",
        "Shrink",
        "Sigmoid",
        "Softplus",
        "Softsign",
        "Swish",
        "Tanh",
        "ThresholdedRelu",
    ];
    let case = |activation: &str| Case {
        operator: "FusedGemm".to_owned(),
        attributes: [("activation", Content::Bytes(activation.to_owned().into()))]
            .into_iter()
            .chain((activation == "Elu").then_some(("activation_alpha", Content::Float(0.5))))
            .map(|(name, content)| graph::Attribute { name: name.into(), content })
            .collect(),
        inputs: vec![numbers([2, 2], &[-3.0, -1.0, 0.25, 2.0]), numbers([2, 2], &[1.0, 0.5, -0.5, 0.75])],
        outputs: vec![Tensor::scalar(0.0f32)],
        steps: 0,
        ulps: 4.0,
    };
    convert_all(&activations.map(case));
}

#[test]
fn matrices_of_few_bits_stay_packed() {
    let (mut random, mut converts) = (fastrand::Rng::with_seed(7), 0);
    for (bits, inner, block) in [(4, 64, 32), (4, 80, 32), (4, 48, 16), (8, 64, 32), (8, 40, 16)] {
        for zeros in [false, true] {
            let (columns, blocks) = (6, usize::div_ceil(inner, block));
            let mut bytes = |dims: &[usize]| {
                let all: Vec<_> = (0..dims.iter().product()).map(|_| random.u8(..)).collect();
                Tensor::from_vec(Shape::new(dims.to_vec()).unwrap(), all).unwrap()
            };
            let codes = bytes(&[columns, blocks, block * bits / 8]);
            let shifts = zeros.then(|| bytes(&[columns * usize::div_ceil(blocks * bits, 8)]));
            let scales: Vec<_> =
                (0..columns * blocks).map(|at| 0.25 + f32::from(u8::try_from(at).unwrap())).collect();
            let x: Vec<_> = (0..2 * inner).map(|at| f32::from(u8::try_from(at % 7).unwrap()) - 3.0).collect();
            let x = Tensor::from_vec(Shape::new(vec![2, inner]).unwrap(), x).unwrap();
            let int = |name: &str, value: usize| graph::Attribute {
                name: name.into(),
                content: Content::Int(i64::try_from(value).unwrap()),
            };
            let attributes = [("K", inner), ("N", columns), ("bits", bits), ("block_size", block)]
                .map(|(name, value)| int(name, value));
            let case = Case {
                operator: "MatMulNBits".to_owned(),
                attributes: attributes.to_vec(),
                inputs: vec![Some(x), Some(codes), Some(Tensor::vector(&scales)), shifts],
                outputs: vec![Tensor::scalar(0f32)],
                steps: 0,
                ulps: 4.0,
            };
            let model = model_of(&case, &case.inputs, 1);
            let given = values(&case.inputs[..1]);
            let own = model.run(given.clone()).unwrap();
            for standard in [Standard::Onnx, Standard::OpenVino] {
                let mut options = ConvertOptions::default();
                options.opset = (standard == Standard::Onnx).then_some(21);
                let converted = model.convert(standard, &options).unwrap().model;
                let packed = if bits == 4 { DType::U4 } else { DType::U8 };
                let constants = converted.graph().constants().iter();
                assert!(constants.filter(|(_, constant)| constant.dtype() == packed).count() >= 2);
                let got = converted.run(given.clone()).unwrap();
                let apart = distance(got[0].tensor().unwrap(), own[0].tensor().unwrap());
                assert!(
                    apart.as_ref().is_ok_and(|&apart| apart <= 4.0),
                    "{standard} {bits} {inner}: {apart:?}"
                );
                converts += 1;
            }
        }
    }
    assert_eq!(converts, 20);
}

/// Operators whose graphs have, for some attributes and inputs, no equivalent in OpenVINO.
const NOT_OF_OPENVINO: &[&str] =
    &["BiasDropout", "GatherBlockQuantized", "GridSample", "Irfft", "Rfft", "Unique"];

#[test]
fn lowered_nodes_convert() {
    convert_all(&recorded());
}

/// Inputs that are missing, empty, of another rank or of other numbers are an error or have a
/// result; nothing panics, and nothing grows without bound.
#[test]
fn wrong_inputs_are_errors() {
    let mut refused = 0;
    for case in recorded() {
        for at in 0..case.inputs.len() {
            let Some(tensor) = &case.inputs[at] else { continue };
            let dtype = tensor.dtype();
            let like = |dims: &[usize]| Tensor::zeros(dtype, Shape::new(dims).unwrap()).unwrap();
            let mut others =
                vec![None, Some(like(&[])), Some(like(&[0])), Some(like(&[1, 0, 2])), Some(like(&[2, 3]))];
            let rank = tensor.shape().rank();
            others.push(Some(like(&vec![1; rank + 1])));
            others.push(Some(like(&vec![3; rank])));
            if dtype != DType::String && dtype != DType::Bool {
                for number in [-1, 100] {
                    let filled =
                        Tensor::from_vec(tensor.shape().clone(), vec![number; tensor.len()]).unwrap();
                    others.push(convert::cast(&filled, dtype, Rules::IEEE).ok());
                }
            }
            if matches!(dtype, DType::I32 | DType::I64) {
                let huge = vec![i64::from(i32::MAX); tensor.len()];
                let huge = Tensor::from_vec(tensor.shape().clone(), huge).unwrap();
                others.push(convert::cast(&huge, dtype, Rules::IEEE).ok());
            }
            for other in others {
                let mut inputs = case.inputs.clone();
                inputs[at] = other;
                let model = model(&case, &inputs);
                let inference = model.infer(&InferOptions::default());
                assert!(inference.is_ok());
                refused += usize::from(refuses(&model, &inputs));
            }
        }
        for at in 0..case.attributes.len() {
            let others = match &case.attributes[at].content {
                Content::Int(_) => [-1, 0, 7, i64::MIN, i64::MAX].map(Content::Int).to_vec(),
                Content::Ints(all) => {
                    vec![Content::Ints([].into()), Content::Ints(vec![i64::MAX; all.len()].into())]
                }
                _ => vec![Content::Int(1)],
            };
            for other in others {
                let mut attributes = case.attributes.clone();
                attributes[at].content = other;
                let other = Case { attributes, ..case_like(&case) };
                let model = model(&other, &other.inputs);
                refused += usize::from(refuses(&model, &other.inputs));
            }
        }
    }
    assert!(refused > 100, "{refused} refused");
}

/// Attributes that newer versions added, and write out, change nothing at their defaults, and are
/// refused otherwise.
#[test]
fn defaults_of_newer_attributes_change_nothing() {
    let text = |text: &str| Content::Bytes(text.to_owned().into());
    let newer = [
        ("GroupQueryAttention", "causal", Content::Int(1), Some(Content::Int(0))),
        ("GroupQueryAttention", "k_norm_epsilon", Content::Float(1e-6), None),
        ("GroupQueryAttention", "k_quant_type", text("NONE"), Some(text("PER_TENSOR"))),
        ("GroupQueryAttention", "kv_cache_bit_width", Content::Int(0), None),
        ("GroupQueryAttention", "qk_norm_epsilon", Content::Float(1e-6), None),
        ("GroupQueryAttention", "sliding_window_cache", Content::Int(0), None),
        ("GroupQueryAttention", "smooth_softmax", Content::Int(-1), None),
        ("GroupQueryAttention", "v_quant_type", text("NONE"), Some(text("PER_CHANNEL"))),
        ("MatMulNBits", "weight_prepacked", Content::Int(0), Some(Content::Int(1))),
    ];
    for (operator, name, default, other) in newer {
        let with = |content: Content| {
            let mut cases: Vec<_> = recorded().into_iter().filter(|case| case.operator == operator).collect();
            cases.retain(|case| case.attributes.iter().all(|given| &*given.name != name));
            for case in &mut cases {
                case.attributes.push(graph::Attribute { name: name.into(), content: content.clone() });
            }
            assert!(!cases.is_empty(), "{operator} {name}");
            cases
        };
        let cases = with(default);
        compare(&cases);
        convert_all(&cases);
        for case in other.into_iter().flat_map(with) {
            let model = model(&case, &case.inputs);
            assert!(refuses(&model, &case.inputs), "{operator} {name}");
            let inference = model.infer(&InferOptions::default()).unwrap();
            assert!(!inference.problems().is_empty(), "{operator} {name}");
        }
    }
}

/// The values of the weights' gate are rounded to bfloat16: a sum of 1 has the sigmoid 0.73046875.
#[test]
fn gates_are_computed_from_their_weights() {
    let short = |dims: &[usize], numbers: &[f32]| {
        let tensor = Tensor::from_vec(Shape::new(dims.to_vec()).unwrap(), numbers.to_vec()).unwrap();
        convert::cast(&tensor, DType::BF16, Rules::IEEE).unwrap()
    };
    compare(&[Case {
        operator: "GatedAdd".to_owned(),
        attributes: Vec::new(),
        inputs: vec![
            Some(short(&[2, 2], &[1.0, -2.0, 0.5, 4.0])),
            Some(short(&[2, 2], &[3.0, 1.0, 8.0, -2.0])),
            Some(short(&[2, 2], &[1.0, 2.0, 0.0, 0.0])),
            Some(short(&[2, 1], &[0.5, 0.25])),
        ],
        outputs: vec![short(&[2, 2], &[3.1875, -1.265_625, 4.5, 3.0])],
        steps: 0,
        ulps: 0.0,
    }]);
}

/// Codes that are gathered along the axis of their blocks have the scales that they had before.
#[test]
fn codes_are_gathered_along_the_axis_of_their_blocks() {
    let ints = |dims: &[usize], numbers: Vec<i64>, dtype: DType| {
        let tensor = Tensor::from_vec(Shape::new(dims.to_vec()).unwrap(), numbers).unwrap();
        convert::cast(&tensor, dtype, Rules::IEEE).unwrap()
    };
    let (codes, places) = ((0..64i64).map(|code| code % 13 - 6), [31i64, 0, 16, -1]);
    let scales = [0.5f32, 2.0, -1.0, 4.0];
    let dequantized: Vec<f32> =
        codes.clone().zip(0..64usize).map(|(code, at)| scales[at / 16] * nearest_f32(code)).collect();
    let picked =
        |row: usize| places.map(|at| dequantized[32 * row + usize::try_from(at.rem_euclid(32)).unwrap()]);
    let int = |name: &str, value| graph::Attribute { name: name.into(), content: Content::Int(value) };
    let case = Case {
        operator: "GatherBlockQuantized".to_owned(),
        attributes: vec![int("gather_axis", 1), int("quantize_axis", 1), int("block_size", 16)],
        inputs: vec![
            Some(ints(&[2, 32], codes.collect(), DType::I4)),
            Some(Tensor::vector(&places)),
            Some(Tensor::from_vec(Shape::new([2, 2]).unwrap(), scales.to_vec()).unwrap()),
        ],
        outputs: vec![
            Tensor::from_vec(Shape::new([2, 4]).unwrap(), [picked(0), picked(1)].concat()).unwrap(),
        ],
        steps: 0,
        ulps: 0.0,
    };
    compare(std::slice::from_ref(&case));
    convert_all(&[case]);
}

fn nearest_f32(code: i64) -> f32 {
    convert::nearest_f32(Number::Int(code.into()))
}

/// Returns true if a run within small limits is an error.
fn refuses(model: &Model, inputs: &[Option<Tensor>]) -> bool {
    let mut limits = Limits::DEFAULT;
    (limits.max_bytes, limits.max_work) = (1 << 24, 1 << 24);
    let program = model.compile(&[], &RunOptions::default());
    program.and_then(|program| program.run_within(values(inputs), limits)).is_err()
}

fn case_like(case: &Case) -> Case {
    Case {
        operator: case.operator.clone(),
        attributes: Vec::new(),
        inputs: case.inputs.clone(),
        outputs: case.outputs.clone(),
        steps: 0,
        ulps: 0.0,
    }
}

/// The limits of a run hold for the graph of a node.
#[test]
fn limits_hold_within_a_lowered_node() {
    let case = recorded().into_iter().find(|case| case.operator == "QLinearAdd").unwrap();
    let program = model(&case, &case.inputs).compile(&[], &RunOptions::default()).unwrap();
    let mut limits = Limits::DEFAULT;
    limits.max_bytes = 8;
    let error = program.run_within(values(&case.inputs), limits).unwrap_err();
    assert_eq!(error.kind(), Kind::Limit, "{error}");
}

/// Codes that are concatenated are scaled again: they are not those of the inputs.
#[test]
fn concatenated_codes_are_not_those_of_the_inputs() {
    let (scale, zero) = (Tensor::scalar(0.5f32), Tensor::scalar(0u8));
    let codes = Tensor::vector(&[1u8, 2]);
    let (model, _) = One::of(Standard::Onnx, "QLinearConcat", 1)
        .domain("com.microsoft")
        .inputs(&[scale.clone(), zero.clone(), codes.clone(), scale, zero])
        .attribute("axis", Content::Int(0))
        .model();
    let mut options = InferOptions::default();
    options.sizes.inputs.insert("x2".into(), InputFact::Value(codes.into()));
    let inference = model.infer(&options).unwrap();
    let output = inference.fact(model.graph().outputs()[0]).as_tensor().unwrap();
    assert_eq!(output.dims.as_ref().map(|dims| dims[0].known()), Some(Some(2)));
    assert!(matches!(output.elements, Elements::Unknown), "{:?}", output.elements);
}
