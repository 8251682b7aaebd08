//! Inference, against runs, other programs and what nodes refuse.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

#[path = "../common"]
mod common {
    pub mod folder;
    pub mod random;
    pub mod sketch;
}
mod conditions;
mod counters;
mod inputs;
mod models;
mod refusals;
mod soundness;
mod trace;
