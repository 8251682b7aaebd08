//! `gradus infer` as it is typed, with what it prints and its exit status.
//!
//! `SNAPSHOTS=overwrite cargo test -p gradus-cli` writes what is printed into this file.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;

use common::{gradus, misused, prints};
use snapbox::str;

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
