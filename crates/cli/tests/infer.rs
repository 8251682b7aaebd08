//! `gradus infer` as it is typed, with what it prints and its exit status.
//!
//! `SNAPSHOTS=overwrite cargo test -p gradus-cli` writes what is printed into this file.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use ::gradus::graph::DeclaredDim;
use common::{folder, gradus, misused, prints, save_chain};
use snapbox::cmd::cargo_bin;
use snapbox::str;

/// A command about the example with positions, with the text that it prints or fails with.
fn about_positions(command: &str, more: &[&str]) -> (Option<i32>, String) {
    let run = gradus(&[&[command, "examples/positions.onnx"], more].concat()).assert();
    let output = run.get_output();
    let text = [&output.stdout[..], &output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn assumptions_are_listed_and_hold_together() {
    let listed = [
        (&["--min", "seq=4", "--range", "seq=1..9"][..], "4 <= seq <= 9 (the options)"),
        (&["--range", "seq=1..9", "--range", "seq=3..12"], "3 <= seq <= 9 (the options)"),
        (&["--assume", "seq % 8 == 0"], "seq % 8 == 0 (the options)"),
        (&["--assume", "And(seq % 8 == 0, batch >= 2)"], "seq % 8 == 0 (the options)"),
        (&["--assume", "And(seq % 8 == 0, batch >= 2)"], "batch >= 2 (the options)"),
        (&["--assume", "seq == 8 or batch == 2"], "seq == 8 or batch == 2 (the options)"),
    ];
    for (more, wanted) in listed {
        let (code, text) = about_positions("infer", more);
        assert!(code == Some(0) && text.contains(wanted), "{more:?}: {text}");
    }
    let refused = [
        (&["--min", "seq=20", "--range", "seq=1..9"][..], "range of dimension \"seq\" is 20 to 9"),
        (&["--assume", "seq % 8 == 9"], "holds for no sizes"),
        (&["--assume", "seq % 8 > 7"], "holds for no sizes"),
        (&["--assume", "seq < 0"], "holds for no sizes"),
        (&["--assume", "other == 3"], "unknown dimension \"other\""),
        (&["--assume", "seq == 4 and other == 3"], "unknown dimension \"other\""),
        (&["--assume", "tokens == 8000"], "its value is given by --set tokens=VALUE"),
        (&["--assume", "seq == 4 or tokens == 8000"], "its value is given by --set tokens=VALUE"),
        (&["--range", "tokens=1..4"], "its value is given by --set tokens=VALUE"),
        (&["--dim", "tokens=4"], "its value is given by --set tokens=VALUE"),
    ];
    for (more, wanted) in refused {
        let (code, text) = about_positions("infer", more);
        assert!(code != Some(0) && text.contains(wanted), "{more:?}: {text}");
    }
}

#[test]
fn run_checks_what_is_assumed() {
    let run =
        |more: &[&str]| about_positions("run", &[&["--input", "tokens=[[101, 2023, 2003]]"], more].concat());
    let held = [
        &["--assume", "seq % 3 == 0"][..],
        &["--assume", "seq <= batch + 2"],
        &["--range", "seq=3..9", "--min", "batch=1"],
        &["--nonempty"],
    ];
    for more in held {
        assert_eq!(run(more).0, Some(0), "{more:?}: {}", run(more).1);
    }
    let broken = [
        (&["--assume", "seq % 8 == 0"][..], "seq = 3, expected seq % 8 == 0, as is assumed"),
        (&["--assume", "seq = batch"], "batch = 1, seq = 3, expected seq = batch, as is assumed"),
        (&["--range", "seq=4..9"], "dimension \"seq\" is 3, expected 4 to 9, as is assumed"),
        (&["--min", "seq=4"], "dimension \"seq\" is 3, expected at least 4, as is assumed"),
    ];
    for (more, wanted) in broken {
        let (code, text) = run(more);
        assert!(code == Some(1) && text.contains(wanted), "{more:?}: {text}");
    }
    let (code, text) = about_positions("run", &["--input", "tokens=zeros[2, 0]", "--nonempty"]);
    let wanted = "size of axis 1 of input \"tokens\" is 0, expected at least 1, as is assumed";
    assert!(code == Some(1) && text.contains(wanted), "{text}");
    let (code, text) = run(&["--assume", "other == 3"]);
    assert!(code == Some(2) && text.contains("unknown dimension \"other\""), "{text}");
}

#[test]
fn infer_says_what_every_value_is() {
    prints(
        &["infer", "examples/positions.onnx"],
        str![[r#"
value         operator  type     shape         bytes
tokens                  int64    [batch, seq]  8*batch*seq
position_ids  Range     int64    [seq]         8*seq
token_count   Size      int64    []            8
positions     Cast      float32  [seq]         4*seq
phase         Div       float32  [seq]         4*seq

6 of 6 values of nodes are known in full
2 parameters; at most 12*seq + 4*max(seq, 2) + 12 bytes of values at one time, at node "phase"
not shown: 2 constants, 2 values of shape arithmetic (--all)
runs for all sizes
taken for granted:
  seq <= 16777216 (node "seq_to_float" (Cast))

"#]],
    );
    prints(
        &["infer", "examples/positions.onnx", "--json"],
        str![[r#"
{"model":"examples/positions.onnx","values":{"tokens":{"type":"int64","shape":["batch","seq"],"fresh":[],"bytes":"8*batch*seq"},"zero":{"type":"int64","shape":[],"fresh":[],"bytes":8},"one":{"type":"int64","shape":[],"fresh":[],"bytes":8},"seq":{"type":"int64","shape":[1],"fresh":[],"node":"length","operator":"Shape","bytes":8},"position_ids":{"type":"int64","shape":["seq"],"fresh":[],"node":"pos","operator":"Range","bytes":"8*seq"},"token_count":{"type":"int64","shape":[],"fresh":[],"node":"count","operator":"Size","bytes":8},"positions":{"type":"float32","shape":["seq"],"fresh":[],"node":"to_float","operator":"Cast","bytes":"4*seq"},"seq_float":{"type":"float32","shape":[1],"fresh":[],"node":"seq_to_float","operator":"Cast","bytes":4},"phase":{"type":"float32","shape":["seq"],"fresh":[],"node":"phase","operator":"Div","bytes":"4*seq"}},"totals":{"parameters":2,"peak_bytes":"12*seq + 4*max(seq, 2) + 12","peak_at":"node /"phase/"","peak_unknown":0},"unknown":{},"conditions":[{"text":"seq <= 16777216","place":"node /"seq_to_float/" (Cast)","why":"taken","relation":{"left":"seq","relation":"<=","right":16777216},"when":[]}],"assumptions":[{"place":"node /"seq_to_float/" (Cast)","message":"seq <= 16777216"}],"warnings":[],"problems":[]}

"#]],
    );
    prints(
        &["infer", "examples/positions.onnx", "--dim", "seq=4", "--input-shape", "tokens=2,4"],
        str![[r#"
value         operator  type     shape   bytes
tokens                  int64    [2, 4]  64
position_ids  Range     int64    [4]     32
token_count   Size      int64    []      8
phase         Div       float32  [4]     16

6 of 6 values of nodes are known in full
2 parameters; at most 76 bytes of values at one time, at node "phase"
not shown: 2 constants, 3 values of shape arithmetic (--all)

"#]],
    );
    prints(
        &["infer", "examples/positions.onnx", "--only-unknown"],
        str![[r#"

6 of 6 values of nodes are known in full
2 parameters; at most 12*seq + 4*max(seq, 2) + 12 bytes of values at one time, at node "phase"
runs for all sizes
taken for granted:
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
value      operator  type   shape            bytes
count                int64  []               8
fibonacci  Loop      int64  [max(count, 0)]  8*max(count, 0)

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

4 of 5 values of nodes are known in full, 1 but for sizes that the data decide
2 parameters; at most 8*max(count, 0) + 50 bytes of values at one time, at node "fib"
not shown: 2 constants, 0 values of shape arithmetic (--all)
examples/function.onnx
value  operator  type     shape  bytes
x                float32  [n]    4*n
half   Scaled    float32  [n]    4*n
tenth  Scaled    float32  [n]    4*n

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

6 of 6 values of nodes are known in full
0 parameters; at most 8*n bytes of values at one time, at node "tenth"
runs for all sizes

"#]],
    );
    prints(
        &["infer", "examples/range.xml", "--json"],
        str![[r#"
{"model":"examples/range.xml","values":{"start":{"type":"float32","shape":[],"fresh":[],"bytes":4},"stop":{"type":"float32","shape":[],"fresh":[],"bytes":4},"step":{"type":"float32","shape":[],"fresh":[],"bytes":4},"positions":{"type":"int32","shape":["Range"],"fresh":["Range"],"node":"positions","operator":"Range","bytes":"4*Range"}},"totals":{"parameters":0,"peak_bytes":"4*Range","peak_at":"node /"positions/"","peak_unknown":0},"unknown":{},"conditions":[],"assumptions":[],"warnings":[],"problems":[]}

"#]],
    );
}

#[test]
fn infer_says_what_is_wrong_with_what_was_typed() {
    misused(
        &["infer"],
        str![[r#"
error: the following required arguments were not provided:
  <MODEL>...

Usage: gradus infer <MODEL>...

For more information, try '--help'.

"#]],
    );
    misused(
        &["infer", "examples/positions.onnx", "--dim", "seq"],
        str![[r#"
error: --dim is seq, expected NAME=NUMBER

"#]],
    );
    misused(
        &["infer", "examples/positions.onnx", "--dim", "sequence=3"],
        str![[r#"
error: examples/positions.onnx: unknown dimension "sequence"; known: "batch", "seq"

"#]],
    );
    misused(
        &["infer", "examples/positions.onnx", "--input-shape", "x=1,2"],
        str![[r#"
error: examples/positions.onnx: unknown input "x"; known: "tokens"

"#]],
    );
    misused(
        &["infer", "examples/positions.onnx", "--input-shape", "tokens=1,2,3"],
        str![[r#"
error: examples/positions.onnx: rank of input "tokens" is 3, expected 2

"#]],
    );
    misused(
        &["infer", "examples/positions.onnx", "--dim", "seq=4", "--input-shape", "tokens=2,3"],
        str![[r#"
error: examples/positions.onnx: size of axis 1 of input "tokens" is 3, expected 4, the size of "seq" by dimension "seq"

"#]],
    );
    misused(
        &["infer", "examples/positions.onnx", "--why", "phases"],
        str![[r#"
error: examples/positions.onnx: unknown value "phases"; did you mean "phase"?

"#]],
    );
    misused(
        &["infer", "examples/positions.onnx", "--why", "nope"],
        str![[r#"
error: examples/positions.onnx: unknown value "nope"; known: "position_ids", "phase", "token_count", "tokens", "zero", "one", "seq", "positions", "seq_float"

"#]],
    );
    let one_is_missing =
        gradus(&["infer", "examples/loop.onnx", "no such model", "--only-unknown"]).assert().code(1);
    one_is_missing
        .stdout_eq(str![[r#"
examples/loop.onnx

4 of 5 values of nodes are known in full, 1 but for sizes that the data decide
2 parameters; at most 8*max(count, 0) + 50 bytes of values at one time, at node "fib"

"#]])
        .stderr_eq(str![[r#"
error: no such model: there is no such file
2 models, 1 failed

"#]]);
}

#[test]
fn why_is_json_if_json_is_asked_for() {
    prints(
        &["infer", "examples/positions.onnx", "--why", "token_count", "--json"],
        str![[r#"
{"model":"examples/positions.onnx","value":"token_count","type":"int64","shape":[],"fresh":[],"why":["token_count: int64[] = batch*seq by node /"count/" (Size)","  tokens: int64[batch, seq] by an input"]}

"#]],
    );
}

#[test]
fn a_model_that_contradicts_itself_is_wrong() {
    let folder = folder("contradiction");
    let path = folder.join("m.onnx");
    // Vectors of n and 64 elements can be added if n is 1 or 64.
    let mut source = ::gradus::graph::Model::new(::gradus::graph::Standard::Onnx);
    source.opsets = vec![("".into(), 17)];
    let mut graph = ::gradus::graph::Builder::new("made");
    for (name, size) in [("a", DeclaredDim::Symbol("n".into())), ("b", DeclaredDim::Known(64))] {
        let id = graph.define(name, ::gradus::graph::Origin::Input).unwrap();
        let declared = ::gradus::graph::Type::Tensor(Some(::gradus::DType::F32), Some(vec![size]));
        graph.info(id).declared = Some(declared);
    }
    graph.apply("sum", "Add", 17, &["a", "b"], &["c"], Vec::new()).unwrap();
    graph.output("c");
    source.graph = graph.finish().unwrap();
    ::gradus::Model::from_source(source).save(&path).unwrap();
    let path = path.to_str().unwrap();
    gradus(&["infer", path]).assert().code(0);
    for more in [&[][..], &["--json"], &["--only-unknown"]] {
        let wrong = gradus(&["infer", path, "--dim", "n=1000"]).args(more).assert().code(1).stderr_eq("");
        let printed = String::from_utf8(wrong.get_output().stdout.clone()).unwrap();
        assert!(printed.contains("64") && printed.contains("1000") && printed.contains("sum"), "{printed}");
    }
    let several = gradus(&["infer", path, "examples/loop.onnx", "--dim", "n=1000"]).assert().code(1);
    assert!(String::from_utf8(several.get_output().stdout.clone()).unwrap().contains("1000"));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn values_are_grouped_by_the_names_of_their_nodes() {
    let folder = folder("groups");
    let path = folder.join("m.onnx");
    let nodes = ["/m/a/x", "/m/a/in/y", "/m/b/z", "m/a/v", "m/a/w", "last"];
    let inputs = ["input"].into_iter().chain(nodes);
    let chain: Vec<_> = inputs.zip(nodes).map(|(from, to)| ("Abs", from, to)).collect();
    save_chain(&path, "input", vec![DeclaredDim::Symbol("n".into())], &chain);
    prints(
        &["infer", path.to_str().unwrap(), "--depth", "2"],
        str![[r#"
value   operator  type     shape  bytes
input             float32  [n]    4*n
/m/a/
  x     Abs       float32  [n]    4*n
  in/y  Abs       float32  [n]    4*n
/m/b/z  Abs       float32  [n]    4*n
m/a/
  v     Abs       float32  [n]    4*n
  w     Abs       float32  [n]    4*n
last    Abs       float32  [n]    4*n

6 of 6 values of nodes are known in full
0 parameters; at most 8*n bytes of values at one time, at node "/m/a/in/y"
runs for all sizes

"#]],
    );
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn every_model_has_a_line_of_json_in_the_order_of_the_arguments() {
    let models = ["examples/loop.onnx", "none.onnx", "examples/function.onnx", "LICENSE-MIT", "none.xml"];
    let output = gradus(&["infer", "--json"]).args(models).assert().code(1).get_output().stdout.clone();
    let lines = String::from_utf8(output).unwrap();
    let mut lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.pop().unwrap(), serde_json::json!({ "models": 5, "failed": 3 }));
    assert_eq!(lines.iter().map(|line| line["model"].as_str().unwrap()).collect::<Vec<_>>(), models);
    for (index, kind) in [(1, "io"), (3, "syntax"), (4, "io")] {
        assert_eq!(lines[index]["error"]["kind"], kind);
        assert_eq!(lines[index]["error"]["where"]["file"], models[index]);
    }
    let alone = gradus(&["infer", "--json", "none.onnx"]).assert().code(1).get_output().stdout.clone();
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&alone).unwrap(), lines[1]);
}

/// Kilobytes that the command occupied at most while it inferred copies of a model.
#[cfg(target_os = "linux")]
fn peak(model: &str, copies: usize) -> u64 {
    let mut child = std::process::Command::new(cargo_bin!("gradus"))
        .args(["infer", "--json"])
        .args(std::iter::repeat_n(model, copies))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = Vec::new();
    for _ in 1..copies {
        line.clear();
        out.read_until(b'\n', &mut line).unwrap();
    }
    assert!(line.len() > 1 << 17, "a line is longer than a pipe and a buffer: {}", line.len());
    // The last line has begun, so that all models are inferred, and does not fit into the pipe, so
    // that the process still is there.
    out.read_exact(&mut [0]).unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    out.read_to_end(&mut line).unwrap();
    assert!(child.wait().unwrap().success());
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_number_of_models() {
    let folder = folder("memory");
    let path = folder.join("long.onnx");
    let names: Vec<_> = (0..=3000).map(|i| format!("a_value_of_a_long_chain_{i}")).collect();
    let nodes: Vec<_> = names.windows(2).map(|pair| ("Abs", &*pair[0], &*pair[1])).collect();
    save_chain(&path, &names[0], vec![DeclaredDim::Symbol("n".into()), DeclaredDim::Known(3)], &nodes);
    let path = path.to_str().unwrap();
    let (few, many) = (peak(path, 5), peak(path, 50));
    assert!(many < few + few / 2, "{few} kB for 5 models, {many} kB for 50");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Texts, JSON and written files have the dialect that is asked for, and are read again.
#[test]
fn dimensions_are_written_in_a_dialect() {
    let written = common::scratch("dialects").join("written.onnx");
    let written = written.to_str().unwrap();
    let (code, text) =
        about_positions("infer", &["--input-shape", "tokens=1,h//2", "--dims", "sympy", "-o", written]);
    assert!(code == Some(0) && text.contains("float32  [floor(h/2)]"), "{text}");
    let (_, text) = about_positions("infer", &["--assume", "seq % 8 == 0", "--dims", "torch"]);
    assert!(text.contains("float32  [seq]"), "{text}");
    let shown = |more: &[&str]| {
        let run = gradus(&[&["show", written], more].concat()).assert().success();
        String::from_utf8(run.get_output().stdout.clone()).unwrap()
    };
    assert!(shown(&[]).contains("floor(h/2)"), "{}", shown(&[]));
    let onnx = shown(&["--dims", "onnx"]);
    assert!(onnx.contains("h//2") && !onnx.contains("floor"), "{onnx}");
    assert!(shown(&["--dims", "onnx", "--json"]).contains("\"h//2\""));
}

/// A written model takes the sizes that were given, in the place of those that it declared; with
/// sizes that no run takes, nothing is written, and the condition is told.
#[test]
fn models_are_written_that_take_what_is_given_or_refused_with_the_condition() {
    let folder = folder("written");
    let to = folder.join("out.onnx");
    let out = to.to_str().unwrap();
    let about = |file: &str, more: &[&str]| {
        let run = gradus(&[&["infer", file], more].concat()).assert();
        let output = run.get_output();
        let text = [&output.stdout[..], &output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&text).into_owned())
    };
    for (file, given, condition) in [
        ("heads", &["--input-shape", "x=2,128,9"][..], "number of elements is 2304, expected 2048"),
        ("baked", &["--dim", "batch=2"], "number of elements is 256, expected 128"),
        ("embedding", &["--dim", "batch=2", "--dim", "seq=65"], "index 64 is out of range for size 64"),
    ] {
        let (code, text) = about(&format!("examples/{file}.onnx"), &[given, &["-o", out]].concat());
        assert!(code == Some(1) && text.contains(condition) && !to.exists(), "{given:?}: {text}");
    }
    let (code, text) = about("examples/heads.onnx", &["--input-shape", "x=2,128,8", "-o", out]);
    assert!(code == Some(0), "{text}");
    let (_, text) = about(out, &["--all"]);
    assert!(text.contains("[2, 128, 8]"), "{text}");
    std::fs::remove_dir_all(folder).unwrap();
}
