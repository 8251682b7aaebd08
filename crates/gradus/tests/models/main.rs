//! Models: what is read, refused, compiled and run.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod allowed;
mod audit;
mod bad_input;
#[path = "../common"]
mod common {
    pub mod folder;
    pub mod protobuf;
    pub mod sketch;
}
mod corpus;
mod intervals;
mod paddle;
mod paddle_attributes;
mod paddle_bad_input;
mod portability;
mod programs;
mod quantized;
mod runtimes;
mod set;
