//! The commands for sequences as they are typed, with what they print and their exit status.
//!
//! `SNAPSHOTS=overwrite cargo test -p gradus-cli` writes what is printed into this file.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;

use std::io::Read;
use std::process::Stdio;

use common::{fails, gradus, misused, prints};
use snapbox::cmd::cargo_bin;
use snapbox::str;

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
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
0.3
0.4
0.5
0.6
0.7
0.8
0.9

"#]],
    );
    // Steps that are no floats are read exactly: not 0.90000004.
    prints(
        &["range", "0.8", "1", "0.1", "--dtype", "f32"],
        str![[r#"
0.8
0.9

"#]],
    );
    prints(
        &["range", "0", "1", "0.1", "--dtype", "float8_e4m3fn", "--json"],
        str![[r#"
{"type":"float8_e4m3fn","shape":[10],"data":[0.0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9]}

"#]],
    );
    prints(
        &["range", "9007199254740993", "9007199254740996", "1", "--json"],
        str![[r#"
{"type":"int64","shape":[3],"data":[9007199254740993,9007199254740994,9007199254740995]}

"#]],
    );
    prints(
        &["range", "9223372036854775808", "9223372036854775811", "1"],
        str![[r#"
9223372036854775808
9223372036854775809
9223372036854775810

"#]],
    );
    prints(
        &["range", "1/3", "1.34", "1/3", "--dtype", "f32"],
        str![[r#"
0.33333334
0.6666667
1.0
1.3333334

"#]],
    );
    prints(
        &["range", "0", "10", "2.5", "--dtype", "i8"],
        str![[r#"
0
2
5
7

"#]],
    );
    prints(
        &["range", "9007199254740993", "9007199254740996", "1", "--dtype", "f64"],
        str![[r#"
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
#[expect(clippy::too_many_lines, reason = "a table of cases")]
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
(2.0+0.0j)
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
       └────────────────────────────────────────────────────────
        0                      float64[9]                      8

"#]],
    );
    // Labels are short, however large the elements are.
    prints(
        &["logspace", "0", "300", "9", "--plot"],
        str![[r#"
 1.00 ┤                                                      ╭ 
 0.94 ┤                                                      │ 
 0.88 ┤                                                     ╭╯ 
 0.81 ┤                                                     │  
 0.75 ┤                                                     │  
 0.69 ┤                                                    ╭╯  
 0.62 ┤                                                    │   
 0.56 ┤                                                   ╭╯   
 0.50 ┤                                                   │    
 0.44 ┤                                                  ╭╯    
 0.38 ┤                                                  │     
 0.31 ┤                                                  │     
 0.25 ┤                                                 ╭╯     
 0.19 ┤                                                 │      
 0.12 ┤                                                ╭╯      
 0.06 ┤                                                │       
 0.00 ┼────────────────────────────────────────────────╯      
      └────────────────────────────────────────────────────────
       0            float64[9], in units of 1e300             8

"#]],
    );
    // Elements past the largest number are a gap, and a logarithmic axis has powers of 10.
    prints(
        &["logspace", "0", "400", "41", "--dtype", "f32", "--plot"],
        str![[r#"
 0.91 ┤   ╭─                                                   
 0.85 ┤   │                                                    
 0.80 ┤   │                                                    
 0.74 ┤   │                                                    
 0.68 ┤   │                                                    
 0.63 ┤   │                                                    
 0.57 ┤   │                                                    
 0.51 ┤   │                                                    
 0.45 ┤   │                                                    
 0.40 ┤   │                                                    
 0.34 ┤   │                                                    
 0.28 ┤   │                                                    
 0.23 ┤   │                                                    
 0.17 ┤  ╭╯                                                    
 0.11 ┤  │                                                     
 0.06 ┤  │                                                     
 0.00 ┼──╯                                                    
      └────────────────────────────────────────────────────────
       0            float32[41], in units of 1e30            40

"#]],
    );
    prints(
        &["logspace", "-300", "300", "9", "--plot", "--log"],
        str![[r#"
  300 ┤                                                     ╭─ 
  262 ┤                                                 ╭───╯  
  225 ┤                                              ╭──╯      
  188 ┤                                          ╭───╯         
  150 ┤                                       ╭──╯             
  112 ┤                                    ╭──╯                
   75 ┤                                ╭───╯                   
   38 ┤                             ╭──╯                       
    0 ┤                         ╭───╯                          
  -38 ┤                      ╭──╯                              
  -75 ┤                  ╭───╯                                 
 -112 ┤               ╭──╯                                     
 -150 ┤            ╭──╯                                        
 -188 ┤        ╭───╯                                           
 -225 ┤     ╭──╯                                               
 -262 ┤ ╭───╯                                                  
 -300 ┼─╯                                                     
      └────────────────────────────────────────────────────────
       0               float64[9], powers of 10               8

"#]],
    );
    prints(
        &["range", "-5", "0", "1", "--plot", "--log"],
        str![[r#"
no elements above zero

"#]],
    );
    prints(
        &["range", "0", "0", "1", "--plot"],
        str![[r#"
no elements

"#]],
    );
    prints(
        &["compare", "range", "16777216", "16777226", "1", "--dtype", "f32"],
        str![[r#"
range 16777216 16777226 1 --dtype float32 (arguments: exact)

profile            length  first                   last        differ   first difference              largest   why
exact              10      16777216.0, 16777216.0  16777224.0
onnx-body          10      16777216.0, 16777216.0  16777216.0  8 of 10  2: 16777216.0 for 16777218.0  7: 4 ulp  adds up in float32
onnxruntime        10      16777216.0, 16777216.0  16777216.0  8 of 10  2: 16777216.0 for 16777218.0  7: 4 ulp  adds up in float32
openvino           10      16777216.0, 16777216.0  16777224.0  none
openvino-cpu       10      16777216.0, 16777216.0  16777216.0  8 of 10  2: 16777216.0 for 16777218.0  7: 4 ulp  adds up in float32
openvino-cpu-avx2  10      16777216.0, 16777216.0  16777216.0  8 of 10  2: 16777216.0 for 16777218.0  7: 4 ulp  adds up in float32
numpy              10      16777216.0, 16777216.0  16777216.0  8 of 10  2: 16777216.0 for 16777218.0  7: 4 ulp  takes the step to be the difference of the first two elements
dask               10      16777216.0, 16777216.0  16777216.0  8 of 10  2: 16777216.0 for 16777218.0  7: 4 ulp  takes the step to be the difference of the first two elements
torch              10      16777216.0, 16777216.0  16777224.0  none
tensorflow         10      16777216.0, 16777216.0  16777224.0  none
paddle             10      16777216.0, 16777216.0  16777216.0  8 of 10  2: 16777216.0 for 16777218.0  7: 4 ulp  adds up in float32
jax                10      16777216.0, 16777216.0  16777224.0  none
octave             11      16777216.0, 16777216.0  16777226.0  none                                             counts with stop and a tolerance of 3 eps

"#]],
    );
    prints(
        &["compare", "logspace", "0", "3", "4", "--dtype", "f32", "--json"],
        str![[r#"
{"call":"logspace 0 3 4 --base 10","arguments":"exact","type":"float32","results":{"exact":{"program":"Gradus","type":"float32","length":4,"first":[1.0,10.0],"last":1000.0,"exact":true,"compared":0,"differing":0},"numpy":{"program":"NumPy 2.4.6","type":"float32","length":4,"first":[1.0,10.0],"last":1000.0,"tolerance":"1 ulp","exact":true,"compared":4,"differing":0},"torch":{"program":"PyTorch 2.15.0 (CPU, AVX2, one thread)","type":"float32","length":4,"first":[1.0,10.0],"last":1000.0,"tolerance":"1 ulp","exact":true,"compared":4,"differing":0},"paddle":{"program":"Paddle 3.3.1 (CPU)","type":"float32","length":4,"first":[1.0,10.0],"last":1000.0,"tolerance":"1 ulp","exact":true,"compared":4,"differing":0},"jax":{"program":"JAX 0.10.2 (CPU, x64)","type":"float32","length":4,"first":[1.0,10.0],"last":1000.0,"tolerance":"72 ulp","exact":true,"compared":4,"differing":0},"octave":{"program":"GNU Octave 7.3.0","type":"float32","length":4,"first":[1.0,10.0],"last":1000.0,"tolerance":"1 ulp","exact":true,"compared":4,"differing":0}}}

"#]],
    );
}

#[test]
fn sequences_that_are_none_are_refused() {
    fails(
        &["linspace", "nan", "1", "3"],
        str![[r#"
error: START is nan, expected a finite number

"#]],
    );
    fails(
        &["linspace", "0", "1", "-3"],
        str![[r#"
error: NUM is -3, expected an integer from 0 to 9223372036854775807

"#]],
    );
    fails(
        &["logspace", "0", "40", "3", "--dtype", "i64"],
        str![[r#"
error: element 2 is 1e+40, expected a number in the range of int64

"#]],
    );
    fails(
        &["geomspace", "0", "1", "3"],
        str![[r#"
error: START is zero, expected a nonzero end of a geometric sequence

"#]],
    );
    fails(
        &["geomspace", "-1", "1", "3"],
        str![[r#"
error: signs of START and STOP are different, expected equal ones for real elements

"#]],
    );
    fails(
        &["range", "0", "1", "0.1", "--profile", "paddle", "--dtype", "f16"],
        str![[r#"
error: Paddle 3.3.1 (CPU): there is no kernel for float16 on the CPU; there is for int32, int64, float32, float64

"#]],
    );
    misused(
        &["linspace", "0", "1.5", "3", "--in-dtype", "i8"],
        str![[r#"
error: STOP: "1.5" is not an integer for int8

"#]],
    );
    misused(
        &["linspace", "0", "1", "3", "--slice", "2:1"],
        str![[r#"
error: --slice is 2:1, expected a slice of the 3 elements

"#]],
    );
    misused(
        &["linspace", "0", "1", "3", "--out", "x.txt"],
        str![[r#"
error: --out is x.txt, expected a name that ends in .npy, .csv or .arrow

"#]],
    );
    misused(
        &["linspace", "[0, 1]", "1", "3", "--profile", "numpy"],
        str![[r#"
error: --profile, --slice, --plot and --device are for sequences between numbers, not arrays

"#]],
    );
    fails(
        &["linspace", "1+2j", "1", "3", "--dtype", "f32"],
        str![[r#"
error: START is complex, expected a real number for elements of a real type

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
    // PyArrow reads this file, and finds it valid in full.
    assert!(std::fs::read(&arrow).unwrap() == include_bytes!("linspace.arrow"));
    gradus(&["linspace", "0", "1", "3", "--dtype", "f8e5m2", "--out", &path("y.arrow")]).assert().code(1);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 3, "what failed leaves nothing behind");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn ranges_that_are_none_are_refused() {
    fails(
        &["range", "0", "5", "0"],
        str![[r#"
error: STEP is zero, expected a nonzero number

"#]],
    );
    fails(
        &["range", "0", "inf", "1"],
        str![[r#"
error: STOP is inf, expected a finite number

"#]],
    );
    fails(
        &["range", "nan", "5", "1", "--json"],
        str![[r#"
{"error":{"kind":"value","message":"START is nan, expected a finite number","got":"nan","wanted":"a finite number","where":null}}

"#]],
    );
    fails(
        &["range", "0", "1e300", "1e-300"],
        str![[r#"
error: length of the range from START to STOP by STEP is more than 9223372036854775807, expected at most 9223372036854775807

"#]],
    );
    misused(
        &["range", "18446744073709551616", "18446744073709551619", "1"],
        str![[r#"
error: --dtype is missing, expected int64 or uint64 to hold START, STOP and STEP, or another type

"#]],
    );
    misused(
        &["range", "0", "1/0", "1"],
        str![[r#"
error: STOP: "1/0" divides by zero, expected a nonzero denominator

"#]],
    );
    misused(
        &["range", "0", "1", "1e-400"],
        str![[r#"
error: STEP: "1e-400" is out of range, expected a magnitude from 2^-1074 to 2^1024

"#]],
    );
    misused(
        &["range", "0", "x", "1"],
        str![[r#"
error: STOP: "x" is not a number

"#]],
    );
    misused(
        &["range", "0", "1.5", "1", "--in-dtype", "i32"],
        str![[r#"
error: STOP: "1.5" is not an integer for int32

"#]],
    );
    misused(
        &["range", "0", "300", "1", "--in-dtype", "u8"],
        str![[r#"
error: STOP: "300" is not in the range of uint8

"#]],
    );
    misused(
        &["range", "0", "1", "1", "--dtype", "c64"],
        str![[r#"
error: --dtype: element type of the range is complex64, expected a real numeric type

"#]],
    );
    misused(
        &["range", "0", "1", "1", "--dtype", "f7"],
        str![[r#"
error: invalid value 'f7' for '--dtype <TYPE>': unknown element type "f7"; known: "bool", "string", "int2", "int4", "int8", "int16", "int32", "int64", "uint1", "uint2", "uint3", "uint4", 75 more

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
