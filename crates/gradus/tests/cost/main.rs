//! Costs and plans of memory, against figures derived by hand.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

#[path = "../common"]
mod common {
    pub mod one;
    pub mod sketch;
}
mod figures;
mod memory;
mod operators;
mod rules;
