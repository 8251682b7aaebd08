//! Many models: folders, patterns, lists, and where each is written.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::path::Path;

use common::folder;
use serde_json::Value;
use snapbox::cmd::{Command, cargo_bin};

mod common;

fn lines(folder: &Path, arguments: &[&str], input: &str, code: i32) -> Vec<Value> {
    let done = Command::new(cargo_bin!("gradus")).current_dir(folder).args(arguments).stdin(input);
    let printed = done.assert().code(code).get_output().stdout.clone();
    String::from_utf8(printed).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn folders_patterns_and_lists_name_models() {
    let folder = folder("fleets");
    for name in ["a/model.onnx", "b/model.onnx", "b/c/deep.onnx"] {
        std::fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
        std::fs::copy("../../examples/heads.onnx", folder.join(name)).unwrap();
    }
    std::fs::write(folder.join("b/notes.txt"), "no model").unwrap();
    std::fs::write(folder.join("list"), "# both\na/model.onnx\n\nb/c\n").unwrap();
    let files = |words: &[&str], input: &str| -> Vec<String> {
        let shown = lines(&folder, &[&["show", "--json"], words].concat(), input, 0);
        shown.iter().filter_map(|line| Some(line.get("file")?.as_str()?.to_owned())).collect()
    };
    let all = ["a/model.onnx", "b/c/deep.onnx", "b/model.onnx"];
    assert_eq!(files(&["."], ""), all);
    assert_eq!(files(&["**/*.onnx"], ""), all);
    assert_eq!(files(&["?/m*.onnx"], ""), ["a/model.onnx", "b/model.onnx"]);
    assert_eq!(files(&["@list"], ""), ["a/model.onnx", "b/c/deep.onnx"]);
    assert_eq!(files(&["-"], "b/model.onnx\na\n"), ["b/model.onnx", "a/model.onnx"]);
    // Files of one name keep the folders by which they differ.
    let folded = lines(
        &folder,
        &["fold", "a/model.onnx", "b/model.onnx", "-o", "out/", "--json", "--jobs", "1"],
        "",
        0,
    );
    let written: Vec<_> = folded.iter().filter_map(|line| line.get("output")).collect();
    assert_eq!(written, ["out/a/model.onnx", "out/b/model.onnx"]);
    let converted = lines(&folder, &["convert", "b", "-o", "ir/", "--to", "openvino", "--json"], "", 0);
    assert_eq!(converted.last().unwrap(), &serde_json::json!({ "models": 2, "failed": 0 }));
    assert!(folder.join("ir/c/deep.xml").exists() && folder.join("ir/model.bin").exists());
    let failed = lines(&folder, &["show", "--json", "a", "none.onnx"], "", 1);
    assert_eq!(failed[1]["error"]["kind"], "io");
    assert_eq!(failed[2], serde_json::json!({ "models": 2, "failed": 1 }));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn verbose_says_how_long_models_and_the_command_took() {
    let command =
        |words: &[&str]| Command::new(cargo_bin!("gradus")).current_dir("../..").args(words).assert();
    let told = |words: &[&str]| {
        let told = command(words).success().get_output().stderr.clone();
        String::from_utf8(told).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let models = ["show", "examples/heads.onnx", "examples/range.onnx"];
    assert!(told(&models).is_empty());
    let lines = told(&[&models[..], &["-v"]].concat());
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(lines[0].starts_with("examples/heads.onnx: ") && lines[0].ends_with('s'), "{lines:?}");
    assert!(lines[1].starts_with("examples/range.onnx: "), "{lines:?}");
    assert_eq!(lines[2], "2 models, 0 failed");
    assert!(lines[3].starts_with("gradus: "), "{lines:?}");
    assert_eq!(told(&["--verbose", "show", "examples/range.onnx"]).len(), 2);
    assert_eq!(told(&["-v", "range", "0", "5", "1"]).len(), 1);
    assert!(told(&["-q", "range", "0", "5", "1"]).is_empty());
    command(&["show", "examples/range.onnx", "-v", "-q"]).code(2);
}
