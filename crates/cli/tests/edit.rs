//! `gradus edit`, `gradus join` and `gradus split` as they are typed, with what they print and
//! their exit status.
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
renamed dimension "seq" to "length" in 3 declared types
fixed dimension "length" at 4 in 3 declared types
added metadata "by": "me"
removed 0 texts that document parts of the model

"#]]
    );
    let json = ["edit", "examples/positions.onnx", "-o", &out, "--set", "tokens=[[1, 2]]", "--json"];
    snapbox::assert_data_eq!(
        stdout(&scratch, &json),
        str![[r#"
{"model":"examples/positions.onnx","output":"OUT/part.onnx","bytes":458,"edits":["set input /"tokens/" to [[1, 2]]"],"assumptions":[],"problems":[]}

"#]]
    );
}

#[test]
fn floats_are_shortened_by_a_given_input() {
    let scratch = Scratch::new("edit-float16");
    let out = scratch.file("half.onnx");
    let arguments = [
        "edit",
        "examples/fixed_1x4.onnx",
        "-o",
        &out,
        "--bfloat16",
        "--keep",
        "view",
        "-i",
        "x=full:0.3[1, 4, 8]",
    ];
    snapbox::assert_data_eq!(
        stdout(&scratch, &arguments),
        str![[r#"
examples/fixed_1x4.onnx -> OUT/half.onnx
computes 1 of 2 nodes in bfloat16
kept 1 node in float32, to be kept: node "view" (Reshape)
node "place" (Add): bfloat16 changes it by 9.5e-4 of its largest magnitude
output "y" differs by at most 9.5e-4 of its largest magnitude in 1 run

"#]]
    );
    misused(
        &["edit", "examples/fixed_1x4.onnx", "-o", &out, "--max-error", "1e-3"],
        str![[r#"
error: the following required arguments were not provided:
  <--float16|--bfloat16>

Usage: gradus edit --output <FILE|DIR> --max-error <NUMBER> <--float16|--bfloat16> <MODEL>

For more information, try '--help'.

"#]],
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
changed the type of input "x" from float32 to uint8, with Cast, Mul, Add after it
changed the layout of input "x" from NCW to WCN, with Transpose after it
runs if:
  batch == 1 (node "view" (Reshape))

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
    let message = |rest: &[&str], stderr: snapbox::data::Inline| {
        let arguments = edit(rest);
        misused(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), stderr);
    };
    message(
        &[],
        str![[r#"
error: nothing to edit: expected an option that says what changes (--help)

"#]],
    );
    message(
        &["--rename", "phase"],
        str![[r#"
error: examples/positions.onnx: --rename is phase, expected OLD=NEW

"#]],
    );
    message(
        &["--rename", "fase=angle"],
        str![[r#"
error: examples/positions.onnx: unknown value "fase"; known: "position_ids", "phase", "token_count", "tokens", "zero", "one", "seq", "positions", "seq_float"

"#]],
    );
    message(
        &["--extract", "phase"],
        str![[r#"
error: examples/positions.onnx: --extract is phase, expected IN,…:OUT,…

"#]],
    );
    message(
        &["--input-type", "tokens=uint8,scale=x"],
        str![[r#"
error: examples/positions.onnx: --input-type is tokens=uint8,scale=x, expected scale=NUMBER and offset=NUMBER, or lists: scale=[NUMBER,…]

"#]],
    );
    message(
        &["--remove-output", "tokens"],
        str![[r#"
error: examples/positions.onnx: unknown output "tokens"; known: "position_ids", "phase", "token_count"

"#]],
    );
    fails(
        &["edit", "examples/range.xml", "-o", &scratch.file("out.xml"), "--share-weights"],
        str![[r#"
error: examples/range.xml: cannot share weights: the standard of the model is openvino, expected onnx

"#]],
    );
}

#[test]
fn parts_of_a_split_model_are_proved_and_join_again() {
    let scratch = Scratch::new("split");
    let parts = scratch.file("parts");
    let split = ["split", "examples/positions.onnx", "--at", "positions", "-o", &parts];
    snapbox::assert_data_eq!(
        stdout(&scratch, &split),
        str![[r#"
examples/positions.onnx -> OUT/parts/positions.1.onnx
first part: 5 nodes, from "tokens" int64[batch, seq] to "positions" float32[seq], "seq_float" float32[1], "position_ids" int64[seq], "token_count" int64[]
examples/positions.onnx -> OUT/parts/positions.2.onnx
second part: 1 node, from "positions" float32[seq], "seq_float" float32[1] to "phase" float32[seq]
joined again, the parts are the model: equivalent

"#]]
    );
    let [first, second] = ["1", "2"].map(|part| format!("{parts}/positions.{part}.onnx"));
    let whole = scratch.file("whole.onnx");
    let join = [
        "join",
        &first,
        &second,
        "-o",
        &whole,
        "--link",
        "positions=positions",
        "--link",
        "seq_float=seq_float",
    ];
    snapbox::assert_data_eq!(
        stdout(&scratch, &join),
        str![[r#"
OUT/parts/positions.1.onnx OUT/parts/positions.2.onnx -> OUT/whole.onnx
joined 1 node after "positions" = "positions", "seq_float" = "seq_float"
taken for granted:
  seq <= 16777216 (node "seq_to_float" (Cast))

"#]]
    );
    gradus(&["prove", &whole, "examples/positions.onnx"]).assert().code(0);
    misused(
        &["join", &first, &second, "-o", &whole, "--link", "positions"],
        str![[r#"
error: --link is positions, expected OUTPUT=INPUT

"#]],
    );
}
