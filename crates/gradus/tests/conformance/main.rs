//! Upstream's cases, by name, against two-sided lists: a case that is not listed, that fails though
//! it should pass, that passes though it should fail, or that is listed and missing, fails the
//! test.
//!
//! The cases come from the installed packages: scripts in `conformance/` write them to a folder,
//! which the variable `GRADUS_CONFORMANCE` names (`cargo xtask conformance` does all of it).
//!
//! The values of some cases depend on the processor that the packages run on. A list bounds how far
//! floats may be from upstream's (`ulps`), or names the feature of the processor without which a
//! case fails (`without`).
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::path::{Path, PathBuf};

use gradus::graph::Type;
use gradus::{Limits, Value, formats};
use serde_json::Value as Json;

mod casts;
mod differences;
mod lists;
mod onnx;
mod openvino;

fn cases(kind: &str) -> PathBuf {
    let root = std::env::var_os("GRADUS_CONFORMANCE").expect("GRADUS_CONFORMANCE names a folder of cases");
    Path::new(&root).join(kind)
}

fn folders(root: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<_> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    assert!(!folders.is_empty(), "{} has cases", root.display());
    folders
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

fn json(path: &Path) -> Json {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}
/// A value as the exporting script describes it; an optional one is known by the model's
/// declaration.
fn read_value(folder: &Path, described: &Json, declared: Option<&Type>) -> Value {
    let optional = |value: Option<Value>| Value::Optional(value.map(Box::new));
    match (described["sort"].as_str().unwrap(), declared) {
        ("none", _) => optional(None),
        (_, Some(Type::Optional(inner))) => optional(Some(read_value(folder, described, Some(inner)))),
        ("sequence", _) => Value::Sequence(
            described["values"].as_array().unwrap().iter().map(|v| read_value(folder, v, None)).collect(),
        ),
        _ => {
            let bytes = std::fs::read(folder.join(described["file"].as_str().unwrap())).unwrap();
            formats::onnx::read_tensor(&bytes.into(), Limits::DEFAULT).unwrap().into()
        }
    }
}
