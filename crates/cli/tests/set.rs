//! `--set` as it is typed: every command takes a constant in the place of an input.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;

use common::{folder, gradus, misused, prints};
use snapbox::str;

const RANGE: &str = "examples/range.onnx";
const SET: [&str; 4] = ["--set", "limit=10", "--set", "delta=2"];

/// The text that a command about a model prints with two inputs set, and its exit status.
fn told(command: &str, models: &[&str], more: &[&str]) -> (Option<i32>, String) {
    let run = gradus(&[&[command], models, &SET[..], more].concat()).assert();
    let output = run.get_output();
    let text = [&output.stdout[..], &output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn what_is_set_is_known_and_written() {
    let folder = folder("set");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (code, text) = told("infer", &[RANGE, "--set", "start=0"], &[]);
    assert!(code == Some(0) && text.contains("float32  [5]"), "{text}");
    for (command, output) in [
        ("infer", &["-o", &path("i.onnx")][..]),
        ("fold", &["-o", &path("f.onnx")]),
        ("convert", &["-o", &path("c.xml")]),
        ("convert", &["-o", &path("c.onnx"), "--opset", "13"]),
    ] {
        let (code, text) = told(command, &[RANGE], output);
        assert_eq!(code, Some(0), "{command}: {text}");
        let run = gradus(&["run", output[1], "-i", "start=1"]).assert().code(0);
        let printed = String::from_utf8_lossy(&run.get_output().stdout).into_owned();
        assert!(printed.contains("[1.0, 3.0, 5.0, 7.0, 9.0]"), "{command}: {printed}");
        let (code, text) = told("check", &[RANGE, output[1]], &[]);
        assert_eq!(code, Some(0), "{command}: {text}");
    }
    for (command, more) in [
        ("run", &["-i", "start=1"][..]),
        ("cost", &["--json"]),
        ("graph", &[]),
        ("compare", &[]),
        ("report", &["-o", &path("r.html"), "--compare", &path("f.onnx")]),
    ] {
        let (code, text) = told(command, &[RANGE], more);
        assert_eq!(code, Some(0), "{command}: {text}");
        assert!(!text.contains("delta"), "{command}: {text}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn values_are_what_the_model_declares() {
    prints(
        &["run", RANGE, "--set", "start=0", "--set", "limit=1e-45", "-i", "delta=1"],
        str![[r#"
positions: float32[1] [0.0]

"#]],
    );
    for (set, message) in [
        ("limit", "--set is limit, expected NAME=VALUE or NAME=FILE"),
        ("limits=1", "unknown input \"limits\"; did you mean \"limit\"?"),
        ("limit=[1]", "cannot set input \"limit\": the value is float32[1], expected float32[]"),
        ("limit=x", "--set limit=x"),
    ] {
        for command in ["infer", "run", "cost", "graph", "compare", "check"] {
            let models = if command == "check" { &[RANGE, RANGE][..] } else { &[RANGE] };
            let run = gradus(&[&[command], models, &["--set", set]].concat()).assert().code(2);
            let text = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
            assert!(text.contains(message), "{command} {set}: {text}");
        }
    }
    let whole = "tokens=[[9223372036854775808]]";
    let run = gradus(&["infer", "examples/positions.onnx", "--set", whole]).assert().code(2);
    let text = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(text.contains("is not in the range of int64"), "{text}");
    misused(
        &["run", RANGE, "--set", "limit=1", "--set", "limit=2"],
        str![[r#"
error: input "limit" is set twice

"#]],
    );
}
