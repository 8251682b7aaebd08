//! Dialects: standards whose operators are adapted to the functions that all standards share.

pub(crate) mod openvino;
pub(crate) mod paddle;
