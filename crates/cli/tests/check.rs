//! `gradus check`, and `--check` of `gradus convert`.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;

use common::{folder, gradus, in_shell, misused, prints, save_chain};
use gradus::graph::DeclaredDim;
use snapbox::str;

#[test]
fn models_that_give_the_same_bits_are_the_same() {
    prints(
        &["check", "examples/positions.onnx", "examples/positions.onnx"],
        str![[r#"
proved: 3 of 3 outputs, for all inputs and sizes

"#]],
    );
    prints(
        &["check", "examples/positions.onnx", "examples/positions.onnx", "--no-prove"],
        str![[r#"
3 outputs, 111 elements, 5 runs: the same bits

"#]],
    );
    let folder = folder("check-convert");
    let out = folder.join("loop.xml");
    let out = out.to_str().unwrap();
    let converted = gradus(&["convert", "examples/loop.onnx", out, "--check"]).assert().code(0);
    converted.stdout_eq(str![[r#"
examples/loop.onnx (onnx) -> [..]/loop.xml (openvino)
nodes 5: 4 exact, 1 not
  node "fib" (onnx Loop-16): edge cases: the output shapes of a loop that runs zero times may differ
checked: 1 output, 7 elements, 5 runs: the same bits

"#]]);
    prints(
        &["check", "examples/loop.onnx", out],
        str![[r#"
1 output, 7 elements, 5 runs: the same bits

"#]],
    );
}

#[test]
fn the_first_value_that_differs_is_named() {
    let folder = folder("check-differs");
    let model = |name: &str, second: &str| {
        let path = folder.join(name);
        let size = vec![DeclaredDim::Symbol("n".into())];
        save_chain(&path, "x", size, &[("Abs", "x", "h"), (second, "h", "y"), ("Exp", "y", "z")]);
        path.to_str().unwrap().to_owned()
    };
    let (sqrt, tanh) = (model("sqrt.onnx", "Sqrt"), model("tanh.onnx", "Tanh"));
    let differs = gradus(&["check", &sqrt, &tanh, "--dim", "n=3", "--runs", "2"]).assert().code(1);
    differs.stdout_eq(str![[r#"
output  elements  differ  largest [..]
z       6         6       [..] ulp [..]

1 output, 6 elements, 2 runs

the models part at y: node "y" and node "y"

"#]]);
    let given = gradus(&["check", &sqrt, &tanh, "-i", "x=[0.25]", "--runs", "1"]).assert().code(1);
    given.stdout_eq(str![[r#"
output  elements  differ  largest [..]
z       1         1       [..] ulp [..]

1 output, 1 element, 1 run

the models part at y: node "y" and node "y"

"#]]);
    gradus(&["check", &sqrt, &tanh, "--dim", "n=3", "--max-ulp", "1000000000"]).assert().code(0);
    let json = gradus(&["check", &sqrt, &tanh, "--dim", "n=3", "--json"]).assert().code(1);
    let json: serde_json::Value = serde_json::from_slice(&json.get_output().stdout).unwrap();
    assert_eq!((&json["same"], &json["parting"]["value"]), (&false.into(), &"y".into()));
    assert_eq!(json["outputs"][0]["elements"], 15);
}

#[test]
fn models_that_cannot_be_compared_end_with_status_2() {
    misused(
        &["check", "examples/heads.onnx", "examples/heads.onnx", "--dim", "sequence=4"],
        str![[r#"
error: examples/heads.onnx: unknown dimension "sequence"; known: "batch", "seq"

"#]],
    );
    misused(
        &["check", "examples/positions.onnx", "examples/heads.onnx"],
        str![[r#"
error: examples/positions.onnx: cannot compare: number of outputs of the second model is 1, expected 3

"#]],
    );
}

#[test]
fn a_command_line_is_a_runtime() {
    let run = "\"$0\" run \"$1\" -i \"$2\" -o \"$3\" $(sed \"s/^/-n /\" \"$4\")";
    prints(
        &["check", "examples/positions.onnx", "--with", &in_shell(run)],
        str![[r#"
cmd:[..]: 3 outputs, 111 elements, 5 runs: the same bits

0 of 6 values of nodes differ from the exact result for the same inputs

"#]],
    );
    // The program is given values of nodes that it may leave out.
    let outputs_alone = "\"$0\" run \"$1\" -i \"$2\" -o \"$3\"";
    prints(
        &["check", "examples/positions.onnx", "--with", &in_shell(outputs_alone)],
        str![[r#"
cmd:[..]: 3 outputs, 111 elements, 5 runs: the same bits

0 of 3 values of nodes differ from the exact result for the same inputs

"#]],
    );
}

#[test]
fn what_a_command_line_computes_otherwise_is_found() {
    let folder = folder("check-command");
    let model = |name: &str, operator: &str| {
        let path = folder.join(name);
        save_chain(&path, "x", vec![DeclaredDim::Symbol("n".into())], &[(operator, "x", "y")]);
        path.to_str().unwrap().to_owned()
    };
    let (sinh, cosh) = (model("sinh.onnx", "Sinh"), model("cosh.onnx", "Cosh"));
    let other = in_shell(&format!("\"$0\" run \"{cosh}\" -i \"$2\" -o \"$3\""));
    let case = folder.join("case");
    let case = case.to_str().unwrap();
    let checked = ["check", &sinh, "--with", &other, "--dim", "n=3", "--save-case", case];
    let differs = gradus(&checked).assert().code(1);
    differs.stdout_eq(str![[r#"
cmd:[..]: 1 output, 15 elements, 5 runs

output  elements  differ  largest  [..]
y       15        [..]

node alone              label  [..]
node "y" (onnx Sinh-9)  beyond[..]

1 of 1 value of nodes differ from the exact result for the same inputs: 1 beyond

first beyond its bound: node "y" (onnx Sinh-9), value y

saved the node and its inputs in [..]case, 1 of 3 rows

"#]]);
    // The case fails by itself, with its own inputs.
    let (alone, inputs) = (format!("{case}/model.onnx"), format!("{case}/inputs.npz"));
    let again = ["check", &alone, "-i", &inputs, "--with", &other, "--runs", "1", "--json"];
    let again = gradus(&again).assert().code(1);
    let printed: serde_json::Value = serde_json::from_slice(&again.get_output().stdout).unwrap();
    let runtime = &printed["runtimes"][0];
    assert_eq!(
        (&runtime["outputs"][0]["elements"], &runtime["nodes"][0]["label"]),
        (&1.into(), &"beyond".into())
    );
    assert_eq!(runtime["first_beyond"]["value"], "y");
    // A case is saved over neither of the models.
    let own = model("model.onnx", "Sinh");
    for (before, after) in [(&own, &sinh), (&sinh, &own)] {
        let folder = folder.to_str().unwrap();
        let words = ["check", before, after, "--with", &other, "--dim", "n=3", "--save-case", folder];
        let refused = gradus(&words).assert().code(2);
        let said = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(said.contains("is the model that was read"), "{said}");
    }
    assert_eq!(std::fs::read(&own).unwrap(), std::fs::read(&sinh).unwrap());
}

#[test]
fn command_lines_that_fail_are_told() {
    for (line, said) in [
        ("echo first >&2; echo no such thing >&2; exit 3", "`sh` ended with exit status: 3: no such thing"),
        (
            "head -c 3000000 /dev/zero | tr \"\\0\" x >&2; echo >&2; echo y >&2; exit 3",
            "`sh` ended with exit status: 3: y",
        ),
        ("head -c 3000000 /dev/zero | tr \"\\0\" x >&2; exit 3", "3: xxx"),
        ("true", "`sh` wrote no {outputs}: it says nothing"),
        ("echo no archive > \"$3\"", "this is not a .npz file"),
        ("\"$0\" run \"$1\" -i \"$2\" -o \"$3\" -n phase", "the runtime returns no output"),
    ] {
        let failed =
            gradus(&["check", "examples/positions.onnx", "--with", &in_shell(line)]).assert().code(2);
        let told = String::from_utf8_lossy(&failed.get_output().stderr).into_owned();
        assert!(told.contains(said) && told.len() < 3000, "{line}: {told}");
    }
    let begin = std::time::Instant::now();
    let late = ["check", "examples/positions.onnx", "--timeout", "1", "--with"];
    let late = gradus(&[&late[..], &[&in_shell("exec sleep 600")]].concat()).assert().code(2);
    assert!(String::from_utf8_lossy(&late.get_output().stderr).contains("time limit"));
    assert!(begin.elapsed().as_secs() < 300);
    misused(
        &["check", "examples/positions.onnx", "--with", "cmd:./my_runtime {model} {inputs}"],
        str![[r#"
error: cannot run a command: it is `./my_runtime {model} {inputs}`, expected a command line with {outputs}

"#]],
    );
}

#[test]
fn the_program_alone_has_no_runtimes() {
    misused(
        &["check", "examples/heads.onnx", "--with", "onnxruntime"],
        str![[r#"
error: cannot run onnxruntime from this program; `python -m gradus check … --with onnxruntime` can, with the Python packages gradus and onnxruntime

"#]],
    );
    misused(
        &["check", "examples/heads.onnx", "--with", "onxruntime"],
        str![[r#"
error: invalid value 'onxruntime' for '--with <PROGRAM,…|cmd:COMMAND>': unknown program "onxruntime"; did you mean "onnxruntime"?

For more information, try '--help'.

"#]],
    );
    misused(
        &["check", "examples/heads.onnx"],
        str![[r#"
error: the following required arguments were not provided:
  <AFTER>

Usage: gradus check <BEFORE> <AFTER>

For more information, try '--help'.

"#]],
    );
}
