//! The commands as they are typed, with what they print and their exit status.
//!
//! `SNAPSHOTS=overwrite cargo test -p gradus-cli` writes what is printed into this file.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;

use std::path::Path;

use common::{fails, folder, gradus, misused, prints};
use snapbox::cmd::{Command, cargo_bin};
use snapbox::str;

#[test]
fn run_prints_outputs() {
    let range =
        ["run", "examples/range.onnx", "--input", "start=1", "--input", "limit=2.5", "--input", "delta=0.5"];
    prints(
        &range,
        str![[r#"
positions: float32[3] [1.0, 1.5, 2.0]

"#]],
    );
    prints(
        &[&range[..], &["--json"]].concat(),
        str![[r#"
{"outputs":{"positions":{"type":"float32","shape":[3],"data":[1.0,1.5,2.0]}}}

"#]],
    );
    prints(
        &[&range[..], &["--expand-functions"]].concat(),
        str![[r#"
positions: float32[3] [1.0, 1.5, 2.0]

"#]],
    );
    prints(
        &[&range[..], &["--profile", "onnx-body"]].concat(),
        str![[r#"
positions: float32[3] [1.0, 1.5, 2.0]

"#]],
    );
    prints(
        &["run", "examples/positions.onnx", "-i", "tokens=[[7, 8, 9], [1, 2, 3]]"],
        str![[r#"
position_ids: int64[3] [0, 1, 2]
phase: float32[3] [0.0, 0.33333334, 0.6666667]
token_count: int64[] 6

"#]],
    );
    prints(
        &["run", "examples/positions.onnx", "-i", "tokens=zeros[2, 1000]", "-n", "position_ids"],
        str![[r#"
position_ids: int64[1000] [0, 1, 2, ..., 997, 998, 999]

"#]],
    );
    prints(
        &["run", "examples/positions.onnx", "-i", "tokens=zeros[2, 4]", "-n", "seq", "-n", "phase"],
        str![[r#"
seq: int64[1] [4]
phase: float32[4] [0.0, 0.25, 0.5, 0.75]

"#]],
    );
    prints(
        &["run", "examples/loop.onnx", "-i", "count=10"],
        str![[r#"
fibonacci: int64[10] [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]

"#]],
    );
    prints(
        &["run", "examples/loop.onnx", "-i", "count=0", "--json"],
        str![[r#"
{"outputs":{"fibonacci":{"type":"int64","shape":[0],"data":[]}}}

"#]],
    );
    prints(
        &["run", "examples/function.onnx", "-i", "x=[1, 2, 3]", "--json"],
        str![[r#"
{"outputs":{"half":{"type":"float32","shape":[3],"data":[0.5,1.0,1.5]},"tenth":{"type":"float32","shape":[3],"data":[0.1,0.2,0.3]}}}

"#]],
    );
    prints(
        &["run", "examples/range.xml", "-i", "start=1.2", "-i", "stop=11.3", "-i", "step=1.6"],
        str![[r#"
positions: int32[10] [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]

"#]],
    );
    prints(
        &["run", "examples/range_const.xml", "--json"],
        str![[r#"
{"outputs":{"positions":{"type":"int32","shape":[7],"data":[2,5,8,11,14,17,20]}}}

"#]],
    );
}

#[test]
fn run_reads_files_of_arrays() {
    let data = |name: &str| format!("x=crates/formats/tests/data/{name}");
    misused(
        &["run", "examples/function.onnx", "-i", "crates/formats/tests/data/arrays.npz"],
        str![[r#"
error: unknown input "zeros"; known: "x"

"#]],
    );
    fails(
        &["run", "examples/function.onnx", "-i", &data("arrays.npz")],
        str![[r#"
error: examples/function.onnx: input "x" is float32[2, 3], expected float32[n]

"#]],
    );
    fails(
        &["run", "examples/function.onnx", "-i", &data("none.npz")],
        str![[r#"
error: crates/formats/tests/data/none.npz: there is no such file

"#]],
    );
    fails(
        &["run", "examples/function.onnx", "-i", &data("tensor.pb")],
        str![[r#"
error: examples/function.onnx: input "x" is int16[2, 2], expected float32[n]

"#]],
    );
    fails(
        &["run", "examples/function.onnx", "-i", &data("unicode.npy")],
        str![[r#"
error: examples/function.onnx: input "x" is string[2], expected float32[n]

"#]],
    );
}

#[test]
fn run_saves_outputs_that_it_can_read_again() {
    let folder = folder("saves");
    let out = folder.join("deep/er");
    let out = out.to_str().unwrap();
    gradus(&["run", "examples/positions.onnx", "-i", "tokens=zeros[1, 5]", "--out", out]).assert().success();
    let saved = |name: &str| std::fs::read(Path::new(out).join(name)).unwrap();
    assert!(saved("position_ids.npy").starts_with(b"\x93NUMPY"));
    assert_eq!(std::fs::read_dir(out).unwrap().count(), 3, "nothing else is left");
    let phase = format!("x={out}/phase.npy");
    prints(
        &["run", "examples/function.onnx", "-i", &phase],
        str![[r#"
half: float32[5] [0.0, 0.1, 0.2, 0.3, 0.4]
tenth: float32[5] [0.0, 0.02, 0.04, 0.060000002, 0.08]

"#]],
    );
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn show_tells_what_a_model_holds() {
    prints(
        &["show", "examples/positions.onnx"],
        str![[r#"
examples/positions.onnx: onnx IR 8; opset 17; gradus examples

inputs  type
tokens  int64[batch, seq]

outputs       type
position_ids  int64[seq]
phase         float32[seq]
token_count   int64[]

6 nodes: Cast 2, Div 1, Range 1, Shape 1, Size 1
2 constants, 16 bytes

constant  type     bytes
one       int64[]  8
zero      int64[]  8

"#]],
    );
    prints(
        &["show", "examples/loop.onnx"],
        str![[r#"
examples/loop.onnx: onnx IR 8; opset 17; gradus examples

inputs  type
count   int64[]

outputs    type
fibonacci  int64[count]

5 nodes: Identity 3, Add 1, Loop 1
2 constants, 16 bytes

constant  type     bytes
one       int64[]  8
zero      int64[]  8

"#]],
    );
    prints(
        &["show", "examples/function.onnx", "--json"],
        str![[r#"
{"file":"examples/function.onnx","standard":"onnx","ir_version":8,"producer":"gradus examples","opsets":{"":17,"example":1},"inputs":[{"name":"x","type":"float32","shape":["n"],"optional":false}],"outputs":[{"name":"half","type":"float32","shape":["n"],"optional":false},{"name":"tenth","type":"float32","shape":["n"],"optional":false}],"nodes":2,"operators":{"example.Scaled":2},"functions":["example.Scaled"],"constants":[],"metadata":[]}

"#]],
    );
    prints(
        &["show", "examples/range_const.xml"],
        str![[r#"
examples/range_const.xml: openvino IR 11

no inputs

outputs    type
positions  int32[?]

1 node: Range 1
3 constants, 12 bytes

constant  type     bytes
start     int32[]  4
step      int32[]  4
stop      int32[]  4

"#]],
    );
    prints(
        &["show", "crates/formats/tests/data/attributes.onnx"],
        str![[r#"
crates/formats/tests/data/attributes.onnx: onnx IR 8; opset 17, test 1

inputs  type
outer   float32[batch, 2]

outputs  type
out      float32[...]

3 nodes: Identity 2, test.Everything 1
no constants, 0 bytes

"#]],
    );
}

#[test]
fn ops_lists_operators() {
    prints(
        &["ops", "range"],
        str![[r#"
operator  standard             version  inputs               attributes   types
Range     onnx                 11       start, limit, delta               int16, int32, int64, float32, float64
Range     onnx                 27       start, limit, delta  stash_type   and float16, bfloat16
Range     onnx, com.microsoft  1        start, limit, delta               int16, int32, int64, float32, float64
Range     openvino             1        start, stop, step                 int4, int8, int16, int32, int64, uint1, uint2, uint3, uint4, uint6, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64, float8_e4m3fn, float8_e5m2, float8_e8m0, float4_e2m1, nf4
Range     openvino             4        start, stop, step    output_type  the same

"#]],
    );
    prints(
        &["ops", "ShapeOf", "--json"],
        str![[r#"
{"operators":[{"operator":"ShapeOf","standard":"openvino","domain":"","version":1,"inputs":[{"name":"data","types":["bool","string","int2","int4","int8","int16","int32","int64","uint1","uint2","uint3","uint4","uint6","uint8","uint16","uint32","uint64","float16","bfloat16","float32","float64","float8_e4m3fn","float8_e4m3fnuz","float8_e5m2","float8_e5m2fnuz","float8_e8m0","float6_e2m3","float6_e3m2","float4_e2m1","nf4","complex64","complex128"]}],"outputs":[{"name":"shape","types":["int64"]}],"attributes":[]},{"operator":"ShapeOf","standard":"openvino","domain":"","version":3,"inputs":[{"name":"data","types":["bool","string","int2","int4","int8","int16","int32","int64","uint1","uint2","uint3","uint4","uint6","uint8","uint16","uint32","uint64","float16","bfloat16","float32","float64","float8_e4m3fn","float8_e4m3fnuz","float8_e5m2","float8_e5m2fnuz","float8_e8m0","float6_e2m3","float6_e3m2","float4_e2m1","nf4","complex64","complex128"]}],"outputs":[{"name":"shape","types":["int32","int64"]}],"attributes":["output_type"]}]}

"#]],
    );
    misused(
        &["ops", "ImageDecoder"],
        str![[r#"
error: cannot run operator "ImageDecoder" of onnx yet; `gradus ops` lists all that run

"#]],
    );
    misused(
        &["ops", "Rnage"],
        str![[r#"
error: unknown operator "Rnage"; did you mean "Range" or "arange"?

"#]],
    );
}

#[test]
fn mistakes_in_values_are_shown() {
    let run = |input: &str, json: bool| {
        let arguments = ["run", "examples/function.onnx", "-i", input, "--json"];
        gradus(&arguments[..if json { 5 } else { 4 }])
            .assert()
            .code(2)
            .stdout_eq("")
            .get_output()
            .stderr
            .clone()
    };
    let shown = |input: &str| String::from_utf8(run(input, false)).unwrap();
    snapbox::assert_data_eq!(
        shown("x=[1, 2,, 3]"),
        str![[r#"
error: a number is missing here
  |
1 | --input x=[1, 2,, 3]
  |                 ^

"#]]
    );
    snapbox::assert_data_eq!(
        shown("x=[[1, 2], [3]]"),
        str![[r#"
error: this list has 1 element, expected 2 as in the one before
  |
1 | --input x=[[1, 2], [3]]
  |                    ^^^

"#]]
    );
    snapbox::assert_data_eq!(
        shown("y=1"),
        str![[r#"
error: unknown input "y"; known: "x"

"#]]
    );
    snapbox::assert_data_eq!(
        shown("x"),
        str![[r#"
error: --input "x" is neither NAME=VALUE, NAME=FILE nor an .npz file

"#]]
    );
    snapbox::assert_data_eq!(
        String::from_utf8(run("x=[1, a]", true)).unwrap(),
        str![[r#"
{"error":{"kind":"usage","message":"--input x=[1, a]: /"a/" is not a number","where":null}}

"#]]
    );
    misused(
        &["run", "examples/function.onnx", "-i", "x=[1]", "-i", "x=[2]"],
        str![[r#"
error: input "x" is given twice

"#]],
    );
    misused(
        &["run", "examples/function.onnx"],
        str![[r#"
error: examples/function.onnx: input "x" (float32[n]) is missing; give -i 'x=random[1]', or --random-inputs

"#]],
    );
    misused(
        &["run", "examples/function.onnx", "-i", "x=[1]", "-n", "z"],
        str![[r#"
error: examples/function.onnx: unknown value "z"; known: "half", "tenth", "x"

"#]],
    );
}

#[test]
fn what_is_wrong_in_a_model_is_said_with_its_place() {
    fails(
        &["run", "examples/range.onnx", "-i", "start=1", "-i", "limit=2", "-i", "delta=0"],
        str![[r#"
error: examples/range.onnx: node "pos" (onnx Range-11): input 2 "delta" is zero, expected a nonzero number

"#]],
    );
    fails(
        &["run", "examples/range.onnx", "-i", "start=1", "-i", "limit=2", "-i", "delta=0", "--json"],
        str![[r#"
{"error":{"kind":"value","message":"input 2 /"delta/" is zero, expected a nonzero number","got":"zero","wanted":"a nonzero number","where":{"file":"examples/range.onnx","nodes":["node /"pos/" (onnx Range-11)"]}}}

"#]],
    );
    fails(
        &["run", "examples/range.onnx", "-i", "start=[1, 2]"],
        str![[r#"
error: examples/range.onnx: input "start" is float32[2], expected float32[]

"#]],
    );
    fails(
        &["run", "none.onnx"],
        str![[r#"
error: none.onnx: there is no such file

"#]],
    );
    fails(
        &["run", "examples"],
        str![[r#"
error: examples: cannot read: the file is a folder, expected a regular file

"#]],
    );
    fails(
        &["run", "LICENSE-MIT"],
        str![[r#"
error: LICENSE-MIT: byte 14: this is not protobuf: invalid wire type: 7

"#]],
    );
    fails(
        &["run", "examples/loop.onnx", "-i", "count=1000000", "--max-steps", "1000"],
        str![[r#"
error: examples/loop.onnx: node "fib" (onnx Loop-16): iteration 199: node 3 (onnx Identity-16): the run takes more than 1000 steps (--max-steps)

"#]],
    );
    for command in ["run", "infer", "show"] {
        let assert = gradus(&[command, "examples/loop.onnx", "--timeout", "0"]).assert().code(1);
        assert.stderr_eq(str![[r#"
error: examples/loop.onnx: the time limit is exceeded (--timeout)

"#]]);
    }
    let limited = |arguments: &[&str]| {
        let limits = ["--max-bytes", "9", "--max-steps", "9", "--max-work", "9", "--timeout", "0", "--json"];
        let assert = gradus(&[arguments, &limits].concat()).assert().failure();
        let text = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
        assert!(text.contains("\"kind\":\"limit\""), "{arguments:?}: {text}");
    };
    limited(&["run", "examples/heads.onnx"]);
    limited(&["infer", "examples/heads.onnx"]);
    limited(&["fold", "examples/heads.onnx", "-o", "none.onnx"]);
    limited(&["convert", "examples/heads.onnx", "none.xml"]);
    limited(&["show", "examples/heads.onnx"]);
    limited(&["diff", "examples/heads.onnx", "examples/heads.onnx"]);
    fails(
        &["run", "examples/loop.onnx", "-i", "count=1000000", "--max-work", "1000"],
        str![[r#"
error: examples/loop.onnx: node "fib" (onnx Loop-16): iteration 110: node 3 (onnx Identity-16): the run touches more than 1000 elements (--max-work)

"#]],
    );
    let folder = folder("damaged");
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/range.xml"))
            .unwrap();
    std::fs::write(folder.join("damaged.xml"), text.replace("to-port=\"2\"", "to-port=\"two\"")).unwrap();
    let assert =
        Command::new(cargo_bin!("gradus")).current_dir(&folder).args(["run", "damaged.xml"]).assert().code(1);
    assert.stderr_eq(str![[r#"
error: attribute "to-port" is "two", not a number
  --> damaged.xml:36:5
   |
36 |     <edge from-layer="2" from-port="0" to-layer="3" to-port="two"/>
   |     ^^^^^

"#]]);
    std::fs::remove_dir_all(folder).unwrap();
}

#[cfg(unix)]
#[test]
fn arguments_that_are_not_text_are_a_mistake() {
    use std::os::unix::ffi::OsStrExt;
    let not_text = std::ffi::OsStr::from_bytes(b"\xff");
    for json in [&[][..], &["--json"]] {
        let range = Command::new(cargo_bin!("gradus")).arg("range").arg(not_text).args(["10", "1"]);
        let output = range.args(json).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(String::from_utf8(output.stderr).unwrap().contains("invalid UTF-8"));
    }
}

#[test]
fn inputs_that_are_not_given_are_listed_or_made() {
    misused(
        &["run", "examples/range.onnx", "-i", "start=1"],
        str![[r#"
error: examples/range.onnx: inputs "limit" (float32[]), "delta" (float32[]) are missing; give -i 'limit=random[]' -i 'delta=random[]', or --random-inputs

"#]],
    );
    misused(
        &["run", "examples/positions.onnx", "--random-inputs", "--dim", "batch=2"],
        str![[r#"
error: cannot make input "tokens": its size seq is open, expected a number (--dim seq=1)

"#]],
    );
    prints(
        &["run", "examples/positions.onnx", "--random-inputs", "--dim", "batch=2", "--dim", "seq=3"],
        str![[r#"
position_ids: int64[3] [0, 1, 2]
phase: float32[3] [0.0, 0.33333334, 0.6666667]
token_count: int64[] 6

"#]],
    );
    for given in [&["--random-inputs", "--dim", "n=4"][..], &["-i", "x=random[4]"]] {
        let seeded = |seed| {
            let args = [&["run", "examples/function.onnx", "--seed", seed], given].concat();
            gradus(&args).assert().success().get_output().stdout.clone()
        };
        assert_eq!(seeded("1"), seeded("1"));
        assert_ne!(seeded("1"), seeded("2"));
    }
}

#[test]
fn every_value_is_saved_and_every_node_measured() {
    let folder = folder("save all");
    let to = folder.to_str().unwrap();
    let args = ["run", "examples/positions.onnx", "-i", "tokens=[[7, 8, 9]]"];
    let printed = gradus(&[&args[..], &["--save-all", to, "--profile-nodes"]].concat());
    let printed = String::from_utf8(printed.assert().success().get_output().stdout.clone()).unwrap();
    assert!(printed.starts_with("position_ids: int64[3] [0, 1, 2]\nphase: float32[3]"), "{printed}");
    assert!(printed.contains(" values saved in ") && printed.contains("peak bytes\n"), "{printed}");
    let json = gradus(&[&args[..], &["--save-all", to, "--profile-nodes", "--json"]].concat());
    let json = json.assert().success().get_output().stdout.clone();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let nodes = json["nodes"].as_array().unwrap();
    assert_eq!(
        nodes.len(),
        ::gradus::Model::open("../../examples/positions.onnx").unwrap().graph().nodes().len()
    );
    for node in nodes {
        assert!(node["seconds"].as_f64().unwrap() >= 0.0 && node["node"].is_string(), "{node}");
    }
    let values = json["values"].as_object().unwrap();
    // The inputs are there too, so that the folder is a test of its own.
    assert!(std::fs::read(values["tokens"].as_str().unwrap()).unwrap().ends_with(&9i64.to_le_bytes()));
    assert!(values.len() >= 4 && values.values().all(|path| Path::new(path.as_str().unwrap()).exists()));
    assert!(json["outputs"]["phase"].is_object());
}
