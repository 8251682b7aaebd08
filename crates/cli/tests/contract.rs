//! `gradus infer --emit` as it is typed.
//!
//! `SNAPSHOTS=overwrite cargo test -p gradus-cli` writes what is printed into this file.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;

use common::{folder, gradus, misused, prints};
use gradus::dim::Symbols;
use serde_json::Value;
use snapbox::str;

#[test]
fn contracts_are_written_to_files_and_printed() {
    let folder = folder("contract");
    let to = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    for form in ["rust", "c", "python", "json"] {
        let printed = gradus(&["infer", "examples/heads.onnx", "--emit", form]).output().unwrap();
        gradus(&["infer", "examples/heads.onnx", "--emit", form, "-o", &to(form)])
            .assert()
            .code(0)
            .stdout_eq("");
        assert!(!printed.stdout.is_empty());
        assert_eq!(printed.stdout, std::fs::read(to(form)).unwrap());
    }
    let models = ["infer", "examples/heads.onnx", "examples/range.xml", "--emit", "c", "-o", &to("all/")];
    gradus(&models).assert().code(0).stdout_eq("");
    assert!(folder.join("all/heads.onnx.h").is_file() && folder.join("all/range.xml.h").is_file());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn shapes_for_other_programs_meet_the_conditions() {
    let heads = ["infer", "examples/heads.onnx", "--range", "batch=1..8", "--range", "seq=2..100", "--emit"];
    prints(
        &[&heads[..], &["trtexec", "--assume", "seq % 32 == 0"]].concat(),
        str![[r#"
--minShapes=x:1x32x8 --optShapes=x:4x64x8 --maxShapes=x:8x96x8

"#]],
    );
    // A cache of past tokens is empty at first.
    prints(
        &[
            "infer",
            "examples/heads.onnx",
            "--emit",
            "trtexec",
            "--range",
            "batch=1..8",
            "--range",
            "seq=0..9",
        ],
        str![[r#"
--minShapes=x:1x0x8 --optShapes=x:4x4x8 --maxShapes=x:8x9x8

"#]],
    );
    prints(
        &[&heads[..], &["ort"]].concat(),
        str![[r#"
trt_profile_min_shapes=x:1x2x8
trt_profile_opt_shapes=x:4x51x8
trt_profile_max_shapes=x:8x100x8

"#]],
    );
    prints(
        &[&heads[..], &["triton"]].concat(),
        str![[r#"
name: "heads"
platform: "onnxruntime_onnx"
max_batch_size: 8
input [
  {
    name: "x"
    data_type: TYPE_FP32
    dims: [ -1, 8 ]
  }
]
output [
  {
    name: "y"
    data_type: TYPE_FP32
    dims: [ 2, -1, 4 ]
  }
]

"#]],
    );
    misused(
        &["infer", "examples/heads.onnx", "--emit", "trtexec"],
        str![[r#"
error: examples/heads.onnx: no profile: largest size of "batch", "seq" is unknown, expected --range 'batch=FIRST..LAST' --range 'seq=FIRST..LAST'

"#]],
    );
}

#[test]
fn what_cannot_be_written_is_refused() {
    misused(
        &["infer", "examples/heads.onnx", "examples/loop.onnx", "--emit", "c"],
        str![[r#"
error: --emit prints one contract, but there are several models: --output DIR writes a file each

"#]],
    );
    gradus(&["infer", "examples/positions.onnx", "--emit", "c", "--dim", "sequence=1"]).assert().code(2);
    gradus(&["infer", "examples/positions.onnx", "--emit", "c", "--json"]).assert().code(2);
}

/// The value of a number or an expression of JSON.
fn value(json: &Value, of: &[(&str, i64)]) -> i64 {
    let Some(text) = json.as_str() else { return json.as_i64().unwrap() };
    let mut symbols = Symbols::default();
    let dim = symbols.parse(text).unwrap();
    let named = |name: &str| of.iter().find(|(symbol, _)| *symbol == name).map(|(_, value)| *value);
    symbols.evaluate(dim, &named).unwrap()
}

#[test]
fn expressions_of_json_have_the_values_of_the_other_forms() {
    let printed = gradus(&["infer", "examples/positions.onnx", "--emit", "json"]).output().unwrap();
    let contract: Value = serde_json::from_slice(&printed.stdout).unwrap();
    let of = [("batch", 3), ("seq", 7)];
    let holds = |condition: &Value| {
        let (left, right) = (value(&condition["left"], &of), value(&condition["right"], &of));
        match condition["relation"].as_str().unwrap() {
            "==" => left == right,
            "<=" => left <= right,
            ">=" => left >= right,
            other => panic!("{other}"),
        }
    };
    assert!(contract["conditions"].as_array().unwrap().iter().all(holds));
    assert_eq!(value(&contract["outputs"][0]["shape"][0], &of), 7);
    assert_eq!(value(&contract["input_bytes"], &of), 8 * 3 * 7);
    assert_eq!(value(&contract["peak_bytes"], &of), 16 * 7 + 12);
}
