//! The commands as they are typed, with what they print and their exit status.
//!
//! `SNAPSHOTS=overwrite cargo test -p gradus-cli` writes what is printed into this file.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use snapbox::IntoData;
use snapbox::cmd::{Command, cargo_bin};
use snapbox::str;

fn gradus(arguments: &[&str]) -> Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(cargo_bin!("gradus")).current_dir(root).args(arguments)
}

/// What is printed, by a command that succeeds.
fn prints(arguments: &[&str], stdout: impl IntoData) {
    gradus(arguments).assert().code(0).stderr_eq("").stdout_eq(stdout);
}

/// What is said of a model or data that are wrong.
fn fails(arguments: &[&str], stderr: impl IntoData) {
    gradus(arguments).assert().code(1).stdout_eq("").stderr_eq(stderr);
}

/// What is said of a command line that is wrong.
fn misused(arguments: &[&str], stderr: impl IntoData) {
    gradus(arguments).assert().code(2).stdout_eq("").stderr_eq(stderr);
}

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
        &["run", "examples/positions.onnx", "-i", "tokens=zeros[2, 1000]", "-o", "position_ids"],
        str![[r#"
position_ids: int64[1000] [0, 1, 2, ..., 997, 998, 999]

"#]],
    );
    prints(
        &["run", "examples/positions.onnx", "-i", "tokens=zeros[2, 4]", "-o", "seq", "-o", "phase"],
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
error: the model has no input "zeros"; its inputs: "x"

"#]],
    );
    fails(
        &["run", "examples/function.onnx", "-i", &data("arrays.npz")],
        str![[r#"
error: examples/function.onnx: input "x" is float32[2, 3], but the model declares float32[n]

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
error: examples/function.onnx: input "x" is int16[2, 2], but the model declares float32[n]

"#]],
    );
    fails(
        &["run", "examples/function.onnx", "-i", &data("unicode.npy")],
        str![[r#"
error: examples/function.onnx: input "x" is string[2], but the model declares float32[n]

"#]],
    );
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("gradus-cli-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
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
operator  standard  version  inputs               attributes   types
Range     onnx      11       start, limit, delta               int16, int32, int64, float32, float64
Range     onnx      27       start, limit, delta  stash_type   and float16, bfloat16
Range     openvino  1        start, stop, step                 int4, int8, int16, int32, int64, uint1, uint2, uint3, uint4, uint6, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64, float8_e4m3fn, float8_e5m2, float8_e8m0, float4_e2m1, nf4
Range     openvino  4        start, stop, step    output_type  the same

"#]],
    );
    prints(
        &["ops", "ShapeOf", "--json"],
        str![[r#"
{"operators":[{"operator":"ShapeOf","standard":"openvino","version":1,"inputs":[{"name":"data","types":["bool","string","int2","int4","int8","int16","int32","int64","uint1","uint2","uint3","uint4","uint6","uint8","uint16","uint32","uint64","float16","bfloat16","float32","float64","float8_e4m3fn","float8_e4m3fnuz","float8_e5m2","float8_e5m2fnuz","float8_e8m0","float6_e2m3","float6_e3m2","float4_e2m1","nf4","complex64","complex128"]}],"outputs":[{"name":"shape","types":["int64"]}],"attributes":[]},{"operator":"ShapeOf","standard":"openvino","version":3,"inputs":[{"name":"data","types":["bool","string","int2","int4","int8","int16","int32","int64","uint1","uint2","uint3","uint4","uint6","uint8","uint16","uint32","uint64","float16","bfloat16","float32","float64","float8_e4m3fn","float8_e4m3fnuz","float8_e5m2","float8_e5m2fnuz","float8_e8m0","float6_e2m3","float6_e3m2","float4_e2m1","nf4","complex64","complex128"]}],"outputs":[{"name":"shape","types":["int32","int64"]}],"attributes":["output_type"]}]}

"#]],
    );
    misused(
        &["ops", "Conv"],
        str![[r#"
error: there is no operator "Conv"; `gradus ops` lists all

"#]],
    );
}

#[test]
fn range_computes_one_sequence() {
    prints(
        &["range", "0", "10", "3"],
        str![[r#"
0
3
6
9

"#]],
    );
    prints(
        &["range", "0", "1", "0.25"],
        str![[r#"
0.0
0.25
0.5
0.75

"#]],
    );
    prints(
        &["range", "5", "-5", "-2.5", "--dtype", "bf16"],
        str![[r#"
5.0
2.5
0.0
-2.5

"#]],
    );
    prints(
        &["range", "0", "1", "0.1", "--dtype", "f16"],
        str![[r#"
0.0
0.1
0.2
0.2998
0.4
0.5
0.5996
0.6997
0.8
0.9
1.0

"#]],
    );
    prints(
        &["range", "0", "1", "0.1", "--dtype", "float8_e4m3fn", "--json"],
        str![[r#"
{"type":"float8_e4m3fn","shape":[10],"data":[0.0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.94]}

"#]],
    );
    prints(
        &["range", "9007199254740993", "9007199254740996", "1", "--json"],
        str![[r#"
{"type":"int64","shape":[3],"data":[9007199254740993,9007199254740994,9007199254740995]}

"#]],
    );
    prints(
        &["range", "9007199254740993", "9007199254740996", "1", "--dtype", "f64"],
        str![[r#"
9007199254740992.0
9007199254740992.0
9007199254740994.0
9007199254740996.0

"#]],
    );
    prints(
        &["range", "1.2", "11.3", "1.6", "--dtype", "i32", "--in-dtype", "f32"],
        str![[r#"
1
2
4
6
7
9
10

"#]],
    );
    prints(
        &["range", "-5", "5", "3", "--dtype", "u8", "--in-dtype", "i32"],
        str![[r#"
251
254
1
4

"#]],
    );
    prints(
        &["range", "3", "3", "1", "--json"],
        str![[r#"
{"type":"int64","shape":[0],"data":[]}

"#]],
    );
    prints(
        &["range", "0", "1e18", "1", "--slice", "999999999999999998:"],
        str![[r#"
999999999999999998
999999999999999999

"#]],
    );
}

#[test]
fn sequences_are_printed_drawn_and_compared() {
    prints(
        &["linspace", "0", "1", "5"],
        str![[r#"
0.0
0.25
0.5
0.75
1.0

"#]],
    );
    prints(
        &["linspace", "0", "1", "4", "--no-endpoint", "--dtype", "f32"],
        str![[r#"
0.0
0.25
0.5
0.75

"#]],
    );
    prints(
        &["linspace", "-1", "1.5", "3", "--slice", "1:"],
        str![[r#"
0.25
1.5

"#]],
    );
    prints(
        &["linspace", "[0, 10]", "20", "3", "--axis", "-1"],
        str![[r#"
float64[2, 3]
[[0.0, 10.0, 20.0],
 [10.0, 15.0, 20.0]]

"#]],
    );
    prints(
        &["logspace", "0", "1", "4", "--base", "1000", "--dtype", "i64"],
        str![[r#"
1
10
100
1000

"#]],
    );
    prints(
        &["logspace", "0", "3", "4", "--base", "1j", "--json"],
        str![[r#"
{"type":"complex128","shape":[4],"data":[[1.0,0.0],[0.0,1.0],[-1.0,0.0],[0.0,-1.0]]}

"#]],
    );
    prints(
        &["geomspace", "1", "256", "9", "--dtype", "u16"],
        str![[r#"
1
2
4
8
16
32
64
128
256

"#]],
    );
    prints(
        &["geomspace", "1j", "-4j", "3"],
        str![[r#"
(0.0+1.0j)
(-2.0+0.0j)
(0.0-4.0j)

"#]],
    );
    prints(
        &["range", "16777216", "16777220", "1", "--dtype", "f32", "--profile", "onnx-body"],
        str![[r#"
16777216.0
16777216.0
16777216.0
16777216.0

"#]],
    );
    prints(
        &["linspace", "-1", "1", "9", "--plot"],
        str![[r#"
  1.00 ┤                                                     ╭─ 
  0.88 ┤                                                 ╭───╯  
  0.75 ┤                                              ╭──╯      
  0.62 ┤                                          ╭───╯         
  0.50 ┤                                       ╭──╯             
  0.38 ┤                                    ╭──╯                
  0.25 ┤                                ╭───╯                   
  0.12 ┤                             ╭──╯                       
  0.00 ┤                         ╭───╯                          
 -0.12 ┤                      ╭──╯                              
 -0.25 ┤                  ╭───╯                                 
 -0.38 ┤               ╭──╯                                     
 -0.50 ┤            ╭──╯                                        
 -0.62 ┤        ╭───╯                                           
 -0.75 ┤     ╭──╯                                               
 -0.88 ┤ ╭───╯                                                  
 -1.00 ┼─╯                                                     
                               float64[9]

"#]],
    );
    prints(
        &["compare", "range", "16777216", "16777226", "1", "--dtype", "f32"],
        str![[r#"
profile       length  first                   last        first difference              why
exact         10      16777216.0, 16777216.0  16777224.0
onnx-body     10      16777216.0, 16777216.0  16777216.0  2: 16777216.0 for 16777218.0  adds up in float32
onnxruntime   10      16777216.0, 16777216.0  16777216.0  2: 16777216.0 for 16777218.0  adds up in float32
openvino      10      16777216.0, 16777216.0  16777224.0  none
openvino-cpu  10      16777216.0, 16777216.0  16777216.0  2: 16777216.0 for 16777218.0  adds up in float32
numpy         10      16777216.0, 16777216.0  16777216.0  2: 16777216.0 for 16777218.0  takes the step to be the difference of the first two elements
torch         10      16777216.0, 16777216.0  16777224.0  none
tensorflow    10      16777216.0, 16777216.0  16777224.0  none
paddle        10      16777216.0, 16777216.0  16777216.0  2: 16777216.0 for 16777218.0  adds up in float32
jax           10      16777216.0, 16777216.0  16777224.0  none

"#]],
    );
    prints(
        &["compare", "logspace", "0", "3", "4", "--dtype", "f32", "--json"],
        str![[r#"
{"type":"float32","results":{"exact":{"program":"Gradus","type":"float32","length":4,"first":[1.0,10.0],"last":1000.0,"exact":true},"onnx-body":{"error":"the body of ONNX Range-27 has no logspace to predict"},"onnxruntime":{"error":"ONNX Runtime 1.31.1 (CPU) has no logspace to predict"},"openvino":{"error":"OpenVINO 2026.4.1 (evaluate) has no logspace to predict"},"openvino-cpu":{"error":"OpenVINO 2026.4.1 (CPU plugin, one thread) has no logspace to predict"},"numpy":{"program":"NumPy 2.4.6","type":"float32","length":4,"first":[1.0,10.0],"last":1000.0,"exact":true},"torch":{"program":"PyTorch 2.15.0 (CPU, AVX2, one thread)","type":"float32","length":4,"first":[1.0,10.0],"last":1000.0,"exact":true},"tensorflow":{"error":"TensorFlow 2.21.0 (CPU) has no logspace to predict"},"paddle":{"program":"Paddle 3.3.1 (CPU)","type":"float32","length":4,"first":[1.0,10.0],"last":1000.0,"exact":true},"jax":{"program":"JAX 0.10.2 (CPU, x64)","type":"float32","length":4,"first":[1.0,10.0],"last":1000.0,"exact":true}}}

"#]],
    );
}

#[test]
fn sequences_that_are_none_are_refused() {
    fails(
        &["linspace", "nan", "1", "3"],
        str![[r#"
error: START is nan, but evenly spaced numbers need finite ends

"#]],
    );
    fails(
        &["linspace", "0", "1", "-3"],
        str![[r#"
error: NUM is -3.0, but a number of samples is an integer, 0 or more

"#]],
    );
    fails(
        &["logspace", "0", "40", "3", "--dtype", "i64"],
        str![[r#"
error: element 2 is 1e+40, which int64 cannot hold

"#]],
    );
    fails(
        &["geomspace", "0", "1", "3"],
        str![[r#"
error: START is zero, which no geometric sequence reaches

"#]],
    );
    fails(
        &["geomspace", "-1", "1", "3"],
        str![[r#"
error: START and STOP have different signs; between them a geometric sequence is complex

"#]],
    );
    fails(
        &["range", "0", "1", "0.1", "--profile", "paddle", "--dtype", "f16"],
        str![[r#"
error: Paddle 3.3.1 (CPU): there is no kernel for float16 on the CPU; there is for int32, int64, float32, float64

"#]],
    );
    misused(
        &["linspace", "0", "1.5", "3", "--dtype", "i8"],
        str![[r#"
error: STOP: "1.5" is not a whole number, as wanted for int8

"#]],
    );
    misused(
        &["linspace", "0", "1", "3", "--slice", "2:1"],
        str![[r#"
error: --slice: 2 to 1 is not within the 3 elements

"#]],
    );
    misused(
        &["linspace", "0", "1", "3", "--out", "x.txt"],
        str![[r#"
error: --out: x.txt does not end in .npy, .csv or .arrow

"#]],
    );
    misused(
        &["linspace", "[0, 1]", "1", "3", "--profile", "numpy"],
        str![[r#"
error: --profile, --slice and --plot are for sequences between numbers, not arrays

"#]],
    );
    misused(
        &["linspace", "1+2j", "1", "3", "--dtype", "f32"],
        str![[r#"
error: START: "1+2j" is not a number

"#]],
    );
}

/// Files in all three forms, complete or not there at all.
#[test]
fn sequences_become_files() {
    let folder = std::env::temp_dir().join(format!("gradus-sequences-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let [npy, csv, arrow] = ["x.npy", "x.csv", "x.arrow"].map(path);
    for file in [&npy, &csv, &arrow] {
        prints(&["linspace", "0", "1", "3", "--dtype", "f32", "--out", file], "");
    }
    assert!(std::fs::read(&npy).unwrap().ends_with(&[0, 0, 0, 0, 0, 0, 0, 63, 0, 0, 128, 63]));
    assert_eq!(std::fs::read_to_string(&csv).unwrap(), "0.0\n0.5\n1.0\n");
    assert!(std::fs::read(&arrow).unwrap().starts_with(b"ARROW1"));
    gradus(&["linspace", "0", "1", "3", "--dtype", "f8e5m2", "--out", &path("y.arrow")]).assert().code(1);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 3, "what failed leaves nothing behind");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn ranges_that_are_none_are_refused() {
    fails(
        &["range", "0", "5", "0"],
        str![[r#"
error: STEP is zero, but a range needs a step

"#]],
    );
    fails(
        &["range", "0", "inf", "1"],
        str![[r#"
error: STOP is inf, but a range needs finite numbers

"#]],
    );
    fails(
        &["range", "nan", "5", "1", "--json"],
        str![[r#"
{"error":{"kind":"value","message":"START is nan, but a range needs finite numbers","where":null}}

"#]],
    );
    fails(
        &["range", "0", "1e300", "1e-300"],
        str![[r#"
error: the range from START to STOP by STEP has more than 9223372036854775807 elements

"#]],
    );
    misused(
        &["range", "0", "x", "1"],
        str![[r#"
error: STOP: "x" is not a number

"#]],
    );
    misused(
        &["range", "0", "1.5", "1", "--dtype", "i32"],
        str![[r#"
error: STOP: "1.5" is not a whole number, as wanted for int32

"#]],
    );
    misused(
        &["range", "0", "300", "1", "--dtype", "u8"],
        str![[r#"
error: STOP: "300" is not in the range of uint8

"#]],
    );
    misused(
        &["range", "0", "1", "1", "--dtype", "c64"],
        str![[r#"
error: START: numbers cannot be read as complex64

"#]],
    );
    misused(
        &["range", "0", "1", "1", "--dtype", "f7"],
        str![[r#"
error: invalid value 'f7' for '--dtype <TYPE>': "f7" is not an element type; known are bool, string, int2, int4, int8, int16, int32, int64, uint1, uint2, uint3, uint4, uint6, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64, float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float8_e8m0, float6_e2m3, float6_e3m2, float4_e2m1, nf4, complex64, complex128

For more information, try '--help'.

"#]],
    );
    misused(
        &["range", "0", "1"],
        str![[r#"
error: the following required arguments were not provided:
  <STEP>

Usage: gradus range <START> <STOP> <STEP>

For more information, try '--help'.

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
error: this list has 1 element, but the one before has 2
  |
1 | --input x=[[1, 2], [3]]
  |                    ^^^

"#]]
    );
    snapbox::assert_data_eq!(
        shown("y=1"),
        str![[r#"
error: the model has no input "y"; its inputs: "x"

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
error: examples/function.onnx: input "x" (float32[n]) is needed, but not given

"#]],
    );
    misused(
        &["run", "examples/function.onnx", "-i", "x=[1]", "-o", "z"],
        str![[r#"
error: examples/function.onnx: the model has no value "z"; its outputs: "half", "tenth"

"#]],
    );
}

#[test]
fn what_is_wrong_in_a_model_is_said_with_its_place() {
    fails(
        &["run", "examples/range.onnx", "-i", "start=1", "-i", "limit=2", "-i", "delta=0"],
        str![[r#"
error: examples/range.onnx: node "pos" (onnx Range-11): input 2 "delta" is zero, but a range needs a step

"#]],
    );
    fails(
        &["run", "examples/range.onnx", "-i", "start=1", "-i", "limit=2", "-i", "delta=0", "--json"],
        str![[r#"
{"error":{"kind":"value","message":"input 2 /"delta/" is zero, but a range needs a step","where":{"file":"examples/range.onnx","nodes":["node /"pos/" (onnx Range-11)"]}}}

"#]],
    );
    fails(
        &["run", "examples/range.onnx", "-i", "start=[1, 2]"],
        str![[r#"
error: examples/range.onnx: input "start" is float32[2], but the model declares float32[]

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
error: examples: this is a folder, not a file

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

#[test]
fn completions_and_the_manual_page_are_made_from_the_definitions() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = gradus(&["completions", shell]).assert().success().get_output().stdout.clone();
        assert!(String::from_utf8(script).unwrap().contains("max-steps"), "{shell}");
    }
    let page = gradus(&["man"]).assert().success().get_output().stdout.clone();
    assert!(String::from_utf8(page).unwrap().starts_with(".ie"));
    gradus(&["--version"]).assert().success().stdout_eq(str![[r#"
gradus 0.1.0

"#]]);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = std::process::Command::new(cargo_bin!("gradus"))
        .args(["range", "0", "1e10", "1", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn infer_says_what_every_value_is() {
    prints(
        &["infer", "examples/positions.onnx"],
        str![[r#"
value         type     shape         bytes
tokens        int64    [batch, seq]  8*batch*seq
zero          int64    []            8
one           int64    []            8
seq           int64    [1]           8
position_ids  int64    [seq]         8*seq
token_count   int64    []            8
positions     float32  [seq]         4*seq
seq_float     float32  [1]           4
phase         float32  [seq]         4*seq

6 of 6 values of nodes are known in full
2 parameters; at most 16*seq + 12 bytes of values at one time, at node "phase"
assumptions:
  seq <= 16777216 (node "seq_to_float" (Cast))

"#]],
    );
    prints(
        &["infer", "examples/positions.onnx", "--json"],
        str![[r#"
{"model":"examples/positions.onnx","values":{"tokens":{"type":"int64","shape":["batch","seq"],"fresh":[]},"zero":{"type":"int64","shape":[],"fresh":[]},"one":{"type":"int64","shape":[],"fresh":[]},"seq":{"type":"int64","shape":[1],"fresh":[]},"position_ids":{"type":"int64","shape":["seq"],"fresh":[]},"token_count":{"type":"int64","shape":[],"fresh":[]},"positions":{"type":"float32","shape":["seq"],"fresh":[]},"seq_float":{"type":"float32","shape":[1],"fresh":[]},"phase":{"type":"float32","shape":["seq"],"fresh":[]}},"totals":{"parameters":2,"peak_bytes":"16*seq + 12","peak_at":"node /"phase/""},"unknown":{},"assumptions":[{"place":"node /"seq_to_float/" (Cast)","message":"seq <= 16777216"}],"problems":[]}

"#]],
    );
    prints(
        &["infer", "examples/positions.onnx", "--dim", "seq=4", "--input-shape", "tokens=2,4"],
        str![[r#"
value         type     shape   bytes
tokens        int64    [2, 4]  64
zero          int64    []      8
one           int64    []      8
seq           int64    [1]     8
position_ids  int64    [4]     32
token_count   int64    []      8
positions     float32  [4]     16
seq_float     float32  [1]     4
phase         float32  [4]     16

6 of 6 values of nodes are known in full
2 parameters; at most 76 bytes of values at one time, at node "phase"

"#]],
    );
    prints(
        &["infer", "examples/positions.onnx", "--only-unknown"],
        str![[r#"

6 of 6 values of nodes are known in full
2 parameters; at most 16*seq + 12 bytes of values at one time, at node "phase"
assumptions:
  seq <= 16777216 (node "seq_to_float" (Cast))

"#]],
    );
    prints(
        &["infer", "examples/positions.onnx", "--why", "token_count"],
        str![[r#"
token_count: int64[] = batch*seq by node "count" (Size)
  tokens: int64[batch, seq] by an input

"#]],
    );
    prints(
        &["infer", "examples/loop.onnx", "examples/function.onnx"],
        str![[r#"
examples/loop.onnx
value      type   shape            bytes
count      int64  []               8
zero       int64  []               8
one        int64  []               8
fibonacci  int64  [max(count, 0)]  8*max(count, 0)

in node "fib".body:
value   type   shape
i       int64  []
go_on   bool   []
a       int64  []
b       int64  []
still   bool   []
sum     int64  []
next_a  int64  []
number  int64  []

1 of 1 values of nodes are known in full
2 parameters; at most 8*max(count, 0) bytes of values at one time, at node "fib"
examples/function.onnx
value  type     shape  bytes
x      float32  [n]    4*n
half   float32  [n]    4*n
tenth  float32  [n]    4*n

in node "halve" (function example.Scaled):
value  type     shape
x      float32  [n]
by     float32  []
y      float32  [n]

in node "tenth" (function example.Scaled):
value  type     shape
x      float32  [n]
by     float32  []
y      float32  [n]

2 of 2 values of nodes are known in full
0 parameters; at most 8*n bytes of values at one time, at node "tenth"

"#]],
    );
    prints(
        &["infer", "examples/range.xml", "--json"],
        str![[r#"
{"model":"examples/range.xml","values":{"start":{"type":"float32","shape":[],"fresh":[]},"stop":{"type":"float32","shape":[],"fresh":[]},"step":{"type":"float32","shape":[],"fresh":[]},"positions":{"type":"int32","shape":["Range"],"fresh":["Range"]}},"totals":{"parameters":0,"peak_bytes":"4*Range","peak_at":"node /"positions/""},"unknown":{},"assumptions":[],"problems":[]}

"#]],
    );
}

#[test]
fn infer_says_what_is_wrong_with_what_was_typed() {
    misused(
        &["infer"],
        str![[r#"
error: the following required arguments were not provided:
  <MODELS>...

Usage: gradus infer <MODELS>...

For more information, try '--help'.

"#]],
    );
    misused(
        &["infer", "examples/positions.onnx", "--dim", "seq"],
        str![[r#"
error: --dim seq: NAME=NUMBER is wanted

"#]],
    );
    misused(
        &["infer", "examples/positions.onnx", "--dim", "sequence=3"],
        str![[r#"
error: examples/positions.onnx: no input has dimension "sequence"; dimensions of inputs: "batch", "seq"

"#]],
    );
    misused(
        &["infer", "examples/positions.onnx", "--input-shape", "x=1,2"],
        str![[r#"
error: examples/positions.onnx: the model has no input "x"; its inputs: "tokens"

"#]],
    );
    misused(
        &["infer", "examples/positions.onnx", "--input-shape", "tokens=1,2,3"],
        str![[r#"
error: examples/positions.onnx: input "tokens" is given rank 3, but the model declares 2

"#]],
    );
    misused(
        &["infer", "examples/positions.onnx", "--dim", "seq=4", "--input-shape", "tokens=2,3"],
        str![[r#"
error: examples/positions.onnx: input "tokens" is given 3 at axis 1, but "seq" is 4 by dimension "seq"

"#]],
    );
    misused(
        &["infer", "examples/positions.onnx", "--why", "phases"],
        str![[r#"
error: the model has no value "phases"; its outputs: "position_ids", "phase", "token_count"

"#]],
    );
    let one_is_missing =
        gradus(&["infer", "examples/loop.onnx", "no such model", "--only-unknown"]).assert().code(1);
    one_is_missing
        .stdout_eq(str![[r#"
examples/loop.onnx

1 of 1 values of nodes are known in full
2 parameters; at most 8*max(count, 0) bytes of values at one time, at node "fib"

"#]])
        .stderr_eq(str![[r#"
error: no such model: there is no such file

"#]]);
}
