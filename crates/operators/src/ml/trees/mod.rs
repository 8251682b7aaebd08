//! Ensembles of trees.

pub mod ensemble;
mod floats;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod lowered;
mod numbers;
