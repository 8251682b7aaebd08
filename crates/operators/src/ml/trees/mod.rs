//! Ensembles of trees.

pub mod ensemble;
pub mod lowered;
mod numbers;
