//! `gradus compare MODEL`.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;

use std::collections::BTreeSet;

use gradus::graph::DeclaredDim;
use snapbox::str;

use common::{folder, gradus, misused, prints, save_chain};

#[test]
fn differences_are_grouped_by_rule() {
    let path = folder("portability").join("m.onnx");
    let nodes: Vec<_> = ["a", "b", "c", "d", "e", "f"].windows(2).map(|it| ("Relu", it[0], it[1])).collect();
    save_chain(&path, "a", vec![DeclaredDim::Symbol("n".into())], &nodes);
    let path = path.to_str().unwrap();
    prints(
        &["compare", path],
        str![[r#"
relu-of-nan: onnxruntime returns NaN; openvino returns 0; onnx returns NaN
  an element is NaN: node "b" (Relu), node "c" (Relu), node "d" (Relu), node "e" (Relu) and 1 more (--all)
nodes with differences: 5

"#]],
    );
    prints(
        &["compare", path, "--all"],
        str![[r#"
relu-of-nan: onnxruntime returns NaN; openvino returns 0; onnx returns NaN
  an element is NaN: node "b" (Relu), node "c" (Relu), node "d" (Relu), node "e" (Relu), node "f" (Relu)
nodes with differences: 5

"#]],
    );
}

#[test]
fn a_difference_has_its_condition_and_results_in_json() {
    let path = folder("portability-json").join("m.onnx");
    save_chain(&path, "x", vec![DeclaredDim::Symbol("n".into())], &[("Relu", "x", "y")]);
    prints(
        &["compare", path.to_str().unwrap(), "--json"],
        str![[r#"
{"model":"[..]m.onnx","programs":{"onnxruntime":"ONNX Runtime 1.32.0 (CPU)","openvino":"OpenVINO 2026.4.1 (CPU plugin)","onnx":"the reference of onnx 1.23.2"},"differences":[{"node":"node /"y/"","operator":"Relu","rule":"relu-of-nan","of":"data","condition":"an element is NaN","results":{"onnxruntime":"returns NaN","openvino":"returns 0","onnx":"returns NaN"}}],"sequences":[],"assumptions":[],"warnings":[],"problems":[]}

"#]],
    );
}

#[test]
fn models_and_calls_are_told_apart() {
    prints(
        &["compare", "examples/heads.onnx"],
        str![[r#"
no known difference between onnxruntime, openvino, onnx

"#]],
    );
    prints(
        &["compare", "examples/range.xml"],
        str![[r#"
cast-by-int32: onnxruntime converts in 64 bits; openvino converts to int32 first; onnx converts in 64 bits
  an element does not fit int32: node "positions/Cast" (Cast), node "positions/Cast_1" (Cast), node "positions/Cast_2" (Cast)
64-bit-operands-in-32-bits: onnxruntime reads 64 bits; openvino reads 32 bits; onnx reads 64 bits
  an element does not fit int32: node "positions/Range" (Range)
range-of-step-zero: onnxruntime fails; openvino kills the process; onnx fails
  Cast_2 == 0: node "positions/Range" (Range)
range-of-wrong-sign: onnxruntime returns no elements; openvino returns as many elements as for the opposite step; onnx returns no elements
  the limit is on the other side of the start than the step's sign says: node "positions/Range" (Range)
nodes with differences: 4

"#]],
    );
    prints(
        &["compare", "examples/range_const.xml"],
        str![[r#"
no known difference between onnxruntime, openvino, onnx
sequences that programs do not return exactly: 1
  node "positions" (Range): range 2 23 3 --in-dtype int32 --dtype int32
    octave counts with stop

"#]],
    );
    misused(
        &["compare", "examples/function.onnx", "--plot"],
        str![[r#"
error: cannot draw a plot: what is compared is a model, expected a call of a sequence

"#]],
    );
}

/// The call that is printed for a sequence of a model gives the results that the model has.
#[test]
fn calls_of_sequences_give_the_results_of_the_model() {
    let json = |arguments: &[&str]| -> serde_json::Value {
        let output = gradus(arguments).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{arguments:?}: {output:?}"))
    };
    let mut functions = BTreeSet::new();
    for model in ["sequences.pir/model.json", "sequences.old/model.pdmodel"] {
        let found = json(&["compare", &format!("conformance/recorded/paddle/{model}"), "--json"]);
        let sequences = found["sequences"].as_array().unwrap();
        for sequence in sequences {
            let call = sequence["call"].as_str().unwrap();
            let words: Vec<_> = ["compare"].into_iter().chain(call.split(' ')).chain(["--json"]).collect();
            assert_eq!(sequence["results"], json(&words)["results"], "{call}");
            functions.extend(call.split(' ').next().map(str::to_owned));
        }
    }
    assert_eq!(functions, ["linspace", "logspace", "range"].map(str::to_owned).into());
}

#[test]
fn rules_are_listed() {
    prints(
        &["compare", "--rules"],
        str![[r#"
64-bit-integers-in-32-bits: onnxruntime computes in 64 bits; openvino computes in 32 bits; onnx computes in 64 bits
  a result does not fit int32: Abs, Add, BitwiseAnd, BitwiseNot, CumSum, Mul, Neg, Sub
...
unique-of-nan: onnxruntime takes elements next to NaN as equal to it; openvino takes every NaN as another element; onnx takes all NaN as one element
  an element is NaN: Unique
unpool-into-a-given-shape: onnxruntime counts indices in the given shape; openvino fails; onnx counts indices in the shape of the attributes
  output_shape is given: MaxUnpool
division-rounded-down: onnxruntime rounds down; openvino rounds toward zero; onnx rounds down
  a quotient of integers is below zero, and no integer: Divide
fake-quantization-to-equal-bounds: onnxruntime returns the bound; openvino returns other numbers; onnx returns the bound
  both bounds of the output are equal: FakeQuantize
local-response-with-fractional-bias: onnxruntime adds the bias; openvino drops the fraction of the bias; onnx adds the bias
  the bias is no integer, and axis 1 is summed over: LRN
prior-box-of-ignored-sizes: onnxruntime ignores max_size; openvino adds boxes of max_size, and drops as many at the end; onnx ignores max_size
  scale_all_sizes is false, and max_size is given: PriorBox

"#]],
    );
    let output = gradus(&["compare", "--rules", "--json"]).output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rules = gradus::portability::RULES.len() + gradus::portability::OPENVINO_RULES.len();
    assert_eq!(found["rules"].as_array().unwrap().len(), rules);
    misused(
        &["compare", "--rules", "examples/heads.onnx"],
        str![[r#"
error: the argument '--rules' cannot be used with '[MODEL]...'

Usage: gradus compare --rules [MODEL]...

For more information, try '--help'.

"#]],
    );
}
