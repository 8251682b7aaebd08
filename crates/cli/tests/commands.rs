//! The commands as they are typed, with what they print and their exit status.
//!
//! `SNAPSHOTS=overwrite cargo test -p gradus-cli` writes what is printed into this file.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;

use std::path::Path;

use ::gradus::graph::{Builder, DeclaredDim, Model, Origin, Standard, Type};
use common::{fails, folder, gradus, misused, prints, save_chain};
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

#[test]
fn shells_ask_the_program_how_lines_go_on() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = gradus(&["completions", shell]).assert().success().get_output().stdout.clone();
        assert!(String::from_utf8(script).unwrap().contains("GRADUS_COMPLETE"), "{shell}");
    }
    let model = "examples/positions.onnx";
    for (line, wanted) in [
        (&["inf"][..], "infer"),
        (&["infer", "--max-st"], "--max-steps"),
        (&["range", "0", "3", "1", "--dtype", "float8_e4"], "float8_e4m3fn\nfloat8_e4m3fnuz"),
        (&["infer", model, "--dim", ""], "batch=\nseq="),
        (&["infer", model, "--dim", "se"], "seq="),
        (&["infer", model, "--why", "pha"], "phase"),
        (&["infer", model, "--op", "Ra"], "Range"),
        (&["run", model, "-i", "to"], "tokens="),
        (&["run", model, "-n", "p"], "phase\nposition_ids"),
        (&["run", "Cargo.toml", "-n", ""], ""),
        (&["fold", model, "--rule", "called"], "called-functions"),
    ] {
        let mut command = gradus(&[&["--", "gradus"], line].concat());
        command = command.env("GRADUS_COMPLETE", "fish");
        let lines = command.assert().success().stderr_eq("").get_output().stdout.clone();
        let lines = String::from_utf8(lines).unwrap();
        let values: Vec<_> = lines.lines().filter_map(|line| line.split('\t').next()).collect();
        assert_eq!(values.join("\n"), wanted, "{line:?}");
    }
}

/// Names of models and files that shells would run, expand, take for options or print as controls.
const STEERING: [&str; 12] = [
    "$(touch ran)",
    "`touch ran`",
    "x;touch ran;",
    "x|touch ran",
    "*",
    "~root",
    "{a,b}",
    "--output=ran",
    "=ls",
    "a\u{b}$(touch ran)",
    "a\nb c",
    "'\"\\",
];

#[test]
fn shells_are_given_no_names_that_they_would_interpret() {
    let folder = folder("completion");
    for (index, name) in STEERING.into_iter().enumerate() {
        let path = folder.join(format!("{index}.onnx"));
        save_chain(&path, name, vec![DeclaredDim::Symbol(name.into())], &[("Abs", name, "plain")]);
    }
    let long = "n".repeat(300);
    save_chain(&folder.join("long.onnx"), &long, vec![], &[("Abs", &long, "plain")]);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        for model in std::fs::read_dir(&folder).unwrap() {
            let model = model.unwrap().path();
            for option in ["--dim", "--min", "--range", "--input-shape", "--why", "-i", "-n", "--op"] {
                let command = if matches!(option, "-i" | "-n") { "run" } else { "infer" };
                let line = ["--", "gradus", command, model.to_str().unwrap(), option, ""];
                let mut asked = gradus(&line).env("GRADUS_COMPLETE", shell);
                asked = asked.env("_CLAP_COMPLETE_INDEX", "4").env("_CLAP_IFS", "\n");
                let output = asked.assert().success().get_output().stdout.clone();
                let output = String::from_utf8(output).unwrap();
                let known = ["plain", "Abs", ""];
                assert!(output.lines().all(|name| known.contains(&name)), "{shell} {option}: {output}");
            }
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// Bash completes a line, which is then run: nothing of a model's or a file's name is.
#[cfg(target_os = "linux")]
#[test]
fn bash_inserts_no_commands() {
    let folder = folder("bash");
    let name = "$(touch ran)";
    save_chain(&folder.join("m.onnx"), name, vec![DeclaredDim::Symbol(name.into())], &[("Abs", name, "y")]);
    std::fs::write(folder.join("a$(touch ran).onnx"), "").unwrap();
    let script = r#"
        source <(gradus completions bash)
        complete() {
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_TYPE=9 COMPREPLY=()
            _clap_complete_gradus gradus "${COMP_WORDS[COMP_CWORD]}" x 2> /dev/null
            for word in "${COMPREPLY[@]}"; do eval "true $word"; done
        }
        complete gradus show ""
        complete gradus show a
        for option in --dim --why -i --input-shape --op; do complete gradus infer m.onnx $option ""; done
        complete gradus run m.onnx -n ""
    "#;
    let program = cargo_bin!("gradus");
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let bash = std::process::Command::new("bash");
    let run = { bash }.args(["--norc", "-c", script]).current_dir(&folder).env("PATH", path).output();
    assert!(run.unwrap().status.success());
    assert!(!folder.join("ran").exists());
    let script = gradus(&["completions", "bash"]).assert().success().get_output().stdout.clone();
    assert!(!String::from_utf8(script).unwrap().contains("bashdefault"));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_manual_page_is_made_from_the_definitions() {
    let page = |arguments: &[&str]| {
        let output = gradus(arguments).assert().success().get_output().stdout.clone();
        String::from_utf8(output).unwrap()
    };
    assert!(page(&["man"]).contains("gradus\\-run(1)"));
    assert!(page(&["man", "run"]).contains("gradus\\-run"));
    misused(
        &["man", "rnu"],
        str![[r#"
error: unknown command "rnu"; did you mean "run"?

"#]],
    );
    let folder = folder("man");
    gradus(&["man", "--out", folder.to_str().unwrap()]).assert().success().stdout_eq("");
    // Every page that the first one refers to is there.
    let first = std::fs::read_to_string(folder.join("gradus.1")).unwrap().replace('\\', "");
    let named: Vec<_> =
        first.split("(1)").filter_map(|before| before.split_whitespace().next_back()).collect();
    assert!(named.iter().filter(|name| name.starts_with("gradus-")).count() >= 15, "{named:?}");
    for name in named.iter().filter(|name| name.starts_with("gradus-")) {
        assert!(folder.join(format!("{name}.1")).is_file(), "{name}");
    }
    std::fs::remove_dir_all(folder).unwrap();
    gradus(&["--version"]).assert().success().stdout_eq(str![[r#"
gradus 0.1.0

"#]]);
}

#[test]
fn every_command_has_a_line_of_help() {
    let help = gradus(&["--help"]).assert().success().get_output().stdout.clone();
    let help = String::from_utf8(help).unwrap();
    let commands = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    for line in commands.lines().filter(|line| !line.starts_with("   ")) {
        assert!(line.split_whitespace().count() > 2, "no help: {line}");
    }
    for standard in ["ONNX", "OpenVINO", "Paddle"] {
        assert!(help.contains(standard), "{standard}");
    }
}

/// Runs a command on a terminal, and returns what it prints there.
#[cfg(target_os = "linux")]
fn on_a_terminal(arguments: &[&str]) -> String {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::io::Read;
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let end = std::fs::OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let mut command = std::process::Command::new(cargo_bin!("gradus"));
    command.args(arguments).env("TERM", "xterm").env_remove("NO_COLOR");
    let (out, err) = (end.try_clone().unwrap(), end.try_clone().unwrap());
    let mut child = command.stdin(end).stdout(out).stderr(err).spawn().unwrap();
    drop(command);
    let mut printed = Vec::new();
    // The terminal has nothing more to give, which is an error, when the command has closed it.
    let _ = std::fs::File::from(terminal).read_to_end(&mut printed);
    child.wait().unwrap();
    String::from_utf8(printed).unwrap().replace("\r\n", "\n")
}

/// The characters of a text that steer a terminal, but for line feeds.
fn steering(text: &str) -> Vec<char> {
    let marks = ['\u{61c}', '\u{2028}', '\u{202e}', '\u{2066}'];
    text.chars().filter(|&c| (c.is_control() && c != '\n') || marks.contains(&c)).collect()
}

#[test]
fn names_cannot_steer_the_terminal() {
    let folder = folder("names");
    let path = folder.join("steers.onnx");
    let marks = "\u{1b}]0;t\u{7}\u{9b}2J\u{85}\u{202e}\u{2066}\u{2028}\u{61c}\u{7f}\u{1b}[35m";
    let (input, output) = (&*format!("in\u{1b}[2J{marks}"), &*format!("out{marks}\nproblems:"));
    let size = DeclaredDim::Symbol(format!("n\u{1b}c{marks}").into());
    save_chain(&path, input, vec![size.clone()], &[("Abs", input, "mid\u{7}"), ("Relu", "mid\u{7}", output)]);
    let other = folder.join("other.onnx");
    save_chain(&other, "x", vec![size], &[("Abs", "x", "y\u{1b}[2J"), ("Neg", "y\u{1b}[2J", output)]);
    let [path, other] = [&path, &other].map(|path| path.to_str().unwrap());
    let [converted, page] = ["steers.xml", "steers.html"].map(|name| folder.join(name));
    let folder_of_outputs = folder.to_str().unwrap();
    let given = format!("{input}=[1]");
    let commands: &[&[&str]] = &[
        &["show", path],
        &["infer", path],
        &["infer", path, "--all", "--depth", "2"],
        &["infer", path, "--why", output],
        &["infer", path, "--why", "in\u{1b}[3J"],
        &["infer", path, "--emit", "c"],
        &["infer", path, "--emit", "rust"],
        &["infer", path, "--emit", "python"],
        &["infer", path, "--emit", "json"],
        &["cost", path],
        &["cost", path, "--depth", "1"],
        &["cost", path, "--in-place", "--fit", "1000"],
        &["cost", path, "--dim", "n=1", "--plan"],
        &["compare", path],
        &["run", path],
        &["run", path, "-i", &given],
        &["run", path, "-i", &given, "--profile-nodes"],
        &["run", path, "-i", &given, "-o", folder_of_outputs],
        &["run", path, "-i", "in\u{1b}[2J=[[1]]"],
        &["fold", path, "-o", folder_of_outputs],
        &["convert", path, converted.to_str().unwrap()],
        &["report", path, "-o", page.to_str().unwrap()],
        &["graph", path],
        &["graph", path, "--format", "mermaid"],
        &["graph", path, "--format", "svg"],
        &["diff", path, other],
        &["diff", other, path],
        &["check", path, other],
    ];
    for command in commands.iter().filter(|command| command[0] != "graph" && !command.contains(&"--emit")) {
        let output = gradus(&[command, &["--json"][..]].concat()).output().unwrap();
        let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(steering(&printed).is_empty(), "{command:?}: {printed:?}");
    }
    for command in commands {
        let output = gradus(command).output().unwrap();
        let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(steering(&printed).is_empty(), "{command:?}: {:?} in {printed:?}", steering(&printed));
        assert!(!printed.contains("\nproblems:"), "{command:?}: {printed}");
        // Colours are there, and nothing else.
        #[cfg(target_os = "linux")]
        {
            let printed = on_a_terminal(command);
            let styles = ["0", "1", "31", "32", "33", "1;91", "1;94", "91", "94"];
            let plain = styles
                .iter()
                .fold(printed.clone(), |text, style| text.replace(&format!("\u{1b}[{style}m"), ""));
            assert!(steering(&plain).is_empty(), "{command:?}: {:?} in {printed:?}", steering(&plain));
            assert!(!printed.contains("\nproblems:"), "{command:?}: {printed}");
        }
    }
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
fn texts_are_written_within_the_limits() {
    let folder = folder("texts");
    let path = folder.join("m.onnx");
    let mut graph = Builder::new("made");
    let id = graph.define("x", Origin::Input).unwrap();
    graph.info(id).declared =
        Some(Type::Tensor(Some(::gradus::DType::String), Some(vec![DeclaredDim::Unknown])));
    graph.apply("y", "Identity", 17, &["x"], &["y"], Vec::new()).unwrap();
    graph.output("y");
    let mut model = Model::new(Standard::Onnx);
    model.opsets = vec![("".into(), 17)];
    model.graph = graph.finish().unwrap();
    ::gradus::Model::from_source(model).save(&path).unwrap();
    let given = format!("x=[{},\"{}\"]", vec!["\"\""; 1999].join(","), "a".repeat(2000));
    let out = folder.join("out");
    // Arrays of NumPy hold each text in the room of the longest: four bytes for each character.
    let run = |limit: &str| {
        let words = ["run", path.to_str().unwrap(), "-i", &given, "-o", out.to_str().unwrap()];
        gradus(&[&words[..], &["--max-bytes", limit]].concat()).output().unwrap()
    };
    let refused = String::from_utf8(run("8000000").stderr).unwrap();
    let want = "error: output \"y\": cannot write: number of bytes is 16000128, expected at most 8000000 (--max-bytes)\n";
    assert_eq!(refused, want);
    assert!(!out.exists());
    assert_eq!(run("16000128").status.code(), Some(0));
    assert_eq!(std::fs::metadata(out.join("y.npy")).unwrap().len(), 16_000_128);
    std::fs::remove_dir_all(folder).unwrap();
}

/// Values whose names of files are the same, or too long for one, are all written.
#[test]
fn outputs_of_any_name_are_written() {
    let folder = folder("named");
    let path = folder.join("m.onnx");
    let long = ["a", "b"].map(|end| "é".repeat(200) + end);
    let names = ["a/b", "a_b", "A:B", &long[0], &long[1], ".."];
    let sources = ["x"].into_iter().chain(names);
    let nodes: Vec<_> = sources.zip(names).map(|(from, to)| ("Abs", from, to)).collect();
    save_chain(&path, "x", vec![DeclaredDim::Known(1)], &nodes);
    let out = folder.join("out");
    let words = ["run", path.to_str().unwrap(), "-i", "x=[1]", "--save-all", out.to_str().unwrap(), "--json"];
    let printed = gradus(&words).assert().success().get_output().stdout.clone();
    let printed = String::from_utf8(printed).unwrap();
    let files: Vec<_> = std::fs::read_dir(&out).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(files.len(), 6, "{files:?} {printed}");
    assert!(files.iter().all(|file| file.len() <= 255));
    std::fs::remove_dir_all(folder).unwrap();
}

/// A sequence that no disk holds is refused before its first element is written.
#[cfg(unix)]
#[test]
fn files_without_room_are_not_begun() {
    let folder = folder("room");
    for ending in ["npy", "csv", "arrow"] {
        let name = format!("x.{ending}");
        let output = std::process::Command::new(cargo_bin!("gradus"))
            .args(["range", "0", "1000000000000000000", "1", "--out", &name])
            .current_dir(&folder)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains(&name) && message.contains("which are free"), "{message}");
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    std::fs::remove_dir_all(folder).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named() {
    let full = std::fs::File::create("/dev/full").unwrap();
    let output = std::process::Command::new(cargo_bin!("gradus"))
        .args(["range", "0", "10", "1"])
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: standard output: cannot write: No space left on device (os error 28)\n"
    );
    // Files may have eight blocks, and a write beyond is an error, though the system sends a signal.
    let folder = folder("full");
    for (name, arguments) in [
        ("x.npy", "range 0 100000 1 --out x.npy"),
        ("x.csv", "range 0 100000 1 --out x.csv"),
        ("x.arrow", "range 0 100000 1 --out x.arrow"),
        ("large.npy", "run model.onnx -i x=zeros[100000] --out ."),
    ] {
        save_chain(&folder.join("model.onnx"), "x", vec![DeclaredDim::Unknown], &[("Abs", "x", "large")]);
        let script = format!("ulimit -f 8; exec {} {arguments}", cargo_bin!("gradus").display());
        let output =
            std::process::Command::new("sh").args(["-c", &script]).current_dir(&folder).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains(name) && message.contains("File too large"), "{arguments}: {message}");
        assert!(!folder.join(name).exists(), "{name} is whole or not there");
    }
    std::fs::remove_dir_all(folder).unwrap();
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
    assert!(values.len() >= 3 && values.values().all(|path| Path::new(path.as_str().unwrap()).exists()));
    assert!(json["outputs"]["phase"].is_object());
}
