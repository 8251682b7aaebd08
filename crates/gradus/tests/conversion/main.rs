//! Conversions: into the other standard, other operator sets, and for the programs that run models.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

#[path = "../common"]
mod common {
    pub mod compare;
    pub mod converted;
    pub mod one;
    pub mod random;
    pub mod sketch;
    pub mod tensors;
}
mod axes;
mod defaults;
mod edges;
mod functions;
mod graphs;
mod images;
mod lowered;
mod networks;
mod opsets;
mod plugin;
mod runtimes;
mod sets;
mod states;
mod transforms;
mod types;
mod verify;
