//! `gradus convert` as it is typed, with what it prints and its exit status.
//!
//! `SNAPSHOTS=overwrite cargo test -p gradus-cli` writes what is printed into this file.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;

use std::path::{Path, PathBuf};

use common::{fails, gradus, misused, prints};
use snapbox::str;

/// A folder that is gone at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("convert-{name}"));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// What a command prints, without the folder.
    fn printed(&self, arguments: &[&str], code: i32) -> String {
        let output = gradus(arguments).assert().code(code).get_output().clone();
        let all = [output.stdout, output.stderr].concat();
        String::from_utf8(all).unwrap().replace(self.0.to_str().unwrap(), "OUT")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_model_is_converted_there_and_back_and_runs_in_both_forms() {
    let scratch = Scratch::new("both");
    let (xml, onnx) = (scratch.file("p.xml"), scratch.file("p.onnx"));
    snapbox::assert_data_eq!(scratch.printed(&["convert", "examples/positions.onnx", &xml], 0), str![[r#""#]]);
    prints(
        &["run", &xml, "--input", "tokens=[[101, 2023, 2003, 102]]"],
        str![[r#""#]],
    );
    snapbox::assert_data_eq!(scratch.printed(&["convert", &xml, &onnx, "--opset", "17", "--json"], 0), str![[r#""#]]);
    prints(
        &["run", &onnx, "--input", "tokens=[[101, 2023, 2003, 102]]"],
        str![[r#""#]],
    );
}

#[test]
fn a_program_of_paddle_becomes_either() {
    let scratch = Scratch::new("paddle");
    let program = "conformance/recorded/paddle/shapes.pir/model.json";
    for name in ["p.onnx", "p.xml"] {
        let printed = scratch.printed(&["convert", program, &scratch.file(name)], 0);
        assert!(printed.starts_with("conformance/recorded/paddle/shapes.pir/model.json (paddle) -> OUT/p."), "{printed}");
        assert!(Path::new(&scratch.file(name)).exists());
    }
}

#[test]
fn strict_refuses_what_is_not_exact_and_writes_nothing() {
    let scratch = Scratch::new("strict");
    let xml = scratch.file("r.xml");
    snapbox::assert_data_eq!(scratch.printed(&["convert", "examples/range.onnx", &xml, "--strict"], 1), str![[r#""#]]);
    assert_eq!(std::fs::read_dir(&scratch.0).unwrap().count(), 0);
    scratch.printed(&["convert", "examples/heads.onnx", &scratch.file("h.xml"), "--strict"], 0);
    assert!(Path::new(&scratch.file("h.xml")).exists() && Path::new(&scratch.file("h.bin")).exists());
}

#[test]
fn what_is_not_written_is_refused() {
    misused(
        &["convert", "examples/range.onnx", "out.json"],
        str![[r#""#]],
    );
    misused(
        &["convert", "examples/range.onnx", "out"],
        str![[r#""#]],
    );
    misused(
        &["convert", "examples/range.onnx", "out.xml", "--opset", "17"],
        str![[r#""#]],
    );
    fails(
        &["convert", "examples/range.onnx", "out.onnx"],
        str![[r#""#]],
    );
}
