//! OpenVINO's operators: of each what is its own, names, attributes, order of inputs, before the functions that all
//! standards share.
//!
//! Attributes are text. An output has the first input's element type unless a rule says otherwise.
//! Sources: the texts of OpenVINO's operator sets 1 to 17, and OpenVINO 2026.4, which decides where they are silent.

pub(super) mod bodies;
pub(super) mod elementwise;
pub(super) mod network;
pub(super) mod parts;
pub(super) mod reduce;
pub(super) mod shapes;
