//! Dialects: standards whose operators are adapted to the functions that all standards share, and
//! the graphs that they have in common.

pub(crate) mod adaptive;
pub(crate) mod boxes;
pub(crate) mod elimination;
pub(crate) mod indices;
pub(crate) mod openvino;
pub(crate) mod paddle;
pub(crate) mod special;
