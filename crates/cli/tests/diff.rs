//! `gradus diff` as it is typed, with what it prints and its exit status.
//!
//! `SNAPSHOTS=overwrite cargo test -p gradus-cli` writes what is printed into this file.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;

use std::path::{Path, PathBuf};

use common::{gradus, misused, prints};
use snapbox::{IntoData, str};

/// What is printed of models that differ.
fn differ(arguments: &[&str], stdout: impl IntoData) {
    let arguments = [&["diff"], arguments].concat();
    gradus(&arguments).assert().code(1).stderr_eq("").stdout_eq(stdout);
}

/// An example in which some words are others of the same length.
fn changed(example: &str, words: &[(&str, &str)]) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example);
    let mut bytes = std::fs::read(path).unwrap();
    for (before, after) in words {
        assert_eq!(before.len(), after.len());
        let places: Vec<_> =
            (0..bytes.len()).filter(|&at| bytes[at..].starts_with(before.as_bytes())).collect();
        assert!(!places.is_empty(), "{example} has {before}");
        for at in places {
            bytes[at..at + after.len()].copy_from_slice(after.as_bytes());
        }
    }
    let folder = std::env::temp_dir().join(format!("gradus-diff-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(example);
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn equal_models_have_no_differences() {
    prints(&["diff", "examples/function.onnx", "examples/function.onnx"], "");
    prints(&["diff", "examples/range.xml", "examples/range.xml", "--json"], str![]);
}

#[test]
fn diff_shows_what_changed() {
    let path = changed(
        "positions.onnx",
        &[("batch", "lines"), ("token_count", "count_token"), ("seq_to_float", "SEQ_TO_FLOAT")],
    );
    differ(&["examples/positions.onnx", path.to_str().unwrap()], str![]);
    let path = changed("loop.onnx", &[("next_a", "NEXT_A"), ("Add", "Mul")]);
    differ(&["examples/loop.onnx", path.to_str().unwrap()], str![]);
    let path = changed("function.onnx", &[("Scaled", "Halved")]);
    differ(&["examples/function.onnx", path.to_str().unwrap()], str![]);
    differ(&["examples/range.xml", "examples/range_const.xml"], str![]);
    differ(&["examples/range.onnx", "examples/range.xml", "--json"], str![]);
}

#[test]
fn what_cannot_be_compared_is_another_status() {
    misused(&["diff", "examples/range.onnx", "examples/missing.onnx"], str![]);
    misused(&["diff", "examples/range.onnx", "README.md", "--json"], str![]);
    misused(&["diff", "examples/range.onnx"], str![]);
}
