//! Commands in folders of their own, and a model with constants next to it.
#![allow(dead_code, reason = "not every test file uses all of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use snapbox::cmd::cargo_bin;

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

/// The bytes of a field of protobuf.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let len = u8::try_from(content.len()).unwrap();
    assert!(len < 128);
    [&[number << 3 | 2, len][..], content].concat()
}

/// Writes a model that returns the sum of its input and four bytes of constants, which are in
/// another file.
pub fn save_external(path: &Path, location: &str) {
    let entry =
        |key: &str, value: &str| field(13, &[field(1, key.as_bytes()), field(2, value.as_bytes())].concat());
    let (dims, float, external) = ([1 << 3, 1], [2 << 3, 1], [14 << 3, 1]);
    let tensor = [&dims[..], &float, &field(8, b"w"), &entry("location", location), &external].concat();
    let node = [field(1, b"x"), field(1, b"w"), field(2, b"y"), field(4, b"Add")].concat();
    let of_floats = field(2, &field(1, &[&float_type()[..], &field(2, &field(1, &[1 << 3, 1]))].concat()));
    let value = |name: &[u8]| [field(1, name), of_floats.clone()].concat();
    let graph = [
        field(1, &node),
        field(2, b"g"),
        field(5, &tensor),
        field(11, &value(b"x")),
        field(12, &value(b"y")),
    ]
    .concat();
    let model = [&[1 << 3, 8][..], &long_field(7, &graph), &field(8, &[2 << 3, 17])].concat();
    fs::write(path, model).unwrap();
}

fn float_type() -> [u8; 2] {
    [1 << 3, 1]
}

/// The bytes of a field whose content may be long.
fn long_field(number: u8, content: &[u8]) -> Vec<u8> {
    let [low, high] = u16::try_from(content.len()).unwrap().to_le_bytes();
    let len = [low | 0x80, high << 1 | low >> 7];
    [&[number << 3 | 2][..], &len, content].concat()
}
