//! Ensembles of trees.

pub mod ensemble;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod lowered;
mod numbers;
