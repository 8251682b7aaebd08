//! `gradus cost` as it is typed, with what it prints and its exit status.
//!
//! `SNAPSHOTS=overwrite cargo test -p gradus-cli` writes what is printed into this file.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;

use common::{misused, prints};
use snapbox::str;

#[test]
fn cost_is_a_formula_of_the_dimensions() {
    prints(&["cost", "examples/positions.onnx"], str![[""]]);
    prints(&["cost", "examples/positions.onnx", "--dim", "seq=4", "--dim", "batch=2", "--json"], str![[""]]);
}

#[test]
fn fit_finds_the_largest_size() {
    prints(&["cost", "examples/positions.onnx", "--dim", "batch=8", "--fit", "1MiB"], str![[""]]);
}

#[test]
fn fit_refuses_what_it_cannot_decide() {
    misused(&["cost", "examples/positions.onnx", "--fit", "1MiB"], str![[""]]);
    misused(&["cost", "examples/positions.onnx", "--fit", "1PB"], str![[""]]);
}
