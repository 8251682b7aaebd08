//! `gradus convert` as it is typed, with what it prints and its exit status.
//!
//! `SNAPSHOTS=overwrite cargo test -p gradus-cli` writes what is printed into this file.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;
mod scratch;

use std::path::Path;

use common::{fails, gradus, misused, prints};
use gradus::graph::{self, Builder, DeclaredDim, Origin, Type};
use gradus::{DType, Shape, Tensor};
use scratch::Scratch;
use snapbox::str;

/// Returns the output of a command, without the folder of scratch files.
fn printed(scratch: &Scratch, arguments: &[&str], code: i32) -> String {
    let output = gradus(arguments).assert().code(code).get_output().clone();
    scratch.without([output.stdout, output.stderr].concat())
}

#[test]
fn a_model_is_converted_there_and_back_and_runs_in_both_forms() {
    let scratch = Scratch::new("convert-both");
    let (xml, onnx) = (scratch.file("p.xml"), scratch.file("p.onnx"));
    snapbox::assert_data_eq!(
        printed(&scratch, &["convert", "examples/positions.onnx", &xml], 0),
        str![[r#"
examples/positions.onnx (onnx) -> OUT/p.xml (openvino)
nodes 6: 6 exact, 0 not
not kept: the name of axis 0 of input "tokens": batch
not kept: the name of axis 1 of input "tokens": seq
verified: 177 elements of outputs are the same bits in 9 runs on random inputs, sizes 1; unequal; equal; batch = 0; seq = 0; batch = 1; seq = 1; 1 to 39

"#]]
    );
    prints(
        &["run", &xml, "--input", "tokens=[[101, 2023, 2003, 102]]"],
        str![[r#"
position_ids: int64[4] [0, 1, 2, 3]
phase: float32[4] [0.0, 0.25, 0.5, 0.75]
token_count: int64[] 4

"#]],
    );
    snapbox::assert_data_eq!(
        printed(&scratch, &["convert", &xml, &onnx, "--opset", "17", "--json"], 0),
        str![[r#"
{"model":"OUT/p.xml","output":"OUT/p.onnx","from":"openvino","to":"onnx","nodes":9,"notes":[],"lost":[],"verified":{"runs":9,"sizes":["1","unequal","equal","tokens_0 = 0","tokens_1 = 0","tokens_0 = 1","tokens_1 = 1","1 to 39"],"elements":177,"inexact":0},"written":true}

"#]]
    );
    prints(
        &["run", &onnx, "--input", "tokens=[[101, 2023, 2003, 102]]"],
        str![[r#"
position_ids: int64[4] [0, 1, 2, 3]
phase: float32[4] [0.0, 0.25, 0.5, 0.75]
token_count: int64[] 4

"#]],
    );
}

#[test]
fn a_program_of_paddle_becomes_either() {
    let scratch = Scratch::new("convert-paddle");
    let program = "conformance/recorded/paddle/shapes.pir/model.json";
    for name in ["p.onnx", "p.xml"] {
        let printed = printed(&scratch, &["convert", program, &scratch.file(name)], 0);
        assert!(
            printed.starts_with("conformance/recorded/paddle/shapes.pir/model.json (paddle) -> OUT/p."),
            "{printed}"
        );
        assert!(Path::new(&scratch.file(name)).exists());
    }
}

#[test]
fn strict_refuses_what_is_not_exact_and_writes_nothing() {
    let scratch = Scratch::new("convert-strict");
    let xml = scratch.file("r.xml");
    snapbox::assert_data_eq!(
        printed(&scratch, &["convert", "examples/range.onnx", &xml, "--strict"], 1),
        str![[r#"
examples/range.onnx (onnx) to openvino: not written
nodes 1: 0 exact, 1 not
  node "pos" (onnx Range-11): rounding: ONNX computes float elements as a running sum, of short floats in a wider type; OpenVINO lets the runtime choose the type
error: examples/range.onnx: 1 note says that a node is not exact, and --strict is given: nothing is written

"#]]
    );
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
    printed(&scratch, &["convert", "examples/heads.onnx", &scratch.file("h.xml"), "--strict"], 0);
    assert!(Path::new(&scratch.file("h.xml")).exists() && Path::new(&scratch.file("h.bin")).exists());
}

/// A bias that OpenVINO adds by a node of its own rounds float16 once more.
#[test]
fn conversions_of_short_floats_are_checked_within_their_rounding() {
    let scratch = Scratch::new("convert-float16");
    let (onnx, xml) = (scratch.file("c.onnx"), scratch.file("c.xml"));
    let mut graph = Builder::new("convolution");
    let id = graph.define("x", Origin::Input).unwrap();
    let sizes = [1, 3, 9, 9].map(DeclaredDim::Known).to_vec();
    graph.info(id).declared = Some(Type::Tensor(Some(DType::F16), Some(sizes)));
    for (name, dims) in [("weights", &[4, 3, 3, 3][..]), ("bias", &[4])] {
        let shape = Shape::new(dims).unwrap();
        let numbers = (0..shape.len()).map(|i| (u16::try_from(i * 37 % 64).unwrap(), 0.03));
        let numbers = numbers.map(|(i, step)| f64::from(i) * step - 0.9).collect();
        let numbers = Tensor::from_vec::<f64>(shape, numbers).unwrap();
        let numbers = gradus::convert::cast(&numbers, DType::F16, gradus::convert::Rules::IEEE).unwrap();
        graph.constant(name, numbers.into()).unwrap();
    }
    graph.apply("conv", "Conv", 17, &["x", "weights", "bias"], &["y"], Vec::new()).unwrap();
    graph.output("y");
    let mut model = graph::Model::new(graph::Standard::Onnx);
    model.opsets = vec![("".into(), 17)];
    model.graph = graph.finish().unwrap();
    gradus::Model::from_source(model).save(&onnx).unwrap();
    let told = printed(&scratch, &["convert", &onnx, &xml, "--check"], 0);
    assert!(told.contains("of the largest magnitude"), "{told}");
}

#[test]
fn what_is_not_written_is_refused() {
    misused(
        &["convert", "examples/range.onnx", "out.json"],
        str![[r#"
error: out.json: cannot write Paddle programs, expected .onnx, or .xml for OpenVINO's IR

"#]],
    );
    misused(
        &["convert", "examples/range.onnx", "out"],
        str![[r#"
error: out: cannot tell the format by the extension, expected .onnx, or .xml for OpenVINO's IR

"#]],
    );
    misused(
        &["convert", "examples/range.onnx", "out.xml", "--opset", "17"],
        str![[r#"
error: cannot use --opset: the output is not an ONNX model

"#]],
    );
    fails(
        &["convert", "examples/range.onnx", "out.onnx"],
        str![[r#"
error: examples/range.onnx: cannot convert: target is onnx, expected openvino, or an operator set of onnx

"#]],
    );
}

#[test]
fn all_nodes_that_keep_a_model_from_being_converted_are_listed() {
    let scratch = Scratch::new("convert-obstacles");
    let model = scratch.file("strings.onnx");
    let mut graph = Builder::new("strings");
    let id = graph.define("x", Origin::Input).unwrap();
    graph.info(id).declared = Some(Type::Tensor(Some(DType::String), Some(vec![DeclaredDim::Known(4)])));
    graph.apply("a", "StringNormalizer", 20, &["x"], &["a"], Vec::new()).unwrap();
    let pattern = vec![("pattern", graph::Content::Bytes("a+".into()))];
    graph.apply("b", "RegexFullMatch", 20, &["a"], &["b"], pattern).unwrap();
    graph.apply("c", "Not", 20, &["b"], &["c"], Vec::new()).unwrap();
    graph.output("c");
    let mut source = graph::Model::new(graph::Standard::Onnx);
    source.opsets = vec![("".into(), 20)];
    source.graph = graph.finish().unwrap();
    gradus::Model::from_source(source).save(&model).unwrap();
    snapbox::assert_data_eq!(
        printed(&scratch, &["convert", &model, &scratch.file("s.xml")], 1),
        str![[r#"
error: OUT/strings.onnx: cannot convert 2 of 3 nodes to openvino: 1 onnx StringNormalizer-10, 1 onnx RegexFullMatch-20
     1  byte 15: node "a" (onnx StringNormalizer-10): cannot convert operator StringNormalizer from onnx to openvino: openvino has no operator that normalizes strings
     1  byte 44: node "b" (onnx RegexFullMatch-20): cannot convert operator RegexFullMatch from onnx to openvino: openvino has no operator that matches strings

"#]]
    );
    snapbox::assert_data_eq!(
        printed(&scratch, &["convert", &model, &scratch.file("s.xml"), "--json"], 1),
        str![[r#"
{"model":"OUT/strings.onnx","error":{"kind":"unsupported","message":"cannot convert 2 of 3 nodes to openvino: 1 onnx StringNormalizer-10, 1 onnx RegexFullMatch-20","where":{"file":"OUT/strings.onnx"},"obstacles":[{"operator":"onnx StringNormalizer-10","message":"cannot convert operator StringNormalizer from onnx to openvino: openvino has no operator that normalizes strings","where":{"byte":15,"nodes":["node /"a/" (onnx StringNormalizer-10)"]}},{"operator":"onnx RegexFullMatch-20","message":"cannot convert operator RegexFullMatch from onnx to openvino: openvino has no operator that matches strings","where":{"byte":44,"nodes":["node /"b/" (onnx RegexFullMatch-20)"]}}]}}
{"error":{"kind":"unsupported","message":"cannot convert 2 of 3 nodes to openvino: 1 onnx StringNormalizer-10, 1 onnx RegexFullMatch-20","where":{"file":"OUT/strings.onnx"},"obstacles":[{"operator":"onnx StringNormalizer-10","message":"cannot convert operator StringNormalizer from onnx to openvino: openvino has no operator that normalizes strings","where":{"byte":15,"nodes":["node /"a/" (onnx StringNormalizer-10)"]}},{"operator":"onnx RegexFullMatch-20","message":"cannot convert operator RegexFullMatch from onnx to openvino: openvino has no operator that matches strings","where":{"byte":44,"nodes":["node /"b/" (onnx RegexFullMatch-20)"]}}]}}

"#]]
    );
}

#[test]
fn nothing_is_reported_as_written_before_it_is() {
    let scratch = Scratch::new("convert-late");
    // Without a .xml next to it, a .bin is somebody else's.
    std::fs::write(scratch.file("p.bin"), "mine").unwrap();
    let printed = printed(&scratch, &["convert", "examples/positions.onnx", &scratch.file("p.xml")], 1);
    assert!(printed.starts_with("error: ") && !printed.contains("->"), "{printed}");
}

#[test]
fn notes_that_say_the_same_are_one_line_unless_all_are_asked_for() {
    let scratch = Scratch::new("convert-notes");
    let model = scratch.file("functions.onnx");
    let mut graph = Builder::new("functions");
    for name in ["x", "a long name, which nobody reads"] {
        let id = graph.define(name, Origin::Input).unwrap();
        let sizes = vec![DeclaredDim::Symbol("n".into())];
        graph.info(id).declared = Some(Type::Tensor(Some(DType::F32), Some(sizes)));
    }
    graph.apply("a", "Tanh", 13, &["x"], &["a"], Vec::new()).unwrap();
    graph.apply("b", "Exp", 13, &["a"], &["b"], Vec::new()).unwrap();
    graph.apply("c", "Tanh", 13, &["b"], &["c"], Vec::new()).unwrap();
    graph.output("c");
    let mut source = graph::Model::new(graph::Standard::Onnx);
    source.opsets = vec![("".into(), 13)];
    source.graph = graph.finish().unwrap();
    gradus::Model::from_source(source).save(&model).unwrap();
    let grouped = printed(&scratch, &["convert", &model, &scratch.file("f.xml")], 0);
    let lines: Vec<_> = grouped.lines().collect();
    assert_eq!(lines.len(), 6, "{grouped}");
    assert_eq!(lines[1], "nodes 3: 0 exact, 3 not");
    assert!(lines[2].starts_with("  node \"a\" (onnx Tanh-13) and 1 more: rounding: "), "{grouped}");
    assert!(lines[3].starts_with("  node \"b\" (onnx Exp-13): rounding: "), "{grouped}");
    assert!(lines[4].ends_with("axis 0 of input \"x\": n and 1 more"), "{grouped}");
    let all = printed(&scratch, &["convert", &model, &scratch.file("f.xml"), "--all"], 0);
    assert_eq!(all.lines().count(), 8, "{all}");
}
