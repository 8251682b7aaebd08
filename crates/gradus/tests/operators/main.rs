//! Operators that run, against what other programs give and against what their texts say.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

#[path = "../common"]
mod common {
    pub mod one;
    pub mod sketch;
}
mod cases;
mod contrib;
mod factors;
mod fused;
mod lists;
mod lowered;
mod ml;
mod numbers;
mod numerics;
mod openvino;
mod random;
mod spaces;
mod table;
mod words;
