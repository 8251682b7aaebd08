//! `gradus fold` and `gradus infer --output` as they are typed, with what they print and their exit
//! status.
//!
//! `SNAPSHOTS=overwrite cargo test -p gradus-cli` writes what is printed into this file.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;
mod scratch;
#[path = "../../gradus/tests/common/sketch.rs"]
mod sketch;

use std::path::Path;

use common::{fails, gradus, misused, prints};
use gradus::{Shape, Tensor};
use scratch::Scratch;
use sketch::Sketch;
use snapbox::str;

/// Standard output of a command that succeeds, without the folder of scratch files.
fn stdout(scratch: &Scratch, arguments: &[&str]) -> String {
    scratch.without(gradus(arguments).assert().code(0).stderr_eq("").get_output().stdout.clone())
}

#[test]
fn fold_says_what_went_and_why_what_stayed_stayed() {
    let scratch = Scratch::new("fold-text");
    let printed =
        stdout(&scratch, &["fold", "examples/heads.onnx", "-o", &scratch.file("heads.onnx"), "--verify"]);
    snapbox::assert_data_eq!(
        printed,
        str![[r#"
examples/heads.onnx -> OUT/heads.onnx
nodes 14 -> 2, bytes 785 -> 294
constants: 1 added (32 bytes), 5 no longer read; 0 conditions were known; 1 types declared

operator   before  after
Concat     1       0
Div        1       0
Gather     3       0
Shape      3       0
Unsqueeze  4       0

proved: 1 of 1 outputs, for all inputs and sizes
verified: 15 values are the same before and after, under 5 random bindings
verified: 12592 elements of outputs are the same bits in 9 runs on random inputs, sizes 1; unequal; equal; batch = 0; seq = 0; batch = 1; seq = 1; 1 to 39

"#]]
    );
    let printed =
        stdout(&scratch, &["fold", "examples/positions.onnx", "-o", &scratch.file("p.onnx"), "--json"]);
    snapbox::assert_data_eq!(
        printed,
        str![[r#"
{"model":"examples/positions.onnx","output":"OUT/p.onnx","bytes":{"before":458,"after":530},"nodes":{"before":{"Cast":2,"Div":1,"Range":1,"Shape":1,"Size":1},"after":{"Cast":2,"Div":1,"Range":1,"Shape":1,"Size":1}},"constants":{"count":0,"bytes":0,"dropped":0},"inlined":0,"declared":3,"weights":[],"kept":[{"node":"node /"length/"","operator":"Shape","reason":"[seq] is not known before the run, and is needed by node /"pos/" (Range), node /"seq_to_float/" (Cast)"},{"node":"node /"count/"","operator":"Size","reason":"[batch*seq] is not known before the run, and is needed by output /"token_count/""}],"assumptions":[],"problems":[],"verified":{"proof":{"up_to":"bits","outputs":[{"name":"position_ids","proved":true},{"name":"phase","proved":true},{"name":"token_count","proved":true}]},"bindings":0,"values":0,"runs":0,"sizes":[],"elements":0}}

"#]]
    );
    prints(
        &["run", &scratch.file("p.onnx"), "--input", "tokens=[[101, 2023, 2003, 102]]"],
        str![[r#"
position_ids: int64[4] [0, 1, 2, 3]
phase: float32[4] [0.0, 0.25, 0.5, 0.75]
token_count: int64[] 4

"#]],
    );
}

#[test]
fn what_is_fixed_is_fixed_in_the_folded_model() {
    let scratch = Scratch::new("fold-fixed");
    let out = scratch.file("p.onnx");
    let printed = stdout(&scratch, &["fold", "examples/positions.onnx", "-o", &out, "--dim", "seq=3"]);
    snapbox::assert_data_eq!(
        printed,
        str![[r#"
examples/positions.onnx -> OUT/p.onnx
nodes 6 -> 3, bytes 458 -> 320
constants: 0 added (0 bytes), 2 no longer read; 0 conditions were known; 3 types declared

operator  before  after
Cast      2       0
Constant  0       2
Div       1       0
Range     1       0
Shape     1       0

stayed:
  node "count" (Size): [3*batch] is not known before the run, and is needed by output "token_count"

proved: 1 of 3 outputs, for all inputs and sizes
verified: 36 elements of outputs are the same bits in 6 runs on random inputs, sizes 1; unequal; equal; batch = 0; 1 to 39

"#]]
    );
    prints(
        &["run", &out, "--input", "tokens=[[7, 8, 9]]"],
        str![[r#"
position_ids: int64[3] [0, 1, 2]
phase: float32[3] [0.0, 0.33333334, 0.6666667]
token_count: int64[] 3

"#]],
    );
    let error =
        gradus(&["run", &out, "--input", "tokens=[[7, 8]]"]).assert().code(1).get_output().stderr.clone();
    let error = String::from_utf8(error).unwrap().replace(scratch.path().to_str().unwrap(), "OUT");
    snapbox::assert_data_eq!(
        error,
        str![[r#"
error: OUT/p.onnx: input "tokens" is int64[1, 2], expected int64[batch, 3]

"#]]
    );
}

#[test]
fn nodes_that_read_computed_weights_are_named() {
    let scratch = Scratch::new("fold-weights");
    let model = Sketch::of("x: float32[n, 3]")
        .constant("w", Tensor::from_vec(Shape::new(vec![2, 3]).unwrap(), vec![0.5f32; 6]).unwrap())
        .text("t = Transpose(w); y = MatMul(x, t); return y: float32[n, 2]")
        .model();
    model.save(scratch.file("m.onnx")).unwrap();
    let fold = |more: &[&str]| {
        let (from, to) = (scratch.file("m.onnx"), scratch.file("o.onnx"));
        stdout(&scratch, &[&["fold", &from, "-o", &to], more].concat())
    };
    let named = "read weights that were computed and are constants now";
    let printed = fold(&[]);
    assert!(printed.contains(named) && printed.contains("(MatMul)"), "{printed}");
    assert!(fold(&["--json"]).contains(r#""weights":["node"#));
    let printed = fold(&["--keep-weights"]);
    assert!(printed.contains("nodes 2 -> 2") && !printed.contains(named), "{printed}");
    let printed = fold(&["--level", "fuse"]);
    assert!(printed.contains("\n  y: 0 ulp, 0.0e0\n"), "{printed}");
}

#[test]
fn several_models_go_into_a_folder() {
    let scratch = Scratch::new("fold-several");
    let folder = scratch.file("");
    let printed =
        stdout(&scratch, &["fold", "examples/heads.onnx", "examples/loop.onnx", "-o", &folder, "--json"]);
    assert_eq!(printed.lines().count(), 3);
    assert_eq!(printed.lines().last(), Some(r#"{"models":2,"failed":0}"#));
    assert!(
        Path::new(&scratch.file("heads.onnx")).exists() && Path::new(&scratch.file("loop.onnx")).exists()
    );
    misused(
        &["fold", "examples/heads.onnx", "examples/loop.onnx", "-o", "nowhere"],
        str![[r#"
error: --output is nowhere, expected a folder (with a / at its end if it does not exist), as there are several models

"#]],
    );
}

#[test]
fn a_model_can_be_folded_in_place_and_is_not_lost_where_that_fails() {
    let scratch = Scratch::new("fold-place");
    let path = scratch.file("m.onnx");
    std::fs::copy("../../examples/heads.onnx", &path).unwrap();
    stdout(&scratch, &["fold", &path, "-o", &path]);
    let folded = std::fs::read(&path).unwrap();
    stdout(&scratch, &["fold", &path, "-o", &path]);
    assert_eq!(std::fs::read(&path).unwrap(), folded);
    gradus(&["fold", &path, "-o", &path, "--dim", "nobody=3"]).assert().code(2);
    assert_eq!(std::fs::read(&path).unwrap(), folded);
    let left: Vec<_> =
        std::fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["m.onnx"]);
}

#[test]
fn what_cannot_be_folded_says_why() {
    misused(
        &["fold", "examples/range.xml", "-o", "out.onnx"],
        str![[r#"
error: --output out.onnx: examples/range.xml is an OpenVINO model, and is written to a file that ends in .xml; `gradus convert` turns one format into another

"#]],
    );
    misused(
        &["infer", "examples/range.onnx", "-o", "out.xml"],
        str![[r#"
error: --output out.xml: examples/range.onnx is no OpenVINO model, and is written to a file that does not end in .xml; `gradus convert` turns one format into another

"#]],
    );
    fails(
        &["fold", "examples/nothing.onnx", "-o", "out.onnx"],
        str![[r#"
error: examples/nothing.onnx: there is no such file

"#]],
    );
    fails(
        &["fold", "examples/heads.onnx", "-o", "no/such/folder/out.onnx"],
        str![[r#"
error: no/such/folder/out.onnx: cannot write: No such file or directory (os error 2)

"#]],
    );
}

#[test]
fn infer_writes_what_it_found_into_the_model() {
    let scratch = Scratch::new("fold-infer");
    let out = scratch.file("heads.onnx");
    stdout(&scratch, &["infer", "examples/heads.onnx", "-o", &out]);
    let differs = gradus(&["diff", "examples/heads.onnx", &out]).assert().code(1).get_output().stdout.clone();
    let differs = String::from_utf8(differs).unwrap().replace(scratch.path().to_str().unwrap(), "OUT");
    snapbox::assert_data_eq!(
        differs,
        str![[r#"
types: 13 new
  + shape_0: int64[3]
  + batch: int64[]
  + shape_1: int64[3]
  + seq: int64[]
  + shape_2: int64[3]
  + width: int64[]
  + head_width: int64[]
  + batch_1: int64[1]
  + seq_1: int64[1]
  + heads_1: int64[1]
  + head_width_1: int64[1]
  + target: int64[4]
  + split: float32[batch, seq, 2, 4]

"#]]
    );
}

#[test]
fn a_model_of_openvino_is_folded_into_two_files() {
    let scratch = Scratch::new("fold-ir");
    let out = scratch.file("r.xml");
    let printed = stdout(&scratch, &["fold", "examples/range_const.xml", "-o", &out, "--verify"]);
    snapbox::assert_data_eq!(
        printed,
        str![[r#"
examples/range_const.xml -> OUT/r.xml
nodes 1 -> 0, bytes 1541 -> 647
constants: 1 added (28 bytes), 3 no longer read; 0 conditions were known; 0 types declared

operator  before  after
Range     1       0

verified: 5 values are the same before and after, under 5 random bindings
verified: 14 elements of outputs are the same bits in 2 runs on random inputs

"#]]
    );
    assert!(Path::new(&scratch.file("r.bin")).is_file());
    prints(
        &["run", &out],
        str![[r#"
positions: int32[7] [2, 5, 8, 11, 14, 17, 20]

"#]],
    );
    let differs =
        gradus(&["diff", "examples/range_const.xml", &out]).assert().code(1).get_output().stdout.clone();
    snapbox::assert_data_eq!(
        String::from_utf8(differs).unwrap(),
        str![[r#"
operators: Range 1 -> 0
outputs: 1 changed
  ~ positions: int32[?] -> int32[7]
nodes: 1 gone
  - node "positions": Range(start, stop, step) -> positions
constants: 3 gone, 1 new
  - start: int32[] 2
  - step: int32[] 3
  - stop: int32[] 23
  + positions: int32[7] [2, 5, 8, 11, 14, 17, 20]

"#]]
    );
    stdout(&scratch, &["infer", "examples/range_const.xml", "-o", &scratch.file("i.xml")]);
    let differs = gradus(&["diff", "examples/range_const.xml", &scratch.file("i.xml")])
        .assert()
        .get_output()
        .stdout
        .clone();
    snapbox::assert_data_eq!(
        String::from_utf8(differs).unwrap(),
        str![[r#"
outputs: 1 changed
  ~ positions: int32[?] -> int32[7]

"#]]
    );
}

#[test]
fn outputs_are_compared_before_anything_is_written() {
    let scratch = Scratch::new("fold-verify");
    let [from, to] = ["m.onnx", "o.onnx"].map(|name| scratch.file(name));
    // Few random flags are all true.
    let model = Sketch::of(
        "flags: bool[4]; all = [1, 4]; found = NonZero(flags); a = Reshape(found, all); y = Identity(a);
         return y: int64[1, 4]",
    )
    .model();
    model.save(&from).unwrap();
    let why = "m.onnx: node \"make a\" (onnx Reshape-19): cannot reshape";
    let proved = stdout(&scratch, &["fold", &from, "-o", &to]);
    assert!(proved.contains("proved: 1 of 1 outputs") && !proved.contains("compared"), "{proved}");
    let fused = stdout(&scratch, &["fold", &from, "-o", &to, "--level", "fuse"]);
    assert!(fused.contains("proved: 1 of 1 outputs") && fused.contains(why), "{fused}");
    std::fs::remove_file(&to).unwrap();
    let refused =
        gradus(&["fold", &from, "-o", &to, "--verify"]).assert().code(1).get_output().stderr.clone();
    let refused = String::from_utf8(refused).unwrap();
    assert!(refused.contains("outputs were not compared, and nothing is written: "), "{refused}");
    assert!(refused.contains("-i, --dim and --input-shape"), "{refused}");
    assert!(!Path::new(&to).exists());
    let given = stdout(&scratch, &["fold", &from, "-o", &to, "--verify", "-i", "flags=ones[4]"]);
    assert!(given.contains("are the same bits in 2 runs"), "{given}");
    let silent = stdout(&scratch, &["fold", &from, "-o", &to, "--no-verify"]);
    assert!(!silent.contains("verified") && !silent.contains("compared"), "{silent}");
}
