//! Bad input: each a clear error with its place, in bounded time and memory.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use gradus::conversion::ConvertOptions;
use gradus::diff::Diff;
use gradus::formats::{Files, InMemory, openvino};
use gradus::graph::Standard;
use gradus::infer::InferOptions;
use gradus::{Error, Kind, Limits, Model, OpenOptions, Tensor};

use crate::common::protobuf::{field, int, message, varint};

fn node(operator: &str, inputs: &[&str], outputs: &[&str], attributes: &[Vec<u8>]) -> Vec<u8> {
    let inputs = inputs.iter().map(|name| field(1, name));
    let outputs = outputs.iter().map(|name| field(2, name));
    let fields: Vec<_> =
        inputs.chain(outputs).chain([field(4, operator)]).chain(attributes.iter().cloned()).collect();
    message(1, &fields)
}

fn initializer(name: &str, dtype: i64, dims: &[i64], rest: &[Vec<u8>]) -> Vec<u8> {
    let dims = dims.iter().map(|&dim| int(1, dim));
    let fields: Vec<_> = dims.chain([int(2, dtype), field(8, name)]).chain(rest.iter().cloned()).collect();
    message(5, &fields)
}

fn input(name: &str) -> Vec<u8> {
    message(11, &[field(1, name)])
}

fn output(name: &str) -> Vec<u8> {
    message(12, &[field(1, name)])
}

fn model_of(opset: i64, graph: &[Vec<u8>]) -> Vec<u8> {
    [int(1, 8), message(7, graph), message(8, &[field(1, ""), int(2, opset)])].concat()
}

fn model(graph: &[Vec<u8>]) -> Vec<u8> {
    model_of(17, graph)
}

fn open(bytes: &[u8]) -> Result<Model, Error> {
    Model::from_bytes(&bytes.to_vec().into())
}

/// Opens and runs; whichever fails first.
fn attempt(bytes: &[u8]) -> Result<(), Error> {
    open(bytes)?.run::<&str, Tensor>([]).map(|_| ())
}

fn check(bytes: &[u8], kind: Kind, message: &str) {
    let error = attempt(bytes).expect_err(message);
    assert_eq!((error.kind(), error.to_string().as_str()), (kind, message));
}

#[test]
fn what_is_not_a_model_is_refused() {
    check(b"", Kind::Syntax, "cannot read the model: the file is empty, expected a model");
    check(
        b"not a model",
        Kind::Syntax,
        "this is not an ONNX model: this is not protobuf: invalid wire type: 6",
    );
    check(
        b"PK\x03\x04rest",
        Kind::Syntax,
        "cannot read the model: the file is a zip archive, as NumPy and PyTorch write, expected a model",
    );
    check(&int(1, 8), Kind::Syntax, "byte 0: this is not an ONNX model: it has no graph");
    check(&message(7, &[]), Kind::Syntax, "byte 0: this is not an ONNX model: it states no IR version");
    let newer = [int(1, 99), message(7, &[])].concat();
    check(&newer, Kind::Unsupported, "byte 0: the model's IR version is 99; known are 3 to 14");
    check(
        b"<html/>",
        Kind::Syntax,
        "cannot read the model: the file is a page of HTML, perhaps instead of a download, expected a model of ONNX, \
         OpenVINO or Paddle",
    );
    check(
        b"<page/>",
        Kind::Syntax,
        "line 1, column 1: this is not an OpenVINO model: its root is <page>, not <net>",
    );
    check(b"<net", Kind::Syntax, "line 1, column 1: this is not XML: the document does not have a root node");
    check(
        b"<!DOCTYPE x [<!ENTITY a 'b'>]><net/>",
        Kind::Syntax,
        "line 1, column 1: this is not XML: XML with DTD detected",
    );
    check(
        b"<net version='99'/>",
        Kind::Unsupported,
        "line 1, column 1: the model's IR version is 99; known are 10 and 11",
    );
    check(b"<net version='11'/>", Kind::Syntax, "line 1, column 1: <net> lacks <layers>");
    check(b"<net \xff/>", Kind::Syntax, "byte 5: the text is not UTF-8");
}

#[test]
fn operator_sets_that_do_not_exist_are_refused() {
    check(&model_of(29, &[]), Kind::Graph, "byte 6: operator set 29 is not known; known are 1 to 28");
    check(&model_of(0, &[]), Kind::Graph, "byte 6: operator set 0 is not known; known are 1 to 28");
    let without =
        [int(1, 8), message(7, &[node("Shape", &["x"], &["y"], &[]), input("x"), output("y")])].concat();
    let error = attempt(&without).unwrap_err();
    assert_eq!(error.message(), "cannot tell the version of Shape: the import of domain \"\" is missing");
}

#[test]
fn every_truncation_of_a_model_is_an_error_or_a_model() {
    for name in ["positions.onnx", "loop.onnx", "function.onnx", "range.xml"] {
        let whole = std::fs::read(examples().join(name)).unwrap();
        assert!(open(&whole).is_ok(), "{name}");
        let opened = (0..whole.len()).filter(|&len| open(&whole[..len]).is_ok()).count();
        // Only fields after the graph, and blanks after the root, can be missing unnoticed.
        assert!(opened < 64, "{name}: {opened} truncations of {} bytes open", whole.len());
    }
}

#[test]
fn every_changed_byte_of_a_model_is_survived() {
    for name in ["positions.onnx", "loop.onnx", "function.onnx", "range_const.xml"] {
        let mut bytes = std::fs::read(examples().join(name)).unwrap();
        let mut limits = Limits::DEFAULT;
        (limits.max_bytes, limits.max_steps) = (1 << 20, 1000);
        for at in 0..bytes.len() {
            for change in [0x01, 0x80, 0xff] {
                bytes[at] ^= change;
                if let Ok(model) = OpenOptions::new().limits(limits).from_bytes(&bytes.clone().into()) {
                    let _ = model.run([("tokens", Tensor::scalar(1i64))]);
                }
                bytes[at] ^= change;
            }
        }
    }
}

fn examples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

#[test]
fn graphs_that_are_not_well_formed_are_refused_by_name() {
    let identity = |inputs: &[&str], outputs: &[&str]| node("Identity", inputs, outputs, &[]);
    let error = |graph: &[Vec<u8>]| attempt(&model(graph)).unwrap_err();
    let circle = error(&[identity(&["b"], &["a"]), identity(&["a"], &["b"]), output("a")]);
    assert_eq!(circle.to_string(), "nodes form a cycle: node 0 needs node 1 needs node 0");
    let undefined = error(&[identity(&["x"], &["y"]), output("y")]);
    assert_eq!(undefined.to_string(), "byte 6: node 0: input 0 is undefined value \"x\"");
    assert_eq!(error(&[output("y")]).to_string(), "an output of the graph is undefined value \"y\"");
    let twice = error(&[input("x"), identity(&["x"], &["y"]), identity(&["x"], &["y"]), output("y")]);
    assert_eq!(twice.to_string(), "byte 29: node 1: value \"y\" is defined twice, first by node 0");
    let inputs = error(&[input("x"), input("x")]);
    assert_eq!(inputs.to_string(), "byte 11: value \"x\" is defined twice, first as an input");
    let attribute = message(5, &[field(1, "start"), int(3, 1), int(20, 2)]);
    let attributes =
        error(&[input("x"), node("Shape", &["x"], &["y"], &[attribute.clone(), attribute]), output("y")]);
    assert_eq!(attributes.message(), "attribute \"start\" is given twice");
    assert_eq!(error(&[message(1, &[field(1, "x")])]).to_string(), "byte 6: node \"\" names no operator");
}

#[test]
fn graphs_of_attributes_are_one_and_of_their_kind() {
    let body = || message(6, &[field(2, "body")]);
    let error = |attribute: &[Vec<u8>]| {
        let graph = [node("Loop", &[], &["y"], &[message(5, attribute)]), output("y")];
        attempt(&model(&graph)).unwrap_err().message().to_owned()
    };
    let twice = error(&[field(1, "body"), body(), body(), int(20, 5)]);
    assert_eq!(twice, "the attribute has a second content");
    let other = error(&[field(1, "body"), body(), int(3, 1), int(20, 2)]);
    assert_eq!(other, "the attribute has a graph, and is of another kind");
    assert_eq!(error(&[field(1, "body"), field(21, "parameter"), body()]), other);
}

#[test]
fn graphs_nested_without_end_are_refused() {
    let mut graph = vec![field(2, "innermost")];
    for _ in 0..2000 {
        let attribute = message(5, &[field(1, "body"), message(6, &graph), int(20, 5)]);
        graph = vec![node("Loop", &[], &[], &[attribute])];
    }
    let error = attempt(&model(&graph)).unwrap_err();
    assert_eq!((error.kind(), error.message()), (Kind::Limit, "graphs are nested more than 32 deep"));
    let layers = "<layers>".repeat(100_000);
    assert_eq!(open(format!("<net version='11'>{layers}").as_bytes()).unwrap_err().kind(), Kind::Syntax);
}

#[test]
fn functions_that_call_themselves_are_refused() {
    let function = message(
        25,
        &[
            field(1, "F"),
            field(4, "x"),
            field(5, "y"),
            message(7, &[field(1, "x"), field(2, "y"), field(4, "F"), field(7, "d")]),
            field(10, "d"),
        ],
    );
    let graph = message(
        7,
        &[message(1, &[field(1, "x"), field(2, "y"), field(4, "F"), field(7, "d")]), input("x"), output("y")],
    );
    let bytes = [int(1, 8), graph, function].concat();
    let error = attempt(&bytes).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (Kind::Limit, "graphs and functions are nested more than 32 deep")
    );
    assert_eq!(error.location().nodes.len(), 33, "the place names each call");
}

#[test]
fn sizes_are_checked_before_they_are_believed() {
    let long = [int(1, 8), vec![7 << 3 | 2], varint(1 << 62), vec![0]].concat();
    check(
        &long,
        Kind::Syntax,
        "byte 12: the number of bytes that follow is 1, expected at least 4611686018427387904",
    );
    let many = model(&[initializer("w", 1, &[1 << 40, 1 << 40], &[])]);
    check(
        &many,
        Kind::Limit,
        "byte 6: tensor \"w\": number of elements of shape [1099511627776, 1099511627776] is more than 9223372036854775807, expected at most 9223372036854775807",
    );
    let negative = model(&[initializer("w", 1, &[-1], &[])]);
    check(&negative, Kind::Shape, "byte 6: tensor \"w\": dimension 0 is -1, expected at least 0");
    let short = model(&[initializer("w", 1, &[3], &[field(9, [0; 8])])]);
    check(&short, Kind::Shape, "byte 15: tensor \"w\": the byte length of float32[3] is 8, expected 12");
    let few = model(&[initializer("w", 7, &[1 << 40], &[field(7, [1, 2, 3])]), output("w")]);
    check(
        &few,
        Kind::Syntax,
        "byte 6: the number of entries of int64[1099511627776] is 3, expected 1099511627776",
    );
    let unknown = model(&[initializer("w", 99, &[1], &[])]);
    check(
        &unknown,
        Kind::Type,
        "byte 6: tensor \"w\": element type is 99, expected a number of TensorProto.DataType",
    );
    let values = message(1, &[int(1, 1), int(2, 1), field(8, "w"), field(9, [0; 4])]);
    let indices = message(2, &[int(1, 1), int(2, 7), field(9, [0; 8])]);
    let sparse = model(&[message(15, &[values, indices, int(3, 1 << 40)]), output("w")]);
    check(
        &sparse,
        Kind::Limit,
        "sparse tensor \"w\": cannot allocate: number of bytes is 4398046511104, expected at most 4294967296 (--max-bytes)",
    );
}

#[test]
fn a_small_file_cannot_ask_for_much_memory() {
    // Nodes of five bytes each would become a hundred times as many.
    let nodes: Vec<u8> = std::iter::repeat_n(node("A", &[], &[], &[]), 100_000).flatten().collect();
    let mut limits = Limits::DEFAULT;
    limits.max_bytes = 1 << 20;
    let error = OpenOptions::new().limits(limits).from_bytes(&model(&[nodes]).into()).unwrap_err();
    assert_eq!(error.kind(), Kind::Limit, "{error}");
}

/// A typed input of these dimensions: numbers, or names.
fn typed(name: &str, dims: &[&str]) -> Vec<u8> {
    let dim = |dim: &&str| match dim.parse() {
        Ok(size) => message(1, &[int(1, size)]),
        Err(_) => message(1, &[field(2, dim)]),
    };
    let shape = message(2, &dims.iter().map(dim).collect::<Vec<_>>());
    message(11, &[field(1, name), message(2, &[message(1, &[int(1, 1), shape])])])
}

/// Names are in results as often as values follow from what they name.
#[test]
fn results_are_not_much_larger_than_models() {
    let chain = |len: usize| {
        (0..len).flat_map(|i| {
            let [from, to] = [i, i + 1].map(|i| if i == 0 { "x".to_owned() } else { format!("v{i}") });
            node("Relu", &[&from], &[&to], &[])
        })
    };
    // A name of many bytes is none.
    let long = "n".repeat(1 << 20);
    let graph = [typed("x", &[&long, "k"]), chain(2000).collect(), output("v2000")];
    let model_of_name = open(&model(&graph)).unwrap();
    let inference = model_of_name.infer(&InferOptions::default()).unwrap();
    let last = inference.fact(model_of_name.value("v2000").unwrap());
    assert_eq!(inference.describe(last), "float32[x_0, k]");
    // The name of a value begins those of its axes, and messages about each.
    let dims = vec!["a+1"; 500];
    let graph = [typed(&long, &dims), node("Relu", &[&long], &["y"], &[]), output("y")];
    let inference = open(&model(&graph)).unwrap().infer(&InferOptions::default()).unwrap();
    assert!(inference.conditions().iter().all(|assumption| assumption.text.len() < 1000));
    let graph = [typed(&long, &vec![""; 2000]), node("Relu", &[&long], &["y"], &[]), output("y")];
    let inference = open(&model(&graph)).unwrap().infer(&InferOptions::default()).unwrap();
    assert!(inference.symbols().symbols().iter().all(|symbol| symbol.name.len() < 1000));
    let error = Error::new(Kind::Value, long.clone()).in_node(&long);
    assert!(error.to_string().len() < 30_000);
    // Many axes through many nodes count.
    let graph = [typed("x", &vec!["k"; 2000]), chain(2000).collect(), output("v2000")];
    let mut limits = Limits::DEFAULT;
    limits.max_bytes = 1 << 26;
    let large = OpenOptions::new().limits(limits).from_bytes(&model(&graph).into()).unwrap();
    let error = large.infer(&InferOptions::default()).unwrap_err();
    assert_eq!(error.kind(), Kind::Limit, "{error}");
    // So do expressions for each part of an axis, nodes that one becomes, and items that sequences
    // list.
    limits.max_bytes = 1 << 22;
    let open = |graph: &[Vec<u8>]| {
        OpenOptions::new().limits(limits).from_bytes(&model_of(18, graph).into()).unwrap()
    };
    let parts: Vec<_> = (0..2000).map(|part| format!("p{part}")).collect();
    let parts: Vec<_> = parts.iter().map(String::as_str).collect();
    let num = message(5, &[field(1, "num_outputs"), int(20, 2), int(3, 2000)]);
    let split = [typed("x", &["n"]), node("Split", &["x"], &parts, &[num]), output("p0")];
    let error = open(&split).infer(&InferOptions::default()).unwrap_err();
    assert_eq!(error.kind(), Kind::Limit, "{error}");
    let convert = |graph: &[Vec<u8>]| open(graph).convert(Standard::OpenVino, &ConvertOptions::default());
    let sum = [typed("x", &["n"]), node("Sum", &vec!["x"; 5000], &["y"], &[]), output("y")];
    let error = convert(&sum).unwrap_err();
    assert_eq!(error.kind(), Kind::Limit, "{error}");
    let inserted = (0..1200).flat_map(|i| {
        let [from, to] = [format!("q{i}"), format!("q{}", i + 1)];
        node("SequenceInsert", &[&from, "x"], &[&to], &[])
    });
    let first = node("SequenceConstruct", &["x"], &["q0"], &[]);
    let last = node("SequenceAt", &["q1200", "i"], &["y"], &[]);
    let index = initializer("i", 7, &[], &[field(9, 0i64.to_le_bytes())]);
    let chain = [typed("x", &["n"]), index, first, inserted.collect(), last, output("y")];
    let error = convert(&chain).unwrap_err();
    assert_eq!(error.kind(), Kind::Limit, "{error}");
}

/// No work is quadratic in the attributes, inputs or calls of a model.
#[test]
fn many_attributes_inputs_and_calls_take_little_time() {
    let begin = std::time::Instant::now();
    let attribute = |index: usize| message(5, &[field(1, format!("a{index}")), int(20, 2), int(3, 1)]);
    let attributes: Vec<_> = (0..50_000).map(attribute).collect();
    let bytes = model(&[input("x"), node("Foo", &["x"], &["y"], &attributes), output("y")]);
    assert!(open(&bytes).unwrap().infer(&InferOptions::default()).is_ok());
    let mut twice = attributes;
    twice.push(attribute(7));
    let error = open(&model(&[input("x"), node("Foo", &["x"], &["y"], &twice), output("y")])).unwrap_err();
    assert!(error.to_string().contains("attribute \"a7\" is given twice"), "{error}");
    let sum = node("Sum", &vec!["x"; 100_000], &["y"], &[]);
    let summed = open(&model(&[typed("x", &["n"]), sum, output("y")])).unwrap();
    assert!(summed.cost(&InferOptions::default()).is_ok());
    let many = open(&bytes).unwrap();
    assert!(Diff::of(&many, &many).unwrap().is_empty());
    // Quadratic work took a minute and more.
    assert!(begin.elapsed() < std::time::Duration::from_secs(20), "{:?}", begin.elapsed());
}

fn external(location: &str, offset: &str, length: &str) -> Vec<u8> {
    let entry = |key: &str, value: &str| message(13, &[field(1, key), field(2, value)]);
    let entries = [entry("location", location), entry("offset", offset), entry("length", length), int(14, 1)];
    initializer("w", 1, &[2], &entries)
}

#[test]
fn external_data_must_be_in_the_models_folder() {
    for location in ["../w.bin", "/etc/passwd", "a/../../w.bin", "C:\\w.bin", "\\\\host\\w.bin", ""] {
        let error = attempt(&model(&[external(location, "0", "8"), output("w")])).unwrap_err();
        let wanted =
            format!("external data \"{location}\" is outside the model's folder, and so is not read");
        assert_eq!(error.message(), wanted);
    }
    let error =
        |offset, length| attempt(&model(&[external("w.bin", offset, length), output("w")])).unwrap_err();
    assert_eq!(error("0", "9").message(), "external data: float32[2] takes 8 bytes, but the length is 9");
    assert_eq!(error("x", "8").message(), "external data: offset \"x\" is not a size");
    assert_eq!(error("-1", "8").message(), "external data: offset \"-1\" is not a size");
    assert_eq!(
        error("18446744073709551615", "8").message(),
        "cannot read tensor \"w\": 8 bytes at 18446744073709551615 end beyond 2^64"
    );
    assert_eq!(error("0", "8").to_string(), "tensor \"w\": cannot read \"w.bin\": no such file");
}

#[test]
fn external_data_on_disk_is_checked_against_the_file() {
    let folder = std::env::temp_dir().join(format!("gradus-bad-input-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let run = |initializer: Vec<u8>| {
        let path = folder.join("m.onnx");
        std::fs::write(&path, model(&[initializer, output("w")])).unwrap();
        Model::open(path)?.run::<&str, Tensor>([])
    };
    std::fs::write(folder.join("w.bin"), [0; 12]).unwrap();
    assert!(run(external("w.bin", "4", "8")).is_ok());
    let message = run(external("w.bin", "8", "8")).unwrap_err().to_string();
    assert!(
        message.ends_with("tensor \"w\": the length of the file is 12, expected at least 16"),
        "{message}"
    );
    let message = run(external("none.bin", "0", "8")).unwrap_err().to_string();
    assert!(message.ends_with("none.bin: tensor \"w\": there is no such file"), "{message}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_converted_model_does_not_replace_the_constants_of_its_source() {
    let folder = std::env::temp_dir().join(format!("gradus-spared-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("w.onnx");
    std::fs::write(&path, model(&[external("w.bin", "4", "8"), output("w")])).unwrap();
    std::fs::write(folder.join("w.bin"), [1; 12]).unwrap();
    let source = Model::open(&path).unwrap();
    let converted = source.convert(Standard::OpenVino, &ConvertOptions::default()).unwrap().model;
    // A model of that name that was written before changes nothing.
    std::fs::write(folder.join("w.xml"), "").unwrap();
    let error = converted.save(folder.join("w.xml")).unwrap_err();
    assert!(error.message().contains("the model's constants would replace it"), "{error}");
    converted.save(folder.join("v.xml")).unwrap();
    assert_eq!(std::fs::read(folder.join("w.bin")).unwrap(), [1; 12]);
    std::fs::remove_dir_all(folder).unwrap();
}

/// An IR of one Range whose inputs are constants, with a part of its text replaced.
fn ir(old: &str, new: &str) -> Vec<u8> {
    let text = std::fs::read_to_string(examples().join("range_const.xml")).unwrap();
    assert!(text.contains(old), "{old}");
    text.replacen(old, new, 1).into_bytes()
}

#[test]
fn damaged_ir_is_refused_with_line_and_column() {
    let message = |old, new| attempt(&ir(old, new)).unwrap_err().to_string();
    assert_eq!(
        message("offset=\"4\"", "offset=\"2\""),
        "tensors \"start\" and \"stop\" overlap in .bin: bytes 0..4 and 2..6"
    );
    assert_eq!(
        message("size=\"4\"", "size=\"5\""),
        "line 4, column 5: layer \"start\": the size of int32[] is 5, expected 4"
    );
    assert_eq!(
        message("element_type=\"i32\"", "element_type=\"i33\""),
        "line 5, column 7: layer \"start\": element type is \"i33\", expected one of OpenVINO"
    );
    assert_eq!(
        message("shape=\"\"", "shape=\"?\""),
        "line 5, column 7: layer \"start\": \"?\" is not the shape of a constant"
    );
    assert_eq!(
        message("layer id=\"1\"", "layer id=\"0\""),
        "line 8, column 5: layer 0 is defined twice, first in line 4"
    );
    assert_eq!(
        message("from-layer=\"0\"", "from-layer=\"7\""),
        "line 34, column 5: an edge leads from port 0 of layer 7, which does not exist"
    );
    assert_eq!(
        message("to-layer=\"3\"", "to-layer=\"9\""),
        "line 19, column 9: layer \"positions\": nothing is connected to input port 0"
    );
    assert_eq!(
        message("to-port=\"1\"", "to-port=\"0\""),
        "line 35, column 5: two edges lead to port 0 of layer 3"
    );
    assert_eq!(
        message("</edges>", "<edge from-layer=\"0\" from-port=\"0\" to-layer=\"3\" to-port=\"7\"/></edges>"),
        "line 38, column 3: an edge leads to port 7 of layer 3, which does not exist"
    );
    assert_eq!(
        message("<port id=\"1\"", "<port id=\"0\""),
        "line 20, column 9: layer \"positions\": input port 0 is defined twice"
    );
    assert_eq!(
        message("opset4", "opset99"),
        "line 16, column 5: layer \"positions\": operator set \"opset99\" is not known; known are opset1 to opset17"
    );
    assert_eq!(
        message("type=\"Range\"", "type=\"Frobnicate\""),
        "line 16, column 5: node \"positions\" (openvino Frobnicate): cannot evaluate operator Frobnicate of openvino"
    );
    assert_eq!(
        message("output_type=\"i32\"", ""),
        "line 16, column 5: node \"positions\" (openvino Range-4): attribute \"output_type\" is missing"
    );
    assert_eq!(
        message("<dim>-1</dim>", "<dim>x</dim>"),
        "line 24, column 56: layer \"positions\": \"x\" is not a dimension"
    );
    assert_eq!(
        message("id=\"0\"", "id=\"zero\""),
        "line 4, column 5: attribute \"id\" is \"zero\", not a number"
    );
    let missing = Model::open(examples().join("range.xml")).unwrap();
    assert!(missing.run::<&str, Tensor>([]).unwrap_err().to_string().ends_with("are missing"));
}

#[test]
fn a_missing_bin_is_an_error_when_a_constant_is_needed() {
    let folder = std::env::temp_dir().join(format!("gradus-no-bin-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("range.xml");
    std::fs::write(&path, ir("version=\"11\"", "version=\"11\"")).unwrap();
    let model = Model::open(&path).unwrap();
    let message = model.run::<&str, Tensor>([]).unwrap_err().to_string();
    assert!(message.ends_with("range.bin: constant \"start\": there is no such file"), "{message}");
    std::fs::write(folder.join("range.bin"), [0; 5]).unwrap();
    let model = Model::open(&path).unwrap();
    let message = model.run::<&str, Tensor>([]).unwrap_err().to_string();
    assert!(
        message.ends_with("constant \"stop\": the length of the file is 5, expected at least 8"),
        "{message}"
    );
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn runs_without_bounds_are_stopped() {
    let scalar =
        |name: &str, value: i64| initializer(name, 7, &[], &[field(7, varint(value.cast_unsigned()))]);
    let range = [
        scalar("a", 0),
        scalar("b", 1 << 62),
        scalar("s", 1),
        node("Range", &["a", "b", "s"], &["y"], &[]),
        output("y"),
    ];
    let message = attempt(&model(&range)).unwrap_err().to_string();
    assert_eq!(
        message,
        "node 0 (onnx Range-11): cannot allocate: number of bytes is 36893488147419103232, expected at most 4294967296 (--max-bytes)"
    );
    let sizes = [1, 1, 1i64 << 40, 1 << 40].map(i64::to_le_bytes).concat();
    let resize = [
        initializer("x", 1, &[1, 1, 1, 1], &[field(9, [0; 4])]),
        initializer("sizes", 7, &[4], &[field(9, &sizes)]),
        node("Resize", &["x", "", "", "sizes"], &["y"], &[]),
        output("y"),
    ];
    let message = attempt(&model(&resize)).unwrap_err().to_string();
    assert!(
        message.contains("number of elements of shape [1, 1, 1099511627776, 1099511627776] is more than"),
        "{message}"
    );
    let body = [input("i"), input("c"), node("Identity", &["c"], &["d"], &[]), output("d")];
    let body = message_of_graph(&body);
    let forever = [
        scalar("m", i64::MAX),
        node("Loop", &["m", ""], &[], &[body]),
        node("Identity", &["m"], &["y"], &[]),
        output("y"),
    ];
    // The loop gives nothing, so nothing needs it; with an output that is needed, it runs into the
    // limit.
    assert!(attempt(&model(&forever)).is_ok());
    let body = message_of_graph(&[
        input("i"),
        input("c"),
        input("x"),
        node("Identity", &["c"], &["d"], &[]),
        node("Add", &["x", "i"], &["y"], &[]),
        output("d"),
        output("y"),
    ]);
    let forever = model(&[
        scalar("m", i64::MAX),
        scalar("x", 0),
        node("Loop", &["m", "", "x"], &["y"], &[body]),
        output("y"),
    ]);
    let mut limits = Limits::DEFAULT;
    limits.max_steps = 1000;
    let limited = OpenOptions::new().limits(limits).from_bytes(&forever.into()).unwrap();
    let error = limited.run::<&str, Tensor>([]).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (Kind::Limit, "the run takes more than 1000 steps (--max-steps)")
    );
}

fn message_of_graph(graph: &[Vec<u8>]) -> Vec<u8> {
    message(5, &[field(1, "body"), message(6, graph), int(20, 5)])
}

#[test]
fn scans_that_grow_without_bounds_are_stopped() {
    let scalar =
        |name: &str, value: i64| initializer(name, 7, &[], &[field(7, varint(value.cast_unsigned()))]);
    let body = message_of_graph(&[
        input("i"),
        input("c"),
        node("Identity", &["c"], &["d"], &[]),
        node("Identity", &["large"], &["y"], &[]),
        output("d"),
        output("y"),
    ]);
    let large = initializer("large", 1, &[1 << 10], &[field(9, [0; 4096])]);
    let bytes =
        model(&[scalar("m", i64::MAX), large, node("Loop", &["m", ""], &["y"], &[body]), output("y")]);
    let mut limits = Limits::DEFAULT;
    limits.max_bytes = 1 << 20;
    let limited = OpenOptions::new().limits(limits).from_bytes(&bytes.into()).unwrap();
    let error = limited.run::<&str, Tensor>([]).unwrap_err();
    assert_eq!(error.kind(), Kind::Limit, "{error}");
    assert!(error.message().ends_with("expected at most 1048576 (--max-bytes)"), "{error}");
}

/// A loop that adds its input to what it carries, as OpenVINO writes it.
const LOOP: &str = r#"<net name="loop" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2" element_type="i64"/><output><port id="0" precision="I64"><dim>2</dim></port></output></layer>
<layer id="1" name="trips" type="Parameter" version="opset1"><data shape="" element_type="i64"/><output><port id="0" precision="I64"/></output></layer>
<layer id="2" name="enters" type="Parameter" version="opset1"><data shape="" element_type="boolean"/><output><port id="0" precision="BOOL"/></output></layer>
<layer id="3" name="loop" type="Loop" version="opset5">
<port_map>
<input external_port_id="2" internal_layer_id="0"/>
<input external_port_id="-1" internal_layer_id="1" purpose="current_iteration"/>
<output external_port_id="3" internal_layer_id="5"/>
<output axis="0" external_port_id="4" internal_layer_id="5" start="0" end="-1" stride="1" part_size="1"/>
<output external_port_id="-1" internal_layer_id="6" purpose="execution_condition"/>
</port_map>
<back_edges><edge from-layer="5" to-layer="0"/></back_edges>
<input><port id="0" precision="I64"/><port id="1" precision="BOOL"/><port id="2" precision="I64"><dim>2</dim></port></input>
<output><port id="3" precision="I64"><dim>2</dim></port><port id="4" precision="I64"><dim>-1</dim></port></output>
<body><layers>
<layer id="0" name="state" type="Parameter" version="opset1"><data shape="2" element_type="i64"/><output><port id="0" precision="I64"><dim>2</dim></port></output></layer>
<layer id="1" name="number" type="Parameter" version="opset1"><data shape="" element_type="i64"/><output><port id="0" precision="I64"/></output></layer>
<layer id="2" name="sum" type="Add" version="opset1"><data auto_broadcast="numpy"/><input><port id="0"/><port id="1"/></input><output><port id="2" precision="I64"><dim>2</dim></port></output></layer>
<layer id="4" name="less" type="Less" version="opset1"><data auto_broadcast="numpy"/><input><port id="0"/><port id="1"/></input><output><port id="2" precision="BOOL"/></output></layer>
<layer id="7" name="four" type="Const" version="opset1"><data element_type="i64" shape="" offset="0" size="8"/><output><port id="0" precision="I64"/></output></layer>
<layer id="5" name="next" type="Result" version="opset1"><input><port id="0"/></input></layer>
<layer id="6" name="goes_on" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/><edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="1" from-port="0" to-layer="4" to-port="0"/><edge from-layer="7" from-port="0" to-layer="4" to-port="1"/>
<edge from-layer="2" from-port="2" to-layer="5" to-port="0"/><edge from-layer="4" from-port="2" to-layer="6" to-port="0"/>
</edges></body></layer>
<layer id="8" name="last" type="Result" version="opset1"><input><port id="0"/></input></layer>
<layer id="9" name="all" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="1" from-port="0" to-layer="3" to-port="0"/><edge from-layer="2" from-port="0" to-layer="3" to-port="1"/>
<edge from-layer="0" from-port="0" to-layer="3" to-port="2"/>
<edge from-layer="3" from-port="3" to-layer="8" to-port="0"/><edge from-layer="3" from-port="4" to-layer="9" to-port="0"/>
</edges></net>"#;

/// The loop with one thing changed, read with those constants and run for that many trips.
fn looped(from: &str, to: &str, bin: &[u8], trips: i64, limits: Limits) -> Result<Vec<Vec<i64>>, Error> {
    assert!(LOOP.contains(from), "{from}");
    let files = InMemory(HashMap::from([("m.bin".to_owned(), bin.to_vec().into())]));
    let files: Arc<dyn Files> = Arc::new(files);
    let source = openvino::read_model(LOOP.replacen(from, to, 1).as_bytes(), "m.bin", &files, &limits)?;
    let model = OpenOptions::new().limits(limits).from_source(source);
    let _ = model.infer(&InferOptions::default());
    let inputs = [
        ("x", Tensor::vector(&[10i64, 20])),
        ("trips", Tensor::scalar(trips)),
        ("enters", Tensor::scalar(gradus::element::Bool::from(true))),
    ];
    let outputs = model.run(inputs)?;
    outputs.iter().map(|(_, value)| value.tensor()?.to_i64()).collect()
}

#[test]
fn damaged_bodies_of_openvino_are_refused_by_place() {
    let four = 4i64.to_le_bytes();
    let good = looped("", "", &four, 3, Limits::DEFAULT).unwrap();
    assert_eq!(good, [vec![13, 23], vec![10, 20, 11, 21, 13, 23]]);
    let ends_by_itself = looped("", "", &four, -1, Limits::DEFAULT).unwrap();
    assert_eq!(ends_by_itself[0], [20, 30]);
    let none = looped("", "", &four, 0, Limits::DEFAULT).unwrap();
    assert_eq!(none, [vec![10, 20], vec![]]);
    let cases: &[(&str, &str, &str)] = &[
        ("internal_layer_id=\"0\"", "internal_layer_id=\"77\"", "layer 77 is no input or output of the body"),
        ("external_port_id=\"2\"", "external_port_id=\"9\"", "the layer has no input port 9"),
        (
            "from-layer=\"5\" to-layer=\"0\"",
            "from-layer=\"0\" to-layer=\"5\"",
            "layer 0 is no input or output",
        ),
        ("part_size=\"1\"", "part_size=\"0\"", "stride 1 and part size 0 are no steps"),
        ("stride=\"1\"", "stride=\"x\"", "attribute \"stride\" is \"x\", not a number"),
        (
            "<edge from-layer=\"0\" from-port=\"0\" to-layer=\"2\" to-port=\"0\"/>",
            "<edge from-layer=\"2\" from-port=\"2\" to-layer=\"2\" to-port=\"0\"/>",
            "nodes form a cycle: node \"sum\" needs node \"sum\"",
        ),
        ("<body>", "<body><layers/></body><body>", "is no input or output of the body"),
        ("size=\"8\"", "size=\"7\"", "the size of int64[] is 7, expected 8"),
        ("offset=\"0\"", "offset=\"64\"", "the length of the file is 8, expected at least 72"),
        ("</body>", "", "this is not XML"),
        ("<port_map>", "<no_map>", "this is not XML"),
        ("<input external_port_id=\"2\" internal_layer_id=\"0\"/>", "", "input 0 of the body is missing"),
        ("axis=\"0\"", "axis=\"3\"", "axis 3 is out of range for rank 1"),
    ];
    for (from, to, want) in cases {
        let error = looped(from, to, &four, 3, Limits::DEFAULT).unwrap_err().to_string();
        assert!(error.contains(want), "{to}: {error}");
    }
    let truncated = looped("", "", &four[..3], 3, Limits::DEFAULT).unwrap_err().to_string();
    assert!(truncated.contains("the length of the file is 3, expected at least 8"), "{truncated}");
    let mut limits = Limits::DEFAULT;
    limits.max_steps = 100;
    let forever = i64::MAX.to_le_bytes();
    let error = looped("", "", &forever, -1, limits).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (Kind::Limit, "the run takes more than 100 steps (--max-steps)")
    );
    let mut deep = Limits::DEFAULT;
    deep.max_depth = 0;
    let error = looped("", "", &four, 3, deep).unwrap_err().to_string();
    assert!(error.contains("graphs are nested too deep"), "{error}");
}
