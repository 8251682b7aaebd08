//! Folding: whole models and each of its rules.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

#[path = "../common"]
mod common {
    pub mod folder;
    pub mod protobuf;
    pub mod random;
    pub mod sketch;
}
mod certificates;
mod exact;
mod functions;
mod laws;
mod loops;
mod models;
mod openvino;
mod prove;
mod proved;
mod rules;
mod sets;
mod variants;
