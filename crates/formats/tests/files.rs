//! Files that other programs wrote (scripts/fixtures.py), read.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use gradus_core::graph::{Content, Graph, Model, Origin, ValueId};
use gradus_core::{DType, Limits, Tensor};
use gradus_formats::{InMemory, Sniffed, numpy, onnx, sniff};

fn data(name: &str) -> Bytes {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    std::fs::read(path).unwrap().into()
}

fn model(name: &str) -> Model {
    let files = HashMap::from([("external.bin".to_owned(), data("external.bin"))]);
    onnx::read_model(&data(name), Arc::new(InMemory(files)), Limits::DEFAULT).unwrap()
}

fn constants(graph: &Graph) -> HashMap<String, Tensor> {
    let named = |(id, constant): &(ValueId, gradus_core::graph::Constant)| {
        (graph.value(*id).name.to_string(), constant.tensor().unwrap())
    };
    graph.constants().iter().map(named).collect()
}

#[test]
fn initializers_of_every_type_are_the_same_in_every_encoding() {
    let constants = constants(&model("encodings.onnx").graph);
    let mut types = Vec::new();
    for (name, tensor) in &constants {
        let Some(stem) = name.strip_suffix(".raw") else { continue };
        assert_eq!(tensor, &constants[&format!("{stem}.typed")], "{name}");
        assert_eq!(tensor.shape().dims(), [5], "{name}");
        let one = tensor.number(1).unwrap();
        assert_eq!(gradus_core::convert::nearest_f64(one), 1.0, "{name}");
        types.push(tensor.dtype());
    }
    types.sort_unstable();
    let openvino_only = [DType::String, DType::U1, DType::U3, DType::U6, DType::NF4];
    let all: Vec<_> = DType::ALL.iter().copied().filter(|dtype| !openvino_only.contains(dtype)).collect();
    assert_eq!(types, all);
    assert_eq!(constants["string.typed"].texts().unwrap().join(","), "a,déjà");
    assert_eq!(constants["sparse.linear"].elements::<f32>().unwrap()[..], [0.0, 1.5, 0.0, 0.0, 0.0, 2.5]);
    assert_eq!(constants["sparse.coordinates"].elements::<i8>().unwrap()[..], [0, 1, 0, 0, 0, 2]);
}

#[test]
fn external_data_is_found_by_offset_and_length_and_may_be_shared() {
    let constants = constants(&model("external.onnx").graph);
    assert_eq!(constants["first"].elements::<f32>().unwrap()[..], [0.0, 1.0, 2.0, 3.0]);
    assert_eq!(constants["same"], constants["first"]);
    assert_eq!(constants["rest"].elements::<f32>().unwrap()[..], [4.0, 5.0, 6.0, 7.0]);
}

#[test]
fn a_model_opens_without_its_external_data_until_it_is_needed() {
    let model =
        onnx::read_model(&data("external.onnx"), Arc::new(InMemory::default()), Limits::DEFAULT).unwrap();
    let (id, constant) = &model.graph.constants()[0];
    assert_eq!((&*model.graph.value(*id).name, constant.byte_len()), ("first", 16));
    assert_eq!(
        constant.tensor().unwrap_err().to_string(),
        "tensor \"first\": cannot read \"external.bin\": no such file"
    );
}

#[test]
fn attributes_of_every_kind_are_read() {
    let model = model("attributes.onnx");
    let node = &model.graph.nodes()[0];
    assert_eq!((node.operator.to_string().as_str(), node.version), ("test.Everything", Some(1)));
    let sort = |name: &str| node.attribute(name).unwrap().sort();
    let sorts = ["float", "int", "string", "tensor", "graph", "sparse_tensor", "type_proto"].map(sort);
    assert_eq!(sorts, ["a float", "an integer", "a string", "a tensor", "a graph", "a tensor", "a type"]);
    let sorts = ["floats", "ints", "strings", "tensors", "graphs", "sparse_tensors", "type_protos"].map(sort);
    assert_eq!(sorts[..3], ["a list of floats", "a list of integers", "a list of strings"]);
    assert_eq!(sorts[3..], ["a list of tensors", "a list of graphs", "a list of tensors", "a list of types"]);
    let Some(Content::Ints(ints)) = node.attribute("ints") else { panic!("ints are integers") };
    assert_eq!(ints[..], [1, -2]);
    let Some(Content::Tensor(sparse)) = node.attribute("sparse_tensor") else { panic!("it is a tensor") };
    assert_eq!(sparse.tensor().unwrap().elements::<f32>().unwrap()[..], [0.0, 1.5, 0.0]);
    let Some(Content::Types(types)) = node.attribute("type_protos") else { panic!("they are types") };
    assert_eq!(types[0].to_string(), "sequence of float32[n, 3, ?]");
    let Some(Content::Graph(inner)) = node.attribute("graph") else { panic!("it is a graph") };
    assert_eq!(inner.captures().len(), 1);
    assert_eq!(&*model.graph.value(inner.captures()[0].outer).name, "outer");
    assert_eq!(inner.value(inner.captures()[0].inner).origin, Origin::Capture);
}

#[test]
fn arrays_are_read_as_numpy_writes_them() {
    let npy = |name: &str, hint| numpy::read_npy(&data(name), hint, &Limits::DEFAULT).unwrap();
    assert_eq!(npy("columns.npy", None).elements::<i32>().unwrap()[..], [0, 1, 2, 3, 4, 5]);
    assert_eq!(format!("{:?}", npy("bfloat16.npy", Some(DType::BF16))), "bfloat16[3] [1.0, 0.5, -2.0]");
    assert_eq!(npy("unicode.npy", None).texts().unwrap().join(","), "a,déjà");
    let error = numpy::read_npy(&data("bfloat16.npy"), None, &Limits::DEFAULT).unwrap_err();
    assert_eq!(error.message(), "elements of NumPy type '<V2' are not read without knowing their type");
    let arrays = numpy::read_npz(&data("arrays.npz"), None, |_| None, &Limits::DEFAULT).unwrap();
    assert_eq!(arrays.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["x", "zeros"]);
    assert_eq!((arrays[0].1.shape().dims(), arrays[1].1.len()), (&[2, 3][..], 1000));
    let mut small = Limits::DEFAULT;
    small.max_bytes = 1000;
    assert!(
        numpy::read_npz(&data("arrays.npz"), None, |_| None, &small)
            .unwrap_err()
            .message()
            .contains("(--max-bytes)")
    );
}

#[test]
fn tensors_on_their_own_are_read() {
    let tensor = onnx::read_tensor(&data("tensor.pb"), Limits::DEFAULT).unwrap();
    assert_eq!(format!("{tensor:?}"), "int16[2, 2] [[1, 2],\n [3, 4]]");
}

#[test]
fn files_are_told_apart_by_their_first_bytes() {
    let cases =
        [("arrays.npz", Sniffed::Zip), ("columns.npy", Sniffed::Npy), ("encodings.onnx", Sniffed::Other)];
    for (name, want) in cases {
        assert_eq!(sniff(&data(name)), want, "{name}");
    }
    assert_eq!(sniff(b"\xef\xbb\xbf\n <?xml"), Sniffed::Xml);
    let foreign: [(&[u8], &str); 7] = [
        (b"version https://git-lfs.github.com/spec/v1\noid", "Git LFS"),
        (b"<!DOCTYPE html><html>", "HTML"),
        (b"\n<HTML>", "HTML"),
        (b"\x18\0\0\0ORTM\0\0", "ORT"),
        (b"\x1c\0\0\0TFL3\0\0", "TensorFlow Lite"),
        (b"\x40\0\0\0\0\0\0\0{\"__metadata__\":{}}", "safetensors"),
        (b"\x80\x02}q", "pickle"),
    ];
    for (bytes, want) in foreign {
        assert!(matches!(sniff(bytes), Sniffed::Foreign(words) if words.contains(want)), "{want}");
    }
    // An ONNX model whose producer has such a name.
    assert_eq!(sniff(b"\x08\x08\x12\x04ORTM"), Sniffed::Other);
}
