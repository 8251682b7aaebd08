//! `gradus check`, and `--check` of `gradus convert`.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;

use common::{folder, gradus, misused, prints, save_chain};
use gradus::graph::DeclaredDim;
use snapbox::str;

#[test]
fn models_that_give_the_same_bits_are_the_same() {
    prints(
        &["check", "examples/positions.onnx", "examples/positions.onnx"],
        str![[r#"
proved: 3 of 3 outputs, for all inputs and sizes

"#]],
    );
    prints(
        &["check", "examples/positions.onnx", "examples/positions.onnx", "--no-prove"],
        str![[r#"
3 outputs, 111 elements, 5 runs: the same bits

"#]],
    );
    let folder = folder("check-convert");
    let out = folder.join("loop.xml");
    let out = out.to_str().unwrap();
    let converted = gradus(&["convert", "examples/loop.onnx", out, "--check"]).assert().code(0);
    converted.stdout_eq(str![[r#"
examples/loop.onnx (onnx) -> [..]/loop.xml (openvino)
nodes 5: 4 exact, 1 not
  node "fib" (onnx Loop-16): edge cases: the output shapes of a loop that runs zero times may differ
checked: 1 output, 4 elements, 5 runs: the same bits

"#]]);
    prints(
        &["check", "examples/loop.onnx", out],
        str![[r#"
1 output, 4 elements, 5 runs: the same bits

"#]],
    );
}

#[test]
fn the_first_value_that_differs_is_named() {
    let folder = folder("check-differs");
    let model = |name: &str, second: &str| {
        let path = folder.join(name);
        let size = vec![DeclaredDim::Symbol("n".into())];
        save_chain(&path, "x", size, &[("Abs", "x", "h"), (second, "h", "y"), ("Exp", "y", "z")]);
        path.to_str().unwrap().to_owned()
    };
    let (sqrt, tanh) = (model("sqrt.onnx", "Sqrt"), model("tanh.onnx", "Tanh"));
    let differs = gradus(&["check", &sqrt, &tanh, "--dim", "n=3", "--runs", "2"]).assert().code(1);
    differs.stdout_eq(str![[r#"
output  elements  differ  largest [..]
z       6         6       [..] ulp [..]

1 output, 6 elements, 2 runs

the models part at y: node "y" and node "y"

"#]]);
    let given = gradus(&["check", &sqrt, &tanh, "-i", "x=[0.25]", "--runs", "1"]).assert().code(1);
    given.stdout_eq(str![[r#"
output  elements  differ  largest [..]
z       1         1       [..] ulp [..]

1 output, 1 element, 1 run

the models part at y: node "y" and node "y"

"#]]);
    gradus(&["check", &sqrt, &tanh, "--dim", "n=3", "--max-ulp", "1000000000"]).assert().code(0);
    let json = gradus(&["check", &sqrt, &tanh, "--dim", "n=3", "--json"]).assert().code(1);
    let json: serde_json::Value = serde_json::from_slice(&json.get_output().stdout).unwrap();
    assert_eq!((&json["same"], &json["parting"]["value"]), (&false.into(), &"y".into()));
    assert_eq!(json["outputs"][0]["elements"], 15);
}

#[test]
fn models_that_cannot_be_compared_end_with_status_2() {
    misused(
        &["check", "examples/positions.onnx", "examples/heads.onnx"],
        str![[r#"
error: examples/positions.onnx: cannot compare: number of outputs of the second model is 1, expected 3

"#]],
    );
}

#[test]
fn the_program_alone_has_no_runtimes() {
    misused(
        &["check", "examples/heads.onnx", "--with", "onnxruntime"],
        str![[r#"
error: cannot run onnxruntime from this program; `python -m gradus check … --with onnxruntime` can, with the Python packages gradus and onnxruntime

"#]],
    );
    misused(
        &["check", "examples/heads.onnx", "--with", "onxruntime"],
        str![[r#"
error: invalid value 'onxruntime' for '--with <PROGRAM,…>'
  [possible values: onnxruntime, openvino, paddle]

  tip: a similar value exists: 'onnxruntime'

For more information, try '--help'.

"#]],
    );
    misused(
        &["check", "examples/heads.onnx"],
        str![[r#"
error: the following required arguments were not provided:
  <AFTER>

Usage: gradus check <BEFORE> <AFTER>

For more information, try '--help'.

"#]],
    );
}
