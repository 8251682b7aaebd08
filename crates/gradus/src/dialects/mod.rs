//! Dialects: standards whose operators are adapted to the functions that all standards share.

pub(crate) mod adaptive;
pub(crate) mod boxes;
pub(crate) mod indices;
pub(crate) mod openvino;
pub(crate) mod paddle;
pub(crate) mod terms;
