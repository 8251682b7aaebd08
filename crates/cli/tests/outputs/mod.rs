//! Commands in folders of their own, and a model with constants next to it.
#![allow(dead_code, reason = "not every test file uses all of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use snapbox::cmd::cargo_bin;

use crate::protobuf::{field, int, message};
use crate::scratch::Scratch;

/// Runs a command in a folder.
pub fn run(folder: &Scratch, arguments: &[&str]) -> Output {
    Command::new(cargo_bin!("gradus")).args(arguments).current_dir(folder.path()).output().unwrap()
}

/// Runs a command that succeeds.
pub fn succeeds(folder: &Scratch, arguments: &[&str]) {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

/// Folders of unfinished files.
pub fn leftovers(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(".gradus-")).collect()
}

/// Writes a model that returns the sum of its input and four bytes of constants, which are in
/// another file.
pub fn save_external(path: &Path, location: &str) {
    let entry = message(13, &[field(1, "location"), field(2, location)]);
    let tensor = message(5, &[int(1, 1), int(2, 1), field(8, "w"), entry, int(14, 1)]);
    let node = message(1, &[field(1, "x"), field(1, "w"), field(2, "y"), field(4, "Add")]);
    let shape = message(2, &[message(1, &[int(1, 1)])]);
    let of_floats = message(2, &[message(1, &[int(1, 1), shape])]);
    let value = |number, name: &str| message(number, &[field(1, name), of_floats.clone()]);
    let graph = message(7, &[node, field(2, "g"), tensor, value(11, "x"), value(12, "y")]);
    let model = [int(1, 8), graph, message(8, &[int(2, 17)])].concat();
    fs::write(path, model).unwrap();
}
