//! `gradus edit`, `gradus join` and `gradus split` as they are typed, with what they print and their
//! exit status.
//!
//! `SNAPSHOTS=overwrite cargo test -p gradus-cli` writes what is printed into this file.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;
mod scratch;

use common::{fails, gradus, misused};
use scratch::Scratch;
use snapbox::str;

/// Standard output of a command that succeeds, without the folder of scratch files.
fn stdout(scratch: &Scratch, arguments: &[&str]) -> String {
    scratch.without(gradus(arguments).assert().code(0).stderr_eq("").get_output().stdout.clone())
}

#[test]
fn edit_says_what_each_option_did_in_the_order_of_the_help() {
    let scratch = Scratch::new("edit-text");
    let out = scratch.file("part.onnx");
    let arguments = [
        "edit",
        "examples/positions.onnx",
        "-o",
        &out,
        "--no-docs",
        "--metadata",
        "by=me",
        "--dim",
        "length=4",
        "--rename-dim",
        "seq=length",
        "--rename",
        "phase=angle",
        "--extract",
        ":phase",
    ];
    snapbox::assert_data_eq!(
        stdout(&scratch, &arguments),
        str![[r#"
examples/positions.onnx -> OUT/part.onnx
extracted 5 of 6 nodes: from "tokens" int64[batch, seq] to "phase" float32[seq]
renamed output "phase" to "angle"
renamed dimension "seq" to "length" in 2 declared types
fixed dimension "length" at 4 in 2 declared types
added metadata "by": "me"
removed 0 texts of documentation and properties of parts

"#]]
    );
    let json = ["edit", "examples/positions.onnx", "-o", &out, "--set", "tokens=[[1, 2]]", "--json"];
    snapbox::assert_data_eq!(
        stdout(&scratch, &json),
        str![[r#"
{"model": "examples/positions.onnx", "output": "OUT/part.onnx", "bytes": 389, "edits": ["set input \"tokens\" to [[1, 2]]"], "assumptions": [], "problems": []}

"#]]
    );
}

#[test]
fn types_and_layouts_are_read_from_texts() {
    let scratch = Scratch::new("edit-types");
    let out = scratch.file("bytes.onnx");
    let arguments = [
        "edit",
        "examples/baked.onnx",
        "-o",
        &out,
        "--input-type",
        "x=uint8,scale=1/255,offset=-0.5",
        "--layout",
        "x=WCN",
    ];
    snapbox::assert_data_eq!(
        stdout(&scratch, &arguments),
        str![[r#"
examples/baked.onnx -> OUT/bytes.onnx
changed the type of input "x" from float32 to uint8, with Cast, Mul, Add behind it
changed the layout of input "x" from NCW to WCN, with Transpose behind it

"#]]
    );
}

#[test]
fn mistakes_are_told_with_what_was_wanted() {
    let scratch = Scratch::new("edit-wrong");
    let out = scratch.file("out.onnx");
    let edit = |rest: &[&str]| {
        let mut arguments = vec!["edit", "examples/positions.onnx", "-o", &out];
        arguments.extend(rest);
        arguments.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let message = |rest: &[&str], stderr: snapbox::Data| {
        let arguments = edit(rest);
        misused(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), stderr);
    };
    message(&[], str![]);
    message(&["--rename", "phase"], str![]);
    message(&["--rename", "fase=angle"], str![]);
    message(&["--extract", "phase"], str![]);
    message(&["--extract", "seq:phase"], str![]);
    message(&["--input-type", "tokens=uint8,scale=x"], str![]);
    message(&["--remove-output", "tokens"], str![]);
    fails(&["edit", "examples/range.xml", "-o", &scratch.file("out.xml"), "--rename", "a=b"], str![]);
}

#[test]
fn parts_of_a_split_model_are_proved_and_join_again() {
    let scratch = Scratch::new("split");
    let parts = scratch.file("parts");
    let split = ["split", "examples/positions.onnx", "--at", "positions", "-o", &parts];
    snapbox::assert_data_eq!(stdout(&scratch, &split), str![]);
    let [first, second] = ["1", "2"].map(|part| format!("{parts}/positions.{part}.onnx"));
    let whole = scratch.file("whole.onnx");
    let join = ["join", &first, &second, "-o", &whole, "--link", "positions=positions"];
    snapbox::assert_data_eq!(stdout(&scratch, &join), str![]);
    gradus(&["prove", &whole, "examples/positions.onnx"]).assert().code(0);
    misused(&["join", &first, &second, "-o", &whole, "--link", "positions"], str![]);
}
