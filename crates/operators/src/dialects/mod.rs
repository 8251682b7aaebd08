//! Dialects: standards whose operators are adapted to the functions that all standards share, and
//! the graphs that they have in common.

pub mod adaptive;
pub mod boxes;
pub mod elimination;
pub mod indices;
pub mod openvino;
pub mod paddle;
pub mod special;
