//! `gradus cost` as it is typed, with what it prints and its exit status.
//!
//! `SNAPSHOTS=overwrite cargo test -p gradus-cli` writes what is printed into this file.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;

use common::{gradus, misused, prints};
use snapbox::str;

#[test]
fn a_peak_names_what_it_leaves_out() {
    prints(
        &["cost", "examples/positions.onnx", "--dim", "seq=9223372036854775807", "--dim", "batch=1"],
        str![[r#"
operator  nodes  parameters  MACs  operations           read  written
Cast      2      0           0     too large            8     4
Div       1      0           0     9223372036854775807  0     0
Range     1      2           ?     ?                    24    0
Shape     1      0           0     0                    0     8
Size      1      0           0     0                    0     8
total     6      2           0     too large            32    20

operations of  arithmetic           comparisons  transcendentals
Cast           too large            0            0
Div            9223372036854775807  0            0
total          too large            0            0

operations not counted: 1 Range (sizes are not known)
nodes with values of unknown size: 3
16 bytes of constants, ? of inputs
at most 20 bytes of values at one time, at node "seq_to_float", without 3 of unknown size:
  seq: 8
  position_ids: ?
  token_count: 8
  positions: ?
  seq_float: 4
in place: at most 20 bytes of values at one time, at node "seq_to_float", without 3 of unknown size

"#]],
    );
}

#[test]
fn cost_is_a_formula_of_the_dimensions() {
    prints(
        &["cost", "examples/positions.onnx"],
        str![[r#"
operator  nodes  parameters  MACs  operations  read         written
Cast      2      0           0     seq + 1     8*seq + 8    4*seq + 4
Div       1      0           0     seq         4*seq + 4    4*seq
Range     1      2           0     2*seq       24           8*seq
Shape     1      0           0     0           0            8
Size      1      0           0     0           0            8
total     6      2           0     4*seq + 1   12*seq + 36  16*seq + 20

operations of  arithmetic  comparisons  transcendentals
Cast           seq + 1     0            0
Div            seq         0            0
Range          2*seq       0            0
total          4*seq + 1   0            0

16 bytes of constants, 8*batch*seq of inputs
at most 12*seq + 4*max(seq, 2) + 12 bytes of values at one time, at node "phase":
  position_ids: 8*seq
  token_count: 8
  positions: 4*seq
  seq_float: 4
  phase: 4*seq
in place: at most 12*seq + 20 bytes of values at one time, at node "seq_to_float"
taken for granted:
  seq <= 16777216 (node "seq_to_float" (Cast))

"#]],
    );
    prints(
        &["cost", "examples/positions.onnx", "--dim", "seq=4", "--dim", "batch=2", "--json"],
        str![[r#"
{"model":"examples/positions.onnx","total":{"nodes":6,"parameters":2,"macs":0,"operations":17,"arithmetic":17,"comparisons":0,"transcendentals":0,"bytes_read":84,"bytes_written":84,"intensity":0.10119047619047619,"uncounted":0,"unsized":0},"memory":{"constants":16,"inputs":64,"peak_bytes":76,"peak_at":"node /"phase/"","peak_unknown":0,"in_place_bytes":68,"in_place_at":"node /"seq_to_float/"","live":[{"value":"position_ids","bytes":32},{"value":"token_count","bytes":8},{"value":"positions","bytes":16},{"value":"seq_float","bytes":4},{"value":"phase","bytes":16}]},"operators":{"Cast":{"nodes":2,"parameters":0,"macs":0,"operations":5,"arithmetic":5,"comparisons":0,"transcendentals":0,"bytes_read":40,"bytes_written":20,"intensity":0.08333333333333333,"uncounted":0,"unsized":0},"Div":{"nodes":1,"parameters":0,"macs":0,"operations":4,"arithmetic":4,"comparisons":0,"transcendentals":0,"bytes_read":20,"bytes_written":16,"intensity":0.1111111111111111,"uncounted":0,"unsized":0},"Range":{"nodes":1,"parameters":2,"macs":0,"operations":8,"arithmetic":8,"comparisons":0,"transcendentals":0,"bytes_read":24,"bytes_written":32,"intensity":0.14285714285714285,"uncounted":0,"unsized":0},"Shape":{"nodes":1,"parameters":0,"macs":0,"operations":0,"arithmetic":0,"comparisons":0,"transcendentals":0,"bytes_read":0,"bytes_written":8,"intensity":0.0,"uncounted":0,"unsized":0},"Size":{"nodes":1,"parameters":0,"macs":0,"operations":0,"arithmetic":0,"comparisons":0,"transcendentals":0,"bytes_read":0,"bytes_written":8,"intensity":0.0,"uncounted":0,"unsized":0}},"groups":{"":{"nodes":6,"parameters":2,"macs":0,"operations":17,"arithmetic":17,"comparisons":0,"transcendentals":0,"bytes_read":84,"bytes_written":84,"intensity":0.10119047619047619,"uncounted":0,"unsized":0}},"nodes":[{"node":"node /"length/"","operator":"Shape","parameters":0,"macs":0,"operations":0,"arithmetic":0,"comparisons":0,"transcendentals":0,"bytes_read":0,"bytes_written":8,"intensity":0.0,"uncounted":null},{"node":"node /"pos/"","operator":"Range","parameters":2,"macs":0,"operations":8,"arithmetic":8,"comparisons":0,"transcendentals":0,"bytes_read":24,"bytes_written":32,"intensity":0.14285714285714285,"uncounted":null},{"node":"node /"count/"","operator":"Size","parameters":0,"macs":0,"operations":0,"arithmetic":0,"comparisons":0,"transcendentals":0,"bytes_read":0,"bytes_written":8,"intensity":0.0,"uncounted":null},{"node":"node /"to_float/"","operator":"Cast","parameters":0,"macs":0,"operations":4,"arithmetic":4,"comparisons":0,"transcendentals":0,"bytes_read":32,"bytes_written":16,"intensity":0.08333333333333333,"uncounted":null},{"node":"node /"seq_to_float/"","operator":"Cast","parameters":0,"macs":0,"operations":1,"arithmetic":1,"comparisons":0,"transcendentals":0,"bytes_read":8,"bytes_written":4,"intensity":0.08333333333333333,"uncounted":null},{"node":"node /"phase/"","operator":"Div","parameters":0,"macs":0,"operations":4,"arithmetic":4,"comparisons":0,"transcendentals":0,"bytes_read":20,"bytes_written":16,"intensity":0.1111111111111111,"uncounted":null}],"assumptions":[],"warnings":[],"problems":[]}

"#]],
    );
}

#[test]
fn fit_finds_the_largest_size() {
    prints(
        &["cost", "examples/positions.onnx", "--dim", "batch=8", "--fit", "1MiB"],
        str![[r#"
operator  nodes  parameters  MACs  operations  read         written
Cast      2      0           0     seq + 1     8*seq + 8    4*seq + 4
Div       1      0           0     seq         4*seq + 4    4*seq
Range     1      2           0     2*seq       24           8*seq
Shape     1      0           0     0           0            8
Size      1      0           0     0           0            8
total     6      2           0     4*seq + 1   12*seq + 36  16*seq + 20

operations of  arithmetic  comparisons  transcendentals
Cast           seq + 1     0            0
Div            seq         0            0
Range          2*seq       0            0
total          4*seq + 1   0            0

16 bytes of constants, 64*seq of inputs
at most 12*seq + 4*max(seq, 2) + 12 bytes of values at one time, at node "phase":
  position_ids: 8*seq
  token_count: 8
  positions: 4*seq
  seq_float: 4
  phase: 4*seq
in place: at most 12*seq + 20 bytes of values at one time, at node "seq_to_float"
largest seq that fits: 13106, with 1048508 bytes
taken for granted:
  seq <= 16777216 (node "seq_to_float" (Cast))

"#]],
    );
}

#[test]
fn nothing_that_fits_is_a_failure() {
    let arguments = ["cost", "examples/positions.onnx", "--dim", "batch=8", "--fit", "10B", "--json"];
    let output = gradus(&arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(json["fit"]["most"].is_null() && json["fit"]["symbol"] == "seq", "{json}");
}

#[test]
fn fit_refuses_what_it_cannot_decide() {
    misused(
        &["cost", "examples/positions.onnx", "--fit", "1MiB"],
        str![[r#"
error: examples/positions.onnx: cannot fit: the list of symbols without a number is batch, seq, expected exactly one: give the others numbers, as --dim batch=1, or the missing link, as --assume "seq == batch"

"#]],
    );
    misused(
        &["cost", "examples/positions.onnx", "--fit", "1PB"],
        str![[r#"
error: invalid value '1PB' for '--fit <BYTES>': expected a number of bytes (500MB, 24GiB), got "1PB"

For more information, try '--help'.

"#]],
    );
}

#[test]
fn a_range_of_sizes_is_a_table() {
    prints(
        &["cost", "examples/heads.onnx", "--dim", "batch=8", "--dim", "seq=1..10:+4"],
        str![[r#"
seq  MACs  operations  read  written  peak
1    0     1           752   680      512
5    0     1           2800  2728     2560
9    0     1           4848  4776     4608

"#]],
    );
    for range in ["1..2:x1", "3..2", "0..9"] {
        misused(
            &["cost", "examples/heads.onnx", "--dim", &format!("seq={range}")],
            format!(
                "error: --dim is seq={range}, expected NAME=NUMBER, NAME=FIRST..LAST:xFACTOR or \
                 NAME=FIRST..LAST:+STEP\n"
            ),
        );
    }
    misused(
        &["cost", "examples/heads.onnx", "--dim", "seq=1..9223372036854775807:+1"],
        str![[r#"
error: --dim seq=1..9223372036854775807:+1 has more than 1000 sizes

"#]],
    );
    misused(
        &["cost", "examples/heads.onnx", "--dim", "batch=1..2", "--dim", "seq=1..2"],
        str![[r#"
error: --dim seq=1..2 is a second range of sizes, expected one

"#]],
    );
}

#[test]
fn a_range_of_sizes_is_drawn() {
    prints(
        &["cost", "examples/heads.onnx", "--dim", "batch=8", "--dim", "seq=1..9:+4", "--plot"],
        str![[r#"
seq  MACs  operations  read  written  peak
1    0     1           752   680      512
5    0     1           2800  2728     2560
9    0     1           4848  4776     4608

MACs: 0

 4608 ┤                                                     ╭─ 
 4352 ┤                                                 ╭───╯  
 4096 ┤                                              ╭──╯      
 3840 ┤                                          ╭───╯         
 3584 ┤                                       ╭──╯             
 3328 ┤                                    ╭──╯                
 3072 ┤                                ╭───╯                   
 2816 ┤                             ╭──╯                       
 2560 ┤                         ╭───╯                          
 2304 ┤                      ╭──╯                              
 2048 ┤                  ╭───╯                                 
 1792 ┤               ╭──╯                                     
 1536 ┤            ╭──╯                                        
 1280 ┤        ╭───╯                                           
 1024 ┤     ╭──╯                                               
  768 ┤ ╭───╯                                                  
  512 ┼─╯                                                     
      └────────────────────────────────────────────────────────
       1                peak in bytes over seq                9

"#]],
    );
    misused(
        &["cost", "examples/heads.onnx", "--dim", "batch=8", "--plot"],
        str![[r#"
error: cannot draw a plot: --dim is a number, expected a range of sizes: NAME=FIRST..LAST:xFACTOR

"#]],
    );
}

#[test]
fn a_plan_places_values_in_one_arena() {
    prints(
        &["cost", "examples/heads.onnx", "--dim", "batch=8", "--dim", "seq=16", "--plan"],
        str![[r#"
value         offset  bytes  first  last  shares
shape_0       64      24     0      1
batch         0       8      1      11
shape_1       128     24     2      3
seq           64      8      3      11
shape_2       128     24     4      5
width         192     8      5      6
head_width    128     8      6      11
batch_1       0       8      7      11    batch
seq_1         64      8      8      11    seq
heads_1       192     8      9      11
head_width_1  128     8      10     11    head_width
target        4096    32     11     12
split         0       4096   12     13
y             4096    4096   13     13

8192 bytes hold all values; 8192 live at one time, and all take 8768

"#]],
    );
    prints(
        &[
            "cost",
            "examples/positions.onnx",
            "--dim",
            "batch=2",
            "--dim",
            "seq=4",
            "--plan",
            "--align",
            "1",
            "--json",
        ],
        str![[r#"
{"model":"examples/positions.onnx","bytes":76,"live":76,"apart":84,"alignment":1,"blocks":[{"node":"node /"length/"","value":"seq","shares":null,"offset":48,"bytes":8,"first":0,"last":4},{"node":"node /"pos/"","value":"position_ids","shares":null,"offset":0,"bytes":32,"first":1,"last":5},{"node":"node /"count/"","value":"token_count","shares":null,"offset":64,"bytes":8,"first":2,"last":5},{"node":"node /"to_float/"","value":"positions","shares":null,"offset":32,"bytes":16,"first":3,"last":5},{"node":"node /"seq_to_float/"","value":"seq_float","shares":null,"offset":72,"bytes":4,"first":4,"last":5},{"node":"node /"phase/"","value":"phase","shares":null,"offset":48,"bytes":16,"first":5,"last":5}]}

"#]],
    );
    misused(
        &["cost", "examples/heads.onnx", "--plan"],
        str![[r#"
error: examples/heads.onnx: cannot plan memory: the number of bytes of split is 32*batch*seq, expected a number (--dim)

"#]],
    );
    misused(
        &["cost", "examples/heads.onnx", "--dim", "seq=1..8", "--plan"],
        str![[r#"
error: --plan needs numbers, but --dim gives a range of sizes

"#]],
    );
    misused(
        &["cost", "examples/heads.onnx", "--align", "8"],
        str![[r#"
error: the following required arguments were not provided:
  --plan

Usage: gradus cost --plan --align <BYTES> <MODEL>...

For more information, try '--help'.

"#]],
    );
}
